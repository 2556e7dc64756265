//! What many trials say: intervals, quantiles, growth, and differences between policies.
//!
//! Nothing here depends on the platform's mathematics library or on the order in which trials finished, so that equal
//! results give equal statistics to the bit.

mod student;

use std::collections::BTreeMap;

pub use student::t95;

use crate::results::{EnvironmentResults, PolicyResults, TrialCurve};

/// A trial grows linearly if its growth exponent is at least this; √T growth has ½, logarithmic growth 0.
pub const LINEAR_EXPONENT: f64 = 0.8;

/// 2^[`LINEAR_EXPONENT`], written out so that no logarithm decides.
const LINEAR_RATIO: f64 = 1.741_101_126_592_248_3;

/// A trial that pays less than this share of what chance would pay does not count as growing, whatever its exponent.
pub const NEGLIGIBLE: f64 = 0.01;

/// The mean with its interval, and the quantiles, of some numbers.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct Sample {
    /// How many numbers there are; at least one.
    pub count: usize,
    /// Their mean.
    pub mean: f64,
    /// Half the width of the mean's 95 % interval by Student's t; none for a single number,
    /// which says nothing about spread.
    pub half_width: Option<f64>,
    /// Their median.
    pub median: f64,
    /// The 10 % quantile.
    pub q10: f64,
    /// The 90 % quantile.
    pub q90: f64,
}

impl Sample {
    /// Describes `values`; none if there are none.
    pub fn of(values: impl IntoIterator<Item = f64>) -> Option<Self> {
        let mut sorted: Vec<f64> = values.into_iter().collect();
        let t = t95(sorted.len().saturating_sub(1));
        Self::with(t, &mut sorted)
    }

    /// As [`Sample::of`], with the quantile of Student's t already known. Sorts `values`.
    fn with(t: f64, values: &mut [f64]) -> Option<Self> {
        if values.is_empty() {
            return None;
        }
        let n = values.len() as f64;
        let mean = values.iter().sum::<f64>() / n;
        let half_width = (values.len() > 1).then(|| {
            let squares: f64 = values.iter().map(|x| (x - mean) * (x - mean)).sum();
            t * (squares / (n - 1.0) / n).sqrt()
        });
        values.sort_by(f64::total_cmp);
        let [q10, median, q90] = [0.1, 0.5, 0.9].map(|p| quantile(values, p));
        Some(Sample { count: values.len(), mean, half_width, median, q10, q90 })
    }

    /// The 95 % interval of the mean.
    pub fn ci95(&self) -> Option<[f64; 2]> {
        self.half_width.map(|half| [self.mean - half, self.mean + half])
    }
}

/// The quantile of sorted numbers, interpolated between the order statistics around rank (n−1)p ("type 7", the default
/// of R and numpy); 0 if there are none.
pub fn quantile(sorted: &[f64], p: f64) -> f64 {
    let Some(last) = sorted.len().checked_sub(1) else { return 0.0 };
    let rank = last as f64 * p.clamp(0.0, 1.0);
    let below = rank as usize;
    let (low, high) = (sorted[below], sorted[(below + 1).min(last)]);
    low + (rank - below as f64) * (high - low)
}

/// The sample of regrets at each checkpoint; empty if there are no trials.
pub fn curve(environment: &EnvironmentResults, policy: &PolicyResults) -> Vec<Sample> {
    let t = t95(policy.trials.len().saturating_sub(1));
    let mut column = Vec::with_capacity(policy.trials.len());
    let at = |i| {
        column.clear();
        column.extend(policy.trials.iter().filter_map(|trial: &TrialCurve| trial.regret.get(i)));
        Sample::with(t, &mut column)
    };
    (0..environment.checkpoints.len()).map_while(at).collect()
}

/// The regret after `round` rounds, which need not be whole: interpolated between checkpoints, 0 at round 0.
fn regret_at(checkpoints: &[u64], regret: &[f64], round: f64) -> f64 {
    let mut before = (0.0, 0.0);
    for (&checkpoint, &value) in checkpoints.iter().zip(regret) {
        let checkpoint = checkpoint as f64;
        if checkpoint >= round {
            let share = (round - before.0) / (checkpoint - before.0);
            return before.1 + share * (value - before.1);
        }
        before = (checkpoint, value);
    }
    before.1
}

