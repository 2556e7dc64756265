//! `ensemble`: Thompson sampling by bootstrapped networks with prior functions.
//!
//! `members` networks are trained, each on its own bootstrap sample of all rewards and around its own random prior
//! function ([`Ensemble`]). Each round draws a member and takes the arm that is best under it. The networks are trained
//! anew, from where they stand, when the number of rewards has grown by the share `growth`. In contexts each member has
//! a hidden layer that all actions share, and a head an action.
//!
//! Inputs and rewards are scaled by what was seen. All rewards are kept. A score's width is the standard deviation of
//! the members. The probability of a choice is estimated, on request.

use super::{Build, Contexts, Entry, OnRows, Restore, Rule, Sample, SharedModel};
use crate::belief::{Ensemble, MEMBERS, PRIOR, restore_if};
use crate::error::Result;
use crate::network::{DECAY, EPOCHS, GROWTH, Inputs, RATE, WIDTH};
use crate::params::{Initial, Kind, Literal, Param, Params};

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
            Ok((Box::new(belief), rule(params)?))
        },
        restore: |state| Ok(Box::new(restore_if(state, Ensemble::is_consistent)?)),
    }),
    samples: &[
        Sample { name: "default", environment: "relu-sphere", settings: &[] },
        Sample {
            name: "given",
            environment: "relu-sphere",
            settings: &[("members", Literal::Count(3)), ("width", Literal::Count(20)), ("scale", Literal::Real(0.5))],
        },
    ],
    build: Build::Plain(|dim, params, key| {
        let belief = Ensemble::read(dim, Inputs::Rows, params, key)?;
        Ok(OnRows::boxed(ENTRY.name, belief, rule(params)?))
    }),
    restore: Restore::Plain(|state| {
        OnRows::restored(ENTRY.name, state, |belief| restore_if(belief, Ensemble::is_consistent))
    }),
};

fn rule(params: &Params) -> Result<Rule> {
    Ok(Rule::Sampling(params.real("scale")?))
}
