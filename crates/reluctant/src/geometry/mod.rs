//! The unit sphere, cut up by the hyperplanes of a network: exact optimisation over continuous actions.
//!
//! The paper's actions are all unit vectors. Each neuron θᵢ cuts their sphere along θᵢ·x = 0; inside each of the cells
//! that result a ReLU network is linear and the confidence set of its linear regime has one shape. There are O(k^(d−1))
//! cells, not 2ᵏ, and everything here goes through them.
//!
//! | what | where | how sure |
//! | --- | --- | --- |
//! | the cells, each once | [`Cells`] | all of them, down to a thickness of 10⁻¹¹ |
//! | x*, f*, ν*, α₀ of a network | [`best_action`] | exact, or ascent beyond a budget of cells ([`BestAction::exact`]) |
//! | the same with any piecewise-linear activation, with biases up to d = 3 | [`best_piecewise_action`] | the same |
//! | X(Θ, ν): membership, emptiness, safest point | [`Region`] | exact |
//! | the optimistic action in the linear regime | [`optimistic_action`], [`Region::optimistic_action`] | [`Certificate`] |
//! | the same with biases | [`biased_optimistic_action`] | a gap up to d = 3, beyond nothing is proven |
//!
//! Everything is deterministic: no result depends on the platform, on threads or on a seed.

mod average;
mod best;
mod biased;
mod bound;
mod cells;
mod circles;
mod linear;
mod multi_start;
mod nnls;
mod optimistic;
mod optimum;
mod patches;
mod piece;
mod pieces;
mod region;
mod trust_region;

pub(crate) use average::average;

pub use crate::choice::Certificate;
pub use best::{BestAction, CELL_BUDGET, alpha0, best_action, best_piecewise_action};
pub use biased::biased_optimistic_action;
pub use cells::{Cell, Cells, distinct_hyperplanes, most_cells};
pub use linear::linear_optimistic_action;
pub use optimistic::{OptimisticOptions, optimistic_action};
pub use optimum::Optimistic;
pub use region::Region;
