//! Contexts with named actions that have no features of their own: one belief for all actions.
//!
//! What the actions share is learnt from every reward, and each has a head of its own ([`Heads`]). An action gets its
//! head with its first reward; until then it is judged by a fresh one. Actions that are no longer offered keep theirs.
//! The names of the actions are part of the snapshot.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};

use super::independent::greatest;
use super::named::{context_of, name_of};
use super::remarks::{Reader, Remarks};
use super::rule::Rule;
use super::snapshot::{inconsistent, unreadable};
use super::{Explanation, Form, Policy, Snapshot};
use crate::action::{Action, check_finite};
use crate::belief::{Asked, Heads};
use crate::choice::Choice;
use crate::error::Result;
use crate::limits::MAX_FEATURES;
use crate::offer::{Name, Offer, Space};
use crate::params::Params;
use crate::rng::Key;
use crate::scratch::Scratch;

/// A belief about actions, and how to act on it.
pub type Acting = (Box<dyn Heads>, Rule);

/// How a policy is made that has one belief for all actions.
#[derive(Debug, Clone, Copy)]
pub struct SharedModel {
    /// The belief for contexts of dimension `dim`, and how to act on it, from checked parameters.
    pub build: fn(dim: usize, params: &Params, key: Key) -> Result<Acting>,
    /// The belief that was saved; an error if its parts do not fit together.
    pub restore: fn(state: serde_json::Value) -> Result<Box<dyn Heads>>,
}

/// One belief for all actions, and a rule to act on it.
pub struct Shared {
    name: &'static str,
    rule: Rule,
    belief: Box<dyn Heads>,
    /// The number of each rewarded action's head.
    heads: BTreeMap<Name, usize>,
    /// How many rewards there were.
    learnt: u64,
    remarks: Remarks,
}

/// The state as it is saved.
#[derive(Serialize, Deserialize)]
struct State {
    rule: Rule,
    /// In the order of their heads.
    names: Vec<String>,
    learnt: u64,
    belief: serde_json::Value,
    #[serde(default)]
    remarks: Remarks,
}

impl Shared {
    pub(super) fn new(name: &'static str, belief: Box<dyn Heads>, rule: Rule) -> Self {
        Shared { name, rule, belief, heads: BTreeMap::new(), learnt: 0, remarks: Remarks::new() }
    }

    pub(super) fn restore(name: &'static str, state: serde_json::Value, model: SharedModel) -> Result<Self> {
        let State { rule, names, learnt, belief, remarks } = serde_json::from_value(state).map_err(unreadable)?;
        let belief = (model.restore)(belief)?;
        let heads: BTreeMap<Name, usize> = names.iter().enumerate().map(|(i, name)| (Name::from(&**name), i)).collect();
        let fits = heads.len() == names.len() && belief.count() == names.len();
        if !fits || !(1..=MAX_FEATURES).contains(&belief.dim()) {
            return Err(inconsistent());
        }
        Ok(Shared { name, rule, belief, heads, learnt, remarks })
    }

    /// What it knows.
    pub fn belief(&self) -> &dyn Heads {
        self.belief.as_ref()
    }

    /// The names of the actions that have been rewarded, in alphabetical order.
    pub fn known(&self) -> impl Iterator<Item = &Name> {
        self.heads.keys()
    }

    /// Does something with the heads of these actions; a list of them is kept in the scratch memory.
    fn asking<T>(&self, names: &[Name], scratch: &mut Scratch, run: impl FnOnce(Asked<'_>, &mut Scratch) -> T) -> T {
        let mut heads = std::mem::take(&mut scratch.heads);
        heads.clear();
        heads.extend(names.iter().map(|name| self.heads.get(name).copied()));
        let result = run(Asked::new(names, &heads), scratch);
        scratch.heads = heads;
        result
    }
}

impl Policy for Shared {
    fn name(&self) -> &'static str {
        self.name
    }

    fn dim(&self) -> usize {
        self.belief.dim()
    }

    fn space(&self) -> Space {
        Space::contexts(self.dim())
    }

