//! What is logged: decisions, rewards, and what was done to a policy. The log is the truth; everything else follows.

use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::xxh3_64_with_seed;

use reluctant::Action;

/// An event of the log.
#[derive(Debug, Clone, PartialEq)]
pub struct Event {
    /// Its number, from 1, in the order in which events became true.
    pub n: u64,
    /// Which policy, by its number in the store.
    pub policy: u32,
    /// Milliseconds since 1970; never less than that of the event before.
    pub time: u64,
    /// The id of the decision that it makes or belongs to; empty for what is done to the policy itself.
    pub id: String,
    /// What happened.
    pub fact: Fact,
    /// A fingerprint of this event and all before it.
    pub chain: u64,
}

/// What happened.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "fact")]
pub enum Fact {
    /// An action was chosen.
    Decision(Decision),
    /// A reward came, or did not come in time.
    Reward(Reward),
    /// The policy went back to what it knew at `to`.
    Rollback {
        /// The number of the event up to which it keeps what it learnt.
        to: u64,
    },
    /// From here on nothing is learnt.
    Pause,
    /// From here on rewards are learnt again.
    Resume,
}

/// An action was chosen.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Decision {
    /// The place of the action among those on offer; none on the sphere.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub index: Option<usize>,
    /// Its name, where actions have names.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The action itself: a vector, or the context.
    pub action: Vec<f64>,
    /// The features of a named action.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub features: Vec<f64>,
    /// The probability with which it was chosen, where it is known.
    pub propensity: Option<f64>,
    /// The standard error of the probability.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub propensity_error: f64,
    /// The reward that the policy predicts; none if it was not asked.
    pub mean: Option<f64>,
    /// How unsure it is.
    pub width: Option<f64>,
    /// What the policy knew: the number of the last event that changed it.
    pub version: u64,
    /// The place of the caller's default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub default: Option<usize>,
    /// The probability that the caller gave for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub default_propensity: Option<f64>,
    /// Whether the policy would have chosen the default, too.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agreed: Option<bool>,
}

fn is_zero(x: &f64) -> bool {
    *x == 0.0
}

/// A reward came, or did not come in time.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Reward {
    /// The number of the decision.
    pub of: u64,
    /// What came of it.
    pub value: f64,
    /// What was made of it.
    pub fate: Fate,
    /// What is learnt of, where something is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub learnt: Option<Learnt>,
}

/// What was made of a reward.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Fate {
    /// It was learnt.
    Learned,
    /// No reward came in time: the default was learnt in its place.
    Default,
    /// It came too late and was only logged.
    Late,
    /// The policy was paused, or only logs.
    Logged,
}

/// An action as a policy learns of it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Learnt {
    /// A vector, or the context.
    pub action: Vec<f64>,
    /// Its name, in a context.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The features of a named action.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub features: Vec<f64>,
}

impl Learnt {
    /// As a policy takes it.
    pub fn as_action(&self) -> Action<'_> {
        match &self.name {
            None => Action::Vector(&self.action),
            Some(name) => Action::Named { context: &self.action, name, features: &self.features },
        }
    }
}

impl Decision {
    /// What is learnt of when its reward comes.
    pub fn learnt(&self) -> Learnt {
        Learnt { action: self.action.clone(), name: self.name.clone(), features: self.features.clone() }
    }
}

/// What kind of event it is, as a number that stores can look for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum Kind {
    /// A decision.
    Decision = 0,
    /// A reward that a caller gave.
    Reward = 1,
    /// A default reward.
    Expiry = 2,
    /// Something that was done to the policy.
    Order = 3,
}

impl Fact {
    /// Its kind.
    pub fn kind(&self) -> Kind {
        match self {
            Fact::Decision(_) => Kind::Decision,
            Fact::Reward(Reward { fate: Fate::Default, .. }) => Kind::Expiry,
            Fact::Reward(_) => Kind::Reward,
            _ => Kind::Order,
        }
    }
}

/// The fingerprint of an event that follows one with the fingerprint `before`.
pub fn chain(before: u64, n: u64, policy: u32, time: u64, id: &str, fact: &[u8], offer: &[u8]) -> u64 {
    let head = [n, u64::from(policy), time, id.len() as u64].into_iter().flat_map(u64::to_le_bytes);
    let head: Vec<u8> = head.chain(id.bytes()).collect();
    [&head, fact, offer].into_iter().fold(before, |seed, bytes| xxh3_64_with_seed(bytes, seed))
}
