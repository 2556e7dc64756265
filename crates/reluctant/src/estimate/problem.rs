//! The problem that the solver descends on: the samples, a network with its residuals, and the loss.

use super::{Model, Samples};
use crate::activation::RoundedKink;
use crate::instructions::arch;
use crate::linalg::{axpy, dot};

/// A loss below this times the scale of the data is zero to rounding.
const ZERO: f64 = 1e-26;

/// The samples as the solver wants them: in units of their own size, by rows and by columns.
#[derive(Debug)]
pub(super) struct Problem {
    pub(super) dim: usize,
    pub(super) len: usize,
    pub(super) rows: Vec<f64>,
    /// Coordinate j of every sample, then coordinate j + 1: loops over samples are contiguous.
    pub(super) columns: Vec<f64>,
    pub(super) rewards: Vec<f64>,
    /// What an amplitude of 1 in these units is in those of the samples.
    pub(super) gain: f64,
    /// Σ xxᵀ.
    pub(super) moment: Vec<f64>,
    /// The root mean square of a coordinate: the typical size of u·x.
    pub(super) size: f64,
    /// A loss (sum of squares) that is zero to rounding.
    pub(super) zero: f64,
    /// The slope of the activation for negative inputs.
    pub(super) slope: f64,
}

impl Problem {
    /// f is homogeneous in x, so dividing samples and rewards by one number changes nothing but the units. A power of
    /// two changes no digit, and keeps the squares of very large and very small data from overflowing or vanishing.
    /// Where neurons may have any length, rewards are divided by a number of their own, for which lengths are about 1:
    /// there the solver is at home.
    pub(super) fn new(samples: Samples<'_>, model: Model, leak: f64) -> Self {
        let (dim, len) = (samples.dim(), samples.len());
        let size = |values: &[f64]| values.iter().fold(0.0f64, |m, x| m.max(x.abs()));
        let (width, height) = (size(samples.rows().data()), size(samples.rewards()));
        let scale = power_of_two_near(if model == Model::Unit { width.max(height * 1e-100) } else { width });
        let rows: Vec<f64> = samples.rows().data().iter().map(|x| x / scale).collect();
        let gain = match model {
            Model::Unit => 1.0,
            Model::Signed => {
                let height = power_of_two_near(height);
                let rewards: Vec<f64> = samples.rewards().iter().map(|y| y / height).collect();
                power_of_two_near(slope(&rows, &rewards)) * (height / scale)
            }
        };
        let rewards: Vec<f64> = samples.rewards().iter().map(|y| y / scale / gain).collect();
        let mut columns = vec![0.0; dim * len];
        let mut moment = vec![0.0; dim * dim];
        for (s, x) in rows.chunks_exact(dim).enumerate() {
            for j in 0..dim {
                columns[j * len + s] = x[j];
            }
            add_outer(1.0, x, &mut moment);
        }
        let zero = ZERO * (dot(&rewards, &rewards) + dot(&rows, &rows));
        let size = (dot(&rows, &rows) / rows.len() as f64).sqrt();
        Problem { dim, len, rows, columns, rewards, gain, moment, size, zero, slope: leak }
    }

    pub(super) fn dim(&self) -> usize {
        self.dim
    }

    pub(super) fn len(&self) -> usize {
        self.len
    }

    /// Σ xxᵀ in the solver's units.
    pub(super) fn moment(&self) -> &[f64] {
        &self.moment
    }

    /// Whether a sum of squares is zero to rounding.
    pub(super) fn is_zero(&self, loss: f64) -> bool {
        loss <= self.zero
    }

    /// The size of a linear map that explains the rewards.
    pub(super) fn slope(&self) -> f64 {
        slope(&self.rows, &self.rewards)
    }
}

/// (Σy²/Σ‖x‖²)^½; 0 if there is nothing but zeros.
fn slope(rows: &[f64], rewards: &[f64]) -> f64 {
    let samples = dot(rows, rows);
    if samples > 0.0 { (dot(rewards, rewards) / samples).sqrt() } else { 0.0 }
}

/// The power of two just below a positive size; 1 for zero.
pub(super) fn power_of_two_near(size: f64) -> f64 {
    // Keeps the exponent and clears the digits; a subnormal size has no digits to spare.
    let power = f64::from_bits(size.to_bits() & 0x7ff0_0000_0000_0000);
    if power > 0.0 {
        power
    } else if size > 0.0 {
        f64::MIN_POSITIVE
    } else {
        1.0
    }
}

