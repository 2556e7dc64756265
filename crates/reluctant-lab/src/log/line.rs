//! What a line of a log says, before it is known what it belongs to; the checks that need no other line.

use std::sync::Arc;

use reluctant::Name;
use reluctant::limits::LIMIT;

/// A line of a log.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Line {
    pub(super) event: Option<String>,
    pub(super) context: Option<Vec<f64>>,
    pub(super) arms: Option<(usize, Vec<f64>)>,
    pub(super) actions: Option<Arc<[Name]>>,
    pub(super) features: Option<(usize, Vec<f64>)>,
    pub(super) chosen: Option<String>,
    pub(super) propensity: Option<f64>,
    pub(super) propensity_error: Option<f64>,
    pub(super) reward: Option<f64>,
}

impl Line {
    /// An error, as a sentence, if a number cannot be what it says it is.
    pub(super) fn check(&self) -> Result<(), String> {
        if let Some(p) = self.propensity.filter(|p| !(*p > 0.0 && *p <= 1.0)) {
            return Err(format!(
                "the propensity is {p}, and what was chosen had a probability greater than 0 and at most 1"
            ));
        }
        if let Some(error) = self.propensity_error.filter(|error| !(*error >= 0.0 && error.is_finite())) {
            return Err(format!("propensity_error is {error}, and a standard error is a finite number, 0 or more"));
        }
        if let Some(reward) = self.reward.filter(|reward| reward.is_nan() || reward.abs() > LIMIT) {
            return Err(format!("the reward is {reward}, and must be a finite number of at most 1e100 in size"));
        }
        Ok(())
    }
}

/// Rows of equal length as one list, with that length.
pub(super) fn flat(rows: &[Vec<f64>], what: &str) -> Result<(usize, Vec<f64>), String> {
    let dim = rows.first().map_or(0, Vec::len);
    match rows.iter().position(|row| row.len() != dim) {
        _ if dim == 0 => Err(format!("{what} must be a list of lists of numbers, and none of them empty")),
        Some(i) => Err(format!("{what} must be of one length, and number {} has {}, not {dim}", i + 1, rows[i].len())),
        None => Ok((dim, rows.concat())),
    }
}
