//! The checks that every policy must pass, for the policies of this crate and for anyone's own; [`environments`] has
//! those for environments.
//!
//! A [`Subject`] is a policy under test: how to make it, how to restore it, and an environment that suits it.
//! [`CHECKS`] is the list; [`run`] runs one. The crate's own tests run every registered policy × sample
//! configuration × check under its own name.
//!
//! ```
//! use reluctant::conformance::{CHECKS, Outcome, Subject, run};
//! use reluctant::{Settings, Snapshot, policy};
//!
//! let mine = Subject::new("mine", |space, key| policy::build("oful", space, &Settings::new(), key), Snapshot::restore)
//!     .in_environment("linear-sphere", Settings::new().with("arms", 30u64))
//!     .on_sphere(true);
//! for check in CHECKS {
//!     assert_eq!(run(&mine, check), Outcome::Passed, "{}: {}", check.name, check.why);
//! }
//! ```

mod choosing;
pub mod environments;
mod game;
mod learning;
mod propensities;
mod saving;

use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::env::Environment;
use crate::error::Result;
use crate::offer::Space;
use crate::params::Settings;
use crate::policy::{self, Policy, Sample, Snapshot};
use crate::registry::Registry;
use crate::rng::Key;

/// One thing that every policy must do.
#[derive(Clone, Copy)]
#[non_exhaustive]
pub struct Check {
    /// Its name in the list of tests.
    pub name: &'static str,
    /// Why it matters, in one sentence.
    pub why: &'static str,
    /// What went wrong, if something did.
    pub run: fn(&Subject) -> std::result::Result<(), String>,
}

impl fmt::Debug for Check {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Check").field("name", &self.name).finish_non_exhaustive()
    }
}

/// Every check there is.
pub static CHECKS: &[Check] = &[
    Check {
        name: "arm_in_range",
        why: "a choice names a row on offer, is that row, and says with which probability it was made",
        run: choosing::arm_in_range,
    },
    Check {
        name: "propensities_match_frequencies",
        why: "a log can only be evaluated if choices are made as often as their propensities say",
        run: propensities::propensities_match_frequencies,
    },
    Check {
        name: "wrong_dimension_refused",
        why: "arms of another dimension are a mistake of the caller, never a score",
        run: choosing::wrong_dimension_refused,
    },
    Check {
        name: "degenerate_arms_stay_finite",
        why: "a single arm, equal arms and zero arms all occur in practice",
        run: choosing::degenerate_arms_stay_finite,
    },
    Check {
        name: "sphere_as_declared",
        why: "whoever offers the whole sphere gets a point of it, or is told that the policy cannot choose there",
        run: choosing::sphere_as_declared,
    },
    Check {
        name: "same_key_same_history",
        why: "results must be the same tomorrow and on any number of threads",
        run: learning::same_key_same_history,
    },
    Check {
        name: "replay_equals_live",
        why: "a log of actions and rewards is enough to rebuild a policy",
        run: learning::replay_equals_live,
    },
    Check {
        name: "select_does_not_learn",
        why: "asking twice, or what-if questions, must not change what comes after",
        run: learning::select_does_not_learn,
    },
    Check {
        name: "out_of_order_rewards_accepted",
        why: "rewards arrive late and in any order",
        run: learning::out_of_order_rewards_accepted,
    },
    Check {
        name: "bad_observations_refused",
        why: "one broken sensor must not poison a policy: what is refused leaves no trace",
        run: learning::bad_observations_refused,
    },
    Check {
        name: "extreme_numbers_stay_finite",
        why: "very large and very small numbers are legal and must not end in NaN",
        run: learning::extreme_numbers_stay_finite,
    },
    Check {
        name: "beats_uniform",
        why: "a policy that learns beats chance in its own environment",
        run: learning::beats_uniform,
    },
    Check {
        name: "saved_goes_on_to_the_bit",
        why: "a restart of the program must not change any decision",
        run: saving::saved_goes_on_to_the_bit,
    },
];

/// A registered policy that does not pass a check, and why that is right.
#[derive(Debug, Clone, Copy)]
pub struct Exception {
    /// The policy.
    pub policy: &'static str,
    /// The check.
    pub check: &'static str,
    /// Why.
    pub reason: &'static str,
}

/// Every exception there is. One that has come to pass its check must be struck out, so the table cannot go stale.
pub const EXCEPTIONS: &[Exception] =
    &[Exception { policy: "uniform", check: "beats_uniform", reason: "it is chance itself: it never learns" }];

type Build = dyn Fn(Space, Key) -> Result<Box<dyn Policy>> + Send + Sync;
type Restore = dyn Fn(Snapshot) -> Result<Box<dyn Policy>> + Send + Sync;

/// A policy under test.
pub struct Subject {
    name: String,
    build: Box<Build>,
    restore: Box<Restore>,
    registry: Registry,
    environment: String,
    environment_settings: Settings,
    sphere: bool,
    rounds: u64,
    exceptions: Vec<(&'static str, &'static str)>,
}

impl fmt::Debug for Subject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Subject").field("name", &self.name).finish_non_exhaustive()
    }
}

/// Few enough arms to be quick, enough that chance rarely finds the best.
const ARMS: u64 = 30;

