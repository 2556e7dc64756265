//! One-layer ReLU networks and the features that make them linear.
//!
//! A network is f_Θ(x) = Σᵢ sᵢ·max(0, θᵢ·x) with neurons θᵢ (the rows of Θ) and second-layer signs sᵢ, all +1 in the
//! paper. A neuron is active where θᵢ·x ≥ 0; which neurons are active is the *pattern* of x.
//!
//! With the activations of an estimate Θ̃ frozen, f is linear in each of three feature maps:
//!
//! | features | dimension | what they are |
//! | --- | --- | --- |
//! | x† ([`ReluNet::x_dagger`]) | kd | (1₁x, …, 1ₖx): enough if every neuron's sign is known |
//! | x‡ ([`ReluNet::x_ddagger`]) | 2kd | (1₁x, …, 1ₖx, (½−1₁)x, …, (½−1ₖ)x): linear even if θ̃ᵢ ≈ −θᵢ, the paper's literal form |
//! | φ ([`ReluNet::phi`]) | (k+1)d | (x, 1₁x, …, 1ₖx): spans the same functions as x‡, without its redundancy |
//!
//! Since x‡ = Pᵀφ for a fixed P, ridge regression on x‡ with penalty λ equals ridge regression on φ
//! with the prior precision λ·K⁻¹⊗I, K = PPᵀ ([`phi_prior`]): the same means, widths and
//! log-determinant at about a quarter of the cost.

use serde::{Deserialize, Serialize};

use crate::action::{check_dim, check_finite};
use crate::activation::{is_on, relu};
use crate::ellipsoid::Ellipsoid;
use crate::error::{Error, Result};
use crate::linalg::{axpy, dot, normalise};
use crate::rng::{Stream, unit_vector};

/// The most neurons a network may have: a pattern is one bit a neuron in a 64-bit word.
pub const MAX_NEURONS: usize = 64;

/// Which neurons are active: bit i is set where θᵢ·x ≥ 0.
pub type Pattern = u64;

/// A one-layer ReLU network.
///
/// ```
/// use reluctant::ReluNet;
///
/// // max(0, x₁) − max(0, 2·x₂): two neurons in the plane, row after row, and their signs.
/// let net = ReluNet::with_signs(2, vec![1.0, 0.0, 0.0, 2.0], vec![1.0, -1.0])?;
/// assert_eq!(net.value(&[3.0, 0.5]), 2.0);
/// assert_eq!(net.pattern(&[3.0, -0.5]), 0b01); // only the first neuron is active there
/// # Ok::<(), reluctant::Error>(())
/// ```
#[derive(Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Unchecked")]
pub struct ReluNet {
    dim: usize,
    /// Θ, row after row.
    theta: Vec<f64>,
    /// sᵢ = ±1.
    signs: Vec<f64>,
}

impl Clone for ReluNet {
    fn clone(&self) -> Self {
        ReluNet { dim: self.dim, theta: self.theta.clone(), signs: self.signs.clone() }
    }

    /// In the memory that is there.
    fn clone_from(&mut self, other: &Self) {
        self.dim = other.dim;
        self.theta.clone_from(&other.theta);
        self.signs.clone_from(&other.signs);
    }
}

impl ReluNet {
    /// The network with neurons `theta` (k rows of `dim` numbers) and a second layer of ones.
    pub fn new(dim: usize, theta: Vec<f64>) -> Result<Self> {
        let neurons = theta.len().checked_div(dim).unwrap_or(0);
        Self::with_signs(dim, theta, vec![1.0; neurons])
    }

    /// The network with neurons `theta` and second-layer signs ±1.
    pub fn with_signs(dim: usize, theta: Vec<f64>, signs: Vec<f64>) -> Result<Self> {
        if dim == 0 {
            return Err(Error::out_of_range("dim", dim, "at least 1"));
        }
        if !theta.len().is_multiple_of(dim) {
            return Err(Error::RaggedArms { dim, len: theta.len() });
        }
        let neurons = theta.len() / dim;
        if !(1..=MAX_NEURONS).contains(&neurons) {
            return Err(Error::out_of_range("neurons", neurons, format!("1 to {MAX_NEURONS}")));
        }
        theta.iter().try_for_each(|&x| check_finite("a coordinate of a neuron", x))?;
        check_dim("the second layer", neurons, signs.len())?;
        if let Some(bad) = signs.iter().find(|s| s.abs() != 1.0) {
            return Err(Error::out_of_range("second-layer sign", bad, "1 or -1"));
        }
        Ok(ReluNet { dim, theta, signs })
    }

