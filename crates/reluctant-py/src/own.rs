//! A policy written in Python, as the lab sees it: any object with `select(arms)` and `update(action, reward)`, which
//! `reluctant.own.OwnPolicy` makes; in contexts, with `select(context, actions)` and `update(choice, reward)`.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, PoisonError};

use numpy::{PyArray1, PyArrayMethods};
use pyo3::exceptions::{PyIndexError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyString};
use reluctant::action::check_observation;
use reluctant::params::{Initial, Kind, Param};
use reluctant::policy::{Build, Contexts, Entry, Restore};
use reluctant::{Action, Context, Error, Key, Offer, Params, Policy, Result, Score, Scratch, Snapshot};

use crate::arrays::Numbers;
use crate::choice::Choice;
use crate::values::write;

/// The exception that ended a game: it passes through the core as [`Error::Stopped`] and is
/// raised again on the other side.
#[derive(Debug, Clone, Default)]
pub(crate) struct Raised(Arc<Mutex<Option<PyErr>>>);

impl Raised {
    pub(crate) fn keep<T>(&self, outcome: PyResult<T>) -> Result<T> {
        outcome.map_err(|raised| {
            // The first counts: others may follow from threads that are still at work.
            self.0.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(raised);
            Error::Stopped
        })
    }

    pub(crate) fn take(&self) -> Option<PyErr> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

/// The object, and the exception with which it ended the game, if it did.
#[derive(Debug)]
struct OwnPolicy {
    name: &'static str,
    dim: usize,
    object: Py<PyAny>,
    raised: Raised,
}

/// What the object chose: a row, or a vector of its own.
enum Chosen {
    Row(usize),
    Action(Vec<f64>),
}

impl OwnPolicy {
    fn call<T>(&self, work: impl FnOnce(Python<'_>) -> PyResult<T>) -> Result<T> {
        self.raised.keep(Python::attach(work))
    }

    fn choose<'py>(&self, py: Python<'py>, offer: Offer<'_>) -> PyResult<Chosen> {
        let select = |arms: Bound<'py, PyAny>| self.object.bind(py).call_method1("select", (arms,));
        match offer {
            Offer::Sphere { .. } => {
                let answer = select("sphere".into_pyobject(py)?.into_any())?;
                let action = if answer.hasattr("action")? { answer.getattr("action")? } else { answer };
                Ok(Chosen::Action(Numbers::read("the chosen action", &["coordinates"], &action)?.data().to_vec()))
            }
            Offer::Rows(rows) => {
                let array = PyArray1::from_slice(py, rows.data()).reshape([rows.len(), rows.dim()])?;
                row(&select(array.into_any())?, rows.len()).map(Chosen::Row)
            }
            Offer::Context(context) => {
                let x = PyArray1::from_slice(py, context.features());
                let answer = self.object.bind(py).call_method1("select", (x, actions(py, context)?))?;
                place(&answer, context).map(Chosen::Row)
            }
        }
    }
}

/// The actions of a context: a list of names, or a dictionary of names and features.
fn actions<'py>(py: Python<'py>, context: Context<'_>) -> PyResult<Bound<'py, PyAny>> {
    let names = context.names().iter().map(|name| PyString::new(py, name));
    let Some(features) = context.action_features() else {
        return Ok(PyList::new(py, names)?.into_any());
    };
    let dict = PyDict::new(py);
    for (name, row) in names.zip(features.iter()) {
        dict.set_item(name, PyArray1::from_slice(py, row))?;
    }
    Ok(dict.into_any())
}

/// The place of the action that an answer names: by its name, its place, or something like a `Choice`.
fn place(answer: &Bound<'_, PyAny>, context: Context<'_>) -> PyResult<usize> {
    let Ok(name) = answer.cast::<PyString>() else {
        return row(answer, context.names().len());
    };
    let name = name.to_cow()?;
    let place = context.names().iter().position(|known| **known == *name);
    place.ok_or_else(|| {
        let known = context.names().join(", ");
        PyValueError::new_err(format!("select chose the action '{name}', but on offer are {known}"))
    })
}

/// The row that an answer names: a whole number, or something like a `Choice`.
fn row(answer: &Bound<'_, PyAny>, count: usize) -> PyResult<usize> {
    let whole = |object: &Bound<'_, PyAny>| object.call_method0("__index__").and_then(|index| index.extract::<i64>());
    let Ok(index) = whole(answer).or_else(|_| whole(&answer.getattr("index")?)) else {
        let found = answer.get_type().name()?;
        return Err(PyTypeError::new_err(format!("select must return the row it chose, a whole number, not {found}")));
    };
    match usize::try_from(index) {
        Ok(row) if row < count => Ok(row),
        _ => Err(PyIndexError::new_err(format!("select chose row {index}, but there are {count} arms, from 0"))),
    }
}

/// The row of a registry that makes such a policy; `own` is a `reluctant.own.OwnPolicy`.
pub(crate) fn entry(own: &Bound<'_, PyAny>, raised: Raised) -> PyResult<Entry> {
    let name = interned(&own.getattr("name")?.extract::<String>()?);
    let table = kept(own.getattr("params")?.extract()?);
    let make = own.clone().unbind();
    let build = move |dim, params: &Params, key: Key| -> Result<Box<dyn Policy>> {
        let (seed, trial) = seed_and_trial(key)?;
        let object = raised.keep(Python::attach(|py| {
            let settings = PyDict::new(py);
            for param in table {
                if let Some(value) = params.get(param.name) {
                    settings.set_item(param.name, write(py, value)?)?;
                }
            }
            make.call_method1(py, "make", (dim, seed, trial, settings))
        }))?;
        Ok(Box::new(OwnPolicy { name, dim, object, raised: raised.clone() }))
    };
    Ok(Entry {
        name,
        summary: "a policy written in Python",
        citation: "none",
        params: table,
        sphere: true,
        contexts: Contexts::Itself,
        samples: &[],
        build: Build::Own(Arc::new(build)),
        restore: Restore::Own(Arc::new(|_| Err(no_snapshot()))),
    })
}

/// A parameter of a policy written in Python, which must be given; `kind` is that of the values that were.
fn param(name: &str, kind: &str) -> Param {
    let kind = match kind {
        "flag" => Kind::Flag,
        "count" => Kind::Count { min: 0, max: u64::MAX },
        "text" => Kind::Text("whatever the policy takes"),
        _ => Kind::ANY,
    };
    Param::new(interned(name), Initial::Required, kind, "a parameter of the policy")
}

/// Names of parameters and the kinds of their values.
type Table = Vec<(String, String)>;

/// The same table for as long as the program runs; each is kept once.
fn kept(table: Table) -> &'static [Param] {
    static KNOWN: Mutex<BTreeMap<Table, &'static [Param]>> = Mutex::new(BTreeMap::new());
    let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(found) = known.get(&table) {
        return found;
    }
    let params: Vec<Param> = table.iter().map(|(name, kind)| param(name, kind)).collect();
    let params: &'static [Param] = params.leak();
    known.insert(table, params);
    params
}

