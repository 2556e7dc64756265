//! exp, cos and acos of a block of numbers at a time: plain arithmetic that the compiler turns into vector
//! instructions, and so the same bits on every machine.

use crate::kernels::{LANES, Lane};

/// Added to a number of moderate size and taken away again, it rounds to a whole number; until then the low bits hold
/// that number.
const ROUND: f64 = 6_755_399_441_055_744.0;

/// ln 2 and π in two parts: a whole number of moderate size times the first is exact.
const LN_2: [f64; 2] = [0.693_147_167_563_438_4, 1.299_650_689_388_988_9e-8];
const PI: [f64; 2] = [3.141_592_621_803_283_7, 3.178_650_954_705_639e-8];

/// 1/n! for n = 0, 1, …
const fn reciprocal_factorials<const N: usize>() -> [f64; N] {
    let mut all = [1.0; N];
    let (mut n, mut factorial) = (1, 1.0);
    while n < N {
        factorial *= n as f64;
        all[n] = 1.0 / factorial;
        n += 1;
    }
    all
}
const EXP: [f64; 14] = reciprocal_factorials();
const COS: [f64; 23] = reciprocal_factorials();

/// arcsin(√v)/√v for v from 0 to ½ as a polynomial in v: a Chebyshev expansion, cut where its terms are below 1e-16.
const ARCSIN: [f64; 20] = [
    1.0,
    0.166_666_666_666_670_13,
    0.074_999_999_999_091_1,
    0.044_642_857_237_233_01,
    0.030_381_939_269_829_593,
    0.022_372_332_125_967_096,
    0.017_348_920_740_304_967,
    0.014_024_786_117_637_567,
    0.010_870_488_350_221_81,
    0.015_552_297_027_080_917,
    -0.029_050_122_587_066_223,
    0.193_395_002_250_151_05,
    -0.707_655_014_261_405_8,
    2.118_550_321_829_608_2,
    -4.774_714_752_785_926,
    8.132_568_272_401_969,
    -10.071_307_779_732_635,
    8.627_094_660_168_458,
    -4.577_539_817_398_16,
    1.155_747_740_211_758,
];

/// exp of numbers that are not positive; what would be below 1e-307 is that.
#[inline(always)]
pub(super) fn exp(x: Lane) -> Lane {
    let mut out = [0.0; LANES];
    for lane in 0..LANES {
        let x = if x[lane] > -707.0 { x[lane] } else { -707.0 };
        let shifted = x * std::f64::consts::LOG2_E + ROUND;
        let n = shifted - ROUND;
        let r = x - n * LN_2[0] - n * LN_2[1];
        let mut sum = EXP[13];
        for power in (0..13).rev() {
            sum = sum * r + EXP[power];
        }
        out[lane] = sum * f64::from_bits(shifted.to_bits().wrapping_add(1023) << 52);
    }
    out
}

/// cos of numbers of moderate size, exact to about 1e-16 times their size; of others, some number of cosine's size.
#[inline(always)]
pub(super) fn cos(x: Lane) -> Lane {
    let mut out = [0.0; LANES];
    for lane in 0..LANES {
        let shifted = x[lane] * std::f64::consts::FRAC_1_PI + ROUND;
        let n = shifted - ROUND;
        let r = x[lane] - n * PI[0] - n * PI[1];
        let r = if r > -1.6 { r } else { -1.6 };
        let r = if r < 1.6 { r } else { 1.6 };
        let square = -r * r;
        let mut sum = COS[22];
        for term in (0..11).rev() {
            sum = sum * square + COS[2 * term];
        }
        // An odd number of half turns changes the sign.
        out[lane] = f64::from_bits(sum.to_bits() ^ (shifted.to_bits() << 63));
    }
    out
}

/// acos of numbers from −1 to 1: acos|x| = 2·arcsin √((1 − |x|)/2), and π less that where x is negative.
#[inline(always)]
pub(super) fn acos(x: Lane) -> Lane {
    let mut out = [0.0; LANES];
    for lane in 0..LANES {
        let v = 0.5 - 0.5 * x[lane].abs();
        let mut sum = ARCSIN[19];
        for power in (0..19).rev() {
            sum = sum * v + ARCSIN[power];
        }
        let angle = 2.0 * v.sqrt() * sum;
        out[lane] = if x[lane] < 0.0 { std::f64::consts::PI - angle } else { angle };
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn they_agree_with_libm() {
        for i in 0..20_000 {
            let x = -0.037 * f64::from(i);
            let (found, expected) = (exp([x; LANES])[3], libm::exp(x.max(-707.0)));
            assert!((found - expected).abs() <= 1e-15 * expected, "exp {x}: {found} {expected}");
            for x in [0.01 * x, -x] {
                assert!((cos([x; LANES])[5] - libm::cos(x)).abs() < 1e-15 * (2.0 + x.abs()), "cos {x}");
            }
        }
        for i in -5000..=5000 {
            let x = f64::from(i) / 5000.0;
            assert!((acos([x; LANES])[2] - libm::acos(x)).abs() < 1e-15, "acos {x}");
        }
        assert_eq!(exp([0.0; LANES]), [1.0; LANES]);
        assert!(exp([-1e300; LANES])[0] < 1e-300 && exp([f64::NEG_INFINITY; LANES])[0] < 1e-300);
        assert!(cos([1e200; LANES])[0].abs() <= 1.0 + 1e-9);
    }
}
