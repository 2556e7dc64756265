//! Parameters as data: a table of [`Param`]s drives parsing, range checks, help, documentation and tests.
//!
//! A user gives [`Settings`] (names and values, unchecked). [`Params::resolve`] checks them against a table: unknown
//! names, wrong types and values out of range become one clear error; what is not given takes its default.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};

/// The value of a parameter.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Value<Text = String> {
    /// true or false.
    Flag(bool),
    /// A whole number.
    Count(u64),
    /// A real number.
    Real(f64),
    /// A word or a text.
    Word(Text),
}

/// A [`Value`] that can stand in a constant.
pub type Literal = Value<&'static str>;

impl<Text: fmt::Display> Value<Text> {
    fn type_name(&self) -> String {
        match self {
            Value::Flag(value) => format!("the truth value {value}"),
            Value::Count(value) => format!("the whole number {value}"),
            Value::Real(value) => format!("the number {value}"),
            Value::Word(value) => format!("the text '{value}'"),
        }
    }
}

impl<Text: fmt::Display> fmt::Display for Value<Text> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Value::Flag(value) => value.fmt(f),
            Value::Count(value) => value.fmt(f),
            // Short for people: 0.0001 as 1e-4, 0.1 as 0.1.
            Value::Real(value) if *value != 0.0 && !(1e-3..1e6).contains(&value.abs()) => write!(f, "{value:e}"),
            Value::Real(value) => value.fmt(f),
            Value::Word(value) => value.fmt(f),
        }
    }
}

impl From<Literal> for Value {
    fn from(literal: Literal) -> Self {
        match literal {
            Value::Flag(flag) => Value::Flag(flag),
            Value::Count(count) => Value::Count(count),
            Value::Real(real) => Value::Real(real),
            Value::Word(word) => Value::Word(word.to_owned()),
        }
    }
}

impl From<bool> for Value {
    fn from(value: bool) -> Self {
        Value::Flag(value)
    }
}
impl From<u64> for Value {
    fn from(value: u64) -> Self {
        Value::Count(value)
    }
}
impl From<f64> for Value {
    fn from(value: f64) -> Self {
        Value::Real(value)
    }
}
impl From<&str> for Value {
    fn from(value: &str) -> Self {
        Value::Word(value.to_owned())
    }
}

/// What a user gives: names and values, not yet checked.
///
/// ```
/// use reluctant::{Key, Settings, policy};
///
/// let settings = Settings::new().with("features", "constant").with("lambda", 0.1);
/// assert!(policy::build("oful", 2, &settings, Key::new(1)).is_ok());
///
/// // What is wrong is said in one sentence when a policy is made from it.
/// let wrong = policy::build("oful", 2, &settings.with("lambda", -1.0), Key::new(1)).unwrap_err();
/// assert!(wrong.to_string().contains("lambda"));
/// ```
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Settings(BTreeMap<String, Value>);

impl Settings {
    /// Nothing given: every parameter at its default.
    pub fn new() -> Self {
        Self::default()
    }

    /// The same settings with one more; a later value replaces an earlier one.
    #[must_use]
    pub fn with(mut self, name: &str, value: impl Into<Value>) -> Self {
        self.set(name, value);
        self
    }

    /// Sets `name` to `value`.
    pub fn set(&mut self, name: &str, value: impl Into<Value>) {
        self.0.insert(name.to_owned(), value.into());
    }

    /// The value given for `name`.
    pub fn get(&self, name: &str) -> Option<&Value> {
        self.0.get(name)
    }

    /// Those whose names are wanted.
    #[must_use]
    pub fn only(mut self, wanted: impl Fn(&str) -> bool) -> Self {
        self.0.retain(|name, _| wanted(name));
        self
    }

    /// Names and values in alphabetical order.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Value)> {
        self.0.iter().map(|(name, value)| (name.as_str(), value))
    }
}

impl<const N: usize> From<[(&str, Value); N]> for Settings {
    fn from(pairs: [(&str, Value); N]) -> Self {
        Settings(pairs.into_iter().map(|(name, value)| (name.to_owned(), value)).collect())
    }
}

/// The smallest positive parameter, and the greatest.
const TINY: f64 = 1e-50;
const HUGE: f64 = 1e50;

