//! The floor: what no policy on a frozen network can do without.

use pulp::{Arch, Simd, WithSimd};

/// One pass over arms in the plane: for every arm which of the neurons `theta` are active, as bits of a word, and the
/// quadratic form xᵀMx, both written out. Nothing is chosen and nothing learnt. It uses the vector instructions of the
/// machine and, like the library, no fused multiply-add. Words and forms come in the order of the vector's lanes; up to
/// seven arms at the end may be left out.
pub(crate) fn floor(theta: &[f64], m: &[f64; 4], arms: &[f64], patterns: &mut [u64], forms: &mut [f64]) {
    struct Kernel<'a>(&'a [f64], &'a [f64; 4], &'a [f64], &'a mut [u64], &'a mut [f64]);
    impl WithSimd for Kernel<'_> {
        type Output = ();
        #[inline(always)]
        fn with_simd<S: Simd>(self, simd: S) {
            let Kernel(theta, m, arms, patterns, forms) = self;
            let (neurons, _) = theta.as_chunks::<2>();
            let m = m.map(|entry| simd.splat_f64s(entry));
            let zero = simd.splat_f64s(0.0);
            let (blocks, _) = S::as_simd_f64s(arms).0.as_chunks::<2>();
            let outputs = S::as_mut_simd_u64s(patterns).0.iter_mut().zip(S::as_mut_simd_f64s(forms).0);
            for (block, (pattern, form)) in blocks.iter().zip(outputs) {
                let [x, y] = simd.deinterleave_shfl_f64s(*block);
                let product = |a, b| simd.add_f64s(simd.mul_f64s(a, x), simd.mul_f64s(b, y));
                let mut active = simd.splat_u64s(0);
                for (i, neuron) in neurons.iter().enumerate() {
                    let input = product(simd.splat_f64s(neuron[0]), simd.splat_f64s(neuron[1]));
                    let with = simd.or_u64s(active, simd.splat_u64s(1 << i));
                    active = simd.select_u64s(simd.less_than_or_equal_f64s(zero, input), with, active);
                }
                *pattern = active;
                let (first, second) = (product(m[0], m[1]), product(m[2], m[3]));
                *form = simd.add_f64s(simd.mul_f64s(x, first), simd.mul_f64s(y, second));
            }
        }
    }
    Arch::new().dispatch(Kernel(theta, m, arms, patterns, forms));
}
