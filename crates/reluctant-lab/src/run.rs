//! Runs an experiment: tunes, plays, stores, and puts the results in order.

use std::collections::{HashMap, HashSet};
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;

use rayon::prelude::*;
use reluctant::play::Stopped;
use reluctant::{Registry, Settings};
use serde_json::{Map, Value};

use crate::error::{LabError, Result};
use crate::plan::{Stage, Trial, checkpoints, run_together};
use crate::results::{Candidate, EnvironmentResults, LeftOut, PolicyResults, Results, TrialCurve};
use crate::spec::{Contender, EnvironmentSpec, Experiment, LogSpec};
use crate::store::Store;

/// What happens during a run, for whoever shows progress.
#[derive(Debug, Clone, Copy)]
pub enum Event<'a> {
    /// A stage begins: so many trials in all, of which some were finished in an earlier run.
    Begin {
        /// Which stage.
        stage: Stage,
        /// Trials of the stage.
        total: u64,
        /// Those already finished.
        finished: u64,
    },
    /// A trial has finished.
    Finished {
        /// The environment's label.
        environment: &'a str,
        /// The policy's label.
        policy: &'a str,
    },
    /// The stage is over.
    End,
}

/// Plays every trial that `store` does not hold yet, on `threads` threads (0: one a core).
///
/// Results do not depend on the number of threads: each trial is a function of its key alone.
pub fn run(
    registry: &Registry,
    experiment: &Experiment,
    store: &Store,
    threads: usize,
    progress: &(dyn Fn(Event<'_>) + Sync),
) -> Result<()> {
    run_until(registry, experiment, store, threads, progress, &AtomicBool::new(false))
}

/// Like [`run`]; once another thread sets `stop`, trials break off and the run ends with [`LabError::Stopped`].
pub fn run_until(
    registry: &Registry,
    experiment: &Experiment,
    store: &Store,
    threads: usize,
    progress: &(dyn Fn(Event<'_>) + Sync),
    stop: &AtomicBool,
) -> Result<()> {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
    let pool = pool.map_err(|cause| LabError::Threads(cause.to_string()))?;
    for stage in [Stage::Tuning, Stage::Reported] {
        let jobs = jobs(registry, experiment, stage, &store.finished())?;
        let log = experiment.log.as_ref().filter(|_| stage == Stage::Reported);
        if let Some(log) = log {
            std::fs::create_dir_all(&log.folder).map_err(LabError::io("make the folder", &log.folder))?;
        }
        play_missing(&pool, registry, store, (stage, log), jobs, progress, stop)?;
    }
    Ok(())
}

/// A trial with the labels that people know it by.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Job<'a> {
    /// The environment's label.
    pub environment: &'a str,
    /// The policy's label.
    pub policy: &'a str,
    /// The trial.
    pub trial: Trial,
}

impl<'a> Job<'a> {
    fn new(
        registry: &Registry,
        experiment: &Experiment,
        environment: &'a EnvironmentSpec,
        contender: &'a Contender,
        candidate: &Settings,
        stage: Stage,
        trial: u64,
    ) -> Result<Self> {
        let (label, policy) = (&environment.label, &contender.label);
        let trial = experiment
            .trial(registry, environment, contender, candidate, stage, trial)
            .map_err(|cause| failed(label, Some(policy), trial, cause))?;
        Ok(Job { environment: label, policy, trial })
    }
}

/// Every trial of a stage, finished or not. The reported ones depend on what tuning chose, so `finished` must
/// hold all tuning trials by then.
pub fn jobs<'a>(
    registry: &Registry,
    experiment: &'a Experiment,
    stage: Stage,
    finished: &HashMap<String, TrialCurve>,
) -> Result<Vec<Job<'a>>> {
    let mut jobs = Vec::new();
    for_each_meeting(experiment, |environment, contender| {
        let (candidates, trials) = match stage {
            Stage::Tuning if contender.grid.is_empty() => return Ok(()),
            Stage::Tuning => (contender.candidates(), experiment.tuning_trials),
            Stage::Reported => (
                vec![choose(registry, experiment, environment, contender, finished)?.unwrap_or_default()],
                experiment.trials,
            ),
        };
        for candidate in candidates {
            for trial in 0..trials {
                jobs.push(Job::new(registry, experiment, environment, contender, &candidate, stage, trial)?);
            }
        }
        Ok(())
    })?;
    Ok(jobs)
}

/// Those of `jobs` that `store` does not hold, each trial once, in the order in which they are best played.
pub fn missing<'a>(store: &Store, jobs: Vec<Job<'a>>) -> Vec<Job<'a>> {
    // Two labels may stand for the same policy: what is the same trial is played once.
    let mut seen = HashSet::new();
    let mut missing: Vec<Job<'_>> =
        jobs.into_iter().filter(|job| !store.has(&job.trial) && seen.insert(job.trial.id())).collect();
    // By trial, so that every policy's first trials finish first and no one policy is left for the end.
    missing.sort_by_key(|job| job.trial.trial);
    missing
}

