//! A linear function with a constant: the smallest model, and the one that is left when no network explains the rewards.

use serde::{Deserialize, Serialize};

use crate::arms::{Rows, Score};
use crate::ellipsoid::Ellipsoid;
use crate::kernels::linear_scores;
use crate::spare::with_zeros;

/// Next to nothing: the size of the rewards is not known.
const LAMBDA: f64 = 1e-3;
/// Widths in standard deviations of the residuals.
const WIDTH: f64 = 1.0;
/// Verdicts and errors are averaged over about this many rounds.
const MEMORY: f64 = 20.0;
/// The networks are given up when the linear model won more than this share of recent rounds, and taken back below `TAKE_BACK`.
const GIVE_UP: f64 = 0.5;
const TAKE_BACK: f64 = 0.25;

/// Ridge regression on (x, 1), and a comparison of its predictions with those of the networks.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Fallback {
    ridge: Ellipsoid,
    /// The first reward. The regression is on what differs from it, so that an offset of all rewards means nothing.
    origin: f64,
    /// Recent mean squared errors of predictions made before the reward was seen.
    linear_error: f64,
    network_error: f64,
    /// The share of recent rounds that the linear model won.
    lead: f64,
    /// Squared residuals, and their number, for the width.
    squares: f64,
    count: f64,
    /// Whether the linear model acts.
    pub(super) acts: bool,
}

impl Fallback {
    pub(super) fn new(dim: usize) -> Self {
        let ridge = Ellipsoid::ridge(dim + 1, LAMBDA);
        Fallback {
            ridge,
            origin: 0.0,
            linear_error: 0.0,
            network_error: 0.0,
            lead: 0.0,
            squares: 0.0,
            count: 0.0,
            acts: false,
        }
    }

    /// Learns (x, y), for which the networks had predicted `predicted`.
    pub(super) fn learn(&mut self, x: &[f64], y: f64, predicted: f64) {
        with_zeros(x.len() + 1, |phi| {
            phi[..x.len()].copy_from_slice(x);
            phi[x.len()] = 1.0;
            self.learn_features(phi, y, predicted);
        });
    }

    fn learn_features(&mut self, phi: &[f64], y: f64, predicted: f64) {
        if self.count == 0.0 {
            self.origin = y;
        }
        let square = |miss: f64| (miss * miss).min(1e250);
        let linear = square(y - self.origin - self.ridge.mean(phi));
        let network = square(y - predicted);
        // What is predicted before anything was seen says nothing.
        if self.count > 0.0 {
            // An error that the noise, as the linear model sees it, explains is no defeat.
            let won = network > 2.0 * linear + 4.0 * self.spread() * self.spread();
            let memory = (self.count + 1.0).min(MEMORY);
            self.lead += (f64::from(won) - self.lead) / memory;
            self.linear_error += (linear - self.linear_error) / memory;
            self.network_error += (network - self.network_error) / memory;
        }
        self.squares += linear / (1.0 + self.ridge.squared_width(phi));
        self.count += 1.0;
        self.ridge.update(phi, y - self.origin);
        self.acts = self.lead > if self.acts { TAKE_BACK } else { GIVE_UP };
    }

    /// The root mean square of the recent errors of the networks and of the linear model.
    pub(super) fn errors(&self) -> (f64, f64) {
        (self.network_error.sqrt(), self.linear_error.sqrt())
    }

    /// The size of a residual of the linear model.
    fn spread(&self) -> f64 {
        (self.squares / self.count.max(1.0)).sqrt()
    }

    pub(super) fn score(&self, rows: Rows<'_>, scores: &mut Vec<Score>) {
        scores.clear();
        linear_scores(self.ridge.weights(), self.ridge.covariance(), WIDTH * self.spread(), rows, scores);
        scores.iter_mut().for_each(|score| score.mean += self.origin);
    }

    pub(super) fn is_consistent(&self, dim: usize) -> bool {
        let numbers = [self.linear_error, self.network_error, self.lead, self.squares, self.count];
        self.ridge.dim() == dim + 1 && self.origin.is_finite() && numbers.iter().all(|x| *x >= 0.0)
    }
}
