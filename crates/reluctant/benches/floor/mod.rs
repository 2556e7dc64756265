//! The floor: what no policy on a frozen network can do without.

use pulp::{Arch, NullaryFnOnce};

const LANES: usize = 16;

/// One pass over arms in the plane: for every arm the signs of its products with the neurons `theta`, as bits of a word, and the
/// quadratic form xᵀMx, both written out. Nothing is chosen and nothing learnt. Vectorised like the library's own kernels: sixteen
/// arms side by side, with the instruction set of the machine and without fused multiply-add.
pub fn floor(theta: &[f64], m: &[f64; 4], arms: &[f64], patterns: &mut [u64], forms: &mut [f64]) {
    struct Kernel<'a>(&'a [f64], &'a [f64; 4], &'a [f64], &'a mut [u64], &'a mut [f64]);
    impl NullaryFnOnce for Kernel<'_> {
        type Output = ();
        #[inline(always)]
        fn call(self) {
            let Kernel(theta, m, arms, patterns, forms) = self;
            let (blocks, rest) = arms.as_chunks::<{ 2 * LANES }>();
            let (pattern_blocks, pattern_rest) = patterns.as_chunks_mut::<LANES>();
            let (form_blocks, form_rest) = forms.as_chunks_mut::<LANES>();
            for ((block, patterns), forms) in blocks.iter().zip(pattern_blocks).zip(form_blocks) {
                one_block(theta, m, block, patterns, forms);
            }
            let mut block = [0.0; 2 * LANES];
            let (mut patterns, mut forms) = ([0; LANES], [0.0; LANES]);
            block[..rest.len()].copy_from_slice(rest);
            one_block(theta, m, &block, &mut patterns, &mut forms);
            pattern_rest.copy_from_slice(&patterns[..pattern_rest.len()]);
            form_rest.copy_from_slice(&forms[..form_rest.len()]);
        }
    }
    Arch::new().dispatch(Kernel(theta, m, arms, patterns, forms));
}

#[inline(always)]
fn one_block(theta: &[f64], m: &[f64; 4], arms: &[f64; 2 * LANES], patterns: &mut [u64; LANES], forms: &mut [f64; LANES]) {
    let (mut x, mut y) = ([0.0; LANES], [0.0; LANES]);
    for lane in 0..LANES {
        x[lane] = arms[2 * lane];
        y[lane] = arms[2 * lane + 1];
    }
    let mut pattern = [0; LANES];
    for (i, neuron) in theta.chunks_exact(2).enumerate() {
        for lane in 0..LANES {
            let input: f64 = neuron[0] * x[lane] + neuron[1] * y[lane];
            pattern[lane] |= (!input.to_bits() >> 63) << i;
        }
    }
    *patterns = pattern;
    for lane in 0..LANES {
        forms[lane] = x[lane] * (m[0] * x[lane] + m[1] * y[lane]) + y[lane] * (m[2] * x[lane] + m[3] * y[lane]);
    }
}
