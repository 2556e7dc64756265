//! Environments: sources of rounds that never see the learner.
//!
//! [`Environment`] is the contract, [`BUILT_IN`] the list of those that come with the crate. What an environment offers
//! in round t depends on its key and on t alone, so every policy meets the same offers and the same noise.

mod contexts;
mod deep;
mod drifting;
mod linear_sphere;
mod noise;
mod number_list;
mod relu_sphere;
mod round_list;
mod shape;
mod sphere_arms;

use std::fmt;
use std::sync::Arc;

use crate::entry::{self, Row};
use crate::error::{Error, Result};
use crate::offer::Space;
use crate::params::{Literal, Param, Params, Settings, Value};
use crate::rng::Key;
use crate::round::{Round, RoundMemory};

pub use contexts::Contexts;
pub use deep::Deep;
pub use drifting::Drifting;
pub use linear_sphere::LinearSphere;
pub use relu_sphere::ReluSphere;

/// Every environment that is built in.
pub static BUILT_IN: &[Entry] =
    &[relu_sphere::ENTRY, deep::ENTRY, linear_sphere::ENTRY, contexts::ENTRY, drifting::ENTRY];

/// A source of rounds.
///
/// The contract: `round(t)` is a function of the environment's key and of t alone. It may be asked for any round, any
/// number of times, in any order and from several threads.
///
/// ```
/// use reluctant::{Environment, Means, Noise, Offer, Result, Round, RoundMemory, Space};
///
/// /// Two buttons, of which the second pays 1 and the first nothing.
/// #[derive(Debug)]
/// struct Buttons;
///
/// impl Environment for Buttons {
///     fn space(&self) -> Space {
///         Space::Vectors { dim: 2 }
///     }
///
///     fn round<'a>(&'a self, _: u64, _: &'a mut RoundMemory) -> Result<Round<'a>> {
///         let offer = Offer::finite(2, &[1.0, 0.0, 0.0, 1.0])?;
///         Ok(Round { offer, means: Means::Each(&[0.0, 1.0]), noise: Noise::Added(0.0) })
///     }
/// }
///
/// let mut memory = RoundMemory::default();
/// assert!(matches!(Buttons.round(1, &mut memory)?.means, Means::Each(&[0.0, 1.0])));
/// # Ok::<(), reluctant::Error>(())
/// ```
pub trait Environment: fmt::Debug + Send + Sync {
    /// What is on offer: vectors of which dimension, or contexts.
    fn space(&self) -> Space;

    /// Round `t`, from 1. What it holds lies in the environment or in `memory`.
    fn round<'a>(&'a self, t: u64, memory: &'a mut RoundMemory) -> Result<Round<'a>>;

    /// How many rounds there are; `None` if they never end.
    fn rounds(&self) -> Option<u64> {
        None
    }

    /// A fingerprint of what its rounds depend on besides its parameters and its key: the content of a file, say.
    fn content(&self) -> Option<String> {
        None
    }

    /// What an experiment may tell a policy: facts named like the parameters that want them; `sigma_at_most` where no
    /// more than a bound on `sigma` is known; and [`UNIT_NEURONS`].
    fn facts(&self) -> Vec<(&'static str, Value)> {
        Vec::new()
    }

    /// What distinguishes it, in a few words above a figure; `None`: its parameters `dim` and `neurons`.
    fn title(&self) -> Option<String> {
        None
    }
}

/// The fact that says the number of neurons again, where all of them are as in the paper, of unit length and added.
pub const UNIT_NEURONS: &str = "unit_neurons";

/// How an environment is made from checked parameters; the key names seed and trial.
#[derive(Clone)]
pub enum Build {
    /// By a function.
    Plain(fn(params: &Params, key: Key) -> Result<Box<dyn Environment>>),
    /// By whatever a program brings when it runs.
    Own(Arc<OwnBuild>),
}

/// What makes an environment that a program brings when it runs.
pub type OwnBuild = dyn Fn(&Params, Key) -> Result<Box<dyn Environment>> + Send + Sync;

/// A row of the registry.
#[derive(Clone)]
pub struct Entry {
    /// The environment's name.
    pub name: &'static str,
    /// What it is, in one line.
    pub summary: &'static str,
    /// Where it comes from.
    pub citation: &'static str,
    /// Its parameters.
    pub params: &'static [Param],
    /// Configurations that are tested; those of what reads files are without them.
    pub samples: &'static [Sample],
    /// Makes one.
    pub build: Build,
}

/// A configuration that is tested.
#[derive(Debug, Clone, Copy)]
pub struct Sample {
    /// Its name.
    pub name: &'static str,
    /// The settings that differ from the defaults.
    pub settings: &'static [(&'static str, Literal)],
}

impl Sample {
    /// The settings as a user would give them.
    pub fn settings(&self) -> Settings {
        let mut settings = Settings::new();
        self.settings.iter().for_each(|(name, literal)| settings.set(name, *literal));
        settings
    }
}

impl Entry {
    /// Makes one with these settings; `key` names seed and trial.
    pub fn build(&self, settings: &Settings, key: Key) -> Result<Box<dyn Environment>> {
        let params = Params::resolve(self.name, self.params, settings)?;
        match &self.build {
            Build::Plain(build) => {
                let environment = build(&params, key)?;
                self.refuse_unread(settings, &params)?;
                Ok(environment)
            }
            Build::Own(build) => build(&params, key),
        }
    }

    /// Whoever gives a parameter that is not read, such as a slope for an activation that has none, wants another
    /// world than this. To write a default out does no harm.
    fn refuse_unread(&self, settings: &Settings, params: &Params) -> Result<()> {
        let (all, used) = (params.complete(), params.used());
        for param in self.params.iter().filter(|param| settings.get(param.name).is_some()) {
            let value = all.get(param.name).filter(|value| param.initial.value().as_ref() != Some(*value));
            if let (Some(value), None) = (value, used.get(param.name)) {
                return Err(Error::NoEffect { name: param.name, value: value.to_string(), meaning: param.doc });
            }
        }
        Ok(())
    }
}

impl Row for Entry {
    const KIND: &'static str = "environment";

    fn name(&self) -> &'static str {
        self.name
    }

    fn summary(&self) -> &'static str {
        self.summary
    }

    fn citation(&self) -> &'static str {
        self.citation
    }

    fn params(&self) -> &'static [Param] {
        self.params
    }
}

impl fmt::Debug for Entry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Entry").field("name", &self.name).finish_non_exhaustive()
    }
}

/// The built-in environment `name`, or an error that suggests the nearest name.
pub fn find(name: &str) -> Result<&'static Entry> {
    entry::find(BUILT_IN, name)
}

/// Makes the built-in environment `name`.
///
/// ```
/// use reluctant::{Key, RoundMemory, Settings, env};
/// let settings = Settings::new().with("dim", 2u64).with("neurons", 3u64).with("arms", 100u64);
/// let environment = env::build("relu-sphere", &settings, Key::new(1))?;
/// let mut memory = RoundMemory::default();
/// assert_eq!(environment.round(1, &mut memory)?.offer.count(), Some(100));
/// # Ok::<(), reluctant::Error>(())
/// ```
pub fn build(name: &str, settings: &Settings, key: Key) -> Result<Box<dyn Environment>> {
    find(name)?.build(settings, key)
}
