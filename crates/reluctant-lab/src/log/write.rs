//! Writes a log.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use super::columns::ColumnsWriter;
use super::csv_lines::{BAR, COLUMNS};
use super::json_lines::{Written, WrittenOffer};
use super::{Form, Offered};
use crate::error::{LabError, Result};

/// A log that is being written.
#[derive(Debug)]
pub struct Writer {
    path: PathBuf,
    policy: String,
    out: Out,
    time: u64,
}

enum Out {
    Json(BufWriter<File>),
    Csv { out: Box<csv::Writer<File>>, dim: Option<usize> },
    Columns(Box<ColumnsWriter>),
}

impl std::fmt::Debug for Out {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Out::Json(_) => "JSON lines",
            Out::Csv { .. } => "CSV",
            Out::Columns(_) => "columns",
        })
    }
}

impl Writer {
    /// Begins a log of the choices of the policy with this name, in the form that the path's ending says.
    pub fn create(path: &Path, policy: &str) -> Result<Self> {
        let file = || File::create(path).map_err(LabError::io("write", path));
        let out = match Form::of(path) {
            Form::JsonLines => Out::Json(BufWriter::new(file()?)),
            Form::Csv => Out::Csv { out: Box::new(csv::Writer::from_writer(file()?)), dim: None },
            form => Out::Columns(Box::new(ColumnsWriter::create(path, form, policy)?)),
        };
        Ok(Writer { path: path.to_owned(), policy: policy.to_owned(), out, time: 0 })
    }

    /// Writes a round: what was on offer, the place of what was chosen, the probability (of a point that chance chose
    /// on the sphere the density) and its standard error, and the reward if it has come.
    pub fn write(
        &mut self,
        offer: &Offered,
        chosen: usize,
        (propensity, propensity_error): (Option<f64>, f64),
        reward: Option<f64>,
    ) -> Result<()> {
        self.time += 1;
        let event = self.time.to_string();
        let (path, version) = (&self.path, env!("CARGO_PKG_VERSION"));
        let dense = matches!(offer, Offered::Sphere { by_chance: true, .. });
        match &mut self.out {
            Out::Json(out) => {
                let line = Written {
                    time: self.time,
                    event: &event,
                    offer: WrittenOffer::of(offer, chosen),
                    propensity: propensity.filter(|_| !dense),
                    density: propensity.filter(|_| dense),
                    propensity_error,
                    reward,
                    policy: &self.policy,
                    version,
                };
                let line = serde_json::to_string(&line).map_err(|cause| LabError::io("write", path)(cause.into()))?;
                writeln!(out, "{line}").map_err(LabError::io("write", path))
            }
            Out::Csv { out, dim } => {
                let Offered::Context { x, names, features } = offer else { return Err(not_in_csv(path)) };
                if !features.is_empty() || names.iter().any(|name| name.contains(BAR)) {
                    return Err(not_in_csv(path));
                }
                let in_csv = |cause: csv::Error| LabError::io("write", path)(cause.into());
                if dim.replace(x.len()).is_none() {
                    let context = (1..=x.len()).map(|i| format!("x{i}"));
                    let header: Vec<String> = COLUMNS.iter().map(|name| (*name).to_owned()).chain(context).collect();
                    out.write_record(header).map_err(in_csv)?;
                }
                let number = |x: Option<f64>| x.map_or(String::new(), |x| x.to_string());
                let actions: Vec<&str> = names.iter().map(|name| &**name).collect();
                let fixed = [
                    event.clone(),
                    event,
                    actions.join(&BAR.to_string()),
                    names[chosen].to_string(),
                    number(propensity),
                    propensity_error.to_string(),
                    number(reward),
                    self.policy.clone(),
                    version.to_owned(),
                ];
                let record: Vec<String> = fixed.into_iter().chain(x.iter().map(f64::to_string)).collect();
                out.write_record(record).map_err(in_csv)
            }
            Out::Columns(out) => out.write(offer, chosen, (propensity, propensity_error), reward),
        }
    }

    /// Puts on the disk what was written, and ends the log.
    pub fn finish(&mut self) -> Result<()> {
        let flushed = match &mut self.out {
            Out::Json(out) => out.flush(),
            Out::Csv { out, .. } => out.flush(),
            Out::Columns(out) => return out.finish(),
        };
        flushed.map_err(LabError::io("write", &self.path))
    }
}

fn not_in_csv(path: &Path) -> LabError {
    let message = format!(
        "a log in CSV holds contexts with actions that have no features and no '{BAR}' in their names; give it a \
         name that ends in .jsonl"
    );
    LabError::Input { file: path.to_owned(), line: None, message }
}
