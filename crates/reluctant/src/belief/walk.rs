//! One network that walks through the posterior: after each reward it takes noisy gradient steps, and what it says is
//! a draw (`network/langevin.rs`).
//!
//! There is one draw at a time, so nothing is known of the spread but for actions that were never rewarded: their heads
//! are drawn anew each time, with weights N(0, 1/m) for m hidden units.

use serde::{Deserialize, Serialize};

use super::heads::{Asked, Heads};
use super::{Belief, state};
use crate::choice::Score;
use crate::error::Result;
use crate::linalg::dot;
use crate::network::{Inputs, Langevin, Trained};
use crate::offer::Rows;
use crate::params::Params;
use crate::rng::{Key, Purpose, normal};
use crate::scratch::Scratch;

/// A network that walks.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Walk {
    trained: Trained,
}

impl Walk {
    /// Reads the settings of the network and of its walk. Rows have one head, which is there from the start.
    pub(crate) fn read(dim: usize, inputs: Inputs, params: &Params, key: Key) -> Result<Self> {
        let mut trained = Trained::read(dim, inputs, params, key)?.walking(Langevin::read(params)?);
        if inputs == Inputs::Rows {
            trained.add_head();
        }
        Ok(Walk { trained })
    }

    pub(crate) fn is_consistent(&self) -> bool {
        self.trained.is_consistent() && !self.trained.is_growing()
    }

    /// The value of a head at the features φ, the last of which is a one.
    fn value(&self, head: Option<usize>, phi: &[f64]) -> f64 {
        head.map_or(0.0, |head| dot(self.trained.net().head(head), phi))
    }

    /// How far the value of a head is spread that is not there yet.
    fn spread(&self, head: Option<usize>, phi: &[f64]) -> f64 {
        if head.is_some() { 0.0 } else { (dot(phi, phi) / self.trained.net().width() as f64).sqrt() }
    }
}

impl Heads for Walk {
    fn kind(&self) -> &'static str {
        "walk"
    }

    fn describe(&self) -> String {
        "a network that all actions share and that walks through the posterior by noisy gradient steps".to_owned()
    }

    fn dim(&self) -> usize {
        self.trained.dim()
    }

    fn count(&self) -> usize {
        self.trained.heads()
    }

    fn add(&mut self, _: &str) -> Result<()> {
        self.trained.add_head();
        Ok(())
    }

    fn learn(&mut self, head: usize, x: &[f64], y: f64) {
        self.trained.observe(head, x, y);
    }

    fn predict(&self, x: &[f64], actions: Asked<'_>, scale: f64, scratch: &mut Scratch) {
        let Scratch { scores, numbers, phi, .. } = scratch;
        self.trained.features(x, numbers, phi);
        let rewards = self.trained.rewards();
        scores.clear();
        let score = |head| rewards.score(self.value(head, phi), scale, self.spread(head, phi));
        scores.extend(actions.iter().map(|(_, head)| score(head)));
    }

    fn draw(&self, x: &[f64], actions: Asked<'_>, scale: f64, key: Key, scratch: &mut Scratch) {
        let Scratch { numbers: values, drawn, phi, .. } = scratch;
        self.trained.features(x, drawn, phi);
        let rewards = self.trained.rewards();
        values.clear();
        values.extend(actions.iter().map(|(name, head)| {
            let mut stream = key.branch(name).purpose(Purpose::Choice).stream();
            rewards.reward(self.value(head, phi) + scale * self.spread(head, phi) * normal(&mut stream))
        }));
    }

    fn warning(&self) -> Option<String> {
        self.trained.warning_of_training()
    }

    fn save(&self) -> Result<serde_json::Value> {
        state(self)
    }
}

/// On rows: one head for all of them.
impl Belief for Walk {
    fn kind(&self) -> &'static str {
        "walk"
    }

    fn describe(&self) -> String {
        "a network that walks through the posterior by noisy gradient steps".to_owned()
    }

    fn dim(&self) -> usize {
        self.trained.dim()
    }

    fn learn(&mut self, x: &[f64], y: f64) {
        self.trained.observe(0, x, y);
    }

    fn predict(&self, rows: Rows<'_>, _: f64, scratch: &mut Scratch) {
        let Scratch { scores, numbers, phi, .. } = scratch;
        let rewards = self.trained.rewards();
        scores.clear();
        scores.extend(rows.iter().map(|x| {
            self.trained.features(x, numbers, phi);
            Score { mean: rewards.reward(self.value(Some(0), phi)), width: 0.0 }
        }));
    }

    /// What the network says is the draw.
    fn draw(&self, rows: Rows<'_>, scale: f64, _: Key, scratch: &mut Scratch) {
        Belief::predict(self, rows, scale, scratch);
        let Scratch { scores, numbers: values, .. } = scratch;
        values.clear();
        values.extend(scores.iter().map(|score| score.mean));
    }

    fn warning(&self) -> Option<String> {
        self.trained.warning()
    }

    fn save(&self) -> Result<serde_json::Value> {
        state(self)
    }
}
