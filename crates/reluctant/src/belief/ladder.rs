//! A ladder of models from simple to rich, in contexts: each is weighed by how well it has foretold the rewards.
//!
//! The lowest step is linear in the scaled context, the next a pair of networks with a shared hidden layer
//! ([`LastLayer`]). Before a step learns a reward y it says with which density it expected it; its weight is multiplied
//! with that density. So the weights are the posterior of the steps, by evidence on all rewards. A step may be the best
//! one first and another later, so a share of 1/t of the weight is divided anew in round t (fixed shares, Herbster and
//! Warmuth 1998, with a share that shrinks).
//!
//! Means and spreads are the weighted means of those of the steps. How far the steps are apart is no part of the
//! spread: on real tables that was exploration without a use (docs/laboratory.md).

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

/// The steps and their weights.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Ladder {
    /// None where contexts have too many features.
    linear: Option<LastLayer>,
    networks: Averaged<LastLayer>,
    /// The weight of the networks; the rest is the linear step's.
    weight: f64,
    learnt: u64,
    #[serde(skip)]
    scratch: Scratch,
}

impl Ladder {
    /// Networks, and the linear step that is made of `linear`, with equal weights.
    pub(crate) fn new(linear: LastLayer, networks: Averaged<LastLayer>) -> Self {
        let linear = (Heads::dim(&linear) <= MOST_LINEAR).then(|| linear.of_inputs());
        let weight = if linear.is_some() { 0.5 } else { 1.0 };
        Ladder { linear, networks, weight, learnt: 0, scratch: Scratch::default() }
    }

    /// The weight of the networks.
    pub fn weight(&self) -> f64 {
        self.weight
    }

    /// Whether the parts fit together, for a belief read from a file.
    pub(crate) fn is_consistent(&self) -> bool {
        let networks = &self.networks;
        let fits = |step: &LastLayer| {
            step.is_consistent() && Heads::dim(step) == Heads::dim(networks) && step.count() == networks.count()
        };
        (0.0..=1.0).contains(&self.weight) && networks.is_consistent() && self.linear.as_ref().is_none_or(fits)
    }

    /// The steps are weighed by what they foretell of reward y.
    fn weigh(&mut self, head: usize, x: &[f64], y: f64) {
        let (Some(linear), scratch) = (&self.linear, &mut self.scratch) else { return };
        let simple = log_density(linear.foretold(head, x, scratch), y);
        let members = self.networks.members();
        let sum = members.iter().fold((0.0, 0.0), |(means, variances), member| {
            let (mean, variance) = member.foretold(head, x, scratch);
            (means + mean, variances + variance)
        });
        let count = members.len() as f64;
        let rich = log_density((sum.0 / count, sum.1 / count), y);
        let nats = (rich - simple).clamp(-MOST_EVIDENCE, MOST_EVIDENCE);
        // Rewards so small that their variance is 0 in working precision say nothing of the steps.
        let evidence = if nats.is_nan() { 1.0 } else { libm::exp(nats) };
        let posterior = self.weight * evidence / (self.weight * evidence + 1.0 - self.weight);
        self.learnt = self.learnt.saturating_add(1);
        let share = 1.0 / (self.learnt as f64 + 1.0);
        self.weight = (1.0 - share) * posterior + share * 0.5;
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
        Heads::dim(&self.networks)
    }

    fn count(&self) -> usize {
        self.networks.count()
    }

    fn add(&mut self, name: &str) -> Result<()> {
        self.networks.add(name)?;
        self.linear.as_mut().map_or(Ok(()), |linear| linear.add(name))
    }

    fn learn(&mut self, head: usize, x: &[f64], y: f64) {
        self.weigh(head, x, y);
        if let Some(linear) = &mut self.linear {
            Heads::learn(linear, head, x, y);
        }
        Heads::learn(&mut self.networks, head, x, y);
    }

    fn predict(&self, x: &[f64], actions: Asked<'_>, scale: f64, scratch: &mut Scratch) {
        Heads::predict(&self.networks, x, actions, scale, scratch);
        let Some(linear) = &self.linear else { return };
        let spare = std::mem::take(&mut scratch.other_scores);
        let mut rich = std::mem::replace(&mut scratch.scores, spare);
        Heads::predict(linear, x, actions, scale, scratch);
        for (score, simple) in rich.iter_mut().zip(&scratch.scores) {
            *score = mixed(self.weight, *score, *simple);
        }
        scratch.other_scores = std::mem::replace(&mut scratch.scores, rich);
    }

