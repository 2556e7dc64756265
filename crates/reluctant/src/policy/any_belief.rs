//! Policies that act by chance on what any belief predicts: which belief is a parameter.
//!
//! | `belief` | what it is | its parameters |
//! | --- | --- | --- |
//! | `network` | regression on the last layer of a trained network, shared by all actions | `width`, `lambda`, `growth`, `epochs`, `rate`, `decay` |
//! | `linear` | ridge regression on features, in contexts an action each | `lambda`, `features`, `degree`, `discount` |
//! | `gp` | a Gaussian process, in contexts an action each with common hyperparameters | `sigma`, `kernel`, `length`, `variance`, `budget`, `discount` |

use serde::{Deserialize, Serialize};

use super::confidence;
use super::{OnRows, Policy, Rule};
use crate::belief::{
    Asked, BUDGET, Belief, DEGREE, DISCOUNT, Each, FEATURES, Features, GaussianProcess, GaussianProcesses, Heads,
    KERNEL, LENGTH, LastLayer, Linear, Noise, VARIANCE, restore_if, state,
};
use crate::error::Result;
use crate::network::{DECAY, EPOCHS, GROWTH, Inputs, RATE, WIDTH};
use crate::offer::Rows;
use crate::params::{Initial, Kind, Param, Params};
use crate::rng::Key;
use crate::scratch::Scratch;

const BELIEF: Param = Param::new(
    "belief",
    Initial::word("network"),
    Kind::Word(&["network", "linear", "gp"]),
    "what predicts: the last layer of a network, ridge regression, or a Gaussian process",
);
const LAMBDA: Param = Param::new(
    "lambda",
    Initial::Auto("1 (linear), by evidence (network)"),
    Kind::POSITIVE,
    "penalty λ of the regressions",
);

const SIGMA: Param = Param { doc: "standard deviation σ of the noise of a Gaussian process", ..confidence::SIGMA };

/// What a policy's beliefs take; the parameters of its rule come before.
const BELIEFS: [Param; 15] = [
    BELIEF, LAMBDA, FEATURES, DEGREE, SIGMA, KERNEL, LENGTH, VARIANCE, BUDGET, DISCOUNT, WIDTH, GROWTH, EPOCHS, RATE,
    DECAY,
];

/// The parameters of a rule, then those of the beliefs. `ALL` is the sum of both lengths.
pub(super) const fn and_beliefs<const OWN: usize, const ALL: usize>(own: [Param; OWN]) -> [Param; ALL] {
    let mut all = [BELIEF; ALL];
    let mut i = 0;
    while i < ALL {
        all[i] = if i < OWN { own[i] } else { BELIEFS[i - OWN] };
        i += 1;
    }
    all
}

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
    Ok(Box::new(restore_if(state, AnyHeads::is_consistent)?))
}

/// A policy that acts by this rule on the belief about rows that `params` name.
pub(super) fn on_rows(
    name: &'static str,
    rule: Rule,
    (dim, params, key): (usize, &Params, Key),
) -> Result<Box<dyn Policy>> {
    Ok(OnRows::boxed(name, AnyBelief::read(dim, params, key)?, rule))
}

/// The same, as it was saved.
pub(super) fn restore_rows(name: &'static str, state: serde_json::Value) -> Result<Box<dyn Policy>> {
    OnRows::restored(name, state, |belief| restore_if(belief, AnyBelief::is_consistent))
}

impl Belief for AnyBelief {
    fn kind(&self) -> &'static str {
        self.get().kind()
    }

    fn describe(&self) -> String {
        self.get().describe()
    }

    fn dim(&self) -> usize {
        self.get().dim()
    }

    fn learn(&mut self, x: &[f64], y: f64) {
        self.get_mut().learn(x, y);
    }

    fn predict(&self, rows: Rows<'_>, scale: f64, scratch: &mut Scratch) {
        self.get().predict(rows, scale, scratch);
    }

    fn draw(&self, rows: Rows<'_>, scale: f64, key: Key, scratch: &mut Scratch) {
        self.get().draw(rows, scale, key, scratch);
    }

    fn unit(&self) -> f64 {
        self.get().unit()
    }

    fn warning(&self) -> Option<String> {
        self.get().warning()
    }

    fn as_linear(&self) -> Option<&Linear> {
        self.get().as_linear()
    }

    fn save(&self) -> Result<serde_json::Value> {
        state(self)
    }
}

impl Heads for AnyHeads {
    fn kind(&self) -> &'static str {
        self.get().kind()
    }

    fn describe(&self) -> String {
        self.get().describe()
    }

    fn scales(&self) -> bool {
        self.get().scales()
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
        state(self)
    }
}