    /// k neurons drawn uniformly from the unit sphere, with a second layer of ones. A number of neurons or a dimension
    /// that no network can have is brought into range.
    pub fn random(dim: usize, neurons: usize, stream: &mut Stream) -> Self {
        let mut network = ReluNet { dim: dim.max(1), theta: Vec::new(), signs: Vec::new() };
        network.redraw(neurons, stream);
        network
    }

    /// Becomes what [`ReluNet::random`] gives, in the memory that is there.
    pub(crate) fn redraw(&mut self, neurons: usize, stream: &mut Stream) {
        let neurons = neurons.clamp(1, MAX_NEURONS);
        self.theta.resize(self.dim * neurons, 0.0);
        self.theta.chunks_exact_mut(self.dim).for_each(|row| unit_vector(stream, row));
        self.signs.clear();
        self.signs.resize(neurons, 1.0);
    }

    /// d, the dimension of an action.
    pub fn dim(&self) -> usize {
        self.dim
    }

    /// k, the number of neurons.
    pub fn neurons(&self) -> usize {
        self.signs.len()
    }

    /// Θ, row after row.
    pub fn theta(&self) -> &[f64] {
        &self.theta
    }

    /// θᵢ.
    pub fn neuron(&self, i: usize) -> &[f64] {
        &self.theta[i * self.dim..(i + 1) * self.dim]
    }

    /// The neurons θ₁, …, θₖ in order.
    pub fn iter(&self) -> std::slice::ChunksExact<'_, f64> {
        self.theta.chunks_exact(self.dim)
    }

    /// Other neurons of the same shape in the place of these; finite ones are the caller's promise.
    pub(crate) fn replace(&mut self, theta: &[f64]) {
        debug_assert!(theta.iter().all(|x| x.is_finite()));
        self.theta.copy_from_slice(theta);
    }

    /// Θ and the second-layer signs; that they stay finite and ±1 is the caller's promise.
    pub(crate) fn layers_mut(&mut self) -> (&mut [f64], &mut [f64]) {
        (&mut self.theta, &mut self.signs)
    }

    /// Adds a neuron of this second-layer sign, zero until the caller writes it.
    pub(crate) fn push(&mut self, sign: f64) -> &mut [f64] {
        let place = self.theta.len();
        self.theta.resize(place + self.dim, 0.0);
        self.signs.push(sign);
        &mut self.theta[place..]
    }

    /// Takes the last neuron away; that one is left is the caller's promise.
    pub(crate) fn pop(&mut self) {
        self.theta.truncate(self.theta.len() - self.dim);
        self.signs.pop();
    }

    /// Changes the places of two neurons.
    pub(crate) fn swap(&mut self, i: usize, j: usize) {
        (0..self.dim).for_each(|at| self.theta.swap(i * self.dim + at, j * self.dim + at));
        self.signs.swap(i, j);
    }

    /// The second-layer signs.
    pub fn signs(&self) -> &[f64] {
        &self.signs
    }

    /// The same network with every neuron scaled to unit length; a zero neuron is an error.
    pub fn normalised(mut self) -> Result<Self> {
        for (i, row) in self.theta.chunks_exact_mut(self.dim).enumerate() {
            if !normalise(row) {
                return Err(Error::out_of_range(format!("the norm of neuron {}", i + 1), 0, "positive"));
            }
        }
        Ok(self)
    }

    /// The unit network that is active where this one is: every neuron scaled to unit length and, since a zero neuron
    /// is active everywhere and so has no direction, the first unit vector in its place. The second layer becomes ones.
    pub fn directions(mut self) -> Self {
        for row in self.theta.chunks_exact_mut(self.dim) {
            if !normalise(row) {
                row.fill(0.0);
                row[0] = 1.0;
            }
        }
        self.signs.fill(1.0);
        self
    }

    /// f_Θ(x).
    pub fn value(&self, x: &[f64]) -> f64 {
        self.iter().zip(&self.signs).map(|(theta, sign)| sign * relu(dot(theta, x))).sum()
    }

    /// ∂f/∂Θ at x: row i is sᵢ·1ᵢ(x)·x.
    pub fn gradient(&self, x: &[f64]) -> Vec<f64> {
        let mut gradient = vec![0.0; self.theta.len()];
        for ((row, theta), &sign) in gradient.chunks_exact_mut(self.dim).zip(self.iter()).zip(&self.signs) {
            if is_on(dot(theta, x)) {
                axpy(sign, x, row);
            }
        }
        gradient
    }

    /// Which neurons are active at x.
    #[inline]
    pub fn pattern(&self, x: &[f64]) -> Pattern {
        let mut pattern = 0;
        for (i, theta) in self.iter().enumerate() {
            pattern |= Pattern::from(is_on(dot(theta, x))) << i;
        }
        pattern
    }

    /// Whether x lies in X(Θ, ν): |θᵢ·x| ≥ ν for every neuron (equation `def:calX_nu`).
    pub fn in_region(&self, x: &[f64], nu: f64) -> bool {
        self.iter().all(|theta| dot(theta, x).abs() >= nu)
    }

    /// x† (equation `def:rwd_bandit_eq`).
    pub fn x_dagger(&self, x: &[f64]) -> Vec<f64> {
        let pattern = self.pattern(x);
        let mut out = Vec::with_capacity(self.theta.len());
        for i in 0..self.neurons() {
            let active = f64::from(is_active(pattern, i));
            out.extend(x.iter().map(|v| active * v));
        }
        out
    }

    /// x‡ in the paper's literal form (equation `def:xtheta_eq_ucb_x`).
    pub fn x_ddagger(&self, x: &[f64]) -> Vec<f64> {
        let pattern = self.pattern(x);
        let mut out = self.x_dagger(x);
        for i in 0..self.neurons() {
            let misread = 0.5 - f64::from(is_active(pattern, i));
            out.extend(x.iter().map(|v| misread * v));
        }
        out
    }

    /// φ = (x, 1₁x, …, 1ₖx), the compact form of x‡, into `out` of length (k+1)d.
    pub fn phi(&self, x: &[f64], out: &mut [f64]) {
        let pattern = self.pattern(x);
        let (first, rest) = out.split_at_mut(self.dim);
        first.copy_from_slice(x);
        for (i, block) in rest.chunks_exact_mut(self.dim).enumerate() {
            if is_active(pattern, i) {
                block.copy_from_slice(x);
            } else {
                block.fill(0.0);
            }
        }
    }
}

