//! The paper's one-layer ReLU networks, the estimator that fits them and the matching that compares them.

use numpy::{PyArray1, PyArray2, PyArrayMethods};
use pyo3::prelude::*;
use reluctant::estimate::{self, FitOptions, Model, Samples, SignRule};
use reluctant::relu::{MAX_NEURONS, Pattern, is_active};
use reluctant::{Error, Key};

use crate::arrays::{Numbers, action_rows, check_pairs};
use crate::errors::refuse;
use crate::values::whole;

/// A one-layer ReLU network f(x) = Σᵢ sᵢ·max(0, θᵢ·x): `neurons` has one row θᵢ a neuron,
/// `signs` are ±1, all +1 by default.
///
/// >>> from reluctant import ReluNet
/// >>> net = ReluNet([[1.0, 0.0], [0.0, 1.0]], signs=[1, -1])
/// >>> net([[3.0, 1.0], [3.0, -1.0]]).tolist()
/// [2.0, 3.0]
/// >>> net.pattern([[3.0, -1.0]]).tolist()
/// [[True, False]]
#[pyclass(frozen, eq, module = "reluctant")]
#[derive(PartialEq)]
pub(crate) struct ReluNet {
    pub(crate) net: reluctant::ReluNet,
}

/// A function of the network and one action that fills a row of numbers.
type Feature = fn(&reluctant::ReluNet, &[f64]) -> Vec<f64>;

impl ReluNet {
    /// `feature` of every row of `actions`, as an array.
    fn map<'py>(
        &self,
        py: Python<'py>,
        actions: &Bound<'py, PyAny>,
        feature: Feature,
    ) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let actions = Numbers::read("actions", &["actions", "coordinates"], actions)?;
        let (count, dim, data) = (actions.len(0), actions.len(1), actions.data());
        let numbers = py.detach(|| -> Result<Vec<f64>, Error> {
            Ok(action_rows(self.net.dim(), dim, data)?.flat_map(|x| feature(&self.net, x)).collect())
        });
        let numbers = numbers.map_err(refuse)?;
        let width = feature(&self.net, &vec![0.0; dim]).len();
        PyArray1::from_vec(py, numbers).reshape([count, width])
    }
}

/// The value of a network in dimension `dim` at every row of `actions`.
pub(crate) fn values<'py>(
    py: Python<'py>,
    actions: &Bound<'py, PyAny>,
    dim: usize,
    value: impl Fn(&[f64]) -> f64 + Send,
) -> PyResult<Bound<'py, PyArray1<f64>>> {
    let actions = Numbers::read("actions", &["actions", "coordinates"], actions)?;
    let (found, data) = (actions.len(1), actions.data());
    let values = py.detach(|| action_rows(dim, found, data).map(|rows| rows.map(value).collect()));
    Ok(PyArray1::from_vec(py, values.map_err(refuse)?))
}

/// Which of its `neurons` are active at every row of `actions`.
pub(crate) fn patterns<'py>(
    py: Python<'py>,
    actions: &Bound<'py, PyAny>,
    dim: usize,
    neurons: usize,
    pattern: impl Fn(&[f64]) -> Pattern,
) -> PyResult<Bound<'py, PyArray2<bool>>> {
    let actions = Numbers::read("actions", &["actions", "coordinates"], actions)?;
    let rows = action_rows(dim, actions.len(1), actions.data()).map_err(refuse)?;
    let bits = rows.flat_map(|x| {
        let pattern = pattern(x);
        (0..neurons).map(move |i| is_active(pattern, i))
    });
    PyArray1::from_vec(py, bits.collect()).reshape([actions.len(0), neurons])
}

#[pymethods]
impl ReluNet {
    #[new]
    #[pyo3(signature = (neurons, signs = None))]
    pub(crate) fn new(neurons: &Bound<'_, PyAny>, signs: Option<&Bound<'_, PyAny>>) -> PyResult<Self> {
        let theta = Numbers::read("neurons", &["neurons", "coordinates"], neurons)?;
        let (dim, data) = (theta.len(1), theta.data().to_vec());
        let net = match signs {
            None => reluctant::ReluNet::new(dim, data),
            Some(signs) => {
                let signs = Numbers::read("signs", &["neurons"], signs)?;
                reluctant::ReluNet::with_signs(dim, data, signs.data().to_vec())
            }
        };
        Ok(ReluNet { net: net.map_err(refuse)? })
    }

    /// A network of neurons drawn uniformly from the unit sphere.
    #[staticmethod]
    #[pyo3(signature = (dim, neurons, seed = 0))]
    fn random(dim: &Bound<'_, PyAny>, neurons: &Bound<'_, PyAny>, seed: u64) -> PyResult<Self> {
        // Larger ones would need more memory than there is.
        let dim = whole("dim", dim, 1..=1_000_000)? as usize;
        let neurons = whole("neurons", neurons, 1..=MAX_NEURONS as u64)? as usize;
        Ok(ReluNet { net: reluctant::ReluNet::random(dim, neurons, &mut Key::new(seed).stream()) })
    }

    /// The dimension of an action.
    #[getter]
    fn dim(&self) -> usize {
        self.net.dim()
    }

    /// The neurons, one a row.
    #[getter]
    fn neurons<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<f64>>> {
        PyArray1::from_slice(py, self.net.theta()).reshape([self.net.neurons(), self.net.dim()])
    }