/// The error of a trial that a policy stopped, or its environment if there is no policy.
fn failed(environment: &str, policy: Option<&str>, trial: u64, cause: reluctant::Error) -> LabError {
    let (environment, source) = (environment.to_owned(), Box::new(cause));
    match policy {
        _ if *source == reluctant::Error::Stopped => LabError::Stopped,
        Some(policy) => LabError::Trial { environment, policy: policy.to_owned(), trial, source },
        None => LabError::Environment { environment, trial, source },
    }
}

fn for_each_meeting<'a>(
    experiment: &'a Experiment,
    mut each: impl FnMut(&'a EnvironmentSpec, &'a Contender) -> Result<()>,
) -> Result<()> {
    for environment in &experiment.environments {
        for contender in &experiment.contenders {
            each(environment, contender)?;
        }
    }
    Ok(())
}

fn play_missing(
    pool: &rayon::ThreadPool,
    registry: &Registry,
    store: &Store,
    (stage, log): (Stage, Option<&LogSpec>),
    jobs: Vec<Job<'_>>,
    progress: &(dyn Fn(Event<'_>) + Sync),
    stop: &AtomicBool,
) -> Result<()> {
    let total = jobs.len() as u64;
    let missing = missing(store, jobs);
    progress(Event::Begin { stage, total, finished: total - missing.len() as u64 });
    let outcome = pool.install(|| {
        batches(&missing, pool.current_num_threads()).par_iter().with_max_len(1).try_for_each(|batch| {
            let trials: Vec<&Trial> = batch.iter().map(|job| &job.trial).collect();
            let stopped = |Stopped { policy, cause }: Stopped| {
                failed(batch[0].environment, policy.map(|i| batch[i].policy), trials[0].trial, cause)
            };
            let file = |job: &Job<'_>| log.map(|log| log.file(job.environment, job.policy, job.trial.trial));
            let logs: Vec<Option<PathBuf>> = batch.iter().map(file).collect();
            for (job, curve) in batch.iter().zip(run_together(registry, &trials, &logs, stop).map_err(stopped)?) {
                store.append(&job.trial, curve)?;
                progress(Event::Finished { environment: job.environment, policy: job.policy });
            }
            Ok(())
        })
    });
    progress(Event::End);
    outcome
}

/// The most trials that are played together. Drawing the arms is then a small part of the work; more would be lost if
/// the run is killed, and progress would come in jumps.
const TOGETHER: usize = 8;

/// Jobs, sorted by trial, in batches that meet the same rounds; enough batches to keep every thread busy.
fn batches<'j, 'a>(jobs: &'j [Job<'a>], threads: usize) -> Vec<&'j [Job<'a>]> {
    let most = (jobs.len() / (4 * threads.max(1))).clamp(1, TOGETHER);
    jobs.chunk_by(|a, b| a.trial.same_rounds(&b.trial)).flat_map(|same| same.chunks(most)).collect()
}

/// The candidate with the least mean regret on the tuning trials; the first of equals. `None`
/// if a tuning trial is missing.
fn choose(
    registry: &Registry,
    experiment: &Experiment,
    environment: &EnvironmentSpec,
    contender: &Contender,
    finished: &HashMap<String, TrialCurve>,
) -> Result<Option<Settings>> {
    if contender.grid.is_empty() {
        return Ok(contender.candidates().pop());
    }
    let Some(scored) = score(registry, experiment, environment, contender, finished)? else { return Ok(None) };
    Ok(least(&scored).and_then(|best| scored.into_iter().nth(best)).map(|(candidate, _)| candidate))
}

/// A candidate of a grid with its final regret in each tuning trial.
type Scored = (Settings, Vec<f64>);

/// Every candidate of a grid with its scores; `None` if one is missing.
fn score(
    registry: &Registry,
    experiment: &Experiment,
    environment: &EnvironmentSpec,
    contender: &Contender,
    finished: &HashMap<String, TrialCurve>,
) -> Result<Option<Vec<Scored>>> {
    let mut scored = Vec::new();
    for candidate in contender.candidates() {
        let mut totals = Vec::new();
        for trial in 0..experiment.tuning_trials {
            let job = Job::new(registry, experiment, environment, contender, &candidate, Stage::Tuning, trial)?;
            let Some(curve) = finished.get(&job.trial.id()) else { return Ok(None) };
            totals.push(curve.total());
        }
        scored.push((candidate, totals));
    }
    Ok(Some(scored))
}

/// The place of the least sum; the first of equals.
fn least(scored: &[Scored]) -> Option<usize> {
    let mut best: Option<(f64, usize)> = None;
    for (i, (_, totals)) in scored.iter().enumerate() {
        let sum: f64 = totals.iter().fold(0.0, |sum, total| sum + total);
        if best.is_none_or(|(least, _)| sum < least) {
            best = Some((sum, i));
        }
    }
    best.map(|(_, i)| i)
}

