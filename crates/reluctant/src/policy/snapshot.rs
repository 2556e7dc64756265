//! The saved state of a policy.

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::Policy;
use crate::error::{Error, Result};
use crate::limits::MAX_FEATURES;

/// The saved state of a policy.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Snapshot {
    /// The format of this file; see [`Snapshot::FORMAT`].
    pub format: u32,
    /// The policy's name.
    pub policy: String,
    /// What it was made for.
    #[serde(default, skip_serializing_if = "Form::is_vectors")]
    pub form: Form,
    /// The share of choices that are left to chance.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub chance: f64,
    /// The state itself.
    pub state: serde_json::Value,
}

/// What a saved policy was made for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Form {
    /// Vectors, or contexts that the policy takes by itself.
    #[default]
    Vectors,
    /// Contexts, with a policy for each action.
    PerAction,
    /// Contexts, with one belief for all actions.
    Shared,
    /// Vectors that may be a context in blocks.
    Blocks,
    /// Contexts joined with the features of actions.
    Joined,
}

impl Form {
    fn is_vectors(&self) -> bool {
        *self == Form::Vectors
    }
}

impl Snapshot {
    /// The format this version writes and reads.
    pub const FORMAT: u32 = 1;

    /// The snapshot of a policy's state.
    pub fn of(policy: &'static str, state: &impl Serialize) -> Result<Self> {
        let state = serde_json::to_value(state).map_err(unreadable)?;
        Ok(Snapshot { format: Self::FORMAT, policy: policy.to_owned(), form: Form::Vectors, chance: 0.0, state })
    }

    /// The same of a policy that was made for contexts.
    pub(super) fn in_form(self, form: Form) -> Self {
        Snapshot { form, ..self }
    }

    /// An error unless this version can read it.
    pub(super) fn check_format(&self) -> Result<()> {
        if !(0.0..=1.0).contains(&self.chance) {
            let reason =
                format!("it leaves the share {} of its choices to chance, which is not from 0 to 1", self.chance);
            return Err(Error::Snapshot { reason });
        }
        if self.format == Self::FORMAT {
            return Ok(());
        }
        let reason = format!("it has format {}, and this version reads format {}", self.format, Self::FORMAT);
        Err(Error::Snapshot { reason })
    }

    /// As text that [`Snapshot::parse`] reads back to the bit.
    pub fn to_json(&self) -> Result<String> {
        serde_json::to_string(self).map_err(unreadable)
    }

    /// Reads what [`Snapshot::to_json`] wrote.
    pub fn parse(text: &str) -> Result<Self> {
        serde_json::from_str(text).map_err(unreadable)
    }
}

fn is_zero(x: &f64) -> bool {
    *x == 0.0
}

/// A state that cannot be read or written.
pub(super) fn unreadable(cause: serde_json::Error) -> Error {
    Error::Snapshot { reason: cause.to_string() }
}

/// A state whose parts contradict each other.
pub(super) fn inconsistent() -> Error {
    Error::Snapshot { reason: "its parts do not have the dimensions it states".to_owned() }
}

/// Reads a policy's state out of a snapshot; `consistent` tells whether its parts fit together.
pub(super) fn read_state<P: Policy + DeserializeOwned>(
    state: serde_json::Value,
    consistent: fn(&P) -> bool,
) -> Result<P> {
    let policy: P = serde_json::from_value(state).map_err(unreadable)?;
    if (1..=MAX_FEATURES).contains(&policy.dim()) && consistent(&policy) { Ok(policy) } else { Err(inconsistent()) }
}
