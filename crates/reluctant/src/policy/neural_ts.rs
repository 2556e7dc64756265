//! `neural-ts`: Thompson sampling on the gradients of a trained network.
//!
//! The belief is that of `neural-ucb`: a network f(x; θ), trained on all rewards, and the norm √(gᵀU⁻¹g) of its
//! gradients under those of past choices. Each round draws a value for every arm by itself, normal with mean f(x) and
//! standard deviation √(λν·gᵀU⁻¹g) (under `zhou` γ·√(gᵀZ⁻¹g/m)), and takes the greatest. Networks, updates and what
//! happens in contexts are described at `neural-ucb`.
//!
//! A score's width is one standard deviation. The probability of a choice is computed on request, exactly.

use serde::{Deserialize, Serialize};

use super::independent::greatest;
use super::{
    Build, Contexts, Entry, Explanation, Policy, Restore, Rule, Sample, SharedModel, Snapshot, explain_by_score,
    read_state, sampling_each,
};
use crate::action::{Action, check_observation, check_vector};
use crate::belief::{Belief, GradientHeads, NETWORK_GRADIENTS, NetworkGradients, contexts_scale, restore_if};
use crate::choice::Choice;
use crate::error::Result;
use crate::offer::Offer;
use crate::params::Literal;
use crate::rng::Key;
use crate::scratch::Scratch;

pub(super) const ENTRY: Entry = Entry {
    name: "neural-ts",
    summary: "Thompson sampling on the gradients of a trained network",
    citation: "Zhang, Zhou, Li and Gu (2021), Neural Thompson sampling",
    params: NETWORK_GRADIENTS,
    sphere: false,
    contexts: Contexts::Shared(SharedModel {
        build: |dim, params, key| {
            Ok((Box::new(GradientHeads::read(dim, params, key)?), Rule::Sampling(contexts_scale(params)?)))
        },
        restore: |state| Ok(Box::new(restore_if(state, GradientHeads::is_consistent)?)),
    }),
    samples: &[
        Sample { name: "F", environment: "relu-sphere", settings: &[] },
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
    build: Build::Plain(|dim, params, key| Ok(Box::new(NeuralTs { belief: NetworkGradients::new(dim, params, key)? }))),
    restore: Restore::Plain(|state| {
        Ok(Box::new(read_state(state, |policy: &NeuralTs| policy.belief.is_consistent())?))
    }),
};

/// Thompson sampling on the gradients of a trained network.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct NeuralTs {
    #[serde(flatten)]
    belief: NetworkGradients,
}

impl NeuralTs {
    /// What it knows.
    pub fn belief(&self) -> &NetworkGradients {
        &self.belief
    }
}

impl Policy for NeuralTs {
    fn name(&self) -> &'static str {
        ENTRY.name
    }

    fn dim(&self) -> usize {
        self.belief.dim()
    }

    fn select<'a>(&self, offer: Offer<'a>, key: Key, scratch: &mut Scratch) -> Result<Choice<'a>> {
        offer.expect_dim(self.dim())?;
        Ok(sampling_each(&self.belief, offer.rows(ENTRY.name)?, self.belief.scale(), key, scratch))
    }

    fn probabilities(&self, offer: Offer<'_>, scratch: &mut Scratch, out: &mut Vec<f64>) -> Result<bool> {
        self.score(offer, scratch)?;
        greatest(&scratch.scores, out);
        Ok(true)
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
            "it draws a reward for every arm, with {:.3} times the width that the network's gradients give it, and plays \
             the best",
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
