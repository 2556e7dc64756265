//! t₀(ν): how long Algorithm 1 must explore (Appendix D, `eq:t0max`).

use std::f64::consts::{LN_2, LN_10};

use super::Setting;
use super::estimation::{ln_factor, ln_narrow, ln_separated};
use super::loss::ln_samples_for;

/// t₀(ν) and the three conditions that it meets, each as log₁₀ of the number of samples.
///
/// An infinite entry means that no number of samples is enough (ν = 0 or α₀ = 0).
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct ExplorationLength {
    /// t₁(ν) (`eq:t0max_1`): from here Theorem 3.2's bound is at most ν/2.
    pub log10_accurate: f64,
    /// t₂ (`eq:t0max_2`), its first half: from here the theorem's strips are narrow enough.
    pub log10_narrow: f64,
    /// t₂, its second half: from here the bound is at most α₀/2. The paper's t₂ hides α₀ in a constant.
    pub log10_separated: f64,
}

impl ExplorationLength {
    /// log₁₀ t₀, where all three hold.
    pub fn log10(&self) -> f64 {
        self.log10_accurate.max(self.log10_narrow).max(self.log10_separated)
    }
}

/// The conditions behind t₀(ν), each solved for the smallest n ≥ 1 that meets it.
pub fn exploration_conditions(setting: &Setting, nu: f64) -> ExplorationLength {
    // Each condition is one on ζ: (2ζ)^(1/4)·factor ≤ ν/2, or √(2ζ) ≤ a threshold.
    let accurate = 4.0 * (libm::log(0.5 * nu) - ln_factor(setting)) - LN_2;
    let threshold = |ln_root: f64| 2.0 * ln_root - LN_2;
    let log10 = |ln_zeta: f64| ln_samples_for(setting, ln_zeta) / LN_10;
    ExplorationLength {
        log10_accurate: log10(accurate),
        log10_narrow: log10(threshold(ln_narrow(setting))),
        log10_separated: log10(threshold(ln_separated(setting))),
    }
}

/// log₁₀ t₀(ν), which stays finite where t₀ itself is beyond the largest number.
pub fn log10_exploration_length(setting: &Setting, nu: f64) -> f64 {
    exploration_conditions(setting, nu).log10()
}

/// t₀(ν): the smallest number of random samples after which Theorem 3.2 applies and puts every neuron within ν/2 of the
/// truth, up to sign (equation `eq:t0max`).
///
/// The result is astronomically large, hence a real number: infinite beyond 10³⁰⁸, and where ν or α₀ is zero.
pub fn exploration_length(setting: &Setting, nu: f64) -> f64 {
    libm::exp(log10_exploration_length(setting, nu) * LN_10)
}

#[cfg(test)]
mod tests {
    use super::super::{conditions, neuron_error_bound};
    use super::*;

    const SETTING: Setting = Setting { dim: 2, neurons: 3, sigma: 0.1, delta: 0.01, alpha0: 0.5 };

    #[test]
    fn the_length_meets_both_conditions_and_less_does_not() {
        for (alpha0, nu) in [(0.5, 0.3), (0.05, 0.3), (1.4, 2.0)] {
            let setting = Setting { alpha0, ..SETTING };
            let n = exploration_length(&setting, nu);
            let holds = |n: f64| conditions(&setting, n).met() && neuron_error_bound(&setting, n) <= nu / 2.0;
            assert!(holds(n * (1.0 + 1e-9)) && !holds(n * (1.0 - 1e-9)), "{n}");
        }
    }

    #[test]
    fn extreme_settings_are_numbers_or_infinite() {
        assert_eq!(exploration_length(&SETTING, 0.0), f64::INFINITY);
        assert_eq!(exploration_length(&Setting { alpha0: 0.0, ..SETTING }, 0.3), f64::INFINITY);
        let tiny = log10_exploration_length(&SETTING, 1e-300);
        assert!((2_400.0..2_500.0).contains(&tiny), "{tiny}");
        assert_eq!(exploration_length(&SETTING, 1e-300), f64::INFINITY);
        let loud = Setting { sigma: 1e200, dim: 1_000_000, neurons: 1_000_000, delta: 1e-300, alpha0: 1e-200 };
        assert!(log10_exploration_length(&loud, 0.1).is_finite());
    }
}
