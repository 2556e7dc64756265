//! `gp-ts`: Thompson sampling on a Gaussian process.
//!
//! Each round draws a function from the posterior of a Gaussian process, a whole function at once by pathwise conditioning, and takes its
//! best arm. The function's distance from the posterior mean is multiplied by `scale`; 1 is the posterior itself. A score's width is one
//! standard deviation of the posterior. The probability of a choice has no closed form: it has no propensity.
//!
//! Length-scale and signal variance are given, or fitted by evidence when there are 16, 32, … 256 observations. At most `budget` points
//! are kept, but no observation is forgotten: what the points do not express is projected onto them. The mean reward before any
//! observation is zero.

use serde::{Deserialize, Serialize};

use super::{Entry, Literal, Policy, Sample, Scratch, Snapshot, confidence, read_state};
use crate::arms::{Arms, Choice, Rows, argmax, check_observation};
use crate::error::Result;
use crate::gp::{self, Model, Path};
use crate::params::{Initial, Kind, Param, Params};
use crate::rng::{Key, Purpose};

pub(super) const ENTRY: Entry = Entry {
    name: "gp-ts",
    summary: "Thompson sampling on a Gaussian process",
    citation: "Chowdhury and Gopalan (2017), On kernelized multi-armed bandits",
    params: &[
        Param::new(
            "scale",
            Initial::Real(1.0),
            Kind::NOT_NEGATIVE,
            "how far draws stray from the mean, in units of the posterior",
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
    build: |dim, params, _| Ok(Box::new(GpTs::new(dim, params)?)),
    restore: |state| Ok(Box::new(read_state(state, |policy: &GpTs| policy.model.is_consistent())?)),
};

/// Thompson sampling on a Gaussian process.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct GpTs {
    scale: f64,
    model: Model,
}

impl GpTs {
    fn new(dim: usize, params: &Params) -> Result<Self> {
        Ok(GpTs { scale: params.real("scale")?, model: Model::read(dim, params)? })
    }
}

impl Policy for GpTs {
    fn name(&self) -> &'static str {
        ENTRY.name
    }

    fn dim(&self) -> usize {
        self.model.gp().dim()
    }

    fn select<'a>(&self, arms: Arms<'a>, key: Key, scratch: &mut Scratch) -> Result<Choice<'a>> {
        arms.expect_dim(self.dim())?;
        let rows = arms.rows(ENTRY.name)?;
        let Scratch { drawn, numbers: values, lanes, scores, .. } = scratch;
        let gp = self.model.gp();
        let path = Path::draw(gp, self.scale, &mut key.purpose(Purpose::Choice).stream(), drawn);
        values.clear();
        path.values(rows, lanes, values);
        let best = argmax(values.iter().copied()).unwrap_or(0);
        scores.clear();
        gp.scores(Rows::trusted(gp.dim(), rows.get(best)), self.scale, lanes, scores);
        Ok(Choice::row(rows, best, scores[0], None))
    }

    fn update(&mut self, action: &[f64], reward: f64) -> Result<()> {
        check_observation(self.dim(), action, reward)?;
        self.model.update(action, reward);
        Ok(())
    }

    fn score(&self, rows: Rows<'_>, scratch: &mut Scratch) -> Result<()> {
        Arms::Finite(rows).expect_dim(self.dim())?;
        scratch.scores.clear();
        self.model.gp().scores(rows, self.scale, &mut scratch.lanes, &mut scratch.scores);
        Ok(())
    }

    fn snapshot(&self) -> Result<Snapshot> {
        Snapshot::of(ENTRY.name, self)
    }
}
