//! A linear function with a constant: the smallest model, and the one that is left when no
//! network explains the rewards.

use serde::{Deserialize, Serialize};

use super::constants::{GIVE_UP, LINE_RIDGE, MEMORY, TAKE_BACK};
use crate::belief::add_draw;
use crate::choice::Score;
use crate::ellipsoid::Ellipsoid;
use crate::kernels::linear_scores;
use crate::linalg::dot;
use crate::offer::Rows;
use crate::rng::Key;
use crate::scratch::Scratch;
use crate::spare::with_zeros;

/// Ridge regression on (x, 1), and a comparison of its predictions with those of the networks.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Line {
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
    /// Whether it has predicted so much better lately that it acts.
    pub(super) acts: bool,
    /// By how much its evidence exceeds that of the best network, in units of 2 log, when they were last compared.
    pub(super) advantage: f64,
}

impl Line {
    pub(super) fn new(dim: usize) -> Self {
        let ridge = Ellipsoid::ridge(dim + 1, LINE_RIDGE);
        Line {
            ridge,
            origin: 0.0,
            linear_error: 0.0,
            network_error: 0.0,
            lead: 0.0,
            squares: 0.0,
            count: 0.0,
            acts: false,
            advantage: 0.0,
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

    /// The loss and the price of its evidence, which is that of a normal prior with variance σ²/λ: −2 log of it is
    /// loss/σ² + price, up to what all models share. Residuals relative to what was known before each are independent.
    pub(super) fn evidence(&self) -> (f64, f64) {
        (self.squares, self.ridge.log_det_ratio())
    }

    /// The reward of all of `seen` rounds, if it saw them all and there was no other.
    pub(super) fn only_reward(&self, seen: u64) -> Option<f64> {
        (self.squares == 0.0 && self.count == seen as f64 && seen > 0).then_some(self.origin)
    }

    /// The size of a residual of the linear model.
    fn spread(&self) -> f64 {
        (self.squares / self.count.max(1.0)).sqrt()
    }

    pub(crate) fn score(&self, rows: Rows<'_>, scale: f64, scores: &mut Vec<Score>) {
        scores.clear();
        linear_scores(self.ridge.weights(), self.ridge.covariance(), scale * self.spread(), rows, scores);
        scores.iter_mut().for_each(|score| score.mean += self.origin);
    }

    /// The values of a line drawn from the posterior, `scale` times as far from the mean.
    pub(super) fn draw(&self, rows: Rows<'_>, scale: f64, key: Key, scratch: &mut Scratch) {
        let mut weights = self.ridge.weights().to_vec();
        add_draw(self.ridge.covariance(), scale * self.spread(), key, &mut weights, &mut Vec::new());
        let (slope, constant) = weights.split_at(rows.dim());
        scratch.numbers.clear();
        scratch.numbers.extend((0..rows.len()).map(|i| self.origin + constant[0] + dot(slope, rows.get(i))));
    }

    pub(super) fn is_consistent(&self, dim: usize) -> bool {
        let numbers = [self.linear_error, self.network_error, self.lead, self.squares, self.count];
        let finite = self.origin.is_finite() && self.advantage.is_finite();
        self.ridge.dim() == dim + 1 && finite && numbers.iter().all(|x| *x >= 0.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linalg::Cholesky;
    use crate::rng::{Key, normal};

    #[test]
    fn its_evidence_is_the_density_of_the_rewards() {
        let (n, sigma) = (7, 0.3);
        let mut stream = Key::new(1).stream();
        let mut line = Line::new(2);
        let (mut features, mut rewards) = (Vec::new(), Vec::new());
        for _ in 0..n {
            let (x, y) = ([normal(&mut stream), normal(&mut stream)], normal(&mut stream));
            line.learn(&x, y, 0.0);
            features.push([x[0], x[1], 1.0]);
            rewards.push(y - line.origin);
        }
        // Normal with covariance σ²(I + ΦΦᵀ/λ).
        let mut covariance = vec![0.0; n * n];
        for i in 0..n {
            for j in 0..n {
                let product: f64 = features[i].iter().zip(&features[j]).map(|(a, b)| a * b).sum();
                covariance[i * n + j] = sigma * sigma * (f64::from(i == j) + product / LINE_RIDGE);
            }
        }
        let factor = Cholesky::new(&mut covariance, n).unwrap();
        let mut solved = rewards.clone();
        factor.solve(&mut solved);
        let quadratic: f64 = rewards.iter().zip(&solved).map(|(a, b)| a * b).sum();
        let expected = quadratic + factor.log_det() - n as f64 * (sigma * sigma).ln();
        let (loss, price) = line.evidence();
        let found = loss / (sigma * sigma) + price;
        assert!((found - expected).abs() < 1e-6 * expected.abs(), "{found} is not {expected}");
    }
}
