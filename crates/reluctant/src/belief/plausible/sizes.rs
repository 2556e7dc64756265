//! How many neurons there are if nobody says so: judged in the first rounds by what networks of each size had
//! predicted.
//!
//! While there are fewer observations than unknowns, networks of every size can be made to fit, and what Laplace's
//! approximation says of their evidence is worth little: it does not see how far a network had to bend. But before it
//! is fitted to a reward it predicts it, and the product of the densities of these predictions is the evidence (Dawid
//! 1984). So each size is charged for its first predictions, each the Student distribution that the mean and the spread
//! of its members make, and its members weigh less, but not so little that they are given up. After a dozen
//! observations all sizes that still fit count alike again: who stays sure of a size explores too little
//! (docs/laboratory.md has the figures).

use serde::{Deserialize, Serialize};

use super::constants::{FEWEST, MOST_CHARGED, MOST_NEURONS};

/// How likely a number of neurons is before any data, up to a factor. Evenly would be mostly large networks, which
/// expect rewards wherever none were seen yet, and 1/k hardly any of them.
pub(super) fn share(neurons: usize) -> f64 {
    1.0 / (neurons as f64).sqrt()
}

/// The number of neurons of member number `m` before any data.
pub(super) fn imagine(m: usize) -> usize {
    let total: f64 = (1..=MOST_NEURONS).map(share).sum();
    // Steps of the golden ratio spread any number of members evenly.
    let golden = 0.5 * (5f64.sqrt() - 1.0);
    let mut left = ((m as f64 + 0.5) * golden).fract() * total;
    let is_reached = |neurons: &usize| {
        left -= share(*neurons);
        left < 0.0
    };
    (1..MOST_NEURONS).find(is_reached).unwrap_or(MOST_NEURONS)
}

/// What one member had predicted.
#[derive(Debug, Clone, Copy)]
pub(super) struct Forecast {
    pub(super) neurons: usize,
    pub(super) weight: f64,
    /// How far it was from the reward.
    pub(super) miss: f64,
}

/// How likely the numbers of neurons are, from 1 on.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Sizes {
    /// −2 log of the evidence for each; the least is 0.
    costs: Vec<f64>,
}

impl Sizes {
    /// All sizes equally likely.
    pub(super) fn new() -> Self {
        Sizes { costs: vec![0.0; MOST_NEURONS] }
    }

    /// The weight of a size, 1 for the most likely one. It is taken for as likely as the next smaller one if that is
    /// the likelier: a neuron too many explores, a neuron too few may never find what is missing.
    pub(super) fn weight(&self, neurons: usize) -> f64 {
        let cost = |neurons: usize| self.costs[neurons - 1];
        libm::exp(-0.5 * cost(neurons).min(cost(neurons.max(2) - 1)).min(MOST_CHARGED))
    }

    /// Charges every size for what its members had predicted of a reward whose noise has this variance.
    pub(super) fn charge(&mut self, forecasts: &[Forecast], variance: f64) {
        let surprises: Vec<_> = (1..=MOST_NEURONS).map(|neurons| surprise(forecasts, neurons, variance)).collect();
        // What all sizes together had predicted: those that have said nothing are charged as much as they.
        let (mut before, mut after) = (LogSum::default(), LogSum::default());
        for (cost, surprise) in self.costs.iter().zip(&surprises) {
            if let Some(surprise) = surprise {
                before.add(-0.5 * cost);
                after.add(-0.5 * (cost + surprise));
            }
        }
        let all = 2.0 * (before.log() - after.log());
        if all.is_finite() {
            for (cost, surprise) in self.costs.iter_mut().zip(&surprises) {
                *cost += surprise.map_or(0.0, |surprise| surprise - all);
            }
            let least = self.costs.iter().copied().fold(f64::MAX, f64::min);
            self.costs.iter_mut().for_each(|cost| *cost -= least);
        }
    }

    pub(super) fn is_consistent(&self) -> bool {
        self.costs.len() == MOST_NEURONS && self.costs.iter().all(|cost| *cost >= 0.0)
    }
}

/// −2 log of the density that the members of a size had given to what was seen, up to what all sizes
/// share; none if they are too few.
fn surprise(forecasts: &[Forecast], neurons: usize, variance: f64) -> Option<f64> {
    let members = || forecasts.iter().filter(|forecast| forecast.neurons == neurons);
    let total: f64 = members().map(|f| f.weight).sum();
    let count = total * total / members().map(|f| f.weight * f.weight).sum::<f64>();
    if count.is_nan() || count < FEWEST {
        return None;
    }
    let mean = members().map(|f| f.weight * f.miss).sum::<f64>() / total;
    let spread = members().map(|f| f.weight * (f.miss - mean) * (f.miss - mean)).sum::<f64>() / total;
    let freedom = count - 1.0;
    let square = spread * (count + 1.0) / freedom + variance;
    let surprise = (freedom + 1.0) * libm::log1p(mean * mean / square / freedom) + libm::log(square * freedom)
        - 2.0 * (libm::lgamma(0.5 * (freedom + 1.0)) - libm::lgamma(0.5 * freedom));
    surprise.is_finite().then_some(surprise)
}

