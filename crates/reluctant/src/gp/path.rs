//! Functions drawn from the posterior, a whole function at a time.
//!
//! Pathwise conditioning (Wilson, Borovitskiy, Terenin, Mostowsky and Deisenroth 2020, Efficiently sampling functions
//! from Gaussian process posteriors): a function g is drawn from the prior, as a sum of random cosines (Rahimi and
//! Recht 2007), and corrected by what the data say, f̃(x) = g(x) + k(Z, x)·w. The correction is exact; only where there
//! is no data is f̃ as rough as the sum of cosines. A joint draw at n arms would cost O(n³).

use super::sparse::SparseGp;
use crate::kernels::{Blocks, LANES, Lane, arch, block_dot};
#[cfg(test)]
use crate::linalg::dot;
use crate::offer::Rows;
use crate::rng::{Stream, normal, uniform};

/// Cosines in the sum.
const COSINES: usize = 256;

/// A function drawn from the posterior of a process.
pub(crate) struct Path<'a> {
    gp: &'a SparseGp,
    /// The cosines' frequencies, phases and amplitudes; none if the basis expresses everything.
    frequencies: &'a [f64],
    phases: &'a [f64],
    amplitudes: &'a [f64],
    weights: &'a [f64],
}

impl<'a> Path<'a> {
    /// Draws a function whose distance from the posterior mean is `scale` times that of a draw from the
    /// posterior. `memory` holds it.
    pub(crate) fn draw(gp: &'a SparseGp, scale: f64, stream: &mut Stream, memory: &'a mut Vec<f64>) -> Self {
        let count = if gp.has_residual() { COSINES } else { 0 };
        memory.clear();
        memory.resize(2 * gp.len() + count * (gp.dim() + 2), 0.0);
        let (weights, rest) = memory.split_at_mut(gp.len());
        let (prior, rest) = rest.split_at_mut(gp.len());
        let (frequencies, rest) = rest.split_at_mut(count * gp.dim());
        let (phases, amplitudes) = rest.split_at_mut(count);
        weights.iter_mut().for_each(|z| *z = normal(stream));
        frequencies.chunks_exact_mut(gp.dim()).for_each(|row| gp.kernel().frequency(stream, row));
        phases.iter_mut().for_each(|phase| *phase = std::f64::consts::TAU * uniform(stream));
        let amplitude = (2.0 * gp.kernel().variance / COSINES as f64).sqrt();
        amplitudes.iter_mut().for_each(|a| *a = amplitude * normal(stream));
        Path { gp, frequencies, phases, amplitudes, weights }.prior_at_points(prior);
        gp.path_weights(weights, prior, scale);
        amplitudes.iter_mut().for_each(|a| *a *= scale);
        Path { gp, frequencies, phases, amplitudes, weights }
    }

    /// g(Z), into `out`.
    fn prior_at_points(&self, out: &mut [f64]) {
        struct Pass<'k>(&'k Path<'k>, &'k mut [f64]);
        impl pulp::NullaryFnOnce for Pass<'_> {
            type Output = ();
            #[inline(always)]
            fn call(self) {
                let Pass(path, mut out) = self;
                let mut blocks = Blocks::new(path.gp.points());
                while let Some((count, block)) = blocks.next() {
                    let (next, rest) = out.split_at_mut(count);
                    next.copy_from_slice(&path.prior_block(block)[..count]);
                    out = rest;
                }
            }
        }
        if self.gp.len() > 0 {
            arch().dispatch(Pass(self, out));
        }
    }

    /// g at every arm of a block.
    #[inline(always)]
    fn prior_block(&self, block: &[Lane]) -> Lane {
        let mut sum = [0.0; LANES];
        let rows = self.frequencies.chunks_exact(self.gp.dim());
        for ((frequency, &phase), &amplitude) in rows.zip(self.phases).zip(self.amplitudes) {
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
                    let mut value = path.gp.correlations(block, path.weights, work);
                    let prior = path.prior_block(block);
                    for lane in 0..LANES {
                        value[lane] += prior[lane];
                    }
                    out.extend_from_slice(&value[..count]);
                }
            }
        }
        arch().dispatch(Pass(self, rows, work, out));
    }

    /// The plain version of [`Path::values`] for one row.
    #[cfg(test)]
    pub(crate) fn value_reference(&self, x: &[f64]) -> f64 {
        let k: Vec<f64> = self.gp.points().iter().map(|z| self.gp.kernel().at(x, z)).collect();
        let waves = self.frequencies.chunks_exact(self.gp.dim()).zip(self.phases);
        let prior: f64 = waves.zip(self.amplitudes).map(|((w, phase), a)| a * libm::cos(dot(w, x) + phase)).sum();
        dot(&k, self.weights) + prior
    }
}
