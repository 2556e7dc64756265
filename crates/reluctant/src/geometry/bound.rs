//! An upper bound on the optimistic value over a part of a cell, by Lagrange's duality.
//!
//! In the eigenbasis of M the value is e·y + √(Σ λⱼyⱼ²), to be maximised over unit y with gᵢ·y ≥ m for every wall i and
//! aⱼ ≤ yⱼ ≤ bⱼ for some coordinates j. Three inequalities make it a quadratic on the sphere with a diagonal matrix:
//!
//! > √T ≤ (1/κ + κT)/2 for κ > 0,  0 ≤ μᵢ(gᵢ·y − m) for μᵢ ≥ 0,  0 ≤ ηⱼ(yⱼ − aⱼ)(bⱼ − yⱼ) for ηⱼ ≥ 0,
//!
//! and a fourth bounds that quadratic: c·y + ½Σ hⱼyⱼ² ≤ ½ν + ½Σ cⱼ²/(ν − hⱼ) on the sphere for ν > max h. So
//!
//! > Φ(ν, κ, μ, η) = ½ν + ½Σⱼ cⱼ²/(ν − hⱼ) + 1/(2κ) − m·Σμᵢ − Σ ηⱼaⱼbⱼ
//! > with c = e + Σ μᵢgᵢ + η∘(a + b) and h = κλ − 2η
//!
//! bounds the maximum from above *whatever* ν, κ, μ, η are. Φ is convex in all of them (a square over a linear function is), so Newton's
//! method with logarithmic barriers finds the smallest. Without boxes the bound is exact unless the trust-region problem has two
//! maximisers that the walls cannot tell apart; boxes, which branching makes smaller, close the gap that is then left.

use super::nnls::Nnls;
use super::trust_region::maximise;
use crate::linalg::{Cholesky, axpy, dot, norm};

/// What is maximised, in eigenbasis coordinates.
#[derive(Debug, Clone)]
pub(super) struct Problem {
    pub(super) e: Vec<f64>,
    /// λ₁ ≥ λ₂ ≥ … ≥ 0.
    pub(super) lambda: Vec<f64>,
    /// gᵢ, one after the other.
    pub(super) walls: Vec<f64>,
    pub(super) margin: f64,
}

impl Problem {
    /// The bound with given multipliers of some walls, κ and ν at their best: one trust-region problem.
    ///
    /// With the multipliers of the best point it is exact, unless something better lies elsewhere on the sphere.
    pub(super) fn shifted(&self, multipliers: &[(usize, f64)]) -> f64 {
        let dim = self.e.len();
        let mut e = self.e.clone();
        let mut price = 0.0;
        for &(i, multiplier) in multipliers.iter().filter(|(_, multiplier)| *multiplier > 0.0) {
            axpy(multiplier, &self.walls[i * dim..(i + 1) * dim], &mut e);
            price += multiplier * self.margin;
        }
        maximise(&e, &self.lambda, &mut vec![0.0; dim]) - price
    }

    /// Limits that hold in the whole cell: yⱼ is at most the length of the projection of its axis on the cone gᵢ·y ≥ 0.
    pub(super) fn ranges(&self, solver: &mut Nnls) -> Limits {
        let dim = self.e.len();
        let mut reach = |j: usize, sign: f64| {
            solver.start(dim);
            self.walls.chunks_exact(dim).for_each(|wall| solver.push(-1.0, wall));
            let mut axis = vec![0.0; dim];
            axis[j] = sign;
            solver.solve(&axis);
            (norm(solver.residual()) + 1e-12).min(1.0)
        };
        let high = (0..dim).map(|j| reach(j, 1.0)).collect();
        let low = (0..dim).map(|j| -reach(j, -1.0)).collect();
        Limits { low, high }
    }
}

/// aⱼ ≤ yⱼ ≤ bⱼ.
#[derive(Debug, Clone)]
pub(super) struct Limits {
    pub(super) low: Vec<f64>,
    pub(super) high: Vec<f64>,
}

impl Limits {
    fn is_split(&self, j: usize) -> bool {
        self.low[j] > -1.0 || self.high[j] < 1.0
    }
}

/// What the minimisation of Φ ends with.
#[derive(Debug, Clone)]
pub(super) struct Bound {
    /// No y of the part has a larger value.
    pub(super) value: f64,
    /// The relaxed problem's mean y.
    pub(super) y: Vec<f64>,
    /// Its variance in each coordinate, times how strongly the coordinate bends the value: where a split helps.
    pub(super) spread: Vec<f64>,
}

