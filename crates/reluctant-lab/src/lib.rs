//! Experiments with bandits: from a TOML file to trials, statistics, tables, figures and reports.
//!
//! One way through: [`spec`] describes an experiment, [`read`](Experiment::load) reads it from TOML, [`plan`] names its
//! trials, [`run`] plays them in parallel, [`store`] keeps each as it finishes, [`results`] holds them in order,
//! [`stats`] sums them up and [`report`] shows them, beside what a [`theorem`] promises. A run can write a
//! [`mod@log`] of its rounds, and
//! [`mod@evaluate`] says what other policies would have earned on one.

pub mod error;
pub mod evaluate;
mod grid;
pub mod log;
pub mod plan;
mod read;
pub mod report;
pub mod results;
pub mod run;
pub mod spec;
pub mod stats;
pub mod store;
pub mod table;
pub mod theorem;
mod timed;

pub use error::{LabError, Result};
pub use spec::Experiment;
pub use store::Store;

/// The example of the crate's README, run as a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
pub struct Readme;

/// The policies and environments that the lab knows: all of the core's, and those that read files.
pub fn registry() -> reluctant::Registry {
    reluctant::Registry::default().with_environment(table::ENTRY)
}
