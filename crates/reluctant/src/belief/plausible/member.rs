//! One of the plausible networks.

use serde::{Deserialize, Serialize};

use super::constants::FIRST_DAMPING;
use super::form::Shape;
use crate::relu::ReluNet;

/// A network, what it may be, and how well it fits.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Member {
    pub(super) network: ReluNet,
    pub(super) shape: Shape,
    /// Σ (f(x) − y)² over the history.
    pub(super) loss: f64,
    /// log det(I + s²JᵀJ/σ²), with s the size that neurons have: what the data has taught about the unknowns, and so
    /// what they cost in evidence (Laplace's approximation). A neuron that no action has touched costs nothing.
    pub(super) learned: f64,
    /// The damping at which the last step succeeded, relative to the greatest diagonal entry.
    pub(super) damping: f64,
    /// Whether its neurons were imagined in nearly opposite pairs.
    pub(super) paired: bool,
}

impl Member {
    pub(super) fn new(network: ReluNet, shape: Shape) -> Self {
        Member { network, shape, loss: 0.0, learned: 0.0, damping: FIRST_DAMPING, paired: false }
    }

    /// Its unknowns.
    pub(super) fn unknowns(&self) -> usize {
        self.network.neurons() * self.shape.freedom(self.network.dim())
    }

    /// Becomes a copy of another, in the memory that is there.
    pub(super) fn copy(&mut self, other: &Member) {
        self.network.clone_from(&other.network);
        (self.loss, self.learned, self.damping) = (other.loss, other.learned, other.damping);
        (self.shape, self.paired) = (other.shape, other.paired);
    }

    /// Forgets how well it fits: its network is another now.
    pub(super) fn restart(&mut self, paired: bool) {
        (self.loss, self.learned, self.damping) = (0.0, 0.0, FIRST_DAMPING);
        self.paired = paired;
    }
}
