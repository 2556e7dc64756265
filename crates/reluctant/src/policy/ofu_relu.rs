//! `ofu-relu`: Algorithm 1 of the paper.
//!
//! Explore at random for t₀ rounds, fit a network Θ̃ to what was seen, freeze its activations, and play
//! optimistically in the linear regime ([`FrozenRelu`]) over the arms in X(Θ̃, ν/2). All samples, those of the
//! exploration too, enter the regression.
//!
//! With `profile = "authors"` the defaults of six switches follow the authors' public code instead of the paper, so
//! that anyone can see what each of them does to regret:
//!
//! | switch | paper | authors |
//! | --- | --- | --- |
//! | `fit` | `lm`: best of many unit-norm Levenberg–Marquardt fits | `adam`: one run of 2,000 Adam steps, neurons not normalised |
//! | `norm_bound` | √(5k) | √(3k) |
//! | `radius_sigma` | σ | 0.05 |
//! | `log_det` | `ratio`: log det V − D·log λ | `twice`: D·log λ is subtracted a second time, which widens the radius |
//! | `drop_last` | false | true: the last exploration sample does not enter the regression |
//! | `late_radius` | false | true: the radius is 0 until the first optimistic reward |

use serde::{Deserialize, Serialize};

use super::lifted::{self, BIASES, Freezes};
use super::sphere::{RegionCache, explore};
use super::{Build, Contexts, Entry, Fitted, Policy, Restore, Sample, Snapshot, confidence, select_frozen};
use crate::action::{Action, check_observation};
use crate::belief::check_features;
use crate::choice::{Choice, Score};
use crate::ellipsoid::Confidence;
use crate::error::{Error, Result};
use crate::estimate::{self, Fit, FitOptions, Model, Samples};
use crate::frozen::FrozenRelu;
use crate::offer::Offer;
use crate::params::{Initial, Kind, Literal, Param, Params};
use crate::relu::MAX_NEURONS;
use crate::rng::Key;
use crate::scratch::Scratch;

/// The most starts of a fit.
const MAX_RESTARTS: usize = 10_000;

pub(super) const NEURONS: Param = Param::new(
    "neurons",
    Initial::Required,
    Kind::Count { min: 1, max: MAX_NEURONS as u64 },
    "neurons k of the network to fit",
)
.told();
pub(super) const SIGNS: Param = Param::new(
    "signs",
    Initial::word("ones"),
    Kind::Word(&["ones", "free"]),
    "second layer: ones with unit neurons, as in the paper, or ±1 with neurons of any length",
);
pub(super) const SLOPE: Param = Param::new(
    "slope",
    Initial::real(0.0),
    Kind::Real { min: -1.0, max: 1.0, above: false, below: true },
    "slope of the activation for negative inputs: 0 for ReLUs, as in the paper, more for leaky ones, -1 for absolute values",
)
.told();
pub(super) const RESTARTS: Param = Param::new(
    "restarts",
    Initial::count(16),
    Kind::Count { min: 1, max: MAX_RESTARTS as u64 },
    "at most so many starts of the fit; it stops early once enough agree",
);

