//! A line of a log as CSV: contexts in the columns x1, x2, …, or their ids in the column context, the names on offer in
//! one column with bars between them.

use std::sync::Arc;

use csv::StringRecord;
use reluctant::Name;

use super::line::{Given, Line};

/// Stands between the names of actions in a field.
pub(super) const BAR: char = '|';

/// The columns besides the context, as they are written.
pub(super) const COLUMNS: [&str; 9] =
    ["time", "event", "actions", "chosen", "propensity", "propensity_error", "reward", "policy", "version"];

/// Where the columns stand.
#[derive(Debug, Clone)]
pub(super) struct Header {
    event: Option<usize>,
    actions: usize,
    chosen: usize,
    propensity: Option<usize>,
    propensity_error: Option<usize>,
    reward: Option<usize>,
    context: Vec<usize>,
    context_id: Option<usize>,
    features_file: Option<usize>,
    pub(super) width: usize,
}

impl Header {
    /// Finds the columns, or says which is missing.
    pub(super) fn of(names: &StringRecord) -> Result<Self, String> {
        let find = |name: &str| names.iter().position(|found| found.trim() == name);
        let need = |name: &str| {
            let found: Vec<&str> = names.iter().collect();
            find(name).ok_or_else(|| {
                format!("there is no column '{name}', which a log needs; there are {}", found.join(", "))
            })
        };
        let context: Vec<usize> = (1..).map_while(|i| find(&format!("x{i}"))).collect();
        let context_id = find("context").filter(|_| context.is_empty());
        if context.is_empty() && context_id.is_none() {
            need("x1")?;
        }
        Ok(Header {
            event: find("event"),
            actions: need("actions")?,
            chosen: need("chosen")?,
            propensity: find("propensity"),
            propensity_error: find("propensity_error"),
            reward: find("reward"),
            context,
            context_id,
            features_file: find("features_file"),
            width: names.len(),
        })
    }

    /// Reads a record. `names` are those of an earlier one, shared if this one has the same.
    pub(super) fn parse(&self, record: &StringRecord, names: &Arc<[Name]>) -> Result<Line, String> {
        if record.len() != self.width {
            return Err(format!("this line has {} fields, and the header has {}", record.len(), self.width));
        }
        let text = |at: usize| Some(record[at].trim()).filter(|text| !text.is_empty());
        let number = |at: Option<usize>, name: &str| match at.and_then(text) {
            None => Ok(None),
            Some(text) => text.parse().map(Some).map_err(|_| format!("{name} is '{text}', which is not a number")),
        };
        let chosen = text(self.chosen).map(str::to_owned);
        let mut context = Vec::with_capacity(self.context.len());
        for (i, at) in self.context.iter().enumerate().filter(|_| chosen.is_some()) {
            context.push(number(Some(*at), &format!("x{}", i + 1))?.ok_or_else(|| format!("x{} is empty", i + 1))?);
        }
        Ok(Line {
            event: self.event.and_then(text).map(str::to_owned),
            features_file: self.features_file.and_then(text).map(str::to_owned),
            context: match self.context_id {
                Some(at) => text(at).map(|id| Given::Id(id.to_owned())),
                None => chosen.is_some().then_some(Given::Numbers(context)),
            },
            actions: text(self.actions).map(|field| shared(field, names)),
            chosen,
            propensity: number(self.propensity, "the propensity")?,
            propensity_error: number(self.propensity_error, "propensity_error")?,
            reward: number(self.reward, "the reward")?,
            ..Line::default()
        })
    }
}

fn shared(field: &str, names: &Arc<[Name]>) -> Arc<[Name]> {
    let found = || field.split(BAR).map(str::trim);
    let same = found().count() == names.len() && found().zip(names.iter()).all(|(a, b)| a == &**b);
    if same { Arc::clone(names) } else { found().map(Name::from).collect() }
}
