//! Draws from the posterior, one neuron at a time: slice sampling on great circles (Neal 2003; the circles as in
//! elliptical slice sampling, Murray, Adams and MacKay 2010).
//!
//! A neuron θ that turns by the angle φ towards a vector v as long and orthogonal to it has the inputs x·θ cos φ + x·v
//! sin φ. Both dot products are taken once, so to try an angle costs a few operations an observation in any dimension.
//! An angle is drawn so: a bound somewhat above the present loss, then angles from ever shorter arcs around the present
//! place until one is below the bound. Nothing is to be tuned, an arc begins as the whole circle, so that a neuron may
//! go far, and the posterior is left as it is: the minimiser of perturbed rewards, from which a sweep starts, is nearly
//! a draw from it, and comes nearer.
//!
//! The prior is uniform on directions or, in a network imagined in pairs, has the second of each pair near the opposite
//! of the first. A neuron of any length is normal before any data; its v is another such neuron, neither as long nor
//! orthogonal, and the circle an ellipse.

use std::f64::consts::TAU;

use pulp::NullaryFnOnce;

use super::constants::{MOST_SWEEPS, SHORTEST, SWEPT};
use super::form::Shape;
use super::history::History;
use super::lanes::total;
use super::member::Member;
use super::refit::losses;
use crate::kernels::{LANES, Lane, arch, block_dot};
use crate::limits::LIMIT;
use crate::linalg::{axpy, dot, norm, normalise};
use crate::rng::{Stream, normal, uniform};

/// Blocks of observations after which an angle may be given up.
const CHUNK: usize = 4;

/// Buffers, kept from one member to the next; an observation of the history has a place in each.
#[derive(Debug, Clone, Default)]
pub(super) struct Sampler {
    /// θ·x, a neuron after the other.
    inputs: Vec<Lane>,
    /// v·x.
    across: Vec<Lane>,
    /// y − f(x), and the same without the neuron that turns.
    residual: Vec<Lane>,
    rest: Vec<Lane>,
    tangent: Vec<f64>,
}

impl Sampler {
    /// Moves the member, the `m`-th, within the posterior. Neurons in pairs are held together by `pairing`: the log of
    /// their prior density is −pairing·cos of the angle between them.
    pub(super) fn sweep(
        &mut self,
        member: &mut Member,
        m: usize,
        (pairing, spread): (f64, f64),
        history: &History,
        sigma: f64,
        stream: &mut Stream,
    ) {
        let blocks = history.len().div_ceil(LANES);
        self.inputs.resize(blocks * member.network.neurons(), [0.0; LANES]);
        self.tangent.resize(history.dim(), 0.0);
        for buffer in [&mut self.across, &mut self.residual, &mut self.rest] {
            buffer.resize(blocks, [0.0; LANES]);
        }
        let pairing = if member.paired { pairing } else { 0.0 };
        let spread = (member.shape == Shape::Signed).then_some(spread);
        let (theta, signs) = member.network.layers_mut();
        let target = Target { history, unit: 2.0 * sigma * sigma, pairing, spread };
        arch().dispatch(Sweep { sampler: self, theta, signs, target, stream });
        member.loss = losses(member.network.theta(), member.network.signs(), m, history, sigma).0;
    }
}

/// What is drawn from: −log of the density, times `unit` = 2σ², is the loss plus what the prior adds.
#[derive(Clone, Copy)]
struct Target<'a> {
    history: &'a History,
    unit: f64,
    pairing: f64,
    /// The standard deviation of every coordinate of a neuron before any data; none if it is of unit length.
    spread: Option<f64>,
}

struct Sweep<'a> {
    sampler: &'a mut Sampler,
    theta: &'a mut [f64],
    signs: &'a [f64],
    target: Target<'a>,
    stream: &'a mut Stream,
}

impl NullaryFnOnce for Sweep<'_> {
    type Output = ();
    #[inline(always)]
    fn call(self) {
        let Sweep { sampler, theta, signs, target, stream } = self;
        sampler.begin(theta, signs, target.history);
        for _ in 0..(SWEPT / target.history.len().max(1)).clamp(1, MOST_SWEEPS) {
            for neuron in 0..signs.len() {
                sampler.turn(neuron, theta, signs, target, stream);
            }
        }
    }
}

