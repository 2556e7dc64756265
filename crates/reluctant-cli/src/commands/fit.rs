//! `reluctant fit`: fits a one-layer ReLU network to a CSV file.

use std::io::Write;
use std::path::Path;

use reluctant::Key;
use reluctant::estimate::{self, FitOptions, Model, Parts, PiecewiseFit, Samples};
use reluctant_lab::LabError;
use serde_json::json;

use super::noise;
use super::numbers::{counted, finite, in_csv, open, wrong};
use crate::args::{self, Signs};
use crate::failure::Failure;

/// Residuals above this multiple of the noise are said to be far above it.
const FAR_ABOVE: f64 = 2.0;

pub(crate) fn fit(options: &args::Fit) -> Result<(), Failure> {
    let data = read(&options.data, options.target.as_deref())?;
    let mut fitting = FitOptions::default();
    if options.signs == Signs::Free || options.intercept {
        fitting.model = Model::Signed;
    }
    if let Some(restarts) = options.restarts {
        fitting.restarts = restarts as usize;
    }
    let fit = run(&data, options, &fitting).map_err(|cause| wrong(&options.data, None, cause.to_string()))?;
    data.warnings().iter().chain(&misfit(&data, &fit, options)).for_each(|said| eprintln!("reluctant: {said}"));
    let mut out = std::io::stdout().lock();
    if options.json {
        show_json(&mut out, &fit, &data)?
    } else {
        show(&mut out, &fit, &data)?
    };
    Ok(())
}

fn run(data: &Data, options: &args::Fit, fitting: &FitOptions) -> reluctant::Result<PiecewiseFit> {
    let samples = Samples::new(data.dim(), &data.xs, &data.ys)?;
    let (neurons, key) = (options.neurons as usize, Key::new(options.seed));
    if options.intercept {
        return estimate::fit_piecewise(samples, neurons, Parts { biases: true, affine: true }, fitting, key);
    }
    let estimate::Fit { net, loss, restarts, agreed, iterations, .. } = estimate::fit(samples, neurons, fitting, key)?;
    Ok(PiecewiseFit { net: net.into(), loss, restarts, agreed, iterations })
}

/// A sentence if what is left is far above the noise.
fn misfit(data: &Data, fit: &PiecewiseFit, options: &args::Fit) -> Option<String> {
    let known = options.noise.map(|sigma| sigma * sigma);
    let noise = known.or_else(|| noise::variance(data.dim(), &data.xs, &data.ys))?.sqrt();
    let error = fit.loss.sqrt();
    if error <= FAR_ABOVE * noise || error <= 1e-9 * data.size() {
        return None;
    }
    let about = if known.is_some() { "which is" } else { "about" };
    let intercept = if options.intercept { "" } else { ", --intercept" };
    let signs = if options.signs == Signs::Free || options.intercept { "" } else { ", --signs free" };
    Some(format!(
        "the network errs by {error:.3}, far more than the noise, {about} {noise:.3}: it does not explain these \
         rewards; try more --neurons, more --restarts{signs}{intercept}"
    ))
}

fn show(out: &mut impl Write, fit: &PiecewiseFit, data: &Data) -> std::io::Result<()> {
    let net = &fit.net;
    writeln!(
        out,
        "{} in dimension {}, {}",
        counted(data.ys.len(), "sample"),
        data.dim(),
        counted(net.hinges().neurons(), "neuron")
    )?;
    writeln!(out, "loss {:.6e} (root mean square error {:.6e})", fit.loss, fit.loss.sqrt())?;
    writeln!(out, "{} of {} restarts reached it", fit.agreed, fit.restarts)?;
    let numbers = |row: &[f64]| row.iter().map(|x| format!("{x:12.8}")).collect::<Vec<_>>().join(" ");
    if data.names.iter().enumerate().any(|(i, name)| *name != format!("x{}", i + 1)) {
        writeln!(out, "columns: {}; reward: {}", data.names.join(", "), data.target)?;
    }
    let plain = net.constant() == 0.0 && net.linear().iter().chain(net.biases()).all(|x| *x == 0.0);
    if !plain {
        writeln!(out, "constant {:12.8}", net.constant())?;
        writeln!(out, "linear     [{}]", numbers(net.linear()))?;
    }
    for (i, (theta, sign)) in net.hinges().iter().zip(net.hinges().signs()).enumerate() {
        let bias = if plain { String::new() } else { format!(" bias {:12.8}", net.biases()[i]) };
        writeln!(out, "neuron {:<3} {} [{}]{bias}", i + 1, if *sign < 0.0 { '-' } else { '+' }, numbers(theta))?;
    }
    Ok(())
}

