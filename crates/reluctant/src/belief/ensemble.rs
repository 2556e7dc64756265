//! Bootstrapped networks with prior functions: a belief by the disagreement of its members.
//!
//! The mean is that of the members, the spread their standard deviation. A drawn function is a member. Between two
//! trainings members do not change.

use serde::{Deserialize, Serialize};

use super::heads::{Asked, Heads};
use super::{Belief, state};
use crate::choice::Score;
use crate::error::Result;
use crate::network::{Crowd, Inputs};
use crate::offer::Rows;
use crate::params::{Initial, Kind, Param, Params};
use crate::rng::{Key, Purpose, index};
use crate::scratch::Scratch;

/// The most networks.
const MAX_MEMBERS: u64 = 1_000;

pub(crate) const MEMBERS: Param =
    Param::new("members", Initial::count(10), Kind::Count { min: 2, max: MAX_MEMBERS }, "how many networks there are");
pub(crate) const PRIOR: Param = Param::new(
    "prior",
    Initial::real(0.3),
    Kind::NOT_NEGATIVE,
    "size of the random prior functions, for rewards of variance one",
);

/// The head of rows has this name.
const ROWS: &str = "rows";

/// Networks that were trained on bootstrap samples.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Ensemble {
    crowd: Crowd,
}

impl Ensemble {
    /// Reads `members`, `prior` and the settings of the networks. Rows have one head, which is there from the start.
    pub(crate) fn read(dim: usize, inputs: Inputs, params: &Params, key: Key) -> Result<Self> {
        let members = (params.size("members")?, params.real("prior")?);
        let mut crowd = Crowd::read(dim, inputs, members, params, key)?;
        if inputs == Inputs::Rows {
            crowd.add_head(ROWS);
        }
        Ok(Ensemble { crowd })
    }

    pub(crate) fn is_consistent(&self) -> bool {
        (2..=MAX_MEMBERS as usize).contains(&self.crowd.members()) && self.crowd.is_consistent()
    }

    /// Mean and standard deviation of the members at a scaled x.
    fn moments(&self, head: Option<usize>, name: &str, scaled: &[f64], hidden: &mut Vec<f64>) -> (f64, f64) {
        let (mut mean, mut squares) = (0.0, 0.0);
        for m in 0..self.crowd.members() {
            let before = self.crowd.value(m, head, name, scaled, hidden) - mean;
            // Welford's update, which does not cancel.
            mean += before / (m + 1) as f64;
            squares += before * before * m as f64 / (m + 1) as f64;
        }
        (mean, (squares / self.crowd.members() as f64).sqrt())
    }

    fn score(&self, head: Option<usize>, name: &str, scale: f64, scaled: &[f64], hidden: &mut Vec<f64>) -> Score {
        let (mean, spread) = self.moments(head, name, scaled, hidden);
        Score { mean, width: scale * spread }
    }

    /// What the member of this key says; its distance from the mean times `scale`.
    fn drawn(&self, key: Key, scale: f64) -> impl Fn(Option<usize>, &str, &[f64], &mut Vec<f64>) -> f64 {
        let member = index(&mut key.purpose(Purpose::Choice).stream(), self.crowd.members());
        move |head, name, scaled, hidden| {
            let value = self.crowd.value(member, head, name, scaled, hidden);
            if scale == 1.0 {
                return value;
            }
            let (mean, _) = self.moments(head, name, scaled, hidden);
            mean + scale * (value - mean)
        }
    }
}

impl Heads for Ensemble {
    fn kind(&self) -> &'static str {
        "ensemble"
    }

    fn describe(&self) -> String {
        "networks that all actions share, each trained on its own sample of what was seen".to_owned()
    }

    fn dim(&self) -> usize {
        self.crowd.dim()
    }

    fn count(&self) -> usize {
        self.crowd.heads()
    }

    fn add(&mut self, name: &str) -> Result<()> {
        self.crowd.add_head(name);
        Ok(())
    }

    fn learn(&mut self, head: usize, x: &[f64], y: f64) {
        self.crowd.observe(head, x, y);
    }

    fn predict(&self, x: &[f64], actions: Asked<'_>, scale: f64, scratch: &mut Scratch) {
        let Scratch { scores, drawn: scaled, phi: hidden, .. } = scratch;
        self.crowd.scale(x, scaled);
        scores.clear();
        scores.extend(actions.iter().map(|(name, head)| self.score(head, name, scale, scaled, hidden)));
    }

    fn draw(&self, x: &[f64], actions: Asked<'_>, scale: f64, key: Key, scratch: &mut Scratch) {
        let Scratch { numbers: values, drawn: scaled, phi: hidden, .. } = scratch;
        self.crowd.scale(x, scaled);
        let drawn = self.drawn(key, scale);
        values.clear();
        values.extend(actions.iter().map(|(name, head)| drawn(head, name, scaled, hidden)));
    }

    fn save(&self) -> Result<serde_json::Value> {
        state(self)
    }
}

/// On rows: one head for all of them.
impl Belief for Ensemble {
    fn kind(&self) -> &'static str {
        "ensemble"
    }

    fn describe(&self) -> String {
        "networks, each trained on its own sample of what was seen".to_owned()
    }

    fn dim(&self) -> usize {
        self.crowd.dim()
    }

    fn learn(&mut self, x: &[f64], y: f64) {
        self.crowd.observe(0, x, y);
    }

    fn predict(&self, rows: Rows<'_>, scale: f64, scratch: &mut Scratch) {
        let Scratch { scores, drawn: scaled, phi: hidden, .. } = scratch;
        scores.clear();
        scores.extend(rows.iter().map(|x| {
            self.crowd.scale(x, scaled);
            self.score(Some(0), ROWS, scale, scaled, hidden)
        }));
    }

    fn draw(&self, rows: Rows<'_>, scale: f64, key: Key, scratch: &mut Scratch) {
        let Scratch { numbers: values, drawn: scaled, phi: hidden, .. } = scratch;
        let drawn = self.drawn(key, scale);
        values.clear();
        values.extend(rows.iter().map(|x| {
            self.crowd.scale(x, scaled);
            drawn(Some(0), ROWS, scaled, hidden)
        }));
    }

    /// A member's value: the members are not normal.
    fn draw_at(&self, x: &[f64], scale: f64, key: Key, scratch: &mut Scratch) -> (Score, f64) {
        let row = Rows::trusted(Belief::dim(self), x);
        Belief::draw(self, row, scale, key, scratch);
        let value = scratch.values().first().copied().unwrap_or(0.0);
        Belief::predict(self, row, scale, scratch);
        (scratch.scores.first().copied().unwrap_or_default(), value)
    }

    fn save(&self) -> Result<serde_json::Value> {
        state(self)
    }
}