    /// A draw of one step, by its weight.
    fn draw(&self, x: &[f64], actions: Asked<'_>, scale: f64, key: Key, scratch: &mut Scratch) {
        let rich = uniform(&mut key.branch("step").purpose(Purpose::General).stream()) < self.weight;
        match &self.linear {
            Some(linear) if !rich => Heads::draw(linear, x, actions, scale, key, scratch),
            _ => Heads::draw(&self.networks, x, actions, scale, key, scratch),
        }
    }

    fn warning(&self) -> Option<String> {
        Heads::warning(&self.networks)
    }

    fn describe(&self) -> Option<String> {
        let networks = "networks that all actions share";
        let percent = 100.0 * self.weight;
        Some(match self.linear {
            Some(_) => format!("{networks}, with {percent:.0} % of the weight, and a linear model"),
            None => networks.to_owned(),
        })
    }

    fn save(&self) -> Result<serde_json::Value> {
        state(self)
    }
}

/// Mean and width, each the weighted mean of the steps'.
fn mixed(weight: f64, rich: Score, simple: Score) -> Score {
    let mean = |a: f64, b: f64| weight * a + (1.0 - weight) * b;
    Score { mean: mean(rich.mean, simple.mean), width: mean(rich.width, simple.width) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::belief::{LAMBDA, Noise};
    use crate::network::{DECAY, EPOCHS, GROWTH, Inputs, RATE, WIDTH};
    use crate::offer::Name;
    use crate::params::{Params, Settings};
    use crate::rng::normal;

    fn made() -> Ladder {
        let table = [WIDTH, LAMBDA, GROWTH, EPOCHS, RATE, DECAY];
        let params = Params::resolve("toy", &table, &Settings::new()).unwrap();
        let noise = Noise { own: true, shape: 0.5, rate: 0.5 };
        let member = |seed| LastLayer::read(2, Inputs::Contexts, noise, &params, Key::new(seed)).unwrap();
        let mut ladder = Ladder::new(member(1), Averaged::new(vec![member(2), member(3)]).unwrap());
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

    /// What is linear is left to the linear step, what bends to the networks.
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
        assert!(straight.weight() < 0.5 && bent.weight() > 0.9, "{} {}", straight.weight(), bent.weight());
        assert!(straight.is_consistent() && bent.is_consistent());
    }

    /// The weight does not depend on the unit of rewards, and stays a number in the least of them.
    #[test]
    fn units_do_not_matter() {
        let weigh = |unit: f64| {
            let mut ladder = made();
            let mut stream = Key::new(5).stream();
            for _ in 0..60 {
                let x = [normal(&mut stream), normal(&mut stream)];
                ladder.learn(0, &x, unit * (x[0].abs() + 0.1 * normal(&mut stream)));
            }
            ladder.weight()
        };
        let usual = weigh(1.0);
        for unit in [1e-30, 1e-9, 1e9] {
            assert!((weigh(unit) - usual).abs() < 1e-6, "{unit}: {} {usual}", weigh(unit));
        }
        assert!((0.0..=1.0).contains(&weigh(1e-300)));
    }

    /// Between the steps, where the weight says.
    #[test]
    fn predictions_lie_between_those_of_the_steps() {
        let mut ladder = learnt();
        let (names, mut scratch, x) = ([Name::from("a"), Name::from("new")], Scratch::default(), [0.3, -0.2]);
        let actions = Asked::new(&names, &[Some(0), None]);
        let mut at = |weight: f64| {
            ladder.weight = weight;
            ladder.predict(&x, actions, 1.5, &mut scratch);
            scratch.scores().to_vec()
        };
        let (simple, rich, between) = (at(0.0), at(1.0), at(0.25));
        for i in 0..2 {
            assert!((between[i].mean - (0.75 * simple[i].mean + 0.25 * rich[i].mean)).abs() < 1e-14);
            assert!((between[i].width - (0.75 * simple[i].width + 0.25 * rich[i].width)).abs() < 1e-14);
        }
        assert_ne!(simple[0], rich[0]);
    }

    /// Draws are those of the steps, as often as their weights say.
    #[test]
    fn a_draw_is_of_one_step() {
        let mut ladder = learnt();
        ladder.weight = 0.25;
        let (names, mut scratch, x) = ([Name::from("a")], Scratch::default(), [0.3, -0.2]);
        let actions = Asked::new(&names, &[Some(0)]);
        let (mut rich, rounds) = (0, 2000);
        for round in 0..rounds {
            let key = Key::new(7).round(round);
            ladder.draw(&x, actions, 1.0, key, &mut scratch);
            let value = scratch.values()[0];
            Heads::draw(&ladder.networks, &x, actions, 1.0, key, &mut scratch);
            rich += u64::from(value == scratch.values()[0]);
        }
        assert!((rich as f64 / rounds as f64 - 0.25).abs() < 0.04, "{rich}");
    }
}
