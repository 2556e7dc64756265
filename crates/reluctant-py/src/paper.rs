//! The paper's statements in numbers, and the geometry of a network.

use numpy::{PyArray1, PyArray2, PyArrayMethods};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use reluctant::geometry::{self, CELL_BUDGET, Cells};
use reluctant::relu::is_active;
use reluctant::theory::{Inputs, evaluate};

use crate::errors::refuse;
use crate::network::ReluNet;
use crate::piecewise::PiecewiseNet;

/// Every statement of the paper for these numbers, as JSON.
#[pyfunction]
#[pyo3(signature = (dim, neurons, sigma, *, nu = None, alpha0 = None, delta = 0.01, horizon = 1000.0, lambda_ = 1.0))]
#[allow(clippy::too_many_arguments)]
pub(crate) fn theory(
    dim: usize,
    neurons: usize,
    sigma: f64,
    nu: Option<f64>,
    alpha0: Option<f64>,
    delta: f64,
    horizon: f64,
    lambda_: f64,
) -> PyResult<String> {
    let inputs = Inputs { nu, alpha0, delta, horizon, lambda: lambda_, ..Inputs::new(dim, neurons, sigma) };
    let quantities = evaluate(&inputs).map_err(refuse)?;
    serde_json::to_string(&quantities).map_err(|cause| PyValueError::new_err(cause.to_string()))
}

/// The best action on the unit sphere of a network, of the paper or of the whole family, as a dictionary.
#[pyfunction]
#[pyo3(signature = (net, *, budget = CELL_BUDGET))]
pub(crate) fn best_action<'py>(py: Python<'py>, net: &Bound<'py, PyAny>, budget: u64) -> PyResult<Bound<'py, PyDict>> {
    let net = if let Ok(net) = net.cast::<ReluNet>() {
        net.get().net.clone().into()
    } else if let Ok(net) = net.cast::<PiecewiseNet>() {
        net.get().net.clone()
    } else {
        let found = net.get_type().name()?;
        return Err(PyTypeError::new_err(format!("net must be a ReluNet or a PiecewiseNet, not {found}")));
    };
    let best = py.detach(|| geometry::best_piecewise_action(&net, budget)).map_err(refuse)?;
    let found = PyDict::new(py);
    found.set_item("x_star", PyArray1::from_vec(py, best.x_star))?;
    found.set_item("f_star", best.f_star)?;
    found.set_item("nu_star", best.nu_star)?;
    found.set_item("alpha0", best.alpha0)?;
    found.set_item("active", best.active)?;
    found.set_item("exact", best.exact)?;
    found.set_item("cells", best.cells)?;
    Ok(found)
}

/// The cells of a network that keep a margin: (patterns, centres, margins), one row a cell.
#[pyfunction]
#[pyo3(signature = (net, *, margin = 0.0))]
#[allow(clippy::type_complexity)]
pub(crate) fn cells<'py>(
    py: Python<'py>,
    net: &Bound<'py, ReluNet>,
    margin: f64,
) -> PyResult<(Bound<'py, PyArray2<bool>>, Bound<'py, PyArray2<f64>>, Bound<'py, PyArray1<f64>>)> {
    let net = &net.get().net;
    let (dim, k) = (net.dim(), net.neurons());
    let most = geometry::most_cells(dim, geometry::distinct_hyperplanes(net));
    if most > CELL_BUDGET {
        let sentence = format!("this network can have {most} cells; at most {CELL_BUDGET} are listed");
        return Err(PyValueError::new_err(sentence));
    }
    let cells = py.detach(|| Cells::with_margin(net, margin).map(|cells| cells.collect::<Vec<_>>())).map_err(refuse)?;
    let bits = cells.iter().flat_map(|cell| (0..k).map(|i| is_active(cell.pattern, i))).collect();
    let centres = cells.iter().flat_map(|cell| cell.centre.iter().copied()).collect();
    Ok((
        PyArray1::from_vec(py, bits).reshape([cells.len(), k])?,
        PyArray1::from_vec(py, centres).reshape([cells.len(), dim])?,
        PyArray1::from_vec(py, cells.iter().map(|cell| cell.margin).collect()),
    ))
}

/// The least distance of two neurons up to sign; infinite for a single one.
#[pyfunction]
pub(crate) fn alpha0(net: &Bound<'_, ReluNet>) -> f64 {
    geometry::alpha0(&net.get().net)
}

/// The most cells that this many hyperplanes can cut the unit sphere into.
#[pyfunction]
pub(crate) fn most_cells(dim: usize, neurons: usize) -> u64 {
    geometry::most_cells(dim, neurons)
}