/// log Σ exp, of terms that may be far from 0.
#[derive(Debug, Clone, Copy)]
struct LogSum {
    greatest: f64,
    sum: f64,
}

impl Default for LogSum {
    fn default() -> Self {
        LogSum { greatest: f64::NEG_INFINITY, sum: 0.0 }
    }
}

impl LogSum {
    fn add(&mut self, term: f64) {
        if term > self.greatest {
            self.sum = self.sum * libm::exp(self.greatest - term) + 1.0;
            self.greatest = term;
        } else {
            self.sum += libm::exp(term - self.greatest);
        }
    }

    fn log(&self) -> f64 {
        self.greatest + libm::log(self.sum)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::{Key, normal, uniform};

    /// Members of one size that had predicted about `mean`, when the reward was `y`.
    fn forecasts(neurons: usize, mean: f64, y: f64) -> Vec<Forecast> {
        let mut stream = Key::new(neurons as u64).stream();
        let mut forecast = || Forecast {
            miss: mean + 0.3 * normal(&mut stream) - y,
            weight: 0.5 + 0.5 * uniform(&mut stream),
            neurons,
        };
        (0..6).map(|_| forecast()).collect()
    }

    /// The odds of two sizes.
    fn odds(sizes: &Sizes, one: usize, other: usize) -> f64 {
        libm::exp(-0.5 * (sizes.costs[one - 1] - sizes.costs[other - 1]))
    }

    #[test]
    fn small_sizes_are_imagined_more_often_and_none_is_left_out() {
        let members = 128;
        let mut counts = [0.0; MOST_NEURONS];
        (0..members).for_each(|m| counts[imagine(m) - 1] += 1.0);
        let total: f64 = (1..=MOST_NEURONS).map(|k| 1.0 / (k as f64).sqrt()).sum();
        for (k, count) in (1..).zip(counts) {
            let expected = f64::from(members as u32) / total / f64::from(k).sqrt();
            assert!((count - expected).abs() < 2.0, "{k}: {count} is not {expected}");
        }
    }

    #[test]
    fn a_prediction_is_a_density() {
        let (step, mut integral) = (0.01, 0.0);
        for i in -100_000..100_000 {
            let surprise = surprise(&forecasts(3, 1.0, step * f64::from(i)), 3, 0.01).unwrap();
            integral += step * libm::exp(-0.5 * surprise) / std::f64::consts::PI.sqrt();
        }
        assert!((integral - 1.0).abs() < 1e-6, "{integral}");
    }

    #[test]
    fn many_members_predict_as_the_normal_distribution_of_their_mean_and_spread() {
        let miss = |i: usize| if i.is_multiple_of(2) { 0.5 } else { 0.1 };
        let many: Vec<_> = (0..100_000).map(|i| Forecast { neurons: 1, weight: 0.7, miss: miss(i) }).collect();
        let (mean, square) = (0.3, 0.04 + 0.01);
        let expected = mean * mean / square + f64::ln(2.0 * square);
        assert!((surprise(&many, 1, 0.01).unwrap() - expected).abs() < 1e-3);
    }

    #[test]
    fn who_predicts_better_is_charged_less_and_who_is_silent_keeps_their_odds() {
        let mut sizes = Sizes::new();
        let mut all = forecasts(1, 1.0, 1.1);
        all.extend(forecasts(3, 2.5, 1.1));
        let expected = libm::exp(-0.5 * (surprise(&all, 1, 0.01).unwrap() - surprise(&all, 3, 0.01).unwrap()));
        sizes.charge(&all, 0.01);
        assert!((odds(&sizes, 1, 3) / expected - 1.0).abs() < 1e-12 && expected > 2.0);
        // Before it was 1 to 2.
        assert!((odds(&sizes, 1, 2) + odds(&sizes, 3, 2) - 2.0).abs() < 1e-12);
    }

    #[test]
    fn nobody_and_the_absurd_change_nothing() {
        let mut sizes = Sizes::new();
        sizes.charge(&[], 0.01);
        sizes.charge(&forecasts(1, 1.0, 1.0)[..2], 0.01);
        sizes.charge(&forecasts(1, 1.0, 1e300), 1e-300);
        assert_eq!(sizes.costs, [0.0; MOST_NEURONS]);
    }

    #[test]
    fn a_size_weighs_what_its_evidence_or_the_next_smaller_ones_says_but_is_never_given_up() {
        let sizes = Sizes { costs: vec![2.0, 5.0, 0.0, 1000.0, 1000.0] };
        let expected = [2.0, 2.0, 0.0, 0.0, MOST_CHARGED].map(|cost| libm::exp(-0.5 * cost));
        assert_eq!([1, 2, 3, 4, 5].map(|neurons| sizes.weight(neurons)), expected);
    }
}
