//! Networks of the whole family: an affine function and signed ReLUs with biases, their estimator and its error.

use numpy::{PyArray1, PyArray2, PyArrayMethods};
use pyo3::prelude::*;
use reluctant::estimate::{self, FitOptions, Parts, Samples};
use reluctant::relu::MAX_NEURONS;
use reluctant::{Activation, Error, Key};

use crate::arrays::{Numbers, action_rows, check_pairs};
use crate::errors::refuse;
use crate::network::{self, ReluNet};
use crate::values::whole;

/// f(x) = w₀ + w·x + Σᵢ sᵢ·max(0, θᵢ·x + bᵢ): every one-layer network with a piecewise-linear activation.
/// `neurons` has one row θᵢ a neuron; `signs` are ±1, all +1 by default; the rest is 0 by default.
///
/// >>> from reluctant import PiecewiseNet, ReluNet
/// >>> net = PiecewiseNet([[1.0, 0.0]], biases=[-0.5], linear=[0.0, 2.0], constant=1.0)
/// >>> net([[1.0, 1.0], [0.0, 1.0]]).tolist()
/// [3.5, 3.0]
/// >>> PiecewiseNet.with_activation(ReluNet([[1.0, 0.0]]), "leaky", slope=0.1)([[-1.0, 0.0]]).tolist()
/// [-0.1]
#[pyclass(frozen, eq, module = "reluctant")]
#[derive(PartialEq)]
pub(crate) struct PiecewiseNet {
    pub(crate) net: reluctant::PiecewiseNet,
}

/// The arguments that make a network again.
type Rebuilt<'py> =
    (Bound<'py, PyArray2<f64>>, Bound<'py, PyArray1<f64>>, Bound<'py, PyArray1<f64>>, Bound<'py, PyArray1<f64>>, f64);

#[pymethods]
impl PiecewiseNet {
    #[new]
    #[pyo3(signature = (neurons, signs = None, biases = None, linear = None, constant = 0.0))]
    fn new(
        neurons: &Bound<'_, PyAny>,
        signs: Option<&Bound<'_, PyAny>>,
        biases: Option<&Bound<'_, PyAny>>,
        linear: Option<&Bound<'_, PyAny>>,
        constant: f64,
    ) -> PyResult<Self> {
        let hinges = ReluNet::new(neurons, signs)?.net;
        let biases = given_or_zeros("biases", "neurons", biases, hinges.neurons())?;
        let linear = given_or_zeros("linear", "coordinates", linear, hinges.dim())?;
        Ok(PiecewiseNet { net: reluctant::PiecewiseNet::new(constant, linear, hinges, biases).map_err(refuse)? })
    }

    /// Σᵢ sᵢ·g(θᵢ·x + bᵢ) with the neurons and signs of `net`. The activation g is relu, leaky (with its `slope` for
    /// negative inputs), absolute, hard-tanh, or a pair (kinks, slopes) with one slope more than kinks and g(0) = 0.
    #[staticmethod]
    #[pyo3(signature = (net, activation, *, biases = None, slope = 0.2))]
    fn with_activation(
        net: &Bound<'_, ReluNet>,
        activation: &Bound<'_, PyAny>,
        biases: Option<&Bound<'_, PyAny>>,
        slope: f64,
    ) -> PyResult<Self> {
        let net = &net.get().net;
        let biases = given_or_zeros("biases", "neurons", biases, net.neurons())?;
        let activation = read_activation(activation, slope)?;
        let net = reluctant::PiecewiseNet::with_activation(&activation, net, &biases);
        Ok(PiecewiseNet { net: net.map_err(refuse)? })
    }

    /// The dimension of an action.
    #[getter]
    fn dim(&self) -> usize {
        self.net.dim()
    }

    /// w₀.
    #[getter]
    fn constant(&self) -> f64 {
        self.net.constant()
    }