/// Whether neuron `i` is active in `pattern`.
#[inline(always)]
pub fn is_active(pattern: Pattern, i: usize) -> bool {
    pattern >> i & 1 == 1
}

/// Ridge regression on φ that equals ridge regression on x‡ with penalty λ.
///
/// x‡ = Pᵀφ gives K = PPᵀ = [[k/4, −½·1ᵀ], [−½·1, 2I]] (each entry times I_d), and minimising over weights on x‡
/// of given weights on φ leaves the penalty λ·wᵀ(K⁻¹⊗I)w, where K⁻¹ = [[8/k, (2/k)·1ᵀ], [(2/k)·1, ½I +
/// (1/2k)·11ᵀ]] and det K = 2ᵏ·k/8.
pub fn phi_prior(neurons: usize, dim: usize, lambda: f64) -> Ellipsoid {
    let k = neurons as f64;
    let blocks = neurons + 1;
    let covariance = |a: usize, b: usize| match (a, b) {
        (0, 0) => k / 4.0,
        (0, _) | (_, 0) => -0.5,
        _ => 2.0 * f64::from(a == b),
    };
    let precision = |a: usize, b: usize| match (a, b) {
        (0, 0) => 8.0 / k,
        (0, _) | (_, 0) => 2.0 / k,
        _ => 0.5 * f64::from(a == b) + 0.5 / k,
    };
    let spread = |block: &dyn Fn(usize, usize) -> f64, scale: f64| {
        let size = blocks * dim;
        let mut matrix = vec![0.0; size * size];
        for a in 0..blocks {
            for b in 0..blocks {
                for j in 0..dim {
                    matrix[(a * dim + j) * size + b * dim + j] = scale * block(a, b);
                }
            }
        }
        matrix
    };
    let log_det_k = k * std::f64::consts::LN_2 + libm::log(k / 8.0);
    let log_det = dim as f64 * (blocks as f64 * libm::log(lambda) - log_det_k);
    Ellipsoid::with_prior(blocks * dim, spread(&precision, lambda), spread(&covariance, 1.0 / lambda), log_det)
}

#[derive(Deserialize)]
struct Unchecked {
    dim: usize,
    theta: Vec<f64>,
    signs: Vec<f64>,
}

impl TryFrom<Unchecked> for ReluNet {
    type Error = Error;

