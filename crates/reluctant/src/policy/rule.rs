//! Rules as values: how a policy acts on what it believes of named actions, and by chance on rows too.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::belief::{Asked, Heads};
use crate::choice::{Choice, Score, argmax};
use crate::offer::Context;
use crate::rng::{Key, Purpose, uniform};
use crate::scratch::Scratch;

/// How a policy acts on what it believes.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Rule {
    /// The action of greatest mean plus so many times its spread.
    Optimism(f64),
    /// The action of greatest drawn value, with distances from the mean multiplied by this.
    Sampling(f64),
    /// The action of greatest mean, and any with probability epsilon·t^(−power) in round t.
    EpsilonGreedy {
        /// The probability in the first round.
        epsilon: f64,
        /// How fast it falls.
        power: f64,
    },
    /// An action whose mean is less than the greatest by the gap Δ has probability 1/(K + γΔ) among K, with γ =
    /// gamma·√(Kt) in round t; the best has the rest.
    InverseGap {
        /// How fast exploration ends.
        gamma: f64,
    },
}

impl fmt::Display for Rule {
    /// What it does, as a sentence about the policy.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Rule::Optimism(scale) => {
                let times = rounded(*scale);
                write!(f, "it plays the action of greatest mean + spread; spreads are {times} times what it believes")
            }
            Rule::Sampling(scale) => {
                let times = rounded(*scale);
                write!(
                    f,
                    "it draws a value of every action, with spreads {times} times what it believes; the greatest wins"
                )
            }
            Rule::EpsilonGreedy { epsilon, power } => write!(
                f,
                "it plays the action of greatest mean, and any with probability {epsilon} times t^−{power} in round t"
            ),
            Rule::InverseGap { gamma } => write!(
                f,
                "it plays every action with a probability that falls with its distance from the best, at the rate {gamma}"
            ),
        }
    }
}

/// To three digits behind the point.
fn rounded(number: f64) -> f64 {
    (1e3 * number).round() / 1e3
}

/// An action that chance has picked.
#[derive(Debug, Clone, Copy)]
pub(super) struct Picked {
    pub(super) index: usize,
    propensity: f64,
    /// Whether it is the one of greatest mean.
    best: bool,
}

impl Picked {
    /// The choice with the probability that it was made with. One that is not the best did not appeal.
    pub(super) fn of(self, choice: Choice<'_>) -> Choice<'_> {
        if self.best { choice.with_propensity(self.propensity) } else { choice.by_chance(self.propensity) }
    }
}

impl Rule {
    /// What a spread is multiplied with to be a width: nothing where chance explores.
    pub fn scale(&self) -> f64 {
        match *self {
            Rule::Optimism(scale) | Rule::Sampling(scale) => scale,
            Rule::EpsilonGreedy { .. } | Rule::InverseGap { .. } => 0.0,
        }
    }

