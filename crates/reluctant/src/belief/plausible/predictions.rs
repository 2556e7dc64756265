//! What the plausible networks predict: their mean, and a width that is their spread or what the most hopeful expect.

use std::cmp::Ordering;

use pulp::NullaryFnOnce;

use super::PlausibleNetworks;
use super::constants::HOPEFUL;
use super::member::Member;
use crate::choice::{Leader, Score};
use crate::kernels::{Blocks, LANES, Lane, arch, block_value};
use crate::offer::Rows;
use crate::relu::ReluNet;
use crate::scratch::Scratch;

impl PlausibleNetworks {
    /// Scores arms by the plausible networks, `all` of them or, for a choice, only as well as it takes to tell which is
    /// the best.
    pub(crate) fn score_by_networks(&self, rows: Rows<'_>, width: Width, all: bool, scratch: &mut Scratch) {
        let Scratch { scores, lanes, numbers, words, weighted, .. } = scratch;
        self.ensemble.list_plausible(words, numbers);
        let networks = Networks { members: &self.ensemble.members, which: words, weights: numbers };
        scores.clear();
        arch().dispatch(Kernel { networks, width, rows, all, values: lanes, weighted, scores });
    }
}

/// The plausible members, with their weights.
#[derive(Clone, Copy)]
struct Networks<'a> {
    members: &'a [Member],
    which: &'a [u64],
    weights: &'a [f64],
}

impl Networks<'_> {
    #[inline(always)]
    fn iter(&self) -> impl Iterator<Item = (f64, &ReluNet)> {
        self.weights.iter().zip(self.which).map(|(weight, m)| (*weight, &self.members[*m as usize].network))
    }
}

/// What is added to the mean.
#[derive(Clone, Copy)]
pub(crate) enum Width {
    /// So many standard deviations.
    Spread(f64),
    /// As much as the most hopeful networks expect.
    Hope,
}

struct Kernel<'a> {
    networks: Networks<'a>,
    width: Width,
    rows: Rows<'a>,
    all: bool,
    values: &'a mut Vec<Lane>,
    weighted: &'a mut Vec<(f64, f64)>,
    scores: &'a mut Vec<Score>,
}

impl NullaryFnOnce for Kernel<'_> {
    type Output = ();
    #[inline(always)]
    fn call(self) {
        let Kernel { networks, width, rows, all, values, weighted, scores } = self;
        let mut leader = Leader::default();
        let mut blocks = Blocks::new(rows);
        while let Some((count, block)) = blocks.next() {
            let (mean, spread) = block_moments(networks, block, values);
            match width {
                Width::Spread(c) => {
                    scores.extend((0..count).map(|lane| Score { mean: mean[lane], width: c * spread[lane] }));
                }
                Width::Hope => {
                    let greatest = block_greatest(values);
                    scores.extend((0..count).map(|lane| {
                        // No hope exceeds the greatest value, and where that is too low there is no need to know it.
                        let hope = if all || greatest[lane] > leader.value() {
                            weighted.clear();
                            weighted.extend(values.iter().zip(networks.weights).map(|(v, w)| (v[lane], *w)));
                            hope(weighted)
                        } else {
                            greatest[lane]
                        };
                        let score = Score { mean: mean[lane], width: (hope - mean[lane]).max(0.0) };
                        leader.offer(score.upper());
                        score
                    }));
                }
            }
        }
    }
}

/// The greatest of the values at each of sixteen arms.
#[inline(always)]
fn block_greatest(values: &[Lane]) -> Lane {
    let mut greatest = [f64::NEG_INFINITY; LANES];
    for value in values {
        for lane in 0..LANES {
            greatest[lane] = if value[lane] > greatest[lane] { value[lane] } else { greatest[lane] };
        }
    }
    greatest
}

/// The mean of the plausible networks and their standard deviation at sixteen arms; their values are left in `values`.
#[inline(always)]
fn block_moments(networks: Networks<'_>, block: &[Lane], values: &mut Vec<Lane>) -> (Lane, Lane) {
    values.clear();
    let (mut mean, mut variance) = ([0.0; LANES], [0.0; LANES]);
    for (weight, network) in networks.iter() {
        let value = block_value(network, block);
        for lane in 0..LANES {
            mean[lane] += weight * value[lane];
        }
        values.push(value);
    }
    for (weight, value) in networks.weights.iter().zip(values.iter()) {
        for lane in 0..LANES {
            // Squares of what is farther apart would overflow.
            let apart = (value[lane] - mean[lane]).clamp(-1e150, 1e150);
            variance[lane] += weight * (apart * apart);
        }
    }
    (mean, variance.map(f64::sqrt))
}

/// The mean of the greatest values that have [`HOPEFUL`] of the weight; of values with weights that sum to one.
fn hope(values: &mut [(f64, f64)]) -> f64 {
    // Weights hardly differ, so that twice the share is enough, and only as much must be sorted.
    let few = (2.0 * HOPEFUL * values.len() as f64) as usize;
    if few > 0 {
        let (greatest, ..) = values.select_nth_unstable_by(few, downwards);
        if greatest.iter().map(|(_, weight)| weight).sum::<f64>() > HOPEFUL {
            return upper_mean(greatest);
        }
    }
    upper_mean(values)
}

fn upper_mean(values: &mut [(f64, f64)]) -> f64 {
    values.sort_unstable_by(downwards);
    let (mut left, mut sum) = (HOPEFUL, 0.0);
    for &(value, weight) in values.iter() {
        let part = weight.min(left);
        sum += part * value;
        left -= part;
    }
    sum / (HOPEFUL - left)
}

fn downwards(a: &(f64, f64), b: &(f64, f64)) -> Ordering {
    b.0.total_cmp(&a.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hope_is_the_mean_of_the_upper_tail() {
        // Thirty-two equal weights: the two greatest.
        let mut values: Vec<(f64, f64)> = (0..32).map(|i| (f64::from(i * 7 % 32), 1.0 / 32.0)).collect();
        assert!((hope(&mut values) - 30.5).abs() < 1e-12);
        // Part of a heavy one counts in part.
        let mut values = vec![(1.0, 0.97), (5.0, 0.03)];
        let expected = (0.03 * 5.0 + (HOPEFUL - 0.03) * 1.0) / HOPEFUL;
        assert!((hope(&mut values) - expected).abs() < 1e-12);
        assert_eq!(hope(&mut [(2.5, 1.0)]), 2.5);
    }
}
