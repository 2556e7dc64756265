//! The empirical-risk minimiser Θ̃ = argmin (1/n)·Σ (f_Θ(xᵢ) − yᵢ)² (Section 3 of the paper).
//!
//! The loss has many poor local minima, so [`fit`] makes several starts and compares their losses. What makes a start
//! likely to find the best minimum is, in this order:
//!
//! 1. *Signs cannot trap it* (`signs`): it first fits a network plus a free linear term, in which a neuron and its
//!    negative are as good as each other, then reads the signs off that term.
//! 2. *Kinks cannot hold it* (`levenberg_marquardt`): the ReLU is rounded over a width that falls to zero in stages.
//! 3. *Neurons that fell into one are parted again* (`twins`), once the best start is known.
//!
//! [`fit_piecewise`] is the same for networks with biases, any lengths and signs, leaky units, or a free affine part.
//! With biases, and if the first starts did not settle it, later ones keep all neurons of the best but one (`renewal`).
//! `cargo run --release --example recovery` shows how often the true neurons come back, `cargo bench --bench estimate`
//! what it costs. [`adam`] is the one descent that the authors of the paper run, [`match_neurons`] compares an estimate
//! with the truth.
//!
//! ```
//! use reluctant::estimate::{FitOptions, Samples, fit};
//! use reluctant::Key;
//!
//! // max(0, x₁) seen from four sides.
//! let actions = [1.0, 0.0, 0.0, 1.0, -1.0, 0.0, 0.6, -0.8];
//! let rewards = [1.0, 0.0, 0.0, 0.6];
//! let found = fit(Samples::new(2, &actions, &rewards)?, 1, &FitOptions::default(), Key::new(7))?;
//! assert!(found.loss < 1e-20);
//! assert!((found.net.neuron(0)[0] - 1.0).abs() < 1e-9);
//! # Ok::<(), reluctant::Error>(())
//! ```

mod adam;
mod levenberg_marquardt;
mod matching;
mod piecewise;
mod problem;
mod renewal;
pub(crate) mod samples;
mod signs;
mod twins;

use serde::{Deserialize, Serialize};

pub use adam::{LEARNING_RATE, STEPS, adam};
pub use matching::{Matching, SignRule, match_neurons};
pub use piecewise::{Parts, PiecewiseFit, fit_piecewise, kink_error};
pub use samples::Samples;

use crate::action::check_dim;
use crate::activation::Activation;
use crate::error::{Error, Result};
use crate::limits::MAX_FEATURES;
use crate::linalg::{dot, norm, normalise, symmetric_times};
use crate::piecewise::PiecewiseNet;
use crate::relu::{MAX_NEURONS, ReluNet};
use crate::rng::{Key, Purpose, Stream, sign, unit_vector};
use levenberg_marquardt::{Freedom, Solver, Stage};
use problem::Problem;

/// (1/n)·Σ (f_Θ(xᵢ) − yᵢ)².
pub fn mean_squared_error(net: &ReluNet, samples: Samples<'_>) -> Result<f64> {
    check_dim("the network", samples.dim(), net.dim())?;
    let sum: f64 = samples.iter().map(|(x, y)| (net.value(x) - y) * (net.value(x) - y)).sum();
    Ok(sum / samples.len() as f64)
}

/// The set over which the risk is minimised.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Model {
    /// Unit-norm neurons and a second layer of ones: the paper.
    #[default]
    Unit,
    /// Neurons of any length, second-layer signs ±1.
    Signed,
}

/// How hard [`fit`] tries.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct FitOptions {
    /// The set over which the risk is minimised.
    pub model: Model,
    /// The most starts.
    pub restarts: usize,
    /// Stop once this many starts reached the same best loss, to within a factor 1 + 1/n. A loss of zero (to rounding)
    /// stops at once.
    pub agree: usize,
    /// The most Levenberg–Marquardt iterations a start, and again for the final descent from the best start.
    pub iterations: usize,
    /// The slope a of the activation for negative inputs, at least −1 and less than 1: 0 is the ReLU, more a leaky one,
    /// −1 the absolute value, for which neurons have no sign.
    #[serde(skip_serializing_if = "is_zero")]
    pub slope: f64,
}

