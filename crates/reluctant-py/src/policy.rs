//! A policy with its seed and its count of rounds, shareable between Python's threads.

use std::sync::Mutex;

use numpy::PyArray1;
use pyo3::exceptions::{PyRuntimeError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyInt, PyString};
use reluctant::action::check_observation;
use reluctant::{Error, Key, Offer, Scratch, Settings, Snapshot, policy};
use serde::{Deserialize, Serialize};

use crate::arrays::{Numbers, check_pairs};
use crate::errors::{refuse, refuse_keywords};
use crate::values::{settings, whole, write_settings};

/// What was chosen.
#[pyclass(frozen, module = "reluctant")]
pub(crate) struct Choice {
    /// The row of the arms, or None on the sphere.
    #[pyo3(get)]
    index: Option<usize>,
    action: Py<PyArray1<f64>>,
    /// The predicted mean reward.
    #[pyo3(get)]
    mean: f64,
    /// The half-width of its confidence interval.
    #[pyo3(get)]
    width: f64,
    /// The probability (on the sphere: the density) with which this action was chosen, 1 if nothing was left to chance; `None` where it is
    /// not known: that of Thompson sampling has no closed form.
    #[pyo3(get)]
    propensity: Option<f64>,
    /// On the sphere: how sure it is that no other action scores higher.
    #[pyo3(get)]
    certificate: Option<String>,
}

#[pymethods]
impl Choice {
    #[new]
    #[pyo3(
        signature = (index, action, mean, width, propensity = Some(1.0), certificate = None),
        text_signature = "(index, action, mean, width, propensity=1.0, certificate=None)"
    )]
    fn new(
        index: Option<usize>,
        action: Bound<'_, PyArray1<f64>>,
        mean: f64,
        width: f64,
        propensity: Option<f64>,
        certificate: Option<String>,
    ) -> Self {
        Choice { index, action: action.unbind(), mean, width, propensity, certificate }
    }

    /// The chosen vector.
    #[getter]
    fn action(&self, py: Python<'_>) -> Py<PyArray1<f64>> {
        self.action.clone_ref(py)
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        let index = self.index.map_or("None".to_owned(), |index| index.to_string());
        let action = self.action.bind(py).call_method0("tolist")?.repr()?;
        Ok(format!("Choice(index={index}, action={action}, mean={:.6}, width={:.6})", self.mean, self.width))
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyAny>)> {
        let choice = slf.get();
        let parts = (
            choice.index,
            choice.action.bind(slf.py()),
            choice.mean,
            choice.width,
            choice.propensity,
            &choice.certificate,
        );
        Ok((slf.get_type().into_any(), parts.into_pyobject(slf.py())?.into_any()))
    }
}

/// What a policy thinks of an action, and why.
#[pyclass(frozen, get_all, module = "reluctant")]
pub(crate) struct Explanation {
    /// The predicted mean reward.
    mean: f64,
    /// How unsure the policy is of it.
    spread: f64,
    /// Whether the next choice is exploration.
    exploring: bool,
    /// Which model acts.
    model: String,
    /// Why this one; empty if the policy has no other.
    why: String,
    /// What is amiss, or None.
    warning: Option<String>,
}

#[pymethods]
impl Explanation {
    #[new]
    #[pyo3(signature = (mean, spread, exploring, model, why, warning = None))]
    fn new(mean: f64, spread: f64, exploring: bool, model: String, why: String, warning: Option<String>) -> Self {
        Explanation { mean, spread, exploring, model, why, warning }
    }

    fn __str__(&self) -> String {
        let mut text = format!("{:.3} ± {:.3} by {}", self.mean, self.spread, self.model);
        if !self.why.is_empty() {
            text += &format!(" ({})", self.why);
        }
        if let Some(warning) = &self.warning {
            text += &format!("; warning: {warning}");
        }
        text
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        let text = |text: &str| Ok::<_, PyErr>(PyString::new(py, text).repr()?.to_string());
        let warning = self.warning.as_deref().map_or(Ok("None".to_owned()), text)?;
        let exploring = if self.exploring { "True" } else { "False" };
        Ok(format!(
            "Explanation(mean={:.6}, spread={:.6}, exploring={exploring}, model={}, why={}, warning={warning})",
            self.mean,
            self.spread,
            text(&self.model)?,
            text(&self.why)?
        ))
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyAny>)> {
        let Explanation { mean, spread, exploring, model, why, warning } = slf.get();
        let parts = (*mean, *spread, *exploring, model, why, warning);
        Ok((slf.get_type().into_any(), parts.into_pyobject(slf.py())?.into_any()))
    }
}

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
}

