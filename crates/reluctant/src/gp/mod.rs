//! Gaussian processes for bandits: bounded in size, kept up to date one observation at a time,
//! sampled a function at a time.

mod fit;
mod kernel;
mod lanes;
mod path;
mod sparse;
mod triangle;

pub(crate) use fit::{Data, fit};
pub(crate) use kernel::{Kernel, Shape};
pub(crate) use path::Path;
pub(crate) use sparse::SparseGp;

#[cfg(test)]
mod tests;
