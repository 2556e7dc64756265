//! Several networks with heads, each trained on its own bootstrap sample of one history, around its own random prior
//! function.
//!
//! Member m is f(x) = net(x) + strength·prior(x): the prior is a random network that is never trained, and net is
//! trained on what it leaves of the rewards. So members agree where there is data and differ where there is none. A
//! reward enters the sample of a member as often as a Poisson variable with mean one says, drawn for reward and member
//! once and for all.

use serde::{Deserialize, Serialize};

use super::adam::{Data, Loss, Workspace};
use super::history::History;
use super::scaling::Inputs;
use super::shared::SharedNet;
use super::training::{MAX_WIDTH, Training, read_width};
use crate::error::Result;
use crate::limits::in_limit;
use crate::params::Params;
use crate::rng::{Key, Purpose, Stream, normal, uniform};

/// The distribution function of a Poisson variable with mean one, at 0, 1, 2, 3; more than four is left out.
const POISSON: [f64; 4] =
    [0.367_879_441_171_442_3, 0.735_758_882_342_884_6, 0.919_698_602_928_605_8, 0.981_011_843_123_846_2];

/// The networks and their history.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Crowd {
    training: Training,
    key: Key,
    strength: f64,
    heads: usize,
    nets: Vec<SharedNet>,
    priors: Vec<SharedNet>,
    history: History,
    next: usize,
    #[serde(skip)]
    work: (Workspace, Vec<f64>, Vec<f64>),
}

impl Crowd {
    /// Reads `width`, `growth`, `epochs`, `rate` and `decay`.
    pub(crate) fn read(
        dim: usize,
        inputs: Inputs,
        (members, strength): (usize, f64),
        params: &Params,
        key: Key,
    ) -> Result<Self> {
        let width = read_width(params)?;
        let start = |m: usize, what: &str| {
            SharedNet::start(dim, width, &mut key.branch(what).round(m as u64).purpose(Purpose::Start).stream())
        };
        Ok(Crowd {
            training: Training::read(params)?,
            key,
            strength,
            heads: 0,
            nets: (0..members).map(|m| start(m, "net")).collect(),
            priors: (0..members).map(|m| start(m, "prior")).collect(),
            history: History::new(inputs, dim),
            next: 1,
            work: Default::default(),
        })
    }

    /// Whether the parts fit together, for a crowd read from a file.
    pub(crate) fn is_consistent(&self) -> bool {
        let dim = self.dim();
        let sized = |net: &SharedNet| {
            let wide = (1..=MAX_WIDTH).contains(&(net.width() as u64));
            net.dim() == dim && wide && !net.has_affine_heads() && net.is_consistent(self.heads)
        };
        !self.nets.is_empty()
            && self.nets.len() == self.priors.len()
            && self.nets.iter().zip(&self.priors).all(|(net, prior)| net.width() == prior.width())
            && self.nets.iter().chain(&self.priors).all(sized)
            && self.strength >= 0.0
            && self.training.is_consistent()
            && self.history.is_consistent(dim, self.heads)
    }

    pub(crate) fn dim(&self) -> usize {
        self.history.dim()
    }

    pub(crate) fn heads(&self) -> usize {
        self.heads
    }

    /// How many networks there are.
    pub(crate) fn members(&self) -> usize {
        self.nets.len()
    }

    /// Adds a head for the action of this name: zero for the networks, random for the priors.
    pub(crate) fn add_head(&mut self, name: &str) {
        for (m, (net, prior)) in self.nets.iter_mut().zip(&mut self.priors).enumerate() {
            net.add_head();
            prior.add_head();
            let width = prior.width();
            let mut stream = prior_stream(self.key, name, m);
            prior.head_mut(self.heads).iter_mut().for_each(|v| *v = prior_weight(width, &mut stream));
        }
        self.heads += 1;
    }

    /// Keeps a reward, and trains if it is time.
    pub(crate) fn observe(&mut self, head: usize, x: &[f64], y: f64) {
        self.history.add(head, x, y);
        if self.history.len() >= self.next {
            self.next = self.training.next(self.history.len());
            self.train();
        }
    }

    /// Prepares x for [`Crowd::value`].
    pub(crate) fn scale(&self, x: &[f64], scaled: &mut Vec<f64>) {
        self.history.scale(x, scaled);
    }

    /// What member m says of the action with this head and name, at a scaled x. `hidden` is memory to work in.
    pub(crate) fn value(
        &self,
        m: usize,
        head: Option<usize>,
        name: &str,
        scaled: &[f64],
        hidden: &mut Vec<f64>,
    ) -> f64 {
        let (net, prior) = (&self.nets[m], &self.priors[m]);
        hidden.clear();
        hidden.resize(net.width(), 0.0);
        let mut value = 0.0;
        if let Some(head) = head {
            net.hidden(scaled, hidden);
            value = net.value(head, hidden);
        }
        prior.hidden(scaled, hidden);
        value += self.strength
            * match head {
                Some(head) => prior.value(head, hidden),
                // The head that the action will have.
                None => {
                    let mut stream = prior_stream(self.key, name, m);
                    let sum: f64 = hidden.iter().map(|h| h * prior_weight(net.width(), &mut stream)).sum();
                    sum + prior_weight(net.width(), &mut stream)
                }
            };
        self.history.rewards.reward(value)
    }

