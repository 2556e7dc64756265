//! A row of the registry of policies: name, citation, parameters, samples, and how one is made and restored.

use std::fmt;
use std::sync::Arc;

use super::in_blocks::InBlocks;
use super::joined::{JOIN, Join, Joined};
use super::mixed::{CHANCE, EXPLORE, Mixed};
use super::per_action::{Models, PerAction};
use super::shared::{Shared, SharedModel};
use super::snapshot::inconsistent;
use super::{Form, Policy, Snapshot};
use crate::entry::Row;
use crate::error::{Error, Result};
use crate::limits::MAX_FEATURES;
use crate::offer::Space;
use crate::params::{Literal, Param, Params, Settings, Value};
use crate::rng::Key;

/// The parameters that every policy takes besides its own.
pub const COMMON: &[Param] = &[JOIN, CHANCE];

/// A row of the registry.
#[derive(Clone)]
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
    /// How it takes contexts with named actions.
    pub contexts: Contexts,
    /// Configurations on which the conformance suite runs it.
    pub samples: &'static [Sample],
    /// Makes one from checked parameters.
    pub build: Build,
    /// Restores one from the state of a snapshot.
    pub restore: Restore,
}

/// How a policy takes contexts with named actions that have no features of their own.
#[derive(Debug, Clone, Copy)]
pub enum Contexts {
    /// Each action has a policy of its own, which sees the context as its only arm; the action that appeals most is
    /// chosen.
    ModelEach,
    /// One belief for all actions: what they share is learnt once, and each has a head of its own.
    Shared(SharedModel),
    /// The same; and rows that are one context in blocks, an action each, are taken for contexts
    /// (`policy/in_blocks`), unless other settings are given than these, which the belief reads.
    SharedInBlocks(SharedModel, &'static [&'static str]),
    /// It chooses from contexts by itself.
    Itself,
    /// It does not, and this says why.
    Refused(&'static str),
}

/// How a policy is made from checked parameters, for vectors of dimension `dim`.
#[derive(Clone)]
pub enum Build {
    /// By a function.
    Plain(fn(dim: usize, params: &Params, key: Key) -> Result<Box<dyn Policy>>),
    /// By whatever a program brings when it runs.
    Own(Arc<OwnBuild>),
}

/// What makes a policy that a program brings when it runs.
pub type OwnBuild = dyn Fn(usize, &Params, Key) -> Result<Box<dyn Policy>> + Send + Sync;

/// How a policy is restored from the state of a snapshot.
#[derive(Clone)]
pub enum Restore {
    /// By a function.
    Plain(fn(state: serde_json::Value) -> Result<Box<dyn Policy>>),
    /// By whatever a program brings when it runs.
    Own(Arc<OwnRestore>),
}

/// What restores a policy that a program brings when it runs.
pub type OwnRestore = dyn Fn(serde_json::Value) -> Result<Box<dyn Policy>> + Send + Sync;

impl Entry {
    /// Makes one for a space, with these settings.
    pub fn build(&self, space: impl Into<Space>, settings: &Settings, key: Key) -> Result<Box<dyn Policy>> {
        self.build_and_identify(space, settings, key).map(|(policy, _)| policy)
    }

    /// The same; with it come the settings that were read while it was made, defaults included. They identify the
    /// policy: two with the same are the same.
    pub fn build_and_identify(
        &self,
        space: impl Into<Space>,
        settings: &Settings,
        key: Key,
    ) -> Result<(Box<dyn Policy>, Settings)> {
        let (space, settings) = (space.into(), &self.spelled(settings)?);
        let params = self.resolve(settings)?;
        let policy = self.build_for(space, &params, settings, key)?;
        let policy = Mixed::wrap(policy, &params, settings)?;
        Ok((policy, params.used()))
    }

    /// The value of every parameter that a policy made so has: given, default or computed. What the policy finds out
    /// from rewards is not among them.
    pub fn in_use(&self, space: impl Into<Space>, settings: &Settings, key: Key) -> Result<Settings> {
        let params = self.resolve(settings)?;
        self.build_for(space.into(), &params, settings, key)?;
        Ok(params.in_use())
    }

