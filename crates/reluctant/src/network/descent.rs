//! How NeuralUCB's network learns from the history.

use super::single::{Network, Shape};
use crate::kernels::Descent;
use crate::linalg::axpy;
use crate::rng::{Stream, shuffle};

/// The history.
#[derive(Clone, Copy)]
pub(crate) struct Data<'a> {
    pub(crate) dim: usize,
    pub(crate) xs: &'a [f64],
    pub(crate) ys: &'a [f64],
}

impl<'a> Data<'a> {
    fn sample(&self, i: usize) -> (&'a [f64], f64) {
        (&self.xs[i * self.dim..(i + 1) * self.dim], self.ys[i])
    }
}

/// Memory that training works in, kept from round to round.
#[derive(Debug, Default, Clone)]
pub(crate) struct Workspace {
    order: Vec<u32>,
    numbers: Vec<f64>,
    pub(crate) gradient: Vec<f64>,
    total: Vec<f64>,
}

/// Single samples in one random order, over and over, from where the network stands; at most `steps` steps.
pub(crate) fn stochastic(
    network: &mut Network,
    data: Data<'_>,
    rate: f64,
    decay: f64,
    steps: usize,
    stream: &mut Stream,
    work: &mut Workspace,
) {
    let Shape { dim, width, .. } = network.shape();
    work.order.clear();
    work.order.extend(0..data.ys.len() as u32);
    shuffle(stream, &mut work.order);
    let params = network.params_mut();
    let descent = Descent { dim, width, params, xs: data.xs, ys: data.ys, rate, decay };
    descent.run(&work.order, steps, &mut work.numbers);
    // Weight decay shrinks the weights of units that never fire without end. Before they become subnormal numbers, with
    // which the processor computes many times slower, they count as zero.
    network.params_mut().iter_mut().filter(|p| p.abs() < 1e-100).for_each(|p| *p = 0.0);
}

/// Gradient descent on Σ(f − y)²/2 + penalty·‖θ − θ₀‖²/2 from θ₀.
pub(crate) fn towards_start(
    network: &mut Network,
    start: &[f64],
    data: Data<'_>,
    rate: f64,
    penalty: f64,
    steps: usize,
    work: &mut Workspace,
) {
    network.params_mut().copy_from_slice(start);
    let Workspace { gradient, total, .. } = work;
    gradient.resize(start.len(), 0.0);
    total.resize(start.len(), 0.0);
    for _ in 0..steps {
        for (t, (p, s)) in total.iter_mut().zip(network.params().iter().zip(start)) {
            *t = penalty * (p - s);
        }
        for i in 0..data.ys.len() {
            let (x, y) = data.sample(i);
            let error = network.gradient(x, gradient) - y;
            axpy(error, gradient, total);
        }
        axpy(-rate, total, network.params_mut());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::{Key, unit_vector};

    #[test]
    fn a_stochastic_step_goes_along_the_gradient() {
        let mut stream = Key::new(3).stream();
        let base = Shape { dim: 3, width: 6, two_layers: true, doubled: false };
        for shape in [base, Shape { two_layers: false, ..base }, Shape { dim: 4, ..base }, Shape { width: 30, ..base }]
        {
            let mut network = Network::uniform_start(shape, &mut stream);
            let mut x = vec![0.0; shape.dim];
            for _ in 0..50 {
                unit_vector(&mut stream, &mut x);
                let (y, rate, decay) = (0.7, 0.05, 0.02);
                let mut gradient = vec![0.0; network.size()];
                let error = network.gradient(&x, &mut gradient) - y;
                let expected: Vec<f64> = (network.params().iter().zip(&gradient))
                    .map(|(p, g)| p - rate * (2.0 * error * g + decay * p))
                    .collect();
                let data = Data { dim: shape.dim, xs: &x, ys: &[y] };
                stochastic(&mut network, data, rate, decay, 1, &mut Key::new(4).stream(), &mut Workspace::default());
                assert!(network.params().iter().zip(&expected).all(|(a, b)| (a - b).abs() < 1e-12));
            }
        }
    }
}
