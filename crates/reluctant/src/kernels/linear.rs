//! Scores of a linear model: mean w·x and width radius·√(xᵀMx).

use pulp::{Simd, WithSimd};

use super::{Block, Blocks, LANES, Lane, arch, gather, vectors};
use crate::choice::{Leader, Score};
use crate::limits::LIMIT;
use crate::linalg::{dot, symmetric_times};
use crate::offer::Rows;

/// Mean w·x and width radius·√(xᵀMx) of every arm for a symmetric M, appended to `out`. With a constant feature the
/// weights and the matrix have one row more than an arm, for a coordinate that is always 1.
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
    arch().dispatch(Kernel { w, m, radius, rows, out });
}

/// The arm of greatest mean plus width among the scores of [`linear_scores`], the first of ties, and its score; none if
/// no score is a number, or some arm is not finite or so long that this cannot be told. `norm` is at least the greatest
/// eigenvalue of M ([`norm_bound`]); `work` is memory, as there.
///
/// Most arms need no quadratic form: xᵀMx ≤ ‖M‖·‖x‖², and where even that leaves an arm below the one of
/// greatest mean, it cannot win.
pub(crate) fn linear_best(
    w: &[f64],
    m: &[f64],
    radius: f64,
    norm: f64,
    rows: Rows<'_>,
    work: &mut Vec<f64>,
) -> Option<(usize, Score)> {
    struct Kernel<'a> {
        w: &'a [f64],
        m: &'a [f64],
        radius: f64,
        norm: f64,
        rows: Rows<'a>,
        means: &'a mut [f64],
        lengths: &'a mut [f64],
    }
    impl WithSimd for Kernel<'_> {
        type Output = Option<(usize, Score)>;
        #[inline(always)]
        fn with_simd<S: Simd>(self, simd: S) -> Self::Output {
            let Kernel { w, m, radius, norm, rows, means, lengths } = self;
            let (start, longest, finite) = means_and_lengths(simd, w, rows, means, lengths);
            if !finite {
                return None;
            }
            let mut race =
                Race { w, m, radius, rows, block: Block::new(rows.dim()), leader: Leader::default(), winner: None };
            race.enter(simd, &[start]);
            let least = race.leader.value();
            // The quick means are rounded in another way.
            let least = least - 1e-11 * (least.abs() + (dot(w, w) * longest).sqrt());
            let most = (1.0 + 1e-9) * radius * radius * norm;
            race.leader = Leader::default();
            let mut hopeful = Hopeful::default();
            for (eight, (means, lengths)) in means.chunks(8).zip(lengths.chunks(8)).enumerate() {
                // False for NaN.
                let hopeless =
                    |mean: f64, length: f64| (least > mean) & (most * length < (least - mean) * (least - mean));
                let all = means.iter().zip(lengths).fold(true, |all, (mean, length)| all & hopeless(*mean, *length));
                if all {
                    continue;
                }
                for (i, (mean, length)) in means.iter().zip(lengths).enumerate() {
                    if !hopeless(*mean, *length) && hopeful.add(8 * eight + i) {
                        race.enter(simd, hopeful.take());
                    }
                }
            }
            race.enter(simd, hopeful.take());
            race.winner
        }
    }
    work.clear();
    work.resize(2 * rows.len(), 0.0);
    let (means, lengths) = work.split_at_mut(rows.len());
    arch().dispatch(Kernel { w, m, radius, norm, rows, means, lengths })
}

/// Arms that may win, up to a block of them.
#[derive(Default)]
struct Hopeful {
    arms: [usize; LANES],
    count: usize,
}

impl Hopeful {
    /// Adds an arm; whether there is no room for another.
    #[inline(always)]
    fn add(&mut self, arm: usize) -> bool {
        self.arms[self.count] = arm;
        self.count += 1;
        self.count == LANES
    }

    /// All of them; none are left.
    #[inline(always)]
    fn take(&mut self) -> &[usize] {
        &self.arms[..std::mem::take(&mut self.count)]
    }
}

/// The best arm so far, among those that entered in their order.
struct Race<'a> {
    w: &'a [f64],
    m: &'a [f64],
    radius: f64,
    rows: Rows<'a>,
    block: Block,
    leader: Leader,
    winner: Option<(usize, Score)>,
}

impl Race<'_> {
    /// Up to a block of arms enter, with their exact scores.
    #[inline(always)]
    fn enter<S: Simd>(&mut self, simd: S, arms: &[usize]) {
        let block = self.block.lanes();
        gather(self.rows, arms, block);
        for (pair, arms) in arms.chunks(2 * S::F64_LANES).enumerate() {
            let (mean, squared) = means_and_squares(simd, self.w, self.m, block, pair);
            let (mut means, mut squares) = ([0.0; LANES], [0.0; LANES]);
            pairs_mut::<S>(&mut means)[0] = mean;
            pairs_mut::<S>(&mut squares)[0] = squared;
            for ((&arm, mean), squared) in arms.iter().zip(means).zip(squares) {
                let width = self.radius * if squared > 0.0 { squared.sqrt() } else { 0.0 };
                let score = Score { mean, width };
                if self.leader.offer(score.upper()) {
                    self.winner = Some((arm, score));
                }
            }
        }
    }
}

