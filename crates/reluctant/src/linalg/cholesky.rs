//! Positive definite matrices by their factor: log-determinant, solutions, inverse.

use super::factor::factor_rows;
use super::panels;
use super::vectors::{axpy, dot};
use crate::instructions::arch;
use crate::spare::Spare;

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

    /// The entry of U in row i ≤ j.
    #[inline(always)]
    pub(crate) fn at(&self, i: usize, j: usize) -> f64 {
        self.factor[i * self.dim + j]
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
