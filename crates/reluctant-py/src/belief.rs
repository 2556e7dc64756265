//! What `plausible` believes, without a bandit: a regression with a mean and a spread.

use std::sync::{Mutex, MutexGuard, PoisonError};

use numpy::PyArray1;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyTuple};
use reluctant::belief::{self, Belief, PlausibleOptions};
use reluctant::limits::LIMIT;
use reluctant::relu::MAX_NEURONS;
use reluctant::{Error, Key, Rows, Scratch};

use crate::arrays::{Numbers, check_pairs};
use crate::errors::refuse;
use crate::network::ReluNet;
use crate::values::whole;

/// The networks that explain what was seen, with a line and a Gaussian process beside them: what `Plausible` believes.
///
/// It learns pairs (x, y) one after the other and predicts a mean and a standard deviation anywhere. Evidence decides
/// which model is believed. The networks have no biases, so x should be about as long as 1 and centred where rewards
/// bend; :class:`PlausibleRegressor` scales for itself.
///
/// >>> import numpy as np
/// >>> from reluctant import PlausibleNetworks
/// >>> X = np.random.default_rng(0).normal(size=(60, 2))
/// >>> belief = PlausibleNetworks(dim=2)
/// >>> belief.learn(X, np.maximum(0, X).sum(axis=1))
/// >>> mean, spread = belief.predict([[0.6, 0.8]])
/// >>> bool(abs(mean[0] - 1.4) < 0.05)
/// True
#[pyclass(module = "reluctant")]
pub(crate) struct PlausibleNetworks {
    belief: Mutex<belief::PlausibleNetworks>,
}

impl PlausibleNetworks {
    fn lock(&self) -> MutexGuard<'_, belief::PlausibleNetworks> {
        self.belief.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The rows of `data`, each of `found` numbers, of which there is at least one.
    fn rows<'a>(belief: &belief::PlausibleNetworks, found: usize, data: &'a [f64]) -> Result<Rows<'a>, Error> {
        let expected = belief.dim();
        if found != expected {
            return Err(Error::Dimension { what: "a row of X", expected, found });
        }
        Rows::new(expected, data)
    }
}

#[pymethods]
impl PlausibleNetworks {
    #[new]
    #[pyo3(signature = (dim, neurons = None, *, sigma = None, signs = None, networks = 32, budget = 2000, seed = 0))]
    fn new(
        dim: &Bound<'_, PyAny>,
        neurons: Option<&Bound<'_, PyAny>>,
        sigma: Option<f64>,
        signs: Option<&str>,
        networks: usize,
        budget: usize,
        seed: u64,
    ) -> PyResult<Self> {
        let free_signs = match signs {
            None => None,
            Some("ones") => Some(false),
            Some("free") => Some(true),
            Some(other) => return Err(refuse(Error::out_of_range("signs", other, "one of ones, free"))),
        };
        let dim = whole("dim", dim, 2..=1_000_000)? as usize;
        let neurons = neurons.map_or(Ok(0), |neurons| whole("neurons", neurons, 1..=MAX_NEURONS as u64))? as usize;
        let options = PlausibleOptions { neurons, free_signs, sigma, networks, budget };
        let belief = belief::PlausibleNetworks::new(dim, &options, Key::new(seed)).map_err(refuse)?;
        Ok(PlausibleNetworks { belief: Mutex::new(belief) })
    }

    /// Learns that the rows of `X` were rewarded with `y`, one after the other.
    #[pyo3(signature = (X, y))]
    #[allow(non_snake_case)]
    fn learn(&self, py: Python<'_>, X: &Bound<'_, PyAny>, y: &Bound<'_, PyAny>) -> PyResult<()> {
        let rows = Numbers::read("X", &["rows", "coordinates"], X)?;
        let rewards = Numbers::read("y", &["rows"], y)?;
        check_pairs(rows.len(0), &rewards)?;
        let (dim, rows, rewards) = (rows.len(1), rows.data(), rewards.data());
        if let Some(&value) = rewards.iter().find(|y| y.is_nan() || y.abs() > LIMIT) {
            return Err(refuse(Error::NotFinite { what: "a number of y".into(), value }));
        }
        let learned = py.detach(|| -> Result<(), Error> {
            let mut belief = self.lock();
            let rows = Self::rows(&belief, dim, rows)?;
            rewards.iter().enumerate().for_each(|(i, y)| belief.learn(rows.get(i), *y));
            Ok(())
        });
        learned.map_err(refuse)
    }

