//! What a policy knows, apart from how it acts ([`Belief`]).
//!
//! A belief learns, predicts mean and spread, draws a function and can be saved. It can be used without a bandit. How a
//! policy acts on it is a rule: optimism takes the greatest mean plus width, sampling the greatest value of a drawn
//! function. So `oful` and `lin-ts` are two rules on one belief, and so are `gp-ucb` and `gp-ts`.
//!
//! | belief | what it is | policies |
//! | --- | --- | --- |
//! | [`Linear`] | Bayesian linear regression on features of x | `oful`, `lin-ts` |
//! | [`GaussianProcess`] | a Gaussian process of a bounded number of points | `gp-ucb`, `gp-ts` |
//! | [`NetworkGradients`] | a trained network, linear in its gradients | `neural-ucb`, `neural-ts` |
//! | [`LastLayer`] | Bayesian linear regression on the last layer of a trained network | `neural-linear`, `neural-linucb` |
//! | [`Ensemble`] | bootstrapped networks with prior functions | `ensemble` |
//! | [`Walk`] | a network that walks through the posterior by noisy steps | `lmc-ts` |
//! | [`FrozenRelu`](crate::FrozenRelu) | a ReLU network whose activations are frozen | `ofu-relu`, `ofu-relu-plus` on rows |
//! | [`PlausibleNetworks`] | the networks that explain what was seen | `plausible` |
//!
//! In contexts with named actions, [`Heads`] is what a belief is to vectors: what all actions share stands once.
//! [`LastLayer`], [`Ensemble`], [`Walk`] and [`GradientHeads`] are such beliefs; [`Each`] makes one of any belief, with
//! nothing shared; [`EitherOr`] is of two actions of which one is right; [`Averaged`] is the mean of several,
//! [`Ladder`] weighs curves, networks and an infinitely wide one by what they foretold, and [`Paired`] has the mean of
//! one belief and the spread of another.
//!
//! ```
//! use reluctant::belief::{Belief, Features, Linear};
//! use reluctant::{Rows, Scratch};
//!
//! let mut belief = Linear::new(2, Features::Constant, 1.0)?;
//! for (x, y) in [([1.0, 0.0], 3.0), ([0.0, 1.0], 1.0), ([1.0, 1.0], 4.0)] {
//!     belief.learn(&x, y);
//! }
//! let mut scratch = Scratch::default();
//! belief.predict(Rows::new(2, &[0.5, 0.5, 9.0, 9.0])?, 1.0, &mut scratch);
//! let [near, far] = scratch.scores() else { panic!() };
//! assert!(near.width < far.width);
//! # Ok::<(), reluctant::Error>(())
//! ```

mod averaged;
mod each;
mod either_or;
mod ensemble;
mod features;
mod forgetting;
mod gaussian_process;
mod gradient_heads;
mod heads;
mod ladder;
mod last_layer;
mod linear;
mod network_gradients;
mod paired;
pub(crate) mod plausible;
mod walk;

use std::fmt;

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::choice::Score;
use crate::error::{Error, Result};
use crate::offer::Rows;
use crate::rng::{Key, Purpose, normal};
use crate::scratch::Scratch;

pub use averaged::Averaged;
pub use each::Each;
pub use either_or::EitherOr;
pub use ensemble::Ensemble;
pub(crate) use ensemble::{MEMBERS, PRIOR};
pub use features::Features;
pub(crate) use features::{DEGREE, FEATURES, check_features};
pub(crate) use forgetting::DISCOUNT;
pub(crate) use gaussian_process::{BIAS, BUDGET, DEPTH, KERNEL, LEEWAY, LENGTH, SIGMA, VARIANCE};
pub use gaussian_process::{GaussianProcess, GaussianProcesses};
pub use gradient_heads::GradientHeads;
pub use heads::{Asked, Heads};
pub use ladder::{Ladder, LadderStep};
pub use last_layer::LastLayer;
pub(crate) use last_layer::{LAMBDA, Noise, Theorem};
pub use linear::Linear;
pub(crate) use linear::add_draw;
pub use network_gradients::NetworkGradients;
pub(crate) use network_gradients::{NETWORK_GRADIENTS, contexts_lambda, contexts_scale};
pub use paired::Paired;
pub use plausible::{PlausibleNetworks, PlausibleOptions};
pub use walk::Walk;

