//! What a user says about a table: which file, what is rewarded, and how columns become features.

use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// The word that stands for the last column in [`Target::Class`], unless a column has that name.
pub const LAST: &str = "last";

/// Which file, what is rewarded, and how its columns become features.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct TableOptions {
    /// The file: CSV, gzipped or not; with the feature `arrow` also Parquet and Arrow IPC. Its content decides, not its
    /// name.
    pub file: PathBuf,
    /// What is rewarded.
    pub target: Target,
    /// How numbers become features.
    pub numbers: Numbers,
    /// How categories become features.
    pub categories: Categories,
    /// What becomes of missing values.
    pub missing: Missing,
    /// Columns that are no features, such as identifiers.
    pub ignore: Vec<String>,
    /// Columns that hold numbers, whatever they look like.
    pub as_numbers: Vec<String>,
    /// Columns that hold categories, though they may look like numbers.
    pub as_categories: Vec<String>,
    /// What separates the fields of a CSV file: one character of ASCII.
    pub separator: char,
}

impl TableOptions {
    /// A file with its class in the last column, and everything else as it is unless said otherwise.
    pub fn new(file: impl Into<PathBuf>) -> Self {
        TableOptions { file: file.into(), ..TableOptions::default() }
    }
}

impl Default for TableOptions {
    fn default() -> Self {
        TableOptions {
            file: PathBuf::new(),
            target: Target::default(),
            numbers: Numbers::default(),
            categories: Categories::default(),
            missing: Missing::default(),
            ignore: Vec::new(),
            as_numbers: Vec::new(),
            as_categories: Vec::new(),
            separator: ',',
        }
    }
}

/// What is rewarded. The columns named here are no features.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Target {
    /// A column of classes: 1 for the action that is named like the row's class, 0 for the others. The actions are the
    /// distinct classes, sorted. [`LAST`] is the last column.
    Class(String),
    /// Columns of numbers, one for each action, that are its rewards. The actions are named like the columns.
    Rewards(Vec<String>),
}

impl Default for Target {
    fn default() -> Self {
        Target::Class(LAST.to_owned())
    }
}

/// How numbers become features.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Numbers {
    /// As they are.
    #[default]
    Raw,
    /// All features of a row, encoded categories among them, scaled to length 1; a row of zeros stays zero.
    Unit,
    /// Shifted and scaled by mean and standard deviation of the rows seen so far in the trial, the present one
    /// included. Ordinals are treated as numbers, one-hot features stay 0 and 1.
    Standard,
}

/// How categories become features.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Categories {
    /// One feature for each category of the column, in sorted order: 1 in the row's own, 0 in the others.
    #[default]
    OneHot,
    /// The place of the category, from 0, among those of the column in sorted order.
    Ordinal,
}

/// What becomes of missing values: an empty field, `?`, and `NA` or `NaN` in any case.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Missing {
    /// A missing value is an error.
    #[default]
    Refuse,
    /// A row with a missing value in a column that is used is left out.
    Drop,
    /// In a column of categories it is a category of its own, after all others; among numbers it is an error.
    Category,
    /// Among numbers it is the mean of what was seen so far in the trial, 0 before that; in a column of categories it
    /// is a category of its own, after all others.
    Mean,
}

/// The words for the variants of an option: parsing, printing and the list of what is allowed.
macro_rules! words {
    ($option:ident, $kind:literal, $($word:literal => $variant:ident),+) => {
        impl $option {
            /// Every variant with its word.
            pub const WORDS: &'static [(&'static str, $option)] = &[$(($word, $option::$variant)),+];
        }

        impl fmt::Display for $option {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(match self { $($option::$variant => $word),+ })
            }
        }

        impl FromStr for $option {
            type Err = reluctant::Error;

            fn from_str(word: &str) -> reluctant::Result<Self> {
                let found = Self::WORDS.iter().find(|(known, _)| *known == word);
                let unknown = || reluctant::Error::unknown($kind, word, Self::WORDS.iter().map(|(known, _)| *known));
                found.map(|(_, variant)| *variant).ok_or_else(unknown)
            }
        }
    };
}

words!(Numbers, "word for numbers", "raw" => Raw, "unit" => Unit, "standard" => Standard);
words!(Categories, "word for categories", "one-hot" => OneHot, "ordinal" => Ordinal);
words!(Missing, "word for missing", "refuse" => Refuse, "drop" => Drop, "category" => Category, "mean" => Mean);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_read_and_printed_alike() {
        for (word, variant) in Numbers::WORDS {
            assert_eq!((word.parse(), variant.to_string().as_str()), (Ok(*variant), *word));
            assert_eq!(serde_json::to_string(variant).unwrap(), format!("\"{word}\""));
        }
        for (word, variant) in Categories::WORDS {
            assert_eq!((word.parse(), variant.to_string().as_str()), (Ok(*variant), *word));
            assert_eq!(serde_json::to_string(variant).unwrap(), format!("\"{word}\""));
        }
        for (word, variant) in Missing::WORDS {
            assert_eq!((word.parse(), variant.to_string().as_str()), (Ok(*variant), *word));
            assert_eq!(serde_json::to_string(variant).unwrap(), format!("\"{word}\""));
        }
        let near = "standart".parse::<Numbers>().unwrap_err().to_string();
        assert_eq!(near, "unknown word for numbers 'standart'; did you mean 'standard'?");
        let far = "zero".parse::<Missing>().unwrap_err().to_string();
        assert_eq!(far, "unknown word for missing 'zero'; known are refuse, drop, category, mean");
    }

    #[test]
    fn options_survive_being_written() {
        let options = TableOptions {
            target: Target::Rewards(vec!["a".into(), "b".into()]),
            ignore: vec!["id".into()],
            ..TableOptions::new("x.csv")
        };
        let text = serde_json::to_string(&options).unwrap();
        assert_eq!(serde_json::from_str::<TableOptions>(&text).unwrap(), options);
        assert_eq!(serde_json::from_str::<TableOptions>(r#"{"file": "x.csv"}"#).unwrap(), TableOptions::new("x.csv"));
    }
}