pub(super) const ENTRY: Entry = Entry {
    name: "ofu-relu",
    summary: "explores at random, freezes the activations of a fitted network, then plays a linear bandit",
    citation: "Xu, Bastani, Goel and Bastani (2024), Stochastic bandits with ReLU neural networks, Algorithm 1",
    params: &[
        NEURONS,
        Param::new(
            "explore",
            Initial::count(20),
            Kind::Count { min: 1, max: u64::MAX },
            "length t₀ of the exploration, in rewards",
        ),
        confidence::LAMBDA,
        confidence::SIGMA,
        confidence::DELTA,
        Param::new("nu", Initial::real(0.0), Kind::NOT_NEGATIVE, "gap ν: arms nearer than ν/2 to a kink are left out"),
        SIGNS,
        SLOPE,
        BIASES,
        RESTARTS,
        Param::new(
            "profile",
            Initial::word("paper"),
            Kind::Word(&["paper", "authors"]),
            "whose defaults the parameters below take",
        ),
        Param::new(
            "fit",
            Initial::Auto("lm (paper), adam (authors)"),
            Kind::Word(&["lm", "adam"]),
            "how the network is fitted",
        ),
        Param::new(
            "norm_bound",
            Initial::Auto("√(k(4 + (1 + slope)²)), the paper's √(5k) for ReLUs; √(3k) (authors)"),
            Kind::NOT_NEGATIVE,
            "bound S on the norm of the true weights; the computed one is for neurons of length 1",
        ),
        Param::new(
            "radius_sigma",
            Initial::Auto("sigma (paper), 0.05 (authors)"),
            Kind::NOT_NEGATIVE,
            "noise level that the radius assumes",
        ),
        confidence::LOG_DET,
        Param::new(
            "drop_last",
            Initial::Auto("false (paper), true (authors)"),
            Kind::Flag,
            "whether the last exploration sample is lost",
        ),
        Param::new(
            "late_radius",
            Initial::Auto("false (paper), true (authors)"),
            Kind::Flag,
            "whether the first optimistic round has radius 0",
        ),
    ],
    sphere: true,
    contexts: Contexts::ModelEach,
    samples: &[
        Sample { name: "default", environment: "relu-sphere", settings: &[("neurons", Literal::Count(3))] },
        Sample {
            name: "gap",
            environment: "relu-sphere",
            settings: &[("neurons", Literal::Count(3)), ("nu", Literal::Real(0.1))],
        },
        Sample {
            name: "signs",
            environment: "relu-sphere",
            settings: &[("neurons", Literal::Count(3)), ("signs", Literal::Word("free"))],
        },
        Sample {
            name: "leaky",
            environment: "relu-sphere",
            settings: &[("neurons", Literal::Count(3)), ("slope", Literal::Real(0.2))],
        },
        Sample {
            name: "biases",
            environment: "relu-sphere",
            settings: &[("neurons", Literal::Count(3)), ("biases", Literal::Flag(true))],
        },
        Sample {
            name: "authors",
            environment: "relu-sphere",
            settings: &[("neurons", Literal::Count(3)), ("profile", Literal::Word("authors"))],
        },
    ],
    build: Build::Plain(|dim, params, key| lifted::build(dim, params, |dim| OfuRelu::new(dim, params, key))),
    restore: Restore::Plain(|state| lifted::restore(state, OfuRelu::is_consistent)),
};

/// Algorithm 1.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct OfuRelu {
    dim: usize,
    config: Config,
    key: Key,
    phase: Phase,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
struct Config {
    fitting: Fitting,
    explore: u64,
    confidence: Confidence,
    nu: f64,
    /// Added to the log-determinant in the radius: 0 in the paper.
    log_det_offset: f64,
    drop_last: bool,
    late_radius: bool,
}

// A policy holds one phase: a box would save nothing.
#[allow(clippy::large_enum_variant)]
#[derive(Debug, Clone, Serialize, Deserialize)]
enum Phase {
    Exploring {
        xs: Vec<f64>,
        ys: Vec<f64>,
    },
    Linear {
        regime: FrozenRelu,
        /// The cells of the sphere, once they are needed.
        #[serde(skip)]
        region: RegionCache,
        /// How well Θ̃ fits the exploration.
        loss: f64,
        /// Rewards since the regime began.
        rewards: u64,
    },
}

impl OfuRelu {
    fn new(dim: usize, params: &Params, key: Key) -> Result<Self> {
        let fitting = Fitting::read(dim, params)?;
        let authors = params.word("profile")? == "authors";
        let k = fitting.neurons as f64;
        let norm_bound = if authors { (3.0 * k).sqrt() } else { fitting.norm_bound(params.flag("biases")?) };
        let mut confidence = confidence::read(params, norm_bound)?;
        confidence.sigma = params.real_or("radius_sigma", if authors { 0.05 } else { confidence.sigma })?;
        let features = 2 * fitting.neurons * dim;
        let config = Config {
            explore: params.count("explore")?,
            nu: params.real("nu")?,
            log_det_offset: confidence::log_det_offset(params, authors, features, confidence.lambda)?,
            drop_last: params.flag_or("drop_last", authors)?,
            late_radius: params.flag_or("late_radius", authors)?,
            fitting,
            confidence,
        };
        Ok(OfuRelu { dim, config, key, phase: Phase::Exploring { xs: Vec::new(), ys: Vec::new() } })
    }

    /// The linear regime with Θ̃, once exploration is over.
    pub fn regime(&self) -> Option<&FrozenRelu> {
        match &self.phase {
            Phase::Exploring { .. } => None,
            Phase::Linear { regime, .. } => Some(regime),
        }
    }

    fn is_consistent(&self) -> bool {
        if !self.config.fitting.is_valid(self.dim) {
            return false;
        }
        match &self.phase {
            Phase::Exploring { xs, ys } => xs.len() == ys.len() * self.dim,
            Phase::Linear { regime, .. } => regime.is_consistent() && regime.network().dim() == self.dim,
        }
    }

