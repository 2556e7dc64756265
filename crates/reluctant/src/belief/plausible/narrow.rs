//! The Levenberg–Marquardt step from JᵀJ, a matrix of the size of the network. [`super::wide`] takes the same step from
//! the side of the observations.

use pulp::NullaryFnOnce;

use super::form::Shape;
use super::history::History;
use super::jacobian::{Work, differentiate, reflect};
use super::lanes::lane_dot;
use crate::kernels::{LANES, arch};
use crate::linalg::Cholesky;

/// Blocks whose Jacobian is held at once: it should stay in the nearest cache.
const CHUNK: usize = 8;

/// JᵀJ (its upper triangle), Jᵀr and the perturbed loss at `theta`, into `work`.
pub(super) fn linearise(
    theta: &[f64],
    signs: &[f64],
    m: usize,
    shape: Shape,
    history: &History,
    sigma: f64,
    work: &mut Work,
) -> f64 {
    let unknowns = signs.len() * shape.freedom(history.dim());
    reflect(theta, history.dim(), &mut work.reflectors);
    work.jacobian.resize((unknowns + 1) * CHUNK, [0.0; LANES]);
    work.normal.clear();
    work.normal.resize(unknowns * unknowns, 0.0);
    work.size = unknowns;
    work.gradient.clear();
    work.gradient.resize(unknowns, 0.0);
    struct Kernel<'a>(&'a [f64], &'a [f64], usize, Shape, &'a History, f64, &'a mut Work);
    impl NullaryFnOnce for Kernel<'_> {
        type Output = f64;
        #[inline(always)]
        fn call(self) -> f64 {
            let Kernel(theta, signs, m, shape, history, sigma, work) = self;
            let mut loss = 0.0;
            let mut held = 0;
            for block in history.blocks(m) {
                differentiate(theta, signs, shape, block, sigma, &work.reflectors, &mut work.jacobian, (held, CHUNK));
                held += 1;
                if held == CHUNK {
                    loss += accumulate(held, work);
                    held = 0;
                }
            }
            loss + accumulate(held, work)
        }
    }
    arch().dispatch(Kernel(theta, signs, m, shape, history, sigma, work))
}

/// Adds the blocks held to JᵀJ and Jᵀr; their part of the loss.
#[inline(always)]
fn accumulate(held: usize, work: &mut Work) -> f64 {
    let unknowns = work.gradient.len();
    let row = |a: usize| &work.jacobian[a * CHUNK..a * CHUNK + held];
    let residual = row(unknowns);
    for a in 0..unknowns {
        let left = row(a);
        work.gradient[a] += lane_dot(left, residual);
        for b in a..unknowns {
            work.normal[a * unknowns + b] += lane_dot(left, row(b));
        }
    }
    lane_dot(residual, residual)
}

/// The damped Gauss–Newton step, into `work.step`; nothing if the matrix is not positive definite.
pub(super) fn solve(damping: f64, work: &mut Work) -> Option<()> {
    let unknowns = work.size;
    work.factor.clear();
    work.factor.extend_from_slice(&work.normal);
    let top = (0..unknowns).fold(f64::MIN_POSITIVE, |m, a| m.max(work.normal[a * unknowns + a]));
    (0..unknowns).for_each(|a| work.factor[a * unknowns + a] += damping * top);
    let factor = Cholesky::new(&mut work.factor, unknowns)?;
    work.step.clear();
    work.step.extend(work.gradient.iter().map(|g| -g));
    factor.solve(&mut work.step);
    work.step.iter().all(|h| h.is_finite()).then_some(())
}