    fn train(&mut self) {
        self.history.rescale(Loss::Squares);
        let n = self.history.len();
        let (work, hidden, left) = &mut self.work;
        for (m, (net, prior)) in self.nets.iter_mut().zip(&self.priors).enumerate() {
            work.visit((0..n).flat_map(|i| {
                let times = bootstrap(self.key, i, m);
                std::iter::repeat_n(i as u32, times)
            }));
            if work.visited() == 0 {
                continue;
            }
            let data = self.history.data();
            hidden.resize(prior.width(), 0.0);
            left.clear();
            left.extend(data.xs.chunks_exact(prior.dim()).zip(data.heads).zip(data.ys).map(|((x, head), y)| {
                prior.hidden(x, hidden);
                y - self.strength * prior.value(*head as usize, hidden)
            }));
            let mut stream =
                self.key.branch("order").trial(m as u64).round(n as u64).purpose(Purpose::Shuffle).stream();
            self.training.adam(Loss::Squares, work.visited()).train(net, Data { ys: left, ..data }, &mut stream, work);
            if !net.params().iter().all(|p| in_limit(*p)) {
                // Training that blew up leaves the prior alone, until the next.
                net.params_mut().fill(0.0);
            }
        }
    }
}

/// How often member m sees reward `i`.
fn bootstrap(key: Key, i: usize, m: usize) -> usize {
    let draw = uniform(&mut key.branch("bootstrap").trial(m as u64).round(i as u64).stream());
    POISSON.iter().filter(|share| draw >= **share).count()
}

fn prior_stream(key: Key, name: &str, m: usize) -> Stream {
    key.branch(name).round(m as u64).purpose(Purpose::Start).stream()
}

/// A weight of a prior's head: values of all hidden units add up to size one.
fn prior_weight(width: usize, stream: &mut Stream) -> f64 {
    normal(stream) / (width as f64).sqrt()
}

#[cfg(test)]
mod tests {
    use super::super::training::{DECAY, EPOCHS, GROWTH, RATE, WIDTH};
    use super::*;
    use crate::params::Settings;

    fn made(members: usize) -> Crowd {
        let params = Params::resolve("toy", &[WIDTH, GROWTH, EPOCHS, RATE, DECAY], &Settings::new()).unwrap();
        Crowd::read(1, Inputs::Contexts, (members, 1.0), &params, Key::new(1)).unwrap()
    }

    #[test]
    fn rewards_are_seen_once_on_average_and_always_alike() {
        let times: Vec<usize> = (0..20_000).map(|i| bootstrap(Key::new(1), i, 3)).collect();
        let mean = times.iter().sum::<usize>() as f64 / 2e4;
        assert!((mean - 1.0).abs() < 5.0 / 2e4f64.sqrt(), "{mean}");
        let never = times.iter().filter(|n| **n == 0).count() as f64 / 2e4;
        assert!((never - POISSON[0]).abs() < 5.0 * 0.5 / 2e4f64.sqrt(), "{never}");
        assert!(times.iter().enumerate().all(|(i, n)| bootstrap(Key::new(1), i, 3) == *n));
    }

    #[test]
    fn members_agree_where_there_is_data_and_differ_elsewhere() {
        let mut crowd = made(8);
        let spread = |crowd: &Crowd, x: f64, head, name: &str| {
            let (mut scaled, mut hidden) = (Vec::new(), Vec::new());
            crowd.scale(&[x], &mut scaled);
            let values: Vec<f64> =
                (0..crowd.members()).map(|m| crowd.value(m, head, name, &scaled, &mut hidden)).collect();
            let mean = values.iter().sum::<f64>() / values.len() as f64;
            (values.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / values.len() as f64).sqrt()
        };
        let fresh = spread(&crowd, 0.5, None, "a");
        crowd.add_head("a");
        // Before any training the head is what a fresh one was, whoever asks.
        assert!((spread(&crowd, 0.5, Some(0), "a") - fresh).abs() < 1e-12);
        for i in 0..400 {
            let x = f64::from(i % 20) / 10.0 - 1.0;
            crowd.observe(0, &[x], x.abs());
        }
        assert!(spread(&crowd, 0.5, Some(0), "a") < 0.2 * spread(&crowd, 0.5, None, "b"));
        assert!(spread(&crowd, 0.5, Some(0), "a") < 0.2 * spread(&crowd, 4.0, Some(0), "a"));
    }
}
