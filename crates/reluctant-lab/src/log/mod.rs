//! Logs: what was on offer, what was chosen with which probability, and what came of it.
//!
//! A log is a file with a round a line, JSON lines or CSV, described in `docs/logs.md`. [`Writer`] writes one,
//! [`read`] goes through one
//! in pieces, so that its length does not matter, and hands out each round once its reward is known. Every
//! mistake is named with its line.

mod csv_lines;
mod json_lines;
mod line;
mod offered;
mod read;
mod record;
mod write;

pub use offered::Offered;
pub use read::{Read, read};
pub use record::Record;
pub use write::{Logged, Writer};

/// Which of the two forms a file has: its name says so, with `.gz` behind it or not.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// A JSON object a line.
    JsonLines,
    /// A header, and a record a line.
    Csv,
}

impl Form {
    /// The form of a file with this name: CSV if it ends in `.csv` or `.csv.gz`, else JSON lines.
    pub fn of(path: &std::path::Path) -> Self {
        let name = path.file_name().map(|name| name.to_string_lossy().to_lowercase()).unwrap_or_default();
        let name = name.strip_suffix(".gz").unwrap_or(&name);
        if name.ends_with(".csv") { Form::Csv } else { Form::JsonLines }
    }
}