    /// The settings with every default, checked.
    pub fn resolve(&self, settings: &Settings) -> Result<Params> {
        let table: Vec<Param> = self.params.iter().chain(COMMON).copied().collect();
        Params::resolve(self.name, &table, &self.spelled(settings)?)
    }

    /// The second name of a parameter that this policy takes, unless one of its own has it.
    pub fn second_name(&self) -> Option<Param> {
        (!self.params.iter().any(|param| param.name == EXPLORE.name)).then_some(EXPLORE)
    }

    /// The settings with every parameter under its first name, so that the same policy has the same settings.
    pub fn spelled(&self, settings: &Settings) -> Result<Settings> {
        let Some((second, value)) = self.second_name().and_then(|second| Some((second, settings.get(second.name)?)))
        else {
            return Ok(settings.clone());
        };
        if settings.get(CHANCE.name).is_some() {
            return Err(Error::GivenTwice { name: second.name, first: CHANCE.name });
        }
        let mut spelled = settings.clone().only(|name| name != second.name);
        // Checked here, so that an error has the name that was given.
        if let Some(value) = second.check(value)? {
            spelled.set(CHANCE.name, value);
        }
        Ok(spelled)
    }

    fn build_for(&self, space: Space, params: &Params, settings: &Settings, key: Key) -> Result<Box<dyn Policy>> {
        check_dim(space.dim())?;
        match (space, self.contexts) {
            (Space::Vectors { dim } | Space::Contexts { dim, .. }, Contexts::Itself) => {
                self.build_plain(dim, params, key)
            }
            (Space::Vectors { dim }, Contexts::SharedInBlocks(_, read)) if !self.tells_more(settings, read) => {
                let rows = self.build_plain(dim, params, key)?;
                Ok(Box::new(InBlocks::new(self.clone(), settings.clone(), key, rows)))
            }
            (Space::Vectors { dim }, _) => self.build_plain(dim, params, key),
            (Space::Contexts { dim, action_dim: 0 }, Contexts::ModelEach) => {
                let models = ModelEach { entry: self.clone(), dim, settings: settings.clone() };
                // One is made at once: it says what an action is thought of that was never tried, and what cannot be
                // made is known now.
                let untried = self.build_plain(dim, params, key)?;
                Ok(Box::new(PerAction::new(self.name, Arc::new(models), settings.clone(), key, untried)))
            }
            (Space::Contexts { dim, action_dim: 0 }, Contexts::Shared(model) | Contexts::SharedInBlocks(model, _)) => {
                self.build_shared(model, dim, params, key)
            }
            (Space::Contexts { action_dim: 0, .. }, Contexts::Refused(reason)) => {
                Err(Error::NoContexts { policy: self.name, reason })
            }
            (Space::Contexts { dim, action_dim }, _) => {
                let join = Join::read(params, dim, action_dim)?;
                check_dim(join.joined_dim())?;
                Ok(Box::new(Joined::new(join, self.build_plain(join.joined_dim(), params, key)?)))
            }
        }
    }

    /// Whether parameters are given besides these and those of all policies.
    fn tells_more(&self, settings: &Settings, read: &[&str]) -> bool {
        let mut others = self.params.iter().filter(|param| !read.contains(&param.name));
        // "auto" says as much as nothing.
        others.any(|param| settings.get(param.name).is_some_and(|value| !matches!(param.check(value), Ok(None))))
    }

    /// Makes one for contexts with named actions.
    fn build_shared(&self, model: SharedModel, dim: usize, params: &Params, key: Key) -> Result<Box<dyn Policy>> {
        let (belief, rule) = (model.build)(dim, params, key)?;
        Ok(Box::new(Shared::new(self.name, belief, rule)))
    }

    /// Makes one for contexts with named actions, which leaves nothing to chance.
    pub(super) fn build_for_contexts(&self, dim: usize, settings: &Settings, key: Key) -> Result<Box<dyn Policy>> {
        self.build_for(Space::contexts(dim), &self.resolve(settings)?, settings, key)
    }

