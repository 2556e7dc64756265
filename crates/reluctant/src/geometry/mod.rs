//! Geometry of the unit sphere.
mod cells;
mod nnls;
pub use cells::{Cell, Cells, distinct_hyperplanes, most_cells};
