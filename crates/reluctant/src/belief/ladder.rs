//! A ladder of models from simple to rich, in contexts: each is weighed by how well it has foretold the rewards.
//!
//! The lowest step is linear in the scaled context, the next a pair of networks with a shared hidden layer, and the
//! highest a network whose hidden layer is infinitely wide, a Gaussian process ([`LastLayer`]). Before a step learns a
//! reward y it says with which density it expected it; its weight is multiplied with that density. So the weights are
//! the posterior of the steps, by evidence on all rewards. A step may be the best one first and another later, so a
//! share of 1/t of the weight is divided anew in round t (fixed shares, Herbster and Warmuth 1998, with a share that
//! shrinks).
//!
//! Means and spreads are the weighted means of those of the steps. How far the steps are apart is no part of the
//! spread: on real tables that was exploration without a use (docs/laboratory.md).

use std::fmt;

use serde::{Deserialize, Serialize};

use super::heads::{Asked, Heads};
use super::{Averaged, LastLayer, state};
use crate::choice::Score;
use crate::error::Result;
use crate::rng::{Key, Purpose, uniform};
use crate::scratch::Scratch;

/// With more features there is no linear step: its matrices would be larger and slower than those of the networks.
const MOST_LINEAR: usize = 256;

/// One reward speaks for a step by at most so many nats: a wild one does not decide.
const MOST_EVIDENCE: f64 = 5.0;

/// The steps, at least one, and their weights.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Ladder {
    steps: Vec<Step>,
    learnt: u64,
    #[serde(skip)]
    scratch: Scratch,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
struct Step {
    model: LadderStep,
    belief: Averaged<LastLayer>,
    /// Weights sum to one.
    weight: f64,
}

/// What the steps are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum LadderStep {
    /// Linear in the scaled context.
    Linear,
    /// A hidden layer that all actions share.
    Networks,
    /// One that is infinitely wide.
    Infinite,
}

impl fmt::Display for LadderStep {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            LadderStep::Linear => "a linear model",
            LadderStep::Networks => "networks that all actions share",
            LadderStep::Infinite => "an infinitely wide network",
        })
    }
}

impl Ladder {
    /// `networks` above the linear step that is made of `first` and below the infinite one, with equal weights.
    pub(crate) fn new(first: LastLayer, networks: Averaged<LastLayer>) -> Result<Self> {
        let mut models = Vec::new();
        if Heads::dim(&first) <= MOST_LINEAR {
            models.push((LadderStep::Linear, Averaged::new(vec![first.clone().of_inputs()])?));
        }
        models.push((LadderStep::Networks, networks));
        models.push((LadderStep::Infinite, Averaged::new(vec![first.infinite()])?));
        let weight = 1.0 / models.len() as f64;
        let steps = models.into_iter().map(|(model, belief)| Step { model, belief, weight }).collect();
        Ok(Ladder { steps, learnt: 0, scratch: Scratch::default() })
    }

    /// The weight of a step; 0 of one that is not there.
    pub fn weight(&self, model: LadderStep) -> f64 {
        self.steps.iter().filter(|step| step.model == model).map(|step| step.weight).sum()
    }

    /// Whether the parts fit together, for a belief read from a file.
    pub(crate) fn is_consistent(&self) -> bool {
        let fits = |step: &Step| {
            (0.0..=1.0).contains(&step.weight)
                && step.belief.is_consistent()
                && Heads::dim(&step.belief) == self.dim()
                && step.belief.count() == self.count()
        };
        !self.steps.is_empty() && self.steps.iter().all(fits)
    }

    /// The steps are weighed by what they foretell of reward y.
    fn weigh(&mut self, head: usize, x: &[f64], y: f64) {
        let Ladder { steps, learnt, scratch } = self;
        *learnt = learnt.saturating_add(1);
        if steps.len() == 1 {
            return;
        }
        let logs: Vec<f64> = steps.iter().map(|step| log_density(step.foretold(head, x, scratch), y)).collect();
        let most = logs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        for (step, log) in steps.iter_mut().zip(logs) {
            let evidence = libm::exp((log - most).max(-MOST_EVIDENCE));
            // Rewards so small that their variance is 0 in working precision say nothing of the steps.
            step.weight *= if evidence.is_nan() { 1.0 } else { evidence };
        }
        let sum: f64 = steps.iter().map(|step| step.weight).sum();
        let (share, even) = (1.0 / (*learnt as f64 + 1.0), 1.0 / steps.len() as f64);
        steps.iter_mut().for_each(|step| step.weight = (1.0 - share) * (step.weight / sum) + share * even);
    }
}

impl Step {
    /// Mean and variance of the reward to come, each the mean of the members'.
    fn foretold(&self, head: usize, x: &[f64], scratch: &mut Scratch) -> (f64, f64) {
        let members = self.belief.members();
        let sum = members.iter().fold((0.0, 0.0), |(means, variances), member| {
            let (mean, variance) = member.foretold(head, x, scratch);
            (means + mean, variances + variance)
        });
        let count = members.len() as f64;
        (sum.0 / count, sum.1 / count)
    }
}

