//! The small networks that NeuralUCB trains.
//!
//! Two layers: f(x) = s·Σᵢ vᵢ·max(0, wᵢ·x̃) + c; one layer: f(x) = Σᵢ max(0, wᵢ·x). All parameters lie in one vector: W by input
//! coordinate (so that loops run over the hidden units, which are contiguous), then v, then c.

use serde::{Deserialize, Serialize};

use crate::activation::is_on;
use crate::rng::{Stream, normal, uniform, unit_vector};

/// What a network looks like.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub(crate) struct Shape {
    /// The dimension d of x.
    pub(crate) dim: usize,
    /// Hidden units m.
    pub(crate) width: usize,
    /// Whether there is a trained second layer; if not it is all ones.
    pub(crate) two_layers: bool,
    /// Zhou's form: x̃ = (x, x)/√2, the output times √m, no output bias. Otherwise x̃ = x, the output as it is, with a bias.
    pub(crate) doubled: bool,
}

impl Shape {
    /// Inputs of a hidden unit.
    fn inputs(&self) -> usize {
        self.dim * (1 + usize::from(self.doubled))
    }

    /// Parameters in all.
    fn size(&self) -> usize {
        let second = usize::from(self.two_layers) * self.width;
        let bias = usize::from(self.two_layers && !self.doubled);
        self.inputs() * self.width + second + bias
    }
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Network {
    shape: Shape,
    params: Vec<f64>,
}

impl Network {
    /// Every parameter uniform in ±1/√(inputs of its layer).
    pub(crate) fn uniform_start(shape: Shape, stream: &mut Stream) -> Self {
        let first = shape.inputs() * shape.width;
        let bound = |i: usize| 1.0 / (if i < first { shape.inputs() } else { shape.width } as f64).sqrt();
        let params = (0..shape.size()).map(|i| bound(i) * (2.0 * uniform(stream) - 1.0)).collect();
        Network { shape, params }
    }

    /// Zhou's start: W = diag(A, A) with entries N(0, 4/m) and v = (a, −a) with entries N(0, 2/m), so that f = 0. A network without
    /// a second layer starts from random unit neurons.
    pub(crate) fn symmetric_start(shape: Shape, stream: &mut Stream) -> Self {
        let Shape { dim, width, .. } = shape;
        let mut params = vec![0.0; shape.size()];
        if shape.doubled {
            let half = width / 2;
            for j in 0..dim {
                for i in 0..half {
                    let weight = (4.0 / width as f64).sqrt() * normal(stream);
                    params[j * width + i] = weight;
                    params[(dim + j) * width + half + i] = weight;
                }
            }
            let second = 2 * dim * width;
            for i in 0..half {
                let weight = (2.0 / width as f64).sqrt() * normal(stream);
                params[second + i] = weight;
                params[second + half + i] = -weight;
            }
        } else {
            let mut neuron = vec![0.0; dim];
            for i in 0..width {
                unit_vector(stream, &mut neuron);
                (0..dim).for_each(|j| params[j * width + i] = neuron[j]);
            }
        }
        Network { shape, params }
    }

    pub(crate) fn shape(&self) -> Shape {
        self.shape
    }

    pub(crate) fn size(&self) -> usize {
        self.params.len()
    }

    pub(crate) fn is_consistent(&self) -> bool {
        self.shape.dim > 0 && self.shape.width > 0 && self.params.len() == self.shape.size()
    }

    pub(crate) fn params(&self) -> &[f64] {
        &self.params
    }

    pub(crate) fn params_mut(&mut self) -> &mut [f64] {
        &mut self.params
    }

    /// The scale of the inputs and of the output.
    fn scales(&self) -> (f64, f64) {
        if self.shape.doubled { (0.5f64.sqrt(), (self.shape.width as f64).sqrt()) } else { (1.0, 1.0) }
    }

    /// f(x), and ∂f/∂θ into `gradient`.
    pub(crate) fn gradient(&self, x: &[f64], gradient: &mut [f64]) -> f64 {
        let Shape { dim, width, two_layers, .. } = self.shape;
        let (input_scale, output_scale) = self.scales();
        let inputs = self.shape.inputs();
        let (first, rest) = self.params.split_at(inputs * width);
        let (first_gradient, rest_gradient) = gradient.split_at_mut(inputs * width);
        // The first row of the gradient holds the hidden units; each is read before its place is written.
        let hidden = &mut first_gradient[..width];
        hidden.fill(0.0);
        for (j, weights) in first.chunks_exact(width).enumerate() {
            let xj = input_scale * x[j % dim];
            hidden.iter_mut().zip(weights).for_each(|(h, w)| *h += w * xj);
        }
        let mut value = 0.0;
        for i in 0..width {
            let h = first_gradient[i];
            let active = is_on(h);
            let outer = if two_layers { output_scale * rest[i] } else { 1.0 };
            if active {
                value += outer * h;
            }
            if two_layers {
                rest_gradient[i] = if active { output_scale * h } else { 0.0 };
            }
            let slope = if active { outer } else { 0.0 };
            for j in 0..inputs {
                first_gradient[j * width + i] = slope * input_scale * x[j % dim];
            }
        }
        if two_layers && !self.shape.doubled {
            rest_gradient[width] = 1.0;
            value += rest[width];
        }
        value
    }

    /// The layers, for scoring; without a trained second layer it is `ones`.
    pub(crate) fn layers<'a>(&'a self, ones: &'a [f64]) -> (&'a [f64], &'a [f64], f64) {
        let Shape { width, two_layers, doubled, .. } = self.shape;
        let (first, rest) = self.params.split_at(self.shape.inputs() * width);
        let bias = if two_layers && !doubled { rest[width] } else { 0.0 };
        (first, if two_layers { &rest[..width] } else { ones }, bias)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Key;

    fn shapes() -> [Shape; 3] {
        let base = Shape { dim: 3, width: 6, two_layers: true, doubled: false };
        [base, Shape { two_layers: false, ..base }, Shape { doubled: true, ..base }]
    }

    fn value(network: &Network, x: &[f64]) -> f64 {
        network.gradient(x, &mut vec![0.0; network.size()])
    }

    #[test]
    fn gradients_agree_with_finite_differences() {
        let mut stream = Key::new(1).stream();
        for shape in shapes() {
            let network = Network::uniform_start(shape, &mut stream);
            let mut x = [0.0; 3];
            unit_vector(&mut stream, &mut x);
            let mut gradient = vec![0.0; network.size()];
            network.gradient(&x, &mut gradient);
            let step = 1e-6;
            for p in 0..network.size() {
                let moved = |by: f64| {
                    let mut other = network.clone();
                    other.params[p] += by;
                    value(&other, &x)
                };
                let difference = (moved(step) - moved(-step)) / (2.0 * step);
                assert!((gradient[p] - difference).abs() < 1e-7, "{shape:?} {p}: {} {difference}", gradient[p]);
            }
        }
    }

    #[test]
    fn the_symmetric_start_is_zero_everywhere() {
        let mut stream = Key::new(2).stream();
        let network = Network::symmetric_start(shapes()[2], &mut stream);
        let mut x = [0.0; 3];
        for _ in 0..20 {
            unit_vector(&mut stream, &mut x);
            assert!(value(&network, &x).abs() < 1e-14);
        }
    }
}
