//! A network with a head an action and its history: trained anew, from where it stands, whenever the history has grown by a share.
//!
//! Trainings become rarer as the history grows, so what a round costs on average does not grow with it. Inputs and rewards are scaled by
//! what was seen until the last training; between two trainings nothing about the network changes.

use serde::{Deserialize, Serialize};

use super::adam::{Adam, BATCH, Data, Workspace};
use super::scaling::{Moments, Rewards, Scaling};
use super::shared::SharedNet;
use crate::error::Result;
use crate::limits::in_limit;
use crate::params::{Initial, Kind, Param, Params};
use crate::rng::{Key, Purpose};

pub(crate) use super::scaling::Inputs;

/// The most hidden units.
const MAX_WIDTH: u64 = 2_000;

/// A training takes at least so many steps, however short the history.
const LEAST_STEPS: usize = 30;

/// What a network is like where a table of parameters leaves it open.
const DEFAULT_WIDTH: u64 = 64;
const DEFAULT_RATE: f64 = 0.005;

pub(crate) const WIDTH: Param = Param::new(
    "width",
    Initial::count(DEFAULT_WIDTH),
    Kind::Count { min: 1, max: MAX_WIDTH },
    "hidden units, shared by all actions",
);
pub(crate) const GROWTH: Param = Param::new(
    "growth",
    Initial::real(0.15),
    Kind::POSITIVE,
    "the network is trained anew when there are so many times more rewards than at its last training",
);
pub(crate) const EPOCHS: Param =
    Param::new("epochs", Initial::real(10.0), Kind::POSITIVE, "passes over all rewards in a training");
pub(crate) const RATE: Param = Param::new("rate", Initial::real(DEFAULT_RATE), Kind::POSITIVE, "learning rate of Adam");
pub(crate) const DECAY: Param = Param::new(
    "decay",
    Initial::real(0.01),
    Kind::NOT_NEGATIVE,
    "weight decay: a step shrinks weights by rate × decay",
);

/// How a network is trained.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
struct Config {
    growth: f64,
    epochs: f64,
    rate: f64,
    decay: f64,
}

/// The network and its history.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Trained {
    config: Config,
    key: Key,
    net: SharedNet,
    heads: usize,
    moments: Moments,
    scaling: Scaling,
    rewards: Rewards,
    xs: Vec<f64>,
    heads_of: Vec<u32>,
    ys: Vec<f64>,
    /// Train when there are so many rewards.
    next: usize,
    /// How often training blew up.
    blown_up: u64,
    #[serde(skip)]
    work: Work,
}

/// Memory for training.
#[derive(Debug, Clone, Default)]
struct Work {
    adam: Workspace,
    xs: Vec<f64>,
    ys: Vec<f64>,
}

impl Trained {
    /// Reads `width`, `growth`, `epochs`, `rate` and `decay`.
    pub(crate) fn read(dim: usize, inputs: Inputs, params: &Params, key: Key) -> Result<Self> {
        let config = Config {
            growth: params.real("growth")?,
            epochs: params.real("epochs")?,
            rate: if params.get("rate").is_some() { params.real("rate")? } else { DEFAULT_RATE },
            decay: params.real("decay")?,
        };
        let width = if params.get("width").is_some() { params.size("width")? } else { DEFAULT_WIDTH as usize };
        let net = SharedNet::start(dim, width, &mut key.purpose(Purpose::Start).stream());
        Ok(Trained {
            config,
            key,
            net,
            heads: 0,
            moments: Moments::new(inputs, dim),
            scaling: Scaling::none(dim),
            rewards: Rewards::AS_THEY_ARE,
            xs: Vec::new(),
            heads_of: Vec::new(),
            ys: Vec::new(),
            next: 1,
            blown_up: 0,
            work: Work::default(),
        })
    }

