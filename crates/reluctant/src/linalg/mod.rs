//! Small dense linear algebra: symmetric matrices of a few to a few hundred rows, stored whole, row after row.
//!
//! Every loop runs over contiguous rows and gives each output element its operations in a fixed order, without
//! fused multiply-add, so vectorised or not the bits are the same on every machine. ARCHITECTURE.md says how this
//! compares with a general library.

mod cholesky;
mod eigen;
mod factor;
pub(crate) mod panels;
mod tridiagonal;
mod vectors;

pub use cholesky::Cholesky;
pub use eigen::Eigen;
pub use tridiagonal::Tridiagonal;
pub use vectors::{axpy, axpy_compensated, dot, norm, normalise, residual_compensated, symmetric_times};

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
        fn shifted_by_reflections_is_shifted_by_factors((n, a) in positive_definite(), r in 0.0..100.0f64) {
            let y: Vec<f64> = (0..n).map(|i| 1.0 + i as f64).collect();
            let mut shifted: Vec<f64> = a.iter().map(|x| r * x).collect();
            (0..n).for_each(|i| shifted[i * n + i] += 1.0);
            let factor = Cholesky::new(&mut shifted, n).unwrap();
            let mut solved = y.clone();
            factor.solve(&mut solved);
            let (log_det, square) = Tridiagonal::new(a, &y).shifted(r).unwrap();
            prop_assert!((log_det - factor.log_det()).abs() < 1e-9 * (1.0 + factor.log_det().abs()));
            prop_assert!((square - dot(&y, &solved)).abs() < 1e-9 * square);
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
