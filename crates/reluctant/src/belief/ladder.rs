//! A ladder of models from simple to rich, in contexts: each is weighed by how well it has foretold the rewards.
//!
//! The lowest step is a sum of curves, one for each input, the next a pair of networks with a shared hidden layer, and
//! the highest a network whose hidden layer is infinitely wide, a Gaussian process ([`LastLayer`]). Where there are two
//! actions and rewards are 0 and 1, two more steps take one of the actions to be right and the other wrong
//! ([`EitherOr`]), by curves and by networks: if that is so, a reward of one action tells that of the other.
//!
//! Before a step learns a reward y it says with which density it expected it, of rewards of 0 and 1 with which chance;
//! its weight is multiplied with that. So the weights are the posterior of the steps, by evidence on all rewards. A
//! step may be the best one first and another later, so a share of 1/(t + 1) of the weight is divided anew in round t
//! (fixed shares, Herbster and Warmuth 1998, with a share that shrinks).
//!
//! Means and spreads are the weighted means of those of the steps. How far the steps are apart is no part of the
//! spread: on real tables that was exploration without a use (docs/laboratory.md).
//!
//! If two actions are both right most of the time, who takes one of them for wrong never tries it, and no evidence
//! speaks against that. So the steps that say so are not asked in the first rounds, and later now and then: after n
//! rewards in a share of 10/n of the contexts, by chance, as the numbers of the context and n say.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::heads::{Asked, Heads};
use super::{Averaged, EitherOr, LastLayer, state};
use crate::choice::Score;
use crate::error::Result;
use crate::network::MOST_CURVES;
use crate::rng::{Key, Purpose, uniform};
use crate::scratch::Scratch;

/// One reward speaks for a step by at most so many nats: a wild one does not decide.
const MOST_EVIDENCE: f64 = 5.0;

/// A chance that a step foretells counts as at least so much away from 0 and 1: nobody is so sure.
const LEAST_CHANCE: f64 = 0.01;

/// After n rewards the steps that take one of two actions for wrong are not asked in this share of n of the contexts.
const CHECKS: f64 = 10.0;

/// The steps, at least one, and their weights.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Ladder {
    steps: Vec<Step>,
    learnt: u64,
    /// Whether all rewards so far were 0 or 1.
    chances: bool,
    #[serde(skip)]
    scratch: Scratch,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
struct Step {
    model: LadderStep,
    belief: Foreteller,
    /// Weights sum to one.
    weight: f64,
}

/// What a step believes.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Foreteller {
    Rewards(Averaged<LastLayer>),
    EitherOr(Averaged<EitherOr>),
}

/// What the steps are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum LadderStep {
    /// A sum of curves, one for each input.
    Additive,
    /// A hidden layer that all actions share.
    Networks,
    /// One that is infinitely wide.
    Infinite,
    /// Curves for the odds that one of two actions is right and the other wrong.
    EitherOrAdditive,
    /// Networks for the same.
    EitherOrNetworks,
}

impl fmt::Display for LadderStep {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            LadderStep::Additive => "a curve for each feature",
            LadderStep::Networks => "networks that all actions share",
            LadderStep::Infinite => "an infinitely wide network",
            LadderStep::EitherOrAdditive => "curves by which one of two actions is right",
            LadderStep::EitherOrNetworks => "networks by which one of two actions is right",
        })
    }
}

