//! Errors as exceptions: the sentence stays the core's, the class is the one that Python would raise.

use pyo3::PyErr;
use pyo3::exceptions::{PyOSError, PyRuntimeError, PyTypeError, PyValueError};
use reluctant::Error;
use reluctant_lab::LabError;

/// What Python raises for an error of the core: `TypeError` for a wrong type and for keywords that are unknown or missing, as for any
/// call; `ValueError` otherwise.
pub(crate) fn refuse(error: Error) -> PyErr {
    let sentence = error.to_string();
    match error {
        Error::WrongType { .. } | Error::Missing { .. } => PyTypeError::new_err(sentence),
        Error::Unknown { kind, .. } if kind.starts_with("parameter") => PyTypeError::new_err(sentence),
        _ => PyValueError::new_err(sentence),
    }
}

/// What Python raises for an error of the lab.
pub(crate) fn refuse_lab(error: LabError) -> PyErr {
    let sentence = error.to_string();
    match error {
        LabError::Io { .. } | LabError::Busy { .. } => PyOSError::new_err(sentence),
        LabError::Trial { .. } | LabError::Report(_) => PyRuntimeError::new_err(sentence),
        _ => PyValueError::new_err(sentence),
    }
}
