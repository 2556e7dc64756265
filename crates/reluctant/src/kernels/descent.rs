//! Training by single samples: the steps of stochastic gradient descent that NeuralUCB takes, up to a thousand a round.
//!
//! Each step needs the parameters that the one before it left, so what counts is how long one takes from its first
//! operation to its last, not how many operations it has. For few inputs and hidden units, whose numbers the compiler
//! knows, all parameters stay in vector registers from step to step. Every number has its operations in the order of
//! the plain version, [`Plain`]: the bits are the same.

use pulp::{Simd, WithSimd};

use super::arch;

/// The outputs of hidden units are added up in so many partial sums: one long chain of additions
/// would be what a step waits for.
const PARTS: usize = 8;

/// A pass over the data with mean loss at most this ends the training.
const GOOD_ENOUGH: f64 = 1e-3;

/// Stochastic gradient descent on (f(x) − y)² with weight decay, θ ← θ − rate·(2(f − y)·∂f/∂θ + decay·θ), for the
/// network f(x) = Σᵢ vᵢ·max(0, wᵢ·x) + c, or Σᵢ max(0, wᵢ·x) if there is no second layer to train.
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
    /// Takes the samples in `order`, over and over, until so many `steps` were taken or a pass had a small mean loss.
    /// `work` is memory to work in.
    pub(crate) fn run(mut self, order: &[u32], steps: usize, work: &mut Vec<f64>) {
        struct Kernel<'k, 'd>(&'k mut Descent<'d>, &'k [u32], usize, &'k mut Vec<f64>);
        impl WithSimd for Kernel<'_, '_> {
            type Output = ();
            #[inline(always)]
            fn with_simd<S: Simd>(self, simd: S) {
                let Kernel(descent, order, steps, work) = self;
                // Whole groups of eight units; vectors of one number would gain nothing.
                let vectors = descent.width.div_ceil(PARTS) * PARTS / S::F64_LANES;
                match (descent.dim, vectors) {
                    (2, 1) => descent.in_registers::<S, 2, 1>(simd, order, steps, work),
                    (2, 2) => descent.in_registers::<S, 2, 2>(simd, order, steps, work),
                    (2, 3) => descent.in_registers::<S, 2, 3>(simd, order, steps, work),
                    (2, 4) => descent.in_registers::<S, 2, 4>(simd, order, steps, work),
                    (2, 6) => descent.in_registers::<S, 2, 6>(simd, order, steps, work),
                    (3, 1) => descent.in_registers::<S, 3, 1>(simd, order, steps, work),
                    (3, 2) => descent.in_registers::<S, 3, 2>(simd, order, steps, work),
                    (3, 3) => descent.in_registers::<S, 3, 3>(simd, order, steps, work),
                    _ => descent.plain(order, steps, work),
                }
            }
        }
        arch().dispatch(Kernel(&mut self, order, steps, work));
    }

    /// For any number of inputs and hidden units.
    #[inline(always)]
    fn plain(&mut self, order: &[u32], steps: usize, work: &mut Vec<f64>) {
        work.clear();
        work.resize(self.width, 0.0);
        passes(&mut Plain(self, work), order, steps);
    }

    /// For D inputs and as many hidden units as fit into N vectors.
    #[inline(always)]
    fn in_registers<S: Simd, const D: usize, const N: usize>(
        &mut self,
        simd: S,
        order: &[u32],
        steps: usize,
        work: &mut Vec<f64>,
    ) {
        if self.params.len() > D * self.width {
            self.layered::<S, D, N, true>(simd, order, steps, work);
        } else {
            self.layered::<S, D, N, false>(simd, order, steps, work);
        }
    }

    #[inline(always)]
    fn layered<S: Simd, const D: usize, const N: usize, const TWO: bool>(
        &mut self,
        simd: S,
        order: &[u32],
        steps: usize,
        work: &mut Vec<f64>,
    ) {
        // Rows of whole vectors. Units that do not exist have zeros everywhere, and keep them.
        let (width, row) = (self.width, N * S::F64_LANES);
        work.clear();
        work.resize((D + 1) * row, 0.0);
        for (padded, weights) in work.chunks_exact_mut(row).zip(self.params.chunks_exact(width)) {
            padded[..width].copy_from_slice(weights);
        }
        if !TWO {
            work[D * row..][..width].fill(1.0);
        }
        let zero = simd.splat_f64s(0.0);
        let mut network = Registers::<S, D, N, TWO> {
            simd,
            xs: self.xs,
            ys: self.ys,
            keep: 1.0 - self.rate * self.decay,
            twice: -2.0 * self.rate,
            first: [[zero; N]; D],
            second: [zero; N],
            bias: if TWO { self.params[(D + 1) * width] } else { 0.0 },
        };
        for v in 0..N {
            let vector = |j: usize| simd.partial_load_f64s(&work[j * row + v * S::F64_LANES..][..S::F64_LANES]);
            for j in 0..D {
                network.first[j][v] = vector(j);
            }
            network.second[v] = vector(D);
        }
        passes(&mut network, order, steps);
        for v in 0..N {
            for j in 0..D {
                simd.partial_store_f64s(&mut work[j * row + v * S::F64_LANES..][..S::F64_LANES], network.first[j][v]);
            }
            simd.partial_store_f64s(&mut work[D * row + v * S::F64_LANES..][..S::F64_LANES], network.second[v]);
        }
        for (padded, weights) in work.chunks_exact(row).zip(self.params.chunks_exact_mut(width)) {
            weights.copy_from_slice(&padded[..width]);
        }
        if TWO {
            self.params[(D + 1) * width] = network.bias;
        }
    }
}

