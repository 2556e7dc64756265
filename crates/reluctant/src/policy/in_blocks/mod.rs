//! Rows that are one context in blocks ([`InBlocks`]).
//!
//! The usual way to make K arms of K classes: arm a has the context x in block a of K, and zeros in the others, so that
//! a row has K·p numbers. A belief about rows learns in each block anew what all arms share. A policy that has a belief
//! for contexts knows better: it takes such rows for what they are, a context of p numbers and K actions.
//!
//! Whether rows are in blocks, and how wide these are, is found out from the rows that were rewarded. As soon as two of
//! them lie in different blocks of the least width that fits all, the belief for contexts learns them, and acts. Until
//! then rows are rows; and they are rows for good as soon as one of them fits into no block, or when [`PATIENCE`] rows
//! were seen. A later row that does not fit is chosen at once, since nothing is known of its kind; with its reward the
//! blocks become wider, or rows are rows for good, and what was seen lately is learnt anew, which takes long once.
//!
//! A row of zeros is an action of its own: one that does nothing.

mod blocks;

use std::fmt;

use serde::{Deserialize, Serialize};

use super::snapshot::{inconsistent, unreadable};
use super::{Entry, Explanation, Fitted, Form, Policy, Snapshot};
use crate::action::{Action, check_observation, check_vector};
use crate::choice::{Choice, Score, argmax};
use crate::error::Result;
use crate::offer::{Context, Name, Offer, Rows};
use crate::params::Settings;
use crate::rng::Key;
use crate::scratch::Scratch;
use blocks::{Block, block, span, width};

/// Rows that were not found to be in blocks after so many rewards are rows for good. Of rows in blocks at least as many
/// are kept, in case they turn out to be something else, and at most twice as many.
const PATIENCE: usize = 1000;

/// A policy that takes rows in blocks for contexts.
pub(super) struct InBlocks {
    maker: Maker,
    /// The policy for rows.
    rows: Box<dyn Policy>,
    /// How many of the seen rows it has learnt.
    known: usize,
    /// What was seen, while it matters.
    seen: Vec<Seen>,
    sight: Sight,
}

/// What makes policies of both kinds.
struct Maker {
    entry: Entry,
    settings: Settings,
    key: Key,
}

/// What rows were found to be.
enum Sight {
    /// Nobody knows yet: they are taken for rows.
    Open,
    /// Contexts in blocks.
    Contexts(Box<Contexts>),
    /// Rows, for good.
    Rows,
}

/// The policy for contexts.
struct Contexts {
    width: usize,
    /// The blocks' names, and that of zeros.
    names: Vec<Name>,
    policy: Box<dyn Policy>,
}

/// A row, without the zeros around its numbers, and its reward.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Seen {
    first: usize,
    numbers: Vec<f64>,
    reward: f64,
}

/// The state as it is saved.
#[derive(Serialize, Deserialize)]
struct State {
    dim: usize,
    settings: Settings,
    key: Key,
    rows: serde_json::Value,
    known: usize,
    seen: Vec<Seen>,
    contexts: Option<(usize, serde_json::Value)>,
}

impl Seen {
    fn of(row: &[f64], reward: f64) -> Self {
        let (first, last) = span(row).unwrap_or((0, 0));
        Seen { first, numbers: row[first..=last].to_vec(), reward }
    }

    fn row(&self, dim: usize) -> Vec<f64> {
        let mut row = vec![0.0; dim];
        row[self.first..][..self.numbers.len()].copy_from_slice(&self.numbers);
        row
    }

    /// `None` for zeros.
    fn span(&self) -> Option<(usize, usize)> {
        span(&self.numbers).map(|(first, last)| (self.first + first, self.first + last))
    }

    /// Whether there is more than one number, as there is not in a row that only names an arm.
    fn says_more_than_a_name(&self) -> bool {
        self.numbers.iter().filter(|x| **x != 0.0).count() > 1
    }
}

impl Contexts {
    fn new(maker: &Maker, dim: usize, width: usize) -> Result<Self> {
        let policy = maker.entry.build_for_contexts(width, &maker.settings, maker.key)?;
        Ok(Contexts { width, names: names(dim / width), policy })
    }

