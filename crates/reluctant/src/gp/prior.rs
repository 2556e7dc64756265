//! Functions drawn from the prior of a process, before anything is observed.
//!
//! For a stationary kernel a sum of random cosines (Rahimi and Recht 2007), for that of a wide network a random network
//! of finite width. For the tangent kernel it is how such a network's value changes when all of its weights change at
//! random.

use super::kernel::{Kernel, Shape, Units, Wide};
use super::lanes;
use crate::kernels::{LANES, Lane, block_dot};
use crate::rng::{Stream, normal, uniform};

/// Cosines in a sum; neurons of a network with one hidden layer.
const TERMS: usize = 256;
/// Neurons a layer of a network with more: their weights grow with the square.
const DEEP_WIDTH: usize = 96;

/// A function drawn from the prior. Its numbers lie in memory that is lent.
pub(super) struct Prior<'a> {
    kernel: Kernel,
    dim: usize,
    numbers: &'a mut [f64],
}

/// How many neurons each hidden layer has.
const fn width(wide: Wide) -> usize {
    if wide.depth == 1 { TERMS } else { DEEP_WIDTH }
}

/// How many numbers the weights of a network's hidden layers are.
fn weights(wide: Wide, dim: usize) -> usize {
    let (width, input) = (width(wide), dim + usize::from(wide.bias));
    width * (input + (usize::from(wide.depth) - 1) * width)
}

impl<'a> Prior<'a> {
    /// How many numbers it takes to describe one.
    pub(super) fn size(kernel: Kernel, dim: usize) -> usize {
        match kernel.shape {
            Shape::Wide(wide) => {
                let copies = if wide.of == Units::Tangent { 2 } else { 1 };
                copies * (weights(wide, dim) + width(wide))
            }
            _ => TERMS * (dim + 2),
        }
    }

    /// Draws one into `numbers`; none of them if it is to be zero.
    pub(super) fn draw(kernel: Kernel, dim: usize, stream: &mut Stream, numbers: &'a mut [f64]) -> Self {
        let drawn = Prior { kernel, dim, numbers };
        match kernel.shape {
            Shape::Wide(wide) => {
                drawn.numbers.iter_mut().for_each(|x| *x = normal(stream));
                let (of, size) = (wide.of, width(wide) as f64);
                let unit = kernel.variance / if of == Units::Tangent { f64::from(wide.depth) + 1.0 } else { 1.0 };
                // Each layer halves the mean square, and the outputs make up for it. Gates do not know what came
                // before.
                let layers = if of == Units::Gate { 1.0 } else { f64::from(wide.depth) };
                let scale = unit.sqrt() * libm::pow(2.0 / size, 0.5 * layers);
                let outputs = drawn.outputs();
                drawn.numbers[outputs].iter_mut().for_each(|x| *x *= scale);
            }
            _ => {
                let count = drawn.numbers.len() / (dim + 2);
                let (frequencies, rest) = drawn.numbers.split_at_mut(count * dim);
                let (phases, amplitudes) = rest.split_at_mut(count);
                frequencies.chunks_exact_mut(dim).for_each(|row| frequency(kernel, stream, row));
                phases.iter_mut().for_each(|phase| *phase = std::f64::consts::TAU * uniform(stream));
                let amplitude = (2.0 * kernel.variance / TERMS as f64).sqrt();
                amplitudes.iter_mut().for_each(|a| *a = amplitude * normal(stream));
            }
        }
        drawn
    }

    /// Where the numbers stand that the function is linear in.
    fn outputs(&self) -> std::ops::Range<usize> {
        let count = match self.kernel.shape {
            Shape::Wide(wide) if wide.of == Units::Tangent => 2 * width(wide),
            Shape::Wide(wide) => width(wide),
            _ => self.numbers.len() / (self.dim + 2),
        };
        self.numbers.len().saturating_sub(count)..self.numbers.len()
    }

    /// Multiplies the function by `factor`.
    pub(super) fn scale(&mut self, factor: f64) {
        let outputs = self.outputs();
        self.numbers[outputs].iter_mut().for_each(|a| *a *= factor);
    }

    /// Its values at every arm of a block. `work` is memory to work in.
    #[inline(always)]
    pub(super) fn block(&self, block: &[Lane], work: &mut Vec<Lane>) -> Lane {
        match self.kernel.shape {
            _ if self.numbers.is_empty() => [0.0; LANES],
            Shape::Wide(wide) => self.network(wide, block, work),
            _ => self.cosines(block),
        }
    }

    #[inline(always)]
    fn cosines(&self, block: &[Lane]) -> Lane {
        let count = self.numbers.len() / (self.dim + 2);
        let (frequencies, rest) = self.numbers.split_at(count * self.dim);
        let (phases, amplitudes) = rest.split_at(count);
        let mut sum = [0.0; LANES];
        for ((frequency, &phase), &amplitude) in frequencies.chunks_exact(self.dim).zip(phases).zip(amplitudes) {
            let mut angle = block_dot(frequency, block);
            angle.iter_mut().for_each(|a| *a += phase);
            let wave = lanes::cos(angle);
            for lane in 0..LANES {
                sum[lane] += amplitude * wave[lane];
            }
        }
        sum
    }

