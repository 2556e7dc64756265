//! The empirical-risk minimiser Θ̃ = argmin (1/n)·Σ (f_Θ(xᵢ) − yᵢ)² (Section 3 of the paper).

mod adam;
mod levenberg_marquardt;
mod matching;
mod signs;

use serde::{Deserialize, Serialize};

pub use adam::{LEARNING_RATE, STEPS, adam};
pub use matching::{Matching, SignRule, match_neurons};

use crate::arms::{Rows, check_dim, check_finite};
use crate::error::{Error, Result};
use crate::linalg::{dot, norm, symmetric_times};
use crate::relu::{MAX_NEURONS, ReluNet};
use crate::rng::{Key, Purpose, Stream, sign, unit_vector};
use levenberg_marquardt::{Freedom, Problem, Solver};

/// Actions with their rewards, borrowed, checked once: at least one, as many rewards as actions, all finite.
#[derive(Debug, Clone, Copy)]
pub struct Samples<'a> {
    rows: Rows<'a>,
    rewards: &'a [f64],
}

impl<'a> Samples<'a> {
    /// Checks that `actions` is one row of `dim` numbers a reward, and all numbers finite.
    pub fn new(dim: usize, actions: &'a [f64], rewards: &'a [f64]) -> Result<Self> {
        if actions.is_empty() && rewards.is_empty() {
            return Err(Error::TooFewSamples { what: "a fit", needed: 1, found: 0 });
        }
        let rows = Rows::new(dim, actions)?;
        check_dim("the list of rewards", rows.len(), rewards.len())?;
        rewards.iter().try_for_each(|&y| check_finite("a reward", y))?;
        Ok(Samples { rows, rewards })
    }

    /// d, the dimension of an action.
    pub fn dim(&self) -> usize {
        self.rows.dim()
    }

    /// n, the number of samples; never zero.
    #[allow(clippy::len_without_is_empty)]
    pub fn len(&self) -> usize {
        self.rewards.len()
    }

    /// The actions.
    pub fn rows(&self) -> Rows<'a> {
        self.rows
    }

    /// The rewards.
    pub fn rewards(&self) -> &'a [f64] {
        self.rewards
    }

    /// The actions with their rewards, in order.
    pub fn iter(&self) -> impl Iterator<Item = (&'a [f64], f64)> {
        self.rows.iter().zip(self.rewards.iter().copied())
    }
}

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
    /// Stop once this many starts reached the same best loss. A loss of zero (to rounding) stops at once.
    pub agree: usize,
    /// The most Levenberg–Marquardt iterations a start.
    pub iterations: usize,
}

impl Default for FitOptions {
    fn default() -> Self {
        FitOptions { model: Model::Unit, restarts: 64, agree: 3, iterations: 200 }
    }
}

/// An empirical-risk minimiser.
#[derive(Debug, Clone, PartialEq, Serialize)]
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
/// Start r draws from `key.later(r).purpose(Purpose::Fit)`: the result is a function of the samples, the options and the key.
pub fn fit(samples: Samples<'_>, neurons: usize, options: &FitOptions, key: Key) -> Result<Fit> {
    check_shape(samples.dim(), neurons)?;
    if options.restarts == 0 {
        return Err(Error::out_of_range("restarts", 0, "at least 1"));
    }
    let problem = Problem::new(samples);
    let mut solver = Solver::new(&problem, neurons);
    let free = Freedom { amplitudes: options.model == Model::Signed, linear: false };
    // The linear term is d more unknowns: only where the samples are enough to determine it.
    let lift = problem.len() > (neurons + 1) * problem.dim();
    let tolerance = 1.0 / problem.len() as f64;
    let mut best = solver.at.clone();
    let (mut agreed, mut iterations, mut restarts) = (0, 0, 0);
    for r in 0..options.restarts {
        draw_start(&problem, &mut solver, options.model, &mut key.later(r as u64).purpose(Purpose::Fit).stream());
        solver.restart();
        if lift {
            iterations += solver.descend(Freedom { linear: true, ..free }, options.iterations);
            turn_around(&problem, &mut solver);
            solver.restart();
        }
        iterations += solver.descend(free, options.iterations);
        restarts += 1;
        let loss = solver.at.loss;
        if loss <= best.loss * (1.0 + tolerance) {
            // A clearly lower loss starts a new count.
            agreed = if loss * (1.0 + tolerance) < best.loss { 1 } else { agreed + 1 };
            if loss < best.loss {
                best.clone_from(&solver.at);
            }
        }
        if agreed >= options.agree.max(1) || problem.is_zero(best.loss) {
            break;
        }
    }
    let net = network(samples.dim(), &best.directions, &best.amplitudes)?;
    let loss = mean_squared_error(&net, samples)?;
    Ok(Fit { net, loss, restarts, agreed, iterations })
}

