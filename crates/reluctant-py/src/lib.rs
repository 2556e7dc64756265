//! The Rust half of the Python package `reluctant`: it translates between Python and the crates `reluctant` and `reluctant-lab`, and
//! decides nothing.
//!
//! | file | what it translates |
//! | --- | --- |
//! | `arrays` | numpy arrays to slices, without a copy where the memory allows it |
//! | `errors` | errors to exceptions, with the same sentences |
//! | `values` | Python numbers to parameters and back, the registries to dictionaries |
//! | `policy` | a policy with its seed and its count of rounds |
//!
//! The interpreter's lock is released wherever Rust works. Another thread that writes to an array meanwhile changes what is read, as
//! with numpy itself.

mod arrays;
mod errors;
mod policy;
mod values;

use pyo3::prelude::*;

/// The compiled half of the package.
#[pymodule]
mod _core {
    #[pymodule_export]
    use super::policy::{Choice, Policy, saved_kind};
    #[pymodule_export]
    use super::values::{environments, policies};

    use pyo3::prelude::*;

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        module.add("__version__", env!("CARGO_PKG_VERSION"))
    }
}
