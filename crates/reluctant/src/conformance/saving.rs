//! The check of saving and restoring.

use super::game::{Game, restored, saved};
use super::{Subject, require};

/// Rounds that the saved policy and the original play side by side.
const SIDE_BY_SIDE: u64 = 15;

/// Saved at points spread over the whole history, exploration included, through text and back: from there on the
/// restored policy and the original choose, score and save the same bits.
pub(super) fn saved_goes_on_to_the_bit(subject: &Subject) -> Result<(), String> {
    let points = (0..=subject.rounds).filter(|round| *round < 2 || round % 7 == 0 || *round == subject.rounds);
    for point in points {
        goes_on(subject, point).map_err(|seen| format!("saved after round {point}: {seen}"))?;
    }
    Ok(())
}

fn goes_on(subject: &Subject, point: u64) -> Result<(), String> {
    let (mut game, mut original) = Game::start(subject)?;
    let (mut other_game, _) = Game::start(subject)?;
    for _ in 0..point {
        game.play(original.as_mut())?;
    }
    other_game.round = game.round;
    let text = saved(original.as_ref())?;
    let mut copy = restored(subject, &text)?;
    let again = saved(copy.as_ref())?;
    require(text == again, || format!("restored and saved again, {text} becomes {again}"))?;
    for round in point + 1..=point + SIDE_BY_SIDE {
        let (view, other) = (game.view(original.as_ref(), round)?, other_game.view(copy.as_ref(), round)?);
        require(view == other, || format!("before round {round} the original says {view:?}, the copy {other:?}"))?;
        game.play(original.as_mut())?;
        other_game.play(copy.as_mut())?;
    }
    let (end, other_end) = (saved(original.as_ref())?, saved(copy.as_ref())?);
    require(end == other_end, || format!("at the end the original is saved as {end}, the copy as {other_end}"))
}
