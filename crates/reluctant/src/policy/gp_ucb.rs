//! `gp-ucb`: optimism on a Gaussian process.
//!
//! The arm of greatest mean + β·sd under the posterior of a Gaussian process. With `kernel = "relu"` or `"relu-ntk"`,
//! those of infinitely wide networks, this is KernelUCB and NTK-UCB (Kassraie and Krause 2022).
//!
//! Length-scale and signal variance are given, or fitted by evidence when there are 16, 32, … 256 observations. At most
//! `budget` points are kept, but no observation is forgotten: what the points do not express is projected onto them.
//! The mean reward before any observation is zero.
//!
//! `kernel = "auto"` compares 41 kernels (`gp/candidates.rs`): those of wide ReLU networks and tangent kernels with one
//! to three hidden layers, a gate kernel with one, RBF and Matérn's with ν = 3/2 and 5/2, each at four length-scales,
//! and the ReLU network without biases.

use serde::{Deserialize, Serialize};

use super::remarks::{Remarks, TAKES_ROWS};
use super::{
    Build, Contexts, Entry, Explanation, Policy, Restore, Rule, Sample, SharedModel, Snapshot, explain_by_score,
    optimism, read_state,
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
    name: "gp-ucb",
    summary: "optimism on a Gaussian process",
    citation: "Srinivas, Krause, Kakade and Seeger (2010), Gaussian process optimization in the bandit setting",
    params: &[
        Param::new(
            "beta",
            Initial::real(2.0),
            Kind::NOT_NEGATIVE,
            "the width of an arm is β posterior standard deviations",
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
            Ok((Box::new(GaussianProcesses::read(dim, params)?), Rule::Optimism(params.real("beta")?)))
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
    build: Build::Plain(|dim, params, _| Ok(Box::new(GpUcb::new(dim, params)?))),
    restore: Restore::Plain(|state| Ok(Box::new(read_state(state, |policy: &GpUcb| policy.belief.is_consistent())?))),
};

/// Optimism on a Gaussian process.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct GpUcb {
    beta: f64,
    #[serde(rename = "model")]
    belief: GaussianProcess,
    #[serde(default)]
    remarks: Remarks,
}

impl GpUcb {
    fn new(dim: usize, params: &Params) -> Result<Self> {
        let belief = GaussianProcess::read(dim, params)?;
        Ok(GpUcb { beta: params.real("beta")?, belief, remarks: Remarks::new() })
    }

    /// What it knows.
    pub fn belief(&self) -> &GaussianProcess {
        &self.belief
    }
}

impl Policy for GpUcb {
    fn name(&self) -> &'static str {
        ENTRY.name
    }

    fn dim(&self) -> usize {
        self.belief.dim()
    }

    fn select<'a>(&self, offer: Offer<'a>, _: Key, scratch: &mut Scratch) -> Result<Choice<'a>> {
        offer.expect_dim(self.dim())?;
        Ok(optimism(&self.belief, offer.rows(ENTRY.name)?, self.beta, scratch))
    }

    fn learn(&mut self, action: Action<'_>, reward: f64) -> Result<()> {
        let x = check_observation(ENTRY.name, self.dim(), action, reward)?;
        self.belief.learn(x, reward);
        self.remarks.see(x, reward);
        Ok(())
    }

    fn score(&self, offer: Offer<'_>, scratch: &mut Scratch) -> Result<()> {
        offer.expect_dim(self.dim())?;
        self.belief.predict(offer.rows(ENTRY.name)?, self.beta, scratch);
        Ok(())
    }

    fn model(&self) -> (String, String) {
        let why = format!("it plays the arm of greatest mean + {} standard deviations", self.beta);
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
