//! The optimistic value on one cell, θ·x + √(xᵀMx), and its ascent inside the cell.
//!
//! The value q is convex, so the linear function with its slope w = ∇q(x) lies below it and moving to the maximum of
//! w·x raises q at least as much. On the part of the sphere where some of the constraints gᵢ·x = margin hold with
//! equality, which is a smaller sphere, that maximum is one projection; the ascent walks there along a great circle,
//! stops at the first constraint in the way, takes it in, and lets one go when its multiplier turns negative. Newton's
//! method replaces the walk where it does better.

use crate::linalg::{Cholesky, axpy, dot, norm, normalise, symmetric_times};
use crate::relu::{Pattern, ReluNet, is_active};

/// The optimistic value on a cell, with its margin.
#[derive(Debug, Clone)]
pub(super) struct Piece {
    /// θ_s.
    pub(super) theta: Vec<f64>,
    /// β²·M_s.
    pub(super) m: Vec<f64>,
    /// gᵢ = ±θ̃ᵢ, positive in the cell; zero neurons are left out.
    pub(super) walls: Vec<f64>,
    /// gᵢ·x must be at least this.
    pub(super) margin: f64,
}

impl Piece {
    pub(super) fn new(theta: Vec<f64>, m: Vec<f64>, net: &ReluNet, pattern: Pattern, margin: f64) -> Self {
        let mut walls = Vec::with_capacity(net.theta().len());
        for (i, neuron) in net.iter().enumerate() {
            if neuron.iter().any(|&x| x != 0.0) {
                let sign = if is_active(pattern, i) { 1.0 } else { -1.0 };
                walls.extend(neuron.iter().map(|x| sign * x));
            }
        }
        Piece { theta, m, walls, margin }
    }

    pub(super) fn dim(&self) -> usize {
        self.theta.len()
    }

    fn walls(&self) -> std::slice::ChunksExact<'_, f64> {
        self.walls.chunks_exact(self.dim())
    }

    /// minᵢ gᵢ·x − margin.
    pub(super) fn slack(&self, x: &[f64]) -> f64 {
        self.walls().map(|g| dot(g, x)).fold(f64::INFINITY, f64::min) - self.margin
    }

    pub(super) fn value(&self, x: &[f64]) -> f64 {
        let squared: f64 = self.m.chunks_exact(self.dim()).zip(x).map(|(row, v)| v * dot(row, x)).sum();
        dot(&self.theta, x) + squared.max(0.0).sqrt()
    }

    /// ∇q(x).
    pub(super) fn slope(&self, x: &[f64]) -> Vec<f64> {
        self.derivative(x).0
    }

    /// ∇q(x), Mx and √(xᵀMx).
    fn derivative(&self, x: &[f64]) -> (Vec<f64>, Vec<f64>, f64) {
        let mut mx = vec![0.0; self.dim()];
        symmetric_times(&self.m, x, &mut mx);
        let width = dot(x, &mx).max(0.0).sqrt();
        let mut slope = self.theta.clone();
        if width > 0.0 {
            axpy(1.0 / width, &mx, &mut slope);
        }
        (slope, mx, width)
    }

    /// A bound on the value over the whole sphere, without an eigendecomposition.
    pub(super) fn quick_bound(&self) -> f64 {
        norm(&self.theta) + norm(&self.m).sqrt()
    }
}

/// Where an ascent ends.
#[derive(Debug, Clone)]
pub(super) struct Summit {
    pub(super) x: Vec<f64>,
    pub(super) value: f64,
    /// The walls that hold it back, with their multipliers: ∇q(x) = νx − Σ μᵢgᵢ.
    pub(super) held: Vec<(usize, f64)>,
}

/// Where the ascent is: a point of the cell and the walls it is held to.
pub(super) struct Ascent<'a> {
    piece: &'a Piece,
    x: Vec<f64>,
    value: f64,
    held: Vec<usize>,
    /// An orthonormal basis of the span of the held walls.
    basis: Vec<f64>,
    multipliers: Vec<f64>,
}

