//! Checks of how a policy learns.

use super::game::{Game, KEY, Played, finite_scores, saved};
use super::{Subject, require, said};
use crate::play::play;
use crate::rng::{Key, Purpose, shuffle};
use crate::scratch::Scratch;

/// How many sets of arms two policies are compared on.
const QUESTIONS: u64 = 5;

/// Two policies of the same key, side by side. The second works in memory full of rubbish,
/// which must mean nothing to it.
pub(super) fn same_key_same_history(subject: &Subject) -> Result<(), String> {
    let (mut game, mut policy) = Game::start(subject)?;
    let (mut other_game, mut other_policy) = Game::start(subject)?;
    for round in 1..=subject.rounds {
        other_game.scratch = Scratch::rubbish();
        let (view, other_view) = (game.view(policy.as_ref(), round)?, other_game.view(other_policy.as_ref(), round)?);
        require(view == other_view, || format!("before round {round} one says {view:?}, the other {other_view:?}"))?;
        other_game.scratch = Scratch::rubbish();
        let (one, other) = (game.play(policy.as_mut())?, other_game.play(other_policy.as_mut())?);
        require(one.action == other.action, || format!("round {round}: {:?} and {:?}", one.action, other.action))?;
    }
    Ok(())
}

/// A new policy that is only told what was done, and never asked to choose, ends where the one that played ends.
pub(super) fn replay_equals_live(subject: &Subject) -> Result<(), String> {
    let (mut game, mut live) = Game::start(subject)?;
    let mut replica = game.another(subject)?;
    for _ in 0..subject.rounds {
        let Played { action, reward } = game.play(live.as_mut())?;
        said("learn", replica.learn(action.as_action(), reward))?;
    }
    for question in 0..QUESTIONS {
        let (view, other) = (game.view(live.as_ref(), question)?, game.view(replica.as_ref(), question)?);
        require(view == other, || format!("live it says {view:?}, after a replay {other:?}"))?;
    }
    Ok(())
}

/// Between any two rounds, selecting with other keys among other arms changes neither what is saved, nor what is said,
/// nor what is learnt afterwards.
pub(super) fn select_does_not_learn(subject: &Subject) -> Result<(), String> {
    let (mut game, mut calm) = Game::start(subject)?;
    let mut asked = game.another(subject)?;
    for round in 1..=subject.rounds {
        let before = (game.view(asked.as_ref(), round)?, saved(asked.as_ref())?);
        for i in 1..=6 {
            let question = game.question(QUESTIONS + 10 * round + i, 1 + 4 * i as usize)?;
            let key = Key::new(round).trial(i);
            said("select", asked.select_in(&question.as_round()?, key, &mut game.scratch).map(|_| ()))?;
        }
        let after = (game.view(asked.as_ref(), round)?, saved(asked.as_ref())?);
        require(before.0 == after.0, || format!("selecting changed {:?} to {:?}", before.0, after.0))?;
        require(before.1 == after.1, || format!("selecting changed the state {} to {}", before.1, after.1))?;
        let Played { action, reward } = game.play(calm.as_mut())?;
        said("learn", asked.learn(action.as_action(), reward))?;
        let (view, other) = (game.view(calm.as_ref(), round)?, game.view(asked.as_ref(), round)?);
        // Choices are compared when all is played: a draw that is not the key's own is another check's matter.
        let same = if round < subject.rounds { view.learnt() == other.learnt() } else { view == other };
        require(same, || format!("after round {round} it says {view:?}, and {other:?} if it was asked more often"))?;
    }
    Ok(())
}

/// Three waves of choices, each rewarded only when it is over, in a random order.
pub(super) fn out_of_order_rewards_accepted(subject: &Subject) -> Result<(), String> {
    let (mut game, mut policy) = Game::start(subject)?;
    for wave in 0..3 {
        let mut late = Vec::new();
        for _ in 0..subject.rounds.div_ceil(3) {
            late.push(game.choose(policy.as_ref())?);
        }
        shuffle(&mut Key::new(wave).purpose(Purpose::Shuffle).stream(), &mut late);
        for Played { action, reward } in &late {
            said("learning late", policy.learn(action.as_action(), *reward))?;
        }
        game.view(policy.as_ref(), wave)?;
    }
    Ok(())
}

