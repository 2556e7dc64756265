//! The Rust half of the Python package `reluctant`: it translates between Python and the crates `reluctant` and
//! `reluctant-lab`, and decides nothing.
//!
//! | file | what it translates |
//! | --- | --- |
//! | `arrays` | numpy arrays to slices, without a copy where the memory allows it |
//! | `errors` | errors to exceptions, with the same sentences |
//! | `values` | Python numbers to parameters and back, the registries to dictionaries |
//! | `policy`, `state` | a policy with its seed and its count of rounds; what is behind its lock |
//! | `given`, `choice` | what is on offer and what was taken; what was chosen |
//! | `belief` | what `plausible` believes, without a bandit |
//! | `network` | the paper's networks, their estimator, matching |
//! | `piecewise` | networks with biases, signs and an affine part, their estimator |
//! | `paper` | the theory's numbers and the geometry of a network |
//! | `logs` | what policies would have earned on a log |
//! | `lab`, `results` | experiments, their trials and what came out |
//! | `own`, `own_environment` | a policy and an environment written in Python, as the lab sees them |
//!
//! The interpreter's lock is released wherever Rust works. Another thread that writes to an array meanwhile changes
//! what is read, as with numpy itself.

mod arrays;
mod belief;
mod choice;
mod errors;
mod given;
mod lab;
mod logs;
mod network;
mod own;
mod own_environment;
mod paper;
mod piecewise;
mod policy;
mod results;
mod state;
mod values;

use pyo3::pymodule;

/// The compiled half of the package.
#[pymodule]
mod _core {
    #[pymodule_export]
    use super::belief::PlausibleNetworks;
    #[pymodule_export]
    use super::choice::{Choice, Explanation};
    #[pymodule_export]
    use super::lab::{Experiment, Store, run_trial};
    #[pymodule_export]
    use super::logs::evaluate_log;
    #[pymodule_export]
    use super::network::{ReluNet, fit, match_neurons};
    #[pymodule_export]
    use super::paper::{alpha0, best_action, cells, most_cells, theory};
    #[pymodule_export]
    use super::piecewise::{PiecewiseNet, fit_piecewise, kink_error};
    #[pymodule_export]
    use super::policy::saved_kind;
    #[pymodule_export]
    use super::results::{Results, read_results};
    #[pymodule_export]
    use super::state::Policy;
    #[pymodule_export]
    use super::values::{environments, policies};

    use pyo3::prelude::*;

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        module.add("__version__", env!("CARGO_PKG_VERSION"))
    }
}
