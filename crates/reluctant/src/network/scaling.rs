//! Inputs and rewards in units of what was seen, so that networks meet numbers of size one whatever they are measured
//! in.

use serde::{Deserialize, Serialize};

/// A scaled input is at most this in size: beyond, a network would extrapolate from nothing.
const FARTHEST: f64 = 5.0;

/// A column whose standard deviation is below this share of its size is constant up to rounding.
const CONSTANT: f64 = 1e-9;

/// The scale of rewards is at least this share of their range, so that a rare reward is not an outlier of enormous
/// size.
const SHARE_OF_RANGE: f64 = 0.1;

/// What inputs are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Inputs {
    /// Contexts, which come as they come: each coordinate is centred and divided by its standard deviation.
    Contexts,
    /// Rows that are chosen. A policy that has settled sees hardly any difference between them, so they are divided by
    /// their root mean square, all coordinates alike, and not centred.
    Rows,
}

/// Means and squares of all inputs so far.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Moments {
    inputs: Inputs,
    count: f64,
    means: Vec<f64>,
    /// Sums of squared distances from the means (contexts), or of squares (rows).
    squares: Vec<f64>,
}

impl Moments {
    pub(super) fn new(inputs: Inputs, dim: usize) -> Self {
        Moments { inputs, count: 0.0, means: vec![0.0; dim], squares: vec![0.0; dim] }
    }

    pub(super) fn is_consistent(&self, dim: usize) -> bool {
        self.means.len() == dim && self.squares.len() == dim && self.count >= 0.0
    }

    pub(super) fn dim(&self) -> usize {
        self.means.len()
    }

    pub(super) fn add(&mut self, x: &[f64]) {
        self.count += 1.0;
        for ((mean, square), x) in self.means.iter_mut().zip(&mut self.squares).zip(x) {
            match self.inputs {
                // Welford's update, which does not cancel.
                Inputs::Contexts => {
                    let before = x - *mean;
                    *mean += before / self.count;
                    *square += before * (x - *mean);
                }
                Inputs::Rows => *square += x * x,
            }
        }
    }

    /// The scaling that follows from what was seen.
    pub(super) fn scaling(&self) -> Scaling {
        let dim = self.means.len();
        let inverse = match self.inputs {
            Inputs::Contexts => (self.means.iter().zip(&self.squares))
                .map(|(mean, square)| {
                    let spread = (square / self.count.max(1.0)).sqrt();
                    if spread > CONSTANT * mean.abs() { 1.0 / spread } else { 0.0 }
                })
                .collect(),
            Inputs::Rows => {
                let size = (self.squares.iter().sum::<f64>() / (self.count * dim as f64)).sqrt();
                vec![if size > 0.0 { 1.0 / size } else { 1.0 }; dim]
            }
        };
        Scaling { centre: self.means.clone(), inverse }
    }
}

/// Inputs in units of size one: (x − centre)·inverse.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Scaling {
    centre: Vec<f64>,
    /// 0 for a coordinate that never changed.
    inverse: Vec<f64>,
}

impl Scaling {
    /// Inputs as they are.
    pub(super) fn none(dim: usize) -> Self {
        Scaling { centre: vec![0.0; dim], inverse: vec![1.0; dim] }
    }

    pub(super) fn is_consistent(&self, dim: usize) -> bool {
        self.centre.len() == dim && self.inverse.len() == dim && self.inverse.iter().all(|x| x.is_finite())
    }

    /// The scaled x, appended to `out`.
    pub(super) fn append(&self, x: &[f64], out: &mut Vec<f64>) {
        let scaled = x.iter().zip(&self.centre).zip(&self.inverse);
        out.extend(scaled.map(|((x, centre), inverse)| ((x - centre) * inverse).clamp(-FARTHEST, FARTHEST)));
    }
}

/// Rewards in units of size one: (y − centre)/size.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub(crate) struct Rewards {
    pub(crate) centre: f64,
    pub(crate) size: f64,
}

impl Rewards {
    /// Rewards as they are.
    pub(super) const AS_THEY_ARE: Rewards = Rewards { centre: 0.0, size: 1.0 };

    /// The scaling that follows from these rewards.
    pub(super) fn of(ys: &[f64]) -> Self {
        let n = ys.len() as f64;
        let centre = ys.iter().sum::<f64>() / n;
        let variance = ys.iter().map(|y| (y - centre) * (y - centre)).sum::<f64>() / n;
        let (least, most) = ys.iter().fold((f64::MAX, f64::MIN), |(a, b), y| (a.min(*y), b.max(*y)));
        let size = variance.sqrt().max(SHARE_OF_RANGE * (most - least));
        // Rewards that are all alike say nothing about their scale but their size.
        let size = if size > CONSTANT * centre.abs() { size } else { centre.abs() };
        Rewards { centre, size: if size > 0.0 { size } else { 1.0 } }
    }

    pub(super) fn is_consistent(&self) -> bool {
        self.centre.is_finite() && self.size > 0.0 && self.size.is_finite()
    }

    /// The scaled reward.
    pub(crate) fn scaled(&self, y: f64) -> f64 {
        (y - self.centre) / self.size
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn contexts_are_centred_and_divided_by_their_spread() {
        let mut moments = Moments::new(Inputs::Contexts, 3);
        let data = [[1e6, 5.0, 1e-6], [3e6, 5.0, 2e-6], [5e6, 5.0, 6e-6]];
        data.iter().for_each(|x| moments.add(x));
        let mut out = Vec::new();
        data.iter().for_each(|x| moments.scaling().append(x, &mut out));
        for j in [0, 2] {
            let column: Vec<f64> = (0..3).map(|i| out[3 * i + j]).collect();
            assert!(column.iter().sum::<f64>().abs() < 1e-12);
            assert!((column.iter().map(|x| x * x).sum::<f64>() / 3.0 - 1.0).abs() < 1e-12);
        }
        assert!((0..3).all(|i| out[3 * i + 1] == 0.0));
        out.clear();
        moments.scaling().append(&[1e99, 5.0, -1e99], &mut out);
        assert_eq!(out, [FARTHEST, 0.0, -FARTHEST]);
    }

    #[test]
    fn rows_keep_their_direction() {
        let mut moments = Moments::new(Inputs::Rows, 2);
        moments.add(&[3e-3, 4e-3]);
        let mut out = Vec::new();
        moments.scaling().append(&[3e-3, 4e-3], &mut out);
        assert!((out[0] * out[0] + out[1] * out[1] - 2.0).abs() < 1e-12 && (out[1] / out[0] - 4.0 / 3.0).abs() < 1e-12);
    }

    #[test]
    fn rewards_are_scaled_by_their_spread_unless_they_have_none() {
        let same = Rewards::of(&[0.0; 9]);
        assert_eq!((same.centre, same.size), (0.0, 1.0));
        assert_eq!(Rewards::of(&[4.0; 9]).size, 4.0);
        let even = Rewards::of(&[1.0, 3.0]);
        assert_eq!((even.centre, even.size, even.scaled(3.0)), (2.0, 1.0, 1.0));
        let mut rare = vec![0.0; 999];
        rare.push(1.0);
        assert_eq!(Rewards::of(&rare).size, SHARE_OF_RANGE);
    }
}