    /// The second layer, ±1.
    #[getter]
    fn signs<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        PyArray1::from_slice(py, self.net.signs())
    }

    fn __len__(&self) -> usize {
        self.net.neurons()
    }

    /// The value of the network at every row of `actions`.
    fn __call__<'py>(&self, py: Python<'py>, actions: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyArray1<f64>>> {
        values(py, actions, self.net.dim(), |x| self.net.value(x))
    }

    /// ∂f/∂Θ at every row of `actions`, each flattened neuron after neuron.
    fn gradient<'py>(&self, py: Python<'py>, actions: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyArray2<f64>>> {
        self.map(py, actions, reluctant::ReluNet::gradient)
    }

    /// The features x† of every row: (1₁x, …, 1ₖx).
    fn x_dagger<'py>(&self, py: Python<'py>, actions: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyArray2<f64>>> {
        self.map(py, actions, reluctant::ReluNet::x_dagger)
    }

    /// The features x‡ of every row: (1₁x, …, 1ₖx, (½−1₁)x, …, (½−1ₖ)x).
    fn x_ddagger<'py>(&self, py: Python<'py>, actions: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyArray2<f64>>> {
        self.map(py, actions, reluctant::ReluNet::x_ddagger)
    }

    /// Which neurons are active (θᵢ·x ≥ 0) at every row of `actions`, as an array of truth values.
    fn pattern<'py>(&self, py: Python<'py>, actions: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyArray2<bool>>> {
        patterns(py, actions, self.net.dim(), self.net.neurons(), |x| self.net.pattern(x))
    }

    /// Whether each row of `actions` lies in X(Θ, ν): |θᵢ·x| ≥ ν for every neuron.
    fn in_region<'py>(
        &self,
        py: Python<'py>,
        actions: &Bound<'py, PyAny>,
        nu: f64,
    ) -> PyResult<Bound<'py, PyArray1<bool>>> {
        let actions = Numbers::read("actions", &["actions", "coordinates"], actions)?;
        let rows = action_rows(self.net.dim(), actions.len(1), actions.data()).map_err(refuse)?;
        Ok(PyArray1::from_vec(py, rows.map(|x| self.net.in_region(x, nu)).collect()))
    }

    /// The same network with every neuron scaled to unit length.
    fn normalised(&self) -> PyResult<Self> {
        Ok(ReluNet { net: self.net.clone().normalised().map_err(refuse)? })
    }

    fn __repr__(&self) -> String {
        let neurons = self.net.neurons();
        format!("ReluNet({neurons} neuron{} in dimension {})", if neurons == 1 { "" } else { "s" }, self.net.dim())
    }

    #[allow(clippy::type_complexity)]
    fn __reduce__<'py>(
        slf: &Bound<'py, Self>,
    ) -> PyResult<(Bound<'py, PyAny>, (Bound<'py, PyArray2<f64>>, Bound<'py, PyArray1<f64>>))> {
        let (py, net) = (slf.py(), slf.get());
        Ok((slf.get_type().into_any(), (net.neurons(py)?, net.signs(py))))
    }
}

/// Fits a network to rows of `actions` with their `rewards`: (network, loss, restarts, agreed, iterations).
#[pyfunction]
#[pyo3(signature = (
    actions, rewards, neurons, *, signs = "ones", restarts = 16, agree = 3, iterations = 300, seed = 0, slope = 0.0
))]
#[allow(clippy::too_many_arguments)]
pub(crate) fn fit(
    py: Python<'_>,
    actions: &Bound<'_, PyAny>,
    rewards: &Bound<'_, PyAny>,
    neurons: &Bound<'_, PyAny>,
    signs: &str,
    restarts: usize,
    agree: usize,
    iterations: usize,
    seed: u64,
    slope: f64,
) -> PyResult<(ReluNet, f64, usize, usize, usize)> {
    let model = match signs {
        "ones" => Model::Unit,
        "free" => Model::Signed,
        other => return Err(refuse(Error::out_of_range("signs", other, "one of ones, free"))),
    };
    let neurons = whole("neurons", neurons, 1..=MAX_NEURONS as u64)? as usize;
    let actions = Numbers::read("actions", &["actions", "coordinates"], actions)?;
    let rewards = Numbers::read("rewards", &["actions"], rewards)?;
    check_pairs(actions.len(0), &rewards)?;
    let (dim, xs, ys) = (actions.len(1), actions.data(), rewards.data());
    let options = FitOptions { model, restarts, agree, iterations, slope };
    let fit = py.detach(|| estimate::fit(Samples::new(dim, xs, ys)?, neurons, &options, Key::new(seed)));
    let fit = fit.map_err(refuse)?;
    Ok((ReluNet { net: fit.net }, fit.loss, fit.restarts, fit.agreed, fit.iterations))
}

/// Matches the neurons of an estimate with those of the truth: (permutation, flipped, errors, worst).
#[pyfunction]
#[pyo3(signature = (estimate, truth, *, signs = "strict"))]
#[allow(clippy::type_complexity)]
pub(crate) fn match_neurons<'py>(
    py: Python<'py>,
    estimate: &Bound<'py, ReluNet>,
    truth: &Bound<'py, ReluNet>,
    signs: &str,
) -> PyResult<(Bound<'py, PyArray1<i64>>, Bound<'py, PyArray1<bool>>, Bound<'py, PyArray1<f64>>, f64)> {
    let rule = match signs {
        "strict" => SignRule::Strict,
        "free" => SignRule::Free,
        other => return Err(refuse(Error::out_of_range("signs", other, "one of strict, free"))),
    };
    let found = estimate::match_neurons(&estimate.get().net, &truth.get().net, rule).map_err(refuse)?;
    let permutation = found.permutation.iter().map(|&i| i as i64).collect();
    Ok((
        PyArray1::from_vec(py, permutation),
        PyArray1::from_vec(py, found.flipped),
        PyArray1::from_vec(py, found.errors),
        found.worst,
    ))
}
