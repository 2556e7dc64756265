//! Results as columns, tables and files.

use std::path::PathBuf;

use numpy::PyArray1;
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};
use reluctant_lab::report::{Digest, EnvironmentDigest, OUTPUTS, PolicyDigest, table, write_all};
use reluctant_lab::{Store, run};

use crate::errors::refuse_lab;

/// The finished trials of an experiment.
#[pyclass(frozen, module = "reluctant._core")]
pub(crate) struct Results {
    results: reluctant_lab::results::Results,
}

impl Results {
    pub(crate) fn new(results: reluctant_lab::results::Results) -> Self {
        Results { results }
    }
}

/// Every policy of every environment.
fn rows<'d, 'a>(digest: &'d Digest<'a>) -> impl Iterator<Item = (&'d EnvironmentDigest<'a>, &'d PolicyDigest<'a>)> {
    digest
        .environments
        .iter()
        .flat_map(|environment| environment.policies.iter().map(move |policy| (environment, policy)))
}

#[pymethods]
impl Results {
    /// What `to_json` wrote.
    #[new]
    fn from_json(text: &str) -> PyResult<Self> {
        let wrong = |cause: String| PyValueError::new_err(format!("these are no saved results: {cause}"));
        let results: reluctant_lab::results::Results =
            serde_json::from_str(text).map_err(|cause| wrong(cause.to_string()))?;
        results.check().map_err(|cause| wrong(cause.to_string()))?;
        Ok(Results { results })
    }

    /// Everything, as text.
    fn to_json(&self, py: Python<'_>) -> PyResult<String> {
        py.detach(|| serde_json::to_string(&self.results)).map_err(|cause| PyRuntimeError::new_err(cause.to_string()))
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<(Bound<'py, PyAny>, (String,))> {
        Ok((slf.get_type().into_any(), (slf.get().to_json(slf.py())?,)))
    }

    fn __eq__(&self, other: &Bound<'_, PyAny>) -> bool {
        other.cast::<Results>().is_ok_and(|other| other.get().results == self.results)
    }

    #[getter]
    fn name(&self) -> &str {
        &self.results.name
    }

    #[getter]
    fn title(&self) -> &str {
        &self.results.title
    }

    /// The name and the title of each environment, in order.
    #[getter]
    fn environments(&self) -> Vec<(String, String)> {
        let digest = Digest::new(&self.results);
        digest
            .environments
            .iter()
            .map(|environment| (environment.results.name.clone(), environment.title.clone()))
            .collect()
    }

    /// The statistics of each policy at each checkpoint, as columns; no interval of a single trial.
    fn curves<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let digest = Digest::new(&self.results);
        let (mut environments, mut policies, mut rounds) = (Vec::new(), Vec::new(), Vec::new());
        let mut numbers: [Vec<f64>; 6] = Default::default();
        for (environment, policy) in rows(&digest) {
            for (round, at) in environment.results.checkpoints.iter().zip(&policy.curve) {
                environments.push(environment.results.name.as_str());
                policies.push(policy.label());
                rounds.push(*round as i64);
                let [lo, hi] = at.ci95().unwrap_or([f64::NAN; 2]);
                let all = [at.mean, lo, hi, at.median, at.q10, at.q90];
                numbers.iter_mut().zip(all).for_each(|(column, number)| column.push(number));
            }
        }
        let columns = PyDict::new(py);
        columns.set_item("panel", environments)?;
        columns.set_item("policy", policies)?;
        columns.set_item("round", PyArray1::from_vec(py, rounds))?;
        for (name, numbers) in ["mean", "lo95", "hi95", "median", "q10", "q90"].into_iter().zip(numbers) {
            columns.set_item(name, PyArray1::from_vec(py, numbers))?;
        }
        Ok(columns)
    }

    /// Each trial's final regret, as columns.
    fn trials<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let digest = Digest::new(&self.results);
        let (mut environments, mut policies, mut trials) = (Vec::new(), Vec::new(), Vec::new());
        let (mut regrets, mut linears) = (Vec::new(), Vec::new());
        for (environment, policy) in rows(&digest) {
            for (trial, linear) in policy.policy.trials.iter().zip(&policy.linear) {
                environments.push(environment.results.name.as_str());
                policies.push(policy.label());
                trials.push(trial.trial as i64);
                regrets.push(trial.total());
                linears.push(*linear);
            }
        }
        let columns = PyDict::new(py);
        columns.set_item("panel", environments)?;
        columns.set_item("policy", policies)?;
        columns.set_item("trial", PyArray1::from_vec(py, trials))?;
        columns.set_item("regret", PyArray1::from_vec(py, regrets))?;
        columns.set_item("linear", PyArray1::from_vec(py, linears))?;
        Ok(columns)
    }

    /// Each trial's cumulative regret at each checkpoint, as columns.
    fn rounds<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let (mut environments, mut policies) = (Vec::new(), Vec::new());
        let (mut trials, mut rounds, mut regrets) = (Vec::new(), Vec::new(), Vec::new());
        for environment in &self.results.environments {
            for policy in &environment.policies {
                for trial in &policy.trials {
                    for (round, regret) in environment.checkpoints.iter().zip(&trial.regret) {
                        environments.push(environment.name.as_str());
                        policies.push(policy.label.as_str());
                        trials.push(trial.trial as i64);
                        rounds.push(*round as i64);
                        regrets.push(*regret);
                    }
                }
            }
        }
        let columns = PyDict::new(py);
        columns.set_item("panel", environments)?;
        columns.set_item("policy", policies)?;
        columns.set_item("trial", PyArray1::from_vec(py, trials))?;
        columns.set_item("round", PyArray1::from_vec(py, rounds))?;
        columns.set_item("regret", PyArray1::from_vec(py, regrets))?;
        Ok(columns)
    }

    /// A file of the report, such as "summary.json" or "regret.svg"; None where there is nothing to show in it.
    fn render<'py>(&self, py: Python<'py>, file: &str) -> PyResult<Option<Bound<'py, PyBytes>>> {
        let Some(output) = OUTPUTS.iter().find(|output| output.file == file) else {
            let known: Vec<&str> = OUTPUTS.iter().map(|output| output.file).collect();
            return Err(PyValueError::new_err(format!("there is no '{file}'; known are {}", known.join(", "))));
        };
        let contents = py.detach(|| (output.render)(&Digest::new(&self.results)));
        let contents = contents.map_err(PyRuntimeError::new_err)?;
        Ok(contents.map(|contents| PyBytes::new(py, &contents)))
    }

    /// The table of the command line.
    fn table(&self) -> String {
        table::render(&Digest::new(&self.results))
    }

    /// Writes every file of the report into a folder and returns their paths.
    fn write(&self, py: Python<'_>, dir: PathBuf) -> PyResult<Vec<PathBuf>> {
        py.detach(|| write_all(&self.results, &dir)).map_err(|cause| refuse_lab(cause.into()))
    }
}

/// The results that a folder holds.
#[pyfunction]
pub(crate) fn read_results(dir: PathBuf) -> PyResult<Results> {
    let (experiment, version, finished) = Store::read(&dir).map_err(refuse_lab)?;
    let mut results = run::assemble(&reluctant_lab::registry(), &experiment, &finished).map_err(refuse_lab)?;
    results.version = version;
    Ok(Results::new(results))
}
