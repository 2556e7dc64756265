//! Reports on finished trials, one output format a file.
//!
//! Everything starts from a [`Digest`], which holds each statistic once, so that no two formats can disagree. To add an
//! output, write `render(&Digest)` in its own file and add a line to [`OUTPUTS`].

mod digest;
pub(crate) mod text;
mod thin;

pub mod csv;
pub mod draw;
pub mod figure;
pub mod html;
pub mod json;
pub mod table;
pub mod wrap;

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

pub use digest::{Digest, EnvironmentDigest, PolicyDigest};

use self::draw::Font;
use self::figure::Figure;
use crate::results::{Malformed, Results};

/// Why a report could not be written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReportError {
    /// The results contradict themselves.
    #[error("there is no report on results that contradict themselves: {0}")]
    Malformed(#[from] Malformed),
    /// A file's contents could not be made.
    #[error("'{file}' could not be made: {cause}")]
    Render {
        /// The file's name.
        file: &'static str,
        /// What failed.
        cause: String,
    },
    /// A file or directory could not be written.
    #[error("'{}' could not be written: {cause}", .path.display())]
    Write {
        /// The file or directory.
        path: PathBuf,
        /// What the system said.
        #[source]
        cause: io::Error,
    },
}

/// A file that [`write_all`] writes.
#[non_exhaustive]
pub struct Output {
    /// Its name.
    pub file: &'static str,
    /// Makes its contents, or says why it cannot; none where the results have nothing to show in it.
    pub render: fn(&Digest<'_>) -> Result<Option<Vec<u8>>, String>,
}

/// Every file of a report.
pub const OUTPUTS: &[Output] = &[
    Output { file: "summary.json", render: |digest| json::render(digest).map(String::into_bytes).map(Some) },
    Output { file: "curves.csv", render: |digest| csv::curves(digest).map(Some) },
    Output { file: "trials.csv", render: |digest| csv::trials(digest).map(Some) },
    Output { file: "regret.svg", render: |digest| svg(&Figure::mean(digest)).map(Some) },
    Output { file: "regret.png", render: |digest| png(&Figure::mean(digest)).map(Some) },
    Output { file: "regret-log.svg", render: |digest| svg(&Figure::spread(digest)).map(Some) },
    Output { file: "regret-log.png", render: |digest| png(&Figure::spread(digest)).map(Some) },
    Output { file: "regret-bound.svg", render: |digest| Figure::bound(digest).as_ref().map(svg).transpose() },
    Output { file: "regret-bound.png", render: |digest| Figure::bound(digest).as_ref().map(png).transpose() },
    Output { file: "report.html", render: |digest| html::render(digest).map(String::into_bytes).map(Some) },
];

fn svg(figure: &Figure) -> Result<Vec<u8>, String> {
    Ok(draw::svg::file(&figure.scene(&Font::load()?)).into_bytes())
}

fn png(figure: &Figure) -> Result<Vec<u8>, String> {
    let font = Font::load()?;
    draw::png::file(&figure.scene(&font), &font)
}

/// Writes every file of a report into `dir`, which is created if need be, and says which files those are.
///
/// All contents are made before the first file is touched, and each file is replaced as a whole: a reader sees
/// the old or the new one, never half of it. A file that an earlier report left and that these results have
/// nothing to show in is removed.
pub fn write_all(results: &Results, dir: &Path) -> Result<Vec<PathBuf>, ReportError> {
    results.check()?;
    let digest = Digest::new(results);
    let render = |output: &Output| match (output.render)(&digest) {
        Ok(contents) => Ok((dir.join(output.file), contents)),
        Err(cause) => Err(ReportError::Render { file: output.file, cause }),
    };
    let files = OUTPUTS.iter().map(render).collect::<Result<Vec<_>, _>>()?;
    fs::create_dir_all(dir).map_err(|cause| ReportError::Write { path: dir.to_owned(), cause })?;
    for (path, contents) in &files {
        let done = contents.as_deref().map_or_else(|| remove(path), |contents| replace(path, contents));
        done.map_err(|cause| ReportError::Write { path: path.clone(), cause })?;
    }
    Ok(files.into_iter().filter_map(|(path, contents)| contents.map(|_| path)).collect())
}

/// Writes a page with two experiments side by side, each under the name that readers know it by.
pub fn write_comparison(names: [&str; 2], results: [&Results; 2], file: &Path) -> Result<(), ReportError> {
    results.iter().try_for_each(|results| results.check())?;
    let digests = results.map(Digest::new);
    let page = html::compare(names, digests.each_ref())
        .map_err(|cause| ReportError::Render { file: "comparison.html", cause })?;
    replace(file, page.as_bytes()).map_err(|cause| ReportError::Write { path: file.to_owned(), cause })
}

/// Removes the file at `path`, if there is one.
fn remove(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(cause) if cause.kind() == io::ErrorKind::NotFound => Ok(()),
        done => done,
    }
}

/// Replaces the file at `path` as a whole: writes a neighbour, then renames it.
pub(crate) fn replace(path: &Path, contents: &[u8]) -> io::Result<()> {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(format!(".{}.tmp", std::process::id()));
    let neighbour = path.with_file_name(name);
    let written = fs::File::create(&neighbour).and_then(|mut file| {
        file.write_all(contents)?;
        file.sync_all()
    });
    let replaced = written.and_then(|()| fs::rename(&neighbour, path));
    if replaced.is_err() {
        // The first error is the one to report; a neighbour that cannot be removed was most likely never made.
        let _ = fs::remove_file(&neighbour);
    }
    replaced
}

/// What stands above an environment's table, such as "(a) d = 2, k = 3: 50 trials of 1 000 rounds".
fn headline(environment: &EnvironmentDigest<'_>) -> String {
    let trials = match environment.trials() {
        [fewest, most] if !environment.results.is_complete() => {
            let [fewest, most, planned] = [fewest as u64, most as u64, environment.results.planned].map(text::count);
            let played = if fewest == most { most } else { format!("{fewest} to {most}") };
            format!("{played} of {planned} trials")
        }
        [1, 1] => "1 trial".to_owned(),
        [fewest, most] if fewest == most => format!("{} trials", text::count(most as u64)),
        [fewest, most] => format!("{} to {} trials", text::count(fewest as u64), text::count(most as u64)),
    };
    format!("{}: {trials} of {}", environment.title, text::rounds(environment.results.rounds))
}

/// The labels of all policies, each once. A policy looks the same in every environment: its look goes by the place of
/// its label here.
fn labels<'a>(digests: &[&Digest<'a>]) -> Vec<&'a str> {
    let mut labels: Vec<&str> = Vec::new();
    let environments = digests.iter().flat_map(|digest| &digest.environments);
    for policy in environments.flat_map(|environment| &environment.policies) {
        if !labels.contains(&policy.label()) {
            labels.push(policy.label());
        }
    }
    labels
}
