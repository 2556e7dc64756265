//! `results.jsonl`: one line a finished trial, appended as it finishes.
//!
//! Lines are found again by the trial's name, never by their position. A line that a crash tore in half is dropped and
//! its trial played again; anything else that cannot be read stops with an error, so that nothing is lost silently.
//!
//! A trial may be played elsewhere, on another machine say: [`line()`] is what travels back,
//! [`Store::accept`] takes it in.

use std::collections::HashMap;
use std::fs::{self, File, OpenOptions};
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use reluctant::BEHAVIOUR;
use serde::{Deserialize, Serialize};

use crate::error::{LabError, Result};
use crate::plan::{Stage, Trial};
use crate::report::OUTPUTS;
use crate::results::TrialCurve;
use crate::spec::Experiment;

/// The version that plays.
const VERSION: &str = env!("CARGO_PKG_VERSION");

/// The format of the folder's files.
const FORMAT: u32 = 1;

const MANIFEST: &str = "experiment.json";
const RESULTS: &str = "results.jsonl";

/// A folder with the results of one experiment.
#[derive(Debug)]
#[non_exhaustive]
pub struct Store {
    finished: Mutex<HashMap<String, TrialCurve>>,
    /// `None` for results that live in memory alone.
    folder: Option<Folder>,
    /// Whether a torn last line was dropped on opening.
    pub torn: bool,
}

/// Where results are kept.
#[derive(Debug)]
struct Folder {
    results: PathBuf,
    file: Mutex<File>,
    /// Held as long as this process writes to the folder.
    _lock: File,
}

#[derive(Serialize, Deserialize)]
struct Manifest {
    format: u32,
    version: String,
    /// What the trials are functions of besides their content: results of two behaviours are not mixed.
    #[serde(default = "first_behaviour")]
    behaviour: u32,
    experiment: Experiment,
}

/// Of results that were written before behaviours were counted.
fn first_behaviour() -> u32 {
    1
}

#[derive(Serialize, Deserialize)]
struct Line {
    format: u32,
    id: String,
    policy: String,
    stage: Stage,
    #[serde(flatten)]
    curve: TrialCurve,
}

impl Store {
    /// Opens `dir` for `experiment`, making it if it is not there. If it holds the same experiment, or one with fewer
    /// trials, its finished trials are kept; if it holds another, that is an error. With `fresh`, earlier results of
    /// whatever experiment are removed first. Where it holds none, whatever bears the name of one of the files to come
    /// is someone's own, and nothing is touched, with `fresh` or without.
    pub fn open(dir: &Path, experiment: &Experiment, fresh: bool) -> Result<Self> {
        fs::create_dir_all(dir).map_err(LabError::io("make the folder", dir))?;
        refuse_occupied(dir)?;
        let lock = lock_folder(dir)?;
        let (manifest, results) = (manifest_path(dir), results_path(dir));
        if fresh {
            for path in [&results, &manifest] {
                match fs::remove_file(path) {
                    Err(cause) if cause.kind() != std::io::ErrorKind::NotFound => {
                        return Err(LabError::io("remove", path)(cause));
                    }
                    _ => {}
                }
            }
        }
        if manifest.exists() {
            let Manifest { version, behaviour, experiment: held, .. } = read_manifest(dir)?;
            if behaviour != BEHAVIOUR {
                let what = format!(
                    "they were played by version {version}, whose results differ in their bits from those of this one, \
                     {VERSION}"
                );
                return Err(LabError::OtherExperiment { dir: dir.to_owned(), what });
            }
            if let Some(what) = held.difference(experiment) {
                return Err(LabError::OtherExperiment { dir: dir.to_owned(), what });
            }
            // Whoever reads the folder without the programs' code finds their trials by the fingerprints that stand
            // here; and as many trials belong to the experiment as it says.
            if held.code() != experiment.code() || held.trials != experiment.trials {
                write_manifest(&manifest, experiment)?;
            }
        } else if results.exists() {
            let what = "it has a results.jsonl but no experiment.json".to_owned();
            return Err(LabError::OtherExperiment { dir: dir.to_owned(), what });
        } else {
            write_manifest(&manifest, experiment)?;
        }
        let (finished, torn) = read_results(&results, true)?;
        let file = OpenOptions::new()
            .create(true)
            .append(true)
            .open(&results)
            .map_err(LabError::io("open for writing", &results))?;
        let folder = Folder { results, file: Mutex::new(file), _lock: lock };
        Ok(Store { finished: Mutex::new(finished), folder: Some(folder), torn })
    }

