//! The few loops in which rounds spend their time: one pass over all arms, a block of arms at a time.
//!
//! A block holds the same coordinate of [`LANES`] arms side by side, so that the compiler turns each inner loop into a
//! few vector instructions, for whatever instruction set the machine has (chosen at run time; a kernel is a struct
//! because a closure would not be compiled for the chosen set). Every arm still gets its operations in the order of the
//! plain version beside each kernel, without fused multiply-add: the bits are the same on every machine.

mod descent;
mod linear;
mod optimist;
mod pattern_table;
#[cfg(target_arch = "x86_64")]
mod sectors;

use pulp::{NullaryFnOnce, Simd, WithSimd};

use crate::choice::Score;
use crate::offer::Rows;
use crate::piecewise::PiecewiseNet;
use crate::relu::{Pattern, ReluNet};
use crate::spare::Spare;

pub(crate) use crate::instructions::{LANES, Lane, arch};
use crate::instructions::{vectors, vectors_mut};
pub(crate) use descent::Descent;
pub(crate) use linear::{linear_best, linear_score_reference, linear_scores, norm_bound};
pub(crate) use optimist::Optimist;
pub(crate) use pattern_table::ModelTable;

/// Blocks of a smaller dimension than this live on the stack.
const STACK_DIM: usize = 24;

/// A block of arms: each coordinate of all of them side by side.
struct Block {
    dim: usize,
    stack: [Lane; STACK_DIM],
    heap: Option<Spare>,
}

impl Block {
    #[inline(always)]
    fn new(dim: usize) -> Self {
        let heap = (dim > STACK_DIM).then(|| Spare::zeros(dim * LANES));
        Block { dim, stack: [[0.0; LANES]; STACK_DIM], heap }
    }

    #[inline(always)]
    fn lanes(&mut self) -> &mut [Lane] {
        match &mut self.heap {
            None => &mut self.stack[..self.dim],
            Some(heap) => heap.as_chunks_mut().0,
        }
    }
}

/// The arms of a round, a block at a time.
pub(crate) struct Blocks<'a> {
    dim: usize,
    rest: &'a [f64],
    block: Block,
}

impl<'a> Blocks<'a> {
    #[inline(always)]
    pub(crate) fn new(rows: Rows<'a>) -> Self {
        Blocks { dim: rows.dim(), rest: rows.data(), block: Block::new(rows.dim()) }
    }

    /// How many lanes of the next block hold arms (the rest are zero), and its coordinates.
    #[inline(always)]
    pub(crate) fn next(&mut self) -> Option<(usize, &[Lane])> {
        let count = (self.rest.len() / self.dim).min(LANES);
        let (arms, rest) = self.rest.split_at(count * self.dim);
        self.rest = rest;
        let block = self.block.lanes();
        if count == 0 {
            return None;
        }
        if count == LANES {
            transpose(self.dim, arms, block);
            return Some((count, block));
        }
        block.fill([0.0; LANES]);
        for (lane, arm) in arms.chunks_exact(self.dim).enumerate() {
            for (coordinate, &x) in block.iter_mut().zip(arm) {
                coordinate[lane] = x;
            }
        }
        Some((count, block))
    }
}

/// The coordinates of a whole block of arms.
#[inline(always)]
fn transpose(dim: usize, arms: &[f64], block: &mut [Lane]) {
    for (four, rows) in arms.chunks_exact(4 * dim).enumerate() {
        let (a, rest) = rows.split_at(dim);
        let (b, rest) = rest.split_at(dim);
        let (c, d) = rest.split_at(dim);
        transpose_four([a, b, c, d], 4 * four, block);
    }
}

/// The coordinates of some arms, at most a block of them; lanes beyond them hold what they will.
#[inline(always)]
fn gather(rows: Rows<'_>, arms: &[usize], block: &mut [Lane]) {
    for (four, arms) in arms.chunks(4).enumerate() {
        let arm = |i: usize| rows.get(arms[i.min(arms.len() - 1)]);
        transpose_four([arm(0), arm(1), arm(2), arm(3)], 4 * four, block);
    }
}

