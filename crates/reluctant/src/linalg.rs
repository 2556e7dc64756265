//! Small dense linear algebra: symmetric matrices of a few to a few hundred rows, stored whole, row after row.
//!
//! Every loop runs over contiguous rows and gives each output element its operations in a fixed order, without fused
//! multiply-add, so vectorised or not the bits are the same on every machine. ARCHITECTURE.md says how this compares with
//! a general library.

use crate::kernels::arch;
use crate::panels;
use crate::spare::Spare;

/// Σ aᵢbᵢ.
#[inline(always)]
pub fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(x, y)| x * y).sum()
}

/// ‖a‖.
#[inline(always)]
pub fn norm(a: &[f64]) -> f64 {
    dot(a, a).sqrt()
}

/// y ← y + m·x.
#[inline(always)]
pub fn axpy(m: f64, x: &[f64], y: &mut [f64]) {
    for (y, x) in y.iter_mut().zip(x) {
        *y += m * x;
    }
}

/// y ← y + m·x, where `lost` keeps what rounding cuts off from each product and each sum: y + lost is the sum to about twice the
/// precision, however many terms it has.
#[inline(always)]
pub fn axpy_compensated(m: f64, x: &[f64], y: &mut [f64], lost: &mut [f64]) {
    for ((y, lost), x) in y.iter_mut().zip(lost).zip(x) {
        let product = m * x;
        let (sum, cut) = two_sum(*y, product);
        *lost += cut + m.mul_add(*x, -product);
        *y = sum;
    }
}

/// start − Σ (a + lost)·x over (a, lost, x), to about twice the precision (Ogita, Rump and Oishi 2005).
#[inline(always)]
pub fn residual_compensated(start: f64, terms: impl Iterator<Item = (f64, f64, f64)>) -> f64 {
    let (mut sum, mut rest) = (start, 0.0);
    terms.for_each(|term| subtract_compensated(&mut sum, &mut rest, term));
    sum + rest
}

/// sum + rest ← sum + rest − (a + lost)·x, one term of [`residual_compensated`].
#[inline(always)]
pub(crate) fn subtract_compensated(sum: &mut f64, rest: &mut f64, (a, lost, x): (f64, f64, f64)) {
    let product = a * x;
    let (next, cut) = two_sum(*sum, -product);
    *rest += cut - a.mul_add(x, -product) - lost * x;
    *sum = next;
}

/// a + b, rounded, and what rounding cut off (Knuth).
#[inline(always)]
fn two_sum(a: f64, b: f64) -> (f64, f64) {
    let sum = a + b;
    let part = sum - a;
    (sum, (a - (sum - part)) + (b - part))
}

/// y ← A·x for a symmetric A, as a sum of its rows, four at a time to save loads and stores of y.
#[inline(always)]
pub fn symmetric_times(a: &[f64], x: &[f64], y: &mut [f64]) {
    y.fill(0.0);
    let n = x.len().max(1);
    for (rows, x) in a.chunks(4 * n).zip(x.chunks(4)) {
        if let &[k, l, m, o] = x
            && k != 0.0
            && l != 0.0
            && m != 0.0
            && o != 0.0
        {
            let [p, q, r, s] = [0, 1, 2, 3].map(|i| &rows[i * n..(i + 1) * n]);
            for ((((y, p), q), r), s) in y.iter_mut().zip(p).zip(q).zip(r).zip(s) {
                *y = *y + k * p + l * q + m * r + o * s;
            }
            continue;
        }
        for (row, &m) in rows.chunks_exact(n).zip(x) {
            if m != 0.0 {
                axpy(m, row, y);
            }
        }
    }
}

/// Scales `a` to unit length; false if it is too short to have a direction.
pub fn normalise(a: &mut [f64]) -> bool {
    let length = norm(a);
    if !(length > 1e-150 && length.is_finite()) {
        return false;
    }
    a.iter_mut().for_each(|x| *x /= length);
    true
}

/// The factor U with A = UᵀU of a positive definite matrix.
///
/// The upper triangle of `matrix` is replaced by U; what is below the diagonal is left alone and never read.
#[derive(Debug)]
pub struct Cholesky<'a> {
    factor: &'a [f64],
    dim: usize,
}

