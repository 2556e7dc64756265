//! Contexts with named actions that have no features of their own: a policy for each action.
//!
//! Each action has a policy of its own, made alike, which sees the context x as its only arm. So models are disjoint:
//! with K actions and contexts of p numbers, linear policies keep K matrices of p × p numbers and never one of Kp × Kp.
//! In a round the action that appeals most is chosen: by mean plus width if the policies are optimists, by the drawn
//! value if they sample. Actions whose policies leave their next choice to chance, because they explore, come first,
//! each with the same probability.
//!
//! An action that was never rewarded has no policy yet; it is judged by one that has seen nothing. It gets its own with
//! its first reward. Actions that are no longer offered keep theirs.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::independent::greatest;
use super::named::{context_of, name_of};
use super::remarks::{Reader, Remarks};
use super::snapshot::{inconsistent, unreadable};
use super::{Explanation, Fitted, Form, Policy, Snapshot};
use crate::action::{Action, check_finite};
use crate::choice::{Choice, Score, argmax};
use crate::error::Result;
use crate::offer::{Name, Offer, Rows, Space};
use crate::params::Settings;
use crate::rng::{Key, Purpose, index};
use crate::scratch::Scratch;

/// Makes the policies of actions.
pub(super) trait Models: Send + Sync {
    /// The dimension p of a context.
    fn dim(&self) -> usize;

    /// Makes one.
    fn make(&self, key: Key) -> Result<Box<dyn Policy>>;

    /// Restores one from its state.
    fn restore(&self, state: serde_json::Value) -> Result<Box<dyn Policy>>;
}

/// A policy for each action.
pub struct PerAction {
    name: &'static str,
    models: Arc<dyn Models>,
    settings: Settings,
    key: Key,
    /// What an action is thought of that has not been rewarded yet.
    untried: Box<dyn Policy>,
    policies: BTreeMap<Name, Box<dyn Policy>>,
    remarks: Remarks,
}

/// The state as it is saved.
#[derive(Serialize, Deserialize)]
struct State {
    dim: usize,
    settings: Settings,
    key: Key,
    actions: BTreeMap<String, serde_json::Value>,
    #[serde(default)]
    remarks: Remarks,
}

impl PerAction {
    pub(super) fn new(
        name: &'static str,
        models: Arc<dyn Models>,
        settings: Settings,
        key: Key,
        untried: Box<dyn Policy>,
    ) -> Self {
        PerAction { name, models, settings, key, untried, policies: BTreeMap::new(), remarks: Remarks::new() }
    }

    pub(super) fn restore(
        name: &'static str,
        state: serde_json::Value,
        models: impl Fn(usize, &Settings) -> Result<Arc<dyn Models>>,
    ) -> Result<Self> {
        let State { dim, settings, key, actions, remarks } = serde_json::from_value(state).map_err(unreadable)?;
        let models = models(dim, &settings)?;
        let untried = models.make(key)?;
        let mut policies = BTreeMap::new();
        for (action, state) in actions {
            let policy = models.restore(state)?;
            if policy.dim() != dim {
                return Err(inconsistent());
            }
            policies.insert(Name::from(action), policy);
        }
        Ok(PerAction { name, models, settings, key, untried, policies, remarks })
    }

    /// The names of the actions that have been rewarded, in alphabetical order.
    pub fn known(&self) -> impl Iterator<Item = &Name> {
        self.policies.keys()
    }

    fn of(&self, name: &str) -> &dyn Policy {
        self.policies.get(name).unwrap_or(&self.untried).as_ref()
    }

    /// The score of every action, which `score` finds for the model of each.
    fn score_each(
        &self,
        offer: Offer<'_>,
        scratch: &mut Scratch,
        score: impl Fn(&dyn Policy, Offer<'_>, &mut Scratch) -> Result<()>,
    ) -> Result<()> {
        let context = context_of(self.name, self.dim(), offer)?;
        let x = Offer::Rows(Rows::trusted(self.dim(), context.features()));
        let mut scores = std::mem::take(&mut scratch.other_scores);
        scores.clear();
        for name in context.names() {
            score(self.of(name), x, scratch)?;
            scores.push(scratch.scores.first().copied().unwrap_or_default());
        }
        scratch.other_scores = std::mem::replace(&mut scratch.scores, scores);
        Ok(())
    }
}

impl Policy for PerAction {
    fn name(&self) -> &'static str {
        self.name
    }

    fn dim(&self) -> usize {
        self.models.dim()
    }

    fn space(&self) -> Space {
        Space::contexts(self.dim())
    }

