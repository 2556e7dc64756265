//! A table of a TOML file that knows on which line everything stands, so that every mistake is named with its line.

use std::path::Path;

use reluctant::params::{Initial, Kind, Param, Params};
use reluctant::{Error, Settings, Value};
use toml::de::{DeTable, DeValue};

use crate::error::{Result, ServeError};

/// The text that is read, and the name of its file.
#[derive(Clone, Copy)]
pub(super) struct Source<'a> {
    pub(super) text: &'a str,
    pub(super) path: &'a Path,
}

impl Source<'_> {
    pub(super) fn wrong(&self, at: Option<usize>, message: impl ToString) -> ServeError {
        let line = at.map(|at| self.text[..at.min(self.text.len())].matches('\n').count() + 1);
        ServeError::Config { file: self.path.to_owned(), line, message: message.to_string() }
    }
}

/// A table, and where it begins.
#[derive(Clone, Copy)]
pub(super) struct Table<'a> {
    pub(super) source: Source<'a>,
    pub(super) entries: &'a DeTable<'a>,
    pub(super) at: usize,
    /// What it is called in errors.
    pub(super) owner: &'static str,
}

impl<'a> Table<'a> {
    /// The place of a key, or of the table if it has none.
    pub(super) fn place(&self, key: &str) -> Option<usize> {
        let found = self.entries.iter().find(|(found, _)| found.get_ref().as_ref() == key);
        Some(found.map_or(self.at, |(found, _)| found.span().start))
    }

    pub(super) fn wrong(&self, key: &str, message: impl ToString) -> ServeError {
        self.source.wrong(self.place(key), message)
    }

    /// An error at the line of the parameter that it is about.
    pub(super) fn misfit(&self, cause: &Error) -> ServeError {
        let name = match cause {
            Error::OutOfRange { name, .. } => name.as_ref(),
            Error::WrongType { name, .. } | Error::Unknown { name, .. } => name.as_str(),
            _ => "",
        };
        self.wrong(name, cause)
    }

    pub(super) fn known_keys(&self, known: &[&str]) -> Result<()> {
        for (key, _) in self.entries.iter() {
            let name = key.get_ref().as_ref();
            if !known.contains(&name) {
                let cause = Error::unknown(format!("key of {}", self.owner), name, known.iter().copied());
                return Err(self.source.wrong(Some(key.span().start), cause));
            }
        }
        Ok(())
    }

    pub(super) fn text(&self, key: &str) -> Result<Option<String>> {
        let Some(value) = self.entries.get(key) else { return Ok(None) };
        match value.get_ref().as_str() {
            Some(text) if !text.trim().is_empty() => Ok(Some(text.to_owned())),
            Some(_) => Err(self.wrong(key, format!("{key} is empty: give it some text"))),
            None => Err(self.wrong(key, format!("{key} must be text in quotes, not {}", kind_of(value.get_ref())))),
        }
    }

    pub(super) fn required_text(&self, key: &str, what: &str) -> Result<String> {
        self.text(key)?.ok_or_else(|| self.source.wrong(Some(self.at), format!("{key} is missing: {what}")))
    }

    /// A list of texts; one text is a list of one.
    pub(super) fn texts(&self, key: &str) -> Result<Vec<String>> {
        let Some(value) = self.entries.get(key) else { return Ok(Vec::new()) };
        let Some(list) = value.get_ref().as_array() else { return Ok(self.text(key)?.into_iter().collect()) };
        let text = |entry: &DeValue<'_>| entry.as_str().map(str::to_owned);
        list.iter()
            .map(|entry| {
                let refused = || self.wrong(key, format!("{key} must be a list of texts in quotes"));
                text(entry.get_ref()).ok_or_else(refused)
            })
            .collect()
    }

    pub(super) fn count(&self, key: &'static str, min: u64, max: u64) -> Result<Option<u64>> {
        self.checked(key, Kind::Count { min, max }, |params| params.count(key))
    }

    pub(super) fn real(&self, key: &'static str, kind: Kind) -> Result<Option<f64>> {
        self.checked(key, kind, |params| params.real(key))
    }

    pub(super) fn flag(&self, key: &'static str) -> Result<Option<bool>> {
        self.checked(key, Kind::Flag, |params| params.flag(key))
    }

    fn checked<T>(
        &self,
        key: &'static str,
        kind: Kind,
        read: impl Fn(&Params) -> reluctant::Result<T>,
    ) -> Result<Option<T>> {
        let Some(value) = self.entries.get(key) else { return Ok(None) };
        let table = [Param::new(key, Initial::Required, kind, "")];
        let given = Settings::new().with(key, self.value(key, value.get_ref())?);
        let checked = Params::resolve(self.owner, &table, &given).and_then(|params| read(&params));
        checked.map(Some).map_err(|cause| self.wrong(key, cause))
    }

    /// A number, a truth value or a text.
    pub(super) fn value(&self, key: &str, value: &DeValue<'_>) -> Result<Value> {
        match value {
            DeValue::String(text) => Ok(Value::from(text.as_ref())),
            DeValue::Boolean(flag) => Ok(Value::from(*flag)),
            DeValue::Integer(integer) => {
                let digits: String = integer.as_str().replace('_', "");
                let digits = digits.strip_prefix('+').unwrap_or(&digits);
                let count = u64::from_str_radix(digits, integer.radix()).map(Value::Count);
                count
                    .or_else(|_| digits.parse().map(Value::Real))
                    .map_err(|_| self.wrong(key, format!("{key} is not a number that can be read")))
            }
            DeValue::Float(float) => {
                let digits = float.as_str().replace('_', "");
                let number = digits.parse().map(Value::Real);
                number.map_err(|_| self.wrong(key, format!("{key} is not a number that can be read")))
            }
            other => Err(self.wrong(key, format!("{key} must be one value, not {}", kind_of(other)))),
        }
    }

    /// A table within.
    pub(super) fn table(&self, key: &str, owner: &'static str) -> Result<Option<Table<'a>>> {
        let Some(value) = self.entries.get(key) else { return Ok(None) };
        let Some(entries) = value.get_ref().as_table() else {
            return Err(self.wrong(key, format!("{key} must be a table, [{key}]")));
        };
        Ok(Some(Table { source: self.source, entries, at: value.span().start, owner }))
    }

    /// Tables of one name.
    pub(super) fn tables(&self, key: &str, owner: &'static str) -> Result<Vec<Table<'a>>> {
        let Some(value) = self.entries.get(key) else { return Ok(Vec::new()) };
        let refused = || self.wrong(key, format!("{key} must be written [[{key}]], once for each"));
        let list = value.get_ref().as_array().ok_or_else(refused)?;
        list.iter()
            .map(|entry| {
                let entries = entry.get_ref().as_table().ok_or_else(refused)?;
                Ok(Table { source: self.source, entries, at: entry.span().start, owner })
            })
            .collect()
    }
}

fn kind_of(value: &DeValue<'_>) -> &'static str {
    match value {
        DeValue::String(_) => "text",
        DeValue::Integer(_) => "an integer",
        DeValue::Float(_) => "a float",
        DeValue::Boolean(_) => "true or false",
        DeValue::Datetime(_) => "a date",
        DeValue::Array(_) => "a list",
        DeValue::Table(_) => "a table",
    }
}
