//! `relu-sphere`: the paper's world. Rewards f_Θ*(x) + noise with random unit neurons, arms on the unit sphere.

use super::noise::{self, Noise};
use super::sphere_arms::{self, SphereArms};
use super::{Entry, Environment};
use crate::arms::{Arms, Rows};
use crate::error::Result;
use crate::kernels::network_values;
use crate::params::{Initial, Kind, Param, Params, Value};
use crate::relu::{MAX_NEURONS, ReluNet};
use crate::rng::{Key, Purpose, sign};

pub(super) const ENTRY: Entry = Entry {
    name: "relu-sphere",
    summary: "a random one-layer ReLU network on the unit sphere",
    citation: "Xu, Bastani, Goel and Bastani (2024), Stochastic bandits with ReLU neural networks, Section 5",
    params: &[
        sphere_arms::DIM,
        Param::new(
            "neurons",
            Initial::Count(3),
            Kind::Count { min: 1, max: MAX_NEURONS as u64 },
            "neurons k of the network",
        ),
        Param::new(
            "signs",
            Initial::Word("ones"),
            Kind::Word(&["ones", "random"]),
            "second layer: all +1, as in the paper, or ±1 with equal probability",
        ),
        sphere_arms::ARMS,
        sphere_arms::FRESH,
        noise::SIGMA,
        noise::NOISE,
    ],
    build: |params, key| Ok(Box::new(ReluSphere::new(params, key)?)),
};

/// A random one-layer ReLU network on the unit sphere.
#[derive(Debug, Clone)]
pub struct ReluSphere {
    network: ReluNet,
    arms: SphereArms,
    noise: Noise,
}

impl ReluSphere {
    fn new(params: &Params, key: Key) -> Result<Self> {
        let arms = SphereArms::read(params, key)?;
        let mut stream = key.purpose(Purpose::Truth).stream();
        let mut network = ReluNet::random(arms.dim(), params.size("neurons")?, &mut stream);
        if params.word("signs")? == "random" {
            let signs = network.signs().iter().map(|_| sign(&mut stream)).collect();
            network = ReluNet::with_signs(arms.dim(), network.theta().to_vec(), signs)?;
        }
        Ok(ReluSphere { network, arms, noise: Noise::read(params, key)? })
    }
}

impl Environment for ReluSphere {
    fn dim(&self) -> usize {
        self.arms.dim()
    }

    fn arms<'a>(&self, round: u64, buffer: &'a mut Vec<f64>) -> Arms<'a> {
        self.arms.draw(round, buffer)
    }

    fn mean(&self, action: &[f64]) -> f64 {
        self.network.value(action)
    }

    fn means(&self, rows: Rows<'_>, out: &mut Vec<f64>) {
        out.clear();
        network_values(&self.network, rows, out);
    }

    fn noise(&self, round: u64) -> f64 {
        self.noise.draw(round)
    }

    fn facts(&self) -> Vec<(&'static str, Value)> {
        vec![("neurons", Value::Count(self.network.neurons() as u64)), ("sigma", Value::Real(self.noise.sigma()))]
    }

    fn network(&self) -> Option<&ReluNet> {
        Some(&self.network)
    }
}