/// The coordinates of four arms, which take the lanes from `lane` on: the compiler makes each square of
/// four coordinates a few shuffles.
#[inline(always)]
fn transpose_four(arms: [&[f64]; 4], lane: usize, block: &mut [Lane]) {
    let lanes = lane..lane + 4;
    let (whole, last) = block.as_chunks_mut::<4>();
    let [(a, a_last), (b, b_last), (c, c_last), (d, d_last)] = arms.map(|arm| arm.as_chunks::<4>());
    for ((((square, a), b), c), d) in whole.iter_mut().zip(a).zip(b).zip(c).zip(d) {
        for j in 0..4 {
            square[j][lanes.clone()].copy_from_slice(&[a[j], b[j], c[j], d[j]]);
        }
    }
    for (j, coordinate) in last.iter_mut().enumerate() {
        coordinate[lanes.clone()].copy_from_slice(&[a_last[j], b_last[j], c_last[j], d_last[j]]);
    }
}

/// θ·x for every arm of a block.
#[inline(always)]
pub(crate) fn block_dot(theta: &[f64], block: &[Lane]) -> Lane {
    let mut sum = [0.0; LANES];
    // In the plane there is no need for a loop. From zero on, as in the loop, or the sum might be −0.
    if let ([s, t], [x, y]) = (theta, block) {
        for lane in 0..LANES {
            sum[lane] = 0.0 + s * x[lane] + t * y[lane];
        }
        return sum;
    }
    for (&t, x) in theta.iter().zip(block) {
        for lane in 0..LANES {
            sum[lane] += t * x[lane];
        }
    }
    sum
}

/// f_Θ(x) of every arm of a block.
#[inline(always)]
pub(crate) fn block_value(net: &ReluNet, block: &[Lane]) -> Lane {
    let mut value = [0.0; LANES];
    for (theta, &sign) in net.iter().zip(net.signs()) {
        let input = block_dot(theta, block);
        // Nothing but ±1 times it.
        if sign > 0.0 {
            for lane in 0..LANES {
                value[lane] += if input[lane] > 0.0 { input[lane] } else { 0.0 };
            }
        } else {
            for lane in 0..LANES {
                value[lane] -= if input[lane] > 0.0 { input[lane] } else { 0.0 };
            }
        }
    }
    value
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
                let value = block_value(net, block);
                out.extend_from_slice(&value[..count]);
            }
        }
    }
    arch().dispatch(Kernel(net, rows, out));
}

/// f(x) of every arm for a network with any piecewise-linear activation, appended to `out`; the bits of
/// [`network_values`] where both know the network.
pub(crate) fn piecewise_values(net: &PiecewiseNet, rows: Rows<'_>, out: &mut Vec<f64>) {
    struct Kernel<'a>(&'a PiecewiseNet, Rows<'a>, &'a mut Vec<f64>);
    impl NullaryFnOnce for Kernel<'_> {
        type Output = ();
        #[inline(always)]
        fn call(self) {
            let Kernel(net, rows, out) = self;
            let hinges = net.hinges();
            let mut blocks = Blocks::new(rows);
            while let Some((count, block)) = blocks.next() {
                let mut value = block_dot(net.linear(), block);
                value.iter_mut().for_each(|value| *value += net.constant());
                for ((theta, &sign), &bias) in hinges.iter().zip(hinges.signs()).zip(net.biases()) {
                    let input = block_dot(theta, block);
                    for lane in 0..LANES {
                        let z = input[lane] + bias;
                        value[lane] += sign * if z > 0.0 { z } else { 0.0 };
                    }
                }
                out.extend_from_slice(&value[..count]);
            }
        }
    }
    arch().dispatch(Kernel(net, rows, out));
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
                    // The sign bit is clear where the input is at least zero: a sum that starts from +0 is never −0.
                    // Shifts become vector instructions where a comparison of floats that selects integers does not.
                    for lane in 0..LANES {
                        pattern[lane] |= (!input[lane].to_bits() >> 63) << i;
                    }
                }
                out.extend_from_slice(&pattern[..count]);
            }
        }
    }
    arch().dispatch(Kernel(net, rows, out));
}

