//! An environment with a policy in it, and what the policy says there, written down to the bit.

use super::{Subject, require, said};
use crate::action::Action;
use crate::choice::{Choice, Score};
use crate::env::Environment;
use crate::error::Result as CoreResult;
use crate::offer::{Context, Name, Offer, Rows};
use crate::policy::{Policy, Snapshot};
use crate::rng::Key;
use crate::round::{Means, Noise, Round, RoundMemory};
use crate::scratch::Scratch;

/// The trial in which every check plays.
pub(super) const KEY: Key = Key::new(2024);

/// Rounds from here on are never played: their offers serve to question a policy.
const QUESTIONS: u64 = 1_000_000;

/// An environment, and the round it is in.
pub(super) struct Game {
    environment: Box<dyn Environment>,
    key: Key,
    pub(super) round: u64,
    pub(super) scratch: Scratch,
}

/// What a policy chose and was rewarded with.
pub(super) struct Played {
    pub(super) action: Taken,
    pub(super) reward: f64,
}

/// An action that was taken, with memory of its own.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Taken {
    /// The vector, or the context.
    pub(super) numbers: Vec<f64>,
    named: Option<(Name, Vec<f64>)>,
}

impl Taken {
    pub(super) fn of(choice: &Choice<'_>) -> Self {
        let named = choice.named.map(|(name, features)| (Name::from(name), features.to_vec()));
        Taken { numbers: choice.action.to_vec(), named }
    }

    /// The same with other numbers.
    pub(super) fn with(&self, numbers: Vec<f64>) -> Self {
        Taken { numbers, ..self.clone() }
    }

    pub(super) fn as_action(&self) -> Action<'_> {
        match &self.named {
            None => Action::Vector(&self.numbers),
            Some((name, features)) => Action::Named { context: &self.numbers, name, features },
        }
    }

    /// An offer of nothing but this.
    pub(super) fn alone(&self) -> Offered {
        let (names, features) = match &self.named {
            None => (Vec::new(), Vec::new()),
            Some((name, features)) => (vec![name.clone()], features.clone()),
        };
        Offered { dim: self.numbers.len(), numbers: self.numbers.clone(), names, features, means: vec![0.0] }
    }
}

/// An offer with memory of its own, in which every mean reward is 0.
#[derive(Debug, Clone)]
pub(super) struct Offered {
    dim: usize,
    /// Rows, or the context.
    pub(super) numbers: Vec<f64>,
    names: Vec<Name>,
    features: Vec<f64>,
    means: Vec<f64>,
}

impl Offered {
    fn of(offer: Offer<'_>) -> Self {
        let (numbers, names, features) = match offer {
            Offer::Rows(rows) => (rows.data().to_vec(), Vec::new(), Vec::new()),
            Offer::Sphere { .. } => (Vec::new(), Vec::new(), Vec::new()),
            Offer::Context(context) => {
                let features = context.action_features().map_or(Vec::new(), |rows| rows.data().to_vec());
                (context.features().to_vec(), context.names().to_vec(), features)
            }
        };
        Offered { dim: offer.dim(), numbers, names, features, means: vec![0.0; offer.count().unwrap_or(0)] }
    }

    /// The same actions with these numbers, rows or a context, of this dimension.
    pub(super) fn with(&self, dim: usize, numbers: Vec<f64>) -> Self {
        let count = if self.is_context() { self.names.len() } else { numbers.len() / dim.max(1) };
        Offered { dim, numbers, means: vec![0.0; count], ..self.clone() }
    }

    pub(super) fn is_context(&self) -> bool {
        !self.names.is_empty()
    }

    /// The round in which this is on offer.
    pub(super) fn as_round(&self) -> Result<Round<'_>, String> {
        let offer = said("the question", self.as_offer())?;
        Ok(Round { offer, means: Means::Each(&self.means), noise: Noise::Added(0.0) })
    }

    fn as_offer(&self) -> CoreResult<Offer<'_>> {
        if self.names.is_empty() {
            return Offer::finite(self.dim, &self.numbers);
        }
        let context = Context::new(&self.numbers, &self.names)?;
        if self.features.is_empty() {
            return Ok(context.into());
        }
        Ok(context.with_action_features(Rows::new(self.features.len() / self.names.len(), &self.features)?)?.into())
    }
}

