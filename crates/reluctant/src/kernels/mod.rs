//! The few loops in which rounds spend their time: one pass over all arms, a block of arms at a time.
//!
//! A block holds the same coordinate of [`LANES`] arms side by side, so that the compiler turns each inner loop into a few vector
//! instructions, for whatever instruction set the machine has (chosen at run time; a kernel is a struct because a closure would not be
//! compiled for the chosen set). Every arm still gets its operations in the order
//! of the plain version beside each kernel, without fused multiply-add: the bits are the same on every machine.

mod descent;
mod optimist;

use pulp::{Arch, NullaryFnOnce, Simd, WithSimd};

use crate::arms::{Rows, Score};
use crate::linalg::dot;
use crate::relu::{Pattern, ReluNet};

pub(crate) use descent::Descent;
pub(crate) use optimist::{ModelTable, Optimist};

/// Arms in a block.
pub(crate) const LANES: usize = 16;

/// One coordinate of every arm of a block.
pub(crate) type Lane = [f64; LANES];

/// Blocks of a smaller dimension than this live on the stack.
const STACK_DIM: usize = 24;

/// The arms of a round, a block at a time.
struct Blocks<'a> {
    dim: usize,
    rest: &'a [f64],
    stack: [Lane; STACK_DIM],
    heap: Vec<Lane>,
}

impl<'a> Blocks<'a> {
    #[inline(always)]
    fn new(rows: Rows<'a>) -> Self {
        let dim = rows.dim();
        let heap = if dim > STACK_DIM { vec![[0.0; LANES]; dim] } else { Vec::new() };
        Blocks { dim, rest: rows.data(), stack: [[0.0; LANES]; STACK_DIM], heap }
    }

    /// How many lanes of the next block hold arms (the rest are zero), and its coordinates.
    #[inline(always)]
    fn next(&mut self) -> Option<(usize, &[Lane])> {
        let count = (self.rest.len() / self.dim).min(LANES);
        let (arms, rest) = self.rest.split_at(count * self.dim);
        self.rest = rest;
        let block = if self.heap.is_empty() { &mut self.stack[..self.dim] } else { &mut self.heap[..] };
        if count == 0 {
            return None;
        }
        if count < LANES {
            block.fill([0.0; LANES]);
        }
        for (lane, arm) in arms.chunks_exact(self.dim).enumerate() {
            for (coordinate, &x) in block.iter_mut().zip(arm) {
                coordinate[lane] = x;
            }
        }
        Some((count, block))
    }
}

/// θ·x for every arm of a block.
#[inline(always)]
fn block_dot(theta: &[f64], block: &[Lane]) -> Lane {
    let mut sum = [0.0; LANES];
    for (&t, x) in theta.iter().zip(block) {
        for lane in 0..LANES {
            sum[lane] += t * x[lane];
        }
    }
    sum
}

/// f_Θ(x) of every arm, appended to `out`.
pub(crate) fn network_values(net: &ReluNet, rows: Rows<'_>, out: &mut Vec<f64>) {
    struct Kernel<'a>(&'a ReluNet, Rows<'a>, &'a mut Vec<f64>);
    impl NullaryFnOnce for Kernel<'_> {
        type Output = ();
        #[inline(always)]
        fn call(self) {
            let Kernel(net, rows, out) = self;
            let mut blocks = Blocks::new(rows);
            while let Some((count, block)) = blocks.next() {
                let mut value = [0.0; LANES];
                for (theta, &sign) in net.iter().zip(net.signs()) {
                    let input = block_dot(theta, block);
                    for lane in 0..LANES {
                        value[lane] += sign * if input[lane] > 0.0 { input[lane] } else { 0.0 };
                    }
                }
                out.extend_from_slice(&value[..count]);
            }
        }
    }
    Arch::new().dispatch(Kernel(net, rows, out));
}

/// The activation pattern of every arm, appended to `out`.
pub(crate) fn patterns(net: &ReluNet, rows: Rows<'_>, out: &mut Vec<Pattern>) {
    struct Kernel<'a>(&'a ReluNet, Rows<'a>, &'a mut Vec<Pattern>);
    impl NullaryFnOnce for Kernel<'_> {
        type Output = ();
        #[inline(always)]
        fn call(self) {
            let Kernel(net, rows, out) = self;
            let mut blocks = Blocks::new(rows);
            while let Some((count, block)) = blocks.next() {
                let mut pattern = [0; LANES];
                for (i, theta) in net.iter().enumerate() {
                    let input = block_dot(theta, block);
                    // The sign bit is clear where the input is at least zero: a sum that starts from +0 is never −0. Shifts become
                    // vector instructions where a comparison of floats that selects integers does not.
                    for lane in 0..LANES {
                        pattern[lane] |= (!input[lane].to_bits() >> 63) << i;
                    }
                }
                out.extend_from_slice(&pattern[..count]);
            }
        }
    }
    Arch::new().dispatch(Kernel(net, rows, out));
}