impl Ladder {
    /// The steps, with equal weights: curves and the infinite network are made of `first`.
    pub(crate) fn new(
        first: LastLayer,
        networks: Averaged<LastLayer>,
        either: EitherOr,
        either_networks: Averaged<EitherOr>,
    ) -> Result<Self> {
        let curves = Heads::dim(&first) <= MOST_CURVES;
        let mut models = Vec::new();
        if curves {
            let additive = Averaged::new(vec![first.clone().additive()])?;
            models.push((LadderStep::Additive, Foreteller::Rewards(additive)));
        }
        models.push((LadderStep::Networks, Foreteller::Rewards(networks)));
        models.push((LadderStep::Infinite, Foreteller::Rewards(Averaged::new(vec![first.infinite()])?)));
        if curves {
            let additive = Averaged::new(vec![either.additive()])?;
            models.push((LadderStep::EitherOrAdditive, Foreteller::EitherOr(additive)));
        }
        models.push((LadderStep::EitherOrNetworks, Foreteller::EitherOr(either_networks)));
        let weight = 1.0 / models.len() as f64;
        let steps = models.into_iter().map(|(model, belief)| Step { model, belief, weight }).collect();
        Ok(Ladder { steps, learnt: 0, chances: true, scratch: Scratch::default() })
    }

    /// The weight of a step; 0 of one that is not there.
    pub fn weight(&self, model: LadderStep) -> f64 {
        self.steps.iter().filter(|step| step.model == model).map(|step| step.weight).sum()
    }

    /// Whether the parts fit together, for a belief read from a file.
    pub(crate) fn is_consistent(&self) -> bool {
        let fits = |step: &Step| {
            let belief = step.belief.heads();
            (0.0..=1.0).contains(&step.weight)
                && step.belief.is_consistent()
                && belief.dim() == self.dim()
                && belief.count() == self.count()
        };
        let sum: f64 = self.steps.iter().map(|step| step.weight).sum();
        let rewards = self.steps.iter().any(|step| !step.belief.is_either_or());
        rewards && (sum - 1.0).abs() < 1e-6 && self.steps.iter().all(fits)
    }

    /// Leaves out the steps by which one of two actions is right.
    fn refute_either_or(&mut self) {
        self.steps.retain(|step| !step.belief.is_either_or());
        let sum: f64 = self.steps.iter().map(|step| step.weight).sum();
        let even = 1.0 / self.steps.len() as f64;
        self.steps.iter_mut().for_each(|step| step.weight = if sum > 0.0 { step.weight / sum } else { even });
    }

    /// The steps are weighed by what they foretell of reward y.
    fn weigh(&mut self, head: usize, x: &[f64], y: f64) {
        let Ladder { steps, learnt, chances, scratch, .. } = self;
        if steps.len() == 1 {
            return;
        }
        let logs: Vec<f64> = steps.iter().map(|step| step.belief.log_chance(head, x, y, *chances, scratch)).collect();
        let most = logs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        for (step, log) in steps.iter_mut().zip(logs) {
            // Rewards so small that their variance is 0 in working precision say nothing of the steps.
            let evidence = if log.is_finite() && most.is_finite() { log - most } else { 0.0 };
            step.weight *= libm::exp(evidence.max(-MOST_EVIDENCE));
        }
        let sum: f64 = steps.iter().map(|step| step.weight).sum();
        let (share, even) = (1.0 / (*learnt as f64 + 1.0), 1.0 / steps.len() as f64);
        steps.iter_mut().for_each(|step| step.weight = (1.0 - share) * (step.weight / sum) + share * even);
    }

    /// Whether only the steps are asked in x that do not take one of two actions for wrong.
    fn is_check(&self, x: &[f64]) -> bool {
        let share = CHECKS / (self.learnt as f64).max(1.0);
        share >= 1.0 || uniform(&mut Key::new(seed(self.learnt, x)).purpose(Purpose::General).stream()) < share
    }

    /// The steps that are asked in x, with weights that sum to one.
    fn asked(&self, x: &[f64]) -> impl Iterator<Item = (&Step, f64)> {
        let check = self.is_check(x);
        let counts = move |step: &&Step| !(check && step.belief.is_either_or());
        let sum: f64 = self.steps.iter().filter(counts).map(|step| step.weight).sum();
        self.steps.iter().filter(counts).map(move |step| (step, if sum > 0.0 { step.weight / sum } else { 0.0 }))
    }
}

