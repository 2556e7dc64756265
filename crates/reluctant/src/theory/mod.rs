//! What the paper's statements say in numbers: one file a statement.

mod exploration;
mod sphere;

pub use exploration::{Setting, exploration_length, neuron_error_bound, zeta};
pub use sphere::sphere_area;
