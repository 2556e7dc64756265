//! `ensemble`: Thompson sampling by bootstrapped networks with prior functions.
//!
//! `members` networks are trained, each on its own bootstrap sample of all rewards and around its own random prior
//! function ([`Ensemble`]). Each round draws a member and takes the arm that is best under it. The networks are trained
//! anew, from where they stand, when the number of rewards has grown by the share `growth`. In contexts each member has
//! a hidden layer that all actions share, and a head an action.
//!
//! Inputs and rewards are scaled by what was seen. All rewards are kept. A score's width is the standard deviation of
//! the members. The probability of a choice is estimated, on request.

use serde::{Deserialize, Serialize};

use super::{Build, Contexts, Entry, Policy, Restore, Rule, Sample, SharedModel, Snapshot, read_state, sampling};
use crate::action::{Action, check_observation};
use crate::belief::{Belief, Ensemble, MEMBERS, PRIOR};
use crate::choice::Choice;
use crate::error::Result;
use crate::network::{DECAY, EPOCHS, GROWTH, Inputs, RATE, WIDTH};
use crate::offer::Offer;
use crate::params::{Initial, Kind, Literal, Param, Params};
use crate::rng::Key;
use crate::scratch::Scratch;

pub(super) const ENTRY: Entry = Entry {
    name: "ensemble",
    summary: "Thompson sampling by bootstrapped networks with prior functions",
    citation: "Osband, Aslanides and Cassirer (2018), Randomized prior functions for deep reinforcement learning",
    params: &[
        MEMBERS,
        WIDTH,
        Param::new(
            "scale",
            Initial::real(1.0),
            Kind::NOT_NEGATIVE,
            "how far draws stray from the mean, in units of the members' own",
        ),
        PRIOR,
        GROWTH,
        EPOCHS,
        RATE,
        DECAY,
    ],
    sphere: false,
    contexts: Contexts::Shared(SharedModel {
        build: |dim, params, key| {
            let belief = Ensemble::read(dim, Inputs::Contexts, params, key)?;
            Ok((Box::new(belief), Rule::Sampling(params.real("scale")?)))
        },
        restore: |state| Ok(Box::new(Ensemble::restore(state)?)),
    }),
    samples: &[
        Sample { name: "default", environment: "relu-sphere", settings: &[] },
        Sample {
            name: "given",
            environment: "relu-sphere",
            settings: &[("members", Literal::Count(3)), ("width", Literal::Count(20)), ("scale", Literal::Real(0.5))],
        },
    ],
    build: Build::Plain(|dim, params, key| Ok(Box::new(EnsembleTs::new(dim, params, key)?))),
    restore: Restore::Plain(|state| {
        Ok(Box::new(read_state(state, |policy: &EnsembleTs| policy.belief.is_consistent())?))
    }),
};

/// Thompson sampling by bootstrapped networks.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct EnsembleTs {
    scale: f64,
    belief: Ensemble,
}

impl EnsembleTs {
    fn new(dim: usize, params: &Params, key: Key) -> Result<Self> {
        let belief = Ensemble::read(dim, Inputs::Rows, params, key)?;
        Ok(EnsembleTs { scale: params.real("scale")?, belief })
    }

    /// What it knows.
    pub fn belief(&self) -> &Ensemble {
        &self.belief
    }
}

impl Policy for EnsembleTs {
    fn name(&self) -> &'static str {
        ENTRY.name
    }

    fn dim(&self) -> usize {
        Belief::dim(&self.belief)
    }

    fn select<'a>(&self, offer: Offer<'a>, key: Key, scratch: &mut Scratch) -> Result<Choice<'a>> {
        offer.expect_dim(self.dim())?;
        Ok(sampling(&self.belief, offer.rows(ENTRY.name)?, self.scale, key, scratch))
    }

    fn learn(&mut self, action: Action<'_>, reward: f64) -> Result<()> {
        let x = check_observation(ENTRY.name, self.dim(), action, reward)?;
        Belief::learn(&mut self.belief, x, reward);
        Ok(())
    }

    fn score(&self, offer: Offer<'_>, scratch: &mut Scratch) -> Result<()> {
        offer.expect_dim(self.dim())?;
        Belief::predict(&self.belief, offer.rows(ENTRY.name)?, self.scale, scratch);
        Ok(())
    }

    fn model(&self) -> (String, String) {
        let why = format!(
            "it plays the best arm of one network, chosen at random, whose distance from their mean counts {} times",
            self.scale
        );
        ("networks, each trained on its own sample of what was seen".to_owned(), why)
    }

    fn snapshot(&self) -> Result<Snapshot> {
        Snapshot::of(ENTRY.name, self)
    }
}
