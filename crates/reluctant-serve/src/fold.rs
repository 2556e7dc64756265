//! The policy as a fold of its log: [`State`] after an event is a function of the events up to it, and of nothing else.

use reluctant::{Key, Policy, Registry, Snapshot};
use serde::{Deserialize, Serialize};

use crate::config::PolicySpec;
use crate::error::{Result, ServeError};
use crate::event::{Event, Fact};
use crate::tally::Tally;

/// What is known after some event.
#[derive(Debug)]
pub struct State {
    /// The last event of this policy.
    pub n: u64,
    /// The last event that changed what the policy knows: the name of this state of it.
    pub version: u64,
    /// Whether it learns nothing for now.
    pub paused: bool,
    /// What happened so far.
    pub tally: Tally,
    /// The policy.
    pub policy: Box<dyn Policy>,
}

/// A state as it is saved, and as two are compared: equal states have equal bytes.
#[derive(Debug, Serialize, Deserialize)]
struct Saved {
    format: u32,
    n: u64,
    version: u64,
    paused: bool,
    tally: Tally,
    policy: Snapshot,
}

/// The format of saved states that this version writes and reads.
const FORMAT: u32 = 1;

impl State {
    /// Before the first event.
    pub fn new(spec: &PolicySpec, registry: &Registry) -> Result<Self> {
        let policy = registry.build_policy(&spec.kind, spec.space, &spec.settings, key(spec))?;
        Ok(State { n: 0, version: 0, paused: false, tally: Tally::default(), policy })
    }

    /// Takes in an event. `at` gives the policy as it was after an earlier one, for a rollback.
    pub fn apply(&mut self, event: &Event, at: impl FnOnce(u64) -> Result<Box<dyn Policy>>) -> Result<()> {
        match &event.fact {
            Fact::Decision(_) => {}
            Fact::Reward(reward) => {
                if let Some(learnt) = &reward.learnt {
                    self.policy.learn(learnt.as_action(), reward.value)?;
                    self.version = event.n;
                }
            }
            Fact::Rollback { to } => {
                self.policy = at(*to)?;
                self.version = event.n;
            }
            Fact::Pause => self.paused = true,
            Fact::Resume => self.paused = false,
        }
        self.tally.count(event);
        self.n = event.n;
        Ok(())
    }

    /// As bytes.
    pub fn save(&self) -> Result<Vec<u8>> {
        let saved = Saved {
            format: FORMAT,
            n: self.n,
            version: self.version,
            paused: self.paused,
            tally: self.tally.clone(),
            policy: self.policy.snapshot()?,
        };
        serde_json::to_vec(&saved).map_err(|cause| ServeError::Store(cause.to_string()))
    }

    /// From bytes.
    pub fn restore(bytes: &[u8], registry: &Registry) -> Result<Self> {
        let refused = |reason: String| ServeError::Store(format!("a snapshot cannot be read: {reason}"));
        let saved: Saved = serde_json::from_slice(bytes).map_err(|cause| refused(cause.to_string()))?;
        if saved.format != FORMAT {
            return Err(refused(format!("it has format {}, and this version reads format {FORMAT}", saved.format)));
        }
        let Saved { n, version, paused, tally, policy, .. } = saved;
        Ok(State { n, version, paused, tally, policy: registry.restore(policy)? })
    }
}

/// What names a policy's randomness: its seed and its name.
pub fn key(spec: &PolicySpec) -> Key {
    Key::new(spec.seed).branch(&spec.name)
}
