//! `ofu-relu-plus`: Algorithm 2 of the paper, which guesses the gap ν* in batches.
//!
//! Batch i ends with reward T_i = (aⁱ − 1)·T₁ and guesses ν_i = ν₀/bⁱ. It begins with exploration until t₀(ν_i) random
//! samples were collected over all batches (the set E), fits Θ̃ to E, re-featurises every sample ever seen (the set Z)
//! with it, and plays optimistically over X(Θ̃, ν_i/2) to its end. A batch shorter than its exploration is all
//! exploration, and the next one goes on with it.
//!
//! Two schedules for t₀: `literal` is the theory's ([`crate::theory::exploration_length`], beyond any horizon: about
//! 10⁴¹ rounds at d = 2, k = 3, ν = 0.3), `scaled` keeps its shape t₀(ν_i) = t₀(ν₁)·(ν₁/ν_i)⁸ from a first length that
//! the user gives. Regret is Õ(√T) where 8·log b / log a ≤ 1/2 (Theorem 4.4).
//!
//! The history is kept, because each batch needs it again: memory grows with T.
//!
//! Where named actions share a context it is another model, which explores by optimism alone (`in_contexts.rs`).

mod in_contexts;

use serde::{Deserialize, Serialize};

use super::lifted::{self, BIASES, Freezes};
use super::ofu_relu::{Fitting, NEURONS, RESTARTS, SIGNS, SLOPE, exploring, frozen_model};
use super::sphere::{RegionCache, explore};
use super::{Build, Contexts, Entry, Fitted, Policy, Restore, Sample, Snapshot, confidence, select_frozen};
use crate::action::{Action, check_observation};
use crate::choice::{Choice, Score};
use crate::ellipsoid::Confidence;
use crate::error::{Error, Result};
use crate::estimate::Samples;
use crate::frozen::FrozenRelu;
use crate::offer::Offer;
use crate::params::{Initial, Kind, Literal, Param, Params};
use crate::rng::Key;
use crate::scratch::Scratch;
use crate::theory;

pub(super) const ENTRY: Entry = Entry {
    name: "ofu-relu-plus",
    summary: "ofu-relu in growing batches that guess the gap, so that it need not be known",
    citation: "Xu, Bastani, Goel and Bastani (2024), Stochastic bandits with ReLU neural networks, Algorithm 2",
    params: &[
        Param { initial: Initial::Auto("must be given, but in contexts grows with the rewards"), ..NEURONS },
        confidence::LAMBDA,
        confidence::SIGMA,
        confidence::DELTA,
        Param::new("nu0", Initial::real(0.1), Kind::POSITIVE, "first guess ν₀ of the gap"),
        Param::new(
            "first_batch",
            Initial::count(100),
            Kind::Count { min: 2, max: 1 << 40 },
            "T₁: batch i ends with reward (aⁱ − 1)·T₁",
        ),
        Param::new(
            "a",
            Initial::real(2.0),
            Kind::Real { min: 1.01, max: 1e6, above: false, below: false },
            "growth of the batches, in contexts too",
        ),
        Param::new(
            "b",
            Initial::real(B_DEFAULT),
            Kind::Real { min: 1.0, max: 1e6, above: true, below: false },
            "the guess of the gap shrinks by b from batch to batch; 2^(1/32) by default",
        ),
        Param::new(
            "schedule",
            Initial::word("scaled"),
            Kind::Word(&["scaled", "literal"]),
            "exploration lengths: scaled from `explore`, or the theory's own",
        ),
        Param::new(
            "explore",
            Initial::count(20),
            Kind::Count { min: 1, max: 1 << 40 },
            "scaled schedule: exploration t₀(ν₁) of the first batch, in rewards",
        ),
        Param::new("alpha0", Initial::real(0.5), Kind::POSITIVE, "literal schedule: separation α₀ of the neurons"),
        Param::new(
            "norm_bound",
            Initial::Auto("√(k(4 + (1 + slope)²)), the paper's √(5k) for ReLUs; in contexts 1"),
            Kind::NOT_NEGATIVE,
            "bound S on the norm of the true weights",
        ),
        in_contexts::RADIUS,
        SIGNS,
        SLOPE,
        BIASES,
        RESTARTS,
    ],
    sphere: true,
    contexts: Contexts::Shared(in_contexts::SHARED),
    samples: &[
        Sample {
            name: "scaled",
            environment: "relu-sphere",
            settings: &[("neurons", Literal::Count(3)), ("first_batch", Literal::Count(40))],
        },
        Sample {
            name: "fast",
            environment: "relu-sphere",
            settings: &[
                ("neurons", Literal::Count(3)),
                ("first_batch", Literal::Count(30)),
                ("a", Literal::Real(1.5)),
                ("b", Literal::Real(1.02)),
                ("signs", Literal::Word("free")),
                ("slope", Literal::Real(0.2)),
            ],
        },
        Sample {
            name: "biases",
            environment: "relu-sphere",
            settings: &[
                ("neurons", Literal::Count(2)),
                ("first_batch", Literal::Count(40)),
                ("biases", Literal::Flag(true)),
            ],
        },
    ],
    build: Build::Plain(|dim, params, key| lifted::build(dim, params, |dim| OfuReluPlus::new(dim, params, key))),
    restore: Restore::Plain(|state| lifted::restore(state, OfuReluPlus::is_consistent)),
};

