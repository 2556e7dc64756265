//! How far apart neurons can be: which α₀ of Assumption 2.2 any network has.

use std::f64::consts::PI;

/// An upper bound on α₀ = min over i ≠ j of ‖θᵢ ± θⱼ‖ for k unit neurons in R^d (Assumption 2.2, `assump:neuronskip`).
///
/// Up to sign a neuron is a line, and α₀² = 2(1 − μ) with μ the largest |θᵢ·θⱼ|. In the plane the best k lines divide
/// the half-turn evenly, μ ≥ cos(π/k): α₀ ≤ 2·sin(π/2k), attained. Otherwise μ ≥ 0, attained while k ≤ d, and Welch's
/// bound μ² ≥ (k − d)/(d(k − 1)) beyond. Infinite for k = 1 (there is no pair), zero for two or more neurons on a line.
pub fn separation_limit(neurons: usize, dim: usize) -> f64 {
    let (k, d) = (neurons as f64, dim as f64);
    match (neurons, dim) {
        (0 | 1, _) => f64::INFINITY,
        (_, 0 | 1) => 0.0,
        (_, 2) => 2.0 * libm::sin(PI / (2.0 * k)),
        _ => {
            let coherence = ((k - d).max(0.0) / (d * (k - 1.0))).sqrt();
            (2.0 * (1.0 - coherence)).sqrt()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_arrangements_attain_it() {
        // Orthogonal neurons; lines at 60° in the plane; the six diagonals of the icosahedron, with |cos| = 1/√5.
        assert!((separation_limit(3, 3) - 2f64.sqrt()).abs() < 1e-15);
        assert!((separation_limit(2, 2) - 2f64.sqrt()).abs() < 1e-15);
        assert!((separation_limit(3, 2) - 1.0).abs() < 1e-15);
        assert!((separation_limit(6, 3) - (2.0 - 2.0 / 5f64.sqrt()).sqrt()).abs() < 1e-15);
        assert_eq!(separation_limit(2, 1), 0.0);
        assert_eq!(separation_limit(1, 5), f64::INFINITY);
    }
}
