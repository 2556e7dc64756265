//! Training by single samples: the steps of stochastic gradient descent that NeuralUCB takes, up to a thousand a round.
//!
//! Each step needs the parameters that the one before it left, so what counts is how long one takes from its first operation to its
//! last, not how many operations it has. For few inputs and hidden units, whose numbers the compiler knows, all parameters stay in
//! vector registers from step to step, eight hidden units side by side. Every number has its operations in the order of the plain
//! version, [`Descent::plain_step`]: the bits are the same.

use pulp::{Arch, NullaryFnOnce};

/// Hidden units side by side.
const UNITS: usize = 8;

type Units = [f64; UNITS];

/// A pass over the data with mean loss at most this ends the training.
const GOOD_ENOUGH: f64 = 1e-3;

/// Stochastic gradient descent on (f(x) − y)² with weight decay, θ ← θ − rate·(2(f − y)·∂f/∂θ + decay·θ), for the network
/// f(x) = Σᵢ vᵢ·max(0, wᵢ·x) + c, or Σᵢ max(0, wᵢ·x) if there is no second layer to train.
pub(crate) struct Descent<'a> {
    /// d.
    pub(crate) dim: usize,
    /// Hidden units m.
    pub(crate) width: usize,
    /// W by input coordinate and then, if the second layer is trained, v and c.
    pub(crate) params: &'a mut [f64],
    /// The data, sample after sample.
    pub(crate) xs: &'a [f64],
    pub(crate) ys: &'a [f64],
    pub(crate) rate: f64,
    pub(crate) decay: f64,
}

impl Descent<'_> {
    /// Takes the samples in `order`, over and over, until so many `steps` were taken or a pass had a small mean loss. `hidden` is
    /// memory to work in.
    pub(crate) fn run(mut self, order: &[u32], steps: usize, hidden: &mut Vec<f64>) {
        struct Kernel<'k, 'd>(&'k mut Descent<'d>, &'k [u32], usize, &'k mut Vec<f64>);
        impl NullaryFnOnce for Kernel<'_, '_> {
            type Output = ();
            #[inline(always)]
            fn call(self) {
                let Kernel(descent, order, steps, hidden) = self;
                match (descent.dim, descent.width.div_ceil(UNITS)) {
                    (2, 1) => descent.in_registers::<2, 1>(order, steps),
                    (2, 2) => descent.in_registers::<2, 2>(order, steps),
                    (2, 3) => descent.in_registers::<2, 3>(order, steps),
                    (3, 1) => descent.in_registers::<3, 1>(order, steps),
                    (3, 2) => descent.in_registers::<3, 2>(order, steps),
                    (3, 3) => descent.in_registers::<3, 3>(order, steps),
                    _ => descent.in_memory(order, steps, hidden),
                }
            }
        }
        Arch::new().dispatch(Kernel(&mut self, order, steps, hidden));
    }

    fn two_layers(&self) -> bool {
        self.params.len() > self.dim * self.width
    }

    /// For any number of inputs and hidden units.
    #[inline(always)]
    fn in_memory(&mut self, order: &[u32], steps: usize, hidden: &mut Vec<f64>) {
        hidden.clear();
        hidden.resize(self.width, 0.0);
        passes(order, steps, |i| self.plain_step(i, hidden));
    }

    /// For D inputs and at most 8·B hidden units.
    #[inline(always)]
    fn in_registers<const D: usize, const B: usize>(&mut self, order: &[u32], steps: usize) {
        if self.two_layers() {
            self.with_layers::<D, B, true>(order, steps);
        } else {
            self.with_layers::<D, B, false>(order, steps);
        }
    }

    #[inline(always)]
    fn with_layers<const D: usize, const B: usize, const TWO: bool>(&mut self, order: &[u32], steps: usize) {
        let (width, xs, ys) = (self.width, self.xs, self.ys);
        let (keep, twice) = (1.0 - self.rate * self.decay, -2.0 * self.rate);
        let mut network = Network::<D, B, TWO>::load(width, self.params);
        passes(order, steps, |i| {
            let mut x = [0.0; D];
            x.copy_from_slice(&xs[i * D..][..D]);
            network.step(x, ys[i], keep, twice)
        });
        network.store(width, self.params);
    }

    /// One step on sample `i`, straight from the definition but for the gradient, which is never formed; returns the loss before it.
    #[inline(always)]
    fn plain_step(&mut self, i: usize, hidden: &mut [f64]) -> f64 {
        let (x, y) = (&self.xs[i * self.dim..][..self.dim], self.ys[i]);
        let keep = 1.0 - self.rate * self.decay;
        let (first, rest) = self.params.split_at_mut(self.dim * self.width);
        hidden.fill(0.0);
        for (weights, &xj) in first.chunks_exact(self.width).zip(x) {
            hidden.iter_mut().zip(weights).for_each(|(h, w)| *h += w * xj);
        }
        let error = if rest.is_empty() {
            let error = positive_sum(hidden, |_| 1.0) - y;
            hidden.iter_mut().for_each(|h| *h = if *h >= 0.0 { 1.0 } else { 0.0 });
            error
        } else {
            let (second, bias) = rest.split_at_mut(self.width);
            let error = positive_sum(hidden, |i| second[i]) + bias[0] - y;
            let step = -2.0 * self.rate * error;
            // `hidden` turns into the slope of the output in each unit's input while the second layer moves.
            for (h, v) in hidden.iter_mut().zip(second.iter_mut()) {
                let slope = if *h >= 0.0 { *v } else { 0.0 };
                *v = keep * *v + step * if *h > 0.0 { *h } else { 0.0 };
                *h = slope;
            }
            bias[0] = keep * bias[0] + step;
            error
        };
        for (weights, &xj) in first.chunks_exact_mut(self.width).zip(x) {
            let move_by = -2.0 * self.rate * error * xj;
            weights.iter_mut().zip(hidden.iter()).for_each(|(w, slope)| *w = keep * *w + move_by * slope);
        }
        error * error
    }
}