    fn try_from(saved: Unchecked) -> Result<Self> {
        ReluNet::with_signs(saved.dim, saved.theta, saved.signs)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::{Key, normal};

    fn network(dim: usize, neurons: usize, seed: u64) -> (ReluNet, Stream) {
        let mut stream = Key::new(seed).stream();
        let net = ReluNet::random(dim, neurons, &mut stream);
        (net, stream)
    }

    #[test]
    fn gradient_agrees_with_finite_differences() {
        let (plain, mut stream) = network(4, 5, 1);
        let net = ReluNet::with_signs(4, plain.theta().to_vec(), vec![1.0, -1.0, 1.0, -1.0, 1.0]).unwrap();
        let step = 1e-6;
        for _ in 0..50 {
            let mut x = [0.0; 4];
            unit_vector(&mut stream, &mut x);
            if !net.in_region(&x, 10.0 * step) {
                continue;
            }
            let gradient = net.gradient(&x);
            for j in 0..gradient.len() {
                let moved = |by: f64| {
                    let mut theta = net.theta().to_vec();
                    theta[j] += by;
                    ReluNet::with_signs(4, theta, net.signs().to_vec()).unwrap().value(&x)
                };
                let difference = (moved(step) - moved(-step)) / (2.0 * step);
                assert!((gradient[j] - difference).abs() < 1e-8);
            }
        }
    }

    /// Equation `eq:model_sign`: with θ‡ as in the paper, x‡·θ‡ is the reward, whichever neurons have the wrong sign.
    #[test]
    fn x_ddagger_is_linear_whatever_the_signs_of_the_estimate() {
        let (net, mut stream) = network(3, 4, 2);
        for flips in 0..16u64 {
            let flipped = |i: usize| flips >> i & 1 == 1;
            let theta: Vec<f64> =
                (0..4).flat_map(|i| net.neuron(i).iter().map(move |v| if flipped(i) { -v } else { *v })).collect();
            let estimate = ReluNet::new(3, theta).unwrap();
            let second = (0..4).flat_map(|i| net.neuron(i).iter().map(move |v| if flipped(i) { 2.0 * v } else { 0.0 }));
            let theta_ddagger: Vec<f64> = net.theta().iter().copied().chain(second).collect();
            let mut x = [0.0; 3];
            unit_vector(&mut stream, &mut x);
            assert!((dot(&theta_ddagger, &estimate.x_ddagger(&x)) - net.value(&x)).abs() < 1e-12);
        }
    }

    #[test]
    fn ridge_on_phi_equals_ridge_on_x_ddagger() {
        for (dim, neurons, lambda) in [(2, 1, 0.3), (2, 3, 0.01), (3, 10, 1.0), (5, 4, 1e-4)] {
            let (net, mut stream) = network(dim, neurons, 3);
            let mut literal = Ellipsoid::ridge(2 * neurons * dim, lambda);
            let mut compact = phi_prior(neurons, dim, lambda);
            let (mut x, mut phi) = (vec![0.0; dim], vec![0.0; (neurons + 1) * dim]);
            for _ in 0..200 {
                unit_vector(&mut stream, &mut x);
                net.phi(&x, &mut phi);
                let features = net.x_ddagger(&x);
                let near = |a: f64, b: f64| (a - b).abs() <= 1e-9 * (1.0 + a.abs().max(b.abs()));
                assert!(near(literal.mean(&features), compact.mean(&phi)));
                assert!(near(literal.squared_width(&features), compact.squared_width(&phi)));
                assert!(near(literal.log_det_ratio(), compact.log_det_ratio()));
                let y = net.value(&x) + 0.1 * normal(&mut stream);
                literal.update(&features, y);
                compact.update(&phi, y);
            }
        }
    }

    #[test]
    fn the_prior_is_consistent() {
        for (neurons, dim) in [(1, 1), (3, 2), (10, 3)] {
            let prior = phi_prior(neurons, dim, 0.7);
            let mut again = prior.clone();
            again.refresh();
            assert!(again.log_det_ratio().abs() < 1e-9);
            let worst = prior.covariance().iter().zip(again.covariance()).map(|(a, b)| (a - b).abs());
            assert!(worst.fold(0.0, f64::max) < 1e-9);
        }
    }

    #[test]
    fn bad_networks_are_refused() {
        assert!(ReluNet::new(2, vec![]).is_err());
        assert!(ReluNet::new(0, vec![1.0]).is_err());
        assert!(ReluNet::new(2, vec![1.0; 3]).is_err());
        assert!(ReluNet::new(1, vec![1.0; 65]).is_err());
        assert!(ReluNet::new(2, vec![f64::NAN, 0.0]).is_err());
        assert!(ReluNet::with_signs(2, vec![1.0; 2], vec![0.5]).is_err());
        assert!(ReluNet::new(2, vec![0.0; 2]).unwrap().normalised().is_err());
    }
}