impl Sampler {
    /// The inputs and residuals of a network.
    #[inline(always)]
    fn begin(&mut self, theta: &[f64], signs: &[f64], history: &History) {
        for (residual, block) in self.residual.iter_mut().zip(history.blocks(0)) {
            *residual = *block.rewards;
        }
        let inputs = self.inputs.chunks_exact_mut(self.residual.len());
        for ((neuron, &sign), inputs) in theta.chunks_exact(history.dim()).zip(signs).zip(inputs) {
            project(neuron, history, inputs);
            for (residual, input) in self.residual.iter_mut().zip(inputs) {
                for lane in 0..LANES {
                    residual[lane] -= sign * positive(input[lane]);
                }
            }
        }
    }

    /// Turns a neuron within the posterior of its direction along a random great circle, the other neurons fixed.
    #[inline(always)]
    fn turn(&mut self, i: usize, theta: &mut [f64], signs: &[f64], target: Target<'_>, stream: &mut Stream) {
        let (d, sign, blocks) = (target.history.dim(), signs[i], self.rest.len());
        let neuron = &theta[i * d..(i + 1) * d];
        let length = match target.spread {
            Some(spread) => {
                self.tangent.iter_mut().for_each(|v| *v = spread * normal(stream));
                None
            }
            None => Some(tangent(neuron, &mut self.tangent, stream)),
        };
        project(&self.tangent, target.history, &mut self.across);
        let inputs = &mut self.inputs[i * blocks..(i + 1) * blocks];
        let mut squares = [0.0; LANES];
        for ((rest, residual), input) in self.rest.iter_mut().zip(&self.residual).zip(&*inputs) {
            for lane in 0..LANES {
                let explained = sign * positive(input[lane]);
                rest[lane] = residual[lane] + explained;
                let miss = rest[lane] - explained;
                squares[lane] += miss * miss;
            }
        }
        let prior = prior(i, theta, &self.tangent, target);
        let circle = Circle { inputs, across: &self.across, rest: &self.rest, sign, prior };
        let (sin, cos) = circle.draw_angle(total(squares) + prior.0, target.unit, stream);

        let neuron = &mut theta[i * d..(i + 1) * d];
        for (t, v) in neuron.iter_mut().zip(&self.tangent) {
            *t = cos * *t + sin * v;
        }
        let length = length.filter(|_| normalise(neuron)).unwrap_or(1.0);
        neuron.iter_mut().for_each(|t| *t = (*t * length).clamp(-LIMIT, LIMIT));
        let places = inputs.iter_mut().zip(&self.across).zip(self.residual.iter_mut().zip(&self.rest));
        for ((input, across), (residual, rest)) in places {
            for lane in 0..LANES {
                input[lane] = cos * input[lane] + sin * across[lane];
                residual[lane] = rest[lane] - sign * positive(input[lane]);
            }
        }
    }
}

/// What the prior adds to the loss of neuron `i` turned by an angle: its cosine times the first
/// plus its sine times the second.
#[inline(always)]
fn prior(i: usize, theta: &[f64], tangent: &[f64], target: Target<'_>) -> (f64, f64) {
    let d = tangent.len();
    let neuron = &theta[i * d..(i + 1) * d];
    // The second of a pair comes next to the first; a last one may be without.
    let partner = i ^ 1;
    let Some(partner) = theta.get(partner * d..(partner + 1) * d) else { return (0.0, 0.0) };
    let lengths = norm(neuron) * norm(partner);
    if target.pairing == 0.0 || lengths == 0.0 {
        return (0.0, 0.0);
    }
    let weight = target.unit * target.pairing / lengths;
    (weight * dot(partner, neuron), weight * dot(partner, tangent))
}

/// The great circle of a neuron: θ·x and v·x, and what the neuron is to explain.
struct Circle<'a> {
    inputs: &'a [Lane],
    across: &'a [Lane],
    rest: &'a [Lane],
    sign: f64,
    prior: (f64, f64),
}

