//! `lin-ts`: Thompson sampling for linear rewards.
//!
//! Bayesian linear regression on the features of an arm: with the prior N(0, (vσ)²/λ·I) and noise of variance (vσ)² the weights have
//! the posterior N(ŵ, (vσ)²A⁻¹), ŵ and A those of ridge regression ([`crate::ellipsoid`]). Each round draws weights from it and takes
//! their best arm. v = 1 is the posterior itself; the proof of Agrawal and Goyal needs v of order √D, practice often less than 1.
//!
//! A score's width is one standard deviation of the posterior. The probability of a choice has no closed form: it has no propensity.

use serde::{Deserialize, Serialize};

use super::features::{DEGREE, FEATURES, FeatureMap};
use super::{Build, Contexts, Entry, Policy, Restore, Sample, Snapshot, confidence, read_state};
use crate::action::{Action, check_observation};
use crate::choice::{Choice, Score, argmax};
use crate::ellipsoid::Ellipsoid;
use crate::error::{Error, Result};
use crate::kernels::linear_score_reference;
use crate::linalg::{Cholesky, axpy, dot, normalise};
use crate::offer::Offer;
use crate::params::{Initial, Kind, Literal, Param, Params};
use crate::rng::{Key, Purpose, normal};
use crate::scratch::Scratch;

pub(super) const ENTRY: Entry = Entry {
    name: "lin-ts",
    summary: "Thompson sampling for linear rewards",
    citation: "Agrawal and Goyal (2013), Thompson sampling for contextual bandits with linear payoffs",
    params: &[
        confidence::LAMBDA,
        Param { doc: "standard deviation σ of the noise", ..confidence::SIGMA },
        Param::new("scale", Initial::real(1.0), Kind::NOT_NEGATIVE, "v: weights are drawn from N(ŵ, (vσ)²A⁻¹)"),
        FEATURES,
        DEGREE,
    ],
    sphere: true,
    contexts: Contexts::ModelEach,
    samples: &[
        Sample { name: "raw", environment: "linear-sphere", settings: &[] },
        Sample { name: "constant", environment: "relu-sphere", settings: &[("features", Literal::Word("constant"))] },
        Sample {
            name: "monomials",
            environment: "relu-sphere",
            settings: &[("features", Literal::Word("monomials")), ("degree", Literal::Count(3))],
        },
    ],
    build: Build::Plain(|dim, params, _| Ok(Box::new(LinTs::new(dim, params)?))),
    restore: Restore::Plain(|state| Ok(Box::new(read_state(state, LinTs::is_consistent)?))),
};

/// Thompson sampling for linear rewards.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct LinTs {
    dim: usize,
    features: FeatureMap,
    /// vσ, the multiple of A^(−1/2) that the weights are drawn with.
    spread: f64,
    ellipsoid: Ellipsoid,
    /// Memory for the features of an action.
    #[serde(skip)]
    phi: Vec<f64>,
}

impl LinTs {
    fn new(dim: usize, params: &Params) -> Result<Self> {
        let features = FeatureMap::read(dim, params)?;
        let ellipsoid = Ellipsoid::ridge(features.count(dim), params.real("lambda")?);
        let spread = params.real("scale")? * params.real("sigma")?;
        Ok(LinTs { dim, features, spread, ellipsoid, phi: Vec::new() })
    }

    fn is_consistent(&self) -> bool {
        self.ellipsoid.dim() == self.features.count(self.dim)
    }

    /// Weights drawn from N(ŵ, (vσ)²A⁻¹), into `scratch.drawn`.
    fn draw(&self, key: Key, scratch: &mut Scratch) {
        let Scratch { drawn: weights, numbers: work, .. } = scratch;
        weights.clear();
        weights.extend_from_slice(self.ellipsoid.weights());
        let size = weights.len();
        let mut stream = key.purpose(Purpose::Choice).stream();
        let covariance = self.ellipsoid.covariance();
        let greatest = covariance.iter().step_by(size + 1).fold(0.0, |m: f64, x| m.max(*x));
        // Rounding can cost a nearly singular A⁻¹ its definiteness; a ridge that no reward would notice gives it back.
        for ridge in [0.0, 1e-15, 1e-13, 1e-11] {
            work.clear();
            work.extend_from_slice(covariance);
            work.iter_mut().step_by(size + 1).for_each(|x| *x += ridge * greatest);
            if Cholesky::new(work, size).is_some() {
                // A⁻¹ = UᵀU, so Uᵀz has the covariance A⁻¹.
                for (i, row) in work.chunks_exact(size).enumerate() {
                    axpy(self.spread * normal(&mut stream), &row[i..], &mut weights[i..]);
                }
                break;
            }
        }
    }

