//! `gp-ucb`: optimism on a Gaussian process.
//!
//! The arm of greatest mean + β·sd under the posterior of a Gaussian process.
//!
//! Length-scale and signal variance are given, or fitted by evidence when there are 16, 32, … 256 observations. At most `budget` points
//! are kept, but no observation is forgotten: what the points do not express is projected onto them. The mean reward before any
//! observation is zero.

use serde::{Deserialize, Serialize};

use super::{Entry, Literal, Policy, Sample, Scratch, Snapshot, confidence, read_state, select_optimistic};
use crate::arms::{Arms, Choice, Rows, check_observation};
use crate::error::Result;
use crate::gp::{self, Model};
use crate::params::{Initial, Kind, Param, Params};
use crate::rng::Key;

pub(super) const ENTRY: Entry = Entry {
    name: "gp-ucb",
    summary: "optimism on a Gaussian process",
    citation: "Srinivas, Krause, Kakade and Seeger (2010), Gaussian process optimization in the bandit setting",
    params: &[
        Param::new(
            "beta",
            Initial::Real(2.0),
            Kind::NOT_NEGATIVE,
            "the width of an arm is β posterior standard deviations",
        ),
        Param { doc: "standard deviation σ of the noise", ..confidence::SIGMA },
        gp::KERNEL,
        gp::LENGTH,
        gp::VARIANCE,
        gp::BUDGET,
    ],
    sphere: false,
    samples: &[
        Sample { name: "fitted", world: "relu-sphere", settings: &[] },
        Sample {
            name: "full-matern32",
            world: "relu-sphere",
            settings: &[
                ("kernel", Literal::Word("matern32")),
                ("length", Literal::Real(1.0)),
                ("variance", Literal::Real(2.0)),
                ("budget", Literal::Count(12)),
            ],
        },
        Sample {
            name: "matern52",
            world: "linear-sphere",
            settings: &[("kernel", Literal::Word("matern52")), ("length", Literal::Real(2.0))],
        },
    ],
    build: |dim, params, _| Ok(Box::new(GpUcb::new(dim, params)?)),
    restore: |state| Ok(Box::new(read_state(state, |policy: &GpUcb| policy.model.is_consistent())?)),
};

/// Optimism on a Gaussian process.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct GpUcb {
    beta: f64,
    model: Model,
}

impl GpUcb {
    fn new(dim: usize, params: &Params) -> Result<Self> {
        Ok(GpUcb { beta: params.real("beta")?, model: Model::read(dim, params)? })
    }
}

impl Policy for GpUcb {
    fn name(&self) -> &'static str {
        ENTRY.name
    }

    fn dim(&self) -> usize {
        self.model.gp().dim()
    }

    fn select<'a>(&self, arms: Arms<'a>, _: Key, scratch: &mut Scratch) -> Result<Choice<'a>> {
        arms.expect_dim(self.dim())?;
        select_optimistic(self, arms.rows(ENTRY.name)?, scratch)
    }

    fn update(&mut self, action: &[f64], reward: f64) -> Result<()> {
        check_observation(self.dim(), action, reward)?;
        self.model.update(action, reward);
        Ok(())
    }

    fn score(&self, rows: Rows<'_>, scratch: &mut Scratch) -> Result<()> {
        Arms::Finite(rows).expect_dim(self.dim())?;
        scratch.scores.clear();
        self.model.gp().scores(rows, self.beta, &mut scratch.lanes, &mut scratch.scores);
        Ok(())
    }

    fn snapshot(&self) -> Result<Snapshot> {
        Snapshot::of(ENTRY.name, self)
    }
}