    fn select<'a>(&self, offer: Offer<'a>, key: Key, scratch: &mut Scratch) -> Result<Choice<'a>> {
        let context = context_of(self.name, self.dim(), offer)?;
        let belief = self.belief.as_ref();
        Ok(self.asking(context.names(), scratch, |actions, scratch| {
            self.rule.choose(belief, (context, actions), self.learnt, key, scratch)
        }))
    }

    fn probabilities(&self, offer: Offer<'_>, scratch: &mut Scratch, out: &mut Vec<f64>) -> Result<bool> {
        self.score(offer, scratch)?;
        match self.rule {
            Rule::Optimism(_) => return Ok(false),
            Rule::EpsilonGreedy { .. } | Rule::InverseGap { .. } => {
                self.rule.probabilities(&scratch.scores, self.learnt, out);
            }
            Rule::Sampling(_) if self.belief.draws_normally() || scratch.scores.len() == 1 => {
                greatest(&scratch.scores, out);
            }
            Rule::Sampling(_) => return Ok(false),
        }
        Ok(true)
    }

    fn learn(&mut self, action: Action<'_>, reward: f64) -> Result<()> {
        let (context, name) = name_of(self.name, self.dim(), action)?;
        check_finite("the reward", reward)?;
        let head = match self.heads.get(name) {
            Some(head) => *head,
            None => {
                self.belief.add(name)?;
                let head = self.heads.len();
                self.heads.insert(Name::from(name), head);
                head
            }
        };
        self.belief.learn(head, context, reward);
        self.learnt = self.learnt.saturating_add(1);
        self.remarks.see(context, reward);
        Ok(())
    }

    fn score(&self, offer: Offer<'_>, scratch: &mut Scratch) -> Result<()> {
        let context = context_of(self.name, self.dim(), offer)?;
        self.asking(context.names(), scratch, |actions, scratch| {
            self.belief.predict(context.features(), actions, self.rule.scale(), scratch);
        });
        Ok(())
    }

    fn needs_finite_arms(&self) -> bool {
        true
    }

    fn model(&self) -> (String, String) {
        (self.belief.describe(), self.rule.to_string())
    }

    fn explanation(&self, action: Action<'_>) -> Result<Explanation> {
        let (context, name) = name_of(self.name, self.dim(), action)?;
        let mut scratch = Scratch::default();
        self.asking(&[Name::from(name)], &mut scratch, |actions, scratch| {
            self.belief.predict(context, actions, self.rule.scale(), scratch);
        });
        let score = scratch.scores.first().copied().unwrap_or_default();
        let known = self.heads.contains_key(name);
        let reader = Reader { scales: self.belief.scales(), actions: Some(self.heads.len()) };
        Ok(Explanation {
            mean: score.mean,
            spread: score.width,
            exploring: self.exploring(),
            model: self.belief.describe(),
            why: if known { self.rule.to_string() } else { format!("the action '{name}' has not been rewarded yet") },
            warning: self.belief.warning().or_else(|| self.remarks.sentence(reader)),
        })
    }

    fn snapshot(&self) -> Result<Snapshot> {
        let mut names = vec![String::new(); self.heads.len()];
        self.heads.iter().for_each(|(name, head)| names[*head] = name.to_string());
        let (belief, remarks) = (self.belief.save()?, self.remarks.clone());
        let state = State { rule: self.rule, names, learnt: self.learnt, belief, remarks };
        Ok(Snapshot::of(self.name, &state)?.in_form(Form::Shared))
    }
}

