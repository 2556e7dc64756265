//! The hidden layer of an infinitely wide network, as far as some landmarks tell.
//!
//! Infinitely many random ReLUs with random weights behind them are a Gaussian process, whose kernel k is known
//! ([`Kernel`]). With landmarks z₁, …, zₘ and LLᵀ = (k(zᵢ, zⱼ)) its features are
//!
//! > φ(x) = L⁻¹(k(z₁, x), …, k(zₘ, x)),
//!
//! so that φ(x)·φ(x′) is k(x, x′) where one of the two is a landmark, and nearly so elsewhere (Williams and
//! Seeger 2001, Using the Nyström method to speed up kernel machines). Regression on them is that process, seen from
//! the landmarks. These are inputs that were seen, each the one of which those before say least: Cholesky's
//! factorisation with pivots.

use serde::{Deserialize, Serialize};

use crate::gp::{Kernel, Pairs, Shape, Units, Wide};
use crate::linalg::dot;

/// The most landmarks.
const MOST: usize = 128;
/// Landmarks are chosen among at most about so many of the inputs, evenly over time. For speed.
const CANDIDATES: usize = 1000;
/// An input of whose variance the landmarks leave no larger share than this is as good as one of them.
const KNOWN: f64 = 1e-6;
/// The hidden layers. One does as well; seed 90417 of the real tables.
const DEPTH: u8 = 2;

/// Landmarks and the factor L of their kernel.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(super) struct Landmarks {
    /// The unit of inputs: their root mean square length, so that biases count as much as inputs.
    length: f64,
    /// One after the other.
    points: Vec<f64>,
    /// ‖z‖² of each.
    squares: Vec<f64>,
    /// The rows of L up to the diagonal, one after the other.
    factor: Vec<f64>,
}

impl Landmarks {
    /// Landmarks among the inputs `xs`, of `dim` numbers each, one after the other.
    pub(super) fn among(dim: usize, xs: &[f64]) -> Self {
        let every = (xs.len() / dim).div_ceil(CANDIDATES).max(1);
        let candidates: Vec<&[f64]> = xs.chunks_exact(dim).step_by(every).collect();
        let count = candidates.len();
        let squares: Vec<f64> = candidates.iter().map(|x| dot(x, x)).collect();
        let mean = squares.iter().sum::<f64>() / count.max(1) as f64;
        let mut chosen = Landmarks { length: if mean > 0.0 { mean.sqrt() } else { 1.0 }, ..Landmarks::default() };
        let mut left: Vec<f64> = candidates.iter().map(|x| chosen.kernel().diagonal(x)).collect();
        let least = KNOWN * left.iter().copied().fold(0.0, f64::max);
        // What each landmark says of each candidate: the columns of L for all of them.
        let mut columns: Vec<Vec<f64>> = Vec::new();
        while columns.len() < MOST.min(count) {
            let pivot = (0..count).fold(0, |best, i| if left[i] > left[best] { i } else { best });
            if left[pivot] <= least {
                break;
            }
            let root = left[pivot].sqrt();
            chosen.factor.extend(columns.iter().map(|column| column[pivot]));
            chosen.factor.push(root);
            chosen.points.extend_from_slice(candidates[pivot]);
            chosen.squares.push(squares[pivot]);
            let mut column = chosen.kernels(candidates[pivot], candidates.iter().copied(), &squares);
            for said in &columns {
                column.iter_mut().zip(said).for_each(|(c, s)| *c -= said[pivot] * s);
            }
            column.iter_mut().for_each(|c| *c /= root);
            left.iter_mut().zip(&column).for_each(|(left, c)| *left -= c * c);
            left[pivot] = 0.0;
            columns.push(column);
        }
        chosen
    }

    /// How many there are.
    pub(super) fn count(&self) -> usize {
        self.squares.len()
    }

    /// Whether the parts fit together, for landmarks read from a file.
    pub(super) fn is_consistent(&self, dim: usize) -> bool {
        let count = self.count();
        count <= MOST
            && self.points.len() == count * dim
            && self.factor.len() == count * (count + 1) / 2
            && (count == 0 || self.length > 0.0)
            && (0..count).all(|i| self.row(i)[i] > 0.0)
            && [&self.points, &self.squares, &self.factor].into_iter().flatten().all(|x| x.is_finite())
    }

