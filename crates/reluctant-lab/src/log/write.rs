//! Writes a log, and lets a policy write one while it plays.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use reluctant::policy::Explanation;
use reluctant::{Action, Choice, Error, Key, Offer, Policy, Result as CoreResult, Round, Scratch, Snapshot, Space};

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
}

impl std::fmt::Debug for Out {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(if matches!(self, Out::Json(_)) { "JSON lines" } else { "CSV" })
    }
}

impl Writer {
    /// Begins a log of the choices of the policy with this name, in the form that the path's ending says.
    pub fn create(path: &Path, policy: &str) -> Result<Self> {
        let file = File::create(path).map_err(LabError::io("write", path))?;
        let out = match Form::of(path) {
            Form::JsonLines => Out::Json(BufWriter::new(file)),
            Form::Csv => Out::Csv { out: Box::new(csv::Writer::from_writer(file)), dim: None },
        };
        Ok(Writer { path: path.to_owned(), policy: policy.to_owned(), out, time: 0 })
    }

    /// Writes a round: what was on offer, the place of what was chosen, the probability and its standard
    /// error, and the reward if it
    /// has come.
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
        match &mut self.out {
            Out::Json(out) => {
                let line = Written {
                    time: self.time,
                    event: &event,
                    offer: WrittenOffer::of(offer, chosen),
                    propensity,
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
        }
    }

    /// Puts on the disk what was written.
    pub fn flush(&mut self) -> Result<()> {
        let flushed = match &mut self.out {
            Out::Json(out) => out.flush(),
            Out::Csv { out, .. } => out.flush(),
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

/// A policy that writes its choices into a log, each with its probability, once it learns what came of them.
#[derive(Debug)]
pub struct Logged<P> {
    policy: P,
    writer: Mutex<Writer>,
    /// The choice whose reward has not come yet.
    last: Mutex<Option<Last>>,
}

#[derive(Debug)]
struct Last {
    offer: Offered,
    chosen: usize,
    propensity: (Option<f64>, f64),
}

impl<P: Policy> Logged<P> {
    /// The policy with a log that is written as it learns.
    pub fn new(policy: P, writer: Writer) -> Self {
        Logged { policy, writer: Mutex::new(writer), last: Mutex::new(None) }
    }

    /// The policy within.
    pub fn inner(&self) -> &P {
        &self.policy
    }

    /// Puts on the disk what was written.
    pub fn flush(&self) -> Result<()> {
        lock(&self.writer).flush()
    }

    fn note<'a>(
        &self,
        offer: Offer<'_>,
        choice: Choice<'a>,
        key: Key,
        scratch: &mut Scratch,
    ) -> CoreResult<Choice<'a>> {
        let policy: &dyn Policy = &self.policy;
        let choice = policy.with_propensity(offer, choice, key.branch("propensity"), scratch)?;
        let (Some(chosen), Some(offer)) = (choice.index, Offered::of(offer)) else {
            return Err(Error::Environment("a log needs finitely many actions, and the sphere has more".to_owned()));
        };
        *lock(&self.last) = Some(Last { offer, chosen, propensity: (choice.propensity, choice.propensity_error) });
        Ok(choice)
    }
}

/// A poisoned lock only means that another thread failed; what it guards is whole.
fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}

impl<P: Policy> Policy for Logged<P> {
    fn name(&self) -> &'static str {
        self.policy.name()
    }

    fn dim(&self) -> usize {
        self.policy.dim()
    }

    fn space(&self) -> Space {
        self.policy.space()
    }

    fn select<'a>(&self, offer: Offer<'a>, key: Key, scratch: &mut Scratch) -> CoreResult<Choice<'a>> {
        let choice = self.policy.select(offer, key, scratch)?;
        self.note(offer, choice, key, scratch)
    }

    fn select_in<'a>(&self, round: &Round<'a>, key: Key, scratch: &mut Scratch) -> CoreResult<Choice<'a>> {
        let choice = self.policy.select_in(round, key, scratch)?;
        self.note(round.offer, choice, key, scratch)
    }

    fn probabilities(&self, offer: Offer<'_>, scratch: &mut Scratch, out: &mut Vec<f64>) -> CoreResult<bool> {
        self.policy.probabilities(offer, scratch, out)
    }

    fn draws_normally(&self) -> bool {
        self.policy.draws_normally()
    }

    fn learn(&mut self, action: Action<'_>, reward: f64) -> CoreResult<()> {
        if let Some(Last { offer, chosen, propensity }) = lock(&self.last).take() {
            let written = lock(&self.writer).write(&offer, chosen, propensity, Some(reward));
            written.map_err(|cause| Error::Environment(cause.to_string()))?;
        }
        self.policy.learn(action, reward)
    }

    fn score(&self, offer: Offer<'_>, scratch: &mut Scratch) -> CoreResult<()> {
        self.policy.score(offer, scratch)
    }

    fn exploring(&self) -> bool {
        self.policy.exploring()
    }

    fn needs_finite_arms(&self) -> bool {
        self.policy.needs_finite_arms()
    }

    fn explanation(&self, action: Action<'_>) -> CoreResult<Explanation> {
        self.policy.explanation(action)
    }

    fn snapshot(&self) -> CoreResult<Snapshot> {
        self.policy.snapshot()
    }
}
