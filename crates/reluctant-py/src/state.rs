//! What a policy of Python is inside: its state behind a lock, how it chooses and learns, how it is saved.

use std::sync::Mutex;

use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use reluctant::action::check_observation;
use reluctant::{Action, Context, Error, Key, Name, Rows, Scratch, Settings, Snapshot, Space, policy};
use serde::{Deserialize, Serialize};

use crate::errors::refuse;
use crate::given::Seen;

/// The format of a saved policy, around the core's snapshot.
pub(crate) const FORMAT: u32 = 1;

/// A saved policy: the core's state, and what Python adds to it.
#[derive(Serialize, Deserialize)]
pub(crate) struct Saved {
    pub(crate) format: u32,
    /// Which version wrote it; for people, the format decides.
    pub(crate) version: String,
    pub(crate) seed: u64,
    pub(crate) rounds: u64,
    /// Whether nothing was chosen or learnt yet.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) fresh: bool,
    pub(crate) settings: Settings,
    pub(crate) snapshot: Snapshot,
}

impl Saved {
    pub(crate) fn parse(text: &str) -> Result<Self, Error> {
        let refused = |reason: String| Error::Snapshot { reason };
        let value: serde_json::Value = serde_json::from_str(text).map_err(|cause| refused(cause.to_string()))?;
        match value.get("format") {
            Some(format) if *format == FORMAT => {}
            Some(format) => {
                let version = value.get("version").and_then(|version| version.as_str()).unwrap_or("unknown");
                return Err(refused(format!(
                    "it has format {format} (of version {version}), and this version of reluctant reads format {FORMAT}"
                )));
            }
            None => return Err(refused("it has no format: it was not saved by this package".to_owned())),
        }
        serde_json::from_value(value).map_err(|cause| refused(cause.to_string()))
    }
}

/// What a policy's lock guards.
pub(crate) struct State {
    pub(crate) policy: Box<dyn reluctant::Policy>,
    pub(crate) scratch: Scratch,
    /// Choices made so far: the next one is round `rounds + 1`.
    pub(crate) rounds: u64,
    /// Whether nothing was chosen or learnt yet: until then it may become a policy of rows or of contexts.
    pub(crate) fresh: bool,
}

/// Why a call is refused: by the core, or because this policy has become one of another kind.
pub(crate) enum Refusal {
    Core(Error),
    Kind(String),
}

impl From<Error> for Refusal {
    fn from(error: Error) -> Self {
        Refusal::Core(error)
    }
}

impl From<Refusal> for PyErr {
    fn from(refusal: Refusal) -> Self {
        match refusal {
            Refusal::Core(error) => refuse(error),
            Refusal::Kind(sentence) => PyValueError::new_err(sentence),
        }
    }
}

/// The base of every policy: chooses and learns. The classes of `reluctant` are made from it and the registry.
#[pyclass(frozen, subclass, module = "reluctant._core")]
pub(crate) struct Policy {
    pub(crate) entry: &'static policy::Entry,
    pub(crate) dim: usize,
    pub(crate) seed: u64,
    pub(crate) settings: Settings,
    pub(crate) state: Mutex<State>,
}

