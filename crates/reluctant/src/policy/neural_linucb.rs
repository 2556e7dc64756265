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

use serde::{Deserialize, Serialize};

use super::snapshot::{inconsistent, unreadable};
use super::{Build, Contexts, Entry, Policy, Restore, Rule, Sample, SharedModel, Snapshot, optimism, read_state};
use crate::action::{Action, check_observation};
use crate::belief::{Averaged, Belief, Heads, LAMBDA, LastLayer, Noise};
use crate::choice::Choice;
use crate::error::Result;
use crate::network::{DECAY, EPOCHS, GROWTH, Inputs, RATE, WIDTH};
use crate::offer::Offer;
use crate::params::{Initial, Kind, Literal, Param, Params};
use crate::rng::Key;
use crate::scratch::Scratch;

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
        build: |dim, params, key| {
            let belief = read(dim, Inputs::Contexts, params, key)?;
            Ok((Box::new(belief), Rule::Optimism(params.real("alpha")?)))
        },
        restore: |state| Ok(Box::new(restore(state)?)),
    }),
    samples: &[
        Sample { name: "default", environment: "relu-sphere", settings: &[] },
        Sample {
            name: "given",
            environment: "relu-sphere",
            settings: &[("lambda", Literal::Real(0.25)), ("width", Literal::Count(20)), ("members", Literal::Count(1))],
        },
    ],
    build: Build::Plain(|dim, params, key| Ok(Box::new(NeuralLinUcb::new(dim, params, key)?))),
    restore: Restore::Plain(|state| {
        Ok(Box::new(read_state(state, |policy: &NeuralLinUcb| is_consistent(&policy.belief))?))
    }),
};

/// More networks would only keep a round waiting.
const MAX_MEMBERS: u64 = 100;

/// What the weight decay of a network is multiplied with for the next. The first fits best where rewards follow
/// contexts closely, the second where they hardly do (chosen on shuffles of tables that are not reported).
const NEXT_DECAY: f64 = 5.0;

/// Each action has noise of its own, about which little is known: as if one reward had been seen, of variance one.
const NOISE: Noise = Noise { own: true, shape: 0.5, rate: 0.5 };

fn read(dim: usize, inputs: Inputs, params: &Params, key: Key) -> Result<Averaged<LastLayer>> {
    let member = |m: u64| {
        let key = if m == 0 { key } else { key.branch("member").round(m) };
        let belief = LastLayer::read(dim, inputs, NOISE, params, key)?;
        Ok(belief.with_decay_times(libm::pow(NEXT_DECAY, m as f64)))
    };
    Averaged::new((0..params.count("members")?).map(member).collect::<Result<_>>()?)
}

fn restore(state: serde_json::Value) -> Result<Averaged<LastLayer>> {
    let belief = serde_json::from_value(state).map_err(unreadable)?;
    if is_consistent(&belief) { Ok(belief) } else { Err(inconsistent()) }
}

fn is_consistent(belief: &Averaged<LastLayer>) -> bool {
    let Some(first) = belief.members().first() else { return false };
    let like_first = |member: &LastLayer| Heads::dim(member) == Heads::dim(first) && member.count() == first.count();
    belief.members().iter().all(|member| member.is_consistent() && like_first(member))
}

/// LinUCB on the last layer of a network.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct NeuralLinUcb {
    alpha: f64,
    belief: Averaged<LastLayer>,
}

impl NeuralLinUcb {
    fn new(dim: usize, params: &Params, key: Key) -> Result<Self> {
        let belief = read(dim, Inputs::Rows, params, key)?;
        Ok(NeuralLinUcb { alpha: params.real("alpha")?, belief })
    }

    /// What it knows.
    pub fn belief(&self) -> &Averaged<LastLayer> {
        &self.belief
    }
}

impl Policy for NeuralLinUcb {
    fn name(&self) -> &'static str {
        ENTRY.name
    }

    fn dim(&self) -> usize {
        Belief::dim(&self.belief)
    }

    fn select<'a>(&self, offer: Offer<'a>, _: Key, scratch: &mut Scratch) -> Result<Choice<'a>> {
        offer.expect_dim(self.dim())?;
        Ok(optimism(&self.belief, offer.rows(ENTRY.name)?, self.alpha, scratch))
    }

    fn learn(&mut self, action: Action<'_>, reward: f64) -> Result<()> {
        let x = check_observation(ENTRY.name, self.dim(), action, reward)?;
        Belief::learn(&mut self.belief, x, reward);
        Ok(())
    }

    fn score(&self, offer: Offer<'_>, scratch: &mut Scratch) -> Result<()> {
        offer.expect_dim(self.dim())?;
        Belief::predict(&self.belief, offer.rows(ENTRY.name)?, self.alpha, scratch);
        Ok(())
    }

    fn model(&self) -> (String, String) {
        let why = format!("it plays the arm of greatest mean + {} standard deviations", self.alpha);
        ("a linear function of the last layer of a network".to_owned(), why)
    }

    fn snapshot(&self) -> Result<Snapshot> {
        Snapshot::of(ENTRY.name, self)
    }
}
