//! Proposition 4.2 (`prop:optimalactiongap`): the gap at the best action, and our ν* ≥ 1/(2f*).

use std::f64::consts::PI;

use reluctant::ReluNet;
use reluctant::linalg::dot;
use reluctant::rng::{Key, index};
use reluctant::theory::{gap_at_value, gap_floor};

use crate::lemmas::{at_angle, best_actions, gap_at, integral, network};

/// f* and every best action of `net`, and that each keeps the gap that we promise. Returns ν*·2f*, 1 where the bound is
/// attained.
fn slack(net: &ReluNet) -> f64 {
    let (value, actions) = best_actions(net);
    let mut least = f64::INFINITY;
    for x in &actions {
        assert!((net.value(x) - value).abs() < 1e-9 * value);
        least = least.min(gap_at(net, x));
    }
    assert!(least >= gap_at_value(value) - 1e-9 && least >= gap_floor(net.neurons()) - 1e-9, "{net:?} {least} {value}");
    least / gap_at_value(value)
}

#[test]
fn thousands_of_random_networks_keep_the_gap() {
    let mut stream = Key::new(1).stream();
    let mut least: f64 = f64::INFINITY;
    for round in 0..6_000 {
        let dim = 2 + round % 4;
        let neurons = 1 + index(&mut stream, 8);
        least = least.min(slack(&ReluNet::random(dim, neurons, &mut stream)));
    }
    println!("ν*·2f* is at least {least:.4} over 6000 random networks");
    assert!(least < 1.1);
}

/// In the plane the best action can also be found by going round.
#[test]
fn subsets_agree_with_going_round_the_circle() {
    let mut stream = Key::new(2).stream();
    for round in 0..200 {
        let net = ReluNet::random(2, 1 + round % 10, &mut stream);
        let (value, _) = best_actions(&net);
        let around = (0..20_000).map(|i| net.value(&at_angle(2.0 * PI * f64::from(i) / 20_000.0))).fold(0.0, f64::max);
        assert!(around <= value + 1e-12 && around > value - 1e-6 * net.neurons() as f64);
    }
}

/// Neither separation nor a unique best action is needed: opposite, equal, and cancelling neurons, and one neuron
/// alone.
#[test]
fn degenerate_networks_keep_the_gap_too() {
    let opposite = network(2, vec![1.0, 0.0, -1.0, 0.0]);
    assert!((slack(&opposite) - 2.0).abs() < 1e-12);
    assert_eq!(best_actions(&opposite).1.len(), 2);
    slack(&network(2, vec![1.0, 0.0, 1.0, 0.0, 0.0, 1.0]));
    assert!((slack(&network(3, vec![0.0, 0.0, 1.0])) - 2.0).abs() < 1e-12);
    // Six neurons in opposite pairs: their sum is zero.
    let pairs = (0..6).flat_map(|i| at_angle(PI * f64::from(i) / 3.0)).collect();
    slack(&network(2, pairs));
}

/// Three neurons at 120° cancel, have six best actions of value 1, and attain the bound: ν* = 1/2.
#[test]
fn the_bound_is_attained() {
    let net = network(2, (0..3).flat_map(|i| at_angle(2.0 * PI * f64::from(i) / 3.0)).collect());
    let (value, actions) = best_actions(&net);
    assert!((value - 1.0).abs() < 1e-12 && actions.len() == 6);
    assert!((slack(&net) - 1.0).abs() < 1e-9);
}

/// The order 1/k is right: k − 1 neurons near u and one with u·w = −1/(2(k−1)) have a gap of about 1/(2(k−1)).
#[test]
fn gaps_as_small_as_one_over_k_exist() {
    for bundle in [2, 5, 9] {
        let across = -0.5 / f64::from(bundle);
        // Turned by distinct tiny angles, in opposite pairs, so that no two are equal and their sum keeps its
        // direction.
        let turns = (0..bundle).map(|i| 1e-4 * (f64::from(i) - 0.5 * f64::from(bundle - 1)));
        let theta: Vec<f64> = turns.flat_map(at_angle).chain(at_angle(libm::acos(across))).collect();
        let net = network(2, theta);
        let (_, actions) = best_actions(&net);
        let gap = actions.iter().map(|x| gap_at(&net, x)).fold(1.0, f64::min);
        assert!((gap * 2.0 * f64::from(bundle) - 1.0).abs() < 1e-3, "{bundle} {gap}");
    }
}

/// Weights of ±1 in the second layer, to which "most of our proofs can be extended", have no gap in general: f(x) =
/// max(0, x₁) − max(0, x₂) is largest at x* = (1, 0) alone, and its second neuron is orthogonal to that.
#[test]
fn a_negative_second_layer_may_have_no_gap() {
    let net = ReluNet::with_signs(2, vec![1.0, 0.0, 0.0, 1.0], vec![1.0, -1.0]).expect("a network");
    let values: Vec<f64> = (0..3_600).map(|i| net.value(&at_angle(2.0 * PI * f64::from(i) / 3_600.0))).collect();
    let best = (0..3_600).max_by(|&i, &j| values[i].total_cmp(&values[j])).expect("not empty");
    assert_eq!(best, 0);
    assert_eq!(gap_at(&net, &[1.0, 0.0]), 0.0);
}

/// A round costs at most k, half of the paper's 2k; and a uniform action earns k·E max(0, x₁) on average.
#[test]
fn a_round_costs_at_most_k() {
    let mut stream = Key::new(3).stream();
    for _ in 0..200 {
        let net = ReluNet::random(2, 6, &mut stream);
        let worst =
            (0..500).map(|i| net.value(&at_angle(2.0 * PI * f64::from(i) / 500.0))).fold(f64::INFINITY, f64::min);
        assert!(worst >= 0.0 && best_actions(&net).0 <= 6.0);
        let mean = integral(0.0, 2.0 * PI, 4_000, |t| net.value(&at_angle(t))) / (2.0 * PI);
        assert!((mean - 6.0 / PI).abs() < 1e-5);
    }
}

/// "With a discretised arm set our claim of a gap always holds": the best of finitely many arms may lie on a neuron's
/// boundary.
#[test]
fn false_gap_among_finitely_many_arms() {
    let net = network(2, vec![1.0, 0.0, 0.0, 1.0]);
    let arms = [[1.0, 0.0], [-1.0, 0.0], at_angle(1.25 * PI)];
    let best = arms.iter().max_by(|a, b| net.value(&a[..]).total_cmp(&net.value(&b[..]))).expect("not empty");
    assert_eq!(dot(net.neuron(1), best), 0.0);
}
