//! A start that keeps most of the best network so far.
//!
//! Networks that many starts do not find often have a kink so far out that few samples lie beyond it, where a start
//! from scratch hardly ever puts one. So, where the first starts have not settled it, every other start from then on is
//! the best network with one neuron, any of them, drawn anew, its kink among the samples. Such a start tells nothing
//! about how easily the best is found again, and so does not count as one that agrees with it.

use super::levenberg_marquardt::Solver;
use super::problem::{Point, Problem};
use crate::linalg::{dot, normalise};
use crate::rng::{Stream, index, sign, uniform, unit_vector};

/// So many starts come first, from scratch: as many as a fit makes that is not asked for more.
const FROM_SCRATCH: usize = 16;

/// The rounding of kinks to begin with: less than for a start from scratch, so that what is in place stays there.
pub(super) const OPENING: f64 = 0.1;

/// If one start in so many agrees with the best, the best is not in doubt.
const COMMON: usize = 4;

/// Whether the start after `starts`, of which `agreed` reached the best loss, renews a neuron. Two of four, since of
/// the others every second one begins without rounding.
pub(super) fn is_due(starts: usize, agreed: usize) -> bool {
    starts >= FROM_SCRATCH && agreed * COMMON < starts && starts % 4 < 2
}

/// The best network with one neuron drawn anew. The last coordinate of every sample is the one that stands for 1.
pub(super) fn draw(problem: &Problem, best: &Point, solver: &mut Solver<'_>, stream: &mut Stream) {
    let dim = problem.dim();
    solver.at.clone_from(best);
    let neuron = index(stream, best.amplitudes.len());
    let row = &mut solver.at.directions[neuron * dim..(neuron + 1) * dim];
    if uniform(stream) < 0.5 {
        towards_what_is_left(problem, best, row, stream);
    } else {
        through_a_sample(problem, row, stream);
    }
    // Two samples at one place have no direction between them.
    if !normalise(row) {
        unit_vector(stream, row);
    }
    solver.at.amplitudes[neuron] = problem.slope() * sign(stream);
}

/// Any direction, with the kink through any sample: no number of samples beyond it is rare.
fn through_a_sample(problem: &Problem, row: &mut [f64], stream: &mut Stream) {
    unit_vector(stream, row);
    let x = sample(problem, index(stream, problem.len()));
    place(row, dot(&row[..row.len() - 1], &x[..x.len() - 1]), x);
}

/// Away from any sample, towards one that the best network misses, drawn in proportion to its squared residual; the
/// kink lies between the two.
fn towards_what_is_left(problem: &Problem, best: &Point, row: &mut [f64], stream: &mut Stream) {
    let mut left = uniform(stream) * best.loss;
    let missed = best.residual.iter().position(|r| {
        left -= r * r;
        left <= 0.0
    });
    let (to, from) = (sample(problem, missed.unwrap_or(0)), sample(problem, index(stream, problem.len())));
    let part = uniform(stream);
    row.iter_mut().zip(to).zip(from).for_each(|((u, a), b)| *u = a - b);
    let between = row.iter().zip(to).map(|(u, a)| u * (a - part * u)).sum();
    place(row, between, to);
}

/// Puts the kink where the inner product with the coordinates before the last is `at`.
fn place(row: &mut [f64], at: f64, x: &[f64]) {
    if let (Some(bias), Some(one)) = (row.last_mut(), x.last()) {
        *bias = -at / one;
    }
}

fn sample(problem: &Problem, at: usize) -> &[f64] {
    &problem.rows[at * problem.dim()..(at + 1) * problem.dim()]
}

#[cfg(test)]
mod tests {
    use super::super::{Model, Samples};
    use super::*;
    use crate::rng::{Key, normal};

    const DIM: usize = 4;
    const NEURONS: usize = 3;

    /// Normal samples whose last coordinate is 1, and a network that misses only one of them.
    fn setting() -> (Problem, Point) {
        let stream = &mut Key::new(3).stream();
        let rows: Vec<f64> = (0..20 * DIM).map(|i| if i % DIM == DIM - 1 { 1.0 } else { normal(stream) }).collect();
        let rewards: Vec<f64> = (0..20).map(|_| normal(stream)).collect();
        let problem = Problem::new(Samples::new(DIM, &rows, &rewards).unwrap(), Model::Signed, 0.0);
        let mut best = Solver::new(&problem, NEURONS).at;
        best.directions.chunks_exact_mut(DIM).for_each(|row| unit_vector(stream, row));
        best.residual[7] = 2.0;
        best.loss = 4.0;
        (problem, best)
    }

    #[test]
    fn one_neuron_is_drawn_anew_and_the_others_stay() {
        let (problem, best) = setting();
        let mut solver = Solver::new(&problem, NEURONS);
        for seed in 0..50 {
            draw(&problem, &best, &mut solver, &mut Key::new(seed).stream());
            let pairs = solver.at.directions.chunks_exact(DIM).zip(best.directions.chunks_exact(DIM));
            assert_eq!(pairs.filter(|(new, old)| new != old).count(), 1);
            assert!(solver.at.directions.chunks_exact(DIM).all(|row| (dot(row, row) - 1.0).abs() < 1e-12));
        }
    }

    #[test]
    fn kinks_lie_among_the_samples_and_what_is_missed_is_seen() {
        let (problem, best) = setting();
        for seed in 0..50 {
            let (mut row, stream) = (vec![0.0; DIM], &mut Key::new(seed).stream());
            through_a_sample(&problem, &mut row, stream);
            assert!((0..20).any(|s| dot(&row, sample(&problem, s)).abs() < 1e-12));
            towards_what_is_left(&problem, &best, &mut row, stream);
            assert!(dot(&row, sample(&problem, 7)) >= 0.0);
        }
    }

    #[test]
    fn every_other_start_after_the_first_ones_unless_many_agree() {
        let due = |agreed| (0..24).filter(|&starts| is_due(starts, agreed)).collect::<Vec<_>>();
        assert_eq!(due(3), [16, 17, 20, 21]);
        assert_eq!(due(5), [21]);
        assert!(due(6).is_empty());
    }
}