impl State {
    /// Chooses in the next round; a refused set of arms is no round.
    fn choose<T>(
        &mut self,
        seed: u64,
        arms: Offer<'_>,
        keep: impl FnOnce(reluctant::Choice<'_>) -> T,
    ) -> Result<T, Error> {
        let key = Key::new(seed).round(self.rounds + 1);
        let choice = self.policy.select(arms, key, &mut self.scratch)?;
        self.rounds += 1;
        Ok(keep(choice))
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

/// The actions on offer, as Python gives them.
enum Given<'py> {
    Rows(Numbers<'py>),
    Sphere,
}

impl<'py> Given<'py> {
    fn read(arms: &Bound<'py, PyAny>) -> PyResult<Self> {
        if let Ok(word) = arms.cast::<PyString>() {
            if word.to_cow()? == "sphere" {
                return Ok(Given::Sphere);
            }
            return Err(PyValueError::new_err(format!(
                "arms must be an array of one row an arm or 'sphere', not the text {}",
                word.repr()?
            )));
        }
        Numbers::read("arms", &["arms", "coordinates"], arms).map(Given::Rows)
    }
}

impl Policy {
    /// Runs `work` on the state without the interpreter's lock; waits, without it too, while another thread uses this policy.
    fn with<T: Send>(&self, py: Python<'_>, work: impl FnOnce(&mut State) -> Result<T, Error> + Send) -> PyResult<T> {
        let outcome = py.detach(|| self.state.lock().map(|mut state| work(&mut state)).map_err(|_| ()));
        match outcome {
            Ok(result) => result.map_err(refuse),
            Err(()) => {
                Err(PyRuntimeError::new_err("this policy failed in the midst of an earlier call; load a saved one"))
            }
        }
    }

    /// An error unless what is given has this policy's dimension, even if there is nothing in it.
    fn check_dim(&self, what: &'static str, found: usize) -> Result<(), Error> {
        if found == self.dim { Ok(()) } else { Err(Error::Dimension { what, expected: self.dim, found }) }
    }

    fn restored(saved: Saved) -> Result<Self, Error> {
        let entry = policy::find(&saved.snapshot.policy)?;
        let policy = saved.snapshot.restore()?;
        let state = State { policy, scratch: Scratch::default(), rounds: saved.rounds };
        let dim = state.policy.dim();
        Ok(Policy { entry, dim, seed: saved.seed, settings: saved.settings, state: Mutex::new(state) })
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
        let settings = self::settings(kind, entry.params, settings)?;
        let dim = whole("dim", dim, 1..=policy::MAX_FEATURES as u64)? as usize;
        let seed = whole("seed", seed, 0..=u64::MAX)?;
        let policy = policy::build(kind, dim, &settings, Key::new(seed)).map_err(refuse_keywords)?;
        let state = State { policy, scratch: Scratch::default(), rounds: 0 };
        Ok(Policy { entry, dim, seed, settings, state: Mutex::new(state) })
    }

    /// The dimension of an action.
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

    /// The parameters that were given, by keyword.
    #[getter]
    fn params<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        write_settings(py, self.entry.params, &self.settings)
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

    /// Chooses one of the arms: an array of one row an arm, or "sphere".
    ///
    /// >>> from reluctant import Oful
    /// >>> choice = Oful(dim=2).select([[1.0, 0.0], [0.6, 0.8]])
    /// >>> choice.index, choice.action.tolist(), choice.mean
    /// (0, [1.0, 0.0], 0.0)
    fn select(&self, py: Python<'_>, arms: &Bound<'_, PyAny>) -> PyResult<Choice> {
        let keep = |choice: reluctant::Choice<'_>| {
            let certificate = choice.certificate.map(|certificate| certificate.to_string());
            (choice.index, choice.action.into_owned(), choice.score, choice.propensity, certificate)
        };
        let (index, action, score, propensity, certificate) = match Given::read(arms)? {
            Given::Sphere => self.with(py, |state| state.choose(self.seed, Offer::Sphere { dim: self.dim }, keep))?,
            Given::Rows(numbers) => {
                let (dim, data) = (numbers.len(1), numbers.data());
                self.with(py, |state| state.choose(self.seed, Offer::finite(dim, data)?, keep))?
            }
        };
        let action = PyArray1::from_vec(py, action).unbind();
        Ok(Choice { index, action, mean: score.mean, width: score.width, propensity, certificate })
    }

    /// The row that `select` would choose, and nothing else: the fastest way to choose.
    fn select_index(&self, py: Python<'_>, arms: &Bound<'_, PyAny>) -> PyResult<usize> {
        let Given::Rows(numbers) = Given::read(arms)? else {
            return Err(PyValueError::new_err(
                "the sphere has no rows: use select('sphere'), which returns the action",
            ));
        };
        let (dim, data) = (numbers.len(1), numbers.data());
        // A choice among rows always has its row.
        self.with(py, |state| state.choose(self.seed, Offer::finite(dim, data)?, |choice| choice.index.unwrap_or(0)))
    }

    /// Chooses once for each set of arms in an array of sets × arms × coordinates, without learning in between: rounds whose
    /// rewards come later. Returns the rows.
    ///
    /// >>> from reluctant import Uniform
    /// >>> Uniform(dim=2).select_batch([[[1.0, 0.0], [0.0, 1.0]], [[0.6, 0.8], [0.8, 0.6]]]).shape
    /// (2,)
    fn select_batch<'py>(&self, py: Python<'py>, arms: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyArray1<i64>>> {
        let numbers = Numbers::read("arms", &["sets", "arms", "coordinates"], arms)?;
        let (each, dim, data) = (numbers.len(1), numbers.len(2), numbers.data());
        if each == 0 && numbers.len(0) > 0 {
            return Err(refuse(Error::NoArms));
        }
        let chosen = self.with(py, |state| {
            self.check_dim("the set of arms", dim)?;
            let before = state.rounds;
            let row = |choice: reluctant::Choice<'_>| choice.index.unwrap_or(0) as i64;
            let sets = data.chunks_exact((each * dim).max(1));
            let chosen: Result<Vec<i64>, Error> =
                sets.map(|set| state.choose(self.seed, Offer::finite(dim, set)?, row)).collect();
            // Choosing changes nothing but the count of rounds: a bad set among good ones leaves no trace.
            state.rounds = if chosen.is_ok() { state.rounds } else { before };
            chosen
        })?;
        Ok(PyArray1::from_vec(py, chosen))
    }

    /// Learns that an action was rewarded: any that was chosen, late or out of order.
    ///
    /// >>> from reluctant import Oful
    /// >>> policy = Oful(dim=2)
    /// >>> policy.select_index([[1.0, 0.0], [0.0, 1.0]])
    /// 0
    /// >>> policy.update([1.0, 0.0], -1.0)
    /// >>> policy.select_index([[1.0, 0.0], [0.0, 1.0]])
    /// 1
    fn update(&self, py: Python<'_>, action: &Bound<'_, PyAny>, reward: &Bound<'_, PyAny>) -> PyResult<()> {
        if action.is_instance_of::<PyInt>() {
            let index = action.repr()?;
            let sentence =
                format!("action must be the vector that was chosen, such as arms[{index}], not its index {index}");
            return Err(PyTypeError::new_err(sentence));
        }
        let action = Numbers::read("action", &["coordinates"], action)?;
        let reward = number("reward", reward)?;
        let data = action.data();
        let chosen = self.with(py, |state| {
            check_observation(self.entry.name, self.dim, data.into(), reward)?;
            // A reward before any choice is a slip of whoever wrote the loop; a log goes through `update_batch`.
            if state.rounds > 0 { state.policy.update(data, reward).map(|()| true) } else { Ok(false) }
        })?;
        let sentence = "update before select: nothing was chosen yet; update_batch learns from a log";
        if chosen { Ok(()) } else { Err(PyValueError::new_err(sentence)) }
    }

    /// Learns from an array of actions and an array of their rewards, in order, chosen by this policy or by another. Everything is checked
    /// before the first.
    fn update_batch(&self, py: Python<'_>, actions: &Bound<'_, PyAny>, rewards: &Bound<'_, PyAny>) -> PyResult<()> {
        let actions = Numbers::read("actions", &["actions", "coordinates"], actions)?;
        let rewards = Numbers::read("rewards", &["actions"], rewards)?;
        check_pairs(&actions, &rewards)?;
        let (dim, data, rewards) = (actions.len(1), actions.data(), rewards.data());
        self.with(py, |state| {
            self.check_dim("the action", dim)?;
            let pairs = || data.chunks_exact(dim).zip(rewards);
            let checked = |(action, reward): (&[f64], &f64)| {
                check_observation(self.entry.name, self.dim, action.into(), *reward).map(|_| ())
            };
            pairs().try_for_each(checked)?;
            pairs().try_for_each(|(action, reward)| state.policy.update(action, *reward))
        })
    }

    /// The predicted mean reward of every arm and the half-width of its confidence interval, as two arrays.
    ///
    /// >>> from reluctant import Oful
    /// >>> policy = Oful(dim=2, lambda_=1.0)
    /// >>> policy.update_batch([[1.0, 0.0]], [1.0])
    /// >>> means, widths = policy.scores([[1.0, 0.0], [0.0, 1.0]])
    /// >>> means.tolist(), bool(widths[0] < widths[1])
    /// ([0.5, 0.0], True)
    #[allow(clippy::type_complexity)]
    fn scores<'py>(
        &self,
        py: Python<'py>,
        arms: &Bound<'py, PyAny>,
    ) -> PyResult<(Bound<'py, PyArray1<f64>>, Bound<'py, PyArray1<f64>>)> {
        let numbers = Numbers::read("arms", &["arms", "coordinates"], arms)?;
        let (dim, data) = (numbers.len(1), numbers.data());
        let (means, widths): (Vec<f64>, Vec<f64>) = self.with(py, |state| {
            state.policy.score(Offer::finite(dim, data)?, &mut state.scratch)?;
            Ok(state.scratch.scores().iter().map(|score| (score.mean, score.width)).unzip())
        })?;
        Ok((PyArray1::from_vec(py, means), PyArray1::from_vec(py, widths)))
    }

    /// What the policy thinks of an action, and why: mean and spread, which model acts, and what is amiss.
    ///
    /// >>> from reluctant import Plausible
    /// >>> thought = Plausible(dim=2, neurons=3).explain([1.0, 0.0])
    /// >>> thought.model, thought.warning
    /// ('128 plausible networks of 3 neurons', None)
    fn explain(&self, py: Python<'_>, action: &Bound<'_, PyAny>) -> PyResult<Explanation> {
        let action = Numbers::read("action", &["coordinates"], action)?;
        let data = action.data();
        let policy::Explanation { mean, spread, exploring, model, why, warning, .. } =
            self.with(py, |state| state.policy.explain(data))?;
        Ok(Explanation { mean, spread, exploring, model, why, warning })
    }

    /// The whole state as JSON: what `from_json` makes of it goes on to the bit.
    fn to_json(&self, py: Python<'_>) -> PyResult<String> {
        self.with(py, |state| {
            let saved = Saved {
                format: FORMAT,
                version: env!("CARGO_PKG_VERSION").to_owned(),
                seed: self.seed,
                rounds: state.rounds,
                settings: self.settings.clone(),
                snapshot: state.policy.snapshot()?,
            };
            serde_json::to_string(&saved).map_err(|cause| Error::Snapshot { reason: cause.to_string() })
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

/// A real number, such as a reward.
fn number(name: &str, value: &Bound<'_, PyAny>) -> PyResult<f64> {
    value.extract().map_err(|_| {
        let found = value.get_type().name().map_or_else(|_| "something else".to_owned(), |name| name.to_string());
        PyTypeError::new_err(format!("{name} must be a number, not {found}"))
    })
}
