//! Experiments: their trials, played here or elsewhere, and their results.

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::Duration;

use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use reluctant::Registry;
use reluctant_lab::plan::{Stage, Trial};
use reluctant_lab::run::{self, Event, Job};
use reluctant_lab::{LabError, registry, store};

use crate::errors::refuse_lab;
use crate::own::Raised;
use crate::results::Results;
use crate::{own, own_environment};

/// How often a run looks for a signal, Ctrl-C above all, when nothing else happens.
const TICK: Duration = Duration::from_millis(50);

/// Environments and policies written in Python: `reluctant.own.OwnEnvironment` and `reluctant.own.OwnPolicy`.
#[derive(FromPyObject, Default)]
pub(crate) struct Own(Vec<Py<PyAny>>, Vec<Py<PyAny>>);

impl Own {
    /// All that the lab knows, and these; and where an exception of theirs is kept.
    fn registry(&self, py: Python<'_>) -> PyResult<(Registry, Raised)> {
        let (mut known, raised) = (registry(), Raised::default());
        for environment in &self.0 {
            known = known.with_environment(own_environment::entry(environment.bind(py), raised.clone())?);
        }
        for policy in &self.1 {
            known = known.with_policy(own::entry(policy.bind(py), raised.clone())?);
        }
        Ok((known, raised))
    }
}

/// Environments × policies × trials, checked.
#[pyclass(frozen, module = "reluctant._core")]
pub(crate) struct Experiment {
    experiment: reluctant_lab::Experiment,
    own: Own,
}

#[pymethods]
impl Experiment {
    /// Reads TOML; `file` and the line are named in errors, unless no file was written. `own` are the environments and
    /// the policies that are written in Python.
    #[new]
    #[pyo3(signature = (text, file = None, *, own = None))]
    fn new(py: Python<'_>, text: &str, file: Option<PathBuf>, own: Option<Own>) -> PyResult<Self> {
        let path = file.clone().unwrap_or_else(|| "experiment".into());
        let own = own.unwrap_or_default();
        let (known, raised) = own.registry(py)?;
        let parsed = py.detach(|| reluctant_lab::Experiment::parse(text, &path, &known));
        if let Some(raised) = raised.take() {
            return Err(raised);
        }
        let mut experiment = parsed.map_err(|error| match error {
            LabError::Input { message, .. } if file.is_none() => PyValueError::new_err(message),
            error => refuse_lab(error),
        })?;
        for policy in &own.1 {
            let policy = policy.bind(py);
            let (kind, code): (String, String) =
                (policy.getattr("name")?.extract()?, policy.getattr("code")?.extract()?);
            for contender in experiment.contenders.iter_mut().filter(|contender| contender.kind == kind) {
                contender.code = Some(code.clone());
            }
        }
        Ok(Experiment { experiment, own })
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
    fn environments(&self) -> Vec<String> {
        self.experiment.environments.iter().map(|environment| environment.label.clone()).collect()
    }

    #[getter]
    fn contenders(&self) -> Vec<String> {
        self.experiment.contenders.iter().map(|contender| contender.label.clone()).collect()
    }
}

/// The finished trials of an experiment, in a folder or in memory.
#[pyclass(frozen, module = "reluctant._core")]
pub(crate) struct Store {
    experiment: Py<Experiment>,
    store: store::Store,
    known: Registry,
    /// The exception of an environment or a policy written in Python.
    raised: Raised,
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
        let (known, raised) = experiment.bind(py).get().own.registry(py)?;
        Ok(Store { experiment, store, known, raised })
    }

