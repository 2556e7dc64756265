//! A world with a policy in it, and what the policy says there, written down to the bit.

use super::{Subject, require, said};
use crate::arms::{Arms, Choice, Rows, Score};
use crate::env::Environment;
use crate::policy::{Policy, Scratch, Snapshot};
use crate::rng::Key;

/// The trial in which every check plays.
pub(super) const KEY: Key = Key::new(2024);

/// Rounds from here on are never played: their arms serve to question a policy.
const QUESTIONS: u64 = 1_000_000;

/// A world, and the round it is in.
pub(super) struct Game {
    world: Box<dyn Environment>,
    key: Key,
    pub(super) round: u64,
    pub(super) scratch: Scratch,
}

/// What a policy chose and was rewarded with.
pub(super) struct Played {
    pub(super) action: Vec<f64>,
    pub(super) reward: f64,
}

/// What a policy says about some arms: its choice and all its scores, as bits.
#[derive(Debug, PartialEq)]
pub(super) struct View {
    exploring: bool,
    index: Option<usize>,
    choice: Vec<u64>,
    scores: Vec<u64>,
}

impl View {
    /// The part that no draw of the policy has a share in.
    pub(super) fn learnt(&self) -> (bool, &[u64]) {
        (self.exploring, &self.scores)
    }
}

impl Game {
    /// The subject's world before its first round, and a new policy.
    pub(super) fn start(subject: &Subject) -> Result<(Game, Box<dyn Policy>), String> {
        let world = subject.make_world(KEY)?;
        let policy = subject.make(world.as_ref(), KEY)?;
        Ok((Game { world, key: KEY, round: 0, scratch: Scratch::default() }, policy))
    }

    /// Another policy for the same world.
    pub(super) fn another(&self, subject: &Subject) -> Result<Box<dyn Policy>, String> {
        subject.make(self.world.as_ref(), KEY)
    }

    pub(super) fn dim(&self) -> usize {
        self.world.dim()
    }

    /// The policy chooses in the next round, but is not told its reward yet.
    pub(super) fn choose(&mut self, policy: &dyn Policy) -> Result<Played, String> {
        self.round += 1;
        let mut buffer = Vec::new();
        let arms = self.world.arms(self.round, &mut buffer);
        let choice = said("select", policy.select(arms, self.key.round(self.round), &mut self.scratch))?;
        let reward = self.world.mean(&choice.action) + self.world.noise(self.round);
        Ok(Played { action: choice.action.into_owned(), reward })
    }

    /// The policy chooses in the next round and learns from it.
    pub(super) fn play(&mut self, policy: &mut dyn Policy) -> Result<Played, String> {
        let played = self.choose(policy)?;
        said("update", policy.update(&played.action, played.reward))?;
        Ok(played)
    }

    /// The arms of question `number`, all of them or the first few.
    pub(super) fn question(&self, number: u64, at_most: usize) -> Vec<f64> {
        let mut buffer = Vec::new();
        self.world.arms(QUESTIONS + number, &mut buffer);
        buffer.truncate(at_most.saturating_mul(self.dim()));
        buffer
    }

    /// What the policy says about question `number`.
    pub(super) fn view(&mut self, policy: &dyn Policy, number: u64) -> Result<View, String> {
        let data = self.question(number, usize::MAX);
        let rows = said("the question", Rows::new(self.dim(), &data))?;
        view(policy, rows, self.key.round(QUESTIONS + number), &mut self.scratch)
    }
}

fn view(policy: &dyn Policy, rows: Rows<'_>, key: Key, scratch: &mut Scratch) -> Result<View, String> {
    let bits = |score: &Score| [score.mean.to_bits(), score.width.to_bits()];
    finite_scores(policy, rows, scratch)?;
    let scores = scratch.scores.iter().flat_map(bits).collect();
    let Choice { index, action, score, propensity, .. } =
        said("select", policy.select(Arms::Finite(rows), key, scratch))?;
    let mut choice: Vec<u64> = action.iter().map(|x| x.to_bits()).collect();
    choice.extend(bits(&score));
    choice.extend(propensity.map(f64::to_bits));
    Ok(View { exploring: policy.exploring(), index, choice, scores })
}

/// Scores the rows: one score each, every one of them finite.
pub(super) fn finite_scores(policy: &dyn Policy, rows: Rows<'_>, scratch: &mut Scratch) -> Result<(), String> {
    said("score", policy.score(rows, scratch))?;
    let scores = &scratch.scores;
    require(scores.len() == rows.len(), || format!("{} scores for {} arms", scores.len(), rows.len()))?;
    match scores.iter().position(|score| !is_finite(score)) {
        Some(i) => Err(format!("the score of arm {:?} is {:?}", rows.get(i), scores[i])),
        None => Ok(()),
    }
}

/// Whether a score has a finite mean and a finite width that is not negative.
pub(super) fn is_finite(score: &Score) -> bool {
    score.mean.is_finite() && score.width.is_finite() && score.width >= 0.0
}

/// The saved policy, as text.
pub(super) fn saved(policy: &dyn Policy) -> Result<String, String> {
    said("snapshot", policy.snapshot().and_then(|snapshot| snapshot.to_json()))
}

/// The policy behind the text that [`saved`] gave.
pub(super) fn restored(subject: &Subject, text: &str) -> Result<Box<dyn Policy>, String> {
    said("restore", Snapshot::parse(text).and_then(|snapshot| (subject.restore)(snapshot)))
}
