//! How the values of a network change with its unknowns ([`super::refit`] says which these are), and what that tells.

use super::form::Shape;
use super::history::Block;
use crate::kernels::{LANES, Lane, block_dot};
use crate::linalg::Cholesky;

/// Buffers, kept from refit to refit.
#[derive(Debug, Clone, Default)]
pub(super) struct Work {
    pub(super) reflectors: Vec<f64>,
    pub(super) jacobian: Vec<Lane>,
    /// JᵀJ or JJᵀ, its upper triangle, and of what size it is.
    pub(super) normal: Vec<f64>,
    pub(super) size: usize,
    pub(super) factor: Vec<f64>,
    /// Jᵀr or r.
    pub(super) gradient: Vec<f64>,
    pub(super) step: Vec<f64>,
    pub(super) trial: Vec<f64>,
}

/// v = θ ± e₁ of every neuron.
pub(super) fn reflect(theta: &[f64], dim: usize, reflectors: &mut Vec<f64>) {
    reflectors.clear();
    reflectors.extend_from_slice(theta);
    for v in reflectors.chunks_exact_mut(dim) {
        v[0] += 1.0f64.copysign(v[0]);
    }
}

/// Row a of the transposed Jacobian at block `at` of so many is `jacobian[a·blocks + at]`; the residuals are its last
/// row.
#[inline(always)]
#[allow(clippy::too_many_arguments)]
pub(super) fn differentiate(
    theta: &[f64],
    signs: &[f64],
    shape: Shape,
    block: Block<'_>,
    sigma: f64,
    reflectors: &[f64],
    jacobian: &mut [Lane],
    (at, blocks): (usize, usize),
) {
    let d = block.actions.len();
    let freedom = shape.freedom(d);
    let mut residual = [0.0; LANES];
    for lane in 0..LANES {
        residual[lane] = -block.rewards[lane] - sigma * block.jitter[lane];
    }
    for (i, (neuron, &sign)) in theta.chunks_exact(d).zip(signs).enumerate() {
        let input = block_dot(neuron, block.actions);
        let mut active = [0.0; LANES];
        for lane in 0..LANES {
            active[lane] = if input[lane] > 0.0 { sign } else { 0.0 };
            residual[lane] += active[lane] * input[lane];
        }
        let reflector = &reflectors[i * d..(i + 1) * d];
        let mut along = [0.0; LANES];
        if shape == Shape::Unit {
            along = block_dot(reflector, block.actions);
            let beta = 1.0 / (1.0 + neuron[0].abs());
            along.iter_mut().for_each(|a| *a *= beta);
        }
        for a in 0..freedom {
            let j = a + d - freedom;
            let row = &mut jacobian[(i * freedom + a) * blocks + at];
            for lane in 0..LANES {
                row[lane] = active[lane] * (block.actions[j][lane] - along[lane] * reflector[j]);
            }
        }
    }
    jacobian[signs.len() * freedom * blocks + at] = residual;
}

/// log det(I + JᵀJ/σ²) = log det(I + JJᵀ/σ²) at the last place that was linearised.
pub(super) fn learned(sigma: f64, work: &mut Work) -> Option<f64> {
    let size = work.size;
    work.factor.clear();
    work.factor.extend(work.normal.iter().map(|x| x / (sigma * sigma)));
    (0..size).for_each(|a| work.factor[a * size + a] += 1.0);
    let log_det = Cholesky::new(&mut work.factor, size)?.log_det();
    log_det.is_finite().then_some(log_det)
}
