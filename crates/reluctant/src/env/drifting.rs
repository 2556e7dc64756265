//! `drifting`: another environment whose truth changes at given rounds.
//!
//! Up to the first change it is that environment, to the bit. From each change on, the hidden truth is another one,
//! drawn anew. What is on offer and the noise go on as if nothing had happened.

use super::contexts::{self, Contexts};
use super::deep::{self, Deep};
use super::linear_sphere::LinearSphere;
use super::noise;
use super::relu_sphere::{self, ReluSphere};
use super::round_list::round_list;
use super::shape;
use super::sphere_arms;
use super::{Build, Entry, Environment, Sample, find};
use crate::error::Result;
use crate::offer::Space;
use crate::params::{Initial, Kind, Literal, Param, Params, Settings, Value};
use crate::rng::Key;
use crate::round::{Round, RoundMemory};

/// A parameter that is handed on to the environment that changes; if it is not given, it is what it is there.
const fn handed_on(param: Param) -> Param {
    Param { initial: Initial::Auto("that of the environment that changes"), ..param }
}

/// Parameters of its own; all others are handed on.
const OWN: [&str; 2] = ["of", "at"];

pub(super) const ENTRY: Entry = Entry {
    name: "drifting",
    summary: "another environment whose truth changes at given rounds",
    citation: "Garivier and Moulines (2011), On upper-confidence bound policies for switching bandit problems",
    params: &[
        Param::new(
            "of",
            Initial::word("relu-sphere"),
            Kind::Word(&["relu-sphere", "linear-sphere", "deep", "contexts"]),
            "the environment that changes",
        ),
        Param::new(
            "at",
            Initial::Required,
            Kind::Text("rising rounds, with commas between them"),
            "the rounds from which on the truth is another",
        ),
        Param { doc: "dimension of an action, or of a context", ..handed_on(sphere_arms::DIM) },
        Param { doc: "neurons of a network with one hidden layer", ..handed_on(contexts::NEURONS) },
        handed_on(relu_sphere::SIGNS),
        handed_on(relu_sphere::NETWORK),
        handed_on(relu_sphere::IMBALANCE),
        handed_on(shape::LENGTHS),
        handed_on(shape::BIASES),
        handed_on(shape::ACTIVATION),
        handed_on(shape::SLOPE),
        handed_on(shape::KINKS),
        handed_on(shape::SLOPES),
        Param { doc: "hidden layers of a deep network", ..handed_on(deep::LAYERS) },
        Param { doc: "units of every hidden layer of a deep network", ..handed_on(deep::WIDTH) },
        Param { doc: "arms on offer in a round, or actions of contexts", ..handed_on(sphere_arms::ARMS) },
        handed_on(sphere_arms::FRESH),
        handed_on(noise::SIGMA),
        handed_on(noise::NOISE),
    ],
    samples: &[
        Sample { name: "relu-sphere", settings: &[("at", Literal::Word("50")), ("arms", Literal::Count(30))] },
        Sample {
            name: "linear-sphere",
            settings: &[
                ("of", Literal::Word("linear-sphere")),
                ("at", Literal::Word("20, 90")),
                ("arms", Literal::Count(10)),
            ],
        },
        Sample {
            name: "deep",
            settings: &[("of", Literal::Word("deep")), ("at", Literal::Word("30")), ("arms", Literal::Count(20))],
        },
        Sample { name: "contexts", settings: &[("of", Literal::Word("contexts")), ("at", Literal::Word("2, 3, 100"))] },
    ],
    build: Build::Plain(|params, key| Ok(Box::new(Drifting::new(params, key)?))),
};

/// Another environment whose truth changes at given rounds.
#[derive(Debug)]
pub struct Drifting {
    of: String,
    first: Box<dyn Environment>,
    /// The rounds of the changes, and the environment from each on.
    changes: Vec<(u64, Box<dyn Environment>)>,
}

impl Drifting {
    fn new(params: &Params, key: Key) -> Result<Self> {
        let of = params.word("of")?;
        let mut settings = Settings::new();
        for name in ENTRY.params.iter().map(|param| param.name).filter(|name| !OWN.contains(name)) {
            if let Some(value) = params.get(name) {
                settings.set(if (of, name) == ("contexts", "arms") { "actions" } else { name }, value.clone());
            }
        }
        let own = Params::resolve(of, find(of)?.params, &settings)?;
        let with_truth = |truth: Key| -> Result<Box<dyn Environment>> {
            Ok(match of {
                "contexts" => Box::new(Contexts::new(&own, truth, key)?),
                "deep" => Box::new(Deep::new(&own, truth, key)?),
                "linear-sphere" => Box::new(LinearSphere::new(&own, truth, key)?),
                _ => Box::new(ReluSphere::new(&own, truth, key)?),
            })
        };
        let mut changes = Vec::new();
        for (number, round) in round_list("at", params.word("at")?)?.into_iter().enumerate() {
            changes.push((round, with_truth(key.branch(&format!("change {}", number + 1)))?));
        }
        Ok(Drifting { of: of.to_owned(), first: with_truth(key)?, changes })
    }