fn show_json(out: &mut impl Write, fit: &PiecewiseFit, data: &Data) -> std::io::Result<()> {
    let neurons: Vec<&[f64]> = fit.net.hinges().iter().collect();
    let all = json!({
        "samples": data.ys.len(),
        "dim": data.dim(),
        "columns": data.names,
        "target": data.target,
        "neurons": neurons,
        "signs": fit.net.hinges().signs(),
        "biases": fit.net.biases(),
        "linear": fit.net.linear(),
        "constant": fit.net.constant(),
        "loss": fit.loss,
        "restarts": fit.restarts,
        "agreed": fit.agreed,
    });
    writeln!(out, "{all:#}")
}

struct Data {
    names: Vec<String>,
    target: String,
    xs: Vec<f64>,
    ys: Vec<f64>,
}

impl Data {
    fn dim(&self) -> usize {
        self.names.len()
    }

    /// The largest reward, in size.
    fn size(&self) -> f64 {
        self.ys.iter().fold(0.0, |most: f64, y| most.max(y.abs()))
    }

    /// What is odd about the columns.
    fn warnings(&self) -> Vec<String> {
        let constant = |column: &dyn Fn(usize) -> f64| (1..self.ys.len()).all(|i| column(i) == column(0));
        let mut said = Vec::new();
        for (j, name) in self.names.iter().enumerate() {
            if constant(&|i| self.xs[i * self.dim() + j]) {
                said.push(format!("column '{name}' is the same in every row: it can only stand for a constant"));
            }
        }
        if constant(&|i| self.ys[i]) {
            said.push(format!("the rewards, column '{}', are all the same: there is nothing to explain", self.target));
        }
        said
    }
}

/// Reads rows of finite numbers, the names of whose columns stand above them or not; `target` is the reward.
fn read(path: &Path, target: Option<&str>) -> Result<Data, LabError> {
    let mut reader = open(path)?;
    let mut records = reader.records();
    let first = records.next().transpose().map_err(in_csv(path))?;
    let Some(first) = first else { return Err(wrong(path, None, "there are no rows of data".to_owned())) };
    // A first row without a single number is a header.
    let headed = !first.is_empty() && first.iter().all(|field| field.parse::<f64>().is_err());
    let count = first.len();
    let names: Vec<String> = match headed {
        true => first.iter().map(str::to_owned).collect(),
        false => (1..count).map(|i| format!("x{i}")).chain(["y".to_owned()]).collect(),
    };
    let place = place(&names, target).map_err(|message| wrong(path, Some(1), message))?;
    let (mut xs, mut ys) = (Vec::new(), Vec::new());
    let rows = (!headed).then_some(Ok(first)).into_iter().chain(records);
    for record in rows {
        let record = record.map_err(in_csv(path))?;
        let line = record.position().map(|at| at.line() as usize);
        if record.len() != count {
            let above = if headed { "the header" } else { "the first row" };
            let message = format!("this row has {}, but {above} has {count}", counted(record.len(), "number"));
            return Err(wrong(path, line, message));
        }
        for (i, (field, name)) in record.iter().zip(&names).enumerate() {
            let number = finite(path, line, name, field)?;
            if i == place { ys.push(number) } else { xs.push(number) }
        }
    }
    match ys.len() {
        0 => return Err(wrong(path, None, "there are no rows of data below the header".to_owned())),
        1 => return Err(wrong(path, None, "there is one row of data: a fit needs at least two".to_owned())),
        _ => {}
    }
    let (mut names, target) = (names.clone(), names[place].clone());
    names.remove(place);
    Ok(Data { names, target, xs, ys })
}

/// The place of the reward among the columns.
fn place(names: &[String], target: Option<&str>) -> Result<usize, String> {
    if names.len() < 2 {
        return Err(format!("there must be at least 2 columns, the last for the reward, not {}", names.len()));
    }
    match target {
        None => Ok(names.len() - 1),
        Some(target) => names
            .iter()
            .position(|name| name == target)
            .ok_or_else(|| format!("there is no column '{target}'; there are {}", names.join(", "))),
    }
}
