//! Products of large matrices whose every entry has its operations in a fixed order.
//!
//! A panel is [`LANES`] columns of a matrix, row after row; a strip is [`STRIP`] rows of one, column after column. The
//! product of a strip and a panel is a tile that stays in registers while the sum runs. No sum is split and none is
//! fused, so each entry is what the plain loop over k gives, to the bit: blocks and vectors only change what is
//! computed side by side.

use pulp::{Simd, WithSimd};

use super::factor::factor_rows;
use super::vectors::{self, axpy};
use crate::instructions::{LANES, Lane, arch, vectors, vectors_mut};
use crate::spare::Spare;

/// Rows of a tile: enough chains of additions that none waits for itself.
pub(crate) const STRIP: usize = 8;

/// Rows of a tile of compensated sums, which need twice the registers.
const HALF: usize = STRIP / 2;

/// One column of a strip.
type Column = [f64; STRIP];

/// From this size on a matrix is factored and inverted in blocks: below, the copies cost more than they save.
pub(crate) const BLOCKED_FROM: usize = 48;

/// Rows that are factored together.
const BLOCK: usize = 4 * STRIP;

/// tile ← tile ± Σₖ strip[k]·panel[k], in the order of k.
#[inline(always)]
fn add_products<S: Simd, const MINUS: bool>(simd: S, strip: &[Column], panel: &[Lane], tile: &mut [Lane; STRIP]) {
    for v in 0..LANES / S::F64_LANES {
        let mut sums: [S::f64s; STRIP] = std::array::from_fn(|r| vectors::<S>(&tile[r])[v]);
        for (column, row) in strip.iter().zip(panel) {
            let row = vectors::<S>(row)[v];
            for r in 0..STRIP {
                let product = simd.mul_f64s(simd.splat_f64s(column[r]), row);
                sums[r] = if MINUS { simd.sub_f64s(sums[r], product) } else { simd.add_f64s(sums[r], product) };
            }
        }
        for (lane, sum) in tile.iter_mut().zip(sums) {
            vectors_mut::<S>(lane)[v] = sum;
        }
    }
}

/// tile − Σₖ (A + lost)·panel[k], to about twice the precision, for the four rows of A and what it lost that a strip
/// holds, in the order of k: [`crate::linalg::residual_compensated`] in every lane.
#[inline(always)]
fn subtract_compensated<S: Simd>(simd: S, strip: &[Column], panel: &[Lane], tile: &mut [Lane; HALF]) {
    for v in 0..LANES / S::F64_LANES {
        let mut sums: [S::f64s; HALF] = std::array::from_fn(|r| vectors::<S>(&tile[r])[v]);
        let mut rests = [simd.splat_f64s(0.0); HALF];
        for (column, row) in strip.iter().zip(panel) {
            let x = vectors::<S>(row)[v];
            for r in 0..HALF {
                let (a, lost) = (simd.splat_f64s(column[r]), simd.splat_f64s(column[HALF + r]));
                let product = simd.mul_f64s(a, x);
                let minus = simd.neg_f64s(product);
                // Knuth's sum of `sums[r]` and −product.
                let next = simd.sub_f64s(sums[r], product);
                let part = simd.sub_f64s(next, sums[r]);
                let behind = simd.sub_f64s(sums[r], simd.sub_f64s(next, part));
                let cut = simd.sub_f64s(behind, simd.add_f64s(product, part));
                let cut = simd.sub_f64s(cut, simd.mul_add_f64s(a, x, minus));
                rests[r] = simd.add_f64s(rests[r], simd.sub_f64s(cut, simd.mul_f64s(lost, x)));
                sums[r] = next;
            }
        }
        for r in 0..HALF {
            vectors_mut::<S>(&mut tile[r])[v] = simd.add_f64s(sums[r], rests[r]);
        }
    }
}

