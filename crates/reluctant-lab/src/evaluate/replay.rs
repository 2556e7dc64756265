//! Replay by rejection (Li, Chu, Langford and Wang 2011): a policy that learns goes through the log; where it makes the
//! choice that was made, it is told the reward and the round counts, all others are passed over.
//!
//! If every choice of the log was equally likely, what remains is a game as the policy would have played it. Where
//! choices were not equally likely, a round on which both agree is kept with a probability that falls with its
//! propensity, so that all are again.

use std::path::Path;

use reluctant::rng::{Purpose, uniform};
use reluctant::{Key, Registry, Scratch};
use serde::Serialize;

use super::diagnose::Tally;
use super::{Interval, Options, Passed, Target};
use crate::error::{LabError, Result};
use crate::log;
use crate::stats::t95;

/// What a policy would have earned while it learnt.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Replay {
    /// The mean reward of the rounds that were kept.
    pub value: f64,
    /// Its 95 % interval, from the normal law.
    pub interval: Interval,
    /// How many rounds were kept.
    pub kept: u64,
}

/// Replays a policy that learns; `None` for one that does not, and where nothing is kept or a propensity is missing.
pub(super) fn replay(
    registry: &Registry,
    path: &Path,
    target: &Target,
    tally: &Tally,
    options: &Options,
    progress: &dyn Fn(Passed),
) -> Result<Option<Replay>> {
    let (Target::Learning { kind, settings, .. }, true) = (target, options.replay) else { return Ok(None) };
    let (Some(space), Some(least)) = (tally.space, tally.least_propensity()) else { return Ok(None) };
    let key = Key::new(options.seed).branch("replay");
    let wrong = |cause: reluctant::Error| LabError::Misfit(cause.to_string());
    let mut policy = registry.build_policy(kind, space, settings, key).map_err(wrong)?;
    let (mut scratch, mut number) = (Scratch::default(), 0);
    let (mut kept, mut mean, mut squares) = (0.0, 0.0, 0.0);
    log::read(path, |records| {
        for record in records {
            number += 1;
            let offer = record.offer.as_offer().map_err(wrong)?;
            let choice = policy.select(offer, key.round(number), &mut scratch).map_err(wrong)?;
            let share = least / record.propensity.unwrap_or(1.0);
            let coin = uniform(&mut key.branch("keep").round(number).purpose(Purpose::Noise).stream());
            if choice.index != Some(record.chosen) || coin >= share {
                continue;
            }
            kept += 1.0;
            let before = record.reward - mean;
            mean += before / kept;
            squares += before * (record.reward - mean);
            policy.learn(record.offer.action(record.chosen), record.reward).map_err(wrong)?;
        }
        progress(Passed { stage: "replay", rounds: number, of: Some(tally.rounds()) });
        Ok(())
    })?;
    if kept < 2.0 {
        return Ok(None);
    }
    let half = t95(kept as usize - 1) * (squares / (kept - 1.0) / kept).sqrt();
    Ok(Some(Replay { value: mean, interval: [mean - half, mean + half], kept: kept as u64 }))
}