/// Mean w·x and width radius·√(xᵀMx) of every arm for a symmetric M, appended to `out`. With a constant feature the weights and the
/// matrix have one row more than an arm, for a coordinate that is always 1.
pub(crate) fn linear_scores(w: &[f64], m: &[f64], radius: f64, rows: Rows<'_>, out: &mut Vec<Score>) {
    struct Kernel<'a> {
        w: &'a [f64],
        m: &'a [f64],
        radius: f64,
        rows: Rows<'a>,
        out: &'a mut Vec<Score>,
    }
    impl NullaryFnOnce for Kernel<'_> {
        type Output = ();
        #[inline(always)]
        fn call(self) {
            let Kernel { w, m, radius, rows, out } = self;
            let (dim, size) = (rows.dim(), w.len());
            let mut blocks = Blocks::new(rows);
            while let Some((count, block)) = blocks.next() {
                let mut mean = block_dot(&w[..dim], block);
                let mut squared = [0.0; LANES];
                for (row, x) in m.chunks_exact(size).zip(block) {
                    let product = block_dot(&row[..dim], block);
                    let constant = if size > dim { row[dim] } else { 0.0 };
                    for lane in 0..LANES {
                        squared[lane] += x[lane] * (product[lane] + constant);
                    }
                }
                if size > dim {
                    let last = &m[dim * size..];
                    let product = block_dot(&last[..dim], block);
                    for lane in 0..LANES {
                        mean[lane] += w[dim];
                        squared[lane] += product[lane] + last[dim];
                    }
                }
                let mut width = [0.0; LANES];
                for lane in 0..LANES {
                    width[lane] = radius * if squared[lane] > 0.0 { squared[lane].sqrt() } else { 0.0 };
                }
                out.extend((0..count).map(|lane| Score { mean: mean[lane], width: width[lane] }));
            }
        }
    }
    Arch::new().dispatch(Kernel { w, m, radius, rows, out });
}

/// The plain version of [`linear_scores`] for one arm's features.
#[inline]
pub(crate) fn linear_score_reference(w: &[f64], m: &[f64], radius: f64, phi: &[f64]) -> Score {
    let squared: f64 = m.chunks_exact(phi.len()).zip(phi).map(|(row, x)| x * dot(row, phi)).sum();
    Score { mean: dot(w, phi), width: radius * squared.max(0.0).sqrt() }
}

/// How NeuralUCB scores with a diagonal matrix. Hidden unit i has the input weights `first[j·width + i]`, the output weight
/// `second[i]` and, from the diagonal U of squared gradients, the reciprocals `first_inverse[j·width + i]` and `second_inverse[i]`
/// (zero where the second layer is fixed). `bias` and `bias_inverse` belong to the output.
#[derive(Clone, Copy)]
pub(crate) struct DiagonalScores<'a> {
    pub(crate) width: usize,
    pub(crate) first: &'a [f64],
    pub(crate) second: &'a [f64],
    pub(crate) first_inverse: &'a [f64],
    pub(crate) second_inverse: &'a [f64],
    pub(crate) bias: f64,
    pub(crate) bias_inverse: f64,
    pub(crate) radius: f64,
}