/// Copies LANES columns from `at` on of so many rows of a matrix of `n` columns; beyond its last there are zeros.
#[inline(always)]
fn pack_panel(matrix: &[f64], n: usize, at: usize, panel: &mut [Lane]) {
    let count = LANES.min(n - at);
    for (lane, row) in panel.iter_mut().zip(matrix.chunks_exact(n)) {
        match row[at..].first_chunk() {
            Some(whole) => *lane = *whole,
            None => {
                *lane = [0.0; LANES];
                lane[..count].copy_from_slice(&row[at..]);
            }
        }
    }
}

/// The same for STRIP columns: the strip of the transposed matrix.
#[inline(always)]
fn pack_strip(matrix: &[f64], n: usize, at: usize, strip: &mut [Column]) {
    let count = STRIP.min(n - at);
    for (column, row) in strip.iter_mut().zip(matrix.chunks_exact(n)) {
        match row[at..].first_chunk() {
            Some(whole) => *column = *whole,
            None => {
                *column = [0.0; STRIP];
                column[..count].copy_from_slice(&row[at..]);
            }
        }
    }
}

/// Rows `at` to `at + HALF` of a symmetric matrix that is given on and above its diagonal, into entries `to..to + HALF`
/// of a strip.
#[inline(always)]
fn pack_symmetric(matrix: &[f64], n: usize, at: usize, to: usize, strip: &mut [Column]) {
    let count = HALF.min(n - at);
    // Above the diagonal block rows of the matrix are columns of the strip; right of it a row goes along.
    for (column, row) in strip.iter_mut().zip(matrix.chunks_exact(n)).take(at) {
        column[to..to + count].copy_from_slice(&row[at..at + count]);
    }
    for r in 0..count {
        let row = &matrix[(at + r) * n..(at + r + 1) * n];
        for k in at..at + r {
            strip[k][to + r] = matrix[k * n + at + r];
        }
        for (column, x) in strip[at + r..].iter_mut().zip(&row[at + r..]) {
            column[to + r] = *x;
        }
    }
}

/// Room for so many columns of strips, all zero.
fn columns(room: &mut Spare) -> &mut [Column] {
    room.as_chunks_mut().0
}

/// Room for so many rows of panels, all zero.
fn lanes(room: &mut Spare) -> &mut [Lane] {
    room.as_chunks_mut().0
}

/// What [`factor_rows`] does, a block of rows at a time: the upper triangle of A becomes U with A = UᵀU.
pub(crate) fn factor(a: &mut [f64], n: usize) -> bool {
    struct Kernel<'k>(&'k mut [f64], usize, &'k mut [Column], &'k mut [Lane]);
    impl WithSimd for Kernel<'_> {
        type Output = bool;
        #[inline(always)]
        fn with_simd<S: Simd>(self, simd: S) -> bool {
            let Kernel(a, n, strips, panel) = self;
            for start in (0..n).step_by(BLOCK) {
                let end = (start + BLOCK).min(n);
                let (above, rest) = a.split_at_mut(start * n);
                for (at, strip) in (start..end).step_by(STRIP).zip(strips.chunks_exact_mut(n)) {
                    pack_strip(above, n, at, &mut strip[..start]);
                }
                for left in (start..n).step_by(LANES) {
                    pack_panel(above, n, left, &mut panel[..start]);
                    for (at, strip) in (start..end).step_by(STRIP).zip(strips.chunks_exact(n)) {
                        if at < left + LANES {
                            let rows = &mut rest[(at - start) * n..(end - start).min(at - start + STRIP) * n];
                            subtract_tile(simd, &strip[..start], &panel[..start], rows, (n, at, left));
                        }
                    }
                }
                if !factor_rows(&mut rest[..(end - start) * n], n, start) {
                    return false;
                }
            }
            true
        }
    }
    let (mut strips, mut panel) = (Spare::zeros(BLOCK * n), Spare::zeros(LANES * n));
    arch().dispatch(Kernel(a, n, columns(&mut strips), lanes(&mut panel)))
}

