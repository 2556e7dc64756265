//! `lin-ts`: Thompson sampling for linear rewards.
//!
//! Bayesian linear regression on the features of an arm: with the prior N(0, (vσ)²/λ·I) and noise of variance (vσ)² the
//! weights have the posterior N(ŵ, (vσ)²A⁻¹), ŵ and A those of ridge regression ([`crate::ellipsoid`]). Each round
//! draws weights from it and takes their best arm. v = 1 is the posterior itself; the proof of Agrawal and Goyal needs
//! v of order √D, practice often less than 1.
//!
//! A score's width is one standard deviation of the posterior. The probability of a choice has
//! a closed form for two arms and in contexts; else it is estimated, on request.

use serde::{Deserialize, Serialize};

use super::independent::first_of_two;
use super::remarks::{Remarks, TAKES_ROWS};
use super::{
    Build, Contexts, Entry, Explanation, Fitted, Policy, Restore, Sample, Snapshot, confidence, explain_by_score,
    observations, read_state, sampling,
};
use crate::action::{Action, check_observation, check_vector};
use crate::belief::{Belief, DEGREE, DISCOUNT, FEATURES, Linear};
use crate::choice::Choice;
use crate::error::{Error, Result};
use crate::linalg::{dot, normalise};
use crate::offer::Offer;
use crate::params::{Initial, Kind, Literal, Param, Params};
use crate::rng::Key;
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
        DISCOUNT,
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
    restore: Restore::Plain(|state| Ok(Box::new(read_state(state, |policy: &LinTs| policy.belief.is_consistent())?))),
};

/// Thompson sampling for linear rewards.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct LinTs {
    #[serde(flatten)]
    belief: Linear,
    /// vσ, the multiple of A^(−1/2) that the weights are drawn with.
    spread: f64,
    #[serde(default)]
    remarks: Remarks,
}

impl LinTs {
    fn new(dim: usize, params: &Params) -> Result<Self> {
        let spread = params.real("scale")? * params.real("sigma")?;
        Ok(LinTs { belief: Linear::read(dim, params)?, spread, remarks: Remarks::new() })
    }

    /// What it knows.
    pub fn belief(&self) -> &Linear {
        &self.belief
    }
}

impl Policy for LinTs {
    fn name(&self) -> &'static str {
        ENTRY.name
    }

    fn dim(&self) -> usize {
        self.belief.dim()
    }

    fn select<'a>(&self, offer: Offer<'a>, key: Key, scratch: &mut Scratch) -> Result<Choice<'a>> {
        offer.expect_dim(self.dim())?;
        match offer {
            Offer::Rows(rows) => Ok(sampling(&self.belief, rows, self.spread, key, scratch)),
            Offer::Sphere { .. } if self.needs_finite_arms() => Err(Error::NeedsFiniteArms { policy: ENTRY.name }),
            Offer::Sphere { dim } => {
                self.belief.draw_weights(self.spread, key, scratch);
                let mut action = scratch.drawn[..dim].to_vec();
                // Without noise nothing is random, and before the first reward every action is as good.
                if !normalise(&mut action) {
                    action.fill(0.0);
                    action[0] = 1.0;
                }
                let score = self.belief.score_of(&action, self.spread, &mut scratch.phi);
                // What the drawn weights promise there.
                let value = dot(&scratch.drawn, &scratch.phi);
                Ok(Choice::point(action, score).drawn(value))
            }
            Offer::Context(_) => Err(Error::unexpected_context(ENTRY.name)),
        }
    }

    fn probabilities(&self, offer: Offer<'_>, scratch: &mut Scratch, out: &mut Vec<f64>) -> Result<bool> {
        offer.expect_dim(self.dim())?;
        let Offer::Rows(rows) = offer else { return Ok(false) };
        if rows.len() > 2 {
            return Ok(false);
        }
        // The difference of two values is normal.
        let ahead = (rows.len() == 2).then(|| {
            let difference = self.belief.difference(rows.get(0), rows.get(1), self.spread, &mut scratch.phi);
            first_of_two(difference)
        });
        out.clear();
        out.push(ahead.unwrap_or(1.0));
        out.extend(ahead.map(|p| 1.0 - p));
        Ok(true)
    }

    fn draws_normally(&self) -> bool {
        true
    }

    fn learn(&mut self, action: Action<'_>, reward: f64) -> Result<()> {
        let x = check_observation(ENTRY.name, self.dim(), action, reward)?;
        self.belief.learn(x, reward);
        self.remarks.see(x, reward);
        Ok(())
    }

    fn score(&self, offer: Offer<'_>, scratch: &mut Scratch) -> Result<()> {
        offer.expect_dim(self.dim())?;
        self.belief.predict(offer.rows(ENTRY.name)?, self.spread, scratch);
        Ok(())
    }

    fn means(&self, offer: Offer<'_>, scratch: &mut Scratch) -> Result<()> {
        offer.expect_dim(self.dim())?;
        self.belief.means(offer.rows(ENTRY.name)?, scratch);
        Ok(())
    }

    fn needs_finite_arms(&self) -> bool {
        self.belief.features().needs_finite_arms()
    }

    fn model(&self) -> (String, String) {
        let why = format!(
            "after {} it plays the best arm of one linear function, drawn with {:.3} standard deviations",
            observations(self.belief.ellipsoid().updates()),
            self.spread
        );
        ("a linear function".to_owned(), why)
    }

    fn network(&self) -> Option<Fitted> {
        (self.belief.ellipsoid().updates() > 0).then(|| Fitted::linear(&self.belief, self.dim()))
    }

    fn explanation(&self, action: Action<'_>) -> Result<Explanation> {
        let said = explain_by_score(self, check_vector(ENTRY.name, self.dim(), action)?)?;
        Ok(Explanation { warning: self.remarks.sentence(TAKES_ROWS), ..said })
    }

    fn snapshot(&self) -> Result<Snapshot> {
        Snapshot::of(ENTRY.name, self)
    }
}
