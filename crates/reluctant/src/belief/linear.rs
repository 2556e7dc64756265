//! Bayesian linear regression on features of x: the belief of `oful` and `lin-ts`.
//!
//! With noise of standard deviation σ and the prior N(0, σ²/λ·I), the weights have the posterior N(ŵ, σ²A⁻¹), ŵ and A
//! those of ridge regression ([`crate::ellipsoid`]). So the mean at x is φ·ŵ and its standard deviation σ·√(φᵀA⁻¹φ).
//! Spreads are told in units of σ, which the belief does not know.

use serde::{Deserialize, Serialize};

use super::features::Features;
use super::forgetting::Forgetting;
use super::{Belief, state};
use crate::choice::Score;
use crate::ellipsoid::Ellipsoid;
use crate::error::{Error, Result};
use crate::kernels::linear_scores;
use crate::linalg::{Cholesky, axpy, dot};
use crate::offer::Rows;
use crate::params::Params;
use crate::rng::{Key, Purpose, normal};
use crate::scratch::Scratch;

/// Bayesian linear regression on features of x.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Linear {
    dim: usize,
    features: Features,
    ellipsoid: Ellipsoid,
    /// The prior precision, and when to forget.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    forgetting: Option<(f64, Forgetting)>,
    /// Memory for the features of an x.
    #[serde(skip)]
    phi: Vec<f64>,
}

impl Linear {
    /// Knows nothing yet of an x of dimension `dim`; λ is the ridge penalty.
    pub fn new(dim: usize, features: Features, lambda: f64) -> Result<Self> {
        if dim == 0 {
            return Err(Error::out_of_range("dim", dim, "at least 1"));
        }
        if !(lambda > 0.0 && lambda.is_finite()) {
            return Err(Error::out_of_range("lambda", lambda, "a number greater than 0"));
        }
        features.check(dim)?;
        let ellipsoid = Ellipsoid::ridge(features.count(dim), lambda);
        Ok(Linear { dim, features, ellipsoid, forgetting: None, phi: Vec::new() })
    }

    /// The same, but an observation counts by γ less with each later one.
    pub fn forgetting(self, discount: f64) -> Result<Self> {
        if !(discount > 0.0 && discount <= 1.0) {
            return Err(Error::out_of_range("discount", discount, "a number greater than 0 and at most 1"));
        }
        // Plain ridge: the whole diagonal is λ.
        let lambda = 1.0 / self.ellipsoid.covariance()[0];
        Ok(Linear { forgetting: Forgetting::new(discount).map(|forgetting| (lambda, forgetting)), ..self })
    }

    /// With the parameters of a policy: `lambda`, `features`, `degree` and `discount`.
    pub(crate) fn read(dim: usize, params: &Params) -> Result<Self> {
        let belief = Linear::new(dim, Features::read(dim, params)?, params.real("lambda")?)?;
        belief.forgetting(params.real("discount")?)
    }

    /// Whether the parts fit together, for a belief read from a file.
    pub(crate) fn is_consistent(&self) -> bool {
        self.ellipsoid.dim() == self.features.count(self.dim)
            && self.forgetting.is_none_or(|(lambda, forgetting)| lambda > 0.0 && forgetting.is_consistent())
    }

    /// Whether old observations lose weight.
    pub(crate) fn forgets(&self) -> bool {
        self.forgetting.is_some()
    }

    /// What it sees of x.
    pub fn features(&self) -> Features {
        self.features
    }

    /// The regression.
    pub fn ellipsoid(&self) -> &Ellipsoid {
        &self.ellipsoid
    }

    /// Weights drawn from N(ŵ, scale²A⁻¹), into `scratch.drawn`.
    pub(crate) fn draw_weights(&self, scale: f64, key: Key, scratch: &mut Scratch) {
        let Scratch { drawn: weights, numbers: work, .. } = scratch;
        weights.clear();
        weights.extend_from_slice(self.ellipsoid.weights());
        add_draw(self.ellipsoid.covariance(), scale, key, weights, work);
    }

    /// Mean and `scale` times the spread of the value at x less that at y. `phi` is memory to work in.
    pub(crate) fn difference(&self, x: &[f64], y: &[f64], scale: f64, phi: &mut Vec<f64>) -> Score {
        phi.clear();
        self.features.append(y, phi);
        let size = phi.len();
        self.features.append(x, phi);
        let (first, second) = phi.split_at_mut(size);
        first.iter_mut().zip(second).for_each(|(y, x)| *y = *x - *y);
        phi.truncate(size);
        let (mean, squared) = self.ellipsoid.mean_and_squared_width(phi);
        Score { mean, width: scale * squared.sqrt() }
    }

