//! The check of the probabilities that a policy states.
//!
//! A policy chooses from the same offer with many keys. How often it takes each action must fit the probability that it
//! states for it. The tolerance is Chernoff's bound: n·KL(share ‖ probability) exceeds log(2/δ) with probability at
//! most δ, whatever n.

use super::game::{Game, Offered};
use super::{Subject, require, said};
use crate::policy::Policy;
use crate::rng::Key;

/// How often a policy chooses from an offer.
const KEYS: u64 = 600;

/// A right policy fails one comparison at most with this probability, and the whole check, of fewer than 200
/// comparisons, with less than 1e-6.
const FAILS: f64 = 1e-9;

/// How many times its standard error an estimated probability may be off.
const ERRORS: f64 = 6.5;

/// Two statements about the same probability agree to rounding and quadrature.
const ROUNDING: f64 = 1e-8;

/// Before the first reward, in the midst and after the last, for two actions and for some more.
pub(super) fn propensities_match_frequencies(subject: &Subject) -> Result<(), String> {
    let (mut game, mut policy) = Game::start(subject)?;
    for number in 0..=subject.rounds {
        if number % (subject.rounds / 2).max(1) == 0 {
            for offered in [2, 4] {
                let question = game.question(number, offered)?;
                matches(policy.as_ref(), &question, &mut game)
                    .map_err(|seen| format!("after {number} rounds, {offered} on offer: {seen}"))?;
            }
        }
        game.play(policy.as_mut())?;
    }
    Ok(())
}

fn matches(policy: &dyn Policy, question: &Offered, game: &mut Game) -> Result<(), String> {
    let round = question.as_round()?;
    let count = round.offer.count().unwrap_or(0);
    let (mut counts, mut stated) = (vec![0u64; count], vec![None; count]);
    for number in 0..KEYS {
        let choice = said("select", policy.select_in(&round, Key::new(31).round(number), &mut game.scratch))?;
        // A choice that is not on offer, or has no probability, is another check's matter.
        let Some(index) = choice.index.filter(|index| *index < count) else { return Ok(()) };
        if choice.propensity.is_some_and(|p| !(p > 0.0 && p <= 1.0)) {
            return Ok(());
        }
        counts[index] += 1;
        if counts[index] == 1 {
            let key = Key::new(32).round(index as u64);
            stated[index] = said("propensity", policy.propensity(round.offer, &choice, key, &mut game.scratch))?;
        }
        let said_now = choice.propensity.filter(|_| choice.propensity_error == 0.0);
        let known = stated[index].filter(|known| known.error == 0.0);
        if let (Some(now), Some(known)) = (said_now, known) {
            require((now - known.value).abs() < ROUNDING, || {
                format!("action {index} is chosen with propensity {now}, then {}", known.value)
            })?;
        }
    }
    let shares = counts.iter().zip(stated).enumerate();
    for (index, (taken, stated)) in shares.filter_map(|(i, (taken, stated))| Some((i, (*taken, stated?)))) {
        let share = taken as f64 / KEYS as f64;
        let slack = ERRORS * stated.error;
        let nearest = share.clamp(stated.value - slack, (stated.value + slack).min(1.0)).max(f64::MIN_POSITIVE);
        require(KEYS as f64 * divergence(share, nearest) <= -libm::log(0.5 * FAILS), || {
            format!("action {index} was chosen {taken} times of {KEYS}, but its propensity is {stated:?}")
        })?;
    }
    Ok(())
}

/// The Kullback–Leibler divergence of a coin with probability p from one with probability q.
fn divergence(p: f64, q: f64) -> f64 {
    let part = |p: f64, q: f64| if p > 0.0 { p * libm::log(p / q) } else { 0.0 };
    part(p, q) + part(1.0 - p, 1.0 - q)
}
