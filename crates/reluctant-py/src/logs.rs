//! Logs: what policies would have earned on one.

use std::path::PathBuf;

use pyo3::prelude::*;
use reluctant_lab::evaluate::{Evaluation, Options, Target, evaluate, policy, ranking, render, scene, write_report};
use reluctant_lab::registry;
use reluctant_lab::report::draw::svg;

use crate::errors::refuse_lab;

/// An evaluation as JSON, as a table, and as a picture.
type Shown = (String, String, String);

/// Evaluates policies on the log at `path`. Each is a text such as `oful:lambda=0.1`, or has the state of a saved
/// policy beside it. Returns what is known of each, and all of them ranked; writes the report into the folder `out`, if
/// given.
#[pyfunction]
#[pyo3(signature = (path, policies, *, model, folds, draws, seed, replay, out))]
#[allow(clippy::too_many_arguments)]
pub(crate) fn evaluate_log(
    py: Python<'_>,
    path: PathBuf,
    policies: Vec<(String, Option<String>)>,
    model: Option<String>,
    folds: Option<usize>,
    draws: u64,
    seed: u64,
    replay: bool,
    out: Option<PathBuf>,
) -> PyResult<(Vec<Shown>, String)> {
    let judge = || {
        let known = registry();
        let target = |(label, saved): &(String, Option<String>)| match saved {
            Some(text) => Target::saved(label, text),
            None => Target::parse(label, &known),
        };
        let targets: Vec<Target> = policies.iter().map(target).collect::<Result<_, _>>()?;
        let mut options = Options::default();
        options.model = model.as_deref().map(policy).transpose()?;
        (options.folds, options.draws, options.seed, options.replay) = (folds, draws, seed, replay);
        let evaluations = evaluate(&known, &path, &targets, &options, &|_| {})?;
        if let Some(dir) = &out {
            write_report(&evaluations, &path, dir)?;
        }
        Ok(evaluations)
    };
    let evaluations: Vec<Evaluation> = py.detach(judge).map_err(refuse_lab)?;
    let shown = |evaluation: &Evaluation| {
        let json = serde_json::to_string(evaluation).unwrap_or_default();
        (json, render(evaluation), svg::file(&scene(evaluation)))
    };
    Ok((evaluations.iter().map(shown).collect(), ranking(&evaluations)))
}