impl<'a> Cholesky<'a> {
    /// Factors `matrix` (dim × dim) in place; `None` if it is not positive definite to working precision.
    pub fn new(matrix: &'a mut [f64], dim: usize) -> Option<Self> {
        struct Kernel<'k>(&'k mut [f64], usize);
        impl pulp::NullaryFnOnce for Kernel<'_> {
            type Output = bool;
            #[inline(always)]
            fn call(self) -> bool {
                factor_rows(self.0, self.1, 0)
            }
        }
        let blocked = dim >= panels::BLOCKED_FROM;
        let good = if blocked { panels::factor(matrix, dim) } else { arch().dispatch(Kernel(matrix, dim)) };
        good.then_some(Cholesky { factor: matrix, dim })
    }

    fn row(&self, i: usize) -> &[f64] {
        &self.factor[i * self.dim..(i + 1) * self.dim]
    }

    /// log det A.
    pub fn log_det(&self) -> f64 {
        (0..self.dim).map(|i| 2.0 * libm::log(self.row(i)[i])).sum()
    }

    /// b ← A⁻¹b.
    pub fn solve(&self, b: &mut [f64]) {
        self.solve_transposed(b);
        for i in (0..self.dim).rev() {
            let row = self.row(i);
            b[i] = (b[i] - dot(&row[i + 1..], &b[i + 1..])) / row[i];
        }
    }

    /// b ← U⁻ᵀb, so that ‖b‖² becomes bᵀA⁻¹b.
    pub fn solve_transposed(&self, b: &mut [f64]) {
        for i in 0..self.dim {
            let row = self.row(i);
            let (head, tail) = b.split_at_mut(i + 1);
            head[i] /= row[i];
            axpy(-head[i], &row[i + 1..], tail);
        }
    }

    /// A⁻¹, whole and exactly symmetric, into `inverse`.
    pub fn inverse(&self, inverse: &mut [f64]) {
        let n = self.dim;
        if n >= panels::BLOCKED_FROM {
            return panels::inverse(self.factor, n, inverse);
        }
        // Row i of `root` is U⁻ᵀeᵢ, which vanishes before i; A⁻¹ = U⁻¹U⁻ᵀ has the entries rootᵢ·rootⱼ.
        let mut root = Spare::zeros(n * n);
        for i in 0..n {
            root[i * n + i] = 1.0;
            self.solve_transposed(&mut root[i * n..(i + 1) * n]);
        }
        for i in 0..n {
            for j in i..n {
                let value = dot(&root[i * n + j..(i + 1) * n], &root[j * n + j..(j + 1) * n]);
                inverse[i * n + j] = value;
                inverse[j * n + i] = value;
            }
        }
    }
}

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

/// The eigenvalues and eigenvectors of a symmetric matrix: A = Σⱼ λⱼ·vⱼvⱼᵀ.
#[derive(Debug, Clone, PartialEq)]
pub struct Eigen {
    /// λ₁ ≥ λ₂ ≥ …
    pub values: Vec<f64>,
    /// Row j is the unit vector vⱼ.
    pub vectors: Vec<f64>,
}

impl Eigen {
    /// Diagonalises a symmetric `matrix` (dim × dim) by Jacobi rotations.
    ///
    /// Jacobi's method needs nothing but square roots, finds small eigenvalues to high relative accuracy and is fast enough for
    /// the few dozen rows it is meant for.
    pub fn new(matrix: &[f64], dim: usize) -> Self {
        let mut a = matrix.to_vec();
        let mut vectors = vec![0.0; dim * dim];
        (0..dim).for_each(|i| vectors[i * dim + i] = 1.0);
        let scale: f64 = a.iter().map(|x| x * x).sum();
        // Convergence is quadratic: ten sweeps are more than any matrix of this size takes.
        for _ in 0..40 {
            let off: f64 = (0..dim).map(|i| (i + 1..dim).map(|j| a[i * dim + j] * a[i * dim + j]).sum::<f64>()).sum();
            if off.is_nan() || off <= 1e-34 * scale {
                break;
            }
            for p in 0..dim {
                for q in p + 1..dim {
                    rotate(&mut a, &mut vectors, dim, p, q);
                }
            }
        }
        let mut order: Vec<usize> = (0..dim).collect();
        order.sort_by(|&i, &j| a[j * dim + j].total_cmp(&a[i * dim + i]));
        Eigen {
            values: order.iter().map(|&i| a[i * dim + i]).collect(),
            vectors: order.iter().flat_map(|&i| vectors[i * dim..(i + 1) * dim].iter().copied()).collect(),
        }
    }

    /// vⱼ.
    pub fn vector(&self, j: usize) -> &[f64] {
        let dim = self.values.len();
        &self.vectors[j * dim..(j + 1) * dim]
    }

    /// The coordinates vⱼ·x.
    pub fn coordinates(&self, x: &[f64], out: &mut [f64]) {
        for (out, vector) in out.iter_mut().zip(self.vectors.chunks_exact(x.len().max(1))) {
            *out = dot(vector, x);
        }
    }

    /// Σⱼ yⱼvⱼ.
    pub fn combine(&self, y: &[f64], out: &mut [f64]) {
        out.fill(0.0);
        for (&y, vector) in y.iter().zip(self.vectors.chunks_exact(y.len().max(1))) {
            axpy(y, vector, out);
        }
    }
}

