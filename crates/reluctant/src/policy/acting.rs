//! How policies act on what they predict: by optimism, or by chance.

use super::Policy;
use crate::choice::{Choice, Score, argmax};
use crate::error::{Error, Result};
use crate::frozen::FrozenRelu;
use crate::limits::MAX_FEATURES;
use crate::offer::{Offer, Rows};
use crate::rng::{Key, Purpose, index};
use crate::scratch::Scratch;

/// The optimistic choice: scores every arm and takes the greatest mean plus width.
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

/// A row drawn uniformly.
pub(super) fn select_uniform(rows: Rows<'_>, key: Key) -> Choice<'_> {
    let chosen = index(&mut key.purpose(Purpose::Choice).stream(), rows.len());
    Choice::row(rows, chosen, Score::default()).by_chance(1.0 / rows.len() as f64)
}

/// An error unless a matrix of `count` features fits in memory; `what` says what they are made of.
pub(super) fn check_features(count: usize, what: &str) -> Result<()> {
    if count <= MAX_FEATURES {
        return Ok(());
    }
    Err(Error::out_of_range("the number of features", format!("{count} ({what})"), format!("at most {MAX_FEATURES}")))
}
