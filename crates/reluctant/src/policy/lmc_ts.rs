//! `lmc-ts`: Thompson sampling by Langevin Monte Carlo.
//!
//! A network with one hidden layer takes noisy gradient steps after each reward ([`Walk`]), so that where it stands is
//! a draw from the posterior over networks. The arm of its greatest value is chosen. In contexts all actions share the
//! hidden layer and each has a head of its own; the head of an action that was never rewarded is drawn anew each round.
//!
//! Besides the published method, the walk is over mini-batches; when the number of rewards has grown by the share
//! `growth` the network is first trained by Adam from where it stands, which a walk of small steps would take long to
//! do; and inputs and rewards are scaled by what was seen. All rewards are kept.

use super::{Build, Contexts, Entry, OnRows, Restore, Rule, Sample, SharedModel};
use crate::belief::{Walk, restore_if};
use crate::network::{DECAY, EPOCHS, GROWTH, Inputs, RATE, STEP, STEPS, TEMPERATURE, WIDTH};
use crate::params::Literal;

pub(super) const ENTRY: Entry = Entry {
    name: "lmc-ts",
    summary: "Thompson sampling by a network that takes noisy gradient steps",
    citation: "Xu, Zheng, Mazumdar, Azizzadenesheli and Anandkumar (2022), Langevin Monte Carlo for contextual bandits",
    params: &[STEPS, STEP, TEMPERATURE, WIDTH, GROWTH, EPOCHS, RATE, DECAY],
    sphere: false,
    contexts: Contexts::Shared(SharedModel {
        build: |dim, params, key| Ok((Box::new(Walk::read(dim, Inputs::Contexts, params, key)?), RULE)),
        restore: |state| Ok(Box::new(restore_if(state, Walk::is_consistent)?)),
    }),
    samples: &[
        Sample { name: "default", environment: "relu-sphere", settings: &[] },
        Sample {
            name: "given",
            environment: "relu-sphere",
            settings: &[("steps", Literal::Count(5)), ("width", Literal::Count(20)), ("step", Literal::Real(0.2))],
        },
    ],
    build: Build::Plain(|dim, params, key| {
        Ok(OnRows::boxed(ENTRY.name, Walk::read(dim, Inputs::Rows, params, key)?, RULE))
    }),
    restore: Restore::Plain(|state| {
        OnRows::restored(ENTRY.name, state, |belief| restore_if(belief, Walk::is_consistent))
    }),
};

/// Draws as they are.
const RULE: Rule = Rule::Sampling(1.0);