/// A number that follows from n and all of x.
fn seed(n: u64, x: &[f64]) -> u64 {
    x.iter().fold(n, |seed, x| (seed ^ x.to_bits()).wrapping_mul(ODD).rotate_left(29))
}

/// An odd number without pattern: the golden ratio.
const ODD: u64 = 0x9E37_79B9_7F4A_7C15;

impl Foreteller {
    fn heads(&self) -> &dyn Heads {
        match self {
            Foreteller::Rewards(belief) => belief,
            Foreteller::EitherOr(belief) => belief,
        }
    }

    fn heads_mut(&mut self) -> &mut dyn Heads {
        match self {
            Foreteller::Rewards(belief) => belief,
            Foreteller::EitherOr(belief) => belief,
        }
    }

    fn is_either_or(&self) -> bool {
        matches!(self, Foreteller::EitherOr(_))
    }

    fn is_consistent(&self) -> bool {
        match self {
            Foreteller::Rewards(belief) => belief.is_consistent(),
            Foreteller::EitherOr(belief) => belief.are_consistent(EitherOr::is_consistent),
        }
    }

    /// The logarithm of the chance, or of the normal density, of the reward y, up to what all steps have in common.
    fn log_chance(&self, head: usize, x: &[f64], y: f64, chances: bool, scratch: &mut Scratch) -> f64 {
        let (mean, variance) = match self {
            Foreteller::Rewards(belief) => mean_of(belief, |member| member.foretold(head, x, scratch)),
            Foreteller::EitherOr(belief) => mean_of(belief, |member| (member.foretold(head, x, scratch), 0.0)),
        };
        if !chances {
            return -0.5 * (libm::log(variance) + (y - mean) * (y - mean) / variance);
        }
        let chance = mean.clamp(LEAST_CHANCE, 1.0 - LEAST_CHANCE);
        libm::log(if y == 1.0 { chance } else { 1.0 - chance })
    }
}

/// Mean and variance of the reward to come, each the mean of the members'.
fn mean_of<B>(belief: &Averaged<B>, mut foretold: impl FnMut(&B) -> (f64, f64)) -> (f64, f64) {
    let members = belief.members();
    let sum = members.iter().fold((0.0, 0.0), |(means, variances), member| {
        let (mean, variance) = foretold(member);
        (means + mean, variances + variance)
    });
    let count = members.len() as f64;
    (sum.0 / count, sum.1 / count)
}

