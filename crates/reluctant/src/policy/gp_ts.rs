//! `gp-ts`: Thompson sampling on a Gaussian process.
//!
//! Each round draws a function from the posterior of a Gaussian process, a whole function at once by pathwise
//! conditioning, and takes its best arm. The function's distance from the posterior mean is multiplied by `scale`; 1 is
//! the posterior itself. A score's width is one standard deviation of the posterior. The probability of a choice is
//! computed on request: exactly in contexts, else it is estimated.
//!
//! Length-scale and signal variance are given, or fitted by evidence when there are 16, 32, … 256 observations. At most
//! `budget` points are kept, but no observation is forgotten: what the points do not express is projected onto them.
//! The mean reward before any observation is zero.

use serde::{Deserialize, Serialize};

use super::remarks::{Remarks, TAKES_ROWS};
use super::{
    Build, Contexts, Entry, Explanation, Policy, Restore, Rule, Sample, SharedModel, Snapshot, explain_by_score,
    read_state, sampling,
};
use crate::action::{Action, check_observation, check_vector};
use crate::belief::{
    BIAS, BUDGET, Belief, DEPTH, DISCOUNT, GaussianProcess, GaussianProcesses, KERNEL, LEEWAY, LENGTH, SIGMA, VARIANCE,
    restore_if,
};
use crate::choice::Choice;
use crate::error::Result;
use crate::offer::Offer;
use crate::params::{Initial, Kind, Literal, Param, Params};
use crate::rng::Key;
use crate::scratch::Scratch;

pub(super) const ENTRY: Entry = Entry {
    name: "gp-ts",
    summary: "Thompson sampling on a Gaussian process",
    citation: "Chowdhury and Gopalan (2017), On kernelized multi-armed bandits",
    params: &[
        Param::new(
            "scale",
            Initial::real(1.0),
            Kind::NOT_NEGATIVE,
            "how far draws stray from the mean, in units of the posterior",
        ),
        SIGMA,
        KERNEL,
        DEPTH,
        BIAS,
        LENGTH,
        VARIANCE,
        LEEWAY,
        BUDGET,
        DISCOUNT,
    ],
    sphere: false,
    contexts: Contexts::Shared(SharedModel {
        build: |dim, params, _| {
            Ok((Box::new(GaussianProcesses::read(dim, params)?), Rule::Sampling(params.real("scale")?)))
        },
        restore: |state| Ok(Box::new(restore_if(state, GaussianProcesses::is_consistent)?)),
    }),
    samples: &[
        Sample { name: "fitted", environment: "relu-sphere", settings: &[] },
        Sample {
            name: "full-matern32",
            environment: "relu-sphere",
            settings: &[
                ("kernel", Literal::Word("matern32")),
                ("length", Literal::Real(1.0)),
                ("variance", Literal::Real(2.0)),
                ("budget", Literal::Count(12)),
            ],
        },
        Sample {
            name: "matern52",
            environment: "linear-sphere",
            settings: &[("kernel", Literal::Word("matern52")), ("length", Literal::Real(2.0))],
        },
        Sample {
            name: "by-evidence",
            environment: "relu-sphere",
            settings: &[("kernel", Literal::Word("auto")), ("sigma", Literal::Word("auto"))],
        },
        Sample {
            name: "relu",
            environment: "relu-sphere",
            settings: &[("kernel", Literal::Word("relu")), ("depth", Literal::Count(2))],
        },
        Sample {
            name: "tangent-full",
            environment: "relu-sphere",
            settings: &[
                ("kernel", Literal::Word("relu-ntk")),
                ("bias", Literal::Flag(false)),
                ("variance", Literal::Real(1.0)),
                ("budget", Literal::Count(12)),
            ],
        },
    ],
    build: Build::Plain(|dim, params, _| Ok(Box::new(GpTs::new(dim, params)?))),
    restore: Restore::Plain(|state| Ok(Box::new(read_state(state, |policy: &GpTs| policy.belief.is_consistent())?))),
};

/// Thompson sampling on a Gaussian process.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct GpTs {
    scale: f64,
    #[serde(rename = "model")]
    belief: GaussianProcess,
    #[serde(default)]
    remarks: Remarks,
}

impl GpTs {
    fn new(dim: usize, params: &Params) -> Result<Self> {
        let belief = GaussianProcess::read(dim, params)?;
        Ok(GpTs { scale: params.real("scale")?, belief, remarks: Remarks::new() })
    }

    /// What it knows.
    pub fn belief(&self) -> &GaussianProcess {
        &self.belief
    }
}

impl Policy for GpTs {
    fn name(&self) -> &'static str {
        ENTRY.name
    }

    fn dim(&self) -> usize {
        self.belief.dim()
    }

    fn select<'a>(&self, offer: Offer<'a>, key: Key, scratch: &mut Scratch) -> Result<Choice<'a>> {
        offer.expect_dim(self.dim())?;
        Ok(sampling(&self.belief, offer.rows(ENTRY.name)?, self.scale, key, scratch))
    }

    fn learn(&mut self, action: Action<'_>, reward: f64) -> Result<()> {
        let x = check_observation(ENTRY.name, self.dim(), action, reward)?;
        self.belief.learn(x, reward);
        self.remarks.see(x, reward);
        Ok(())
    }

    fn score(&self, offer: Offer<'_>, scratch: &mut Scratch) -> Result<()> {
        offer.expect_dim(self.dim())?;
        self.belief.predict(offer.rows(ENTRY.name)?, self.scale, scratch);
        Ok(())
    }

    fn model(&self) -> (String, String) {
        let why = format!("it plays the best arm of one function, drawn with {} standard deviations", self.scale);
        (format!("a Gaussian process: {}", self.belief.kernel()), why)
    }

    fn explanation(&self, action: Action<'_>) -> Result<Explanation> {
        let said = explain_by_score(self, check_vector(ENTRY.name, self.dim(), action)?)?;
        Ok(Explanation { warning: self.remarks.sentence(TAKES_ROWS), ..said })
    }

    fn snapshot(&self) -> Result<Snapshot> {
        Snapshot::of(ENTRY.name, self)
    }
}
