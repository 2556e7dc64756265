//! Bandits for rewards with ReLU structure.
#![doc = "placeholder"]
pub mod arms;
pub mod ellipsoid;
pub mod env;
pub mod error;
pub mod estimate;
pub mod frozen;
pub mod geometry;
mod kernels;
pub mod linalg;
pub mod params;
mod patterns;
pub mod play;
pub mod policy;
pub mod relu;
pub mod rng;
pub mod theory;
pub use arms::{Arms, Choice, Rows, Score};
pub use ellipsoid::{Confidence, Ellipsoid};
pub use env::Environment;
pub use error::{Error, Result};
pub use frozen::FrozenRelu;
pub use params::{Params, Settings, Value};
pub use patterns::PatternTable;
pub use play::play;
pub use policy::{Policy, Scratch, Snapshot};
pub use relu::ReluNet;
pub use rng::{Key, Purpose, Stream};
