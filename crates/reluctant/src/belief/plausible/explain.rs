//! Which model is believed, why, and what to warn of.

use super::{PlausibleNetworks, Step};

impl PlausibleNetworks {
    /// The model that is believed, and why.
    pub(crate) fn model(&self) -> (String, String) {
        let (networks, linear) = self.line.errors();
        match self.step() {
            Step::Infinite(infinite) => {
                let kernel = format!("a Gaussian process: {}", infinite.belief.kernel());
                (kernel, self.why_not_networks(infinite.advantage))
            }
            Step::Line(line) => {
                let why = if line.acts && !self.ensemble.members.is_empty() {
                    format!("lately it errs by {linear:.3}, the networks by {networks:.3}")
                } else {
                    self.why_not_networks(line.advantage)
                };
                ("a linear function with a constant".to_owned(), why)
            }
            Step::Networks => {
                let chosen = if self.is_told() { "given" } else { "chosen by evidence" };
                let why = format!(
                    "{} observations, number of neurons {chosen}, noise level {:.3}; lately they err by \
                     {networks:.3}, a linear function by {linear:.3}",
                    self.seen(),
                    self.sigma()
                );
                let count = self.ensemble.plausible().count();
                (format!("{count} plausible networks of {} neurons", self.size()), why)
            }
        }
    }

    /// The number of neurons of the plausible networks: "3", or "2 to 5".
    fn size(&self) -> String {
        let (least, most) = self.ensemble.sizes();
        if least == most { format!("{most}") } else { format!("{least} to {most}") }
    }

    fn why_not_networks(&self, advantage: f64) -> String {
        if self.ensemble.members.is_empty() {
            let dim = self.history.dim();
            return format!("in {dim} dimensions networks have too many unknowns; its evidence exceeds the other's");
        }
        format!("its evidence exceeds that of the best network by {:.1}", 0.5 * advantage)
    }

    /// What is amiss, if something is.
    pub(crate) fn doubt(&self) -> Option<String> {
        if self.ensemble.members.is_empty() {
            return None;
        }
        if self.line.acts {
            return Some("no network of the range explains the rewards".to_owned());
        }
        if self.line.advantage > 0.0 {
            return Some("no network explains the rewards better than a linear function with a constant".to_owned());
        }
        let most = self.ensemble.form.sizes().1;
        let only_large = !self.is_asleep() && !self.is_told() && most > 1 && self.ensemble.sizes().0 + 1 >= most;
        only_large.then(|| format!("only networks of nearly {most} neurons, the most considered, explain the rewards"))
    }
}
