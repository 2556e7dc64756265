//! Parquet and Arrow logs in a build without the feature `arrow`: a sentence that says so.

use std::path::Path;

use super::line::Line;
use super::{Form, Offered};
use crate::error::{LabError, Result};

fn missing<T>(path: &Path) -> Result<T> {
    let message = "only a build with the feature arrow of reluctant-lab reads and writes Parquet and Arrow logs; use \
                   JSON lines (.jsonl) or CSV (.csv)"
        .to_owned();
    Err(LabError::Input { file: path.to_owned(), line: None, message })
}

/// The rows of a file; there are none.
pub(super) struct Batches;

impl Batches {
    pub(super) fn open(path: &Path, _: Form) -> Result<Self> {
        missing(path)
    }

    pub(super) fn next_rows(&mut self) -> Result<Vec<std::result::Result<Line, String>>> {
        Ok(Vec::new())
    }
}

/// A file that is being written; there is none.
pub(super) struct ColumnsWriter;

impl ColumnsWriter {
    pub(super) fn create(path: &Path, _: Form, _: &str) -> Result<Self> {
        missing(path)
    }

    pub(super) fn write(&mut self, _: &Offered, _: usize, _: (Option<f64>, f64), _: Option<f64>) -> Result<()> {
        Ok(())
    }

    pub(super) fn finish(&mut self) -> Result<()> {
        Ok(())
    }
}
