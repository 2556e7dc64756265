//! The measure of a sphere.

/// |S^m|, the surface measure of the unit sphere in R^(m+1): 2·π^((m+1)/2) / Γ((m+1)/2). |S⁰| = 2, two points.
pub fn sphere_area(m: usize) -> f64 {
    let half = (m + 1) as f64 / 2.0;
    2.0 * libm::exp(half * libm::log(std::f64::consts::PI) - libm::lgamma(half))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::f64::consts::PI;

    #[test]
    fn small_spheres_have_their_known_measures() {
        for (m, area) in [(0, 2.0), (1, 2.0 * PI), (2, 4.0 * PI), (3, 2.0 * PI * PI)] {
            assert!((sphere_area(m) - area).abs() < 1e-12 * area);
        }
    }
}
