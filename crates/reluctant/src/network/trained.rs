//! A network with a head an action and its history: trained anew, from where it stands, whenever the history has grown
//! by a share.
//!
//! Trainings become rarer as the history grows, so what a round costs on average does not grow with it. Inputs and
//! rewards are scaled by what was seen until the last training; between two trainings nothing about the network
//! changes.

use serde::{Deserialize, Serialize};

use super::adam::{Loss, Workspace};
use super::history::History;
use super::landmarks::Landmarks;
use super::langevin::Langevin;
use super::ramps::Ramps;
use super::rewards::Rewards;
use super::scaling::Inputs;
use super::shared::SharedNet;
use super::training::{MAX_WIDTH, Training, read_width};
use crate::error::Result;
use crate::limits::in_limit;
use crate::params::Params;
use crate::rng::{Key, Purpose};

/// The network and its history.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Trained {
    training: Training,
    key: Key,
    net: SharedNet,
    heads: usize,
    history: History,
    /// Train when there are so many rewards.
    next: usize,
    /// How often training blew up.
    blown_up: u64,
    /// How it walks after each reward, if it does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    langevin: Option<Langevin>,
    layer: Layer,
    #[serde(default)]
    loss: Loss,
    #[serde(skip)]
    work: Workspace,
}

/// What heads see.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Layer {
    /// The hidden layer of a network.
    Hidden,
    /// One that grows with the history, and the scaled inputs besides: heads have an affine part of their own.
    Growing,
    /// The scaled inputs and their ramps, of which a head makes a curve for each input. There is nothing to train.
    Additive(Ramps),
    /// An infinitely wide layer of the same. Trainings choose its landmarks.
    Infinite(Ramps, Landmarks),
}

/// The hidden units of a network that grows, for so many rewards: as many as their root says, within bounds. A
/// regression on k units is off by about √(k/n) of the noise, so that more rewards can afford more of them.
fn units(rewards: usize) -> usize {
    let root = (UNITS_FOR_ROOT * (rewards as f64).sqrt()).ceil();
    root.clamp(LEAST_UNITS as f64, MOST_UNITS as f64) as usize
}

/// Units for each of the root. This and the bounds were chosen on shuffles of real tables that are not reported.
const UNITS_FOR_ROOT: f64 = 4.0;
const LEAST_UNITS: usize = 16;
const MOST_UNITS: usize = 128;

impl Trained {
    /// Reads `width`, `growth`, `epochs`, `rate` and `decay`.
    pub(crate) fn read(dim: usize, inputs: Inputs, params: &Params, key: Key) -> Result<Self> {
        Ok(Trained {
            training: Training::read(params)?,
            key,
            net: SharedNet::start(dim, read_width(params)?, &mut key.purpose(Purpose::Start).stream()),
            heads: 0,
            history: History::new(inputs, dim),
            next: 1,
            blown_up: 0,
            langevin: None,
            layer: Layer::Hidden,
            loss: Loss::Squares,
            work: Workspace::default(),
        })
    }

    /// From now on it walks after each reward.
    pub(crate) fn walking(self, langevin: Langevin) -> Self {
        Trained { langevin: Some(langevin), ..self }
    }

    /// The same without a network: heads are sums of curves, one for each input.
    pub(crate) fn additive(self) -> Self {
        Trained { layer: Layer::Additive(Ramps::default()), ..self }
    }

    /// The same with an infinitely wide hidden layer.
    pub(crate) fn infinite(self) -> Self {
        Trained { layer: Layer::Infinite(Ramps::default(), Landmarks::default()), ..self }
    }

    /// The same, before it has heads, with a hidden layer that grows and heads that are affine besides: features are
    /// the hidden units and the scaled inputs.
    pub(crate) fn growing(self) -> Self {
        let stream = &mut self.key.purpose(Purpose::Start).stream();
        let net = SharedNet::start(self.net.dim(), units(0), stream).with_affine_heads();
        Trained { layer: Layer::Growing, net, ..self }
    }

