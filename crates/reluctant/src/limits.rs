//! The sizes that nothing in this crate may exceed.

/// No number that enters a policy may be larger in size than this, so that squares and sums of squares stay finite.
pub const LIMIT: f64 = 1e100;

/// The most features, and so the largest dimension, that a policy keeps a matrix for: 4,000 squared are 128 MB.
pub const MAX_FEATURES: usize = 4000;

/// Whether a number may enter a policy.
pub(crate) fn in_limit(x: f64) -> bool {
    x.abs() <= LIMIT
}