/// The smallest Φ, to about `precision`; stops as soon as Φ is below `enough`, or is sure to stay far above.
pub(super) fn bound(problem: &Problem, limits: &Limits, enough: f64, precision: f64) -> Bound {
    let mut search = Search::new(problem, limits);
    search.minimise(enough, precision);
    search.report()
}

struct Search<'a> {
    problem: &'a Problem,
    limits: &'a Limits,
    split: Vec<usize>,
    /// (ν, κ, μ, η).
    z: Vec<f64>,
    tau: f64,
    scale: f64,
    best: f64,
    c: Vec<f64>,
    /// ν − h.
    gap: Vec<f64>,
    gradient: Vec<f64>,
    hessian: Vec<f64>,
    row: Vec<f64>,
    trial: Vec<f64>,
}

impl<'a> Search<'a> {
    fn new(problem: &'a Problem, limits: &'a Limits) -> Self {
        let dim = problem.e.len();
        let split: Vec<usize> = (0..dim).filter(|&j| limits.is_split(j)).collect();
        let walls = problem.walls.len() / dim;
        let n = 2 + walls + split.len();
        let length = dot(&problem.e, &problem.e).sqrt();
        let scale = (length + problem.lambda[0].sqrt()).max(1e-6);
        // Without any width, κ would run off to infinity; at this size its term is below rounding and stays there.
        let kappa = 1.0 / problem.lambda[0].sqrt().max(1e-16 * scale);
        let mut z = vec![0.3 * scale; n];
        z[0] = kappa * problem.lambda[0] + scale;
        z[1] = kappa;
        z[2..2 + walls].fill(0.3 * scale / walls.max(1) as f64);
        Search {
            problem,
            limits,
            split,
            trial: z.clone(),
            z,
            tau: 0.1 * scale,
            scale,
            best: f64::INFINITY,
            c: vec![0.0; dim],
            gap: vec![0.0; dim],
            gradient: vec![0.0; n],
            hessian: vec![0.0; n * n],
            row: vec![0.0; n],
        }
    }

    /// Fills c and the gaps at a point; false outside of the domain.
    fn place(&mut self, at_trial: bool) -> bool {
        let z = if at_trial { &self.trial } else { &self.z };
        let dim = self.c.len();
        let walls = self.problem.walls.len() / dim;
        if z[1..].iter().any(|&v| !(v > 0.0)) {
            return false;
        }
        self.c.copy_from_slice(&self.problem.e);
        for (wall, &mu) in self.problem.walls.chunks_exact(dim).zip(&z[2..]) {
            axpy(mu, wall, &mut self.c);
        }
        for j in 0..dim {
            self.gap[j] = z[0] - z[1] * self.problem.lambda[j];
        }
        for (&j, &eta) in self.split.iter().zip(&z[2 + walls..]) {
            self.c[j] += eta * (self.limits.low[j] + self.limits.high[j]);
            self.gap[j] += 2.0 * eta;
        }
        self.gap.iter().all(|&g| g > 0.0)
    }

    /// Φ at the point that was placed.
    fn phi(&self, z: &[f64]) -> f64 {
        let walls = self.problem.walls.len() / self.c.len();
        let squares: f64 = self.c.iter().zip(&self.gap).map(|(c, g)| c * c / g).sum();
        let price: f64 = self.problem.margin * z[2..2 + walls].iter().sum::<f64>();
        let boxes: f64 = self
            .split
            .iter()
            .zip(&z[2 + walls..])
            .map(|(&j, eta)| eta * self.limits.low[j] * self.limits.high[j])
            .sum();
        0.5 * (z[0] + squares + 1.0 / z[1]) - price - boxes
    }

    fn barrier(&self, z: &[f64]) -> f64 {
        // One logarithm of a product instead of many would overflow; the terms are few.
        -self.tau * (z[2..].iter().chain(&self.gap).map(|&v| libm::log(v)).sum::<f64>())
    }

    fn minimise(&mut self, enough: f64, precision: f64) {
        let terms = (self.z.len() - 2 + self.c.len()) as f64;
        for _ in 0..60 {
            for _ in 0..12 {
                let decrease = self.newton();
                if self.best <= enough {
                    return;
                }
                if decrease <= 0.3 * self.tau {
                    break;
                }
            }
            // On the central path Φ exceeds its minimum by about τ a barrier term.
            let above = self.best - enough;
            let error = terms * self.tau;
            if error <= 0.5 * precision || error <= 0.02 * above {
                return;
            }
            self.tau = (0.1 * self.tau).max(0.4 * precision / terms);
        }
    }