    /// The same for rewards of 0 and 1, of which values are the logarithms of the odds. They are not scaled.
    pub(crate) fn of_chances(self) -> Self {
        Trained { loss: Loss::Logistic, ..self }
    }

    /// Whether the hidden layer grows.
    pub(crate) fn is_growing(&self) -> bool {
        matches!(self.layer, Layer::Growing)
    }

    /// Whether the hidden layer is infinitely wide.
    pub(crate) fn is_infinite(&self) -> bool {
        matches!(self.layer, Layer::Infinite(..))
    }

    /// Whether there is no network, but curves of the inputs.
    pub(crate) fn is_additive(&self) -> bool {
        matches!(self.layer, Layer::Additive(_))
    }

    /// Whether it learns chances, by a network or curves.
    pub(crate) fn is_of_chances(&self) -> bool {
        self.loss == Loss::Logistic && matches!(self.layer, Layer::Hidden | Layer::Additive(_))
    }

    /// How many features there are, the one at the end included.
    pub(crate) fn feature_count(&self) -> usize {
        let outputs = match &self.layer {
            Layer::Hidden | Layer::Growing => self.net.outputs(),
            Layer::Additive(ramps) => self.net.dim() + ramps.count(),
            Layer::Infinite(_, landmarks) => landmarks.count(),
        };
        outputs.saturating_add(1)
    }

    /// From now on networks are trained with so many times the weight decay.
    pub(crate) fn multiply_decay(&mut self, factor: f64) {
        self.training.multiply_decay(factor);
    }

    /// Whether the parts fit together, for a network read from a file.
    pub(crate) fn is_consistent(&self) -> bool {
        (1..=MAX_WIDTH).contains(&(self.net.width() as u64))
            && self.net.is_consistent(self.heads)
            && self.net.has_affine_heads() == self.is_growing()
            && self.has_consistent_layer()
            && self.training.is_consistent()
            && self.langevin.is_none_or(|langevin| langevin.is_consistent())
            && self.history.is_consistent(self.net.dim(), self.heads)
    }

    fn has_consistent_layer(&self) -> bool {
        let dim = self.net.dim();
        match &self.layer {
            Layer::Hidden | Layer::Growing => true,
            Layer::Additive(ramps) => ramps.are_consistent(dim),
            Layer::Infinite(ramps, landmarks) => {
                ramps.are_consistent(dim) && landmarks.is_consistent(dim + ramps.count())
            }
        }
    }

    pub(crate) fn dim(&self) -> usize {
        self.net.dim()
    }

    /// The network of scaled inputs and rewards.
    pub(crate) fn net(&self) -> &SharedNet {
        &self.net
    }

    /// How many heads there are.
    pub(crate) fn heads(&self) -> usize {
        self.heads
    }

    /// How many rewards there are.
    pub(crate) fn len(&self) -> usize {
        self.history.len()
    }

    /// How rewards are scaled.
    pub(crate) fn rewards(&self) -> Rewards {
        self.history.rewards
    }

    /// What is amiss, if something is.
    pub(crate) fn warning(&self) -> Option<String> {
        self.warning_of_training().or_else(|| self.history.remark())
    }

    /// What is amiss with trainings, if something is.
    pub(crate) fn warning_of_training(&self) -> Option<String> {
        let times = self.blown_up;
        (times > 0).then(|| format!("training blew up {times} times and started over: give a smaller rate"))
    }

    /// Adds a head.
    pub(crate) fn add_head(&mut self) {
        self.net.add_head();
        self.heads += 1;
    }

