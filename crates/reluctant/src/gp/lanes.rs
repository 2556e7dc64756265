//! exp and cos of a block of numbers at a time: plain arithmetic that the compiler turns into vector instructions, and
//! so the same bits on every machine.

use crate::kernels::{LANES, Lane};

/// Added to a number of moderate size and taken away again, it rounds to a whole number; until then
/// the low bits hold that number.
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
        assert_eq!(exp([0.0; LANES]), [1.0; LANES]);
        assert!(exp([-1e300; LANES])[0] < 1e-300 && exp([f64::NEG_INFINITY; LANES])[0] < 1e-300);
        assert!(cos([1e200; LANES])[0].abs() <= 1.0 + 1e-9);
    }
}
