//! How networks with heads are trained: the parameters of policies, and what they say.

use serde::{Deserialize, Serialize};

use super::adam::{Adam, BATCH, Loss};
use crate::error::Result;
use crate::params::{Initial, Kind, Param, Params};

/// The most hidden units.
pub(super) const MAX_WIDTH: u64 = 2_000;

/// A training takes at least so many steps, however short the history.
const LEAST_STEPS: usize = 30;

/// What a network is like where a table of parameters leaves it open. With the rate and the decay below, the defaults
/// of `neural-linucb` were the best of a small grid on shuffles of real tables that are not reported.
const DEFAULT_WIDTH: u64 = 64;
const DEFAULT_RATE: f64 = 0.005;

pub(crate) const WIDTH: Param = Param::new(
    "width",
    Initial::count(DEFAULT_WIDTH),
    Kind::Count { min: 1, max: MAX_WIDTH },
    "hidden units, shared by all actions",
);
pub(crate) const GROWTH: Param = Param::new(
    "growth",
    Initial::real(0.15),
    Kind::POSITIVE,
    "the network is trained anew when the number of rewards has grown by this share since its last training",
);
/// More passes would only keep a round waiting.
const MOST_EPOCHS: f64 = 1000.0;
const EPOCHS_ALLOWED: Kind = Kind::Real { min: 0.0, max: MOST_EPOCHS, above: true, below: false };

pub(crate) const EPOCHS: Param =
    Param::new("epochs", Initial::real(10.0), EPOCHS_ALLOWED, "passes over all rewards in a training");
pub(crate) const RATE: Param = Param::new("rate", Initial::real(DEFAULT_RATE), Kind::POSITIVE, "learning rate of Adam");
pub(crate) const DECAY: Param =
    Param::new("decay", Initial::real(0.1), Kind::NOT_NEGATIVE, "weight decay: a step shrinks weights by rate × decay");

/// How a network is trained, and how often.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub(crate) struct Training {
    growth: f64,
    epochs: f64,
    rate: f64,
    decay: f64,
}

impl Training {
    /// Reads `growth`, `epochs`, `rate` and `decay`.
    pub(crate) fn read(params: &Params) -> Result<Self> {
        Ok(Training {
            growth: params.real("growth")?,
            epochs: params.real("epochs")?,
            rate: if params.get("rate").is_some() { params.real("rate")? } else { DEFAULT_RATE },
            decay: params.real("decay")?,
        })
    }

    pub(super) fn multiply_decay(&mut self, factor: f64) {
        self.decay *= factor;
    }

    pub(super) fn is_consistent(&self) -> bool {
        self.growth > 0.0 && self.epochs > 0.0 && self.epochs <= MOST_EPOCHS && self.rate > 0.0 && self.decay >= 0.0
    }

    /// How many rewards there must be for the training after one with `count`.
    pub(super) fn next(&self, count: usize) -> usize {
        ((count as f64 * (1.0 + self.growth)).ceil() as usize).max(count + 1)
    }

    /// The training for so many samples.
    pub(super) fn adam(&self, loss: Loss, samples: usize) -> Adam {
        let passes = (self.epochs * samples as f64 / BATCH.min(samples.max(1)) as f64).ceil() as usize;
        Adam { loss, rate: self.rate, decay: self.decay, steps: passes.max(LEAST_STEPS) }
    }
}

/// Reads `width`.
pub(crate) fn read_width(params: &Params) -> Result<usize> {
    if params.get("width").is_some() { params.size("width") } else { Ok(DEFAULT_WIDTH as usize) }
}
