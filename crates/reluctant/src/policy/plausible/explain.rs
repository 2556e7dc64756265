//! What the policy thinks of an action, and why: which model acts, and what to warn of.

use super::Plausible;
use crate::error::Result;
use crate::policy::{Explanation, explain_by_score};
use crate::relu::ReluNet;

impl Plausible {
    /// [`crate::Policy::explanation`], at a checked vector.
    pub(super) fn explain_vector(&self, action: &[f64]) -> Result<Explanation> {
        let mut explanation = explain_by_score(self, action)?;
        explanation.warning = self.warning();
        if self.frozen.is_none() && self.belief.believes_networks() {
            let apart =
                |(weight, network): (f64, &ReluNet)| weight * (network.value(action) - explanation.mean).powi(2);
            explanation.spread = self.belief.members().map(apart).sum::<f64>().sqrt();
        }
        Ok(explanation)
    }

    /// [`crate::Policy::model`].
    pub(super) fn acting_model(&self) -> (String, String) {
        let Some(frozen) = &self.frozen else { return self.belief.model() };
        let neurons = frozen.regime.network().neurons();
        let model = format!("linear regression on the features of one frozen network of {neurons} neurons");
        (model, "the plausible networks agreed on the linear piece of every recent action".to_owned())
    }

    fn warning(&self) -> Option<String> {
        self.belief.doubt().or_else(|| {
            let times = match self.belief.woken() {
                0 => return None,
                1 => "once".to_owned(),
                more => format!("{more} times"),
            };
            Some(format!("a frozen network has turned out wrong {times}"))
        })
    }
}
