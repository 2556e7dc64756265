//! What a network may be: which neurons it has, how many, and how it is imagined before any data.

use serde::{Deserialize, Serialize};

use super::constants::{
    DOUBT, FEWEST_NEURONS, FEWEST_SIGNED, LENGTH, MOST_NEURONS, MOST_UNKNOWNS, ONES, PAIR_SPREAD, PAIRED,
};
use crate::limits::{LIMIT, MAX_FEATURES};
use crate::linalg::normalise;
use crate::relu::{MAX_NEURONS, ReluNet};
use crate::rng::{self, Stream, normal, uniform};

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
    /// None: decided by evidence.
    pub(super) shape: Option<Shape>,
}

impl Form {
    /// The least and the greatest number of neurons considered.
    pub(super) fn sizes(&self) -> (usize, usize) {
        match self.neurons {
            0 => (1, MOST_NEURONS.min(MOST_UNKNOWNS / self.most_freedom()).max(1)),
            given => (given.saturating_sub(DOUBT).max(1), given.saturating_add(DOUBT).min(MAX_NEURONS)),
        }
    }

    /// The same of networks of one shape. Of those of any signs and lengths small ones are left out: they explain what
    /// was seen without any doubt of what was not.
    pub(super) fn sizes_of(&self, shape: Shape) -> (usize, usize) {
        let (fewest, most) = self.sizes();
        match shape {
            Shape::Signed if self.neurons == 0 => (FEWEST_SIGNED.min(most), most),
            _ => (fewest, most),
        }
    }

    /// Whether networks of `neurons` neurons of this shape are considered.
    pub(super) fn has_size(&self, neurons: usize, shape: Shape) -> bool {
        let (fewest, most) = self.sizes_of(shape);
        (fewest..=most).contains(&neurons)
    }

    /// Whether networks of this shape are considered.
    pub(super) fn has_shape(&self, shape: Shape) -> bool {
        self.shape.is_none_or(|told| told == shape)
    }

    /// Whether the other methods can be asked: they take a form of `dim` dimensions that was checked.
    pub(super) fn is_consistent(&self, dim: usize) -> bool {
        self.dim == dim && (2..=MAX_FEATURES).contains(&dim) && self.neurons <= MAX_NEURONS
    }

    /// Whether there are networks at all: if their number of neurons is not given, a few must not have too many
    /// unknowns.
    pub(super) fn is_affordable(&self) -> bool {
        self.neurons > 0 || FEWEST_NEURONS * self.most_freedom() <= MOST_UNKNOWNS
    }

    /// Whether a matrix of the unknowns can be kept, with one neuron more than the most considered.
    pub(super) fn is_feasible(&self) -> bool {
        (self.sizes().1 + 1) * self.dim <= MAX_FEATURES
    }

    /// Whether some rounds are checks. Networks of any signs and lengths of which nothing is told need none, nor where
    /// they are among others: where nothing was tried they expect so many different things that their spread leads
    /// there by itself.
    pub(super) fn has_checks(&self) -> bool {
        self.neurons > 0 || self.shape == Some(Shape::Unit)
    }

    /// The most unknowns that a neuron may have.
    fn most_freedom(&self) -> usize {
        self.shape.unwrap_or(Shape::Signed).freedom(self.dim)
    }

    /// The shape of member number `m` before any data.
    pub(super) fn first_shape(&self, m: usize) -> Shape {
        // Steps of 1/ρ, ρ³ = ρ + 1, spread any number of members evenly, and apart from those of their sizes.
        self.imagine_shape(((m as f64 + 0.5) * 0.754_877_666_246_692_7).fract())
    }

    /// The shape told or, if none is, that of a network at this place, from 0 to 1, among those imagined.
    pub(super) fn imagine_shape(&self, place: f64) -> Shape {
        self.shape.unwrap_or(if place < ONES { Shape::Unit } else { Shape::Signed })
    }

    /// Makes of a random network one as imagined before any data: neurons of ones in pairs now and then, others of
    /// rewards of the size `scale`. Whether they are in pairs.
    pub(super) fn imagine(&self, network: &mut ReluNet, shape: Shape, scale: f64, stream: &mut Stream) -> bool {
        let (theta, signs) = network.layers_mut();
        if shape == Shape::Signed {
            for (neuron, sign) in theta.chunks_exact_mut(self.dim).zip(signs) {
                imagine_signed(neuron, scale, stream);
                *sign = rng::sign(stream);
            }
            return false;
        }
        let paired = uniform(stream) < PAIRED;
        if paired {
            for pair in theta.chunks_exact_mut(2 * self.dim) {
                let (a, b) = pair.split_at_mut(self.dim);
                b.iter_mut().zip(a).for_each(|(b, a)| *b = PAIR_SPREAD * *b - *a);
                normalise(b);
            }
        }
        paired
    }
}

/// Draws a neuron that may have any length, as imagined before any data.
pub(super) fn imagine_signed(neuron: &mut [f64], scale: f64, stream: &mut Stream) {
    let spread = coordinate_spread(scale, neuron.len());
    neuron.iter_mut().for_each(|x| *x = spread * normal(stream));
}

/// The standard deviation of each coordinate of such a neuron; rewards are of the size `scale`.
pub(super) fn coordinate_spread(scale: f64, dim: usize) -> f64 {
    (LENGTH * scale / (dim as f64).sqrt()).min(LIMIT)
}

/// The prior of pairs: that of [`Form::imagine`], of which −log is nearly this times the cosine between the two.
pub(super) fn pairing(dim: usize) -> f64 {
    dim as f64 / (PAIR_SPREAD * PAIR_SPREAD)
}