/// Calls `step` with the samples in `order`, over and over, until so many `steps` were taken or a pass had a small mean loss.
#[inline(always)]
fn passes(order: &[u32], steps: usize, mut step: impl FnMut(usize) -> f64) {
    let mut left = steps;
    loop {
        let mut loss = 0.0;
        for &i in order {
            loss += step(i as usize);
            left -= 1;
            if left == 0 {
                return;
            }
        }
        if loss <= GOOD_ENOUGH * order.len() as f64 {
            return;
        }
    }
}

/// Σ max(0, hᵢ)·vᵢ in eight interleaved partial sums: one long chain of additions would be what a step waits for.
#[inline(always)]
fn positive_sum(hidden: &[f64], v: impl Fn(usize) -> f64) -> f64 {
    let mut sums = [0.0; UNITS];
    for start in (0..hidden.len()).step_by(UNITS) {
        for i in start..hidden.len().min(start + UNITS) {
            sums[i - start] += v(i) * positive(hidden[i]);
        }
    }
    total(sums)
}

#[inline(always)]
fn positive(h: f64) -> f64 {
    if h > 0.0 { h } else { 0.0 }
}

#[inline(always)]
fn total([a, b, c, d, e, f, g, h]: Units) -> f64 {
    ((a + b) + (c + d)) + ((e + f) + (g + h))
}

/// The parameters of a network with D inputs and at most 8·B hidden units. Units that do not exist have zeros everywhere, and keep
/// them. A second layer that is not trained is ones.
struct Network<const D: usize, const B: usize, const TWO: bool> {
    first: [[Units; B]; D],
    second: [Units; B],
    bias: f64,
}

impl<const D: usize, const B: usize, const TWO: bool> Network<D, B, TWO> {
    #[inline(always)]
    fn load(width: usize, params: &[f64]) -> Self {
        let mut network = Network { first: [[[0.0; UNITS]; B]; D], second: [[0.0; UNITS]; B], bias: 0.0 };
        for i in 0..width {
            for j in 0..D {
                network.first[j][i / UNITS][i % UNITS] = params[j * width + i];
            }
            network.second[i / UNITS][i % UNITS] = if TWO { params[D * width + i] } else { 1.0 };
        }
        if TWO {
            network.bias = params[(D + 1) * width];
        }
        network
    }

