//! Networks of infinitely many neurons: the largest model, a Gaussian process.
//!
//! Its kernel is by evidence that of a wide ReLU network, or another one ([`GaussianProcess`]). It is one of the models
//! if the number of neurons is not given, and acts while its evidence exceeds that of the best network: so rewards that
//! are no sum of a few neurons end here.

use serde::{Deserialize, Serialize};

use super::constants::{CONVINCED_AT, CONVINCING, CONVINCING_FIRST, FAR_AHEAD, POINTS};
use crate::belief::{Belief, GaussianProcess};

/// The process, and how it compares with the networks.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Infinite {
    pub(crate) belief: GaussianProcess,
    /// By how much its evidence exceeds that of the best network, in units of 2 log, when they were last compared.
    pub(super) advantage: f64,
}

impl Infinite {
    pub(super) fn new(dim: usize) -> Self {
        Infinite { belief: GaussianProcess::by_evidence(dim, POINTS), advantage: 0.0 }
    }

    /// Whether it explains the rewards better than the networks do, by so much that it is believed after `seen`
    /// observations.
    pub(super) fn leads(&self, seen: f64) -> bool {
        let trust = (seen / CONVINCED_AT).min(1.0);
        self.advantage > (1.0 - trust) * CONVINCING_FIRST + trust * CONVINCING
    }

    /// Whether the networks are not worth their refits.
    pub(super) fn is_far_ahead(&self) -> bool {
        self.advantage > FAR_AHEAD
    }

    pub(super) fn is_consistent(&self, dim: usize) -> bool {
        self.belief.dim() == dim && self.belief.is_consistent() && self.advantage.is_finite()
    }
}
