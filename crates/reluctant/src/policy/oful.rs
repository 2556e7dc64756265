//! `oful`: optimism for linear rewards, the paper's first baseline.
//!
//! Ridge regression on the features of an arm, and the arm of greatest φ·ŵ + β·√(φᵀA⁻¹φ) (see [`crate::ellipsoid`]). A
//! sum of ReLUs is not linear in x, so on raw features, as in the paper, the policy is misspecified and can lock onto a
//! wrong arm. With `features = "constant"` it sees (x, 1): on the sphere a sum of a few ReLUs is close to linear plus a
//! constant, which makes this baseline far stronger. With `features = "monomials"` it can follow the rest.
//!
//! The theorem's β is cautious. With `alpha` it is replaced by a constant, which makes the policy LinUCB (Li, Chu,
//! Langford and Schapire 2010, A contextual-bandit approach to personalized news article recommendation).

use std::sync::OnceLock;

use serde::{Deserialize, Serialize};

use super::remarks::{Remarks, TAKES_ROWS};
use super::{
    Build, Contexts, Entry, Explanation, Fitted, Policy, Restore, Sample, Snapshot, confidence, explain_by_score,
    observations, optimism, read_state,
};
use crate::action::{Action, check_observation, check_vector};
use crate::belief::{Belief, DEGREE, DISCOUNT, FEATURES, Linear};
use crate::choice::Choice;
use crate::ellipsoid::{Confidence, Ellipsoid};
use crate::error::{Error, Result};
use crate::geometry::linear_optimistic_action;
use crate::kernels::{linear_best, norm_bound};
use crate::offer::{Offer, Rows};
use crate::params::{Initial, Kind, Literal, Param, Params};
use crate::rng::Key;
use crate::scratch::Scratch;

pub(super) const ENTRY: Entry = Entry {
    name: "oful",
    summary: "optimism in the face of uncertainty for linear rewards",
    citation: "Abbasi-Yadkori, Pál and Szepesvári (2011), Improved algorithms for linear stochastic bandits",
    params: &[
        confidence::LAMBDA,
        confidence::SIGMA,
        confidence::DELTA,
        Param::new("norm_bound", Initial::real(1.0), Kind::NOT_NEGATIVE, "bound S on the norm of the true weights"),
        FEATURES,
        DEGREE,
        DISCOUNT,
        Param::new(
            "alpha",
            Initial::Auto("the radius β of the theorem"),
            Kind::NOT_NEGATIVE,
            "α of LinUCB: the width of an arm is α·√(φᵀA⁻¹φ) instead of β·√(φᵀA⁻¹φ)",
        ),
        Param { initial: Initial::word("ratio"), ..confidence::LOG_DET },
    ],
    sphere: true,
    contexts: Contexts::ModelEach,
    samples: &[
        Sample { name: "raw", environment: "linear-sphere", settings: &[] },
        Sample { name: "constant", environment: "relu-sphere", settings: &[("features", Literal::Word("constant"))] },
        Sample {
            name: "monomials-alpha",
            environment: "relu-sphere",
            settings: &[
                ("features", Literal::Word("monomials")),
                ("degree", Literal::Count(3)),
                ("alpha", Literal::Real(0.5)),
            ],
        },
    ],
    build: Build::Plain(|dim, params, _| Ok(Box::new(Oful::new(dim, params)?))),
    restore: Restore::Plain(|state| Ok(Box::new(read_state(state, |policy: &Oful| policy.belief.is_consistent())?))),
};

/// In fewer dimensions a quadratic form costs no more than a bound on it.
const PRUNED_FROM: usize = 5;
/// Updates between two bounds on ‖A⁻¹‖.
const NORM_EVERY: u32 = 16;

/// Optimism in the face of uncertainty for linear rewards.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Oful {
    #[serde(flatten)]
    belief: Linear,
    /// The multiplier of the width, if it is not the theorem's radius.
    alpha: Option<f64>,
    confidence: Confidence,
    /// Added to the log-determinant in the radius: 0 unless `log_det = "twice"`.
    log_det_offset: f64,
    /// At least ‖A⁻¹‖, which falls from update to update unless something is forgotten. Found when it is needed.
    #[serde(skip)]
    norm: OnceLock<f64>,
    #[serde(default)]
    remarks: Remarks,
}

impl Oful {
    fn new(dim: usize, params: &Params) -> Result<Self> {
        let belief = Linear::read(dim, params)?;
        let confidence = confidence::read(params, 1.0)?;
        let count = belief.ellipsoid().dim();
        let log_det_offset = confidence::log_det_offset(params, false, count, confidence.lambda)?;
        let alpha = params.get("alpha").map(|_| params.real("alpha")).transpose()?;
        Ok(Oful { belief, alpha, confidence, log_det_offset, norm: OnceLock::new(), remarks: Remarks::new() })
    }

