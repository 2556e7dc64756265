//! Doubly robust (Dudík, Langford and Li 2011): what the model predicts, corrected by weighted residuals. Right if the
//! propensities are right, whatever the model; the better the model, the less the weights matter.

use super::{Part, Term};

/// Σ π q̂ + w·(r − q̂).
pub(super) fn part(term: &Term) -> Part {
    let weight = term.weight();
    Part { plain: term.expected, value: weight * (term.reward - term.predicted), weight }
}
