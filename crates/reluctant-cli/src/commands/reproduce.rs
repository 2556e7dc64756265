//! `reluctant reproduce`: the paper's figure from one command.

use std::path::Path;

use reluctant::Registry;
use reluctant_lab::Experiment;

use super::run::{How, default_folder, own_folder, play};
use crate::args::{Panel, Reproduce};
use crate::failure::Failure;

/// The experiment as shipped.
const PAPER: &str = include_str!("../../experiments/paper.toml");

pub(crate) fn reproduce(registry: &Registry, options: &Reproduce) -> Result<(), Failure> {
    let mut shipped = Experiment::parse(PAPER, Path::new("experiments/paper.toml"), registry)?;
    shipped.name = "reproduce".to_owned();
    let experiment = adapt(registry, shipped.clone(), options)?;
    let out = options
        .out
        .clone()
        .unwrap_or_else(|| if experiment == shipped { default_folder(&experiment) } else { own_folder(&experiment) });
    let json = false;
    play(registry, &experiment, &out, &How { threads: options.threads, fresh: options.fresh, json })
}

fn adapt(registry: &Registry, mut experiment: Experiment, options: &Reproduce) -> Result<Experiment, Failure> {
    if let Some(panel) = options.panel {
        let label = if panel == Panel::A { "a" } else { "b" };
        experiment.environments.retain(|environment| environment.label == label);
    }
    if let Some(trials) = options.trials {
        experiment.trials = trials;
    }
    for environment in &mut experiment.environments {
        if let Some(rounds) = options.rounds {
            environment.rounds = rounds;
        }
        if let Some(sigma) = options.noise {
            environment.set(registry, "sigma", sigma)?;
        }
    }
    Ok(experiment)
}
