//! Biases: a policy of one more dimension that sees (x, 1) in the place of x ([`Lifted`]).
//!
//! OFU-ReLU, OFU-ReLU+ and `plausible` are made for networks without biases; on (x, 1) a bias is one more weight. On
//! finite arms nothing else changes. On the sphere the optimistic action is another problem
//! ([`biased_optimistic_action`]), solved with a proven gap in two and three dimensions and without a proof in more.

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::snapshot::inconsistent;
use super::sphere::EFFORT;
use super::uniform::uniform_on_sphere;
use super::{Explanation, Fitted, Policy, Snapshot, read_state};
use crate::action::{Action, check_observation, check_vector};
use crate::choice::Choice;
use crate::error::{Error, Result};
use crate::frozen::FrozenRelu;
use crate::geometry::biased_optimistic_action;
use crate::offer::{Offer, Rows};
use crate::params::{Initial, Kind, Param, Params};
use crate::rng::Key;
use crate::scratch::Scratch;
use crate::spare::{Spare, with_zeros};

pub(super) const BIASES: Param = Param::new(
    "biases",
    Initial::flag(false),
    Kind::Flag,
    "whether neurons have biases: the policy then sees (x, 1), and neurons have any length and sign",
);

/// A policy that ends in a linear regime.
pub(super) trait Freezes: Policy + Serialize + DeserializeOwned {
    /// The regime with the radius of its confidence set and the margin around kinks, once there is one.
    fn frozen(&self) -> Option<(&FrozenRelu, f64, f64)>;

    /// An action of the sphere in `dim` dimensions while there is none: x, where the policy sees (x, 1).
    fn select_lifted(&self, dim: usize, key: Key, _: &mut Scratch) -> Result<Choice<'static>> {
        Ok(uniform_on_sphere(dim, key))
    }
}

/// A policy that sees (x, 1).
#[derive(Debug, Serialize, Deserialize)]
#[serde(bound = "P: Freezes")]
pub(super) struct Lifted<P> {
    lifted: P,
}

/// The policy itself, or one dimension higher if it has biases.
pub(super) fn build<P: Freezes + 'static>(
    dim: usize,
    params: &Params,
    make: impl FnOnce(usize) -> Result<P>,
) -> Result<Box<dyn Policy>> {
    if !params.flag_or("biases", false)? {
        return Ok(Box::new(make(dim)?));
    }
    if dim < 2 {
        return Err(Error::out_of_range("dim", dim, "at least 2 for a ReLU network on the sphere"));
    }
    Ok(Box::new(Lifted { lifted: make(dim + 1)? }))
}

/// What [`build`] made, from its saved state.
pub(super) fn restore<P: Freezes + 'static>(
    mut state: serde_json::Value,
    consistent: fn(&P) -> bool,
) -> Result<Box<dyn Policy>> {
    let Some(inner) = state.get_mut("lifted") else {
        return Ok(Box::new(read_state(state, consistent)?));
    };
    let lifted: P = read_state(inner.take(), consistent)?;
    if lifted.dim() < 3 { Err(inconsistent()) } else { Ok(Box::new(Lifted { lifted })) }
}

/// (x, 1) for every row of `dim` numbers.
pub(super) fn lift(dim: usize, rows: &[f64]) -> Spare {
    let mut lifted = Spare::zeros(rows.len() / dim * (dim + 1));
    for (z, x) in lifted.chunks_exact_mut(dim + 1).zip(rows.chunks_exact(dim)) {
        lift_to(z, x);
    }
    lifted
}

/// (x, 1), in z.
fn lift_to(z: &mut [f64], x: &[f64]) {
    z[..x.len()].copy_from_slice(x);
    z[x.len()] = 1.0;
}

impl<P: Freezes> Policy for Lifted<P> {
    fn name(&self) -> &'static str {
        self.lifted.name()
    }

    fn dim(&self) -> usize {
        self.lifted.dim() - 1
    }

    fn select<'a>(&self, offer: Offer<'a>, key: Key, scratch: &mut Scratch) -> Result<Choice<'a>> {
        offer.expect_dim(self.dim())?;
        match (offer, self.lifted.frozen()) {
            (Offer::Rows(rows), _) => {
                let lifted = lift(self.dim(), rows.data());
                let lifted = Offer::Rows(Rows::trusted(self.lifted.dim(), &lifted));
                let Choice { index, score, appeal, propensity, .. } = self.lifted.select(lifted, key, scratch)?;
                Ok(Choice { appeal, propensity, ..Choice::row(rows, index.unwrap_or(0), score) })
            }
            (Offer::Sphere { .. }, Some((regime, radius, margin))) if !self.exploring() => {
                biased_optimistic_action(regime, radius, margin, &EFFORT).map(Choice::from)
            }
            (Offer::Sphere { dim }, _) => self.lifted.select_lifted(dim, key, scratch),
            (Offer::Context(_), _) => Err(Error::unexpected_context(self.name())),
        }
    }

    fn learn(&mut self, action: Action<'_>, reward: f64) -> Result<()> {
        let action = check_observation(self.name(), self.dim(), action, reward)?;
        with_zeros(self.lifted.dim(), |lifted| {
            lift_to(lifted, action);
            self.lifted.learn(Action::Vector(lifted), reward)
        })
    }

    fn score(&self, offer: Offer<'_>, scratch: &mut Scratch) -> Result<()> {
        offer.expect_dim(self.dim())?;
        let lifted = lift(self.dim(), offer.rows(self.name())?.data());
        self.lifted.score(Offer::Rows(Rows::trusted(self.lifted.dim(), &lifted)), scratch)
    }

    fn exploring(&self) -> bool {
        self.lifted.exploring()
    }

    fn model(&self) -> (String, String) {
        self.lifted.model()
    }

    fn network(&self) -> Option<Fitted> {
        self.lifted.network()
    }

    fn probabilities(&self, offer: Offer<'_>, scratch: &mut Scratch, out: &mut Vec<f64>) -> Result<bool> {
        offer.expect_dim(self.dim())?;
        let Offer::Rows(rows) = offer else { return Ok(false) };
        let lifted = lift(self.dim(), rows.data());
        self.lifted.probabilities(Offer::Rows(Rows::trusted(self.lifted.dim(), &lifted)), scratch, out)
    }

    fn explanation(&self, action: Action<'_>) -> Result<Explanation> {
        let lifted = lift(self.dim(), check_vector(self.name(), self.dim(), action)?);
        self.lifted.explanation(Action::Vector(&lifted))
    }

    fn snapshot(&self) -> Result<Snapshot> {
        Snapshot::of(self.name(), self)
    }
}
