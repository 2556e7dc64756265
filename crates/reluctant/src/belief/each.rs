//! Several actions that share nothing: a belief each.

use std::fmt;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::heads::{Asked, Heads};
use super::{Belief, state};
use crate::error::Result;
use crate::offer::Rows;
use crate::rng::Key;
use crate::scratch::Scratch;

/// A belief for each action, all made alike.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(bound(serialize = "B: Serialize", deserialize = "B: DeserializeOwned"))]
pub struct Each<B> {
    /// What an action is thought of that has never been rewarded.
    fresh: B,
    heads: Vec<B>,
}

impl<B: Belief> Each<B> {
    /// No actions yet; each will start with a copy of this belief.
    pub fn new(fresh: B) -> Self {
        Each { fresh, heads: Vec::new() }
    }

    /// Whether every belief passes a check, for one read from a file, and all have one dimension.
    pub(crate) fn all(&self, consistent: impl Fn(&B) -> bool) -> bool {
        let fits = |belief: &B| consistent(belief) && belief.dim() == self.fresh.dim();
        fits(&self.fresh) && self.heads.iter().all(fits)
    }

    fn of(&self, head: Option<usize>) -> &B {
        head.map_or(&self.fresh, |head| &self.heads[head])
    }
}

impl<B: Belief + Clone + Serialize + fmt::Debug> Heads for Each<B> {
    fn kind(&self) -> &'static str {
        self.fresh.kind()
    }

    fn describe(&self) -> String {
        format!("for each action {}", self.fresh.describe())
    }

    fn dim(&self) -> usize {
        self.fresh.dim()
    }

    fn count(&self) -> usize {
        self.heads.len()
    }

    fn add(&mut self, _: &str) -> Result<()> {
        self.heads.push(self.fresh.clone());
        Ok(())
    }

    fn learn(&mut self, head: usize, x: &[f64], y: f64) {
        self.heads[head].learn(x, y);
    }

    fn predict(&self, x: &[f64], actions: Asked<'_>, scale: f64, scratch: &mut Scratch) {
        let mut scores = std::mem::take(&mut scratch.other_scores);
        scores.clear();
        for (_, head) in actions.iter() {
            self.of(head).predict(Rows::trusted(x.len(), x), scale, scratch);
            scores.push(scratch.scores.first().copied().unwrap_or_default());
        }
        scratch.other_scores = std::mem::replace(&mut scratch.scores, scores);
    }

    fn draw(&self, x: &[f64], actions: Asked<'_>, scale: f64, key: Key, scratch: &mut Scratch) {
        let drawn = actions.iter().map(|(name, head)| self.of(head).draw_at(x, scale, key.branch(name), scratch).1);
        let values = drawn.collect();
        scratch.numbers = values;
    }

    fn scales(&self) -> bool {
        false
    }

    fn save(&self) -> Result<serde_json::Value> {
        state(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::belief::{Features, Linear};
    use crate::offer::Name;

    #[test]
    fn each_action_has_the_belief_that_it_would_have_alone() {
        let fresh = Linear::new(2, Features::Constant, 0.5).unwrap();
        let (mut each, mut alone) = (Each::new(fresh.clone()), fresh.clone());
        each.add("a").unwrap();
        each.add("b").unwrap();
        for (head, x, y) in [(0, [1.0, 2.0], 0.5), (1, [0.0, 1.0], 2.0), (1, [2.0, 1.0], 1.0)] {
            each.learn(head, &x, y);
            if head == 1 {
                alone.learn(&x, y);
            }
        }
        let (names, x) = ([Name::from("b"), Name::from("c")], [0.3, 0.4]);
        let (mut scratch, mut expected) = (Scratch::default(), Vec::new());
        for belief in [&alone, &fresh] {
            belief.predict(Rows::new(2, &x).unwrap(), 0.7, &mut scratch);
            expected.push(scratch.scores()[0]);
        }
        let actions = Asked::new(&names, &[Some(1), None]);
        each.predict(&x, actions, 0.7, &mut scratch);
        assert_eq!(scratch.scores(), expected);
        each.draw(&x, actions, 0.7, Key::new(1), &mut scratch);
        let values = scratch.values().to_vec();
        assert_eq!(values[0], alone.draw_at(&x, 0.7, Key::new(1).branch("b"), &mut scratch).1);
        assert_eq!(values.len(), 2);
    }
}
