//! Policies: what chooses and learns.
//!
//! [`Policy`] is the contract, [`REGISTRY`] the list of all policies. One policy a file: its table of parameters, its state,
//! its documentation, its citation. The command line, TOML files, the conformance suite and the documentation's tables all
//! read the registry, so a new policy is one file and one line here.

mod features;
mod gp_ts;
mod gp_ucb;
mod lin_ts;
mod neural_ucb;
mod ofu_relu;
mod ofu_relu_plus;
mod oful;
mod oracle;
mod plausible;
mod sphere;
mod uniform;

use std::fmt;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::arms::{Arms, Choice, Rows, Score, argmax, check_action};
use crate::error::{Error, Result};
use crate::frozen::FrozenRelu;
use crate::kernels::{LANES, ModelTable};
use crate::params::{Param, Params, Settings, Value};
use crate::patterns::PatternTable;
use crate::relu::ReluNet;
use crate::rng::{Key, Purpose, index};

pub use gp_ts::GpTs;
pub use gp_ucb::GpUcb;
pub use lin_ts::LinTs;
pub use neural_ucb::NeuralUcb;
pub use ofu_relu::OfuRelu;
pub use ofu_relu_plus::OfuReluPlus;
pub use oful::Oful;
pub use oracle::Oracle;
pub use plausible::Plausible;
pub use uniform::Uniform;

/// The most features, and so the largest dimension, that a policy keeps a matrix for: 4,000 squared are 128 MB.
pub const MAX_FEATURES: usize = 4000;

/// Every policy there is.
pub const REGISTRY: &[Entry] = &[
    uniform::ENTRY,
    oracle::ENTRY,
    oful::ENTRY,
    lin_ts::ENTRY,
    gp_ucb::ENTRY,
    gp_ts::ENTRY,
    ofu_relu::ENTRY,
    ofu_relu_plus::ENTRY,
    neural_ucb::ENTRY,
    plausible::ENTRY,
];

/// Chooses and learns.
///
/// The contract, which [`crate::conformance`] checks:
/// - `select` never learns: it may be called any number of times, or not at all, without changing what comes after. It is a
///   function of the policy's state, the arms and the key alone.
/// - `update` accepts any past choice, late or out of order, and refuses a number that is not finite without changing
///   anything.
/// - A policy restored from its [`Snapshot`] goes on to the bit.
pub trait Policy: fmt::Debug + Send + Sync {
    /// Its name in the registry.
    fn name(&self) -> &'static str;

    /// The dimension d of an action.
    fn dim(&self) -> usize;

    /// Chooses an action. `key` names the randomness of this round; `scratch` is memory to work in, kept by the caller so
    /// that rounds do not allocate.
    fn select<'a>(&self, arms: Arms<'a>, key: Key, scratch: &mut Scratch) -> Result<Choice<'a>>;

    /// Learns that `action` was rewarded with `reward`.
    fn update(&mut self, action: &[f64], reward: f64) -> Result<()>;

    /// What the policy predicts for every arm, into `scratch.scores`.
    fn score(&self, rows: Rows<'_>, scratch: &mut Scratch) -> Result<()>;

    /// Whether the next choice is exploration by design rather than by optimism.
    fn exploring(&self) -> bool {
        false
    }

    /// Whether this configuration only chooses among finitely many arms, though others of the same policy do not need them.
    fn needs_finite_arms(&self) -> bool {
        false
    }

    /// Is told the network behind the rewards before the first round, where there is one, and the constant that is added to it. For
    /// `oracle`, which is there for scale: whoever learns does not listen.
    fn reveal(&mut self, _truth: &ReluNet, _offset: f64) {}

    /// What the policy thinks of an action, and why.
    fn explain(&self, action: &[f64]) -> Result<Explanation> {
        explain_by_score(self, action)
    }

    /// The whole state, to be saved and restored.
    fn snapshot(&self) -> Result<Snapshot>;
}

/// What a policy thinks of an action.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Explanation {
    /// The predicted mean reward.
    pub mean: f64,
    /// How unsure the policy is of it: over the plausible networks where it keeps several, else the width of its interval.
    pub spread: f64,
    /// Whether the choice is exploration.
    pub exploring: bool,
    /// Which model acts.
    pub model: String,
    /// Why this one.
    pub why: String,
    /// What is amiss, if something is.
    pub warning: Option<String>,
}

/// The explanation of a policy with one model.
fn explain_by_score<P: Policy + ?Sized>(policy: &P, action: &[f64]) -> Result<Explanation> {
    check_action(policy.dim(), action)?;
    let mut scratch = Scratch::default();
    policy.score(Rows::trusted(policy.dim(), action), &mut scratch)?;
    let Score { mean, width } = scratch.scores.first().copied().unwrap_or_default();
    let model = policy.name().to_owned();
    Ok(Explanation { mean, spread: width, exploring: policy.exploring(), model, why: String::new(), warning: None })
}

