//! An experiment as one TOML file describes it.
//!
//! ```toml
//! name = "toy"
//! seed = 1
//! rounds = 1000
//! trials = 50
//!
//! log = "logs"                      # a folder: every reported trial writes a log there
//!
//! [tuning]
//! trials = 10                       # on seeds of their own
//!
//! [[environment]]
//! kind = "relu-sphere"              # any environment of `reluctant list`, with its parameters
//! label = "a"
//! neurons = 3
//!
//! [[policy]]
//! kind = "ofu-relu"                 # any policy of `reluctant list`, with its parameters
//! label = "OFU-ReLU"
//! explore = 20
//! lambda = [0.001, 0.01, 0.1]       # a list is a grid: the best on the tuning seeds is reported
//! ```
//!
//! Every environment meets every policy. What an environment knows (neurons, noise) is told to policies that ask for
//! it, unless the file gives it, or says `"auto"` for what a policy can find out by itself. Everything is checked
//! before the first trial, and every mistake is named with its line.

use std::path::PathBuf;

use reluctant::params::Kind;
use reluctant::{Environment, Key, Registry, Settings, Space, Value, policy};
use serde::{Deserialize, Serialize};

use crate::log::Form;
use crate::plan::{Source, Stage, Trial};

/// Environments × policies × trials.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Experiment {
    /// A short name.
    pub name: String,
    /// A title for readers.
    pub title: String,
    /// All randomness comes from it.
    pub seed: u64,
    /// Reported trials of each policy in each environment.
    pub trials: u64,
    /// Tuning trials of each candidate of a grid.
    pub tuning_trials: u64,
    /// The environments; `worlds` in the files that hold an experiment, so that old ones stay readable.
    #[serde(rename = "worlds")]
    pub environments: Vec<EnvironmentSpec>,
    /// The policies.
    pub contenders: Vec<Contender>,
    /// The folder that a log of every reported trial is written to, if that is wanted. It is no part of what
    /// the experiment is.
    #[serde(skip)]
    pub log: Option<LogSpec>,
}

/// Where the logs of trials go.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct LogSpec {
    /// The folder.
    pub folder: PathBuf,
    /// Their form.
    pub form: Form,
}

impl LogSpec {
    /// The file of a trial.
    pub fn file(&self, environment: &str, policy: &str, trial: u64) -> PathBuf {
        let safe = |c: char| if c.is_alphanumeric() || "-_.".contains(c) { c } else { '-' };
        let ending = self.form.ending();
        let name: String = format!("{environment}-{policy}-{trial}").chars().map(safe).collect();
        self.folder.join(format!("{name}.{ending}"))
    }
}

/// An environment of an experiment.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct EnvironmentSpec {
    /// Its name in tables and files.
    pub label: String,
    /// Its title above a figure.
    pub title: String,
    /// Its name in the registry.
    pub kind: String,
    /// Its settings as given.
    pub settings: Settings,
    /// T.
    pub rounds: u64,
    /// What it tells policies that ask.
    pub facts: Vec<(String, Value)>,
    /// The data it takes its rounds from, if it does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<Source>,
}

/// A policy of an experiment.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Contender {
    /// Its name in tables and figures.
    pub label: String,
    /// Its name in the registry.
    pub kind: String,
    /// The settings that are not tuned.
    pub settings: Settings,
    /// The settings that are tuned, with their candidate values.
    pub grid: Vec<(String, Vec<Value>)>,
    /// A fingerprint of its code, if a program brought it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub code: Option<String>,
}

impl EnvironmentSpec {
    /// Changes a setting, and what the environment tells with it.
    pub fn set(&mut self, registry: &Registry, name: &str, value: impl Into<Value>) -> reluctant::Result<()> {
        self.settings.set(name, value);
        self.meet(registry).map(|_| ())
    }

    /// Makes the environment once, of a key that no trial has, and keeps what it tells.
    pub(crate) fn meet(&mut self, registry: &Registry) -> reluctant::Result<Box<dyn Environment>> {
        let environment = registry.build_environment(&self.kind, &self.settings, Key::new(0))?;
        self.facts = environment.facts().into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
        let table = registry.environment(&self.kind)?.params;
        let paths = table.iter().filter(|param| param.kind == Kind::Path).map(|param| param.name.to_owned()).collect();
        self.source = environment.content().map(|content| Source { content, paths });
        Ok(environment)
    }

