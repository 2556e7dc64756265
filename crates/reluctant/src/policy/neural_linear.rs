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

use super::{Build, Contexts, Entry, OnRows, Restore, Rule, Sample, SharedModel};
use crate::belief::{LAMBDA, LastLayer, Noise, restore_if};
use crate::error::Result;
use crate::network::{DECAY, EPOCHS, GROWTH, Inputs, RATE, WIDTH};
use crate::params::{Initial, Kind, Literal, Param, Params};
use crate::rng::Key;

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
        build: |dim, params, key| Ok((Box::new(read(dim, Inputs::Contexts, params, key)?), rule(params)?)),
        restore: |state| Ok(Box::new(restore_if(state, LastLayer::is_consistent)?)),
    }),
    samples: &[
        Sample { name: "default", environment: "relu-sphere", settings: &[] },
        Sample {
            name: "given",
            environment: "relu-sphere",
            settings: &[("lambda", Literal::Real(0.25)), ("width", Literal::Count(20))],
        },
    ],
    build: Build::Plain(|dim, params, key| {
        Ok(OnRows::boxed(ENTRY.name, read(dim, Inputs::Rows, params, key)?, rule(params)?))
    }),
    restore: Restore::Plain(|state| {
        OnRows::restored(ENTRY.name, state, |belief| restore_if(belief, LastLayer::is_consistent))
    }),
};

fn rule(params: &Params) -> Result<Rule> {
    Ok(Rule::Sampling(params.real("scale")?))
}

/// Each action has its own noise.
fn read(dim: usize, inputs: Inputs, params: &Params, key: Key) -> Result<LastLayer> {
    let noise = Noise { own: true, shape: params.real("a0")?, rate: params.real("b0")? };
    LastLayer::read(dim, inputs, noise, params, key)
}