impl<'a> Ascent<'a> {
    /// Goes from `inside`, a point of the cell, along the great circle to `towards` as far as
    /// the cell reaches, then uphill.
    pub(super) fn run(piece: &'a Piece, inside: &[f64], towards: &[f64]) -> Summit {
        let mut ascent =
            Ascent { piece, x: inside.to_vec(), value: 0.0, held: vec![], basis: vec![], multipliers: vec![] };
        let (x, wall) = ascent.walk(&vec![0.0; piece.dim()], 1.0, towards);
        ascent.x = x;
        ascent.hold(wall);
        ascent.value = piece.value(&ascent.x);
        // Each round moves, takes a wall in or lets one go; few rounds are needed, and the cap only ends a standstill.
        for _ in 0..40 + 8 * piece.walls.len() / piece.dim() {
            if !ascent.round() {
                break;
            }
        }
        // Out of rounds, the multipliers are of an earlier point and mean nothing.
        ascent.multipliers.resize(ascent.held.len(), 0.0);
        let held = ascent.held.into_iter().zip(ascent.multipliers).collect();
        Summit { x: ascent.x, value: ascent.value, held }
    }

    /// One step uphill; false if there is none.
    fn round(&mut self) -> bool {
        let dim = self.piece.dim();
        let (slope, mx, width) = self.piece.derivative(&self.x);
        // The held walls leave the sphere centre + radius·(unit vectors orthogonal to them).
        let mut arm = self.x.clone();
        self.project(&mut arm);
        let centre: Vec<f64> = self.x.iter().zip(&arm).map(|(x, a)| x - a).collect();
        let radius = norm(&arm);
        let mut free = slope.clone();
        self.project(&mut free);
        if self.held.len() + 1 < dim && radius > 1e-9 {
            let before = self.value;
            let mut uphill = free.clone();
            if normalise(&mut uphill) {
                uphill.iter_mut().zip(&centre).for_each(|(u, c)| *u = c + radius * *u);
                let mut best = self.walk(&centre, radius, &uphill);
                let mut value = self.piece.value(&best.0);
                if let Some(newton) = self.newton(&arm, radius, &free, &mx, width) {
                    let target: Vec<f64> = newton.iter().zip(&centre).map(|(n, c)| c + n).collect();
                    let other = self.walk(&centre, radius, &target);
                    let higher = self.piece.value(&other.0);
                    if higher > value {
                        (best, value) = (other, higher);
                    }
                }
                if value >= before {
                    self.x = best.0;
                    self.value = value;
                    // Walking into a wall without rising is still news: the wall must be held.
                    let held = self.hold(best.1);
                    if held || value > before + 1e-15 * (1.0 + before.abs()) {
                        return true;
                    }
                }
            }
        }
        self.release(&slope, &free, &arm, &centre, radius)
    }

    /// Lets go of the wall that holds the ascent back most; false if none does.
    fn release(&mut self, slope: &[f64], free: &[f64], arm: &[f64], centre: &[f64], radius: f64) -> bool {
        // w = νx − Σ μᵢgᵢ over the held walls, so what remains of νx − w lies in their span.
        let nu = if radius > 0.0 { dot(free, arm) / (radius * radius) } else { 0.0 };
        let dim = self.piece.dim();
        let pull: Vec<f64> = (0..dim).map(|j| nu * centre[j] - (slope[j] - free[j])).collect();
        self.multipliers = self.in_terms_of_walls(&pull);
        let worst = self.multipliers.iter().enumerate().min_by(|a, b| a.1.total_cmp(b.1));
        match worst {
            Some((l, &multiplier)) if multiplier < -1e-12 * (1.0 + norm(slope)) => {
                self.held.remove(l);
                let held = std::mem::take(&mut self.held);
                self.basis.clear();
                for wall in held {
                    self.hold(Some(wall));
                }
                true
            }
            _ => false,
        }
    }