    /// The radius β of the confidence set in the linear regime.
    fn radius(&self, regime: &FrozenRelu, rewards: u64) -> f64 {
        if self.config.late_radius && rewards == 0 {
            return 0.0;
        }
        self.config.confidence.radius(regime.ellipsoid().log_det_ratio() + self.config.log_det_offset)
    }
}

impl Config {
    /// The linear regime after this exploration.
    fn freeze(&self, samples: Samples<'_>, key: Key) -> Result<Phase> {
        let fit = self.fitting.run(samples, key)?;
        let mut regime = FrozenRelu::new(fit.net.directions(), self.confidence.lambda);
        for (x, y) in samples.iter().take(samples.len() - usize::from(self.drop_last)) {
            regime.update(x, y);
        }
        Ok(Phase::Linear { regime, region: RegionCache::default(), loss: fit.loss, rewards: 0 })
    }
}

impl Policy for OfuRelu {
    fn name(&self) -> &'static str {
        ENTRY.name
    }

    fn dim(&self) -> usize {
        self.dim
    }

    fn select<'a>(&self, offer: Offer<'a>, key: Key, scratch: &mut Scratch) -> Result<Choice<'a>> {
        offer.expect_dim(self.dim)?;
        match (&self.phase, offer) {
            (Phase::Exploring { .. }, offer) => explore(ENTRY.name, offer, key),
            (Phase::Linear { regime, rewards, .. }, Offer::Rows(rows)) => {
                Ok(select_frozen(regime, rows, self.radius(regime, *rewards), self.config.nu / 2.0, scratch))
            }
            (Phase::Linear { regime, region, rewards, .. }, Offer::Sphere { .. }) => {
                region.select(regime, self.config.nu / 2.0, self.radius(regime, *rewards))
            }
            (_, Offer::Context(_)) => Err(Error::unexpected_context(ENTRY.name)),
        }
    }

    fn learn(&mut self, action: Action<'_>, reward: f64) -> Result<()> {
        let action = check_observation(ENTRY.name, self.dim, action, reward)?;
        match &mut self.phase {
            Phase::Exploring { xs, ys } => {
                xs.extend_from_slice(action);
                ys.push(reward);
                if ys.len() as u64 >= self.config.explore {
                    match Samples::new(self.dim, xs, ys).and_then(|samples| self.config.freeze(samples, self.key)) {
                        Ok(linear) => self.phase = linear,
                        Err(error) => {
                            // What cannot be learnt from leaves no trace.
                            xs.truncate(xs.len() - self.dim);
                            ys.pop();
                            return Err(error);
                        }
                    }
                }
            }
            Phase::Linear { regime, rewards, .. } => {
                regime.update(action, reward);
                *rewards = rewards.saturating_add(1);
            }
        }
        Ok(())
    }

    fn score(&self, offer: Offer<'_>, scratch: &mut Scratch) -> Result<()> {
        offer.expect_dim(self.dim)?;
        let rows = offer.rows(ENTRY.name)?;
        match &self.phase {
            Phase::Exploring { .. } => {
                scratch.scores.clear();
                scratch.scores.resize(rows.len(), Score::default());
            }
            Phase::Linear { regime, rewards, .. } => regime.score(rows, self.radius(regime, *rewards), scratch),
        }
        Ok(())
    }

    fn exploring(&self) -> bool {
        matches!(self.phase, Phase::Exploring { .. })
    }

    fn model(&self) -> (String, String) {
        match &self.phase {
            Phase::Exploring { ys, .. } => {
                exploring(ys.len(), format!("{}", self.config.explore), &self.config.fitting)
            }
            Phase::Linear { regime, loss, rewards, .. } => {
                let why = format!(
                    "it plays the arm of greatest mean + {:.3} times its width; the network met its exploration with a \
                     mean squared error of {loss:.3}",
                    self.radius(regime, *rewards)
                );
                (frozen_model(regime), why)
            }
        }
    }

    fn network(&self) -> Option<Fitted> {
        self.regime().map(|regime| Fitted::Network(regime.network().clone()))
    }

    fn snapshot(&self) -> Result<Snapshot> {
        Snapshot::of(ENTRY.name, self)
    }
}