/// Which values a parameter may take.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Kind {
    /// A real number between `min` and `max`; `above` excludes `min` itself and `below` excludes `max`.
    Real {
        /// The least value.
        min: f64,
        /// The greatest value.
        max: f64,
        /// Whether `min` itself is excluded.
        above: bool,
        /// Whether `max` itself is excluded.
        below: bool,
    },
    /// A whole number from `min` to `max`.
    Count {
        /// The least value.
        min: u64,
        /// The greatest value.
        max: u64,
    },
    /// true or false.
    Flag,
    /// One of these words.
    Word(&'static [&'static str]),
    /// A text; the words say of what, such as "names of columns, with commas between them".
    Text(&'static str),
    /// The path of a file.
    Path,
}

impl Kind {
    /// A positive number whose square and reciprocal are finite with room to spare.
    pub const POSITIVE: Kind = Kind::Real { min: TINY, max: HUGE, above: false, below: false };
    /// A number that is not negative, and not enormous.
    pub const NOT_NEGATIVE: Kind = Kind::Real { min: 0.0, max: HUGE, above: false, below: false };
    /// Any number that is not enormous.
    pub const ANY: Kind = Kind::Real { min: -HUGE, max: HUGE, above: false, below: false };
    /// A probability, 0 and 1 excluded.
    pub const PROBABILITY: Kind = Kind::Real { min: 0.0, max: 1.0, above: true, below: true };

    /// What is allowed, in words.
    fn allowed(&self) -> String {
        match *self {
            Kind::Real { min, max, above, below } => {
                let low = format!("{} {min}", if above { "greater than" } else { "at least" });
                let high = format!("{} {max}", if below { "less than" } else { "at most" });
                match (min, max) {
                    (TINY, _) => "a number greater than 0 (from 1e-50 to 1e50)".to_owned(),
                    (_, HUGE) if min == -HUGE => "a number from -1e50 to 1e50".to_owned(),
                    (_, HUGE) => format!("a number {low} (and at most 1e50)"),
                    _ => format!("a number {low} and {high}"),
                }
            }
            Kind::Count { min, max: u64::MAX } => format!("a whole number, at least {min}"),
            Kind::Count { min, max } => format!("a whole number from {min} to {max}"),
            Kind::Flag => "true or false".to_owned(),
            Kind::Word(words) => format!("one of {}", words.join(", ")),
            Kind::Text(what) => format!("a text: {what}"),
            Kind::Path => "the path of a file".to_owned(),
        }
    }

    /// `value` in the type of this kind, or why it is not allowed; `allowed` is what the error says is.
    fn check(&self, name: &str, value: &Value, allowed: &str) -> Result<Value> {
        let wrong_type =
            || Error::WrongType { name: name.to_owned(), expected: allowed.to_owned(), found: value.type_name() };
        let out_of_range = || Error::out_of_range(name.to_owned(), value, allowed);
        match (*self, value) {
            (Kind::Real { min, max, above, below }, Value::Real(_) | Value::Count(_)) => {
                let x = match value {
                    Value::Count(n) => *n as f64,
                    Value::Real(x) => *x,
                    _ => return Err(wrong_type()),
                };
                let low = if above { x > min } else { x >= min };
                let high = if below { x < max } else { x <= max };
                if low && high { Ok(Value::Real(x)) } else { Err(out_of_range()) }
            }
            (Kind::Count { min, max }, Value::Count(n)) => {
                if (min..=max).contains(n) {
                    Ok(Value::Count(*n))
                } else {
                    Err(out_of_range())
                }
            }
            // -3 or 2.5 where a count is needed is a matter of range; a huge float such as 1e6 is a whole number.
            (Kind::Count { .. }, Value::Real(x))
                if x.fract() == 0.0 && (0.0..18_446_744_073_709_551_616.0).contains(x) =>
            {
                self.check(name, &Value::Count(*x as u64), allowed)
            }
            (Kind::Count { .. }, Value::Real(_)) => Err(out_of_range()),
            (Kind::Flag, Value::Flag(_)) => Ok(value.clone()),
            (Kind::Word(words), Value::Word(word)) => {
                if words.contains(&word.as_str()) {
                    Ok(value.clone())
                } else {
                    Err(out_of_range())
                }
            }
            // A list of one number, or a column whose name is one.
            (Kind::Text(_), Value::Count(_) | Value::Real(_)) => Ok(Value::Word(value.to_string())),
            (Kind::Text(_) | Kind::Path, Value::Word(text)) => {
                if text.trim().is_empty() {
                    Err(out_of_range())
                } else {
                    Ok(value.clone())
                }
            }
            _ => Err(wrong_type()),
        }
    }
}

