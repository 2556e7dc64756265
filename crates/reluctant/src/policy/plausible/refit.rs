//! Levenberg–Marquardt steps for many small networks on one growing history.
//!
//! A unit neuron moves in its tangent space: the Householder reflection H = I − βvvᵀ with v = θ ± e₁ carries it to the last d−1
//! coordinates, so the unknowns are free. A neuron of any length has all d coordinates. The perturbed rewards y + σξ make the
//! minimiser of each network a draw from (nearly) the posterior of networks rather than its mode.
//!
//! [`crate::estimate`] finds the best network of a fixed set of samples, and works hard for it. Here a few steps a round from where
//! the last round ended are enough, and they must cost microseconds.

use pulp::NullaryFnOnce;

use super::history::{Block, History};
use super::wide;
use crate::arms::in_limit;
use crate::kernels::{LANES, Lane, arch, block_dot};
use crate::linalg::{Cholesky, axpy, dot, normalise};
use crate::relu::ReluNet;

/// Blocks whose Jacobian is held at once: it should stay in the nearest cache.
const CHUNK: usize = 8;
const LEAST_DAMPING: f64 = 1e-7;
const MOST_DAMPING: f64 = 1e6;
const FIRST_DAMPING: f64 = 1e-3;

/// A network and how well it fits.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub(super) struct Member {
    pub(super) network: ReluNet,
    /// Σ (f(x) − y)² over the history.
    pub(super) loss: f64,
    /// log det(I + s²JᵀJ/σ²), with s the size that neurons have: what the data has taught about the unknowns, and so what they cost in
    /// evidence (Laplace's approximation). A neuron that no action has touched costs nothing.
    pub(super) learned: f64,
    /// The damping at which the last step succeeded, relative to the greatest diagonal entry.
    pub(super) damping: f64,
    /// Whether its neurons were imagined in nearly opposite pairs.
    pub(super) paired: bool,
}

impl Member {
    pub(super) fn new(network: ReluNet) -> Self {
        Member { network, loss: 0.0, learned: 0.0, damping: FIRST_DAMPING, paired: false }
    }

    /// Becomes a copy of another, in the memory that is there.
    pub(super) fn copy(&mut self, other: &Member) {
        self.network.clone_from(&other.network);
        (self.loss, self.learned, self.damping) = (other.loss, other.learned, other.damping);
        self.paired = other.paired;
    }

    /// Forgets how well it fits: its network is another now.
    pub(super) fn restart(&mut self, paired: bool) {
        (self.loss, self.learned, self.damping) = (0.0, 0.0, FIRST_DAMPING);
        self.paired = paired;
    }
}

/// Which neurons there are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub(super) enum Shape {
    /// Unit length, second layer of ones.
    Unit,
    /// Any length, second layer ±1.
    Signed,
}

impl Shape {
    /// The unknowns of a neuron.
    pub(super) fn freedom(self, dim: usize) -> usize {
        match self {
            Shape::Unit => dim - 1,
            Shape::Signed => dim,
        }
    }
}

/// How far a refit goes.
#[derive(Debug, Clone, Copy)]
pub(super) struct Effort {
    pub(super) steps: usize,
    /// A step that gains less ends the refit.
    pub(super) tolerance: f64,
}

/// Buffers, kept from refit to refit.
#[derive(Debug, Clone, Default)]
pub(super) struct Work {
    pub(super) reflectors: Vec<f64>,
    pub(super) jacobian: Vec<Lane>,
    /// JᵀJ or JJᵀ, its upper triangle, and of what size it is.
    pub(super) normal: Vec<f64>,
    pub(super) size: usize,
    pub(super) factor: Vec<f64>,
    /// Jᵀr or r.
    pub(super) gradient: Vec<f64>,
    pub(super) step: Vec<f64>,
    pub(super) trial: Vec<f64>,
}

