//! Tables of finite numbers from CSV files.

use std::io::Cursor;
use std::path::Path;

use reluctant_lab::LabError;

use super::input;

/// A table without its header.
pub(crate) struct Numbers {
    /// Numbers in a row.
    pub(crate) columns: usize,
    /// All numbers, row after row.
    pub(crate) values: Vec<f64>,
    /// The line of each row, from 1.
    pub(crate) lines: Vec<usize>,
}

pub(crate) fn wrong(path: &Path, line: Option<usize>, message: String) -> LabError {
    LabError::Input { file: input::named(path), line, message }
}

/// A reader of records that may have any length, and the error of whatever goes wrong in one.
pub(crate) fn open(path: &Path) -> Result<csv::Reader<Cursor<Vec<u8>>>, LabError> {
    let mut bytes = Vec::new();
    let read = input::open(path)?.read_to_end(&mut bytes);
    read.map_err(|source| LabError::Io { action: "read", path: input::named(path), source })?;
    let file = Cursor::new(with_plain_ends(&bytes));
    Ok(csv::ReaderBuilder::new().trim(csv::Trim::All).flexible(true).has_headers(false).from_reader(file))
}

/// The same with one character at the end of each line. Where there are two, the reader takes the second for the
/// beginning of the next line, and says a number of a line that is one too low.
fn with_plain_ends(bytes: &[u8]) -> Vec<u8> {
    let is_extra = |at: usize| bytes[at] == b'\r' && bytes.get(at + 1) == Some(&b'\n');
    (0..bytes.len()).filter(|&at| !is_extra(at)).map(|at| bytes[at]).collect()
}

/// What the CSV reader found wrong, as one sentence.
pub(crate) fn in_csv(path: &Path) -> impl Fn(csv::Error) -> LabError + '_ {
    |cause| {
        let line = cause.position().map(|at| at.line() as usize);
        match cause.into_kind() {
            csv::ErrorKind::Io(source) => LabError::Io { action: "read", path: input::named(path), source },
            csv::ErrorKind::Utf8 { err, .. } => wrong(path, line, format!("this is not text: {err}")),
            other => wrong(path, line, format!("this is not CSV: {other:?}")),
        }
    }
}

/// A number of things, in words.
pub(crate) fn counted(count: usize, thing: &str) -> String {
    format!("{count} {thing}{}", if count == 1 { "" } else { "s" })
}

/// A number within the limits, or the sentence that it is not one; `name` says which it should be.
pub(crate) fn finite(path: &Path, line: Option<usize>, name: &str, field: &str) -> Result<f64, LabError> {
    let number = field.parse::<f64>().ok().filter(|x| x.abs() <= reluctant::limits::LIMIT);
    number.ok_or_else(|| {
        wrong(path, line, format!("{name} must be a finite number of at most 1e100 in size, not '{field}'"))
    })
}

/// Reads rows of equal length; a first row whose first field is not a number is a header and is skipped.
pub(crate) fn read(path: &Path) -> Result<Numbers, LabError> {
    let mut table = Numbers { columns: 0, values: Vec::new(), lines: Vec::new() };
    for (i, record) in open(path)?.records().enumerate() {
        let record = record.map_err(in_csv(path))?;
        let line = record.position().map(|at| at.line() as usize);
        if i == 0 && record.get(0).is_some_and(|field| field.parse::<f64>().is_err()) {
            continue;
        }
        if table.columns == 0 {
            table.columns = record.len();
        }
        if record.len() != table.columns {
            let message =
                format!("this row has {}, but the first has {}", counted(record.len(), "number"), table.columns);
            return Err(wrong(path, line, message));
        }
        for (j, field) in record.iter().enumerate() {
            table.values.push(finite(path, line, &format!("number {}", j + 1), field)?);
        }
        table.lines.push(line.unwrap_or(i + 1));
    }
    if table.lines.is_empty() {
        return Err(wrong(path, None, "there are no rows of numbers".to_owned()));
    }
    Ok(table)
}
