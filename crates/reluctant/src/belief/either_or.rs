//! Two actions of which exactly one is right: rewards are 1 for the right one and 0 for the other.
//!
//! Then a reward of one action tells that of the other, and what is learnt from all rewards is one function, the
//! logarithm f of the odds that the first action is right:
//!
//! > P(the first is right in x) = 1/(1 + exp(−f(x))),  f = w·φ,  w ~ N(0, I/λ).
//!
//! φ are the hidden units of a network that is trained by the likelihood, or scaled inputs with their ramps, and a one.
//! The posterior of w is normal around its mode ŵ (Laplace), with the precision A = λI + Σ p(1 − p)φφᵀ: after every
//! training ŵ is found by Newton's method, with steps halved until they gain; in between each reward makes a step by
//! itself, with the A of those before. λ is made to agree with ŵ, by MacKay's rule (1992): λ = γ/‖ŵ‖² with the number γ
//! of weights that rewards have determined. What is foretold counts the spread s of f, too, as he does: it is
//! 1/(1 + exp(−f/√(1 + πs²/8))).

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

/// λ becomes at most so many times as large by a training.
const LAMBDA_GROWTH: f64 = 10.0;

/// Newton's method ends when a step gains less than this in log-likelihood, or after so many steps, halved ones
/// included.
const NO_GAIN: f64 = 0.01;
const MOST_STEPS: usize = 25;

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
            && self.trained.is_of_chances()
            && self.lambda > 0.0
            && self.odds.dim() == self.trained.feature_count()
            && self.count <= Self::ACTIONS
    }

    /// The chance that an action is about to be right in x.
    pub(crate) fn foretold(&self, head: usize, x: &[f64], scratch: &mut Scratch) -> f64 {
        let Scratch { numbers, phi, .. } = scratch;
        self.trained.features(x, numbers, phi);
        let (value, spread) = self.value(head, phi);
        moderated(value, spread)
    }

    /// The odds from all rewards, with features as they are now.
    fn rebuild(&mut self) {
        let size = self.trained.feature_count();
        let (start, least) = if self.trained.is_additive() {
            (self.odds.weights().to_vec(), LEAST_LAMBDA)
        } else {
            (self.trained.net().head(0).to_vec(), LEAST_LAMBDA_OF_NETWORKS)
        };
        // Where there are other features than before, nothing of the weights before is worth a start.
        let start = if start.len() == size { start } else { vec![0.0; size] };
        self.odds = self.mode(start);
        let trace: f64 = self.odds.covariance().iter().step_by(size + 1).sum();
        let determined = size as f64 - self.lambda * trace;
        let lambda = determined / dot(self.odds.weights(), self.odds.weights());
        // Balanced rewards can have weights of zero, which say nothing of λ.
        if lambda.is_finite() {
            self.lambda = lambda.clamp(least, (LAMBDA_GROWTH * self.lambda).clamp(least, MOST_LAMBDA));
        }
    }

    /// The posterior around its mode, found by Newton's method from these weights, or from zero if that is likelier.
    fn mode(&self, start: Vec<f64>) -> Ellipsoid {
        let mut weights = start;
        let (mut value, mut fit) = self.newton(&weights);
        if value < self.log_at_zero() {
            weights.fill(0.0);
            (value, fit) = self.newton(&weights);
        }
        let mut next = fit.weights().to_vec();
        for _ in 0..MOST_STEPS {
            let (reached, there) = self.newton(&next);
            if reached >= value {
                let gain = reached - value;
                weights.copy_from_slice(&next);
                (value, fit) = (reached, there);
                if gain < NO_GAIN {
                    break;
                }
                next.copy_from_slice(fit.weights());
            } else {
                next.iter_mut().zip(&weights).for_each(|(next, weight)| *next = 0.5 * (*next + weight));
            }
        }
        // Around the weights that were reached, not those of one more step.
        fit.move_to(&weights);
        fit
    }

    /// The logarithm of the posterior of weights of zero, up to a constant.
    fn log_at_zero(&self) -> f64 {
        -(self.trained.len() as f64) * std::f64::consts::LN_2
    }

    /// The logarithm of the posterior at these weights, up to a constant, and the least squares whose solution is where
    /// Newton's method goes from there.
    fn newton(&self, weights: &[f64]) -> (f64, Ellipsoid) {
        let (mut sums, mut seen) = (Sums::new(weights.len()), vec![0.0; weights.len()]);
        let mut log = -0.5 * self.lambda * dot(weights, weights);
        self.trained.each(|_, phi, y| {
            let value = dot(weights, phi);
            let (root, response) = working(value, y);
            log += log_chance(value, y);
            seen.iter_mut().zip(phi).for_each(|(s, p)| *s = root * p);
            sums.add(&seen, response);
        });
        (log, Ellipsoid::from_sums(self.lambda, &sums.gram, &sums.moment, sums.count))
    }

    /// The logarithm of an action's odds at φ, and its standard deviation.
    fn value(&self, head: usize, phi: &[f64]) -> (f64, f64) {
        let (value, squared) = self.odds.mean_and_squared_width(phi);
        (sign(head) * value, squared.sqrt())
    }

    /// The head of an action; none of one beside the two. Until the second action is rewarded, whatever is not the
    /// first is taken for it.
    fn head(&self, head: Option<usize>) -> Option<usize> {
        Some(head.unwrap_or(self.count)).filter(|head| *head < Self::ACTIONS)
    }
}

