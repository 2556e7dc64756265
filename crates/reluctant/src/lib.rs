//! Bandits for rewards with ReLU structure.
#![doc = "placeholder"]
pub mod arms;
pub mod ellipsoid;
pub mod error;
pub mod estimate;
pub mod linalg;
pub mod relu;
pub mod rng;
pub use arms::{Arms, Choice, Rows, Score};
pub use ellipsoid::{Confidence, Ellipsoid};
pub use error::{Error, Result};
pub use relu::ReluNet;
pub use rng::{Key, Purpose, Stream};
