//! `contexts`: a context of p numbers, uniform on the unit sphere and new every round, and K named actions a1, …, aK.
//!
//! Without features of the actions, action a has a network f_a of its own, and its mean reward is f_a(x). With
//! `action_features = q`, each action has a point b of the unit sphere in q dimensions, which is offered with it, and
//! there is one network f for all: the mean reward is f(x, b). A network is a sum of `neurons` ReLUs with random unit
//! weights, or linear with a random unit weight if `neurons` is 0.
//!
//! Bernoulli rewards need means between 0 and 1 ([`Noise::means_of`]). All values of a sum of k neurons lie in [−r, r]
//! with r = k, or √2·k with features of the actions, where (x, b) has length √2; a linear function counts as one
//! neuron.

use super::noise::{self, Noise};
use super::relu_sphere::{SIGNS, with_signs};
use super::round_list::round_list;
use super::sphere_arms::MOST_NUMBERS;
use super::{Build, Entry, Environment, Sample, UNIT_NEURONS};
use crate::error::{Error, Result};
use crate::linalg::dot;
use crate::offer::{Context, Name, Offer, Rows, Space};
use crate::params::{Initial, Kind, Literal, Param, Params, Value};
use crate::relu::{MAX_NEURONS, ReluNet};
use crate::rng::{Key, Purpose, Stream, index, uniform, unit_vector};
use crate::round::{Means, Round, RoundMemory};

pub(super) const NEURONS: Param = Param::new(
    "neurons",
    Initial::count(3),
    Kind::Count { min: 0, max: MAX_NEURONS as u64 },
    "neurons k of a network; 0: it is linear",
);

pub(super) const ENTRY: Entry = Entry {
    name: "contexts",
    summary: "named actions in a random context, with a ReLU network each or one for all",
    citation: "Li, Chu, Langford and Schapire (2010), A contextual-bandit approach to personalized news article \
               recommendation",
    params: &[
        Param::new("dim", Initial::count(5), Kind::Count { min: 2, max: 1000 }, "dimension p of a context"),
        Param::new("actions", Initial::count(5), Kind::Count { min: 1, max: 1000 }, "how many actions K there are"),
        NEURONS,
        SIGNS,
        Param::new(
            "action_features",
            Initial::count(0),
            Kind::Count { min: 0, max: 1000 },
            "features q of an action; 0: actions have none, and each has a network of its own",
        ),
        Param::new(
            "missing",
            Initial::real(0.0),
            Kind::Real { min: 0.0, max: 1.0, above: false, below: true },
            "the probability with which an action is not on offer in a round; one always is",
        ),
        Param::new(
            "arrivals",
            Initial::Auto("none: all are there from the start"),
            Kind::Text("rising rounds, with commas between them"),
            "the rounds from which on the last actions are there, one after the other",
        ),
        noise::SIGMA,
        noise::NOISE,
    ],
    samples: &[
        Sample { name: "default", settings: &[] },
        Sample {
            name: "linear-some-missing",
            settings: &[("neurons", Literal::Count(0)), ("missing", Literal::Real(0.7))],
        },
        Sample {
            name: "features-arrivals",
            settings: &[("action_features", Literal::Count(3)), ("arrivals", Literal::Word("40, 90"))],
        },
        Sample {
            name: "bernoulli",
            settings: &[("signs", Literal::Word("random")), ("noise", Literal::Word("bernoulli"))],
        },
    ],
    build: Build::Plain(|params, key| Ok(Box::new(Contexts::new(params, key, key)?))),
};

/// Named actions in a random context.
#[derive(Debug, Clone)]
pub struct Contexts {
    dim: usize,
    names: Vec<Name>,
    /// The features of the actions, a row each.
    action_features: Vec<f64>,
    action_dim: usize,
    /// One for each action, or one for all if actions have features.
    truths: Vec<Truth>,
    neurons: usize,
    /// Whether they are of unit length and added.
    unit_neurons: bool,
    /// The mean reward is `offset` + `scale`·f.
    offset: f64,
    scale: f64,
    missing: f64,
    /// The rounds from which on the last actions are there.
    arrivals: Vec<u64>,
    noise: Noise,
    key: Key,
}

/// f.
#[derive(Debug, Clone)]
enum Truth {
    Linear(Vec<f64>),
    Network(ReluNet),
}

impl Truth {
    fn random(dim: usize, neurons: usize, random_signs: bool, stream: &mut Stream) -> Result<Self> {
        if neurons == 0 {
            let mut weights = vec![0.0; dim];
            unit_vector(stream, &mut weights);
            return Ok(Truth::Linear(weights));
        }
        let network = ReluNet::random(dim, neurons, stream);
        Ok(Truth::Network(if random_signs { with_signs(network, stream)? } else { network }))
    }

    fn value(&self, x: &[f64]) -> f64 {
        match self {
            Truth::Linear(weights) => dot(weights, x),
            Truth::Network(network) => network.value(x),
        }
    }
}

