//! The gradient Jᵀr and the normal matrix JᵀJ of a step.
//!
//! **The normal matrix is nearly free.** Its block for neurons i, j is cᵢcⱼ·Hᵢ·Sᵢⱼ·Hⱼ with Sᵢⱼ = Σ xxᵀ over the samples where
//! both are active. For leaky units of slope a it is a²·S + a(1−a)(Sᵢᵢ + Sⱼⱼ) + (1−a)²·Sᵢⱼ, S over all samples, instead. Sᵢⱼ changes only where a sample changes its activation pattern, so each iteration adds and removes those
//! few samples instead of summing over all: an iteration costs a pass over the data for the value and the gradient, and a
//! Cholesky factorisation.

use super::{Freedom, Solver};
use crate::activation::{RoundedKink, is_on};
use crate::estimate::problem::{add_outer, lane_dot};
use crate::kernels::arch;
use crate::linalg::{axpy, dot};
use crate::relu::{Pattern, is_active};

impl Solver<'_> {
    /// g = Jᵀr and JᵀJ at the current point.
    pub(super) fn linearise(&mut self, free: Freedom) {
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
        arch().dispatch(Linearise(self, free, size));
    }

    /// Brings Sᵢⱼ up to date: only samples whose pattern changed are touched.
    #[inline(always)]
    fn update_patterns(&mut self) {
        let (d, n, k) = (self.problem.dim, self.problem.len, self.neurons);
        self.fresh.fill(0);
        for (i, inner) in self.at.inner.chunks_exact(n).enumerate() {
            for (pattern, z) in self.fresh.iter_mut().zip(inner) {
                *pattern |= Pattern::from(is_on(*z)) << i;
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
        let (d, n, kink) = (self.problem.dim, self.problem.len, self.kink());
        let block = if free.amplitudes { d } else { d - 1 };
        for i in 0..self.neurons {
            let samples = self.masked.iter_mut().zip(&self.at.residual).zip(&self.at.inner[i * n..]);
            if self.rounding > 0.0 || kink.slope != 0.0 {
                samples.for_each(|((m, r), z)| *m = r * kink.derivative(*z));
            } else {
                samples.for_each(|((m, r), z)| *m = if is_on(*z) { *r } else { 0.0 });
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
                self.masked.iter_mut().zip(inner).for_each(|(m, z)| *m = kink.value(*z));
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

    #[inline(always)]
    fn kink(&self) -> RoundedKink {
        RoundedKink { slope: self.problem.slope, rounding: self.rounding }
    }

    /// The sums of xxᵀ, weighted by the product of two derivatives, where units leak: for neurons i ≤ j, or of neuron i and the linear
    /// term (j = k).
    #[inline(always)]
    fn leak(&mut self, i: usize, j: usize) {
        let (k, block, a) = (self.neurons, self.problem.dim * self.problem.dim, self.problem.slope);
        let place = |i: usize, j: usize| (i * (2 * k + 1 - i) / 2 + j - i) * block;
        self.leaked.fill(0.0);
        let mut add = |weight: f64, source: &[f64]| axpy(weight, &source[..block], &mut self.leaked);
        if j == k {
            add(a, &self.problem.moment);
            add(1.0 - a, &self.pairs[place(i, i)..]);
        } else {
            add(a * a, &self.problem.moment);
            add(a * (1.0 - a), &self.pairs[place(i, i)..]);
            add(a * (1.0 - a), &self.pairs[place(j, j)..]);
            add((1.0 - a) * (1.0 - a), &self.pairs[place(i, j)..]);
        }
    }

    /// Sᵢᵢ, which begins at `at`, with the curvature r/(2εcᵢ)·xxᵀ of the samples whose rounded kink bends upwards (a factor cᵢ²
    /// follows with the block). It is left out where cᵢ is too small for the quotient.
    #[inline(always)]
    fn bend_kinks(&mut self, i: usize, at: usize) {
        let (d, n, kink) = (self.problem.dim, self.problem.len, self.kink());
        if kink.slope != 0.0 {
            self.leak(i, i);
            self.bend.copy_from_slice(&self.leaked);
        } else {
            self.bend.copy_from_slice(&self.pairs[at..at + d * d]);
        }
        let c = self.at.amplitudes[i];
        if self.rounding > 0.0 && c.abs() > 1e-6 {
            for (s, (z, r)) in self.at.inner[i * n..(i + 1) * n].iter().zip(&self.at.residual).enumerate() {
                if z.abs() < self.rounding && r * c > 0.0 {
                    add_outer(r / c * kink.bend(), &self.problem.rows[s * d..(s + 1) * d], &mut self.bend);
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
            let last = if free.linear { k + 1 } else { k };
            let own = at;
            for j in i..last {
                // The linear term is one more neuron, active everywhere, that is not reflected.
                let linear = j == k;
                if self.problem.slope != 0.0 && j != i {
                    self.leak(i, j);
                }
                let vi = &self.reflectors[i * d..(i + 1) * d];
                let pair = if self.problem.slope != 0.0 && j != i {
                    &self.leaked[..]
                } else if linear {
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
    use super::super::tests::{DIM, NEURONS, every_freedom, problem, random_start};
    use super::*;
    use crate::estimate::problem::{Point, Problem, evaluate};

    /// The residuals and the Jacobian as one would write them down: a row a sample, a column an unknown, with the reflection
    /// as a full matrix.
    fn plain(problem: &Problem, at: &Point, free: Freedom) -> (Vec<f64>, Vec<Vec<f64>>) {
        let mut residuals = Vec::new();
        let mut jacobian = Vec::new();
        for (x, y) in problem.rows.chunks_exact(DIM).zip(&problem.rewards) {
            let mut residual = dot(&at.linear, x) - y;
            let mut row = Vec::new();
            for (u, c) in at.directions.chunks_exact(DIM).zip(&at.amplitudes) {
                let active = if dot(u, x) >= 0.0 { 1.0 } else { problem.slope };
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
        for slope in [0.0, 0.3, -1.0] {
            agree_with_the_plain_ones(&Problem { slope, ..problem() });
        }
    }

    fn agree_with_the_plain_ones(problem: &Problem) {
        let mut solver = Solver::new(problem, NEURONS);
        for free in every_freedom() {
            let size = solver.unknowns(free);
            solver.forget();
            // Moving on without forgetting exercises the incremental sums.
            for seed in 0..6 {
                random_start(&mut solver, seed, free);
                solver.evaluate(0.0);
                solver.linearise(free);
                let (residuals, jacobian) = plain(problem, &solver.at, free);
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
        for slope in [0.0, 0.3, -1.0] {
            gradient_agrees(&Problem { slope, ..problem() });
        }
    }

    fn gradient_agrees(problem: &Problem) {
        let mut solver = Solver::new(problem, NEURONS);
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
                    evaluate(problem, solver.rounding, &mut solver.trial);
                    solver.trial.loss
                };
                // The loss is Σr², the gradient Jᵀr: half of its derivative.
                let difference = (loss_at(step) - loss_at(-step)) / (4.0 * step);
                assert!((solver.gradient[a] - difference).abs() < 1e-6, "{free:?} {rounding} {a}");
            }
        }
    }
}
