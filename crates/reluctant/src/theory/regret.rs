//! The regret bounds of Theorems 4.3 and 4.4, with every constant written out.

use serde::{Deserialize, Serialize};

use super::Setting;
use super::batches::Batches;
use super::exploration::exploration_length;
use super::optimism::{Stage, optimism_regret};

/// A bound on the expected regret, part by part. Parts may be infinite.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct RegretBound {
    /// Batches that guess the gap too high (Theorem 4.4, case (i)); zero where the gap is known.
    pub guesses: f64,
    /// Rounds of exploration.
    pub exploration: f64,
    /// Rounds of optimism.
    pub optimism: f64,
    /// What the improbable failure of a confidence set costs in expectation.
    pub failure: f64,
    /// 2kT, which the paper's bound on the regret of a round gives without any theorem.
    pub trivial: f64,
}

impl RegretBound {
    /// The sum of the parts.
    pub fn total(&self) -> f64 {
        self.guesses + self.exploration + self.optimism + self.failure
    }

    /// Whether the bound says more than that no round costs more than 2k.
    pub fn informative(&self) -> bool {
        self.total() < self.trivial
    }
}

/// Theorem 4.3 (`thm:algo1_reg`): the expected regret of Algorithm 1 in T rounds, with δ = 1/√T (the setting's own δ is
/// not used):
///
/// 2k·t₀(ν, δ/2) + [`optimism_regret`](T, δ/2) + 2k·√T.
///
/// A round costs at most 2k in the paper (in truth k, since 0 ≤ f ≤ k). Exploration fails with probability δ/2, the
/// confidence set with δ/2, and then all T rounds may cost 2k: 2kT·δ = 2k√T.
pub fn known_gap_regret(setting: &Setting, nu: f64, lambda: f64, horizon: f64) -> RegretBound {
    let k = setting.k();
    let (half, stage) = halved(setting, lambda, horizon);
    RegretBound {
        guesses: 0.0,
        exploration: 2.0 * k * exploration_length(&half, nu),
        optimism: optimism_regret(&stage, horizon),
        failure: 2.0 * k * horizon.sqrt(),
        trivial: 2.0 * k * horizon,
    }
}

/// Theorem 4.4 (`thm:algo2_reg`): the expected regret of Algorithm 2 in T rounds, with δ = 1/√T a batch:
///
/// * (i) 2k·T_j for the j batches with ν_i > ν*, at most 2k·T₁·(ν₀/ν*)^(log a/log b);
/// * (ii) 2k·t₀(ν_M, δ/2), since the explorations of all batches add up to t₀ of the last;
/// * (iii) √M·[`optimism_regret`](T, δ/2): each batch begins a confidence set of its own, and Σ√(lengths) ≤ √(M·T);
/// * failure: 2k·T·M·δ = 2k·M·√T.
///
/// The paper's sums end at batch M − 1; the last batch, the longest, is in ours. Its (iii) keeps one confidence set
/// over all batches, which needs features that do not change with Θ̃; beginning anew costs the factor √M = O(√log T).
pub fn unknown_gap_regret(
    setting: &Setting,
    nu_star: f64,
    lambda: f64,
    batches: &Batches,
    horizon: f64,
) -> RegretBound {
    let k = setting.k();
    let (half, stage) = halved(setting, lambda, horizon);
    let count = batches.count(horizon);
    RegretBound {
        guesses: 2.0 * k * batches.end(batches.too_high(nu_star)).min(horizon),
        exploration: 2.0 * k * exploration_length(&half, batches.guess(count)),
        optimism: count.sqrt() * optimism_regret(&stage, horizon),
        failure: 2.0 * k * count * horizon.sqrt(),
        trivial: 2.0 * k * horizon,
    }
}

/// log₁₀ of the first horizon at which Theorem 4.3 says more than 2kT; `None` if there is none below 10³⁰⁰.
///
/// Each part of the bound, divided by T, falls in T (t₀ grows like log T), so bisection finds it.
pub fn log10_informative_horizon(setting: &Setting, nu: f64, lambda: f64) -> Option<f64> {
    let informative = |log10: f64| known_gap_regret(setting, nu, lambda, libm::exp10(log10)).informative();
    let (mut low, mut high) = (0.0, 300.0);
    if !informative(high) {
        return None;
    }
    for _ in 0..100 {
        let middle = 0.5 * (low + high);
        if informative(middle) { high = middle } else { low = middle }
    }
    Some(high)
}

/// The setting and the stage with δ/2 for δ = 1/√T.
fn halved(setting: &Setting, lambda: f64, horizon: f64) -> (Setting, Stage) {
    let delta = 0.5 / horizon.max(1.0).sqrt();
    let stage = Stage { dim: setting.dim, neurons: setting.neurons, lambda, sigma: setting.sigma, delta };
    (setting.with_delta(delta), stage)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SETTING: Setting = Setting { dim: 2, neurons: 3, sigma: 0.1, delta: 0.01, alpha0: 0.5 };

    #[test]
    fn the_bound_is_trivial_for_real_horizons_and_not_for_all() {
        assert!(!known_gap_regret(&SETTING, 0.3, 1.0, 1e6).informative());
        let first = log10_informative_horizon(&SETTING, 0.3, 1.0).unwrap();
        assert!((41.0..43.0).contains(&first), "{first}");
        assert!(known_gap_regret(&SETTING, 0.3, 1.0, libm::exp10(first + 0.01)).informative());
        assert!(!known_gap_regret(&SETTING, 0.3, 1.0, libm::exp10(first - 0.01)).informative());
    }

    #[test]
    fn no_gap_and_no_separation_are_infinite_and_not_nan() {
        let none = Setting { alpha0: 0.0, ..SETTING };
        for bound in [
            known_gap_regret(&SETTING, 0.0, 1.0, 1e3),
            known_gap_regret(&none, 0.3, 1.0, 1e3),
            unknown_gap_regret(&none, 0.0, 1.0, &Batches::default(), 1e3),
        ] {
            assert_eq!(bound.total(), f64::INFINITY);
            assert!(!bound.informative() && !bound.guesses.is_nan());
        }
        assert_eq!(log10_informative_horizon(&none, 0.3, 1.0), None);
    }

    #[test]
    fn guessing_costs_nothing_when_the_first_guess_is_below_the_gap() {
        let low = unknown_gap_regret(&SETTING, 0.2, 1.0, &Batches::default(), 1e6);
        assert_eq!(low.guesses, 0.0);
        let high = unknown_gap_regret(&SETTING, 0.05, 1.0, &Batches::default(), 1e6);
        // ν₀/ν* = 2 and b = 2^(1/32): the guess is 2^(−32/32) after 32 batches, so 31 are too high, beyond the horizon.
        assert_eq!(high.guesses, high.trivial);
    }
}