/// One Jacobi rotation, which makes a_pq zero; the rows of `vectors` turn with it.
fn rotate(a: &mut [f64], vectors: &mut [f64], n: usize, p: usize, q: usize) {
    let apq = a[p * n + q];
    if apq == 0.0 {
        return;
    }
    // t = tan of the smaller angle that diagonalises the 2×2 block.
    let half = (a[q * n + q] - a[p * n + p]) / (2.0 * apq);
    let t = half.signum() / (half.abs() + (1.0 + half * half).sqrt());
    let c = 1.0 / (1.0 + t * t).sqrt();
    let s = t * c;
    a[p * n + p] -= t * apq;
    a[q * n + q] += t * apq;
    a[p * n + q] = 0.0;
    a[q * n + p] = 0.0;
    for i in (0..n).filter(|&i| i != p && i != q) {
        let (x, y) = (a[p * n + i], a[q * n + i]);
        let (u, v) = (c * x - s * y, s * x + c * y);
        a[p * n + i] = u;
        a[i * n + p] = u;
        a[q * n + i] = v;
        a[i * n + q] = v;
    }
    for i in 0..n {
        let (x, y) = (vectors[p * n + i], vectors[q * n + i]);
        vectors[p * n + i] = c * x - s * y;
        vectors[q * n + i] = s * x + c * y;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// A random positive definite matrix: B·Bᵀ + I.
    fn positive_definite() -> impl Strategy<Value = (usize, Vec<f64>)> {
        (1usize..12).prop_flat_map(|n| (Just(n), prop::collection::vec(-2.0..2.0f64, n * n))).prop_map(|(n, b)| {
            let mut a = vec![0.0; n * n];
            for i in 0..n {
                for j in 0..n {
                    a[i * n + j] = dot(&b[i * n..][..n], &b[j * n..][..n]) + if i == j { 1.0 } else { 0.0 };
                }
            }
            (n, a)
        })
    }

    proptest! {
        #[test]
        fn inverse_and_solve_undo_the_matrix((n, a) in positive_definite()) {
            let mut work = a.clone();
            let factor = Cholesky::new(&mut work, n).unwrap();
            let mut inverse = vec![0.0; n * n];
            factor.inverse(&mut inverse);
            for i in 0..n {
                let mut column: Vec<f64> = (0..n).map(|r| a[r * n + i]).collect();
                factor.solve(&mut column);
                for j in 0..n {
                    let identity = if i == j { 1.0 } else { 0.0 };
                    prop_assert!((column[j] - identity).abs() < 1e-9);
                    let product = dot(&a[i * n..][..n], &inverse[j * n..][..n]);
                    prop_assert!((product - identity).abs() < 1e-9);
                }
            }
        }

        #[test]
        fn log_det_agrees_with_elimination((n, a) in positive_definite()) {
            let mut work = a.clone();
            let log_det = Cholesky::new(&mut work, n).unwrap().log_det();
            // Gaussian elimination without square roots.
            let mut m = a;
            let mut expected = 0.0;
            for k in 0..n {
                expected += m[k * n + k].ln();
                for i in k + 1..n {
                    let f = m[i * n + k] / m[k * n + k];
                    for j in k..n {
                        m[i * n + j] -= f * m[k * n + j];
                    }
                }
            }
            prop_assert!((log_det - expected).abs() < 1e-9 * (1.0 + expected.abs()));
        }

        #[test]
        fn eigenvectors_are_orthonormal_and_rebuild_the_matrix((n, a) in positive_definite()) {
            let eigen = Eigen::new(&a, n);
            let scale = norm(&a);
            for i in 0..n {
                prop_assert!(i == 0 || eigen.values[i - 1] >= eigen.values[i]);
                for j in 0..n {
                    let identity = if i == j { 1.0 } else { 0.0 };
                    prop_assert!((dot(eigen.vector(i), eigen.vector(j)) - identity).abs() < 1e-13);
                    let rebuilt: f64 =
                        (0..n).map(|l| eigen.values[l] * eigen.vector(l)[i] * eigen.vector(l)[j]).sum();
                    prop_assert!((rebuilt - a[i * n + j]).abs() < 1e-13 * scale);
                }
            }
            let x: Vec<f64> = (0..n).map(|i| i as f64 - 1.5).collect();
            let (mut y, mut back) = (vec![0.0; n], vec![0.0; n]);
            eigen.coordinates(&x, &mut y);
            eigen.combine(&y, &mut back);
            prop_assert!(x.iter().zip(&back).all(|(a, b)| (a - b).abs() < 1e-12));
        }
    }

    #[test]
    fn eigenvalues_of_special_matrices_are_exact() {
        assert_eq!(Eigen::new(&[0.0; 9], 3).values, [0.0; 3]);
        assert_eq!(Eigen::new(&[2.0, 0.0, 0.0, 3.0], 2).values, [3.0, 2.0]);
        // 11ᵀ has the eigenvalues n, 0, …, 0; repeated ones must not disturb the rotations.
        let eigen = Eigen::new(&[1.0; 16], 4);
        assert!((eigen.values[0] - 4.0).abs() < 1e-14 && eigen.values[1..].iter().all(|v| v.abs() < 1e-14));
    }

    #[test]
    fn what_is_not_positive_definite_is_refused() {
        assert!(Cholesky::new(&mut [0.0], 1).is_none());
        assert!(Cholesky::new(&mut [f64::NAN], 1).is_none());
        assert!(Cholesky::new(&mut [1.0, 2.0, 2.0, 1.0], 2).is_none());
    }
}