/// What a policy knows of the rewards of vectors x.
///
/// Rows and observations are of its dimension and finite: policies check what comes from outside before they hand it
/// on.
pub trait Belief: fmt::Debug + Send + Sync {
    /// What kind of belief it is, in a word or two.
    fn kind(&self) -> &'static str;

    /// What it takes rewards for, in words.
    fn describe(&self) -> String {
        self.kind().to_owned()
    }

    /// The dimension of x.
    fn dim(&self) -> usize;

    /// Learns that x was rewarded with y.
    fn learn(&mut self, x: &[f64], y: f64);

    /// The mean of every row, and `scale` times its spread, into [`Scratch::scores`]. The spread is a standard
    /// deviation, in units of [`Belief::unit`].
    fn predict(&self, rows: Rows<'_>, scale: f64, scratch: &mut Scratch);

    /// The values at every row of one function drawn from the belief: [`Scratch::values`]. Its distance from
    /// the mean is `scale` times that of a draw in units of [`Belief::unit`]. The same key draws the same
    /// function, whatever the rows.
    fn draw(&self, rows: Rows<'_>, scale: f64, key: Key, scratch: &mut Scratch);

    /// The prediction at one x, and a value drawn there: all that is needed of a function that is asked for nothing
    /// else. The value of a Gaussian belief is normal.
    fn draw_at(&self, x: &[f64], scale: f64, key: Key, scratch: &mut Scratch) -> (Score, f64) {
        self.predict(Rows::trusted(self.dim(), x), scale, scratch);
        let score = scratch.scores.first().copied().unwrap_or_default();
        (score, score.mean + score.width * normal(&mut key.purpose(Purpose::Choice).stream()))
    }

    /// What a spread is multiplied with to be a standard deviation in the units of rewards: the noise level, where
    /// spreads are relative to it and the belief knows it, else 1.
    fn unit(&self) -> f64 {
        1.0
    }

    /// Mean and standard deviation at x.
    fn explain(&self, x: &[f64], scratch: &mut Scratch) -> (f64, f64) {
        self.predict(Rows::trusted(self.dim(), x), self.unit(), scratch);
        scratch.scores.first().map_or((0.0, 0.0), |score| (score.mean, score.width))
    }

    /// What is amiss, if something is.
    fn warning(&self) -> Option<String> {
        None
    }

    /// The linear function, if it is one whose weights can be read.
    fn as_linear(&self) -> Option<&Linear> {
        None
    }

    /// The whole state; [`restore`] reads it back.
    fn save(&self) -> Result<serde_json::Value>;
}

/// A belief's state as [`Belief::save`] gives it.
pub(crate) fn state(belief: &impl Serialize) -> Result<serde_json::Value> {
    serde_json::to_value(belief).map_err(|cause| Error::Snapshot { reason: cause.to_string() })
}

/// The belief that was saved: it goes on to the bit.
pub fn restore<B: Belief + DeserializeOwned>(state: serde_json::Value) -> Result<B> {
    serde_json::from_value(state).map_err(|cause| Error::Snapshot { reason: cause.to_string() })
}

/// The belief that was saved, if its parts fit together.
pub(crate) fn restore_if<B: DeserializeOwned>(state: serde_json::Value, consistent: fn(&B) -> bool) -> Result<B> {
    let belief = serde_json::from_value(state).map_err(|cause| Error::Snapshot { reason: cause.to_string() })?;
    if consistent(&belief) { Ok(belief) } else { Err(Error::Snapshot { reason: "its parts do not fit".to_owned() }) }
}
