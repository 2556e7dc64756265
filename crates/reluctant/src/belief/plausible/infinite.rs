//! Networks of infinitely many neurons: the largest model, a Gaussian process.
//!
//! Its kernel is by evidence that of a wide ReLU network, or another one ([`GaussianProcess`]). It is one of the models
//! if the number of neurons is not given, and acts while its evidence exceeds that of the best network: so rewards that
//! are no sum of a few neurons end here.

use serde::{Deserialize, Serialize};

use super::constants::{CONVINCED_AT, CONVINCING, CONVINCING_FIRST, FAR_AHEAD, LINE_CONVINCING, POINTS};
use crate::belief::{Belief, GaussianProcess};

/// The process, and how it compares with the networks.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Infinite {
    pub(crate) belief: GaussianProcess,
    /// By how much its evidence exceeds that of the best network, in units of 2 log, when they were last compared.
    pub(super) advantage: f64,
    /// The same, if networks that nobody told of must convince.
    #[serde(default)]
    pub(super) lead: f64,
    /// By how much its evidence exceeds that of the line.
    #[serde(default)]
    pub(super) over_line: f64,
}

impl Infinite {
    pub(super) fn new(dim: usize) -> Self {
        Infinite { belief: GaussianProcess::by_evidence(dim, POINTS), advantage: 0.0, lead: 0.0, over_line: 0.0 }
    }

    /// Whether it explains the rewards better than the networks do, by so much that it is believed after `seen`
    /// observations.
    pub(super) fn leads(&self, seen: f64) -> bool {
        let trust = (seen / CONVINCED_AT).min(1.0);
        self.lead > (1.0 - trust) * CONVINCING_FIRST + trust * CONVINCING
    }

    /// Whether the networks are not worth their refits.
    pub(super) fn is_far_ahead(&self) -> bool {
        self.lead > FAR_AHEAD
    }

    /// Whether the line explains the rewards better.
    pub(crate) fn is_behind_line(&self) -> bool {
        self.over_line < 0.0
    }

    /// Whether the line explains the rewards so much better that it is believed in its place.
    pub(super) fn yields_to_line(&self) -> bool {
        self.over_line < -LINE_CONVINCING
    }

    pub(super) fn is_consistent(&self, dim: usize) -> bool {
        self.belief.dim() == dim
            && self.belief.is_consistent()
            && [self.advantage, self.lead, self.over_line].iter().all(|advantage| advantage.is_finite())
    }
}
