//! What a search for the optimistic action has found, and how sure it is that nothing is better.

use std::fmt;

/// How sure an [`Optimistic`] action is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Certificate {
    /// The maximum, up to rounding.
    Exact,
    /// No action of the region has a value that is larger by more than this, which is at most the tolerance.
    ProvenWithin(f64),
    /// The budget ran out; no action of the region has a value that is larger by more than this.
    Gap(f64),
    /// There were too many cells to go through: ascent from many starts found nothing better, and nothing is proven.
    NotCertified,
}

impl Certificate {
    /// By how much the best value can exceed the one found, if that is known.
    pub fn gap(&self) -> Option<f64> {
        match *self {
            Certificate::Exact => Some(0.0),
            Certificate::ProvenWithin(gap) | Certificate::Gap(gap) => Some(gap),
            Certificate::NotCertified => None,
        }
    }
}

impl fmt::Display for Certificate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Certificate::Exact => write!(f, "exact"),
            Certificate::ProvenWithin(gap) => write!(f, "proven within {gap:.1e}"),
            Certificate::Gap(gap) => write!(f, "the budget ran out with a gap of {gap:.1e}"),
            Certificate::NotCertified => write!(f, "not certified: the best of ascents from many starts"),
        }
    }
}

/// The optimistic action and what is known about it.
#[derive(Debug, Clone, PartialEq)]
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
