//! Bandits for rewards with ReLU structure.
//!
//! Each round offers arms x on the unit sphere; the reward of the chosen one is Σᵢ max(0, θᵢ·x) plus noise, with
//! unknown neurons θᵢ. This crate implements "Stochastic Bandits with ReLU Neural Networks" (Xu, Bastani, Goel and
//! Bastani, ICML 2024): its algorithms OFU-ReLU and OFU-ReLU+, its baselines OFUL and NeuralUCB, its estimator, and its
//! statements as functions. It has no files, clocks, threads, printing or global state: whoever embeds it brings those.
//!
//! # A tour
//!
//! A [`Policy`] chooses and learns. `select` never learns, `update` takes any past choice, late or out of order.
//!
//! ```
//! use reluctant::{Key, Offer, Scratch, Settings, policy};
//!
//! // Rewards that the policy does not know: two neurons, the two axes of the plane.
//! let reward = |x: &[f64]| x[0].max(0.0) + x[1].max(0.0);
//!
//! // 36 arms around the circle, row after row.
//! let arms: Vec<f64> = (0..36).flat_map(|i| { let a = f64::from(i) * 0.1745; [a.cos(), a.sin()] }).collect();
//!
//! let key = Key::new(1);
//! let settings = Settings::new().with("neurons", 2u64).with("explore", 15u64).with("sigma", 0.01);
//! let mut policy = policy::build("ofu-relu", 2, &settings, key)?;
//! let mut scratch = Scratch::default();
//! let mut last = 0.0;
//! for round in 0..60 {
//!     let choice = policy.select(Offer::finite(2, &arms)?, key.round(round), &mut scratch)?;
//!     last = reward(&choice.action);
//!     policy.update(&choice.action, last)?;
//! }
//! assert!(last > 1.4); // the best is √2, on the diagonal
//! # Ok::<(), reluctant::Error>(())
//! ```
//!
//! # The rooms
//!
//! | module | what it holds |
//! | --- | --- |
//! | [`offer`], [`choice`], [`action`] | what is on offer in a round, what was chosen, what is learnt |
//! | [`policy`] | the contract and the registry, then one policy a file |
//! | [`registry`], [`entry`] | the policies and environments that a program knows |
//! | [`mod@env`], [`round`] | environments that never see the learner, one a file, and the rounds that they give |
//! | [`mod@play`] | one trial: a policy meets an environment |
//! | [`belief`] | what a policy knows, apart from how it acts |
//! | [`ellipsoid`] | ridge regression with its confidence set |
//! | [`relu`] | networks, activation patterns, the features x† and x‡ |
//! | [`activation`], [`piecewise`] | the kink, and every one-layer network with piecewise-linear activations |
//! | [`frozen`] | the linear regime: a network whose activations are frozen |
//! | [`estimate`] | the empirical-risk minimiser, and matching neurons with the truth |
//! | [`theory`] | the paper's statements in numbers |
//! | [`conformance`] | the checks that every policy must pass |
//! | [`params`], [`rng`], [`error`], [`limits`], [`linalg`] | parameters as data, keyed randomness, errors, small dense matrices |
//!
//! Numbers are `f64`, and every result is the same to the bit on every machine: randomness is named by a [`Key`], and
//! no arithmetic depends on the instruction set or on the platform's mathematical library.

#![cfg_attr(not(test), warn(clippy::disallowed_methods))]

/// The example of the crate's README, run as a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
pub struct Readme;

pub mod action;
pub mod activation;
pub mod belief;
pub mod choice;
pub mod conformance;
pub mod ellipsoid;
pub mod entry;
pub mod env;
pub mod error;
pub mod estimate;
pub mod frozen;
pub mod geometry;
mod gp;
mod instructions;
mod kernels;
pub mod limits;
pub mod linalg;
mod network;
pub mod offer;
pub mod params;
mod patterns;
pub mod piecewise;
pub mod play;
pub mod policy;
pub mod registry;
pub mod relu;
pub mod rng;
pub mod round;
#[cfg(test)]
mod same_bits;
mod scratch;
mod spare;
pub mod theory;

/// What results depend on besides settings and keys: counted up whenever published bits change. The
/// lab does not mix results of two.
pub const BEHAVIOUR: u32 = 12;

pub use action::Action;
pub use activation::Activation;
pub use choice::{Certificate, Choice, Score};
pub use ellipsoid::{Confidence, Ellipsoid};
pub use env::Environment;
pub use error::{Error, Result};
pub use frozen::FrozenRelu;
pub use offer::{Context, Name, Offer, Rows, Space};
pub use params::{Literal, Params, Settings, Value};
pub use piecewise::PiecewiseNet;
pub use play::{play, play_together};
pub use policy::{Policy, Propensity, Snapshot};
pub use registry::Registry;
pub use relu::ReluNet;
pub use rng::{Key, Purpose, Stream};
pub use round::{Means, Noise, Round, RoundMemory, SphereReward};
pub use scratch::Scratch;
