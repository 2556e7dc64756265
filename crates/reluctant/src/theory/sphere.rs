//! The measure of a sphere, and the ratios of such measures that the proofs use.

use std::f64::consts::PI;

/// |S^m|, the surface measure of the unit sphere in R^(m+1): 2·π^((m+1)/2) / Γ((m+1)/2). |S⁰| = 2, two points.
pub fn sphere_area(m: usize) -> f64 {
    let half = (m + 1) as f64 / 2.0;
    2.0 * libm::exp(half * libm::log(PI) - libm::lgamma(half))
}

/// log |S^m|: finite where |S^m| itself is too small for a number (it falls faster than exponentially in m).
pub fn ln_sphere_area(m: usize) -> f64 {
    let half = (m + 1) as f64 / 2.0;
    std::f64::consts::LN_2 + half * libm::log(PI) - libm::lgamma(half)
}

/// |S^(d−2)| / |S^(d−1)| for d ≥ 2, the density of a coordinate of a random unit vector at zero.
///
/// It lies between √((d−1)/2π)·√((d−1)/d) and √(d/2π); the proof of Lemma B.4 uses √d/(2√(2π)) from below, half of what
/// it is for large d.
pub fn equator_ratio(d: usize) -> f64 {
    match d {
        0 | 1 => 0.0,
        _ => libm::exp(ln_sphere_area(d - 2) - ln_sphere_area(d - 1)),
    }
}

/// |S^(d−3)| / |S^(d−1)| = (d−2)/2π for d ≥ 2. The proof of Lemma B.4 uses d/2π from above.
///
/// At d = 2 this is |S⁻¹|/|S¹| = 0: the formula 2π^(m+1)/2/Γ((m+1)/2) has a pole of Γ at m = −1.
pub fn second_ratio(d: usize) -> f64 {
    d.saturating_sub(2) as f64 / (2.0 * PI)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_spheres_have_their_known_measures() {
        for (m, area) in [(0, 2.0), (1, 2.0 * PI), (2, 4.0 * PI), (3, 2.0 * PI * PI)] {
            assert!((sphere_area(m) - area).abs() < 1e-12 * area);
            assert!((ln_sphere_area(m) - libm::log(area)).abs() < 1e-12);
        }
    }

    #[test]
    fn measures_too_small_for_a_number_keep_their_logarithm_and_ratios() {
        assert_eq!(sphere_area(1_000), 0.0);
        assert!(ln_sphere_area(1_000).is_finite());
        let limit = (1_000.0 / (2.0 * PI)).sqrt();
        assert!((equator_ratio(1_000) / limit - 1.0).abs() < 1e-3);
    }

    #[test]
    fn ratios_are_ratios_of_areas() {
        for d in 3..60 {
            let area = |m: usize| sphere_area(m);
            assert!((equator_ratio(d) - area(d - 2) / area(d - 1)).abs() < 1e-11 * equator_ratio(d));
            assert!((second_ratio(d) - area(d - 3) / area(d - 1)).abs() < 1e-11 * second_ratio(d));
        }
        assert_eq!(second_ratio(2), 0.0);
    }
}