    /// φ(x), into `out`, which has as many numbers as there are landmarks.
    pub(super) fn features(&self, x: &[f64], out: &mut [f64]) {
        out.copy_from_slice(&self.kernels(x, self.points.chunks_exact(x.len()), &self.squares));
        for i in 0..out.len() {
            let (before, rest) = out.split_at_mut(i);
            let row = self.row(i);
            rest[0] = (rest[0] - dot(&row[..i], before)) / row[i];
        }
    }

    fn kernel(&self) -> Kernel {
        let wide = Wide { of: Units::Relu, depth: DEPTH, bias: true };
        Kernel { shape: Shape::Wide(wide), length: self.length, variance: 0.5 }
    }

    /// Row i of L up to the diagonal.
    fn row(&self, i: usize) -> &[f64] {
        let start = i * (i + 1) / 2;
        &self.factor[start..=start + i]
    }

    /// k(x, z) for all z, whose squares are given.
    fn kernels<'a>(&self, x: &[f64], zs: impl Iterator<Item = &'a [f64]>, squares: &[f64]) -> Vec<f64> {
        let products: Vec<f64> = zs.map(|z| dot(x, z)).collect();
        let left = vec![dot(x, x); products.len()];
        self.kernel().of_pairs(Pairs { squares: &products, products: &products, left: &left, right: squares })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::{Key, normal};

    fn inputs(count: usize, dim: usize) -> Vec<f64> {
        let mut stream = Key::new(3).stream();
        (0..count * dim).map(|_| normal(&mut stream)).collect()
    }

    fn features(landmarks: &Landmarks, x: &[f64]) -> Vec<f64> {
        let mut out = vec![0.0; landmarks.count()];
        landmarks.features(x, &mut out);
        out
    }

    /// φ(x)·φ(z) = k(x, z) for a landmark z and any x; all inputs are landmarks while there are few.
    #[test]
    fn features_have_the_kernel_at_landmarks() {
        let (few, many) = (inputs(40, 3), inputs(700, 3));
        let all = Landmarks::among(3, &few);
        assert!(all.count() == 40 && all.is_consistent(3) && !all.is_consistent(2));
        let some = Landmarks::among(3, &many);
        assert!(some.count() == MOST && some.is_consistent(3));
        for landmarks in [&all, &some] {
            for z in landmarks.points.chunks_exact(3).take(20) {
                let of_z = features(landmarks, z);
                for x in many.chunks_exact(3).take(20) {
                    let (got, wanted) = (dot(&features(landmarks, x), &of_z), landmarks.kernel().at(x, z));
                    assert!((got - wanted).abs() < 1e-6, "{got} is not {wanted}");
                }
            }
        }
    }

    /// Elsewhere they have nearly the kernel, and never too large a variance.
    #[test]
    fn landmarks_are_chosen_so_that_little_is_left() {
        let xs = inputs(700, 3);
        let landmarks = Landmarks::among(3, &xs);
        let mut missing: f64 = 0.0;
        for x in xs.chunks_exact(3) {
            let (phi, whole) = (features(&landmarks, x), landmarks.kernel().diagonal(x));
            let left = whole - dot(&phi, &phi);
            assert!(left > -1e-9);
            missing = missing.max(left / whole);
        }
        assert!(missing < 0.01, "{missing}");
    }

    /// Inputs that are all the same, or zero, are one landmark; none are none.
    #[test]
    fn what_is_seen_twice_is_one_landmark() {
        let same = Landmarks::among(2, &[1.0, 2.0, 1.0, 2.0, 1.0, 2.0]);
        let zero = Landmarks::among(2, &[0.0; 8]);
        let none = Landmarks::among(2, &[]);
        assert_eq!([same.count(), zero.count(), none.count()], [1, 1, 0]);
        assert!(same.is_consistent(2) && zero.is_consistent(2) && none.is_consistent(2));
        assert!((features(&same, &[1.0, 2.0])[0] - 1.0).abs() < 1e-12);
    }
}
