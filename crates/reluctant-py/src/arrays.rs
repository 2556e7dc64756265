//! Arrays of numbers: borrowed where they lie in memory row after row as 64-bit floats, converted by numpy otherwise.

use std::slice::ChunksExact;

use numpy::{PyArrayDyn, PyArrayMethods, PyReadonlyArrayDyn, PyUntypedArray, PyUntypedArrayMethods};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyList, PyString, PyTuple};
use reluctant::{Error, Rows};

/// An array of 64-bit floats in C order, borrowed from Python.
pub(crate) struct Numbers<'py> {
    array: PyReadonlyArrayDyn<'py, f64>,
}

impl<'py> Numbers<'py> {
    /// Reads `object` as an array with as many axes as `axes` has names. `what` is named in errors.
    pub(crate) fn read(what: &str, axes: &[&str], object: &Bound<'py, PyAny>) -> PyResult<Self> {
        if is_masked(object, axes.len()) {
            return Err(PyValueError::new_err(format!(
                "{what} must hold no masked elements: leave them out, or fill them with numbers"
            )));
        }
        let array = match object.cast::<PyArrayDyn<f64>>() {
            Ok(array) if array.is_c_contiguous() => array.clone(),
            _ => convert(what, object)?,
        };
        if array.ndim() != axes.len() {
            let (needed, found) = (axes.len(), array.ndim());
            let shape = axes.join(", ");
            let plural = if needed == 1 { "axis" } else { "axes" };
            return Err(PyValueError::new_err(format!(
                "{what} must be an array with {needed} {plural} ({shape}), not {found}"
            )));
        }
        let array = array.try_readonly().map_err(|_| PyValueError::new_err(format!("{what} is being written to")))?;
        // An array whose memory is not aligned is copied by numpy.
        if array.as_slice().is_err() {
            let copy = convert(what, &object.call_method0(intern!(object.py(), "copy"))?)?;
            return Ok(Numbers { array: copy.readonly() });
        }
        Ok(Numbers { array })
    }

    /// All numbers, the last axis fastest.
    pub(crate) fn data(&self) -> &[f64] {
        // Reading made sure of it.
        self.array.as_slice().unwrap_or_default()
    }

    /// The length of an axis.
    pub(crate) fn len(&self, axis: usize) -> usize {
        self.array.shape()[axis]
    }
}

/// The actions of a batch, which may be none, for a network in dimension `expected`.
pub(crate) fn action_rows(expected: usize, dim: usize, data: &[f64]) -> Result<ChunksExact<'_, f64>, Error> {
    if dim != expected {
        return Err(Error::Dimension { what: "an action", expected, found: dim });
    }
    if !data.is_empty() {
        Rows::new(dim, data)?;
    }
    Ok(data.chunks_exact(dim))
}

/// An error unless there is a reward for every action.
pub(crate) fn check_pairs(actions: usize, rewards: &Numbers<'_>) -> PyResult<()> {
    let rewards = rewards.len(0);
    if actions == rewards {
        return Ok(());
    }
    Err(PyValueError::new_err(format!("there must be as many rewards as actions, not {rewards} for {actions}")))
}

/// Whether an array, or one in lists of at most `depth` levels, has masked elements: numpy
/// would read what the mask hides.
fn is_masked(object: &Bound<'_, PyAny>, depth: usize) -> bool {
    if object.cast_exact::<PyUntypedArray>().is_ok() {
        return false;
    }
    if object.is_instance_of::<PyUntypedArray>() {
        let mask = object.getattr(intern!(object.py(), "mask"));
        let any = mask.and_then(|mask| mask.call_method0(intern!(object.py(), "any")));
        return any.and_then(|any| any.is_truthy()).unwrap_or(false);
    }
    if depth == 0 {
        return false;
    }
    if let Ok(list) = object.cast::<PyList>() {
        return list.iter().any(|item| is_masked(&item, depth - 1));
    }
    object.cast::<PyTuple>().is_ok_and(|tuple| tuple.iter().any(|item| is_masked(&item, depth - 1)))
}

/// Has numpy make an array of 64-bit floats, from real numbers only.
fn convert<'py>(what: &str, object: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyArrayDyn<f64>>> {
    let py = object.py();
    let numpy = py.import(intern!(py, "numpy"))?;
    let array = numpy.call_method1(intern!(py, "asarray"), (object,))?;
    let dtype = array.getattr(intern!(py, "dtype"))?;
    let kind: String = dtype.getattr(intern!(py, "kind"))?.extract()?;
    if !matches!(kind.as_str(), "b" | "i" | "u" | "f") {
        let found = if object.is_instance_of::<PyString>() {
            format!("the text {}", object.repr()?)
        } else {
            format!("dtype {dtype}")
        };
        return Err(PyTypeError::new_err(format!("{what} must hold real numbers, not {found}")));
    }
    let float64 = numpy.getattr(intern!(py, "float64"))?;
    let array = numpy.call_method1(intern!(py, "require"), (array, float64, "CA"))?;
    Ok(array.cast_into::<PyArrayDyn<f64>>()?)
}
