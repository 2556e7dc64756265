//! One trial: a policy meets an environment, round after round.

use crate::env::Environment;
use crate::error::{Error, Result};
use crate::policy::Policy;
use crate::rng::Key;
use crate::round::{Round, RoundMemory};
use crate::scratch::Scratch;

/// What happened in a round.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct Step {
    /// The round t, from 1.
    pub round: u64,
    /// The row chosen, or the place among the named actions; `None` on the sphere.
    pub index: Option<usize>,
    /// r_t: the best action's mean reward less the chosen one's.
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
/// let environment = env::build("relu-sphere", &Settings::new().with("arms", 50u64), key)?;
/// let mut policy = policy::build("oful", environment.space(), &Settings::new(), key)?;
/// let mut regret = 0.0;
/// play(environment.as_ref(), policy.as_mut(), key, 100, |step| regret += step.regret)?;
/// assert!(regret > 0.0);
/// # Ok::<(), reluctant::Error>(())
/// ```
pub fn play(
    environment: &dyn Environment,
    policy: &mut dyn Policy,
    key: Key,
    rounds: u64,
    mut each: impl FnMut(Step),
) -> Result<()> {
    play_together(environment, &mut [policy], key, rounds, |_, step| each(step)).map_err(|stopped| stopped.cause)
}

/// Why a game ended before its time.
#[derive(Debug, Clone, PartialEq)]
pub struct Stopped {
    /// The number of the policy that stopped it; `None` if the environment did.
    pub policy: Option<usize>,
    /// What happened.
    pub cause: Error,
}

/// Plays several policies on the same rounds, each as if it were alone, and hands each round of each to `each`, with
/// the policy's number. The environment is asked for each round once.
pub fn play_together(
    environment: &dyn Environment,
    policies: &mut [&mut dyn Policy],
    key: Key,
    rounds: u64,
    mut each: impl FnMut(usize, Step),
) -> std::result::Result<(), Stopped> {
    let (mut memory, mut scratch) = (RoundMemory::default(), Scratch::default());
    for t in 1..=rounds {
        let round = environment.round(t, &mut memory).map_err(|cause| Stopped { policy: None, cause })?;
        let against = round.best_and_average();
        for (i, policy) in policies.iter_mut().enumerate() {
            let step = play_round(&round, against, *policy, key.round(t), &mut scratch);
            each(i, step.map(|step| Step { round: t, ..step }).map_err(|cause| Stopped { policy: Some(i), cause })?);
        }
    }
    Ok(())
}

/// One policy chooses in a round and learns from it.
fn play_round(
    round: &Round<'_>,
    (best, average): (f64, f64),
    policy: &mut dyn Policy,
    key: Key,
    scratch: &mut Scratch,
) -> Result<Step> {
    let choice = policy.select_in(round, key, scratch)?;
    let mean = round.mean(&choice)?;
    let reward = round.reward(&choice, mean);
    policy.learn(choice.as_action(), reward)?;
    Ok(Step { round: 0, index: choice.index, regret: best - mean, chance: best - average, reward })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::params::Settings;
    use crate::{env, policy};

    #[test]
    fn policies_play_together_as_they_play_alone() {
        let key = Key::new(3);
        let environment = env::build("relu-sphere", &Settings::new().with("arms", 40u64), key).unwrap();
        let build = |name: &str| {
            let settings = if name == "oful" { Settings::new() } else { Settings::new().with("neurons", 3u64) };
            policy::build(name, 2, &settings, key).unwrap()
        };
        let names = ["ofu-relu", "oful", "neural-ucb"];
        let mut alone: Vec<Vec<Step>> = Vec::new();
        for name in names {
            let mut steps = Vec::new();
            play(environment.as_ref(), build(name).as_mut(), key, 60, |step| steps.push(step)).unwrap();
            alone.push(steps);
        }
        let mut policies = names.map(build);
        let mut policies: Vec<&mut dyn Policy> = policies.iter_mut().map(|policy| policy.as_mut() as _).collect();
        let mut together = vec![Vec::new(); names.len()];
        play_together(environment.as_ref(), &mut policies, key, 60, |i, step| together[i].push(step)).unwrap();
        assert_eq!(alone, together);
    }

    #[test]
    fn an_error_names_the_policy_it_stopped() {
        let key = Key::new(3);
        let environment = env::build("relu-sphere", &Settings::new().with("arms", 5u64), key).unwrap();
        let [mut good, mut bad] = [2, 3].map(|dim| policy::build("oful", dim, &Settings::new(), key).unwrap());
        let stopped = play_together(environment.as_ref(), &mut [good.as_mut(), bad.as_mut()], key, 5, |_, _| {});
        assert_eq!(stopped.unwrap_err().policy, Some(1));
    }
}
