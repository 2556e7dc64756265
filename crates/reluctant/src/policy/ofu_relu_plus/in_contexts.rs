//! `ofu-relu-plus` where named actions share a context: one hidden layer for all actions, frozen in growing batches.
//!
//! Action a has the network fₐ(x) = vₐ·h(x) + uₐ·x + cₐ with hidden units h(x) = max(0, Wx + b) that all actions share.
//! A batch begins with a fit of all parameters to all rewards. Then the hidden layer is frozen, so that every action is
//! linear in (h(x), x, 1): all rewards are featurised anew, each action has a ridge regression on them, and the action
//! of greatest ŵ·φ + width is played until the batch ends. The batch that begins with n rewards ends with a·n, the
//! first with the first reward. The layer grows from batch to batch with the root of n, units that were there go on
//! from where they are ([`LastLayer::growing`]). Two such networks are averaged, as in `neural-linucb`.
//!
//! Frozen activations would allow more: with the gates 1ᵢ = 1{wᵢ·x + bᵢ ≥ 0} alone, fₐ is linear in (x, 1, 1ᵢx, 1ᵢ).
//! That is what the policy does on rows. In contexts these features are too many, k(p + 1) for each action, and where
//! they could be afforded they made more mistakes on real tables: what the fit knows of W is lost with them.
//!
//! There is no exploration by chance and no guess of the gap, so of the parameters only `a` and `radius` count, and by
//! the theorem `delta` and `norm_bound`. Noise and λ are found from the rewards. All rewards are kept.

use super::super::neural_linucb;
use super::super::{Rule, SharedModel};
use crate::belief::{Averaged, LastLayer, Theorem, restore_if};
use crate::error::Result;
use crate::network::Inputs;
use crate::params::{Initial, Kind, Param, Params, Settings};
use crate::rng::Key;

pub(super) const RADIUS: Param = Param::new(
    "radius",
    Initial::word("measured"),
    Kind::Word(&["measured", "theorem"]),
    "in contexts, the width of an action: 0.7 standard deviations, by the residuals, or the theorem's",
);

pub(super) const SHARED: SharedModel = SharedModel {
    build: |dim, params, key| Ok((Box::new(belief(dim, params, key)?), rule(params)?)),
    restore: |state| Ok(Box::new(restore_if(state, Averaged::is_consistent)?)),
};

/// Standard deviations that a measured width is wide. Fewer than one do: x is seen besides the hidden units, so that an
/// action is unsure in more directions (chosen, with the passes below, on shuffles of tables that are not reported).
const DEVIATIONS: f64 = 0.7;

/// Passes over all rewards at the beginning of a batch: twice those of `neural-linucb`, which trains five times as
/// often.
const EPOCHS: f64 = 20.0;

/// S where it is not given: scaled rewards are of size one, and so are the features that they are linear in.
const NORM_BOUND: f64 = 1.0;

fn belief(dim: usize, params: &Params, key: Key) -> Result<Averaged<LastLayer>> {
    let settings = Settings::new().with("growth", params.real("a")? - 1.0).with("epochs", EPOCHS);
    let networks = Params::resolve("neural-linucb", neural_linucb::ENTRY.params, &settings)?;
    let members = neural_linucb::read(dim, Inputs::Contexts, &networks, key)?.map(LastLayer::growing);
    Ok(match theorem(params)? {
        Some(theorem) => members.map(|member| member.with_theorem(theorem)),
        None => members,
    })
}

fn rule(params: &Params) -> Result<Rule> {
    Ok(Rule::Optimism(if params.word("radius")? == "theorem" { 1.0 } else { DEVIATIONS }))
}

/// What the theorem's radius depends on, if widths are by the theorem.
fn theorem(params: &Params) -> Result<Option<Theorem>> {
    if params.word("radius")? != "theorem" {
        return Ok(None);
    }
    let norm_bound = params.real_or("norm_bound", NORM_BOUND)?;
    Ok(Some(Theorem { delta: params.real("delta")?, norm_bound }))
}
