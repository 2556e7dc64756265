//! `deep`: a random ReLU network with two or more hidden layers, a truth that no policy is made for.
//!
//! h₀ = √d·x, hₗ = relu(Wₗhₗ₋₁ + bₗ) and f(x) = v·h. Entries of Wₗ are normal with variance 2 over the width of the
//! layer before, so that no layer makes signals larger or smaller on average; those of v have variance 1 over the
//! width, so that E f(x)² = 1 over random networks without biases.

use pulp::NullaryFnOnce;

use super::noise::{self, Noise};
use super::shape::BIASES;
use super::sphere_arms::{self, SphereArms};
use super::{Build, Entry, Environment, Sample};
use crate::error::{Error, Result};
use crate::kernels::{Blocks, LANES, Lane, arch, block_dot};
use crate::offer::{Offer, Rows, Space};
use crate::params::{Initial, Kind, Literal, Param, Params, Value};
use crate::rng::{Key, Purpose, Stream, normal, uniform};
use crate::round::{Means, Round, RoundMemory};

/// Values are seldom farther from 0: three of their standard deviations. For Bernoulli rewards those that are count as
/// this far.
const USUAL: f64 = 3.0;

/// The most units of a layer.
const MAX_WIDTH: usize = 64;

pub(super) const LAYERS: Param =
    Param::new("layers", Initial::count(2), Kind::Count { min: 2, max: 8 }, "hidden layers of the network");

pub(super) const WIDTH: Param = Param::new(
    "width",
    Initial::count(8),
    Kind::Count { min: 1, max: MAX_WIDTH as u64 },
    "units of every hidden layer",
);

pub(super) const ENTRY: Entry = Entry {
    name: "deep",
    summary: "a random ReLU network with several hidden layers on the unit sphere, which no policy is made for",
    citation: "He, Zhang, Ren and Sun (2015), Delving deep into rectifiers, for the scale of the weights",
    params: &[
        sphere_arms::DIM,
        LAYERS,
        WIDTH,
        BIASES,
        sphere_arms::ACTIONS,
        sphere_arms::ARMS,
        sphere_arms::FRESH,
        noise::SIGMA,
        noise::NOISE,
    ],
    samples: &[
        Sample { name: "default", settings: &[("arms", Literal::Count(30))] },
        Sample {
            name: "three-layers",
            settings: &[
                ("dim", Literal::Count(5)),
                ("layers", Literal::Count(3)),
                ("width", Literal::Count(20)),
                ("biases", Literal::Real(0.5)),
                ("arms", Literal::Count(21)),
                ("fresh", Literal::Flag(false)),
            ],
        },
    ],
    build: Build::Plain(|params, key| Ok(Box::new(Deep::new(params, key, key)?))),
};

/// A random ReLU network with several hidden layers on the unit sphere.
#[derive(Debug, Clone)]
pub struct Deep {
    network: DeepNet,
    arms: SphereArms,
    noise: Noise,
}

/// Layers of ReLUs of one width, and weights of their last outputs.
#[derive(Debug, Clone)]
struct DeepNet {
    width: usize,
    layers: Vec<Layer>,
    /// v.
    output: Vec<f64>,
}

#[derive(Debug, Clone)]
struct Layer {
    inputs: usize,
    /// A row for each unit.
    weights: Vec<f64>,
    biases: Vec<f64>,
}

impl Layer {
    fn random(inputs: usize, width: usize, variance: f64, biases: f64, stream: &mut Stream) -> Self {
        let weights = (0..inputs * width).map(|_| variance.sqrt() * normal(stream)).collect();
        let mut bias = || if biases > 0.0 { biases * (2.0 * uniform(stream) - 1.0) } else { 0.0 };
        Layer { inputs, weights, biases: (0..width).map(|_| bias()).collect() }
    }
}

impl DeepNet {
    fn random(dim: usize, layers: usize, width: usize, biases: f64, stream: &mut Stream) -> Self {
        let hidden = (0..layers)
            .map(|layer| match layer {
                // The variance 2/d for inputs of length √d is 2 for those of length 1.
                0 => Layer::random(dim, width, 2.0, biases, stream),
                _ => Layer::random(width, width, 2.0 / width as f64, biases, stream),
            })
            .collect();
        let output = (0..width).map(|_| normal(stream) / (width as f64).sqrt()).collect();
        DeepNet { width, layers: hidden, output }
    }

    /// f(x) of every arm of a block.
    #[inline(always)]
    fn block_value(&self, block: &[Lane]) -> Lane {
        let (mut current, mut next) = ([[0.0; LANES]; MAX_WIDTH], [[0.0; LANES]; MAX_WIDTH]);
        for (number, layer) in self.layers.iter().enumerate() {
            let inputs = if number == 0 { block } else { &current[..self.width] };
            let units = layer.weights.chunks_exact(layer.inputs).zip(&layer.biases);
            for ((weights, bias), out) in units.zip(&mut next) {
                let input = block_dot(weights, inputs);
                for lane in 0..LANES {
                    let z = input[lane] + bias;
                    out[lane] = if z > 0.0 { z } else { 0.0 };
                }
            }
            std::mem::swap(&mut current, &mut next);
        }
        block_dot(&self.output, &current[..self.width])
    }

