//! Files that are read, and standard input in their place.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use reluctant_lab::LabError;

/// Whether a path means standard input.
fn is_standard(path: &Path) -> bool {
    path.as_os_str() == "-"
}

/// What errors call it.
pub(crate) fn named(path: &Path) -> PathBuf {
    if is_standard(path) { PathBuf::from("standard input") } else { path.to_owned() }
}

/// The file at `path`, or standard input if it is "-".
pub(crate) fn open(path: &Path) -> Result<Box<dyn Read>, LabError> {
    if is_standard(path) {
        return Ok(Box::new(std::io::stdin().lock()));
    }
    let io = |source: std::io::Error| LabError::Io { action: "read", path: path.to_owned(), source };
    Ok(Box::new(File::open(path).map_err(io)?))
}

/// Everything in it, as text.
pub(crate) fn text(path: &Path) -> Result<String, LabError> {
    let mut text = String::new();
    open(path)?.read_to_string(&mut text).map_err(|source| LabError::Io {
        action: "read",
        path: named(path),
        source,
    })?;
    Ok(text)
}
