//! Two beliefs that learn the same rewards: one says the mean, the other how unsure it is.

use serde::{Deserialize, Serialize};

use super::heads::{Asked, Heads};
use super::{Belief, state};
use crate::choice::Score;
use crate::error::Result;
use crate::offer::Rows;
use crate::rng::{Key, Purpose, normal};
use crate::scratch::Scratch;

/// The mean of one belief, the spread of another.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Paired<M, S> {
    mean: M,
    spread: S,
}

impl<M, S> Paired<M, S> {
    /// The two, of one dimension.
    pub(crate) fn new(mean: M, spread: S) -> Self {
        Paired { mean, spread }
    }

    /// The belief that says the mean.
    pub fn mean(&self) -> &M {
        &self.mean
    }

    /// The belief that says the spread.
    pub fn spread(&self) -> &S {
        &self.spread
    }

    /// Scores of both, put together in `scratch.scores`.
    fn pair(&self, scratch: &mut Scratch, mean: impl FnOnce(&mut Scratch), spread: impl FnOnce(&mut Scratch)) {
        mean(scratch);
        let mut scores = std::mem::take(&mut scratch.other_scores);
        scores.clear();
        scores.extend_from_slice(&scratch.scores);
        spread(scratch);
        for (score, other) in scores.iter_mut().zip(&scratch.scores) {
            *score = Score { mean: score.mean, width: other.width };
        }
        scratch.other_scores = std::mem::replace(&mut scratch.scores, scores);
    }
}

impl<M: Heads + Serialize, S: Heads + Serialize> Heads for Paired<M, S> {
    fn kind(&self) -> &'static str {
        self.mean.kind()
    }

    fn describe(&self) -> String {
        format!("{}; widths are those of {}", self.mean.describe(), self.spread.describe())
    }

    fn dim(&self) -> usize {
        self.mean.dim()
    }

    fn count(&self) -> usize {
        self.mean.count()
    }

    fn add(&mut self, name: &str) -> Result<()> {
        self.spread.add(name)?;
        self.mean.add(name)
    }

    fn learn(&mut self, head: usize, x: &[f64], y: f64) {
        self.mean.learn(head, x, y);
        self.spread.learn(head, x, y);
    }

    fn predict(&self, x: &[f64], actions: Asked<'_>, scale: f64, scratch: &mut Scratch) {
        self.pair(
            scratch,
            |scratch| self.mean.predict(x, actions, 0.0, scratch),
            |scratch| self.spread.predict(x, actions, scale, scratch),
        );
    }

    /// Normal values, one for each action by itself.
    fn draw(&self, x: &[f64], actions: Asked<'_>, scale: f64, key: Key, scratch: &mut Scratch) {
        Heads::predict(self, x, actions, scale, scratch);
        let Scratch { scores, numbers, .. } = scratch;
        numbers.clear();
        numbers.extend(actions.iter().zip(scores).map(|((name, _), score)| {
            score.mean + score.width * normal(&mut key.branch(name).purpose(Purpose::Choice).stream())
        }));
    }

    fn warning(&self) -> Option<String> {
        self.mean.warning().or_else(|| self.spread.warning())
    }

    fn scales(&self) -> bool {
        self.mean.scales() && self.spread.scales()
    }

    fn save(&self) -> Result<serde_json::Value> {
        state(self)
    }
}

impl<M: Belief + Serialize, S: Belief + Serialize> Belief for Paired<M, S> {
    fn kind(&self) -> &'static str {
        self.mean.kind()
    }

    fn describe(&self) -> String {
        format!("{}, with the width of {}", self.mean.describe(), self.spread.describe())
    }

    fn warning(&self) -> Option<String> {
        self.mean.warning().or_else(|| self.spread.warning())
    }

    fn dim(&self) -> usize {
        self.mean.dim()
    }

    fn learn(&mut self, x: &[f64], y: f64) {
        self.mean.learn(x, y);
        self.spread.learn(x, y);
    }

    fn predict(&self, rows: Rows<'_>, scale: f64, scratch: &mut Scratch) {
        self.pair(
            scratch,
            |scratch| self.mean.predict(rows, 0.0, scratch),
            |scratch| self.spread.predict(rows, scale, scratch),
        );
    }

    /// The mean of the one, and what a draw of the other strays from its own mean.
    fn draw(&self, rows: Rows<'_>, scale: f64, key: Key, scratch: &mut Scratch) {
        self.spread.draw(rows, scale, key, scratch);
        let mut values = scratch.values().to_vec();
        self.spread.predict(rows, 0.0, scratch);
        values.iter_mut().zip(&scratch.scores).for_each(|(value, score)| *value -= score.mean);
        self.mean.predict(rows, 0.0, scratch);
        values.iter_mut().zip(&scratch.scores).for_each(|(value, score)| *value += score.mean);
        scratch.numbers = values;
    }

    fn save(&self) -> Result<serde_json::Value> {
        state(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::belief::{Each, Features, Linear};
    use crate::offer::Name;

    fn linear(lambda: f64) -> Linear {
        Linear::new(2, Features::Raw, lambda).unwrap()
    }

    /// With two regressions everything can be said without the pair.
    #[test]
    fn means_are_of_the_one_and_spreads_of_the_other() {
        let mut pair = Paired::new(linear(0.5), linear(4.0));
        let (mut mean, mut spread) = (linear(0.5), linear(4.0));
        for (x, y) in [([1.0, 0.5], 1.0), ([0.2, 2.0], -1.0), ([0.7, -0.3], 2.0)] {
            Belief::learn(&mut pair, &x, y);
            mean.learn(&x, y);
            spread.learn(&x, y);
        }
        let (xs, mut scratch) = ([0.3, 0.4, 2.0, 1.0, -1.0, 0.1], Scratch::default());
        let rows = Rows::new(2, &xs).unwrap();
        let mut of = |belief: &dyn Belief| {
            belief.predict(rows, 0.7, &mut scratch);
            let scores = scratch.scores().to_vec();
            belief.draw(rows, 0.7, Key::new(3), &mut scratch);
            (scores, scratch.values().to_vec())
        };
        let ((found, drawn), (means, _), (spreads, values)) = (of(&pair), of(&mean), of(&spread));
        for i in 0..3 {
            assert_eq!(found[i], Score { mean: means[i].mean, width: spreads[i].width });
            assert!((drawn[i] - means[i].mean - (values[i] - spreads[i].mean)).abs() < 1e-12);
        }
    }

    #[test]
    fn actions_are_added_to_both() {
        let mut pair = Paired::new(Each::new(linear(1.0)), Each::new(linear(3.0)));
        pair.add("a").unwrap();
        Heads::learn(&mut pair, 0, &[1.0, 2.0], 1.0);
        assert_eq!((pair.mean().count(), pair.spread().count()), (1, 1));
        let (names, mut scratch) = ([Name::from("a"), Name::from("b")], Scratch::default());
        let actions = Asked::new(&names, &[Some(0), None]);
        Heads::predict(&pair, &[1.0, 2.0], actions, 1.0, &mut scratch);
        let [known, new] = scratch.scores() else { panic!() };
        assert!(known.mean > 0.5 && new.mean == 0.0 && known.width < new.width);
    }
}
