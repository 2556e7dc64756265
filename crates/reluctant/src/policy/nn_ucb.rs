//! `nn-ucb`: optimism with the mean of a trained network and the width of its infinitely wide limit.
//!
//! The arm of greatest m(x) + β·s(x) is chosen. m is what a trained network predicts ([`LastLayer`]: its last layer is
//! fitted by ridge regression). s is the posterior standard deviation of a Gaussian process with the network's tangent
//! kernel ([`GaussianProcess`]), which does not depend on how well the training went: it knows how far x is from what
//! was seen. In contexts all actions share the hidden layer and the hyperparameters of the kernel.
//!
//! Besides the published method the network is trained when the rewards have grown by the share `growth`, inputs and
//! rewards of the network are scaled by what was seen, and the hyperparameters of the kernel are found by evidence.

use serde::{Deserialize, Serialize};

use super::snapshot::{inconsistent, unreadable};
use super::{Build, Contexts, Entry, Policy, Restore, Rule, Sample, SharedModel, Snapshot, optimism, read_state};
use crate::action::{Action, check_observation};
use crate::belief::{
    BIAS, BUDGET, Belief, DEPTH, DISCOUNT, GaussianProcess, GaussianProcesses, Heads, KERNEL, LAMBDA, LEEWAY, LENGTH,
    LastLayer, Noise, Paired, SIGMA, VARIANCE,
};
use crate::choice::Choice;
use crate::error::Result;
use crate::network::{DECAY, EPOCHS, GROWTH, Inputs, RATE, WIDTH};
use crate::offer::Offer;
use crate::params::{Initial, Kind, Literal, Param, Params};
use crate::rng::Key;
use crate::scratch::Scratch;

pub(super) const ENTRY: Entry = Entry {
    name: "nn-ucb",
    summary: "optimism with the mean of a trained network and the width of its tangent kernel",
    citation: "Kassraie and Krause (2022), Neural contextual bandits without regret",
    params: &[
        Param::new("beta", Initial::real(1.0), Kind::NOT_NEGATIVE, "the width of an arm is β standard deviations"),
        WIDTH,
        LAMBDA,
        GROWTH,
        EPOCHS,
        RATE,
        DECAY,
        SIGMA,
        Param { initial: Initial::word("relu-ntk"), ..KERNEL },
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
        build: |dim, params, key| {
            let mean = LastLayer::read(dim, Inputs::Contexts, NOISE, params, key)?;
            let belief = Paired::new(mean, GaussianProcesses::read(dim, params)?);
            Ok((Box::new(belief), Rule::Optimism(params.real("beta")?)))
        },
        restore: |state| Ok(Box::new(restore(state)?)),
    }),
    samples: &[
        Sample { name: "default", environment: "relu-sphere", settings: &[] },
        Sample {
            name: "given",
            environment: "relu-sphere",
            settings: &[
                ("width", Literal::Count(20)),
                ("sigma", Literal::Real(0.1)),
                ("variance", Literal::Real(1.0)),
                ("budget", Literal::Count(20)),
            ],
        },
    ],
    build: Build::Plain(|dim, params, key| Ok(Box::new(NnUcb::new(dim, params, key)?))),
    restore: Restore::Plain(|state| {
        let consistent = |policy: &NnUcb| {
            let (mean, spread) = (policy.belief.mean(), policy.belief.spread());
            mean.is_consistent() && spread.is_consistent() && Belief::dim(mean) == spread.dim()
        };
        Ok(Box::new(read_state(state, consistent)?))
    }),
};

/// The noise of the last layer's regression is not looked at: the width is the kernel's.
const NOISE: Noise = Noise { own: false, shape: 0.5, rate: 0.5 };

fn restore(state: serde_json::Value) -> Result<Paired<LastLayer, GaussianProcesses>> {
    let belief: Paired<LastLayer, GaussianProcesses> = serde_json::from_value(state).map_err(unreadable)?;
    let (mean, spread) = (belief.mean(), belief.spread());
    let alike = Heads::dim(mean) == spread.dim() && mean.count() == spread.count();
    if mean.is_consistent() && spread.is_consistent() && alike { Ok(belief) } else { Err(inconsistent()) }
}

/// Optimism with the mean of a trained network and the width of its tangent kernel.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct NnUcb {
    beta: f64,
    belief: Paired<LastLayer, GaussianProcess>,
}

impl NnUcb {
    fn new(dim: usize, params: &Params, key: Key) -> Result<Self> {
        let mean = LastLayer::read(dim, Inputs::Rows, NOISE, params, key)?;
        let belief = Paired::new(mean, GaussianProcess::read(dim, params)?);
        Ok(NnUcb { beta: params.real("beta")?, belief })
    }

    /// What it knows.
    pub fn belief(&self) -> &Paired<LastLayer, GaussianProcess> {
        &self.belief
    }
}

impl Policy for NnUcb {
    fn name(&self) -> &'static str {
        ENTRY.name
    }

    fn dim(&self) -> usize {
        Belief::dim(&self.belief)
    }

    fn select<'a>(&self, offer: Offer<'a>, _: Key, scratch: &mut Scratch) -> Result<Choice<'a>> {
        offer.expect_dim(self.dim())?;
        Ok(optimism(&self.belief, offer.rows(ENTRY.name)?, self.beta, scratch))
    }

    fn learn(&mut self, action: Action<'_>, reward: f64) -> Result<()> {
        let x = check_observation(ENTRY.name, self.dim(), action, reward)?;
        Belief::learn(&mut self.belief, x, reward);
        Ok(())
    }

    fn score(&self, offer: Offer<'_>, scratch: &mut Scratch) -> Result<()> {
        offer.expect_dim(self.dim())?;
        Belief::predict(&self.belief, offer.rows(ENTRY.name)?, self.beta, scratch);
        Ok(())
    }

    fn model(&self) -> (String, String) {
        let why = format!("it plays the arm of greatest mean + {} standard deviations", self.beta);
        (format!("a trained network, with the width of {}", self.belief.spread().kernel()), why)
    }

    fn snapshot(&self) -> Result<Snapshot> {
        Snapshot::of(ENTRY.name, self)
    }
}
