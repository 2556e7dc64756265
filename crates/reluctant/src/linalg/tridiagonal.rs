//! Symmetric matrices as tridiagonal ones, so that A can be shifted and scaled at next to no cost.

use super::vectors::{axpy, dot};
use crate::instructions::arch;

/// A = QTQᵀ with a tridiagonal T, and a vector Qᵀy: what is needed to solve (I + rA)x = y for many r.
#[derive(Debug, Clone, PartialEq)]
pub struct Tridiagonal {
    diagonal: Vec<f64>,
    beside: Vec<f64>,
    rotated: Vec<f64>,
}

impl Tridiagonal {
    /// Reduces a symmetric `matrix` (as many rows as `y` has numbers) by Householder reflections.
    pub fn new(matrix: Vec<f64>, y: &[f64]) -> Self {
        struct Kernel(Vec<f64>, Vec<f64>);
        impl pulp::NullaryFnOnce for Kernel {
            type Output = Tridiagonal;
            #[inline(always)]
            fn call(self) -> Tridiagonal {
                reduce(self.0, self.1)
            }
        }
        arch().dispatch(Kernel(matrix, y.to_vec()))
    }

    /// log det(I + rA) and yᵀ(I + rA)⁻¹y; `None` if that is not positive definite to working precision.
    pub fn shifted(&self, r: f64) -> Option<(f64, f64)> {
        let (mut log_det, mut square) = (0.0, 0.0);
        let (mut pivot, mut rest) = (1.0, 0.0);
        for (i, (&diagonal, &y)) in self.diagonal.iter().zip(&self.rotated).enumerate() {
            let link = if i == 0 { 0.0 } else { r * self.beside[i - 1] };
            let share = link / pivot;
            pivot = 1.0 + r * diagonal - share * link;
            rest = y - share * rest;
            if pivot.is_nan() || pivot <= 0.0 {
                return None;
            }
            log_det += libm::log(pivot);
            square += rest * rest / pivot;
        }
        (log_det.is_finite() && square.is_finite()).then_some((log_det, square))
    }
}

#[inline(always)]
fn reduce(mut a: Vec<f64>, mut y: Vec<f64>) -> Tridiagonal {
    let n = y.len();
    let (mut diagonal, mut beside) = (Vec::with_capacity(n), Vec::with_capacity(n));
    let (mut v, mut w) = (vec![0.0; n], vec![0.0; n]);
    for k in 0..n {
        diagonal.push(a[k * n + k]);
        let (row, below) = a[k * n..].split_at_mut(n);
        let row = &row[k + 1..];
        let Some(&first) = row.first() else { break };
        let length = dot(row, row).sqrt();
        let reflected = if first > 0.0 { -length } else { length };
        beside.push(reflected);
        // The reflection I − s·vvᵀ takes the rest of the row to its first coordinate.
        let (v, w) = (&mut v[k + 1..], &mut w[k + 1..]);
        v.copy_from_slice(row);
        v[0] -= reflected;
        let size = dot(v, v);
        if size == 0.0 {
            continue;
        }
        let s = 2.0 / size;
        let rows = || (0..v.len()).map(|i| i * n + k + 1..(i + 1) * n);
        w.fill(0.0);
        rows().zip(v.iter()).for_each(|(at, &v)| axpy(s * v, &below[at], w));
        let overlap = 0.5 * s * dot(v, w);
        axpy(-overlap, v, w);
        for (i, at) in rows().enumerate() {
            let (p, q) = (v[i], w[i]);
            for ((a, &v), &w) in below[at].iter_mut().zip(v.iter()).zip(w.iter()) {
                *a -= p * w + q * v;
            }
        }
        let rest = &mut y[k + 1..];
        axpy(-s * dot(v, rest), v, rest);
    }
    Tridiagonal { diagonal, beside, rotated: y }
}