    /// Results that are kept in memory and nowhere else.
    pub fn in_memory() -> Self {
        Store { finished: Mutex::default(), folder: None, torn: false }
    }

    /// The experiment that `dir` holds, the version that played it and its finished trials, without changing anything.
    pub fn read(dir: &Path) -> Result<(Experiment, String, HashMap<String, TrialCurve>)> {
        if !manifest_path(dir).exists() {
            let reason = "there is no experiment.json; give a folder that `reluctant run` or `reproduce` wrote";
            return Err(LabError::NoResults { dir: dir.to_owned(), reason: reason.to_owned() });
        }
        let Manifest { version, experiment, .. } = read_manifest(dir)?;
        let (finished, _) = read_results(&results_path(dir), false)?;
        Ok((experiment, version, finished))
    }

    /// Whether a trial is finished.
    pub fn has(&self, trial: &Trial) -> bool {
        lock(&self.finished).contains_key(&trial.id())
    }

    /// All finished trials by name.
    pub fn finished(&self) -> HashMap<String, TrialCurve> {
        lock(&self.finished).clone()
    }

    /// Appends a finished trial: the line is on its way to the disk before this returns.
    pub fn append(&self, trial: &Trial, curve: TrialCurve) -> Result<()> {
        if let Some(folder) = &self.folder {
            folder.append(line(trial, &curve)?)?;
        }
        lock(&self.finished).insert(trial.id(), curve);
        Ok(())
    }

    /// Takes in the [`line()`] of `trial`, played elsewhere. One that is here already is not kept
    /// twice; returns whether it was new.
    pub fn accept(&self, trial: &Trial, text: &str) -> Result<bool> {
        let Line { id, curve, .. } = read_line(text.as_bytes()).map_err(LabError::Foreign)?;
        if id != trial.id() {
            return Err(LabError::Foreign(format!("it is the result of trial {id}, not of {}", trial.id())));
        }
        if self.has(trial) {
            return Ok(false);
        }
        self.append(trial, curve)?;
        Ok(true)
    }
}

impl Folder {
    fn append(&self, mut line: String) -> Result<()> {
        line.push('\n');
        // One write a line: only the last can ever be torn.
        lock(&self.file).write_all(line.as_bytes()).map_err(LabError::io("append to", &self.results))
    }
}

/// A finished trial as one line of `results.jsonl`.
pub fn line(trial: &Trial, curve: &TrialCurve) -> Result<String> {
    let line =
        Line { format: FORMAT, id: trial.id(), policy: trial.policy.clone(), stage: trial.stage, curve: curve.clone() };
    serde_json::to_string(&line).map_err(|cause| LabError::Foreign(cause.to_string()))
}

/// A poisoned lock only means that another worker failed; what it guards is whole.
fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}

fn manifest_path(dir: &Path) -> PathBuf {
    dir.join(MANIFEST)
}

fn results_path(dir: &Path) -> PathBuf {
    dir.join(RESULTS)
}

fn write_manifest(path: &Path, experiment: &Experiment) -> Result<()> {
    let (version, experiment) = (VERSION.to_owned(), experiment.clone());
    let manifest = Manifest { format: FORMAT, version, behaviour: BEHAVIOUR, experiment };
    let text = serde_json::to_string_pretty(&manifest).map_err(|cause| LabError::io("write", path)(cause.into()))?;
    let temporary = path.with_extension("json.part");
    fs::write(&temporary, text + "\n").map_err(LabError::io("write", &temporary))?;
    fs::rename(&temporary, path).map_err(LabError::io("write", path))
}

/// An error if a file that an experiment writes lies in a folder that holds none.
fn refuse_occupied(dir: &Path) -> Result<()> {
    let mut written = [MANIFEST, RESULTS].into_iter().chain(OUTPUTS.iter().map(|output| output.file));
    // In this order: a run that begins at this moment writes its manifest before anything else.
    match written.find(|file| dir.join(file).exists()) {
        Some(file) if !holds_experiment(dir) => Err(LabError::Occupied { dir: dir.to_owned(), file }),
        _ => Ok(()),
    }
}