/// Refits `member`, the `m`-th, by a few steps.
pub(super) fn refit(
    member: &mut Member,
    m: usize,
    shape: Shape,
    history: &History,
    sigma: f64,
    effort: Effort,
    work: &mut Work,
) {
    let unknowns = member.network.neurons() * shape.freedom(history.dim());
    let wide = wide::pays(unknowns, history.len());
    let linearise = if wide { wide::linearise } else { linearise };
    let solve = if wide { wide::solve } else { solve };
    let mut loss = linearise(member.network.theta(), member.network.signs(), m, shape, history, sigma, work);
    let mut plain = None;
    let mut refused = 0;
    for _ in 0..effort.steps {
        let Some(()) = solve(member.damping, work) else {
            member.damping *= 10.0;
            continue;
        };
        retract(member.network.theta(), history.dim(), shape, work);
        let (reached_plain, reached) = losses(&work.trial, member.network.signs(), m, history, sigma);
        if reached < loss && work.trial.iter().all(|t| in_limit(*t)) {
            let gained = loss - reached;
            member.network.replace(&work.trial);
            member.damping = (member.damping * 0.2).max(LEAST_DAMPING);
            refused = 0;
            (loss, plain) = (reached, Some(reached_plain));
            if gained < effort.tolerance {
                break;
            }
            linearise(member.network.theta(), member.network.signs(), m, shape, history, sigma, work);
        } else {
            member.damping = (member.damping * 5.0).min(MOST_DAMPING);
            refused += 1;
            if refused > 4 {
                break;
            }
        }
    }
    member.loss = plain.unwrap_or_else(|| losses(member.network.theta(), member.network.signs(), m, history, sigma).0);
}

/// Σ (f(x) − y)² and Σ (f(x) − y − σξ)².
pub(super) fn losses(theta: &[f64], signs: &[f64], m: usize, history: &History, sigma: f64) -> (f64, f64) {
    struct Kernel<'a>(&'a [f64], &'a [f64], usize, &'a History, f64);
    impl NullaryFnOnce for Kernel<'_> {
        type Output = (f64, f64);
        #[inline(always)]
        fn call(self) -> (f64, f64) {
            let Kernel(theta, signs, m, history, sigma) = self;
            let (mut plain, mut perturbed) = ([0.0; LANES], [0.0; LANES]);
            for block in history.blocks(m) {
                let mut residual = [0.0; LANES];
                for (neuron, &sign) in theta.chunks_exact(history.dim()).zip(signs) {
                    let input = block_dot(neuron, block.actions);
                    for lane in 0..LANES {
                        residual[lane] += sign * if input[lane] > 0.0 { input[lane] } else { 0.0 };
                    }
                }
                for lane in 0..LANES {
                    let r = residual[lane] - block.rewards[lane];
                    let p = r - sigma * block.jitter[lane];
                    plain[lane] += r * r;
                    perturbed[lane] += p * p;
                }
            }
            (total(plain), total(perturbed))
        }
    }
    arch().dispatch(Kernel(theta, signs, m, history, sigma))
}

/// The sum of all lanes.
///
/// Written out, because a loop over the widths would be compiled as one, and of lanes the compiler cannot see behind, because it would
/// otherwise carry the narrow vectors of the last additions into the loop that made the lanes.
#[inline(always)]
pub(super) fn total(lanes: Lane) -> f64 {
    let lanes = std::hint::black_box(lanes);
    let eight: [f64; 8] = std::array::from_fn(|i| lanes[i] + lanes[i + 8]);
    let four: [f64; 4] = std::array::from_fn(|i| eight[i] + eight[i + 4]);
    (four[0] + four[2]) + (four[1] + four[3])
}

