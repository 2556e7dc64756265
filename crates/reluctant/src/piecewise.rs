//! One family of networks: f(x) = w₀ + w·x + Σᵢ sᵢ·relu(θᵢ·x + bᵢ) with signs sᵢ = ±1 ([`PiecewiseNet`]).
//!
//! Every one-layer network Σᵢ sᵢ·g(θᵢ·x + bᵢ) with a piecewise-linear activation g belongs to it, since g is a line and
//! shifted ReLUs ([`crate::activation`]), and m·relu(z) = ±relu(|m|·z). A neuron is known only up to its sign, for
//! relu(z) = relu(−z) + z: turned round, it differs by something affine ([`PiecewiseNet::flipped`]).

use serde::Serialize;

use crate::action::{check_dim, check_finite};
use crate::activation::{Activation, is_on, relu};
use crate::error::{Error, Result};
use crate::estimate::samples::Samples;
use crate::linalg::{axpy, dot, norm};
use crate::relu::{MAX_NEURONS, Pattern, ReluNet, is_active};

/// An affine function and signed ReLUs with biases.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PiecewiseNet {
    /// w₀.
    constant: f64,
    /// w.
    linear: Vec<f64>,
    /// θᵢ and sᵢ.
    hinges: ReluNet,
    /// bᵢ.
    biases: Vec<f64>,
}

impl From<ReluNet> for PiecewiseNet {
    fn from(net: ReluNet) -> Self {
        PiecewiseNet { constant: 0.0, linear: vec![0.0; net.dim()], biases: vec![0.0; net.neurons()], hinges: net }
    }
}

impl PiecewiseNet {
    /// w₀ + w·x + Σᵢ sᵢ·relu(θᵢ·x + bᵢ).
    pub fn new(constant: f64, linear: Vec<f64>, hinges: ReluNet, biases: Vec<f64>) -> Result<Self> {
        check_dim("the linear part", hinges.dim(), linear.len())?;
        check_dim("the list of biases", hinges.neurons(), biases.len())?;
        check_finite("the constant", constant)?;
        linear.iter().try_for_each(|&x| check_finite("a coordinate of the linear part", x))?;
        biases.iter().try_for_each(|&x| check_finite("a bias", x))?;
        Ok(PiecewiseNet { constant, linear, hinges, biases })
    }

    /// Σᵢ sᵢ·g(θᵢ·x + bᵢ), with the neurons and signs of `net`.
    pub fn with_activation(activation: &Activation, net: &ReluNet, biases: &[f64]) -> Result<Self> {
        check_dim("the list of biases", net.neurons(), biases.len())?;
        let hinges = net.neurons() * activation.kinks().len();
        if hinges > MAX_NEURONS {
            let allowed = format!("at most {MAX_NEURONS} kinks, neurons times kinks of the activation");
            return Err(Error::out_of_range("neurons", net.neurons(), allowed));
        }
        let (offset, slope) = activation.line();
        let (mut constant, mut linear) = (0.0, vec![0.0; net.dim()]);
        let (mut theta, mut signs, mut shifted) = (Vec::new(), Vec::new(), Vec::new());
        for ((neuron, &sign), &bias) in net.iter().zip(net.signs()).zip(biases) {
            constant += sign * (offset + slope * bias);
            axpy(sign * slope, neuron, &mut linear);
            for hinge in activation.hinges() {
                let size = hinge.change.abs();
                theta.extend(neuron.iter().map(|x| size * x));
                signs.push(sign * hinge.change.signum());
                shifted.push(size * (bias - hinge.kink));
            }
        }
        Self::new(constant, linear, ReluNet::with_signs(net.dim(), theta, signs)?, shifted)
    }

    /// d, the dimension of an action.
    pub fn dim(&self) -> usize {
        self.hinges.dim()
    }

    /// w₀.
    pub fn constant(&self) -> f64 {
        self.constant
    }

    /// w.
    pub fn linear(&self) -> &[f64] {
        &self.linear
    }

    /// The ReLUs without their biases: θᵢ and sᵢ.
    pub fn hinges(&self) -> &ReluNet {
        &self.hinges
    }

    /// bᵢ.
    pub fn biases(&self) -> &[f64] {
        &self.biases
    }

    /// Whether f(c·x) = c·f(x) for c ≥ 0: neither constant nor biases.
    pub fn is_homogeneous(&self) -> bool {
        self.constant == 0.0 && self.biases.iter().all(|&bias| bias == 0.0)
    }

    /// The inputs θᵢ·x + bᵢ of the ReLUs.
    fn inputs<'a>(&'a self, x: &'a [f64]) -> impl Iterator<Item = f64> + 'a {
        self.hinges.iter().zip(&self.biases).map(|(theta, bias)| dot(theta, x) + bias)
    }