/// Seed and trial of a key, from which Python makes its own randomness.
pub(crate) fn seed_and_trial(key: Key) -> Result<(u64, u64)> {
    let fields = serde_json::to_value(key).unwrap_or_default();
    let field = |name: &str| fields.get(name).and_then(serde_json::Value::as_u64).ok_or(Error::Stopped);
    Ok((field("seed")?, field("trial")?))
}

/// The same text for as long as the program runs. Registries name things by such texts; each is kept once.
pub(crate) fn interned(text: &str) -> &'static str {
    static KNOWN: Mutex<BTreeSet<&'static str>> = Mutex::new(BTreeSet::new());
    let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(found) = known.get(text) {
        return found;
    }
    let kept: &'static str = Box::leak(text.to_owned().into_boxed_str());
    known.insert(kept);
    kept
}

fn no_snapshot() -> Error {
    Error::Snapshot { reason: "it is written in Python".to_owned() }
}

impl Policy for OwnPolicy {
    fn name(&self) -> &'static str {
        self.name
    }

    fn dim(&self) -> usize {
        self.dim
    }

    fn select<'a>(&self, offer: Offer<'a>, _: Key, _: &mut Scratch) -> Result<reluctant::Choice<'a>> {
        match (self.call(|py| self.choose(py, offer))?, offer) {
            (Chosen::Row(row), Offer::Rows(rows)) => {
                Ok(reluctant::Choice::row(rows, row, Score::default()).with_propensity(None))
            }
            (Chosen::Row(place), Offer::Context(context)) => {
                Ok(reluctant::Choice::named(context, place, Score::default()).with_propensity(None))
            }
            (Chosen::Action(action), _) => {
                check_observation(self.name(), self.dim, (&action).into(), 0.0)?;
                Ok(reluctant::Choice::point(action, Score::default()).with_propensity(None))
            }
            (Chosen::Row(_), _) => Err(Error::Stopped),
        }
    }

    fn learn(&mut self, action: Action<'_>, reward: f64) -> Result<()> {
        self.call(|py| {
            let action = match action {
                Action::Vector(x) => PyArray1::from_slice(py, x).into_any(),
                Action::Named { context, name, features } => {
                    Choice::of_action(py, context, name, features).into_pyobject(py)?.into_any()
                }
            };
            self.object.bind(py).call_method1("update", (action, reward)).map(|_| ())
        })
    }

    fn score(&self, _: Offer<'_>, _: &mut Scratch) -> Result<()> {
        Ok(())
    }

    fn snapshot(&self) -> Result<Snapshot> {
        Err(no_snapshot())
    }
}