impl Subject {
    /// A policy made by `build` for a space and a key, and restored by `restore`. It plays in `relu-sphere` with 30
    /// arms.
    pub fn new(
        name: impl Into<String>,
        build: impl Fn(Space, Key) -> Result<Box<dyn Policy>> + Send + Sync + 'static,
        restore: impl Fn(Snapshot) -> Result<Box<dyn Policy>> + Send + Sync + 'static,
    ) -> Self {
        Subject {
            name: name.into(),
            build: Box::new(build),
            restore: Box::new(restore),
            registry: Registry::default(),
            environment: "relu-sphere".to_owned(),
            environment_settings: Settings::new().with("arms", ARMS),
            sphere: false,
            rounds: 60,
            exceptions: Vec::new(),
        }
    }

    /// A policy of a registry in one of its sample configurations, in the environment that the sample names.
    pub fn registered(registry: &Registry, entry: &policy::Entry, sample: &Sample) -> Self {
        let name = format!("{}/{}", entry.name, sample.name);
        let (settings, entry) = (sample.settings(), entry.clone());
        let (made, restored) = (entry.clone(), entry.clone());
        let build = move |space: Space, key| made.build(space, &settings, key);
        let mut subject = Subject::new(name, build, move |snapshot| restored.restore(snapshot))
            .of(registry.clone())
            .in_environment(sample.environment, Settings::new().with("arms", ARMS))
            .on_sphere(entry.sphere);
        for known in EXCEPTIONS.iter().filter(|known| known.policy == entry.name) {
            subject = subject.except(known.check, known.reason);
        }
        subject
    }

    /// The same policy made for contexts: named actions, with features of their own or without.
    #[must_use]
    pub fn in_contexts(mut self, action_features: u64) -> Self {
        self.name += if action_features > 0 { "-joined" } else { "-contexts" };
        let settings = Settings::new().with("dim", 3u64).with("actions", 3u64).with("neurons", 0u64);
        self.in_environment("contexts", settings.with("action_features", action_features))
    }

    /// The same policy with environments of this registry instead of the built-in ones.
    #[must_use]
    pub fn of(mut self, registry: Registry) -> Self {
        self.registry = registry;
        self
    }

    /// The same policy in another environment of the registry, one with finitely many actions in
    /// which it should beat chance.
    #[must_use]
    pub fn in_environment(mut self, name: &str, settings: Settings) -> Self {
        self.environment = name.to_owned();
        self.environment_settings = settings;
        self
    }

    /// Whether the policy says that it also chooses from the whole sphere; it does not unless this is called.
    #[must_use]
    pub fn on_sphere(mut self, sphere: bool) -> Self {
        self.sphere = sphere;
        self
    }

    /// How many rounds a history has, 60 unless given: enough to leave the policy's exploration behind.
    #[must_use]
    pub fn rounds(mut self, rounds: u64) -> Self {
        self.rounds = rounds;
        self
    }

    /// The policy does not pass `check`, for this reason.
    #[must_use]
    pub fn except(mut self, check: &'static str, reason: &'static str) -> Self {
        self.exceptions.push((check, reason));
        self
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Why the policy need not pass `check`, if so.
    pub fn excused(&self, check: &Check) -> Option<&'static str> {
        self.exceptions.iter().find(|(name, _)| *name == check.name).map(|(_, reason)| *reason)
    }

    fn make(&self, environment: &dyn Environment, key: Key) -> std::result::Result<Box<dyn Policy>, String> {
        said("making the policy", (self.build)(environment.space(), key))
    }

    fn make_environment(&self, key: Key) -> std::result::Result<Box<dyn Environment>, String> {
        let built = self.registry.build_environment(&self.environment, &self.environment_settings, key);
        said("making the environment", built)
    }
}

/// How a check went.
#[derive(Debug, Clone, PartialEq)]
pub enum Outcome {
    /// As it should.
    Passed,
    /// Not as it should; the text says what was seen.
    Failed(String),
    /// Not as it should, for a known reason.
    Excused {
        /// The reason.
        reason: &'static str,
        /// What was seen.
        seen: String,
    },
}

/// Runs one check. A panic of the policy is a failure like any other; so is an excused check that passes.
pub fn run(subject: &Subject, check: &Check) -> Outcome {
    // Each check makes its own policies and drops them, so nothing half-changed is seen after a panic.
    let result = catch_unwind(AssertUnwindSafe(|| (check.run)(subject))).unwrap_or_else(|payload| {
        let text = payload.downcast_ref::<&str>().map(|text| (*text).to_owned());
        let text = text.or_else(|| payload.downcast_ref::<String>().cloned());
        Err(format!("the policy panicked: {}", text.unwrap_or_default()))
    });
    match (result, subject.excused(check)) {
        (Ok(()), None) => Outcome::Passed,
        (Ok(()), Some(reason)) => Outcome::Failed(format!("it passes, so the exception ({reason}) is out of date")),
        (Err(seen), None) => Outcome::Failed(seen),
        (Err(seen), Some(reason)) => Outcome::Excused { reason, seen },
    }
}

/// The value, or the error as a sentence.
fn said<T>(doing: &str, result: Result<T>) -> std::result::Result<T, String> {
    result.map_err(|error| format!("{doing} failed: {error}"))
}

/// An error with this text unless `good`.
fn require(good: bool, text: impl FnOnce() -> String) -> std::result::Result<(), String> {
    if good { Ok(()) } else { Err(text()) }
}