    /// The value of the random network, or of its change.
    #[inline(always)]
    fn network(&self, wide: Wide, block: &[Lane], work: &mut Vec<Lane>) -> Lane {
        let (width, inputs) = (width(wide), self.dim + usize::from(wide.bias));
        let (hidden, outputs) = self.numbers.split_at(self.outputs().start);
        let tangent = wide.of == Units::Tangent;
        // The layer before, and behind it how it changes.
        work.clear();
        let unit = 1.0 / self.kernel.length;
        work.extend(block.iter().map(|x| x.map(|x| x * unit)));
        work.extend(wide.bias.then_some([1.0; LANES]));
        work.resize(2 * inputs, [0.0; LANES]);
        let (mut weights, mut changes) = if tangent { hidden.split_at(hidden.len() / 2) } else { (hidden, hidden) };
        let mut count = inputs;
        for layer in 1..=wide.depth {
            let gated = wide.of == Units::Gate && layer == wide.depth;
            work.resize(2 * count + 2 * width, [0.0; LANES]);
            let (before, after) = work.split_at_mut(2 * count);
            let (values, slopes) = before.split_at(count);
            for (unit, (w, c)) in weights.chunks_exact(count).zip(changes.chunks_exact(count)).take(width).enumerate() {
                let sum = block_dot(w, values);
                let change = if tangent { plus(block_dot(c, values), block_dot(w, slopes)) } else { sum };
                for lane in 0..LANES {
                    let open = sum[lane] > 0.0;
                    let value = if gated { 1.0 } else { sum[lane] };
                    after[unit][lane] = if open { value } else { 0.0 };
                    after[width + unit][lane] = if open { change[lane] } else { 0.0 };
                }
            }
            work.drain(..2 * count);
            (weights, changes) = (&weights[width * count..], &changes[width * count..]);
            count = width;
        }
        let (values, slopes) = work.split_at(width);
        if tangent {
            plus(block_dot(&outputs[..width], values), block_dot(&outputs[width..], slopes))
        } else {
            block_dot(outputs, values)
        }
    }
}

#[cfg(test)]
impl Prior<'_> {
    /// The plain version of [`Prior::block`] for one x.
    pub(super) fn value_reference(&self, x: &[f64]) -> f64 {
        use crate::linalg::dot;
        let Shape::Wide(wide) = self.kernel.shape else {
            let count = self.numbers.len() / (self.dim + 2);
            let (frequencies, rest) = self.numbers.split_at(count * self.dim);
            let waves = frequencies.chunks_exact(self.dim).zip(rest);
            return waves.zip(&rest[count..]).map(|((w, phase), a)| a * libm::cos(dot(w, x) + phase)).sum();
        };
        if self.numbers.is_empty() {
            return 0.0;
        }
        // The tangent's value is the derivative of the network along its second half of numbers.
        let (width, mut values) = (width(wide), x.iter().map(|x| x / self.kernel.length).collect::<Vec<_>>());
        values.extend(wide.bias.then_some(1.0));
        let mut slopes = vec![0.0; values.len()];
        let (hidden, outputs) = self.numbers.split_at(self.outputs().start);
        let (mut at, half) = (0, hidden.len() / 2);
        for layer in 1..=wide.depth {
            let n = values.len();
            let row = |unit: usize| &hidden[at + unit * n..at + (unit + 1) * n];
            let sums: Vec<f64> = (0..width).map(|unit| dot(row(unit), &values)).collect();
            let change = |unit: usize| match wide.of {
                Units::Tangent => dot(&hidden[half + at + unit * n..half + at + (unit + 1) * n], &values),
                _ => 0.0,
            };
            let next: Vec<f64> =
                (0..width).map(|u| if sums[u] > 0.0 { change(u) + dot(row(u), &slopes) } else { 0.0 }).collect();
            let gated = wide.of == Units::Gate && layer == wide.depth;
            values = sums.iter().map(|&s| if gated { f64::from(u8::from(s > 0.0)) } else { s.max(0.0) }).collect();
            (slopes, at) = (next, at + width * n);
        }
        dot(&outputs[..width], &values) + if wide.of == Units::Tangent { dot(&outputs[width..], &slopes) } else { 0.0 }
    }
}

/// The sum of two blocks.
#[inline(always)]
fn plus(mut a: Lane, b: Lane) -> Lane {
    for lane in 0..LANES {
        a[lane] += b[lane];
    }
    a
}

/// A frequency drawn from the spectral density of a stationary kernel: Gaussian for RBF, Student's t for Matérn.
fn frequency(kernel: Kernel, stream: &mut Stream, out: &mut [f64]) {
    out.iter_mut().for_each(|w| *w = normal(stream));
    let degrees = match kernel.shape {
        Shape::Rbf | Shape::Wide(_) => 0,
        Shape::Matern32 => 3,
        Shape::Matern52 => 5,
    };
    let mut scale = 1.0 / kernel.length;
    if degrees > 0 {
        let squares: f64 = (0..degrees).map(|_| normal(stream)).map(|z| z * z).sum();
        scale *= (f64::from(degrees) / squares.max(1e-30)).sqrt();
    }
    out.iter_mut().for_each(|w| *w *= scale);
}
