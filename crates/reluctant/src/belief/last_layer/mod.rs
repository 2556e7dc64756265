//! Bayesian linear regression on the last hidden layer of a network, with a head an action.
//!
//! With φ = (h(x), 1), the hidden units at x and a one, and rewards y in units of what was seen, an action's rewards
//! have the model
//!
//! > y = w·φ + noise,  noise ~ N(0, σ²),  w ~ N(0, σ²/λ·I),  σ² ~ inverse gamma(a₀, b₀),
//!
//! whose posterior is that of ridge regression: w ~ N(ŵ, σ²A⁻¹) and σ² ~ inverse gamma(a₀ + n/2, b₀ + loss/2) with
//! loss = Σy² − ŵᵀAŵ. The noise is each action's own, or one for all. λ is given, or the one of greatest evidence on a
//! grid, for all actions, found anew with each training of the network. Then the regressions, too, are made anew from
//! all rewards, because their features are others.

mod penalty;

use serde::{Deserialize, Serialize};

use super::heads::{Asked, Heads};
use super::linear::add_draw;
use super::{Averaged, Belief, state};
use crate::ellipsoid::{Confidence, Ellipsoid};
use crate::error::Result;
use crate::kernels::linear_scores;
use crate::linalg::dot;
use crate::network::{Inputs, Trained};
use crate::offer::Rows;
use crate::params::{Initial, Kind, Param, Params};
use crate::rng::{Key, Purpose, gamma, normal};
use crate::scratch::Scratch;
pub(super) use penalty::Sums;
use penalty::{GRID, INFINITE_GRID, most_evident};

pub(crate) const LAMBDA: Param = Param::new(
    "lambda",
    Initial::Auto("by evidence"),
    Kind::POSITIVE,
    "penalty λ of the regressions: the ratio of noise to prior variance",
);

/// λ before the first training.
const FIRST_LAMBDA: f64 = 1.0;

/// Whose the noise is, and what is known of it before the first reward.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub(crate) struct Noise {
    /// Whether each action has noise of its own.
    pub(crate) own: bool,
    /// a₀ and b₀.
    pub(crate) shape: f64,
    pub(crate) rate: f64,
}

/// The network, and a regression for each head.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct LastLayer {
    trained: Trained,
    noise: Noise,
    /// λ if it is given.
    given: Option<f64>,
    lambda: f64,
    /// What widths are of in place of standard deviations, if something is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    theorem: Option<Theorem>,
    heads: Vec<Head>,
    #[serde(skip)]
    work: (Vec<f64>, Vec<f64>),
}

/// The confidence set of ridge regression ([`Confidence`]) with the noise as it is estimated: what its radius depends
/// on besides.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub(crate) struct Theorem {
    /// The set of an action misses the truth with at most this probability δ.
    pub(crate) delta: f64,
    /// The bound S on the norm of an action's weights, in scaled rewards.
    pub(crate) norm_bound: f64,
}

/// What is known of an action.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Head {
    regression: Ellipsoid,
    count: u64,
    /// Σy² − ŵᵀAŵ.
    loss: f64,
}

impl LastLayer {
    /// Reads `lambda` and the settings of the network. Rows have one head, which is there from the start.
    pub(crate) fn read(dim: usize, inputs: Inputs, noise: Noise, params: &Params, key: Key) -> Result<Self> {
        let trained = Trained::read(dim, inputs, params, key)?;
        let given = params.get("lambda").map(|_| params.real("lambda")).transpose()?;
        let lambda = given.unwrap_or(FIRST_LAMBDA);
        let (heads, work) = (Vec::new(), Default::default());
        let mut belief = LastLayer { trained, noise, given, lambda, theorem: None, heads, work };
        if inputs == Inputs::Rows {
            belief.add_head();
        }
        Ok(belief)
    }