/// Minimises the empirical risk from a known start; returns the network and its mean squared error.
pub fn polish(start: ReluNet, samples: Samples<'_>, model: Model, iterations: usize) -> Result<(ReluNet, f64)> {
    check_shape(samples.dim(), start.neurons())?;
    check_dim("the network", samples.dim(), start.dim())?;
    if model == Model::Unit && start.signs().iter().any(|s| *s < 0.0) {
        return Err(Error::out_of_range("second-layer sign", -1, "1 in the unit model"));
    }
    let problem = Problem::new(samples);
    let mut solver = Solver::new(&problem, start.neurons());
    let free = Freedom { amplitudes: model == Model::Signed, linear: false };
    for (i, theta) in start.iter().enumerate() {
        let length = norm(theta);
        let direction = &mut solver.at.directions[i * samples.dim()..(i + 1) * samples.dim()];
        if length > 0.0 {
            direction.iter_mut().zip(theta).for_each(|(u, t)| *u = t / length);
        } else {
            direction[0] = 1.0;
        }
        solver.at.amplitudes[i] = if free.amplitudes { start.signs()[i] * length } else { 1.0 };
    }
    solver.restart();
    solver.descend(free, iterations);
    let net = network(samples.dim(), &solver.at.directions, &solver.at.amplitudes)?;
    let loss = mean_squared_error(&net, samples)?;
    Ok((net, loss))
}

fn check_shape(dim: usize, neurons: usize) -> Result<()> {
    if dim < 2 {
        return Err(Error::out_of_range("dim", dim, "at least 2"));
    }
    if !(1..=MAX_NEURONS).contains(&neurons) {
        return Err(Error::out_of_range("neurons", neurons, format!("1 to {MAX_NEURONS}")));
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

/// Explains the linear term by turning neurons around, then drops it.
fn turn_around(problem: &Problem, solver: &mut Solver<'_>) {
    let (d, k) = (problem.dim(), solver.at.amplitudes.len());
    let mut image = vec![0.0; d];
    let mut gram = vec![0.0; k * k];
    let mut towards = vec![0.0; k];
    let at = &mut solver.at;
    for i in 0..k {
        symmetric_times(problem.moment(), &at.directions[i * d..(i + 1) * d], &mut image);
        towards[i] = at.amplitudes[i] * dot(&image, &at.linear);
        for (j, u) in at.directions.chunks_exact(d).enumerate() {
            gram[i * k + j] = at.amplitudes[i] * at.amplitudes[j] * dot(&image, u);
        }
    }
    for (row, wrong) in at.directions.chunks_exact_mut(d).zip(signs::wrong_way(&gram, &towards)) {
        if wrong {
            row.iter_mut().for_each(|x| *x = -*x);
        }
    }
    at.linear.fill(0.0);
}

fn network(dim: usize, directions: &[f64], amplitudes: &[f64]) -> Result<ReluNet> {
    let mut theta = directions.to_vec();
    for (row, c) in theta.chunks_exact_mut(dim).zip(amplitudes) {
        row.iter_mut().for_each(|x| *x *= c.abs());
    }
    let signs = amplitudes.iter().map(|c| if *c < 0.0 { -1.0 } else { 1.0 }).collect();
    ReluNet::with_signs(dim, theta, signs)
}