fn is_zero(x: &f64) -> bool {
    *x == 0.0
}

impl Default for FitOptions {
    fn default() -> Self {
        FitOptions { model: Model::Unit, restarts: 16, agree: 3, iterations: 300, slope: 0.0 }
    }
}

impl FitOptions {
    /// For a minimum that must be found: many starts, and many that agree before it stops. With biases and free lengths
    /// a few starts agree on a poor minimum now and then.
    pub fn thorough() -> Self {
        FitOptions { restarts: 400, agree: 40, ..Self::default() }
    }

    /// An error unless every number is in range.
    fn check(&self) -> Result<Activation> {
        for (name, value) in [("restarts", self.restarts), ("agree", self.agree), ("iterations", self.iterations)] {
            if value == 0 {
                return Err(Error::out_of_range(name, 0, "at least 1"));
            }
        }
        if !(-1.0..1.0).contains(&self.slope) {
            let allowed = "a number at least -1 and less than 1; at 1 there is no kink";
            return Err(Error::out_of_range("slope", self.slope, allowed));
        }
        Activation::new(vec![0.0], vec![self.slope, 1.0])
    }
}

/// An empirical-risk minimiser.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Fit {
    /// Θ̃.
    pub net: ReluNet,
    /// Its mean squared error.
    pub loss: f64,
    /// How many starts were made.
    pub restarts: usize,
    /// How many of them reached this loss.
    pub agreed: usize,
    /// Iterations, over all starts.
    pub iterations: usize,
}

/// Minimises the empirical risk over networks with `neurons` neurons.
///
/// Start r draws from `key.later(r).purpose(Purpose::Fit)`: the result is a function of the samples, the options and
/// the key.
pub fn fit(samples: Samples<'_>, neurons: usize, options: &FitOptions, key: Key) -> Result<Fit> {
    check_shape(samples.dim(), neurons)?;
    let activation = options.check()?;
    let problem = Problem::new(samples, options.model, options.slope);
    let (solver, starts) = minimise(&problem, neurons, options, Parts::default(), key);
    let net = network(&problem, &solver)?;
    let loss = if options.slope != 0.0 {
        PiecewiseNet::with_activation(&activation, &net, &vec![0.0; neurons])?.mean_squared_error(samples)?
    } else {
        mean_squared_error(&net, samples)?
    };
    let Starts { restarts, agreed, iterations } = starts;
    Ok(Fit { net, loss, restarts, agreed, iterations })
}

/// What it took to find a minimum.
struct Starts {
    restarts: usize,
    agreed: usize,
    iterations: usize,
}

/// The best of several starts. An affine part is a free linear term to the end; with biases, samples end with the
/// coordinate that never changes.
fn minimise<'p>(
    problem: &'p Problem,
    neurons: usize,
    options: &FitOptions,
    parts: Parts,
    key: Key,
) -> (Solver<'p>, Starts) {
    let mut solver = Solver::new(problem, neurons);
    // Two losses nearer than this are a likelihood ratio of at most √e apart: the data do not tell them apart.
    let same = 1.0 + 1.0 / problem.len() as f64;
    let mut best = solver.at.clone();
    let (mut restarts, mut agreed, mut iterations) = (0, 0, 0);
    while restarts < options.restarts && agreed < options.agree && !problem.is_zero(best.loss) {
        let stream = &mut key.later(restarts as u64).purpose(Purpose::Fit).stream();
        let renewed = parts.biases && renewal::is_due(restarts, agreed);
        if renewed {
            renewal::draw(problem, &best, &mut solver, stream);
        } else {
            draw_start(problem, &mut solver, options.model, stream);
        }
        // Rounding helps most networks and hides the kinks of crowded ones: every other start begins without it.
        let opening = match restarts % 2 {
            _ if renewed => renewal::OPENING,
            0 => 0.3,
            _ => 0.0,
        };
        iterations += explore(problem, &mut solver, opening, options, parts.affine);
        restarts += 1;
        let loss = solver.at.loss;
        let agrees = loss <= best.loss * same && !renewed;
        agreed = if loss * same < best.loss { 1 } else { agreed + usize::from(agrees) };
        if loss < best.loss {
            best.clone_from(&solver.at);
        }
    }
    solver.at.clone_from(&best);
    let free = Freedom { linear: parts.affine, ..Freedom::of(options.model) };
    iterations += sharpen(problem, &mut solver, free, options.iterations);
    (solver, Starts { restarts, agreed, iterations })
}

