//! Policies that act by chance on what any belief predicts: which belief is a parameter.
//!
//! | `belief` | what it is | its parameters |
//! | --- | --- | --- |
//! | `network` | regression on the last layer of a trained network, shared by all actions | `width`, `lambda`, `growth`, `epochs`, `rate`, `decay` |
//! | `linear` | ridge regression on features, in contexts an action each | `lambda`, `features`, `degree`, `discount` |
//! | `gp` | a Gaussian process, in contexts an action each with common hyperparameters | `sigma`, `kernel`, `length`, `variance`, `budget`, `discount` |

use serde::{Deserialize, Serialize};

use super::snapshot::{inconsistent, unreadable};
use super::{Fitted, Policy, Rule, Snapshot};
use crate::action::{Action, check_observation};
use crate::belief::{
    Asked, Belief, Each, Features, GaussianProcess, GaussianProcesses, Heads, LastLayer, Linear, Noise,
};
use crate::choice::Choice;
use crate::error::Result;
use crate::limits::MAX_FEATURES;
use crate::network::Inputs;
use crate::offer::Offer;
use crate::params::{Initial, Kind, Param, Params};
use crate::rng::{Key, Purpose, uniform};
use crate::scratch::Scratch;

pub(super) const BELIEF: Param = Param::new(
    "belief",
    Initial::word("network"),
    Kind::Word(&["network", "linear", "gp"]),
    "what predicts: the last layer of a network, ridge regression, or a Gaussian process",
);
pub(super) const LAMBDA: Param = Param::new(
    "lambda",
    Initial::Auto("1 (linear), by evidence (network)"),
    Kind::POSITIVE,
    "penalty λ of the regressions",
);

/// λ of ridge regression unless it is given.
const RIDGE: f64 = 1.0;

/// One noise level for all actions, as if one reward had been seen, of variance one.
const NOISE: Noise = Noise { own: false, shape: 0.5, rate: 0.5 };

/// A belief of any kind: about rows, or about actions.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Any<L, G> {
    Network(Box<LastLayer>),
    Linear(L),
    Gp(Box<G>),
}

type AnyBelief = Any<Linear, GaussianProcess>;
type AnyHeads = Any<Each<Linear>, GaussianProcesses>;

fn read_linear(dim: usize, params: &Params) -> Result<Linear> {
    let lambda = if params.get("lambda").is_some() { params.real("lambda")? } else { RIDGE };
    Linear::new(dim, Features::read(dim, params)?, lambda)?.forgetting(params.real("discount")?)
}

impl AnyBelief {
    fn read(dim: usize, params: &Params, key: Key) -> Result<Self> {
        Ok(match params.word("belief")? {
            "linear" => Any::Linear(read_linear(dim, params)?),
            "gp" => Any::Gp(Box::new(GaussianProcess::read(dim, params)?)),
            _ => Any::Network(Box::new(LastLayer::read(dim, Inputs::Rows, NOISE, params, key)?)),
        })
    }

    fn get(&self) -> &dyn Belief {
        match self {
            Any::Network(belief) => belief.as_ref(),
            Any::Linear(belief) => belief,
            Any::Gp(belief) => belief.as_ref(),
        }
    }

    fn get_mut(&mut self) -> &mut dyn Belief {
        match self {
            Any::Network(belief) => belief.as_mut(),
            Any::Linear(belief) => belief,
            Any::Gp(belief) => belief.as_mut(),
        }
    }

    fn is_consistent(&self) -> bool {
        match self {
            Any::Network(belief) => belief.is_consistent(),
            Any::Linear(belief) => belief.is_consistent(),
            Any::Gp(belief) => belief.is_consistent(),
        }
    }
}

impl AnyHeads {
    fn get(&self) -> &dyn Heads {
        match self {
            Any::Network(belief) => belief.as_ref(),
            Any::Linear(belief) => belief,
            Any::Gp(belief) => belief.as_ref(),
        }
    }

    fn get_mut(&mut self) -> &mut dyn Heads {
        match self {
            Any::Network(belief) => belief.as_mut(),
            Any::Linear(belief) => belief,
            Any::Gp(belief) => belief.as_mut(),
        }
    }

    fn is_consistent(&self) -> bool {
        match self {
            Any::Network(belief) => belief.is_consistent(),
            Any::Linear(belief) => belief.all(Linear::is_consistent),
            Any::Gp(belief) => belief.is_consistent(),
        }
    }
}

/// The belief about actions that `params` name.
pub(super) fn read_heads(dim: usize, params: &Params, key: Key) -> Result<Box<dyn Heads>> {
    Ok(Box::new(match params.word("belief")? {
        "linear" => AnyHeads::Linear(Each::new(read_linear(dim, params)?)),
        "gp" => AnyHeads::Gp(Box::new(GaussianProcesses::read(dim, params)?)),
        _ => AnyHeads::Network(Box::new(LastLayer::read(dim, Inputs::Contexts, NOISE, params, key)?)),
    }))
}

