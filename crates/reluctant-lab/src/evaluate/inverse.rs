//! Inverse propensities: rounds weighted by how much more often the policy would have made their choice (Horvitz and
//! Thompson 1952); divided by the sum of the weights it is the self-normalised estimate (Swaminathan and Joachims
//! 2015).

use super::{Part, Term};

/// w·r.
pub(super) fn part(term: &Term) -> Part {
    Part { plain: 0.0, value: term.weight() * term.reward, weight: term.weight() }
}