/// The word for a parameter that shall be computed: in an experiment it is then not taken from the environment either.
pub const AUTO: &str = "auto";

/// What a parameter is when it is not given.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Initial {
    /// This value.
    Is(Literal),
    /// Computed; the text says how.
    Auto(&'static str),
    /// It must be given.
    Required,
}

impl Initial {
    /// This real number.
    pub const fn real(x: f64) -> Self {
        Initial::Is(Value::Real(x))
    }

    /// This whole number.
    pub const fn count(n: u64) -> Self {
        Initial::Is(Value::Count(n))
    }

    /// This truth value.
    pub const fn flag(b: bool) -> Self {
        Initial::Is(Value::Flag(b))
    }

    /// This word.
    pub const fn word(w: &'static str) -> Self {
        Initial::Is(Value::Word(w))
    }

    pub(crate) fn value(&self) -> Option<Value> {
        match *self {
            Initial::Is(literal) => Some(literal.into()),
            Initial::Auto(_) | Initial::Required => None,
        }
    }
}

impl fmt::Display for Initial {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Initial::Is(literal) => literal.fmt(f),
            Initial::Auto(how) => f.write_str(how),
            Initial::Required => f.write_str("required"),
        }
    }
}

/// One row of a parameter table.
#[derive(Debug, Clone, Copy)]
pub struct Param {
    /// Its name in TOML, on the command line and in Python.
    pub name: &'static str,
    /// Its default.
    pub initial: Initial,
    /// Which values it may take.
    pub kind: Kind,
    /// What it is, in one line.
    pub doc: &'static str,
    /// The fact of the environment (the number of neurons, the noise) that an experiment takes unless it is given.
    pub told: Option<&'static str>,
    /// Whether a bound will do where the environment knows no more than that (the fact `sigma_at_most` for `sigma`).
    pub bound: bool,
}

impl Param {
    /// A row of the table.
    pub const fn new(name: &'static str, initial: Initial, kind: Kind, doc: &'static str) -> Self {
        Param { name, initial, kind, doc, told: None, bound: false }
    }

    /// The same row, for a fact of the same name that an experiment takes from the environment unless it is given.
    pub const fn told(self) -> Self {
        self.told_by(self.name)
    }

    /// The same for a fact of another name.
    pub const fn told_by(self, fact: &'static str) -> Self {
        Param { told: Some(fact), ..self }
    }

    /// The same row, for a fact of which a bound will do.
    pub const fn or_bound(self) -> Self {
        Param { bound: true, ..self }
    }

    /// What is allowed, in words.
    pub fn allowed(&self) -> String {
        match self.initial {
            Initial::Auto(_) => format!("{}, or \"{AUTO}\"", self.kind.allowed()),
            _ => self.kind.allowed(),
        }
    }

    /// The value that `given` stands for; `None` where it shall be computed.
    pub(crate) fn check(&self, given: &Value) -> Result<Option<Value>> {
        match (given, self.initial) {
            (Value::Word(word), Initial::Auto(_)) if word == AUTO => Ok(None),
            _ => self.kind.check(self.name, given, &self.allowed()).map(Some),
        }
    }
}

/// Checked parameters. They remember which of them were asked for: what a policy or an environment did not read while
/// it was made is no part of what it is.
#[derive(Debug, Clone)]
pub struct Params {
    values: BTreeMap<String, Value>,
    read: RefCell<BTreeSet<String>>,
    /// What was computed where nothing was given.
    computed: RefCell<BTreeMap<String, Value>>,
}

impl PartialEq for Params {
    fn eq(&self, other: &Self) -> bool {
        self.values == other.values
    }
}

