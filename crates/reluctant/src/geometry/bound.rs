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
//! bounds the maximum from above *whatever* ν, κ, μ, η are. Φ is convex in all of them (a square over a linear function
//! is), so Newton's method with logarithmic barriers finds the smallest. Without boxes the bound is exact unless the
//! trust-region problem has two maximisers that the walls cannot tell apart; boxes, which branching makes smaller,
//! close the gap that is then left.

use super::nnls::Nnls;
use super::piece::Piece;
use super::trust_region::maximise;
use crate::linalg::{Cholesky, Eigen, axpy, dot, norm};

/// The first τ, as a part of the size of the numbers involved.
const START: f64 = 0.01;

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
        let reach = &mut |j: usize, sign: f64| {
            solver.start(dim);
            self.walls.chunks_exact(dim).for_each(|wall| solver.push(-1.0, wall));
            let mut axis = vec![0.0; dim];
            axis[j] = sign;
            solver.solve(&axis);
            (norm(solver.residual()) + 1e-12).min(1.0)
        };
        // Where the value hardly bends, limits would not help.
        let flat = |j: usize| self.lambda[j] < 0.02 * self.lambda[0];
        let high = (0..dim).map(|j| if flat(j) { 1.0 } else { reach(j, 1.0) }).collect();
        let low = (0..dim).map(|j| if flat(j) { -1.0 } else { -reach(j, -1.0) }).collect();
        Limits { low, high }
    }
}

/// The piece in the eigenbasis of its matrix.
pub(super) fn diagonalise(piece: &Piece) -> (Eigen, Problem) {
    let dim = piece.dim();
    let mut eigen = Eigen::new(&piece.m, dim);
    // Rounding can leave an eigenvalue of a positive matrix just below 0.
    eigen.values.iter_mut().for_each(|value| *value = value.max(0.0));
    let mut e = vec![0.0; dim];
    eigen.coordinates(&piece.theta, &mut e);
    let mut walls = vec![0.0; piece.walls.len()];
    for (out, wall) in walls.chunks_exact_mut(dim).zip(piece.walls.chunks_exact(dim)) {
        eigen.coordinates(wall, out);
    }
    let problem = Problem { e, lambda: eigen.values.clone(), walls, margin: piece.margin };
    (eigen, problem)
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
///
/// Most walls of a cell do not matter: the search begins with those that `guess` violates and
/// takes in others as it meets them.
pub(super) fn bound(problem: &Problem, limits: &Limits, guess: &[f64], enough: f64, precision: f64) -> Bound {
    let mut search = Search::new(problem, limits, guess);
    search.minimise(enough, precision);
    search.report()
}

struct Search<'a> {
    problem: &'a Problem,
    limits: &'a Limits,
    /// The coordinates with limits.
    split: Vec<usize>,
    /// The walls taken in.
    walls: Vec<usize>,
    /// (ν, κ, η, μ).
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
    step: Vec<f64>,
    trial: Vec<f64>,
}

impl<'a> Search<'a> {
    fn new(problem: &'a Problem, limits: &'a Limits, guess: &[f64]) -> Self {
        let dim = problem.e.len();
        let split: Vec<usize> = (0..dim).filter(|&j| limits.is_split(j)).collect();
        let scale = (norm(&problem.e) + problem.lambda[0].sqrt()).max(1e-6);
        // Without any width, κ would run off to infinity; at this size its term is below rounding and stays there.
        let kappa = 1.0 / problem.lambda[0].sqrt().max(1e-16 * scale);
        let mut z = vec![kappa * problem.lambda[0] + scale, kappa];
        let tau = START * scale;
        for &j in &split {
            let room = (guess[j] - limits.low[j]) * (limits.high[j] - guess[j]);
            z.push(tau / room.max(START));
        }
        let mut search = Search {
            problem,
            limits,
            split,
            walls: Vec::new(),
            z,
            tau,
            scale,
            best: f64::INFINITY,
            c: vec![0.0; dim],
            gap: vec![0.0; dim],
            gradient: Vec::new(),
            hessian: Vec::new(),
            row: Vec::new(),
            step: Vec::new(),
            trial: Vec::new(),
        };
        search.take_in(guess);
        search.make_room();
        search.align(guess);
        search
    }

