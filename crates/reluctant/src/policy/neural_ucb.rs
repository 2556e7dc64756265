//! `neural-ucb`: optimism on the gradients of a trained network, the paper's other baselines.
//!
//! A network f(x; θ) is trained on all rewards so far; the arm of greatest f(x) + width(x) is chosen, where the width
//! is the norm of the gradient g(x) = ∂f/∂θ under the gradients of past choices. Three presets, as in the paper:
//!
//! | preset | network | hidden units |
//! | --- | --- | --- |
//! | `F` | two layers | 20 |
//! | `T` | one layer, the truth's own structure: Σᵢ max(0, θᵢ·x) | k |
//! | `TW` | one layer | 2k |
//!
//! and two updates:
//!
//! | | `zhou` (the algorithm as published) | `authors` (what the paper's authors run) |
//! | --- | --- | --- |
//! | network F | √m·w·max(0, Wx̃) with x̃ = (x, x)/√2 | w·max(0, Wx) + c |
//! | start | symmetric, so that f(·; θ₀) = 0 | uniform in ±1/√(inputs) |
//! | score | f + γ·√(gᵀZ⁻¹g/m), Z = λI + Σ ggᵀ/m | f + √(λν·gᵀU⁻¹g), U = λI + Σ ggᵀ |
//! | training | from θ₀, `steps` steps on Σ(f−y)²/2 + mλ‖θ−θ₀‖²/2 | on from the last θ: single samples in random order, rate 0.01, weight decay λ, until 1,000 steps or a pass with mean loss ≤ 0.001 |
//!
//! Under `zhou`, T and TW have no second layer to be symmetric in and no √m: they start from random unit neurons.
//! The matrix is the full one or its diagonal (`matrix`). The history is kept, because each round trains on all of it.
//! With `batch` = B the network is trained, and past choices enter the matrix, only once in B rewards (Gu, Karbasi,
//! Khosravi, Mirrokni and Zhou 2021, Batched neural bandits); rewards can then come B at a time.
//!
//! In contexts with named actions there is one network for all of them: the hidden layer is shared, with biases, and
//! each action has a head, its own output weights and bias. The gradient of an action's value lives in the hidden layer
//! and in its head. Inputs and rewards are scaled by what was seen. Training is by Adam and not after every reward, but
//! when the number of rewards has grown by the share `growth` (`network/trained.rs`), within batches never; `preset`,
//! `update` and `steps` do not matter there. The score is the authors', fₐ + √(λν·gₐᵀU⁻¹gₐ).

use serde::{Deserialize, Serialize};

use super::{
    Build, Contexts, Entry, Explanation, Policy, Restore, Rule, Sample, SharedModel, Snapshot, explain_by_score,
    optimism, read_state,
};
use crate::action::{Action, check_observation, check_vector};
use crate::belief::{Belief, GradientHeads, NETWORK_GRADIENTS as PARAMS, NetworkGradients, contexts_scale, restore_if};
use crate::choice::Choice;
use crate::error::Result;
use crate::offer::Offer;
use crate::params::Literal;
use crate::rng::Key;
use crate::scratch::Scratch;

