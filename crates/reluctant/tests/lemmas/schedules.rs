//! t₀(ν) and the batches of Algorithm 2: what the formulas of Appendices D and E leave out.

use reluctant::theory::{
    Batches, Setting, exploration_conditions, exploration_length, gap_floor, log10_exploration_length,
    unknown_gap_regret,
};

const SETTING: Setting = Setting { dim: 2, neurons: 3, sigma: 0.1, delta: 0.01, alpha0: 0.5 };

/// `eq:t0max_1` says t₁(ν) = C₁·k¹⁰d²(k∨σ)²/ν⁸·(dk·(log(d(k∨σ)) ∨ log log T) + log(64T)) with a constant C₁. The
/// bracket has no log(1/ν), so ν⁸·t₁(ν) would be constant in ν; it grows without bound, like log(1/ν).
#[test]
fn false_t1_without_the_logarithm_of_the_gap() {
    let scaled = |log10_nu: f64| {
        let nu = libm::exp10(log10_nu);
        exploration_conditions(&SETTING, nu).log10_accurate + 8.0 * log10_nu
    };
    let (large, small, tiny) = (scaled(-1.0), scaled(-30.0), scaled(-300.0));
    assert!(small - large > 0.5 && tiny - small > 0.9, "{large} {small} {tiny}");
}

/// `eq:t0max_2` and both theorems do not mention α₀, but the condition behind them makes t₂ grow like 1/α₀⁸: Algorithm
/// 2 does not know how long to explore unless α₀ is known.
#[test]
fn false_t2_without_the_separation() {
    let separated = |alpha0: f64| exploration_conditions(&Setting { alpha0, ..SETTING }, 0.3).log10_separated;
    let growth = separated(1e-4) - separated(1e-3);
    assert!((8.0..8.1).contains(&growth), "{growth}");
}

/// T_i = (aⁱ − 1)·T₁ makes the first batch end at (a − 1)·T₁, which is T₁ only for a = 2.
#[test]
fn false_first_batch_unless_a_is_two() {
    for a in [1.5, 3.0] {
        let grid = Batches { a, ..Batches::default() };
        assert_eq!(grid.end(1.0), (a - 1.0) * grid.first);
        assert_ne!(grid.end(1.0), grid.first);
        // The rule that lengths grow by a holds, and M agrees with this grid.
        let lengths: Vec<f64> = (1..6).map(|i| grid.end(f64::from(i)) - grid.end(f64::from(i - 1))).collect();
        assert!(lengths.windows(2).all(|pair| (pair[1] / pair[0] - a).abs() < 1e-12));
        assert_eq!(grid.count(grid.end(4.0)), 4.0);
    }
    assert_eq!(Batches::default().end(1.0), Batches::default().first);
}

/// Lengths t₀(ν_i) − t₀(ν_{i−1}) from i = 1 on add up to t₀(ν_j) − t₀(ν₀), which is too short: the first batch must
/// explore t₀(ν₁) in full.
#[test]
fn false_first_exploration() {
    let grid = Batches { b: 1.5, ..Batches::default() };
    let length = |i: i32| exploration_length(&SETTING, grid.guess(f64::from(i)));
    let explored: f64 = (1..=3).map(|i| length(i) - length(i - 1)).sum();
    assert!(explored < (1.0 - 1e-5) * length(3));
    assert!((explored + length(0)) / length(3) - 1.0 < 1e-12);
}

/// The sums of Appendix E end at batch M − 1, but batch M plays and explores too: it may be all but a 1/a of the
/// horizon, and its exploration is longer by b⁸ (and a little).
#[test]
fn false_sums_that_leave_out_the_last_batch() {
    let grid = Batches::default();
    let horizon = 1e9;
    let m = grid.count(horizon);
    assert!(grid.end(m - 1.0) < horizon);
    let longer =
        log10_exploration_length(&SETTING, grid.guess(m)) - log10_exploration_length(&SETTING, grid.guess(m - 1.0));
    let b8 = 8.0 * libm::log10(grid.b);
    assert!((b8..1.02 * b8).contains(&longer));
}

/// Theorem 4.4 leaves out its case (i), 2k·T₁·(ν₀/ν*)^(log a/log b), whose exponent is at least 16 for every admissible
/// (a, b) and 32 for the paper's example. A first guess of at most 1/(2k) makes it vanish, whatever the network.
#[test]
fn the_case_left_out_of_theorem_4_4_is_large() {
    let proud = Batches { nu0: 1.0, ..Batches::default() };
    let horizon = 1e200;
    let bound = unknown_gap_regret(&SETTING, 0.1, 1.0, &proud, horizon);
    let papers = 6.0 * proud.first * libm::pow(10.0, 32.0);
    assert!(bound.guesses <= papers && bound.guesses >= papers / 2.0 - 6.0 * proud.first, "{} {papers}", bound.guesses);
    let modest = Batches { nu0: gap_floor(3), ..Batches::default() };
    assert_eq!(unknown_gap_regret(&SETTING, 0.2, 1.0, &modest, horizon).guesses, 0.0);
}
