//! Which instructions kernels run with, and how many numbers they work on side by side.

use pulp::{Arch, Simd};

#[cfg(test)]
thread_local! {
    /// The instruction set of this thread, if it is not the machine's best.
    pub(crate) static GIVEN: std::cell::Cell<Option<Arch>> = const { std::cell::Cell::new(None) };
}

/// The instruction set that kernels run with: the best that the machine has. Every kernel asks here, so that
/// tests can run them with another.
#[inline]
#[allow(clippy::disallowed_methods, reason = "the one place that looks for it")]
pub(crate) fn arch() -> Arch {
    #[cfg(test)]
    if let Some(given) = GIVEN.get() {
        return given;
    }
    Arch::new()
}

/// Arms in a block, or columns in a panel: what is computed side by side.
pub(crate) const LANES: usize = 16;

/// One coordinate of every arm of a block.
pub(crate) type Lane = [f64; LANES];

/// The vectors of a lane.
#[inline(always)]
pub(crate) fn vectors<S: Simd>(lane: &Lane) -> &[S::f64s] {
    S::as_simd_f64s(lane).0
}

#[inline(always)]
pub(crate) fn vectors_mut<S: Simd>(lane: &mut Lane) -> &mut [S::f64s] {
    S::as_mut_simd_f64s(lane).0
}
