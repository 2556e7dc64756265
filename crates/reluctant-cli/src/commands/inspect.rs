//! `reluctant inspect`: the geometry of a network, and what the theory says of it.

use std::io::Write;
use std::path::Path;

use reluctant::geometry::{BestAction, CELL_BUDGET, best_action, distinct_hyperplanes, most_cells};
use reluctant::theory::{Setting, log10_exploration_length};
use reluctant::{Error, ReluNet};
use reluctant_lab::LabError;
use serde_json::json;

use super::numbers::{Numbers, counted, read, wrong};
use crate::args::Inspect;
use crate::failure::Failure;

/// A row whose length differs from 1 by no more than this counts as a unit vector.
const UNIT: f64 = 1e-6;

pub(crate) fn inspect(options: &Inspect) -> Result<(), Failure> {
    let network = network(options)?;
    let best = best_action(&network, CELL_BUDGET)?;
    let report = Report { log10_t0: log10_t0(&network, &best, options), network, best };
    let mut out = std::io::stdout().lock();
    if options.json {
        report.show_json(&mut out)?
    } else {
        report.show(&mut out, options)?
    };
    Ok(())
}

fn network(options: &Inspect) -> Result<ReluNet, LabError> {
    let path: &Path = &options.theta;
    let Numbers { columns: dim, values, lines } = read(path)?;
    if dim < 2 {
        return Err(wrong(
            path,
            None,
            "a neuron must have at least 2 coordinates: on a line the sphere is two points".to_owned(),
        ));
    }
    for (row, line) in values.chunks_exact(dim).zip(&lines) {
        let length = row.iter().map(|x| x * x).sum::<f64>().sqrt();
        if length == 0.0 {
            return Err(wrong(path, Some(*line), "this neuron is zero and has no direction".to_owned()));
        }
        if !options.normalise && (length - 1.0).abs() > UNIT {
            let message = format!("this neuron has length {length:.6}, not 1; give --normalise to scale every neuron");
            return Err(wrong(path, Some(*line), message));
        }
    }
    let refuse = |cause: Error| wrong(path, None, cause.to_string());
    ReluNet::new(dim, values).and_then(ReluNet::normalised).map_err(refuse)
}

/// The theory's exploration length for this network; infinite if two neurons coincide.
fn log10_t0(network: &ReluNet, best: &BestAction, options: &Inspect) -> f64 {
    let setting = Setting {
        dim: network.dim(),
        neurons: network.neurons(),
        sigma: options.sigma,
        delta: options.delta,
        // A single neuron is apart from all others: none is farther than 2.
        alpha0: best.alpha0.min(2.0),
    };
    log10_exploration_length(&setting, best.nu_star)
}

struct Report {
    network: ReluNet,
    best: BestAction,
    log10_t0: f64,
}

impl Report {
    fn show(&self, out: &mut impl Write, options: &Inspect) -> std::io::Result<()> {
        let Report { network, best, log10_t0 } = self;
        let list = |numbers: &[f64]| numbers.iter().map(|x| format!("{x:.6}")).collect::<Vec<_>>().join(", ");
        let active: Vec<String> = best.active.iter().map(|i| (i + 1).to_string()).collect();
        writeln!(out, "{} in dimension {}", counted(network.neurons(), "neuron"), network.dim())?;
        writeln!(out, "x*      [{}]", list(&best.x_star))?;
        let sure = if best.exact {
            "exact"
        } else {
            "a lower bound: there are too many cells to visit, so this is the best of many ascents"
        };
        writeln!(out, "f*      {:.12} ({sure})", best.f_star)?;
        writeln!(out, "active  neurons {} of {}", active.join(", "), network.neurons())?;
        writeln!(out, "nu*     {:.12}, the distance from x* to the nearest kink", best.nu_star)?;
        if best.alpha0 == 0.0 {
            writeln!(out, "alpha0  0: two neurons are equal or opposite, so every bound of the theory is infinite")?;
        } else if best.alpha0.is_infinite() {
            writeln!(out, "alpha0  none: there is only one neuron")?;
        } else {
            writeln!(out, "alpha0  {:.12}, the distance of the nearest two neurons, up to sign", best.alpha0)?;
        }
        if best.exact {
            writeln!(out, "cells   {} linear pieces", self.cells())?;
        } else {
            writeln!(out, "cells   up to {} linear pieces", self.cells())?;
        }
        let (sigma, delta) = (options.sigma, options.delta);
        if log10_t0.is_finite() {
            writeln!(
                out,
                "t0      10^{log10_t0:.2} rounds of exploration by the theory (sigma = {sigma}, delta = {delta})"
            )
        } else {
            writeln!(out, "t0      infinite by the theory (sigma = {sigma}, delta = {delta})")
        }
    }

    fn show_json(&self, out: &mut impl Write) -> std::io::Result<()> {
        let Report { network, best, log10_t0 } = self;
        let finite = |x: f64| if x.is_finite() { json!(x) } else { json!(null) };
        let all = json!({
            "dim": network.dim(),
            "neurons": network.neurons(),
            "x_star": best.x_star,
            "f_star": best.f_star,
            "active": best.active,
            "nu_star": best.nu_star,
            "alpha0": finite(best.alpha0),
            "cells": self.cells(),
            "exact": best.exact,
            "log10_t0": finite(*log10_t0),
        });
        writeln!(out, "{all:#}")
    }

    /// The cells that were visited, or the most that there can be.
    fn cells(&self) -> u64 {
        if self.best.exact {
            self.best.cells
        } else {
            most_cells(self.network.dim(), distinct_hyperplanes(&self.network))
        }
    }
}