    /// f(x) of every arm, appended to `out`.
    fn values(&self, rows: Rows<'_>, out: &mut Vec<f64>) {
        struct Kernel<'a>(&'a DeepNet, Rows<'a>, &'a mut Vec<f64>);
        impl NullaryFnOnce for Kernel<'_> {
            type Output = ();
            #[inline(always)]
            fn call(self) {
                let Kernel(net, rows, out) = self;
                let mut blocks = Blocks::new(rows);
                while let Some((count, block)) = blocks.next() {
                    out.extend_from_slice(&net.block_value(block)[..count]);
                }
            }
        }
        arch().dispatch(Kernel(self, rows, out));
    }
}

impl Deep {
    /// The network comes from the key `truth`, arms and noise from `key`.
    pub(super) fn new(params: &Params, truth: Key, key: Key) -> Result<Self> {
        let arms = SphereArms::read(params, key)?;
        if arms.is_sphere() {
            let allowed = "finite, for the best action of a deep network on the whole sphere cannot be certified";
            return Err(Error::out_of_range("actions", "sphere", allowed));
        }
        let (layers, width) = (params.size("layers")?, params.size("width")?);
        let mut stream = truth.purpose(Purpose::Truth).stream();
        let network = DeepNet::random(arms.dim(), layers, width, params.real("biases")?, &mut stream);
        Ok(Deep { network, arms, noise: Noise::read(params, key)? })
    }
}

impl Environment for Deep {
    fn space(&self) -> Space {
        self.arms.space()
    }

    fn round<'a>(&'a self, t: u64, memory: &'a mut RoundMemory) -> Result<Round<'a>> {
        let RoundMemory { numbers, means, .. } = memory;
        let offer = self.arms.draw(t, numbers);
        means.clear();
        if let Offer::Rows(rows) = offer {
            self.network.values(rows, means);
        }
        if self.noise.is_bernoulli() {
            let (offset, scale) = self.noise.means_of(-USUAL, USUAL);
            means.iter_mut().for_each(|mean| *mean = (offset + scale * *mean).clamp(0.0, 1.0));
        }
        Ok(Round { offer, means: Means::Each(means), noise: self.noise.draw(t) })
    }

    fn facts(&self) -> Vec<(&'static str, Value)> {
        vec![self.noise.fact()]
    }

    fn title(&self) -> Option<String> {
        let DeepNet { layers, width, .. } = &self.network;
        Some(format!("d = {}, {} hidden layers of {width}", self.arms.dim(), layers.len()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linalg::dot;
    use crate::params::Settings;

    fn made(settings: &Settings, seed: u64) -> Result<Deep> {
        Deep::new(&Params::resolve("deep", ENTRY.params, settings)?, Key::new(seed), Key::new(seed))
    }

    /// One arm, written out.
    fn literal(net: &DeepNet, x: &[f64]) -> f64 {
        let mut h = x.to_vec();
        for layer in &net.layers {
            let units = layer.weights.chunks_exact(layer.inputs).zip(&layer.biases);
            h = units.map(|(weights, bias)| (dot(weights, &h) + bias).max(0.0)).collect();
        }
        dot(&net.output, &h)
    }

    #[test]
    fn means_are_those_of_the_network() {
        let settings = Settings::new().with("layers", 3u64).with("width", 5u64).with("biases", 0.5);
        let deep = made(&settings.with("dim", 4u64).with("arms", 37u64), 1).unwrap();
        assert_eq!(deep.network.layers.iter().map(|layer| layer.inputs).collect::<Vec<_>>(), [4, 5, 5]);
        let mut memory = RoundMemory::default();
        let round = deep.round(3, &mut memory).unwrap();
        let (Offer::Rows(rows), Means::Each(means)) = (round.offer, round.means) else { unreachable!() };
        assert_eq!(means.len(), 37);
        assert!(rows.iter().zip(means).all(|(x, mean)| (literal(&deep.network, x) - mean).abs() < 1e-12));
    }

    /// The average of f² over networks is 1 in every shape, up to five standard errors of what is a heavy-tailed mean.
    #[test]
    fn rewards_are_of_order_one() {
        for (dim, layers, width) in [(2u64, 2u64, 8u64), (10, 3, 16)] {
            let settings = Settings::new().with("dim", dim).with("layers", layers).with("width", width);
            let settings = settings.with("arms", 4u64);
            let squares: Vec<f64> = (0..2000)
                .map(|seed| {
                    let mut memory = RoundMemory::default();
                    made(&settings, seed).unwrap().round(1, &mut memory).unwrap();
                    memory.means.iter().map(|mean| mean * mean).sum::<f64>() / 4.0
                })
                .collect();
            let mean = squares.iter().sum::<f64>() / 2000.0;
            let spread = (squares.iter().map(|s| (s - mean).powi(2)).sum::<f64>() / 2000.0).sqrt();
            assert!((mean - 1.0).abs() < 5.0 * spread / 2000f64.sqrt(), "{mean} ± {spread}");
        }
    }

    #[test]
    fn the_sphere_is_refused_in_a_sentence() {
        let said = made(&Settings::new().with("actions", "sphere"), 1).unwrap_err().to_string();
        assert!(said.starts_with("actions = sphere is out of range: finite, for the best action of a deep"), "{said}");
        assert!(made(&Settings::new().with("layers", 1u64), 1).is_err());
    }
}
