//! A policy of your own beside the built-in ones, on the same arms and the same noise, through the same conformance suite.
//!
//! `cargo run --release -p reluctant --example own_policy`

use reluctant::arms::{argmax, check_observation};
use reluctant::conformance::{CHECKS, Outcome, Subject, run};
use reluctant::{
    Arms, Choice, Ellipsoid, Error, Key, Policy, Purpose, Result, Rows, Score, Scratch, Settings, Snapshot,
};
use reluctant::{env, play, policy, rng};
use serde::{Deserialize, Serialize};

/// ε-greedy on a linear model with a constant: explores a tenth of the time.
#[derive(Debug, Serialize, Deserialize)]
struct Greedy {
    dim: usize,
    model: Ellipsoid,
}

impl Greedy {
    const EPSILON: f64 = 0.1;

    fn new(dim: usize) -> Self {
        Greedy { dim, model: Ellipsoid::ridge(dim + 1, 1.0) }
    }

    fn features(x: &[f64]) -> Vec<f64> {
        x.iter().copied().chain([1.0]).collect()
    }
}

impl Policy for Greedy {
    fn name(&self) -> &'static str {
        "greedy"
    }

    fn dim(&self) -> usize {
        self.dim
    }

    fn select<'a>(&self, arms: Arms<'a>, key: Key, scratch: &mut Scratch) -> Result<Choice<'a>> {
        let rows = arms.rows(self.name())?;
        self.score(rows, scratch)?;
        let mut stream = key.purpose(Purpose::Choice).stream();
        let best = argmax(scratch.scores.iter().map(Score::upper)).unwrap_or(0);
        let explore = rng::uniform(&mut stream) < Self::EPSILON;
        let index = if explore { rng::index(&mut stream, rows.len()) } else { best };
        let by_chance = Self::EPSILON / rows.len() as f64;
        let propensity = by_chance + if index == best { 1.0 - Self::EPSILON } else { 0.0 };
        Ok(Choice::row(rows, index, scratch.scores[index], propensity))
    }

    fn update(&mut self, action: &[f64], reward: f64) -> Result<()> {
        check_observation(self.dim, action, reward)?;
        self.model.update(&Self::features(action), reward);
        Ok(())
    }

    fn score(&self, rows: Rows<'_>, scratch: &mut Scratch) -> Result<()> {
        Arms::Finite(rows).expect_dim(self.dim)?;
        scratch.scores.clear();
        scratch.scores.extend(rows.iter().map(|x| Score { mean: self.model.mean(&Self::features(x)), width: 0.0 }));
        Ok(())
    }

    fn snapshot(&self) -> Result<Snapshot> {
        Snapshot::of("greedy", self)
    }
}

fn restore(snapshot: Snapshot) -> Result<Box<dyn Policy>> {
    let reason = |cause: serde_json::Error| Error::Snapshot { reason: cause.to_string() };
    Ok(Box::new(serde_json::from_value::<Greedy>(snapshot.state).map_err(reason)?))
}

fn main() -> Result<()> {
    let subject = Subject::new("greedy", |dim, _| Ok(Box::new(Greedy::new(dim))), restore);
    let failures = CHECKS.iter().filter(|check| run(&subject, check) != Outcome::Passed);
    let failures: Vec<_> = failures.map(|check| check.name).collect();
    println!("conformance: {} checks, failed: {failures:?}", CHECKS.len());

    println!("cumulative regret after 1,000 rounds, mean of 10 trials");
    for name in ["greedy", "oful", "ofu-relu"] {
        let mut total = 0.0;
        for trial in 0..10 {
            let key = Key::new(1).trial(trial);
            let world = env::build("relu-sphere", &Settings::new().with("arms", 200u64), key)?;
            let mut policy: Box<dyn Policy> = match name {
                "greedy" => Box::new(Greedy::new(2)),
                _ => policy::build(name, 2, &policy::tell(policy::find(name)?, &Settings::new(), &world.facts()), key)?,
            };
            play(world.as_ref(), policy.as_mut(), key, 1000, |step| total += step.regret / 10.0)?;
        }
        println!("  {name:9} {total:6.1}");
    }
    Ok(())
}
