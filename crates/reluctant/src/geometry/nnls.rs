//! Nonnegative least squares, the one small optimisation that the geometry of cones needs.
//!
//! min ‖Aν − b‖ over ν ≥ 0, by the active-set method of Lawson and Hanson (1974, chapter 23). Its residual ρ = b − Aν
//! answers three questions about a cone {x : gᵢ·x ≥ 0}:
//!
//! | A | b | answer |
//! | --- | --- | --- |
//! | gᵢ | θ | does θ·x < 0 occur in the cone? Only if ρ ≠ 0, and then at x = −ρ (Farkas) |
//! | −gᵢ | s | ρ is the projection of s on the cone (Moreau) |
//! | (gᵢ, ω) | (0, …, 0, 1) | the x of least norm with gᵢ·x ≥ ω, which points to the best-centred direction of the cone |

use crate::linalg::{axpy, dot, norm};

/// A column is worth taking in only if it would shrink the residual by more than rounding does.
const SLACK: f64 = 1e-14;

/// A problem and the memory to solve it in.
#[derive(Debug, Clone, Default)]
pub(super) struct Nnls {
    rows: usize,
    /// The columns of A, one after the other.
    columns: Vec<f64>,
    norms: Vec<f64>,
    weights: Vec<f64>,
    residual: Vec<f64>,
    passive: Vec<usize>,
    blocked: Vec<bool>,
    /// Orthonormal columns and the triangular factor (column after column) of the passive part of A.
    q: Vec<f64>,
    r: Vec<f64>,
    trial: Vec<f64>,
}

impl Nnls {
    /// Starts a problem with `rows` rows and no columns yet.
    pub(super) fn start(&mut self, rows: usize) {
        self.rows = rows;
        self.columns.clear();
    }

    /// Adds the column m·a.
    pub(super) fn push(&mut self, m: f64, a: &[f64]) {
        self.columns.extend(a.iter().map(|x| m * x));
    }

    /// Adds the column (m·a, last).
    pub(super) fn push_extended(&mut self, m: f64, a: &[f64], last: f64) {
        self.push(m, a);
        self.columns.push(last);
    }

    /// The residual b − Aν after [`Nnls::solve`].
    pub(super) fn residual(&self) -> &[f64] {
        &self.residual
    }

    /// ν after [`Nnls::solve`].
    pub(super) fn weights(&self) -> &[f64] {
        &self.weights
    }

    fn column(&self, j: usize) -> &[f64] {
        &self.columns[j * self.rows..(j + 1) * self.rows]
    }

    /// Solves for `target`.
    pub(super) fn solve(&mut self, target: &[f64]) {
        let count = self.columns.len() / self.rows.max(1);
        self.norms.clear();
        self.norms.extend(self.columns.chunks_exact(self.rows.max(1)).map(norm));
        self.weights.clear();
        self.weights.resize(count, 0.0);
        self.blocked.clear();
        self.blocked.resize(count, false);
        self.passive.clear();
        self.residual.clear();
        self.residual.extend_from_slice(target);
        let small = SLACK * norm(target);
        // Each round lowers the residual, so no passive set comes back; the cap only guards against rounding.
        for _ in 0..6 * (count + self.rows) {
            let Some(entering) = self.steepest(small) else { break };
            self.passive.push(entering);
            if !self.settle(target, entering) {
                self.blocked[entering] = true;
                continue;
            }
            self.blocked.fill(false);
            self.update_residual(target);
        }
    }

    /// The column outside of the passive set that points most along the residual.
    fn steepest(&self, small: f64) -> Option<usize> {
        let mut best = None;
        let mut steepest = small;
        for j in 0..self.norms.len() {
            if self.norms[j] <= 0.0 || self.blocked[j] || self.passive.contains(&j) {
                continue;
            }
            let slope = dot(self.column(j), &self.residual) / self.norms[j];
            if slope > steepest {
                steepest = slope;
                best = Some(j);
            }
        }
        best
    }

