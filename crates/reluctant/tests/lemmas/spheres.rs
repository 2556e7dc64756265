//! The ratios of sphere measures in the proof of Lemma B.4, and the constant 727 that comes of them.

use std::f64::consts::PI;

use reluctant::theory::{equator_ratio, second_ratio};

/// |S^(d−3)|/|S^(d−1)| ≤ d/2π (it is (d−2)/2π) and |S^(d−2)|/|S^(d−1)| ≥ √d/(2√(2π)) (it tends to twice that).
#[test]
fn both_ratios_hold_up_to_dimension_200() {
    for d in 2..=200 {
        let (x, root) = (d as f64, (d as f64).sqrt());
        assert!(second_ratio(d) <= x / (2.0 * PI));
        let slack = equator_ratio(d) / (root / (2.0 * (2.0 * PI).sqrt()));
        assert!((1.0..2.0).contains(&slack), "{d} {slack}");
        assert!(equator_ratio(d) <= (x / (2.0 * PI)).sqrt());
        assert!(equator_ratio(d) >= (x - 1.0) / (2.0 * PI * x).sqrt());
    }
    assert!(equator_ratio(200) / (200f64.sqrt() / (2.0 * (2.0 * PI).sqrt())) > 1.99);
}

/// With r = 16√(2π)·η̃/(√d·ε²), the proof's bound is 16·2^(3/4)/(√r·(1/2 − r))·π^(−1/4)·k·d^(1/4)·√η̃. Its ε makes r =
/// 4/9 and the constant 727; the best is r = 1/6, that is ε² = 96√(2π)·η̃/√d, with the constant 198. In t₀ that is a
/// factor of (727/198)⁸ ≈ 33,000.
#[test]
fn a_better_width_would_make_727_a_198() {
    let constant = |r: f64| 16.0 * libm::pow(2.0, 0.75) / (r.sqrt() * (0.5 - r));
    assert!((726.0..727.0).contains(&constant(4.0 / 9.0)));
    assert!((197.0..198.0).contains(&constant(1.0 / 6.0)));
    for i in 1..500 {
        assert!(constant(0.001 * f64::from(i)) >= constant(1.0 / 6.0) - 1e-9);
    }
}