/// Memory that `select` works in. Its content between calls means nothing.
#[derive(Debug, Default, Clone)]
pub struct Scratch {
    /// One score an arm.
    pub scores: Vec<Score>,
    /// The same of another model.
    pub other_scores: Vec<Score>,
    /// Numbers.
    pub numbers: Vec<f64>,
    /// What is drawn at random for a round: weights, or a function.
    pub drawn: Vec<f64>,
    /// Values with their weights.
    pub weighted: Vec<(f64, f64)>,
    /// Numbers of several arms side by side.
    pub lanes: Vec<[f64; LANES]>,
    /// Activation patterns.
    pub words: Vec<u64>,
    /// Which patterns were met, and in which order.
    pub table: PatternTable,
    /// The local models of the patterns met.
    pub models: ModelTable,
}

/// A row of the registry.
#[derive(Clone, Copy)]
pub struct Entry {
    /// The policy's name.
    pub name: &'static str,
    /// What it is, in one line.
    pub summary: &'static str,
    /// Where it comes from.
    pub citation: &'static str,
    /// Its parameters.
    pub params: &'static [Param],
    /// Whether it also chooses from the whole sphere.
    pub sphere: bool,
    /// Configurations on which the conformance suite runs it.
    pub samples: &'static [Sample],
    /// Makes one from checked parameters.
    pub build: fn(dim: usize, params: &Params, key: Key) -> Result<Box<dyn Policy>>,
    /// Restores one from the state of a snapshot.
    pub restore: fn(state: serde_json::Value) -> Result<Box<dyn Policy>>,
}

impl fmt::Debug for Entry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Entry").field("name", &self.name).finish_non_exhaustive()
    }
}

/// A configuration on which the conformance suite runs a policy.
#[derive(Debug, Clone, Copy)]
pub struct Sample {
    /// Its name in the list of tests.
    pub name: &'static str,
    /// The environment that suits it.
    pub world: &'static str,
    /// The settings that differ from the defaults.
    pub settings: &'static [(&'static str, Literal)],
}

/// A [`Value`] that can stand in a constant.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Literal {
    /// A real number.
    Real(f64),
    /// A whole number.
    Count(u64),
    /// A truth value.
    Flag(bool),
    /// A word.
    Word(&'static str),
}

impl Sample {
    /// The settings as a user would give them.
    pub fn settings(&self) -> Settings {
        let mut settings = Settings::new();
        for (name, literal) in self.settings {
            match *literal {
                Literal::Real(x) => settings.set(name, x),
                Literal::Count(n) => settings.set(name, n),
                Literal::Flag(b) => settings.set(name, b),
                Literal::Word(w) => settings.set(name, w),
            }
        }
        settings
    }
}

/// The registry's row for `name`, or an error that suggests the nearest name.
pub fn find(name: &str) -> Result<&'static Entry> {
    let known = || REGISTRY.iter().map(|entry| entry.name);
    REGISTRY.iter().find(|entry| entry.name == name).ok_or_else(|| Error::unknown("policy", name, known()))
}

/// Makes the policy `name` for actions of dimension `dim`.
///
/// ```
/// use reluctant::{Key, Settings, policy};
/// let settings = Settings::new().with("neurons", 3u64).with("explore", 20u64);
/// let policy = policy::build("ofu-relu", 2, &settings, Key::new(1))?;
/// assert_eq!(policy.dim(), 2);
/// # Ok::<(), reluctant::Error>(())
/// ```
pub fn build(name: &str, dim: usize, settings: &Settings, key: Key) -> Result<Box<dyn Policy>> {
    let entry = find(name)?;
    if !(1..=MAX_FEATURES).contains(&dim) {
        return Err(Error::out_of_range("dim", dim, format!("1 to {MAX_FEATURES}")));
    }
    let params = Params::resolve(name, entry.params, settings)?;
    (entry.build)(dim, &params, key)
}

/// The saved state of a policy.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Snapshot {
    /// The format of this file; see [`Snapshot::FORMAT`].
    pub format: u32,
    /// The policy's name.
    pub policy: String,
    /// The state itself.
    pub state: serde_json::Value,
}

impl Snapshot {
    /// The format this version writes and reads.
    pub const FORMAT: u32 = 1;

    /// The snapshot of a policy's state.
    pub fn of(policy: &'static str, state: &impl Serialize) -> Result<Self> {
        let state = serde_json::to_value(state).map_err(|cause| Error::Snapshot { reason: cause.to_string() })?;
        Ok(Snapshot { format: Self::FORMAT, policy: policy.to_owned(), state })
    }

    /// The policy, exactly as it was.
    pub fn restore(self) -> Result<Box<dyn Policy>> {
        if self.format != Self::FORMAT {
            let reason = format!("it has format {}, and this version reads format {}", self.format, Self::FORMAT);
            return Err(Error::Snapshot { reason });
        }
        (find(&self.policy)?.restore)(self.state)
    }

    /// As text that [`Snapshot::parse`] reads back to the bit.
    pub fn to_json(&self) -> Result<String> {
        serde_json::to_string(self).map_err(|cause| Error::Snapshot { reason: cause.to_string() })
    }

