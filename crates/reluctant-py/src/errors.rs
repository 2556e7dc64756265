//! Errors as exceptions: the sentence stays the core's, the class is the one that Python would raise.

use pyo3::PyErr;
use pyo3::exceptions::{PyOSError, PyRuntimeError, PyTypeError, PyValueError};
use reluctant::Error;
use reluctant_lab::LabError;

/// What Python raises for an error of the core.
pub(crate) fn refuse(error: Error) -> PyErr {
    PyValueError::new_err(error.to_string())
}

/// What Python raises for wrong keywords: `TypeError` if one is unknown, missing or of the wrong type, as for any call.
pub(crate) fn refuse_keywords(error: Error) -> PyErr {
    match error {
        Error::WrongType { .. } | Error::Missing { .. } | Error::Unknown { .. } => {
            PyTypeError::new_err(error.to_string())
        }
        _ => refuse(error),
    }
}

/// What Python raises for an error of the lab. Where the lab advises an option of the command line,
/// the advice is Python's keyword.
pub(crate) fn refuse_lab(error: LabError) -> PyErr {
    let sentence = match &error {
        LabError::OtherExperiment { dir, what } => format!(
            "{} holds the results of another experiment ({what}); choose another folder with out=, or start over with \
             fresh=True",
            dir.display()
        ),
        LabError::Occupied { dir, file } => format!(
            "{} holds no experiment, but a file {file} that this one would write over; choose another folder with \
             out=, or move that file away",
            dir.display()
        ),
        LabError::Busy { dir } => {
            format!("another run is writing to {}; wait for it, or choose another folder with out=", dir.display())
        }
        error => error.to_string(),
    };
    match error {
        LabError::Io { .. } | LabError::Busy { .. } => PyOSError::new_err(sentence),
        LabError::Trial { .. } | LabError::Environment { .. } | LabError::Report(_) => {
            PyRuntimeError::new_err(sentence)
        }
        _ => PyValueError::new_err(sentence),
    }
}
