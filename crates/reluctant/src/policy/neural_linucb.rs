//! `neural-linucb`: LinUCB whose features are the last hidden layer of a network, which is explored no deeper.
//!
//! A network with one hidden layer is trained on all rewards; on its hidden units φ sits ridge regression ([`LastLayer`]). The arm of
//! greatest ŵ·φ + α·σ·√(φᵀA⁻¹φ) is chosen. The network is trained anew, from where it stands, when the number of rewards has grown by the
//! share `growth`; in between only the regression learns. In contexts all actions share the hidden layer and each has a
//! regression of its own.
//!
//! Besides the published method, inputs and rewards are scaled by what was seen, the noise level σ is estimated, one for all actions, λ is
//! found by evidence unless given, and the regressions are made anew from all rewards after each training, because features of two networks
//! do not add up. All rewards are kept.

use serde::{Deserialize, Serialize};

use super::{Build, Contexts, Entry, Policy, Restore, Rule, Sample, SharedModel, Snapshot, optimism, read_state};
use crate::action::{Action, check_observation};
use crate::belief::{Belief, LAMBDA, LastLayer, Noise};
use crate::choice::Choice;
use crate::error::Result;
use crate::network::{DECAY, EPOCHS, GROWTH, Inputs, RATE, WIDTH};
use crate::offer::Offer;
use crate::params::{Initial, Kind, Literal, Param, Params};
use crate::rng::Key;
use crate::scratch::Scratch;

pub(super) const ENTRY: Entry = Entry {
    name: "neural-linucb",
    summary: "LinUCB on the last layer of a trained network",
    citation: "Xu, Wen, Zhao and Gu (2022), Neural contextual bandits with deep representation and shallow exploration",
    params: &[
        WIDTH,
        Param::new("alpha", Initial::real(1.0), Kind::NOT_NEGATIVE, "the width of an arm is α standard deviations"),
        LAMBDA,
        GROWTH,
        EPOCHS,
        RATE,
        DECAY,
    ],
    sphere: false,
    contexts: Contexts::Shared(SharedModel {
        build: |dim, params, key| {
            let belief = LastLayer::read(dim, Inputs::Contexts, NOISE, params, key)?;
            Ok((Box::new(belief), Rule::Optimism(params.real("alpha")?)))
        },
        restore: |state| Ok(Box::new(LastLayer::restore(state)?)),
    }),
    samples: &[
        Sample { name: "default", environment: "relu-sphere", settings: &[] },
        Sample {
            name: "given",
            environment: "relu-sphere",
            settings: &[("lambda", Literal::Real(0.25)), ("width", Literal::Count(20))],
        },
    ],
    build: Build::Plain(|dim, params, key| Ok(Box::new(NeuralLinUcb::new(dim, params, key)?))),
    restore: Restore::Plain(|state| {
        Ok(Box::new(read_state(state, |policy: &NeuralLinUcb| policy.belief.is_consistent())?))
    }),
};

/// One noise level for all actions, about which little is known: as if one reward had been seen, of variance one.
const NOISE: Noise = Noise { own: false, shape: 0.5, rate: 0.5 };

/// LinUCB on the last layer of a network.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct NeuralLinUcb {
    alpha: f64,
    belief: LastLayer,
}

impl NeuralLinUcb {
    fn new(dim: usize, params: &Params, key: Key) -> Result<Self> {
        let belief = LastLayer::read(dim, Inputs::Rows, NOISE, params, key)?;
        Ok(NeuralLinUcb { alpha: params.real("alpha")?, belief })
    }

    /// What it knows.
    pub fn belief(&self) -> &LastLayer {
        &self.belief
    }
}

impl Policy for NeuralLinUcb {
    fn name(&self) -> &'static str {
        ENTRY.name
    }

    fn dim(&self) -> usize {
        Belief::dim(&self.belief)
    }

    fn select<'a>(&self, offer: Offer<'a>, _: Key, scratch: &mut Scratch) -> Result<Choice<'a>> {
        offer.expect_dim(self.dim())?;
        Ok(optimism(&self.belief, offer.rows(ENTRY.name)?, self.alpha, scratch))
    }

    fn learn(&mut self, action: Action<'_>, reward: f64) -> Result<()> {
        let x = check_observation(ENTRY.name, self.dim(), action, reward)?;
        Belief::learn(&mut self.belief, x, reward);
        Ok(())
    }

    fn score(&self, offer: Offer<'_>, scratch: &mut Scratch) -> Result<()> {
        offer.expect_dim(self.dim())?;
        Belief::predict(&self.belief, offer.rows(ENTRY.name)?, self.alpha, scratch);
        Ok(())
    }

    fn model(&self) -> (String, String) {
        let why = format!("it plays the arm of greatest mean + {} standard deviations", self.alpha);
        ("a linear function of the last layer of a network".to_owned(), why)
    }

    fn snapshot(&self) -> Result<Snapshot> {
        Snapshot::of(ENTRY.name, self)
    }
}