    fn select<'a>(&self, offer: Offer<'a>, key: Key, scratch: &mut Scratch) -> Result<Choice<'a>> {
        let context = context_of(self.name, self.dim(), offer)?;
        let x = Offer::Rows(Rows::trusted(self.dim(), context.features()));
        let mut by_chance = std::mem::take(&mut scratch.places);
        by_chance.clear();
        let mut best: Option<(usize, Score, f64)> = None;
        let (mut drawn, mut outcome) = (false, Ok(()));
        for (i, name) in context.names().iter().enumerate() {
            match self.of(name).select(x, key.branch(name), scratch) {
                Err(cause) => outcome = Err(cause),
                Ok(Choice { appeal: None, .. }) => by_chance.push(i),
                Ok(Choice { appeal: Some(appeal), score, .. }) => {
                    drawn |= appeal != score.upper();
                    let values = [best.map_or(f64::NEG_INFINITY, |(_, _, appeal)| appeal), appeal];
                    if best.is_none() || argmax(values) == Some(1) {
                        best = Some((i, score, appeal));
                    }
                }
            }
        }
        let chance = (!by_chance.is_empty()).then(|| {
            let place = index(&mut key.purpose(Purpose::Choice).stream(), by_chance.len());
            (by_chance[place], 1.0 / by_chance.len() as f64)
        });
        scratch.places = by_chance;
        outcome?;
        Ok(match (chance, best) {
            (Some((i, propensity)), _) => Choice::named(context, i, Score::default()).by_chance(propensity),
            (None, Some((i, score, appeal))) if drawn => Choice::named(context, i, score).drawn(appeal),
            (None, Some((i, score, _))) => Choice::named(context, i, score),
            (None, None) => Choice::named(context, 0, Score::default()),
        })
    }

    fn probabilities(&self, offer: Offer<'_>, scratch: &mut Scratch, out: &mut Vec<f64>) -> Result<bool> {
        let context = context_of(self.name, self.dim(), offer)?;
        let x = Offer::Rows(Rows::trusted(self.dim(), context.features()));
        let mut scores = Vec::with_capacity(context.names().len());
        let (mut explored, mut normal, mut certain) = (0, true, true);
        out.clear();
        for name in context.names() {
            let policy = self.of(name);
            // Whether it explores does not depend on the key.
            let choice = policy.select(x, self.key.branch(name), scratch)?;
            explored += usize::from(choice.appeal.is_none());
            normal &= policy.draws_normally();
            certain &= choice.propensity == Some(1.0);
            out.push(if choice.appeal.is_none() { 1.0 } else { 0.0 });
            scores.push(choice.score);
        }
        if explored > 0 {
            out.iter_mut().for_each(|p| *p /= explored as f64);
        } else if normal || scores.len() == 1 {
            greatest(&scores, out);
        } else if certain && let Some(best) = argmax(scores.iter().map(Score::upper)) {
            // Nothing is left to chance: the one of greatest mean plus width.
            out[best] = 1.0;
            return Ok(true);
        }
        Ok(explored > 0 || normal || scores.len() == 1)
    }

    fn learn(&mut self, action: Action<'_>, reward: f64) -> Result<()> {
        let (context, name) = name_of(self.name, self.dim(), action)?;
        check_finite("the reward", reward)?;
        if let Some(policy) = self.policies.get_mut(name) {
            policy.learn(Action::Vector(context), reward)?;
        } else {
            let mut policy = self.models.make(self.key.branch(name))?;
            policy.learn(Action::Vector(context), reward)?;
            self.policies.insert(Name::from(name), policy);
        }
        self.remarks.see(context, reward);
        Ok(())
    }

    fn score(&self, offer: Offer<'_>, scratch: &mut Scratch) -> Result<()> {
        self.score_each(offer, scratch, |policy, x, scratch| policy.score(x, scratch))
    }

    fn means(&self, offer: Offer<'_>, scratch: &mut Scratch) -> Result<()> {
        self.score_each(offer, scratch, |policy, x, scratch| policy.means(x, scratch))
    }

    fn exploring(&self) -> bool {
        self.untried.exploring() && self.policies.values().all(|policy| policy.exploring())
    }

    fn needs_finite_arms(&self) -> bool {
        true
    }

    fn model(&self) -> (String, String) {
        let (model, why) = self.untried.model();
        (format!("for each action, {model}"), why)
    }

    fn network(&self) -> Option<Fitted> {
        let each = self.policies.iter().filter_map(|(name, policy)| Some((name.to_string(), policy.network()?)));
        let fitted: Vec<(String, Fitted)> = each.collect();
        (!fitted.is_empty()).then_some(Fitted::Actions(fitted))
    }

    fn explanation(&self, action: Action<'_>) -> Result<Explanation> {
        let (context, name) = name_of(self.name, self.dim(), action)?;
        let mut explanation = self.of(name).explanation(Action::Vector(context))?;
        if !self.policies.contains_key(name) {
            explanation.why = format!("the action '{name}' has not been rewarded yet");
        }
        // What one action's policy would remark on is no flaw of the rewards.
        explanation.warning = self.remarks.sentence(Reader { scales: false, actions: Some(self.policies.len()) });
        Ok(explanation)
    }

    fn snapshot(&self) -> Result<Snapshot> {
        let mut actions = BTreeMap::new();
        for (name, policy) in &self.policies {
            actions.insert(name.to_string(), policy.snapshot()?.state);
        }
        let (settings, remarks) = (self.settings.clone(), self.remarks.clone());
        let state = State { dim: self.dim(), settings, key: self.key, actions, remarks };
        Ok(Snapshot::of(self.name, &state)?.in_form(Form::PerAction))
    }
}

impl fmt::Debug for PerAction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PerAction").field("name", &self.name).field("policies", &self.policies).finish_non_exhaustive()
    }
}
