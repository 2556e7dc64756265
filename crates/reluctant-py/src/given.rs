//! What is on offer and what was taken, as Python gives it: rows, the sphere, a context with named actions, a `Choice`.

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyInt, PyList, PyMapping, PyString, PyTuple};
use reluctant::{Action, Context, Error, Name, Offer, Rows, Space};

use crate::arrays::Numbers;
use crate::choice::Choice;

/// Named actions, with features or without.
pub(crate) struct Actions {
    names: Vec<Name>,
    /// Their dimension and all numbers, a row an action.
    features: Option<(usize, Vec<f64>)>,
}

impl Actions {
    /// Reads a list of names, or a mapping of names to features.
    pub(crate) fn read(object: &Bound<'_, PyAny>) -> PyResult<Self> {
        if let Ok(list) = object.cast::<PyList>() {
            let names = list.iter().map(|item| name(&item)).collect::<PyResult<_>>()?;
            return Ok(Actions { names, features: None });
        }
        if let Ok(mapping) = object.cast::<PyMapping>() {
            return Self::with_features(mapping);
        }
        if object.is_instance_of::<PyString>() {
            return Err(PyTypeError::new_err(format!(
                "actions must be a list of names or a mapping of names to features, not the text {}",
                object.repr()?
            )));
        }
        let Ok(items) = object.try_iter() else {
            let found = object.get_type().name()?;
            return Err(PyTypeError::new_err(format!(
                "actions must be a list of names or a mapping of names to features, not {found}"
            )));
        };
        let names = items.map(|item| name(&item?)).collect::<PyResult<_>>()?;
        Ok(Actions { names, features: None })
    }

    fn with_features(mapping: &Bound<'_, PyMapping>) -> PyResult<Self> {
        let (mut names, mut all, mut dim) = (Vec::new(), Vec::new(), None);
        for item in mapping.items()?.iter() {
            let (key, features): (Bound<'_, PyAny>, Bound<'_, PyAny>) = item.extract()?;
            let features = Numbers::read("the features of an action", &["features"], &features)?;
            let found = features.len(0);
            if found != *dim.get_or_insert(found) || found == 0 {
                let sentence = format!(
                    "the features of every action must have the same length, at least 1, not {} and {found}",
                    dim.unwrap_or(found)
                );
                return Err(PyValueError::new_err(sentence));
            }
            names.push(name(&key)?);
            all.extend_from_slice(features.data());
        }
        Ok(Actions { names, features: Some((dim.unwrap_or(1), all)) })
    }

    fn context<'a>(&'a self, x: &'a [f64]) -> Result<Context<'a>, Error> {
        let context = Context::new(x, &self.names)?;
        match &self.features {
            None => Ok(context),
            Some((dim, features)) => {
                let rows = Rows::new(*dim, features).map_err(of_features)?;
                context.with_action_features(rows)
            }
        }
    }

    fn action_dim(&self) -> usize {
        self.features.as_ref().map_or(0, |(dim, _)| *dim)
    }
}

/// An error of rows that are the features of actions.
fn of_features(error: Error) -> Error {
    match error {
        Error::NotFinite { value, .. } => Error::NotFinite { what: "a feature of an action".into(), value },
        error => error,
    }
}

/// The name of an action.
fn name(object: &Bound<'_, PyAny>) -> PyResult<Name> {
    match object.cast::<PyString>() {
        Ok(name) => Ok(Name::from(&*name.to_cow()?)),
        Err(_) => {
            let shown = object.repr()?;
            Err(PyTypeError::new_err(format!("the name of an action must be text, not {shown}")))
        }
    }
}

/// What is on offer, as Python gives it.
pub(crate) enum Given<'py> {
    Rows(Numbers<'py>),
    Sphere,
    Context(Numbers<'py>, Actions),
}

impl<'py> Given<'py> {
    pub(crate) fn read(arms: &Bound<'py, PyAny>, actions: Option<&Bound<'py, PyAny>>) -> PyResult<Self> {
        if let Some(actions) = actions {
            let context = Numbers::read("context", &["coordinates"], arms)?;
            return Ok(Given::Context(context, Actions::read(actions)?));
        }
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

    /// The same without Python; `dim` is that of the sphere.
    pub(crate) fn seen(&self, dim: usize) -> Seen<'_> {
        match self {
            Given::Rows(numbers) => Seen::Rows(numbers.len(1), numbers.data()),
            Given::Sphere => Seen::Sphere(dim),
            Given::Context(numbers, actions) => Seen::Context(numbers.data(), actions),
        }
    }
}

/// What is on offer, not yet checked.
#[derive(Clone, Copy)]
pub(crate) enum Seen<'a> {
    Rows(usize, &'a [f64]),
    Sphere(usize),
    Context(&'a [f64], &'a Actions),
}

impl<'a> Seen<'a> {
    pub(crate) fn offer(self) -> Result<Offer<'a>, Error> {
        match self {
            Seen::Rows(dim, data) => Offer::deferred(dim, data),
            Seen::Sphere(dim) => Ok(Offer::Sphere { dim }),
            Seen::Context(x, actions) => actions.context(x).map(Offer::Context),
        }
    }

    pub(crate) fn space(self) -> Space {
        match self {
            Seen::Rows(dim, _) | Seen::Sphere(dim) => Space::Vectors { dim },
            Seen::Context(x, actions) => Space::Contexts { dim: x.len(), action_dim: actions.action_dim() },
        }
    }
}

