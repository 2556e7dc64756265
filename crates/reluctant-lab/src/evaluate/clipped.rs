//! Inverse propensities with weights cut off at a bound (Ionides 2008): less variance, some bias.

use super::{Part, Term};

/// min(w, bound)·r. In place of the weight stands what is cut off, which tells the bias.
pub(super) fn part(term: &Term, bound: f64) -> Part {
    let weight = term.weight().min(bound);
    Part { plain: 0.0, value: weight * term.reward, weight: (term.weight() - weight) * term.reward }
}
