//! A policy with its seed and its count of rounds, shareable between Python's threads.

use std::sync::Mutex;

use numpy::PyArray1;
use pyo3::exceptions::{PyRuntimeError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{IntoPyDict, PyDict, PyList, PyTuple};
use reluctant::action::check_observation;
use reluctant::params::Param;
use reluctant::{Action, Context, Error, Key, Name, Rows, Scratch, Settings, Snapshot, Space, policy};
use serde::{Deserialize, Serialize};

use crate::arrays::{Numbers, check_pairs};
use crate::choice::{Choice, Explanation, Kept};
use crate::errors::{refuse, refuse_keywords};
use crate::given::{Each, Given, Seen, Taken, action as named_action, named};
use crate::network::ReluNet;
use crate::values::{settings, whole, write_settings};

/// The format of a saved policy, around the core's snapshot.
const FORMAT: u32 = 1;

/// A saved policy: the core's state, and what Python adds to it.
#[derive(Serialize, Deserialize)]
struct Saved {
    format: u32,
    /// Which version wrote it; for people, the format decides.
    version: String,
    seed: u64,
    rounds: u64,
    /// Whether nothing was chosen or learnt yet.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    fresh: bool,
    settings: Settings,
    snapshot: Snapshot,
}

impl Saved {
    fn parse(text: &str) -> Result<Self, Error> {
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
struct State {
    policy: Box<dyn reluctant::Policy>,
    scratch: Scratch,
    /// Choices made so far: the next one is round `rounds + 1`.
    rounds: u64,
    /// Whether nothing was chosen or learnt yet: until then it may become a policy of rows or of contexts.
    fresh: bool,
}

/// Why a call is refused: by the core, or because this policy has become one of another kind.
enum Refusal {
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
    entry: &'static policy::Entry,
    dim: usize,
    seed: u64,
    settings: Settings,
    state: Mutex<State>,
}

/// All parameters of a policy, those that every policy has at the end.
pub(crate) fn table(entry: &policy::Entry) -> Vec<Param> {
    entry.params.iter().chain(policy::COMMON).copied().chain(entry.second_name()).collect()
}

impl Policy {
    /// Runs `work` on the state without the interpreter's lock; waits, without it too, while
    /// another thread uses this policy.
    fn with<T: Send>(&self, py: Python<'_>, work: impl FnOnce(&mut State) -> Result<T, Refusal> + Send) -> PyResult<T> {
        let outcome = py.detach(|| self.state.lock().map(|mut state| work(&mut state)).map_err(|_| ()));
        match outcome {
            Ok(result) => Ok(result?),
            Err(()) => {
                Err(PyRuntimeError::new_err("this policy failed in the midst of an earlier call; load a saved one"))
            }
        }
    }

    /// An error unless what is given has this policy's dimension, even if there is nothing in it.
    fn check_dim(&self, what: &'static str, found: usize) -> Result<(), Error> {
        if found == self.dim { Ok(()) } else { Err(Error::Dimension { what, expected: self.dim, found }) }
    }

    /// The policy that a space needs, if it is not the one that is there; an error if that one has chosen or learnt
    /// already.
    fn other(&self, state: &State, needed: Space) -> Result<Option<Box<dyn reluctant::Policy>>, Refusal> {
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
    fn choose<T>(
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
    fn become_used(&self, state: &mut State, other: Option<Box<dyn reluctant::Policy>>) {
        if let Some(other) = other {
            state.policy = other;
        }
        state.fresh = false;
    }

    /// Chooses in several rounds. Choosing changes nothing but the count of rounds, and what kind of policy this is: a
    /// bad offer among good ones leaves no trace.
    fn choose_all<'a>(&self, state: &mut State, offers: impl Iterator<Item = Seen<'a>>) -> Result<Vec<i64>, Refusal> {
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
    fn check(&self, state: &State, action: Action<'_>, reward: f64) -> Result<(), Refusal> {
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
    fn learn<'a>(
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

    fn restored(saved: Saved) -> Result<Self, Error> {
        let entry = policy::find(&saved.snapshot.policy)?;
        let policy = saved.snapshot.restore()?;
        let state = State { policy, scratch: Scratch::default(), rounds: saved.rounds, fresh: saved.fresh };
        let dim = state.policy.dim();
        Ok(Policy { entry, dim, seed: saved.seed, settings: saved.settings, state: Mutex::new(state) })
    }
}

/// What a policy has fitted, as Python reads it.
fn opened(py: Python<'_>, fitted: policy::Fitted) -> PyResult<Bound<'_, PyAny>> {
    let network = |net: reluctant::ReluNet| ReluNet { net }.into_pyobject(py);
    Ok(match fitted {
        policy::Fitted::Network(net) => network(net)?.into_any(),
        policy::Fitted::Networks(networks) => {
            let each = networks.into_iter().map(|(weight, net)| Ok((weight, network(net)?)));
            PyList::new(py, each.collect::<PyResult<Vec<_>>>()?)?.into_any()
        }
        policy::Fitted::Linear { features, weights } => {
            let weights = features.into_iter().zip(weights).collect::<Vec<_>>();
            weights.into_py_dict(py)?.into_any()
        }
        policy::Fitted::Actions(actions) => {
            let each = actions.into_iter().map(|(name, fitted)| Ok((name, opened(py, fitted)?)));
            each.collect::<PyResult<Vec<_>>>()?.into_py_dict(py)?.into_any()
        }
        other => return Err(PyRuntimeError::new_err(format!("this package cannot show {other:?}"))),
    })
}

/// The space that an action belongs to.
fn space_of(action: Action<'_>) -> Space {
    match action {
        Action::Vector(x) => Space::Vectors { dim: x.len() },
        Action::Named { context, features, .. } => Space::Contexts { dim: context.len(), action_dim: features.len() },
    }
}

#[pymethods]
impl Policy {
    #[new]
    #[pyo3(signature = (kind, dim, seed, settings, *, saved = None))]
    fn new(
        kind: &str,
        dim: &Bound<'_, PyAny>,
        seed: &Bound<'_, PyAny>,
        settings: &Bound<'_, PyDict>,
        saved: Option<&str>,
    ) -> PyResult<Self> {
        if let Some(text) = saved {
            return Saved::parse(text).and_then(Policy::restored).map_err(refuse);
        }
        let entry = policy::find(kind).map_err(refuse)?;
        let settings = self::settings(kind, &table(entry), settings)?;
        let settings = entry.spelled(&settings).map_err(refuse_keywords)?;
        let dim = whole("dim", dim, 1..=policy::MAX_FEATURES as u64)? as usize;
        let seed = whole("seed", seed, 0..=u64::MAX)?;
        let policy = policy::build(kind, dim, &settings, Key::new(seed)).map_err(refuse_keywords)?;
        let state = State { policy, scratch: Scratch::default(), rounds: 0, fresh: true };
        Ok(Policy { entry, dim, seed, settings, state: Mutex::new(state) })
    }

    /// The dimension of an action, or of a context.
    #[getter]
    fn dim(&self) -> usize {
        self.dim
    }

    /// The seed of all of its randomness.
    #[getter]
    fn seed(&self) -> u64 {
        self.seed
    }

    /// The policy's name in experiments and on the command line.
    #[getter]
    fn name(&self) -> &'static str {
        self.entry.name
    }

    /// The value of every parameter in use, by keyword: given, default or computed. What is found out from rewards is
    /// "auto".
    ///
    /// >>> from reluctant import Oful
    /// >>> policy = Oful(dim=2, sigma=0.2)
    /// >>> policy.params["sigma"], policy.params["delta"], policy.given
    /// (0.2, 0.01, {'sigma': 0.2})
    #[getter]
    fn params<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let space = self.with(py, |state| Ok(state.policy.space()))?;
        let used = py.detach(|| self.entry.in_use(space, &self.settings, Key::new(self.seed))).map_err(refuse)?;
        let mut shown = Settings::new();
        for param in self.entry.params.iter().chain(policy::COMMON) {
            let value = used.get(param.name).cloned();
            shown.set(param.name, value.unwrap_or_else(|| reluctant::Value::Word("auto".to_owned())));
        }
        write_settings(py, &table(self.entry), &shown)
    }

    /// The parameters that were given, by keyword.
    #[getter]
    fn given<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        write_settings(py, &table(self.entry), &self.settings)
    }

    /// What the policy has fitted so far: a `ReluNet` (`ofu-relu`, `ofu-relu-plus`, once they have explored), a list of
    /// weights and networks (`plausible`), the weight of each feature as a dictionary (linear policies), in contexts a
    /// dictionary of these by action; `None` while there is nothing, and of policies whose model is none of these. With
    /// biases the network is one of (x, 1): the last coordinate of each neuron is its bias.
    ///
    /// >>> from reluctant import Oful
    /// >>> policy = Oful(dim=2, lambda_=1.0)
    /// >>> policy.update_batch([[1.0, 0.0]], [1.0])
    /// >>> policy.network()
    /// {'x1': 0.5, 'x2': 0.0}
    fn network<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        let fitted = self.with(py, |state| Ok(state.policy.network()))?;
        fitted.map(|fitted| opened(py, fitted)).transpose()
    }

    /// How many choices it has made.
    #[getter]
    fn rounds(&self, py: Python<'_>) -> PyResult<u64> {
        self.with(py, |state| Ok(state.rounds))
    }

    /// Whether the next choice is exploration by design rather than by optimism.
    #[getter]
    fn exploring(&self, py: Python<'_>) -> PyResult<bool> {
        self.with(py, |state| Ok(state.policy.exploring()))
    }

    /// Whether this configuration chooses among finitely many arms only, though others of the same policy do not.
    #[getter]
    fn needs_finite_arms(&self, py: Python<'_>) -> PyResult<bool> {
        self.with(py, |state| Ok(state.policy.needs_finite_arms()))
    }

    /// Chooses one of the arms: an array of one row an arm, or "sphere". With `actions`, what is given is a context,
    /// and one of the named actions is chosen: a list of names, or a mapping of names to features.
    ///
    /// >>> from reluctant import Oful
    /// >>> choice = Oful(dim=2).select([[1.0, 0.0], [0.6, 0.8]])
    /// >>> choice.index, choice.action.tolist(), choice.mean
    /// (0, [1.0, 0.0], 0.0)
    /// >>> Oful(dim=2).select([1.0, 0.5], actions=["left", "right"]).name
    /// 'left'
    #[pyo3(signature = (arms, actions = None))]
    fn select(&self, py: Python<'_>, arms: &Bound<'_, PyAny>, actions: Option<&Bound<'_, PyAny>>) -> PyResult<Choice> {
        let given = Given::read(arms, actions)?;
        let seen = given.seen(self.dim);
        let kept = self.with(py, |state| self.choose(state, seen, |choice| Kept::from(choice)))?;
        Ok(Choice::from_kept(py, kept))
    }

    /// The row, or the place among the actions, that `select` would choose, and nothing else: the fastest way to
    /// choose.
    #[pyo3(signature = (arms, actions = None))]
    fn select_index(
        &self,
        py: Python<'_>,
        arms: &Bound<'_, PyAny>,
        actions: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<usize> {
        let given = Given::read(arms, actions)?;
        if matches!(given, Given::Sphere) {
            return Err(PyValueError::new_err(
                "the sphere has no rows: use select('sphere'), which returns the action",
            ));
        }
        let seen = given.seen(self.dim);
        // A choice among rows or names always has its place.
        self.with(py, |state| self.choose(state, seen, |choice| choice.index.unwrap_or(0)))
    }

    /// Chooses once for each set of arms, without learning in between: rounds whose rewards come later. The sets are an
    /// array of sets × arms × coordinates, or a list of arrays with as many arms as each has. With `actions`, an array
    /// of contexts, a row each: a list of names or a mapping of names to features for all of them, or a list of such.
    /// Returns the places of what was chosen.
    ///
    /// >>> from reluctant import Uniform
    /// >>> Uniform(dim=2).select_batch([[[1.0, 0.0], [0.0, 1.0]], [[0.6, 0.8]]]).shape
    /// (2,)
    #[pyo3(signature = (arms, actions = None))]
    fn select_batch<'py>(
        &self,
        py: Python<'py>,
        arms: &Bound<'py, PyAny>,
        actions: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyArray1<i64>>> {
        let chosen = if let Some(actions) = actions {
            let contexts = Numbers::read("contexts", &["contexts", "coordinates"], arms)?;
            let (count, dim, data) = (contexts.len(0), contexts.len(1), contexts.data());
            let actions = Each::read(actions, count)?;
            let seen = |round: usize| Seen::Context(&data[round * dim..(round + 1) * dim], actions.of(round));
            self.with(py, |state| {
                self.check_dim("the context", dim)?;
                self.choose_all(state, (0..count).map(seen))
            })?
        } else if let Some(sets) = ragged(arms)? {
            let sets: Vec<Seen<'_>> = sets.iter().map(|set| Seen::Rows(set.len(1), set.data())).collect();
            self.with(py, |state| self.choose_all(state, sets.into_iter()))?
        } else {
            let numbers = Numbers::read("arms", &["sets", "arms", "coordinates"], arms)?;
            let (each, dim, data) = (numbers.len(1), numbers.len(2), numbers.data());
            if each == 0 && numbers.len(0) > 0 {
                return Err(refuse(Error::NoArms));
            }
            self.with(py, |state| {
                self.check_dim("the set of arms", dim)?;
                let sets = data.chunks_exact((each * dim).max(1));
                self.choose_all(state, sets.map(|set| Seen::Rows(dim, set)))
            })?
        };
        Ok(PyArray1::from_vec(py, chosen))
    }

    /// Learns that an action was rewarded: any that was chosen, late or out of order. What was chosen is a `Choice` or
    /// its vector; or a context, with `action`, the name of the action or a mapping of it to its features.
    ///
    /// >>> from reluctant import Oful
    /// >>> policy = Oful(dim=2)
    /// >>> choice = policy.select([[1.0, 0.0], [0.0, 1.0]])
    /// >>> policy.update(choice, -1.0)
    /// >>> policy.select_index([[1.0, 0.0], [0.0, 1.0]])
    /// 1
    #[pyo3(signature = (chosen = None, reward = None, *, action = None))]
    fn update<'py>(
        &self,
        py: Python<'py>,
        chosen: Option<&Bound<'py, PyAny>>,
        reward: Option<&Bound<'py, PyAny>>,
        action: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<()> {
        let taken = Taken::read(chosen, action)?;
        let reward =
            number("reward", reward.ok_or_else(|| PyTypeError::new_err("reward must be a number, not NoneType"))?)?;
        let action = taken.action();
        let chosen = self.with(py, |state| {
            self.check(state, action, reward)?;
            // A reward before any choice is a slip of whoever wrote the loop; a log goes through `update_batch`.
            if state.rounds == 0 {
                return Ok(false);
            }
            self.learn(state, [(action, reward)].into_iter()).map(|()| true)
        })?;
        let sentence = "update before select: nothing was chosen yet; update_batch learns from a log";
        if chosen { Ok(()) } else { Err(PyValueError::new_err(sentence)) }
    }

    /// Learns from an array of actions and an array of their rewards, in order, chosen by this policy or by another; or
    /// from a list of `Choice`s; or from an array of contexts, with `actions`, what was chosen in each: a name, or a
    /// mapping of it to its features. Everything is checked before the first.
    #[pyo3(signature = (chosen = None, rewards = None, *, actions = None))]
    fn update_batch<'py>(
        &self,
        py: Python<'py>,
        chosen: Option<&Bound<'py, PyAny>>,
        rewards: Option<&Bound<'py, PyAny>>,
        actions: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<()> {
        let rewards = rewards.ok_or_else(|| PyTypeError::new_err("rewards are missing: an array of numbers"))?;
        let (chosen, actions) = match (chosen, actions) {
            (Some(chosen), actions) => (chosen, actions),
            (None, Some(vectors)) => (vectors, None),
            (None, None) => {
                return Err(PyTypeError::new_err("the actions are missing: an array, or a list of Choices"));
            }
        };
        if let (None, Some(choices)) = (actions, choices(chosen)?) {
            let rewards = Numbers::read("rewards", &["actions"], rewards)?;
            check_pairs(choices.len(), &rewards)?;
            let (taken, rewards): (Vec<Action<'_>>, _) = (choices.iter().map(Taken::action).collect(), rewards.data());
            return self.with(py, |state| self.learn(state, taken.iter().copied().zip(rewards.iter().copied())));
        }
        let what = if actions.is_some() { ["contexts", "contexts"] } else { ["actions", "actions"] };
        let numbers = Numbers::read(what[0], &[what[1], "coordinates"], chosen)?;
        let rewards = Numbers::read("rewards", &["actions"], rewards)?;
        check_pairs(numbers.len(0), &rewards)?;
        let (dim, data, rewards) = (numbers.len(1), numbers.data(), rewards.data());
        let Some(actions) = actions else {
            return self.with(py, |state| {
                self.check_dim("the action", dim)?;
                self.learn(state, data.chunks_exact(dim).map(Action::Vector).zip(rewards.iter().copied()))
            });
        };
        let names: Vec<(Name, Vec<f64>)> = actions.try_iter()?.map(|item| named(&item?)).collect::<PyResult<_>>()?;
        if names.len() != numbers.len(0) {
            let (found, needed) = (names.len(), numbers.len(0));
            let sentence = format!("there must be as many actions as contexts, not {found} for {needed}");
            return Err(PyValueError::new_err(sentence));
        }
        self.with(py, |state| {
            self.check_dim("the context", dim)?;
            let taken = data.chunks_exact(dim).zip(&names);
            let taken = taken.map(|(x, (name, features))| named_action(x, Some(name), features));
            self.learn(state, taken.zip(rewards.iter().copied()))
        })
    }

    /// The predicted mean reward of every arm and the half-width of its confidence interval, as two arrays. With
    /// `actions`, what is given is a context, and these are the predictions for the named actions in it.
    ///
    /// >>> from reluctant import Oful
    /// >>> policy = Oful(dim=2, lambda_=1.0)
    /// >>> policy.update_batch([[1.0, 0.0]], [1.0])
    /// >>> means, widths = policy.scores([[1.0, 0.0], [0.0, 1.0]])
    /// >>> means.tolist(), bool(widths[0] < widths[1])
    /// ([0.5, 0.0], True)
    #[allow(clippy::type_complexity)]
    #[pyo3(signature = (arms, actions = None))]
    fn scores<'py>(
        &self,
        py: Python<'py>,
        arms: &Bound<'py, PyAny>,
        actions: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<(Bound<'py, PyArray1<f64>>, Bound<'py, PyArray1<f64>>)> {
        let given = match actions {
            Some(_) => Given::read(arms, actions)?,
            None => Given::Rows(Numbers::read("arms", &["arms", "coordinates"], arms)?),
        };
        let seen = given.seen(self.dim);
        let (means, widths): (Vec<f64>, Vec<f64>) = self.with(py, |state| {
            let other = self.other(state, seen.space())?;
            other.as_ref().unwrap_or(&state.policy).score(seen.offer()?, &mut state.scratch)?;
            Ok(state.scratch.scores().iter().map(|score| (score.mean, score.width)).unzip())
        })?;
        Ok((PyArray1::from_vec(py, means), PyArray1::from_vec(py, widths)))
    }

    /// What the policy thinks of an action, and why: mean and spread, which model acts, and what is amiss. The action
    /// is given as to `update`.
    ///
    /// >>> from reluctant import Plausible
    /// >>> thought = Plausible(dim=2, neurons=3).explain([1.0, 0.0])
    /// >>> thought.model, thought.warning
    /// ('128 plausible networks of 3 neurons', None)
    #[pyo3(signature = (chosen = None, *, action = None))]
    fn explain<'py>(
        &self,
        py: Python<'py>,
        chosen: Option<&Bound<'py, PyAny>>,
        action: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Explanation> {
        let taken = Taken::read(chosen, action)?;
        let action = taken.action();
        let thought = self.with(py, |state| {
            self.check(state, action, 0.0)?;
            let other = self.other(state, space_of(action))?;
            Ok(other.as_ref().unwrap_or(&state.policy).explanation(action)?)
        })?;
        Ok(thought.into())
    }

    /// The whole state as JSON: what `from_json` makes of it goes on to the bit.
    fn to_json(&self, py: Python<'_>) -> PyResult<String> {
        self.with(py, |state| {
            let saved = Saved {
                format: FORMAT,
                version: env!("CARGO_PKG_VERSION").to_owned(),
                seed: self.seed,
                rounds: state.rounds,
                fresh: state.fresh,
                settings: self.settings.clone(),
                snapshot: state.policy.snapshot()?,
            };
            Ok(serde_json::to_string(&saved).map_err(|cause| Error::Snapshot { reason: cause.to_string() })?)
        })
    }
}

/// The name of the policy that was saved.
#[pyfunction]
pub(crate) fn saved_kind(text: &str) -> PyResult<String> {
    let saved = Saved::parse(text).map_err(refuse)?;
    let entry = policy::find(&saved.snapshot.policy).map_err(refuse)?;
    Ok(entry.name.to_owned())
}

/// The sets of a list of arrays, which may have different numbers of arms; `None` if it is no list, or an empty one.
fn ragged<'py>(arms: &Bound<'py, PyAny>) -> PyResult<Option<Vec<Numbers<'py>>>> {
    let read = |item: Bound<'py, PyAny>| Numbers::read("a set of arms", &["arms", "coordinates"], &item);
    let sets: Vec<Numbers<'py>> = if let Ok(list) = arms.cast::<PyList>() {
        list.iter().map(read).collect::<PyResult<_>>()?
    } else if let Ok(tuple) = arms.cast::<PyTuple>() {
        tuple.iter().map(read).collect::<PyResult<_>>()?
    } else {
        return Ok(None);
    };
    Ok(if sets.is_empty() { None } else { Some(sets) })
}

/// What a list of choices holds; `None` if it does not begin with one.
fn choices<'py>(chosen: &Bound<'py, PyAny>) -> PyResult<Option<Vec<Taken<'py>>>> {
    let Ok(list) = chosen.cast::<PyList>() else { return Ok(None) };
    if !list.get_item(0).is_ok_and(|item| item.is_instance_of::<Choice>()) {
        return Ok(None);
    }
    list.iter().map(|item| Taken::read(Some(&item), None)).collect::<PyResult<_>>().map(Some)
}

/// A real number, such as a reward.
fn number(name: &str, value: &Bound<'_, PyAny>) -> PyResult<f64> {
    value.extract().map_err(|_| {
        let found = value.get_type().name().map_or_else(|_| "something else".to_owned(), |name| name.to_string());
        PyTypeError::new_err(format!("{name} must be a number, not {found}"))
    })
}
