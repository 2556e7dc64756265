//! The few loops in which rounds spend their time: one pass over all arms, a block of arms at a time.
//!
//! A block holds the same coordinate of [`LANES`] arms side by side, so that the compiler turns each inner loop into a few vector
//! instructions, for whatever instruction set the machine has (chosen at run time; a kernel is a struct because a closure would not be
//! compiled for the chosen set). Every arm still gets its operations in the order
//! of the plain version beside each kernel, without fused multiply-add: the bits are the same on every machine.

mod descent;
mod optimist;

use pulp::{Arch, NullaryFnOnce, Simd, WithSimd};

use crate::arms::{Leader, Rows, Score};
use crate::linalg::{dot, symmetric_times};
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
pub(crate) struct Blocks<'a> {
    dim: usize,
    rest: &'a [f64],
    stack: [Lane; STACK_DIM],
    heap: Vec<Lane>,
}

impl<'a> Blocks<'a> {
    #[inline(always)]
    pub(crate) fn new(rows: Rows<'a>) -> Self {
        let dim = rows.dim();
        let heap = if dim > STACK_DIM { vec![[0.0; LANES]; dim] } else { Vec::new() };
        Blocks { dim, rest: rows.data(), stack: [[0.0; LANES]; STACK_DIM], heap }
    }

