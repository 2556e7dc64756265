//! What an experiment consists of: trials, each a pure function of its key and named by its content.

use std::path::PathBuf;
use std::sync::atomic::AtomicBool;

use reluctant::play::Stopped;
use reluctant::{Error, Key, Policy, Registry, Settings, Space, play_together};
use serde::{Deserialize, Serialize};

use crate::log::{Logged, Writer};
use crate::results::TrialCurve;
use crate::timed::Timed;

/// What a trial is for. Tuning trials never share a seed with reported ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Stage {
    /// Chooses among the candidates of a grid.
    Tuning,
    /// Counts.
    Reported,
}

/// Tuning trials live in the upper half of the trial numbers.
const TUNING: u64 = 1 << 63;

/// One (environment, policy, seed): everything its result depends on, and nothing else.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Trial {
    /// The environment's name in the registry.
    pub environment: String,
    /// Its settings, complete.
    pub environment_settings: Settings,
    /// The policy's name in the registry.
    pub policy: String,
    /// Its settings, with what the environment told.
    pub policy_settings: Settings,
    /// T.
    pub rounds: u64,
    /// The experiment's seed.
    pub seed: u64,
    /// What the trial is for.
    pub stage: Stage,
    /// The number of the trial within its stage, from 0.
    pub trial: u64,
    /// The data that the environment takes its rounds from, if it does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<Source>,
    /// A fingerprint of the policy's code, if a program brought it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub code: Option<String>,
}

/// Data that an environment takes its rounds from.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Source {
    /// A fingerprint of what they hold.
    pub content: String,
    /// The settings that say where they lie, which is no part of what a trial is.
    pub paths: Vec<String>,
}

impl Trial {
    /// The trial's name: a hash of its content.
    pub fn id(&self) -> String {
        let mut named = self.clone();
        if let Some(source) = &self.source {
            source.paths.iter().for_each(|name| named.environment_settings.set(name, source.content.as_str()));
        }
        // Serialising plain maps and numbers cannot fail.
        let content = serde_json::to_vec(&named).unwrap_or_default();
        format!("{:032x}", xxhash_rust::xxh3::xxh3_128(&content))
    }

    /// The key of all of its randomness.
    pub fn key(&self) -> Key {
        let offset = if self.stage == Stage::Tuning { TUNING } else { 0 };
        Key::new(self.seed).trial(self.trial + offset)
    }

    /// Plays the trial.
    pub fn run(&self, registry: &Registry) -> reluctant::Result<TrialCurve> {
        self.run_until(registry, &AtomicBool::new(false))
    }

    /// Plays the trial; once `stop` is set, it ends with [`reluctant::Error::Stopped`].
    pub fn run_until(&self, registry: &Registry, stop: &AtomicBool) -> reluctant::Result<TrialCurve> {
        let mut curves = run_together(registry, &[self], &[], stop).map_err(|stopped| stopped.cause)?;
        // One trial, one curve.
        Ok(curves.remove(0))
    }

    /// The policy that the trial names.
    fn policy(&self, registry: &Registry, space: Space, key: Key) -> reluctant::Result<Box<dyn Policy>> {
        registry.build_policy(&self.policy, space, &self.policy_settings, key)
    }

    /// Whether the two meet the same rounds, so that they can be played together.
    pub(crate) fn same_rounds(&self, other: &Trial) -> bool {
        (&self.environment, &self.environment_settings, self.rounds, self.seed, self.stage, self.trial)
            == (&other.environment, &other.environment_settings, other.rounds, other.seed, other.stage, other.trial)
    }
}

