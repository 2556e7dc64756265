//! Environments: streams of rounds that never see the learner.
//!
//! [`Environment`] is the contract, [`REGISTRY`] the list. What an environment offers in round t depends on its key and on t
//! alone, so every policy meets the same arms and the same noise.

mod linear_sphere;
mod noise;
mod relu_sphere;
mod sphere_arms;

use std::fmt;

use crate::arms::{Arms, Rows};
use crate::error::{Error, Result};
use crate::params::{Param, Params, Settings, Value};
use crate::relu::ReluNet;
use crate::rng::Key;

pub use linear_sphere::LinearSphere;
pub use relu_sphere::ReluSphere;

/// Every environment there is.
pub const REGISTRY: &[Entry] = &[relu_sphere::ENTRY, linear_sphere::ENTRY];

/// A stream of rounds: arms, hidden mean rewards, noise.
pub trait Environment: fmt::Debug + Send + Sync {
    /// The dimension of an action.
    fn dim(&self) -> usize;

    /// The arms of a round, written to `buffer` if they are finite.
    fn arms<'a>(&self, round: u64, buffer: &'a mut Vec<f64>) -> Arms<'a>;

    /// The mean reward of an action, hidden from policies.
    fn mean(&self, action: &[f64]) -> f64;

    /// The mean reward of every arm, into `out`.
    fn means(&self, rows: Rows<'_>, out: &mut Vec<f64>) {
        out.clear();
        out.extend(rows.iter().map(|x| self.mean(x)));
    }

    /// The greatest mean reward on the whole unit sphere and the average one, for environments that offer it.
    fn sphere_means(&self) -> Option<SphereMeans> {
        None
    }

    /// The noise of a round, the same whichever action is chosen.
    fn noise(&self, round: u64) -> f64;

    /// What an experiment may tell a policy: facts named like the parameters that want them.
    fn facts(&self) -> Vec<(&'static str, Value)>;

    /// The network behind the rewards, where there is one: a mean reward is its value plus [`Environment::offset`].
    fn network(&self) -> Option<&ReluNet> {
        None
    }

    /// The constant that is added to the network's value.
    fn offset(&self) -> f64 {
        0.0
    }
}

/// What regret on the whole sphere is measured against.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SphereMeans {
    /// f*, the greatest mean reward.
    pub best: f64,
    /// The mean reward of a uniformly random action.
    pub average: f64,
}

/// A row of the registry.
#[derive(Clone, Copy)]
pub struct Entry {
    /// The environment's name.
    pub name: &'static str,
    /// What it is, in one line.
    pub summary: &'static str,
    /// Where it comes from.
    pub citation: &'static str,
    /// Its parameters.
    pub params: &'static [Param],
    /// Makes one from checked parameters; `key` names seed and trial.
    pub build: fn(params: &Params, key: Key) -> Result<Box<dyn Environment>>,
}

impl fmt::Debug for Entry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Entry").field("name", &self.name).finish_non_exhaustive()
    }
}

/// The registry's row for `name`, or an error that suggests the nearest name.
pub fn find(name: &str) -> Result<&'static Entry> {
    let known = || REGISTRY.iter().map(|entry| entry.name);
    REGISTRY.iter().find(|entry| entry.name == name).ok_or_else(|| Error::unknown("environment", name, known()))
}

/// Makes the environment `name`.
///
/// ```
/// use reluctant::{Key, Settings, env};
/// let settings = Settings::new().with("dim", 2u64).with("neurons", 3u64).with("arms", 100u64);
/// let world = env::build("relu-sphere", &settings, Key::new(1))?;
/// let mut buffer = Vec::new();
/// assert_eq!(world.arms(1, &mut buffer).dim(), 2);
/// # Ok::<(), reluctant::Error>(())
/// ```
pub fn build(name: &str, settings: &Settings, key: Key) -> Result<Box<dyn Environment>> {
    let entry = find(name)?;
    let params = Params::resolve(name, entry.params, settings)?;
    (entry.build)(&params, key)
}
