//! Policies: what chooses and learns.
//!
//! [`Policy`] is the contract, [`BUILT_IN`] the list of all policies that come with the crate. One policy a file: its
//! table of parameters, its state, its documentation, its citation. The command line, TOML files, the conformance suite
//! and the documentation's tables all read the registry, so a new policy is one file and one line here.

mod any_belief;
mod confidence;
mod ensemble;
mod entry;
mod epsilon_greedy;
mod fitted;
mod gp_ts;
mod gp_ucb;
mod in_blocks;
mod independent;
mod joined;
mod lifted;
mod lin_ts;
mod lmc_ts;
mod mixed;
mod named;
mod neural_linear;
mod neural_linucb;
mod neural_ts;
mod neural_ucb;
mod nn_ucb;
mod ofu_relu;
mod ofu_relu_plus;
mod oful;
mod on_rows;
mod oracle;
mod per_action;
mod plausible;
mod propensity;
mod remarks;
mod rule;
mod rules;
mod shared;
mod snapshot;
mod sphere;
mod square_cb;
mod uniform;

use std::fmt;

use serde::Serialize;

use crate::action::{Action, check_vector};
use crate::choice::{Choice, Score};
use crate::entry::find as find_row;
use crate::error::Result;
use crate::offer::{Offer, Rows, Space};
use crate::params::Settings;
use crate::rng::Key;
use crate::round::Round;
use crate::scratch::Scratch;

use rules::{best_by_score, optimism, sampling, sampling_each, select_frozen, select_optimistic, select_uniform};
use snapshot::read_state;

pub use entry::{Build, COMMON, Contexts, Entry, OwnBuild, OwnRestore, Restore, Sample, tell};
pub use fitted::Fitted;
pub use gp_ts::GpTs;
pub use gp_ucb::GpUcb;
pub use joined::{JOIN, Joined};
pub use lin_ts::LinTs;
pub use mixed::{CHANCE, EXPLORE, Mixed};
pub use neural_ts::NeuralTs;
pub use neural_ucb::NeuralUcb;
pub use ofu_relu::OfuRelu;
pub use ofu_relu_plus::OfuReluPlus;
pub use oful::Oful;
pub use on_rows::OnRows;
pub use oracle::Oracle;
pub use per_action::PerAction;
pub use plausible::Plausible;
pub use propensity::Propensity;
pub use rule::Rule;
pub use shared::{Acting, Shared, SharedModel};
pub use snapshot::{Form, Snapshot};
pub use uniform::Uniform;

pub use crate::limits::MAX_FEATURES;

/// Every policy that is built in.
///
/// A `static`, as other tables of functions here: a constant would have all policies compiled again in every crate
/// that mentions it.
pub static BUILT_IN: &[Entry] = &[
    uniform::ENTRY,
    oracle::ENTRY,
    epsilon_greedy::ENTRY,
    square_cb::ENTRY,
    oful::ENTRY,
    lin_ts::ENTRY,
    gp_ucb::ENTRY,
    gp_ts::ENTRY,
    ofu_relu::ENTRY,
    ofu_relu_plus::ENTRY,
    neural_ucb::ENTRY,
    nn_ucb::ENTRY,
    neural_ts::ENTRY,
    neural_linear::ENTRY,
    neural_linucb::ENTRY,
    ensemble::ENTRY,
    lmc_ts::ENTRY,
    plausible::ENTRY,
];

/// Chooses and learns.
///
/// The contract, which [`crate::conformance`] checks:
/// - `select` never learns: it may be called any number of times, or not at all, without changing what comes after. It
///   is a function of the policy's state, the offer and the key alone.
/// - `learn` accepts any past choice, late or out of order, and refuses a number that is not finite without changing
///   anything.
/// - A policy restored from its [`Snapshot`] goes on to the bit.
///
/// ```
/// use reluctant::{Key, Offer, Scratch, Settings, policy};
///
/// let (key, mut scratch) = (Key::new(1), Scratch::default());
/// let mut policy = policy::build("oful", 2, &Settings::new().with("lambda", 0.1), key)?;
/// let arms = [1.0, 0.0, 0.0, 1.0]; // two arms, row after row
/// for t in 1..=20 {
///     let choice = policy.select(Offer::finite(2, &arms)?, key.round(t), &mut scratch)?;
///     policy.update(&choice, choice.action[1])?; // the second arm is rewarded with 1, the first with 0
/// }
/// let last = policy.select(Offer::finite(2, &arms)?, key.round(21), &mut scratch)?;
/// assert_eq!(last.action[1], 1.0);
/// # Ok::<(), reluctant::Error>(())
/// ```
pub trait Policy: fmt::Debug + Send + Sync {
    /// Its name in the registry.
    fn name(&self) -> &'static str;

    /// The dimension d of an action, or of a context.
    fn dim(&self) -> usize;

    /// What it was made for.
    fn space(&self) -> Space {
        Space::Vectors { dim: self.dim() }
    }