impl Freezes for OfuRelu {
    fn frozen(&self) -> Option<(&FrozenRelu, f64, f64)> {
        match &self.phase {
            Phase::Exploring { .. } => None,
            Phase::Linear { regime, rewards, .. } => {
                Some((regime, self.radius(regime, *rewards), self.config.nu / 2.0))
            }
        }
    }
}

/// The model of the linear regime, in words.
pub(super) fn frozen_model(regime: &FrozenRelu) -> String {
    format!("linear regression on the features of one frozen network of {} neurons", regime.network().neurons())
}

/// What is said while there is no model yet.
pub(super) fn exploring(seen: usize, wanted: String, fitting: &Fitting) -> (String, String) {
    let why = format!(
        "it plays at random to fit a network of {} neurons: {seen} of {wanted} observations are there",
        fitting.neurons
    );
    ("none yet".to_owned(), why)
}

/// How Θ̃ is fitted; OFU-ReLU and OFU-ReLU+ share it.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Fitting {
    pub(super) neurons: usize,
    method: Method,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
enum Method {
    LevenbergMarquardt(FitOptions),
    Adam,
}

impl Fitting {
    pub(super) fn read(dim: usize, params: &Params) -> Result<Self> {
        if dim < 2 {
            return Err(Error::out_of_range("dim", dim, "at least 2 for a ReLU network on the sphere"));
        }
        check_features((params.size("neurons")? + 1) * dim, "(neurons + 1) times dim")?;
        let authors = matches!(params.word("profile"), Ok("authors"));
        let adam = params.word("fit").map_or(authors, |fit| fit == "adam");
        let biases = params.flag("biases")?;
        if adam && biases {
            let allowed = "false where Adam fits the network, as the authors' profile has it (fit = lm takes both)";
            return Err(Error::out_of_range("biases", true, allowed));
        }
        let model = if params.word("signs")? == "free" || biases { Model::Signed } else { Model::Unit };
        if adam && model == Model::Signed {
            let allowed = "ones where Adam fits the network, as the authors' profile has it (fit = lm takes both)";
            return Err(Error::out_of_range("signs", "free", allowed));
        }
        let slope = params.real("slope")?;
        if adam && slope != 0.0 {
            let allowed = "0 where Adam fits the network, as the authors' profile has it (fit = lm takes others)";
            return Err(Error::out_of_range("slope", slope, allowed));
        }
        let method = if adam {
            Method::Adam
        } else {
            let restarts = params.size("restarts")?;
            Method::LevenbergMarquardt(FitOptions { model, restarts, slope, ..FitOptions::default() })
        };
        Ok(Fitting { neurons: params.size("neurons")?, method })
    }

    /// A bound S on the norm of the true weights on x‡, of unit neurons and slope −1 ≤ a < 1.
    ///
    /// Since ½x = 1ᵢx + (½−1ᵢ)x, neuron i has the weights (1+a)θᵢ on 1ᵢx and 2aθᵢ on (½−1ᵢ)x or, where the estimate has
    /// the wrong sign, (1+a)θᵢ and 2θᵢ: S² = k(4 + (1+a)²), the paper's 5k for ReLUs. With biases, twice as much: a
    /// neuron (θᵢ, bᵢ) with |bᵢ| ≤ 1 is no longer than √2.
    pub(super) fn norm_bound(&self, biases: bool) -> f64 {
        let turned = match &self.method {
            Method::LevenbergMarquardt(options) => 1.0 + options.slope,
            Method::Adam => 1.0,
        };
        let longest = if biases { 2.0 } else { 1.0 };
        (longest * (4.0 + turned * turned) * self.neurons as f64).sqrt()
    }

    /// Whether the numbers are within the tables' ranges, for a policy read from a file.
    pub(super) fn is_valid(&self, dim: usize) -> bool {
        let ends = match &self.method {
            Method::LevenbergMarquardt(options) => {
                let FitOptions { restarts, iterations, slope, .. } = options;
                *restarts <= MAX_RESTARTS && *iterations <= 10_000 && (-1.0..1.0).contains(slope)
            }
            Method::Adam => true,
        };
        let sized = (1..=MAX_NEURONS).contains(&self.neurons);
        ends && sized && check_features((self.neurons + 1) * dim, "").is_ok()
    }

    pub(super) fn run(&self, samples: Samples<'_>, key: Key) -> Result<Fit> {
        match &self.method {
            Method::LevenbergMarquardt(options) => estimate::fit(samples, self.neurons, options, key),
            Method::Adam => estimate::adam(samples, self.neurons, estimate::STEPS, estimate::LEARNING_RATE, key),
        }
    }
}