/// The actions of several rounds: the same for all, or one set a round.
pub(crate) enum Each {
    Same(Actions),
    Own(Vec<Actions>),
}

impl Each {
    /// Reads the actions of `rounds` rounds.
    pub(crate) fn read(object: &Bound<'_, PyAny>, rounds: usize) -> PyResult<Self> {
        let of_names = |item: PyResult<Bound<'_, PyAny>>| item.is_ok_and(|item| item.is_instance_of::<PyString>());
        let one = object.cast::<PyMapping>().is_ok() && object.cast::<PyList>().is_err();
        if one && object.cast::<PyTuple>().is_err()
            || object.is_instance_of::<PyString>()
            || of_names(object.get_item(0))
        {
            return Actions::read(object).map(Each::Same);
        }
        let sets: Vec<Actions> = object.try_iter()?.map(|item| Actions::read(&item?)).collect::<PyResult<_>>()?;
        if sets.len() != rounds {
            let found = sets.len();
            let sentence = format!("there must be as many lists of actions as contexts, not {found} for {rounds}");
            return Err(PyValueError::new_err(sentence));
        }
        Ok(Each::Own(sets))
    }

    pub(crate) fn of(&self, round: usize) -> &Actions {
        match self {
            Each::Same(actions) => actions,
            Each::Own(sets) => &sets[round],
        }
    }
}

/// An action that was taken, as Python gives it.
pub(crate) struct Taken<'py> {
    numbers: Numbers<'py>,
    name: Option<Name>,
    features: Vec<f64>,
}

impl<'py> Taken<'py> {
    /// Reads a vector, a `Choice`, or a context with `action`, the name of the action or a mapping of it to its
    /// features. A vector may also be given as `action` alone.
    pub(crate) fn read(chosen: Option<&Bound<'py, PyAny>>, action: Option<&Bound<'py, PyAny>>) -> PyResult<Self> {
        let (chosen, action) = match (chosen, action) {
            (Some(chosen), action) => (chosen, action),
            (None, Some(vector)) if !is_named(vector) => (vector, None),
            (None, Some(_)) => return Err(PyTypeError::new_err("a named action goes with its context")),
            (None, None) => {
                return Err(PyTypeError::new_err("the action is missing: a vector, a Choice, or a context"));
            }
        };
        if let Ok(choice) = chosen.cast::<Choice>() {
            if action.is_some() {
                return Err(PyTypeError::new_err("a Choice knows its action: leave action out"));
            }
            let (vector, name, features) = choice.get().parts(chosen.py());
            let numbers = Numbers::read("action", &["coordinates"], vector.as_any())?;
            let features = features.map(|features| Numbers::read("features", &["features"], features.as_any()));
            let features = features.transpose()?.map_or(Vec::new(), |features| features.data().to_vec());
            return Ok(Taken { numbers, name: name.map(Name::from), features });
        }
        let Some(action) = action else {
            if chosen.is_instance_of::<PyInt>() {
                let index = chosen.repr()?;
                let sentence =
                    format!("action must be the vector that was chosen, such as arms[{index}], not its index {index}");
                return Err(PyTypeError::new_err(sentence));
            }
            let numbers = Numbers::read("action", &["coordinates"], chosen)?;
            return Ok(Taken { numbers, name: None, features: Vec::new() });
        };
        let (name, features) = named(action)?;
        Ok(Taken { numbers: Numbers::read("context", &["coordinates"], chosen)?, name: Some(name), features })
    }

    pub(crate) fn action(&self) -> Action<'_> {
        action(self.numbers.data(), self.name.as_deref(), &self.features)
    }
}

/// An action: a vector, or in a context if it has a name.
pub(crate) fn action<'a>(numbers: &'a [f64], name: Option<&'a str>, features: &'a [f64]) -> Action<'a> {
    match name {
        None => Action::Vector(numbers),
        Some(name) => Action::Named { context: numbers, name, features },
    }
}

fn is_named(action: &Bound<'_, PyAny>) -> bool {
    let sequence = action.is_instance_of::<PyList>() || action.is_instance_of::<PyTuple>();
    action.is_instance_of::<PyString>() || !sequence && action.hasattr("keys").unwrap_or(false)
}

/// A name, or a mapping of one name to its features.
pub(crate) fn named(action: &Bound<'_, PyAny>) -> PyResult<(Name, Vec<f64>)> {
    if !is_named(action) {
        let found = action.repr()?;
        let sentence =
            format!("action must be the name of the action, or a mapping of it to its features, not {found}");
        return Err(PyTypeError::new_err(sentence));
    }
    if action.is_instance_of::<PyString>() {
        return Ok((name(action)?, Vec::new()));
    }
    let Actions { mut names, features } = Actions::read(action)?;
    match (names.pop(), names.is_empty()) {
        (Some(name), true) => Ok((name, features.map_or(Vec::new(), |(_, features)| features))),
        _ => Err(PyValueError::new_err("a mapping of the action to its features must hold exactly one action")),
    }
}
