//! Experiments: their trials, played here or elsewhere, and their results.

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::Duration;

use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use reluctant_lab::plan::{Stage, Trial};
use reluctant_lab::results::{PolicyResults, TrialCurve};
use reluctant_lab::run::{self, Event, Job};
use reluctant_lab::{LabError, registry, store};

use crate::errors::{refuse, refuse_lab};
use crate::own::{self, Raised};
use crate::results::Results;

/// How often a run looks for a signal, Ctrl-C above all, when nothing else happens.
const TICK: Duration = Duration::from_millis(50);

/// Environments × policies × trials, checked.
#[pyclass(frozen, module = "reluctant._core")]
pub(crate) struct Experiment {
    experiment: reluctant_lab::Experiment,
}

#[pymethods]
impl Experiment {
    /// Reads TOML; `file` and the line are named in errors, unless no file was written. With `bare`, its policies are a placeholder: all
    /// are written in Python.
    #[new]
    #[pyo3(signature = (text, file = None, *, bare = false))]
    fn new(text: &str, file: Option<PathBuf>, bare: bool) -> PyResult<Self> {
        let path = file.clone().unwrap_or_else(|| "experiment".into());
        let parsed = reluctant_lab::Experiment::parse(text, &path, &registry());
        let mut experiment = parsed.map_err(|error| match error {
            LabError::Input { message, .. } if file.is_none() => PyValueError::new_err(message),
            error => refuse_lab(error),
        })?;
        if bare {
            experiment.contenders.clear();
        }
        Ok(Experiment { experiment })
    }

    #[getter]
    fn name(&self) -> &str {
        &self.experiment.name
    }

    #[getter]
    fn title(&self) -> &str {
        &self.experiment.title
    }

    #[getter]
    fn seed(&self) -> u64 {
        self.experiment.seed
    }

    #[getter]
    fn trials(&self) -> u64 {
        self.experiment.trials
    }

    #[getter]
    fn worlds(&self) -> Vec<String> {
        self.experiment.worlds.iter().map(|world| world.label.clone()).collect()
    }

    #[getter]
    fn contenders(&self) -> Vec<String> {
        self.experiment.contenders.iter().map(|contender| contender.label.clone()).collect()
    }

    /// The reported trials of a policy that is written in Python, in the environment of this label, as JSON.
    fn own_trials(&self, world: &str, label: &str) -> PyResult<Vec<String>> {
        let world = self.experiment.worlds.iter().find(|known| known.label == world);
        let world = world.ok_or_else(|| PyValueError::new_err("there is no such environment"))?;
        let trial = |trial| Trial {
            environment: world.kind.clone(),
            environment_settings: world.settings.clone(),
            policy: label.to_owned(),
            policy_settings: reluctant::Settings::new(),
            rounds: world.rounds,
            seed: self.experiment.seed,
            stage: Stage::Reported,
            trial,
            source: world.source.clone(),
        };
        (0..self.experiment.trials).map(|number| encode(&trial(number))).collect()
    }
}

/// The finished trials of an experiment, in a folder or in memory.
#[pyclass(frozen, module = "reluctant._core")]
pub(crate) struct Store {
    experiment: Py<Experiment>,
    store: store::Store,
}

/// A trial that waits to be played: the labels of its environment and its policy, and the trial itself as JSON.
type Waiting = (String, String, String);

#[pymethods]
impl Store {
    #[new]
    #[pyo3(signature = (experiment, dir = None, *, fresh = false))]
    fn new(py: Python<'_>, experiment: Py<Experiment>, dir: Option<PathBuf>, fresh: bool) -> PyResult<Self> {
        let store = match dir {
            None => store::Store::in_memory(),
            Some(dir) => store::Store::open(&dir, &experiment.bind(py).get().experiment, fresh).map_err(refuse_lab)?,
        };
        Ok(Store { experiment, store })
    }

    /// Plays every trial that is missing, here, on so many threads (0: one a core). `notify` is called in this thread with what happens.
    fn run(&self, py: Python<'_>, threads: usize, notify: &Bound<'_, PyAny>) -> PyResult<()> {
        let (experiment, notify) = (&self.experiment.bind(py).get().experiment, notify.clone().unbind());
        let (store, stop) = (&self.store, AtomicBool::new(false));
        let (send, receive) = mpsc::channel::<Happening>();
        let (outcome, raised) = py.detach(move || {
            thread::scope(|scope| {
                let stop = &stop;
                let worker = scope.spawn(move || {
                    // Nobody listens any more only if this thread is gone, too.
                    let tell = |event: Event<'_>| drop(send.send(event.into()));
                    run::run_until(&registry(), experiment, store, threads, &tell, stop)
                });
                let mut raised: Option<PyErr> = None;
                loop {
                    let heard = receive.recv_timeout(TICK);
                    if heard == Err(RecvTimeoutError::Disconnected) {
                        break;
                    }
                    if raised.is_none() {
                        // Python handles signals in its main thread and nowhere else: here, not where trials are played.
                        let told = Python::attach(|py| {
                            heard.ok().map_or(Ok(()), |happening| happening.tell(notify.bind(py)))?;
                            py.check_signals()
                        });
                        raised = told.err();
                        stop.store(raised.is_some(), Ordering::Relaxed);
                    }
                }
                (worker.join(), raised)
            })
        });
        match (raised, outcome) {
            (Some(raised), _) => Err(raised),
            (None, Ok(outcome)) => outcome.map_err(refuse_lab),
            (None, Err(_)) => Err(PyRuntimeError::new_err("a trial failed without saying why")),
        }
    }

