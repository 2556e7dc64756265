//! A file as rows of cells, whatever its format: what the steps after reading see of it.

use std::borrow::Cow;
use std::collections::BTreeSet;

use super::fault::{Fault, Outcome};

/// Words for a missing value, besides an empty field and `?`; upper and lower case are the same.
const MISSING_WORDS: [&str; 2] = ["na", "nan"];

/// One value of a row.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Cell<'a> {
    /// Nothing, or a word for it.
    Missing,
    /// A number of a format that has numbers, which CSV has not.
    #[cfg_attr(not(feature = "arrow"), allow(dead_code))]
    Number(f64),
    /// Text that may look like a number.
    Text(&'a str),
}

impl<'a> Cell<'a> {
    /// The cell of a text, without the white space around it.
    pub(super) fn of_text(text: &'a str) -> Self {
        let text = text.trim();
        let missing =
            text.is_empty() || text == "?" || MISSING_WORDS.iter().any(|word| text.eq_ignore_ascii_case(word));
        if missing { Cell::Missing } else { Cell::Text(text) }
    }

    /// The cell of a number; NaN is how many programs write that there is none.
    #[cfg(feature = "arrow")]
    pub(super) fn of_number(number: f64) -> Self {
        if number.is_nan() { Cell::Missing } else { Cell::Number(number) }
    }

    /// Its finite number, if it is one.
    pub(super) fn number(self) -> Option<f64> {
        match self {
            Cell::Missing => None,
            Cell::Number(number) => Some(number),
            Cell::Text(text) => text.parse().ok(),
        }
        .filter(|number: &f64| number.is_finite())
    }

    /// As text; empty where it is missing.
    pub(super) fn text(self) -> Cow<'a, str> {
        match self {
            Cell::Missing => Cow::Borrowed(""),
            Cell::Number(number) => Cow::Owned(number.to_string()),
            Cell::Text(text) => Cow::Borrowed(text),
        }
    }
}

/// One row.
pub(super) trait Record {
    /// The cell in a column, from 0.
    fn cell(&self, column: usize) -> Cell<'_>;
}

/// What is called with each row and its place.
pub(super) type Visitor<'a> = dyn FnMut(usize, &dyn Record) -> Outcome<()> + 'a;

/// A file whose rows can be visited again and again, in order.
pub(super) trait Sheet {
    /// The names of its columns.
    fn names(&self) -> &[String];

    /// The type of a column whose values cannot be read.
    fn foreign(&self, _column: usize) -> Option<&str> {
        None
    }

    /// Calls `see` with each row and its place.
    fn visit(&self, see: &mut Visitor<'_>) -> Outcome<()>;

    /// The line, from 1, that a user finds at a place.
    fn line(&self, place: usize) -> usize;
}

/// Refuses names that are empty or stand there twice.
pub(super) fn check_names(names: &[String], line: Option<usize>) -> Outcome<()> {
    let fault = |message: String| line.map_or_else(|| Fault::whole(&message), |line| Fault::at(line, &message));
    let mut seen = BTreeSet::new();
    for (index, name) in names.iter().enumerate() {
        if name.is_empty() {
            let place = index + 1;
            return Err(fault(format!("column {place} of {} has no name; each needs one of its own", names.len())));
        }
        if !seen.insert(name) {
            return Err(fault(format!("two columns are named '{name}'; each needs a name of its own")));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_for_nothing_are_missing_and_others_are_not() {
        for text in ["", "  ", "?", " ? ", "NA", "na", "NaN", "nan", "NAN"] {
            assert_eq!(Cell::of_text(text), Cell::Missing, "{text}");
        }
        for text in ["0", "-", "none", "N/A", "nano"] {
            assert_eq!(Cell::of_text(text), Cell::Text(text));
        }
    }

    #[test]
    fn only_finite_numbers_are_numbers() {
        for (text, number) in [("1", 1.0), ("-2.5", -2.5), ("1e3", 1000.0), ("+4", 4.0), (".5", 0.5)] {
            assert_eq!(Cell::of_text(text).number(), Some(number));
        }
        for text in ["inf", "-Infinity", "1e999", "1,5", "0x10", "old", "NaN", ""] {
            assert_eq!(Cell::of_text(text).number(), None, "{text}");
        }
        assert_eq!(Cell::Number(3.0).text(), "3");
    }
}
