//! ζ, how far the loss on n samples can be from the loss on all of them (Lemmas B.2 and B.3).

use super::Setting;

/// ζ(n) = √( 4096·k²·(k∨σ)²/n · (dk·max{1, log(1 + √(n/dk))} + log(4/δ)) ), Lemma B.3 (`lem:empiricalloss`).
///
/// With probability 1 − δ the empirical loss (less the noise's own part) differs from the population's by at most ζ,
/// for all networks at once; so the minimiser's population loss is at most 2ζ, and its mean absolute error at most
/// √(2ζ).
///
/// Infinite at n = 0, zero at n = ∞.
pub fn zeta(setting: &Setting, n: f64) -> f64 {
    libm::exp(ln_zeta(setting, libm::log(n)))
}

/// log ζ as a function of log n, because the n that matter can be beyond the largest number.
pub(super) fn ln_zeta(setting: &Setting, ln_n: f64) -> f64 {
    if ln_n == f64::INFINITY {
        return f64::NEG_INFINITY;
    }
    let size = setting.d() * setting.k();
    let half = 0.5 * (ln_n - libm::log(size));
    // log(1 + e^half) without overflow.
    let covering = if half > 0.0 { half + libm::log1p(libm::exp(-half)) } else { libm::log1p(libm::exp(half)) };
    let complexity = size * covering.max(1.0) + libm::log(4.0) - libm::log(setting.delta);
    0.5 * (libm::log(4096.0) + 2.0 * libm::log(setting.k()) + 2.0 * setting.ln_scale() - ln_n + libm::log(complexity))
}

/// log of the smallest n ≥ 1 with log ζ(n) ≤ `ln_target`; infinite if there is none.
///
/// ζ falls in n, so bisection on log n finds it.
pub(super) fn ln_samples_for(setting: &Setting, ln_target: f64) -> f64 {
    let enough = |ln_n: f64| ln_zeta(setting, ln_n) <= ln_target;
    let (mut low, mut high) = (0.0, 1.0);
    if enough(low) {
        return low;
    }
    while !enough(high) {
        low = high;
        high *= 2.0;
        // No target that is a number lies so deep; this also ends the search for a target of −∞ or NaN.
        if high > 1e12 {
            return f64::INFINITY;
        }
    }
    while high - low > 1e-15 * high {
        let middle = 0.5 * (low + high);
        if middle <= low || middle >= high {
            break;
        }
        if enough(middle) { high = middle } else { low = middle }
    }
    high
}

#[cfg(test)]
mod tests {
    use super::*;

    const SETTING: Setting = Setting { dim: 2, neurons: 3, sigma: 0.1, delta: 0.01, alpha0: 0.5 };

    #[test]
    fn zeta_at_the_ends() {
        assert_eq!(zeta(&SETTING, 0.0), f64::INFINITY);
        assert_eq!(zeta(&SETTING, f64::INFINITY), 0.0);
        assert!(zeta(&Setting { sigma: 0.0, ..SETTING }, 1.0).is_finite());
    }

    #[test]
    fn the_number_of_samples_is_the_smallest() {
        for target in [1e3, 1.0, 1e-6, 1e-100] {
            let ln_n = ln_samples_for(&SETTING, libm::log(target));
            assert!(ln_zeta(&SETTING, ln_n) <= libm::log(target));
            assert!(ln_n == 0.0 || ln_zeta(&SETTING, ln_n - 1e-9) > libm::log(target));
        }
        assert_eq!(ln_samples_for(&SETTING, f64::NEG_INFINITY), f64::INFINITY);
        assert_eq!(ln_samples_for(&SETTING, f64::NAN), f64::INFINITY);
    }
}
