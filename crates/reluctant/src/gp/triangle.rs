//! Lower triangular matrices that grow by a row at a time: row i has i + 1 entries and follows row i − 1.

use crate::linalg::{axpy, dot};

/// Where row `i` begins.
pub(super) const fn start(i: usize) -> usize {
    i * (i + 1) / 2
}

/// Row `i`.
#[inline(always)]
pub(super) fn row(t: &[f64], i: usize) -> &[f64] {
    &t[start(i)..start(i + 1)]
}

/// b ← T⁻¹b.
pub(super) fn solve(t: &[f64], b: &mut [f64]) {
    for i in 0..b.len() {
        let row = row(t, i);
        b[i] = (b[i] - dot(&row[..i], &b[..i])) / row[i];
    }
}

/// b ← T⁻ᵀb.
pub(super) fn solve_transposed(t: &[f64], b: &mut [f64]) {
    for i in (0..b.len()).rev() {
        let row = row(t, i);
        b[i] /= row[i];
        let (head, tail) = b.split_at_mut(i);
        axpy(-tail[0], &row[..i], head);
    }
}

/// T becomes the factor of TTᵀ + xxᵀ; `x` is used up. Rotations, so nothing cancels.
pub(super) fn add_square(t: &mut [f64], x: &mut [f64]) {
    let n = x.len();
    for k in 0..n {
        let diagonal = t[start(k) + k];
        let length = (diagonal * diagonal + x[k] * x[k]).sqrt();
        let (c, s) = (diagonal / length, x[k] / length);
        t[start(k) + k] = length;
        if s == 0.0 {
            continue;
        }
        for i in k + 1..n {
            let entry = &mut t[start(i) + k];
            let (a, b) = (*entry, x[i]);
            *entry = c * a + s * b;
            x[i] = c * b - s * a;
        }
    }
}

/// Replaces a positive definite matrix of `m` rows, given on and below its diagonal, by its lower
/// factor. No eigenvalue is below 1.
pub(super) fn factorise(a: &mut [f64], m: usize) {
    for i in 0..m {
        let (above, mine) = a.split_at_mut(start(i));
        for j in 0..=i {
            let pivot = if j < i { row(above, j)[j] } else { 1.0 };
            let sum: f64 = if j < i { dot(&mine[..j], &row(above, j)[..j]) } else { dot(&mine[..i], &mine[..i]) };
            let rest = mine[j] - sum;
            // Rounding must not make a pivot imaginary.
            mine[j] = if j < i { rest / pivot } else { rest.max(f64::MIN_POSITIVE).sqrt() };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::{Key, normal};

    #[test]
    fn solves_undo_products_and_an_added_square_is_there() {
        let mut stream = Key::new(1).stream();
        let n = 9;
        let mut t: Vec<f64> = (0..start(n)).map(|_| normal(&mut stream)).collect();
        (0..n).for_each(|i| t[start(i) + i] = 1.0 + t[start(i) + i].abs());
        let whole = |t: &[f64]| -> Vec<f64> {
            let entry = |i: usize, j: usize| dot(&row(t, i)[..=i.min(j)], &row(t, j)[..=i.min(j)]);
            (0..n * n).map(|at| entry(at / n, at % n)).collect()
        };
        let x: Vec<f64> = (0..n).map(|_| normal(&mut stream)).collect();
        let before = whole(&t);
        let mut b: Vec<f64> = (0..n).map(|i| dot(&before[i * n..(i + 1) * n], &x)).collect();
        solve(&t, &mut b);
        solve_transposed(&t, &mut b);
        assert!(b.iter().zip(&x).all(|(a, b)| (a - b).abs() < 1e-9));
        add_square(&mut t, &mut x.clone());
        for (at, (after, before)) in whole(&t).iter().zip(&before).enumerate() {
            assert!((after - before - x[at / n] * x[at % n]).abs() < 1e-12);
        }
    }
}
