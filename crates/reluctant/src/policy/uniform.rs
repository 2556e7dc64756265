//! `uniform`: every arm with the same probability. The scale against which regret is read.

use serde::{Deserialize, Serialize};

use super::{Entry, Policy, Sample, Scratch, Snapshot, read_state, select_uniform};
use crate::arms::{Arms, Choice, Rows, Score, check_observation};
use crate::error::Result;
use crate::rng::{Key, Purpose, unit_vector};
use crate::theory::sphere_area;

pub(super) const ENTRY: Entry = Entry {
    name: "uniform",
    summary: "chooses uniformly at random and never learns",
    citation: "none: the scale against which regret is read",
    params: &[],
    sphere: true,
    samples: &[Sample { name: "default", world: "linear-sphere", settings: &[] }],
    build: |dim, _, _| Ok(Box::new(Uniform::new(dim))),
    restore: |state| Ok(Box::new(read_state(state, |policy: &Uniform| policy.dim > 0)?)),
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

    fn select<'a>(&self, arms: Arms<'a>, key: Key, _: &mut Scratch) -> Result<Choice<'a>> {
        arms.expect_dim(self.dim)?;
        Ok(match arms {
            Arms::Finite(rows) => select_uniform(rows, key),
            Arms::Sphere { dim } => uniform_on_sphere(dim, key),
        })
    }

    fn update(&mut self, action: &[f64], reward: f64) -> Result<()> {
        check_observation(self.dim, action, reward)
    }

    fn score(&self, rows: Rows<'_>, scratch: &mut Scratch) -> Result<()> {
        Arms::Finite(rows).expect_dim(self.dim)?;
        scratch.scores.clear();
        scratch.scores.resize(rows.len(), Score::default());
        Ok(())
    }

    fn exploring(&self) -> bool {
        true
    }

    fn snapshot(&self) -> Result<Snapshot> {
        Snapshot::of(ENTRY.name, self)
    }
}

/// A point drawn uniformly from the unit sphere.
pub(super) fn uniform_on_sphere(dim: usize, key: Key) -> Choice<'static> {
    let mut action = vec![0.0; dim];
    unit_vector(&mut key.purpose(Purpose::Choice).stream(), &mut action);
    let propensity = Some(1.0 / sphere_area(dim - 1));
    Choice { index: None, action: action.into(), score: Score::default(), propensity, certificate: None }
}