/// The logarithm of the normal density with this mean and variance at y, up to what all steps have in common.
fn log_density((mean, variance): (f64, f64), y: f64) -> f64 {
    -0.5 * (libm::log(variance) + (y - mean) * (y - mean) / variance)
}

impl Heads for Ladder {
    fn kind(&self) -> &'static str {
        "ladder"
    }

    fn dim(&self) -> usize {
        self.steps.first().map_or(0, |step| Heads::dim(&step.belief))
    }

    fn count(&self) -> usize {
        self.steps.first().map_or(0, |step| step.belief.count())
    }

    fn add(&mut self, name: &str) -> Result<()> {
        self.steps.iter_mut().try_for_each(|step| step.belief.add(name))
    }

    fn learn(&mut self, head: usize, x: &[f64], y: f64) {
        self.weigh(head, x, y);
        self.steps.iter_mut().for_each(|step| Heads::learn(&mut step.belief, head, x, y));
    }

    fn predict(&self, x: &[f64], actions: Asked<'_>, scale: f64, scratch: &mut Scratch) {
        let mut sums = std::mem::take(&mut scratch.mixed_scores);
        sums.clear();
        sums.resize(actions.iter().count(), Score { mean: 0.0, width: 0.0 });
        for Step { belief, weight, .. } in &self.steps {
            Heads::predict(belief, x, actions, scale, scratch);
            for (sum, score) in sums.iter_mut().zip(&scratch.scores) {
                *sum = Score { mean: sum.mean + weight * score.mean, width: sum.width + weight * score.width };
            }
        }
        scratch.mixed_scores = std::mem::replace(&mut scratch.scores, sums);
    }

    /// A draw of one step, by its weight.
    fn draw(&self, x: &[f64], actions: Asked<'_>, scale: f64, key: Key, scratch: &mut Scratch) {
        let mut left = uniform(&mut key.branch("step").purpose(Purpose::General).stream());
        let drawn = self.steps.iter().find(|step| {
            left -= step.weight;
            left < 0.0
        });
        if let Some(step) = drawn.or(self.steps.last()) {
            Heads::draw(&step.belief, x, actions, scale, key, scratch);
        }
    }

    fn warning(&self) -> Option<String> {
        self.steps.iter().find(|step| step.model == LadderStep::Networks).and_then(|step| Heads::warning(&step.belief))
    }

    /// The steps, those of most weight first.
    fn describe(&self) -> Option<String> {
        let mut steps: Vec<&Step> = self.steps.iter().collect();
        steps.sort_by(|a, b| b.weight.total_cmp(&a.weight));
        let say = |step: &&Step| format!("{} ({:.0} % of the weight)", step.model, 100.0 * step.weight);
        Some(steps.iter().map(say).collect::<Vec<_>>().join(", "))
    }

    fn save(&self) -> Result<serde_json::Value> {
        state(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::belief::{LAMBDA, Noise, restore_if};
    use crate::network::{DECAY, EPOCHS, GROWTH, Inputs, RATE, WIDTH};
    use crate::offer::Name;
    use crate::params::{Params, Settings};
    use crate::rng::normal;

    fn made() -> Ladder {
        let table = [WIDTH, LAMBDA, GROWTH, EPOCHS, RATE, DECAY];
        let params = Params::resolve("toy", &table, &Settings::new()).unwrap();
        let noise = Noise { own: true, shape: 0.5, rate: 0.5 };
        let member = |seed| LastLayer::read(2, Inputs::Contexts, noise, &params, Key::new(seed)).unwrap();
        let mut ladder = Ladder::new(member(1), Averaged::new(vec![member(2), member(3)]).unwrap()).unwrap();
        ladder.add("a").unwrap();
        ladder
    }

    /// After a few rewards.
    fn learnt() -> Ladder {
        let mut ladder = made();
        let mut stream = Key::new(5).stream();
        for _ in 0..40 {
            let x = [normal(&mut stream), normal(&mut stream)];
            ladder.learn(0, &x, x[0] + normal(&mut stream));
        }
        ladder
    }

    /// What is linear is left to the linear step, what bends to the others.
    #[test]
    fn the_step_that_foretells_best_has_the_weight() {
        let (mut straight, mut bent) = (made(), made());
        let mut stream = Key::new(5).stream();
        for _ in 0..600 {
            // Evenly spread, so that what is linear in x is linear in ranks, too.
            let x = [2.0 * uniform(&mut stream) - 1.0, 2.0 * uniform(&mut stream) - 1.0];
            let noise = 0.3 * normal(&mut stream);
            straight.learn(0, &x, x[0] - x[1] + noise);
            bent.learn(0, &x, x[0].abs() + noise);
        }
        let linear = [&straight, &bent].map(|ladder| ladder.weight(LadderStep::Linear));
        assert!(linear[0] > 0.5 && linear[1] < 0.1, "{linear:?}");
        assert!(straight.is_consistent() && bent.is_consistent());
        let all = [LadderStep::Linear, LadderStep::Networks, LadderStep::Infinite];
        assert!((all.map(|model| bent.weight(model)).iter().sum::<f64>() - 1.0).abs() < 1e-12);
        assert!(!bent.describe().unwrap().starts_with("a linear model"));
    }

    /// Weights do not depend on the unit of rewards, and stay numbers in the least of them.
    #[test]
    fn units_do_not_matter() {
        let weigh = |unit: f64| {
            let mut ladder = made();
            let mut stream = Key::new(5).stream();
            for _ in 0..60 {
                let x = [normal(&mut stream), normal(&mut stream)];
                ladder.learn(0, &x, unit * (x[0].abs() + 0.1 * normal(&mut stream)));
            }
            ladder.weight(LadderStep::Linear)
        };
        let usual = weigh(1.0);
        for unit in [1e-30, 1e-9, 1e9] {
            assert!((weigh(unit) - usual).abs() < 1e-6, "{unit}: {} {usual}", weigh(unit));
        }
        assert!((0.0..=1.0).contains(&weigh(1e-300)));
    }

    /// Between the steps, where the weights say.
    #[test]
    fn predictions_lie_between_those_of_the_steps() {
        let mut ladder = learnt();
        let (names, mut scratch, x) = ([Name::from("a"), Name::from("new")], Scratch::default(), [0.3, -0.2]);
        let actions = Asked::new(&names, &[Some(0), None]);
        let mut at = |weights: [f64; 3]| {
            ladder.steps.iter_mut().zip(weights).for_each(|(step, weight)| step.weight = weight);
            ladder.predict(&x, actions, 1.5, &mut scratch);
            scratch.scores().to_vec()
        };
        let alone = [at([1.0, 0.0, 0.0]), at([0.0, 1.0, 0.0]), at([0.0, 0.0, 1.0])];
        let weights = [0.5, 0.2, 0.3];
        let between = at(weights);
        for i in 0..2 {
            let mixed = |of: fn(&Score) -> f64| weights.iter().zip(&alone).map(|(w, s)| w * of(&s[i])).sum::<f64>();
            assert!((between[i].mean - mixed(|score| score.mean)).abs() < 1e-14);
            assert!((between[i].width - mixed(|score| score.width)).abs() < 1e-14);
        }
        assert!(alone[0][0] != alone[1][0] && alone[1][0] != alone[2][0]);
    }

    /// Draws are those of the steps, as often as their weights say.
    #[test]
    fn a_draw_is_of_one_step() {
        let mut ladder = learnt();
        let weights = [0.25, 0.45, 0.3];
        ladder.steps.iter_mut().zip(weights).for_each(|(step, weight)| step.weight = weight);
        let (names, mut scratch, x) = ([Name::from("a")], Scratch::default(), [0.3, -0.2]);
        let actions = Asked::new(&names, &[Some(0)]);
        let (mut drawn, rounds) = ([0; 3], 2000);
        for round in 0..rounds {
            let key = Key::new(7).round(round);
            ladder.draw(&x, actions, 1.0, key, &mut scratch);
            let value = scratch.values()[0];
            for (count, step) in drawn.iter_mut().zip(&ladder.steps) {
                Heads::draw(&step.belief, &x, actions, 1.0, key, &mut scratch);
                *count += u64::from(value == scratch.values()[0]);
            }
        }
        for (count, weight) in drawn.iter().zip(weights) {
            assert!((*count as f64 / rounds as f64 - weight).abs() < 0.04, "{drawn:?}");
        }
    }

    /// What was saved is the same belief; a state whose parts do not fit is refused.
    #[test]
    fn a_ladder_is_read_back_whole_or_not_at_all() {
        let saved = learnt().save().unwrap();
        let read = |state: &serde_json::Value| restore_if(state.clone(), Ladder::is_consistent);
        assert_eq!(read(&saved).unwrap().save().unwrap(), saved);
        let tears: [fn(&mut serde_json::Value); 4] = [
            |ladder| ladder["steps"] = serde_json::json!([]),
            |ladder| ladder["steps"][1]["weight"] = 1.5.into(),
            |ladder| ladder["steps"][2]["belief"][0]["trained"]["layer"]["infinite"]["factor"] = serde_json::json!([1]),
            |ladder| ladder["steps"][2]["belief"][0]["trained"]["layer"] = "inputs".into(),
        ];
        for (i, tear) in tears.into_iter().enumerate() {
            let mut torn = saved.clone();
            tear(&mut torn);
            assert!(read(&torn).is_err(), "{i}");
        }
    }
}
