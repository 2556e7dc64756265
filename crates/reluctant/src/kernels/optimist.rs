//! What a fast pass over the arms of a frozen network looks for: the arm of greatest optimistic score.
//!
//! There are two such passes. `pattern_table.rs` runs on every machine. In the plane `sectors.rs` is faster, where the
//! machine can.

use crate::choice::Score;
use crate::relu::{Pattern, ReluNet};

/// Networks of more neurons than this have too many patterns for a table.
pub(crate) const MOST_NEURONS: usize = 10;

/// What the pass looks for.
pub(crate) struct Optimist<'a> {
    /// Θ̃, with at most [`MOST_NEURONS`] neurons.
    pub(crate) network: &'a ReluNet,
    /// Arms with |θ̃ᵢ·x| below this for some neuron are left out.
    pub(crate) margin: f64,
    pub(crate) radius: f64,
    /// Adds θ_s and M_s of a pattern to zeros.
    pub(crate) local_model: &'a dyn Fn(Pattern, &mut [f64]),
    /// The plain formula.
    pub(crate) score: fn(&[f64], f64, &[f64]) -> Score,
}

impl Optimist<'_> {
    /// Whether there is a fast pass for this dimension and this number of neurons.
    pub(crate) fn covers(dim: usize, neurons: usize) -> bool {
        (2..=4).contains(&dim) && neurons <= MOST_NEURONS
    }
}
