//! Levenberg–Marquardt steps for many small networks on one growing history.
//!
//! A unit neuron moves in its tangent space: the Householder reflection H = I − βvvᵀ with v = θ ± e₁ carries it to the
//! last d−1 coordinates, so the unknowns are free. A neuron of any length has all d coordinates. The perturbed rewards
//! y + σξ make the minimiser of each network a draw from (nearly) the posterior of networks rather than its mode.
//!
//! [`crate::estimate`] finds the best network of a fixed set of samples, and works hard for it. Here a few steps a
//! round from where the last round ended are enough, and they must cost microseconds.

use pulp::NullaryFnOnce;

use super::constants::DAMPINGS;
use super::form::Shape;
use super::history::History;
use super::jacobian::Work;
use super::lanes::total;
use super::member::Member;
use super::{narrow, wide};
use crate::kernels::{LANES, arch, block_dot};
use crate::limits::in_limit;
use crate::linalg::{axpy, dot, normalise};

/// How far a refit goes.
#[derive(Debug, Clone, Copy)]
pub(super) struct Effort {
    pub(super) steps: usize,
    /// A step that gains less ends the refit.
    pub(super) tolerance: f64,
}

/// Refits `member`, the `m`-th, by a few steps.
pub(super) fn refit(member: &mut Member, m: usize, history: &History, sigma: f64, effort: Effort, work: &mut Work) {
    let shape = member.shape;
    let wide = wide::pays(member.unknowns(), history.len());
    let linearise = if wide { wide::linearise } else { narrow::linearise };
    let solve = if wide { wide::solve } else { narrow::solve };
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
            member.damping = (member.damping * 0.2).max(*DAMPINGS.start());
            refused = 0;
            (loss, plain) = (reached, Some(reached_plain));
            if gained < effort.tolerance {
                break;
            }
            linearise(member.network.theta(), member.network.signs(), m, shape, history, sigma, work);
        } else {
            member.damping = (member.damping * 5.0).min(*DAMPINGS.end());
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
    use super::super::jacobian::learned;
    use super::super::narrow::linearise;
    use super::*;
    use crate::relu::ReluNet;
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
                for _ in 0..203 {
                    unit_vector(&mut stream, &mut x);
                    history.push(&x, normal(&mut stream));
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
            history.push(&[angle.cos(), angle.sin()], 1.0);
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
            for _ in 0..300 {
                unit_vector(&mut stream, &mut x);
                history.push(&x, truth.value(&x));
            }
            let mut theta = truth.theta().to_vec();
            theta.iter_mut().for_each(|t| *t += 0.1 * normal(&mut stream));
            let mut member = Member::new(ReluNet::new(dim, theta).unwrap().normalised().unwrap(), Shape::Unit);
            let mut last = f64::INFINITY;
            for _ in 0..30 {
                let effort = Effort { steps: 4, tolerance: 0.0 };
                refit(&mut member, 0, &history, 0.0, effort, &mut Work::default());
                assert!(member.loss <= last + 1e-20);
                last = member.loss;
            }
            assert!(member.loss < 1e-20, "{}", member.loss);
        }
    }
}