/// Takes the product of a strip and a panel from the entries of some rows, the first of them row `at`, in the columns
/// from `left` on, but for those below the diagonal.
#[inline(always)]
fn subtract_tile<S: Simd>(
    simd: S,
    strip: &[Column],
    panel: &[Lane],
    rows: &mut [f64],
    (n, at, left): (usize, usize, usize),
) {
    let count = LANES.min(n - left);
    let mut tile = [[0.0; LANES]; STRIP];
    for (lane, row) in tile.iter_mut().zip(rows.chunks_exact(n)) {
        lane[..count].copy_from_slice(&row[left..left + count]);
    }
    add_products::<S, true>(simd, strip, panel, &mut tile);
    for (r, (lane, row)) in tile.iter().zip(rows.chunks_exact_mut(n)).enumerate() {
        let from = (at + r).saturating_sub(left).min(count);
        row[left + from..left + count].copy_from_slice(&lane[from..count]);
    }
}

/// A⁻¹ = U⁻¹U⁻ᵀ, whole and exactly symmetric, for the factor U of A.
pub(crate) fn inverse(factor: &[f64], n: usize, inverse: &mut [f64]) {
    struct Kernel<'k>(&'k [f64], usize, &'k mut [Column], &'k mut [Lane], &'k mut [f64]);
    impl WithSimd for Kernel<'_> {
        type Output = ();
        #[inline(always)]
        fn with_simd<S: Simd>(self, simd: S) {
            let Kernel(factor, n, strips, panel, inverse) = self;
            invert_factor(simd, factor, n, strips, panel);
            multiply_roots(simd, n, strips, panel, inverse);
        }
    }
    let (mut strips, mut panel) = (Spare::zeros(n.next_multiple_of(STRIP) * n), Spare::zeros(LANES * n));
    arch().dispatch(Kernel(factor, n, columns(&mut strips), lanes(&mut panel), inverse));
}

/// The rows U⁻ᵀeᵢ, which vanish before i, as strips.
#[inline(always)]
fn invert_factor<S: Simd>(simd: S, factor: &[f64], n: usize, strips: &mut [Column], panel: &mut [Lane]) {
    for left in (0..n).step_by(LANES) {
        let right = (left + LANES).min(n);
        pack_panel(factor, n, left, &mut panel[..right]);
        for (at, strip) in (0..right).step_by(STRIP).zip(strips.chunks_exact_mut(n)) {
            // The unit vectors, as far as this panel has them.
            let mut tile = [[0.0; LANES]; STRIP];
            for (r, lane) in tile.iter_mut().enumerate() {
                if (left..right).contains(&(at + r)) {
                    lane[at + r - left] = 1.0;
                }
            }
            let from = at.min(left);
            add_products::<S, true>(simd, &strip[from..left], &panel[from..left], &mut tile);
            for j in left..right {
                let (l, row) = (j - left, &panel[j]);
                for r in 0..STRIP {
                    let solved = tile[r][l] / row[l];
                    strip[j][r] = solved;
                    for m in l + 1..LANES {
                        tile[r][m] -= solved * row[m];
                    }
                }
            }
        }
    }
}

/// The products of these rows, each from the column on in which the later one begins.
#[inline(always)]
fn multiply_roots<S: Simd>(simd: S, n: usize, strips: &[Column], panel: &mut [Lane], inverse: &mut [f64]) {
    // What an empty sum is, its sign included.
    let nothing: f64 = std::iter::empty::<f64>().sum();
    for left in (0..n).step_by(LANES) {
        let right = (left + LANES).min(n);
        for (half, strip) in strips[left * n / STRIP..].chunks_exact(n).take(LANES / STRIP).enumerate() {
            for (lane, column) in panel.iter_mut().zip(strip) {
                lane[half * STRIP..(half + 1) * STRIP].copy_from_slice(column);
            }
        }
        for (at, strip) in (0..right).step_by(STRIP).zip(strips.chunks_exact(n)) {
            let mut tile = [[nothing; LANES]; STRIP];
            for (r, lane) in tile.iter_mut().enumerate() {
                for k in left..right {
                    for l in 0..=k - left {
                        lane[l] += strip[k][r] * panel[k][l];
                    }
                }
            }
            add_products::<S, false>(simd, &strip[right..], &panel[right..n], &mut tile);
            for (r, lane) in tile.iter().enumerate().take(n - at) {
                for j in left.max(at + r)..right {
                    inverse[(at + r) * n + j] = lane[j - left];
                    inverse[j * n + at + r] = lane[j - left];
                }
            }
        }
    }
}