/// What was paid in the second quarter and in the second half of the rounds; none if there are too few checkpoints to
/// tell: at least one is needed in the first quarter, and one more in the first half.
fn late_payments(environment: &EnvironmentResults, trial: &TrialCurve) -> Option<[f64; 2]> {
    let total = environment.rounds as f64;
    let quarter = environment.checkpoints.iter().filter(|&&t| t as f64 <= total / 4.0).count();
    let half = environment.checkpoints.iter().filter(|&&t| t as f64 <= total / 2.0).count();
    if quarter == 0 || half == quarter {
        return None;
    }
    let [quarter, half, whole] =
        [0.25, 0.5, 1.0].map(|share| regret_at(&environment.checkpoints, &trial.regret, share * total));
    Some([half - quarter, whole - half])
}

/// Whether a trial still pays linear regret at its end.
///
/// With R the cumulative regret, the growth exponent is p = log₂((R(T) − R(T/2)) / (R(T/2) − R(T/4))): 1 if R grows
/// linearly, ½ if like √T, 0 if like log T. Because only differences enter, what was paid before T/4 (an exploration
/// phase, say) does not matter. A trial grows linearly if p ≥ 0.8 *and* it pays in the last half at least 1 % of what
/// chance would pay there: a policy that found an all but perfect arm also pays linearly, yet has not failed.
pub fn is_linear(environment: &EnvironmentResults, trial: &TrialCurve) -> bool {
    // Multiplied out, so that a policy which paid nothing in the second quarter needs no special case.
    late_payments(environment, trial).is_some_and(|[second_quarter, last_half]| {
        last_half > 0.0 && last_half >= LINEAR_RATIO * second_quarter && last_half >= NEGLIGIBLE * 0.5 * trial.chance
    })
}

/// The share of trials that [still grow linearly](is_linear); none if there are no trials.
pub fn linear_share(environment: &EnvironmentResults, policy: &PolicyResults) -> Option<f64> {
    let linear = policy.trials.iter().filter(|trial| is_linear(environment, trial)).count();
    (!policy.trials.is_empty()).then(|| linear as f64 / policy.trials.len() as f64)
}

/// A straight line through a mean curve on logarithmic axes: mean regret ≈ c·t^value.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct Slope {
    /// The exponent: 1 if regret grows linearly, ½ if like √t.
    pub value: f64,
    /// The first round of the fit.
    pub from: u64,
    /// Its last round.
    pub to: u64,
    /// log t and log regret of the point that the line goes through.
    centre: [f64; 2],
}

impl Slope {
    /// The height of the line at round `t`.
    pub fn at(&self, t: f64) -> f64 {
        libm::exp(self.centre[1] + self.value * (libm::log(t) - self.centre[0]))
    }
}

/// The slope of log mean regret against log t over the last two decades, T/100 ≤ t ≤ T, but not before round 10.
///
/// Least squares where equal ratios of t weigh the same, however the checkpoints are spaced: evenly spaced ones, nine
/// in ten of which lie in the last decade, would otherwise hide the decade before. Unlike [`is_linear`] it sees the
/// offset of what was paid early, which flattens it: use it to compare curves, not to judge one. None if the
/// checkpoints with a positive regret do not span a factor of two.
pub fn slope(checkpoints: &[u64], mean: &[f64]) -> Option<Slope> {
    let last = *checkpoints.last()?;
    let shown = checkpoints.iter().copied().zip(mean.iter().copied());
    let late: Vec<(u64, f64)> = shown.filter(|&(t, mean)| t >= 10.max(last.div_ceil(100)) && mean > 0.0).collect();
    let (from, to) = (late.first()?.0, late.last()?.0);
    if to < from.saturating_mul(2) {
        return None;
    }
    let points: Vec<[f64; 2]> = late.iter().map(|&(t, mean)| [libm::log(t as f64), libm::log(mean)]).collect();
    // Half of the way to either neighbour.
    let weight = |i: usize| points[(i + 1).min(points.len() - 1)][0] - points[i.saturating_sub(1)][0];
    let weighted = || points.iter().enumerate().map(|(i, point)| (weight(i), point));
    let total: f64 = weighted().map(|(weight, _)| weight).sum();
    let centre = [0, 1].map(|axis| weighted().map(|(weight, point)| weight * point[axis]).sum::<f64>() / total);
    let (xy, xx) = weighted().fold((0.0, 0.0), |(xy, xx), (weight, [x, y])| {
        let dx = x - centre[0];
        (xy + weight * dx * (y - centre[1]), xx + weight * dx * dx)
    });
    Some(Slope { value: xy / xx, from, to, centre })
}

