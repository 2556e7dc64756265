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
    let (mut buffer, mut means) = (Vec::new(), Vec::new());
    let mut scratch = Scratch::default();
    if let Some(truth) = world.network() {
        policy.reveal(truth);
    }
    for round in 1..=rounds {
        let arms = world.arms(round, &mut buffer);
        let (best, average) = best_and_average(world, arms, &mut means)?;
        let choice = policy.select(arms, key.round(round), &mut scratch)?;
        let mean = world.mean(&choice.action);
        let reward = mean + world.noise(round);
        policy.update(&choice.action, reward)?;
        each(Step { round, index: choice.index, regret: best - mean, chance: best - average, reward });
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
