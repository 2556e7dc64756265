//! `plausible` where named actions share a context: the ladder of models has a hidden layer for all actions.
//!
//! A model for each action, as on rows, would learn from the rewards of that action alone, and fit networks for each:
//! minutes for what takes seconds here. The steps are a linear model of the scaled context, the two networks of
//! `neural-linucb` and an infinitely wide network, weighed by how well they foretell rewards ([`Ladder`]). All rewards
//! are kept. Of the parameters only `mode` and `optimism` count.

use super::super::neural_linucb;
use super::super::{Rule, SharedModel};
use super::constants::CAUTION;
use crate::belief::{Ladder, LastLayer, restore_if};
use crate::error::Result;
use crate::network::Inputs;
use crate::params::{Params, Settings};
use crate::rng::Key;

pub(super) const SHARED: SharedModel = SharedModel {
    build: |dim, params, key| Ok((Box::new(belief(dim, key)?), rule(params)?)),
    restore: |state| Ok(Box::new(restore_if(state, Ladder::is_consistent)?)),
};

fn belief(dim: usize, key: Key) -> Result<Ladder> {
    let params = Params::resolve("neural-linucb", neural_linucb::ENTRY.params, &Settings::new())?;
    let first = LastLayer::read(dim, Inputs::Contexts, neural_linucb::NOISE, &params, key.branch("linear"))?;
    Ladder::new(first, neural_linucb::read(dim, Inputs::Contexts, &params, key)?)
}

fn rule(params: &Params) -> Result<Rule> {
    let scale = CAUTION * params.real("optimism")?;
    Ok(if params.word("mode")? == "sampling" { Rule::Sampling(scale) } else { Rule::Optimism(scale) })
}
