//! Levenberg–Marquardt on a product of spheres.
//!
//! The point is Θ with rows cᵢuᵢ, ‖uᵢ‖ = 1 (cᵢ = 1 in the paper's model), and for some stages a free linear term w:
//!
//! f(x) = Σᵢ cᵢ·max(0, uᵢ·x) + w·x,
//!
//! or leaky units in the place of max.
//!
//! A step lives in tangent coordinates: the Householder reflection Hᵢ with Hᵢuᵢ = ±e₁ carries the tangent space at uᵢ
//! to the last d−1 coordinates, so a unit neuron has d−1 unknowns and no constraint. The step is taken in the tangent
//! space and pulled back to the sphere by normalising.
//!
//! **Kinks are rounded first, then sharpened.** With noise, a minimum of the loss generically lies on kinks uᵢ·x = 0 of
//! some samples, where no step that ignores the kink makes progress. So the ReLU is replaced by
//!
//! φ(z) = max(0, z) + max(0, ε − |z|)²/4ε,
//!
//! which is smooth, and ε is lowered in stages. Of the second-order terms that Gauss–Newton leaves out the one that
//! matters here, r·cᵢ·φ″ = r·cᵢ/2ε within |z| < ε, is kept where it is positive; it is what holds a sample at its kink.
//! Rounding also removes most poor local minima.

mod linearise;

use super::Model;
use super::problem::{Point, Problem, evaluate};
use crate::linalg::{Cholesky, axpy, dot, normalise};
use crate::relu::Pattern;

/// The damping begins at this times the greatest diagonal entry of the normal matrix.
const FIRST_DAMPING: f64 = 1e-3;
/// It never falls below this times that entry: from less, a few refused steps could not bring it back.
const LEAST_DAMPING: f64 = 1e-9;

/// What is free.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Freedom {
    /// The amplitudes cᵢ, not only the directions.
    pub(super) amplitudes: bool,
    /// The linear term w.
    pub(super) linear: bool,
}

impl Freedom {
    /// What a model leaves free.
    pub(super) fn of(model: Model) -> Self {
        Freedom { amplitudes: model == Model::Signed, linear: false }
    }
}

/// One descent.
#[derive(Debug, Clone, Copy)]
pub(super) struct Stage {
    /// ε in units of the typical size of u·x; 0 for the true loss.
    pub(super) rounding: f64,
    /// A step that lowers the loss by less than this, relative to it, does not count as progress.
    pub(super) tolerance: f64,
    /// Stop after this many steps in a row without progress.
    pub(super) patience: usize,
    /// The most steps, taken or not.
    pub(super) iterations: usize,
}

/// The solver and its buffers, reused from iteration to iteration and from start to start.
#[derive(Debug)]
pub(super) struct Solver<'p> {
    problem: &'p Problem,
    neurons: usize,
    /// Where the solver stands.
    pub(super) at: Point,
    trial: Point,
    /// The activation patterns that `pairs` holds.
    patterns: Vec<Pattern>,
    fresh: Vec<Pattern>,
    /// Sᵢⱼ for i ≤ j, d × d each.
    pairs: Vec<f64>,
    /// Householder vectors vᵢ = uᵢ ± e₁, with Hᵢ = I − βᵢvᵢvᵢᵀ.
    reflectors: Vec<f64>,
    betas: Vec<f64>,
    gradient: Vec<f64>,
    normal: Vec<f64>,
    factor: Vec<f64>,
    step: Vec<f64>,
    masked: Vec<f64>,
    left: Vec<f64>,
    right: Vec<f64>,
    /// Sᵢᵢ with the curvature of rounded kinks.
    bend: Vec<f64>,
    /// What [`Solver::leak`] adds up.
    leaked: Vec<f64>,
    /// ε, the width over which a kink is rounded; 0 for the true loss.
    rounding: f64,
}