/// A symmetric matrix as a sum of two, each given on and above its diagonal: what is kept, and what rounding cut off
/// from it.
#[derive(Clone, Copy)]
pub(crate) struct Sums<'a> {
    pub(crate) n: usize,
    pub(crate) kept: &'a [f64],
    pub(crate) lost: &'a [f64],
}

/// Columns of an inverse that were refined by Newton's step, X + X(I − AX), with the residuals I − AX.
pub(crate) struct Refined {
    n: usize,
    first: usize,
    count: usize,
    /// The columns, then the residuals, in panels.
    room: Spare,
}

impl Sums<'_> {
    /// Refines columns `first` to `first + count` of the symmetric `inverse`: residuals to twice the precision, then
    /// the step.
    pub(crate) fn refine_columns(self, inverse: &[f64], first: usize, count: usize) -> Refined {
        struct Kernel<'k>(Sums<'k>, &'k [f64], &'k mut [Column], &'k mut [Lane], &'k mut [Lane]);
        impl WithSimd for Kernel<'_> {
            type Output = ();
            #[inline(always)]
            fn with_simd<S: Simd>(self, simd: S) {
                let Kernel(Sums { n, kept, lost }, inverse, strip, columns, residuals) = self;
                for at in (0..n).step_by(HALF) {
                    pack_symmetric(kept, n, at, 0, strip);
                    pack_symmetric(lost, n, at, HALF, strip);
                    for (panel, out) in columns.chunks_exact(n).zip(residuals.chunks_exact_mut(n)) {
                        let mut tile = [[0.0; LANES]; HALF];
                        let rows = out[at..].iter_mut().take(HALF);
                        rows.zip(&mut tile).for_each(|(start, lane)| *lane = *start);
                        subtract_compensated(simd, strip, panel, &mut tile);
                        out[at..].iter_mut().zip(&tile).for_each(|(out, lane)| *out = *lane);
                    }
                }
                for at in (0..n).step_by(STRIP) {
                    pack_strip(inverse, n, at, strip);
                    for (panel, residuals) in columns.chunks_exact_mut(n).zip(residuals.chunks_exact(n)) {
                        let mut tile = [[0.0; LANES]; STRIP];
                        panel[at..].iter().zip(&mut tile).for_each(|(x, lane)| *lane = *x);
                        add_products::<S, false>(simd, strip, residuals, &mut tile);
                        panel[at..].iter_mut().zip(&tile).for_each(|(x, lane)| *x = *lane);
                    }
                }
            }
        }
        let n = self.n;
        // One piece of memory for all, so that there is but one to be kept.
        let size = count.next_multiple_of(LANES) * n;
        let mut room = Spare::zeros(2 * size + n * STRIP);
        let (x, rest) = room.split_at_mut(size);
        let (r, strip) = rest.split_at_mut(size);
        let (x, r, strip) = (x.as_chunks_mut().0, r.as_chunks_mut().0, strip.as_chunks_mut().0);
        let starts = (first..first + count).step_by(LANES);
        for (at, (x, r)) in starts.zip(x.chunks_exact_mut(n).zip(r.chunks_exact_mut(n))) {
            pack_panel(inverse, n, at, x);
            (at..n.min(at + LANES)).for_each(|j: usize| r[j][j - at] = 1.0);
        }
        arch().dispatch(Kernel(self, inverse, strip, x, r));
        Refined { n, first, count, room }
    }

    /// One step of iterative refinement of x ≈ A⁻¹b, with `inverse` ≈ A⁻¹. `b` is lost: it becomes the residual b − Ax,
    /// to twice the precision.
    pub(crate) fn refine(self, inverse: &[f64], x: &mut [f64], b: &mut [f64]) {
        struct Kernel<'k>(Sums<'k>, &'k [f64], &'k mut [f64], &'k mut [f64], &'k mut [Column]);
        impl pulp::NullaryFnOnce for Kernel<'_> {
            type Output = ();
            #[inline(always)]
            fn call(self) {
                let Kernel(Sums { n, kept, lost }, inverse, x, b, strip) = self;
                for at in (0..n).step_by(HALF) {
                    pack_symmetric(kept, n, at, 0, strip);
                    pack_symmetric(lost, n, at, HALF, strip);
                    let (mut sums, mut rests) = ([0.0; HALF], [0.0; HALF]);
                    sums.iter_mut().zip(&b[at..]).for_each(|(sum, b)| *sum = *b);
                    for (column, &x) in strip.iter().zip(x.iter()) {
                        for r in 0..HALF {
                            let (a, lost) = (column[r], column[HALF + r]);
                            vectors::subtract_compensated(&mut sums[r], &mut rests[r], (a, lost, x));
                        }
                    }
                    b[at..].iter_mut().zip(sums).zip(rests).for_each(|((b, sum), rest)| *b = sum + rest);
                }
                for (row, r) in inverse.chunks_exact(n).zip(b) {
                    axpy(*r, row, x);
                }
            }
        }
        crate::spare::with_zeros(self.n * STRIP, |strip| {
            arch().dispatch(Kernel(self, inverse, x, b, strip.as_chunks_mut().0));
        });
    }
}

