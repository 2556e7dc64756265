//! Overlap and weights: how much a log can say of a policy.

use std::collections::BTreeMap;

use reluctant::Space;
use serde::Serialize;

use super::verdict::BEYOND;
use super::{Angle, Interval, Moments, Term};
use crate::log::Record;

/// What a log is like, whatever policy is evaluated.
#[derive(Debug, Default)]
pub(super) struct Tally {
    rounds: u64,
    first_line: usize,
    pub(super) space: Option<Space>,
    /// The dimension around the sphere, if that was on offer.
    pub(super) sphere: Option<usize>,
    least: Option<f64>,
    missing: bool,
    certain: u64,
    estimated: u64,
    worst_error: f64,
    chosen: BTreeMap<String, u64>,
}

/// So many names of actions are counted; in logs of arms, places are.
const NAMES: usize = 1000;

impl Tally {
    pub(super) fn add(&mut self, record: &Record) {
        self.rounds += 1;
        self.first_line = if self.rounds == 1 { record.line } else { self.first_line.min(record.line) };
        self.space.get_or_insert_with(|| record.offer.space());
        self.sphere = record.offer.is_sphere().then(|| record.offer.space().dim());
        match record.propensity {
            None => self.missing = true,
            Some(p) => {
                self.least = Some(self.least.map_or(p, |least| least.min(p)));
                let alone = record.offer.count() == 1 && !record.offer.is_sphere();
                self.certain += u64::from(p >= 1.0 && record.propensity_error == 0.0 && !alone);
                self.estimated += u64::from(record.propensity_error > 0.0);
                self.worst_error = self.worst_error.max(record.propensity_error / p);
            }
        }
        let label = record.offer.label(record.chosen);
        if self.chosen.len() < NAMES || self.chosen.contains_key(&label) {
            *self.chosen.entry(label).or_default() += 1;
        }
    }

    pub(super) fn rounds(&self) -> u64 {
        self.rounds
    }

    /// The least propensity; `None` if one is missing, on the sphere, or if too often nothing was left to chance: then
    /// no rejection makes all choices equally likely.
    pub(super) fn least_propensity(&self) -> Option<f64> {
        self.least
            .filter(|_| !self.missing && self.sphere.is_none() && self.certain as f64 <= BEYOND * self.rounds as f64)
    }
}

/// The weights of one policy.
#[derive(Debug, Default)]
pub(super) struct Weights {
    sum: f64,
    squares: f64,
    greatest: f64,
    agreed: u64,
    /// What the policy would do where the log left nothing to chance and did something else.
    beyond: f64,
    first_beyond: Option<usize>,
    histogram: BTreeMap<i32, u64>,
}

impl Weights {
    pub(super) fn add(&mut self, line: usize, term: &Term) {
        let weight = term.weight();
        self.sum += weight;
        self.squares += weight * weight;
        self.greatest = self.greatest.max(weight);
        self.agreed += u64::from(weight > 0.0);
        if term.certain {
            self.beyond += 1.0 - term.probability;
            self.first_beyond = self.first_beyond.or((term.probability < 1.0).then_some(line));
        }
        let bin = if weight > 0.0 { libm::floor(libm::log2(weight)) as i32 } else { ZERO };
        *self.histogram.entry(bin.max(ZERO)).or_default() += 1;
    }

    /// The effective sample size (Σw)²/Σw².
    pub(super) fn effective(&self) -> f64 {
        if self.squares > 0.0 { self.sum * self.sum / self.squares } else { 0.0 }
    }

    pub(super) fn diagnose(&self, tally: &Tally, sums: &Moments, angle: Option<Angle>) -> Diagnosis {
        let rounds = tally.rounds as f64;
        let (mean_weight, error) = sums.mean_weight();
        Diagnosis {
            rounds: tally.rounds,
            actions: tally.chosen.len(),
            effective: self.effective(),
            mean_weight,
            mean_weight_error: error,
            greatest_weight: self.greatest,
            agreed: self.agreed as f64 / rounds,
            angle: angle.map(|angle| angle.degrees),
            smoothed: angle.map_or(0.0, |angle| angle.smoothed),
            beyond: self.beyond / rounds,
            first_beyond: self.first_beyond,
            first_line: tally.first_line,
            certain: tally.certain as f64 / rounds,
            estimated: tally.estimated as f64 / rounds,
            worst_error: tally.worst_error,
            least_propensity: tally.least.unwrap_or(f64::NAN),
            histogram: self.histogram.iter().map(|(bin, count)| (*bin, *count)).collect(),
        }
    }
}

/// The bin of weights that are 0, or below 2^(−20).
pub(super) const ZERO: i32 = -21;

/// How much a log can say of a policy.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Diagnosis {
    /// Rounds with a reward.
    pub rounds: u64,
    /// Different actions that were chosen.
    pub actions: usize,
    /// The effective sample size (Σw)²/Σw²: so many rounds of the policy's own would say as much.
    pub effective: f64,
    /// The mean weight, which is 1 but for chance if the propensities are right and the log tries all that the policy
    /// does.
    pub mean_weight: f64,
    /// Its standard error.
    pub mean_weight_error: f64,
    /// The greatest weight.
    pub greatest_weight: f64,
    /// The share of rounds whose choice the policy might have made.
    pub agreed: f64,
    /// On the sphere: how far from the policy's own point a round may lie to count, in degrees.
    pub angle: Option<f64>,
    /// By how much that smoothes the estimate; the intervals to trust are wider by it.
    pub smoothed: f64,
    /// How often the policy would have done what the log could not do, as it left nothing to chance: at least so often.
    pub beyond: f64,
    /// The line of the first of these rounds.
    pub first_beyond: Option<usize>,
    /// The first line that a round with a reward stands on.
    pub first_line: usize,
    /// The share of rounds in which the log left nothing to chance.
    pub certain: f64,
    /// The share of rounds whose propensity was estimated.
    pub estimated: f64,
    /// The greatest standard error of a propensity, as a share of it.
    pub worst_error: f64,
    /// The least propensity.
    pub least_propensity: f64,
    /// How many weights there are from 2^k up to 2^(k+1), by k; the first of −21 are 0.
    pub histogram: Vec<(i32, u64)>,
}

impl Diagnosis {
    /// An interval with room for what was smoothed away.
    pub(super) fn widened(&self, [low, high]: Interval) -> Interval {
        [low - self.smoothed, high + self.smoothed]
    }
}