    /// Chooses among the actions of a context, after so many rewards.
    pub(super) fn choose<'a>(
        &self,
        belief: &dyn Heads,
        (context, actions): (Context<'a>, Asked<'_>),
        learnt: u64,
        key: Key,
        scratch: &mut Scratch,
    ) -> Choice<'a> {
        let x = context.features();
        if let Rule::Sampling(scale) = *self {
            belief.draw(x, actions, scale, key, scratch);
            let best = argmax(scratch.values().iter().copied()).unwrap_or(0);
            let value = scratch.values()[best];
            belief.predict(x, actions.only(best), scale, scratch);
            return Choice::named(context, best, scratch.scores[0]).drawn(value);
        }
        belief.predict(x, actions, self.scale(), scratch);
        let Scratch { scores, numbers, .. } = scratch;
        if let Rule::Optimism(_) = self {
            let best = argmax(scores.iter().map(Score::upper)).unwrap_or(0);
            return Choice::named(context, best, scores[best]);
        }
        // Each action has numbers of its own, so that the order of names does not matter.
        let chance = |i: usize| uniform(&mut key.branch(&context.names()[i]).purpose(Purpose::Choice).stream());
        let picked = self.pick(scores, learnt, chance, numbers);
        picked.of(Choice::named(context, picked.index, scores[picked.index]))
    }

    /// Picks a place by chance, given the means and a uniform number for each place. `work` is memory to work in.
    pub(super) fn pick(
        &self,
        scores: &[Score],
        learnt: u64,
        mut chance: impl FnMut(usize) -> f64,
        work: &mut Vec<f64>,
    ) -> Picked {
        let best = self.probabilities(scores, learnt, work);
        // Of exponential variables with these rates each is the first with its probability.
        let mut first = (f64::INFINITY, best);
        for (i, probability) in work.iter().enumerate() {
            let time = -libm::log(1.0 - chance(i)) / probability;
            if *probability > 0.0 && time < first.0 {
                first = (time, i);
            }
        }
        Picked { index: first.1, propensity: work[first.1], best: first.1 == best }
    }

    /// The probability of each place, into `out`; the place of greatest mean.
    pub(super) fn probabilities(&self, scores: &[Score], learnt: u64, out: &mut Vec<f64>) -> usize {
        let best = argmax(scores.iter().map(|score| score.mean)).unwrap_or(0);
        let (count, round) = (scores.len() as f64, learnt as f64 + 1.0);
        out.clear();
        match *self {
            Rule::EpsilonGreedy { epsilon, power } => {
                let share = (epsilon * libm::pow(round, -power)).min(1.0);
                out.resize(scores.len(), share / count);
            }
            Rule::InverseGap { gamma } => {
                let gamma = gamma * (count * round).sqrt();
                let gap = |score: &Score| (scores[best].mean - score.mean).max(0.0);
                out.extend(scores.iter().map(|score| 1.0 / (count + gamma * gap(score))));
            }
            Rule::Optimism(_) | Rule::Sampling(_) => out.resize(scores.len(), 0.0),
        }
        out[best] = 0.0;
        out[best] = 1.0 - out.iter().sum::<f64>();
        best
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Stream;

    fn scores(means: &[f64]) -> Vec<Score> {
        means.iter().map(|mean| Score { mean: *mean, width: 0.0 }).collect()
    }

    #[test]
    fn probabilities_are_those_of_the_papers() {
        let (scores, mut found) = (scores(&[0.2, 0.9, 0.5]), Vec::new());
        assert_eq!(Rule::EpsilonGreedy { epsilon: 0.6, power: 0.5 }.probabilities(&scores, 3, &mut found), 1);
        assert!(found.iter().zip([0.1, 0.8, 0.1]).all(|(a, b)| (a - b).abs() < 1e-12));
        Rule::EpsilonGreedy { epsilon: 5.0, power: 0.1 }.probabilities(&scores, 0, &mut found);
        assert!(found.iter().all(|p| (p - 1.0 / 3.0).abs() < 1e-12));
        Rule::InverseGap { gamma: 2.0 }.probabilities(&scores, 11, &mut found);
        let (a, c) = (1.0 / (3.0 + 2.0 * 6.0 * 0.7), 1.0 / (3.0 + 2.0 * 6.0 * 0.4));
        assert!(found.iter().zip([a, 1.0 - a - c, c]).all(|(a, b)| (a - b).abs() < 1e-12));
    }

    #[test]
    fn chance_picks_with_the_probabilities_it_states() {
        let (scores, rule, n) = (scores(&[0.2, 0.9, 0.5]), Rule::InverseGap { gamma: 1.0 }, 20_000);
        let (mut counts, mut work, mut stated) = ([0.0; 3], Vec::new(), [0.0; 3]);
        let mut stream: Stream = Key::new(1).stream();
        for _ in 0..n {
            let picked = rule.pick(&scores, 3, |_| uniform(&mut stream), &mut work);
            counts[picked.index] += 1.0 / f64::from(n);
            stated[picked.index] = picked.propensity;
            assert_eq!(picked.best, picked.index == 1);
        }
        for (count, p) in counts.iter().zip(stated) {
            assert!((count - p).abs() < 5.0 * (p * (1.0 - p) / f64::from(n)).sqrt(), "{count} {p}");
        }
    }

    #[test]
    fn what_is_certain_is_picked_whatever_chance_says() {
        let rule = Rule::EpsilonGreedy { epsilon: 0.0, power: 0.5 };
        for chance in [0.0, 0.3, 1.0 - f64::EPSILON] {
            let picked = rule.pick(&scores(&[0.2, 0.9]), 0, |_| chance, &mut Vec::new());
            assert!(picked.index == 1 && picked.propensity == 1.0 && picked.best);
        }
        let picked = Rule::InverseGap { gamma: 1e50 }.pick(&scores(&[-1e100, 1e100]), 9, |_| 0.0, &mut Vec::new());
        assert!(picked.index == 1 || picked.propensity > 0.0);
    }
}
