//! Experiments with bandits: from finished trials to statistics, tables, figures and reports.

pub mod report;
pub mod results;
pub mod stats;
