//! Rewards in units of what was seen, so that networks meet numbers of size one whatever they are measured in.

use serde::{Deserialize, Serialize};

use super::scaling::CONSTANT;
use crate::choice::Score;

/// The scale of rewards is at least this share of their range, so that a rare reward is not an outlier of enormous
/// size.
const SHARE_OF_RANGE: f64 = 0.1;

/// Rewards in units of size one: (y − centre)/size.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub(crate) struct Rewards {
    centre: f64,
    size: f64,
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

    /// The reward that a scaled value stands for.
    pub(crate) fn reward(&self, value: f64) -> f64 {
        self.centre + self.size * value
    }

    /// The reward that a scaled value stands for, and `scale` times a scaled spread.
    pub(crate) fn score(&self, value: f64, scale: f64, spread: f64) -> Score {
        Score { mean: self.reward(value), width: scale * self.size * spread }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