/// JᵀJ (its upper triangle), Jᵀr and the perturbed loss at `theta`, into `work`.
pub(super) fn linearise(
    theta: &[f64],
    signs: &[f64],
    m: usize,
    shape: Shape,
    history: &History,
    sigma: f64,
    work: &mut Work,
) -> f64 {
    let unknowns = signs.len() * shape.freedom(history.dim());
    reflect(theta, history.dim(), &mut work.reflectors);
    work.jacobian.resize((unknowns + 1) * CHUNK, [0.0; LANES]);
    work.normal.clear();
    work.normal.resize(unknowns * unknowns, 0.0);
    work.size = unknowns;
    work.gradient.clear();
    work.gradient.resize(unknowns, 0.0);
    struct Kernel<'a>(&'a [f64], &'a [f64], usize, Shape, &'a History, f64, &'a mut Work);
    impl NullaryFnOnce for Kernel<'_> {
        type Output = f64;
        #[inline(always)]
        fn call(self) -> f64 {
            let Kernel(theta, signs, m, shape, history, sigma, work) = self;
            let mut loss = 0.0;
            let mut held = 0;
            for block in history.blocks(m) {
                differentiate(theta, signs, shape, block, sigma, &work.reflectors, &mut work.jacobian, (held, CHUNK));
                held += 1;
                if held == CHUNK {
                    loss += accumulate(held, work);
                    held = 0;
                }
            }
            loss + accumulate(held, work)
        }
    }
    arch().dispatch(Kernel(theta, signs, m, shape, history, sigma, work))
}

/// Row a of the transposed Jacobian at block `at` of so many is `jacobian[a·blocks + at]`; the residuals are its last row.
#[inline(always)]
#[allow(clippy::too_many_arguments)]
pub(super) fn differentiate(
    theta: &[f64],
    signs: &[f64],
    shape: Shape,
    block: Block<'_>,
    sigma: f64,
    reflectors: &[f64],
    jacobian: &mut [Lane],
    (at, blocks): (usize, usize),
) {
    let d = block.actions.len();
    let freedom = shape.freedom(d);
    let mut residual = [0.0; LANES];
    for lane in 0..LANES {
        residual[lane] = -block.rewards[lane] - sigma * block.jitter[lane];
    }
    for (i, (neuron, &sign)) in theta.chunks_exact(d).zip(signs).enumerate() {
        let input = block_dot(neuron, block.actions);
        let mut active = [0.0; LANES];
        for lane in 0..LANES {
            active[lane] = if input[lane] > 0.0 { sign } else { 0.0 };
            residual[lane] += active[lane] * input[lane];
        }
        let reflector = &reflectors[i * d..(i + 1) * d];
        let mut along = [0.0; LANES];
        if shape == Shape::Unit {
            along = block_dot(reflector, block.actions);
            let beta = 1.0 / (1.0 + neuron[0].abs());
            along.iter_mut().for_each(|a| *a *= beta);
        }
        for a in 0..freedom {
            let j = a + d - freedom;
            let row = &mut jacobian[(i * freedom + a) * blocks + at];
            for lane in 0..LANES {
                row[lane] = active[lane] * (block.actions[j][lane] - along[lane] * reflector[j]);
            }
        }
    }
    jacobian[signs.len() * freedom * blocks + at] = residual;
}

/// Adds the blocks held to JᵀJ and Jᵀr; their part of the loss.
#[inline(always)]
fn accumulate(held: usize, work: &mut Work) -> f64 {
    let unknowns = work.gradient.len();
    let row = |a: usize| &work.jacobian[a * CHUNK..a * CHUNK + held];
    let residual = row(unknowns);
    for a in 0..unknowns {
        let left = row(a);
        work.gradient[a] += lane_dot(left, residual);
        for b in a..unknowns {
            work.normal[a * unknowns + b] += lane_dot(left, row(b));
        }
    }
    lane_dot(residual, residual)
}

#[inline(always)]
pub(super) fn lane_dot(a: &[Lane], b: &[Lane]) -> f64 {
    let mut sum = [0.0; LANES];
    for (a, b) in a.iter().zip(b) {
        for lane in 0..LANES {
            sum[lane] += a[lane] * b[lane];
        }
    }
    total(sum)
}

/// v = θ ± e₁ of every neuron.
pub(super) fn reflect(theta: &[f64], dim: usize, reflectors: &mut Vec<f64>) {
    reflectors.clear();
    reflectors.extend_from_slice(theta);
    for v in reflectors.chunks_exact_mut(dim) {
        v[0] += 1.0f64.copysign(v[0]);
    }
}