    /// Least squares on the passive columns, dropping those whose weight would turn negative; false if the entering
    /// column itself would, which only rounding can bring about.
    fn settle(&mut self, target: &[f64], entering: usize) -> bool {
        let mut first = true;
        loop {
            if !self.least_squares(target) || (first && self.trial.last().is_some_and(|&w| w <= 0.0)) {
                self.passive.retain(|&j| j != entering);
                self.weights[entering] = 0.0;
                return false;
            }
            first = false;
            if self.trial.iter().all(|&w| w > 0.0) {
                for (&j, &w) in self.passive.iter().zip(&self.trial) {
                    self.weights[j] = w;
                }
                return true;
            }
            let mut step = 1.0f64;
            for (&j, &w) in self.passive.iter().zip(&self.trial) {
                if w <= 0.0 {
                    step = step.min(self.weights[j] / (self.weights[j] - w));
                }
            }
            for (&j, &w) in self.passive.iter().zip(&self.trial) {
                self.weights[j] += step * (w - self.weights[j]);
                // The column that set the step leaves even if rounding keeps a trace of it.
                if w <= 0.0 && self.weights[j] <= 1e-15 * w.abs() {
                    self.weights[j] = 0.0;
                }
            }
            let before = self.passive.len();
            let weights = &self.weights;
            self.passive.retain(|&j| weights[j] > 0.0);
            if self.passive.len() == before {
                return true;
            }
        }
    }

    /// Fits `target` by the passive columns into `trial`; false if they are dependent.
    fn least_squares(&mut self, target: &[f64]) -> bool {
        let (n, p) = (self.rows, self.passive.len());
        self.q.clear();
        self.r.clear();
        self.r.resize(p * p, 0.0);
        self.trial.clear();
        for (l, &j) in self.passive.iter().enumerate() {
            self.q.extend_from_slice(&self.columns[j * n..(j + 1) * n]);
            let (done, column) = self.q.split_at_mut(l * n);
            // Gram–Schmidt twice is as good as Householder.
            for _ in 0..2 {
                for (i, unit) in done.chunks_exact(n).enumerate() {
                    let along = dot(unit, column);
                    self.r[l * p + i] += along;
                    axpy(-along, unit, column);
                }
            }
            let length = norm(column);
            if length <= 1e-13 * self.norms[j] {
                return false;
            }
            self.r[l * p + l] = length;
            column.iter_mut().for_each(|x| *x /= length);
        }
        self.trial.extend(self.q.chunks_exact(n.max(1)).map(|unit| dot(unit, target)));
        for l in (0..p).rev() {
            let w = self.trial[l] / self.r[l * p + l];
            self.trial[l] = w;
            for i in 0..l {
                self.trial[i] -= w * self.r[l * p + i];
            }
        }
        true
    }

    /// b − Aν. Taking the passive span out of b, twice, keeps a small residual accurate where b − Aν would cancel.
    fn update_residual(&mut self, target: &[f64]) {
        self.residual.copy_from_slice(target);
        for _ in 0..2 {
            for unit in self.q.chunks_exact(self.rows.max(1)) {
                let along = dot(unit, &self.residual);
                axpy(-along, unit, &mut self.residual);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// The conditions of Karush, Kuhn and Tucker: ν ≥ 0, Aᵀρ ≤ 0, and Aᵀρ = 0 where ν > 0.
        #[test]
        fn the_optimality_conditions_hold(
            (n, columns, target) in (1usize..7, 1usize..12).prop_flat_map(|(n, k)| (
                Just(n),
                prop::collection::vec(-1.0..1.0f64, n * k),
                prop::collection::vec(-1.0..1.0f64, n),
            ))
        ) {
            let mut problem = Nnls::default();
            problem.start(n);
            columns.chunks_exact(n).for_each(|c| problem.push(1.0, c));
            problem.solve(&target);
            let mut rebuilt = problem.residual().to_vec();
            for (c, &w) in columns.chunks_exact(n).zip(problem.weights()) {
                prop_assert!(w >= 0.0);
                axpy(w, c, &mut rebuilt);
                let slope = dot(c, problem.residual());
                prop_assert!(slope < 1e-12);
                prop_assert!(w == 0.0 || slope.abs() < 1e-12 * (1.0 + w));
            }
            let scale = 1.0 + problem.weights().iter().sum::<f64>();
            prop_assert!(rebuilt.iter().zip(&target).all(|(a, b)| (a - b).abs() < 1e-12 * scale));
        }
    }

    #[test]
    fn repeated_and_zero_columns_do_no_harm() {
        let mut problem = Nnls::default();
        problem.start(2);
        for column in [[1.0, 0.0], [1.0, 0.0], [0.0, 0.0], [-1.0, 0.0], [1.0, 1e-17]] {
            problem.push(1.0, &column);
        }
        problem.solve(&[2.0, 3.0]);
        assert!((problem.residual()[0]).abs() < 1e-15 && (problem.residual()[1] - 3.0).abs() < 1e-14);
    }
}