/// Whether the manifest or the results of an experiment are here, readable or not: those of another format are, too.
fn holds_experiment(dir: &Path) -> bool {
    let bears = |text: &[u8], keys: [&str; 2]| {
        let value: Option<serde_json::Value> = serde_json::from_slice(text).ok();
        value.is_some_and(|value| keys.iter().all(|key| value.get(key).is_some()))
    };
    let mut line = Vec::new();
    // What cannot be read is not known to be ours.
    let read = File::open(results_path(dir)).and_then(|file| BufReader::new(file).read_until(b'\n', &mut line));
    fs::read(manifest_path(dir)).is_ok_and(|text| bears(&text, ["format", "experiment"]))
        || read.is_ok() && bears(&line, ["format", "id"])
}

/// Takes the folder for this process alone; the lock goes with the process.
fn lock_folder(dir: &Path) -> Result<File> {
    let path = dir.join(".lock");
    let open = OpenOptions::new().create(true).truncate(false).write(true).open(&path);
    let file = open.map_err(LabError::io("write", &path))?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(fs::TryLockError::WouldBlock) => Err(LabError::Busy { dir: dir.to_owned() }),
        Err(fs::TryLockError::Error(cause)) => Err(LabError::io("lock", &path)(cause)),
    }
}

fn read_manifest(dir: &Path) -> Result<Manifest> {
    let path = manifest_path(dir);
    let text = fs::read_to_string(&path).map_err(LabError::io("read", &path))?;
    let wrong = |line, message| LabError::Input { file: path.clone(), line, message };
    let value: serde_json::Value = serde_json::from_str(&text)
        .map_err(|cause| wrong(Some(cause.line()), format!("this is not the manifest of an experiment: {cause}")))?;
    check_format(value.get("format")).map_err(|message| wrong(None, message))?;
    serde_json::from_value(value)
        .map_err(|cause| wrong(None, format!("this is not the manifest of an experiment: {cause}")))
}

/// The finished trials of a file, and whether its last line was torn. With `mend`, a torn line is cut off.
fn read_results(path: &Path, mend: bool) -> Result<(HashMap<String, TrialCurve>, bool)> {
    let bytes = match fs::read(path) {
        Ok(bytes) => bytes,
        Err(cause) if cause.kind() == std::io::ErrorKind::NotFound => return Ok((HashMap::new(), false)),
        Err(cause) => return Err(LabError::io("read", path)(cause)),
    };
    let whole = bytes.iter().rposition(|&b| b == b'\n').map_or(0, |at| at + 1);
    let torn = whole < bytes.len();
    let mut finished = HashMap::new();
    for (i, line) in bytes[..whole].split(|&b| b == b'\n').enumerate().filter(|(_, line)| !line.is_empty()) {
        let Line { id, curve, .. } =
            read_line(line).map_err(|message| LabError::Input { file: path.to_owned(), line: Some(i + 1), message })?;
        finished.insert(id, curve);
    }
    if torn && mend {
        let file = OpenOptions::new().write(true).open(path).map_err(LabError::io("open for writing", path))?;
        file.set_len(whole as u64).map_err(LabError::io("mend", path))?;
    }
    Ok((finished, torn))
}

fn read_line(line: &[u8]) -> std::result::Result<Line, String> {
    let value: serde_json::Value =
        serde_json::from_slice(line).map_err(|cause| format!("this line is not a finished trial: {cause}"))?;
    check_format(value.get("format"))?;
    serde_json::from_value(value).map_err(|cause| format!("this line is not a finished trial: {cause}"))
}

fn check_format(format: Option<&serde_json::Value>) -> std::result::Result<(), String> {
    match format {
        Some(found) if *found == FORMAT => Ok(()),
        Some(found) => {
            Err(format!("this was written in format {found}, and this version of reluctant reads format {FORMAT}"))
        }
        None => Err(format!("this has no format, so reluctant did not write it; this version reads format {FORMAT}")),
    }
}
