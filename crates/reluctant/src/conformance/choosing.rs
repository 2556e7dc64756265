//! Checks of what a policy chooses.

use super::game::{Game, Offered, Taken, finite_scores, is_finite};
use super::{Subject, require, said};
use crate::choice::Choice;
use crate::error::Error;
use crate::linalg::norm;
use crate::offer::Offer;
use crate::policy::Policy;
use crate::rng::Key;
use crate::round::{Means, Noise, Round, SphereReward};

/// Every choice, among one, two or many actions, early and late.
pub(super) fn arm_in_range(subject: &Subject) -> Result<(), String> {
    let (mut game, mut policy) = Game::start(subject)?;
    for number in 1..=subject.rounds {
        for offered in [1, 2, usize::MAX] {
            let question = game.question(number, offered)?;
            let round = question.as_round()?;
            let choice = said("select", policy.select_in(&round, Key::new(number), &mut game.scratch))?;
            valid(&choice, round.offer)?;
        }
        game.play(policy.as_mut())?;
    }
    Ok(())
}

fn valid(choice: &Choice<'_>, offer: Offer<'_>) -> Result<(), String> {
    let Some(index) = choice.index else { return Err("a choice among finitely many actions has no index".to_owned()) };
    let count = offer.count().unwrap_or(0);
    require(index < count, || format!("action {index} of {count} was chosen"))?;
    let (chosen, named) = match offer {
        Offer::Rows(rows) => (rows.get(index), None),
        Offer::Context(context) => (context.features(), Some((&*context.names()[index], context.features_of(index)))),
        Offer::Sphere { .. } => return Err("the sphere is not a question".to_owned()),
    };
    let same = chosen.iter().zip(&*choice.action).all(|(a, b)| a.to_bits() == b.to_bits());
    require(same && choice.action.len() == chosen.len() && choice.named == named, || {
        format!("action {index} is {chosen:?} ({named:?}), but the choice is {choice:?}")
    })?;
    let possible = choice.propensity.is_none_or(|propensity| propensity > 0.0 && propensity <= 1.0);
    require(possible, || format!("the propensity is {:?}, not in (0, 1]", choice.propensity))?;
    let appeals = choice.appeal.is_none_or(|appeal| !appeal.is_nan());
    require(appeals, || "the choice appealed by NaN".to_owned())?;
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
            let question = game.question(1, 3)?;
            let numbers = if question.is_context() { vec![0.5; dim] } else { vec![0.5; 3 * dim] };
            let question = question.with(dim, numbers);
            let round = question.as_round()?;
            let selected = policy.select_in(&round, Key::new(1), &mut game.scratch).map(|_| ());
            let scored = policy.score(round.offer, &mut game.scratch);
            for (doing, result) in [("select", selected), ("score", scored)] {
                require(matches!(result, Err(Error::Dimension { .. })), || {
                    format!("{doing} on numbers of dimension {dim} gave {result:?}, not Error::Dimension")
                })?;
            }
        }
    }
    Ok(())
}

/// Whole histories on one arm, on equal arms, on zero arms, and on a zero arm among others; or on a zero context.
pub(super) fn degenerate_arms_stay_finite(subject: &Subject) -> Result<(), String> {
    let (game, _) = Game::start(subject)?;
    let (dim, one, some) = (game.dim(), game.question(0, 1)?, game.question(1, 4)?);
    let zero = vec![0.0; dim];
    let offers = if one.is_context() {
        vec![
            ("a single action", one.clone()),
            ("a zero context", some.with(dim, zero.clone())),
            ("a single action in a zero context", one.with(dim, zero)),
        ]
    } else {
        vec![
            ("equal arms", one.with(dim, one.numbers.repeat(5))),
            ("zero arms", one.with(dim, zero.repeat(3))),
            ("a zero arm among others", one.with(dim, [zero, some.numbers].concat())),
            ("a single arm", one),
        ]
    };
    offers.iter().try_for_each(|(what, offer)| stays_finite(subject, offer).map_err(|seen| format!("{what}: {seen}")))
}

fn stays_finite(subject: &Subject, offered: &Offered) -> Result<(), String> {
    let (mut game, mut policy) = Game::start(subject)?;
    for number in 1..=subject.rounds {
        let action = finite_choice(policy.as_ref(), offered, number, &mut game)?;
        said("learn", policy.learn(action.as_action(), if number % 2 == 0 { 0.5 } else { 0.4 }))?;
    }
    // What was learnt from such actions must not spoil the others.
    game.view(policy.as_ref(), 2).map(|_| ())
}

fn finite_choice(policy: &dyn Policy, offered: &Offered, number: u64, game: &mut Game) -> Result<Taken, String> {
    let round = offered.as_round()?;
    finite_scores(policy, round.offer, &mut game.scratch)?;
    let choice = said("select", policy.select_in(&round, Key::new(7).round(number), &mut game.scratch))?;
    require(is_finite(&choice.score), || format!("the score of the choice is {:?}", choice.score))?;
    Ok(Taken::of(&choice))
}

/// A sphere on which every action has the mean reward 0.
#[derive(Debug)]
struct Flat(Vec<f64>);

impl SphereReward for Flat {
    fn mean(&self, _: &[f64]) -> f64 {
        0.0
    }

    fn best_action(&self) -> &[f64] {
        &self.0
    }

    fn best(&self) -> f64 {
        0.0
    }

    fn average(&self) -> f64 {
        0.0
    }
}

/// A point of the sphere from those that choose there, the typed refusal from the others; early and late.
pub(super) fn sphere_as_declared(subject: &Subject) -> Result<(), String> {
    let (mut game, mut policy) = Game::start(subject)?;
    let dim = game.dim();
    let flat = Flat((0..dim).map(|i| if i == 0 { 1.0 } else { 0.0 }).collect());
    for rounds in [0, subject.rounds] {
        for _ in 0..rounds {
            game.play(policy.as_mut())?;
        }
        let sphere = Round { offer: Offer::Sphere { dim }, means: Means::Sphere(&flat), noise: Noise::Added(0.0) };
        let declared = subject.sphere && !policy.needs_finite_arms();
        match policy.select_in(&sphere, Key::new(1), &mut game.scratch) {
            Ok(choice) if declared => {
                let off = (norm(&choice.action) - 1.0).abs();
                require(choice.action.len() == dim && off < 1e-9, || {
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
