//! Two actions of which exactly one is right: rewards are 1 for the right one and 0 for the other.
//!
//! Then a reward of one action tells that of the other, and what is learnt from all rewards is one function, the
//! logarithm f of the odds that the first action is right:
//!
//! > P(the first is right in x) = 1/(1 + exp(−f(x))),  f = w·φ,  w ~ N(0, I/λ).
//!
//! φ are the hidden units of a network that is trained by the likelihood, or scaled inputs with their ramps, and a one.
//! The posterior of w is normal around its mode ŵ (Laplace), with the precision A = λI + Σ p(1 − p)φφᵀ: after every
//! training ŵ is found by Newton's method, in between each reward makes one step of it. λ is made to agree with ŵ, by
//! MacKay's rule (1992): λ = γ/‖ŵ‖² with the number γ of weights that rewards have determined.

use serde::{Deserialize, Serialize};

use super::heads::{Asked, Heads};
use super::last_layer::Sums;
use super::state;
use crate::choice::Score;
use crate::ellipsoid::Ellipsoid;
use crate::error::{Error, Result};
use crate::linalg::dot;
use crate::network::{Inputs, Trained, logistic};
use crate::params::Params;
use crate::rng::{Key, Purpose, normal};
use crate::scratch::Scratch;

/// λ before the first training, and the least and the most that it may become. As in [`super::LastLayer`] a network's
/// units, trained on the same rewards, have nothing against a λ however small.
const FIRST_LAMBDA: f64 = 1.0;
const LEAST_LAMBDA: f64 = 0.1;
const LEAST_LAMBDA_OF_NETWORKS: f64 = 1.0;
const MOST_LAMBDA: f64 = 1e3;

/// Newton steps after a training: from the weights that the network was trained with, from those before the training,
/// and from zero.
const STEPS_OF_NETWORKS: usize = 1;
const STEPS_ON: usize = 2;
const STEPS_ANEW: usize = 5;

/// The variance p(1 − p) of an outcome counts at least so much, so that a step after a surprise stays bounded.
const LEAST_VARIANCE: f64 = 1e-6;

/// Features of the context, and the logarithm of the odds as a linear function of them.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct EitherOr {
    /// Its one head is the first action; rewards are kept as 1 if that was right, else 0.
    trained: Trained,
    lambda: f64,
    /// Of the odds, by working responses (iteratively reweighted least squares).
    odds: Ellipsoid,
    /// How many of the two actions have been rewarded.
    count: usize,
    #[serde(skip)]
    work: (Vec<f64>, Vec<f64>),
}

impl EitherOr {
    /// How many actions there are.
    pub(crate) const ACTIONS: usize = 2;

    /// Reads the settings of the network.
    pub(crate) fn read(dim: usize, params: &Params, key: Key) -> Result<Self> {
        let mut trained = Trained::read(dim, Inputs::Contexts, params, key)?.of_chances();
        trained.add_head();
        Ok(Self::of(trained))
    }

    fn of(trained: Trained) -> Self {
        let odds = Ellipsoid::ridge(trained.feature_count(), FIRST_LAMBDA);
        EitherOr { trained, lambda: FIRST_LAMBDA, odds, count: 0, work: Default::default() }
    }

    /// The same without a network: odds are sums of curves, one for each input.
    pub(crate) fn additive(self) -> Self {
        Self::of(self.trained.additive())
    }

    /// The same with so many times the weight decay.
    pub(crate) fn with_decay_times(mut self, factor: f64) -> Self {
        self.trained.multiply_decay(factor);
        self
    }

    /// Whether a reward can be of such a pair.
    pub(crate) fn takes(y: f64) -> bool {
        y == 0.0 || y == 1.0
    }

    pub(crate) fn is_consistent(&self) -> bool {
        self.trained.is_consistent()
            && self.trained.heads() == 1
            && self.lambda > 0.0
            && self.odds.dim() == self.trained.feature_count()
            && self.count <= Self::ACTIONS
    }