/// 2^(1/32), the paper's example.
const B_DEFAULT: f64 = 1.021_897_148_654_116_7;

/// Algorithm 2.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct OfuReluPlus {
    dim: usize,
    config: Config,
    key: Key,
    /// Z, every sample seen.
    xs: Vec<f64>,
    ys: Vec<f64>,
    /// E, the samples of all explorations.
    explored_xs: Vec<f64>,
    explored_ys: Vec<f64>,
    batch: Batch,
    /// The regime of the newest fit; none before the first.
    regime: Option<FrozenRelu>,
    /// The cells of the sphere for this regime and batch, once they are needed.
    #[serde(skip)]
    region: RegionCache,
    /// How many samples that fit saw.
    fitted: u64,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
struct Config {
    fitting: Fitting,
    confidence: Confidence,
    nu0: f64,
    first_batch: f64,
    a: f64,
    b: f64,
    schedule: Schedule,
}

#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
enum Schedule {
    Scaled { first: f64 },
    Literal { alpha0: f64 },
}

/// What holds during one batch.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
struct Batch {
    /// i, from 1.
    index: u32,
    /// T_i = (aⁱ − 1)·T₁, in rewards, rounded down.
    end: f64,
    /// ν_i = ν₀/bⁱ.
    nu: f64,
    /// t₀(ν_i): how many exploration samples the batch needs, those of earlier batches included.
    needed: f64,
}

impl Config {
    /// Whether the batches end and the numbers are within the table's ranges, for a policy read from a file.
    fn is_valid(&self, dim: usize) -> bool {
        let Config { nu0, first_batch, a, b, .. } = *self;
        if !self.fitting.is_valid(dim) {
            return false;
        }
        a >= 1.01
            && b > 1.0
            && first_batch >= 2.0
            && nu0 > 0.0
            && [a, b, first_batch, nu0].iter().all(|x| x.is_finite())
    }

    fn batch(&self, dim: usize, index: u32) -> Batch {
        let i = f64::from(index);
        let nu = self.nu0 / libm::pow(self.b, i);
        let needed = match self.schedule {
            Schedule::Scaled { first } => first * libm::pow(self.b, 8.0 * (i - 1.0)),
            Schedule::Literal { alpha0 } => {
                let Confidence { sigma, delta, .. } = self.confidence;
                let setting = theory::Setting { dim, neurons: self.fitting.neurons, sigma, delta, alpha0 };
                theory::exploration_length(&setting, nu)
            }
        };
        let end = ((libm::pow(self.a, i) - 1.0) * self.first_batch).floor();
        // What is beyond all numbers is beyond all horizons too, and a saved policy must hold finite numbers.
        Batch { index, end: end.min(f64::MAX), nu, needed: needed.floor().min(f64::MAX) }
    }
}

impl OfuReluPlus {
    fn new(dim: usize, params: &Params, key: Key) -> Result<Self> {
        if params.get(NEURONS.name).is_none() {
            let expected = format!("{} ({})", NEURONS.allowed(), NEURONS.doc);
            return Err(Error::Missing { name: format!("{} of {}", NEURONS.name, ENTRY.name), expected });
        }
        let fitting = Fitting::read(dim, params)?;
        let confidence = confidence::read(params, fitting.norm_bound(params.flag("biases")?))?;
        let schedule = match params.word("schedule")? {
            "literal" => Schedule::Literal { alpha0: params.real("alpha0")? },
            _ => Schedule::Scaled { first: params.count("explore")? as f64 },
        };
        let config = Config {
            nu0: params.real("nu0")?,
            first_batch: params.count("first_batch")? as f64,
            a: params.real("a")?,
            b: params.real("b")?,
            schedule,
            fitting,
            confidence,
        };
        Ok(OfuReluPlus {
            dim,
            batch: config.batch(dim, 1),
            config,
            key,
            xs: Vec::new(),
            ys: Vec::new(),
            explored_xs: Vec::new(),
            explored_ys: Vec::new(),
            regime: None,
            region: RegionCache::default(),
            fitted: 0,
        })
    }

    /// The batch i of the next reward, from 1.
    pub fn batch(&self) -> u32 {
        self.batch.index
    }

    /// The batch's guess ν_i of the gap.
    pub fn nu(&self) -> f64 {
        self.batch.nu
    }

    /// The linear regime with the newest Θ̃.
    pub fn regime(&self) -> Option<&FrozenRelu> {
        self.regime.as_ref()
    }

