//! `reluctant report`: rebuilds every output of a folder from what it holds, or holds two folders side by side.

use std::io::Write;
use std::path::{Path, PathBuf};

use reluctant::Registry;
use reluctant_lab::report::wrap::wrap;
use reluctant_lab::report::{Digest, table, write_all, write_comparison};
use reluctant_lab::results::Results;
use reluctant_lab::{LabError, Store, run as lab};

use crate::args;
use crate::failure::Failure;
use crate::width;

pub(crate) fn report(registry: &Registry, options: &args::Report) -> Result<(), Failure> {
    match &options.other {
        None => rebuild(registry, &options.dir),
        Some(other) => compare(registry, [&options.dir, other], options.out.as_deref()),
    }
}

fn rebuild(registry: &Registry, dir: &Path) -> Result<(), Failure> {
    let results = read(registry, dir)?;
    write_report(&results, dir)?;
    if !results.is_complete() {
        eprintln!("this experiment is unfinished: the command that began it plays what is missing and reports again");
    }
    Ok(())
}

/// The results of a folder that has some.
fn read(registry: &Registry, dir: &Path) -> Result<Results, Failure> {
    let (experiment, version, finished) = Store::read(dir)?;
    let mut results = lab::assemble(registry, &experiment, &finished)?;
    results.version = version;
    if is_empty(&results) {
        let reason = "no policy has all of its tuning trials and a finished trial yet".to_owned();
        return Err(LabError::NoResults { dir: dir.to_owned(), reason }.into());
    }
    Ok(results)
}

/// Whether there is nothing to show yet.
pub(crate) fn is_empty(results: &Results) -> bool {
    results.environments.iter().all(|environment| environment.policies.is_empty())
}

fn compare(registry: &Registry, dirs: [&PathBuf; 2], out: Option<&Path>) -> Result<(), Failure> {
    let (first, second) = (read(registry, dirs[0])?, read(registry, dirs[1])?);
    let names = dirs.map(|dir| dir.display().to_string());
    let out = out.unwrap_or(Path::new("comparison.html"));
    write_comparison(names.each_ref().map(String::as_str), [&first, &second], out)?;
    writeln!(std::io::stdout().lock(), "wrote {}", out.display())?;
    Ok(())
}

/// Writes every file and shows the table.
pub(crate) fn write_report(results: &Results, dir: &Path) -> Result<(), Failure> {
    let files = write_all(results, dir)?;
    let mut out = std::io::stdout().lock();
    let columns = width::columns().unwrap_or(table::COLUMNS);
    writeln!(out, "{}", table::render_within(&Digest::new(results), columns))?;
    let names: Vec<_> = files.iter().filter_map(|file| file.file_name()).map(|name| name.to_string_lossy()).collect();
    writeln!(out, "{}", wrap(&format!("wrote {} to {}", names.join(", "), dir.display()), columns, "", ""))?;
    Ok(())
}
