//! Logs: what was on offer, what was chosen with which probability, and what came of it.
//!
//! A log is a file with a round a line, JSON lines or CSV, or with the feature `arrow` a row of a Parquet or Arrow
//! file, described in `docs/logs.md`. [`Writer`] writes one, [`read`] goes through one in pieces, so that its length
//! does not matter, and hands out each round once its reward is known. Every mistake is named with its line.

mod assembly;
mod catalogue;
#[cfg(feature = "arrow")]
mod columns;
#[cfg(not(feature = "arrow"))]
#[path = "no_columns.rs"]
mod columns;
mod csv_lines;
mod json_lines;
mod line;
mod logged;
mod noticed;
mod offered;
mod read;
mod record;
mod write;

pub use logged::Logged;
pub use noticed::Read;
pub use offered::Offered;
pub use read::{first, read};
pub use record::Record;
pub use write::Writer;

/// Which form a file has: its name says so; that of lines may have `.gz` behind it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Form {
    /// A JSON object a line.
    JsonLines,
    /// A header, and a record a line.
    Csv,
    /// Columns; only with the feature `arrow`.
    Parquet,
    /// Columns, as Arrow IPC; only with the feature `arrow`.
    Arrow,
}

impl Form {
    /// All of them.
    pub const ALL: [Form; 4] = [Form::JsonLines, Form::Csv, Form::Parquet, Form::Arrow];

    /// How the name of a file of this form ends.
    pub fn ending(self) -> &'static str {
        match self {
            Form::JsonLines => "jsonl",
            Form::Csv => "csv",
            Form::Parquet => "parquet",
            Form::Arrow => "arrow",
        }
    }

    /// The form of a file with this name; JSON lines, unless its ending says something else.
    pub fn of(path: &std::path::Path) -> Self {
        let name = path.file_name().map(|name| name.to_string_lossy().to_lowercase()).unwrap_or_default();
        let name = name.strip_suffix(".gz").unwrap_or(&name);
        let ending = name.rsplit_once('.').map_or("", |(_, ending)| ending);
        Form::ALL.into_iter().find(|form| form.ending() == ending).unwrap_or(Form::JsonLines)
    }
}
