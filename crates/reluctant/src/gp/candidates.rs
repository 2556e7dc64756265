//! Which kernels are tried when evidence decides.

use super::evidence::{Explained, Observed};
use super::kernel::{Kernel, Shape, Units, Wide};

/// Length-scales of stationary kernels, in units of the points' spread.
const LENGTHS: [f64; 7] = [0.5, 0.707, 1.0, 1.414, 2.0, 2.828, 4.0];
/// The same if other shapes are tried too.
const FEWER_LENGTHS: [f64; 4] = [0.5, 1.0, 2.0, 4.0];
/// Length-scales of wide networks with biases, in units of the points' size: biases are as large as 1/ℓ, 1/2ℓ, …
const BIASES: [f64; 4] = [0.5, 1.0, 2.0, 4.0];

/// The wide networks that are tried among others.
const WIDE: [Wide; 6] = [
    Wide { of: Units::Relu, depth: 1, bias: false },
    Wide { of: Units::Relu, depth: 1, bias: true },
    Wide { of: Units::Relu, depth: 2, bias: true },
    Wide { of: Units::Relu, depth: 3, bias: true },
    Wide { of: Units::Tangent, depth: 1, bias: true },
    Wide { of: Units::Tangent, depth: 2, bias: true },
];

/// Those that were added later. They come last, because saved states know candidates by their numbers.
const LATER: [Wide; 2] =
    [Wide { of: Units::Tangent, depth: 3, bias: true }, Wide { of: Units::Gate, depth: 1, bias: true }];

/// A kernel but for its variance: its shape, and its length-scale in units that the points give.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Candidate {
    shape: Shape,
    length: f64,
}

impl Candidate {
    /// Those of one shape, or of all.
    pub(crate) fn all(shape: Option<Shape>) -> Vec<Candidate> {
        let of = |shape, lengths: &[f64]| lengths.iter().map(|&length| Candidate { shape, length }).collect::<Vec<_>>();
        let one = |shape| match shape {
            Shape::Wide(Wide { bias: false, .. }) => of(shape, &[1.0]),
            Shape::Wide(_) => of(shape, &BIASES),
            _ => of(shape, &LENGTHS),
        };
        let Some(shape) = shape else {
            let stationary = [Shape::Rbf, Shape::Matern32, Shape::Matern52].into_iter();
            let wide = WIDE.map(Shape::Wide).into_iter().flat_map(one);
            let later = LATER.map(Shape::Wide).into_iter().flat_map(one);
            return wide.chain(stationary.flat_map(|shape| of(shape, &FEWER_LENGTHS))).chain(later).collect();
        };
        one(shape)
    }

    /// Every variance and noise tried with it, with evidence. A weak log-normal prior holds the length-scale where data
    /// say nothing. What is given is kept.
    pub(crate) fn explained(
        self,
        observed: &Observed,
        length: Option<f64>,
        sigma: Option<f64>,
        variance: Option<f64>,
    ) -> Vec<Explained> {
        let unit = if matches!(self.shape, Shape::Wide(_)) { observed.size } else { observed.spread };
        let kernel = Kernel { shape: self.shape, length: length.unwrap_or(self.length * unit), variance: 1.0 };
        let off = libm::log(self.length);
        let mut found = observed.explained(kernel, sigma, variance);
        found.iter_mut().for_each(|one| one.evidence -= 0.5 * off * off);
        found
    }
}

/// Of those whose evidence is within `leeway` of the best, the one of the greatest `doubt`, its signal or the ratio of
/// signal to noise: who doubts more than the data demand is not caught by early luck.
pub(crate) fn most_doubtful(found: &[Explained], leeway: f64, doubt: impl Fn(&Explained) -> f64) -> Option<Explained> {
    let best = found.iter().map(|one| one.evidence).fold(f64::NEG_INFINITY, f64::max);
    let near = found.iter().filter(|one| one.evidence >= best - leeway);
    near.copied()
        .max_by(|a, b| (doubt(a), a.evidence).partial_cmp(&(doubt(b), b.evidence)).unwrap_or(std::cmp::Ordering::Equal))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_added_later_comes_last() {
        let all = Candidate::all(None);
        let (known, later) = all.split_at(33);
        let is_later = |candidate: &Candidate| LATER.map(Shape::Wide).contains(&candidate.shape);
        assert_eq!((known.len(), later.len()), (33, 8));
        assert!(later.iter().all(is_later) && !known.iter().any(is_later));
    }
}
