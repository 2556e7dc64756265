//! Switch (Wang, Agarwal and Dudík 2017): doubly robust where the weight is at most a bound, the model alone elsewhere.

use super::{Part, Term};

/// Σ π q̂ + [w ≤ bound]·w·(r − q̂). In place of the weight stands what is left out, which tells the bias.
pub(super) fn part(term: &Term, bound: f64) -> Part {
    let correction = term.weight() * (term.reward - term.predicted);
    let kept = if term.weight() <= bound { correction } else { 0.0 };
    Part { plain: term.expected, value: kept, weight: correction - kept }
}
