//! Functions drawn from the posterior, a whole function at a time.
//!
//! Pathwise conditioning (Wilson, Borovitskiy, Terenin, Mostowsky and Deisenroth 2020, Efficiently sampling functions
//! from Gaussian process posteriors): a function g is drawn from the prior and corrected by what the data say,
//! f̃(x) = g(x) + k(Z, x)·w. The correction is exact; only where there is no data is f̃ as rough as the drawn g. A joint
//! draw at n arms would cost O(n³).

use super::prior::Prior;
use super::sparse::SparseGp;
use crate::kernels::{Blocks, LANES, Lane, arch};
#[cfg(test)]
use crate::linalg::dot;
use crate::offer::Rows;
use crate::rng::{Stream, normal};

/// A function drawn from the posterior of a process.
pub(crate) struct Path<'a> {
    gp: &'a SparseGp,
    prior: Prior<'a>,
    weights: &'a [f64],
}

impl<'a> Path<'a> {
    /// Draws a function whose distance from the posterior mean is `scale` times that of a draw from the posterior.
    /// `memory` holds it, `work` is memory to work in.
    pub(crate) fn draw(
        gp: &'a SparseGp,
        scale: f64,
        stream: &mut Stream,
        memory: &'a mut Vec<f64>,
        work: &mut Vec<Lane>,
    ) -> Self {
        // Once the basis is full it expresses everything.
        let size = if gp.has_residual() { Prior::size(gp.kernel(), gp.dim()) } else { 0 };
        memory.clear();
        memory.resize(2 * gp.len() + size, 0.0);
        let (weights, rest) = memory.split_at_mut(gp.len());
        let (at_points, numbers) = rest.split_at_mut(gp.len());
        weights.iter_mut().for_each(|z| *z = normal(stream));
        let mut prior = Prior::draw(gp.kernel(), gp.dim(), stream, numbers);
        prior_at_points(gp, &prior, at_points, work);
        gp.path_weights(weights, at_points, scale);
        prior.scale(scale);
        Path { gp, prior, weights }
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
                    let prior = path.prior.block(block, work);
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
        dot(&k, self.weights) + self.prior.value_reference(x)
    }
}

/// g(Z), into `out`.
fn prior_at_points(gp: &SparseGp, prior: &Prior<'_>, out: &mut [f64], work: &mut Vec<Lane>) {
    struct Pass<'k>(&'k SparseGp, &'k Prior<'k>, &'k mut [f64], &'k mut Vec<Lane>);
    impl pulp::NullaryFnOnce for Pass<'_> {
        type Output = ();
        #[inline(always)]
        fn call(self) {
            let Pass(gp, prior, mut out, work) = self;
            let mut blocks = Blocks::new(gp.points());
            while let Some((count, block)) = blocks.next() {
                let (next, rest) = out.split_at_mut(count);
                next.copy_from_slice(&prior.block(block, work)[..count]);
                out = rest;
            }
        }
    }
    if gp.len() > 0 {
        arch().dispatch(Pass(gp, prior, out, work));
    }
}