    /// The same with so many times the weight decay.
    pub(crate) fn with_decay_times(mut self, factor: f64) -> Self {
        self.trained.multiply_decay(factor);
        self
    }

    /// The same without a network: the regressions are on the scaled inputs and their ramps.
    pub(crate) fn additive(self) -> Self {
        LastLayer { trained: self.trained.additive(), ..self }
    }

    /// The same with a hidden layer that is infinitely wide, which makes heads Gaussian processes.
    pub(crate) fn infinite(self) -> Self {
        LastLayer { trained: self.trained.infinite(), ..self }
    }

    /// The same, in contexts, with a hidden layer that grows with the history and heads that are affine besides.
    pub(crate) fn growing(self) -> Self {
        LastLayer { trained: self.trained.growing(), ..self }
    }

    /// The same with widths by the theorem: in contexts the width of an action is its interval's, not a standard
    /// deviation.
    pub(crate) fn with_theorem(self, theorem: Theorem) -> Self {
        LastLayer { theorem: Some(theorem), ..self }
    }

    /// Mean and variance of the reward that an action is about to get in x, the noise included.
    pub(crate) fn foretold(&self, head: usize, x: &[f64], scratch: &mut Scratch) -> (f64, f64) {
        let Scratch { numbers, phi, .. } = scratch;
        self.trained.features(x, numbers, phi);
        let (mean, squared) = self.mean_and_width(Some(head), phi);
        let score = self.trained.rewards().score(mean, 1.0, self.spread(Some(head), 1.0 + squared));
        (score.mean, score.width * score.width)
    }

    pub(crate) fn is_consistent(&self) -> bool {
        let size = self.features();
        self.trained.is_consistent()
            && self.trained.heads() == self.heads.len()
            && self.lambda > 0.0
            && self.noise.shape > 0.0
            && self.noise.rate > 0.0
            && self.theorem.is_none_or(|theorem| theorem.is_consistent())
            && self.heads.iter().all(|head| head.regression.dim() == size && head.loss >= 0.0)
    }

    fn features(&self) -> usize {
        self.trained.feature_count()
    }

    fn add_head(&mut self) {
        self.trained.add_head();
        let regression = Ellipsoid::ridge(self.features(), self.lambda);
        self.heads.push(Head { regression, count: 0, loss: 0.0 });
    }

    fn observe(&mut self, head: usize, x: &[f64], y: f64) {
        if self.trained.observe(head, x, y) {
            return self.rebuild();
        }
        let (scaled, phi) = &mut self.work;
        self.trained.features(x, scaled, phi);
        self.heads[head].learn(phi, self.trained.rewards().scaled(y));
    }

    /// The regressions from all rewards, with features and λ as they are now.
    fn rebuild(&mut self) {
        let size = self.features();
        let mut sums = vec![Sums::new(size); self.heads.len()];
        self.trained.each(|head, phi, y| sums[head].add(phi, y));
        if self.given.is_none() {
            let grid = if self.trained.is_infinite() { INFINITE_GRID } else { GRID };
            self.lambda = most_evident(&sums, self.noise, grid).unwrap_or(self.lambda);
        }
        for (head, sums) in self.heads.iter_mut().zip(&sums) {
            let regression = Ellipsoid::from_sums(self.lambda, &sums.gram, &sums.moment, sums.count);
            let explained = dot(regression.weights(), &sums.moment);
            *head = Head { regression, count: sums.count, loss: (sums.squares - explained).max(0.0) };
        }
    }

    /// The standard deviation of what has this variance in units of the noise of an action.
    fn spread(&self, head: Option<usize>, squared: f64) -> f64 {
        let (shape, rate) = self.noise_of(head);
        (squared * rate / shape).sqrt()
    }

