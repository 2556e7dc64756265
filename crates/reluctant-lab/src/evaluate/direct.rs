//! The direct method: what the model predicts for the policy, without weights. It is as good as the model.

use super::{Part, Term};

/// Σ π(a|x)·q̂(x, a).
pub(super) fn part(term: &Term) -> Part {
    Part::plain(term.expected)
}
