//! Parameters: Python's numbers and words to the core's and back, and the registries as dictionaries.

use std::ops::RangeInclusive;

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyFloat, PyList, PyString};
use reluctant::entry::Row;
use reluctant::params::{Initial, Kind, Param};
use reluctant::policy::COMMON;
use reluctant::{Error, Settings, Value};
use reluctant_lab::registry;

use crate::errors::refuse_keywords;

/// The words that Python keeps for itself; a parameter of such a name has an underscore at its end.
const KEYWORDS: [&str; 35] = [
    "False", "None", "True", "and", "as", "assert", "async", "await", "break", "class", "continue", "def", "del",
    "elif", "else", "except", "finally", "for", "from", "global", "if", "import", "in", "is", "lambda", "nonlocal",
    "not", "or", "pass", "raise", "return", "try", "while", "with", "yield",
];

/// A parameter's name as a Python keyword argument.
fn keyword(name: &str) -> String {
    if KEYWORDS.contains(&name) { format!("{name}_") } else { name.to_owned() }
}

/// The settings that keyword arguments give; `None` stands for the default.
pub(crate) fn settings(owner: &str, table: &[Param], given: &Bound<'_, PyDict>) -> PyResult<Settings> {
    let mut settings = Settings::new();
    for (name, value) in given {
        let name: String = name.extract()?;
        let Some(param) = table.iter().find(|param| param.name == name || keyword(param.name) == name) else {
            let known: Vec<String> = table.iter().map(|param| keyword(param.name)).collect();
            let known = known.iter().map(String::as_str);
            return Err(refuse_keywords(Error::unknown(format!("parameter of {owner}"), &name, known)));
        };
        if !value.is_none() {
            settings.set(param.name, read(&name, &value)?);
        }
    }
    Ok(settings)
}

/// A number, a word or a truth value.
pub(crate) fn read(name: &str, value: &Bound<'_, PyAny>) -> PyResult<Value> {
    if let Ok(flag) = value.cast::<PyBool>() {
        return Ok(Value::Flag(flag.is_true()));
    }
    if let Ok(word) = value.cast::<PyString>() {
        return Ok(Value::Word(word.to_string()));
    }
    // Whatever calls itself an integer is one, numpy's integers among them; a negative one is
    // for the range check to refuse.
    if value.hasattr("__index__")? {
        let whole = value.call_method0("__index__")?;
        return whole.extract::<u64>().map(Value::Count).or_else(|_| whole.extract::<f64>().map(Value::Real));
    }
    if value.is_instance_of::<PyFloat>() || value.hasattr("__float__")? {
        return Ok(Value::Real(value.extract()?));
    }
    let found = value.get_type().name()?;
    Err(PyTypeError::new_err(format!("{name} must be a number, a word or true/false, not {found}")))
}

/// A whole number out of a range, such as a dimension or a seed; whatever is outside, below
/// zero too, hears the same range.
pub(crate) fn whole(name: &str, value: &Bound<'_, PyAny>, allowed: RangeInclusive<u64>) -> PyResult<u64> {
    if value.is_instance_of::<PyBool>() || !value.hasattr("__index__")? {
        let found = value.get_type().name()?;
        return Err(PyTypeError::new_err(format!("{name} must be a whole number, not {found}")));
    }
    let number = value.call_method0("__index__")?;
    match number.extract() {
        Ok(number) if allowed.contains(&number) => Ok(number),
        _ => {
            let (least, most) = allowed.into_inner();
            Err(PyValueError::new_err(format!("{name} = {number} is out of range: {least} to {most}")))
        }
    }
}

/// A value as Python's own.
pub(crate) fn write<'py>(py: Python<'py>, value: &Value) -> PyResult<Bound<'py, PyAny>> {
    Ok(match value {
        Value::Flag(flag) => PyBool::new(py, *flag).to_owned().into_any(),
        Value::Count(count) => count.into_pyobject(py)?.into_any(),
        Value::Real(real) => PyFloat::new(py, *real).into_any(),
        Value::Word(word) => PyString::new(py, word).into_any(),
    })
}

/// Settings as keyword arguments, in the order of their table.
pub(crate) fn write_settings<'py>(
    py: Python<'py>,
    table: &[Param],
    settings: &Settings,
) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    for param in table {
        if let Some(value) = settings.get(param.name) {
            dict.set_item(keyword(param.name), write(py, value)?)?;
        }
    }
    Ok(dict)
}

/// The registry of policies: one dictionary a policy. Its samples are configurations on which the core tests it.
#[pyfunction]
pub(crate) fn policies(py: Python<'_>) -> PyResult<Bound<'_, PyList>> {
    let registry = registry();
    let rows = registry.policies().iter().map(|entry| {
        let row = describe(py, entry)?;
        row.set_item("sphere", entry.sphere)?;
        let common = COMMON.iter().copied().chain(entry.second_name());
        let common = common.map(|param| describe_param(py, &param)).collect::<PyResult<Vec<_>>>()?;
        row.as_any().get_item("params")?.call_method1("extend", (common,))?;
        let samples = entry.samples.iter().map(|sample| write_settings(py, entry.params, &sample.settings()));
        row.set_item("samples", samples.collect::<PyResult<Vec<_>>>()?)?;
        Ok(row)
    });
    PyList::new(py, rows.collect::<PyResult<Vec<_>>>()?)
}

/// The registry of environments: one dictionary an environment.
#[pyfunction]
pub(crate) fn environments(py: Python<'_>) -> PyResult<Bound<'_, PyList>> {
    let registry = registry();
    let rows = registry.environments().iter().map(|entry| describe(py, entry));
    PyList::new(py, rows.collect::<PyResult<Vec<_>>>()?)
}

fn describe<'py>(py: Python<'py>, entry: &impl Row) -> PyResult<Bound<'py, PyDict>> {
    let row = PyDict::new(py);
    row.set_item("name", entry.name())?;
    row.set_item("summary", entry.summary())?;
    row.set_item("citation", entry.citation())?;
    let params = entry.params().iter().map(|param| describe_param(py, param)).collect::<PyResult<Vec<_>>>()?;
    row.set_item("params", params)?;
    Ok(row)
}

fn describe_param<'py>(py: Python<'py>, param: &Param) -> PyResult<Bound<'py, PyDict>> {
    let row = PyDict::new(py);
    let default = match param.initial {
        Initial::Is(literal) => write(py, &literal.into())?,
        Initial::Auto(_) | Initial::Required => py.None().into_bound(py),
    };
    let (kind, words) = match param.kind {
        Kind::Real { .. } => ("float", &[][..]),
        Kind::Count { .. } => ("int", &[][..]),
        Kind::Flag => ("bool", &[][..]),
        Kind::Word(words) => ("str", words),
        Kind::Text(_) | Kind::Path => ("str", &[][..]),
    };
    row.set_item("name", param.name)?;
    row.set_item("keyword", keyword(param.name))?;
    row.set_item("doc", param.doc)?;
    row.set_item("allowed", param.allowed())?;
    row.set_item("default", default)?;
    row.set_item("default_text", param.initial.to_string())?;
    row.set_item("required", param.initial == Initial::Required)?;
    row.set_item("told", param.told.is_some())?;
    row.set_item("type", kind)?;
    row.set_item("words", words)?;
    Ok(row)
}