    /// The means of all rows, without their spreads, into [`Scratch::scores`].
    pub(crate) fn means(&self, rows: Rows<'_>, scratch: &mut Scratch) {
        let Scratch { scores, phi, .. } = scratch;
        scores.clear();
        scores.extend(rows.iter().map(|x| {
            phi.clear();
            self.features.append(x, phi);
            Score { mean: self.ellipsoid.mean(phi), width: 0.0 }
        }));
    }

    /// Mean and `scale` times the spread at one x. `phi` holds its features afterwards.
    pub(crate) fn score_of(&self, x: &[f64], scale: f64, phi: &mut Vec<f64>) -> Score {
        phi.clear();
        self.features.append(x, phi);
        let (mean, squared) = self.ellipsoid.mean_and_squared_width(phi);
        Score { mean, width: scale * squared.sqrt() }
    }
}

/// Adds to `weights` what a draw from N(0, scale²·covariance) is. `work` is memory to work in.
pub(crate) fn add_draw(covariance: &[f64], scale: f64, key: Key, weights: &mut [f64], work: &mut Vec<f64>) {
    let size = weights.len();
    let mut stream = key.purpose(Purpose::Choice).stream();
    let greatest = covariance.iter().step_by(size + 1).fold(0.0, |m: f64, x| m.max(*x));
    // Rounding can cost a nearly singular A⁻¹ its definiteness; a ridge that no reward would notice gives it back.
    for ridge in [0.0, 1e-15, 1e-13, 1e-11] {
        work.clear();
        work.extend_from_slice(covariance);
        work.iter_mut().step_by(size + 1).for_each(|x| *x += ridge * greatest);
        if Cholesky::new(work, size).is_some() {
            // A⁻¹ = UᵀU, so Uᵀz has the covariance A⁻¹.
            for (i, row) in work.chunks_exact(size).enumerate() {
                axpy(scale * normal(&mut stream), &row[i..], &mut weights[i..]);
            }
            break;
        }
    }
}

