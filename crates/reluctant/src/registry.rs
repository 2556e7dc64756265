//! The policies and environments that a program knows ([`Registry`]): the built-in ones, and whatever it adds.
//!
//! A registry is a value. The built-in one is the default; a program adds a policy or an environment of its own in one
//! line and hands the registry to the lab, whose experiments can then name, tune, resume and report it.
//!
//! ```
//! use reluctant::{Key, Registry, Settings, policy};
//!
//! // The built-in `oful` under another name; usually an `Entry` of one's own.
//! let mine = policy::Entry { name: "mine", ..policy::find("oful")?.clone() };
//! let registry = Registry::default().with_policy(mine);
//! let policy = registry.build_policy("mine", 2, &Settings::new(), Key::new(1))?;
//! assert_eq!(policy.dim(), 2);
//! # Ok::<(), reluctant::Error>(())
//! ```

use crate::entry::{Row, find};
use crate::env::{self, Environment};
use crate::error::Result;
use crate::offer::Space;
use crate::params::Settings;
use crate::policy::{self, Policy, Snapshot};
use crate::rng::Key;

/// The policies and environments that a program knows.
#[derive(Debug, Clone)]
pub struct Registry {
    policies: Vec<policy::Entry>,
    environments: Vec<env::Entry>,
}

impl Default for Registry {
    /// Everything that is built in.
    fn default() -> Self {
        Registry { policies: policy::BUILT_IN.to_vec(), environments: env::BUILT_IN.to_vec() }
    }
}

impl Registry {
    /// Knows nothing.
    pub fn empty() -> Self {
        Registry { policies: Vec::new(), environments: Vec::new() }
    }

    /// The same with one more policy. One of the same name is replaced.
    #[must_use]
    pub fn with_policy(mut self, entry: policy::Entry) -> Self {
        add(&mut self.policies, entry);
        self
    }

    /// The same with one more environment. One of the same name is replaced.
    #[must_use]
    pub fn with_environment(mut self, entry: env::Entry) -> Self {
        add(&mut self.environments, entry);
        self
    }

    /// Every policy, in the order in which they are listed.
    pub fn policies(&self) -> &[policy::Entry] {
        &self.policies
    }

    /// Every environment, in the order in which they are listed.
    pub fn environments(&self) -> &[env::Entry] {
        &self.environments
    }

    /// The policy of this name, or an error that suggests the nearest name.
    pub fn policy(&self, name: &str) -> Result<&policy::Entry> {
        find(&self.policies, name)
    }

    /// The environment of this name, or an error that suggests the nearest name.
    pub fn environment(&self, name: &str) -> Result<&env::Entry> {
        find(&self.environments, name)
    }

    /// Makes the policy `name` for actions or contexts of this space; a number is a dimension of vectors.
    pub fn build_policy(
        &self,
        name: &str,
        space: impl Into<Space>,
        settings: &Settings,
        key: Key,
    ) -> Result<Box<dyn Policy>> {
        self.policy(name)?.build(space, settings, key)
    }

    /// Makes the environment `name`; `key` names seed and trial.
    pub fn build_environment(&self, name: &str, settings: &Settings, key: Key) -> Result<Box<dyn Environment>> {
        self.environment(name)?.build(settings, key)
    }

    /// The policy behind a snapshot, exactly as it was.
    pub fn restore(&self, snapshot: Snapshot) -> Result<Box<dyn Policy>> {
        self.policy(&snapshot.policy)?.restore(snapshot)
    }
}

fn add<R: Row>(rows: &mut Vec<R>, row: R) {
    match rows.iter_mut().find(|known| known.name() == row.name()) {
        Some(known) => *known = row,
        None => rows.push(row),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_added_is_found_and_what_has_the_same_name_replaced() {
        let mine = policy::Entry { name: "mine", ..policy::find("oful").unwrap().clone() };
        let registry = Registry::default().with_policy(mine.clone());
        assert_eq!(registry.policies().len(), policy::BUILT_IN.len() + 1);
        let again = registry.with_policy(policy::Entry { summary: "newer", ..mine });
        assert_eq!(again.policies().len(), policy::BUILT_IN.len() + 1);
        assert_eq!(again.policy("mine").unwrap().summary, "newer");
        let said = again.policy("mien").unwrap_err().to_string();
        assert_eq!(said, "unknown policy 'mien'; did you mean 'mine'?");
        assert!(Registry::empty().environment("relu-sphere").is_err());
    }
}
