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

use super::{Build, Contexts, Entry, Policy, Restore, Sample, Snapshot, confidence, read_state};
use crate::action::{Action, check_observation};
use crate::choice::{Choice, argmax};
use crate::error::Result;
use crate::gp::{self, Model, Path};
use crate::offer::{Offer, Rows};
use crate::params::{Initial, Kind, Literal, Param, Params};
use crate::rng::{Key, Purpose, normal};
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
        Param { doc: "standard deviation σ of the noise", ..confidence::SIGMA },
        gp::KERNEL,
        gp::LENGTH,
        gp::VARIANCE,
        gp::BUDGET,
    ],
    sphere: false,
    contexts: Contexts::ModelEach,
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
    ],
    build: Build::Plain(|dim, params, _| Ok(Box::new(GpTs::new(dim, params)?))),
    restore: Restore::Plain(|state| Ok(Box::new(read_state(state, |policy: &GpTs| policy.model.is_consistent())?))),
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

    fn select<'a>(&self, offer: Offer<'a>, key: Key, scratch: &mut Scratch) -> Result<Choice<'a>> {
        offer.expect_dim(self.dim())?;
        let rows = offer.rows(ENTRY.name)?;
        let Scratch { drawn, numbers: values, lanes, scores, .. } = scratch;
        let (gp, mut stream) = (self.model.gp(), key.purpose(Purpose::Choice).stream());
        if rows.len() == 1 {
            // Of a single arm only its own value is drawn, and that is normal.
            scores.clear();
            gp.scores(rows, self.scale, lanes, scores);
            return Ok(Choice::row(rows, 0, scores[0]).drawn(scores[0].mean + scores[0].width * normal(&mut stream)));
        }
        let path = Path::draw(gp, self.scale, &mut stream, drawn);
        values.clear();
        path.values(rows, lanes, values);
        let best = argmax(values.iter().copied()).unwrap_or(0);
        scores.clear();
        gp.scores(Rows::trusted(gp.dim(), rows.get(best)), self.scale, lanes, scores);
        Ok(Choice::row(rows, best, scores[0]).drawn(values[best]))
    }

    fn learn(&mut self, action: Action<'_>, reward: f64) -> Result<()> {
        let action = check_observation(ENTRY.name, self.dim(), action, reward)?;
        self.model.update(action, reward);
        Ok(())
    }

    fn score(&self, offer: Offer<'_>, scratch: &mut Scratch) -> Result<()> {
        offer.expect_dim(self.dim())?;
        let rows = offer.rows(ENTRY.name)?;
        scratch.scores.clear();
        self.model.gp().scores(rows, self.scale, &mut scratch.lanes, &mut scratch.scores);
        Ok(())
    }

    fn snapshot(&self) -> Result<Snapshot> {
        Snapshot::of(ENTRY.name, self)
    }
}
