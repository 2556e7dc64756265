//! Gaussian processes for bandits: bounded in size, kept up to date one observation at a time,
//! sampled a function at a time.

mod candidates;
mod evidence;
mod fit;
mod kernel;
mod lanes;
mod path;
mod prior;
mod sparse;
mod triangle;

pub(crate) use candidates::{Candidate, most_doubtful};
pub(crate) use evidence::{Explained, Observed, Points};
pub(crate) use fit::{Data, fit};
pub(crate) use kernel::{Kernel, Pairs, Shape, Units, Wide};
pub(crate) use path::Path;
pub(crate) use sparse::SparseGp;

#[cfg(test)]
mod tests;
