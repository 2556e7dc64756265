//! Several beliefs of one kind that learn the same rewards: their predictions are averaged.
//!
//! Networks that start apart and are penalised differently make different mistakes. Their mean makes fewer than each,
//! and one that went astray does not decide alone.

use serde::de::{DeserializeOwned, Error as _};
use serde::{Deserialize, Deserializer, Serialize};

use super::heads::{Asked, Heads};
use super::{Belief, state};
use crate::choice::Score;
use crate::error::{Error, Result};
use crate::offer::Rows;
use crate::rng::{Key, Purpose, index};
use crate::scratch::Scratch;

/// Several beliefs, at least one.
#[derive(Debug, Clone, Serialize)]
#[serde(transparent)]
pub struct Averaged<B> {
    members: Vec<B>,
}

impl<'de, B: Deserialize<'de>> Deserialize<'de> for Averaged<B> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        Averaged::new(Vec::deserialize(deserializer)?).map_err(D::Error::custom)
    }
}

impl<B> Averaged<B> {
    /// The mean of these, which have one dimension.
    pub(crate) fn new(members: Vec<B>) -> Result<Self> {
        if members.is_empty() {
            return Err(Error::Snapshot { reason: "it has no members".to_owned() });
        }
        Ok(Averaged { members })
    }

    /// The mean of what is made of each.
    pub(crate) fn map(self, make: impl FnMut(B) -> B) -> Self {
        Averaged { members: self.members.into_iter().map(make).collect() }
    }

    /// What is averaged.
    pub fn members(&self) -> &[B] {
        &self.members
    }

    /// The member that a draw is from.
    fn drawn(&self, key: Key) -> &B {
        &self.members[index(&mut key.purpose(Purpose::General).stream(), self.members.len())]
    }

    /// Scores of each member in turn, averaged into `scratch.scores`.
    fn average(&self, scratch: &mut Scratch, mut predict: impl FnMut(&B, &mut Scratch)) {
        predict(&self.members[0], scratch);
        let mut sums = std::mem::take(&mut scratch.other_scores);
        sums.clear();
        sums.extend_from_slice(&scratch.scores);
        for member in &self.members[1..] {
            predict(member, scratch);
            for (sum, score) in sums.iter_mut().zip(&scratch.scores) {
                *sum = Score { mean: sum.mean + score.mean, width: sum.width + score.width };
            }
        }
        let share = 1.0 / self.members.len() as f64;
        sums.iter_mut().for_each(|sum| *sum = Score { mean: share * sum.mean, width: share * sum.width });
        scratch.other_scores = std::mem::replace(&mut scratch.scores, sums);
    }
}

impl<B: Heads> Averaged<B> {
    /// Whether each member fits together by itself, as this says, and all know contexts and actions alike, for members
    /// read from a file.
    pub(super) fn are_consistent(&self, fits: impl Fn(&B) -> bool) -> bool {
        let first = &self.members[0];
        self.members.iter().all(|member| fits(member) && member.dim() == first.dim() && member.count() == first.count())
    }
}

impl<B: Heads + Clone + Serialize + DeserializeOwned> Heads for Averaged<B> {
    fn kind(&self) -> &'static str {
        self.members[0].kind()
    }

    fn describe(&self) -> String {
        format!("{}; {} of them, averaged", self.members[0].describe(), self.members.len())
    }

    fn dim(&self) -> usize {
        self.members[0].dim()
    }

    fn count(&self) -> usize {
        self.members[0].count()
    }

    /// Members are alike, so the first one that has no room is the first of all.
    fn add(&mut self, name: &str) -> Result<()> {
        self.members.iter_mut().try_for_each(|member| member.add(name))
    }

    fn learn(&mut self, head: usize, x: &[f64], y: f64) {
        self.members.iter_mut().for_each(|member| member.learn(head, x, y));
    }

    fn predict(&self, x: &[f64], actions: Asked<'_>, scale: f64, scratch: &mut Scratch) {
        self.average(scratch, |member, scratch| member.predict(x, actions, scale, scratch));
    }

    /// A draw of one member, any of them.
    fn draw(&self, x: &[f64], actions: Asked<'_>, scale: f64, key: Key, scratch: &mut Scratch) {
        self.drawn(key).draw(x, actions, scale, key, scratch);
    }

    fn warning(&self) -> Option<String> {
        self.members.iter().find_map(Heads::warning)
    }

    fn scales(&self) -> bool {
        self.members[0].scales()
    }

    fn save(&self) -> Result<serde_json::Value> {
        state(self)
    }
}

impl<B: Belief + Serialize> Belief for Averaged<B> {
    fn kind(&self) -> &'static str {
        self.members[0].kind()
    }

    fn describe(&self) -> String {
        self.members[0].describe()
    }

    fn warning(&self) -> Option<String> {
        self.members.iter().find_map(Belief::warning)
    }

    fn dim(&self) -> usize {
        self.members[0].dim()
    }

    fn learn(&mut self, x: &[f64], y: f64) {
        self.members.iter_mut().for_each(|member| member.learn(x, y));
    }

    fn predict(&self, rows: Rows<'_>, scale: f64, scratch: &mut Scratch) {
        self.average(scratch, |member, scratch| member.predict(rows, scale, scratch));
    }

    /// A draw of one member, any of them.
    fn draw(&self, rows: Rows<'_>, scale: f64, key: Key, scratch: &mut Scratch) {
        self.drawn(key).draw(rows, scale, key, scratch);
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

    #[test]
    fn predictions_are_the_mean_of_the_members() {
        let mut both = Averaged::new(vec![linear(0.5), linear(4.0)]).unwrap();
        for (x, y) in [([1.0, 0.5], 1.0), ([0.2, 2.0], -1.0), ([0.7, -0.3], 2.0)] {
            both.learn(&x, y);
        }
        let (xs, mut scratch) = ([0.3, 0.4, 2.0, 1.0, -1.0, 0.1], Scratch::default());
        let rows = Rows::new(2, &xs).unwrap();
        let alone: Vec<Vec<Score>> = (both.members().iter())
            .map(|member| {
                member.predict(rows, 0.7, &mut scratch);
                scratch.scores().to_vec()
            })
            .collect();
        both.predict(rows, 0.7, &mut scratch);
        for (i, score) in scratch.scores().iter().enumerate() {
            assert!((score.mean - 0.5 * (alone[0][i].mean + alone[1][i].mean)).abs() < 1e-15);
            assert!((score.width - 0.5 * (alone[0][i].width + alone[1][i].width)).abs() < 1e-15);
        }
        assert!(Averaged::<Linear>::new(Vec::new()).is_err());
    }

    #[test]
    fn members_learn_of_actions_together_and_are_drawn_from_one_at_a_time() {
        let mut both = Averaged::new(vec![Each::new(linear(1.0)), Each::new(linear(3.0))]).unwrap();
        both.add("a").unwrap();
        both.learn(0, &[1.0, 2.0], 1.0);
        assert_eq!(both.count(), 1);
        let (names, mut scratch) = ([Name::from("a")], Scratch::default());
        let actions = Asked::new(&names, &[Some(0)]);
        let (mut seen, x) = ([false; 2], [0.5, 0.5]);
        for round in 0..20 {
            let key = Key::new(1).round(round);
            both.draw(&x, actions, 1.0, key, &mut scratch);
            let value = scratch.values()[0];
            let place = both.members().iter().position(|member| {
                member.draw(&x, actions, 1.0, key, &mut scratch);
                scratch.values()[0] == value
            });
            seen[place.unwrap()] = true;
        }
        assert_eq!(seen, [true; 2]);
    }
}