/// The damped Gauss–Newton step, into `work.step`; nothing if the matrix is not positive definite.
pub(super) fn solve(damping: f64, work: &mut Work) -> Option<()> {
    let unknowns = work.size;
    work.factor.clear();
    work.factor.extend_from_slice(&work.normal);
    let top = (0..unknowns).fold(f64::MIN_POSITIVE, |m, a| m.max(work.normal[a * unknowns + a]));
    (0..unknowns).for_each(|a| work.factor[a * unknowns + a] += damping * top);
    let factor = Cholesky::new(&mut work.factor, unknowns)?;
    work.step.clear();
    work.step.extend(work.gradient.iter().map(|g| -g));
    factor.solve(&mut work.step);
    work.step.iter().all(|h| h.is_finite()).then_some(())
}

/// log det(I + JᵀJ/σ²) = log det(I + JJᵀ/σ²) at the last place that was linearised.
pub(super) fn learned(sigma: f64, work: &mut Work) -> Option<f64> {
    let size = work.size;
    work.factor.clear();
    work.factor.extend(work.normal.iter().map(|x| x / (sigma * sigma)));
    (0..size).for_each(|a| work.factor[a * size + a] += 1.0);
    let log_det = Cholesky::new(&mut work.factor, size)?.log_det();
    log_det.is_finite().then_some(log_det)
}

