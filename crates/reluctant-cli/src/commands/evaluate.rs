//! `reluctant evaluate` and `reluctant choose`: what policies would have earned on a log.

use std::io::Write;
use std::path::Path;

use reluctant::Registry;
use reluctant_lab::LabError;
use reluctant_lab::evaluate::{Evaluation, Options, Target, evaluate, policy, ranking, render, scene, write_report};
use reluctant_lab::log::first;
use reluctant_lab::report::draw::svg;
use serde_json::json;

use crate::args::{Choose, Evaluate, Judging};
use crate::failure::Failure;
use crate::progress::Passes;

/// The policies that `choose` tries if none is named: quick ones of different kinds.
const TRIED: [&str; 6] = [
    "uniform",
    "oful",
    "oful:features=constant",
    "lin-ts:features=constant",
    "gp-ucb:budget=100",
    "epsilon-greedy:belief=linear",
];

/// The same for the sphere, from which not every policy can choose.
const TRIED_ON_SPHERE: [&str; 4] = ["uniform", "oful", "lin-ts", "ofu-relu:neurons=3,explore=100"];

pub(crate) fn evaluate_one(registry: &Registry, options: &Evaluate) -> Result<(), Failure> {
    let evaluations = judge(registry, &options.log, std::slice::from_ref(&options.policy), &options.judging)?;
    let mut out = std::io::stdout().lock();
    for evaluation in &evaluations {
        show(&mut out, evaluation, &options.judging)?;
    }
    report(&mut out, &evaluations, &options.log, &options.judging)
}

/// Writes the report, if it is wanted, and says where.
fn report(out: &mut impl Write, evaluations: &[Evaluation], log: &Path, judging: &Judging) -> Result<(), Failure> {
    let Some(dir) = &judging.out else { return Ok(()) };
    let files = write_report(evaluations, log, dir)?;
    if let Some(page) = files.first().filter(|_| !judging.json) {
        writeln!(out, "\nThe report is {}", page.display())?;
    }
    Ok(())
}

pub(crate) fn choose(registry: &Registry, options: &Choose) -> Result<(), Failure> {
    let tried = if options.policy.is_empty() { tried(&options.log)? } else { options.policy.clone() };
    let evaluations = judge(registry, &options.log, &tried, &options.judging)?;
    let mut out = std::io::stdout().lock();
    if options.judging.json {
        writeln!(out, "{:#}", json!(evaluations))?;
    } else {
        write!(out, "{}", ranking(&evaluations))?;
    }
    for (i, evaluation) in evaluations.iter().enumerate() {
        if let Some(path) = &options.judging.picture {
            let name = path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
            draw(evaluation, &path.with_file_name(format!("{name}-{}.svg", i + 1)))?;
        }
    }
    report(&mut out, &evaluations, &options.log, &options.judging)
}

/// The policies that are tried on a log if none is named.
fn tried(log: &Path) -> Result<Vec<String>, Failure> {
    let on_sphere = first(log)?.offer.is_sphere();
    let names: &[&str] = if on_sphere { &TRIED_ON_SPHERE } else { &TRIED };
    Ok(names.iter().map(|name| (*name).to_owned()).collect())
}

fn judge(registry: &Registry, log: &Path, names: &[String], judging: &Judging) -> Result<Vec<Evaluation>, Failure> {
    let targets: Vec<Target> = names.iter().map(|name| Target::parse(name, registry)).collect::<Result<_, _>>()?;
    let mut options = Options::default();
    options.model = match judging.model.as_str() {
        "none" => None,
        text => Some(policy(text)?),
    };
    (options.folds, options.seed, options.draws) = (judging.folds.map(|n| n as usize), judging.seed, judging.draws);
    options.replay = !judging.no_replay;
    let progress = Passes::new();
    Ok(evaluate(registry, log, &targets, &options, &|passed| progress.show(passed))?)
}

fn show(out: &mut impl Write, evaluation: &Evaluation, judging: &Judging) -> Result<(), Failure> {
    if judging.json {
        writeln!(out, "{:#}", json!(evaluation))?;
    } else {
        write!(out, "{}", render(evaluation))?;
    }
    judging.picture.as_ref().map_or(Ok(()), |path| draw(evaluation, path))
}

fn draw(evaluation: &Evaluation, path: &Path) -> Result<(), Failure> {
    let io = |source| LabError::Io { action: "write", path: path.to_owned(), source };
    Ok(std::fs::write(path, svg::file(&scene(evaluation))).map_err(io)?)
}