    fn learn(&mut self, row: &[f64], reward: f64) -> Result<()> {
        let Some(Block { number, context }) = block(row, self.width) else { return Ok(()) };
        self.policy.learn(Action::Named { context, name: &self.names[number], features: &[] }, reward)
    }

    /// The blocks of all rows, or else the place of the first that has none.
    fn blocks<'a>(&self, rows: Rows<'a>) -> std::result::Result<Vec<Block<'a>>, usize> {
        rows.iter().enumerate().map(|(i, row)| block(row, self.width).ok_or(i)).collect()
    }

    /// Runs something with the context that all blocks share; without one if they do not.
    fn with_shared<T>(&self, blocks: &[Block<'_>], run: impl FnOnce(Option<Offer<'_>>) -> T) -> T {
        if blocks.iter().any(|block| block.context != blocks[0].context) {
            return run(None);
        }
        let in_order = blocks.iter().enumerate().all(|(i, block)| block.number == i);
        let picked: Vec<Name>;
        let names = if in_order {
            &self.names[..blocks.len()]
        } else {
            picked = blocks.iter().map(|block| self.names[block.number].clone()).collect();
            &picked
        };
        run(Context::new(blocks[0].context, names).ok().map(Offer::Context))
    }

    /// One action in its own context.
    fn alone<'a>(&'a self, block: Block<'a>) -> Result<Offer<'a>> {
        let names = std::slice::from_ref(&self.names[block.number]);
        Context::new(block.context, names).map(Offer::Context)
    }

    fn select<'a>(&self, rows: Rows<'a>, key: Key, scratch: &mut Scratch) -> Result<Choice<'a>> {
        let blocks = match self.blocks(rows) {
            Ok(blocks) => blocks,
            // Nothing is known of such a row.
            Err(stranger) => return Ok(Choice::row(rows, stranger, Score::default()).by_chance(1.0)),
        };
        let of = |i: usize, choice: &Choice<'_>| Choice {
            appeal: choice.appeal,
            propensity: choice.propensity,
            propensity_error: choice.propensity_error,
            ..Choice::row(rows, i, choice.score)
        };
        let together = self.with_shared(&blocks, |shared| {
            let choice = shared.map(|offer| self.policy.select(offer, key, scratch))?;
            Some(choice.map(|choice| of(choice.index.unwrap_or(0), &choice)))
        });
        if let Some(choice) = together {
            return choice;
        }
        // Each in a context of its own: the one that appeals most.
        let each: Vec<Choice<'_>> = (blocks.iter().enumerate())
            .map(|(i, block)| Ok(of(i, &self.policy.select(self.alone(*block)?, key.later(i as u64), scratch)?)))
            .collect::<Result<_>>()?;
        let best = argmax(each.iter().map(|choice| choice.appeal.unwrap_or(f64::INFINITY))).unwrap_or(0);
        Ok(each[best].clone())
    }

    fn score(&self, rows: Rows<'_>, scratch: &mut Scratch) -> Result<()> {
        let blocks: Vec<_> = rows.iter().map(|row| block(row, self.width)).collect();
        if let Some(blocks) = blocks.iter().copied().collect::<Option<Vec<_>>>() {
            let together = self.with_shared(&blocks, |shared| shared.map(|offer| self.policy.score(offer, scratch)));
            if let Some(outcome) = together {
                return outcome;
            }
        }
        let mut scores = Vec::with_capacity(blocks.len());
        for found in blocks {
            scores.push(match found {
                Some(block) => {
                    self.policy.score(self.alone(block)?, scratch)?;
                    scratch.scores.first().copied().unwrap_or_default()
                }
                None => Score::default(),
            });
        }
        scratch.scores = scores;
        Ok(())
    }

    fn probabilities(&self, rows: Rows<'_>, scratch: &mut Scratch, out: &mut Vec<f64>) -> Result<bool> {
        match self.blocks(rows) {
            Ok(blocks) => self.with_shared(&blocks, |shared| {
                shared.map_or(Ok(false), |offer| self.policy.probabilities(offer, scratch, out))
            }),
            Err(stranger) => {
                out.clear();
                out.resize(rows.len(), 0.0);
                out[stranger] = 1.0;
                Ok(true)
            }
        }
    }

    fn explanation(&self, row: &[f64]) -> Result<Explanation> {
        let Some(Block { number, context }) = block(row, self.width) else {
            return Ok(Explanation {
                mean: 0.0,
                spread: 0.0,
                exploring: true,
                model: self.policy.model().0,
                why: format!(
                    "rows so far had all their numbers in one of {} blocks, and this one has not",
                    self.count()
                ),
                warning: None,
            });
        };
        let name = &self.names[number];
        let said = self.policy.explanation(Action::Named { context, name, features: &[] })?;
        let this = if number < self.count() { format!("block {name}") } else { "a row of zeros".to_owned() };
        let because = said.why.replace(&format!("the action '{name}'"), &this);
        let why = format!("a row is a context in one of {} blocks, which is the action; {because}", self.count());
        Ok(Explanation { why, ..said })
    }

    /// How many blocks there are.
    fn count(&self) -> usize {
        self.names.len() - 1
    }
}