/// w·x and ‖x‖² of every arm, the constant coordinate included, in whatever order of operations is quick; the arm of
/// greatest w·x, the greatest ‖x‖², and whether all arms are finite and not longer than the limit.
#[inline(always)]
fn means_and_lengths<S: Simd>(
    simd: S,
    w: &[f64],
    rows: Rows<'_>,
    means: &mut [f64],
    lengths: &mut [f64],
) -> (usize, f64, bool) {
    let (w, constant) = w.split_at(rows.dim());
    let (shift, one) = constant.first().map_or((0.0, 0.0), |shift| (*shift, 1.0));
    // The last coordinates, fewer than a vector holds, are loaded with some before them, which
    // count for nothing the second time.
    let dim = w.len();
    let whole = dim - dim % S::F64_LANES;
    let from = dim.saturating_sub(S::F64_LANES);
    let (mut w_last, mut once) = ([0.0; LANES], [0.0; LANES]);
    w_last[whole - from.min(whole)..][..dim - whole].copy_from_slice(&w[whole..]);
    once[whole - from.min(whole)..][..dim - whole].fill(1.0);
    let (w_last, once) = (vectors::<S>(&w_last)[0], vectors::<S>(&once)[0]);
    let w_whole = S::as_simd_f64s(w).0;
    let (mut start, mut greatest, mut longest, mut finite) = (0, f64::NEG_INFINITY, 0.0, true);
    for (i, ((x, mean), length)) in rows.iter().zip(means).zip(lengths).enumerate() {
        let (x_whole, x_rest) = S::as_simd_f64s(x);
        let last = match S::as_simd_f64s(&x[from..]).0 {
            [last, ..] => *last,
            [] => simd.partial_load_f64s(x_rest),
        };
        let mut product = simd.mul_f64s(w_last, last);
        let mut square = simd.mul_f64s(simd.mul_f64s(once, last), last);
        for (&w, &x) in w_whole.iter().zip(x_whole) {
            product = simd.mul_add_e_f64s(w, x, product);
            square = simd.mul_add_e_f64s(x, x, square);
        }
        *mean = shift + simd.reduce_sum_f64s(product);
        *length = one + simd.reduce_sum_f64s(square);
        if *mean > greatest {
            (start, greatest) = (i, *mean);
        }
        longest = if *length > longest { *length } else { longest };
        // A coordinate beyond the limit makes its arm as long; false for NaN.
        finite &= *length <= LIMIT * LIMIT;
    }
    (start, longest, finite)
}

/// A bound on the greatest eigenvalue of a symmetric matrix, from the sums of absolute values in the rows of its eighth
/// power: λ⁸ ≤ ‖M⁸‖∞. Not far above it, unlike ‖M‖∞.
pub(crate) fn norm_bound(m: &[f64], size: usize, work: &mut Vec<f64>) -> f64 {
    // Beyond this, powers would cost more than they save.
    const MOST: usize = 64;
    let bound = |m: &[f64]| m.chunks_exact(size).map(|row| row.iter().map(|x| x.abs()).sum()).fold(0.0, f64::max);
    let scale: f64 = bound(m);
    if size > MOST || !(1e-300..1e300).contains(&scale) {
        return scale;
    }
    work.clear();
    work.extend(m.iter().map(|x| x / scale));
    work.resize(2 * m.len(), 0.0);
    let (mut power, mut squared) = work.split_at_mut(m.len());
    for _ in 0..3 {
        for (row, out) in power.chunks_exact(size).zip(squared.chunks_exact_mut(size)) {
            symmetric_times(power, row, out);
        }
        std::mem::swap(&mut power, &mut squared);
    }
    scale * bound(power).sqrt().sqrt().sqrt().min(1.0)
}

/// w·x and xᵀMx of a pair of vectors of a block: two, so that neither waits for the other's sums. M is symmetric: each
/// entry off the diagonal is used once and counts twice.
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

/// The plain version of [`linear_scores`] for one arm's features.
#[inline]
pub(crate) fn linear_score_reference(w: &[f64], m: &[f64], radius: f64, phi: &[f64]) -> Score {
    let squared: f64 = m.chunks_exact(phi.len()).zip(phi).map(|(row, x)| x * dot(row, phi)).sum();
    Score { mean: dot(w, phi), width: radius * squared.max(0.0).sqrt() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::choice::argmax;
    use crate::kernels::tests::cases;
    use crate::rng::{Key, normal};

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
                    let norm = norm_bound(&m, size, &mut Vec::new());
                    assert_eq!(linear_best(&w, &m, 0.7, norm, rows, &mut Vec::new()), Some((best, scores[best])));
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

    #[test]
    fn the_bound_on_the_norm_is_one_and_is_tight() {
        let mut stream = Key::new(4).stream();
        for size in [1, 2, 5, 20, 70] {
            // Orthogonal to the direction of many observations, a covariance is nearly a multiple of the identity.
            let u: Vec<f64> = (0..size).map(|_| normal(&mut stream)).collect();
            let length = dot(&u, &u);
            let entry = |at: usize| {
                let (i, j) = (at / size, at % size);
                f64::from(u8::from(i == j)) - 0.9 * u[i] * u[j] / length
            };
            let m: Vec<f64> = (0..size * size).map(|at| 3.0 * entry(at)).collect();
            let greatest = if size == 1 { 0.3 } else { 3.0 };
            let bound = norm_bound(&m, size, &mut Vec::new());
            assert!(bound >= greatest * (1.0 - 1e-12), "{size}: {bound}");
            assert!(size > 64 || bound <= 1.2 * greatest, "{size}: {bound}");
        }
    }
}
