//! How NeuralUCB's network learns from the history.

use super::network::Network;
use crate::linalg::axpy;
use crate::rng::{Stream, shuffle};

/// The history.
#[derive(Clone, Copy)]
pub(super) struct Data<'a> {
    pub(super) dim: usize,
    pub(super) xs: &'a [f64],
    pub(super) ys: &'a [f64],
}

impl<'a> Data<'a> {
    fn sample(&self, i: usize) -> (&'a [f64], f64) {
        (&self.xs[i * self.dim..(i + 1) * self.dim], self.ys[i])
    }
}

/// A pass over the data with mean loss at most this ends the training.
const GOOD_ENOUGH: f64 = 1e-3;

/// Single samples in one random order, over and over, from where the network stands; at most `steps` steps.
pub(super) fn stochastic(
    network: &mut Network,
    data: Data<'_>,
    rate: f64,
    decay: f64,
    steps: usize,
    stream: &mut Stream,
) {
    let mut order: Vec<u32> = (0..data.ys.len() as u32).collect();
    shuffle(stream, &mut order);
    pulp::Arch::new().dispatch(Passes { network, data, order: &order, rate, decay, steps });
}

struct Passes<'a> {
    network: &'a mut Network,
    data: Data<'a>,
    order: &'a [u32],
    rate: f64,
    decay: f64,
    steps: usize,
}

impl pulp::NullaryFnOnce for Passes<'_> {
    type Output = ();

    #[inline(always)]
    fn call(self) {
        let Passes { network, data, order, rate, decay, steps } = self;
        let mut hidden = network.hidden();
        let mut done = 0;
        loop {
            let mut pass_loss = 0.0;
            for &i in order {
                let (x, y) = data.sample(i as usize);
                pass_loss += network.descend(x, y, rate, decay, &mut hidden);
                done += 1;
                if done >= steps {
                    return;
                }
            }
            if pass_loss <= GOOD_ENOUGH * order.len() as f64 {
                return;
            }
        }
    }
}

/// Gradient descent on Σ(f − y)²/2 + penalty·‖θ − θ₀‖²/2 from θ₀.
pub(super) fn towards_start(
    network: &mut Network,
    start: &[f64],
    data: Data<'_>,
    rate: f64,
    penalty: f64,
    steps: usize,
) {
    network.params_mut().copy_from_slice(start);
    let mut gradient = vec![0.0; start.len()];
    let mut total = vec![0.0; start.len()];
    for _ in 0..steps {
        for (t, (p, s)) in total.iter_mut().zip(network.params().iter().zip(start)) {
            *t = penalty * (p - s);
        }
        for i in 0..data.ys.len() {
            let (x, y) = data.sample(i);
            let error = network.gradient(x, &mut gradient) - y;
            axpy(error, &gradient, &mut total);
        }
        axpy(-rate, &total, network.params_mut());
    }
}