    /// w.
    #[getter]
    fn linear<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        PyArray1::from_slice(py, self.net.linear())
    }

    /// The neurons θᵢ, one a row.
    #[getter]
    fn neurons<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<f64>>> {
        PyArray1::from_slice(py, self.net.hinges().theta()).reshape([self.net.hinges().neurons(), self.net.dim()])
    }

    /// The second layer sᵢ, ±1.
    #[getter]
    fn signs<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        PyArray1::from_slice(py, self.net.hinges().signs())
    }

    /// The biases bᵢ.
    #[getter]
    fn biases<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        PyArray1::from_slice(py, self.net.biases())
    }

    fn __len__(&self) -> usize {
        self.net.hinges().neurons()
    }

    /// The value of the network at every row of `actions`.
    fn __call__<'py>(&self, py: Python<'py>, actions: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyArray1<f64>>> {
        network::values(py, actions, self.net.dim(), |x| self.net.value(x))
    }

    /// The derivatives by the parameters at every row of `actions`, in the order w₀, w, θ₁, b₁, θ₂, b₂, …
    fn gradient<'py>(&self, py: Python<'py>, actions: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let actions = Numbers::read("actions", &["actions", "coordinates"], actions)?;
        let rows = action_rows(self.net.dim(), actions.len(1), actions.data()).map_err(refuse)?;
        let width = (self.net.dim() + 1) * (self.__len__() + 1);
        let numbers = rows.flat_map(|x| self.net.gradient(x)).collect();
        PyArray1::from_vec(py, numbers).reshape([actions.len(0), width])
    }

    /// Which ReLUs are active (θᵢ·x + bᵢ ≥ 0) at every row of `actions`, as an array of truth values.
    fn pattern<'py>(&self, py: Python<'py>, actions: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyArray2<bool>>> {
        network::patterns(py, actions, self.net.dim(), self.__len__(), |x| self.net.pattern(x))
    }

    /// The same function with neuron i turned round: max(0, z) = max(0, −z) + z.
    fn flipped(&self, i: &Bound<'_, PyAny>) -> PyResult<Self> {
        let i = whole("i", i, 0..=self.__len__() as u64 - 1)? as usize;
        Ok(PiecewiseNet { net: self.net.clone().flipped(i) })
    }

    fn __repr__(&self) -> String {
        let neurons = self.__len__();
        format!("PiecewiseNet({neurons} neuron{} in dimension {})", if neurons == 1 { "" } else { "s" }, self.dim())
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<(Bound<'py, PyAny>, Rebuilt<'py>)> {
        let (py, net) = (slf.py(), slf.get());
        let parts = (net.neurons(py)?, net.signs(py), net.biases(py), net.linear(py), net.constant());
        Ok((slf.get_type().into_any(), parts))
    }
}

/// A list of numbers, or as many zeros as there should be.
fn given_or_zeros(what: &str, axis: &str, given: Option<&Bound<'_, PyAny>>, count: usize) -> PyResult<Vec<f64>> {
    match given {
        None => Ok(vec![0.0; count]),
        Some(given) => Ok(Numbers::read(what, &[axis], given)?.data().to_vec()),
    }
}

fn read_activation(given: &Bound<'_, PyAny>, slope: f64) -> PyResult<Activation> {
    if let Ok((kinks, slopes)) = given.extract::<(Bound<'_, PyAny>, Bound<'_, PyAny>)>() {
        let kinks = Numbers::read("kinks", &["kinks"], &kinks)?;
        let slopes = Numbers::read("slopes", &["slopes"], &slopes)?;
        return Activation::new(kinks.data().to_vec(), slopes.data().to_vec()).map_err(refuse);
    }
    match given.extract::<String>().as_deref() {
        Ok("relu") => Ok(Activation::relu()),
        Ok("leaky") => Activation::leaky(slope).map_err(refuse),
        Ok("absolute") => Ok(Activation::absolute()),
        Ok("hard-tanh") => Ok(Activation::hard_tanh()),
        _ => {
            let allowed = "one of relu, leaky, absolute, hard-tanh, or a pair (kinks, slopes)";
            Err(refuse(Error::out_of_range("activation", given.repr()?, allowed)))
        }
    }
}

/// Fits a network of the family to rows of `actions` with their `rewards`: (network, loss, restarts, agreed,
/// iterations).
#[pyfunction]
#[pyo3(signature = (
    actions, rewards, neurons, *, biases = true, affine = true, restarts = 16, agree = 3, iterations = 300, seed = 0
))]
#[allow(clippy::too_many_arguments)]
pub(crate) fn fit_piecewise(
    py: Python<'_>,
    actions: &Bound<'_, PyAny>,
    rewards: &Bound<'_, PyAny>,
    neurons: &Bound<'_, PyAny>,
    biases: bool,
    affine: bool,
    restarts: usize,
    agree: usize,
    iterations: usize,
    seed: u64,
) -> PyResult<(PiecewiseNet, f64, usize, usize, usize)> {
    let neurons = whole("neurons", neurons, 1..=MAX_NEURONS as u64)? as usize;
    let actions = Numbers::read("actions", &["actions", "coordinates"], actions)?;
    let rewards = Numbers::read("rewards", &["actions"], rewards)?;
    check_pairs(actions.len(0), &rewards)?;
    let (dim, xs, ys) = (actions.len(1), actions.data(), rewards.data());
    let options = FitOptions { model: estimate::Model::Signed, restarts, agree, iterations, slope: 0.0 };
    let parts = Parts { biases, affine };
    let fit =
        py.detach(|| estimate::fit_piecewise(Samples::new(dim, xs, ys)?, neurons, parts, &options, Key::new(seed)));
    let fit = fit.map_err(refuse)?;
    Ok((PiecewiseNet { net: fit.net }, fit.loss, fit.restarts, fit.agreed, fit.iterations))
}

/// How far the kinks of an estimate are from those of the truth: the worst distance in the best assignment, of the
/// vectors (θᵢ, bᵢ) as directions without a sign.
#[pyfunction]
pub(crate) fn kink_error(estimate: &Bound<'_, PiecewiseNet>, truth: &Bound<'_, PiecewiseNet>) -> PyResult<f64> {
    estimate::kink_error(&estimate.get().net, &truth.get().net).map_err(refuse)
}