    /// What the width is a multiple of: the radius β of the confidence set, or α.
    pub fn radius(&self) -> f64 {
        if let Some(alpha) = self.alpha {
            return alpha;
        }
        self.confidence.radius(self.ellipsoid().log_det_ratio() + self.log_det_offset)
    }

    /// Whether bounds on the scores of most arms are cheaper than their scores.
    fn prunes(&self) -> bool {
        !self.needs_finite_arms() && self.dim() >= PRUNED_FROM
    }

    /// What it knows.
    pub fn belief(&self) -> &Linear {
        &self.belief
    }

    /// The regression behind the choices.
    pub fn ellipsoid(&self) -> &Ellipsoid {
        self.belief.ellipsoid()
    }

    /// The optimistic arm, most arms being left out by a bound on their scores.
    fn pruned<'a>(&self, rows: Rows<'a>, scratch: &mut Scratch) -> Option<Choice<'a>> {
        let (weights, covariance) = (self.ellipsoid().weights(), self.ellipsoid().covariance());
        let work = &mut scratch.numbers;
        let norm = self.norm.get_or_init(|| norm_bound(covariance, weights.len(), work));
        let (best, score) = linear_best(weights, covariance, self.radius(), *norm, rows, work)?;
        Some(Choice::row(rows, best, score))
    }
}

impl Policy for Oful {
    fn name(&self) -> &'static str {
        ENTRY.name
    }

    fn dim(&self) -> usize {
        self.belief.dim()
    }

    fn select<'a>(&self, offer: Offer<'a>, _: Key, scratch: &mut Scratch) -> Result<Choice<'a>> {
        offer.expect_shape(self.dim())?;
        match offer {
            Offer::Rows(rows) => {
                // The first pass of what prunes sees numbers that are not finite, too.
                let pruned = if self.prunes() && rows.len() > 1 { self.pruned(rows, scratch) } else { None };
                if let Some(choice) = pruned {
                    return Ok(choice);
                }
                rows.ensure_finite()?;
                Ok(optimism(&self.belief, rows, self.radius(), scratch))
            }
            Offer::Sphere { .. } if self.needs_finite_arms() => Err(Error::NeedsFiniteArms { policy: ENTRY.name }),
            Offer::Sphere { dim } => {
                let (weights, covariance) = (self.ellipsoid().weights(), self.ellipsoid().covariance());
                Ok(linear_optimistic_action(dim, weights, covariance, self.radius()).into())
            }
            Offer::Context(_) => Err(Error::unexpected_context(ENTRY.name)),
        }
    }

    fn learn(&mut self, action: Action<'_>, reward: f64) -> Result<()> {
        let x = check_observation(ENTRY.name, self.dim(), action, reward)?;
        self.belief.learn(x, reward);
        self.remarks.see(x, reward);
        if self.belief.forgets() || self.belief.ellipsoid().since_refresh().is_multiple_of(NORM_EVERY) {
            self.norm.take();
        }
        Ok(())
    }

    fn score(&self, offer: Offer<'_>, scratch: &mut Scratch) -> Result<()> {
        offer.expect_dim(self.dim())?;
        self.belief.predict(offer.rows(ENTRY.name)?, self.radius(), scratch);
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
            "after {} it plays the arm of greatest mean + {:.3} times its width",
            observations(self.ellipsoid().updates()),
            self.radius()
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::params::Settings;

    /// Whoever checks arms in the pass that scores finds what a check before it finds, and chooses the same.
    #[test]
    fn a_deferred_check_refuses_what_is_not_finite() {
        for dim in [2, 5, 20] {
            let params = Params::resolve("oful", ENTRY.params, &Settings::new()).unwrap();
            let mut policy = Oful::new(dim, &params).unwrap();
            let mut scratch = Scratch::default();
            let good: Vec<f64> = (0..30 * dim).map(|i| libm::sin(i as f64)).collect();
            policy.learn(good[..dim].into(), 1.0).unwrap();
            let chosen = |data: &[f64], scratch: &mut Scratch| {
                let offer = Offer::deferred(dim, data)?;
                policy.select(offer, Key::new(1), scratch).map(|choice| choice.index)
            };
            let before = policy.select(Offer::finite(dim, &good).unwrap(), Key::new(1), &mut Scratch::default());
            assert_eq!(chosen(&good, &mut scratch), Ok(before.unwrap().index));
            for bad in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 1e101, -1e300] {
                for at in [0, 7 * dim + 1, 30 * dim - 1] {
                    let mut data = good.clone();
                    data[at] = bad;
                    let said = chosen(&data, &mut scratch).unwrap_err().to_string();
                    assert_eq!(said, Offer::finite(dim, &data).unwrap_err().to_string());
                }
            }
        }
    }
}
