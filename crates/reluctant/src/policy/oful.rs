//! `oful`: optimism for linear rewards, the paper's first baseline.
//!
//! Ridge regression on the features of an arm, and the arm of greatest φ·ŵ + β·√(φᵀA⁻¹φ) (see [`crate::ellipsoid`]). A sum of
//! ReLUs is not linear in x, so on raw features, as in the paper, the policy is misspecified and can lock onto a wrong arm. With
//! `features = "constant"` it sees (x, 1): on the sphere a sum of a few ReLUs is close to linear plus a constant, which makes
//! this baseline far stronger.

use serde::{Deserialize, Serialize};

use super::{Entry, Literal, Policy, Sample, Scratch, Snapshot, confidence, read_state, select_optimistic};
use crate::arms::{Arms, Choice, Rows, check_observation};
use crate::ellipsoid::{Confidence, Ellipsoid};
use crate::error::Result;
use crate::geometry::linear_optimistic_action;
use crate::kernels::linear_scores;
use crate::params::{Initial, Kind, Param, Params};
use crate::rng::Key;

pub(super) const ENTRY: Entry = Entry {
    name: "oful",
    summary: "optimism in the face of uncertainty for linear rewards",
    citation: "Abbasi-Yadkori, Pál and Szepesvári (2011), Improved algorithms for linear stochastic bandits",
    params: &[
        confidence::LAMBDA,
        confidence::SIGMA,
        confidence::DELTA,
        Param::new("norm_bound", Initial::Real(1.0), Kind::NOT_NEGATIVE, "bound S on the norm of the true weights"),
        Param::new(
            "features",
            Initial::Word("raw"),
            Kind::Word(&["raw", "constant"]),
            "raw: x, as in the paper; constant: (x, 1)",
        ),
        Param { initial: Initial::Word("ratio"), ..confidence::LOG_DET },
    ],
    sphere: true,
    samples: &[
        Sample { name: "raw", world: "linear-sphere", settings: &[] },
        Sample { name: "constant", world: "relu-sphere", settings: &[("features", Literal::Word("constant"))] },
    ],
    build: |dim, params, _| Ok(Box::new(Oful::new(dim, params)?)),
    restore: |state| Ok(Box::new(read_state(state, Oful::is_consistent)?)),
};

/// Optimism in the face of uncertainty for linear rewards.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Oful {
    dim: usize,
    /// Whether the features end with a constant 1.
    constant: bool,
    confidence: Confidence,
    /// Added to the log-determinant in the radius: 0 unless `log_det = "twice"`.
    log_det_offset: f64,
    ellipsoid: Ellipsoid,
}

impl Oful {
    fn new(dim: usize, params: &Params) -> Result<Self> {
        let constant = params.word("features")? == "constant";
        let confidence = confidence::read(params, 1.0)?;
        let features = dim + usize::from(constant);
        let ellipsoid = Ellipsoid::ridge(features, confidence.lambda);
        let log_det_offset = confidence::log_det_offset(params, false, features, confidence.lambda)?;
        Ok(Oful { dim, constant, confidence, log_det_offset, ellipsoid })
    }

    fn is_consistent(&self) -> bool {
        self.ellipsoid.dim() == self.dim + usize::from(self.constant)
    }

    /// The radius β of the confidence set.
    pub fn radius(&self) -> f64 {
        self.confidence.radius(self.ellipsoid.log_det_ratio() + self.log_det_offset)
    }

    /// The regression behind the choices.
    pub fn ellipsoid(&self) -> &Ellipsoid {
        &self.ellipsoid
    }
}

impl Policy for Oful {
    fn name(&self) -> &'static str {
        ENTRY.name
    }

    fn dim(&self) -> usize {
        self.dim
    }

    fn select<'a>(&self, arms: Arms<'a>, _: Key, scratch: &mut Scratch) -> Result<Choice<'a>> {
        arms.expect_dim(self.dim)?;
        match arms {
            Arms::Finite(rows) => select_optimistic(self, rows, scratch),
            Arms::Sphere { dim } => {
                let (weights, covariance) = (self.ellipsoid.weights(), self.ellipsoid.covariance());
                Ok(Choice::on_sphere(linear_optimistic_action(dim, weights, covariance, self.radius())))
            }
        }
    }

    fn update(&mut self, action: &[f64], reward: f64) -> Result<()> {
        check_observation(self.dim, action, reward)?;
        if self.constant {
            let phi: Vec<f64> = action.iter().copied().chain([1.0]).collect();
            self.ellipsoid.update(&phi, reward);
        } else {
            self.ellipsoid.update(action, reward);
        }
        Ok(())
    }

    fn score(&self, rows: Rows<'_>, scratch: &mut Scratch) -> Result<()> {
        Arms::Finite(rows).expect_dim(self.dim)?;
        let radius = self.radius();
        scratch.scores.clear();
        let (weights, covariance) = (self.ellipsoid.weights(), self.ellipsoid.covariance());
        linear_scores(weights, covariance, radius, rows, &mut scratch.scores);
        Ok(())
    }

    fn snapshot(&self) -> Result<Snapshot> {
        Snapshot::of(ENTRY.name, self)
    }
}