/// What a policy says about an offer: its choice and all its scores, as bits.
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
    /// The subject's environment before its first round, and a new policy.
    pub(super) fn start(subject: &Subject) -> Result<(Game, Box<dyn Policy>), String> {
        let environment = subject.make_environment(KEY)?;
        let policy = subject.make(environment.as_ref(), KEY)?;
        Ok((Game { environment, key: KEY, round: 0, scratch: Scratch::default() }, policy))
    }

    /// Another policy for the same environment.
    pub(super) fn another(&self, subject: &Subject) -> Result<Box<dyn Policy>, String> {
        subject.make(self.environment.as_ref(), KEY)
    }

    pub(super) fn dim(&self) -> usize {
        self.environment.space().dim()
    }

    /// The policy chooses in the next round, but is not told its reward yet.
    pub(super) fn choose(&mut self, policy: &dyn Policy) -> Result<Played, String> {
        self.round += 1;
        let mut memory = RoundMemory::default();
        let round = said("the round", self.environment.round(self.round, &mut memory))?;
        let choice = said("select", policy.select_in(&round, self.key.round(self.round), &mut self.scratch))?;
        // A choice that is not on offer is another check's matter.
        let mean = round.mean(&choice).unwrap_or(0.0);
        Ok(Played { action: Taken::of(&choice), reward: round.reward(&choice, mean) })
    }

    /// The policy chooses in the next round and learns from it.
    pub(super) fn play(&mut self, policy: &mut dyn Policy) -> Result<Played, String> {
        let played = self.choose(policy)?;
        said("learn", policy.learn(played.action.as_action(), played.reward))?;
        Ok(played)
    }

    /// What is on offer in question `number`, all of it or the first few.
    pub(super) fn question(&self, number: u64, at_most: usize) -> Result<Offered, String> {
        let mut memory = RoundMemory::default();
        let round = said("the round", self.environment.round(QUESTIONS + number, &mut memory))?;
        Ok(Offered::of(round.first(at_most).offer))
    }

    /// An action of question `number`.
    pub(super) fn action(&self, number: u64) -> Result<Taken, String> {
        let Offered { numbers, names, features, .. } = self.question(number, 1)?;
        Ok(Taken { numbers, named: names.into_iter().next().map(|name| (name, features)) })
    }

    /// What the policy says about question `number`.
    pub(super) fn view(&mut self, policy: &dyn Policy, number: u64) -> Result<View, String> {
        let mut memory = RoundMemory::default();
        let round = said("the round", self.environment.round(QUESTIONS + number, &mut memory))?;
        view(policy, &round, self.key.round(QUESTIONS + number), &mut self.scratch)
    }
}

fn view(policy: &dyn Policy, round: &Round<'_>, key: Key, scratch: &mut Scratch) -> Result<View, String> {
    let bits = |score: &Score| [score.mean.to_bits(), score.width.to_bits()];
    finite_scores(policy, round.offer, scratch)?;
    let scores = scratch.scores.iter().flat_map(bits).collect();
    let Choice { index, action, score, appeal, propensity, .. } =
        said("select", policy.select_in(round, key, scratch))?;
    let mut choice: Vec<u64> = action.iter().map(|x| x.to_bits()).collect();
    choice.extend(bits(&score));
    choice.extend([appeal, propensity].iter().flatten().map(|x| x.to_bits()));
    Ok(View { exploring: policy.exploring(), index, choice, scores })
}

/// Scores the actions on offer: one score each, every one of them finite.
pub(super) fn finite_scores(policy: &dyn Policy, offer: Offer<'_>, scratch: &mut Scratch) -> Result<(), String> {
    said("score", policy.score(offer, scratch))?;
    let (scores, count) = (&scratch.scores, offer.count().unwrap_or(0));
    require(scores.len() == count, || format!("{} scores for {count} actions", scores.len()))?;
    match scores.iter().position(|score| !is_finite(score)) {
        Some(i) => Err(format!("the score of action {i} of {offer:?} is {:?}", scores[i])),
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