    /// Reads what [`Snapshot::to_json`] wrote.
    pub fn parse(text: &str) -> Result<Self> {
        serde_json::from_str(text).map_err(|cause| Error::Snapshot { reason: cause.to_string() })
    }
}

/// Reads a policy's state out of a snapshot; `consistent` tells whether its parts fit together.
fn read_state<P: Policy + DeserializeOwned>(state: serde_json::Value, consistent: fn(&P) -> bool) -> Result<P> {
    let policy: P = serde_json::from_value(state).map_err(|cause| Error::Snapshot { reason: cause.to_string() })?;
    if (1..=MAX_FEATURES).contains(&policy.dim()) && consistent(&policy) {
        Ok(policy)
    } else {
        Err(Error::Snapshot { reason: "its parts do not have the dimensions it states".to_owned() })
    }
}

/// The optimistic choice: scores every arm and takes the greatest mean plus width.
fn select_optimistic<'a>(policy: &dyn Policy, rows: Rows<'a>, scratch: &mut Scratch) -> Result<Choice<'a>> {
    policy.score(rows, scratch)?;
    Ok(best_by_score(rows, scratch))
}

/// The arm of greatest mean plus width in `scratch.scores`.
fn best_by_score<'a>(rows: Rows<'a>, scratch: &Scratch) -> Choice<'a> {
    let best = argmax(scratch.scores.iter().map(Score::upper)).unwrap_or(0);
    Choice::row(rows, best, scratch.scores[best], 1.0)
}

/// The optimistic choice of a frozen network among the arms in X(Θ̃, margin); among all arms if none lies there.
fn select_frozen<'a>(
    regime: &FrozenRelu,
    rows: Rows<'a>,
    radius: f64,
    margin: f64,
    scratch: &mut Scratch,
) -> Choice<'a> {
    let (best, score) = regime.optimistic_arm(rows, radius, margin, scratch);
    Choice::row(rows, best, score, 1.0)
}

/// A row drawn uniformly.
fn select_uniform(rows: Rows<'_>, key: Key) -> Choice<'_> {
    let chosen = index(&mut key.purpose(Purpose::Choice).stream(), rows.len());
    Choice::row(rows, chosen, Score::default(), 1.0 / rows.len() as f64)
}

/// An error unless a matrix of `count` features fits in memory; `what` says what they are made of.
fn check_features(count: usize, what: &str) -> Result<()> {
    if count <= MAX_FEATURES {
        return Ok(());
    }
    Err(Error::out_of_range("the number of features", format!("{count} ({what})"), format!("at most {MAX_FEATURES}")))
}

/// The parameters that every confidence radius needs.
mod confidence {
    use super::{Param, Params, Result};
    use crate::ellipsoid::Confidence;
    use crate::params::{Initial, Kind};

    pub(super) const LAMBDA: Param = Param::new("lambda", Initial::Real(0.01), Kind::POSITIVE, "ridge penalty λ");
    pub(super) const DELTA: Param =
        Param::new("delta", Initial::Real(0.01), Kind::PROBABILITY, "the confidence set fails with this probability δ");
    pub(super) const SIGMA: Param =
        Param::new("sigma", Initial::Real(0.1), Kind::NOT_NEGATIVE, "the noise is σ-subgaussian").told();

    pub(super) const LOG_DET: Param = Param::new(
        "log_det",
        Initial::Auto("ratio (paper), twice (authors)"),
        Kind::Word(&["ratio", "twice"]),
        "ratio: the radius holds log det V − D·log λ; twice: D·log λ is subtracted again",
    );

    /// What `log_det` adds to the log-determinant ratio of D features in the radius.
    pub(super) fn log_det_offset(params: &Params, authors: bool, features: usize, lambda: f64) -> Result<f64> {
        let twice = params.word("log_det").map_or(authors, |word| word == "twice");
        Ok(if twice { -(features as f64) * libm::log(lambda) } else { 0.0 })
    }

    /// Reads them, with `norm_bound` for S where it is not given.
    pub(super) fn read(params: &Params, norm_bound: f64) -> Result<Confidence> {
        Ok(Confidence {
            lambda: params.real("lambda")?,
            sigma: params.real("sigma")?,
            delta: params.real("delta")?,
            norm_bound: params.real_or("norm_bound", norm_bound)?,
        })
    }
}

/// Fills in what an experiment's environment tells (number of neurons, noise) where the table marks a parameter as told and the
/// user gave no value.
pub fn tell<N: AsRef<str>>(entry: &Entry, settings: &Settings, facts: &[(N, Value)]) -> Settings {
    let mut told = settings.clone();
    for (name, value) in facts.iter().map(|(name, value)| (name.as_ref(), value)) {
        let wanted = entry.params.iter().any(|param| param.told && param.name == name);
        if wanted && settings.get(name).is_none() {
            told.set(name, value.clone());
        }
    }
    told
}
