//! `relu-sphere`: the paper's environment. Rewards f_Θ*(x) + noise with random unit neurons, arms on the unit sphere.
//!
//! Beyond the paper, the second layer may be ±1, neurons may have any lengths and biases, and the activation may be any
//! piecewise-linear one: f(x) = Σᵢ sᵢ·g(θᵢ·x + bᵢ). Directions of neurons, arms and noise are the same in all of these
//! worlds.

use super::noise::{self, Noise};
use super::shape::{self, Shape};
use super::sphere_arms::{self, SphereArms};
use super::{Build, Entry, Environment, Sample, UNIT_NEURONS};
use crate::error::{Error, Result};
use crate::geometry::{CELL_BUDGET, average, best_piecewise_action};
use crate::kernels::piecewise_values;
use crate::linalg::normalise;
use crate::offer::{Offer, Space};
use crate::params::{Initial, Kind, Literal, Param, Params, Value};
use crate::piecewise::PiecewiseNet;
use crate::relu::{MAX_NEURONS, ReluNet};
use crate::rng::{Key, Purpose, Stream, sign, unit_vector};
use crate::round::{Means, Round, RoundMemory, SphereReward};

pub(super) const SIGNS: Param = Param::new(
    "signs",
    Initial::word("ones"),
    Kind::Word(&["ones", "random"]),
    "second layer: all +1, as in the paper, or ±1 with equal probability",
);

pub(super) const NETWORK: Param = Param::new(
    "network",
    Initial::word("random"),
    Kind::Word(&["random", "balanced"]),
    "random: independent neurons; balanced: neurons that nearly cancel in pairs, so that hardly any linear part is \
     left",
);

pub(super) const IMBALANCE: Param = Param::new(
    "imbalance",
    Initial::real(0.1),
    Kind::Real { min: 0.0, max: 10.0, above: false, below: false },
    "how far the second neuron of a balanced pair is from the opposite of the first",
);

pub(super) const ENTRY: Entry = Entry {
    name: "relu-sphere",
    summary: "a random one-layer network with ReLUs, or other activations with kinks, on the unit sphere",
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
        NETWORK,
        IMBALANCE,
        shape::LENGTHS,
        shape::BIASES,
        shape::ACTIVATION,
        shape::SLOPE,
        shape::KINKS,
        shape::SLOPES,
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
        Sample {
            name: "any-lengths-and-biases",
            settings: &[
                ("dim", Literal::Count(3)),
                ("signs", Literal::Word("random")),
                ("lengths", Literal::Word("normal")),
                ("biases", Literal::Real(0.5)),
                ("arms", Literal::Count(30)),
            ],
        },
        Sample {
            name: "leaky-sphere",
            settings: &[
                ("dim", Literal::Count(4)),
                ("activation", Literal::Word("leaky")),
                ("slope", Literal::Real(0.5)),
                ("actions", Literal::Word("sphere")),
            ],
        },
        Sample {
            name: "hard-tanh-sphere",
            settings: &[
                ("dim", Literal::Count(3)),
                ("lengths", Literal::Word("1, 3")),
                ("activation", Literal::Word("hard-tanh")),
                ("actions", Literal::Word("sphere")),
            ],
        },
        Sample {
            name: "kinks",
            settings: &[
                ("activation", Literal::Word("kinks")),
                ("kinks", Literal::Word("-0.5, 0, 0.5")),
                ("slopes", Literal::Word("0, 1, 0.2, -1")),
                ("arms", Literal::Count(30)),
            ],
        },
    ],
    build: Build::Plain(|params, key| Ok(Box::new(ReluSphere::new(params, key, key)?))),
};

