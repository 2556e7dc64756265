//! The optimistic action that a search found.

use crate::choice::{Certificate, Choice, Score};

/// The optimistic action and what is known about it.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Optimistic {
    /// A unit vector in X(Θ̃, margin).
    pub action: Vec<f64>,
    /// mean + width.
    pub value: f64,
    /// The predicted mean reward.
    pub mean: f64,
    /// β·√(φᵀA⁻¹φ).
    pub width: f64,
    /// How sure it is that no action has a larger value.
    pub certificate: Certificate,
    /// How many cells the search looked at.
    pub cells_visited: u64,
    /// How many dual bounds it took.
    pub bounds: usize,
}

impl From<Optimistic> for Choice<'static> {
    fn from(found: Optimistic) -> Self {
        let score = Score { mean: found.mean, width: found.width };
        Choice { certificate: Some(found.certificate), ..Choice::point(found.action, score) }
    }
}