    /// The environment of round t.
    fn at(&self, t: u64) -> &dyn Environment {
        let past = self.changes.partition_point(|(round, _)| *round <= t);
        past.checked_sub(1).map_or(&self.first, |last| &self.changes[last].1).as_ref()
    }
}

impl Environment for Drifting {
    fn space(&self) -> Space {
        self.first.space()
    }

    fn round<'a>(&'a self, t: u64, memory: &'a mut RoundMemory) -> Result<Round<'a>> {
        self.at(t).round(t, memory)
    }

    fn facts(&self) -> Vec<(&'static str, Value)> {
        self.first.facts()
    }

    fn title(&self) -> Option<String> {
        let rounds: Vec<String> = self.changes.iter().map(|(round, _)| round.to_string()).collect();
        Some(format!("{}, another from round {} on", self.of, rounds.join(", ")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::env;
    use crate::offer::Offer;
    use crate::round::{Means, Noise};

    /// Numbers on offer, means and noise of a round.
    fn seen(environment: &dyn Environment, t: u64) -> (Vec<f64>, Vec<f64>, Noise<'static>) {
        let mut memory = RoundMemory::default();
        let round = environment.round(t, &mut memory).unwrap();
        let numbers = match round.offer {
            Offer::Rows(rows) => rows.data().to_vec(),
            Offer::Context(context) => context.features().to_vec(),
            Offer::Sphere { .. } => Vec::new(),
        };
        let (Means::Each(means), Noise::Added(noise)) = (round.means, round.noise) else { unreachable!() };
        (numbers, means.to_vec(), Noise::Added(noise))
    }

    #[test]
    fn only_the_truth_changes_and_only_where_it_should() {
        let all = [("relu-sphere", "arms"), ("linear-sphere", "arms"), ("deep", "arms"), ("contexts", "actions")];
        for (of, count) in all {
            let key = Key::new(3).trial(2);
            let plain = env::build(of, &Settings::new().with("dim", 3u64).with(count, 6u64), key).unwrap();
            let settings = Settings::new().with("of", of).with("at", "5, 9").with("dim", 3u64).with("arms", 6u64);
            let drifting = env::build("drifting", &settings, key).unwrap();
            let mut differences = Vec::new();
            for t in 1..12 {
                let ((numbers, means, noise), mine) = (seen(plain.as_ref(), t), seen(drifting.as_ref(), t));
                assert_eq!((&numbers, noise), (&mine.0, mine.2), "{of} {t}");
                differences.push(means != mine.1);
            }
            assert_eq!(differences, [[false; 4].as_slice(), &[true; 7]].concat(), "{of}");
            let once = env::build("drifting", &settings.clone().with("at", "5"), key).unwrap();
            assert_eq!(seen(once.as_ref(), 8), seen(drifting.as_ref(), 8), "{of}");
            assert_ne!(seen(once.as_ref(), 9), seen(drifting.as_ref(), 9), "{of}");
            assert_eq!(drifting.space(), plain.space());
        }
    }

    #[test]
    fn whatever_is_given_is_handed_on() {
        let given = Settings::new().with("signs", "random").with("lengths", "0.5, 2").with("biases", 0.5);
        let given = given.with("activation", "leaky").with("slope", 0.4).with("fresh", false).with("noise", "student");
        let key = Key::new(5).trial(1);
        let plain = env::build("relu-sphere", &given, key).unwrap();
        let drifting = env::build("drifting", &given.with("at", "100"), key).unwrap();
        assert_eq!(seen(plain.as_ref(), 7), seen(drifting.as_ref(), 7));
        assert_eq!(plain.facts(), drifting.facts());
        let deep = Settings::new().with("layers", 3u64).with("width", 5u64).with("arms", 10u64);
        let plain = env::build("deep", &deep, key).unwrap();
        let drifting = env::build("drifting", &deep.with("of", "deep").with("at", "100"), key).unwrap();
        assert_eq!(seen(plain.as_ref(), 7), seen(drifting.as_ref(), 7));
    }

    #[test]
    fn what_the_environment_does_not_have_is_refused() {
        let settings = Settings::new().with("of", "linear-sphere").with("at", "5").with("neurons", 3u64);
        let said = env::build("drifting", &settings, Key::new(1)).unwrap_err().to_string();
        assert!(said.starts_with("unknown parameter of linear-sphere 'neurons'"), "{said}");
        let said = env::build("drifting", &Settings::new(), Key::new(1)).unwrap_err().to_string();
        assert!(said.starts_with("at of drifting is missing"), "{said}");
    }
}
