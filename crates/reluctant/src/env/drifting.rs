//! `drifting`: another environment whose truth changes at given rounds.
//!
//! Up to the first change it is that environment, to the bit. From each change on, the hidden truth is another one,
//! drawn anew. What is on offer and the noise go on as if nothing had happened.

use super::contexts::{self, Contexts};
use super::linear_sphere::LinearSphere;
use super::noise;
use super::relu_sphere::ReluSphere;
use super::round_list::round_list;
use super::sphere_arms;
use super::{Build, Entry, Environment, Sample, find};
use crate::error::Result;
use crate::offer::Space;
use crate::params::{Initial, Kind, Literal, Param, Params, Settings, Value};
use crate::rng::Key;
use crate::round::{Round, RoundMemory};

/// What a parameter is that is not given.
const AS_ITS_OWN: Initial = Initial::Auto("that of the environment that changes");

/// The parameters that are handed on.
const HANDED_ON: [&str; 5] = ["dim", "neurons", "arms", "sigma", "noise"];

pub(super) const ENTRY: Entry = Entry {
    name: "drifting",
    summary: "another environment whose truth changes at given rounds",
    citation: "Garivier and Moulines (2011), On upper-confidence bound policies for switching bandit problems",
    params: &[
        Param::new(
            "of",
            Initial::word("relu-sphere"),
            Kind::Word(&["relu-sphere", "linear-sphere", "contexts"]),
            "the environment that changes",
        ),
        Param::new(
            "at",
            Initial::Required,
            Kind::Text("rising rounds, with commas between them"),
            "the rounds from which on the truth is another",
        ),
        Param { initial: AS_ITS_OWN, doc: "dimension of an action, or of a context", ..sphere_arms::DIM },
        Param { initial: AS_ITS_OWN, doc: "neurons of a network; a linear-sphere has none", ..contexts::NEURONS },
        Param { initial: AS_ITS_OWN, doc: "arms on offer in a round, or actions of contexts", ..sphere_arms::ARMS },
        Param { initial: AS_ITS_OWN, ..noise::SIGMA },
        Param { initial: AS_ITS_OWN, ..noise::NOISE },
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
        for name in HANDED_ON {
            if let Some(value) = params.get(name) {
                settings.set(if (of, name) == ("contexts", "arms") { "actions" } else { name }, value.clone());
            }
        }
        let own = Params::resolve(of, find(of)?.params, &settings)?;
        let with_truth = |truth: Key| -> Result<Box<dyn Environment>> {
            Ok(match of {
                "contexts" => Box::new(Contexts::new(&own, truth, key)?),
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
        for (of, count) in [("relu-sphere", "arms"), ("linear-sphere", "arms"), ("contexts", "actions")] {
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
    fn what_the_environment_does_not_have_is_refused() {
        let settings = Settings::new().with("of", "linear-sphere").with("at", "5").with("neurons", 3u64);
        let said = env::build("drifting", &settings, Key::new(1)).unwrap_err().to_string();
        assert!(said.starts_with("unknown parameter of linear-sphere 'neurons'"), "{said}");
        let said = env::build("drifting", &Settings::new(), Key::new(1)).unwrap_err().to_string();
        assert!(said.starts_with("at of drifting is missing"), "{said}");
    }
}
