//! Eigenvalues and eigenvectors of a symmetric matrix.

use super::vectors::{axpy, dot};

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
    /// Jacobi's method needs nothing but square roots, finds small eigenvalues to high relative accuracy and is fast
    /// enough for the few dozen rows it is meant for.
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