/// A random one-layer network on the unit sphere.
#[derive(Debug, Clone)]
pub struct ReluSphere {
    network: PiecewiseNet,
    shape: Shape,
    /// Whether neurons are as in the paper: of unit length and added, in every trial.
    unit_neurons: bool,
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
        let shape = Shape::read(params)?;
        let (network, noise) = (shape.apply(network, &mut stream)?, Noise::read(params, rounds)?);
        let unit_neurons = params.word("signs")? == "ones" && shape.is_plain() && !noise.is_bernoulli();
        let (least, most) = network.range_on_sphere();
        let (offset, scale) = noise.means_of(least, most);
        let network = network.scaled(offset, scale);
        let sphere = if arms.is_sphere() { Some(sphere_means(&network)?) } else { None };
        Ok(ReluSphere { network, shape, unit_neurons, arms, noise, sphere })
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

/// The exact f*, and the average.
fn sphere_means(network: &PiecewiseNet) -> Result<Best> {
    let dim = network.dim();
    let best = best_piecewise_action(network, CELL_BUDGET)?;
    if !best.exact {
        let most = best.most_cells;
        let allowed = format!(
            "no more than {CELL_BUDGET} cells on the sphere, so that regret is measured against the exact best action; \
             d = {dim} gives up to {most}"
        );
        return Err(Error::out_of_range("neurons", network.hinges().neurons(), allowed));
    }
    // Where the best action is certified, there is a closed form.
    let average = average(network).unwrap_or(f64::NAN);
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
                piecewise_values(&self.network, rows, means);
                Means::Each(means)
            }
            _ => Means::Sphere(self),
        };
        Ok(Round { offer, means, noise: self.noise.draw(t) })
    }

    fn facts(&self) -> Vec<(&'static str, Value)> {
        // A neuron of the family is a kink; a neuron of hard tanh has two.
        let neurons = Value::Count(self.network.hinges().neurons() as u64);
        let unit = self.unit_neurons.then(|| (UNIT_NEURONS, neurons.clone()));
        let facts = [("neurons", neurons), self.noise.fact()].into_iter();
        facts.chain(unit).chain(self.shape.fact()).collect()
    }

    fn title(&self) -> Option<String> {
        let shape = self.shape.title()?;
        Some(format!("d = {}, k = {}, {shape}", self.arms.dim(), self.shape.neurons))
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
    use crate::linalg::{dot, norm};
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
            for pair in network.hinges().theta().chunks_exact(10) {
                let sum: Vec<f64> = (0..5).map(|i| pair[i] + pair[5 + i]).collect();
                assert!((norm(&pair[5..]) - 1.0).abs() < 1e-14);
                // Scaling to unit length moves a neuron by at most as much again.
                assert!(norm(&sum) <= 2.0 * imbalance + 1e-15, "{}", norm(&sum));
            }
        }
        let said = balanced(5, 0.1).unwrap_err().to_string();
        assert_eq!(said, "neurons = 5 is out of range: an even number, for a balanced network is made of pairs");
    }
    fn made(settings: &Settings) -> Result<ReluSphere> {
        ReluSphere::new(&Params::resolve("relu-sphere", ENTRY.params, settings)?, Key::new(4), Key::new(4))
    }

    fn said(settings: &Settings) -> String {
        made(settings).unwrap_err().to_string()
    }

    /// Nothing but what is said changes: directions, signs, and, if all is as in the paper, every bit.
    #[test]
    fn worlds_share_their_neurons() {
        let plain = Settings::new().with("dim", 3u64).with("neurons", 4u64).with("signs", "random");
        let network = |settings: &Settings| made(settings).unwrap().network;
        let paper = network(&plain);
        let (reference, dim) = (paper.hinges().clone(), 3);
        assert_eq!(paper, PiecewiseNet::from(reference.clone()));
        let long = network(&plain.clone().with("lengths", "0.5, 2").with("biases", 0.25));
        for (i, theta) in long.hinges().iter().enumerate() {
            let length = norm(theta);
            assert!((0.5..2.0).contains(&length) && long.biases()[i].abs() <= 0.25 && long.biases()[i] != 0.0);
            assert!((dot(theta, reference.neuron(i)) - length).abs() < 1e-14);
        }
        assert_eq!(long.hinges().signs(), reference.signs());
        let leaky = network(&plain.clone().with("activation", "leaky").with("slope", 0.5));
        for (theta, unit) in leaky.hinges().theta().iter().zip(reference.theta()) {
            assert_eq!(2.0 * theta, *unit);
        }
        let mut x = vec![0.0; dim];
        let mut stream = Key::new(1).stream();
        for _ in 0..100 {
            unit_vector(&mut stream, &mut x);
            let literal: f64 = reference
                .iter()
                .zip(reference.signs())
                .map(|(theta, sign)| sign * dot(theta, &x) * if dot(theta, &x) > 0.0 { 1.0 } else { 0.5 })
                .sum();
            assert!((leaky.value(&x) - literal).abs() < 1e-14);
        }
    }

    #[test]
    fn normal_lengths_have_their_mean_square() {
        let settings = Settings::new().with("dim", 5u64).with("neurons", 64u64).with("lengths", "normal");
        let network = made(&settings).unwrap().network;
        let mean = network.hinges().iter().map(|theta| dot(theta, theta)).sum::<f64>() / 64.0;
        // χ² with 5 degrees of freedom has standard deviation √10.
        assert!((mean - 5.0).abs() < 4.0 * (10f64 / 64.0).sqrt(), "{mean}");
    }

    #[test]
    fn each_mistake_has_its_sentence() {
        let plain = Settings::new();
        let leaky = |slope: f64| plain.clone().with("activation", "leaky").with("slope", slope);
        assert_eq!(said(&leaky(1.0)), "slope = 1 is out of range: a number at least 0 and less than 1");
        assert!(said(&leaky(-0.5)).starts_with("slope = -0.5 is out of range"));
        let kinks = |kinks: &str, slopes: &str| {
            said(&plain.clone().with("activation", "kinks").with("kinks", kinks).with("slopes", slopes))
        };
        assert_eq!(kinks("0, -1", "0, 1, 2"), "kinks = 0, -1 is out of range: increasing numbers");
        assert!(kinks("0", "1, 1").starts_with("slopes = 1, 1 is out of range: slopes that differ"));
        assert!(kinks("0, x", "1").starts_with("kinks = 0, x is out of range: numbers with commas between them"));
        assert!(kinks("", "1").starts_with("kinks = \"\" is out of range: "));
        assert_eq!(
            kinks("1, 1.5", "0, 1, 0"),
            "kinks = 1, 1.5 is out of range: at least one between -1 and 1, which the inputs of neurons do not leave \
             here"
        );
        let said_kinks = said(&plain.clone().with("activation", "kinks"));
        assert!(said_kinks.starts_with("kinks is missing: increasing numbers"), "{said_kinks}");
        for wrong in ["long", "2, 1", "0, 1", "-1, 2", "1"] {
            let said = said(&plain.clone().with("lengths", wrong));
            assert!(said.starts_with(&format!("lengths = {wrong} is out of range: unit, normal, or")), "{said}");
        }
        let sphere = plain.clone().with("dim", 4u64).with("actions", "sphere");
        assert!(said(&sphere.clone().with("biases", 0.5)).starts_with("dim = 4 is out of range: 2 or 3 for the whole"));
        assert!(
            said(&sphere.with("activation", "hard-tanh").with("lengths", "normal")).starts_with("dim = 4 is out of")
        );
        let straight = said(&plain.clone().with("activation", "hard-tanh"));
        assert!(
            straight.starts_with("activation = hard-tanh is out of range: one with a kink between -1 and 1, which")
        );
        let many = plain.with("neurons", 40u64).with("activation", "hard-tanh").with("lengths", "normal");
        assert!(said(&many).starts_with("neurons = 40 is out of range: at most 64 kinks"));
    }

    #[test]
    fn what_would_have_no_effect_is_refused_unless_it_is_the_default() {
        let said = |settings: &Settings| ENTRY.build(settings, Key::new(1)).map(|_| ()).unwrap_err().to_string();
        let no_effect = "has no effect beside the other settings; it means:";
        let slope = Settings::new().with("slope", 0.5);
        assert_eq!(said(&slope), format!("slope = 0.5 {no_effect} slope of a leaky activation for negative inputs"));
        let kinks = Settings::new().with("activation", "absolute").with("kinks", "0, 1");
        assert!(said(&kinks).starts_with(&format!("kinks = 0, 1 {no_effect} the inputs at which")));
        let imbalance = Settings::new().with("imbalance", 1u64);
        assert!(said(&imbalance).starts_with(&format!("imbalance = 1 {no_effect} how far the second neuron")));
        for fine in [slope.with("activation", "leaky"), Settings::new().with("slope", 0.2).with("kinks", "auto")] {
            assert!(ENTRY.build(&fine, Key::new(1)).is_ok(), "{fine:?}");
        }
    }

    #[test]
    fn policies_that_ask_for_the_paper_s_neurons_are_told_of_those_alone() {
        let told = |settings: &Settings| made(settings).unwrap().facts().iter().any(|(fact, _)| *fact == UNIT_NEURONS);
        assert!(told(&Settings::new()) && told(&Settings::new().with("network", "balanced").with("neurons", 4u64)));
        let others = [("signs", "random"), ("lengths", "normal"), ("activation", "absolute"), ("noise", "bernoulli")];
        assert!(others.iter().all(|(name, value)| !told(&Settings::new().with(name, *value))));
        assert!(!told(&Settings::new().with("biases", 0.1)));
    }

    #[test]
    fn titles_say_what_is_not_as_in_the_paper() {
        assert_eq!(made(&Settings::new().with("signs", "random")).unwrap().title(), None);
        let settings = Settings::new().with("lengths", "normal").with("biases", 0.5).with("activation", "leaky");
        let title = made(&settings).unwrap().title().unwrap();
        assert_eq!(title, "d = 2, k = 3, leaky 0.2, lengths normal, biases up to 0.5");
    }
}
