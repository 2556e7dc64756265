//! Beyond the paper: leaky units, absolute values, biases and signs ±1.

use std::f64::consts::PI;

use reluctant::geometry::{CELL_BUDGET, best_piecewise_action};
use reluctant::linalg::{dot, norm};
use reluctant::rng::{Key, Stream, index, sign, uniform, unit_vector};
use reluctant::theory::{gap_at_value, identifying_loss, leaky_gap};
use reluctant::{Activation, PiecewiseNet, ReluNet};

use crate::lemmas::{at_angle, distance_up_to_sign, gap_at, moved, network};

fn family(activation: &Activation, net: &ReluNet, biases: &[f64]) -> PiecewiseNet {
    PiecewiseNet::with_activation(activation, net, biases).expect("a network")
}

/// f* = max over subsets A of ‖Σ_A θᵢ + a·Σ_rest θᵢ‖, and the best action: the zonotope's vertices, all of them.
fn best_vertex(net: &ReluNet, slope: f64) -> (f64, Vec<f64>) {
    let vertex = |subset: u64| {
        let mut sum = vec![0.0; net.dim()];
        for (i, theta) in net.iter().enumerate() {
            let weight = if subset >> i & 1 == 1 { 1.0 } else { slope };
            sum.iter_mut().zip(theta).for_each(|(s, t)| *s += weight * t);
        }
        sum
    };
    let best = (0..1u64 << net.neurons()).map(vertex).max_by(|a, b| norm(a).total_cmp(&norm(b))).expect("a vertex");
    let value = norm(&best);
    (value, best.iter().map(|x| x / value).collect())
}

/// ν* ≥ (1−a)/(2f*) ≥ (1−a)/(2k), on thousands of networks, and the best action on the sphere is a vertex's.
#[test]
fn thousands_of_leaky_networks_keep_the_gap() {
    let mut stream = Key::new(1).stream();
    let mut least: f64 = f64::INFINITY;
    for round in 0..6_000 {
        let (dim, neurons) = (2 + round % 4, 1 + index(&mut stream, 8));
        let slope = if round % 10 == 0 { -1.0 } else { uniform(&mut stream) };
        let net = ReluNet::random(dim, neurons, &mut stream);
        let (value, x) = best_vertex(&net, slope);
        let gap = gap_at(&net, &x);
        assert!(gap >= leaky_gap(slope, 0.0, value) - 1e-9 && value <= neurons as f64 + 1e-9, "{net:?} {slope}");
        least = least.min(gap / leaky_gap(slope, 0.0, value));
        if round % 20 == 0 {
            let activation =
                if slope < 0.0 { Activation::absolute() } else { Activation::leaky(slope).expect("a slope") };
            let best = best_piecewise_action(&family(&activation, &net, &vec![0.0; neurons]), CELL_BUDGET);
            let best = best.expect("a best action");
            assert!(best.exact && (best.f_star - value).abs() < 1e-12 * value.max(1.0), "{} {value}", best.f_star);
        }
    }
    println!("ν*·2f*/(1−a) is at least {least:.4} over 6000 random networks");
    assert!(least < 1.1);
    assert_eq!(leaky_gap(0.0, 0.0, 3.0), gap_at_value(3.0));
}

/// Three neurons at 120° cancel: f* = 1 − a and ν* = 1/2, the bound exactly, for every slope.
#[test]
fn the_leaky_bound_is_attained() {
    let net = network(2, (0..3).flat_map(|i| at_angle(2.0 * PI * f64::from(i) / 3.0)).collect());
    for slope in [0.0, 0.2, 0.5, 0.9] {
        let (value, x) = best_vertex(&net, slope);
        assert!((value - (1.0 - slope)).abs() < 1e-12);
        assert!((gap_at(&net, &x) - leaky_gap(slope, 0.0, value)).abs() < 1e-12);
    }
}

fn random_biases(neurons: usize, stream: &mut Stream) -> Vec<f64> {
    (0..neurons).map(|_| 1.98 * uniform(stream) - 0.99).collect()
}

/// With biases |bᵢ| < 1 each unit keeps |θᵢ·x* + bᵢ| ≥ (1−a)(1−bᵢ²)/(2‖s*‖), on the circle and the sphere.
#[test]
fn thousands_of_networks_with_biases_keep_the_gap() {
    let mut stream = Key::new(2).stream();
    let mut least: f64 = f64::INFINITY;
    for round in 0..4_000 {
        let (dim, neurons) = (2 + round % 2, 1 + index(&mut stream, 6));
        let slope = if round % 3 == 0 { 0.0 } else { uniform(&mut stream) };
        let net = ReluNet::random(dim, neurons, &mut stream);
        let biases = random_biases(neurons, &mut stream);
        let leaky = family(&Activation::leaky(slope).expect("a slope"), &net, &biases);
        let x = best_piecewise_action(&leaky, CELL_BUDGET).expect("a best action").x_star;
        let size = norm(&leaky.piece(leaky.pattern(&x)).1);
        assert!(size <= neurons as f64 + 1e-12);
        for (theta, bias) in net.iter().zip(&biases) {
            let (gap, bound) = ((dot(theta, &x) + bias).abs(), leaky_gap(slope, *bias, size));
            assert!(gap >= bound - 1e-9, "{net:?} {biases:?} {slope}: {gap} < {bound}");
            least = least.min(gap / bound);
        }
    }
    println!("|θᵢ·x* + bᵢ| is at least {least:.4} of its bound over 4000 random networks");
    assert!(least < 1.2);
}