    /// Mean and standard deviation of the posterior at `x`. `phi` is memory to work in.
    fn score_of(&self, x: &[f64], phi: &mut Vec<f64>) -> Score {
        phi.clear();
        self.features.append(x, phi);
        linear_score_reference(self.ellipsoid.weights(), self.ellipsoid.covariance(), self.spread, phi)
    }
}

impl Policy for LinTs {
    fn name(&self) -> &'static str {
        ENTRY.name
    }

    fn dim(&self) -> usize {
        self.dim
    }

    fn select<'a>(&self, offer: Offer<'a>, key: Key, scratch: &mut Scratch) -> Result<Choice<'a>> {
        offer.expect_dim(self.dim)?;
        match offer {
            Offer::Rows(rows) => {
                if rows.len() == 1 {
                    // Of a single arm only its own value is drawn, and that is normal: no weights are needed.
                    let score = self.score_of(rows.get(0), &mut scratch.numbers);
                    let value = score.mean + score.width * normal(&mut key.purpose(Purpose::Choice).stream());
                    return Ok(Choice::row(rows, 0, score).drawn(value));
                }
                self.draw(key, scratch);
                let Scratch { drawn: weights, numbers: phi, .. } = scratch;
                let values = rows.iter().map(|x| {
                    phi.clear();
                    self.features.append(x, phi);
                    dot(weights, phi)
                });
                let best = argmax(values).unwrap_or(0);
                let score = self.score_of(rows.get(best), phi);
                let value = dot(weights, phi);
                Ok(Choice::row(rows, best, score).drawn(value))
            }
            Offer::Sphere { .. } if self.needs_finite_arms() => Err(Error::NeedsFiniteArms { policy: ENTRY.name }),
            Offer::Sphere { dim } => {
                self.draw(key, scratch);
                let mut action = scratch.drawn[..dim].to_vec();
                // Without noise nothing is random, and before the first reward every action is as good.
                if !normalise(&mut action) {
                    action.fill(0.0);
                    action[0] = 1.0;
                }
                let score = self.score_of(&action, &mut scratch.numbers);
                // What the drawn weights promise there.
                let value = dot(&scratch.drawn, &scratch.numbers);
                Ok(Choice::point(action, score).drawn(value))
            }
            Offer::Context(_) => Err(Error::unexpected_context(ENTRY.name)),
        }
    }

    fn learn(&mut self, action: Action<'_>, reward: f64) -> Result<()> {
        let action = check_observation(ENTRY.name, self.dim, action, reward)?;
        self.features.learn(&mut self.ellipsoid, action, reward, &mut self.phi);
        Ok(())
    }

    fn score(&self, offer: Offer<'_>, scratch: &mut Scratch) -> Result<()> {
        offer.expect_dim(self.dim)?;
        let rows = offer.rows(ENTRY.name)?;
        let model = (self.ellipsoid.weights(), self.ellipsoid.covariance());
        self.features.score(model, self.spread, rows, (&mut scratch.scores, &mut scratch.numbers));
        Ok(())
    }

    fn needs_finite_arms(&self) -> bool {
        self.features.needs_finite_arms()
    }

    fn snapshot(&self) -> Result<Snapshot> {
        Snapshot::of(ENTRY.name, self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::params::Settings;

    /// The covariance of many draws against (vσ)²A⁻¹, entry by entry.
    #[test]
    fn weights_are_drawn_from_the_posterior() {
        let given = Settings::new().with("features", "monomials").with("sigma", 0.3).with("scale", 2.0);
        let params = Params::resolve("lin-ts", ENTRY.params, &given).unwrap();
        let mut policy = LinTs::new(2, &params).unwrap();
        let mut stream = Key::new(1).stream();
        for _ in 0..40 {
            let x = [normal(&mut stream), normal(&mut stream)];
            policy.learn((&x).into(), normal(&mut stream)).unwrap();
        }
        let size = policy.ellipsoid.dim();
        let n = 20_000;
        let mut scratch = Scratch::default();
        let (mut sum, mut squares) = (vec![0.0; size], vec![0.0; size * size]);
        for round in 0..n {
            policy.draw(Key::new(2).round(round), &mut scratch);
            let off: Vec<f64> = scratch.drawn.iter().zip(policy.ellipsoid.weights()).map(|(a, b)| a - b).collect();
            for i in 0..size {
                sum[i] += off[i] / n as f64;
                axpy(off[i] / n as f64, &off, &mut squares[i * size..(i + 1) * size]);
            }
        }
        let variance = |i: usize| 0.36 * policy.ellipsoid.covariance()[i * size + i];
        for i in 0..size {
            assert!(sum[i].abs() < 5.0 * (variance(i) / n as f64).sqrt());
            for j in 0..size {
                let expected = 0.36 * policy.ellipsoid.covariance()[i * size + j];
                let error = (squares[i * size + j] - expected).abs();
                assert!(error < 5.0 * (2.0 * variance(i) * variance(j) / n as f64).sqrt(), "{i} {j}");
            }
        }
    }
}