    /// f(x).
    pub fn value(&self, x: &[f64]) -> f64 {
        let affine = self.constant + dot(&self.linear, x);
        self.inputs(x).zip(self.hinges.signs()).fold(affine, |sum, (input, sign)| sum + sign * relu(input))
    }

    /// Which ReLUs are active at x: bit i is set where θᵢ·x + bᵢ ≥ 0.
    pub fn pattern(&self, x: &[f64]) -> Pattern {
        self.inputs(x).enumerate().fold(0, |pattern, (i, input)| pattern | Pattern::from(is_on(input)) << i)
    }

    /// The affine function that f is where `pattern` holds: its constant, and its slope.
    pub fn piece(&self, pattern: Pattern) -> (f64, Vec<f64>) {
        let (mut constant, mut slope) = (self.constant, self.linear.clone());
        for (i, (theta, &sign)) in self.hinges.iter().zip(self.hinges.signs()).enumerate() {
            if is_active(pattern, i) {
                constant += sign * self.biases[i];
                axpy(sign, theta, &mut slope);
            }
        }
        (constant, slope)
    }

    /// The derivatives of f(x) by its parameters, in the order w₀, w, θ₁, b₁, θ₂, b₂, …
    pub fn gradient(&self, x: &[f64]) -> Vec<f64> {
        let mut gradient = vec![1.0];
        gradient.extend(x);
        for (input, &sign) in self.inputs(x).zip(self.hinges.signs()) {
            let weight = if is_on(input) { sign } else { 0.0 };
            gradient.extend(x.iter().map(|x| weight * x));
            gradient.push(weight);
        }
        gradient
    }

    /// offset + scale·f(x), for a scale that is positive.
    #[must_use]
    pub(crate) fn scaled(mut self, offset: f64, scale: f64) -> Self {
        self.constant = offset + scale * self.constant;
        let (theta, _) = self.hinges.layers_mut();
        theta.iter_mut().chain(&mut self.linear).chain(&mut self.biases).for_each(|x| *x *= scale);
        self
    }

    /// Numbers between which f lies on the unit sphere.
    pub(crate) fn range_on_sphere(&self) -> (f64, f64) {
        let slope = norm(&self.linear);
        let (mut least, mut most) = (self.constant - slope, self.constant + slope);
        for ((theta, &sign), bias) in self.hinges.iter().zip(self.hinges.signs()).zip(&self.biases) {
            let height = relu(norm(theta) + bias);
            if sign > 0.0 { most += height } else { least -= height }
        }
        (least, most)
    }

    /// (1/n)·Σ (f(xᵢ) − yᵢ)².
    pub fn mean_squared_error(&self, samples: Samples<'_>) -> Result<f64> {
        check_dim("the network", samples.dim(), self.dim())?;
        let squared = |(x, y): (&[f64], f64)| (self.value(x) - y) * (self.value(x) - y);
        Ok(samples.iter().map(squared).sum::<f64>() / samples.len() as f64)
    }

