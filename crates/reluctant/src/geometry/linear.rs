//! The optimistic action on the sphere for a model that is linear everywhere: one cell, the whole sphere.

use super::optimum::Optimistic;
use super::trust_region::maximise;
use crate::choice::Certificate;
use crate::linalg::{Eigen, axpy, dot, normalise, symmetric_times};

/// The unit x that maximises w·φ + radius·√(φᵀMφ), where φ is x itself, or (x, 1) if `w` has one entry more than `dim`.
///
/// Exact for φ = x: a trust-region problem. With a constant the maximum is not one; an ascent from many starts
/// finds it, uncertified. In it, a norm of an affine function is convex, so each step maximises a lower bound
/// that touches at the last point.
pub fn linear_optimistic_action(dim: usize, w: &[f64], m: &[f64], radius: f64) -> Optimistic {
    let size = w.len();
    let square: Vec<f64> =
        (0..dim).flat_map(|i| m[i * size..i * size + dim].iter().map(|v| radius * radius * v)).collect();
    let eigen = Eigen::new(&square, dim);
    let values: Vec<f64> = eigen.values.iter().map(|v| v.max(0.0)).collect();
    let e: Vec<f64> = (0..dim).map(|j| dot(eigen.vector(j), &w[..dim])).collect();
    let mut y = vec![0.0; dim];
    maximise(&e, &values, &mut y);
    let mut action = vec![0.0; dim];
    (0..dim).for_each(|j| axpy(y[j], eigen.vector(j), &mut action));
    normalise(&mut action);
    if size == dim {
        let (mean, width) = mean_and_width(w, m, radius, &action);
        return Optimistic {
            action,
            value: mean + width,
            mean,
            width,
            certificate: Certificate::Exact,
            cells_visited: 1,
            bounds: 1,
        };
    }
    let mut starts = vec![action];
    for j in 0..dim {
        starts.push(eigen.vector(j).to_vec());
        starts.push(eigen.vector(j).iter().map(|v| -v).collect());
    }
    let climb = |start: Vec<f64>| {
        let x = ascend(w, m, radius, start);
        let (mean, width) = mean_and_width(w, m, radius, &x);
        let certificate = Certificate::NotCertified;
        Optimistic { action: x, value: mean + width, mean, width, certificate, cells_visited: 1, bounds: 0 }
    };
    let best = starts.into_iter().map(climb).reduce(|a, b| if b.value > a.value { b } else { a });
    best.unwrap_or_else(|| climb(vec![0.0; dim]))
}

/// φ·w and radius·√(φᵀMφ).
fn mean_and_width(w: &[f64], m: &[f64], radius: f64, x: &[f64]) -> (f64, f64) {
    let mut phi = x.to_vec();
    phi.resize(w.len(), 1.0);
    let mut product = vec![0.0; w.len()];
    symmetric_times(m, &phi, &mut product);
    (dot(w, &phi), radius * dot(&phi, &product).max(0.0).sqrt())
}

fn ascend(w: &[f64], m: &[f64], radius: f64, mut x: Vec<f64>) -> Vec<f64> {
    let dim = x.len();
    let mut product = vec![0.0; w.len()];
    for _ in 0..200 {
        let mut phi = x.clone();
        phi.resize(w.len(), 1.0);
        symmetric_times(m, &phi, &mut product);
        let width = dot(&phi, &product).max(0.0).sqrt();
        let mut next = w[..dim].to_vec();
        if width > 0.0 {
            axpy(radius / width, &product[..dim], &mut next);
        }
        if !normalise(&mut next) {
            return x;
        }
        let moved = next.iter().zip(&x).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        x = next;
        if moved < 1e-13 {
            break;
        }
    }
    x
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ellipsoid::Ellipsoid;
    use crate::rng::{Key, normal, unit_vector};

    #[test]
    fn no_point_of_the_sphere_is_better() {
        let mut stream = Key::new(1).stream();
        for (dim, constant) in [(2, 0), (2, 1), (3, 0), (3, 1), (5, 0), (5, 1)] {
            for _ in 0..10 {
                let mut model = Ellipsoid::ridge(dim + constant, 0.05);
                let mut x = vec![0.0; dim];
                for _ in 0..8 {
                    unit_vector(&mut stream, &mut x);
                    let mut phi = x.clone();
                    phi.resize(dim + constant, 1.0);
                    model.update(&phi, normal(&mut stream));
                }
                let (w, m) = (model.weights(), model.covariance());
                let found = linear_optimistic_action(dim, w, m, 0.5);
                assert!((dot(&found.action, &found.action) - 1.0).abs() < 1e-12);
                for _ in 0..3000 {
                    unit_vector(&mut stream, &mut x);
                    let (mean, width) = mean_and_width(w, m, 0.5, &x);
                    assert!(mean + width <= found.value + 1e-9, "d = {dim}, constant {constant}");
                }
            }
        }
    }
}
