//! `linear-sphere`: rewards θ*·x + noise with a random θ*, arms on the unit sphere. The world that OFUL is made for. With an offset it is
//! one that no network without constants explains.

use super::noise::{self, Noise};
use super::sphere_arms::{self, SphereArms};
use super::{Entry, Environment, SphereMeans};
use crate::arms::Arms;
use crate::error::Result;
use crate::linalg::{dot, norm};
use crate::params::{Initial, Kind, Param, Params, Value};
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
        Param::new("length", Initial::Real(1.0), Kind::POSITIVE, "the length of θ*"),
        Param::new("offset", Initial::Real(0.0), Kind::ANY, "added to every reward"),
        noise::SIGMA,
        noise::NOISE,
    ],
    build: |params, key| Ok(Box::new(LinearSphere::new(params, key)?)),
};

/// A random linear function on the unit sphere.
#[derive(Debug, Clone)]
pub struct LinearSphere {
    theta: Vec<f64>,
    offset: f64,
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
        let length = params.real("length")?;
        theta.iter_mut().for_each(|x| *x *= length);
        let offset = params.real("offset")?;
        let pair = theta.iter().copied().chain(theta.iter().map(|x| -x)).collect();
        let network = ReluNet::with_signs(arms.dim(), pair, vec![1.0, -1.0])?;
        Ok(LinearSphere { theta, offset, network, arms, noise: Noise::read(params, key)? })
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
        dot(&self.theta, action) + self.offset
    }

    fn sphere_means(&self) -> Option<SphereMeans> {
        Some(SphereMeans { best: norm(&self.theta) + self.offset, average: self.offset })
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

    fn offset(&self) -> f64 {
        self.offset
    }
}
