//! A linear function with a constant: the smallest model, and the one that is left when no network explains the rewards.

use serde::{Deserialize, Serialize};

use crate::arms::{Rows, Score};
use crate::ellipsoid::Ellipsoid;
use crate::kernels::linear_scores;

const LAMBDA: f64 = 0.1;
/// Widths in standard deviations of the residuals.
const WIDTH: f64 = 2.0;
/// Errors are averaged over about this many rounds.
const MEMORY: f64 = 50.0;
/// The networks are given up when their recent errors are so many times the linear model's, and taken back when they are fewer than
/// `TAKE_BACK` times.
const GIVE_UP: f64 = 1.5;
const TAKE_BACK: f64 = 1.1;

/// Ridge regression on (x, 1), and a comparison of its predictions with those of the networks.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Fallback {
    ridge: Ellipsoid,
    /// Recent squared errors of predictions made before the reward was seen, and how many rounds they stand for.
    linear_error: f64,
    network_error: f64,
    weight: f64,
    /// Squared residuals, and their number, for the width.
    squares: f64,
    count: f64,
    /// Whether the linear model acts.
    pub(super) acts: bool,
}

impl Fallback {
    pub(super) fn new(dim: usize) -> Self {
        let ridge = Ellipsoid::ridge(dim + 1, LAMBDA);
        Fallback { ridge, linear_error: 0.0, network_error: 0.0, weight: 0.0, squares: 0.0, count: 0.0, acts: false }
    }

    /// Learns (x, y), for which the networks of noise level σ had predicted `predicted`.
    pub(super) fn learn(&mut self, x: &[f64], y: f64, predicted: f64, sigma: f64) {
        let phi: Vec<f64> = x.iter().copied().chain([1.0]).collect();
        let size = phi.len() as f64;
        let miss = y - self.ridge.mean(&phi);
        let keep = 1.0 - 1.0 / MEMORY;
        self.linear_error = keep * self.linear_error + miss * miss;
        self.network_error = keep * self.network_error + (y - predicted) * (y - predicted);
        self.weight = keep * self.weight + 1.0;
        // What was predicted before the regression had seen as much as it has unknowns says nothing about the noise.
        let surprise = miss * miss / (1.0 + self.ridge.squared_width(&phi));
        self.squares += surprise;
        self.count += 1.0;
        self.ridge.update(&phi, y);
        let settled = self.count >= 2.0 * size;
        let bar = if self.acts { TAKE_BACK } else { GIVE_UP };
        // A few unlucky rounds are no reason.
        let luck = 9.0 * sigma * sigma;
        self.acts = settled && self.network_error > bar * self.linear_error + luck;
    }

    /// The root mean square of the recent errors of the networks and of the linear model.
    pub(super) fn errors(&self) -> (f64, f64) {
        let mean = |error: f64| (error / self.weight.max(1.0)).sqrt();
        (mean(self.network_error), mean(self.linear_error))
    }

    pub(super) fn score(&self, rows: Rows<'_>, scores: &mut Vec<Score>) {
        let spread = (self.squares / self.count.max(1.0)).sqrt();
        scores.clear();
        linear_scores(self.ridge.weights(), self.ridge.covariance(), WIDTH * spread, rows, scores);
    }

    pub(super) fn is_consistent(&self, dim: usize) -> bool {
        let numbers = [self.linear_error, self.network_error, self.weight, self.squares, self.count];
        self.ridge.dim() == dim + 1 && numbers.iter().all(|x| *x >= 0.0)
    }
}
