//! `relu-sphere`: the paper's environment. Rewards f_Θ*(x) + noise with random unit neurons, arms on the unit sphere.

use super::noise::{self, Noise};
use super::sphere_arms::{self, SphereArms};
use super::{Build, Entry, Environment, Sample};
use crate::error::{Error, Result};
use crate::geometry::{CELL_BUDGET, best_action, most_cells};
use crate::kernels::network_values;
use crate::linalg::{norm, normalise};
use crate::offer::{Offer, Space};
use crate::params::{Initial, Kind, Literal, Param, Params, Value};
use crate::relu::{MAX_NEURONS, ReluNet};
use crate::rng::{Key, Purpose, Stream, sign, unit_vector};
use crate::round::{Means, Round, RoundMemory, SphereReward};
use crate::theory::sphere_area;

pub(super) const SIGNS: Param = Param::new(
    "signs",
    Initial::word("ones"),
    Kind::Word(&["ones", "random"]),
    "second layer: all +1, as in the paper, or ±1 with equal probability",
);

pub(super) const ENTRY: Entry = Entry {
    name: "relu-sphere",
    summary: "a random one-layer ReLU network on the unit sphere",
    citation: "Xu, Bastani, Goel and Bastani (2024), Stochastic bandits with ReLU neural networks, Section 5",
    params: &[
        sphere_arms::DIM,
        Param::new(
            "neurons",
            Initial::count(3),
            Kind::Count { min: 1, max: MAX_NEURONS as u64 },
            "neurons k of the network",
        ),
        SIGNS,
        Param::new(
            "network",
            Initial::word("random"),
            Kind::Word(&["random", "balanced"]),
            "random: independent neurons; balanced: neurons that nearly cancel in pairs, so that hardly any linear \
             part is left",
        ),
        Param::new(
            "imbalance",
            Initial::real(0.1),
            Kind::Real { min: 0.0, max: 10.0, above: false, below: false },
            "how far the second neuron of a balanced pair is from the opposite of the first",
        ),
        sphere_arms::ACTIONS,
        sphere_arms::ARMS,
        sphere_arms::FRESH,
        noise::SIGMA,
        noise::NOISE,
    ],
    samples: &[
        Sample { name: "default", settings: &[("arms", Literal::Count(30))] },
        Sample {
            name: "fixed-arms",
            settings: &[
                ("arms", Literal::Count(20)),
                ("fresh", Literal::Flag(false)),
                ("noise", Literal::Word("bernoulli")),
            ],
        },
        Sample { name: "sphere", settings: &[("dim", Literal::Count(3)), ("actions", Literal::Word("sphere"))] },
        Sample {
            name: "balanced",
            settings: &[
                ("dim", Literal::Count(5)),
                ("neurons", Literal::Count(4)),
                ("network", Literal::Word("balanced")),
                ("signs", Literal::Word("random")),
                ("arms", Literal::Count(30)),
                ("noise", Literal::Word("student")),
            ],
        },
    ],
    build: Build::Plain(|params, key| Ok(Box::new(ReluSphere::new(params, key, key)?))),
};

/// A random one-layer ReLU network on the unit sphere.
#[derive(Debug, Clone)]
pub struct ReluSphere {
    network: ReluNet,
    arms: SphereArms,
    noise: Noise,
    /// Known if the whole sphere is on offer.
    sphere: Option<Best>,
}

/// What regret on the whole sphere is measured against.
#[derive(Debug, Clone)]
struct Best {
    action: Vec<f64>,
    /// f*.
    value: f64,
    /// The mean reward of a uniformly random action.
    average: f64,
}

impl ReluSphere {
    /// The truth is that of one key, everything else that of another.
    pub(super) fn new(params: &Params, truth: Key, rounds: Key) -> Result<Self> {
        let arms = SphereArms::read(params, rounds)?;
        let mut stream = truth.purpose(Purpose::Truth).stream();
        let mut network = ReluNet::random(arms.dim(), params.size("neurons")?, &mut stream);
        if params.word("network")? == "balanced" {
            network = balanced(network, params.real("imbalance")?, &mut stream)?;
        }
        if params.word("signs")? == "random" {
            network = with_signs(network, &mut stream)?;
        }
        let sphere = if arms.is_sphere() { Some(sphere_means(&network)?) } else { None };
        Ok(ReluSphere { network, arms, noise: Noise::read(params, rounds)?, sphere })
    }
}

/// The network with a random second layer.
pub(super) fn with_signs(network: ReluNet, stream: &mut Stream) -> Result<ReluNet> {
    let signs = network.signs().iter().map(|_| sign(stream)).collect();
    ReluNet::with_signs(network.dim(), network.theta().to_vec(), signs)
}