// Methods rather than closures: these must be compiled for the vector unit that the sweep was dispatched to.
impl Circle<'_> {
    /// Sine and cosine of an angle by which to turn, drawn by a slice: the cost, `present` where the neuron is, over
    /// `unit` is −log of the density.
    #[inline(always)]
    fn draw_angle(&self, present: f64, unit: f64, stream: &mut Stream) -> (f64, f64) {
        let bound = present - unit * libm::log(1.0 - uniform(stream));
        let mut angle = TAU * uniform(stream);
        let (mut low, mut high) = (angle - TAU, angle);
        while high - low > SHORTEST {
            let (sin, cos) = libm::sincos(angle);
            if self.cost(sin, cos, bound) <= bound {
                return (sin, cos);
            }
            if angle < 0.0 {
                low = angle
            } else {
                high = angle
            }
            angle = low + uniform(stream) * (high - low);
        }
        (0.0, 1.0)
    }

    /// The loss with the neuron turned, plus what the prior adds; or, as soon as that is above
    /// `bound`, any part of it that is.
    #[inline(always)]
    fn cost(&self, sin: f64, cos: f64, bound: f64) -> f64 {
        let prior = cos * self.prior.0 + sin * self.prior.1;
        let mut sum = [0.0; LANES];
        let mut cost = prior;
        let chunks = self.inputs.chunks(CHUNK).zip(self.across.chunks(CHUNK)).zip(self.rest.chunks(CHUNK));
        for ((inputs, across), rest) in chunks {
            for ((input, across), rest) in inputs.iter().zip(across).zip(rest) {
                for lane in 0..LANES {
                    let miss = rest[lane] - self.sign * positive(cos * input[lane] + sin * across[lane]);
                    sum[lane] += miss * miss;
                }
            }
            cost = total(sum) + prior;
            if cost > bound {
                break;
            }
        }
        cost
    }
}

#[inline(always)]
fn positive(x: f64) -> f64 {
    if x > 0.0 { x } else { 0.0 }
}

#[inline(always)]
fn project(direction: &[f64], history: &History, out: &mut [Lane]) {
    for (out, block) in out.iter_mut().zip(history.blocks(0)) {
        *out = block_dot(direction, block.actions);
    }
}

