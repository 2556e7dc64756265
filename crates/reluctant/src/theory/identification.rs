//! Proposition 3.1 and Theorem 3.2 again, with the losses of their proof removed. This is ours, not the paper's.
//!
//! *Claim.* Let Θ and Θ* have k unit neurons and second layers of ones, d ≥ 2, and let some θⱼ* be at an angle of more
//! than φ from every line ℝθᵢ. Then, for x uniform on the sphere and every 0 < ε < 1,
//!
//! E[(f_Θ(x) − f_Θ*(x))²] ≥ |S^(d−2)|/|S^(d−1)| · ε³/24 · (1 − ε²)^((d−1)/2) · (1 − k·p_d(w·cot φ)),  w = ε/√(1 − ε²),
//!
//! where p_d(q) is the probability that a coordinate of a uniform point of S^(d−2) is at most q in size.
//!
//! *Proof.* Write x = (sin t, cos t·ω) with the first axis along θⱼ*, ω in S^(d−2), and v = tan t. Both networks are
//! positively homogeneous, so f(x) = cos t·f(v, ω), and on each meridian ω both are piecewise linear in v: no cylinder
//! need stand in for the strip. The measure is (cos t)^(d−2) dt dω, so the squared loss on the strip |x₁| ≤ ε is ∫∫
//! (f_Θ − f_Θ*)²(v, ω)·(1 + v²)^(−(d+2)/2) dv dω over |v| ≤ w, and the weight is at least (1 − ε²)^((d+2)/2).
//!
//! A neuron at the angle χ from the line of θⱼ* has its kink inside |v| ≤ w only on the meridians with |ω·u| ≤ w·cot χ,
//! a share of p_d(w·cot χ). On the other meridians f_Θ is linear, while f_Θ* is max(0, v) plus a convex function, for
//! every kink of f_Θ* is convex: the *true* neurons need no room and no assumption. With ψ(v) = |v|/2 − w/4, the part
//! of max(0, v) that is orthogonal to linear functions, ∫ψ·(convex) ≥ 0, because ψ is negative inside, positive outside
//! and orthogonal to lines. So the squared distance of f_Θ* from all linear functions is at least ∫ψ² = w³/24.
//! Multiply: w³·(1 − ε²)^((d+2)/2) = ε³·(1 − ε²)^((d−1)/2). ∎
//!
//! Against the paper's proof: the sphere is exact instead of a cylinder (its term 6kdε³ and with it the condition ε ≤
//! 1/192kd are gone), k neurons count instead of 2k − 1, the squared loss is used as it is instead of through its root
//! (so the error falls like ζ^(1/3), not ζ^(1/4), and t₀ grows like ν⁻⁶, not ν⁻⁸), and d = 2 and d = 3, where its lemma
//! on |Z^θ| fails, are covered.

use std::f64::consts::{LN_2, LN_10, PI, SQRT_2};

use super::Setting;
use super::loss::{ln_samples_for, ln_zeta};
use super::sphere::{equator_ratio, second_ratio};

/// ℓ(α): a network whose mean squared error over the sphere is at most ℓ has a neuron within α of each true one, up to
/// sign.
///
/// The best ε in this module's claim, with 2·sin(φ/2) = α. Zero at α = 0; α beyond √2 is as good as √2.
pub fn identifying_loss(neurons: usize, dim: usize, alpha: f64) -> f64 {
    libm::exp(ln_identifying_loss(neurons, dim, alpha))
}

fn ln_identifying_loss(neurons: usize, dim: usize, alpha: f64) -> f64 {
    if dim < 2 || alpha.is_nan() || alpha <= 0.0 {
        return f64::NEG_INFINITY;
    }
    let k = neurons as f64;
    let exponent = 0.5 * (dim as f64 - 1.0);
    let phi = 2.0 * libm::asin(0.5 * alpha.min(SQRT_2));
    // At a right angle cot φ is zero up to rounding, and tan φ a large number: what it should be.
    let tangent = libm::tan(phi).abs();
    // p_d(q), exact for d = 2 and 3; beyond, the density of a coordinate is largest at zero.
    let slope = 2.0 * second_ratio(dim) / equator_ratio(dim);
    let share = |w: f64| match dim {
        2 => 0.0,
        3 => 2.0 / PI * libm::asin((w / tangent).min(1.0)),
        _ => slope * w / tangent,
    };
    // Where k·p_d reaches 1, or in the plane where the first kink can enter.
    let widest = match dim {
        2 => tangent,
        3 => tangent * libm::sin(0.5 * PI / k),
        _ => tangent / (k * slope),
    };
    let flat = |epsilon: f64| 3.0 * libm::log(epsilon) + exponent * libm::log1p(-epsilon * epsilon);
    let value = |epsilon: f64| {
        let rest = 1.0 - k * share(epsilon / (1.0 - epsilon * epsilon).sqrt());
        flat(epsilon) + if rest > 0.0 { libm::log(rest) } else { f64::NEG_INFINITY }
    };
    // Beyond ε² = 3/(d+2) both factors fall.
    let (mut low, mut high) = (0.0, (widest / libm::hypot(1.0, widest)).min((3.0 / (dim as f64 + 2.0)).sqrt()));
    let best = if dim == 2 {
        value(high)
    } else {
        // Each factor is log-concave in ε, so thirds of the interval can be discarded.
        for _ in 0..120 {
            let (left, right) = (low + (high - low) / 3.0, high - (high - low) / 3.0);
            if value(left) < value(right) { low = left } else { high = right }
        }
        value(0.5 * (low + high))
    };
    libm::log(equator_ratio(dim)) - libm::log(24.0) + best
}