impl Policy {
    /// Runs `work` on the state without the interpreter's lock; waits, without it too, while
    /// another thread uses this policy.
    pub(crate) fn with<T: Send>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&mut State) -> Result<T, Refusal> + Send,
    ) -> PyResult<T> {
        let outcome = py.detach(|| self.state.lock().map(|mut state| work(&mut state)).map_err(|_| ()));
        match outcome {
            Ok(result) => Ok(result?),
            Err(()) => {
                Err(PyRuntimeError::new_err("this policy failed in the midst of an earlier call; load a saved one"))
            }
        }
    }

    /// An error unless what is given has this policy's dimension, even if there is nothing in it.
    pub(crate) fn check_dim(&self, what: &'static str, found: usize) -> Result<(), Error> {
        if found == self.dim { Ok(()) } else { Err(Error::Dimension { what, expected: self.dim, found }) }
    }

    /// The policy that a space needs, if it is not the one that is there; an error if that one has chosen or learnt
    /// already.
    pub(crate) fn other(&self, state: &State, needed: Space) -> Result<Option<Box<dyn reluctant::Policy>>, Refusal> {
        let has = state.policy.space();
        // What takes everything by itself needs no other; what is wrong with a dimension the policy itself says.
        if has == needed
            || matches!(self.entry.contexts, policy::Contexts::Itself)
            || state.fresh && needed.dim() != self.dim
        {
            return match (has, needed) {
                (Space::Vectors { .. }, Space::Contexts { dim, .. }) => {
                    Ok(self.check_dim("the context", dim).map(|()| None)?)
                }
                _ => Ok(None),
            };
        }
        if state.fresh {
            return Ok(Some(self.entry.build(needed, &self.settings, Key::new(self.seed))?));
        }
        let sentence = match (has, needed) {
            (Space::Vectors { .. }, Space::Contexts { .. }) => {
                "this policy has chosen among arms or learnt from them, and takes no contexts any more: \
                 make another one for contexts"
            }
            (Space::Contexts { .. }, Space::Vectors { .. }) => {
                "this policy has chosen in contexts or learnt from them: \
                 give a context and the names of actions, or make another one for arms"
            }
            (Space::Contexts { action_dim: 0, .. }, Space::Contexts { action_dim: 1.., .. }) => {
                "the actions of this policy have no features so far: \
                 give their names alone, or make another one for actions with features"
            }
            (Space::Contexts { action_dim: 1.., .. }, Space::Contexts { action_dim: 0, .. }) => {
                "the actions of this policy have features: \
                 give a mapping of names to features, or make another one for names alone"
            }
            _ => return Ok(None),
        };
        Err(Refusal::Kind(sentence.to_owned()))
    }

    /// Chooses in the next round; what is refused is no round.
    pub(crate) fn choose<T>(
        &self,
        state: &mut State,
        seen: Seen<'_>,
        keep: impl FnOnce(reluctant::Choice<'_>) -> T,
    ) -> Result<T, Refusal> {
        let offer = seen.offer()?;
        let other = self.other(state, seen.space())?;
        let key = Key::new(self.seed).round(state.rounds + 1);
        let chosen = other.as_ref().unwrap_or(&state.policy).select(offer, key, &mut state.scratch).map(keep)?;
        self.become_used(state, other);
        state.rounds += 1;
        Ok(chosen)
    }

    /// Keeps the policy that was used for the first time.
    pub(crate) fn become_used(&self, state: &mut State, other: Option<Box<dyn reluctant::Policy>>) {
        if let Some(other) = other {
            state.policy = other;
        }
        state.fresh = false;
    }

    /// Chooses in several rounds. Choosing changes nothing but the count of rounds, and what kind of policy this is: a
    /// bad offer among good ones leaves no trace.
    pub(crate) fn choose_all<'a>(
        &self,
        state: &mut State,
        offers: impl Iterator<Item = Seen<'a>>,
    ) -> Result<Vec<i64>, Refusal> {
        let (rounds, fresh, space) = (state.rounds, state.fresh, state.policy.space());
        let row = |choice: reluctant::Choice<'_>| choice.index.unwrap_or(0) as i64;
        let chosen: Result<Vec<i64>, Refusal> = offers.map(|seen| self.choose(state, seen, row)).collect();
        if chosen.is_err() {
            (state.rounds, state.fresh) = (rounds, fresh);
            if state.policy.space() != space {
                state.policy = self.entry.build(space, &self.settings, Key::new(self.seed))?;
            }
        }
        chosen
    }

    /// An error unless this policy can learn from an action and its reward.
    pub(crate) fn check(&self, state: &State, action: Action<'_>, reward: f64) -> Result<(), Refusal> {
        let Action::Named { context, name, features } = action else {
            check_observation(self.entry.name, self.dim, action, reward)?;
            return Ok(());
        };
        self.check_dim("the context", context.len())?;
        Context::new(context, &[Name::from(name)])?;
        if !features.is_empty() {
            let wrong = |error| match error {
                Error::NotFinite { value, .. } => Error::NotFinite { what: "a feature of the action".into(), value },
                error => error,
            };
            Rows::new(features.len(), features).map_err(wrong)?;
        }
        if let (false, Space::Contexts { action_dim: expected @ 1.., .. }) = (state.fresh, state.policy.space())
            && !features.is_empty()
            && features.len() != expected
        {
            return Err(Error::Dimension { what: "the set of action features", expected, found: features.len() }.into());
        }
        check_observation(self.entry.name, 1, (&[0.0]).into(), reward)?;
        Ok(())
    }

    /// Learns from checked actions, in order.
    pub(crate) fn learn<'a>(
        &self,
        state: &mut State,
        observed: impl Iterator<Item = (Action<'a>, f64)> + Clone,
    ) -> Result<(), Refusal> {
        let mut first = None;
        for (action, reward) in observed.clone() {
            self.check(state, action, reward)?;
            let space = *first.get_or_insert(space_of(action));
            if space != space_of(action) {
                return Err(Refusal::Kind(
                    "actions must all be vectors, or all named, with as many features".to_owned(),
                ));
            }
        }
        let Some(space) = first else { return Ok(()) };
        let other = self.other(state, space)?;
        self.become_used(state, other);
        observed.into_iter().try_for_each(|(action, reward)| Ok(state.policy.learn(action, reward)?))
    }

    pub(crate) fn restored(saved: Saved) -> Result<Self, Error> {
        let entry = policy::find(&saved.snapshot.policy)?;
        let policy = saved.snapshot.restore()?;
        let state = State { policy, scratch: Scratch::default(), rounds: saved.rounds, fresh: saved.fresh };
        let dim = state.policy.dim();
        Ok(Policy { entry, dim, seed: saved.seed, settings: saved.settings, state: Mutex::new(state) })
    }
}

/// The space that an action belongs to.
pub(crate) fn space_of(action: Action<'_>) -> Space {
    match action {
        Action::Vector(x) => Space::Vectors { dim: x.len() },
        Action::Named { context, features, .. } => Space::Contexts { dim: context.len(), action_dim: features.len() },
    }
}