    /// How many trials a stage ("tuning" or "reported") has, and those that are missing.
    fn waiting(&self, py: Python<'_>, stage: &str) -> PyResult<(usize, Vec<Waiting>)> {
        let stage = if stage == "tuning" { Stage::Tuning } else { Stage::Reported };
        let experiment = &self.experiment.bind(py).get().experiment;
        let jobs = run::jobs(&registry(), experiment, stage, &self.store.finished()).map_err(refuse_lab)?;
        let total = jobs.len();
        let waiting = |job: Job<'_>| Ok((job.world.to_owned(), job.policy.to_owned(), encode(&job.trial)?));
        let missing = run::missing(&self.store, jobs).into_iter().map(waiting).collect::<PyResult<_>>()?;
        Ok((total, missing))
    }

    /// Takes in the line that `run_trial` returned for a trial; false if that trial was here already.
    fn accept(&self, trial: &str, line: &str) -> PyResult<bool> {
        self.store.accept(&decode(trial)?, line).map_err(refuse_lab)
    }

    /// Everything that is finished, in canonical order. `own` are the policies written in Python: their place among all policies, the
    /// environment, the label, and one curve a trial as JSON.
    fn results(&self, py: Python<'_>, own: Vec<(usize, String, String, Vec<String>)>) -> PyResult<Results> {
        let experiment = &self.experiment.bind(py).get().experiment;
        let mut results = run::assemble(&registry(), experiment, &self.store.finished()).map_err(refuse_lab)?;
        for (place, world, label, curves) in own {
            let curves = curves.iter().map(|curve| serde_json::from_str::<TrialCurve>(curve));
            let trials = curves.collect::<Result<_, _>>().map_err(|cause| PyValueError::new_err(cause.to_string()))?;
            for panel in results.panels.iter_mut().filter(|panel| panel.name == world) {
                let (params, tuned) = Default::default();
                let (label, policy) = (label.clone(), "python".to_owned());
                let place = place.min(panel.policies.len());
                panel
                    .policies
                    .insert(place, PolicyResults { label, policy, params, tuned, trials: Vec::clone(&trials) });
            }
        }
        Ok(Results::new(results))
    }
}

/// What happens during a run, without borrowing from it.
#[derive(PartialEq)]
enum Happening {
    Begin { stage: &'static str, total: u64, finished: u64 },
    Finished { world: String, policy: String },
    End,
}

impl From<Event<'_>> for Happening {
    fn from(event: Event<'_>) -> Self {
        match event {
            Event::Begin { stage, total, finished } => {
                let stage = if stage == Stage::Tuning { "tuning" } else { "trials" };
                Happening::Begin { stage, total, finished }
            }
            Event::Finished { world, policy } => {
                Happening::Finished { world: world.to_owned(), policy: policy.to_owned() }
            }
            Event::End => Happening::End,
        }
    }
}

impl Happening {
    fn tell(self, notify: &Bound<'_, PyAny>) -> PyResult<()> {
        let py = notify.py();
        let message = match self {
            Happening::Begin { stage, total, finished } => ("begin", stage, total, finished).into_pyobject(py)?,
            Happening::Finished { world, policy } => ("finished", world, policy).into_pyobject(py)?,
            Happening::End => ("end",).into_pyobject(py)?,
        };
        let message: Bound<'_, PyTuple> = message;
        notify.call1(message).map(|_| ())
    }
}

/// Plays a trial, wherever this is called, and returns its line of `results.jsonl`. `version` is the caller's: other versions may
/// play otherwise.
#[pyfunction]
pub(crate) fn run_trial(py: Python<'_>, trial: &str, version: &str) -> PyResult<String> {
    if version != env!("CARGO_PKG_VERSION") {
        let mine = env!("CARGO_PKG_VERSION");
        let sentence = format!("this worker has reluctant {mine}, but the experiment was started with {version}");
        return Err(PyRuntimeError::new_err(sentence));
    }
    let trial = decode(trial)?;
    py.detach(|| match trial.run(&registry()) {
        Ok(curve) => store::line(&trial, &curve).map_err(refuse_lab),
        Err(cause) => Err(refuse(cause)),
    })
}

/// Plays a trial with the policy that `make(dim, seed)` returns and returns its curve as JSON.
#[pyfunction]
pub(crate) fn run_own(py: Python<'_>, trial: &str, make: &Bound<'_, PyAny>) -> PyResult<String> {
    let (trial, make) = (decode(trial)?, make.clone().unbind());
    let raised = Raised::default();
    let played = py.detach(|| {
        // Every trial has a seed of its own, the same whoever plays it.
        let seed = trial.seed.wrapping_add(trial.trial);
        let known = registry().with_policy(own::entry(&trial.policy, seed, make, raised.clone()));
        trial.run(&known)
    });
    if let Some(raised) = raised.take() {
        return Err(raised);
    }
    serde_json::to_string(&played.map_err(refuse)?).map_err(|cause| PyValueError::new_err(cause.to_string()))
}

fn encode(trial: &Trial) -> PyResult<String> {
    serde_json::to_string(trial).map_err(|cause| PyValueError::new_err(cause.to_string()))
}

fn decode(trial: &str) -> PyResult<Trial> {
    let wrong = |cause: serde_json::Error| refuse_lab(LabError::Foreign(format!("it is not a trial: {cause}")));
    serde_json::from_str(trial).map_err(wrong)
}