/// How NeuralUCB scores with a diagonal matrix. Hidden unit i has the input weights `first[j·width + i]`, the output
/// weight `second[i]` and, from the diagonal U of squared gradients, the reciprocals `first_inverse[j·width + i]` and
/// `second_inverse[i]` (zero where the second layer is fixed). `bias` and `bias_inverse` belong to the output.
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
    /// Mean Σᵢ vᵢhᵢ + c and width radius·√(gᵀU⁻¹g) of every arm, appended to `out`, where gᵀU⁻¹g is the sum over active
    /// units of vᵢ²·Σⱼ xⱼ²/Uⱼᵢ + hᵢ²/Uᵢ, and the output bias's.
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
                    let vectors = vectors_mut::<S>(&mut means).iter_mut().zip(vectors_mut::<S>(&mut widths));
                    for (v, (mean, width)) in vectors.enumerate() {
                        (*mean, *width) = net.vector(simd, block, v);
                    }
                    out.extend((0..count).map(|lane| Score { mean: means[lane], width: widths[lane] }));
                }
            }
        }
        arch().dispatch(Kernel(self, rows, out));
    }

    /// Means and widths of vector `v` of a block.
    #[inline(always)]
    fn vector<S: Simd>(&self, simd: S, block: &[Lane], v: usize) -> (S::f64s, S::f64s) {
        let zero = simd.splat_f64s(0.0);
        let (mut mean, mut squared) = (simd.splat_f64s(self.bias), simd.splat_f64s(self.bias_inverse));
        for i in 0..self.width {
            let (mut h, mut spread) = (zero, zero);
            for (j, lanes) in block.iter().enumerate() {
                let x = vectors::<S>(lanes)[v];
                let w = simd.splat_f64s(self.first[j * self.width + i]);
                let u = simd.splat_f64s(self.first_inverse[j * self.width + i]);
                h = simd.add_f64s(h, simd.mul_f64s(w, x));
                spread = simd.add_f64s(spread, simd.mul_f64s(u, simd.mul_f64s(x, x)));
            }
            let second = simd.splat_f64s(self.second[i]);
            let active = simd.greater_than_or_equal_f64s(h, zero);
            let outer = simd.mul_f64s(simd.mul_f64s(second, second), spread);
            let inner = simd.mul_f64s(simd.splat_f64s(self.second_inverse[i]), simd.mul_f64s(h, h));
            mean = simd.add_f64s(mean, simd.select_f64s(active, simd.mul_f64s(second, h), zero));
            squared = simd.add_f64s(squared, simd.select_f64s(active, simd.add_f64s(outer, inner), zero));
        }
        (mean, simd.mul_f64s(simd.splat_f64s(self.radius), simd.sqrt_f64s(squared)))
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::activation::Activation;
    use crate::rng::{Key, normal};

    /// Networks and arms of many shapes, with blocks that are not full and dimensions beyond the stack's.
    pub(crate) fn cases() -> Vec<(ReluNet, Vec<f64>)> {
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
            assert!(rows.iter().map(|x| net.value(x)).eq(values.iter().copied()));
            let mut family = Vec::new();
            piecewise_values(&PiecewiseNet::from(net.clone()), rows, &mut family);
            assert!(family.iter().map(|v| v.to_bits()).eq(values.iter().map(|v| v.to_bits())));
            let biases: Vec<f64> = (0..net.neurons()).map(|i| 0.3 - 0.1 * i as f64).collect();
            let leaky = PiecewiseNet::with_activation(&Activation::leaky(0.2).unwrap(), &net, &biases).unwrap();
            family.clear();
            piecewise_values(&leaky, rows, &mut family);
            assert!(rows.iter().zip(&family).all(|(x, v)| (leaky.value(x) - v).abs() <= 1e-12 * (1.0 + v.abs())));
            assert!(rows.iter().map(|x| net.pattern(x)).eq(found));
        }
    }
}