    /// Whether the parts fit together, for a network read from a file.
    pub(crate) fn is_consistent(&self) -> bool {
        let (dim, n) = (self.dim(), self.ys.len());
        let Config { growth, epochs, rate, decay } = self.config;
        (1..=MAX_WIDTH).contains(&(self.net.width() as u64))
            && self.net.is_consistent(self.heads)
            && [growth, epochs, rate].iter().all(|x| *x > 0.0)
            && decay >= 0.0
            && self.moments.is_consistent(dim)
            && self.scaling.is_consistent(dim)
            && self.rewards.is_consistent()
            && n.checked_mul(dim) == Some(self.xs.len())
            && self.heads_of.len() == n
            && self.heads_of.iter().all(|head| (*head as usize) < self.heads)
            && self.xs.iter().chain(&self.ys).all(|x| in_limit(*x))
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

    /// How rewards are scaled.
    pub(crate) fn rewards(&self) -> Rewards {
        self.rewards
    }

    /// What is amiss, if something is.
    pub(crate) fn warning(&self) -> Option<String> {
        let times = self.blown_up;
        (times > 0).then(|| format!("training blew up {times} times and started over: give a smaller rate"))
    }

    /// Adds a head.
    pub(crate) fn add_head(&mut self) {
        self.net.add_head();
        self.heads += 1;
    }

    /// The scaled x into `scaled`, and the hidden units there, followed by a one, into `hidden`.
    pub(crate) fn features(&self, x: &[f64], scaled: &mut Vec<f64>, hidden: &mut Vec<f64>) {
        scaled.clear();
        self.scaling.append(x, scaled);
        hidden.clear();
        hidden.resize(self.net.width() + 1, 1.0);
        self.net.hidden(scaled, &mut hidden[..self.net.width()]);
    }

    /// Keeps a reward. True if the network was trained: then features, scaling and values are others than before.
    pub(crate) fn observe(&mut self, head: usize, x: &[f64], y: f64) -> bool {
        self.moments.add(x);
        self.xs.extend_from_slice(x);
        self.heads_of.push(head as u32);
        self.ys.push(y);
        let n = self.ys.len();
        if n < self.next {
            return false;
        }
        self.next = ((n as f64 * (1.0 + self.config.growth)).ceil() as usize).max(n + 1);
        self.train();
        true
    }

    /// Does something with every reward so far: its head, the features of its x, and the scaled reward.
    pub(crate) fn each(&self, mut see: impl FnMut(usize, &[f64], f64)) {
        let (mut scaled, mut hidden) = (Vec::new(), Vec::new());
        for ((x, head), y) in self.xs.chunks_exact(self.dim()).zip(&self.heads_of).zip(&self.ys) {
            self.features(x, &mut scaled, &mut hidden);
            see(*head as usize, &hidden, self.rewards.scaled(*y));
        }
    }

    fn train(&mut self) {
        self.scaling = self.moments.scaling();
        self.rewards = Rewards::of(&self.ys);
        let Work { adam, xs, ys } = &mut self.work;
        xs.clear();
        self.xs.chunks_exact(self.net.dim()).for_each(|x| self.scaling.append(x, xs));
        ys.clear();
        ys.extend(self.ys.iter().map(|y| self.rewards.scaled(*y)));
        let n = ys.len();
        let passes = (self.config.epochs * n as f64 / BATCH.min(n) as f64).ceil() as usize;
        let training = Adam { rate: self.config.rate, decay: self.config.decay, steps: passes.max(LEAST_STEPS) };
        let mut stream = self.key.round(n as u64).purpose(Purpose::Shuffle).stream();
        training.train(&mut self.net, Data { xs, heads: &self.heads_of, ys }, &mut stream, adam);
        if !self.net.params().iter().all(|p| in_limit(*p)) {
            // Training that blew up starts over rather than poison every later round.
            self.blown_up += 1;
            let mut stream = self.key.purpose(Purpose::Start).stream();
            self.net = SharedNet::start(self.net.dim(), self.net.width(), &mut stream);
            (0..self.heads).for_each(|_| self.net.add_head());
        }
    }
}

#[cfg(test)]
mod tests {
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
            let Rewards { centre, size } = trained.rewards();
            let value = centre + size * trained.net().value(i % 2, &hidden);
            worst = worst.max((value - truth(i % 2, &x)).abs());
        }
        assert!(worst < 300.0, "{worst}");
    }
}