/// θ moved by the step and, if of unit length, brought back to the sphere, into `work.trial`.
fn retract(theta: &[f64], dim: usize, shape: Shape, work: &mut Work) {
    let freedom = shape.freedom(dim);
    work.trial.clear();
    work.trial.extend_from_slice(theta);
    for (i, moved) in work.trial.chunks_exact_mut(dim).enumerate() {
        let step = &work.step[i * freedom..(i + 1) * freedom];
        if shape == Shape::Signed {
            axpy(1.0, step, moved);
            continue;
        }
        let v = &work.reflectors[i * dim..(i + 1) * dim];
        let along = dot(&v[1..], step) / (1.0 + moved[0].abs());
        axpy(1.0, step, &mut moved[1..]);
        axpy(-along, v, moved);
        if !normalise(moved) {
            moved.copy_from_slice(&theta[i * dim..(i + 1) * dim]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::{Key, normal, unit_vector};

    const MEMBER: usize = 2;
    const SIGMA: f64 = 0.3;

    /// A history whose last block is not full, and a network of each shape.
    fn cases() -> impl Iterator<Item = (History, ReluNet, Shape)> {
        let mut stream = Key::new(3).stream();
        [(2, 3, Shape::Unit), (5, 4, Shape::Unit), (3, 2, Shape::Signed)].into_iter().map(
            move |(dim, neurons, shape)| {
                let mut history = History::new(dim, 4, 1000, Key::new(4));
                let mut x = vec![0.0; dim];
                for number in 0..203 {
                    unit_vector(&mut stream, &mut x);
                    history.push(number, &x, normal(&mut stream));
                }
                let mut network = ReluNet::random(dim, neurons, &mut stream);
                if shape == Shape::Signed {
                    let theta = network.theta().iter().map(|t| 0.7 * t).collect();
                    network = ReluNet::with_signs(dim, theta, vec![1.0, -1.0]).unwrap();
                }
                (history, network, shape)
            },
        )
    }

    fn perturbed_loss(history: &History, network: &ReluNet) -> f64 {
        losses(network.theta(), network.signs(), MEMBER, history, SIGMA).1
    }

    #[test]
    fn losses_are_those_of_the_definition() {
        for (history, network, _) in cases() {
            let mut plain = 0.0;
            history.for_each(|x, y| plain += (network.value(x) - y).powi(2));
            let (found, perturbed) = losses(network.theta(), network.signs(), MEMBER, &history, SIGMA);
            assert!((found - plain).abs() < 1e-10 * plain);
            let (_, unperturbed) = losses(network.theta(), network.signs(), 0, &history, SIGMA);
            assert!((unperturbed - plain).abs() < 1e-10 * plain, "the first network's rewards are not perturbed");
            assert!((perturbed - plain).abs() > 1e-3 * plain);
        }
    }

    #[test]
    fn gradient_and_normal_matrix_agree_with_finite_differences() {
        for (history, network, shape) in cases() {
            let mut work = Work::default();
            let (theta, signs) = (network.theta().to_vec(), network.signs().to_vec());
            let loss = linearise(&theta, &signs, MEMBER, shape, &history, SIGMA, &mut work);
            assert!((loss - perturbed_loss(&history, &network)).abs() < 1e-10 * loss);
            let unknowns = work.gradient.len();
            let h = 1e-6;
            // f at every observation after a step of h in unknown a.
            let moved = |work: &mut Work, a: usize, h: f64| {
                work.step.clear();
                work.step.resize(unknowns, 0.0);
                work.step[a] = h;
                retract(&theta, history.dim(), shape, work);
                let mut network = network.clone();
                network.replace(&work.trial);
                let mut values = Vec::new();
                history.for_each(|x, _| values.push(network.value(x)));
                (values, perturbed_loss(&history, &network))
            };
            let mut columns = Vec::new();
            for a in 0..unknowns {
                let ((up, above), (down, below)) = (moved(&mut work, a, h), moved(&mut work, a, -h));
                assert!((work.gradient[a] - (above - below) / (4.0 * h)).abs() < 1e-5, "{shape:?} {a}");
                columns.push(up.iter().zip(&down).map(|(u, d)| (u - d) / (2.0 * h)).collect::<Vec<f64>>());
            }
            for a in 0..unknowns {
                for b in a..unknowns {
                    let expected: f64 = columns[a].iter().zip(&columns[b]).map(|(p, q)| p * q).sum();
                    assert!((work.normal[a * unknowns + b] - expected).abs() < 1e-4, "{shape:?} {a} {b}");
                }
            }
        }
    }

    #[test]
    fn an_unknown_costs_what_the_data_says_about_it() {
        let mut history = History::new(2, 2, 1000, Key::new(4));
        // All actions within 60° of e₁, so a neuron at −e₁ is never active.
        for number in 0..50u32 {
            let angle = f64::from(number) / 25.0 - 1.0;
            history.push(number.into(), &[angle.cos(), angle.sin()], 1.0);
        }
        let learned_of = |theta: &[f64]| {
            let mut work = Work::default();
            let signs = vec![1.0; theta.len() / 2];
            linearise(theta, &signs, 0, Shape::Unit, &history, SIGMA, &mut work);
            learned(SIGMA, &mut work).unwrap()
        };
        // One unknown, the angle of e₁: J is sin(angle) at every action.
        let squares: f64 = (0..50).map(|i| (f64::from(i) / 25.0 - 1.0).sin().powi(2)).sum();
        assert!((learned_of(&[1.0, 0.0]) - (1.0 + squares / (SIGMA * SIGMA)).ln()).abs() < 1e-10);
        assert!((learned_of(&[1.0, 0.0, -1.0, 0.0]) - learned_of(&[1.0, 0.0])).abs() < 1e-12);
        // A second neuron at the same place shares its information: 1 + 2s, not (1 + s)².
        let twice = learned_of(&[1.0, 0.0, 1.0, 0.0]);
        assert!((twice - (1.0 + 2.0 * squares / (SIGMA * SIGMA)).ln()).abs() < 1e-10);
    }

    #[test]
    fn a_refit_never_climbs_and_recovers_the_truth_from_nearby() {
        for (dim, neurons) in [(2, 3), (5, 5)] {
            let mut stream = Key::new(8).stream();
            let truth = ReluNet::random(dim, neurons, &mut stream);
            let mut history = History::new(dim, 2, 1000, Key::new(4));
            let mut x = vec![0.0; dim];
            for number in 0..300 {
                unit_vector(&mut stream, &mut x);
                history.push(number, &x, truth.value(&x));
            }
            let mut theta = truth.theta().to_vec();
            theta.iter_mut().for_each(|t| *t += 0.1 * normal(&mut stream));
            let mut member = Member::new(ReluNet::new(dim, theta).unwrap().normalised().unwrap());
            let mut last = f64::INFINITY;
            for _ in 0..30 {
                let effort = Effort { steps: 4, tolerance: 0.0 };
                refit(&mut member, 0, Shape::Unit, &history, 0.0, effort, &mut Work::default());
                assert!(member.loss <= last + 1e-20);
                last = member.loss;
            }
            assert!(member.loss < 1e-20, "{}", member.loss);
        }
    }
}
