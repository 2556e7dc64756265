//! `theory::identifying_loss`, our version of Proposition 3.1, against networks that try to break it.

use std::f64::consts::PI;

use reluctant::ReluNet;
use reluctant::rng::{Key, Stream, uniform};
use reluctant::theory::identifying_loss;

use crate::lemmas::{at_angle, distance_up_to_sign, moved, network};

/// Points that stand for the uniform distribution on the sphere: evenly spaced on the circle, a spiral in space.
fn grid(dim: usize) -> Vec<Vec<f64>> {
    if dim == 2 {
        return (0..1_500).map(|i| at_angle(2.0 * PI * f64::from(i) / 1_500.0).to_vec()).collect();
    }
    let n = 4_000;
    let golden = PI * (3.0 - 5f64.sqrt());
    (0..n)
        .map(|i| {
            let z = 1.0 - (2.0 * f64::from(i) + 1.0) / f64::from(n);
            let [x, y] = at_angle(golden * f64::from(i));
            let r = (1.0 - z * z).sqrt();
            vec![r * x, r * y, z]
        })
        .collect()
}

/// Random steps that keep what is allowed and what is no worse: the smallest loss found.
fn smallest_loss(truth: &ReluNet, alpha: f64, steps: usize, points: &[Vec<f64>], stream: &mut Stream) -> f64 {
    let (dim, neurons) = (truth.dim(), truth.neurons());
    let values: Vec<f64> = points.iter().map(|x| truth.value(x)).collect();
    let loss = |net: &ReluNet| {
        let squares = points.iter().zip(&values).map(|(x, y)| (net.value(x) - y).powi(2));
        squares.sum::<f64>() / points.len() as f64
    };
    let far = |net: &ReluNet| net.iter().all(|theta| distance_up_to_sign(theta, truth.neuron(0)) > alpha);
    // Start at the truth, with every neuron that is too near to the first moved away.
    let mut net = truth.clone();
    while !far(&net) {
        let pushed = net.iter().flat_map(|theta| {
            let near = distance_up_to_sign(theta, truth.neuron(0)) <= alpha;
            if near { moved(stream, theta, alpha) } else { theta.to_vec() }
        });
        net = network(dim, pushed.collect());
    }
    let mut best = loss(&net);
    for step in 0..steps {
        let size = 0.5 * libm::pow(0.01, step as f64 / steps as f64) * uniform(stream);
        let which = step % neurons;
        let theta = net
            .iter()
            .enumerate()
            .flat_map(|(i, row)| if i == which { moved(stream, row, size) } else { row.to_vec() });
        let next = network(dim, theta.collect());
        if far(&next) {
            let found = loss(&next);
            if found <= best {
                (net, best) = (next, found);
            }
        }
    }
    best
}

#[test]
fn no_network_without_the_neuron_has_a_smaller_loss() {
    let mut stream = Key::new(1).stream();
    for (dim, rounds, steps) in [(2, 12, 300), (3, 4, 150)] {
        let points = grid(dim);
        for neurons in 1..=3 {
            for alpha in [0.15, 0.5, 1.0] {
                let bound = identifying_loss(neurons, dim, alpha);
                let mut tightest: f64 = f64::INFINITY;
                for _ in 0..rounds {
                    let truth = ReluNet::random(dim, neurons, &mut stream);
                    tightest = tightest.min(smallest_loss(&truth, alpha, steps, &points, &mut stream) / bound);
                }
                println!("d = {dim}, k = {neurons}, α = {alpha}: the smallest loss found is {tightest:.2} of ℓ(α)");
                assert!(tightest >= 1.0, "{dim} {neurons} {alpha} {tightest}");
            }
        }
    }
}
