//! Gaussian processes for bandits: bounded in size, kept up to date one observation at a time, sampled a function at a time.

mod fit;
mod kernel;
mod lanes;
mod model;
mod path;
mod sparse;
mod triangle;

pub(crate) use model::{BUDGET, KERNEL, LENGTH, Model, VARIANCE};
pub(crate) use path::Path;

#[cfg(test)]
mod tests;
