//! What is wrong with a table, before the file's name is put in front of it.

use std::path::Path;

use crate::error::LabError;

/// A result of the steps from a file to a table.
pub(super) type Outcome<T> = std::result::Result<T, Fault>;

/// One sentence about what is wrong, and the line where it is.
#[derive(Debug)]
pub(super) struct Fault {
    line: Option<usize>,
    message: String,
}

impl Fault {
    /// Something wrong at a line, from 1.
    pub(super) fn at(line: usize, message: impl ToString) -> Self {
        Fault { line: Some(line), message: message.to_string() }
    }

    /// Something wrong with the file as a whole.
    pub(super) fn whole(message: impl ToString) -> Self {
        Fault { line: None, message: message.to_string() }
    }

    /// The error that names the file.
    pub(super) fn of(self, file: &Path) -> LabError {
        LabError::Input { file: file.to_owned(), line: self.line, message: self.message }
    }
}