impl Belief for Linear {
    fn kind(&self) -> &'static str {
        "linear"
    }

    fn describe(&self) -> String {
        "a linear function".to_owned()
    }

    fn as_linear(&self) -> Option<&Linear> {
        Some(self)
    }

    fn dim(&self) -> usize {
        self.dim
    }

    fn learn(&mut self, x: &[f64], y: f64) {
        if let Some((lambda, forgetting)) = &mut self.forgetting
            && let Some(factor) = forgetting.count()
        {
            self.ellipsoid.forget(factor, *lambda);
        }
        if self.features == Features::Raw {
            return self.ellipsoid.update(x, y);
        }
        self.phi.clear();
        self.features.append(x, &mut self.phi);
        self.ellipsoid.update(&self.phi, y);
    }

    fn predict(&self, rows: Rows<'_>, scale: f64, scratch: &mut Scratch) {
        let Scratch { scores, numbers, phi, .. } = scratch;
        scores.clear();
        let (w, m) = (self.ellipsoid.weights(), self.ellipsoid.covariance());
        if rows.len() == 1 {
            scores.push(self.score_of(rows.get(0), scale, phi));
        } else if !self.features.needs_finite_arms() {
            // The kernel knows about the constant.
            linear_scores(w, m, scale, rows, scores);
        } else {
            numbers.clear();
            rows.iter().for_each(|x| self.features.append(x, numbers));
            linear_scores(w, m, scale, Rows::trusted(w.len(), numbers), scores);
        }
    }

    fn draw(&self, rows: Rows<'_>, scale: f64, key: Key, scratch: &mut Scratch) {
        self.draw_weights(scale, key, scratch);
        let Scratch { drawn: weights, numbers: values, phi, .. } = scratch;
        values.clear();
        if self.features == Features::Raw {
            // An arm is its own features: no need to copy it.
            values.extend(rows.iter().map(|x| dot(weights, x)));
            return;
        }
        values.extend(rows.iter().map(|x| {
            phi.clear();
            self.features.append(x, phi);
            dot(weights, phi)
        }));
    }

    fn save(&self) -> Result<serde_json::Value> {
        state(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn learnt(discount: f64) -> Linear {
        let mut belief = Linear::new(2, Features::Monomials(2), 0.01).unwrap().forgetting(discount).unwrap();
        let mut stream = Key::new(1).stream();
        for _ in 0..40 {
            belief.learn(&[normal(&mut stream), normal(&mut stream)], normal(&mut stream));
        }
        belief
    }

    /// The covariance of many draws against scale²A⁻¹, entry by entry.
    #[test]
    fn weights_are_drawn_from_the_posterior() {
        let belief = learnt(1.0);
        let size = belief.ellipsoid.dim();
        let (n, scale): (u64, f64) = (20_000, 0.6);
        let mut scratch = Scratch::default();
        let (mut sum, mut squares) = (vec![0.0; size], vec![0.0; size * size]);
        for round in 0..n {
            belief.draw_weights(scale, Key::new(2).round(round), &mut scratch);
            let off: Vec<f64> = scratch.drawn.iter().zip(belief.ellipsoid.weights()).map(|(a, b)| a - b).collect();
            for i in 0..size {
                sum[i] += off[i] / n as f64;
                axpy(off[i] / n as f64, &off, &mut squares[i * size..(i + 1) * size]);
            }
        }
        let covariance = |i: usize, j: usize| scale * scale * belief.ellipsoid.covariance()[i * size + j];
        for i in 0..size {
            assert!(sum[i].abs() < 5.0 * (covariance(i, i) / n as f64).sqrt());
            for j in 0..size {
                let error = (squares[i * size + j] - covariance(i, j)).abs();
                assert!(error < 5.0 * (2.0 * covariance(i, i) * covariance(j, j) / n as f64).sqrt(), "{i} {j}");
            }
        }
    }

    /// A value that is drawn alone has the law that it has among others, and a function is the same wherever it is
    /// asked for.
    #[test]
    fn a_drawn_function_is_named_by_its_key() {
        let belief = learnt(1.0);
        let data = [0.3, -0.2, 1.0, 0.5, -0.7, 0.1];
        let (many, few) = (Rows::new(2, &data).unwrap(), Rows::new(2, &data[..4]).unwrap());
        let (mut a, mut b) = (Scratch::default(), Scratch::default());
        belief.draw(many, 0.5, Key::new(4), &mut a);
        belief.draw(few, 0.5, Key::new(4), &mut b);
        assert_eq!(a.values()[..2], *b.values());
        let n = 20_000;
        let one = Rows::new(2, &data[..2]).unwrap();
        let moments = |alone: bool| {
            let (mut sum, mut squares, mut scratch) = (0.0, 0.0, Scratch::default());
            for round in 0..n {
                let key = Key::new(5).round(round);
                belief.draw(many, 0.5, key, &mut scratch);
                let among = scratch.values()[0];
                let value = if alone { belief.draw_at(one.get(0), 0.5, key, &mut scratch).1 } else { among };
                sum += value / n as f64;
                squares += value.powi(2) / n as f64;
            }
            (sum, (squares - sum * sum).sqrt())
        };
        let (mean, spread) = {
            let score = belief.score_of(one.get(0), 0.5, &mut Vec::new());
            (score.mean, score.width)
        };
        for (found, sd) in [moments(true), moments(false)] {
            assert!((found - mean).abs() < 5.0 * spread / (n as f64).sqrt(), "{found} {mean}");
            assert!((sd / spread - 1.0).abs() < 5.0 / (2.0 * n as f64).sqrt(), "{sd} {spread}");
        }
    }

    /// A, b and what follows from them after discounted updates against the sums by definition.
    #[test]
    fn forgetting_is_ridge_regression_with_weights() {
        let (lambda, discount) = (0.1, 0.9);
        let mut belief = Linear::new(2, Features::Raw, lambda).unwrap().forgetting(discount).unwrap();
        let mut stream = Key::new(3).stream();
        let data: Vec<([f64; 2], f64)> =
            (0..50).map(|_| ([normal(&mut stream), normal(&mut stream)], normal(&mut stream))).collect();
        data.iter().for_each(|(x, y)| belief.learn(x, *y));
        let (mut a, mut b) = ([lambda, 0.0, 0.0, lambda], [0.0; 2]);
        for (age, (x, y)) in data.iter().rev().enumerate() {
            let weight = libm::pow(discount, age as f64);
            for i in 0..2 {
                b[i] += weight * x[i] * y;
                (0..2).for_each(|j| a[2 * i + j] += weight * x[i] * x[j]);
            }
        }
        let det = a[0] * a[3] - a[1] * a[2];
        let weights = [(a[3] * b[0] - a[1] * b[1]) / det, (a[0] * b[1] - a[2] * b[0]) / det];
        for i in 0..2 {
            assert!((belief.ellipsoid.weights()[i] - weights[i]).abs() < 1e-10);
        }
        let inverse = [a[3] / det, -a[1] / det, -a[2] / det, a[0] / det];
        for i in 0..4 {
            assert!((belief.ellipsoid.covariance()[i] - inverse[i]).abs() < 1e-10);
        }
        let log_det = libm::log(det) - 2.0 * libm::log(lambda);
        assert!((belief.ellipsoid.log_det_ratio() - log_det).abs() < 1e-10);
    }

    #[test]
    fn saved_it_goes_on_to_the_bit() {
        let mut belief = learnt(0.95);
        let mut copy: Linear = crate::belief::restore(belief.save().unwrap()).unwrap();
        for x in [[0.1, 0.2], [1.0, -1.0]] {
            belief.learn(&x, 1.0);
            copy.learn(&x, 1.0);
        }
        assert_eq!(belief.ellipsoid, copy.ellipsoid);
    }
}