/// The belief about actions that was saved.
pub(super) fn restore_heads(state: serde_json::Value) -> Result<Box<dyn Heads>> {
    let heads: AnyHeads = serde_json::from_value(state).map_err(unreadable)?;
    if heads.is_consistent() { Ok(Box::new(heads)) } else { Err(inconsistent()) }
}

impl Heads for AnyHeads {
    fn kind(&self) -> &'static str {
        self.get().kind()
    }

    fn dim(&self) -> usize {
        self.get().dim()
    }

    fn count(&self) -> usize {
        self.get().count()
    }

    fn add(&mut self, name: &str) -> Result<()> {
        self.get_mut().add(name)
    }

    fn learn(&mut self, head: usize, x: &[f64], y: f64) {
        self.get_mut().learn(head, x, y);
    }

    fn predict(&self, x: &[f64], actions: Asked<'_>, scale: f64, scratch: &mut Scratch) {
        self.get().predict(x, actions, scale, scratch);
    }

    fn draw(&self, x: &[f64], actions: Asked<'_>, scale: f64, key: Key, scratch: &mut Scratch) {
        self.get().draw(x, actions, scale, key, scratch);
    }

    fn warning(&self) -> Option<String> {
        self.get().warning()
    }

    fn save(&self) -> Result<serde_json::Value> {
        crate::belief::state(self)
    }
}

/// A rule that leaves choices to chance, on any belief about rows.
#[derive(Debug, Clone)]
pub struct ByChance {
    name: &'static str,
    state: State,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
struct State {
    rule: Rule,
    learnt: u64,
    belief: AnyBelief,
}

impl ByChance {
    pub(super) fn new(name: &'static str, rule: Rule, dim: usize, params: &Params, key: Key) -> Result<Self> {
        let belief = AnyBelief::read(dim, params, key)?;
        Ok(ByChance { name, state: State { rule, learnt: 0, belief } })
    }

    pub(super) fn restore(name: &'static str, state: serde_json::Value) -> Result<Self> {
        let state: State = serde_json::from_value(state).map_err(unreadable)?;
        let sized = (1..=MAX_FEATURES).contains(&state.belief.get().dim());
        if sized && state.belief.is_consistent() { Ok(ByChance { name, state }) } else { Err(inconsistent()) }
    }
}

impl Policy for ByChance {
    fn name(&self) -> &'static str {
        self.name
    }

    fn dim(&self) -> usize {
        self.state.belief.get().dim()
    }

    fn select<'a>(&self, offer: Offer<'a>, key: Key, scratch: &mut Scratch) -> Result<Choice<'a>> {
        offer.expect_dim(self.dim())?;
        let rows = offer.rows(self.name)?;
        let State { rule, learnt, belief } = &self.state;
        belief.get().predict(rows, rule.scale(), scratch);
        let mut stream = key.purpose(Purpose::Choice).stream();
        let Scratch { scores, numbers, .. } = scratch;
        let picked = rule.pick(scores, *learnt, |_| uniform(&mut stream), numbers);
        Ok(picked.of(Choice::row(rows, picked.index, scores[picked.index])))
    }

    fn probabilities(&self, offer: Offer<'_>, scratch: &mut Scratch, out: &mut Vec<f64>) -> Result<bool> {
        self.score(offer, scratch)?;
        self.state.rule.probabilities(&scratch.scores, self.state.learnt, out);
        Ok(true)
    }

    fn learn(&mut self, action: Action<'_>, reward: f64) -> Result<()> {
        let x = check_observation(self.name, self.dim(), action, reward)?;
        self.state.belief.get_mut().learn(x, reward);
        self.state.learnt = self.state.learnt.saturating_add(1);
        Ok(())
    }

    fn score(&self, offer: Offer<'_>, scratch: &mut Scratch) -> Result<()> {
        offer.expect_dim(self.dim())?;
        self.state.belief.get().predict(offer.rows(self.name)?, self.state.rule.scale(), scratch);
        Ok(())
    }

    fn model(&self) -> (String, String) {
        let model = match &self.state.belief {
            Any::Network(_) => "a network with one hidden layer".to_owned(),
            Any::Linear(_) => "a linear function".to_owned(),
            Any::Gp(belief) => format!("a Gaussian process: {}", belief.kernel()),
        };
        (model, self.state.rule.to_string())
    }

    fn network(&self) -> Option<Fitted> {
        match &self.state.belief {
            Any::Linear(belief) if self.state.learnt > 0 => Some(Fitted::linear(belief, self.dim())),
            _ => None,
        }
    }

    fn snapshot(&self) -> Result<Snapshot> {
        Snapshot::of(self.name, &self.state)
    }
}
