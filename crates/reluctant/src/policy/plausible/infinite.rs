//! Networks of infinitely many neurons: the largest model, a Gaussian process.
//!
//! Its kernel is by evidence that of a wide ReLU network, or another one ([`GaussianProcess`]). It is one of the models
//! if the number of neurons is not given, and acts while its evidence exceeds that of the best network: so rewards that
//! are no sum of a few neurons end here.

use serde::{Deserialize, Serialize};

use crate::belief::{Belief, GaussianProcess};
use crate::offer::Rows;
use crate::scratch::Scratch;

/// Points that the process keeps.
const POINTS: usize = 100;
/// Widths in standard deviations.
const WIDTH: f64 = 1.5;
/// It acts when its evidence exceeds that of the best network by this, in units of 2 log: an advantage that luck does
/// not give.
const CONVINCING: f64 = 6.0;
/// From here on the networks are refitted in checks alone.
const FAR_AHEAD: f64 = 40.0;

/// The process, and how it compares with the networks.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Infinite {
    pub(super) belief: GaussianProcess,
    /// By how much its evidence exceeds that of the best network, in units of 2 log, when they were last compared.
    pub(super) advantage: f64,
}

impl Infinite {
    pub(super) fn new(dim: usize) -> Self {
        Infinite { belief: GaussianProcess::by_evidence(dim, POINTS), advantage: 0.0 }
    }

    /// Whether it explains the rewards better than the networks do.
    pub(super) fn leads(&self) -> bool {
        self.advantage > CONVINCING
    }

    /// Whether the networks are not worth their refits.
    pub(super) fn is_far_ahead(&self) -> bool {
        self.advantage > FAR_AHEAD
    }

    pub(super) fn score(&self, rows: Rows<'_>, scratch: &mut Scratch) {
        self.belief.predict(rows, WIDTH, scratch);
    }

    pub(super) fn is_consistent(&self, dim: usize) -> bool {
        self.belief.dim() == dim && self.belief.is_consistent() && self.advantage.is_finite()
    }
}