    /// One Newton step; returns the squared Newton decrement.
    fn newton(&mut self) -> f64 {
        if !self.place(false) {
            return 0.0;
        }
        let (dim, n, tau) = (self.c.len(), self.z.len(), self.tau);
        let walls = self.problem.walls.len() / dim;
        let (problem, z) = (self.problem, &self.z);
        let now = self.phi(z) + self.barrier(z);
        self.gradient.fill(0.0);
        self.hessian.fill(0.0);
        self.gradient[0] = 0.5;
        self.gradient[1] = -0.5 / (z[1] * z[1]);
        self.gradient[2..2 + walls].fill(-problem.margin);
        self.hessian[n + 1] = 1.0 / (z[1] * z[1] * z[1]);
        for (l, &j) in self.split.iter().enumerate() {
            self.gradient[2 + walls + l] = -self.limits.low[j] * self.limits.high[j];
        }
        for i in 2..n {
            self.gradient[i] -= tau / z[i];
            self.hessian[i * n + i] += tau / (z[i] * z[i]);
        }
        for j in 0..dim {
            let (gap, lambda) = (self.gap[j], problem.lambda[j]);
            let y = self.c[j] / gap;
            let own = self.split.iter().position(|&s| s == j).map(|l| 2 + walls + l);
            // ∇gap = (1, −λⱼ, 0, 2 at ηⱼ); ∇c = (0, 0, gᵢⱼ, a + b at ηⱼ); ½c²/gap has the gradient y∇c − ½y²∇gap and the
            // Hessian rrᵀ/gap with r = ∇c − y∇gap.
            let pull = -0.5 * y * y - tau / gap;
            self.gradient[0] += pull;
            self.gradient[1] -= pull * lambda;
            self.row[0] = -y;
            self.row[1] = y * lambda;
            for i in 0..walls {
                let g = problem.walls[i * dim + j];
                self.gradient[2 + i] += y * g;
                self.row[2 + i] = g;
            }
            self.row[2 + walls..].fill(0.0);
            let bend = tau / (gap * gap);
            if let Some(l) = own {
                let sum = self.limits.low[j] + self.limits.high[j];
                self.gradient[l] += y * sum + 2.0 * pull;
                self.row[l] = sum - 2.0 * y;
                self.hessian[l] += 2.0 * bend;
                self.hessian[n + l] -= 2.0 * bend * lambda;
                self.hessian[l * n + l] += 4.0 * bend;
            }
            self.hessian[0] += bend;
            self.hessian[1] -= bend * lambda;
            self.hessian[n + 1] += bend * lambda * lambda;
            for a in 0..n {
                let m = self.row[a] / gap;
                if m != 0.0 {
                    axpy(m, &self.row[a..], &mut self.hessian[a * n + a..(a + 1) * n]);
                }
            }
        }
        let mut step = self.gradient.clone();
        // Only the upper triangle was filled, and only that is read. A little ridge keeps the factor alive in the last digits.
        for i in 0..n {
            self.hessian[i * n + i] *= 1.0 + 1e-13;
        }
        let Some(factor) = Cholesky::new(&mut self.hessian, n) else { return 0.0 };
        factor.solve(&mut step);
        let decrease = dot(&step, &self.gradient);
        if !(decrease > 0.0) {
            return 0.0;
        }
        let mut length = 1.0f64;
        for i in 1..n {
            if step[i] > 0.0 {
                length = length.min(0.95 * self.z[i] / step[i]);
            }
        }
        for _ in 0..40 {
            self.trial.copy_from_slice(&self.z);
            axpy(-length, &step, &mut self.trial);
            if self.place(true) {
                let phi = self.phi(&self.trial);
                // NaN is never better.
                self.best = self.best.min(phi);
                if phi + self.barrier(&self.trial) <= now - 0.1 * length * decrease {
                    std::mem::swap(&mut self.z, &mut self.trial);
                    return decrease;
                }
            }
            length *= 0.5;
        }
        0.0
    }

    fn report(mut self) -> Bound {
        self.place(false);
        let value = self.best.min(self.phi(&self.z));
        let bend = |j: usize| self.z[1] * self.problem.lambda[j] + (-self.z[0]).max(0.0) + 1e-9 * self.scale;
        let spread = (0..self.c.len()).map(|j| bend(j) * 2.0 * self.tau / self.gap[j]).collect();
        Bound { value, y: self.c.iter().zip(&self.gap).map(|(c, g)| c / g).collect(), spread }
    }
}
