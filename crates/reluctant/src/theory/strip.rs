//! h(η, ε): how near a neuron must be where the loss on a strip around it is small (Proposition 3.1).

use super::sphere::{equator_ratio, ln_sphere_area, second_ratio};

/// The distance of Proposition 3.1 (`prop:key`) at a given strip width.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct StripBound {
    /// ε, the half-width of the strip X_i(ε) = {x : |θᵢ*·x| ≤ ε}.
    pub epsilon: f64,
    /// h(η, ε): some neuron of Θ is within this of θᵢ* or −θᵢ*.
    pub h: f64,
}

/// What h is made of, divided by |S^(d−2)| so that nothing underflows in high dimension.
struct Terms {
    /// k·|S^(d−3)| / (2·|S^(d−2)|), of ε³ in the numerator.
    cut: f64,
    /// 6kd, of ε³ in the denominator (Lemma A.1).
    bend: f64,
    /// d/16, of ε⁴ in the denominator.
    narrowing: f64,
    /// η / |S^(d−2)|.
    loss: f64,
}

/// 1/8, of ε² in the denominator (Lemma A.3). The best possible constant is 1/4; see `docs/theory.md`.
const KINK: f64 = 0.125;

impl Terms {
    fn new(eta: f64, neurons: usize, dim: usize) -> Self {
        let (k, d) = (neurons as f64, dim as f64);
        Terms {
            cut: 0.5 * k * second_ratio(dim) / equator_ratio(dim),
            bend: 6.0 * k * d,
            narrowing: d / 16.0,
            loss: libm::exp(libm::log(eta) - ln_sphere_area(dim.saturating_sub(2))),
        }
    }

    fn at(&self, epsilon: f64) -> Option<f64> {
        let rest = KINK - self.narrowing * epsilon * epsilon - self.bend * epsilon;
        let denominator = epsilon * epsilon * rest - self.loss;
        (denominator > 0.0).then(|| self.cut * epsilon * epsilon * epsilon / denominator)
    }
}

/// h(η, ε) = (k·ε³·|S^(d−3)|/2) / (ε²·(1 − dε²/2)·|S^(d−2)|/8 − η − 6kd·ε³·|S^(d−2)|), Proposition 3.1.
///
/// `None` where the denominator is not positive (η too large, or ε ≥ 1/48kd) or d < 2. At d = 2 the formula is 0, since
/// |S⁻¹| = 0, and the proposition is then false as it stands (a counterexample is among the tests of the lemmas);
/// [`super::identifying_loss`] is a version that holds in every dimension.
pub fn strip_bound(eta: f64, epsilon: f64, neurons: usize, dim: usize) -> Option<f64> {
    if dim < 2 || eta < 0.0 || epsilon <= 0.0 {
        return None;
    }
    Terms::new(eta, neurons, dim).at(epsilon)
}

/// The smallest h(η, ε) over all ε for a given η > 0; `None` if no ε makes the denominator positive, or d < 2.
///
/// 1/h is concave in u = 1/ε: with c₂ = 1/8, c₄ = d/16 and η' = η/|S^(d−2)|, it is c₂u − 6kd − c₄/u − η'u³ up to a
/// factor, whose maximum solves 3η'u⁴ − c₂u² − c₄ = 0, a quadratic equation in u².
pub fn best_strip_bound(eta: f64, neurons: usize, dim: usize) -> Option<StripBound> {
    if dim < 2 || eta <= 0.0 || eta.is_nan() {
        return None;
    }
    let terms = Terms::new(eta, neurons, dim);
    let root = (KINK * KINK + 12.0 * terms.loss * terms.narrowing).sqrt();
    let epsilon = (6.0 * terms.loss / (KINK + root)).sqrt();
    terms.at(epsilon).map(|h| StripBound { epsilon, h })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_best_width_beats_all_others() {
        for (eta, k, d) in [(1e-9, 1, 3), (1e-9, 3, 4), (1e-12, 2, 10), (1e-15, 20, 30)] {
            let best = best_strip_bound(eta, k, d).unwrap();
            for step in -400..400 {
                let epsilon = best.epsilon * libm::exp(0.01 * f64::from(step));
                if let Some(h) = strip_bound(eta, epsilon, k, d) {
                    assert!(h >= best.h * (1.0 - 1e-12));
                }
            }
        }
    }

    #[test]
    fn no_width_helps_where_the_loss_is_large() {
        assert_eq!(best_strip_bound(1.0, 3, 3), None);
        assert_eq!(best_strip_bound(0.0, 3, 3), None);
        assert_eq!(best_strip_bound(f64::NAN, 3, 3), None);
        assert_eq!(best_strip_bound(f64::INFINITY, 3, 3), None);
        assert_eq!(strip_bound(1e-9, 1e-4, 1, 1), None);
        assert_eq!(strip_bound(0.0, 0.5, 1, 3), None);
    }
}
