//! `neural-linear`: Thompson sampling on a Bayesian linear regression whose features are the last hidden layer of a
//! network.
//!
//! A network with one hidden layer is trained on all rewards; on its hidden units sits a Bayesian linear regression
//! with unknown noise ([`LastLayer`]). Each round draws the noise level σ² from its inverse gamma posterior and weights
//! from N(ŵ, σ²A⁻¹), and takes the arm of greatest value. The network is trained anew, from where it stands, when the
//! number of rewards has grown by the share `growth`; in between only the regression learns. In contexts all actions
//! share the hidden layer and each has a regression and a noise level of its own, as published; on rows there is one
//! regression.
//!
//! Besides the published method, inputs and rewards are scaled by what was seen. All rewards are kept. A score's width
//! is one standard deviation. The probability of a choice is estimated, on request.

use serde::{Deserialize, Serialize};

use super::{Build, Contexts, Entry, Policy, Restore, Rule, Sample, SharedModel, Snapshot, read_state, sampling};
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
    name: "neural-linear",
    summary: "Thompson sampling on Bayesian linear regression on the last layer of a network",
    citation: "Riquelme, Tucker and Snoek (2018), Deep Bayesian bandits showdown",
    params: &[
        WIDTH,
        Param::new(
            "scale",
            Initial::real(1.0),
            Kind::NOT_NEGATIVE,
            "how far draws stray from the mean, in units of the posterior",
        ),
        Param { initial: Initial::real(1.0), ..LAMBDA },
        Param::new("a0", Initial::real(1.0), Kind::POSITIVE, "shape a₀ of the noise's inverse gamma prior"),
        Param::new(
            "b0",
            Initial::real(0.1),
            Kind::POSITIVE,
            "rate b₀ of the noise's inverse gamma prior, for rewards of variance one",
        ),
        GROWTH,
        EPOCHS,
        RATE,
        DECAY,
    ],
    sphere: false,
    contexts: Contexts::Shared(SharedModel {
        build: |dim, params, key| {
            let belief = LastLayer::read(dim, Inputs::Contexts, noise(params)?, params, key)?;
            Ok((Box::new(belief), Rule::Sampling(params.real("scale")?)))
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
    build: Build::Plain(|dim, params, key| Ok(Box::new(NeuralLinear::new(dim, params, key)?))),
    restore: Restore::Plain(|state| {
        Ok(Box::new(read_state(state, |policy: &NeuralLinear| policy.belief.is_consistent())?))
    }),
};

/// Each action's own noise.
fn noise(params: &Params) -> Result<Noise> {
    Ok(Noise { own: true, shape: params.real("a0")?, rate: params.real("b0")? })
}

/// Thompson sampling on the last layer of a network.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct NeuralLinear {
    scale: f64,
    belief: LastLayer,
}

impl NeuralLinear {
    fn new(dim: usize, params: &Params, key: Key) -> Result<Self> {
        let belief = LastLayer::read(dim, Inputs::Rows, noise(params)?, params, key)?;
        Ok(NeuralLinear { scale: params.real("scale")?, belief })
    }

    /// What it knows.
    pub fn belief(&self) -> &LastLayer {
        &self.belief
    }
}

impl Policy for NeuralLinear {
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
        let why = format!("it plays the best arm of one last layer, drawn with {} standard deviations", self.scale);
        ("a linear function of the last layer of a network".to_owned(), why)
    }

    fn snapshot(&self) -> Result<Snapshot> {
        Snapshot::of(ENTRY.name, self)
    }
}
