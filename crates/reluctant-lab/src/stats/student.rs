//! The quantile of Student's t that a 95 % interval needs.
//!
//! For whole degrees of freedom the distribution function is a finite sum of products, so that the quantile needs no
//! gamma function: the result is accurate to rounding and the same on every machine.

/// The t for which a variable with `df` degrees of freedom lies in [−t, t] with probability 0.95; infinite for
/// `df` = 0.
pub fn t95(df: usize) -> f64 {
    match df {
        0 => f64::INFINITY,
        1..=EXACT => bisect(df),
        _ => expand(df),
    }
}

/// Beyond this many degrees of freedom the expansion in 1/df is as good as the exact sum, whose length grows with them.
const EXACT: usize = 400;

/// P(|t| ≤ `t`): Abramowitz and Stegun, 26.7.3 (odd) and 26.7.4 (even).
fn coverage(t: f64, df: usize) -> f64 {
    let nu = df as f64;
    let (sin, cos2) = (t / (nu + t * t).sqrt(), nu / (nu + t * t));
    // Each term is the one before times cos²·i/(i+1), where i steps over the numbers of the same parity as df.
    let (mut sum, mut term) = (0.0, if df.is_multiple_of(2) { 1.0 } else { cos2.sqrt() });
    let mut i = if df.is_multiple_of(2) { 1.0 } else { 2.0 };
    for _ in 0..df / 2 {
        sum += term;
        term *= cos2 * i / (i + 1.0);
        i += 2.0;
    }
    if df.is_multiple_of(2) { sin * sum } else { std::f64::consts::FRAC_2_PI * (libm::atan(t / nu.sqrt()) + sin * sum) }
}

fn bisect(df: usize) -> f64 {
    let (mut low, mut high) = (1.9, 13.0); // t95 falls from 12.7 at one degree of freedom to 1.96
    loop {
        let middle = 0.5 * (low + high);
        if middle <= low || middle >= high {
            return middle;
        }
        if coverage(middle, df) < 0.95 {
            low = middle;
        } else {
            high = middle;
        }
    }
}

/// The Cornish–Fisher expansion: Abramowitz and Stegun, 26.7.5.
fn expand(df: usize) -> f64 {
    const Z: f64 = 1.959_963_984_540_054;
    let (n, z2) = (df as f64, Z * Z);
    let g1 = (z2 + 1.0) / 4.0;
    let g2 = ((5.0 * z2 + 16.0) * z2 + 3.0) / 96.0;
    let g3 = (((3.0 * z2 + 19.0) * z2 + 17.0) * z2 - 15.0) / 384.0;
    let g4 = ((((79.0 * z2 + 776.0) * z2 + 1482.0) * z2 - 1920.0) * z2 - 945.0) / 92160.0;
    Z * (1.0 + (g1 + (g2 + (g3 + g4 / n) / n) / n) / n)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn agrees_with_closed_forms_and_tables() {
        // One and two degrees of freedom have closed forms; the others are roots of the incomplete beta function, found
        // with forty digits.
        let one = libm::tan(0.475 * std::f64::consts::PI);
        let two = 0.95 * (2.0 / (1.0 - 0.95f64 * 0.95)).sqrt();
        let known = [
            (1, one),
            (2, two),
            (3, 3.182_446_305_283_709_6),
            (4, 2.776_445_105_197_794_4),
            (9, 2.262_157_162_798_205_5),
            (49, 2.009_575_237_129_239_7),
            (199, 1.971_956_544_251_753_8),
            (400, 1.965_912_343_229_463_2),
            (1000, 1.962_339_080_826_408_5),
        ];
        for (df, t) in known {
            assert!((t95(df) / t - 1.0).abs() < 1e-13, "df {df}: {} is not {t}", t95(df));
        }
        assert!(t95(0).is_infinite());
    }

    #[test]
    fn falls_with_the_degrees_of_freedom_across_the_change_of_method() {
        assert!((1..1000).all(|df| t95(df) > t95(df + 1)));
        assert!((expand(EXACT) / bisect(EXACT) - 1.0).abs() < 1e-13);
        assert!((t95(usize::MAX) - 1.959963984540054).abs() < 1e-15);
    }
}
