//! Levenberg–Marquardt on a product of spheres.
//!
//! The point is Θ with rows cᵢuᵢ, ‖uᵢ‖ = 1 (cᵢ = 1 in the paper's model), and for some stages a free linear term w:
//!
//! f(x) = Σᵢ cᵢ·max(0, uᵢ·x) + w·x.
//!
//! A step lives in tangent coordinates: the Householder reflection Hᵢ with Hᵢuᵢ = ±e₁ carries the tangent space at uᵢ to the
//! last d−1 coordinates, so a unit neuron has d−1 unknowns and no constraint. The step is taken in the tangent space and
//! pulled back to the sphere by normalising.
//!
//! **The normal matrix is nearly free.** Its block for neurons i, j is cᵢcⱼ·Hᵢ·Sᵢⱼ·Hⱼ with Sᵢⱼ = Σ xxᵀ over the samples where
//! both are active. Sᵢⱼ changes only where a sample changes its activation pattern, so each iteration adds and removes those
//! few samples instead of summing over all: an iteration costs a pass over the data for the value and the gradient, and a
//! Cholesky factorisation.
//!
//! **Kinks are rounded first, then sharpened.** With noise, a minimum of the loss generically lies on kinks uᵢ·x = 0 of some
//! samples, where no step that ignores the kink makes progress. So the ReLU is replaced by
//!
//! φ(z) = max(0, z) + max(0, ε − |z|)²/4ε,
//!
//! which is smooth, and ε is lowered in stages. Of the second-order terms that Gauss–Newton leaves out the one that matters
//! here, r·cᵢ·φ″ = r·cᵢ/2ε within |z| < ε, is kept where it is positive; it is what holds a sample at its kink.
//! Rounding also removes most poor local minima.