    /// How many lanes of the next block hold arms (the rest are zero), and its coordinates.
    #[inline(always)]
    pub(crate) fn next(&mut self) -> Option<(usize, &[Lane])> {
        let count = (self.rest.len() / self.dim).min(LANES);
        let (arms, rest) = self.rest.split_at(count * self.dim);
        self.rest = rest;
        let block = if self.heap.is_empty() { &mut self.stack[..self.dim] } else { &mut self.heap[..] };
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

/// The coordinates of a whole block, four by four: the compiler makes each square a few shuffles.
#[inline(always)]
fn transpose(dim: usize, arms: &[f64], block: &mut [Lane]) {
    for (four, rows) in arms.chunks_exact(4 * dim).enumerate() {
        let lanes = 4 * four..4 * four + 4;
        let (a, rest) = rows.split_at(dim);
        let (b, rest) = rest.split_at(dim);
        let (c, d) = rest.split_at(dim);
        let (whole, last) = block[..dim].as_chunks_mut::<4>();
        let [(a, a_last), (b, b_last), (c, c_last), (d, d_last)] = [a, b, c, d].map(|arm| arm.as_chunks::<4>());
        for ((((square, a), b), c), d) in whole.iter_mut().zip(a).zip(b).zip(c).zip(d) {
            for j in 0..4 {
                square[j][lanes.clone()].copy_from_slice(&[a[j], b[j], c[j], d[j]]);
            }
        }
        for (j, coordinate) in last.iter_mut().enumerate() {
            coordinate[lanes.clone()].copy_from_slice(&[a_last[j], b_last[j], c_last[j], d_last[j]]);
        }
    }
}

/// θ·x for every arm of a block.
#[inline(always)]
pub(crate) fn block_dot(theta: &[f64], block: &[Lane]) -> Lane {
    let mut sum = [0.0; LANES];
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
        for lane in 0..LANES {
            value[lane] += sign * if input[lane] > 0.0 { input[lane] } else { 0.0 };
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
    impl WithSimd for Kernel<'_> {
        type Output = ();
        #[inline(always)]
        fn with_simd<S: Simd>(self, simd: S) {
            let Kernel { w, m, radius, rows, out } = self;
            let (radius, zero) = (simd.splat_f64s(radius), simd.splat_f64s(0.0));
            let mut blocks = Blocks::new(rows);
            while let Some((count, block)) = blocks.next() {
                let (mut means, mut widths) = ([0.0; LANES], [0.0; LANES]);
                let pairs = pairs_mut::<S>(&mut means).iter_mut().zip(pairs_mut::<S>(&mut widths));
                for (pair, (mean, width)) in pairs.enumerate() {
                    let squared;
                    (*mean, squared) = means_and_squares(simd, w, m, block, pair);
                    *width = squared.map(|squared| {
                        let positive = simd.select_f64s(simd.greater_than_f64s(squared, zero), squared, zero);
                        simd.mul_f64s(radius, simd.sqrt_f64s(positive))
                    });
                }
                out.extend((0..count).map(|lane| Score { mean: means[lane], width: widths[lane] }));
            }
        }
    }
    Arch::new().dispatch(Kernel { w, m, radius, rows, out });
}

/// The arm of greatest mean plus width among the scores of [`linear_scores`], the first of ties, and its score; none if no score is a
/// number.
///
/// Most arms need no quadratic form: xᵀMx ≤ ‖M‖·‖x‖², and where even that leaves an arm below the best so far, it cannot win.
pub(crate) fn linear_best(w: &[f64], m: &[f64], radius: f64, rows: Rows<'_>) -> Option<(usize, Score)> {
    struct Kernel<'a> {
        w: &'a [f64],
        m: &'a [f64],
        radius: f64,
        rows: Rows<'a>,
    }
    impl WithSimd for Kernel<'_> {
        type Output = Option<(usize, Score)>;
        #[inline(always)]
        fn with_simd<S: Simd>(self, simd: S) -> Self::Output {
            let Kernel { w, m, radius, rows } = self;
            let (dim, size) = (rows.dim(), w.len());
            // A little more, for rounding.
            let most = simd.splat_f64s((1.0 + 1e-9) * radius * radius * norm_bound(m, size));
            let constant = simd.splat_f64s(if size > dim { 1.0 } else { 0.0 });
            let shift = simd.splat_f64s(if size > dim { w[dim] } else { 0.0 });
            let zero = simd.splat_f64s(0.0);
            let (mut leader, mut winner) = (Leader::default(), None);
            let (mut blocks, mut start) = (Blocks::new(rows), 0);
            while let Some((count, block)) = blocks.next() {
                for pair in 0..LANES / (2 * S::F64_LANES) {
                    let (mut mean, mut norm) = ([shift; 2], [constant; 2]);
                    for (&weight, lanes) in w.iter().zip(block) {
                        let (weight, x) = (simd.splat_f64s(weight), pairs::<S>(lanes)[pair]);
                        for v in 0..2 {
                            mean[v] = simd.add_f64s(mean[v], simd.mul_f64s(weight, x[v]));
                            norm[v] = simd.add_f64s(norm[v], simd.mul_f64s(x[v], x[v]));
                        }
                    }
                    let best = simd.splat_f64s(leader.value());
                    let mut hope = false;
                    for v in 0..2 {
                        let gap = simd.sub_f64s(best, mean[v]);
                        let below = simd.less_than_f64s(simd.mul_f64s(most, norm[v]), simd.mul_f64s(gap, gap));
                        let hopeless = simd.and_m64s(below, simd.greater_than_f64s(gap, zero));
                        hope |= simd.first_true_m64s(simd.not_m64s(hopeless)) < S::F64_LANES;
                    }
                    if !hope {
                        continue;
                    }
                    let (mean, squared) = means_and_squares(simd, w, m, block, pair);
                    let (mut means, mut squares) = ([0.0; LANES], [0.0; LANES]);
                    pairs_mut::<S>(&mut means)[0] = mean;
                    pairs_mut::<S>(&mut squares)[0] = squared;
                    let first = pair * 2 * S::F64_LANES;
                    for lane in 0..(2 * S::F64_LANES).min(count.saturating_sub(first)) {
                        let gap = leader.value() - means[lane];
                        // False for NaN.
                        if gap > 0.0 && radius * radius * squares[lane] < (1.0 - 1e-9) * gap * gap {
                            continue;
                        }
                        let width = radius * if squares[lane] > 0.0 { squares[lane].sqrt() } else { 0.0 };
                        let score = Score { mean: means[lane], width };
                        if leader.offer(score.upper()) {
                            winner = Some((start + first + lane, score));
                        }
                    }
                }
                start += count;
            }
            winner
        }
    }
    Arch::new().dispatch(Kernel { w, m, radius, rows })
}

/// A bound on the greatest eigenvalue of a symmetric matrix, from the sums of absolute values in the rows of its square: λ² ≤ ‖M²‖∞.
#[inline(always)]
fn norm_bound(m: &[f64], size: usize) -> f64 {
    // Beyond this, a square would cost more than it saves.
    const MOST: usize = 64;
    let sum = |row: &[f64]| row.iter().map(|x| x.abs()).sum::<f64>();
    if size > MOST {
        return m.chunks_exact(size).map(sum).fold(0.0, f64::max);
    }
    let mut squared = [0.0; MOST];
    let mut greatest: f64 = 0.0;
    for row in m.chunks_exact(size) {
        symmetric_times(m, row, &mut squared[..size]);
        greatest = greatest.max(sum(&squared[..size]));
    }
    greatest.sqrt()
}

