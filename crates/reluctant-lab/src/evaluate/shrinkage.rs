//! Doubly robust with optimistic shrinkage (Su, Dimakopoulou, Krishnamurthy and Dudík 2020): weights λw/(w² + λ)
//! instead of w.

use super::{Part, Term};

/// Σ π q̂ + λw/(w² + λ)·(r − q̂). In place of the weight stands what is left out, which tells the bias.
pub(super) fn part(term: &Term, lambda: f64) -> Part {
    let (weight, residual) = (term.weight(), term.reward - term.predicted);
    let shrunk = lambda * weight / (weight * weight + lambda);
    Part { plain: term.expected, value: shrunk * residual, weight: (weight - shrunk) * residual }
}
