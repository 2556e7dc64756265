//! `reluctant fit`: fits a one-layer ReLU network to a CSV file.

use std::io::Write;
use std::path::Path;

use reluctant::Key;
use reluctant::estimate::{self, Fit, FitOptions, Model, Samples};
use reluctant_lab::LabError;
use serde_json::json;

use super::numbers::{counted, finite, in_csv, open, wrong};
use crate::args::{self, Signs};
use crate::failure::Failure;

pub(crate) fn fit(options: &args::Fit) -> Result<(), Failure> {
    let data = read(&options.data)?;
    let mut fitting = FitOptions::default();
    if options.signs == Signs::Free {
        fitting.model = Model::Signed;
    }
    if let Some(restarts) = options.restarts {
        fitting.restarts = restarts as usize;
    }
    let samples =
        Samples::new(data.dim, &data.xs, &data.ys).map_err(|cause| wrong(&options.data, None, cause.to_string()))?;
    let neurons = options.neurons as usize;
    let fit = estimate::fit(samples, neurons, &fitting, Key::new(options.seed))
        .map_err(|cause| wrong(&options.data, None, cause.to_string()))?;
    let mut out = std::io::stdout().lock();
    if options.json {
        show_json(&mut out, &fit, &data)?
    } else {
        show(&mut out, &fit, &data)?
    };
    Ok(())
}

fn show(out: &mut impl Write, fit: &Fit, data: &Data) -> std::io::Result<()> {
    writeln!(
        out,
        "{} in dimension {}, {}",
        counted(data.ys.len(), "sample"),
        data.dim,
        counted(fit.net.neurons(), "neuron")
    )?;
    writeln!(out, "loss {:.6e} (root mean square error {:.6e})", fit.loss, fit.loss.sqrt())?;
    writeln!(out, "{} of {} restarts reached it", fit.agreed, fit.restarts)?;
    for (i, (theta, sign)) in fit.net.iter().zip(fit.net.signs()).enumerate() {
        let numbers: Vec<String> = theta.iter().map(|x| format!("{x:12.8}")).collect();
        writeln!(out, "neuron {:<3} {} [{}]", i + 1, if *sign < 0.0 { '-' } else { '+' }, numbers.join(" "))?;
    }
    Ok(())
}

fn show_json(out: &mut impl Write, fit: &Fit, data: &Data) -> std::io::Result<()> {
    let neurons: Vec<&[f64]> = fit.net.iter().collect();
    let all = json!({
        "samples": data.ys.len(),
        "dim": data.dim,
        "neurons": neurons,
        "signs": fit.net.signs(),
        "loss": fit.loss,
        "restarts": fit.restarts,
        "agreed": fit.agreed,
    });
    writeln!(out, "{all:#}")
}

struct Data {
    dim: usize,
    xs: Vec<f64>,
    ys: Vec<f64>,
}

/// Reads a header x1,…,xd,y and rows of finite numbers.
fn read(path: &Path) -> Result<Data, LabError> {
    let mut reader = open(path, true)?;
    let header = reader.headers().map_err(in_csv(path))?.clone();
    let dim = header.len().saturating_sub(1);
    let named = |i: usize, name: &str| if i < dim { name == format!("x{}", i + 1) } else { name == "y" };
    if dim == 0 || !header.iter().enumerate().all(|(i, name)| named(i, name)) {
        let found = header.iter().collect::<Vec<_>>().join(",");
        return Err(wrong(path, Some(1), format!("the header must be x1,...,xd,y, not '{found}'")));
    }
    let (mut xs, mut ys) = (Vec::new(), Vec::new());
    for record in reader.records() {
        let record = record.map_err(in_csv(path))?;
        let line = record.position().map(|at| at.line() as usize);
        if record.len() != dim + 1 {
            return Err(wrong(
                path,
                line,
                format!("this row has {}, but the header has {}", counted(record.len(), "number"), dim + 1),
            ));
        }
        for (i, (field, name)) in record.iter().zip(&header).enumerate() {
            let number = finite(path, line, name, field)?;
            if i < dim { xs.push(number) } else { ys.push(number) }
        }
    }
    if ys.is_empty() {
        return Err(wrong(path, None, "there are no rows of data below the header".to_owned()));
    }
    Ok(Data { dim, xs, ys })
}
