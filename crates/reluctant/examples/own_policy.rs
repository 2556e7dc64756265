//! A policy of your own beside the built-in ones: registered in one line, it goes through the same conformance suite,
//! is saved and restored like them, and plays on the same arms and the same noise. A program that hands the registry to
//! `reluctant_cli::run` has the whole command with it: experiments in TOML can then name it, tune it and report it.
//!
//! `cargo run --release -p reluctant --example own_policy`

use reluctant::action::check_observation;
use reluctant::choice::argmax;
use reluctant::conformance::{CHECKS, Outcome, Subject, run};
use reluctant::params::{Initial, Kind, Param};
use reluctant::policy::{Build, Contexts, Entry, Restore, Sample, tell};
use reluctant::{
    Action, Choice, Ellipsoid, Error, Key, Offer, Policy, Purpose, Registry, Result, Score, Scratch, Settings, Snapshot,
};
use reluctant::{play, rng};
use serde::{Deserialize, Serialize};

/// The row of the registry.
const ENTRY: Entry = Entry {
    name: "greedy",
    summary: "takes the best arm of a linear model, and a random one now and then",
    citation: "Sutton and Barto (2018), Reinforcement learning, Section 2.2",
    params: &[Param::new("epsilon", Initial::real(0.1), Kind::PROBABILITY, "share of random choices")],
    sphere: false,
    contexts: Contexts::ModelEach,
    samples: &[Sample { name: "default", environment: "linear-sphere", settings: &[] }],
    build: Build::Plain(|dim, params, _| Ok(Box::new(Greedy::new(dim, params.real("epsilon")?)))),
    restore: Restore::Plain(|state| {
        let reason = |cause: serde_json::Error| Error::Snapshot { reason: cause.to_string() };
        Ok(Box::new(serde_json::from_value::<Greedy>(state).map_err(reason)?))
    }),
};

/// ε-greedy on a linear model with a constant.
#[derive(Debug, Serialize, Deserialize)]
struct Greedy {
    dim: usize,
    epsilon: f64,
    model: Ellipsoid,
}

impl Greedy {
    fn new(dim: usize, epsilon: f64) -> Self {
        Greedy { dim, epsilon, model: Ellipsoid::ridge(dim + 1, 1.0) }
    }

    fn features(x: &[f64]) -> Vec<f64> {
        x.iter().copied().chain([1.0]).collect()
    }
}

impl Policy for Greedy {
    fn name(&self) -> &'static str {
        ENTRY.name
    }

    fn dim(&self) -> usize {
        self.dim
    }

    fn select<'a>(&self, offer: Offer<'a>, key: Key, scratch: &mut Scratch) -> Result<Choice<'a>> {
        self.score(offer, scratch)?;
        let rows = offer.rows(ENTRY.name)?;
        let mut stream = key.purpose(Purpose::Choice).stream();
        let best = argmax(scratch.scores().iter().map(Score::upper)).unwrap_or(0);
        let explore = rng::uniform(&mut stream) < self.epsilon;
        let index = if explore { rng::index(&mut stream, rows.len()) } else { best };
        let by_chance = self.epsilon / rows.len() as f64;
        let propensity = by_chance + if index == best { 1.0 - self.epsilon } else { 0.0 };
        Ok(Choice::row(rows, index, scratch.scores()[index]).with_propensity(propensity))
    }

    fn learn(&mut self, action: Action<'_>, reward: f64) -> Result<()> {
        let x = check_observation(ENTRY.name, self.dim, action, reward)?;
        self.model.update(&Self::features(x), reward);
        Ok(())
    }

    fn score(&self, offer: Offer<'_>, scratch: &mut Scratch) -> Result<()> {
        offer.expect_dim(self.dim)?;
        let (rows, scores) = (offer.rows(ENTRY.name)?, scratch.scores_mut());
        scores.clear();
        scores.extend(rows.iter().map(|x| Score { mean: self.model.mean(&Self::features(x)), width: 0.0 }));
        Ok(())
    }

    fn snapshot(&self) -> Result<Snapshot> {
        Snapshot::of(ENTRY.name, self)
    }
}

fn main() -> Result<()> {
    let registry = Registry::default().with_policy(ENTRY);

    let subject = Subject::registered(&registry, &ENTRY, &ENTRY.samples[0]);
    let failures = CHECKS.iter().filter(|check| run(&subject, check) != Outcome::Passed);
    let failures: Vec<_> = failures.map(|check| check.name).collect();
    println!("conformance: {} checks, failed: {failures:?}", CHECKS.len());

    println!("cumulative regret after 1,000 rounds, mean of 10 trials");
    for name in ["greedy", "oful", "ofu-relu"] {
        let mut total = 0.0;
        for trial in 0..10 {
            let key = Key::new(1).trial(trial);
            let settings = Settings::new().with("arms", 200u64);
            let environment = registry.build_environment("relu-sphere", &settings, key)?;
            let told = tell(registry.policy(name)?, &Settings::new(), &environment.facts());
            let mut policy = registry.build_policy(name, environment.space(), &told, key)?;
            play(environment.as_ref(), policy.as_mut(), key, 1000, |step| total += step.regret / 10.0)?;
        }
        println!("  {name:9} {total:6.1}");
    }
    Ok(())
}