    /// The same function with ReLU i turned round: relu(z) = relu(−z) + z.
    #[must_use]
    pub fn flipped(mut self, i: usize) -> Self {
        let (dim, sign) = (self.dim(), self.hinges.signs()[i]);
        self.constant += sign * self.biases[i];
        axpy(sign, self.hinges.neuron(i), &mut self.linear);
        let (theta, _) = self.hinges.layers_mut();
        theta[i * dim..][..dim].iter_mut().for_each(|x| *x = -*x);
        self.biases[i] = -self.biases[i];
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::{Key, Stream, normal, sign, unit_vector};

    fn random(dim: usize, neurons: usize, stream: &mut Stream) -> (ReluNet, Vec<f64>) {
        let theta = (0..dim * neurons).map(|_| normal(stream)).collect();
        let signs = (0..neurons).map(|_| sign(stream)).collect();
        let biases = (0..neurons).map(|_| 0.5 * normal(stream)).collect();
        (ReluNet::with_signs(dim, theta, signs).unwrap(), biases)
    }

    fn activations() -> Vec<Activation> {
        vec![
            Activation::relu(),
            Activation::leaky(0.3).unwrap(),
            Activation::absolute(),
            Activation::hard_tanh(),
            Activation::new(vec![-0.4, 0.1, 0.7], vec![-0.2, 0.5, -1.0, 2.0]).unwrap(),
        ]
    }

    #[test]
    fn scaled_values_are_between_the_scaled_bounds() {
        let mut stream = Key::new(9).stream();
        for activation in activations() {
            let (net, biases) = random(3, 5, &mut stream);
            let net = PiecewiseNet::with_activation(&activation, &net, &biases).unwrap();
            let (least, most) = net.range_on_sphere();
            let (scaled, mut x) = (net.clone().scaled(0.25, 2.0), [0.0; 3]);
            for _ in 0..200 {
                unit_vector(&mut stream, &mut x);
                let value = net.value(&x);
                assert!(least <= value && value <= most);
                assert!((scaled.value(&x) - 0.25 - 2.0 * value).abs() < 1e-12);
            }
        }
    }

    #[test]
    fn every_one_layer_network_belongs_to_the_family() {
        let mut stream = Key::new(1).stream();
        for activation in activations() {
            let (net, biases) = random(3, 5, &mut stream);
            let family = PiecewiseNet::with_activation(&activation, &net, &biases).unwrap();
            assert_eq!(family.hinges().neurons(), 5 * activation.kinks().len());
            let mut x = [0.0; 3];
            for _ in 0..200 {
                unit_vector(&mut stream, &mut x);
                let literal = (0..5).map(|i| net.signs()[i] * activation.value(dot(net.neuron(i), &x) + biases[i]));
                assert!((family.value(&x) - literal.sum::<f64>()).abs() < 1e-12);
                let (constant, slope) = family.piece(family.pattern(&x));
                assert!((constant + dot(&slope, &x) - family.value(&x)).abs() < 1e-12);
            }
        }
    }

    #[test]
    fn a_relu_network_stays_what_it_is_to_the_bit() {
        let mut stream = Key::new(2).stream();
        let net = random(4, 6, &mut stream).0;
        let family = PiecewiseNet::with_activation(&Activation::relu(), &net, &[0.0; 6]).unwrap();
        assert_eq!(family, PiecewiseNet::from(net.clone()));
        assert!(family.is_homogeneous());
        let mut x = [0.0; 4];
        for _ in 0..100 {
            unit_vector(&mut stream, &mut x);
            assert_eq!(family.value(&x), net.value(&x));
            assert_eq!(family.pattern(&x), net.pattern(&x));
        }
    }

    #[test]
    fn turning_a_neuron_round_changes_nothing_but_its_side() {
        let mut stream = Key::new(3).stream();
        let (net, biases) = random(3, 4, &mut stream);
        let family = PiecewiseNet::with_activation(&Activation::leaky(0.2).unwrap(), &net, &biases).unwrap();
        let turned = family.clone().flipped(1).flipped(3);
        let mut x = [0.0; 3];
        for _ in 0..100 {
            unit_vector(&mut stream, &mut x);
            assert!((family.value(&x) - turned.value(&x)).abs() < 1e-13);
            assert_eq!(family.pattern(&x) ^ turned.pattern(&x), 0b1010);
        }
    }

    #[test]
    fn the_gradient_agrees_with_finite_differences() {
        let mut stream = Key::new(4).stream();
        let (net, biases) = random(2, 3, &mut stream);
        let family = PiecewiseNet::with_activation(&Activation::absolute(), &net, &biases).unwrap();
        let moved = |place: usize, by: f64| {
            let mut moved = family.clone();
            let at = place.wrapping_sub(3);
            match place {
                0 => moved.constant += by,
                1 | 2 => moved.linear[place - 1] += by,
                _ if at % 3 == 2 => moved.biases[at / 3] += by,
                _ => moved.hinges.layers_mut().0[at / 3 * 2 + at % 3] += by,
            }
            moved
        };
        let (step, mut x) = (1e-6, [0.0; 2]);
        for _ in 0..50 {
            unit_vector(&mut stream, &mut x);
            if family.inputs(&x).any(|input| input.abs() < 1e-4) {
                continue;
            }
            let gradient = family.gradient(&x);
            assert_eq!(gradient.len(), 3 + 3 * 3);
            for (place, found) in gradient.iter().enumerate() {
                let difference = (moved(place, step).value(&x) - moved(place, -step).value(&x)) / (2.0 * step);
                assert!((found - difference).abs() < 1e-8, "{place}");
            }
        }
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        let net = ReluNet::new(2, vec![1.0; 66]).unwrap();
        let said = PiecewiseNet::with_activation(&Activation::hard_tanh(), &net, &[0.0; 33]).unwrap_err().to_string();
        assert!(said.starts_with("neurons = 33 is out of range: at most 64 kinks"), "{said}");
        assert!(PiecewiseNet::with_activation(&Activation::relu(), &net, &[0.0]).is_err());
        assert!(PiecewiseNet::new(f64::NAN, vec![0.0; 2], net.clone(), vec![0.0; 33]).is_err());
        assert!(PiecewiseNet::new(0.0, vec![0.0], net, vec![0.0; 33]).is_err());
    }
}