    /// Plays every trial that is missing, here, on so many threads (0: one a core). `notify` is called in
    /// this thread with what happens.
    fn run(&self, py: Python<'_>, threads: usize, notify: &Bound<'_, PyAny>) -> PyResult<()> {
        let (experiment, notify) = (&self.experiment.bind(py).get().experiment, notify.clone().unbind());
        let (store, known, stop) = (&self.store, &self.known, AtomicBool::new(false));
        let (send, receive) = mpsc::channel::<Happening>();
        let (outcome, raised) = py.detach(move || {
            thread::scope(|scope| {
                let stop = &stop;
                let worker = scope.spawn(move || {
                    // Nobody listens any more only if this thread is gone, too.
                    let tell = |event: Event<'_>| drop(send.send(event.into()));
                    run::run_until(known, experiment, store, threads, &tell, stop)
                });
                let mut raised: Option<PyErr> = None;
                loop {
                    let heard = receive.recv_timeout(TICK);
                    if heard == Err(RecvTimeoutError::Disconnected) {
                        break;
                    }
                    if raised.is_none() {
                        // Python handles signals in its main thread and nowhere else: here, not
                        // where trials are played.
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
        match (raised.or_else(|| self.raised.take()), outcome) {
            (Some(raised), _) => Err(raised),
            (None, Ok(outcome)) => outcome.map_err(refuse_lab),
            (None, Err(_)) => Err(PyRuntimeError::new_err("a trial failed without saying why")),
        }
    }

    /// How many trials a stage ("tuning" or "reported") has, and those that are missing.
    fn waiting(&self, py: Python<'_>, stage: &str) -> PyResult<(usize, Vec<Waiting>)> {
        let stage = if stage == "tuning" { Stage::Tuning } else { Stage::Reported };
        let experiment = &self.experiment.bind(py).get().experiment;
        let jobs = run::jobs(&self.known, experiment, stage, &self.store.finished()).map_err(refuse_lab)?;
        let total = jobs.len();
        let waiting = |job: Job<'_>| Ok((job.environment.to_owned(), job.policy.to_owned(), encode(&job.trial)?));
        let missing = run::missing(&self.store, jobs).into_iter().map(waiting).collect::<PyResult<_>>()?;
        Ok((total, missing))
    }

    /// Takes in the line that `run_trial` returned for a trial; false if that trial was here already.
    fn accept(&self, trial: &str, line: &str) -> PyResult<bool> {
        self.store.accept(&decode(trial)?, line).map_err(refuse_lab)
    }

    /// Everything that is finished, in canonical order.
    fn results(&self, py: Python<'_>) -> PyResult<Results> {
        let experiment = &self.experiment.bind(py).get().experiment;
        let results = run::assemble(&self.known, experiment, &self.store.finished()).map_err(refuse_lab)?;
        Ok(Results::new(results))
    }
}

/// What happens during a run, without borrowing from it.
#[derive(PartialEq)]
enum Happening {
    Begin { stage: &'static str, total: u64, finished: u64 },
    Finished { environment: String, policy: String },
    End,
}

impl From<Event<'_>> for Happening {
    fn from(event: Event<'_>) -> Self {
        match event {
            Event::Begin { stage, total, finished } => {
                let stage = if stage == Stage::Tuning { "tuning" } else { "trials" };
                Happening::Begin { stage, total, finished }
            }
            Event::Finished { environment, policy } => {
                Happening::Finished { environment: environment.to_owned(), policy: policy.to_owned() }
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
            Happening::Finished { environment, policy } => ("finished", environment, policy).into_pyobject(py)?,
            Happening::End => ("end",).into_pyobject(py)?,
        };
        let message: Bound<'_, PyTuple> = message;
        notify.call1(message).map(|_| ())
    }
}

/// Plays a trial, wherever this is called, and returns its line of `results.jsonl`. `version` is the caller's: other
/// versions may play otherwise. `own` are the environments and policies written in Python that the trial names.
#[pyfunction]
#[pyo3(signature = (trial, version, own = None))]
pub(crate) fn run_trial(py: Python<'_>, trial: &str, version: &str, own: Option<Own>) -> PyResult<String> {
    if version != env!("CARGO_PKG_VERSION") {
        let mine = env!("CARGO_PKG_VERSION");
        let sentence = format!("this worker has reluctant {mine}, but the experiment was started with {version}");
        return Err(PyRuntimeError::new_err(sentence));
    }
    let trial = decode(trial)?;
    let (known, raised) = own.unwrap_or_default().registry(py)?;
    let played = py.detach(|| trial.run(&known));
    if let Some(raised) = raised.take() {
        return Err(raised);
    }
    let curve = played.map_err(|cause| {
        let (environment, policy) = (trial.environment.clone(), trial.policy.clone());
        refuse_lab(LabError::Trial { environment, policy, trial: trial.trial, source: Box::new(cause) })
    })?;
    store::line(&trial, &curve).map_err(refuse_lab)
}

fn encode(trial: &Trial) -> PyResult<String> {
    serde_json::to_string(trial).map_err(|cause| PyValueError::new_err(cause.to_string()))
}

fn decode(trial: &str) -> PyResult<Trial> {
    let wrong = |cause: serde_json::Error| refuse_lab(LabError::Foreign(format!("it is not a trial: {cause}")));
    serde_json::from_str(trial).map_err(wrong)
}
