//! Theorem 3.2: how near the estimated neurons are to the true ones, and when the theorem says anything at all.

use std::f64::consts::{LN_2, PI};

use super::Setting;
use super::loss::ln_zeta;

/// 727·π^(−1/4)·k·d^(1/4)·(2ζ)^(1/4), Theorem 3.2's bound on the error of each neuron up to sign, after n samples.
///
/// It is a bound only if [`conditions`] are met at n, and says something only if it is below √2: up to sign, no two
/// unit vectors are farther apart than that.
pub fn neuron_error_bound(setting: &Setting, n: f64) -> f64 {
    libm::exp(ln_factor(setting) + 0.25 * (LN_2 + ln_zeta(setting, libm::log(n))))
}

/// log of the factor of (2ζ)^(1/4).
pub(super) fn ln_factor(setting: &Setting) -> f64 {
    libm::log(727.0) + libm::log(setting.k()) + 0.25 * (libm::log(setting.d()) - libm::log(PI))
}

/// What Theorem 3.2 asks of √(2ζ) (Lemma B.4, `lem:relumain`).
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct Conditions {
    /// √(2ζ(n)), the bound on the estimate's mean absolute error.
    pub error: f64,
    /// 1/(1152²·√(2π)·k²·d^(3/2)): below it the strips of Proposition 3.1 can be taken narrow enough to be nearly flat.
    pub narrow: f64,
    /// α₀²·√π/(1454²·k²·√d): below it the bound is at most α₀/2, so that no estimate can stand for two neurons.
    pub separated: f64,
}

impl Conditions {
    /// Whether the theorem applies.
    pub fn met(&self) -> bool {
        self.error <= self.narrow.min(self.separated)
    }
}

/// Theorem 3.2's conditions after n samples.
pub fn conditions(setting: &Setting, n: f64) -> Conditions {
    Conditions {
        error: libm::exp(0.5 * (LN_2 + ln_zeta(setting, libm::log(n)))),
        narrow: libm::exp(ln_narrow(setting)),
        separated: libm::exp(ln_separated(setting)),
    }
}

pub(super) fn ln_narrow(setting: &Setting) -> f64 {
    -2.0 * libm::log(1152.0) - 0.5 * libm::log(2.0 * PI) - 2.0 * libm::log(setting.k()) - 1.5 * libm::log(setting.d())
}

pub(super) fn ln_separated(setting: &Setting) -> f64 {
    2.0 * libm::log(setting.alpha0) + 0.5 * libm::log(PI)
        - 2.0 * libm::log(1454.0)
        - 2.0 * libm::log(setting.k())
        - 0.5 * libm::log(setting.d())
}

#[cfg(test)]
mod tests {
    use super::*;

    const SETTING: Setting = Setting { dim: 3, neurons: 4, sigma: 0.5, delta: 0.05, alpha0: 0.3 };

    /// 1454 = 2·727: the second condition says exactly that the bound is at most α₀/2.
    #[test]
    fn separated_means_that_the_bound_is_half_of_alpha0() {
        let root = conditions(&SETTING, 1e6).separated;
        let bound = 727.0 * 4.0 * libm::pow(3.0 / PI, 0.25) * root.sqrt();
        assert!((bound - 0.15).abs() < 1e-12);
    }

    #[test]
    fn without_separation_the_theorem_never_applies() {
        assert!(!conditions(&Setting { alpha0: 0.0, ..SETTING }, 1e300).met());
        assert!(conditions(&SETTING, 1e300).met());
        assert!(!conditions(&SETTING, 1e6).met());
    }
}
