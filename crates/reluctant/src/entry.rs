//! What rows of the two registries have in common: a name, a table of parameters, and how one is found.

use crate::error::{Error, Result};
use crate::params::Param;

/// A row of a registry.
pub trait Row {
    /// What kind of thing it describes, such as "policy".
    const KIND: &'static str;

    /// Its name in TOML, on the command line and in Python.
    fn name(&self) -> &'static str;

    /// What it is, in one line.
    fn summary(&self) -> &'static str;

    /// Where it comes from.
    fn citation(&self) -> &'static str;

    /// Its parameters.
    fn params(&self) -> &'static [Param];
}

/// The row of `rows` with this name, or an error that suggests the nearest name.
pub fn find<'r, R: Row>(rows: &'r [R], name: &str) -> Result<&'r R> {
    rows.iter().find(|row| row.name() == name).ok_or_else(|| Error::unknown(R::KIND, name, rows.iter().map(Row::name)))
}