/// The names of so many blocks, and that of zeros.
fn names(count: usize) -> Vec<Name> {
    (0..=count).map(|number| Name::from(number.to_string())).collect()
}

impl InBlocks {
    /// Beside the policy for rows, `rows`, which was made of these settings.
    pub(super) fn new(entry: Entry, settings: Settings, key: Key, rows: Box<dyn Policy>) -> Self {
        InBlocks { maker: Maker { entry, settings, key }, rows, known: 0, seen: Vec::new(), sight: Sight::Open }
    }

    pub(super) fn restore(entry: Entry, state: serde_json::Value) -> Result<Self> {
        let State { dim, settings, key, rows, known, seen, contexts } =
            serde_json::from_value(state).map_err(unreadable)?;
        entry.resolve(&settings)?;
        let restore =
            |value| -> Result<Box<dyn Policy>> { entry.restore(serde_json::from_value(value).map_err(unreadable)?) };
        let rows = restore(rows)?;
        let whole = |seen: &Seen| !seen.numbers.is_empty() && seen.first.saturating_add(seen.numbers.len()) <= dim;
        if rows.dim() != dim || known > seen.len() || !seen.iter().all(whole) {
            return Err(inconsistent());
        }
        let sight = match contexts {
            None => Sight::Open,
            Some((width, value)) => {
                let policy = restore(value)?;
                if policy.dim() != width || width < 2 || !dim.is_multiple_of(width) {
                    return Err(inconsistent());
                }
                Sight::Contexts(Box::new(Contexts { width, names: names(dim / width), policy }))
            }
        };
        Ok(InBlocks { maker: Maker { entry, settings, key }, rows, known, seen, sight })
    }

    fn contexts(&self) -> Option<&Contexts> {
        if let Sight::Contexts(contexts) = &self.sight { Some(contexts) } else { None }
    }

    fn acting(&self) -> &dyn Policy {
        self.contexts().map_or(self.rows.as_ref(), |contexts| contexts.policy.as_ref())
    }

    /// Finds out what the rows seen are.
    fn look(&mut self) -> Result<()> {
        let dim = self.dim();
        let Some(width) = width(dim, self.seen.iter().filter_map(Seen::span)) else {
            return self.settle();
        };
        if self.in_several_blocks(width) {
            let mut contexts = Contexts::new(&self.maker, dim, width)?;
            self.seen.iter().try_for_each(|seen| contexts.learn(&seen.row(dim), seen.reward))?;
            self.sight = Sight::Contexts(Box::new(contexts));
            return Ok(());
        }
        if self.seen.len() >= PATIENCE {
            return self.settle();
        }
        self.sight = Sight::Open;
        self.teach_rows()
    }

    fn in_several_blocks(&self, width: usize) -> bool {
        let mut numbers = (self.seen.iter().filter(|seen| seen.says_more_than_a_name()))
            .filter_map(|seen| seen.span().map(|(first, _)| first / width));
        let first = numbers.next();
        numbers.any(|number| Some(number) != first)
    }

    /// Rows are rows, for good.
    fn settle(&mut self) -> Result<()> {
        self.teach_rows()?;
        (self.seen, self.known) = (Vec::new(), 0);
        self.sight = Sight::Rows;
        Ok(())
    }