/// The error of every neuron, up to sign, after n samples: the smallest α with ℓ(α) ≥ 2ζ(n), as Theorem 3.2 but from
/// [`identifying_loss`]. `None` if n is too small to say anything.
///
/// It is a bound on a bijection only while it is at most α₀/2, as in the paper.
pub fn identified_error(setting: &Setting, n: f64) -> Option<f64> {
    let loss = LN_2 + ln_zeta(setting, libm::log(n));
    let enough = |alpha: f64| ln_identifying_loss(setting.neurons, setting.dim, alpha) >= loss;
    if !enough(SQRT_2) {
        return None;
    }
    let (mut low, mut high) = (0.0, SQRT_2);
    for _ in 0..200 {
        let middle = 0.5 * (low + high);
        if enough(middle) { high = middle } else { low = middle }
    }
    Some(high)
}

/// log₁₀ of the number of samples after which every neuron is within min(ν, α₀)/2, up to sign, by [`identifying_loss`]:
/// what t₀(ν) is with the same ζ and a tight second half of the argument.
pub fn log10_identified_length(setting: &Setting, nu: f64) -> f64 {
    let alpha = 0.5 * nu.min(setting.alpha0);
    ln_samples_for(setting, ln_identifying_loss(setting.neurons, setting.dim, alpha) - LN_2) / LN_10
}

#[cfg(test)]
mod tests {
    use super::super::{log10_exploration_length, neuron_error_bound};
    use super::*;

    /// In the plane: ε = sin φ, and ℓ = ε³·√(1 − ε²)/(24π).
    #[test]
    fn the_plane_has_a_closed_form() {
        for alpha in [1e-6, 0.01, 0.3] {
            let epsilon = libm::sin(2.0 * libm::asin(alpha / 2.0));
            let exact = epsilon.powi(3) * (1.0 - epsilon * epsilon).sqrt() / (24.0 * PI);
            assert!((identifying_loss(5, 2, alpha) / exact - 1.0).abs() < 1e-9);
        }
    }

    #[test]
    fn it_grows_with_the_distance_and_ends_in_zero() {
        for (k, d) in [(1, 2), (3, 2), (2, 3), (10, 3), (4, 7), (50, 100)] {
            let losses: Vec<f64> = (0..=20).map(|i| identifying_loss(k, d, 0.07 * f64::from(i))).collect();
            assert_eq!(losses[0], 0.0);
            assert!(losses.windows(2).all(|pair| pair[0] <= pair[1] && pair[1].is_finite()), "{losses:?}");
        }
        assert_eq!(identifying_loss(2, 1, 0.1), 0.0);
        assert_eq!(identifying_loss(2, 3, f64::NAN), 0.0);
    }

    #[test]
    fn it_is_never_worse_than_the_theorem() {
        for (neurons, dim) in [(1, 2), (3, 2), (10, 2), (2, 3), (5, 5), (20, 10), (3, 100)] {
            let setting = Setting { dim, neurons, sigma: 0.1, delta: 0.01, alpha0: 0.3 };
            assert!(log10_identified_length(&setting, 0.2) + 5.0 < log10_exploration_length(&setting, 0.2));
            let n = 1e50;
            assert!(identified_error(&setting, n).unwrap() < neuron_error_bound(&setting, n));
        }
    }

    #[test]
    fn nothing_is_known_from_nothing() {
        let setting = Setting { dim: 3, neurons: 2, sigma: 0.1, delta: 0.01, alpha0: 0.3 };
        assert_eq!(identified_error(&setting, 1.0), None);
        assert_eq!(log10_identified_length(&setting, 0.0), f64::INFINITY);
        assert!(log10_identified_length(&setting, 1e-290).is_finite());
    }
}
