//! `square-cb`: arms by chance, the rarer the less they promise.
//!
//! Of K arms, one whose predicted mean is less than the greatest by the gap Δ is taken with probability 1/(K + γΔ), the
//! best with the rest; γ = `gamma`·√(Kt) in round t, so that exploration ends. Gaps are in units of rewards: where
//! these are not of size one, `gamma` should be divided by their size. What predicts is a parameter (`belief`, see
//! `policy/any_belief.rs`). A choice's propensity is known.

use super::any_belief::{and_beliefs, on_rows, read_heads, restore_heads, restore_rows};
use super::{Build, Contexts, Entry, Restore, Rule, Sample, SharedModel};
use crate::error::Result;
use crate::params::{Initial, Kind, Literal, Param, Params};

pub(super) const ENTRY: Entry = Entry {
    name: "square-cb",
    summary: "chooses by chance, inversely to the gap that any belief predicts",
    citation: "Foster and Rakhlin (2020), Beyond UCB: optimal and efficient contextual bandits with regression oracles",
    params: &and_beliefs::<_, 16>([Param::new(
        "gamma",
        Initial::real(30.0),
        Kind::NOT_NEGATIVE,
        "how fast exploration ends: γ = gamma·√(Kt)",
    )]),
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
            settings: &[("gamma", Literal::Real(10.0)), ("belief", Literal::Word("linear"))],
        },
        Sample { name: "gp", environment: "relu-sphere", settings: &[("belief", Literal::Word("gp"))] },
    ],
    build: Build::Plain(|dim, params, key| on_rows(ENTRY.name, rule(params)?, (dim, params, key))),
    restore: Restore::Plain(|state| restore_rows(ENTRY.name, state)),
};

fn rule(params: &Params) -> Result<Rule> {
    Ok(Rule::InverseGap { gamma: params.real("gamma")? })
}
