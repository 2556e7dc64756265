//! Tables of data as what a bandit plays: rows with features, and what each action is paid in them.
//!
//! A [`Table`] is loaded from a file by [`TableOptions`]. A [`Walk`] goes through its rows in an order, one each round,
//! and gives the features of any round. A [`TableEnvironment`] is what experiments play: `kind = "table"`.
//!
//! ```no_run
//! use reluctant::Key;
//! use reluctant_lab::table::{Missing, Numbers, Table, TableOptions, Walk};
//!
//! let mut options = TableOptions::new("data/mushroom.csv.gz");
//! options.numbers = Numbers::Unit;
//! options.missing = Missing::Category;
//! let table = Table::load(&options)?;
//! let walk = Walk::new(table.clone(), table.order(Key::new(1)))?;
//! let mut features = Vec::new();
//! if let Some(row) = walk.features(1, &mut features) {
//!     let rewards: Vec<f64> = (0..table.actions().len()).map(|action| table.reward(row, action)).collect();
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! **Files.** CSV in UTF-8 with a header, gzipped or not, and Parquet or Arrow IPC with the feature `arrow`; the
//! content of a file decides, not its name. Fields may be quoted, white space around them does not count, empty lines
//! are skipped. In errors about Parquet and Arrow files, the line is the row, from 1.
//!
//! **Columns.** A column all of whose values are finite numbers holds numbers, any other holds categories, unless
//! [`TableOptions::as_numbers`] or [`TableOptions::as_categories`] say otherwise. Numbers with a few slips between them
//! are an error.
//!
//! **Missing values** are an empty field, `?`, and `NA` or `NaN` in any case. [`Missing`] says what becomes of them.
//!
//! **Order.** Features follow the columns of the file. Categories, and classes as actions, are sorted: by size if all
//! of a column are numbers, by their characters otherwise. The category of missing values comes last.
//!
//! **No look ahead.** What depends on other rows (standardised numbers, means in place of missing values) depends on
//! rounds up to the present one only. The list of categories is that of the whole file.

#[cfg(feature = "arrow")]
mod arrow;
mod cache;
mod columns;
mod csv;
mod encode;
mod environment;
mod fault;
mod moments;
mod options;
mod read;
mod roles;
#[cfg(test)]
mod sentences;
mod sheet;
#[cfg(test)]
mod tests;
mod walk;

use std::sync::Arc;

use reluctant::{Key, Purpose, rng};

pub(crate) use environment::ENTRY;
pub use environment::TableEnvironment;
pub use options::{Categories, LAST, Missing, Numbers, TableOptions, Target};
pub use walk::{STANDARD_CLIP, Walk};

use crate::error::Result;
use encode::{Content, Outcomes, Slot};
use fault::Outcome;

/// A table that was loaded: features and rewards of its rows. To clone it costs nothing; clones share the data.
#[derive(Debug, Clone)]
pub struct Table {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    content: Content,
    scaling: Numbers,
    fingerprint: String,
    /// How many numbers a row has, and how many codes.
    number_width: usize,
    code_width: usize,
    /// Whether a number is missing.
    holes: bool,
}

impl Table {
    /// Loads a file.
    pub fn load(options: &TableOptions) -> Result<Self> {
        let bytes = read::bytes(&options.file)?;
        let fingerprint = read::fingerprint(&bytes);
        Self::from_bytes(bytes, fingerprint, options)
    }

    /// The table in the bytes of a file.
    fn from_bytes(bytes: Vec<u8>, fingerprint: String, options: &TableOptions) -> Result<Self> {
        let content = read_content(bytes, options).map_err(|fault| fault.of(&options.file))?;
        let number_width = content.slots.iter().filter(|slot| matches!(slot, Slot::Number(_))).count();
        let inner = Inner {
            scaling: options.numbers,
            fingerprint,
            number_width,
            code_width: content.slots.len() - number_width,
            holes: content.numbers.iter().any(|x| x.is_nan()),
            content,
        };
        Ok(Table { inner: Arc::new(inner) })
    }

    /// How many rows there are, without those that were dropped.
    pub fn rows(&self) -> usize {
        self.inner.content.rows
    }

    /// How many features a row has.
    pub fn width(&self) -> usize {
        self.inner.content.feature_names.len()
    }

    /// The names of the features: that of the column, and `column=category` for one that stands for a category.
    pub fn feature_names(&self) -> &[String] {
        &self.inner.content.feature_names
    }

    /// The names of the actions: the classes, sorted, or the columns of rewards, as they were given.
    pub fn actions(&self) -> &[String] {
        &self.inner.content.actions
    }

    /// What an action is paid in a row. Both must exist.
    pub fn reward(&self, row: u32, action: usize) -> f64 {
        match &self.inner.content.outcomes {
            Outcomes::Classes(classes) => f64::from(classes[row as usize] as usize == action),
            Outcomes::Rewards(rewards) => rewards[row as usize * self.actions().len() + action],
        }
    }

    /// The action that is named like the class of a row, which must exist; none where columns of rewards are given.
    pub fn class(&self, row: u32) -> Option<usize> {
        match &self.inner.content.outcomes {
            Outcomes::Classes(classes) => Some(classes[row as usize] as usize),
            Outcomes::Rewards(_) => None,
        }
    }

    /// The hash of the file's bytes: results of changed data have another.
    pub fn fingerprint(&self) -> &str {
        &self.inner.fingerprint
    }

    /// All rows in the random order of a key.
    pub fn order(&self, key: Key) -> Vec<u32> {
        let mut order: Vec<u32> = (0..).take(self.rows()).collect();
        rng::shuffle(&mut key.purpose(Purpose::Arms).stream(), &mut order);
        order
    }

    fn scaling(&self) -> Numbers {
        self.inner.scaling
    }

    fn has_holes(&self) -> bool {
        self.inner.holes
    }

    fn slots(&self) -> &[Slot] {
        &self.inner.content.slots
    }

    fn number_width(&self) -> usize {
        self.inner.number_width
    }

    /// The numbers of a row, NaN where one is missing.
    fn numbers(&self, row: u32) -> &[f64] {
        let width = self.inner.number_width;
        &self.inner.content.numbers[row as usize * width..][..width]
    }

    /// The codes of a row.
    fn codes(&self, row: u32) -> &[u32] {
        let width = self.inner.code_width;
        &self.inner.content.codes[row as usize * width..][..width]
    }
}

fn read_content(bytes: Vec<u8>, options: &TableOptions) -> Outcome<Content> {
    let sheet = read::sheet(bytes, options)?;
    let sheet = sheet.as_ref();
    let roles = roles::assign(sheet.names(), options)?;
    let kinds = columns::kinds(sheet, &roles, options.missing)?;
    encode::content(sheet, &roles, &kinds, options)
}
