//! What a network may be: which neurons it has, how many, and how it is imagined before any data.

use serde::{Deserialize, Serialize};

use crate::limits::LIMIT;
use crate::linalg::normalise;
use crate::relu::{MAX_NEURONS, ReluNet};
use crate::rng::{Stream, normal, uniform};

/// The most neurons considered when their number is not given.
pub(super) const MOST_NEURONS: usize = 16;
/// Beside a number of neurons that is given, so many more or fewer are considered, and −2 log of the prior grows by
/// `SIZE_DOUBT` with each.
const DOUBT: usize = 3;
pub(super) const SIZE_DOUBT: f64 = 6.0;
/// The share of starts whose neurons come in nearly opposite pairs. Independent neurons alone would make it look
/// impossible that a network is high on both sides of the sphere.
const PAIRED: f64 = 0.25;
const PAIR_SPREAD: f64 = 0.3;

/// Which neurons there are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Shape {
    /// Unit length, second layer of ones.
    Unit,
    /// Any length, second layer ±1.
    Signed,
}

impl Shape {
    /// The unknowns of a neuron.
    pub(super) fn freedom(self, dim: usize) -> usize {
        match self {
            Shape::Unit => dim - 1,
            Shape::Signed => dim,
        }
    }
}

/// What the networks are.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub(super) struct Form {
    pub(super) dim: usize,
    /// 0: chosen by evidence.
    pub(super) neurons: usize,
    pub(super) shape: Shape,
}

impl Form {
    /// The least and the greatest number of neurons considered.
    pub(super) fn sizes(&self) -> (usize, usize) {
        match self.neurons {
            0 => (1, MOST_NEURONS),
            given => (given.saturating_sub(DOUBT).max(1), given.saturating_add(DOUBT).min(MAX_NEURONS)),
        }
    }

    /// The unknowns of a network of `neurons` neurons.
    pub(super) fn unknowns(&self, neurons: usize) -> f64 {
        (neurons * self.shape.freedom(self.dim)) as f64
    }

    /// Makes of a random network one as imagined before any data: neurons in pairs now and then, rewards of the size
    /// `scale`. Whether they are in pairs.
    pub(super) fn imagine(&self, network: &mut ReluNet, scale: f64, stream: &mut Stream) -> bool {
        let (theta, signs) = network.layers_mut();
        let paired = uniform(stream) < PAIRED;
        if paired {
            for pair in theta.chunks_exact_mut(2 * self.dim) {
                let (a, b) = pair.split_at_mut(self.dim);
                b.iter_mut().zip(a).for_each(|(b, a)| *b = PAIR_SPREAD * *b - *a);
                normalise(b);
            }
        }
        if self.shape == Shape::Signed {
            for (neuron, sign) in theta.chunks_exact_mut(self.dim).zip(signs) {
                let length = (scale * normal(stream).abs()).min(LIMIT);
                neuron.iter_mut().for_each(|x| *x *= length);
                *sign = if uniform(stream) < 0.5 { 1.0 } else { -1.0 };
            }
        }
        paired
    }
}

/// The prior of pairs: that of [`Form::imagine`], of which −log is nearly this times the cosine between the two.
pub(super) fn pairing(dim: usize) -> f64 {
    dim as f64 / (PAIR_SPREAD * PAIR_SPREAD)
}
