//! `reluctant run`: plays the experiment of a TOML file.

use std::path::{Path, PathBuf};
use std::time::Instant;

use reluctant::Registry;
use reluctant_lab::{Experiment, Store, run as lab};

use super::report::write_report;
use crate::args::Run;
use crate::failure::Failure;
use crate::progress::Progress;

pub(crate) fn run(registry: &Registry, options: &Run) -> Result<(), Failure> {
    let experiment = Experiment::load(&options.spec, registry)?;
    let out = options.out.clone().unwrap_or_else(|| default_folder(&experiment));
    play(registry, &experiment, &out, options.threads, options.fresh)
}

/// results/NAME.
pub(crate) fn default_folder(experiment: &Experiment) -> PathBuf {
    // A name is free text; a folder is not.
    let safe = |c: char| if c.is_alphanumeric() || "-_.".contains(c) { c } else { '-' };
    let name: String = experiment.name.chars().map(safe).collect();
    Path::new("results").join(if name.starts_with('.') { format!("-{name}") } else { name })
}

/// Plays what is missing, then reports.
pub(crate) fn play(
    registry: &Registry,
    experiment: &Experiment,
    out: &Path,
    threads: Option<usize>,
    fresh: bool,
) -> Result<(), Failure> {
    let start = Instant::now();
    let store = Store::open(out, experiment, fresh)?;
    if store.torn {
        eprintln!("the last line of results.jsonl was torn; that trial is played again");
    }
    let progress = Progress::new();
    lab::run(registry, experiment, &store, threads.unwrap_or(0), &|event| progress.show(event))?;
    let results = lab::assemble(registry, experiment, &store.finished())?;
    write_report(&results, out)?;
    eprintln!("done in {:.1} s", start.elapsed().as_secs_f64());
    Ok(())
}