/// Minimises the empirical risk from a known start: for refits after a few more samples. Returns the network and its
/// mean squared error, which is never above the start's. The unit model first scales the start's neurons to unit
/// length.
pub fn polish(start: ReluNet, samples: Samples<'_>, model: Model, iterations: usize) -> Result<(ReluNet, f64)> {
    let dim = samples.dim();
    check_shape(dim, start.neurons())?;
    check_dim("the network", dim, start.dim())?;
    if model == Model::Unit && start.signs().iter().any(|s| *s < 0.0) {
        return Err(Error::out_of_range("second-layer sign", -1, "1 in the unit model"));
    }
    let problem = Problem::new(samples, model, 0.0);
    let mut solver = Solver::new(&problem, start.neurons());
    let neurons = start.iter().zip(start.signs()).zip(solver.at.directions.chunks_exact_mut(dim));
    for (((theta, sign), direction), amplitude) in neurons.zip(&mut solver.at.amplitudes) {
        direction.copy_from_slice(theta);
        *amplitude = if model == Model::Signed { sign * norm(theta) / problem.gain } else { 1.0 };
        // A zero neuron has no direction; any will do.
        if !normalise(direction) {
            direction.fill(0.0);
            direction[0] = 1.0;
        }
    }
    sharpen(&problem, &mut solver, Freedom::of(model), iterations);
    let net = network(&problem, &solver)?;
    let loss = mean_squared_error(&net, samples)?;
    Ok((net, loss))
}

/// From a random start to the neighbourhood of a minimum; returns the number of iterations.
fn explore(problem: &Problem, solver: &mut Solver<'_>, opening: f64, options: &FitOptions, affine: bool) -> usize {
    let free = Freedom { linear: affine, ..Freedom::of(options.model) };
    let mut used = 0;
    let mut run = |solver: &mut Solver<'_>, free: Freedom, rounding: f64, tolerance: f64, patience: usize| {
        let iterations = options.iterations - used;
        used += solver.descend(free, Stage { rounding, tolerance, patience, iterations });
        used
    };
    solver.forget();
    // The linear term is d more unknowns: only where the samples are enough to determine it.
    if !affine && problem.len() > (solver.at.amplitudes.len() + 1) * problem.dim() {
        run(solver, Freedom { linear: true, ..free }, opening, 1e-2, 4);
        turn_around(problem, solver);
    }
    for rounding in [opening, 0.1, 0.03, 0.01] {
        run(solver, free, rounding, 1e-2, 3);
    }
    run(solver, free, 0.0, 1e-2, 2)
}

