//! One process and what it forgets.

use serde::{Deserialize, Serialize};

use crate::belief::forgetting::Forgetting;
use crate::gp::{Kernel, SparseGp};

/// One process and what it forgets.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Process {
    pub(super) gp: SparseGp,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    forgetting: Option<Forgetting>,
}

/// What all processes of a belief have in common but for the hyperparameters.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub(super) struct Frame {
    pub(super) dim: usize,
    pub(super) budget: usize,
    pub(super) discount: f64,
}

impl Process {
    pub(super) fn new(frame: Frame, kernel: Kernel, sigma: f64) -> Self {
        let gp = SparseGp::new(frame.dim, kernel, sigma, frame.budget);
        Process { gp, forgetting: Forgetting::new(frame.discount) }
    }

    /// One that has seen nothing, with the forgetting of another.
    pub(super) fn renewed(old: &Process, kernel: Kernel, sigma: f64, budget: usize) -> Self {
        Process { gp: SparseGp::new(old.gp.dim(), kernel, sigma, budget), forgetting: old.forgetting }
    }

    /// γ.
    pub(super) fn discount(&self) -> f64 {
        self.forgetting.map_or(1.0, |forgetting| forgetting.discount())
    }

    pub(super) fn learn(&mut self, x: &[f64], y: f64) {
        if let Some(factor) = self.forgetting.as_mut().and_then(Forgetting::count) {
            self.gp.forget(factor);
        }
        self.gp.update(x, y);
    }

    pub(super) fn is_consistent(&self, dim: usize, budget: usize) -> bool {
        self.gp.dim() == dim
            && self.gp.is_consistent(budget)
            && self.forgetting.is_none_or(|forgetting| forgetting.is_consistent())
    }
}
