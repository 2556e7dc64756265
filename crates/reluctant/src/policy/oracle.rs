//! `oracle`: the best arm, every round. The scale's other end: its regret is zero.
//!
//! It does not learn; it is told the network behind the rewards, and the constant added to it, before the first round
//! ([`Policy::reveal`]), which [`crate::play()`] does. Until then it refuses to choose.

use std::sync::OnceLock;

use serde::{Deserialize, Serialize};

use super::{Entry, Policy, Sample, Scratch, Snapshot, read_state, select_optimistic};
use crate::arms::{Arms, Choice, Rows, Score, check_observation};
use crate::error::{Error, Result};
use crate::geometry::{CELL_BUDGET, best_action};
use crate::kernels::network_values;
use crate::relu::ReluNet;
use crate::rng::Key;

pub(super) const ENTRY: Entry = Entry {
    name: "oracle",
    summary: "knows the network behind the rewards and takes the best arm",
    citation: "none: the scale against which regret is read",
    params: &[],
    sphere: true,
    samples: &[
        Sample { name: "relu", world: "relu-sphere", settings: &[] },
        Sample { name: "linear", world: "linear-sphere", settings: &[] },
    ],
    build: |dim, _, _| Ok(Box::new(Oracle { dim, truth: None, offset: 0.0, best: OnceLock::new() })),
    restore: |state| Ok(Box::new(read_state(state, Oracle::is_consistent)?)),
};

/// Knows the network behind the rewards and takes the best arm.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Oracle {
    dim: usize,
    truth: Option<ReluNet>,
    /// Added to the network's value. It changes no choice, but what is predicted.
    #[serde(default)]
    offset: f64,
    /// The best action of the whole sphere, found when it is first needed.
    #[serde(skip)]
    best: OnceLock<Vec<f64>>,
}

impl Oracle {
    fn is_consistent(&self) -> bool {
        self.truth.as_ref().is_none_or(|truth| truth.dim() == self.dim) && self.offset.is_finite()
    }

    fn truth(&self) -> Result<&ReluNet> {
        self.truth.as_ref().ok_or_else(|| Error::Missing {
            name: "the truth of oracle".to_owned(),
            expected: "the network behind the rewards must be revealed before the first round".to_owned(),
        })
    }

    fn best_on_sphere(&self) -> Result<&[f64]> {
        if let Some(best) = self.best.get() {
            return Ok(best);
        }
        let found = best_action(self.truth()?, CELL_BUDGET)?.x_star;
        Ok(self.best.get_or_init(|| found))
    }
}

impl Policy for Oracle {
    fn name(&self) -> &'static str {
        ENTRY.name
    }

    fn dim(&self) -> usize {
        self.dim
    }

    fn select<'a>(&self, arms: Arms<'a>, _: Key, scratch: &mut Scratch) -> Result<Choice<'a>> {
        arms.expect_dim(self.dim)?;
        match arms {
            Arms::Finite(rows) => select_optimistic(self, rows, scratch),
            Arms::Sphere { .. } => {
                let action = self.best_on_sphere()?.to_vec();
                let score = Score { mean: self.truth()?.value(&action) + self.offset, width: 0.0 };
                Ok(Choice { index: None, action: action.into(), score, propensity: Some(1.0), certificate: None })
            }
        }
    }

    fn update(&mut self, action: &[f64], reward: f64) -> Result<()> {
        check_observation(self.dim, action, reward)
    }

    fn score(&self, rows: Rows<'_>, scratch: &mut Scratch) -> Result<()> {
        Arms::Finite(rows).expect_dim(self.dim)?;
        scratch.numbers.clear();
        network_values(self.truth()?, rows, &mut scratch.numbers);
        scratch.scores.clear();
        scratch.scores.extend(scratch.numbers.iter().map(|&value| Score { mean: value + self.offset, width: 0.0 }));
        Ok(())
    }

    fn reveal(&mut self, truth: &ReluNet, offset: f64) {
        if truth.dim() == self.dim {
            *self = Oracle { dim: self.dim, truth: Some(truth.clone()), offset, best: OnceLock::new() };
        }
    }

    fn snapshot(&self) -> Result<Snapshot> {
        Snapshot::of(ENTRY.name, self)
    }
}

#[cfg(test)]
mod tests {
    use crate::{Arms, Key, Scratch, Settings, env, play, policy};

    #[test]
    fn its_regret_is_zero_among_arms_and_on_the_sphere() {
        for (kind, actions) in [("relu-sphere", "finite"), ("relu-sphere", "sphere"), ("linear-sphere", "sphere")] {
            let key = Key::new(3);
            let settings = Settings::new().with("dim", 3u64).with("actions", actions);
            let world = env::build(kind, &settings, key).unwrap();
            let mut oracle = policy::build("oracle", 3, &Settings::new(), key).unwrap();
            let mut regret: f64 = 0.0;
            play(world.as_ref(), oracle.as_mut(), key, 20, |step| regret += step.regret.abs()).unwrap();
            // On the sphere the greatest mean is the norm of a vector, the chosen one's a sum of products.
            assert!(regret < 1e-12, "{kind} {actions}: {regret}");
        }
    }

    #[test]
    fn a_constant_in_every_reward_is_in_its_predictions_too() {
        let key = Key::new(3);
        for actions in ["finite", "sphere"] {
            let settings = Settings::new().with("length", 2.0).with("offset", -5.0).with("actions", actions);
            let world = env::build("linear-sphere", &settings, key).unwrap();
            let mut oracle = policy::build("oracle", world.dim(), &Settings::new(), key).unwrap();
            let mut regret: f64 = 0.0;
            play(world.as_ref(), oracle.as_mut(), key, 20, |step| regret += step.regret.abs()).unwrap();
            assert!(regret < 1e-12, "{actions}: {regret}");
            let mut buffer = Vec::new();
            let choice = oracle.select(world.arms(1, &mut buffer), key, &mut Scratch::default()).unwrap();
            assert!((choice.score.mean - world.mean(&choice.action)).abs() < 1e-12);
            let explained = oracle.explain(&choice.action).unwrap().mean;
            assert!((explained - world.mean(&choice.action)).abs() < 1e-12);
            let restored = oracle.snapshot().unwrap().restore().unwrap();
            assert_eq!(restored.explain(&choice.action).unwrap().mean, explained);
        }
    }

    #[test]
    fn without_the_truth_it_does_not_choose() {
        let oracle = policy::build("oracle", 2, &Settings::new(), Key::new(1)).unwrap();
        let said = oracle.select(Arms::finite(2, &[1.0, 0.0]).unwrap(), Key::new(1), &mut Scratch::default());
        assert_eq!(
            said.unwrap_err().to_string(),
            "the truth of oracle is missing: the network behind the rewards must be revealed before the first round"
        );
    }
}
