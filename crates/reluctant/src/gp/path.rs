//! Functions drawn from the posterior, a whole function at a time.
//!
//! Pathwise conditioning (Wilson, Borovitskiy, Terenin, Mostowsky and Deisenroth 2020, Efficiently sampling functions from Gaussian process
//! posteriors): a function g is drawn from the prior, as a sum of random cosines (Rahimi and Recht 2007), and corrected by what the data
//! say, f̃(x) = g(x) + k(Z, x)·w. The correction is exact; only where there is no data is f̃ as rough as the sum of cosines. A joint draw
//! at n arms would cost O(n³).

use super::sparse::SparseGp;
use crate::arms::Rows;
use crate::kernels::{Blocks, LANES, Lane, block_dot};
#[cfg(test)]
use crate::linalg::dot;
use crate::rng::{Stream, normal, uniform};

/// Cosines in the sum.
const COSINES: usize = 256;

/// A function drawn from the posterior of a process.
pub(crate) struct Path<'a> {
    gp: &'a SparseGp,
    /// The cosines' frequencies, phases and common amplitude; none if the basis expresses everything.
    frequencies: Vec<f64>,
    phases: Vec<f64>,
    amplitudes: Vec<f64>,
    weights: Vec<f64>,
}

impl<'a> Path<'a> {
    /// Draws a function whose distance from the posterior mean is `scale` times that of a draw from the posterior.
    pub(crate) fn draw(gp: &'a SparseGp, scale: f64, stream: &mut Stream) -> Self {
        let z: Vec<f64> = (0..gp.len()).map(|_| normal(stream)).collect();
        let count = if gp.has_residual() { COSINES } else { 0 };
        let mut frequencies = vec![0.0; count * gp.dim()];
        frequencies.chunks_exact_mut(gp.dim()).for_each(|row| gp.kernel().frequency(stream, row));
        let phases: Vec<f64> = (0..count).map(|_| std::f64::consts::TAU * uniform(stream)).collect();
        let amplitude = (2.0 * gp.kernel().variance / COSINES as f64).sqrt();
        let amplitudes: Vec<f64> = (0..count).map(|_| amplitude * normal(stream)).collect();
        let mut path = Path { gp, frequencies, phases, amplitudes, weights: Vec::new() };
        let prior = path.prior_at_points();
        path.weights = gp.path_weights(z, prior, scale);
        path.amplitudes.iter_mut().for_each(|a| *a *= scale);
        path
    }

    /// g(Z).
    fn prior_at_points(&self) -> Vec<f64> {
        struct Pass<'k>(&'k Path<'k>);
        impl pulp::NullaryFnOnce for Pass<'_> {
            type Output = Vec<f64>;
            #[inline(always)]
            fn call(self) -> Vec<f64> {
                let gp = self.0.gp;
                let mut out = Vec::with_capacity(gp.len());
                let mut blocks = Blocks::new(gp.points());
                while let Some((count, block)) = blocks.next() {
                    out.extend_from_slice(&self.0.prior_block(block)[..count]);
                }
                out
            }
        }
        if self.gp.len() == 0 { Vec::new() } else { pulp::Arch::new().dispatch(Pass(self)) }
    }

    /// g at every arm of a block.
    #[inline(always)]
    fn prior_block(&self, block: &[Lane]) -> Lane {
        let mut sum = [0.0; LANES];
        let rows = self.frequencies.chunks_exact(self.gp.dim());
        for ((frequency, &phase), &amplitude) in rows.zip(&self.phases).zip(&self.amplitudes) {
            let mut angle = block_dot(frequency, block);
            angle.iter_mut().for_each(|a| *a += phase);
            let wave = super::lanes::cos(angle);
            for lane in 0..LANES {
                sum[lane] += amplitude * wave[lane];
            }
        }
        sum
    }

    /// f̃ at every row, appended to `out`. `work` is memory to work in.
    pub(crate) fn values(&self, rows: Rows<'_>, work: &mut Vec<Lane>, out: &mut Vec<f64>) {
        struct Pass<'k>(&'k Path<'k>, Rows<'k>, &'k mut Vec<Lane>, &'k mut Vec<f64>);
        impl pulp::NullaryFnOnce for Pass<'_> {
            type Output = ();
            #[inline(always)]
            fn call(self) {
                let Pass(path, rows, work, out) = self;
                let mut blocks = Blocks::new(rows);
                while let Some((count, block)) = blocks.next() {
                    let mut value = path.gp.correlations(block, &path.weights, work);
                    let prior = path.prior_block(block);
                    for lane in 0..LANES {
                        value[lane] += prior[lane];
                    }
                    out.extend_from_slice(&value[..count]);
                }
            }
        }
        pulp::Arch::new().dispatch(Pass(self, rows, work, out));
    }

    /// The plain version of [`Path::values`] for one row.
    #[cfg(test)]
    pub(crate) fn value_reference(&self, x: &[f64]) -> f64 {
        let k: Vec<f64> = self.gp.points().iter().map(|z| self.gp.kernel().at(x, z)).collect();
        let waves = self.frequencies.chunks_exact(self.gp.dim()).zip(&self.phases);
        let prior: f64 = waves.zip(&self.amplitudes).map(|((w, phase), a)| a * libm::cos(dot(w, x) + phase)).sum();
        dot(&k, &self.weights) + prior
    }
}
