//! What the estimators see of a round.

/// A round of a log, as it matters for one policy.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Term {
    /// The policy's probability of the choice that was made.
    pub probability: f64,
    /// The probability with which it was made.
    pub propensity: f64,
    /// Whether nothing was left to chance when it was made.
    pub certain: bool,
    /// The reward.
    pub reward: f64,
    /// What the model predicts for the choice; 0 without a model.
    pub predicted: f64,
    /// What it predicts for the policy: the mean over its choices; 0 without a model.
    pub expected: f64,
}

impl Term {
    /// The weight w = π(a|x)/p of the round.
    pub fn weight(&self) -> f64 {
        self.probability / self.propensity
    }
}
