//! One trial: a policy meets an environment, round after round.

use crate::arms::Arms;
use crate::env::Environment;
use crate::error::{Error, Result};
use crate::policy::{Policy, Scratch};
use crate::rng::Key;

/// What happened in a round.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Step {
    /// The round t, from 1.
    pub round: u64,
    /// The row chosen, if the arms were finite.
    pub index: Option<usize>,
    /// r_t: the best arm's mean reward less the chosen one's.
    pub regret: f64,
    /// The regret that a uniformly random choice would expect.
    pub chance: f64,
    /// The reward seen.
    pub reward: f64,
}

/// Plays rounds 1 to `rounds` and hands each to `each`. `key` names the trial.
///
/// ```
/// use reluctant::{Key, Settings, env, play, policy};
/// let key = Key::new(1);
/// let world = env::build("relu-sphere", &Settings::new().with("arms", 50u64), key)?;
/// let mut policy = policy::build("oful", 2, &Settings::new(), key)?;
/// let mut regret = 0.0;
/// play(world.as_ref(), policy.as_mut(), key, 100, |step| regret += step.regret)?;
/// assert!(regret > 0.0);
/// # Ok::<(), reluctant::Error>(())
/// ```
pub fn play(
    world: &dyn Environment,
    policy: &mut dyn Policy,
    key: Key,
    rounds: u64,
    mut each: impl FnMut(Step),
) -> Result<()> {
    play_together(world, &mut [policy], key, rounds, |_, step| each(step)).map_err(|(_, error)| error)
}

/// Plays several policies on the same rounds, each as if it were alone, and hands each round of each to `each`, with the policy's
/// number. Arms and mean rewards are computed once for all of them. An error comes with the number of the policy it stopped.
pub fn play_together(
    world: &dyn Environment,
    policies: &mut [&mut dyn Policy],
    key: Key,
    rounds: u64,
    mut each: impl FnMut(usize, Step),
) -> std::result::Result<(), (usize, Error)> {
    let (mut buffer, mut means) = (Vec::new(), Vec::new());
    let mut scratch = Scratch::default();
    if let Some(truth) = world.network() {
        policies.iter_mut().for_each(|policy| policy.reveal(truth, world.offset()));
    }
    for round in 1..=rounds {
        let arms = world.arms(round, &mut buffer);
        let (best, average) = best_and_average(world, arms, &mut means).map_err(|error| (0, error))?;
        let noise = world.noise(round);
        for (i, policy) in policies.iter_mut().enumerate() {
            let choice = policy.select(arms, key.round(round), &mut scratch).map_err(|error| (i, error))?;
            let mean = world.mean(&choice.action);
            let reward = mean + noise;
            policy.update(&choice.action, reward).map_err(|error| (i, error))?;
            each(i, Step { round, index: choice.index, regret: best - mean, chance: best - average, reward });
        }
    }
    Ok(())
}

fn best_and_average(world: &dyn Environment, arms: Arms<'_>, means: &mut Vec<f64>) -> Result<(f64, f64)> {
    let rows = match arms {
        Arms::Finite(rows) => rows,
        Arms::Sphere { .. } => {
            let unknown = Error::NeedsFiniteArms { policy: "the regret of this environment" };
            return world.sphere_means().map(|means| (means.best, means.average)).ok_or(unknown);
        }
    };
    world.means(rows, means);
    let best = means.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    Ok((best, means.iter().sum::<f64>() / rows.len() as f64))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::params::Settings;
    use crate::{env, policy};

    #[test]
    fn policies_play_together_as_they_play_alone() {
        let key = Key::new(3);
        let world = env::build("relu-sphere", &Settings::new().with("arms", 40u64), key).unwrap();
        let build = |name: &str| {
            let settings = if name == "oful" { Settings::new() } else { Settings::new().with("neurons", 3u64) };
            policy::build(name, 2, &settings, key).unwrap()
        };
        let names = ["ofu-relu", "oful", "neural-ucb"];
        let mut alone: Vec<Vec<Step>> = Vec::new();
        for name in names {
            let mut steps = Vec::new();
            play(world.as_ref(), build(name).as_mut(), key, 60, |step| steps.push(step)).unwrap();
            alone.push(steps);
        }
        let mut policies = names.map(build);
        let mut policies: Vec<&mut dyn Policy> = policies.iter_mut().map(|policy| policy.as_mut() as _).collect();
        let mut together = vec![Vec::new(); names.len()];
        play_together(world.as_ref(), &mut policies, key, 60, |i, step| together[i].push(step)).unwrap();
        assert_eq!(alone, together);
    }

    #[test]
    fn an_error_names_the_policy_it_stopped() {
        let key = Key::new(3);
        let world = env::build("relu-sphere", &Settings::new().with("arms", 5u64), key).unwrap();
        let [mut good, mut bad] = [2, 3].map(|dim| policy::build("oful", dim, &Settings::new(), key).unwrap());
        let stopped = play_together(world.as_ref(), &mut [good.as_mut(), bad.as_mut()], key, 5, |_, _| {});
        assert_eq!(stopped.unwrap_err().0, 1);
    }
}