    /// The space of its offers.
    pub(crate) fn space(&self, registry: &Registry) -> reluctant::Result<Space> {
        Ok(registry.build_environment(&self.kind, &self.settings, Key::new(0))?.space())
    }

    /// The same without what does not make it another one: its title, where its data lie, and the fingerprint of its
    /// code.
    fn bare(&self) -> EnvironmentSpec {
        let mut bare = EnvironmentSpec { title: String::new(), ..self.clone() };
        if let Some(source) = &self.source {
            source.paths.iter().for_each(|name| bare.settings.set(name, source.content.as_str()));
        }
        // Code without data: where it has changed, its trials have other names and are played again.
        bare.source = bare.source.filter(|source| !source.paths.is_empty());
        bare
    }
}

impl Contender {
    /// Every combination of the grid, as the settings that differ; one empty combination if nothing is tuned.
    pub fn candidates(&self) -> Vec<Settings> {
        let mut all = vec![Settings::new()];
        for (name, values) in &self.grid {
            all =
                all.iter().flat_map(|base| values.iter().map(|value| base.clone().with(name, value.clone()))).collect();
        }
        all
    }

    /// The same without the fingerprint of its code: where that has changed, its trials have other names and are played
    /// again.
    fn bare(&self) -> Contender {
        Contender { code: None, ..self.clone() }
    }

    /// The fixed settings together with a candidate's.
    fn with(&self, candidate: &Settings) -> Settings {
        let mut settings = self.settings.clone();
        candidate.iter().for_each(|(name, value)| settings.set(name, value.clone()));
        settings
    }
}

impl Experiment {
    /// The trial of `contender` with `candidate` in `environment`.
    pub fn trial(
        &self,
        registry: &Registry,
        environment: &EnvironmentSpec,
        contender: &Contender,
        candidate: &Settings,
        stage: Stage,
        trial: u64,
    ) -> reluctant::Result<Trial> {
        let mut policy_settings = contender.with(candidate);
        // What a program brought is told nothing, so that its results can be read where it is not known.
        if contender.code.is_none() {
            let entry = registry.policy(&contender.kind)?;
            policy_settings = entry.spelled(&policy::tell(entry, &policy_settings, &environment.facts))?;
        }
        Ok(Trial {
            environment: environment.kind.clone(),
            environment_settings: environment.settings.clone(),
            policy: contender.kind.clone(),
            policy_settings,
            rounds: environment.rounds,
            seed: self.seed,
            stage,
            trial,
            source: environment.source.clone(),
            code: contender.code.clone(),
        })
    }

    /// What makes another experiment a different one, in words; `None` if the results of this one serve the other:
    /// they are the same but for titles, or the other has more trials.
    pub fn difference(&self, other: &Experiment) -> Option<String> {
        if self.name != other.name {
            return Some(format!("it is named '{}', not '{}'", self.name, other.name));
        }
        for (what, a, b) in [
            ("seed", self.seed, other.seed),
            ("trials", self.trials, other.trials.min(self.trials)),
            ("tuning trials", self.tuning_trials, other.tuning_trials),
        ] {
            if a != b {
                return Some(format!("it has {what} = {a}, not {b}"));
            }
        }
        if let Some((a, b)) = self.environments.iter().zip(&other.environments).find(|(a, b)| a.rounds != b.rounds) {
            return Some(format!("it has rounds = {}, not {}", a.rounds, b.rounds));
        }
        if !self.environments.iter().map(EnvironmentSpec::bare).eq(other.environments.iter().map(EnvironmentSpec::bare))
        {
            return Some("its environments differ".to_owned());
        }
        let alike = self.contenders.iter().map(Contender::bare).eq(other.contenders.iter().map(Contender::bare));
        (!alike).then(|| "its policies differ".to_owned())
    }

    /// The fingerprints of all code that a program brought, and of all data.
    pub(crate) fn code(&self) -> Vec<Option<&str>> {
        let environments = self
            .environments
            .iter()
            .map(|environment| environment.source.as_ref().map(|source| source.content.as_str()));
        environments.chain(self.contenders.iter().map(|contender| contender.code.as_deref())).collect()
    }

    /// A short name for the content of this experiment.
    pub fn id(&self) -> String {
        let content = serde_json::to_vec(self).unwrap_or_default();
        format!("{:08x}", xxhash_rust::xxh3::xxh3_64(&content) as u32)
    }
}