    fn wall(&self, i: usize) -> &'a [f64] {
        let dim = self.c.len();
        &self.problem.walls[i * dim..(i + 1) * dim]
    }

    /// Takes in the walls that y violates; false if there are none.
    fn take_in(&mut self, y: &[f64]) -> bool {
        let before = self.walls.len();
        for i in 0..self.problem.walls.len() / self.c.len() {
            let short = self.problem.margin - dot(self.wall(i), y);
            if short > 1e-3 * self.tau / self.scale && !self.walls.contains(&i) {
                self.walls.push(i);
                self.z.push((self.tau / short).min(0.1 * self.scale));
            }
        }
        self.walls.len() > before
    }

    /// Chooses κ and ν so that the maximum of the quadratic is near y: there κ = 1/√(Σ λⱼyⱼ²) and c = (ν − h)∘y.
    fn align(&mut self, y: &[f64]) {
        let squared: f64 = self.problem.lambda.iter().zip(y).map(|(l, y)| l * y * y).sum();
        let mut z = std::mem::take(&mut self.z);
        z[1] = (1.0 / squared.sqrt()).min(10.0 * z[1]);
        // With ν = 0 the gaps are −h.
        z[0] = 0.0;
        self.place(&z);
        let top = self.gap.iter().fold(f64::NEG_INFINITY, |top, g| top.max(-g));
        let fit: f64 = (0..y.len()).map(|j| y[j] * (self.c[j] - self.gap[j] * y[j])).sum();
        z[0] = (fit / dot(y, y).max(1e-3)).max(top + START * self.scale);
        self.z = z;
    }

    fn make_room(&mut self) {
        let n = self.z.len();
        self.gradient.resize(n, 0.0);
        self.hessian.resize(n * n, 0.0);
        self.row.resize(n, 0.0);
    }

    /// Fills c and the gaps at z; false outside of the domain.
    fn place(&mut self, z: &[f64]) -> bool {
        if z[1..].iter().any(|&v| v.is_nan() || v <= 0.0) {
            return false;
        }
        let (boxes, walls) = z[2..].split_at(self.split.len());
        self.c.copy_from_slice(&self.problem.e);
        for (&i, &mu) in self.walls.iter().zip(walls) {
            axpy(mu, &self.problem.walls[i * self.c.len()..], &mut self.c);
        }
        for (gap, lambda) in self.gap.iter_mut().zip(&self.problem.lambda) {
            *gap = z[0] - z[1] * lambda;
        }
        for (&j, &eta) in self.split.iter().zip(boxes) {
            self.c[j] += eta * (self.limits.low[j] + self.limits.high[j]);
            self.gap[j] += 2.0 * eta;
        }
        self.gap.iter().all(|&g| g > 0.0)
    }

    /// Φ at the point that was placed.
    fn phi(&self, z: &[f64]) -> f64 {
        let (boxes, walls) = z[2..].split_at(self.split.len());
        let squares: f64 = self.c.iter().zip(&self.gap).map(|(c, g)| c * c / g).sum();
        let price = self.problem.margin * walls.iter().sum::<f64>();
        let corners = |(&j, eta): (&usize, &f64)| eta * self.limits.low[j] * self.limits.high[j];
        let corners: f64 = self.split.iter().zip(boxes).map(corners).sum();
        0.5 * (z[0] + squares + 1.0 / z[1]) - price - corners
    }

    fn barrier(&self, z: &[f64]) -> f64 {
        -self.tau * z[2..].iter().chain(&self.gap).map(|&v| libm::log(v)).sum::<f64>()
    }

    fn minimise(&mut self, enough: f64, precision: f64) {
        for _ in 0..60 {
            for _ in 0..12 {
                let decrease = self.newton();
                if self.best <= enough {
                    return;
                }
                // Near the central path is good enough: the next τ corrects it.
                if decrease <= 3.0 * self.tau {
                    break;
                }
            }
            let z = std::mem::take(&mut self.z);
            let placed = self.place(&z);
            self.z = z;
            let y: Vec<f64> = self.c.iter().zip(&self.gap).map(|(c, g)| c / g).collect();
            if placed && self.take_in(&y) {
                self.make_room();
                continue;
            }
            // On the central path Φ exceeds its minimum by about τ a barrier term.
            let terms = (self.z.len() - 2 + self.c.len()) as f64;
            let error = terms * self.tau;
            if error <= 0.5 * precision || error <= 0.02 * (self.best - enough) {
                return;
            }
            self.tau = (0.1 * self.tau).max(0.4 * precision / terms);
        }
    }

    /// One Newton step; returns the squared Newton decrement, 0 if there is no step.
    fn newton(&mut self) -> f64 {
        let z = std::mem::take(&mut self.z);
        let decrease = if self.place(&z) { self.differentiate(&z).unwrap_or(0.0) } else { 0.0 };
        let next = if decrease > 0.0 { self.line_search(&z, decrease) } else { None };
        let moved = next.is_some();
        self.z = match next {
            Some(next) => {
                self.trial = z;
                next
            }
            None => z,
        };
        if moved { decrease } else { 0.0 }
    }

    /// Newton's step at the point that was placed, into `step`; returns how much it promises.
    fn differentiate(&mut self, z: &[f64]) -> Option<f64> {
        let (dim, n, tau) = (self.c.len(), z.len(), self.tau);
        let first_wall = 2 + self.split.len();
        let problem = self.problem;
        self.gradient.fill(0.0);
        self.hessian.fill(0.0);
        self.gradient[0] = 0.5;
        self.gradient[1] = -0.5 / (z[1] * z[1]);
        self.hessian[n + 1] = 1.0 / (z[1] * z[1] * z[1]);
        for (l, &j) in self.split.iter().enumerate() {
            self.gradient[2 + l] = -self.limits.low[j] * self.limits.high[j];
        }
        self.gradient[first_wall..].fill(-problem.margin);
        for i in 2..n {
            self.gradient[i] -= tau / z[i];
            self.hessian[i * n + i] += tau / (z[i] * z[i]);
        }
        let mut boxes = self.split.iter().enumerate().peekable();
        for j in 0..dim {
            let (gap, lambda) = (self.gap[j], problem.lambda[j]);
            let y = self.c[j] / gap;
            // ∇gap = (1, −λⱼ, 2 at ηⱼ, 0) and ∇c = (0, 0, a + b at ηⱼ, gᵢⱼ). So ½c²/gap has the gradient y∇c − ½y²∇gap
            // and the Hessian rrᵀ/gap with r = ∇c − y∇gap.
            let pull = -0.5 * y * y - tau / gap;
            let bend = tau / (gap * gap);
            self.gradient[0] += pull;
            self.gradient[1] -= pull * lambda;
            self.row[0] = -y;
            self.row[1] = y * lambda;
            self.hessian[0] += bend;
            self.hessian[1] -= bend * lambda;
            self.hessian[n + 1] += bend * lambda * lambda;
            self.row[2..first_wall].fill(0.0);
            if let Some((l, _)) = boxes.next_if(|(_, s)| **s == j) {
                let l = l + 2;
                let sum = self.limits.low[j] + self.limits.high[j];
                self.gradient[l] += y * sum + 2.0 * pull;
                self.row[l] = sum - 2.0 * y;
                self.hessian[l] += 2.0 * bend;
                self.hessian[n + l] -= 2.0 * bend * lambda;
                self.hessian[l * n + l] += 4.0 * bend;
            }
            for (l, &i) in self.walls.iter().enumerate() {
                let g = problem.walls[i * dim + j];
                self.gradient[first_wall + l] += y * g;
                self.row[first_wall + l] = g;
            }
            for a in 0..n {
                let m = self.row[a] / gap;
                if m != 0.0 {
                    axpy(m, &self.row[a..], &mut self.hessian[a * n + a..(a + 1) * n]);
                }
            }
        }
        // A little ridge keeps the factor alive in the last digits.
        for i in 0..n {
            self.hessian[i * n + i] *= 1.0 + 1e-13;
        }
        self.step.clear();
        self.step.extend_from_slice(&self.gradient);
        // Only the upper triangle was filled, and only that is read.
        Cholesky::new(&mut self.hessian, n)?.solve(&mut self.step);
        Some(dot(&self.step, &self.gradient))
    }

    /// How far along the step Φ and its barriers fall as they should.
    fn line_search(&mut self, z: &[f64], decrease: f64) -> Option<Vec<f64>> {
        let now = self.phi(z) + self.barrier(z);
        let mut length = 1.0f64;
        for (&z, &step) in z.iter().zip(&self.step).skip(1) {
            if step > 0.0 {
                length = length.min(0.95 * z / step);
            }
        }
        let mut trial = std::mem::take(&mut self.trial);
        for _ in 0..40 {
            trial.clear();
            trial.extend_from_slice(z);
            axpy(-length, &self.step, &mut trial);
            if self.place(&trial) {
                let phi = self.phi(&trial);
                // Every point is a valid bound; NaN is never the smaller.
                self.best = self.best.min(phi);
                if phi + self.barrier(&trial) <= now - 0.1 * length * decrease {
                    return Some(trial);
                }
            }
            length *= 0.5;
        }
        self.trial = trial;
        None
    }

    fn report(mut self) -> Bound {
        let z = std::mem::take(&mut self.z);
        self.place(&z);
        let bend = |j: usize| z[1] * self.problem.lambda[j] + (-z[0]).max(0.0) + 1e-9 * self.scale;
        let spread = (0..self.c.len()).map(|j| bend(j) * 2.0 * self.tau / self.gap[j]).collect();
        Bound { value: self.best, y: self.c.iter().zip(&self.gap).map(|(c, g)| c / g).collect(), spread }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::geometry::piece::tests::random_pieces;
    use crate::rng::{Key, uniform, unit_vector};

    /// No action of a part of a cell is better than its bound, and where the part is small the bound is close.
    #[test]
    fn bounds_hold_and_become_tight() {
        let mut stream = Key::new(3).stream();
        let mut solver = Nnls::default();
        for dim in 2..=5 {
            for margin in [0.0, 0.03] {
                for (piece, centre) in random_pieces(dim, margin, &mut stream) {
                    let (eigen, problem) = diagonalise(&piece);
                    let whole = problem.ranges(&mut solver);
                    let mut middle = vec![0.0; dim];
                    eigen.coordinates(&centre, &mut middle);
                    let mut previous = f64::INFINITY;
                    for width in [2.0, 0.3, 0.03] {
                        let mut limits = whole.clone();
                        for j in 0..dim {
                            limits.low[j] = limits.low[j].max(middle[j] - width * uniform(&mut stream));
                            limits.high[j] = limits.high[j].min(middle[j] + width * uniform(&mut stream));
                        }
                        let found = bound(&problem, &limits, &middle, f64::NEG_INFINITY, 1e-7);
                        let (mut x, mut y) = (vec![0.0; dim], vec![0.0; dim]);
                        let mut highest = piece.value(&centre);
                        for _ in 0..300 {
                            unit_vector(&mut stream, &mut x);
                            x.iter_mut().zip(&centre).for_each(|(x, c)| *x = c + width * *x);
                            let length = norm(&x);
                            x.iter_mut().for_each(|x| *x /= length);
                            eigen.coordinates(&x, &mut y);
                            let inside = |j: usize| limits.low[j] <= y[j] && y[j] <= limits.high[j];
                            if piece.slack(&x) >= 0.0 && (0..dim).all(inside) {
                                highest = highest.max(piece.value(&x));
                            }
                        }
                        assert!(highest <= found.value + 1e-9, "{highest} > {}", found.value);
                        previous = found.value - piece.value(&centre);
                    }
                    // In a part 0.03 wide the value itself changes by no more than its slope allows.
                    assert!(previous <= 0.1 * dim as f64 * piece.quick_bound(), "{previous}");
                }
            }
        }
    }

    #[test]
    fn ranges_hold_in_the_whole_cell() {
        let mut stream = Key::new(4).stream();
        for (piece, _) in random_pieces(3, 0.0, &mut stream) {
            let (eigen, problem) = diagonalise(&piece);
            let limits = problem.ranges(&mut Nnls::default());
            let (mut x, mut y) = ([0.0; 3], [0.0; 3]);
            for _ in 0..2000 {
                unit_vector(&mut stream, &mut x);
                if piece.slack(&x) >= 0.0 {
                    eigen.coordinates(&x, &mut y);
                    assert!((0..3).all(|j| limits.low[j] <= y[j] && y[j] <= limits.high[j]));
                }
            }
        }
    }
}
