//! What the authors of the paper run: one descent with Adam, for comparison.

use super::{Fit, Samples, check_shape, mean_squared_error};
use crate::activation::relu;
use crate::error::{Error, Result};
use crate::linalg::{axpy, dot};
use crate::relu::ReluNet;
use crate::rng::{Key, Purpose, uniform};

const BETA_1: f64 = 0.9;
const BETA_2: f64 = 0.999;
const EPSILON: f64 = 1e-8;

/// How many steps the authors take.
pub const STEPS: usize = 2_000;
/// The learning rate that the authors use.
pub const LEARNING_RATE: f64 = 1e-2;

/// `steps` full-batch steps of Adam (Kingma and Ba, 2015; β₁ = 0.9, β₂ = 0.999, ε = 1e-8, bias-corrected) on the mean
/// squared error, from neurons uniform on (−1/√d, 1/√d)ᵈ.
///
/// As in the authors' public code there is one start, the second layer is all ones and the neurons are
/// *not* normalised, so the result need not be a point of the paper's Θ. [`super::fit`] is the estimator
/// that the paper's theory asks for.
pub fn adam(samples: Samples<'_>, neurons: usize, steps: usize, learning_rate: f64, key: Key) -> Result<Fit> {
    check_shape(samples.dim(), neurons)?;
    if !(learning_rate > 0.0 && learning_rate <= 1.0) {
        return Err(Error::out_of_range("learning_rate", learning_rate, "above 0 and at most 1"));
    }
    let dim = samples.dim();
    let mut stream = key.later(0).purpose(Purpose::Fit).stream();
    let bound = 1.0 / (dim as f64).sqrt();
    let mut theta: Vec<f64> = (0..neurons * dim).map(|_| bound * (2.0 * uniform(&mut stream) - 1.0)).collect();
    let mut gradient = vec![0.0; theta.len()];
    let mut first = vec![0.0; theta.len()];
    let mut second = vec![0.0; theta.len()];
    let (mut decay_1, mut decay_2) = (1.0, 1.0);
    for _ in 0..steps {
        gradient_of_loss(samples, &theta, &mut gradient);
        decay_1 *= BETA_1;
        decay_2 *= BETA_2;
        for (((t, &g), m), v) in theta.iter_mut().zip(&gradient).zip(&mut first).zip(&mut second) {
            *m = BETA_1 * *m + (1.0 - BETA_1) * g;
            *v = BETA_2 * *v + (1.0 - BETA_2) * g * g;
            let corrected = (*v / (1.0 - decay_2)).sqrt();
            *t -= learning_rate * (*m / (1.0 - decay_1)) / (corrected + EPSILON);
        }
    }
    let net = ReluNet::new(dim, theta)?;
    let loss = mean_squared_error(&net, samples)?;
    Ok(Fit { net, loss, restarts: 1, agreed: 1, iterations: steps })
}

/// (2/n)·Σ (f(x) − y)·∂f/∂Θ, where as in the authors' framework a neuron at exactly zero does not pass a gradient.
fn gradient_of_loss(samples: Samples<'_>, theta: &[f64], gradient: &mut [f64]) {
    gradient.fill(0.0);
    let dim = samples.dim();
    let scale = 2.0 / samples.len() as f64;
    for (x, y) in samples.iter() {
        let value: f64 = theta.chunks_exact(dim).map(|row| relu(dot(row, x))).sum();
        let slope = scale * (value - y);
        for (row, theta) in gradient.chunks_exact_mut(dim).zip(theta.chunks_exact(dim)) {
            if dot(theta, x) > 0.0 {
                axpy(slope, x, row);
            }
        }
    }
}