/// The network with every second neuron replaced by one near the opposite of the neuron before it: −θ +
/// imbalance·u with a random unit u, scaled to unit length. Since max(0, t) = (t + |t|)/2, the linear part of a
/// network is ½Σθᵢ, and nothing but the imbalance is left of it. With an odd number of neurons it would be left of
/// the last one, so that is refused.
fn balanced(network: ReluNet, imbalance: f64, stream: &mut Stream) -> Result<ReluNet> {
    let (dim, neurons) = (network.dim(), network.neurons());
    if !neurons.is_multiple_of(2) {
        return Err(Error::out_of_range("neurons", neurons, "an even number, for a balanced network is made of pairs"));
    }
    let mut theta = network.theta().to_vec();
    let mut off = vec![0.0; dim];
    for pair in theta.chunks_exact_mut(2 * dim) {
        let (first, second) = pair.split_at_mut(dim);
        unit_vector(stream, &mut off);
        second.iter_mut().zip(first.iter().zip(&off)).for_each(|(b, (a, u))| *b = imbalance * u - a);
        // With an imbalance of exactly 1 the two could cancel.
        if !normalise(second) {
            second.copy_from_slice(&off);
        }
    }
    ReluNet::new(dim, theta)
}

/// The exact f*, and the average: E max(0, θ·x) = ‖θ‖·|S^(d−2)| / ((d−1)·|S^(d−1)|) for uniform x.
fn sphere_means(network: &ReluNet) -> Result<Best> {
    let dim = network.dim();
    let best = best_action(network, CELL_BUDGET)?;
    if !best.exact {
        let most = most_cells(dim, network.neurons());
        let allowed = format!(
            "no more than {CELL_BUDGET} cells on the sphere, so that regret is measured against the exact best action; \
             d = {dim} gives up to {most}"
        );
        return Err(Error::out_of_range("neurons", network.neurons(), allowed));
    }
    let half = sphere_area(dim - 2) / ((dim - 1) as f64 * sphere_area(dim - 1));
    let average = network.iter().zip(network.signs()).map(|(theta, sign)| sign * norm(theta) * half).sum();
    Ok(Best { action: best.x_star, value: best.f_star, average })
}

impl Environment for ReluSphere {
    fn space(&self) -> Space {
        self.arms.space()
    }

    fn round<'a>(&'a self, t: u64, memory: &'a mut RoundMemory) -> Result<Round<'a>> {
        let RoundMemory { numbers, means, .. } = memory;
        let offer = self.arms.draw(t, numbers);
        let means = match offer {
            Offer::Rows(rows) => {
                means.clear();
                network_values(&self.network, rows, means);
                Means::Each(means)
            }
            _ => Means::Sphere(self),
        };
        Ok(Round { offer, means, noise: self.noise.draw(t) })
    }

    fn facts(&self) -> Vec<(&'static str, Value)> {
        vec![("neurons", Value::Count(self.network.neurons() as u64)), ("sigma", Value::Real(self.noise.sigma()))]
    }
}

impl SphereReward for ReluSphere {
    fn mean(&self, x: &[f64]) -> f64 {
        self.network.value(x)
    }

    fn best_action(&self) -> &[f64] {
        self.sphere.as_ref().map_or(&[], |best| &best.action)
    }

    fn best(&self) -> f64 {
        self.sphere.as_ref().map_or(f64::NAN, |best| best.value)
    }

    fn average(&self) -> f64 {
        self.sphere.as_ref().map_or(f64::NAN, |best| best.average)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::params::Settings;

    fn balanced(neurons: u64, imbalance: f64) -> Result<ReluSphere> {
        let settings = Settings::new().with("dim", 5u64).with("neurons", neurons);
        let settings = settings.with("network", "balanced").with("imbalance", imbalance);
        ReluSphere::new(&Params::resolve("relu-sphere", ENTRY.params, &settings)?, Key::new(4), Key::new(4))
    }

    #[test]
    fn balanced_neurons_are_unit_and_nearly_cancel_in_pairs() {
        for imbalance in [0.0, 0.1, 0.5] {
            let network = balanced(6, imbalance).unwrap().network;
            for pair in network.theta().chunks_exact(10) {
                let sum: Vec<f64> = (0..5).map(|i| pair[i] + pair[5 + i]).collect();
                assert!((norm(&pair[5..]) - 1.0).abs() < 1e-14);
                // Scaling to unit length moves a neuron by at most as much again.
                assert!(norm(&sum) <= 2.0 * imbalance + 1e-15, "{}", norm(&sum));
            }
        }
        let said = balanced(5, 0.1).unwrap_err().to_string();
        assert_eq!(said, "neurons = 5 is out of range: an even number, for a balanced network is made of pairs");
    }
}
