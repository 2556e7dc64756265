//! Rules: how policies act on what they believe. By optimism, by sampling, or by chance.

use serde::{Deserialize, Serialize};

use super::Policy;
use crate::belief::{Asked, Belief, Heads};
use crate::choice::{Choice, Score, argmax};
use crate::error::Result;
use crate::frozen::FrozenRelu;
use crate::offer::{Context, Offer, Rows};
use crate::rng::{Key, Purpose, index, normal};
use crate::scratch::Scratch;

/// How a policy acts on what it believes of named actions.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Rule {
    /// The action of greatest mean plus so many times its spread.
    Optimism(f64),
    /// The action of greatest drawn value, with distances from the mean multiplied by this.
    Sampling(f64),
}

impl Rule {
    /// What a spread is multiplied with to be a width.
    pub fn scale(&self) -> f64 {
        match *self {
            Rule::Optimism(scale) | Rule::Sampling(scale) => scale,
        }
    }

    /// Chooses among the actions of a context.
    pub(super) fn choose<'a>(
        &self,
        belief: &dyn Heads,
        context: Context<'a>,
        actions: Asked<'_>,
        key: Key,
        scratch: &mut Scratch,
    ) -> Choice<'a> {
        let x = context.features();
        match *self {
            Rule::Optimism(scale) => {
                belief.predict(x, actions, scale, scratch);
                let best = argmax(scratch.scores.iter().map(Score::upper)).unwrap_or(0);
                Choice::named(context, best, scratch.scores[best])
            }
            Rule::Sampling(scale) => {
                belief.draw(x, actions, scale, key, scratch);
                let best = argmax(scratch.values().iter().copied()).unwrap_or(0);
                let value = scratch.values()[best];
                belief.predict(x, actions.only(best), scale, scratch);
                Choice::named(context, best, scratch.scores[0]).drawn(value)
            }
        }
    }
}

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
