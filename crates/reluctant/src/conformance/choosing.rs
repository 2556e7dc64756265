//! Checks of what a policy chooses.

use super::game::{Game, finite_scores, is_finite};
use super::{Subject, require, said};
use crate::arms::{Arms, Choice, Rows};
use crate::error::Error;
use crate::linalg::norm;
use crate::policy::Policy;
use crate::rng::Key;

/// Every choice, among one, two or many arms, early and late.
pub(super) fn arm_in_range(subject: &Subject) -> Result<(), String> {
    let (mut game, mut policy) = Game::start(subject)?;
    for round in 1..=subject.rounds {
        for offered in [1, 2, usize::MAX] {
            let data = game.question(round, offered);
            let rows = said("the question", Rows::new(game.dim(), &data))?;
            let key = Key::new(round);
            let choice = said("select", policy.select(Arms::Finite(rows), key, &mut game.scratch))?;
            valid(&choice, rows)?;
        }
        game.play(policy.as_mut())?;
    }
    Ok(())
}

fn valid(choice: &Choice<'_>, rows: Rows<'_>) -> Result<(), String> {
    let Some(index) = choice.index else { return Err("a choice among finitely many arms has no index".to_owned()) };
    require(index < rows.len(), || format!("arm {index} of {} was chosen", rows.len()))?;
    let same = rows.get(index).iter().zip(&*choice.action).all(|(a, b)| a.to_bits() == b.to_bits());
    require(same && choice.action.len() == rows.dim(), || {
        format!("arm {index} is {:?}, but the action is {:?}", rows.get(index), choice.action)
    })?;
    let possible = choice.propensity.is_none_or(|propensity| propensity > 0.0 && propensity <= 1.0);
    require(possible, || format!("the propensity is {:?}, not in (0, 1]", choice.propensity))?;
    require(is_finite(&choice.score), || format!("the score of the choice is {:?}", choice.score))
}

/// Before the first reward and after the last.
pub(super) fn wrong_dimension_refused(subject: &Subject) -> Result<(), String> {
    let (mut game, mut policy) = Game::start(subject)?;
    for rounds in [0, subject.rounds] {
        for _ in 0..rounds {
            game.play(policy.as_mut())?;
        }
        for dim in [game.dim() - 1, game.dim() + 1] {
            if dim == 0 {
                continue;
            }
            let data = vec![0.5; 3 * dim];
            let rows = said("the question", Rows::new(dim, &data))?;
            let selected = policy.select(Arms::Finite(rows), Key::new(1), &mut game.scratch).map(|_| ());
            let scored = policy.score(rows, &mut game.scratch);
            for (doing, result) in [("select", selected), ("score", scored)] {
                require(matches!(result, Err(Error::Dimension { .. })), || {
                    format!("{doing} on arms of dimension {dim} gave {result:?}, not Error::Dimension")
                })?;
            }
        }
    }
    Ok(())
}

/// Whole histories on one arm, on equal arms, on zero arms, and on a zero arm among others.
pub(super) fn degenerate_arms_stay_finite(subject: &Subject) -> Result<(), String> {
    let (game, _) = Game::start(subject)?;
    let one = game.question(0, 1);
    let zero = vec![0.0; game.dim()];
    let offers = [
        ("a single arm", one.clone()),
        ("equal arms", one.repeat(5)),
        ("zero arms", zero.repeat(3)),
        ("a zero arm among others", [zero, game.question(1, 4)].concat()),
    ];
    offers.iter().try_for_each(|(what, arms)| stays_finite(subject, arms).map_err(|seen| format!("{what}: {seen}")))
}

fn stays_finite(subject: &Subject, data: &[f64]) -> Result<(), String> {
    let (mut game, mut policy) = Game::start(subject)?;
    let rows = said("the question", Rows::new(game.dim(), data))?;
    for round in 1..=subject.rounds {
        let action = finite_choice(policy.as_ref(), rows, round, &mut game)?;
        said("update", policy.update(&action, if round % 2 == 0 { 0.5 } else { 0.4 }))?;
    }
    // What was learnt from such arms must not spoil the others.
    game.view(policy.as_ref(), 2).map(|_| ())
}

fn finite_choice(policy: &dyn Policy, rows: Rows<'_>, round: u64, game: &mut Game) -> Result<Vec<f64>, String> {
    finite_scores(policy, rows, &mut game.scratch)?;
    let choice = said("select", policy.select(Arms::Finite(rows), Key::new(7).round(round), &mut game.scratch))?;
    require(is_finite(&choice.score), || format!("the score of the choice is {:?}", choice.score))?;
    Ok(choice.action.into_owned())
}

/// A point of the sphere from those that choose there, the typed refusal from the others; early and late.
pub(super) fn sphere_as_declared(subject: &Subject) -> Result<(), String> {
    let (mut game, mut policy) = Game::start(subject)?;
    for rounds in [0, subject.rounds] {
        for _ in 0..rounds {
            game.play(policy.as_mut())?;
        }
        let sphere = Arms::Sphere { dim: game.dim() };
        let declared = subject.sphere && !policy.needs_finite_arms();
        match policy.select(sphere, Key::new(1), &mut game.scratch) {
            Ok(choice) if declared => {
                let off = (norm(&choice.action) - 1.0).abs();
                require(choice.action.len() == game.dim() && off < 1e-9, || {
                    format!("{:?} is not on the unit sphere", choice.action)
                })?;
                require(choice.index.is_none(), || "a choice from the sphere has an index".to_owned())?;
                let possible = choice.propensity.is_none_or(|density| density > 0.0);
                require(possible, || format!("the density of the choice is {:?}", choice.propensity))?;
                require(is_finite(&choice.score), || format!("the score of the choice is {:?}", choice.score))?;
            }
            Err(Error::NeedsFiniteArms { .. }) if !declared => {}
            Ok(_) => return Err("it chose from the sphere, though it says that it cannot".to_owned()),
            Err(error) => return Err(format!("the sphere was refused with: {error}")),
        }
    }
    Ok(())
}