impl fmt::Debug for Shared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Shared").field("name", &self.name).field("belief", &self.belief).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::belief::state;
    use crate::choice::Score;
    use crate::error::Error;
    use crate::offer::Context;
    use crate::rng::{Purpose, normal};

    /// The mean of all rewards is shared, each action's own mean is its head.
    #[derive(Debug, Clone, Default, Serialize, Deserialize)]
    struct Means {
        all: (f64, f64),
        heads: Vec<(f64, f64)>,
    }

    impl Means {
        fn score(&self, head: Option<usize>, scale: f64) -> Score {
            let (sum, count) = head.map_or((0.0, 0.0), |head| self.heads[head]);
            let prior = self.all.0 / (1.0 + self.all.1);
            Score { mean: (prior + sum) / (1.0 + count), width: scale / (1.0 + count).sqrt() }
        }
    }

    impl Heads for Means {
        fn kind(&self) -> &'static str {
            "means"
        }

        fn dim(&self) -> usize {
            2
        }

        fn count(&self) -> usize {
            self.heads.len()
        }

        fn add(&mut self, name: &str) -> Result<()> {
            if name == "full" {
                return Err(Error::out_of_range("the number of actions", 9, "8"));
            }
            self.heads.push((0.0, 0.0));
            Ok(())
        }

        fn learn(&mut self, head: usize, _: &[f64], y: f64) {
            for (sum, count) in [&mut self.all, &mut self.heads[head]] {
                *sum += y;
                *count += 1.0;
            }
        }

        fn predict(&self, _: &[f64], actions: Asked<'_>, scale: f64, scratch: &mut Scratch) {
            scratch.scores.clear();
            scratch.scores.extend(actions.iter().map(|(_, head)| self.score(head, scale)));
        }

        fn draw(&self, _: &[f64], actions: Asked<'_>, scale: f64, key: Key, scratch: &mut Scratch) {
            scratch.numbers.clear();
            scratch.numbers.extend(actions.iter().map(|(name, head)| {
                let Score { mean, width } = self.score(head, scale);
                mean + width * normal(&mut key.branch(name).purpose(Purpose::Choice).stream())
            }));
        }

        fn save(&self) -> Result<serde_json::Value> {
            state(self)
        }
    }

    const MODEL: SharedModel = SharedModel {
        build: |_, _, _| Ok((Box::new(Means::default()), Rule::Optimism(0.1))),
        restore: |state| Ok(Box::new(serde_json::from_value::<Means>(state).map_err(unreadable)?)),
    };

    fn chosen(policy: &Shared, names: &[&str], round: u64) -> (String, Option<f64>) {
        let names: Vec<Name> = names.iter().map(|name| Name::from(*name)).collect();
        let context = Context::new(&[0.5, 1.0], &names).unwrap();
        let choice = policy.select(context.into(), Key::new(1).round(round), &mut Scratch::default()).unwrap();
        (choice.named.unwrap().0.to_owned(), choice.appeal)
    }

    fn learn(policy: &mut Shared, name: &str, reward: f64) -> Result<()> {
        policy.learn(Action::Named { context: &[0.5, 1.0], name, features: &[] }, reward)
    }

    #[test]
    fn actions_come_and_go_and_are_saved_with_their_names() {
        let mut policy = Shared::new("toy", Box::new(Means::default()), Rule::Optimism(0.1));
        for (name, reward) in [("late", 1.0), ("early", 3.0), ("late", 1.0), ("bad", -2.0)] {
            learn(&mut policy, name, reward).unwrap();
        }
        assert_eq!(chosen(&policy, &["bad", "late", "early"], 1).0, "early");
        assert_eq!(chosen(&policy, &["late", "bad"], 1).0, "late");
        assert_eq!(chosen(&policy, &["bad", "new"], 1).0, "new");
        assert!(learn(&mut policy, "full", 1.0).unwrap_err().to_string().contains("the number of actions"));
        assert_eq!(policy.known().map(|name| &**name).collect::<Vec<_>>(), ["bad", "early", "late"]);
        let snapshot = policy.snapshot().unwrap();
        assert_eq!(snapshot.state["names"], serde_json::json!(["late", "early", "bad"]));
        let copy = Shared::restore("toy", snapshot.state.clone(), MODEL).unwrap();
        assert_eq!(chosen(&copy, &["bad", "late", "early"], 1), chosen(&policy, &["bad", "late", "early"], 1));
        let mut torn = snapshot.state;
        torn["names"] = serde_json::json!(["late", "early", "early"]);
        assert!(Shared::restore("toy", torn, MODEL).is_err());
    }

    #[test]
    fn the_order_of_names_does_not_matter() {
        let by_chance = [Rule::EpsilonGreedy { epsilon: 0.5, power: 0.0 }, Rule::InverseGap { gamma: 1.0 }];
        for rule in [Rule::Optimism(0.1), Rule::Sampling(1.0)].into_iter().chain(by_chance) {
            let mut policy = Shared::new("toy", Box::new(Means::default()), rule);
            for (name, reward) in [("a", 1.0), ("b", 0.9)] {
                learn(&mut policy, name, reward).unwrap();
            }
            for round in 0..20 {
                let one = chosen(&policy, &["a", "b", "never", "seen"], round);
                assert_eq!(one, chosen(&policy, &["seen", "b", "a", "never"], round));
                if let Rule::Optimism(_) | Rule::Sampling(_) = rule {
                    assert_eq!(one.1, chosen(&policy, &[&one.0], round).1);
                }
            }
        }
    }
}
