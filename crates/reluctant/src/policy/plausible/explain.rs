//! What the policy thinks of an action, and why: which model acts, and what to warn of.

use super::form::MOST_NEURONS;
use super::{Plausible, Step};
use crate::error::Result;
use crate::policy::{Explanation, explain_by_score};
use crate::relu::ReluNet;

impl Plausible {
    /// [`crate::Policy::explanation`], at a checked vector.
    pub(super) fn explain_vector(&self, action: &[f64]) -> Result<Explanation> {
        let mut explanation = explain_by_score(self, action)?;
        explanation.warning = self.warning();
        if self.frozen.is_none() && self.networks_act() {
            let apart =
                |(weight, network): (f64, &ReluNet)| weight * (network.value(action) - explanation.mean).powi(2);
            explanation.spread = self.ensemble.plausible().map(apart).sum::<f64>().sqrt();
        }
        Ok(explanation)
    }

    /// [`crate::Policy::model`].
    pub(super) fn acting_model(&self) -> (String, String) {
        let (least, most) = self.ensemble.sizes();
        let size = if least == most { format!("{most}") } else { format!("{least} to {most}") };
        let count = self.ensemble.plausible().count();
        let chosen = if self.is_told() { "given" } else { "chosen by evidence" };
        if let Some(frozen) = &self.frozen {
            let neurons = frozen.regime.network().neurons();
            let model = format!("linear regression on the features of one frozen network of {neurons} neurons");
            return (model, "the plausible networks agreed on the linear piece of every recent action".to_owned());
        }
        let (networks, linear) = self.fallback.errors();
        if let Step::Infinite(infinite) = self.step() {
            let why = format!("its evidence exceeds that of the best network by {:.1}", 0.5 * infinite.advantage);
            return (format!("a Gaussian process: {}", infinite.belief.kernel()), why);
        }
        if matches!(self.step(), Step::Linear) {
            let why = if self.fallback.acts {
                format!("lately it errs by {linear:.3}, the networks by {networks:.3}")
            } else {
                format!("its evidence exceeds that of the best network by {:.1}", 0.5 * self.fallback.advantage)
            };
            return ("a linear function with a constant".to_owned(), why);
        }
        let why = format!(
            "{} observations, number of neurons {chosen}, noise level {:.3}; lately they err by {networks:.3}, a \
             linear function by {linear:.3}",
            self.seen, self.ensemble.sigma
        );
        (format!("{count} plausible networks of {size} neurons"), why)
    }

    fn warning(&self) -> Option<String> {
        if self.fallback.acts {
            return Some("no network of the range explains the rewards".to_owned());
        }
        if self.fallback.advantage > 0.0 {
            return Some("no network explains the rewards better than a linear function with a constant".to_owned());
        }
        if self.frozen.is_none() && !self.is_told() && self.ensemble.sizes().0 + 1 >= MOST_NEURONS {
            return Some(format!(
                "only networks of nearly {MOST_NEURONS} neurons, the most considered, explain the rewards"
            ));
        }
        (self.thawed > 0).then(|| {
            let times = if self.thawed == 1 { "once".to_owned() } else { format!("{} times", self.thawed) };
            format!("a frozen network has turned out wrong {times}")
        })
    }
}
