//! The sizes that nothing in this crate may exceed.

use crate::instructions::arch;

/// No number that enters a policy may be larger in size than this, so that squares and sums of squares stay finite.
pub const LIMIT: f64 = 1e100;

/// The most features, and so the largest dimension, that a policy keeps a matrix for: 4,000 squared are 128 MB.
pub const MAX_FEATURES: usize = 4000;

/// Whether all of these numbers may enter a policy: one pass without branches, as wide as the machine allows.
pub(crate) fn all_in_limit(numbers: &[f64]) -> bool {
    struct Pass<'a>(&'a [f64]);
    impl pulp::NullaryFnOnce for Pass<'_> {
        type Output = bool;
        #[inline(always)]
        fn call(self) -> bool {
            // As integers, sizes of finite numbers are in the same order, and infinities and NaN are beyond them all.
            let size = |x: &f64| x.to_bits() & (u64::MAX >> 1);
            let (eights, rest) = self.0.as_chunks::<8>();
            let mut greatest = [0; 8];
            for eight in eights {
                for lane in 0..8 {
                    greatest[lane] = greatest[lane].max(size(&eight[lane]));
                }
            }
            greatest.iter().copied().chain(rest.iter().map(size)).all(|size| size <= LIMIT.to_bits())
        }
    }
    arch().dispatch(Pass(numbers))
}

/// Whether a number may enter a policy.
pub(crate) fn in_limit(x: f64) -> bool {
    x.abs() <= LIMIT
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_pass_finds_what_a_look_at_each_number_finds() {
        for bad in [f64::NAN, -f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 1.1e100, -2e200] {
            for place in 0..21 {
                let mut numbers = vec![-LIMIT; 21];
                numbers[3] = 0.0;
                assert!(all_in_limit(&numbers));
                numbers[place] = bad;
                assert!(!all_in_limit(&numbers), "{bad} at {place}");
            }
        }
        assert!(all_in_limit(&[]));
    }
}
