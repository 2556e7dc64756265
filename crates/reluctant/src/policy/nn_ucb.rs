//! `nn-ucb`: optimism with the mean of a trained network and the width of its infinitely wide limit.
//!
//! The arm of greatest m(x) + β·s(x) is chosen. m is what a trained network predicts ([`LastLayer`]: its last layer is
//! fitted by ridge regression). s is the posterior standard deviation of a Gaussian process with the network's tangent
//! kernel ([`GaussianProcess`]), which does not depend on how well the training went: it knows how far x is from what
//! was seen. In contexts all actions share the hidden layer and the hyperparameters of the kernel.
//!
//! Besides the published method the network is trained when the rewards have grown by the share `growth`, inputs and
//! rewards of the network are scaled by what was seen, and the hyperparameters of the kernel are found by evidence.

use super::{Build, Contexts, Entry, OnRows, Restore, Rule, Sample, SharedModel};
use crate::belief::{
    BIAS, BUDGET, Belief, DEPTH, DISCOUNT, GaussianProcess, GaussianProcesses, Heads, KERNEL, LAMBDA, LEEWAY, LENGTH,
    LastLayer, Noise, Paired, SIGMA, VARIANCE, restore_if,
};
use crate::error::Result;
use crate::network::{DECAY, EPOCHS, GROWTH, Inputs, RATE, WIDTH};
use crate::params::{Initial, Kind, Literal, Param, Params};
use crate::rng::Key;

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
            let mean = mean(dim, Inputs::Contexts, params, key)?;
            Ok((Box::new(Paired::new(mean, GaussianProcesses::read(dim, params)?)), rule(params)?))
        },
        restore: |state| {
            let consistent = |belief: &Paired<LastLayer, GaussianProcesses>| {
                let (mean, spread) = (belief.mean(), belief.spread());
                let alike = Heads::dim(mean) == spread.dim() && mean.count() == spread.count();
                mean.is_consistent() && spread.is_consistent() && alike
            };
            Ok(Box::new(restore_if(state, consistent)?))
        },
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
    build: Build::Plain(|dim, params, key| {
        let belief = Paired::new(mean(dim, Inputs::Rows, params, key)?, GaussianProcess::read(dim, params)?);
        Ok(OnRows::boxed(ENTRY.name, belief, rule(params)?))
    }),
    restore: Restore::Plain(|state| {
        let consistent = |belief: &Paired<LastLayer, GaussianProcess>| {
            let (mean, spread) = (belief.mean(), belief.spread());
            mean.is_consistent() && spread.is_consistent() && Belief::dim(mean) == spread.dim()
        };
        OnRows::restored(ENTRY.name, state, |belief| restore_if(belief, consistent))
    }),
};

fn rule(params: &Params) -> Result<Rule> {
    Ok(Rule::Optimism(params.real("beta")?))
}

/// The trained network. The noise of its last layer's regression is not looked at: the width is the kernel's.
fn mean(dim: usize, inputs: Inputs, params: &Params, key: Key) -> Result<LastLayer> {
    LastLayer::read(dim, inputs, Noise { own: false, shape: 0.5, rate: 0.5 }, params, key)
}