    /// The scaled x into `scaled`, and what heads see there, followed by a one, into `hidden`.
    pub(crate) fn features(&self, x: &[f64], scaled: &mut Vec<f64>, hidden: &mut Vec<f64>) {
        self.history.scale(x, scaled);
        hidden.clear();
        match &self.layer {
            Layer::Hidden | Layer::Growing => {
                hidden.resize(self.net.outputs(), 0.0);
                self.net.hidden(scaled, hidden);
            }
            Layer::Additive(ramps) => {
                hidden.extend_from_slice(scaled);
                ramps.append(x, hidden);
            }
            Layer::Infinite(ramps, landmarks) => {
                ramps.append(x, scaled);
                hidden.resize(landmarks.count(), 0.0);
                landmarks.features(scaled, hidden);
            }
        }
        hidden.push(1.0);
    }

    /// Keeps a reward, of which it learns nothing before [`Self::train_if_due`].
    pub(crate) fn keep(&mut self, head: usize, x: &[f64], y: f64) {
        self.history.add(head, x, y);
    }

    /// Trains the network if the rewards have grown by so much. Then features, scaling and values are others than
    /// before.
    pub(crate) fn train_if_due(&mut self) -> bool {
        let due = self.history.len() >= self.next;
        if due {
            self.next = self.training.next(self.history.len());
            self.train();
        }
        due
    }

    /// Keeps a reward and learns of it. True if the network was trained.
    pub(crate) fn observe(&mut self, head: usize, x: &[f64], y: f64) -> bool {
        self.keep(head, x, y);
        let due = self.train_if_due();
        if let Some(langevin) = self.langevin {
            self.history.catch_up();
            let mut stream = self.key.round(self.history.len() as u64).purpose(Purpose::Noise).stream();
            langevin.walk(&mut self.net, self.history.data(), &mut stream, &mut self.work);
            self.start_over_if_blown_up();
        }
        due
    }

    /// Does something with every reward so far: its head, the features of its x, and the scaled reward.
    pub(crate) fn each(&self, mut see: impl FnMut(usize, &[f64], f64)) {
        let (mut scaled, mut hidden) = (Vec::new(), Vec::new());
        for (x, head, y) in self.history.iter() {
            self.features(x, &mut scaled, &mut hidden);
            see(head, &hidden, y);
        }
    }

    fn train(&mut self) {
        self.history.rescale(self.loss);
        let n = self.history.len();
        match &mut self.layer {
            Layer::Hidden => {}
            Layer::Growing => {
                self.net.widen(units(n), &mut self.key.round(n as u64).purpose(Purpose::Start).stream());
            }
            Layer::Additive(ramps) => {
                *ramps = self.history.ramps();
                return;
            }
            Layer::Infinite(ramps, landmarks) => {
                *ramps = self.history.ramps();
                let inputs = self.history.with_ramps(ramps);
                *landmarks = Landmarks::among(self.net.dim() + ramps.count(), &inputs);
                return;
            }
        }
        let mut stream = self.key.round(n as u64).purpose(Purpose::Shuffle).stream();
        self.work.visit(0..n as u32);
        let adam = self.training.adam(self.loss, n);
        adam.train(&mut self.net, self.history.data(), &mut stream, &mut self.work);
        self.start_over_if_blown_up();
    }