    /// The width of an action whose variance is this in units of its noise: a standard deviation, or by the theorem.
    fn width(&self, head: Option<usize>, squared: f64) -> f64 {
        let Some(Theorem { delta, norm_bound }) = self.theorem else { return self.spread(head, squared) };
        let log_det_ratio = head.map_or(0.0, |head| self.heads[head].regression.log_det_ratio());
        let confidence = Confidence { lambda: self.lambda, sigma: self.spread(head, 1.0), delta, norm_bound };
        confidence.radius(log_det_ratio) * squared.sqrt()
    }

    /// Shape and rate of the posterior of σ² of an action.
    fn noise_of(&self, head: Option<usize>) -> (f64, f64) {
        let Noise { own, shape, rate } = self.noise;
        let of = |(a, b), head: &Head| (a + 0.5 * head.count as f64, b + 0.5 * head.loss);
        match head {
            Some(head) if own => of((shape, rate), &self.heads[head]),
            None if own => (shape, rate),
            _ => self.heads.iter().fold((shape, rate), of),
        }
    }

    /// Mean and spread of an action's reward at φ, in units of rewards and of σ.
    fn mean_and_width(&self, head: Option<usize>, phi: &[f64]) -> (f64, f64) {
        match head {
            Some(head) => self.heads[head].regression.mean_and_squared_width(phi),
            None => (0.0, dot(phi, phi) / self.lambda),
        }
    }

    /// A value drawn for σ² of an action.
    fn draw_noise(&self, head: Option<usize>, stream: &mut crate::rng::Stream) -> f64 {
        let (shape, rate) = self.noise_of(head);
        rate / gamma(stream, shape)
    }
}

impl Theorem {
    fn is_consistent(&self) -> bool {
        self.delta > 0.0 && self.delta < 1.0 && self.norm_bound >= 0.0 && self.norm_bound.is_finite()
    }
}

impl Averaged<LastLayer> {
    /// Whether the parts fit together, for networks read from a file.
    pub(crate) fn is_consistent(&self) -> bool {
        self.are_consistent(LastLayer::is_consistent)
    }
}

impl Head {
    fn learn(&mut self, phi: &[f64], y: f64) {
        let (mean, squared) = self.regression.mean_and_squared_width(phi);
        // What Σy² − ŵᵀAŵ gains.
        self.loss += (y - mean) * (y - mean) / (1.0 + squared);
        self.count = self.count.saturating_add(1);
        self.regression.update(phi, y);
    }
}

impl Heads for LastLayer {
    fn kind(&self) -> &'static str {
        "last layer"
    }

    fn describe(&self) -> String {
        let layer =
            if self.trained.is_growing() { "a layer that grows with the rewards, and x" } else { "the last layer" };
        format!("for each action a linear function of {layer}, in a network that all share")
    }

    fn dim(&self) -> usize {
        self.trained.dim()
    }

    fn count(&self) -> usize {
        self.heads.len()
    }

    fn add(&mut self, _: &str) -> Result<()> {
        self.add_head();
        Ok(())
    }

    fn learn(&mut self, head: usize, x: &[f64], y: f64) {
        self.observe(head, x, y);
    }

    fn predict(&self, x: &[f64], actions: Asked<'_>, scale: f64, scratch: &mut Scratch) {
        let Scratch { scores, numbers, phi, .. } = scratch;
        self.trained.features(x, numbers, phi);
        let rewards = self.trained.rewards();
        scores.clear();
        scores.extend(actions.iter().map(|(_, head)| {
            let (mean, squared) = self.mean_and_width(head, phi);
            rewards.score(mean, scale, self.width(head, squared))
        }));
    }

    fn draw(&self, x: &[f64], actions: Asked<'_>, scale: f64, key: Key, scratch: &mut Scratch) {
        let Scratch { drawn, numbers: values, phi, .. } = scratch;
        self.trained.features(x, drawn, phi);
        let rewards = self.trained.rewards();
        values.clear();
        values.extend(actions.iter().map(|(name, head)| {
            let mut stream = key.branch(name).purpose(Purpose::Choice).stream();
            let (mean, squared) = self.mean_and_width(head, phi);
            // Heads are independent, and at one x a draw of weights is a normal value.
            let spread = (squared * self.draw_noise(head, &mut stream)).sqrt();
            rewards.reward(mean + scale * spread * normal(&mut stream))
        }));
    }

    fn warning(&self) -> Option<String> {
        self.trained.warning_of_training()
    }

    fn save(&self) -> Result<serde_json::Value> {
        state(self)
    }
}