/// A random vector orthogonal to the neuron and as long, into `out`; their length.
#[inline(always)]
fn tangent(neuron: &[f64], out: &mut [f64], stream: &mut Stream) -> f64 {
    let length = norm(neuron);
    if let ([x, y], [v, w]) = (neuron, &mut *out) {
        (*v, *w) = (-y, *x);
        return length;
    }
    out.iter_mut().for_each(|v| *v = normal(stream));
    if length > 0.0 {
        let along = dot(neuron, out) / (length * length);
        axpy(-along, neuron, out);
    }
    normalise(out);
    out.iter_mut().for_each(|v| *v *= length);
    length
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::relu::ReluNet;
    use crate::rng::{Key, unit_vector};

    const SIGMA: f64 = 0.5;

    fn history(dim: usize, observations: u64) -> History {
        let mut stream = Key::new(3).stream();
        let truth = ReluNet::random(dim, 2, &mut stream);
        let mut history = History::new(dim, 2, 1000, Key::new(4));
        let mut x = vec![0.0; dim];
        for _ in 0..observations {
            unit_vector(&mut stream, &mut x);
            history.push(&x, truth.value(&x) + SIGMA * normal(&mut stream));
        }
        history
    }

    /// The standard deviation of coordinates of neurons of any length.
    const SPREAD: f64 = 0.8;

    /// What is compared: the value at e₁, its square, and the dot product of the two neurons.
    fn see(network: &ReluNet) -> [f64; 3] {
        let mut x = vec![0.0; network.dim()];
        x[0] = 1.0;
        let value = network.value(&x);
        let (a, b) = network.theta().split_at(network.dim());
        [value, value * value, dot(a, b)]
    }

    /// Their means over draws.
    fn drawn_means(history: &History, shape: Shape, pairing: f64) -> [f64; 3] {
        let mut stream = Key::new(5).stream();
        let mut member = Member::new(ReluNet::random(history.dim(), 2, &mut stream), shape);
        member.paired = shape == Shape::Unit;
        let mut sampler = Sampler::default();
        let draws = 20_000;
        let mut means = [0.0; 3];
        for _ in 0..draws {
            sampler.sweep(&mut member, 0, (pairing, SPREAD), history, SIGMA, &mut stream);
            means.iter_mut().zip(see(&member.network)).for_each(|(m, seen)| *m += seen / f64::from(draws));
        }
        means
    }

    /// And over the posterior, by weighing many networks from the uniform or the normal distribution.
    fn weighed_means(history: &History, shape: Shape, pairing: f64) -> [f64; 3] {
        let mut stream = Key::new(8).stream();
        let mut network = ReluNet::random(history.dim(), 2, &mut stream);
        let (mut sums, mut weights) = ([0.0; 3], 0.0);
        for _ in 0..400_000 {
            network.redraw(2, &mut stream);
            if shape == Shape::Signed {
                network.layers_mut().0.iter_mut().for_each(|t| *t = SPREAD * normal(&mut stream));
            }
            let loss = losses(network.theta(), network.signs(), 0, history, SIGMA).0;
            let seen = see(&network);
            let weight = libm::exp(-loss / (2.0 * SIGMA * SIGMA) - pairing * seen[2]);
            sums.iter_mut().zip(seen).for_each(|(sum, seen)| *sum += weight * seen);
            weights += weight;
        }
        sums.map(|sum| sum / weights)
    }

    #[test]
    fn draws_have_the_means_of_the_posterior() {
        let unit = [(2, 0.0), (2, 2.0), (3, 0.0), (3, 3.0)].map(|(dim, pairing)| (dim, Shape::Unit, pairing));
        for (dim, shape, pairing) in unit.into_iter().chain([(2, Shape::Signed, 0.0), (3, Shape::Signed, 0.0)]) {
            let history = history(dim, 20);
            let (drawn, expected) = (drawn_means(&history, shape, pairing), weighed_means(&history, shape, pairing));
            for ((drawn, expected), tolerance) in drawn.iter().zip(&expected).zip([0.01, 0.02, 0.02]) {
                assert!((drawn - expected).abs() < tolerance, "{dim} {shape:?} {pairing}: {drawn} is not {expected}");
            }
        }
    }

    #[test]
    fn signs_stay_and_the_loss_is_that_of_the_network() {
        let history = history(4, 50);
        let mut stream = Key::new(6).stream();
        let theta = ReluNet::random(4, 3, &mut stream).theta().iter().map(|t| 0.7 * t).collect();
        let mut member = Member::new(ReluNet::with_signs(4, theta, vec![1.0, -1.0, 1.0]).unwrap(), Shape::Signed);
        let before = member.network.clone();
        let mut sampler = Sampler::default();
        for _ in 0..100 {
            sampler.sweep(&mut member, 1, (0.0, SPREAD), &history, SIGMA, &mut stream);
        }
        assert_ne!(member.network, before);
        assert_eq!(member.network.signs(), before.signs());
        let mut loss = 0.0;
        history.for_each(|x, y| loss += (member.network.value(x) - y).powi(2));
        assert!((member.loss - loss).abs() < 1e-10 * loss);
    }

    #[test]
    fn without_noise_an_exact_fit_stays_one() {
        let mut stream = Key::new(7).stream();
        let truth = ReluNet::random(3, 2, &mut stream);
        let mut history = History::new(3, 2, 1000, Key::new(4));
        let mut x = [0.0; 3];
        for _ in 0..40 {
            unit_vector(&mut stream, &mut x);
            history.push(&x, truth.value(&x));
        }
        let mut member = Member::new(truth, Shape::Unit);
        Sampler::default().sweep(&mut member, 0, (0.0, SPREAD), &history, 1e-9, &mut stream);
        assert!(member.loss < 1e-14, "{}", member.loss);
    }
}