    fn start_over_if_blown_up(&mut self) {
        if !self.net.params().iter().all(|p| in_limit(*p)) {
            // Training that blew up starts over rather than poison every later round.
            self.blown_up = self.blown_up.saturating_add(1);
            let mut stream = self.key.purpose(Purpose::Start).stream();
            let net = SharedNet::start(self.net.dim(), self.net.width(), &mut stream);
            self.net = if self.is_growing() { net.with_affine_heads() } else { net };
            (0..self.heads).for_each(|_| self.net.add_head());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::training::{DECAY, EPOCHS, GROWTH, RATE, WIDTH};
    use super::*;
    use crate::params::Settings;
    use crate::rng::normal;

    fn made(given: &Settings) -> Trained {
        let params = Params::resolve("toy", &[WIDTH, GROWTH, EPOCHS, RATE, DECAY], given).unwrap();
        Trained::read(2, Inputs::Contexts, &params, Key::new(1)).unwrap()
    }

    #[test]
    fn trainings_become_rarer() {
        let mut trained = made(&Settings::new().with("growth", 0.5).with("width", 4u64));
        trained.add_head();
        let mut stream = Key::new(2).stream();
        let times: Vec<usize> = (1..=20)
            .filter(|_| trained.observe(0, &[normal(&mut stream), normal(&mut stream)], normal(&mut stream)))
            .collect();
        assert_eq!(times, [1, 2, 3, 5, 8, 12, 18]);
    }

    /// As many units as four times the root of the rewards says, within bounds; features are units, inputs and a one.
    #[test]
    fn a_network_that_grows_has_more_units_for_more_rewards() {
        assert_eq!([0, 1, 16, 17, 100, 1024, 1 << 40].map(units), [16, 16, 16, 17, 40, 128, 128]);
        let mut trained = made(&Settings::new().with("growth", 1.0)).growing();
        (0..2).for_each(|_| trained.add_head());
        let mut stream = Key::new(2).stream();
        for i in 0..260 {
            trained.observe(i % 2, &[normal(&mut stream), normal(&mut stream)], normal(&mut stream));
        }
        // The last training was after the 256th reward.
        assert_eq!((trained.net().width(), trained.feature_count()), (64, 64 + 2 + 1));
        let (mut scaled, mut features) = (Vec::new(), Vec::new());
        trained.features(&[0.3, -0.4], &mut scaled, &mut features);
        assert_eq!(features[64..], [scaled[0], scaled[1], 1.0]);
        assert!(trained.is_consistent() && !Trained { layer: Layer::Hidden, ..trained }.is_consistent());
    }

    /// Landmarks are chosen when networks would be trained; before, heads see a one alone.
    #[test]
    fn an_infinite_layer_has_a_feature_for_each_landmark() {
        let mut trained = made(&Settings::new().with("growth", 1.0)).infinite();
        trained.add_head();
        assert_eq!(trained.feature_count(), 1);
        let mut stream = Key::new(2).stream();
        for _ in 0..20 {
            trained.observe(0, &[normal(&mut stream), normal(&mut stream)], normal(&mut stream));
        }
        // The last time was after the sixteenth reward.
        assert_eq!(trained.feature_count(), 16 + 1);
        let (mut scaled, mut features) = (Vec::new(), Vec::new());
        trained.features(&[0.3, -0.4], &mut scaled, &mut features);
        assert!(features[16] == 1.0 && features.iter().all(|x| x.is_finite()) && trained.is_consistent());
    }

    /// Two actions whose rewards depend on x in opposite ways, in units far from one.
    #[test]
    fn it_learns_whatever_the_units() {
        let mut trained = made(&Settings::new());
        (0..2).for_each(|_| trained.add_head());
        let mut stream = Key::new(2).stream();
        let truth = |head: usize, x: &[f64]| 1e3 * (7.0 + if head == 0 { x[0].abs() } else { -x[0].abs() });
        let mut x = [0.0; 2];
        for i in 0..600 {
            x.iter_mut().for_each(|x| *x = normal(&mut stream));
            trained.observe(i % 2, &[1e6 * x[0], 1e-6 * x[1]], truth(i % 2, &x));
        }
        let (mut scaled, mut hidden, mut worst) = (Vec::new(), Vec::new(), 0.0f64);
        for i in 0..100 {
            x.iter_mut().for_each(|x| *x = normal(&mut stream).clamp(-2.0, 2.0));
            trained.features(&[1e6 * x[0], 1e-6 * x[1]], &mut scaled, &mut hidden);
            let value = trained.rewards().reward(trained.net().value(i % 2, &hidden));
            worst = worst.max((value - truth(i % 2, &x)).abs());
        }
        assert!(worst < 300.0, "{worst}");
    }
}
