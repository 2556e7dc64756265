//! The features x‡ (`eq:model_sign`) and what the optimistic stage assumes of them.

use reluctant::linalg::{dot, norm};
use reluctant::rng::{Key, Stream, normal, sign, uniform, unit_vector};
use reluctant::{Confidence, Ellipsoid, ReluNet};

use crate::lemmas::{at_angle, best_actions, distance_up_to_sign, gap_at, moved, network};

/// An estimate within `radius` of every neuron, up to sign, and the θ‡ that goes with it (`def:xtheta_eq_ucb_tht`).
fn estimate(truth: &ReluNet, radius: f64, stream: &mut Stream) -> (ReluNet, Vec<f64>) {
    let (mut theta, mut second) = (Vec::new(), Vec::new());
    for row in truth.iter() {
        let flip = sign(stream);
        let near = loop {
            let size = radius * uniform(stream);
            let near = moved(stream, row, size);
            if dot(&near, row) > 0.0 && distance_up_to_sign(&near, row) <= radius {
                break near;
            }
        };
        theta.extend(near.iter().map(|v| flip * v));
        second.extend(row.iter().map(|v| if flip < 0.0 { 2.0 * v } else { 0.0 }));
    }
    let ddagger = truth.theta().iter().copied().chain(second).collect();
    (network(truth.dim(), theta), ddagger)
}

/// With every neuron within ν*/2, up to sign: x* is in X(Θ̃, ν*/2), f is linear in x‡ there, and ‖θ‡‖ ≤ √(5k).
#[test]
fn the_model_is_linear_within_the_region() {
    let mut stream = Key::new(1).stream();
    let mut inside = 0;
    for round in 0..300 {
        let (dim, neurons) = (2 + round % 3, 1 + round % 5);
        let truth = ReluNet::random(dim, neurons, &mut stream);
        let best = &best_actions(&truth).1[0];
        let nu = gap_at(&truth, best);
        let (near, ddagger) = estimate(&truth, nu / 2.0, &mut stream);
        assert!(near.in_region(best, nu / 2.0 - 1e-12));
        assert!(norm(&ddagger) <= (5.0 * neurons as f64).sqrt() + 1e-12);
        let mut x = vec![0.0; dim];
        for _ in 0..50 {
            unit_vector(&mut stream, &mut x);
            if near.in_region(&x, nu / 2.0) {
                assert!((dot(&near.x_ddagger(&x), &ddagger) - truth.value(&x)).abs() < 1e-12);
                inside += 1;
            }
        }
    }
    assert!(inside > 5_000);
}

/// √(5k) is attained when every sign is wrong; ‖x‡‖² = (active neurons) + k/4, up to 5k/4, and rewards reach k. The
/// theorem that the paper cites for the optimistic stage wants features no longer than 1 (or √λ) and rewards within ±1.
#[test]
fn false_assumptions_of_the_cited_theorem() {
    let k = 6;
    let bundle: Vec<f64> = (0..k).flat_map(|i| at_angle(0.01 * f64::from(i))).collect();
    let truth = network(2, bundle.clone());
    let opposite: Vec<f64> = truth.theta().iter().map(|v| 2.0 * v).collect();
    let ddagger: Vec<f64> = bundle.into_iter().chain(opposite).collect();
    assert!((norm(&ddagger) - (5.0 * f64::from(k)).sqrt()).abs() < 1e-12);
    let x = at_angle(0.02);
    assert!((norm(&truth.x_ddagger(&x)).powi(2) - 1.25 * f64::from(k)).abs() < 1e-12);
    assert!(truth.value(&x) > 0.99 * f64::from(k));
}

/// "The features and the parameter are invariant of Θ̃ once ν_i ≤ ν*": two estimates that are equally good but disagree
/// in one sign have other features and another θ‡, for the same reward.
#[test]
fn false_invariance_of_the_features() {
    let truth = network(2, vec![1.0, 0.0, 0.6, 0.8]);
    let flipped = network(2, vec![-1.0, 0.0, 0.6, 0.8]);
    let x = at_angle(0.5);
    assert_ne!(truth.x_ddagger(&x), flipped.x_ddagger(&x));
    let same = dot(&truth.x_ddagger(&x), &[1.0, 0.0, 0.6, 0.8, 0.0, 0.0, 0.0, 0.0]);
    let other = dot(&flipped.x_ddagger(&x), &[1.0, 0.0, 0.6, 0.8, 2.0, 0.0, 0.0, 0.0]);
    assert!((same - truth.value(&x)).abs() < 1e-12 && (other - truth.value(&x)).abs() < 1e-12);
}

/// The confidence set "with all the data previously observed" is not one. Exploration samples fall between θ̃'s
/// boundary and θ*'s, where f(x) ≠ x‡·θ‡; they bias the estimate while its ellipsoid shrinks, until θ‡ is outside. One
/// neuron in the plane (x* = θ*, ν* = 1), an estimate within ν*/2, and many uniform samples: at an action of the
/// region, the true reward is outside of the interval. With the samples of the region alone it is inside.
#[test]
fn false_confidence_set_from_exploration_samples() {
    let truth = network(2, vec![1.0, 0.0]);
    let near = network(2, at_angle(0.45).to_vec());
    assert!(distance_up_to_sign(near.neuron(0), truth.neuron(0)) <= 0.5);
    let confidence = Confidence { lambda: 1.0, sigma: 0.1, delta: 0.01, norm_bound: 5f64.sqrt() };
    let mut stream = Key::new(2).stream();
    let (mut all, mut kept) = (Ellipsoid::ridge(4, 1.0), Ellipsoid::ridge(4, 1.0));
    for _ in 0..100_000 {
        let mut x = [0.0; 2];
        unit_vector(&mut stream, &mut x);
        let y = truth.value(&x) + 0.1 * normal(&mut stream);
        all.update(&near.x_ddagger(&x), y);
        if near.in_region(&x, 0.5) {
            kept.update(&near.x_ddagger(&x), y);
        }
    }
    let worst = |ellipsoid: &Ellipsoid| {
        let radius = confidence.radius(ellipsoid.log_det_ratio());
        let actions =
            (0..360).map(|degree| at_angle(f64::from(degree).to_radians())).filter(|x| near.in_region(x, 0.5));
        let misses = actions.map(|x| {
            let features = near.x_ddagger(&x);
            (ellipsoid.mean(&features) - truth.value(&x)).abs() / (radius * ellipsoid.squared_width(&features).sqrt())
        });
        misses.fold(0.0, f64::max)
    };
    let (with, without) = (worst(&all), worst(&kept));
    println!("reward from the mean, in widths: {with:.2} with all samples, {without:.2} with those of the region");
    assert!(with > 2.0 && without < 1.0);
}