    #[inline(always)]
    fn store(&self, width: usize, params: &mut [f64]) {
        for i in 0..width {
            for j in 0..D {
                params[j * width + i] = self.first[j][i / UNITS][i % UNITS];
            }
            if TWO {
                params[D * width + i] = self.second[i / UNITS][i % UNITS];
            }
        }
        if TWO {
            params[(D + 1) * width] = self.bias;
        }
    }

    /// What [`Descent::plain_step`] does; `keep` is 1 − rate·decay and `twice` −2·rate.
    #[inline(always)]
    fn step(&mut self, x: [f64; D], y: f64, keep: f64, twice: f64) -> f64 {
        let (mut fired, mut slopes) = ([[0.0; UNITS]; B], [[0.0; UNITS]; B]);
        let mut sums = [0.0; UNITS];
        for b in 0..B {
            for u in 0..UNITS {
                let mut h = self.first[0][b][u] * x[0];
                for j in 1..D {
                    h += self.first[j][b][u] * x[j];
                }
                let v = self.second[b][u];
                fired[b][u] = positive(h);
                slopes[b][u] = if h >= 0.0 { v } else { 0.0 };
                let term = v * fired[b][u];
                sums[u] = if b == 0 { term } else { sums[u] + term };
            }
        }
        let error = if TWO { total(sums) + self.bias - y } else { total(sums) - y };
        let step = twice * error;
        if TWO {
            self.bias = keep * self.bias + step;
        }
        for b in 0..B {
            for u in 0..UNITS {
                if TWO {
                    self.second[b][u] = keep * self.second[b][u] + step * fired[b][u];
                }
                for j in 0..D {
                    let weight = &mut self.first[j][b][u];
                    *weight = keep * *weight + step * x[j] * slopes[b][u];
                }
            }
        }
        error * error
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::{Key, normal, uniform};

    /// Bits, because training amplifies the least difference.
    #[test]
    fn steps_in_registers_are_the_plain_steps_to_the_bit() {
        let mut stream = Key::new(5).stream();
        let order: Vec<u32> = (0..40).rev().collect();
        for (dim, width) in [(2, 20), (2, 3), (2, 6), (2, 8), (2, 10), (2, 24), (3, 5), (3, 16), (3, 17)] {
            for two_layers in [true, false] {
                let size = dim * width + usize::from(two_layers) * (width + 1);
                let start: Vec<f64> = (0..size).map(|_| uniform(&mut stream) - 0.5).collect();
                let xs: Vec<f64> = (0..40 * dim).map(|_| normal(&mut stream)).collect();
                let ys: Vec<f64> = (0..40).map(|_| normal(&mut stream)).collect();
                for steps in [1, 39, 40, 41, 300] {
                    let (mut fast, mut plain, mut hidden) = (start.clone(), start.clone(), Vec::new());
                    let descent =
                        |params| Descent { dim, width, params, xs: &xs, ys: &ys, rate: 0.01, decay: 0.02 };
                    descent(&mut fast).run(&order, steps, &mut hidden);
                    descent(&mut plain).in_memory(&order, steps, &mut hidden);
                    assert_eq!(fast, plain, "{dim} {width} {two_layers} {steps}");
                    assert_ne!(fast, start);
                }
            }
        }
    }

    #[test]
    fn a_good_pass_ends_the_training() {
        let (mut taken, order) = (0, [0, 1, 2]);
        let mut count = |loss: f64, steps: usize| {
            taken = 0;
            passes(&order, steps, |_| {
                taken += 1;
                loss
            });
            taken
        };
        assert_eq!(count(GOOD_ENOUGH, 100), 3);
        assert_eq!(count(2.0 * GOOD_ENOUGH, 100), 100);
        assert_eq!(count(0.0, 2), 2);
    }
}