impl Contexts {
    /// The truth is that of one key, everything else that of another.
    pub(super) fn new(params: &Params, truth: Key, rounds: Key) -> Result<Self> {
        let (dim, action_dim) = (params.size("dim")?, params.size("action_features")?);
        let (count, neurons) = (params.size("actions")?, params.size("neurons")?);
        let networks = if action_dim == 0 { count } else { 1 };
        let numbers = (networks * neurons.max(1) * (dim + action_dim) + count * action_dim) as u64;
        if numbers > MOST_NUMBERS {
            let allowed = format!("at most {MOST_NUMBERS} numbers, actions times neurons times dim");
            return Err(Error::out_of_range("actions", count, allowed));
        }
        let mut stream = truth.purpose(Purpose::Truth).stream();
        let random_signs = params.word("signs")? == "random";
        let truths = (0..networks).map(|_| Truth::random(dim + action_dim, neurons, random_signs, &mut stream));
        let noise = Noise::read(params, rounds)?;
        let longest = if action_dim == 0 { 1.0 } else { std::f64::consts::SQRT_2 };
        let most = longest * neurons.max(1) as f64;
        let (offset, scale) = noise.means_of(if neurons > 0 && !random_signs { 0.0 } else { -most }, most);
        // Rounds count from 1, so the stream of round 0 is free for what is drawn once.
        let key = rounds.purpose(Purpose::Arms);
        let (mut action_features, mut stream) = (vec![0.0; count * action_dim], key.round(0).stream());
        action_features.chunks_exact_mut(action_dim.max(1)).for_each(|row| unit_vector(&mut stream, row));
        let arrivals = params.text("arrivals").map_or(Ok(Vec::new()), |text| round_list("arrivals", text))?;
        if arrivals.len() >= count {
            let allowed = format!("fewer rounds than there are actions, {count}, so that one is there from the start");
            return Err(Error::out_of_range("arrivals", params.text("arrivals").unwrap_or_default(), allowed));
        }
        Ok(Contexts {
            dim,
            names: (1..=count).map(|a| Name::from(format!("a{a}"))).collect(),
            action_features,
            action_dim,
            truths: truths.collect::<Result<_>>()?,
            neurons,
            unit_neurons: neurons > 0 && !random_signs && !noise.is_bernoulli(),
            offset,
            scale,
            missing: params.real("missing")?,
            arrivals,
            noise,
            key,
        })
    }

    /// How many actions there are in round t: the first so many.
    fn present(&self, t: u64) -> usize {
        self.names.len() - self.arrivals.len() + self.arrivals.partition_point(|from| *from <= t)
    }

    fn features_of(&self, action: usize) -> &[f64] {
        &self.action_features[action * self.action_dim..][..self.action_dim]
    }

    /// The mean reward of an action; `joined` begins with the context and has room for the features of the action.
    fn mean(&self, action: usize, joined: &mut [f64]) -> f64 {
        joined[self.dim..].copy_from_slice(self.features_of(action));
        let truth = &self.truths[if self.action_dim == 0 { action } else { 0 }];
        let mean = self.offset + self.scale * truth.value(joined);
        // Rounding must not make a probability of something that is none.
        if self.noise.is_bernoulli() { mean.clamp(0.0, 1.0) } else { mean }
    }
}

impl Environment for Contexts {
    fn space(&self) -> Space {
        Space::Contexts { dim: self.dim, action_dim: self.action_dim }
    }

    fn round<'a>(&'a self, t: u64, memory: &'a mut RoundMemory) -> Result<Round<'a>> {
        let RoundMemory { numbers, means, names, action_features, .. } = memory;
        let mut stream = self.key.round(t).stream();
        numbers.resize(self.dim + self.action_dim, 0.0);
        unit_vector(&mut stream, &mut numbers[..self.dim]);
        means.clear();
        names.clear();
        action_features.clear();
        let mut offer = |action: usize| {
            names.push(self.names[action].clone());
            action_features.extend_from_slice(self.features_of(action));
            means.push(self.mean(action, numbers));
        };
        let (present, mut offered) = (self.present(t), 0);
        for action in 0..present {
            if self.missing == 0.0 || uniform(&mut stream) >= self.missing {
                offer(action);
                offered += 1;
            }
        }
        if offered == 0 {
            offer(index(&mut stream, present));
        }
        let mut context = Context::new(&numbers[..self.dim], names)?;
        if self.action_dim > 0 {
            context = context.with_action_features(Rows::trusted(self.action_dim, action_features))?;
        }
        Ok(Round { offer: Offer::Context(context), means: Means::Each(means), noise: self.noise.draw(t) })
    }

    fn facts(&self) -> Vec<(&'static str, Value)> {
        let neurons = |fact, known: bool| known.then_some((fact, Value::Count(self.neurons as u64)));
        let counts = [neurons("neurons", self.neurons > 0), neurons(UNIT_NEURONS, self.unit_neurons)];
        counts.into_iter().flatten().chain([self.noise.fact()]).collect()
    }

