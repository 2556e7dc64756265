//! `plausible` where named actions share a context: the ladder of models has a hidden layer for all actions.
//!
//! A model for each action, as on rows, would learn from the rewards of that action alone, and fit networks for each:
//! minutes for what takes seconds here. The steps are a curve for each input, the two networks of `neural-linucb` and
//! an infinitely wide network; for two actions and rewards of 0 and 1 also curves and two networks by which one of the
//! actions is right and the other wrong. They are weighed by how well they foretell rewards ([`Ladder`]). All rewards
//! are kept. Of the parameters only `mode` and `optimism` count ([`READ`]). Told no others, the
//! policy also takes rows for contexts that are one context in blocks, an action each (`policy/in_blocks`).

use super::super::neural_linucb;
use super::super::{Rule, SharedModel};
use super::constants::{CAUTION, EITHER_OR_DECAY};
use crate::belief::{Averaged, EitherOr, Ladder, LastLayer, restore_if};
use crate::error::Result;
use crate::network::Inputs;
use crate::params::{Params, Settings};
use crate::rng::Key;

/// The parameters that count.
pub(super) const READ: &[&str] = &["mode", "optimism"];

pub(super) const SHARED: SharedModel = SharedModel {
    build: |dim, params, key| Ok((Box::new(belief(dim, key)?), rule(params)?)),
    restore: |state| Ok(Box::new(restore_if(state, Ladder::is_consistent)?)),
};

fn belief(dim: usize, key: Key) -> Result<Ladder> {
    let params = Params::resolve("neural-linucb", neural_linucb::ENTRY.params, &Settings::new())?;
    let first = LastLayer::read(dim, Inputs::Contexts, neural_linucb::NOISE, &params, key.branch("curves"))?;
    let networks = neural_linucb::read(dim, Inputs::Contexts, &params, key)?;
    let either = |m: u64| EitherOr::read(dim, &params, key.branch("either-or").round(m));
    let less = either(0)?.with_decay_times(EITHER_OR_DECAY);
    let more = either(1)?.with_decay_times(EITHER_OR_DECAY * neural_linucb::NEXT_DECAY);
    Ladder::new(first, networks, either(2)?, Averaged::new(vec![less, more])?)
}

fn rule(params: &Params) -> Result<Rule> {
    let scale = CAUTION * params.real("optimism")?;
    Ok(if params.word("mode")? == "sampling" { Rule::Sampling(scale) } else { Rule::Optimism(scale) })
}