/// log P(y) where the logarithm of the odds of y = 1 is this.
fn log_chance(value: f64, y: f64) -> f64 {
    let value = if y == 1.0 { value } else { -value };
    // log(1/(1 + exp(−v))), without overflow.
    value.min(0.0) - libm::log1p(libm::exp(-value.abs()))
}

/// The chance whose odds have a logarithm of this mean and spread.
fn moderated(value: f64, spread: f64) -> f64 {
    logistic(value / (1.0 + std::f64::consts::PI * spread * spread / 8.0).sqrt())
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
            let Some(head) = self.head(head) else {
                return Score { mean: UNKNOWN.mean, width: scale * UNKNOWN.width };
            };
            let (value, spread) = self.value(head, phi);
            let gain = logistic(value + spread) - logistic(value);
            Score { mean: moderated(value, spread), width: scale * gain }
        }));
    }

    fn draw(&self, x: &[f64], actions: Asked<'_>, scale: f64, key: Key, scratch: &mut Scratch) {
        let Scratch { drawn, numbers: values, phi, .. } = scratch;
        self.trained.features(x, drawn, phi);
        // One function is drawn for both actions.
        let stray = scale * normal(&mut key.branch("odds").purpose(Purpose::Choice).stream());
        values.clear();
        values.extend(actions.iter().map(|(name, head)| {
            let Some(head) = self.head(head) else {
                let mut stream = key.branch(name).purpose(Purpose::Choice).stream();
                return UNKNOWN.mean + scale * UNKNOWN.width * normal(&mut stream);
            };
            let (value, spread) = self.value(head, phi);
            logistic(value + sign(head) * stray * spread)
        }));
    }

    fn warning(&self) -> Option<String> {
        self.trained.warning_of_training()
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
            // The last training was after the 64th reward; λ is found for the next.
            let mut belief = learnt(additive, 63);
            let (lambda, x) = (belief.lambda, [0.3, 0.4]);
            belief.learn(0, &x, 1.0);
            belief.lambda = lambda;
            let (weights, data) = (belief.odds.weights().to_vec(), data(&belief));
            let size = weights.len();
            let chance = |phi: &[f64]| logistic(dot(&weights, phi));
            let slope = |i: usize| data.iter().map(|(phi, y)| phi[i] * (y - chance(phi))).sum::<f64>();
            assert!((0..size).all(|i| (slope(i) - lambda * weights[i]).abs() < 0.05), "{additive}");
            let precision = belief.odds.precision();
            for (i, j) in [(0, 0), (0, size - 1), (1, 2)] {
                let sum: f64 = data.iter().map(|(phi, _)| chance(phi) * (1.0 - chance(phi)) * phi[i] * phi[j]).sum();
                let expected = sum + if i == j { lambda } else { 0.0 };
                assert!((precision[i * size + j] - expected).abs() < 1e-9, "{additive}");
            }
        }
    }

    /// A thousand rewards that say one thing, and then many that say another: a whole Newton step would go too far.
    #[test]
    fn what_turns_around_is_followed_and_not_overshot() {
        for additive in [true, false] {
            let mut belief = made(additive);
            let mut scratch = Scratch::default();
            (0..1000).for_each(|_| belief.learn(0, &[0.0, 0.0], 1.0));
            assert!(belief.foretold(0, &[0.0, 0.0], &mut scratch) > 0.95);
            (0..1100).for_each(|_| belief.learn(0, &[0.0, 0.0], 0.0));
            let found = belief.foretold(0, &[0.0, 0.0], &mut scratch);
            assert!((0.3..0.7).contains(&found), "{additive} {found}");
        }
    }

    /// Between trainings each reward is one Newton step: the weights stay near those of all rewards.
    #[test]
    fn rewards_between_trainings_count() {
        let belief = learnt(true, 120);
        let before = made_until_training(&belief);
        let mut whole = belief.odds.weights().to_vec();
        for _ in 0..20 {
            whole = belief.newton(&whole).1.weights().to_vec();
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
            for (field, value) in [("count", 3.into()), ("lambda", 0.0.into()), ("odds", saved["trained"].clone())] {
                let mut torn = saved.clone();
                torn[field] = value;
                assert!(read(&torn).is_err(), "{field}");
            }
        }
    }
}