/// x is in the span of x‡, so leaky units need no new features: the weights that `ofu-relu` assumes a bound of,
/// whatever the signs of the estimate; √(k(4 + (1+a)²)) is attained when every sign is wrong.
#[test]
fn leaky_networks_are_linear_in_the_same_features() {
    let mut stream = Key::new(3).stream();
    for round in 0..200 {
        let (dim, neurons, slope) = (2 + round % 3, 1 + round % 5, uniform(&mut stream));
        let net = ReluNet::random(dim, neurons, &mut stream);
        let leaky = family(&Activation::leaky(slope).expect("a slope"), &net, &vec![0.0; neurons]);
        let flips: Vec<f64> = (0..neurons).map(|_| if round % 7 == 0 { -1.0 } else { sign(&mut stream) }).collect();
        let turned = net.iter().zip(&flips).flat_map(|(theta, flip)| theta.iter().map(move |t| flip * t)).collect();
        let estimate = network(dim, turned);
        let first = net.theta().iter().map(|t| (1.0 + slope) * t);
        let second = net.iter().zip(&flips).flat_map(|(theta, flip)| {
            let weight = if *flip < 0.0 { 2.0 } else { 2.0 * slope };
            theta.iter().map(move |t| weight * t)
        });
        let weights: Vec<f64> = first.chain(second).collect();
        let bound = (neurons as f64 * (4.0 + (1.0 + slope) * (1.0 + slope))).sqrt();
        assert!(norm(&weights) <= bound + 1e-12);
        if round % 7 == 0 {
            assert!((norm(&weights) - bound).abs() < 1e-12);
        }
        let mut x = vec![0.0; dim];
        for _ in 0..20 {
            unit_vector(&mut stream, &mut x);
            assert!((dot(&weights, &estimate.x_ddagger(&x)) - leaky.value(&x)).abs() < 1e-12);
        }
    }
}

/// A network that avoids a leaky neuron has a loss of at least (1−a)²·ℓ(α).
#[test]
fn a_leaky_neuron_that_is_avoided_costs_its_loss() {
    let mut stream = Key::new(4).stream();
    let points: Vec<[f64; 2]> = (0..1_500).map(|i| at_angle(2.0 * PI * f64::from(i) / 1_500.0)).collect();
    let mut tightest: f64 = f64::INFINITY;
    for round in 0..3_000 {
        let (neurons, slope) = (1 + round % 3, 0.9 * uniform(&mut stream));
        let truth = ReluNet::random(2, neurons, &mut stream);
        // Near the truth, but for the first neuron, which is avoided by about α.
        let alpha = 0.05 + 0.5 * uniform(&mut stream);
        let near = truth.iter().enumerate().flat_map(|(i, theta)| {
            let size = if i == 0 { 1.5 * alpha } else { 0.2 * uniform(&mut stream) };
            moved(&mut stream, theta, size)
        });
        let other = network(2, near.collect());
        let distance =
            other.iter().map(|theta| distance_up_to_sign(theta, truth.neuron(0))).fold(f64::INFINITY, f64::min);
        let activation = Activation::leaky(slope).expect("a slope");
        let [a, b] = [&truth, &other].map(|net| family(&activation, net, &vec![0.0; neurons]));
        let squares: f64 = points.iter().map(|x| (a.value(x) - b.value(x)).powi(2)).sum();
        let bound = (1.0 - slope) * (1.0 - slope) * identifying_loss(neurons, 2, 0.999 * distance);
        tightest = tightest.min(squares / points.len() as f64 / bound);
    }
    println!("the smallest loss found is {tightest:.2} of (1−a)²ℓ(α)");
    assert!(tightest >= 1.0);
}

/// With signs ±1 nothing keeps the best action from a kink, whatever the slope: it lies on one in a third of random
/// networks.
#[test]
fn signs_may_have_no_gap_whatever_the_slope() {
    let mut without = 0;
    let mut stream = Key::new(5).stream();
    for round in 0..300 {
        let plain = ReluNet::random(2, 4, &mut stream);
        let signs = (0..4).map(|_| sign(&mut stream)).collect();
        let net = ReluNet::with_signs(2, plain.theta().to_vec(), signs).expect("a network");
        let slope = [0.0, 0.2, 0.5][round % 3];
        let leaky = family(&Activation::leaky(slope).expect("a slope"), &net, &[0.0; 4]);
        let best = best_piecewise_action(&leaky, CELL_BUDGET).expect("a best action");
        without += u32::from(best.nu_star == 0.0);
    }
    println!("{without} of 300 networks with signs ±1 have their best action on a kink");
    assert!(without > 20);
}