pub(super) const ENTRY: Entry = Entry {
    name: "neural-ucb",
    summary: "optimism on the gradients of a trained network",
    citation: "Zhou, Li and Gu (2020), Neural contextual bandits with UCB-based exploration",
    params: PARAMS,
    sphere: false,
    contexts: Contexts::Shared(SharedModel {
        build: |dim, params, key| {
            Ok((Box::new(GradientHeads::read(dim, params, key)?), Rule::Optimism(contexts_scale(params)?)))
        },
        restore: |state| Ok(Box::new(restore_if(state, GradientHeads::is_consistent)?)),
    }),
    samples: &[
        Sample { name: "F", environment: "relu-sphere", settings: &[] },
        Sample {
            name: "T",
            environment: "relu-sphere",
            settings: &[("preset", Literal::Word("T")), ("neurons", Literal::Count(3))],
        },
        Sample {
            name: "TW-full",
            environment: "relu-sphere",
            settings: &[
                ("preset", Literal::Word("TW")),
                ("neurons", Literal::Count(3)),
                ("matrix", Literal::Word("full")),
            ],
        },
        Sample { name: "F-zhou", environment: "relu-sphere", settings: &[("update", Literal::Word("zhou"))] },
        Sample {
            name: "T-zhou-full",
            environment: "relu-sphere",
            settings: &[
                ("preset", Literal::Word("T")),
                ("neurons", Literal::Count(3)),
                ("update", Literal::Word("zhou")),
                ("matrix", Literal::Word("full")),
            ],
        },
    ],
    build: Build::Plain(|dim, params, key| {
        Ok(Box::new(NeuralUcb { belief: NetworkGradients::new(dim, params, key)? }))
    }),
    restore: Restore::Plain(|state| {
        Ok(Box::new(read_state(state, |policy: &NeuralUcb| policy.belief.is_consistent())?))
    }),
};

/// Optimism on the gradients of a trained network.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct NeuralUcb {
    #[serde(flatten)]
    belief: NetworkGradients,
}

impl NeuralUcb {
    /// What it knows.
    pub fn belief(&self) -> &NetworkGradients {
        &self.belief
    }
}

impl Policy for NeuralUcb {
    fn name(&self) -> &'static str {
        ENTRY.name
    }

    fn dim(&self) -> usize {
        self.belief.dim()
    }

    fn select<'a>(&self, offer: Offer<'a>, _: Key, scratch: &mut Scratch) -> Result<Choice<'a>> {
        offer.expect_dim(self.dim())?;
        Ok(optimism(&self.belief, offer.rows(ENTRY.name)?, self.belief.scale(), scratch))
    }

    fn learn(&mut self, action: Action<'_>, reward: f64) -> Result<()> {
        let x = check_observation(ENTRY.name, self.dim(), action, reward)?;
        self.belief.learn(x, reward);
        Ok(())
    }

    fn score(&self, offer: Offer<'_>, scratch: &mut Scratch) -> Result<()> {
        offer.expect_dim(self.dim())?;
        self.belief.predict(offer.rows(ENTRY.name)?, self.belief.scale(), scratch);
        Ok(())
    }

    fn model(&self) -> (String, String) {
        let why = format!(
            "it plays the arm of greatest mean + {:.3} times the width that the network's gradients give it",
            self.belief.scale()
        );
        ("a network with one hidden layer".to_owned(), why)
    }

    fn explanation(&self, action: Action<'_>) -> Result<Explanation> {
        let warning = self.belief.warning();
        Ok(Explanation { warning, ..explain_by_score(self, check_vector(ENTRY.name, self.dim(), action)?)? })
    }

    fn snapshot(&self) -> Result<Snapshot> {
        Snapshot::of(ENTRY.name, self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::params::Params;
    use crate::params::Settings;

    #[test]
    fn what_is_too_large_for_the_learning_rate_is_reported() {
        for update in ["authors", "zhou"] {
            let given = Settings::new().with("update", update);
            let params = Params::resolve("neural-ucb", ENTRY.params, &given).unwrap();
            let warning = |size: f64| {
                let mut policy = NeuralUcb { belief: NetworkGradients::new(2, &params, Key::new(1)).unwrap() };
                for angle in 0..20 {
                    let x = [libm::cos(f64::from(angle)), libm::sin(f64::from(angle))];
                    policy.learn((&x).into(), size * x[0].max(0.0)).unwrap();
                }
                policy.explanation((&[1.0, 0.0]).into()).unwrap().warning
            };
            assert_eq!(warning(1.0), None);
            assert!(warning(1e6).unwrap().contains("rewards or actions are too large for the learning rate"));
        }
    }
}
