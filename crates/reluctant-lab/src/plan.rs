//! What an experiment consists of: trials, each a pure function of its key and named by its content.

use std::sync::atomic::AtomicBool;

use reluctant::{Key, Policy, Settings, Value, env, play_together, policy};
use serde::{Deserialize, Serialize};

use crate::results::TrialCurve;
use crate::timed::Timed;

/// What a trial is for. Tuning trials never share a seed with reported ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Stage {
    /// Chooses among the candidates of a grid.
    Tuning,
    /// Counts.
    Reported,
}

/// Tuning trials live in the upper half of the trial numbers.
const TUNING: u64 = 1 << 63;

/// One (environment, policy, seed): everything its result depends on, and nothing else.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Trial {
    /// The environment's name in the registry.
    pub environment: String,
    /// Its settings, complete.
    pub environment_settings: Settings,
    /// The policy's name in the registry.
    pub policy: String,
    /// Its settings, with what the environment told.
    pub policy_settings: Settings,
    /// T.
    pub rounds: u64,
    /// The experiment's seed.
    pub seed: u64,
    /// What the trial is for.
    pub stage: Stage,
    /// The number of the trial within its stage, from 0.
    pub trial: u64,
}

impl Trial {
    /// The trial's name: a hash of its content.
    pub fn id(&self) -> String {
        // Serialising plain maps and numbers cannot fail.
        let content = serde_json::to_vec(self).unwrap_or_default();
        format!("{:032x}", xxhash_rust::xxh3::xxh3_128(&content))
    }

    /// The key of all of its randomness.
    pub fn key(&self) -> Key {
        let offset = if self.stage == Stage::Tuning { TUNING } else { 0 };
        Key::new(self.seed).trial(self.trial + offset)
    }

    /// Plays the trial.
    pub fn run(&self) -> reluctant::Result<TrialCurve> {
        self.run_until(&AtomicBool::new(false))
    }

    /// Plays the trial; once `stop` is set, it ends with [`reluctant::Error::Stopped`].
    pub fn run_until(&self, stop: &AtomicBool) -> reluctant::Result<TrialCurve> {
        self.run_with(stop, |dim, key| self.policy(dim, key))
    }

    /// Plays the trial's rounds with the policy that `make` makes instead of the one it names.
    pub fn run_with(
        &self,
        stop: &AtomicBool,
        make: impl Fn(usize, Key) -> reluctant::Result<Box<dyn Policy>>,
    ) -> reluctant::Result<TrialCurve> {
        let mut curves = together(&[self], stop, |_, dim, key| make(dim, key)).map_err(|(_, cause)| cause)?;
        // One trial, one curve.
        Ok(curves.remove(0))
    }

    /// The policy that the trial names.
    fn policy(&self, dim: usize, key: Key) -> reluctant::Result<Box<dyn Policy>> {
        policy::build(&self.policy, dim, &self.policy_settings, key)
    }

    /// Whether the two meet the same rounds, so that they can be played together.
    pub(crate) fn same_rounds(&self, other: &Trial) -> bool {
        (&self.environment, &self.environment_settings, self.rounds, self.seed, self.stage, self.trial)
            == (&other.environment, &other.environment_settings, other.rounds, other.seed, other.stage, other.trial)
    }
}

/// Plays trials that all meet the same rounds, whose arms and mean rewards are then computed once for all; each trial's result is what
/// it would be alone. An error comes with the number of the trial it stopped. No trials, no curves.
pub(crate) fn run_together(trials: &[&Trial], stop: &AtomicBool) -> Result<Vec<TrialCurve>, (usize, reluctant::Error)> {
    together(trials, stop, Trial::policy)
}