    /// The chance that an action is about to be right in x.
    pub(crate) fn foretold(&self, head: usize, x: &[f64], scratch: &mut Scratch) -> f64 {
        let Scratch { numbers, phi, .. } = scratch;
        self.trained.features(x, numbers, phi);
        logistic(sign(head) * self.odds.mean(phi))
    }

    /// The odds from all rewards, with features as they are now.
    fn rebuild(&mut self) {
        let size = self.trained.feature_count();
        let is_network = !self.trained.is_additive();
        let (mut weights, steps, least) = if is_network {
            (self.trained.net().head(0).to_vec(), STEPS_OF_NETWORKS, LEAST_LAMBDA_OF_NETWORKS)
        } else if self.odds.dim() == size {
            (self.odds.weights().to_vec(), STEPS_ON, LEAST_LAMBDA)
        } else {
            (vec![0.0; size], STEPS_ANEW, LEAST_LAMBDA)
        };
        for _ in 0..steps {
            self.odds = self.newton(&weights);
            weights.copy_from_slice(self.odds.weights());
        }
        let trace: f64 = self.odds.covariance().iter().step_by(size + 1).sum();
        let determined = size as f64 - self.lambda * trace;
        let lambda = determined / dot(&weights, &weights);
        // Without rewards of both kinds weights can be zero.
        self.lambda = if lambda.is_nan() { FIRST_LAMBDA } else { lambda.clamp(least, MOST_LAMBDA) };
    }

    /// One step of Newton's method from these weights, on all rewards.
    fn newton(&self, weights: &[f64]) -> Ellipsoid {
        let (mut sums, mut seen) = (Sums::new(weights.len()), vec![0.0; weights.len()]);
        self.trained.each(|_, phi, y| {
            let (root, response) = working(dot(weights, phi), y);
            seen.iter_mut().zip(phi).for_each(|(s, p)| *s = root * p);
            sums.add(&seen, response);
        });
        Ellipsoid::from_sums(self.lambda, &sums.gram, &sums.moment, sums.count)
    }

    /// The chance of an action at φ, and what it gains if its odds are `spreads` standard deviations higher.
    fn chance(&self, head: Option<usize>, phi: &[f64], spreads: f64) -> Score {
        // Until the second action is rewarded, whatever is not the first is taken for it.
        let head = head.unwrap_or(self.count);
        if head >= Self::ACTIONS {
            return UNKNOWN;
        }
        let (value, squared) = self.odds.mean_and_squared_width(phi);
        let (value, mean) = (sign(head) * value, logistic(sign(head) * value));
        Score { mean, width: logistic(value + spreads * squared.sqrt()) - mean }
    }
}

/// Of an action beside the two nothing is known.
const UNKNOWN: Score = Score { mean: 0.5, width: 1.0 };

/// The odds of the second action are those of the first with the other sign.
fn sign(head: usize) -> f64 {
    if head == 0 { 1.0 } else { -1.0 }
}

/// A Newton step of the logistic likelihood at a value is least squares of this response with φ multiplied by this
/// root.
fn working(value: f64, y: f64) -> (f64, f64) {
    let p = logistic(value);
    let root = (p * (1.0 - p)).max(LEAST_VARIANCE).sqrt();
    (root, root * value + (y - p) / root)
}