    /// Coefficients of a vector of the span of the held walls.
    fn in_terms_of_walls(&self, v: &[f64]) -> Vec<f64> {
        let dim = self.piece.dim();
        let mut coefficients: Vec<f64> = self.basis.chunks_exact(dim).map(|unit| dot(unit, v)).collect();
        // The basis came from the walls in order, so wall l has no part along later basis vectors.
        for l in (0..self.held.len()).rev() {
            let unit = &self.basis[l * dim..(l + 1) * dim];
            let value = coefficients[l] / dot(unit, self.wall(self.held[l]));
            coefficients[l] = value;
            for i in 0..l {
                coefficients[i] -= value * dot(&self.basis[i * dim..(i + 1) * dim], self.wall(self.held[l]));
            }
        }
        coefficients
    }

    fn wall(&self, i: usize) -> &'a [f64] {
        &self.piece.walls[i * self.piece.dim()..][..self.piece.dim()]
    }

    /// Holds a wall, unless those held already imply it.
    fn hold(&mut self, wall: Option<usize>) -> bool {
        let Some(wall) = wall else { return false };
        let mut unit = self.wall(wall).to_vec();
        let length = norm(&unit);
        self.project(&mut unit);
        let independent = norm(&unit) > 1e-10 * length && !self.held.contains(&wall) && normalise(&mut unit);
        if independent {
            self.held.push(wall);
            self.basis.extend_from_slice(&unit);
        }
        independent
    }

    /// Takes the span of the held walls out of v.
    fn project(&self, v: &mut [f64]) {
        for _ in 0..2 {
            for unit in self.basis.chunks_exact(self.piece.dim()) {
                let along = dot(unit, v);
                axpy(-along, unit, v);
            }
        }
    }

    /// Walks on the sphere (centre, radius) from x towards `target`; returns where it ends and the wall that stopped
    /// it.
    fn walk(&self, centre: &[f64], radius: f64, target: &[f64]) -> (Vec<f64>, Option<usize>) {
        let from: Vec<f64> = self.x.iter().zip(centre).map(|(x, c)| (x - c) / radius).collect();
        let mut side: Vec<f64> = target.iter().zip(centre).map(|(x, c)| (x - c) / radius).collect();
        let along = dot(&side, &from);
        axpy(-along, &from, &mut side);
        let across = norm(&side);
        if !(across > 1e-16 && normalise(&mut side)) {
            return (self.x.clone(), None);
        }
        let mut angle = libm::atan2(across, along);
        let mut stop = None;
        for (i, wall) in self.piece.walls().enumerate() {
            if self.held.contains(&i) {
                continue;
            }
            // gᵢ·x(φ) = rest + reach·cos(φ − peak).
            let (a, b) = (radius * dot(wall, &from), radius * dot(wall, &side));
            let reach = (a * a + b * b).sqrt();
            let needed = self.piece.margin - dot(wall, centre);
            if reach <= needed.abs() && (needed <= 0.0 || reach < 1e-12) {
                continue;
            }
            let exit = libm::atan2(b, a) + libm::acos((needed / reach).clamp(-1.0, 1.0));
            if exit < angle {
                angle = exit.max(0.0);
                stop = Some(i);
            }
        }
        let (c, s) = (radius * libm::cos(angle), radius * libm::sin(angle));
        let mut x: Vec<f64> = (0..self.x.len()).map(|j| centre[j] + c * from[j] + s * side[j]).collect();
        normalise(&mut x);
        (x, stop)
    }

    /// Newton's step on the sphere of the held walls: the new arm, if the value is concave along it.
    fn newton(&self, arm: &[f64], radius: f64, free: &[f64], mx: &[f64], width: f64) -> Option<Vec<f64>> {
        let dim = self.piece.dim();
        let nu = dot(free, arm) / (radius * radius);
        if !(nu > 0.0 && width > 0.0) {
            return None;
        }
        let direction: Vec<f64> = arm.iter().map(|a| a / radius).collect();
        let tangent = |v: &mut [f64]| {
            self.project(v);
            let along = dot(&direction, v);
            axpy(-along, &direction, v);
        };
        // P(M − (Mx)(Mx)ᵀ/t²)P/t, first its columns, then its rows.
        let mut hessian = self.piece.m.clone();
        for (row, &a) in hessian.chunks_exact_mut(dim).zip(mx) {
            axpy(-a / (width * width), mx, row);
            tangent(row);
        }
        for i in 0..dim {
            for j in 0..i {
                hessian.swap(i * dim + j, j * dim + i);
            }
        }
        for (i, row) in hessian.chunks_exact_mut(dim).enumerate() {
            tangent(row);
            row.iter_mut().for_each(|x| *x /= -width);
            row[i] += nu;
        }
        let mut step = free.to_vec();
        tangent(&mut step);
        Cholesky::new(&mut hessian, dim)?.solve(&mut step);
        axpy(1.0, arm, &mut step);
        normalise(&mut step).then(|| step.iter().map(|x| radius * x).collect())
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::geometry::Cells;
    use crate::rng::{Key, Stream, normal, unit_vector};

    /// A random piece on each cell of a random network, with a point inside.
    pub(in crate::geometry) fn random_pieces(dim: usize, margin: f64, stream: &mut Stream) -> Vec<(Piece, Vec<f64>)> {
        let net = ReluNet::random(dim, dim + 2, stream);
        let cells = Cells::with_margin(&net, margin).unwrap();
        cells
            .map(|cell| {
                let theta = (0..dim).map(|_| normal(stream)).collect();
                let root: Vec<f64> = (0..dim * dim).map(|_| normal(stream)).collect();
                let entry = |i: usize, j: usize| dot(&root[i * dim..][..dim], &root[j * dim..][..dim]);
                let m = (0..dim * dim).map(|l| entry(l / dim, l % dim)).collect();
                (Piece::new(theta, m, &net, cell.pattern, margin), cell.centre)
            })
            .collect()
    }

    /// The conditions of Karush, Kuhn and Tucker at the summit, and no neighbour that is higher.
    #[test]
    fn summits_are_local_maxima_of_the_cell() {
        let mut stream = Key::new(1).stream();
        for dim in 2..=6 {
            for margin in [0.0, 0.03] {
                for (piece, centre) in random_pieces(dim, margin, &mut stream) {
                    let mut towards = vec![0.0; dim];
                    unit_vector(&mut stream, &mut towards);
                    let summit = Ascent::run(&piece, &centre, &towards);
                    assert!((norm(&summit.x) - 1.0).abs() < 1e-14);
                    assert!(piece.slack(&summit.x) > -1e-12);
                    assert_eq!(summit.value, piece.value(&summit.x));
                    let mut rest = piece.slope(&summit.x);
                    for &(i, multiplier) in &summit.held {
                        let wall = &piece.walls[i * dim..][..dim];
                        assert!(multiplier > -1e-9 && (dot(wall, &summit.x) - margin).abs() < 1e-12);
                        axpy(multiplier, wall, &mut rest);
                    }
                    let nu = dot(&rest, &summit.x);
                    axpy(-nu, &summit.x, &mut rest);
                    assert!(norm(&rest) < 1e-6, "{} at d = {dim}", norm(&rest));
                    for _ in 0..50 {
                        let mut near = vec![0.0; dim];
                        unit_vector(&mut stream, &mut near);
                        near.iter_mut().zip(&summit.x).for_each(|(n, x)| *n = x + 1e-3 * *n);
                        normalise(&mut near);
                        assert!(piece.slack(&near) < 0.0 || piece.value(&near) <= summit.value + 1e-12);
                    }
                }
            }
        }
    }

    #[test]
    fn the_quick_bound_holds() {
        let mut stream = Key::new(2).stream();
        for (piece, _) in random_pieces(4, 0.0, &mut stream) {
            let mut x = vec![0.0; 4];
            for _ in 0..200 {
                unit_vector(&mut stream, &mut x);
                assert!(piece.value(&x) <= piece.quick_bound());
            }
        }
    }
}