impl DiagonalScores<'_> {
    /// Mean Σᵢ vᵢhᵢ + c and width radius·√(gᵀU⁻¹g) of every arm, appended to `out`, where gᵀU⁻¹g is the sum over active units of
    /// vᵢ²·Σⱼ xⱼ²/Uⱼᵢ + hᵢ²/Uᵢ, and the output bias's.
    pub(crate) fn compute(self, rows: Rows<'_>, out: &mut Vec<Score>) {
        struct Kernel<'a>(DiagonalScores<'a>, Rows<'a>, &'a mut Vec<Score>);
        impl WithSimd for Kernel<'_> {
            type Output = ();
            #[inline(always)]
            fn with_simd<S: Simd>(self, simd: S) {
                let Kernel(net, rows, out) = self;
                let mut blocks = Blocks::new(rows);
                while let Some((count, block)) = blocks.next() {
                    let (mut means, mut widths) = ([0.0; LANES], [0.0; LANES]);
                    for start in (0..LANES).step_by(S::F64_LANES) {
                        let lanes = start..start + S::F64_LANES;
                        let (mean, width) = net.vector(simd, block, start);
                        simd.partial_store_f64s(&mut means[lanes.clone()], mean);
                        simd.partial_store_f64s(&mut widths[lanes], width);
                    }
                    out.extend((0..count).map(|lane| Score { mean: means[lane], width: widths[lane] }));
                }
            }
        }
        Arch::new().dispatch(Kernel(self, rows, out));
    }

    /// Means and widths of a vector of arms, from lane `start` of a block on.
    #[inline(always)]
    fn vector<S: Simd>(&self, simd: S, block: &[Lane], start: usize) -> (S::f64s, S::f64s) {
        let zero = simd.splat_f64s(0.0);
        let (mut mean, mut squared) = (simd.splat_f64s(self.bias), simd.splat_f64s(self.bias_inverse));
        for i in 0..self.width {
            let (mut h, mut spread) = (zero, zero);
            for (j, lanes) in block.iter().enumerate() {
                let x = simd.partial_load_f64s(&lanes[start..start + S::F64_LANES]);
                let w = simd.splat_f64s(self.first[j * self.width + i]);
                let u = simd.splat_f64s(self.first_inverse[j * self.width + i]);
                h = simd.add_f64s(h, simd.mul_f64s(w, x));
                spread = simd.add_f64s(spread, simd.mul_f64s(u, simd.mul_f64s(x, x)));
            }
            let v = simd.splat_f64s(self.second[i]);
            let active = simd.greater_than_or_equal_f64s(h, zero);
            let outer = simd.mul_f64s(simd.mul_f64s(v, v), spread);
            let inner = simd.mul_f64s(simd.splat_f64s(self.second_inverse[i]), simd.mul_f64s(h, h));
            mean = simd.add_f64s(mean, simd.select_f64s(active, simd.mul_f64s(v, h), zero));
            squared = simd.add_f64s(squared, simd.select_f64s(active, simd.add_f64s(outer, inner), zero));
        }
        (mean, simd.mul_f64s(simd.splat_f64s(self.radius), simd.sqrt_f64s(squared)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::{Key, normal};

    /// Networks and arms of many shapes, with blocks that are not full and dimensions beyond the stack's.
    fn cases() -> Vec<(ReluNet, Vec<f64>)> {
        let mut stream = Key::new(1).stream();
        [(2, 3, 100), (1, 1, 1), (5, 7, 33), (30, 64, 17), (24, 2, 16)]
            .map(|(dim, neurons, arms)| {
                let net = ReluNet::random(dim, neurons, &mut stream);
                let signs = (0..neurons).map(|i| if i % 3 == 1 { -1.0 } else { 1.0 }).collect();
                let net = ReluNet::with_signs(dim, net.theta().to_vec(), signs).unwrap();
                (net, (0..arms * dim).map(|_| normal(&mut stream)).collect())
            })
            .into()
    }

    #[test]
    fn values_and_patterns_are_those_of_the_network() {
        for (net, arms) in cases() {
            let rows = Rows::new(net.dim(), &arms).unwrap();
            let (mut values, mut found) = (Vec::new(), Vec::new());
            network_values(&net, rows, &mut values);
            patterns(&net, rows, &mut found);
            assert!(rows.iter().map(|x| net.value(x)).eq(values));
            assert!(rows.iter().map(|x| net.pattern(x)).eq(found));
        }
    }

    #[test]
    fn quadratic_forms_are_those_of_the_plain_version() {
        let mut stream = Key::new(2).stream();
        for (net, arms) in cases() {
            let rows = Rows::new(net.dim(), &arms).unwrap();
            for size in [net.dim(), net.dim() + 1] {
                let w: Vec<f64> = (0..size).map(|_| normal(&mut stream)).collect();
                let mut m: Vec<f64> = (0..size * size).map(|_| normal(&mut stream)).collect();
                for i in 0..size {
                    for j in 0..i {
                        m[i * size + j] = m[j * size + i];
                    }
                }
                let mut found = Vec::new();
                linear_scores(&w, &m, 0.7, rows, &mut found);
                for (x, found) in rows.iter().zip(found) {
                    let mut phi = x.to_vec();
                    phi.resize(size, 1.0);
                    let expected = linear_score_reference(&w, &m, 0.7, &phi);
                    let near = |a: f64, b: f64| (a - b).abs() <= 1e-9 * (1.0 + b.abs());
                    assert!(near(found.mean, expected.mean) && near(found.width.powi(2), expected.width.powi(2)));
                }
            }
        }
    }
}
