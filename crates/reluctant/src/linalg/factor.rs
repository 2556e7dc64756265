//! The plain factor of a positive definite matrix, row by row.

use super::vectors::axpy;

/// Factors rows of a matrix with n columns, the first of them its row `first`, from which the rows above are taken away
/// already. Row i takes away its multiple of every row above it, four at a time to save loads and stores; each entry
/// still has its subtractions one after the other, in order.
#[inline(always)]
pub(crate) fn factor_rows(rows: &mut [f64], n: usize, first: usize) -> bool {
    for at in 0..rows.len() / n.max(1) {
        let i = first + at;
        let (above, rest) = rows.split_at_mut(at * n);
        let row = &mut rest[i..n];
        let mut quads = above.chunks_exact(4 * n);
        for quad in &mut quads {
            let [p, q, r, s] = [0, 1, 2, 3].map(|k| &quad[k * n + i..(k + 1) * n]);
            let (mp, mq, mr, ms) = (p[0], q[0], r[0], s[0]);
            for ((((x, p), q), r), s) in row.iter_mut().zip(p).zip(q).zip(r).zip(s) {
                *x = *x - mp * p - mq * q - mr * r - ms * s;
            }
        }
        for single in quads.remainder().chunks_exact(n) {
            axpy(-single[i], &single[i..], row);
        }
        let pivot = row[0];
        // A NaN fails this comparison too.
        if !(pivot > 0.0 && pivot.is_finite()) {
            return false;
        }
        let scale = 1.0 / pivot.sqrt();
        row.iter_mut().for_each(|x| *x *= scale);
    }
    true
}