/// On rows: one head for all of them.
impl Belief for LastLayer {
    fn kind(&self) -> &'static str {
        "last layer"
    }

    fn describe(&self) -> String {
        "a linear function of the last layer of a network".to_owned()
    }

    fn warning(&self) -> Option<String> {
        self.trained.warning()
    }

    fn dim(&self) -> usize {
        self.trained.dim()
    }

    fn learn(&mut self, x: &[f64], y: f64) {
        self.observe(0, x, y);
    }

    fn predict(&self, rows: Rows<'_>, scale: f64, scratch: &mut Scratch) {
        let Scratch { scores, numbers, phi, drawn, .. } = scratch;
        numbers.clear();
        for x in rows.iter() {
            self.trained.features(x, drawn, phi);
            numbers.extend_from_slice(phi);
        }
        scores.clear();
        let Some(Head { regression, .. }) = self.heads.first() else { return };
        let level = self.spread(Some(0), 1.0);
        linear_scores(regression.weights(), regression.covariance(), level, Rows::trusted(phi.len(), numbers), scores);
        let rewards = self.trained.rewards();
        scores.iter_mut().for_each(|score| *score = rewards.score(score.mean, scale, score.width));
    }

    fn draw(&self, rows: Rows<'_>, scale: f64, key: Key, scratch: &mut Scratch) {
        let Scratch { numbers: values, phi, drawn: weights, joined: scaled, .. } = scratch;
        let Some(Head { regression, .. }) = self.heads.first() else { return };
        let noise = self.draw_noise(Some(0), &mut key.purpose(Purpose::General).stream());
        weights.clear();
        weights.extend_from_slice(regression.weights());
        add_draw(regression.covariance(), scale * noise.sqrt(), key, weights, values);
        let rewards = self.trained.rewards();
        values.clear();
        values.extend(rows.iter().map(|x| {
            self.trained.features(x, scaled, phi);
            rewards.reward(dot(weights, phi))
        }));
    }

    fn save(&self) -> Result<serde_json::Value> {
        state(self)
    }
}

#[cfg(test)]
mod tests {
    use super::penalty::evidence;
    use super::*;
    use crate::network::{DECAY, EPOCHS, GROWTH, RATE, WIDTH};
    use crate::offer::Name;
    use crate::params::Settings;

    const OWN: Noise = Noise { own: true, shape: 1.5, rate: 0.7 };
    const ONE: Noise = Noise { own: false, ..OWN };

    fn made(inputs: Inputs, noise: Noise, given: &Settings) -> LastLayer {
        let table = [WIDTH, LAMBDA, GROWTH, EPOCHS, RATE, DECAY];
        let given = given.clone().with("width", 5u64).with("growth", 1.0);
        LastLayer::read(2, inputs, noise, &Params::resolve("toy", &table, &given).unwrap(), Key::new(1)).unwrap()
    }

    /// Rewards of two actions; the last training is after the 32nd.
    fn learnt(noise: Noise, given: &Settings) -> LastLayer {
        let mut belief = made(Inputs::Contexts, noise, given);
        (0..2).for_each(|_| belief.add_head());
        let mut stream = Key::new(2).stream();
        for i in 0..45 {
            let x = [normal(&mut stream), normal(&mut stream)];
            belief.observe(i % 3 % 2, &x, 3.0 + x[0].abs() + 0.3 * normal(&mut stream));
        }
        belief
    }

