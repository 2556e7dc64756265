//! What is noticed while a log is read, and what is said of a line that cannot be.

use std::path::Path;

use crate::error::LabError;

/// So many lines are held at a time.
pub(super) const PIECE: usize = 4096;

/// What was noticed while a log was read.
#[derive(Debug, Clone, Default, PartialEq, serde::Serialize)]
#[non_exhaustive]
pub struct Read {
    /// Rounds whose reward is known.
    pub rounds: u64,
    /// Rounds whose reward never came.
    pub unrewarded: u64,
    /// The line of the first of them.
    pub first_unrewarded: Option<usize>,
    /// Rewards that stood on a line of their own, after their round.
    pub late: u64,
    /// The last line, if it was torn and dropped.
    pub torn: Option<usize>,
}

/// What is wrong with a log, and where.
pub(super) fn wrong(path: &Path, line: Option<usize>, message: String) -> LabError {
    LabError::Input { file: path.to_owned(), line, message }
}