impl Heads for Ladder {
    fn kind(&self) -> &'static str {
        "ladder"
    }

    fn dim(&self) -> usize {
        self.steps.first().map_or(0, |step| step.belief.heads().dim())
    }

    fn count(&self) -> usize {
        self.steps.first().map_or(0, |step| step.belief.heads().count())
    }

    fn add(&mut self, name: &str) -> Result<()> {
        if self.count() >= EitherOr::ACTIONS {
            self.refute_either_or();
        }
        self.steps.iter_mut().try_for_each(|step| step.belief.heads_mut().add(name))
    }

    fn learn(&mut self, head: usize, x: &[f64], y: f64) {
        if self.chances && !EitherOr::takes(y) {
            self.chances = false;
            self.refute_either_or();
        }
        self.learnt = self.learnt.saturating_add(1);
        self.weigh(head, x, y);
        self.steps.iter_mut().for_each(|step| step.belief.heads_mut().learn(head, x, y));
    }

    fn predict(&self, x: &[f64], actions: Asked<'_>, scale: f64, scratch: &mut Scratch) {
        let mut sums = std::mem::take(&mut scratch.mixed_scores);
        sums.clear();
        sums.resize(actions.len(), Score { mean: 0.0, width: 0.0 });
        for (step, weight) in self.asked(x) {
            step.belief.heads().predict(x, actions, scale, scratch);
            for (sum, score) in sums.iter_mut().zip(&scratch.scores) {
                *sum = Score { mean: sum.mean + weight * score.mean, width: sum.width + weight * score.width };
            }
        }
        scratch.mixed_scores = std::mem::replace(&mut scratch.scores, sums);
    }

    /// A draw of one step, by its weight.
    fn draw(&self, x: &[f64], actions: Asked<'_>, scale: f64, key: Key, scratch: &mut Scratch) {
        let mut left = uniform(&mut key.branch("step").purpose(Purpose::General).stream());
        let drawn = self.asked(x).find(|(_, weight)| {
            left -= weight;
            left < 0.0
        });
        if let Some((step, _)) = drawn.or(self.asked(x).last()) {
            step.belief.heads().draw(x, actions, scale, key, scratch);
        }
    }

    fn warning(&self) -> Option<String> {
        self.steps.iter().find_map(|step| step.belief.heads().warning())
    }

    /// The steps, those of most weight first.
    fn describe(&self) -> String {
        let mut steps: Vec<&Step> = self.steps.iter().collect();
        steps.sort_by(|a, b| b.weight.total_cmp(&a.weight));
        let say = |step: &&Step| format!("{} ({:.0} % of the weight)", step.model, 100.0 * step.weight);
        steps.iter().map(say).collect::<Vec<_>>().join(", ")
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

    /// Before it knows an action.
    fn bare() -> Ladder {
        let table = [WIDTH, LAMBDA, GROWTH, EPOCHS, RATE, DECAY];
        let params = Params::resolve("toy", &table, &Settings::new()).unwrap();
        let noise = Noise { own: true, shape: 0.5, rate: 0.5 };
        let member = |seed| LastLayer::read(2, Inputs::Contexts, noise, &params, Key::new(seed)).unwrap();
        let either = |seed| EitherOr::read(2, &params, Key::new(seed)).unwrap();
        let networks = Averaged::new(vec![member(2), member(3)]).unwrap();
        Ladder::new(member(1), networks, either(4), Averaged::new(vec![either(5), either(6)]).unwrap()).unwrap()
    }

    /// With one action.
    fn made() -> Ladder {
        let mut ladder = bare();
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

    /// What is a sum of curves is left to the step that is one, what is none to the others.
    #[test]
    fn the_step_that_foretells_best_has_the_weight() {
        let (mut sums, mut products) = (made(), made());
        let mut stream = Key::new(5).stream();
        for _ in 0..600 {
            let x = [2.0 * uniform(&mut stream) - 1.0, 2.0 * uniform(&mut stream) - 1.0];
            let noise = 0.3 * normal(&mut stream);
            sums.learn(0, &x, x[0].abs() - (3.0 * x[1]).min(0.5) + noise);
            products.learn(0, &x, 2.0 * x[0] * x[1] + noise);
        }
        let curves = [&sums, &products].map(|ladder| ladder.weight(LadderStep::Additive));
        assert!(curves[0] > 0.1 && curves[1] < 0.01, "{curves:?}");
        assert!(sums.is_consistent() && products.is_consistent());
        let all = [LadderStep::Additive, LadderStep::Networks, LadderStep::Infinite];
        assert!((all.map(|model| products.weight(model)).iter().sum::<f64>() - 1.0).abs() < 1e-12);
        assert!(!products.describe().starts_with("a curve"));
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
            ladder.weight(LadderStep::Additive)
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
                step.belief.heads().draw(&x, actions, 1.0, key, &mut scratch);
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
            |ladder| {
                ladder["steps"][2]["belief"]["rewards"][0]["trained"]["layer"]["infinite"][1]["factor"] =
                    serde_json::json!([1])
            },
            |ladder| ladder["steps"][2]["belief"]["rewards"][0]["trained"]["layer"] = "growing".into(),
        ];
        for (i, tear) in tears.into_iter().enumerate() {
            let mut torn = saved.clone();
            tear(&mut torn);
            assert!(read(&torn).is_err(), "{i}");
        }
    }

    /// Two actions whose chances to be rewarded are given, acted on by optimism: how often the second was chosen in the
    /// last half of the rounds.
    fn play(ladder: &mut Ladder, rounds: u64, chances: impl Fn(&[f64]) -> [f64; 2]) -> f64 {
        let (names, mut scratch, mut heads) = (["a", "b"].map(Name::from), Scratch::default(), [None, None]);
        let mut stream = Key::new(8).stream();
        let mut chosen = 0;
        for round in 0..rounds {
            let x = [normal(&mut stream), normal(&mut stream)];
            ladder.predict(&x, Asked::new(&names, &heads), 0.7, &mut scratch);
            let action = usize::from(scratch.scores[1].upper() > scratch.scores[0].upper());
            let head = heads[action].unwrap_or_else(|| {
                ladder.add(&names[action]).unwrap();
                ladder.count() - 1
            });
            heads[action] = Some(head);
            let right = uniform(&mut stream) < chances(&x)[action];
            ladder.learn(head, &x, f64::from(u8::from(right)));
            chosen += u64::from(2 * round >= rounds && action == 1);
        }
        2.0 * chosen as f64 / rounds as f64
    }

    fn weight_of_either_or(ladder: &Ladder) -> f64 {
        ladder.weight(LadderStep::EitherOrAdditive) + ladder.weight(LadderStep::EitherOrNetworks)
    }

    #[test]
    fn that_one_of_two_is_right_is_found_out() {
        let mut ladder = bare();
        let share = play(&mut ladder, 300, |x| if x[0] + x[1] > 0.0 { [0.9, 0.1] } else { [0.1, 0.9] });
        // It began with two fifths.
        assert!(weight_of_either_or(&ladder) > 0.4, "{}", ladder.describe());
        assert!((0.35..0.65).contains(&share), "{share}");
        let saved = ladder.save().unwrap();
        let read = |state: &serde_json::Value| restore_if(state.clone(), Ladder::is_consistent);
        assert_eq!(read(&saved).unwrap().save().unwrap(), saved);
        let tears: [fn(&mut serde_json::Value); 4] = [
            |ladder| ladder["steps"][4]["belief"]["either-or"][1]["count"] = 1.into(),
            |ladder| ladder["steps"][3]["belief"]["either-or"][0]["trained"]["loss"] = "squares".into(),
            |ladder| (0..5).for_each(|step| ladder["steps"][step]["weight"] = 0.0.into()),
            |ladder| ladder["steps"][3]["belief"]["either-or"][0]["odds"]["dim"] = 3.into(),
        ];
        for (i, tear) in tears.into_iter().enumerate() {
            let mut torn = saved.clone();
            tear(&mut torn);
            assert!(read(&torn).is_err(), "{i}");
        }
    }

    /// Whoever takes one of two good actions for wrong never tries it, unless he is not asked now and then.
    #[test]
    fn two_actions_that_are_mostly_right_are_both_tried() {
        let mut ladder = bare();
        let share = play(&mut ladder, 600, |_| [0.75, 0.95]);
        assert!(weight_of_either_or(&ladder) < 0.1, "{}", ladder.describe());
        assert!(share > 0.8, "{share}");
    }

    #[test]
    fn a_third_action_or_another_reward_refutes_that_one_of_two_is_right() {
        let mut ladder = made();
        ladder.learn(0, &[0.1, 0.2], 1.0);
        assert!(weight_of_either_or(&ladder) > 0.1);
        let mut other = ladder.clone();
        other.learn(0, &[0.1, 0.2], 0.5);
        ladder.add("b").unwrap();
        assert!(weight_of_either_or(&ladder) > 0.1);
        ladder.add("c").unwrap();
        for ladder in [ladder, other] {
            assert!(weight_of_either_or(&ladder) == 0.0 && ladder.is_consistent() && ladder.steps.len() == 3);
            assert!((ladder.steps.iter().map(|step| step.weight).sum::<f64>() - 1.0).abs() < 1e-12);
        }
    }
}