    /// The mean and the standard deviation at every row of `X`.
    #[pyo3(signature = (X))]
    #[allow(non_snake_case, clippy::type_complexity)]
    fn predict<'py>(
        &self,
        py: Python<'py>,
        X: &Bound<'py, PyAny>,
    ) -> PyResult<(Bound<'py, PyArray1<f64>>, Bound<'py, PyArray1<f64>>)> {
        let rows = Numbers::read("X", &["rows", "coordinates"], X)?;
        let (dim, rows) = (rows.len(1), rows.data());
        let scores = py.detach(|| -> Result<_, Error> {
            let (belief, mut scratch) = (self.lock(), Scratch::default());
            belief.predict(Self::rows(&belief, dim, rows)?, belief.unit(), &mut scratch);
            Ok(scratch.scores().iter().map(|score| (score.mean, score.width)).unzip::<_, _, Vec<_>, Vec<_>>())
        });
        let (means, spreads) = scores.map_err(refuse)?;
        Ok((PyArray1::from_vec(py, means), PyArray1::from_vec(py, spreads)))
    }

    /// The values at every row of `X` of a function drawn from the belief, which `seed` names.
    #[pyo3(signature = (X, seed = 0))]
    #[allow(non_snake_case)]
    fn draw<'py>(&self, py: Python<'py>, X: &Bound<'py, PyAny>, seed: u64) -> PyResult<Bound<'py, PyArray1<f64>>> {
        let rows = Numbers::read("X", &["rows", "coordinates"], X)?;
        let (dim, rows) = (rows.len(1), rows.data());
        let values = py.detach(|| -> Result<Vec<f64>, Error> {
            let (belief, mut scratch) = (self.lock(), Scratch::default());
            belief.draw(Self::rows(&belief, dim, rows)?, belief.unit(), Key::new(seed), &mut scratch);
            Ok(scratch.values().to_vec())
        });
        Ok(PyArray1::from_vec(py, values.map_err(refuse)?))
    }

    /// The plausible networks and their weights, which sum to one; none before the first pair.
    #[getter]
    fn networks(&self) -> Vec<(f64, ReluNet)> {
        self.lock().networks().map(|(weight, net)| (weight, ReluNet { net: net.clone() })).collect()
    }

    /// The dimension of x.
    #[getter]
    fn dim(&self) -> usize {
        self.lock().dim()
    }

    /// How many pairs were learned.
    #[getter]
    fn seen(&self) -> u64 {
        self.lock().seen()
    }

    /// The noise level as the best network sees it.
    #[getter]
    fn sigma(&self) -> f64 {
        self.lock().sigma()
    }

    /// The model that is believed, in words.
    #[getter]
    fn model(&self) -> String {
        self.lock().describe()
    }

    /// The whole state; `from_bytes` goes on from it to the bit.
    fn to_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let state = self.lock().save().map_err(refuse)?;
        Ok(PyBytes::new(py, state.to_string().as_bytes()))
    }

    /// What `to_bytes` gave.
    #[staticmethod]
    fn from_bytes(state: &[u8]) -> PyResult<Self> {
        let read = serde_json::from_slice(state).map_err(|cause| Error::Snapshot { reason: cause.to_string() });
        let belief = read.and_then(belief::PlausibleNetworks::restore).map_err(refuse)?;
        Ok(PlausibleNetworks { belief: Mutex::new(belief) })
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyTuple>)> {
        let state = slf.borrow().to_bytes(slf.py())?;
        Ok((slf.get_type().getattr("from_bytes")?, PyTuple::new(slf.py(), [state])?))
    }

    fn __repr__(&self) -> String {
        let belief = self.lock();
        let seen = belief.seen();
        format!("PlausibleNetworks({seen} pair{} in dimension {})", if seen == 1 { "" } else { "s" }, belief.dim())
    }
}