    fn radius(&self, regime: &FrozenRelu) -> f64 {
        self.config.confidence.radius(regime.ellipsoid().log_det_ratio())
    }

    fn is_consistent(&self) -> bool {
        self.config.is_valid(self.dim)
            && self.batch.index >= 1
            && self.batch == self.config.batch(self.dim, self.batch.index)
            && self.xs.len() == self.ys.len() * self.dim
            && self.explored_xs.len() == self.explored_ys.len() * self.dim
            && self.fitted <= self.explored_ys.len() as u64
            && self.regime.as_ref().is_none_or(|regime| regime.is_consistent() && regime.network().dim() == self.dim)
    }

    /// Fits Θ̃ to E and re-featurises Z with it.
    fn freeze(&mut self) -> Result<()> {
        let samples = Samples::new(self.dim, &self.explored_xs, &self.explored_ys)?;
        let fit = self.config.fitting.run(samples, self.key.round(u64::from(self.batch.index) << 32))?;
        let mut regime = FrozenRelu::new(fit.net.directions(), self.config.confidence.lambda);
        for (x, &y) in self.xs.chunks_exact(self.dim).zip(&self.ys) {
            regime.update(x, y);
        }
        self.regime = Some(regime);
        self.region = RegionCache::default();
        self.fitted = self.explored_ys.len() as u64;
        Ok(())
    }
}

impl Freezes for OfuReluPlus {
    fn frozen(&self) -> Option<(&FrozenRelu, f64, f64)> {
        self.regime.as_ref().map(|regime| (regime, self.radius(regime), self.nu() / 2.0))
    }
}

impl Policy for OfuReluPlus {
    fn name(&self) -> &'static str {
        ENTRY.name
    }

    fn dim(&self) -> usize {
        self.dim
    }

    fn select<'a>(&self, offer: Offer<'a>, key: Key, scratch: &mut Scratch) -> Result<Choice<'a>> {
        offer.expect_dim(self.dim)?;
        match (&self.regime, offer) {
            (Some(regime), Offer::Rows(rows)) if !self.exploring() => {
                Ok(select_frozen(regime, rows, self.radius(regime), self.nu() / 2.0, scratch))
            }
            (Some(regime), Offer::Sphere { .. }) if !self.exploring() => {
                self.region.select(regime, self.nu() / 2.0, self.radius(regime))
            }
            (_, offer) => explore(ENTRY.name, offer, key),
        }
    }

    fn learn(&mut self, action: Action<'_>, reward: f64) -> Result<()> {
        let action = check_observation(ENTRY.name, self.dim, action, reward)?;
        let (exploring, batch) = (self.exploring(), self.batch);
        if exploring {
            self.explored_xs.extend_from_slice(action);
            self.explored_ys.push(reward);
        }
        self.xs.extend_from_slice(action);
        self.ys.push(reward);
        while self.ys.len() as f64 >= self.batch.end {
            self.batch = self.config.batch(self.dim, self.batch.index + 1);
            self.region = RegionCache::default();
        }
        let explored = self.explored_ys.len() as u64;
        if explored > self.fitted && explored as f64 >= self.batch.needed {
            self.freeze().inspect_err(|_| {
                // What cannot be learnt from leaves no trace.
                self.batch = batch;
                self.xs.truncate(self.xs.len() - self.dim);
                self.ys.pop();
                if exploring {
                    self.explored_xs.truncate(self.explored_xs.len() - self.dim);
                    self.explored_ys.pop();
                }
            })
        } else {
            if let Some(regime) = &mut self.regime {
                regime.update(action, reward);
            }
            Ok(())
        }
    }

    fn score(&self, offer: Offer<'_>, scratch: &mut Scratch) -> Result<()> {
        offer.expect_dim(self.dim)?;
        let rows = offer.rows(ENTRY.name)?;
        match &self.regime {
            Some(regime) => {
                regime.score(rows, self.radius(regime), scratch);
            }
            None => {
                scratch.scores.clear();
                scratch.scores.resize(rows.len(), Score::default());
            }
        }
        Ok(())
    }

    fn exploring(&self) -> bool {
        self.regime.is_none() || (self.explored_ys.len() as f64) < self.batch.needed
    }

    fn model(&self) -> (String, String) {
        match &self.regime {
            Some(regime) if !self.exploring() => {
                let why = format!(
                    "it plays the arm of greatest mean + {:.3} times its width in batch {}",
                    self.radius(regime),
                    self.batch.index
                );
                (frozen_model(regime), why)
            }
            _ => exploring(self.explored_ys.len(), format!("{:.0}", self.batch.needed), &self.config.fitting),
        }
    }

    fn network(&self) -> Option<Fitted> {
        self.regime.as_ref().map(|regime| Fitted::Network(regime.network().clone()))
    }

    fn snapshot(&self) -> Result<Snapshot> {
        Snapshot::of(ENTRY.name, self)
    }
}
