//! Doubly robust by regression (Kallus and Uehara 2019): how far the model and the mean weight are trusted is fitted to
//! the log.
//!
//! w·q̂ − Σ π q̂ and w − 1 are 0 on average, whatever the model, if the propensities are right. Any multiple of them
//! may be taken from w·r without a bias; the multiples of least variance make an estimate that is, but for a share of
//! 1/n, at least as good as inverse propensities, self-normalised or not, and as the doubly robust estimate.

use super::{Part, Term};

/// w·r, and what is 0, or 1, on average.
pub(super) fn part(term: &Term) -> Part {
    let weight = term.weight();
    Part { plain: weight * term.predicted - term.expected, value: weight * term.reward, weight }
}