/// w·x and xᵀMx of a pair of vectors of a block: two, so that neither waits for the other's sums. M is symmetric: each entry off the
/// diagonal is used once and counts twice.
#[inline(always)]
fn means_and_squares<S: Simd>(
    simd: S,
    w: &[f64],
    m: &[f64],
    block: &[Lane],
    pair: usize,
) -> ([S::f64s; 2], [S::f64s; 2]) {
    let (dim, size) = (block.len(), w.len());
    let zero = simd.splat_f64s(0.0);
    let (mut mean, mut squared) = ([zero; 2], [zero; 2]);
    for (i, row) in m.chunks_exact(size).take(dim).enumerate() {
        let x = pairs::<S>(&block[i])[pair];
        // What is beside the diagonal; the constant coordinate, if there is one, is the last.
        let mut beside = [simd.splat_f64s(if size > dim { row[dim] } else { 0.0 }); 2];
        for (&entry, lanes) in row[i + 1..].iter().zip(&block[i + 1..]) {
            let (entry, y) = (simd.splat_f64s(entry), pairs::<S>(lanes)[pair]);
            for v in 0..2 {
                beside[v] = simd.add_f64s(beside[v], simd.mul_f64s(entry, y[v]));
            }
        }
        let (weight, diagonal) = (simd.splat_f64s(w[i]), simd.splat_f64s(row[i]));
        for v in 0..2 {
            mean[v] = simd.add_f64s(mean[v], simd.mul_f64s(weight, x[v]));
            let product = simd.add_f64s(simd.mul_f64s(diagonal, x[v]), simd.add_f64s(beside[v], beside[v]));
            squared[v] = simd.add_f64s(squared[v], simd.mul_f64s(x[v], product));
        }
    }
    if size > dim {
        let (weight, corner) = (simd.splat_f64s(w[dim]), simd.splat_f64s(m[dim * size + dim]));
        for v in 0..2 {
            mean[v] = simd.add_f64s(mean[v], weight);
            squared[v] = simd.add_f64s(squared[v], corner);
        }
    }
    (mean, squared)
}

/// The vectors of a lane, two and two.
#[inline(always)]
fn pairs<S: Simd>(lane: &Lane) -> &[[S::f64s; 2]] {
    S::as_simd_f64s(lane).0.as_chunks().0
}

#[inline(always)]
fn pairs_mut<S: Simd>(lane: &mut Lane) -> &mut [[S::f64s; 2]] {
    S::as_mut_simd_f64s(lane).0.as_chunks_mut().0
}

/// The vectors of a lane.
#[inline(always)]
fn vectors<S: Simd>(lane: &Lane) -> &[S::f64s] {
    S::as_simd_f64s(lane).0
}

#[inline(always)]
fn vectors_mut<S: Simd>(lane: &mut Lane) -> &mut [S::f64s] {
    S::as_mut_simd_f64s(lane).0
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
                    let vectors = vectors_mut::<S>(&mut means).iter_mut().zip(vectors_mut::<S>(&mut widths));
                    for (v, (mean, width)) in vectors.enumerate() {
                        (*mean, *width) = net.vector(simd, block, v);
                    }
                    out.extend((0..count).map(|lane| Score { mean: means[lane], width: widths[lane] }));
                }
            }
        }
        Arch::new().dispatch(Kernel(self, rows, out));
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
mod tests {
    use super::*;
    use crate::arms::argmax;
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
    fn the_best_arm_is_the_best_of_all_scores() {
        let mut stream = Key::new(3).stream();
        for (net, arms) in cases() {
            let rows = Rows::new(net.dim(), &arms).unwrap();
            for size in [net.dim(), net.dim() + 1] {
                for spread in [0.0, 0.01, 1.0] {
                    let w: Vec<f64> = (0..size).map(|_| normal(&mut stream)).collect();
                    let b: Vec<f64> = (0..size * size).map(|_| spread * normal(&mut stream)).collect();
                    let row = |i: usize| &b[i * size..][..size];
                    let m: Vec<f64> = (0..size * size).map(|at| dot(row(at / size), row(at % size))).collect();
                    let mut scores = Vec::new();
                    linear_scores(&w, &m, 0.7, rows, &mut scores);
                    let best = argmax(scores.iter().map(Score::upper)).unwrap();
                    assert_eq!(linear_best(&w, &m, 0.7, rows), Some((best, scores[best])));
                }
            }
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
