//! Rows: one belief about all of them, and a rule to act on it.
//!
//! What [`Shared`](super::Shared) is to contexts with named actions. A policy that is no more than a belief and a rule
//! says which, and this is the rest of it.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::rules::{optimism, sampling};
use super::snapshot::{inconsistent, unreadable};
use super::{Explanation, Fitted, Policy, Rule, Snapshot, explain_by_score};
use crate::action::{Action, check_observation, check_vector};
use crate::belief::Belief;
use crate::choice::Choice;
use crate::error::Result;
use crate::limits::MAX_FEATURES;
use crate::offer::Offer;
use crate::rng::{Key, Purpose, uniform};
use crate::scratch::Scratch;

/// One belief about rows, and a rule to act on it.
pub struct OnRows {
    name: &'static str,
    rule: Rule,
    belief: Box<dyn Belief>,
    /// How many rewards there were.
    learnt: u64,
}

/// The state as it is saved.
#[derive(Serialize, Deserialize)]
struct State {
    rule: Rule,
    learnt: u64,
    belief: serde_json::Value,
}

impl OnRows {
    pub(super) fn boxed(name: &'static str, belief: impl Belief + 'static, rule: Rule) -> Box<dyn Policy> {
        Box::new(OnRows { name, rule, belief: Box::new(belief), learnt: 0 })
    }

    /// The policy that was saved, whose belief `restore` reads and checks.
    pub(super) fn restored<B: Belief + 'static>(
        name: &'static str,
        state: serde_json::Value,
        restore: impl FnOnce(serde_json::Value) -> Result<B>,
    ) -> Result<Box<dyn Policy>> {
        let State { rule, learnt, belief } = serde_json::from_value(state).map_err(unreadable)?;
        let belief = Box::new(restore(belief)?);
        if !(1..=MAX_FEATURES).contains(&belief.dim()) {
            return Err(inconsistent());
        }
        Ok(Box::new(OnRows { name, rule, belief, learnt }))
    }

    /// What it knows.
    pub fn belief(&self) -> &dyn Belief {
        self.belief.as_ref()
    }
}

impl Policy for OnRows {
    fn name(&self) -> &'static str {
        self.name
    }

    fn dim(&self) -> usize {
        self.belief.dim()
    }

    fn select<'a>(&self, offer: Offer<'a>, key: Key, scratch: &mut Scratch) -> Result<Choice<'a>> {
        offer.expect_dim(self.dim())?;
        let (rows, belief) = (offer.rows(self.name)?, self.belief());
        Ok(match self.rule {
            Rule::Optimism(scale) => optimism(belief, rows, scale, scratch),
            Rule::Sampling(scale) => sampling(belief, rows, scale, key, scratch),
            Rule::EpsilonGreedy { .. } | Rule::InverseGap { .. } => {
                belief.predict(rows, self.rule.scale(), scratch);
                let mut stream = key.purpose(Purpose::Choice).stream();
                let Scratch { scores, numbers, .. } = scratch;
                let picked = self.rule.pick(scores, self.learnt, |_| uniform(&mut stream), numbers);
                picked.of(Choice::row(rows, picked.index, scores[picked.index]))
            }
        })
    }

    fn probabilities(&self, offer: Offer<'_>, scratch: &mut Scratch, out: &mut Vec<f64>) -> Result<bool> {
        if let Rule::Optimism(_) | Rule::Sampling(_) = self.rule {
            return Ok(false);
        }
        self.score(offer, scratch)?;
        self.rule.probabilities(&scratch.scores, self.learnt, out);
        Ok(true)
    }

    fn learn(&mut self, action: Action<'_>, reward: f64) -> Result<()> {
        let x = check_observation(self.name, self.dim(), action, reward)?;
        self.belief.learn(x, reward);
        self.learnt = self.learnt.saturating_add(1);
        Ok(())
    }

    fn score(&self, offer: Offer<'_>, scratch: &mut Scratch) -> Result<()> {
        offer.expect_dim(self.dim())?;
        self.belief.predict(offer.rows(self.name)?, self.rule.scale(), scratch);
        Ok(())
    }

    fn model(&self) -> (String, String) {
        (self.belief.describe(), self.rule.to_string())
    }

    fn network(&self) -> Option<Fitted> {
        let linear = self.belief.as_linear().filter(|_| self.learnt > 0)?;
        Some(Fitted::linear(linear, self.dim()))
    }

    fn explanation(&self, action: Action<'_>) -> Result<Explanation> {
        let warning = self.belief.warning();
        Ok(Explanation { warning, ..explain_by_score(self, check_vector(self.name, self.dim(), action)?)? })
    }

    fn snapshot(&self) -> Result<Snapshot> {
        Snapshot::of(self.name, &State { rule: self.rule, learnt: self.learnt, belief: self.belief.save()? })
    }
}

impl fmt::Debug for OnRows {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OnRows").field("name", &self.name).field("belief", &self.belief).finish_non_exhaustive()
    }
}