    fn title(&self) -> Option<String> {
        let features = if self.action_dim > 0 { format!(", q = {}", self.action_dim) } else { String::new() };
        Some(format!("p = {}{features}, K = {}, k = {}", self.dim, self.names.len(), self.neurons))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linalg::norm;
    use crate::params::Settings;

    fn made(settings: &Settings) -> Result<Contexts> {
        let params = Params::resolve("contexts", ENTRY.params, settings)?;
        Contexts::new(&params, Key::new(5), Key::new(5))
    }

    /// Context, names and means of a round.
    fn seen(environment: &Contexts, t: u64) -> (Vec<f64>, Vec<String>, Vec<f64>) {
        let mut memory = RoundMemory::default();
        let round = environment.round(t, &mut memory).unwrap();
        let (Offer::Context(context), Means::Each(means)) = (round.offer, round.means) else { unreachable!() };
        let names = context.names().iter().map(|name| name.to_string()).collect();
        (context.features().to_vec(), names, means.to_vec())
    }

    #[test]
    fn each_action_is_paid_by_its_own_network() {
        let environment = made(&Settings::new().with("dim", 4u64).with("actions", 3u64)).unwrap();
        let (x, names, means) = seen(&environment, 7);
        assert_eq!(names, ["a1", "a2", "a3"]);
        assert!((norm(&x) - 1.0).abs() < 1e-14);
        for (truth, mean) in environment.truths.iter().zip(&means) {
            let Truth::Network(network) = truth else { unreachable!() };
            let relu = |theta: &[f64]| dot(theta, &x).max(0.0);
            assert!((network.iter().map(relu).sum::<f64>() - mean).abs() < 1e-15);
        }
        assert!(means[0] != means[1] && means[1] != means[2]);
    }

    #[test]
    fn actions_with_features_share_a_network_on_context_and_features() {
        let settings = Settings::new().with("action_features", 3u64).with("actions", 4u64).with("missing", 0.5);
        let environment = made(&settings).unwrap();
        assert_eq!(environment.truths.len(), 1);
        let mut memory = RoundMemory::default();
        for t in 1..50 {
            let round = environment.round(t, &mut memory).unwrap();
            let (Offer::Context(context), Means::Each(means)) = (round.offer, round.means) else { unreachable!() };
            for (i, name) in context.names().iter().enumerate() {
                let action: usize = name[1..].parse().unwrap();
                assert_eq!(context.features_of(i), environment.features_of(action - 1));
                assert!((norm(context.features_of(i)) - 1.0).abs() < 1e-14);
                let joined = [context.features(), context.features_of(i)].concat();
                assert_eq!(means[i], environment.truths[0].value(&joined));
            }
        }
    }

    #[test]
    fn actions_are_missing_with_their_probability_and_one_never_is() {
        let environment = made(&Settings::new().with("actions", 4u64).with("missing", 0.6)).unwrap();
        let plain = made(&Settings::new().with("actions", 4u64)).unwrap();
        let rounds = 4000u32;
        let mut offered = 0;
        for t in 1..=u64::from(rounds) {
            let (x, names, means) = seen(&environment, t);
            assert!(!names.is_empty());
            offered += names.len();
            if t < 50 {
                let (all_x, all_names, all_means) = seen(&plain, t);
                assert_eq!(x, all_x);
                for (name, mean) in names.iter().zip(&means) {
                    let place = all_names.iter().position(|known| known == name).unwrap();
                    assert_eq!(*mean, all_means[place]);
                }
            }
        }
        // 4·0.4 on average, and one more where all four are missing; five standard errors.
        let (n, all_missing) = (f64::from(rounds), 0.6f64.powi(4));
        assert!((offered as f64 / n - 1.6 - all_missing).abs() < 5.0 * (4.0 * 0.24 / n).sqrt());
    }

    #[test]
    fn late_actions_arrive_in_their_round() {
        let environment = made(&Settings::new().with("actions", 4u64).with("arrivals", "10, 20")).unwrap();
        let names = |t| seen(&environment, t).1;
        assert_eq!((names(1).len(), names(9).len(), names(10).len(), names(19).len()), (2, 2, 3, 3));
        assert_eq!(names(20), ["a1", "a2", "a3", "a4"]);
        let said = made(&Settings::new().with("actions", 2u64).with("arrivals", "10, 20")).unwrap_err().to_string();
        assert!(
            said.starts_with("arrivals = 10, 20 is out of range: fewer rounds than there are actions, 2"),
            "{said}"
        );
    }

    #[test]
    fn bernoulli_means_are_probabilities() {
        for (signs, neurons, features) in [("ones", 3u64, 0u64), ("random", 2, 2), ("ones", 0, 0), ("ones", 1, 2)] {
            let settings = Settings::new().with("signs", signs).with("neurons", neurons).with("dim", 2u64);
            let settings = settings.with("action_features", features).with("noise", "bernoulli");
            let environment = made(&settings).unwrap();
            let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
            for t in 1..2000 {
                let (_, _, means) = seen(&environment, t);
                assert!(means.iter().all(|mean| (0.0..=1.0).contains(mean)));
                low = means.iter().copied().fold(low, f64::min);
                high = means.iter().copied().fold(high, f64::max);
            }
            assert!(high - low > 0.3, "{signs} {neurons} {features}: {low} {high}");
        }
    }
}
