//! Sums over rows in partial sums that are the same on every machine.

use crate::instructions::{LANES, Lane};

/// Up to so many features there is a copy of φ followed by zeros.
const PADDED: usize = 64;

/// φ followed by zeros, so that the rest of a row that does not fill a lane is multiplied in one step with what
/// follows it in the matrix: zeros times numbers add nothing, and no bit changes.
pub(super) struct Padded {
    phi: [f64; PADDED + LANES],
    dim: usize,
}

impl Padded {
    #[inline(always)]
    pub(super) fn of(phi: &[f64]) -> Self {
        let mut padded = Padded { phi: [0.0; PADDED + LANES], dim: phi.len() };
        if let Some(copy) = padded.phi[..PADDED].get_mut(..phi.len()) {
            copy.copy_from_slice(phi);
        }
        padded
    }

    /// What stands right of the diagonal in row i of the matrix, and the same part of φ, in whole lanes; `None` where
    /// φ is too long or the matrix ends.
    #[inline(always)]
    pub(super) fn beside<'k>(&'k self, matrix: &'k [f64], i: usize) -> Option<(&'k [f64], &'k [f64])> {
        let length = (self.dim - i - 1).next_multiple_of(LANES);
        let begin = i * self.dim + i + 1;
        let row = if self.dim <= PADDED { matrix.get(begin..begin + length) } else { None };
        row.map(|row| (row, &self.phi[i + 1..][..length]))
    }
}

/// Σ aᵢbᵢ in as many partial sums as a lane has places, whatever the machine: much faster than one after the other.
#[inline(always)]
pub(super) fn dot_in_lanes(a: &[f64], b: &[f64]) -> f64 {
    let ((a, a_rest), (b, b_rest)) = (a.as_chunks::<LANES>(), b.as_chunks::<LANES>());
    let mut sums: Lane = [0.0; LANES];
    for (a, b) in a.iter().zip(b) {
        for lane in 0..LANES {
            sums[lane] += a[lane] * b[lane];
        }
    }
    for ((sum, a), b) in sums.iter_mut().zip(a_rest).zip(b_rest) {
        *sum += a * b;
    }
    total(sums)
}

/// Σ aᵢbᵢ as [`dot_in_lanes`] gives it, and y ← y + m·a, so that `a` is read once.
#[inline(always)]
pub(super) fn dot_and_axpy(m: f64, a: &[f64], b: &[f64], y: &mut [f64]) -> f64 {
    let ((a, a_rest), (b, b_rest)) = (a.as_chunks::<LANES>(), b.as_chunks::<LANES>());
    let (y, y_rest) = y.as_chunks_mut::<LANES>();
    let mut sums: Lane = [0.0; LANES];
    for ((a, b), y) in a.iter().zip(b).zip(y) {
        for lane in 0..LANES {
            sums[lane] += a[lane] * b[lane];
            y[lane] += m * a[lane];
        }
    }
    for (((sum, a), b), y) in sums.iter_mut().zip(a_rest).zip(b_rest).zip(y_rest) {
        *sum += a * b;
        *y += m * a;
    }
    total(sums)
}

/// The sum of all lanes, in halves.
#[inline(always)]
fn total(lanes: Lane) -> f64 {
    let eight: [f64; 8] = std::array::from_fn(|i| lanes[i] + lanes[i + 8]);
    let four: [f64; 4] = std::array::from_fn(|i| eight[i] + eight[i + 4]);
    (four[0] + four[2]) + (four[1] + four[3])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::{Key, normal};

    /// With zeros behind φ every bit is that of the row by itself, for sizes around whole lanes and the longest.
    #[test]
    fn padding_changes_no_bit() {
        let mut stream = Key::new(1).stream();
        for dim in [1, 2, 7, 14, 15, 16, 17, 20, 31, 33, 63, PADDED, PADDED + 1] {
            let matrix: Vec<f64> = (0..dim * dim).map(|_| normal(&mut stream)).collect();
            let phi: Vec<f64> = (0..dim).map(|_| normal(&mut stream)).collect();
            let padded = Padded::of(&phi);
            let mut used = 0;
            for i in 0..dim {
                let plain = dot_in_lanes(&matrix[i * dim + i + 1..(i + 1) * dim], &phi[i + 1..]);
                if let Some((row, phi)) = padded.beside(&matrix, i) {
                    assert_eq!(dot_in_lanes(row, phi).to_bits(), plain.to_bits(), "row {i} of {dim}");
                    used += 1;
                }
            }
            assert_eq!(used == dim, (15..=PADDED).contains(&dim) || dim == 1, "{used} of {dim}");
        }
    }
}