use super::Model;
use super::problem::{Point, Problem, add_outer, evaluate, lane_dot, rounded};
use crate::linalg::{Cholesky, axpy, dot, normalise};
use crate::relu::{Pattern, is_active};

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
            rounding: 0.0,
        }
    }

    /// Forgets the sums over samples, so that a start does not depend on the rounding errors of the one before.
    pub(super) fn forget(&mut self) {
        self.patterns.fill(0);
        self.pairs.fill(0.0);
    }

    /// The loss, kinks rounded over `rounding` (in units of the typical size of u·x), at `self.at`'s directions, amplitudes
    /// and linear term. To be called after any of these was changed from outside.
    pub(super) fn evaluate(&mut self, rounding: f64) -> f64 {
        self.rounding = rounding * self.problem.size;
        evaluate(self.problem, self.rounding, &mut self.at);
        self.at.loss
    }

    /// Descends on the loss, kinks rounded as `stage` says, until it is zero to rounding, it falls too slowly, or the stage's
    /// iterations are used up; returns how many were.
    ///
    /// The damping follows Nielsen (1999): with the gain ratio ρ of the true to the predicted decrease, a step with ρ > 0 is
    /// taken and μ ← μ·max(⅓, 1 − (2ρ−1)³); otherwise μ ← μν, ν ← 2ν.
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

    /// g = Jᵀr and JᵀJ at the current point.
    fn linearise(&mut self, free: Freedom) {
        let size = self.unknowns(free);
        self.gradient.resize(size, 0.0);
        self.normal.resize(size * size, 0.0);
        struct Linearise<'k, 'p>(&'k mut Solver<'p>, Freedom, usize);
        impl pulp::NullaryFnOnce for Linearise<'_, '_> {
            type Output = ();
            #[inline(always)]
            fn call(self) {
                let Linearise(solver, free, size) = self;
                solver.update_patterns();
                solver.reflect();
                solver.fill_gradient(free);
                solver.fill_normal(free, size);
            }
        }
        pulp::Arch::new().dispatch(Linearise(self, free, size));
    }

    /// Brings Sᵢⱼ up to date: only samples whose pattern changed are touched.
    #[inline(always)]
    fn update_patterns(&mut self) {
        let (d, n, k) = (self.problem.dim, self.problem.len, self.neurons);
        self.fresh.fill(0);
        for (i, inner) in self.at.inner.chunks_exact(n).enumerate() {
            for (pattern, z) in self.fresh.iter_mut().zip(inner) {
                *pattern |= Pattern::from(*z >= 0.0) << i;
            }
        }
        for ((x, old), &new) in self.problem.rows.chunks_exact(d).zip(&mut self.patterns).zip(&self.fresh) {
            if *old == new {
                continue;
            }
            let changed = *old ^ new;
            let mut at = 0;
            for i in 0..k {
                for j in i..k {
                    // A pair changes only if one of its neurons did.
                    if is_active(changed, i) || is_active(changed, j) {
                        let before = is_active(*old, i) && is_active(*old, j);
                        let after = is_active(new, i) && is_active(new, j);
                        if before != after {
                            add_outer(if after { 1.0 } else { -1.0 }, x, &mut self.pairs[at..at + d * d]);
                        }
                    }
                    at += d * d;
                }
            }
            *old = new;
        }
    }

    /// vᵢ = uᵢ + sgn(uᵢ₁)e₁ and βᵢ = 2/‖vᵢ‖² = 1/(1 + |uᵢ₁|): no cancellation, whatever uᵢ is.
    #[inline(always)]
    fn reflect(&mut self) {
        let d = self.problem.dim;
        self.reflectors.copy_from_slice(&self.at.directions);
        for (v, beta) in self.reflectors.chunks_exact_mut(d).zip(&mut self.betas) {
            *beta = 1.0 / (1.0 + v[0].abs());
            v[0] += 1.0f64.copysign(v[0]);
        }
    }

    /// Row i of the gradient: Hᵢ·Σ r·x over the samples where neuron i is active, in the free coordinates.
    #[inline(always)]
    fn fill_gradient(&mut self, free: Freedom) {
        let (d, n) = (self.problem.dim, self.problem.len);
        let block = if free.amplitudes { d } else { d - 1 };
        for i in 0..self.neurons {
            let samples = self.masked.iter_mut().zip(&self.at.residual).zip(&self.at.inner[i * n..]);
            if self.rounding > 0.0 {
                let slope = 0.5 / self.rounding;
                samples.for_each(|((m, r), z)| *m = r * ((z + self.rounding) * slope).clamp(0.0, 1.0));
            } else {
                samples.for_each(|((m, r), z)| *m = if *z >= 0.0 { *r } else { 0.0 });
            }
            for (g, column) in self.left.iter_mut().zip(self.problem.columns.chunks_exact(n)) {
                *g = lane_dot(&self.masked, column);
            }
            let v = &self.reflectors[i * d..(i + 1) * d];
            let along = self.betas[i] * dot(v, &self.left);
            axpy(-along, v, &mut self.left);
            let target = &mut self.gradient[i * block..(i + 1) * block];
            for (t, g) in target.iter_mut().rev().zip(self.left.iter().rev()) {
                *t = self.at.amplitudes[i] * g;
            }
            if free.amplitudes {
                // ∂f/∂c = φ(z), which away from the true loss is not φ′(z)·z.
                let inner = &self.at.inner[i * n..(i + 1) * n];
                self.masked.iter_mut().zip(inner).for_each(|(m, z)| *m = rounded(*z, self.rounding));
                target[0] = lane_dot(&self.masked, &self.at.residual);
            }
        }
        if free.linear {
            let target = &mut self.gradient[self.neurons * block..];
            for (g, column) in target.iter_mut().zip(self.problem.columns.chunks_exact(n)) {
                *g = lane_dot(&self.at.residual, column);
            }
        }
    }

    /// Sᵢᵢ, which begins at `at`, with the curvature r/(2εcᵢ)·xxᵀ of the samples whose rounded kink bends upwards (a factor cᵢ²
    /// follows with the block). It is left out where cᵢ is too small for the quotient.
    #[inline(always)]
    fn bend_kinks(&mut self, i: usize, at: usize) {
        let (d, n) = (self.problem.dim, self.problem.len);
        self.bend.copy_from_slice(&self.pairs[at..at + d * d]);
        let c = self.at.amplitudes[i];
        if self.rounding > 0.0 && c.abs() > 1e-6 {
            for (s, (z, r)) in self.at.inner[i * n..(i + 1) * n].iter().zip(&self.at.residual).enumerate() {
                if z.abs() < self.rounding && r * c > 0.0 {
                    add_outer(r / c * (0.5 / self.rounding), &self.problem.rows[s * d..(s + 1) * d], &mut self.bend);
                }
            }
        }
    }

    /// The upper triangle of JᵀJ.
    #[inline(always)]
    fn fill_normal(&mut self, free: Freedom, size: usize) {
        let (d, k) = (self.problem.dim, self.neurons);
        let block = if free.amplitudes { d } else { d - 1 };
        let skip = d - block;
        let mut at = 0;
        for i in 0..k {
            self.bend_kinks(i, at);
            let vi = &self.reflectors[i * d..(i + 1) * d];
            let last = if free.linear { k + 1 } else { k };
            let own = at;
            for j in i..last {
                // The linear term is one more neuron, active everywhere, that is not reflected.
                let linear = j == k;
                let pair = if linear {
                    &self.pairs[own..own + d * d]
                } else if j == i {
                    &self.bend[..]
                } else {
                    &self.pairs[at..at + d * d]
                };
                if !linear {
                    at += d * d;
                }
                // H S H' = S − v(βvᵀS − ββ'(vᵀSv')v'ᵀ) − (β'Sv')v'ᵀ.
                times(pair, vi, &mut self.left);
                self.left.iter_mut().for_each(|x| *x *= self.betas[i]);
                let width = if linear { d } else { block };
                let drop = d - width;
                let vj = if linear { &[][..] } else { &self.reflectors[j * d..(j + 1) * d] };
                if !linear {
                    times(pair, vj, &mut self.right);
                    let both = self.betas[i] * self.betas[j] * dot(vi, &self.right);
                    axpy(-both, vj, &mut self.left);
                    self.right.iter_mut().for_each(|x| *x *= self.betas[j]);
                }
                for a in skip..d {
                    let row = (i * block + a - skip) * size + j * block;
                    let out = &mut self.normal[row..row + width];
                    let scale = if a == 0 { amplitude_sign(vi) } else { self.at.amplitudes[i] };
                    let entries = out.iter_mut().zip(&pair[a * d + drop..(a + 1) * d]).zip(&self.left[drop..]);
                    if linear {
                        for ((o, s), l) in entries {
                            *o = scale * (s - vi[a] * l);
                        }
                    } else {
                        let c = scale * self.at.amplitudes[j];
                        let right = self.right[a];
                        for (((o, s), l), v) in entries.zip(&vj[drop..]) {
                            *o = c * (s - vi[a] * l - right * v);
                        }
                        if free.amplitudes {
                            let entry = pair[a * d] - vi[a] * self.left[0] - right * vj[0];
                            out[0] = scale * amplitude_sign(vj) * entry;
                        }
                    }
                }
            }
        }
        if free.linear {
            for (a, source) in self.problem.moment.chunks_exact(d).enumerate() {
                let row = (k * block + a) * size + k * block;
                self.normal[row..row + d].copy_from_slice(source);
            }
        }
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

/// (Hx)₁ is u·x up to this sign, so the first reflected coordinate is the amplitude's.
#[inline(always)]
fn amplitude_sign(v: &[f64]) -> f64 {
    -1.0f64.copysign(v[0])
}

/// y ← A·x for a symmetric A.
#[inline(always)]
fn times(a: &[f64], x: &[f64], y: &mut [f64]) {
    y.fill(0.0);
    for (row, &m) in a.chunks_exact(x.len()).zip(x) {
        axpy(m, row, y);
    }
}

#[cfg(test)]
mod tests {
    use super::super::Samples;
    use super::super::problem::power_of_two_near;
    use super::*;
    use crate::rng::{Key, normal, unit_vector};

    const DIM: usize = 4;
    const NEURONS: usize = 3;
    const LEN: usize = 30;

    fn problem() -> Problem {
        let mut stream = Key::new(5).stream();
        let mut x = vec![0.0; DIM * LEN];
        x.chunks_exact_mut(DIM).for_each(|row| unit_vector(&mut stream, row));
        let y: Vec<f64> = (0..LEN).map(|_| normal(&mut stream)).collect();
        Problem::new(Samples::new(DIM, &x, &y).unwrap())
    }

    fn random_start(solver: &mut Solver<'_>, seed: u64, free: Freedom) {
        let mut stream = Key::new(seed).stream();
        solver.at.directions.chunks_exact_mut(DIM).for_each(|row| unit_vector(&mut stream, row));
        if free.amplitudes {
            solver.at.amplitudes.iter_mut().for_each(|c| *c = normal(&mut stream));
        }
        if free.linear {
            solver.at.linear.iter_mut().for_each(|w| *w = normal(&mut stream));
        }
    }

    fn every_freedom() -> impl Iterator<Item = Freedom> {
        [(false, false), (false, true), (true, false), (true, true)]
            .into_iter()
            .map(|(amplitudes, linear)| Freedom { amplitudes, linear })
    }

    /// The residuals and the Jacobian as one would write them down: a row a sample, a column an unknown, with the reflection
    /// as a full matrix.
    fn plain(problem: &Problem, at: &Point, free: Freedom) -> (Vec<f64>, Vec<Vec<f64>>) {
        let mut residuals = Vec::new();
        let mut jacobian = Vec::new();
        for (x, y) in problem.rows.chunks_exact(DIM).zip(&problem.rewards) {
            let mut residual = dot(&at.linear, x) - y;
            let mut row = Vec::new();
            for (u, c) in at.directions.chunks_exact(DIM).zip(&at.amplitudes) {
                let active = f64::from(dot(u, x) >= 0.0);
                residual += c * active * dot(u, x);
                if free.amplitudes {
                    row.push(active * dot(u, x));
                }
                for a in 1..DIM {
                    // e_a reflected: a unit tangent vector.
                    let mut v = u.to_vec();
                    v[0] += 1.0f64.copysign(u[0]);
                    let tangent: Vec<f64> =
                        (0..DIM).map(|b| f64::from(a == b) - 2.0 * v[a] * v[b] / dot(&v, &v)).collect();
                    assert!(dot(&tangent, u).abs() < 1e-14);
                    row.push(c * active * dot(&tangent, x));
                }
            }
            if free.linear {
                row.extend(x);
            }
            residuals.push(residual);
            jacobian.push(row);
        }
        (residuals, jacobian)
    }

    #[test]
    fn value_gradient_and_normal_matrix_agree_with_the_plain_ones() {
        let problem = problem();
        let mut solver = Solver::new(&problem, NEURONS);
        for free in every_freedom() {
            let size = solver.unknowns(free);
            solver.forget();
            // Moving on without forgetting exercises the incremental sums.
            for seed in 0..6 {
                random_start(&mut solver, seed, free);
                solver.evaluate(0.0);
                solver.linearise(free);
                let (residuals, jacobian) = plain(&problem, &solver.at, free);
                assert!((solver.at.loss - dot(&residuals, &residuals)).abs() < 1e-12);
                for a in 0..size {
                    let gradient: f64 = jacobian.iter().zip(&residuals).map(|(row, r)| row[a] * r).sum();
                    assert!((solver.gradient[a] - gradient).abs() < 1e-12, "{free:?}");
                    for b in a..size {
                        let entry: f64 = jacobian.iter().map(|row| row[a] * row[b]).sum();
                        assert!((solver.normal[a * size + b] - entry).abs() < 1e-12, "{free:?} {a} {b}");
                    }
                }
            }
        }
    }

    #[test]
    fn gradient_agrees_with_finite_differences_rounded_or_not() {
        let problem = problem();
        let mut solver = Solver::new(&problem, NEURONS);
        let step = 1e-6;
        for (free, rounding) in every_freedom().flat_map(|free| [(free, 0.0), (free, 0.5), (free, 0.05)]) {
            random_start(&mut solver, 11, free);
            solver.forget();
            solver.evaluate(rounding);
            solver.linearise(free);
            let size = solver.unknowns(free);
            for a in 0..size {
                let mut loss_at = |move_by: f64| {
                    solver.step.clear();
                    solver.step.resize(size, 0.0);
                    solver.step[a] = move_by;
                    solver.retract(free);
                    evaluate(&problem, solver.rounding, &mut solver.trial);
                    solver.trial.loss
                };
                // The loss is Σr², the gradient Jᵀr: half of its derivative.
                let difference = (loss_at(step) - loss_at(-step)) / (4.0 * step);
                assert!((solver.gradient[a] - difference).abs() < 1e-6, "{free:?} {rounding} {a}");
            }
        }
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

    #[test]
    fn data_of_any_size_are_brought_to_unit_size() {
        assert_eq!(power_of_two_near(0.0), 1.0);
        assert_eq!(power_of_two_near(3.0), 2.0);
        assert_eq!(power_of_two_near(0.3), 0.25);
        assert!(power_of_two_near(1e-310) > 0.0);
        for size in [1e100, 1.0, 1e-100, 1e-300] {
            let problem = Problem::new(Samples::new(2, &[size, -size], &[1.0]).unwrap());
            assert!(problem.rows.iter().chain(&problem.rewards).all(|x| x.is_finite() && x.abs() <= 4e100));
        }
    }
}