    /// Makes one for vectors.
    fn build_plain(&self, dim: usize, params: &Params, key: Key) -> Result<Box<dyn Policy>> {
        match &self.build {
            Build::Plain(build) => build(dim, params, key),
            Build::Own(build) => build(dim, params, key),
        }
    }

    /// The policy behind a snapshot, exactly as it was.
    pub fn restore(&self, snapshot: Snapshot) -> Result<Box<dyn Policy>> {
        snapshot.check_format()?;
        let chance = snapshot.chance;
        let policy = self.restore_form(snapshot)?;
        Ok(Mixed::of(policy, chance))
    }

    fn restore_form(&self, snapshot: Snapshot) -> Result<Box<dyn Policy>> {
        match snapshot.form {
            Form::Vectors => self.restore_plain(snapshot.state),
            Form::Blocks => Ok(Box::new(InBlocks::restore(self.clone(), snapshot.state)?)),
            Form::Joined => Ok(Box::new(Joined::restore(snapshot.state, |state| self.restore_plain(state))?)),
            Form::Shared => match self.contexts {
                Contexts::Shared(model) | Contexts::SharedInBlocks(model, _) => {
                    Ok(Box::new(Shared::restore(self.name, snapshot.state, model)?))
                }
                _ => Err(inconsistent()),
            },
            Form::PerAction => {
                let models = |dim, settings: &Settings| -> Result<Arc<dyn Models>> {
                    self.resolve(settings)?;
                    Ok(Arc::new(ModelEach { entry: self.clone(), dim, settings: settings.clone() }))
                };
                Ok(Box::new(PerAction::restore(self.name, snapshot.state, models)?))
            }
        }
    }

    /// Restores one that was made for vectors.
    fn restore_plain(&self, state: serde_json::Value) -> Result<Box<dyn Policy>> {
        match &self.restore {
            Restore::Plain(restore) => restore(state),
            Restore::Own(restore) => restore(state),
        }
    }
}

/// The policies of the actions, all made alike.
struct ModelEach {
    entry: Entry,
    dim: usize,
    settings: Settings,
}

impl Models for ModelEach {
    fn dim(&self) -> usize {
        self.dim
    }

    fn make(&self, key: Key) -> Result<Box<dyn Policy>> {
        self.entry.build_plain(self.dim, &self.entry.resolve(&self.settings)?, key)
    }

    fn restore(&self, state: serde_json::Value) -> Result<Box<dyn Policy>> {
        self.entry.restore_plain(state)
    }
}

fn check_dim(dim: usize) -> Result<()> {
    if (1..=MAX_FEATURES).contains(&dim) {
        return Ok(());
    }
    Err(Error::out_of_range("dim", dim, format!("1 to {MAX_FEATURES}")))
}

impl Row for Entry {
    const KIND: &'static str = "policy";

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

/// A configuration on which the conformance suite runs a policy.
#[derive(Debug, Clone, Copy)]
pub struct Sample {
    /// Its name in the list of tests.
    pub name: &'static str,
    /// The environment that suits it.
    pub environment: &'static str,
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

/// Fills in what an experiment's environment tells (number of neurons, noise) where the table marks a parameter as told
/// and the user gave no value. A fact `name_at_most` is told to those who are content with a bound on `name`.
pub fn tell<N: AsRef<str>>(entry: &Entry, settings: &Settings, facts: &[(N, Value)]) -> Settings {
    let mut told = settings.clone();
    for (fact, value) in facts.iter().map(|(name, value)| (name.as_ref(), value)) {
        let (name, bound) = fact.strip_suffix("_at_most").map_or((fact, false), |name| (name, true));
        let wanted = |param: &&Param| param.told == Some(name) && (param.bound || !bound);
        for param in entry.params.iter().filter(wanted).filter(|param| settings.get(param.name).is_none()) {
            told.set(param.name, value.clone());
        }
    }
    told
}
