//! `uniform`: every arm with the same probability. The scale against which regret is read.

use serde::{Deserialize, Serialize};

use super::{Build, Contexts, Entry, Explanation, Policy, Restore, Sample, Snapshot, read_state, select_uniform};
use crate::action::{Action, check_finite, check_numbers};
use crate::choice::{Choice, Score};
use crate::error::{Error, Result};
use crate::offer::Offer;
use crate::rng::{Key, Purpose, index, unit_vector};
use crate::scratch::Scratch;
use crate::theory::sphere_area;

pub(super) const ENTRY: Entry = Entry {
    name: "uniform",
    summary: "chooses uniformly at random and never learns",
    citation: "none: the scale against which regret is read",
    params: &[],
    sphere: true,
    contexts: Contexts::Itself,
    samples: &[Sample { name: "default", environment: "linear-sphere", settings: &[] }],
    build: Build::Plain(|dim, _, _| Ok(Box::new(Uniform::new(dim)))),
    restore: Restore::Plain(|state| Ok(Box::new(read_state(state, |policy: &Uniform| policy.dim > 0)?))),
};

/// Chooses uniformly at random and never learns.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Uniform {
    dim: usize,
}

impl Uniform {
    /// A policy for actions of dimension `dim`.
    pub fn new(dim: usize) -> Self {
        Uniform { dim }
    }
}

impl Policy for Uniform {
    fn name(&self) -> &'static str {
        ENTRY.name
    }

    fn dim(&self) -> usize {
        self.dim
    }

    fn select<'a>(&self, offer: Offer<'a>, key: Key, _: &mut Scratch) -> Result<Choice<'a>> {
        offer.expect_dim(self.dim)?;
        Ok(match offer {
            Offer::Rows(rows) => select_uniform(rows, key),
            Offer::Sphere { dim } => uniform_on_sphere(dim, key),
            Offer::Context(context) => {
                let count = context.names().len();
                let chosen = index(&mut key.purpose(Purpose::Choice).stream(), count);
                Choice::named(context, chosen, Score::default()).by_chance(1.0 / count as f64)
            }
        })
    }

    fn probabilities(&self, offer: Offer<'_>, _: &mut Scratch, out: &mut Vec<f64>) -> Result<bool> {
        offer.expect_dim(self.dim)?;
        let count = offer.count().unwrap_or(0);
        out.clear();
        out.resize(count, 1.0 / count as f64);
        Ok(count > 0)
    }

    fn learn(&mut self, action: Action<'_>, reward: f64) -> Result<()> {
        check_any(self.dim, action, reward)
    }

    fn score(&self, offer: Offer<'_>, scratch: &mut Scratch) -> Result<()> {
        score_nothing(ENTRY.name, self.dim, offer, scratch)
    }

    fn exploring(&self) -> bool {
        true
    }

    fn model(&self) -> (String, String) {
        (ENTRY.name.to_owned(), "it chooses at random".to_owned())
    }

    fn explanation(&self, action: Action<'_>) -> Result<Explanation> {
        explain_nothing(ENTRY.name, self.dim, action, "it chooses at random")
    }

    fn snapshot(&self) -> Result<Snapshot> {
        Snapshot::of(ENTRY.name, self)
    }
}

/// A point drawn uniformly from the unit sphere.
pub(super) fn uniform_on_sphere(dim: usize, key: Key) -> Choice<'static> {
    let mut action = vec![0.0; dim];
    unit_vector(&mut key.purpose(Purpose::Choice).stream(), &mut action);
    Choice::point(action, Score::default()).by_chance(1.0 / sphere_area(dim - 1))
}

/// An error unless an action, a vector or one in a context, and its reward are finite and of dimension `dim`: for
/// policies that learn nothing from it.
pub(super) fn check_any(dim: usize, action: Action<'_>, reward: f64) -> Result<()> {
    match action {
        Action::Vector(x) => check_numbers("the action", "a coordinate of the action", dim, x)?,
        Action::Named { context, .. } => check_numbers("the context", "a coordinate of the context", dim, context)?,
    }
    check_finite("the reward", reward)
}

/// Zeros for a finite offer of dimension `dim`: the scores of `policy`, which predicts nothing.
pub(super) fn score_nothing(policy: &'static str, dim: usize, offer: Offer<'_>, scratch: &mut Scratch) -> Result<()> {
    offer.expect_dim(dim)?;
    let count = offer.count().ok_or(Error::NeedsFiniteArms { policy })?;
    scratch.scores.clear();
    scratch.scores.resize(count, Score::default());
    Ok(())
}

/// What a policy that predicts nothing thinks of an action.
pub(super) fn explain_nothing(policy: &'static str, dim: usize, action: Action<'_>, why: &str) -> Result<Explanation> {
    check_any(dim, action, 0.0)?;
    let (model, why) = (policy.to_owned(), why.to_owned());
    Ok(Explanation { mean: 0.0, spread: 0.0, exploring: true, model, why, warning: None })
}
