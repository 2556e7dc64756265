//! `linear-sphere`: rewards θ*·x + noise with a random unit θ*, arms on the unit sphere. The world that OFUL is made for.

use super::noise::{self, Noise};
use super::sphere_arms::{self, SphereArms};
use super::{Entry, Environment, SphereMeans};
use crate::arms::Arms;
use crate::error::Result;
use crate::linalg::{dot, norm};
use crate::params::{Params, Value};
use crate::relu::ReluNet;
use crate::rng::{Key, Purpose, unit_vector};

pub(super) const ENTRY: Entry = Entry {
    name: "linear-sphere",
    summary: "a random linear function on the unit sphere",
    citation: "Abbasi-Yadkori, Pál and Szepesvári (2011), Improved algorithms for linear stochastic bandits",
    params: &[
        sphere_arms::DIM,
        sphere_arms::ACTIONS,
        sphere_arms::ARMS,
        sphere_arms::FRESH,
        noise::SIGMA,
        noise::NOISE,
    ],
    build: |params, key| Ok(Box::new(LinearSphere::new(params, key)?)),
};

/// A random linear function on the unit sphere.
#[derive(Debug, Clone)]
pub struct LinearSphere {
    theta: Vec<f64>,
    /// θ*·x = max(0, θ*·x) − max(0, −θ*·x).
    network: ReluNet,
    arms: SphereArms,
    noise: Noise,
}

impl LinearSphere {
    fn new(params: &Params, key: Key) -> Result<Self> {
        let arms = SphereArms::read(params, key)?;
        let mut theta = vec![0.0; arms.dim()];
        unit_vector(&mut key.purpose(Purpose::Truth).stream(), &mut theta);
        let pair = theta.iter().copied().chain(theta.iter().map(|x| -x)).collect();
        let network = ReluNet::with_signs(arms.dim(), pair, vec![1.0, -1.0])?;
        Ok(LinearSphere { theta, network, arms, noise: Noise::read(params, key)? })
    }
}

impl Environment for LinearSphere {
    fn dim(&self) -> usize {
        self.arms.dim()
    }

    fn arms<'a>(&self, round: u64, buffer: &'a mut Vec<f64>) -> Arms<'a> {
        self.arms.draw(round, buffer)
    }

    fn mean(&self, action: &[f64]) -> f64 {
        dot(&self.theta, action)
    }

    fn sphere_means(&self) -> Option<SphereMeans> {
        Some(SphereMeans { best: norm(&self.theta), average: 0.0 })
    }

    fn noise(&self, round: u64) -> f64 {
        self.noise.draw(round)
    }

    fn facts(&self) -> Vec<(&'static str, Value)> {
        vec![("sigma", Value::Real(self.noise.sigma()))]
    }

    fn network(&self) -> Option<&ReluNet> {
        Some(&self.network)
    }
}
