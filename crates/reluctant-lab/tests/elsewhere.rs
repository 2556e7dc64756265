//! Runs that are stopped, trials that are played elsewhere, results in memory alone.

#![allow(clippy::unwrap_used)]

use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use reluctant_lab::plan::Stage;
use reluctant_lab::results::Results;
use reluctant_lab::run::{Event, assemble, jobs, missing, run, run_until};
use reluctant_lab::{Experiment, LabError, Store, registry, store};

const SPEC: &str = r#"
rounds = 40
trials = 4
tuning.trials = 3

[environment]
kind = "linear-sphere"
arms = 10

[[policy]]
kind = "oful"
lambda = [0.01, 1.0]

[[policy]]
kind = "uniform"
"#;

fn experiment() -> Experiment {
    Experiment::parse(SPEC, Path::new("elsewhere.toml"), &registry()).unwrap()
}

/// The results without what a clock said.
fn results(experiment: &Experiment, store: &Store) -> Results {
    let mut results = assemble(&registry(), experiment, &store.finished()).unwrap();
    for environment in &mut results.environments {
        let trials = environment.policies.iter_mut().flat_map(|policy| &mut policy.trials);
        trials.for_each(|trial| (trial.seconds, trial.policy_seconds) = (0.0, 0.0));
    }
    results
}

#[test]
fn trials_that_are_handed_in_are_as_good_as_those_played_here() {
    let experiment = experiment();
    let (here, there) = (Store::in_memory(), Store::in_memory());
    run(&registry(), &experiment, &here, 1, &|_| {}).unwrap();
    for stage in [Stage::Tuning, Stage::Reported] {
        let jobs = missing(&there, jobs(&registry(), &experiment, stage, &there.finished()).unwrap());
        for (i, job) in jobs.iter().enumerate() {
            let text = store::line(&job.trial, &job.trial.run(&registry()).unwrap()).unwrap();
            assert!(there.accept(&job.trial, &text).unwrap());
            assert!(!there.accept(&job.trial, &text).unwrap(), "a second copy is not kept");
            let other = &jobs[(i + 1) % jobs.len()].trial;
            assert!(matches!(there.accept(other, &text), Err(LabError::Foreign(_))));
        }
        assert!(missing(&there, jobs).is_empty());
    }
    assert_eq!(results(&experiment, &here), results(&experiment, &there));
}

#[test]
fn a_stopped_run_keeps_what_had_finished_and_goes_on() {
    let experiment = experiment();
    let (whole, broken) = (Store::in_memory(), Store::in_memory());
    run(&registry(), &experiment, &whole, 1, &|_| {}).unwrap();
    let (stop, finished) = (AtomicBool::new(false), AtomicUsize::new(0));
    let after_five = |event: Event<'_>| {
        if matches!(event, Event::Finished { .. }) && finished.fetch_add(1, Ordering::Relaxed) == 4 {
            stop.store(true, Ordering::Relaxed);
        }
    };
    let outcome = run_until(&registry(), &experiment, &broken, 1, &after_five, &stop);
    assert!(matches!(outcome, Err(LabError::Stopped)));
    assert_eq!(broken.finished().len(), 5);
    run(&registry(), &experiment, &broken, 2, &|_| {}).unwrap();
    assert_eq!(results(&experiment, &whole), results(&experiment, &broken));
}