/// Plays trials that all meet the same rounds, which are then drawn once for all; each trial's result is what it would
/// be alone. No trials, no curves. A trial that has a path in `logs` writes a log there.
pub(crate) fn run_together(
    registry: &Registry,
    trials: &[&Trial],
    logs: &[Option<PathBuf>],
    stop: &AtomicBool,
) -> Result<Vec<TrialCurve>, Stopped> {
    let Some(first) = trials.first() else { return Ok(Vec::new()) };
    let start = std::time::Instant::now();
    let key = first.key();
    let environment = registry
        .build_environment(&first.environment, &first.environment_settings, key)
        .map_err(|cause| Stopped { policy: None, cause })?;
    if first.source.as_ref().map(|source| &source.content) != environment.content().as_ref() {
        let cause =
            Error::Environment(format!("the data of {} have changed since this trial was planned", first.environment));
        return Err(Stopped { policy: None, cause });
    }
    let mut policies = Vec::with_capacity(trials.len());
    for (i, trial) in trials.iter().enumerate() {
        let failed = |cause| Stopped { policy: Some(i), cause };
        let policy = Timed::new(trial.policy(registry, environment.space(), key).map_err(failed)?, stop);
        let log = logs.get(i).and_then(Option::as_ref);
        policies.push(Player::new(policy, log, &trial.policy).map_err(failed)?);
    }
    let mut players: Vec<&mut dyn Policy> = policies.iter_mut().map(Player::policy).collect();
    let checkpoints = checkpoints(first.rounds);
    let mut curves = vec![(Vec::with_capacity(checkpoints.len()), 0.0, 0.0); trials.len()];
    play_together(environment.as_ref(), &mut players, key, first.rounds, |i, step| {
        let (curve, regret, chance) = &mut curves[i];
        *regret += step.regret;
        *chance += step.chance;
        if checkpoints.get(curve.len()) == Some(&step.round) {
            curve.push(*regret);
        }
    })?;
    for (i, policy) in policies.iter().enumerate() {
        policy.finish().map_err(|cause| Stopped { policy: Some(i), cause })?;
    }
    let in_policies: f64 = policies.iter().map(Player::seconds).sum();
    let shared = (start.elapsed().as_secs_f64() - in_policies).max(0.0) / trials.len() as f64;
    let curve = |((regret, _, chance), (trial, policy)): ((Vec<f64>, f64, f64), (&&Trial, &Player<'_>))| {
        let policy_seconds = policy.seconds();
        TrialCurve { trial: trial.trial, regret, chance, seconds: policy_seconds + shared, policy_seconds }
    };
    Ok(curves.into_iter().zip(trials.iter().zip(&policies)).map(curve).collect())
}

/// A policy with a stopwatch, and a log if one is wanted.
enum Player<'s> {
    Plain(Timed<'s>),
    Logged(Box<Logged<Timed<'s>>>),
}

impl<'s> Player<'s> {
    fn new(policy: Timed<'s>, log: Option<&PathBuf>, name: &str) -> reluctant::Result<Self> {
        let Some(path) = log else { return Ok(Player::Plain(policy)) };
        let writer = Writer::create(path, name).map_err(|cause| Error::Environment(cause.to_string()))?;
        Ok(Player::Logged(Box::new(Logged::new(policy, writer))))
    }

    fn policy(&mut self) -> &mut dyn Policy {
        match self {
            Player::Plain(policy) => policy,
            Player::Logged(policy) => policy.as_mut(),
        }
    }

    fn seconds(&self) -> f64 {
        match self {
            Player::Plain(policy) => policy.seconds(),
            Player::Logged(policy) => policy.inner().seconds(),
        }
    }

    /// Puts the log on the disk.
    fn finish(&self) -> reluctant::Result<()> {
        match self {
            Player::Plain(_) => Ok(()),
            Player::Logged(policy) => policy.finish().map_err(|cause| Error::Environment(cause.to_string())),
        }
    }
}

/// At most this many rounds of a curve are kept.
const KEPT: u64 = 1000;

/// The rounds at which cumulative regret is kept: all up to 1,000, otherwise half of the places evenly spaced and half
/// evenly spaced on a log scale, so that both kinds of axes have a smooth curve. T/4, T/2 and T are always among them.
pub fn checkpoints(rounds: u64) -> Vec<u64> {
    if rounds <= KEPT {
        return (1..=rounds).collect();
    }
    let half = KEPT / 2;
    let even = (1..=half).map(|i| (u128::from(rounds) * u128::from(i) / u128::from(half)) as u64);
    let log = (0..half).map(|i| libm::pow(rounds as f64, i as f64 / half as f64).round() as u64);
    let mut all: Vec<u64> = even.chain(log).chain([rounds / 4, rounds / 2, rounds]).collect();
    all.sort_unstable();
    all.dedup();
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    fn trial(stage: Stage, number: u64) -> Trial {
        Trial {
            environment: "relu-sphere".to_owned(),
            environment_settings: Settings::new().with("arms", 20u64),
            policy: "oful".to_owned(),
            policy_settings: Settings::new(),
            rounds: 50,
            seed: 3,
            stage,
            trial: number,
            source: None,
            code: None,
        }
    }

    #[test]
    fn a_trial_is_a_function_of_its_content() {
        let (a, b, known) = (trial(Stage::Reported, 1), trial(Stage::Reported, 1), Registry::default());
        assert_eq!(a.id(), b.id());
        assert_eq!(a.run(&known).unwrap().regret, b.run(&known).unwrap().regret);
        for other in
            [trial(Stage::Reported, 2), trial(Stage::Tuning, 1), Trial { rounds: 51, ..trial(Stage::Reported, 1) }]
        {
            assert_ne!(a.id(), other.id());
        }
        assert_ne!(a.run(&known).unwrap().regret, trial(Stage::Tuning, 1).run(&known).unwrap().regret);
    }

    #[test]
    fn checkpoints_rise_and_hold_the_quarters() {
        for rounds in [1, 2, 7, 1000, 1001, 123_457, 10_000_000] {
            let points = checkpoints(rounds);
            assert!(points.is_sorted_by(|a, b| a < b));
            assert!(points[0] >= 1 && points.last() == Some(&rounds) && points.len() <= 1003);
            for wanted in [rounds / 4, rounds / 2] {
                assert!(wanted == 0 || points.contains(&wanted));
            }
        }
    }
}