impl Refined {
    /// Columns and residuals.
    fn parts(&self) -> (&[f64], &[f64]) {
        let size = self.count.next_multiple_of(LANES) * self.n;
        (&self.room[..size], &self.room[size..2 * size])
    }

    /// The greatest sum over a column of the residuals, where entry (i, j) counts unit(j)/unit(i)-fold; not a number if
    /// one is not.
    pub(crate) fn residual(&self, unit: impl Fn(usize) -> f64) -> f64 {
        let mut greatest = 0.0;
        for (p, panel) in self.parts().1.as_chunks::<LANES>().0.chunks_exact(self.n).enumerate() {
            let first = self.first + p * LANES;
            let units: Lane = std::array::from_fn(|l| unit((first + l).min(self.n - 1)));
            let mut sums = [0.0; LANES];
            for (i, row) in panel.iter().enumerate() {
                let own = unit(i);
                for l in 0..LANES {
                    sums[l] += row[l].abs() * (units[l] / own);
                }
            }
            let within = LANES.min(self.first + self.count - first);
            // A maximum of floats would let go of what is not a number.
            greatest = sums[..within].iter().fold(greatest, |most: f64, &sum| if sum <= most { most } else { sum });
        }
        greatest
    }

    /// Entry i of column `first + j`.
    #[inline(always)]
    fn entry(&self, i: usize, j: usize) -> f64 {
        self.parts().0[((j / LANES) * self.n + i) * LANES + j % LANES]
    }

    /// Puts the columns, and themselves as rows, into a symmetric matrix. Where both are refined it is their mean that
    /// counts.
    pub(crate) fn store(&self, matrix: &mut [f64]) {
        let n = self.n;
        let own = self.first..self.first + self.count;
        for i in 0..n {
            for j in 0..self.count {
                let (column, mut value) = (self.first + j, self.entry(i, j));
                if own.contains(&i) {
                    if i < column {
                        continue;
                    }
                    // The mean of the two is an entry itself, on the diagonal.
                    if i > column {
                        value = 0.5 * (value + self.entry(column, i - self.first));
                    }
                }
                matrix[i * n + column] = value;
                matrix[column * n + i] = value;
            }
        }
    }
}

#[cfg(test)]
mod tests;
