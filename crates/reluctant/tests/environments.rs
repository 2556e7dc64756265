//! Every built-in environment × sample × check. A new environment is picked up from the registry; broken ones are
//! refused.

#![allow(clippy::unwrap_used)]

use std::sync::atomic::{AtomicU64, Ordering};

use reluctant::conformance::environments::{CHECKS, Make};
use reluctant::env::{BUILT_IN, Build, Entry, Environment, Sample};
use reluctant::params::{Initial, Kind, Param};
use reluctant::rng::uniform;
use reluctant::{Error, Key, Means, Noise, Offer, Purpose, Registry, Result, Round, RoundMemory, Settings, Space};

#[test]
fn every_environment_passes_every_check() {
    for entry in Registry::default().environments() {
        assert!(!entry.samples.is_empty(), "{} has no sample", entry.name);
        for sample in entry.samples {
            for check in CHECKS {
                let outcome = (check.run)(&|key| entry.build(&sample.settings(), key));
                assert_eq!(outcome, Ok(()), "{}/{}/{}: {}", entry.name, sample.name, check.name, check.why);
            }
        }
    }
    assert_eq!(Registry::default().environments().len(), BUILT_IN.len());
}

/// With Bernoulli rewards a mean is the probability of a 1, whatever the values of the truth are.
#[test]
fn bernoulli_means_are_probabilities() {
    let registry = Registry::default();
    let given = || Settings::new().with("noise", "bernoulli");
    for (kind, settings) in [
        ("relu-sphere", given().with("dim", 3u64).with("neurons", 5u64)),
        ("relu-sphere", given().with("signs", "random").with("lengths", "1, 4").with("biases", 0.5)),
        ("relu-sphere", given().with("activation", "absolute")),
        ("linear-sphere", given().with("length", 7.0)),
        ("linear-sphere", given().with("length", 1.0).with("offset", 9.0)),
        ("deep", given()),
        ("drifting", given().with("at", "3")),
    ] {
        let entry = registry.environments().iter().find(|entry| entry.name == kind).unwrap();
        let (environment, mut memory) = (entry.build(&settings, Key::new(4)).unwrap(), RoundMemory::default());
        let (mut least, mut most) = (f64::MAX, f64::MIN);
        for t in 1..=5 {
            let round = environment.round(t, &mut memory).unwrap();
            let (Means::Each(means), Noise::Coin(_)) = (round.means, round.noise) else { panic!("{kind}") };
            (least, most) = means.iter().fold((least, most), |(low, high), &mean| (low.min(mean), high.max(mean)));
        }
        assert!((0.0..=1.0).contains(&least) && (least..=1.0).contains(&most), "{kind} {settings:?}: {least} {most}");
        assert!(most - least > 0.05, "{kind} {settings:?}: {least} {most}");
    }
}

/// What is wrong with a broken environment.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Fault {
    None,
    MeanIsNan,
    WrongSpace,
    DependsOnHistory,
    IgnoresTheKey,
    NeverEnds,
    EndsWithAnotherError,
}

/// Two arms and ten rounds.
#[derive(Debug)]
struct Broken {
    fault: Fault,
    trial: f64,
    asked: AtomicU64,
}

impl Environment for Broken {
    fn space(&self) -> Space {
        Space::Vectors { dim: if self.fault == Fault::WrongSpace { 3 } else { 2 } }
    }

    fn rounds(&self) -> Option<u64> {
        Some(10)
    }

    fn round<'a>(&'a self, t: u64, memory: &'a mut RoundMemory) -> Result<Round<'a>> {
        match self.fault {
            Fault::NeverEnds => {}
            Fault::EndsWithAnotherError if t > 10 => return Err(Error::NoArms),
            _ if t > 10 => return Err(Error::Exhausted { environment: "broken", rounds: 10, asked: t }),
            _ => {}
        }
        let asked = self.asked.fetch_add(1, Ordering::Relaxed) as f64;
        let drift = if self.fault == Fault::DependsOnHistory { asked } else { 0.0 };
        memory.numbers.clear();
        memory.numbers.extend([1.0, self.trial + t as f64, drift, 1.0]);
        memory.means.clear();
        memory.means.extend([0.0, if self.fault == Fault::MeanIsNan && t == 9 { f64::NAN } else { 1.0 }]);
        let offer = Offer::finite(2, &memory.numbers)?;
        Ok(Round { offer, means: Means::Each(&memory.means), noise: Noise::Added(0.0) })
    }
}

#[test]
fn each_check_refuses_what_it_is_for() {
    let cases: [(Fault, &[&str]); 7] = [
        (Fault::None, &[]),
        (Fault::MeanIsNan, &["rounds_are_sound"]),
        (Fault::WrongSpace, &["rounds_are_sound"]),
        (Fault::DependsOnHistory, &["same_round_same_bits", "threads_see_the_same_bits"]),
        (Fault::IgnoresTheKey, &["another_trial_other_rounds"]),
        (Fault::NeverEnds, &["ends_where_it_says"]),
        (Fault::EndsWithAnotherError, &["ends_where_it_says"]),
    ];
    for (fault, expected) in cases {
        let make: Make<'_> = &move |key| {
            let trial = if fault == Fault::IgnoresTheKey { 0.0 } else { uniform(&mut key.stream()) };
            Ok(Box::new(Broken { fault, trial, asked: AtomicU64::new(0) }))
        };
        let failed: Vec<&str> =
            CHECKS.iter().filter(|check| (check.run)(make).is_err()).map(|check| check.name).collect();
        assert_eq!(failed, expected, "{fault:?}");
    }
}

/// The example of CONTRIBUTING.md.
const COINS: Entry = Entry {
    name: "coins",
    summary: "two coins, of which one is better",
    citation: "Robbins (1952), Some aspects of the sequential design of experiments",
    params: &[Param::new("gap", Initial::real(0.1), Kind::PROBABILITY, "by how much the second coin is better")],
    samples: &[Sample { name: "default", settings: &[] }],
    build: Build::Plain(|params, key| Ok(Box::new(Coins { means: [0.0, params.real("gap")?], key }))),
};

#[derive(Debug)]
struct Coins {
    means: [f64; 2],
    key: Key,
}

impl Environment for Coins {
    fn space(&self) -> Space {
        Space::Vectors { dim: 2 }
    }

    fn round<'a>(&'a self, t: u64, _: &'a mut RoundMemory) -> Result<Round<'a>> {
        let mut stream = self.key.purpose(Purpose::Noise).round(t).stream();
        Ok(Round {
            offer: Offer::finite(2, &[1.0, 0.0, 0.0, 1.0])?,
            means: Means::Each(&self.means),
            noise: Noise::Coin(uniform(&mut stream)),
        })
    }
}

#[test]
fn one_of_ones_own_is_added_and_checked_in_a_line_each() {
    let registry = Registry::default().with_environment(COINS);
    let entry = registry.environment("coins").unwrap();
    for check in CHECKS {
        assert_eq!((check.run)(&|key| entry.build(&entry.samples[0].settings(), key)), Ok(()), "{}", check.name);
    }
}
