//! A policy written in Python, as the lab sees it: any object with `select(arms)` and `update(action, reward)`.

use std::sync::{Arc, Mutex, PoisonError};

use numpy::{PyArray1, PyArrayMethods};
use pyo3::exceptions::{PyIndexError, PyTypeError};
use pyo3::prelude::*;
use reluctant::{Arms, Error, Key, Policy, Result, Rows, Score, Scratch, Snapshot};

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

    fn choose(&self, py: Python<'_>, arms: Arms<'_>) -> PyResult<Chosen> {
        let answer = match arms {
            Arms::Sphere { .. } => self.object.bind(py).call_method1("select", ("sphere",))?,
            Arms::Finite(rows) => {
                let array = PyArray1::from_slice(py, rows.data()).reshape([rows.len(), rows.dim()])?;
                self.object.bind(py).call_method1("select", (array,))?
            }
        };
        match arms {
            Arms::Sphere { .. } => {
                let action = if answer.hasattr("action")? { answer.getattr("action")? } else { answer };
                Ok(Chosen::Action(Numbers::read("the chosen action", &["coordinates"], &action)?.data().to_vec()))
            }
            Arms::Finite(rows) => row(&answer, rows.len()).map(Chosen::Row),
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

impl Policy for OwnPolicy {
    fn name(&self) -> &'static str {
        "python"
    }

    fn dim(&self) -> usize {
        self.dim
    }

    fn select<'a>(&self, arms: Arms<'a>, _: Key, _: &mut Scratch) -> Result<reluctant::Choice<'a>> {
        match (self.call(|py| self.choose(py, arms))?, arms) {
            (Chosen::Row(row), Arms::Finite(rows)) => Ok(reluctant::Choice::row(rows, row, Score::default(), None)),
            (Chosen::Action(action), _) => {
                reluctant::arms::check_observation(self.dim, &action, 0.0)?;
                let (action, score) = (action.into(), Score::default());
                Ok(reluctant::Choice { index: None, action, score, propensity: None, certificate: None })
            }
            (Chosen::Row(_), Arms::Sphere { .. }) => Err(Error::Stopped),
        }
    }

    fn update(&mut self, action: &[f64], reward: f64) -> Result<()> {
        self.call(|py| {
            let action = PyArray1::from_slice(py, action);
            self.object.bind(py).call_method1("update", (action, reward)).map(|_| ())
        })
    }

    fn score(&self, _: Rows<'_>, _: &mut Scratch) -> Result<()> {
        Ok(())
    }

    fn snapshot(&self) -> Result<Snapshot> {
        Err(Error::Snapshot { reason: "it is written in Python".to_owned() })
    }
}