/// A network with what follows from it.
#[derive(Debug, Clone, Default)]
pub(super) struct Point {
    /// uᵢ, row after row.
    pub(super) directions: Vec<f64>,
    /// cᵢ.
    pub(super) amplitudes: Vec<f64>,
    /// w; zero unless lifted.
    pub(super) linear: Vec<f64>,
    /// uᵢ·x for every sample, then for the next neuron.
    pub(super) inner: Vec<f64>,
    /// f(x) − y.
    pub(super) residual: Vec<f64>,
    /// Σ (f(x) − y)².
    pub(super) loss: f64,
}

/// Fills in uᵢ·x, the residuals and the loss.
pub(super) fn evaluate(problem: &Problem, rounding: f64, point: &mut Point) {
    arch().dispatch(Evaluate(problem, rounding, point));
}

struct Evaluate<'a>(&'a Problem, f64, &'a mut Point);

impl pulp::NullaryFnOnce for Evaluate<'_> {
    type Output = ();

    #[inline(always)]
    fn call(self) {
        let Evaluate(problem, rounding, point) = self;
        let kink = RoundedKink { slope: problem.slope, rounding };
        let (d, n) = (problem.dim, problem.len);
        for (r, y) in point.residual.iter_mut().zip(&problem.rewards) {
            *r = -y;
        }
        let neurons = point.directions.chunks_exact(d).zip(&point.amplitudes);
        for ((u, &c), inner) in neurons.zip(point.inner.chunks_exact_mut(n)) {
            columns_times(&problem.columns, u, inner);
            point.residual.iter_mut().zip(inner.iter()).for_each(|(r, z)| *r += c * kink.value(*z));
        }
        for (&w, column) in point.linear.iter().zip(problem.columns.chunks_exact(n)) {
            if w != 0.0 {
                axpy(w, column, &mut point.residual);
            }
        }
        point.loss = lane_dot(&point.residual, &point.residual);
    }
}

/// out ← Σⱼ uⱼ·column j.
#[inline(always)]
fn columns_times(columns: &[f64], u: &[f64], out: &mut [f64]) {
    out.fill(0.0);
    for (&m, column) in u.iter().zip(columns.chunks_exact(out.len())) {
        axpy(m, column, out);
    }
}

/// A ← A + m·xxᵀ.
#[inline(always)]
pub(super) fn add_outer(m: f64, x: &[f64], a: &mut [f64]) {
    for (&v, row) in x.iter().zip(a.chunks_exact_mut(x.len())) {
        axpy(m * v, x, row);
    }
}

/// a·b summed in eight lanes: an order that vectorises, and is the same whether it was vectorised or not.
#[inline(always)]
pub(super) fn lane_dot(a: &[f64], b: &[f64]) -> f64 {
    let mut lanes = [0.0; 8];
    let (a_chunks, b_chunks) = (a.chunks_exact(8), b.chunks_exact(8));
    let tail = dot(a_chunks.remainder(), b_chunks.remainder());
    for (x, y) in a_chunks.zip(b_chunks) {
        for l in 0..8 {
            lanes[l] += x[l] * y[l];
        }
    }
    let pairs = [lanes[0] + lanes[4], lanes[1] + lanes[5], lanes[2] + lanes[6], lanes[3] + lanes[7]];
    (pairs[0] + pairs[2]) + (pairs[1] + pairs[3]) + tail
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn data_of_any_size_are_brought_to_unit_size() {
        assert_eq!(power_of_two_near(0.0), 1.0);
        assert_eq!(power_of_two_near(3.0), 2.0);
        assert_eq!(power_of_two_near(0.3), 0.25);
        assert!(power_of_two_near(1e-310) > 0.0);
        for size in [1e100, 1.0, 1e-100, 1e-300] {
            let samples = [size, -size];
            let problem = |model| Problem::new(Samples::new(2, &samples, &[1.0]).unwrap(), model, 0.0);
            let unit = problem(Model::Unit);
            assert!(unit.rows.iter().chain(&unit.rewards).all(|x| x.is_finite() && x.abs() <= 4e100));
            let signed = problem(Model::Signed);
            assert!(signed.rows.iter().chain(&signed.rewards).all(|x| (0.5..8.0).contains(&x.abs())));
        }
    }
}