/// Numbers that are not finite or too large, and actions of another dimension: refused at any time, and the state
/// stays.
pub(super) fn bad_observations_refused(subject: &Subject) -> Result<(), String> {
    let (mut game, mut policy) = Game::start(subject)?;
    let action = game.action(0)?;
    let numbers = &action.numbers;
    let spoiled = |value: f64| action.with(numbers[1..].iter().copied().chain([value]).collect());
    let longer = action.with(numbers.iter().copied().chain([0.5]).collect());
    let mut bad = vec![(longer, 1.0), (action.with(numbers[1..].to_vec()), 1.0), (action.with(Vec::new()), 1.0)];
    for value in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 1e200, -1e200] {
        bad.push((action.clone(), value));
        bad.push((spoiled(value), 1.0));
    }
    for round in 0..=subject.rounds {
        let before = saved(policy.as_ref())?;
        for (action, reward) in &bad {
            let refused = policy.learn(action.as_action(), *reward).is_err();
            require(refused, || format!("action {action:?} with reward {reward} was accepted"))?;
        }
        let after = saved(policy.as_ref())?;
        require(before == after, || format!("what was refused changed the state {before} to {after}"))?;
        if round < subject.rounds {
            game.play(policy.as_mut())?;
        }
    }
    Ok(())
}

/// Histories of actions and rewards of any size that is allowed, alone and among usual ones. A policy may refuse what
/// it cannot learn from, if that leaves no trace; what it says stays finite.
pub(super) fn extreme_numbers_stay_finite(subject: &Subject) -> Result<(), String> {
    for (action, reward) in [(1e-90, 1.0), (1e-90, 1e50), (1.0, 1e99), (1e50, 1.0), (1e99, 1e99)] {
        for every in [1, 3] {
            let text = |seen| format!("actions of size {action:e}, rewards of size {reward:e}: {seen}");
            extreme_numbers(subject, action, reward, every).map_err(text)?;
        }
    }
    Ok(())
}

/// Every so many rounds, an action and a reward of these sizes. What is refused must not be learned: those rounds are
/// played once more, with the states before and after. To save the state of every round would take longer than the rest
/// of the suite.
fn extreme_numbers(subject: &Subject, action_size: f64, reward_size: f64, every: u64) -> Result<(), String> {
    let extreme = Extreme { action_size, reward_size, every };
    let refused = extreme.play(subject, &[])?;
    if !refused.is_empty() {
        extreme.play(subject, &refused)?;
    }
    Ok(())
}

struct Extreme {
    action_size: f64,
    reward_size: f64,
    every: u64,
}

impl Extreme {
    /// The rounds whose observation was refused. In those of `watched` that must leave the state as it was.
    fn play(&self, subject: &Subject, watched: &[u64]) -> Result<Vec<u64>, String> {
        let (mut game, mut policy) = Game::start(subject)?;
        let mut refused = Vec::new();
        for round in 1..=subject.rounds {
            let Played { mut action, mut reward } = game.choose(policy.as_ref())?;
            if round % self.every == 0 {
                action.numbers.iter_mut().for_each(|x| *x *= self.action_size);
                reward = if round % 2 == 0 { self.reward_size } else { -0.5 * self.reward_size };
            }
            let before = watched.contains(&round).then(|| saved(policy.as_ref())).transpose()?;
            if let Err(error) = policy.learn(action.as_action(), reward) {
                refused.push(round);
                if let Some(before) = before {
                    let after = saved(policy.as_ref())?;
                    require(before == after, || format!("refused ({error}), but the state {before} became {after}"))?;
                }
            }
            finite_scores(policy.as_ref(), action.alone().as_round()?.offer, &mut game.scratch)?;
            game.view(policy.as_ref(), round)?;
        }
        Ok(refused)
    }
}

/// Trials and, in units of a history's length, rounds that are played for regret.
const TRIALS: u64 = 5;
const LENGTH: u64 = 3;

/// Over a few trials in its own environment, at most half of the regret that chance expects.
pub(super) fn beats_uniform(subject: &Subject) -> Result<(), String> {
    let (mut regret, mut chance) = (0.0, 0.0);
    for trial in 0..TRIALS {
        let key = KEY.trial(trial);
        let environment = subject.make_environment(key)?;
        let mut policy = subject.make(environment.as_ref(), key)?;
        let each = |step: crate::play::Step| {
            regret += step.regret;
            chance += step.chance;
        };
        said("playing", play(environment.as_ref(), policy.as_mut(), key, LENGTH * subject.rounds, each))?;
    }
    require(regret <= 0.5 * chance, || format!("its regret is {regret:.2} where chance expects {chance:.2}"))
}