/// The grid of a policy as a report shows it; nothing if there is none.
fn tuning(
    registry: &Registry,
    experiment: &Experiment,
    environment: &EnvironmentSpec,
    contender: &Contender,
    finished: &HashMap<String, TrialCurve>,
) -> Result<Vec<Candidate>> {
    if contender.grid.is_empty() {
        return Ok(Vec::new());
    }
    let scored = score(registry, experiment, environment, contender, finished)?.unwrap_or_default();
    let best = least(&scored);
    let candidate = |(i, (settings, totals)): (usize, Scored)| Candidate {
        settings: to_map(&settings),
        regret: totals,
        chosen: Some(i) == best,
    };
    Ok(scored.into_iter().enumerate().map(candidate).collect())
}

/// The finished trials in canonical order. Policies whose tuning is not complete, or that have no finished trial, are
/// left out, each with the reason.
pub fn assemble(
    registry: &Registry,
    experiment: &Experiment,
    finished: &HashMap<String, TrialCurve>,
) -> Result<Results> {
    let mut environments = Vec::new();
    for environment in &experiment.environments {
        let (mut policies, mut left_out) = (Vec::new(), Vec::new());
        for contender in &experiment.contenders {
            match shown(registry, experiment, environment, contender, finished)? {
                Ok(policy) => policies.push(policy),
                Err(reason) => left_out.push(LeftOut { name: contender.label.clone(), reason }),
            }
        }
        let mut described = Map::from_iter([("kind".to_owned(), Value::from(environment.kind.as_str()))]);
        described.extend(to_map(&complete_environment(registry, environment)));
        environments.push(EnvironmentResults {
            name: environment.label.clone(),
            title: environment.title.clone(),
            params: described,
            rounds: environment.rounds,
            checkpoints: checkpoints(environment.rounds),
            planned: experiment.trials,
            policies,
            left_out,
        });
    }
    Ok(Results {
        name: experiment.name.clone(),
        title: experiment.title.clone(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        seed: experiment.seed,
        environments,
    })
}

/// The finished trials of a policy in an environment, or why there is nothing to show.
fn shown(
    registry: &Registry,
    experiment: &Experiment,
    environment: &EnvironmentSpec,
    contender: &Contender,
    finished: &HashMap<String, TrialCurve>,
) -> Result<std::result::Result<PolicyResults, String>> {
    let Some(chosen) = choose(registry, experiment, environment, contender, finished)? else {
        return missing_tuning(registry, experiment, environment, contender, finished).map(Err);
    };
    let mut trials = Vec::new();
    let mut params = Map::new();
    for trial in 0..experiment.trials {
        let job = Job::new(registry, experiment, environment, contender, &chosen, Stage::Reported, trial)?;
        if let Some(curve) = finished.get(&job.trial.id()) {
            trials.push(curve.clone());
        }
        params = to_map(&complete_policy(registry, &job.trial));
    }
    if trials.is_empty() {
        return Ok(Err("none of its trials is finished".to_owned()));
    }
    let (label, policy) = (contender.label.clone(), contender.kind.clone());
    let tuning = tuning(registry, experiment, environment, contender, finished)?;
    Ok(Ok(PolicyResults { label, policy, params, tuned: to_map(&chosen), tuning, trials }))
}

/// How much of a policy's tuning is missing, in words.
fn missing_tuning(
    registry: &Registry,
    experiment: &Experiment,
    environment: &EnvironmentSpec,
    contender: &Contender,
    finished: &HashMap<String, TrialCurve>,
) -> Result<String> {
    let (mut missing, mut total) = (0, 0);
    for candidate in contender.candidates() {
        for trial in 0..experiment.tuning_trials {
            let job = Job::new(registry, experiment, environment, contender, &candidate, Stage::Tuning, trial)?;
            missing += u64::from(!finished.contains_key(&job.trial.id()));
            total += 1;
        }
    }
    Ok(format!("{missing} of its {total} tuning trials {} missing", if missing == 1 { "is" } else { "are" }))
}

/// An environment's settings with its defaults filled in; what is computed is left out.
fn complete_environment(registry: &Registry, environment: &EnvironmentSpec) -> Settings {
    let resolved = registry.environment(&environment.kind).and_then(|entry| {
        reluctant::Params::resolve(entry.name, entry.params, &environment.settings).map(|params| params.complete())
    });
    filled(&environment.settings, resolved)
}

/// A policy's settings with its defaults filled in; what is computed is left out.
fn complete_policy(registry: &Registry, trial: &Trial) -> Settings {
    let resolved = registry.policy(&trial.policy).and_then(|entry| {
        let own: Settings = trial.policy_settings.clone();
        let own = own.only(|name| entry.params.iter().any(|param| param.name == name));
        reluctant::Params::resolve(entry.name, entry.params, &own).map(|params| params.complete())
    });
    filled(&trial.policy_settings, resolved)
}

fn filled(given: &Settings, resolved: reluctant::Result<Settings>) -> Settings {
    let mut settings = given.clone();
    if let Ok(complete) = resolved {
        complete.iter().for_each(|(name, value)| settings.set(name, value.clone()));
    }
    settings
}

fn to_map(settings: &Settings) -> Map<String, Value> {
    let json = |value: &reluctant::Value| serde_json::to_value(value).unwrap_or(Value::Null);
    settings.iter().map(|(name, value)| (name.to_owned(), json(value))).collect()
}