    /// Chooses an action. `key` names the randomness of this round; `scratch` is memory to work in, kept by the caller
    /// so that rounds do not allocate.
    fn select<'a>(&self, offer: Offer<'a>, key: Key, scratch: &mut Scratch) -> Result<Choice<'a>>;

    /// Chooses in a round of an environment. A learner looks at the offer alone; only `oracle`, which is there for
    /// scale, reads more.
    fn select_in<'a>(&self, round: &Round<'a>, key: Key, scratch: &mut Scratch) -> Result<Choice<'a>> {
        self.select(round.offer, key, scratch)
    }

    /// The probability of every action of a finite offer to be chosen, into `out`, and true; false if it is not known,
    /// or if choices say it themselves because nothing is left to chance.
    fn probabilities(&self, offer: Offer<'_>, scratch: &mut Scratch, out: &mut Vec<f64>) -> Result<bool> {
        let _ = (offer, scratch, out);
        Ok(false)
    }

    /// Whether the value that it draws for a single arm, its appeal, is normal with the mean and width of the
    /// arm's score.
    fn draws_normally(&self) -> bool {
        false
    }

    /// Learns that `action` was rewarded with `reward`.
    fn learn(&mut self, action: Action<'_>, reward: f64) -> Result<()>;

    /// What the policy predicts for every action of a finite offer: [`Scratch::scores`].
    fn score(&self, offer: Offer<'_>, scratch: &mut Scratch) -> Result<()>;

    /// The means of [`Policy::score`], for those who do not look at widths: they may be left out, and are then 0.
    fn means(&self, offer: Offer<'_>, scratch: &mut Scratch) -> Result<()> {
        self.score(offer, scratch)
    }

    /// Whether the next choice is exploration by design rather than by optimism.
    fn exploring(&self) -> bool {
        false
    }

    /// Whether this configuration only chooses among finitely many actions, though others of the same policy do not
    /// need them.
    fn needs_finite_arms(&self) -> bool {
        false
    }

    /// Which model acts at present, and why it chooses as it does.
    fn model(&self) -> (String, String) {
        (self.name().to_owned(), "it gives no reason".to_owned())
    }

    /// What it has fitted so far, if that can be read: a network, several, or the weights of a linear function. `None`
    /// before there is anything, and of policies whose model is none of these.
    fn network(&self) -> Option<Fitted> {
        None
    }

    /// What the policy thinks of an action, and why.
    fn explanation(&self, action: Action<'_>) -> Result<Explanation> {
        explain_by_score(self, check_vector(self.name(), self.dim(), action)?)
    }

    /// The whole state, to be saved and restored.
    fn snapshot(&self) -> Result<Snapshot>;
}

impl dyn Policy + '_ {
    /// Learns that an action was rewarded with `reward`: a vector, or a [`Choice`].
    pub fn update<'a>(&mut self, action: impl Into<Action<'a>>, reward: f64) -> Result<()> {
        self.learn(action.into(), reward)
    }

    /// What the policy thinks of an action, a vector or a [`Choice`], and why.
    pub fn explain<'a>(&self, action: impl Into<Action<'a>>) -> Result<Explanation> {
        self.explanation(action.into())
    }
}

/// What a policy thinks of an action.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Explanation {
    /// The predicted mean reward.
    pub mean: f64,
    /// How unsure the policy is of it: over the plausible networks where it keeps several, else the width of its
    /// interval.
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

/// So many observations, in words.
fn observations(count: u64) -> String {
    format!("{count} observation{}", if count == 1 { "" } else { "s" })
}

/// The explanation of a policy with one model, at a checked vector.
fn explain_by_score<P: Policy + ?Sized>(policy: &P, x: &[f64]) -> Result<Explanation> {
    let mut scratch = Scratch::default();
    policy.score(Offer::Rows(Rows::trusted(policy.dim(), x)), &mut scratch)?;
    let Score { mean, width } = scratch.scores.first().copied().unwrap_or_default();
    let (model, why) = policy.model();
    Ok(Explanation { mean, spread: width, exploring: policy.exploring(), model, why, warning: None })
}

/// The built-in policy `name`, or an error that suggests the nearest name.
pub fn find(name: &str) -> Result<&'static Entry> {
    find_row(BUILT_IN, name)
}

/// Makes the built-in policy `name` for a space; a number is the dimension of vectors.
///
/// ```
/// use reluctant::{Key, Settings, policy};
/// let settings = Settings::new().with("neurons", 3u64).with("explore", 20u64);
/// let policy = policy::build("ofu-relu", 2, &settings, Key::new(1))?;
/// assert_eq!(policy.dim(), 2);
/// # Ok::<(), reluctant::Error>(())
/// ```
pub fn build(name: &str, space: impl Into<Space>, settings: &Settings, key: Key) -> Result<Box<dyn Policy>> {
    find(name)?.build(space, settings, key)
}

impl Snapshot {
    /// The policy, exactly as it was, if it is a built-in one; others are restored by the registry that knows them.
    pub fn restore(self) -> Result<Box<dyn Policy>> {
        find(&self.policy)?.restore(self)
    }
}
