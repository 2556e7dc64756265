//! The parameters that every confidence radius needs.

use crate::ellipsoid::Confidence;
use crate::error::Result;
use crate::params::{Initial, Kind, Param, Params};

pub(super) const LAMBDA: Param = Param::new("lambda", Initial::real(0.01), Kind::POSITIVE, "ridge penalty λ");
pub(super) const DELTA: Param =
    Param::new("delta", Initial::real(0.01), Kind::PROBABILITY, "the confidence set fails with this probability δ");
pub(super) const SIGMA: Param =
    Param::new("sigma", Initial::real(0.1), Kind::NOT_NEGATIVE, "the noise is σ-subgaussian").told().or_bound();

pub(super) const LOG_DET: Param = Param::new(
    "log_det",
    Initial::Auto("ratio (paper), twice (authors)"),
    Kind::Word(&["ratio", "twice"]),
    "ratio: the radius holds log det V − D·log λ; twice: D·log λ is subtracted again",
);

/// What `log_det` adds to the log-determinant ratio of D features in the radius.
pub(super) fn log_det_offset(params: &Params, authors: bool, features: usize, lambda: f64) -> Result<f64> {
    let twice = params.word("log_det").map_or(authors, |word| word == "twice");
    Ok(if twice { -(features as f64) * libm::log(lambda) } else { 0.0 })
}

/// Reads them, with `norm_bound` for S where it is not given.
pub(super) fn read(params: &Params, norm_bound: f64) -> Result<Confidence> {
    Ok(Confidence {
        lambda: params.real("lambda")?,
        sigma: params.real("sigma")?,
        delta: params.real("delta")?,
        norm_bound: params.real_or("norm_bound", norm_bound)?,
    })
}
