//! `neural-linucb`: LinUCB whose features are the last hidden layer of a network, which is explored no deeper.
//!
//! A network with one hidden layer is trained on all rewards; on its hidden units φ sits ridge regression
//! ([`LastLayer`]). The arm of greatest ŵ·φ + α·σ·√(φᵀA⁻¹φ) is chosen. The network is trained anew, from where it
//! stands, when the number of rewards has grown by the share `growth`; in between only the regression learns. In
//! contexts all actions share the hidden layer and each has a regression of its own.
//!
//! Besides the published method, there are `members` networks whose predictions are averaged, each with five times the
//! weight decay of the one before; inputs and rewards are scaled by what was seen; each action's noise level σ is
//! estimated, so that one whose few rewards were bad is not given up at once; λ is found by evidence unless given; and
//! the regressions are made anew from all rewards after each training, because features of two networks do not add up.
//! All rewards are kept.

use super::{Build, Contexts, Entry, OnRows, Restore, Rule, Sample, SharedModel};
use crate::belief::{Averaged, LAMBDA, LastLayer, Noise, restore_if};
use crate::error::Result;
use crate::network::{DECAY, EPOCHS, GROWTH, Inputs, RATE, WIDTH};
use crate::params::{Initial, Kind, Literal, Param, Params};
use crate::rng::Key;

pub(super) const ENTRY: Entry = Entry {
    name: "neural-linucb",
    summary: "LinUCB on the last layer of a trained network",
    citation: "Xu, Wen, Zhao and Gu (2022), Neural contextual bandits with deep representation and shallow exploration",
    params: &[
        Param::new(
            "members",
            Initial::count(2),
            Kind::Count { min: 1, max: MAX_MEMBERS },
            "networks that are averaged",
        ),
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
        build: |dim, params, key| Ok((Box::new(read(dim, Inputs::Contexts, params, key)?), rule(params)?)),
        restore: |state| Ok(Box::new(restore_if(state, Averaged::is_consistent)?)),
    }),
    samples: &[
        Sample { name: "default", environment: "relu-sphere", settings: &[] },
        Sample {
            name: "given",
            environment: "relu-sphere",
            settings: &[("lambda", Literal::Real(0.25)), ("width", Literal::Count(20)), ("members", Literal::Count(1))],
        },
    ],
    build: Build::Plain(|dim, params, key| {
        Ok(OnRows::boxed(ENTRY.name, read(dim, Inputs::Rows, params, key)?, rule(params)?))
    }),
    restore: Restore::Plain(|state| {
        OnRows::restored(ENTRY.name, state, |belief| restore_if(belief, Averaged::is_consistent))
    }),
};

/// More networks would only keep a round waiting.
const MAX_MEMBERS: u64 = 100;

/// What the weight decay of a network is multiplied with for the next. The first fits best where rewards follow
/// contexts closely, the second where they hardly do (chosen on shuffles of tables that are not reported).
pub(super) const NEXT_DECAY: f64 = 5.0;

/// Each action has noise of its own, about which little is known: as if one reward had been seen, of variance one.
pub(super) const NOISE: Noise = Noise { own: true, shape: 0.5, rate: 0.5 };

pub(super) fn read(dim: usize, inputs: Inputs, params: &Params, key: Key) -> Result<Averaged<LastLayer>> {
    let member = |m: u64| {
        let key = if m == 0 { key } else { key.branch("member").round(m) };
        let belief = LastLayer::read(dim, inputs, NOISE, params, key)?;
        Ok(belief.with_decay_times(libm::pow(NEXT_DECAY, m as f64)))
    };
    Averaged::new((0..params.count("members")?).map(member).collect::<Result<_>>()?)
}

fn rule(params: &Params) -> Result<Rule> {
    Ok(Rule::Optimism(params.real("alpha")?))
}
