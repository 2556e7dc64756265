//! Rules: how policies act on what they believe. By optimism, by sampling, or by chance.

use super::Policy;
use crate::belief::Belief;
use crate::choice::{Choice, Score, argmax};
use crate::error::Result;
use crate::frozen::FrozenRelu;
use crate::offer::{Offer, Rows};
use crate::rng::{Key, Purpose, index, normal};
use crate::scratch::Scratch;

/// Optimism: the arm of greatest mean plus `scale` times the spread.
pub(super) fn optimism<'a>(belief: &dyn Belief, rows: Rows<'a>, scale: f64, scratch: &mut Scratch) -> Choice<'a> {
    belief.predict(rows, scale, scratch);
    best_by_score(rows, scratch)
}

/// Sampling: the best arm of a function that is drawn from the belief. The choice's width is `scale` times the spread.
pub(super) fn sampling<'a>(
    belief: &dyn Belief,
    rows: Rows<'a>,
    scale: f64,
    key: Key,
    scratch: &mut Scratch,
) -> Choice<'a> {
    if rows.len() == 1 {
        let (score, value) = belief.draw_at(rows.get(0), scale, key, scratch);
        return Choice::row(rows, 0, score).drawn(value);
    }
    belief.draw(rows, scale, key, scratch);
    let best = argmax(scratch.values().iter().copied()).unwrap_or(0);
    let value = scratch.values()[best];
    belief.predict(Rows::trusted(rows.dim(), rows.get(best)), scale, scratch);
    Choice::row(rows, best, scratch.scores[0]).drawn(value)
}

/// Sampling arm by arm: the greatest of values that are drawn for each arm by itself, normal with its mean and width.
pub(super) fn sampling_each<'a>(
    belief: &dyn Belief,
    rows: Rows<'a>,
    scale: f64,
    key: Key,
    scratch: &mut Scratch,
) -> Choice<'a> {
    belief.predict(rows, scale, scratch);
    let Scratch { scores, numbers: values, .. } = scratch;
    let mut stream = key.purpose(Purpose::Choice).stream();
    values.clear();
    values.extend(scores.iter().map(|score| score.mean + score.width * normal(&mut stream)));
    let best = argmax(values.iter().copied()).unwrap_or(0);
    Choice::row(rows, best, scores[best]).drawn(values[best])
}

/// The optimistic choice of a policy that scores by itself: the arm of greatest mean plus width.
pub(super) fn select_optimistic<'a>(policy: &dyn Policy, rows: Rows<'a>, scratch: &mut Scratch) -> Result<Choice<'a>> {
    policy.score(Offer::Rows(rows), scratch)?;
    Ok(best_by_score(rows, scratch))
}

/// The arm of greatest mean plus width in `scratch.scores`.
pub(super) fn best_by_score<'a>(rows: Rows<'a>, scratch: &Scratch) -> Choice<'a> {
    let best = argmax(scratch.scores.iter().map(Score::upper)).unwrap_or(0);
    Choice::row(rows, best, scratch.scores[best])
}

/// The optimistic choice of a frozen network among the arms in X(Θ̃, margin); among all arms if none lies there.
pub(super) fn select_frozen<'a>(
    regime: &FrozenRelu,
    rows: Rows<'a>,
    radius: f64,
    margin: f64,
    scratch: &mut Scratch,
) -> Choice<'a> {
    let (best, score) = regime.optimistic_arm(rows, radius, margin, scratch);
    Choice::row(rows, best, score)
}

/// Chance: a row drawn uniformly.
pub(super) fn select_uniform(rows: Rows<'_>, key: Key) -> Choice<'_> {
    let chosen = index(&mut key.purpose(Purpose::Choice).stream(), rows.len());
    Choice::row(rows, chosen, Score::default()).by_chance(1.0 / rows.len() as f64)
}
