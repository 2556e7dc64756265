//! The same Levenberg–Marquardt step where there are far fewer observations than unknowns, as in the
//! first rounds in many dimensions.
//!
//! (JᵀJ + μI)⁻¹Jᵀr = Jᵀ(JJᵀ + μI)⁻¹r and det(I + JᵀJ/σ²) = det(I + JJᵀ/σ²): so a matrix of the size of the history
//! serves instead of one of the size of the network.

use super::form::Shape;
use super::history::History;
use super::jacobian::{Work, differentiate, reflect};
use super::lanes::lane_dot;
use crate::kernels::LANES;
use crate::linalg::{Cholesky, axpy, dot};

/// A matrix of fewer unknowns is small enough.
const NARROW: usize = 160;

/// Whether it pays: JJᵀ has at most half the size of JᵀJ.
pub(super) fn pays(unknowns: usize, observations: usize) -> bool {
    unknowns > NARROW && (1..=unknowns / 2).contains(&observations)
}

/// JJᵀ (its upper triangle), r and the perturbed loss at `theta`, into `work`.
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
    let blocks = history.blocks(m).count();
    reflect(theta, history.dim(), &mut work.reflectors);
    work.jacobian.resize((unknowns + 1) * blocks, [0.0; LANES]);
    for (at, block) in history.blocks(m).enumerate() {
        differentiate(theta, signs, shape, block, sigma, &work.reflectors, &mut work.jacobian, (at, blocks));
    }
    let size = history.len();
    work.size = size;
    work.normal.clear();
    work.normal.resize(size * size, 0.0);
    let residuals = &work.jacobian[unknowns * blocks..(unknowns + 1) * blocks];
    for row in work.jacobian[..unknowns * blocks].chunks_exact(blocks) {
        let row = &row.as_flattened()[..size];
        for (i, slope) in row.iter().enumerate().filter(|(_, slope)| **slope != 0.0) {
            axpy(*slope, &row[i..], &mut work.normal[i * size + i..(i + 1) * size]);
        }
    }
    work.gradient.clear();
    work.gradient.extend_from_slice(&residuals.as_flattened()[..size]);
    lane_dot(residuals, residuals)
}

/// The damped Gauss–Newton step, into `work.step`; nothing if the matrix is not positive definite.
pub(super) fn solve(damping: f64, work: &mut Work) -> Option<()> {
    let Work { jacobian, normal, size, factor, gradient, step, trial: pulls, .. } = work;
    let (size, blocks) = (*size, size.div_ceil(LANES));
    let rows = || jacobian.chunks_exact(blocks).take(jacobian.len() / blocks - 1);
    let top = rows().fold(f64::MIN_POSITIVE, |most, row| most.max(lane_dot(row, row)));
    factor.clone_from(normal);
    (0..size).for_each(|i| factor[i * size + i] += damping * top);
    pulls.clone_from(gradient);
    Cholesky::new(factor, size)?.solve(pulls);
    step.clear();
    step.extend(rows().map(|row| -dot(&row.as_flattened()[..size], pulls)));
    step.iter().all(|h| h.is_finite()).then_some(())
}

#[cfg(test)]
mod tests {
    use super::super::jacobian::learned;
    use super::super::narrow;
    use super::*;
    use crate::relu::ReluNet;
    use crate::rng::{Key, normal, unit_vector};

    #[test]
    fn steps_and_evidence_are_those_of_the_other_side() {
        let mut stream = Key::new(3).stream();
        for (dim, neurons, observations, shape) in [(30, 7, 40, Shape::Unit), (25, 9, 1, Shape::Signed)] {
            let mut history = History::new(dim, 4, 1000, Key::new(4));
            let mut x = vec![0.0; dim];
            for _ in 0..observations {
                unit_vector(&mut stream, &mut x);
                history.push(&x, normal(&mut stream));
            }
            let network = ReluNet::random(dim, neurons, &mut stream);
            let (theta, signs, sigma) = (network.theta(), network.signs(), 0.3);
            assert!(pays(neurons * shape.freedom(dim), history.len()));
            let (mut ours, mut theirs) = (Work::default(), Work::default());
            let loss = linearise(theta, signs, 2, shape, &history, sigma, &mut ours);
            let expected = narrow::linearise(theta, signs, 2, shape, &history, sigma, &mut theirs);
            assert!((loss - expected).abs() < 1e-12 * expected);
            for damping in [1e-3, 1.0] {
                solve(damping, &mut ours).unwrap();
                narrow::solve(damping, &mut theirs).unwrap();
                assert_eq!(ours.step.len(), theirs.step.len());
                for (a, b) in ours.step.iter().zip(&theirs.step) {
                    assert!((a - b).abs() < 1e-9, "{a} is not {b}");
                }
            }
            let [a, b] = [ours, theirs].map(|mut work| learned(sigma, &mut work).unwrap());
            assert!((a - b).abs() < 1e-9 * b, "{a} is not {b}");
        }
    }
}