/// From the neighbourhood of a minimum to the minimum; returns the number of iterations. The loss does not rise.
fn sharpen(problem: &Problem, solver: &mut Solver<'_>, free: Freedom, iterations: usize) -> usize {
    solver.evaluate(0.0);
    let mut best = solver.at.clone();
    if problem.is_zero(best.loss) {
        return 0;
    }
    let mut used = 0;
    solver.forget();
    let mut roundings = &[1e-2, 1e-3, 1e-4, 1e-5, 0.0][..];
    loop {
        for &rounding in roundings {
            let stage =
                Stage { rounding, tolerance: 1e-4 * rounding.max(1e-4), patience: 4, iterations: iterations - used };
            used += solver.descend(free, stage);
        }
        let helped = solver.evaluate(0.0) < (1.0 - 1e-3) * best.loss;
        if solver.at.loss < best.loss {
            best.clone_from(&solver.at);
        }
        // A free amplitude makes room for a twin, so only unit neurons can be held together. After the first descent,
        // which need not gain anything, parting must pay.
        let go_on = !free.amplitudes && used < iterations && (roundings.len() > 1 || helped);
        if !go_on || problem.is_zero(best.loss) {
            break;
        }
        solver.at.clone_from(&best);
        if !twins::part(&mut solver.at, problem.dim(), problem.slope) {
            break;
        }
        // From now on without rounding, which would bring them together again.
        roundings = &[0.0];
    }
    solver.at.clone_from(&best);
    used
}

fn check_shape(dim: usize, neurons: usize) -> Result<()> {
    if dim < 2 {
        return Err(Error::out_of_range("dim", dim, "at least 2"));
    }
    if !(1..=MAX_NEURONS).contains(&neurons) {
        return Err(Error::out_of_range("neurons", neurons, format!("1 to {MAX_NEURONS}")));
    }
    if neurons.saturating_mul(dim) > MAX_FEATURES {
        let allowed = format!("neurons times dimension at most {MAX_FEATURES}, and the dimension is {dim}");
        return Err(Error::out_of_range("neurons", neurons, allowed));
    }
    Ok(())
}

fn draw_start(problem: &Problem, solver: &mut Solver<'_>, model: Model, stream: &mut Stream) {
    solver.at.directions.chunks_exact_mut(problem.dim()).for_each(|row| unit_vector(stream, row));
    solver.at.linear.fill(0.0);
    if model == Model::Signed {
        let size = problem.slope();
        solver.at.amplitudes.iter_mut().for_each(|c| *c = size * sign(stream));
    }
}

/// Explains the linear term by turning neurons around, then drops it. A leaky neuron of slope a that is turned around
/// changes by 1 + a times itself, not by itself.
fn turn_around(problem: &Problem, solver: &mut Solver<'_>) {
    let (d, k, turned) = (problem.dim(), solver.at.amplitudes.len(), 1.0 + problem.slope);
    let mut image = vec![0.0; d];
    let mut gram = vec![0.0; k * k];
    let mut towards = vec![0.0; k];
    let at = &mut solver.at;
    for i in 0..k {
        symmetric_times(problem.moment(), &at.directions[i * d..(i + 1) * d], &mut image);
        towards[i] = turned * at.amplitudes[i] * dot(&image, &at.linear);
        for (j, u) in at.directions.chunks_exact(d).enumerate() {
            gram[i * k + j] = turned * turned * at.amplitudes[i] * at.amplitudes[j] * dot(&image, u);
        }
    }
    for (row, wrong) in at.directions.chunks_exact_mut(d).zip(signs::wrong_way(&gram, &towards)) {
        if wrong {
            row.iter_mut().for_each(|x| *x = -*x);
        }
    }
    at.linear.fill(0.0);
}

/// The neurons where the solver stands, in the units of the samples.
fn network(problem: &Problem, solver: &Solver<'_>) -> Result<ReluNet> {
    let mut theta = solver.at.directions.clone();
    for (row, c) in theta.chunks_exact_mut(problem.dim()).zip(&solver.at.amplitudes) {
        let length = c.abs() * problem.gain;
        row.iter_mut().for_each(|x| *x *= length);
    }
    let signs = solver.at.amplitudes.iter().map(|c| if *c < 0.0 { -1.0 } else { 1.0 }).collect();
    ReluNet::with_signs(problem.dim(), theta, signs)
}
