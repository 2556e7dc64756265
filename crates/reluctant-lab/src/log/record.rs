//! One round of a log.

use super::Offered;

/// A round of a log whose reward is known.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Record {
    /// The line it stands on, from 1.
    pub line: usize,
    /// What was on offer.
    pub offer: Offered,
    /// The place of the action that was chosen.
    pub chosen: usize,
    /// The probability with which it was chosen, if the log says it.
    pub propensity: Option<f64>,
    /// The standard error of the probability, 0 if it is exact.
    pub propensity_error: f64,
    /// What came of it.
    pub reward: f64,
}

impl Record {
    /// A round with an exact probability.
    pub fn new(line: usize, offer: Offered, chosen: usize, propensity: Option<f64>, reward: f64) -> Self {
        Record { line, offer, chosen, propensity, propensity_error: 0.0, reward }
    }
}
