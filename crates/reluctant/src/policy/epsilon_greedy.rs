//! `epsilon-greedy`: the best arm by its predicted mean, and now and then any.
//!
//! In round t any arm is taken, each with the same probability, with probability min(1, ε·t^(−power)); else the one of
//! greatest predicted mean. What predicts is a parameter (`belief`, see `policy/any_belief.rs`). A choice's propensity
//! is known.

use super::any_belief::{and_beliefs, on_rows, read_heads, restore_heads, restore_rows};
use super::{Build, Contexts, Entry, Restore, Rule, Sample, SharedModel};
use crate::error::Result;
use crate::params::{Initial, Kind, Literal, Param, Params};

pub(super) const ENTRY: Entry = Entry {
    name: "epsilon-greedy",
    summary: "takes the best arm by any belief, and a random one now and then",
    citation: "Sutton and Barto (2018), Reinforcement learning, Section 2.2",
    params: &and_beliefs::<_, 17>([
        Param::new("epsilon", Initial::real(0.3), Kind::NOT_NEGATIVE, "share ε of random choices in the first round"),
        Param::new("power", Initial::real(0.5), Kind::NOT_NEGATIVE, "the share falls like ε·t^(−power); 0 keeps it"),
    ]),
    sphere: false,
    contexts: Contexts::Shared(SharedModel {
        build: |dim, params, key| Ok((read_heads(dim, params, key)?, rule(params)?)),
        restore: restore_heads,
    }),
    samples: &[
        Sample { name: "network", environment: "relu-sphere", settings: &[] },
        Sample {
            name: "linear",
            environment: "linear-sphere",
            settings: &[
                ("epsilon", Literal::Real(0.1)),
                ("power", Literal::Real(0.0)),
                ("belief", Literal::Word("linear")),
            ],
        },
        Sample { name: "gp", environment: "relu-sphere", settings: &[("belief", Literal::Word("gp"))] },
    ],
    build: Build::Plain(|dim, params, key| on_rows(ENTRY.name, rule(params)?, (dim, params, key))),
    restore: Restore::Plain(|state| restore_rows(ENTRY.name, state)),
};

fn rule(params: &Params) -> Result<Rule> {
    Ok(Rule::EpsilonGreedy { epsilon: params.real("epsilon")?, power: params.real("power")? })
}