impl<'p> Solver<'p> {
    pub(super) fn new(problem: &'p Problem, neurons: usize) -> Self {
        let (d, n, k) = (problem.dim, problem.len, neurons);
        let point = Point {
            directions: vec![0.0; k * d],
            amplitudes: vec![1.0; k],
            linear: vec![0.0; d],
            inner: vec![0.0; k * n],
            residual: vec![0.0; n],
            loss: f64::INFINITY,
        };
        Solver {
            problem,
            neurons,
            trial: point.clone(),
            at: point,
            patterns: vec![0; n],
            fresh: vec![0; n],
            pairs: vec![0.0; k * (k + 1) / 2 * d * d],
            reflectors: vec![0.0; k * d],
            betas: vec![0.0; k],
            gradient: Vec::new(),
            normal: Vec::new(),
            factor: Vec::new(),
            step: Vec::new(),
            masked: vec![0.0; n],
            left: vec![0.0; d],
            right: vec![0.0; d],
            bend: vec![0.0; d * d],
            leaked: vec![0.0; d * d],
            rounding: 0.0,
        }
    }

    /// Forgets the sums over samples, so that a start does not depend on the rounding errors of the one before.
    pub(super) fn forget(&mut self) {
        self.patterns.fill(0);
        self.pairs.fill(0.0);
    }

    /// The loss, kinks rounded over `rounding` (in units of the typical size of u·x), at `self.at`'s directions,
    /// amplitudes and linear term. To be called after any of these was changed from outside.
    pub(super) fn evaluate(&mut self, rounding: f64) -> f64 {
        self.rounding = rounding * self.problem.size;
        evaluate(self.problem, self.rounding, &mut self.at);
        self.at.loss
    }

    /// Descends on the loss, kinks rounded as `stage` says, until it is zero to rounding, it falls too slowly, or the
    /// stage's iterations are used up; returns how many were.
    ///
    /// The damping follows Nielsen (1999): with the gain ratio ρ of the true to the predicted decrease, a step with ρ >
    /// 0 is taken and μ ← μ·max(⅓, 1 − (2ρ−1)³); otherwise μ ← μν, ν ← 2ν.
    pub(super) fn descend(&mut self, free: Freedom, stage: Stage) -> usize {
        self.evaluate(stage.rounding);
        let size = self.unknowns(free);
        let (mut damping, mut growth, mut idle) = (0.0f64, 2.0, 0);
        let mut moved = true;
        for iteration in 0..stage.iterations {
            if self.problem.is_zero(self.at.loss) || idle >= stage.patience {
                return iteration;
            }
            if moved {
                self.linearise(free);
                moved = false;
                let top = (0..size).fold(0.0f64, |m, i| m.max(self.normal[i * size + i]));
                damping = if iteration == 0 { FIRST_DAMPING * top } else { damping.max(LEAST_DAMPING * top) };
                // Nothing that is free moves the loss.
                if !(damping > 0.0 && self.gradient.iter().any(|&g| g != 0.0)) {
                    return iteration;
                }
            }
            idle += 1;
            if let Some(promised) = self.solve(size, damping) {
                self.retract(free);
                evaluate(self.problem, self.rounding, &mut self.trial);
                let gained = self.at.loss - self.trial.loss;
                if gained > 0.0 && promised > 0.0 {
                    let ratio = 2.0 * (gained / promised).min(1.0) - 1.0;
                    damping *= (1.0 - ratio * ratio * ratio).max(1.0 / 3.0);
                    growth = 2.0;
                    if gained > stage.tolerance * self.at.loss {
                        idle = 0;
                    }
                    std::mem::swap(&mut self.at, &mut self.trial);
                    moved = true;
                    continue;
                }
            }
            damping *= growth;
            growth *= 2.0;
        }
        stage.iterations
    }

    fn unknowns(&self, free: Freedom) -> usize {
        let d = self.problem.dim;
        let block = if free.amplitudes { d } else { d - 1 };
        self.neurons * block + if free.linear { d } else { 0 }
    }

    /// Solves (JᵀJ + μI)h = −g; the decrease hᵀ(μh − g) that the linear model promises, or nothing if the matrix is not
    /// positive definite to rounding or the step overflows.
    fn solve(&mut self, size: usize, damping: f64) -> Option<f64> {
        self.factor.resize(size * size, 0.0);
        self.factor.copy_from_slice(&self.normal);
        for i in 0..size {
            self.factor[i * size + i] += damping;
        }
        let factor = Cholesky::new(&mut self.factor, size)?;
        self.step.clear();
        self.step.extend(self.gradient.iter().map(|g| -g));
        factor.solve(&mut self.step);
        let promised: f64 = self.step.iter().zip(&self.gradient).map(|(h, g)| h * (damping * h - g)).sum();
        promised.is_finite().then_some(promised)
    }

