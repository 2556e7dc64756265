//! Geometry of the unit sphere.
mod best;
mod bound;
mod cells;
mod linear;
mod multi_start;
mod nnls;
mod optimistic;
mod piece;
mod region;
mod trust_region;
pub use best::{BestAction, CELL_BUDGET, alpha0, best_action};
pub use cells::{Cell, Cells, distinct_hyperplanes, most_cells};
pub use linear::linear_optimistic_action;
pub use optimistic::{Certificate, Optimistic, OptimisticOptions, optimistic_action};
pub use region::Region;
