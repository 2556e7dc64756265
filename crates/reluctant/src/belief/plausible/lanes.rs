//! Sums over observations that lie side by side.

use crate::kernels::{LANES, Lane};

/// The sum of all lanes.
///
/// Written out, because a loop over the widths would be compiled as one, and of lanes the compiler cannot see behind,
/// because it would otherwise carry the narrow vectors of the last additions into the loop that made the lanes.
#[inline(always)]
pub(super) fn total(lanes: Lane) -> f64 {
    let lanes = std::hint::black_box(lanes);
    let eight: [f64; 8] = std::array::from_fn(|i| lanes[i] + lanes[i + 8]);
    let four: [f64; 4] = std::array::from_fn(|i| eight[i] + eight[i + 4]);
    (four[0] + four[2]) + (four[1] + four[3])
}

/// The dot product of two rows of lanes.
#[inline(always)]
pub(super) fn lane_dot(a: &[Lane], b: &[Lane]) -> f64 {
    let mut sum = [0.0; LANES];
    for (a, b) in a.iter().zip(b) {
        for lane in 0..LANES {
            sum[lane] += a[lane] * b[lane];
        }
    }
    total(sum)
}