    /// Features and scaled rewards of an action.
    fn data(belief: &LastLayer, wanted: usize) -> Vec<(Vec<f64>, f64)> {
        let mut data = Vec::new();
        belief.trained.each(|head, phi, y| {
            if head == wanted {
                data.push((phi.to_vec(), y));
            }
        });
        data
    }

    /// ŵ, A⁻¹ and Σy² − ŵᵀAŵ of every head from the rewards, one regression at a time, and the posterior of the noise.
    #[test]
    fn regressions_are_those_of_the_definition() {
        for noise in [OWN, ONE] {
            let belief = learnt(noise, &Settings::new().with("lambda", 0.4));
            let mut pooled = (noise.shape, noise.rate);
            for head in 0..2 {
                let (data, mut whole) = (data(&belief, head), Ellipsoid::ridge(6, 0.4));
                data.iter().for_each(|(phi, y)| whole.update(phi, *y));
                let found = &belief.heads[head];
                let pairs = whole.weights().iter().zip(found.regression.weights());
                assert!(pairs.into_iter().all(|(a, b)| (a - b).abs() < 1e-9));
                let pairs = whole.covariance().iter().zip(found.regression.covariance());
                assert!(pairs.into_iter().all(|(a, b)| (a - b).abs() < 1e-9));
                // The penalised sum of squares at ŵ is the same number.
                let squares = data.iter().map(|(phi, y)| (y - whole.mean(phi)).powi(2)).sum::<f64>();
                let loss = squares + 0.4 * dot(whole.weights(), whole.weights());
                assert!((loss - found.loss).abs() < 1e-9, "{loss} {}", found.loss);
                pooled = (pooled.0 + 0.5 * data.len() as f64, pooled.1 + 0.5 * loss);
                if noise.own {
                    let (shape, rate) = belief.noise_of(Some(head));
                    assert!(
                        (shape - 1.5 - 0.5 * data.len() as f64).abs() < 1e-12 && (rate - 0.7 - 0.5 * loss).abs() < 1e-9
                    );
                }
            }
            if !noise.own {
                let (shape, rate) = belief.noise_of(None);
                assert!((shape - pooled.0).abs() < 1e-12 && (rate - pooled.1).abs() < 1e-9);
            }
        }
    }

    /// The evidence against the density of rewards one after the other: Student's t with what was known before.
    #[test]
    fn evidence_is_the_density_of_the_rewards() {
        let belief = learnt(OWN, &Settings::new());
        for noise in [OWN, ONE] {
            let log_density = |lambda: f64| {
                let (mut log, mut shape, mut rate) = (0.0, noise.shape, noise.rate);
                for head in 0..2 {
                    if noise.own {
                        (shape, rate) = (noise.shape, noise.rate);
                    }
                    let mut regression = Ellipsoid::ridge(6, lambda);
                    for (phi, y) in data(&belief, head) {
                        let spread = 1.0 + regression.squared_width(&phi);
                        let surprise = (y - regression.mean(&phi)).powi(2) / spread;
                        log -= 0.5 * libm::log(spread) + (shape + 0.5) * libm::log(rate + 0.5 * surprise)
                            - shape * libm::log(rate);
                        (shape, rate) = (shape + 0.5, rate + 0.5 * surprise);
                        regression.update(&phi, y);
                    }
                }
                log
            };
            let mut sums = vec![Sums::new(6); 2];
            belief.trained.each(|head, phi, y| sums[head].add(phi, y));
            let sums: Vec<&Sums> = sums.iter().collect();
            let found = evidence(&sums, noise, 3.0).unwrap() - evidence(&sums, noise, 0.1).unwrap();
            let expected = log_density(3.0) - log_density(0.1);
            assert!((found - expected).abs() < 1e-7, "{found} {expected}");
        }
    }