/// What takes a step.
trait Step {
    /// Takes a step on sample `i`; returns the loss before it.
    fn step(&mut self, i: usize) -> f64;
}

/// Steps with the samples in `order`, over and over, until so many `steps` were taken or a pass had a small mean loss.
#[inline(always)]
fn passes(network: &mut impl Step, order: &[u32], steps: usize) {
    let mut left = steps;
    loop {
        let mut loss = 0.0;
        for &i in order {
            loss += network.step(i as usize);
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

/// Steps straight from the definition, but for the gradient, which is never formed. The second part
/// is memory for the hidden units.
struct Plain<'a, 'd>(&'a mut Descent<'d>, &'a mut [f64]);

impl Step for Plain<'_, '_> {
    #[inline(always)]
    fn step(&mut self, i: usize) -> f64 {
        let Plain(Descent { dim, width, params, xs, ys, rate, decay }, hidden) = self;
        let (x, y) = (&xs[i * *dim..][..*dim], ys[i]);
        let keep = 1.0 - *rate * *decay;
        let (first, rest) = params.split_at_mut(*dim * *width);
        hidden.fill(0.0);
        for (weights, &xj) in first.chunks_exact(*width).zip(x) {
            for (h, w) in hidden.iter_mut().zip(weights) {
                *h += w * xj;
            }
        }
        let (second, bias) = rest.split_at_mut(rest.len().min(*width));
        let mut error = positive_sum(hidden, second);
        error = if let [c] = bias { error + *c - y } else { error - y };
        let step = -2.0 * *rate * error;
        // `hidden` turns into the slope of the output in each unit's input while the second layer moves.
        if let [c] = bias {
            for (h, v) in hidden.iter_mut().zip(second) {
                let slope = if *h >= 0.0 { *v } else { 0.0 };
                *v = keep * *v + step * positive(*h);
                *h = slope;
            }
            *c = keep * *c + step;
        } else {
            for h in hidden.iter_mut() {
                *h = if *h >= 0.0 { 1.0 } else { 0.0 };
            }
        }
        for (weights, &xj) in first.chunks_exact_mut(*width).zip(x) {
            let move_by = step * xj;
            for (w, slope) in weights.iter_mut().zip(hidden.iter()) {
                *w = keep * *w + move_by * slope;
            }
        }
        error * error
    }
}

#[inline(always)]
fn positive(h: f64) -> f64 {
    if h > 0.0 { h } else { 0.0 }
}

/// Σ vᵢ·max(0, hᵢ), where v is all ones if there is none.
#[inline(always)]
fn positive_sum(hidden: &[f64], v: &[f64]) -> f64 {
    let mut sums = [0.0; PARTS];
    let mut groups = hidden.chunks_exact(PARTS);
    let mut start = 0;
    for group in &mut groups {
        for part in 0..PARTS {
            let weight = if v.is_empty() { 1.0 } else { v[start + part] };
            sums[part] += weight * positive(group[part]);
        }
        start += PARTS;
    }
    for (part, h) in groups.remainder().iter().enumerate() {
        let weight = if v.is_empty() { 1.0 } else { v[start + part] };
        sums[part] += weight * positive(*h);
    }
    total(sums)
}

#[inline(always)]
fn total([a, b, c, d, e, f, g, h]: [f64; PARTS]) -> f64 {
    ((a + b) + (c + d)) + ((e + f) + (g + h))
}

/// A network of D inputs in registers, with its hidden units in N vectors. A second layer that is not trained is ones.
struct Registers<'a, S: Simd, const D: usize, const N: usize, const TWO: bool> {
    simd: S,
    xs: &'a [f64],
    ys: &'a [f64],
    /// 1 − rate·decay.
    keep: f64,
    /// −2·rate.
    twice: f64,
    first: [[S::f64s; N]; D],
    second: [S::f64s; N],
    bias: f64,
}

impl<S: Simd, const D: usize, const N: usize, const TWO: bool> Step for Registers<'_, S, D, N, TWO> {
    #[inline(always)]
    fn step(&mut self, i: usize) -> f64 {
        let simd = self.simd;
        let zero = simd.splat_f64s(0.0);
        let mut x = [0.0; D];
        x.copy_from_slice(&self.xs[i * D..][..D]);
        let (mut fired, mut slopes, mut sums) = ([zero; N], [zero; N], [zero; PARTS]);
        let parts = PARTS / S::F64_LANES;
        for v in 0..N {
            let mut h = simd.mul_f64s(self.first[0][v], simd.splat_f64s(x[0]));
            for j in 1..D {
                h = simd.add_f64s(h, simd.mul_f64s(self.first[j][v], simd.splat_f64s(x[j])));
            }
            // The product is chosen, not its factor: so the comparison need not be waited for.
            let positive = simd.greater_than_f64s(h, zero);
            let term = simd.select_f64s(positive, simd.mul_f64s(self.second[v], h), zero);
            sums[v % parts] = if v < parts { term } else { simd.add_f64s(sums[v % parts], term) };
            fired[v] = simd.select_f64s(positive, h, zero);
            slopes[v] = simd.select_f64s(simd.greater_than_or_equal_f64s(h, zero), self.second[v], zero);
        }
        let mut partial = [0.0; PARTS];
        for (part, sum) in partial.chunks_exact_mut(S::F64_LANES).zip(sums) {
            simd.partial_store_f64s(part, sum);
        }
        let error = if TWO { total(partial) + self.bias } else { total(partial) } - self.ys[i];
        let step = self.twice * error;
        if TWO {
            self.bias = self.keep * self.bias + step;
        }
        let keep = simd.splat_f64s(self.keep);
        for v in 0..N {
            if TWO {
                let moved = simd.mul_f64s(simd.splat_f64s(step), fired[v]);
                self.second[v] = simd.add_f64s(simd.mul_f64s(keep, self.second[v]), moved);
            }
            for j in 0..D {
                let moved = simd.mul_f64s(simd.splat_f64s(step * x[j]), slopes[v]);
                self.first[j][v] = simd.add_f64s(simd.mul_f64s(keep, self.first[j][v]), moved);
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
                    let descent = |params| Descent { dim, width, params, xs: &xs, ys: &ys, rate: 0.01, decay: 0.02 };
                    descent(&mut fast).run(&order, steps, &mut hidden);
                    descent(&mut plain).plain(&order, steps, &mut hidden);
                    assert_eq!(fast, plain, "{dim} {width} {two_layers} {steps}");
                    assert_ne!(fast, start);
                }
            }
        }
    }

    #[test]
    fn a_good_pass_ends_the_training() {
        struct Counting(f64, usize);
        impl Step for Counting {
            fn step(&mut self, _: usize) -> f64 {
                self.1 += 1;
                self.0
            }
        }
        let taken = |loss: f64, steps: usize| {
            let mut counting = Counting(loss, 0);
            passes(&mut counting, &[0, 1, 2], steps);
            counting.1
        };
        assert_eq!(taken(GOOD_ENOUGH, 100), 3);
        assert_eq!(taken(2.0 * GOOD_ENOUGH, 100), 100);
        assert_eq!(taken(0.0, 2), 2);
    }
}
