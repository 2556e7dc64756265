//! The empirical-risk minimiser over the whole family: signs ±1 and lengths free, biases, leaky units, an affine part.
//!
//! A bias is the weight of one more coordinate that never changes, so a network on x with biases is one on (x, 1)
//! without, and the solver is the same. With a free affine part no neuron has a sign, and the slope of the activation
//! does not matter: what is found are the kinks ([`kink_error`]).

use serde::Serialize;

use super::problem::{Problem, power_of_two_near};
use super::{FitOptions, Model, Samples, SignRule, Starts, check_shape, match_neurons, minimise, network};
use crate::error::Result;
use crate::piecewise::PiecewiseNet;
use crate::relu::ReluNet;
use crate::rng::Key;

/// Which networks of the family are considered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Parts {
    /// Whether neurons have biases. They then have any length and sign, too.
    pub biases: bool,
    /// Whether there is an affine (without biases: a linear) part besides the neurons. They then have any length and
    /// sign.
    pub affine: bool,
}

/// An empirical-risk minimiser of the family.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PiecewiseFit {
    /// The network.
    pub net: PiecewiseNet,
    /// Its mean squared error.
    pub loss: f64,
    /// How many starts were made.
    pub restarts: usize,
    /// How many of them reached this loss.
    pub agreed: usize,
    /// Iterations, over all starts.
    pub iterations: usize,
}

/// Minimises the empirical risk over networks of the family with `neurons` neurons, as [`super::fit`] does over those
/// of the paper.
///
/// ```
/// use reluctant::estimate::{FitOptions, Parts, Samples, fit_piecewise};
/// use reluctant::Key;
///
/// // −max(0, x₁ − 1/2) on a grid.
/// let at = |i: i32| f64::from(i) / 3.0 - 1.0;
/// let actions: Vec<f64> = (0..49).flat_map(|i| [at(i / 7), at(i % 7)]).collect();
/// let rewards: Vec<f64> = actions.chunks(2).map(|x| -(x[0] - 0.5).max(0.0)).collect();
/// let parts = Parts { biases: true, affine: false };
/// let found = fit_piecewise(Samples::new(2, &actions, &rewards)?, 1, parts, &FitOptions::default(), Key::new(7))?;
/// assert!(found.loss < 1e-20);
/// assert!((found.net.biases()[0] + 0.5).abs() < 1e-9);
/// # Ok::<(), reluctant::Error>(())
/// ```
pub fn fit_piecewise(
    samples: Samples<'_>,
    neurons: usize,
    parts: Parts,
    options: &FitOptions,
    key: Key,
) -> Result<PiecewiseFit> {
    let dim = samples.dim();
    let lifted = Lifted::new(samples, parts.biases);
    let lifted_samples = lifted.samples(samples)?;
    check_shape(lifted_samples.dim(), neurons)?;
    let activation = options.check()?;
    let mut options = *options;
    if parts.biases || parts.affine {
        options.model = Model::Signed;
    }
    if parts.affine {
        options.slope = 0.0;
    }
    let problem = Problem::new(lifted_samples, options.model, options.slope);
    let (solver, Starts { restarts, agreed, iterations }) = minimise(&problem, neurons, &options, parts, key);
    let found = network(&problem, &solver)?;
    let (theta, biases) = lifted.split(found.theta(), dim);
    let hinges = ReluNet::with_signs(dim, theta, found.signs().to_vec())?;
    let net = if parts.affine {
        let linear: Vec<f64> = solver.at.linear.iter().map(|w| problem.gain * w).collect();
        let (linear, constant) = lifted.split(&linear, dim);
        PiecewiseNet::new(constant[0], linear, hinges, biases)?
    } else {
        PiecewiseNet::with_activation(&activation, &hinges, &biases)?
    };
    let loss = net.mean_squared_error(samples)?;
    Ok(PiecewiseFit { net, loss, restarts, agreed, iterations })
}

/// (x, h) instead of x, with a constant h of the size of x.
struct Lifted {
    /// 0: x stays as it is.
    constant: f64,
    rows: Vec<f64>,
}

impl Lifted {
    fn new(samples: Samples<'_>, biases: bool) -> Self {
        if !biases {
            return Lifted { constant: 0.0, rows: Vec::new() };
        }
        let widest = samples.rows().data().iter().fold(0.0f64, |m, x| m.max(x.abs()));
        let constant = power_of_two_near(widest);
        let rows = samples.rows().iter().flat_map(|x| x.iter().copied().chain([constant])).collect();
        Lifted { constant, rows }
    }

    fn samples<'a>(&'a self, samples: Samples<'a>) -> Result<Samples<'a>> {
        if self.constant == 0.0 {
            return Ok(samples);
        }
        Samples::new(samples.dim() + 1, &self.rows, samples.rewards())
    }

    /// Weights of x, row after row, and those of 1.
    fn split(&self, weights: &[f64], dim: usize) -> (Vec<f64>, Vec<f64>) {
        if self.constant == 0.0 {
            return (weights.to_vec(), vec![0.0; weights.len() / dim]);
        }
        let rows = weights.chunks_exact(dim + 1);
        let theta = rows.clone().flat_map(|row| &row[..dim]).copied().collect();
        (theta, rows.map(|row| self.constant * row[dim]).collect())
    }
}

/// How far the kinks of an estimate are from those of the truth: a kink θ·x + b = 0 is the line through (θ, b), of unit
/// length and without a sign, and the worst distance in the best assignment counts.
pub fn kink_error(estimate: &PiecewiseNet, truth: &PiecewiseNet) -> Result<f64> {
    let lines = |net: &PiecewiseNet| {
        let rows = net.hinges().iter().zip(net.biases());
        let theta = rows.flat_map(|(theta, &bias)| theta.iter().copied().chain([bias])).collect();
        ReluNet::new(net.dim() + 1, theta).map(ReluNet::directions)
    };
    Ok(match_neurons(&lines(estimate)?, &lines(truth)?, SignRule::Free)?.worst)
}
