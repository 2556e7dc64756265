//! A policy with its seed and its count of rounds, shareable between Python's threads: what Python calls.

use std::sync::Mutex;

use numpy::PyArray1;
use pyo3::exceptions::{PyRuntimeError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{IntoPyDict, PyDict, PyList, PyTuple};
use reluctant::params::Param;
use reluctant::{Action, Error, Key, Name, Scratch, Settings, Space, policy};

use crate::arrays::{Numbers, check_pairs};
use crate::choice::{Choice, Explanation, Kept};
use crate::errors::{refuse, refuse_keywords};
use crate::given::{Each, Given, Seen, Taken, action as named_action, named};
use crate::network::ReluNet;
use crate::state::{FORMAT, Policy, Saved, State, space_of};
use crate::values::{settings, whole, write_settings};

/// All parameters of a policy, those that every policy has at the end.
pub(crate) fn table(entry: &policy::Entry) -> Vec<Param> {
    entry.params.iter().chain(policy::COMMON).copied().chain(entry.second_name()).collect()
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

/// A policy that has seen nothing: for vectors, or for contexts if only those for vectors must be told more. What is
/// seen first decides.
fn made(entry: &policy::Entry, dim: usize, settings: &Settings, key: Key) -> Result<Box<dyn reluctant::Policy>, Error> {
    let is_missing = |built: &Result<_, Error>| matches!(built, Err(Error::Missing { .. }));
    let built = entry.build(dim, settings, key);
    if is_missing(&built) && is_missing(&entry.build(dim, &Settings::new(), key)) {
        return entry.build(Space::contexts(dim), settings, key).or(built);
    }
    built
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
        let policy = made(entry, dim, &settings, Key::new(seed)).map_err(refuse_keywords)?;
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
