//! `linear-sphere`: rewards θ*·x + noise with a random θ*, arms on the unit sphere. The environment that OFUL is
//! made for. With an offset it is one that no network without constants explains.

use super::noise::{self, Noise};
use super::sphere_arms::{self, SphereArms};
use super::{Build, Entry, Environment, Sample};
use crate::error::Result;
use crate::linalg::{dot, norm, normalise};
use crate::offer::{Offer, Space};
use crate::params::{Initial, Kind, Literal, Param, Params, Value};
use crate::rng::{Key, Purpose, unit_vector};
use crate::round::{Means, Round, RoundMemory, SphereReward};

pub(super) const ENTRY: Entry = Entry {
    name: "linear-sphere",
    summary: "a random linear function on the unit sphere",
    citation: "Abbasi-Yadkori, Pál and Szepesvári (2011), Improved algorithms for linear stochastic bandits",
    params: &[
        sphere_arms::DIM,
        sphere_arms::ACTIONS,
        sphere_arms::ARMS,
        sphere_arms::FRESH,
        Param::new("length", Initial::real(1.0), Kind::POSITIVE, "the length of θ*"),
        Param::new("offset", Initial::real(0.0), Kind::ANY, "added to every reward"),
        noise::SIGMA,
        noise::NOISE,
    ],
    samples: &[
        Sample { name: "default", settings: &[("arms", Literal::Count(30))] },
        Sample { name: "sphere", settings: &[("actions", Literal::Word("sphere")), ("offset", Literal::Real(-0.5))] },
    ],
    build: Build::Plain(|params, key| Ok(Box::new(LinearSphere::new(params, key, key)?))),
};

/// A random linear function on the unit sphere.
#[derive(Debug, Clone)]
pub struct LinearSphere {
    theta: Vec<f64>,
    /// θ* scaled to unit length: the best action on the sphere.
    direction: Vec<f64>,
    offset: f64,
    arms: SphereArms,
    noise: Noise,
}

impl LinearSphere {
    /// The truth is that of one key, everything else that of another.
    pub(super) fn new(params: &Params, truth: Key, rounds: Key) -> Result<Self> {
        let arms = SphereArms::read(params, rounds)?;
        let mut theta = vec![0.0; arms.dim()];
        unit_vector(&mut truth.purpose(Purpose::Truth).stream(), &mut theta);
        let mut direction = theta.clone();
        normalise(&mut direction);
        let (length, offset) = (params.real("length")?, params.real("offset")?);
        let noise = Noise::read(params, rounds)?;
        let (start, scale) = noise.means_of(offset - length, offset + length);
        theta.iter_mut().for_each(|x| *x *= scale * length);
        Ok(LinearSphere { theta, direction, offset: start + scale * offset, arms, noise })
    }
}

impl Environment for LinearSphere {
    fn space(&self) -> Space {
        self.arms.space()
    }

    fn round<'a>(&'a self, t: u64, memory: &'a mut RoundMemory) -> Result<Round<'a>> {
        let RoundMemory { numbers, means, .. } = memory;
        let offer = self.arms.draw(t, numbers);
        let means = match offer {
            Offer::Rows(rows) => {
                means.clear();
                means.extend(rows.iter().map(|x| self.mean(x)));
                Means::Each(means)
            }
            _ => Means::Sphere(self),
        };
        Ok(Round { offer, means, noise: self.noise.draw(t) })
    }

    fn facts(&self) -> Vec<(&'static str, Value)> {
        vec![self.noise.fact()]
    }
}

impl SphereReward for LinearSphere {
    fn mean(&self, x: &[f64]) -> f64 {
        dot(&self.theta, x) + self.offset
    }

    fn best_action(&self) -> &[f64] {
        &self.direction
    }

    fn best(&self) -> f64 {
        norm(&self.theta) + self.offset
    }

    fn average(&self) -> f64 {
        self.offset
    }
}