impl Heads for EitherOr {
    fn kind(&self) -> &'static str {
        "either or"
    }

    fn dim(&self) -> usize {
        self.trained.dim()
    }

    fn count(&self) -> usize {
        self.count
    }

    fn add(&mut self, _: &str) -> Result<()> {
        if self.count == Self::ACTIONS {
            return Err(Error::out_of_range("the number of actions of which one is right", Self::ACTIONS + 1, "2"));
        }
        self.count += 1;
        Ok(())
    }

    fn learn(&mut self, head: usize, x: &[f64], y: f64) {
        let first_is_right = if head == 0 { y } else { 1.0 - y };
        if self.trained.observe(0, x, first_is_right) {
            return self.rebuild();
        }
        let (scaled, phi) = &mut self.work;
        self.trained.features(x, scaled, phi);
        let (root, response) = working(self.odds.mean(phi), first_is_right);
        phi.iter_mut().for_each(|p| *p *= root);
        self.odds.update(phi, response);
    }

    fn predict(&self, x: &[f64], actions: Asked<'_>, scale: f64, scratch: &mut Scratch) {
        let Scratch { scores, numbers, phi, .. } = scratch;
        self.trained.features(x, numbers, phi);
        scores.clear();
        scores.extend(actions.iter().map(|(_, head)| {
            let Score { mean, width } = self.chance(head, phi, 1.0);
            Score { mean, width: scale * width }
        }));
    }

    fn draw(&self, x: &[f64], actions: Asked<'_>, scale: f64, key: Key, scratch: &mut Scratch) {
        let Scratch { drawn, numbers: values, phi, .. } = scratch;
        self.trained.features(x, drawn, phi);
        // One function is drawn for both actions.
        let stray = scale * normal(&mut key.branch("odds").purpose(Purpose::Choice).stream());
        values.clear();
        values.extend(actions.iter().map(|(_, head)| {
            let Score { mean, width } = self.chance(head, phi, sign(head.unwrap_or(self.count)) * stray);
            mean + width
        }));
    }

    fn warning(&self) -> Option<String> {
        self.trained.warning()
    }

    fn save(&self) -> Result<serde_json::Value> {
        state(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::belief::restore_if;
    use crate::network::{DECAY, EPOCHS, GROWTH, RATE, WIDTH};
    use crate::offer::Name;
    use crate::params::Settings;
    use crate::rng::uniform;

    fn made(additive: bool) -> EitherOr {
        let given = Settings::new().with("width", 6u64).with("growth", 1.0);
        let params = Params::resolve("toy", &[WIDTH, GROWTH, EPOCHS, RATE, DECAY], &given).unwrap();
        let belief = EitherOr::read(2, &params, Key::new(1)).unwrap();
        let mut belief = if additive { belief.additive() } else { belief };
        ["a", "b"].iter().for_each(|name| belief.add(name).unwrap());
        belief
    }

    /// After rewards of which every other one is of the second action.
    fn learnt(additive: bool, rounds: usize) -> EitherOr {
        let (mut belief, mut stream) = (made(additive), Key::new(2).stream());
        for i in 0..rounds {
            let x = [normal(&mut stream), normal(&mut stream)];
            let first = uniform(&mut stream) < logistic(2.0 * x[0].abs() - x[1] - 1.0);
            belief.learn(i % 2, &x, f64::from(u8::from(first == (i % 2 == 0))));
        }
        belief
    }

    /// Features, and whether the first action was right.
    fn data(belief: &EitherOr) -> Vec<(Vec<f64>, f64)> {
        let mut data = Vec::new();
        belief.trained.each(|_, phi, y| data.push((phi.to_vec(), y)));
        data
    }

    /// At the mode the slope of the likelihood is that of the prior, and the precision is that of the definition.
    #[test]
    fn newtons_method_ends_at_the_mode() {
        for additive in [true, false] {
            // The last training was after the 64th reward.
            let belief = learnt(additive, 64);
            let mut weights = belief.odds.weights().to_vec();
            for _ in 0..20 {
                weights = belief.newton(&weights).weights().to_vec();
            }
            let (size, data) = (weights.len(), data(&belief));
            let at = |i: usize| {
                let slope: f64 = data.iter().map(|(phi, y)| phi[i] * (y - logistic(dot(&weights, phi)))).sum();
                slope - belief.lambda * weights[i]
            };
            assert!((0..size).all(|i| at(i).abs() < 1e-6), "{additive}");
            let precision = belief.newton(&weights).precision();
            for (i, j) in [(0, 0), (0, size - 1), (1, 2)] {
                let chance = |phi: &[f64]| logistic(dot(&weights, phi));
                let sum: f64 = data.iter().map(|(phi, _)| chance(phi) * (1.0 - chance(phi)) * phi[i] * phi[j]).sum();
                let expected = sum + if i == j { belief.lambda } else { 0.0 };
                assert!((precision[i * size + j] - expected).abs() < 1e-9, "{additive}");
            }
        }
    }

    /// Between trainings each reward is one Newton step: the weights stay near those of all rewards.
    #[test]
    fn rewards_between_trainings_count() {
        let belief = learnt(true, 120);
        let before = made_until_training(&belief);
        let mut whole = belief.odds.weights().to_vec();
        for _ in 0..20 {
            whole = belief.newton(&whole).weights().to_vec();
        }
        let far = |weights: &[f64]| weights.iter().zip(&whole).map(|(a, b)| (a - b).powi(2)).sum::<f64>().sqrt();
        let (now, then) = (far(belief.odds.weights()), far(before.odds.weights()));
        assert!(now < 0.5 * then, "{now} {then}");
    }

    /// The same belief as it was at its last training.
    fn made_until_training(belief: &EitherOr) -> EitherOr {
        let before = learnt(true, 64);
        assert_eq!((before.odds.updates(), belief.odds.updates()), (64, 120));
        before
    }

    #[test]
    fn chances_of_the_two_add_up_to_one_and_come_near_the_truth() {
        for additive in [true, false] {
            let belief = learnt(additive, 1100);
            let (names, mut scratch) = (["a", "b"].map(Name::from), Scratch::default());
            let actions = Asked::new(&names, &[Some(0), Some(1)]);
            for x in [[0.0, 0.0], [1.0, -1.0], [-1.5, 1.0], [0.5, 1.5]] {
                belief.predict(&x, actions, 1.0, &mut scratch);
                let [first, second] = [scratch.scores[0], scratch.scores[1]];
                assert!((first.mean + second.mean - 1.0).abs() < 1e-12 && first.width > 0.0 && second.width > 0.0);
                let truth = logistic(2.0 * x[0].abs() - x[1] - 1.0);
                assert!((first.mean - truth).abs() < 0.2, "{additive} {x:?} {} {truth}", first.mean);
                assert!((belief.foretold(0, &x, &mut scratch) - first.mean).abs() < 1e-12);
                belief.draw(&x, actions, 1.0, Key::new(3), &mut scratch);
                assert!((scratch.values()[0] + scratch.values()[1] - 1.0).abs() < 1e-12);
            }
        }
    }

    /// The second action is the other one before it is rewarded; of a third nothing is known, and none is added.
    #[test]
    fn there_are_two_actions() {
        let (names, mut scratch) = (["a", "b", "c"].map(Name::from), Scratch::default());
        let mut belief = made(true);
        belief.count = 1;
        (0..5).for_each(|_| belief.learn(0, &[0.5, 0.5], 0.0));
        belief.predict(&[0.5, 0.5], Asked::new(&names[..2], &[Some(0), None]), 1.0, &mut scratch);
        assert!(scratch.scores[0].mean < 0.5 && scratch.scores[1].mean > 0.5);
        belief.add("b").unwrap();
        belief.predict(&[0.5, 0.5], Asked::new(&names, &[Some(0), Some(1), None]), 1.0, &mut scratch);
        assert!(scratch.scores[2].upper() > scratch.scores[1].upper());
        let error = belief.add("c").unwrap_err().to_string();
        assert!(error.contains("one is right"), "{error}");
    }

    #[test]
    fn it_is_read_back_whole_or_not_at_all() {
        for additive in [true, false] {
            let saved = learnt(additive, 100).save().unwrap();
            let read = |state: &serde_json::Value| restore_if(state.clone(), EitherOr::is_consistent);
            assert_eq!(read(&saved).unwrap().save().unwrap(), saved);
            for (field, value) in [("count", 3.into()), ("lambda", 0.0.into()), ("trained", saved["odds"].clone())] {
                let mut torn = saved.clone();
                torn[field] = value;
                assert!(read(&torn).is_err(), "{field}");
            }
        }
    }
}
