//! A policy written in Python, as the lab sees it: any object with `select(arms)` and `update(action, reward)`.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};

use numpy::{PyArray1, PyArrayMethods};
use pyo3::exceptions::{PyIndexError, PyTypeError};
use pyo3::prelude::*;
use reluctant::action::check_observation;
use reluctant::policy::{Build, Contexts, Entry, Restore};
use reluctant::{Action, Error, Key, Offer, Params, Policy, Result, Score, Scratch, Snapshot};

use crate::arrays::Numbers;

/// The exception that ended a game: it passes through the core as [`Error::Stopped`] and is raised again on the other side.
#[derive(Debug, Clone, Default)]
pub(crate) struct Raised(Arc<Mutex<Option<PyErr>>>);

impl Raised {
    pub(crate) fn keep<T>(&self, outcome: PyResult<T>) -> Result<T> {
        outcome.map_err(|raised| {
            *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(raised);
            Error::Stopped
        })
    }

    pub(crate) fn take(&self) -> Option<PyErr> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

/// The object, and the exception with which it ended the game, if it did.
#[derive(Debug)]
pub(crate) struct OwnPolicy {
    pub(crate) dim: usize,
    pub(crate) object: Py<PyAny>,
    pub(crate) raised: Raised,
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
            Offer::Context(_) => Err(PyTypeError::new_err("a policy written in Python sees rows, not contexts")),
        }
    }
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

/// The row of a registry that makes such a policy: `make(dim, seed)` returns the object.
pub(crate) fn entry(label: &str, seed: u64, make: Py<PyAny>, raised: Raised) -> Entry {
    let build = move |dim, _: &Params, _: Key| -> Result<Box<dyn Policy>> {
        let object = raised.keep(Python::attach(|py| make.call1(py, (dim, seed))))?;
        Ok(Box::new(OwnPolicy { dim, object, raised: raised.clone() }))
    };
    Entry {
        name: interned(label),
        summary: "a policy written in Python",
        citation: "none",
        params: &[],
        sphere: true,
        contexts: Contexts::Refused("it is written in Python and sees rows"),
        samples: &[],
        build: Build::Own(Arc::new(build)),
        restore: Restore::Own(Arc::new(|_| Err(no_snapshot()))),
    }
}

/// The same text for as long as the program runs. Registries name things by such texts; each is kept once.
fn interned(text: &str) -> &'static str {
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
        "python"
    }

    fn dim(&self) -> usize {
        self.dim
    }

    fn select<'a>(&self, offer: Offer<'a>, _: Key, _: &mut Scratch) -> Result<reluctant::Choice<'a>> {
        match (self.call(|py| self.choose(py, offer))?, offer) {
            (Chosen::Row(row), Offer::Rows(rows)) => {
                Ok(reluctant::Choice::row(rows, row, Score::default()).with_propensity(None))
            }
            (Chosen::Action(action), _) => {
                check_observation(self.name(), self.dim, (&action).into(), 0.0)?;
                Ok(reluctant::Choice::point(action, Score::default()).with_propensity(None))
            }
            (Chosen::Row(_), _) => Err(Error::Stopped),
        }
    }

    fn learn(&mut self, action: Action<'_>, reward: f64) -> Result<()> {
        let action = check_observation(self.name(), self.dim, action, reward)?;
        self.call(|py| {
            let action = PyArray1::from_slice(py, action);
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