/// The same with the policies that `make` makes.
fn together(
    trials: &[&Trial],
    stop: &AtomicBool,
    make: impl Fn(&Trial, usize, Key) -> reluctant::Result<Box<dyn Policy>>,
) -> Result<Vec<TrialCurve>, (usize, reluctant::Error)> {
    let Some(first) = trials.first() else { return Ok(Vec::new()) };
    let start = std::time::Instant::now();
    let key = first.key();
    let world = env::build(&first.environment, &first.environment_settings, key).map_err(|cause| (0, cause))?;
    let mut policies = Vec::with_capacity(trials.len());
    for (i, trial) in trials.iter().enumerate() {
        let policy = make(trial, world.dim(), key).map_err(|cause| (i, cause))?;
        policies.push(Timed::new(policy, stop));
    }
    let mut players: Vec<&mut dyn Policy> = policies.iter_mut().map(|policy| policy as _).collect();
    let checkpoints = checkpoints(first.rounds);
    let mut curves = vec![(Vec::with_capacity(checkpoints.len()), 0.0, 0.0); trials.len()];
    play_together(world.as_ref(), &mut players, key, first.rounds, |i, step| {
        let (curve, regret, chance) = &mut curves[i];
        *regret += step.regret;
        *chance += step.chance;
        if checkpoints.get(curve.len()) == Some(&step.round) {
            curve.push(*regret);
        }
    })?;
    let in_policies: f64 = policies.iter().map(Timed::seconds).sum();
    let shared = (start.elapsed().as_secs_f64() - in_policies).max(0.0) / trials.len() as f64;
    let curve = |((regret, _, chance), (trial, policy)): ((Vec<f64>, f64, f64), (&&Trial, &Timed<'_>))| {
        let policy_seconds = policy.seconds();
        TrialCurve { trial: trial.trial, regret, chance, seconds: policy_seconds + shared, policy_seconds }
    };
    Ok(curves.into_iter().zip(trials.iter().zip(&policies)).map(curve).collect())
}

/// The facts that an environment tells policies, which do not depend on the seed.
pub(crate) fn facts(kind: &str, settings: &Settings) -> reluctant::Result<(usize, Vec<(String, Value)>)> {
    let world = env::build(kind, settings, Key::new(0))?;
    let facts = world.facts().into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
    Ok((world.dim(), facts))
}

/// At most this many rounds of a curve are kept.
const KEPT: u64 = 1000;

/// The rounds at which cumulative regret is kept: all up to 1,000, otherwise half of the places evenly spaced and half evenly
/// spaced on a log scale, so that both kinds of axes have a smooth curve. T/4, T/2 and T are always among them.
pub fn checkpoints(rounds: u64) -> Vec<u64> {
    if rounds <= KEPT {
        return (1..=rounds).collect();
    }
    let half = KEPT / 2;
    let even = (1..=half).map(|i| (u128::from(rounds) * u128::from(i) / u128::from(half)) as u64);
    let log = (0..half).map(|i| libm::pow(rounds as f64, i as f64 / half as f64).round() as u64);
    let mut all: Vec<u64> = even.chain(log).chain([rounds / 4, rounds / 2, rounds]).collect();
    all.sort_unstable();
    all.dedup();
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    fn trial(stage: Stage, number: u64) -> Trial {
        Trial {
            environment: "relu-sphere".to_owned(),
            environment_settings: Settings::new().with("arms", 20u64),
            policy: "oful".to_owned(),
            policy_settings: Settings::new(),
            rounds: 50,
            seed: 3,
            stage,
            trial: number,
        }
    }

    #[test]
    fn a_trial_is_a_function_of_its_content() {
        let (a, b) = (trial(Stage::Reported, 1), trial(Stage::Reported, 1));
        assert_eq!(a.id(), b.id());
        assert_eq!(a.run().unwrap().regret, b.run().unwrap().regret);
        for other in
            [trial(Stage::Reported, 2), trial(Stage::Tuning, 1), Trial { rounds: 51, ..trial(Stage::Reported, 1) }]
        {
            assert_ne!(a.id(), other.id());
        }
        assert_ne!(a.run().unwrap().regret, trial(Stage::Tuning, 1).run().unwrap().regret);
    }

    #[test]
    fn checkpoints_rise_and_hold_the_quarters() {
        for rounds in [1, 2, 7, 1000, 1001, 123_457, 10_000_000] {
            let points = checkpoints(rounds);
            assert!(points.is_sorted_by(|a, b| a < b));
            assert!(points[0] >= 1 && points.last() == Some(&rounds) && points.len() <= 1003);
            for wanted in [rounds / 4, rounds / 2] {
                assert!(wanted == 0 || points.contains(&wanted));
            }
        }
    }
}