    /// σ̂·√(log det A − log det λI + 2·log(1/δ)) + √λ·S times √(φᵀA⁻¹φ), in units of rewards.
    #[test]
    fn widths_by_the_theorem_are_those_of_the_definition() {
        let plain = learnt(OWN, &Settings::new().with("lambda", 0.4));
        let belief = plain.clone().with_theorem(Theorem { delta: 0.05, norm_bound: 2.0 });
        let (names, mut scratch, x) = ([Name::from("a"), Name::from("new")], Scratch::default(), [0.3, -0.2]);
        let actions = Asked::new(&names, &[Some(1), None]);
        let mut ask = |belief: &LastLayer| {
            Heads::predict(belief, &x, actions, 1.0, &mut scratch);
            scratch.scores().to_vec()
        };
        let (found, spreads) = (ask(&belief), ask(&plain));
        for (i, head) in [Some(1), None].into_iter().enumerate() {
            let log_det = head.map_or(0.0, |head: usize| belief.heads[head].regression.log_det_ratio());
            let (shape, rate) = belief.noise_of(head);
            let sigma = (rate / shape).sqrt();
            let radius = sigma * (log_det - 2.0 * libm::log(0.05)).sqrt() + 0.4f64.sqrt() * 2.0;
            assert!((found[i].width - radius / sigma * spreads[i].width).abs() < 1e-12 * found[i].width, "{i}");
            assert_eq!(found[i].mean, spreads[i].mean);
        }
        assert!(belief.is_consistent());
        for (delta, norm_bound) in [(0.0, 1.0), (1.0, 1.0), (f64::NAN, 1.0), (0.1, -1.0), (0.1, f64::INFINITY)] {
            assert!(!belief.clone().with_theorem(Theorem { delta, norm_bound }).is_consistent());
        }
    }

    /// Means and spreads of many draws against predictions, where the noise is as good as known, in contexts and on
    /// rows.
    #[test]
    fn values_are_drawn_around_the_mean_with_the_spread() {
        let sure = Noise { shape: 1e6, rate: 1e6, own: true };
        let names = [Name::from("a"), Name::from("b"), Name::from("new")];
        let actions = Asked::new(&names, &[Some(0), Some(1), None]);
        let (belief, x) = (learnt(sure, &Settings::new()), [0.4, -0.3]);
        let mut rows = made(Inputs::Rows, sure, &Settings::new());
        let mut stream = Key::new(5).stream();
        for _ in 0..40 {
            let x = [normal(&mut stream), normal(&mut stream)];
            Belief::learn(&mut rows, &x, x[0]);
        }
        let points = [0.4, -0.3, 1.0, 1.0, -0.2, 0.0];
        let points = Rows::new(2, &points).unwrap();
        for on_rows in [false, true] {
            let (n, mut scratch) = (20_000, Scratch::default());
            let (mut sum, mut squares) = ([0.0; 3], [0.0; 3]);
            for round in 0..n {
                match on_rows {
                    true => Belief::draw(&rows, points, 0.5, Key::new(3).round(round), &mut scratch),
                    false => Heads::draw(&belief, &x, actions, 0.5, Key::new(3).round(round), &mut scratch),
                }
                for i in 0..3 {
                    sum[i] += scratch.values()[i] / n as f64;
                    squares[i] += scratch.values()[i].powi(2) / n as f64;
                }
            }
            match on_rows {
                true => Belief::predict(&rows, points, 0.5, &mut scratch),
                false => Heads::predict(&belief, &x, actions, 0.5, &mut scratch),
            }
            for (i, score) in scratch.scores().iter().enumerate() {
                let spread = (squares[i] - sum[i] * sum[i]).sqrt();
                assert!((sum[i] - score.mean).abs() < 5.0 * score.width / (n as f64).sqrt(), "{on_rows} {i}");
                assert!((spread / score.width - 1.0).abs() < 5.0 / (2.0 * n as f64).sqrt(), "{on_rows} {i}");
            }
        }
    }
}