/// How two policies differ on the trials that both played: same number, same arms, same noise.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct Paired {
    /// How many trials both played.
    pub trials: usize,
    /// The mean of the first policy's final regret minus the second's: negative if the first is better.
    pub mean: f64,
    /// Half the width of the 95 % interval of that mean; none for a single trial.
    pub half_width: Option<f64>,
    /// The share of trials in which the first paid less; a tie counts one half.
    pub won: f64,
}

impl Paired {
    /// The 95 % interval of the mean difference.
    pub fn ci95(&self) -> Option<[f64; 2]> {
        self.half_width.map(|half| [self.mean - half, self.mean + half])
    }
}

/// Compares two policies trial by trial; none if they have no trial in common.
pub fn paired(first: &PolicyResults, second: &PolicyResults) -> Option<Paired> {
    let theirs: BTreeMap<u64, f64> = second.trials.iter().map(|trial| (trial.trial, trial.total())).collect();
    let differences: Vec<f64> =
        first.trials.iter().filter_map(|trial| theirs.get(&trial.trial).map(|theirs| trial.total() - theirs)).collect();
    let won: f64 = differences.iter().map(|&d| f64::from(d < 0.0) + 0.5 * f64::from(d == 0.0)).sum();
    let Sample { count, mean, half_width, .. } = Sample::of(differences)?;
    Some(Paired { trials: count, mean, half_width, won: won / count as f64 })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn environment(rounds: u64, step: u64) -> EnvironmentResults {
        let checkpoints = (1..=rounds / step).map(|i| i * step).collect();
        EnvironmentResults { rounds, ..EnvironmentResults::new("a", "", checkpoints) }
    }

    fn trial(number: u64, environment: &EnvironmentResults, chance: f64, regret: impl Fn(f64) -> f64) -> TrialCurve {
        let regret = environment.checkpoints.iter().map(|&t| regret(t as f64)).collect();
        TrialCurve::new(number, regret, chance)
    }

    fn policy(totals: &[(u64, f64)]) -> PolicyResults {
        let one = environment(1, 1);
        let trials = totals.iter().map(|&(number, total)| trial(number, &one, 1.0, |_| total)).collect();
        PolicyResults::new("", "", trials)
    }

    #[test]
    fn a_sample_has_the_textbook_values() {
        let sample = Sample::of([4.0, 1.0, 3.0, 2.0]).unwrap();
        assert_eq!((sample.count, sample.mean, sample.median), (4, 2.5, 2.5));
        // R: quantile(1:4, c(.1, .9)); t.test(1:4)$conf.int.
        assert!((sample.q10 - 1.3).abs() < 1e-15 && (sample.q90 - 3.7).abs() < 1e-15);
        let [low, high] = sample.ci95().unwrap();
        assert!((low - 0.445_739_743_239_478).abs() < 1e-13 && (high - 4.554_260_256_760_522).abs() < 1e-13);
    }

    #[test]
    fn one_number_has_no_interval_and_none_no_sample() {
        let one = Sample::of([3.0]).unwrap();
        assert_eq!((one.mean, one.median, one.q10, one.q90, one.ci95()), (3.0, 3.0, 3.0, 3.0, None));
        assert_eq!(Sample::of([]), None);
        assert_eq!(quantile(&[], 0.5), 0.0);
        assert!(curve(&environment(4, 1), &policy(&[])).is_empty());
        assert_eq!(linear_share(&environment(4, 1), &policy(&[])), None);
    }

    #[test]
    fn the_ratio_is_the_exponent() {
        assert_eq!(LINEAR_RATIO, libm::pow(2.0, LINEAR_EXPONENT));
    }

    #[test]
    fn linear_growth_is_told_from_roots_logarithms_and_offsets() {
        let environment = environment(1000, 50);
        let linear = |f: &dyn Fn(f64) -> f64| is_linear(&environment, &trial(0, &environment, 1000.0, f));
        assert!(linear(&|t| t));
        assert!(linear(&|t| 300.0 + 0.5 * t), "an offset does not hide linear growth");
        assert!(linear(&|t| (t - 500.0).max(0.0)), "nor does a late start");
        assert!(!linear(&|t| 30.0 * t.sqrt()));
        assert!(!linear(&|t| 30.0 * t.ln()));
        assert!(!linear(&|t| 0.5 * t.min(250.0)), "an exploration phase that ended is no growth");
        assert!(!linear(&|_| 0.0));
        assert!(!linear(&|t| 0.009 * t) && linear(&|t| 0.011 * t), "one per cent of chance is the limit");
    }

    #[test]
    fn too_few_checkpoints_tell_nothing() {
        for checkpoints in [vec![1], vec![8], vec![4, 8], vec![1, 2, 8]] {
            let rounds = *checkpoints.last().unwrap();
            let coarse = EnvironmentResults { checkpoints, rounds, ..environment(8, 1) };
            assert!(!is_linear(&coarse, &trial(0, &coarse, 1.0, |t| t)));
        }
        let uneven = EnvironmentResults { checkpoints: vec![2, 3, 5, 9, 10], ..environment(10, 1) };
        assert!(is_linear(&uneven, &trial(0, &uneven, 10.0, |t| t)), "2.5 and 5 rounds are interpolated");
    }

    #[test]
    fn the_slope_of_a_power_is_its_exponent() {
        let checkpoints: Vec<u64> = (1..=40).map(|i| i * 25).collect();
        for exponent in [0.5, 1.0, 1.5] {
            let mean: Vec<f64> = checkpoints.iter().map(|&t| 3.0 * (t as f64).powf(exponent)).collect();
            let fitted = slope(&checkpoints, &mean).unwrap();
            assert!((fitted.value - exponent).abs() < 1e-12);
            assert!((fitted.at(400.0) / (3.0 * 400f64.powf(exponent)) - 1.0).abs() < 1e-12);
        }
        assert_eq!(slope(&checkpoints, &[0.0; 40]), None);
        assert_eq!(slope(&[1], &[1.0]), None);
        assert_eq!(slope(&[], &[]), None);
        assert_eq!(slope(&[10, 19], &[1.0, 2.0]), None, "less than a factor of two");
    }

    #[test]
    fn the_slope_is_that_of_the_last_two_decades() {
        let range = |rounds: u64| {
            let checkpoints: Vec<u64> = (1..=rounds).collect();
            slope(&checkpoints, &vec![1.0; checkpoints.len()]).map(|slope| (slope.from, slope.to))
        };
        assert_eq!(
            [range(100_000), range(1000), range(120)],
            [Some((1000, 100_000)), Some((10, 1000)), Some((10, 120))]
        );
        assert_eq!(range(10), None);
        // Nothing was paid before round 40, and a logarithm shows only what was.
        let checkpoints: Vec<u64> = (1..=1000).collect();
        let late: Vec<f64> = checkpoints.iter().map(|&t| t.saturating_sub(39) as f64).collect();
        assert_eq!(slope(&checkpoints, &late).unwrap().from, 40);
    }

    /// A kink half way through the two decades: the slope is the same wherever the checkpoints are.
    #[test]
    fn the_slope_does_not_depend_on_where_the_checkpoints_are() {
        let kinked = |t: f64| t.powf(0.8).min(100f64.powf(0.8) * (t / 100.0).powf(0.2));
        let fit = |checkpoints: &[u64]| {
            let mean: Vec<f64> = checkpoints.iter().map(|&t| kinked(t as f64)).collect();
            slope(checkpoints, &mean).unwrap().value
        };
        let even: Vec<u64> = (1..=1000).collect();
        let sparse: Vec<u64> = (10..=30).map(|i| 10f64.powf(f64::from(i) / 10.0).round() as u64).collect();
        assert!((fit(&even) - fit(&sparse)).abs() < 0.01, "{} and {}", fit(&even), fit(&sparse));
        assert!((fit(&even) - 0.5).abs() < 0.01, "{}", fit(&even));
    }

    #[test]
    fn pairs_are_made_by_trial_number() {
        let first = policy(&[(0, 1.0), (1, 2.0), (2, 9.0), (3, 4.0)]);
        let second = policy(&[(1, 3.0), (2, 9.0), (3, 2.0), (9, 100.0)]);
        let found = paired(&first, &second).unwrap();
        assert_eq!((found.trials, found.won), (3, 0.5));
        assert!((found.mean - 1.0 / 3.0).abs() < 1e-15);
        assert_eq!(paired(&first, &policy(&[])), None);
        assert_eq!(paired(&first, &policy(&[(3, 1.0)])).unwrap().ci95(), None);
    }

    fn numbers() -> impl Strategy<Value = Vec<f64>> {
        prop::collection::vec(-1e6..1e6f64, 1..40)
    }

    proptest! {
        #[test]
        fn order_does_not_matter_to_quantiles_and_they_are_ordered(values in numbers()) {
            let sample = Sample::of(values.iter().copied()).unwrap();
            let backwards = Sample::of(values.iter().rev().copied()).unwrap();
            prop_assert_eq!([sample.q10, sample.median, sample.q90], [backwards.q10, backwards.median, backwards.q90]);
            prop_assert!(sample.q10 <= sample.median && sample.median <= sample.q90);
            let (low, high) = values.iter().fold((f64::MAX, f64::MIN), |(l, h), &x| (l.min(x), h.max(x)));
            prop_assert!(low <= sample.q10 && sample.q90 <= high);
            prop_assert!(low - 1e-6 <= sample.mean && sample.mean <= high + 1e-6);
        }

        #[test]
        fn a_sample_follows_shift_and_scale(values in numbers(), shift in -1e3..1e3f64, scale in 0.1..10.0f64) {
            let plain = Sample::of(values.iter().copied()).unwrap();
            let moved = Sample::of(values.iter().map(|x| shift + scale * x)).unwrap();
            let near = |a: f64, b: f64| (a - b).abs() <= 1e-6 * (1.0 + a.abs().max(b.abs()));
            prop_assert!(near(moved.mean, shift + scale * plain.mean));
            prop_assert!(near(moved.median, shift + scale * plain.median));
            prop_assert!(near(moved.half_width.unwrap_or(0.0), scale * plain.half_width.unwrap_or(0.0)));
        }

        #[test]
        fn swapping_two_policies_turns_the_difference_around(values in prop::collection::vec((0..9u8, 0..9u8), 1..30)) {
            let numbered = |pick: fn(&(u8, u8)) -> u8| -> PolicyResults {
                let totals: Vec<(u64, f64)> =
                    values.iter().enumerate().map(|(i, pair)| (i as u64, f64::from(pick(pair)))).collect();
                policy(&totals)
            };
            let (first, second) = (numbered(|pair| pair.0), numbered(|pair| pair.1));
            let (there, back) = (paired(&first, &second).unwrap(), paired(&second, &first).unwrap());
            prop_assert_eq!(there.mean, -back.mean);
            prop_assert!((there.won + back.won - 1.0).abs() < 1e-12);
            prop_assert_eq!(there.half_width, back.half_width);
        }

        #[test]
        fn linear_growth_does_not_depend_on_scale_or_offset(
            exponent in 0.05..1.5f64, scale in 0.01..100.0f64, offset in 0.0..1e3f64,
        ) {
            prop_assume!((exponent - LINEAR_EXPONENT).abs() > 1e-3);
            let environment = environment(1024, 64);
            let grown = trial(0, &environment, 0.0, |t| offset + scale * t.powf(exponent));
            prop_assert_eq!(is_linear(&environment, &grown), exponent > LINEAR_EXPONENT);
        }
    }
}