    /// Lets the policy for rows learn what it has not learnt of the rows seen.
    fn teach_rows(&mut self) -> Result<()> {
        let dim = self.dim();
        for seen in &self.seen[self.known..] {
            self.rows.learn(Action::Vector(&seen.row(dim)), seen.reward)?;
        }
        self.known = self.seen.len();
        Ok(())
    }

    /// Keeps a row that was seen, and lets go of the oldest.
    fn keep(&mut self, seen: Seen) {
        self.seen.push(seen);
        if self.seen.len() >= 2 * PATIENCE {
            self.seen.drain(..PATIENCE);
            self.known = self.known.saturating_sub(PATIENCE);
        }
    }
}

impl Policy for InBlocks {
    fn name(&self) -> &'static str {
        self.rows.name()
    }

    fn dim(&self) -> usize {
        self.rows.dim()
    }

    fn select<'a>(&self, offer: Offer<'a>, key: Key, scratch: &mut Scratch) -> Result<Choice<'a>> {
        let (Offer::Rows(rows), Some(contexts)) = (offer, self.contexts()) else {
            return self.rows.select(offer, key, scratch);
        };
        offer.expect_dim(self.dim())?;
        contexts.select(rows, key, scratch)
    }

    fn probabilities(&self, offer: Offer<'_>, scratch: &mut Scratch, out: &mut Vec<f64>) -> Result<bool> {
        let (Offer::Rows(rows), Some(contexts)) = (offer, self.contexts()) else {
            return self.rows.probabilities(offer, scratch, out);
        };
        offer.expect_dim(self.dim())?;
        contexts.probabilities(rows, scratch, out)
    }

    fn learn(&mut self, action: Action<'_>, reward: f64) -> Result<()> {
        if let Sight::Rows = self.sight {
            return self.rows.learn(action, reward);
        }
        let row = check_observation(self.name(), self.dim(), action, reward)?;
        let fits = match &mut self.sight {
            Sight::Contexts(contexts) => {
                contexts.learn(row, reward)?;
                block(row, contexts.width).is_some()
            }
            Sight::Open | Sight::Rows => {
                self.rows.learn(action, reward)?;
                self.known += 1;
                false
            }
        };
        self.keep(Seen::of(row, reward));
        if fits { Ok(()) } else { self.look() }
    }

    fn score(&self, offer: Offer<'_>, scratch: &mut Scratch) -> Result<()> {
        let (Offer::Rows(rows), Some(contexts)) = (offer, self.contexts()) else {
            return self.rows.score(offer, scratch);
        };
        offer.expect_dim(self.dim())?;
        contexts.score(rows, scratch)
    }

    fn means(&self, offer: Offer<'_>, scratch: &mut Scratch) -> Result<()> {
        if self.contexts().is_some() { self.score(offer, scratch) } else { self.rows.means(offer, scratch) }
    }

    fn exploring(&self) -> bool {
        self.acting().exploring()
    }

    fn needs_finite_arms(&self) -> bool {
        self.rows.needs_finite_arms()
    }

    fn model(&self) -> (String, String) {
        self.acting().model()
    }

    fn network(&self) -> Option<Fitted> {
        self.acting().network()
    }

    fn explanation(&self, action: Action<'_>) -> Result<Explanation> {
        match self.contexts() {
            Some(contexts) => contexts.explanation(check_vector(self.name(), self.dim(), action)?),
            None => self.rows.explanation(action),
        }
    }

    fn snapshot(&self) -> Result<Snapshot> {
        if let Sight::Rows = self.sight {
            return self.rows.snapshot();
        }
        let save = |policy: &dyn Policy| serde_json::to_value(policy.snapshot()?).map_err(unreadable);
        let contexts = self.contexts().map(|contexts| Ok((contexts.width, save(contexts.policy.as_ref())?)));
        let state = State {
            dim: self.dim(),
            settings: self.maker.settings.clone(),
            key: self.maker.key,
            rows: save(self.rows.as_ref())?,
            known: self.known,
            seen: self.seen.clone(),
            contexts: contexts.transpose()?,
        };
        Ok(Snapshot::of(self.name(), &state)?.in_form(Form::Blocks))
    }
}

impl fmt::Debug for InBlocks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("InBlocks").field("acting", &self.acting()).finish_non_exhaustive()
    }
}