impl Params {
    /// Checks `given` against `table`. `owner` is named in errors, as in "unknown parameter of oful 'lamda'".
    pub fn resolve(owner: &str, table: &[Param], given: &Settings) -> Result<Self> {
        for (name, _) in given.iter() {
            if !table.iter().any(|param| param.name == name) {
                let known = table.iter().map(|param| param.name);
                return Err(Error::unknown(format!("parameter of {owner}"), name, known));
            }
        }
        let mut values = BTreeMap::new();
        for param in table {
            let value = match (given.get(param.name), param.initial) {
                (Some(value), _) => param.check(value)?,
                (None, Initial::Required) => {
                    return Err(Error::Missing {
                        name: format!("{} of {owner}", param.name),
                        expected: format!("{} ({})", param.allowed(), param.doc),
                    });
                }
                (None, initial) => initial.value(),
            };
            if let Some(value) = value {
                values.insert(param.name.to_owned(), value);
            }
        }
        Ok(Params { values, read: RefCell::default(), computed: RefCell::default() })
    }

    /// The value of a parameter that is given or has a default; `None` if it is computed.
    pub fn get(&self, name: &str) -> Option<&Value> {
        self.read.borrow_mut().insert(name.to_owned());
        self.values.get(name)
    }

    /// The parameters that were asked for so far, with their values: what identifies the thing that was made from them.
    pub fn used(&self) -> Settings {
        let read = self.read.borrow();
        Settings(
            self.values.iter().filter(|(name, _)| read.contains(*name)).map(|(n, v)| (n.clone(), v.clone())).collect(),
        )
    }

    /// Every value that is given or has a default, in alphabetical order, without counting as read.
    pub fn complete(&self) -> Settings {
        Settings(self.values.clone())
    }

    /// Every value that is given, has a default, or was computed while something was made from these parameters.
    pub fn in_use(&self) -> Settings {
        let mut all = self.values.clone();
        all.extend(self.computed.borrow().clone());
        Settings(all)
    }

    /// Remembers what was computed in the place of a parameter.
    fn note(&self, name: &str, computed: Value) {
        self.computed.borrow_mut().insert(name.to_owned(), computed);
    }

    fn expect<T>(&self, name: &str, what: &str, read: impl Fn(&Value) -> Option<T>) -> Result<T> {
        self.get(name)
            .and_then(read)
            .ok_or_else(|| Error::Missing { name: name.to_owned(), expected: format!("the table must hold {what}") })
    }

    /// The real parameter `name`.
    pub fn real(&self, name: &str) -> Result<f64> {
        self.expect(name, "a number", |value| match value {
            Value::Real(x) => Some(*x),
            _ => None,
        })
    }

    /// The real parameter `name`, or `computed` where it was not given.
    pub fn real_or(&self, name: &str, computed: f64) -> Result<f64> {
        if self.get(name).is_some() {
            return self.real(name);
        }
        self.note(name, Value::Real(computed));
        Ok(computed)
    }

    /// The whole-number parameter `name`.
    pub fn count(&self, name: &str) -> Result<u64> {
        self.expect(name, "a whole number", |value| match value {
            Value::Count(n) => Some(*n),
            _ => None,
        })
    }

    /// The whole-number parameter `name` as a size in memory.
    pub fn size(&self, name: &str) -> Result<usize> {
        Ok(self.count(name)? as usize)
    }

    /// The truth value `name`.
    pub fn flag(&self, name: &str) -> Result<bool> {
        self.expect(name, "true or false", |value| match value {
            Value::Flag(b) => Some(*b),
            _ => None,
        })
    }

    /// The truth value `name`, or `computed` where it was not given.
    pub fn flag_or(&self, name: &str, computed: bool) -> Result<bool> {
        if self.get(name).is_some() {
            return self.flag(name);
        }
        self.note(name, Value::Flag(computed));
        Ok(computed)
    }

    /// The text or path `name`, where it was given.
    pub fn text(&self, name: &str) -> Option<&str> {
        match self.get(name) {
            Some(Value::Word(text)) => Some(text),
            _ => None,
        }
    }

    /// The word `name`.
    pub fn word(&self, name: &str) -> Result<&str> {
        match self.get(name) {
            Some(Value::Word(word)) => Ok(word),
            _ => Err(Error::Missing { name: name.to_owned(), expected: "the table must hold a word".to_owned() }),
        }
    }
}

#[cfg(test)]
mod tests;
