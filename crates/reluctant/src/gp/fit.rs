//! Length-scale and signal variance by evidence.
//!
//! The evidence of a kernel is log N(y; 0, K + σ²I). It is greatest on a grid: fine enough for what a bandit gains
//! from it, and unlike an ascent it cannot run away while there are few data. A weak log-normal prior holds the
//! length-scale where data say nothing.

use super::kernel::{Kernel, Shape};
use crate::linalg::{Cholesky, dot};

/// Length-scales, in units of the points' spread.
const LENGTHS: [f64; 7] = [0.5, 0.707, 1.0, 1.414, 2.0, 2.828, 4.0];
/// Signal variances, in units of the rewards' mean square.
const VARIANCES: [f64; 5] = [0.25, 1.0, 4.0, 16.0, 64.0];
/// Signal variances outside of this range are brought into it.
const VARIANCE_RANGE: (f64, f64) = (1e-50, 1e150);

/// What was observed: a point and its reward, each in its turn.
#[derive(Clone, Copy)]
pub(crate) struct Data<'a> {
    pub(crate) dim: usize,
    pub(crate) xs: &'a [f64],
    pub(crate) ys: &'a [f64],
}

/// The kernel of greatest evidence; what is given is kept. `None` if the data cannot tell.
pub(crate) fn fit(data: Data<'_>, shape: Shape, sigma: f64, given: (Option<f64>, Option<f64>)) -> Option<Kernel> {
    let squares = squared_distances(data);
    let n = data.ys.len() as f64;
    let spread = (0.5 * squares.iter().sum::<f64>() / (n * n)).sqrt();
    let power = dot(data.ys, data.ys) / n;
    if !(spread > 1e-90 && power > 1e-180) {
        return None;
    }
    let lengths = given.0.map_or_else(|| LENGTHS.map(|l| l * spread).to_vec(), |length| vec![length]);
    let variances = given.1.map_or_else(|| VARIANCES.map(|v| v * power).to_vec(), |variance| vec![variance]);
    let mut best: Option<(f64, Kernel)> = None;
    for &length in &lengths {
        let off = libm::log(length / spread);
        for &variance in &variances {
            let variance = variance.clamp(VARIANCE_RANGE.0, VARIANCE_RANGE.1);
            let kernel = Kernel { shape, length, variance };
            let Some(evidence) = evidence(&squares, data.ys, kernel, sigma) else { continue };
            let value = evidence - 0.5 * off * off;
            if best.is_none_or(|(top, _)| value > top) {
                best = Some((value, kernel));
            }
        }
    }
    best.map(|(_, kernel)| kernel)
}

fn squared_distances(data: Data<'_>) -> Vec<f64> {
    let rows = || data.xs.chunks_exact(data.dim);
    let distance = |x: &[f64], z: &[f64]| x.iter().zip(z).map(|(x, z)| (x - z) * (x - z)).sum::<f64>();
    rows().flat_map(|x| rows().map(move |z| distance(x, z))).collect()
}

/// log N(y; 0, K + σ²I) up to a constant; `None` if that is no number.
fn evidence(squares: &[f64], ys: &[f64], kernel: Kernel, sigma: f64) -> Option<f64> {
    let n = ys.len();
    let noise = super::sparse::noise_variance(sigma, kernel);
    let mut matrix: Vec<f64> = kernel.of_squares_slice(squares);
    (0..n).for_each(|i| matrix[i * n + i] += noise);
    let factor = Cholesky::new(&mut matrix, n)?;
    let mut z = ys.to_vec();
    factor.solve_transposed(&mut z);
    Some(-0.5 * (dot(&z, &z) + factor.log_det())).filter(|value| value.is_finite())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::{Key, normal, unit_vector};

    /// A function drawn from a known process: the fit finds its length-scale to within the grid's neighbours.
    #[test]
    fn a_drawn_function_tells_its_length_scale() {
        let mut stream = Key::new(5).stream();
        for truth in [0.5, 1.0, 2.0] {
            let n = 80;
            let mut xs = vec![0.0; 2 * n];
            xs.chunks_exact_mut(2).for_each(|x| unit_vector(&mut stream, x));
            let kernel = Kernel { shape: Shape::Matern52, length: truth, variance: 3.0 };
            let mut matrix: Vec<f64> = squared_distances(Data { dim: 2, xs: &xs, ys: &[] });
            matrix.iter_mut().for_each(|s| *s = kernel.of_square(*s));
            (0..n).for_each(|i| matrix[i * n + i] += 1e-4);
            assert!(Cholesky::new(&mut matrix, n).is_some());
            // K + σ²I = UᵀU, so y = Uᵀz.
            let z: Vec<f64> = (0..n).map(|_| normal(&mut stream)).collect();
            let ys: Vec<f64> = (0..n).map(|j| (0..=j).map(|i| matrix[i * n + j] * z[i]).sum()).collect();
            let data = Data { dim: 2, xs: &xs, ys: &ys };
            let found = fit(data, Shape::Matern52, 0.01, (None, None)).unwrap();
            assert!((0.49..2.05).contains(&(found.length / truth)), "{truth}: {found:?}");
            let given = fit(data, Shape::Matern52, 0.01, (Some(0.3), Some(2.0))).unwrap();
            assert_eq!((given.length, given.variance), (0.3, 2.0));
        }
    }
}
