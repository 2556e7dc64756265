//! The check of saving and restoring.

use super::game::{Game, View, restored, saved};
use super::{Subject, require};
use crate::policy::Policy;

/// Rounds that a restored policy and the original play side by side.
const SIDE_BY_SIDE: u64 = 15;

/// Rounds between two points at which the original is saved.
const BETWEEN_POINTS: u64 = 7;

/// Saved at points spread over the whole history, exploration included, through text and back: from there on the
/// restored policy and the original choose, score and save the same bits.
pub(super) fn saved_goes_on_to_the_bit(subject: &Subject) -> Result<(), String> {
    let (mut game, mut original) = Game::start(subject)?;
    let mut copies: Vec<Restored> = Vec::new();
    for played in 0..subject.rounds + SIDE_BY_SIDE {
        if played < 2 || (played <= subject.rounds && played % BETWEEN_POINTS == 0) || played == subject.rounds {
            copies.push(Restored::from(original.as_ref(), subject, played)?);
        }
        let view = game.view(original.as_ref(), played + 1)?;
        for copy in &mut copies {
            copy.plays_on(&view).map_err(|seen| copy.tells(&seen))?;
        }
        game.play(original.as_mut())?;
        let (done, still): (Vec<_>, Vec<_>) = copies.into_iter().partition(Restored::is_done);
        for copy in done {
            copy.ends_like(original.as_ref()).map_err(|seen| copy.tells(&seen))?;
        }
        copies = still;
    }
    Ok(())
}

/// A policy that was saved and restored, in a game of its own.
struct Restored {
    game: Game,
    policy: Box<dyn Policy>,
    saved_after: u64,
}

impl Restored {
    /// A copy of the original, which has played so many rounds. Saved at once, it is saved as the same text.
    fn from(original: &dyn Policy, subject: &Subject, played: u64) -> Result<Self, String> {
        let (mut game, _) = Game::start(subject)?;
        game.round = played;
        let text = saved(original)?;
        let copy = Restored { game, policy: restored(subject, &text)?, saved_after: played };
        let again = saved(copy.policy.as_ref())?;
        require(text == again, || copy.tells(&format!("restored and saved again, {text} becomes {again}")))?;
        Ok(copy)
    }

    /// Says about the next round what the original says, and plays it.
    fn plays_on(&mut self, original: &View) -> Result<(), String> {
        let round = self.game.round + 1;
        let view = self.game.view(self.policy.as_ref(), round)?;
        require(view == *original, || {
            format!("before round {round} the original says {original:?}, the copy {view:?}")
        })?;
        self.game.play(self.policy.as_mut()).map(drop)
    }

    fn is_done(&self) -> bool {
        self.game.round == self.saved_after + SIDE_BY_SIDE
    }

    /// Is saved at the end as the original is.
    fn ends_like(&self, original: &dyn Policy) -> Result<(), String> {
        let (end, other) = (saved(original)?, saved(self.policy.as_ref())?);
        require(end == other, || format!("at the end the original is saved as {end}, the copy as {other}"))
    }

    /// What was seen, and in which copy.
    fn tells(&self, seen: &str) -> String {
        format!("saved after round {}: {seen}", self.saved_after)
    }
}
