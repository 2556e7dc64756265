//! `reluctant run`: plays the experiment of a TOML file.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use reluctant::Registry;
use reluctant_lab::report::{Digest, json, write_all};
use reluctant_lab::{Experiment, LabError, Store, run as lab};

use super::input;
use super::report::{self, write_report};
use crate::args::Run;
use crate::failure::Failure;
use crate::progress::Progress;

pub(crate) fn run(registry: &Registry, options: &Run) -> Result<(), Failure> {
    let text = input::text(&options.spec)?;
    let described = Experiment::parse(&text, &input::named(&options.spec), registry)?;
    let mut experiment = described.clone();
    if let Some(trials) = options.trials {
        experiment.trials = trials;
    }
    if let Some(rounds) = options.rounds {
        experiment.environments.iter_mut().for_each(|environment| environment.rounds = rounds);
    }
    let changed = experiment != described;
    let out = options.out.clone();
    let out = out.unwrap_or_else(|| if changed { own_folder(&experiment) } else { default_folder(&experiment) });
    let how = How { threads: options.threads, fresh: options.fresh, json: options.json };
    play(registry, &experiment, &out, &how)
}

/// results/NAME.
pub(crate) fn default_folder(experiment: &Experiment) -> PathBuf {
    // A name is free text; a folder is not.
    let safe = |c: char| if c.is_alphanumeric() || "-_.".contains(c) { c } else { '-' };
    let name: String = experiment.name.chars().map(safe).collect();
    Path::new("results").join(if name.starts_with('.') { format!("-{name}") } else { name })
}

/// A folder for what options have made another experiment than its file describes.
pub(crate) fn own_folder(experiment: &Experiment) -> PathBuf {
    let mut folder = default_folder(experiment).into_os_string();
    folder.push(format!("-{}", experiment.id()));
    folder.into()
}

/// How an experiment is played and shown.
pub(crate) struct How {
    pub(crate) threads: Option<usize>,
    pub(crate) fresh: bool,
    pub(crate) json: bool,
}

/// Plays what is missing, then reports.
pub(crate) fn play(registry: &Registry, experiment: &Experiment, out: &Path, how: &How) -> Result<(), Failure> {
    let start = Instant::now();
    let store = Store::open(out, experiment, how.fresh)?;
    if store.torn {
        eprintln!("the last line of results.jsonl was torn; that trial is played again");
    }
    let (progress, stop) = (Progress::new(), stop_on_interrupt());
    let threads = how.threads.unwrap_or(0);
    match lab::run_until(registry, experiment, &store, threads, &|event| progress.show(event), &stop) {
        Err(LabError::Stopped) => {
            let results = lab::assemble(registry, experiment, &store.finished())?;
            return Err(interrupted(store.finished().len(), !report::is_empty(&results), out));
        }
        outcome => outcome?,
    }
    let results = lab::assemble(registry, experiment, &store.finished())?;
    if how.json {
        write_all(&results, out)?;
        let summary = json::render(&Digest::new(&results)).unwrap_or_default();
        std::io::stdout().lock().write_all(summary.as_bytes())?;
    } else {
        write_report(&results, out)?;
    }
    eprintln!("done in {:.1} s", start.elapsed().as_secs_f64());
    Ok(())
}

/// Set once the user asks to stop (Ctrl-C); who asks twice is not kept waiting.
fn stop_on_interrupt() -> Arc<AtomicBool> {
    let stop = Arc::new(AtomicBool::new(false));
    let seen = Arc::clone(&stop);
    let ask = move || {
        if seen.swap(true, Ordering::SeqCst) {
            std::process::exit(130);
        }
    };
    // Where a program has a handler of its own, that one decides.
    let _ = ctrlc::set_handler(ask);
    stop
}

/// What to do next; the report is named only if it would have something to show.
fn interrupted(kept: usize, shown: bool, out: &Path) -> Failure {
    let trials = if kept == 1 { "1 finished trial is".to_owned() } else { format!("{kept} finished trials are") };
    let out = out.display();
    let look = if shown { format!(", and `reluctant report {out}` shows them") } else { String::new() };
    Failure::Interrupted(format!("stopped; {trials} kept in {out}: the same command goes on from there{look}"))
}