    /// The trial point: the step taken in the tangent spaces, then back to the spheres.
    fn retract(&mut self, free: Freedom) {
        let d = self.problem.dim;
        let block = if free.amplitudes { d } else { d - 1 };
        let skip = d - block;
        for i in 0..self.neurons {
            let v = &self.reflectors[i * d..(i + 1) * d];
            let step = &self.step[i * block..(i + 1) * block];
            let tangent = &mut self.left;
            tangent[0] = 0.0;
            tangent[1..].copy_from_slice(&step[1 - skip..]);
            let along = self.betas[i] * dot(v, tangent);
            axpy(-along, v, tangent);
            let source = &self.at.directions[i * d..(i + 1) * d];
            let target = &mut self.trial.directions[i * d..(i + 1) * d];
            for ((t, u), h) in target.iter_mut().zip(source).zip(tangent.iter()) {
                *t = u + h;
            }
            // u + h is at least as long as u, so this fails only if h overflowed; then the old direction stays.
            if !normalise(target) {
                target.copy_from_slice(source);
            }
            self.trial.amplitudes[i] = self.at.amplitudes[i] + if free.amplitudes { step[0] } else { 0.0 };
        }
        self.trial.linear.copy_from_slice(&self.at.linear);
        if free.linear {
            axpy(1.0, &self.step[self.neurons * block..], &mut self.trial.linear);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Model, Samples};
    use super::*;
    use crate::rng::{Key, normal, unit_vector};

    pub(super) const DIM: usize = 4;
    pub(super) const NEURONS: usize = 3;
    pub(super) const LEN: usize = 30;

    pub(super) fn problem() -> Problem {
        let mut stream = Key::new(5).stream();
        let mut x = vec![0.0; DIM * LEN];
        x.chunks_exact_mut(DIM).for_each(|row| unit_vector(&mut stream, row));
        let y: Vec<f64> = (0..LEN).map(|_| normal(&mut stream)).collect();
        Problem::new(Samples::new(DIM, &x, &y).unwrap(), Model::Unit, 0.0)
    }

    pub(super) fn random_start(solver: &mut Solver<'_>, seed: u64, free: Freedom) {
        let mut stream = Key::new(seed).stream();
        solver.at.directions.chunks_exact_mut(DIM).for_each(|row| unit_vector(&mut stream, row));
        if free.amplitudes {
            solver.at.amplitudes.iter_mut().for_each(|c| *c = normal(&mut stream));
        }
        if free.linear {
            solver.at.linear.iter_mut().for_each(|w| *w = normal(&mut stream));
        }
    }

    pub(super) fn every_freedom() -> impl Iterator<Item = Freedom> {
        [(false, false), (false, true), (true, false), (true, true)]
            .into_iter()
            .map(|(amplitudes, linear)| Freedom { amplitudes, linear })
    }

    #[test]
    fn descent_never_climbs_and_ends_where_the_gradient_vanishes() {
        let problem = problem();
        let mut solver = Solver::new(&problem, NEURONS);
        for (seed, free) in (0..5).flat_map(|seed| every_freedom().map(move |free| (seed, free))) {
            random_start(&mut solver, seed, free);
            solver.forget();
            let before = solver.evaluate(0.3);
            solver.descend(free, Stage { rounding: 0.3, tolerance: 1e-15, patience: 20, iterations: 2000 });
            assert!(solver.at.loss <= before);
            solver.linearise(free);
            let steepest = solver.gradient.iter().fold(0.0f64, |m, g| m.max(g.abs()));
            // With free amplitudes the rewards, which are pure noise here, may be fitted best at infinity.
            assert!(free.amplitudes || steepest < 1e-4, "{free:?} {seed}: {steepest:e}");
        }
    }
}
