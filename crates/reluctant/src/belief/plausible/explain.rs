//! Which model is believed, why, and what to warn of.
//!
//! Differences of evidence are given in natural logarithms: by 1 means that what was seen is e times as likely.

use super::constants::ENOUGH_TO_DOUBT;
use super::infinite::Infinite;
use super::line::Line;
use super::{PlausibleNetworks, Step};

impl PlausibleNetworks {
    /// The model that is believed, and why.
    pub(crate) fn model(&self) -> (String, String) {
        match self.step() {
            Step::Infinite(infinite) => {
                (format!("a Gaussian process: {}", infinite.belief.kernel()), self.why_process(infinite))
            }
            Step::Line(line) => ("a linear function with a constant".to_owned(), self.why_line(line)),
            Step::Networks => {
                let size = match self.ensemble.sizes() {
                    (1, 1) => "1 neuron".to_owned(),
                    (least, most) if least == most => format!("{most} neurons"),
                    (least, most) => format!("{least} to {most} neurons"),
                };
                let model = match self.ensemble.plausible().count() {
                    1 => format!("1 plausible network of {size}"),
                    count => format!("{count} plausible networks of {size}"),
                };
                (model, self.why_networks())
            }
        }
    }

    fn why_networks(&self) -> String {
        if self.seen() == 0 {
            return "nothing was seen yet: they are imagined".to_owned();
        }
        let seen = if self.seen() == 1 { "1 observation".to_owned() } else { format!("{} observations", self.seen()) };
        let chosen = if self.is_told() { "given" } else { "chosen by evidence" };
        let (networks, linear) = self.line.errors();
        format!(
            "{seen}, number of neurons {chosen}, noise level {:.3}; lately they err by {networks:.3}, a linear function \
             by {linear:.3}",
            self.sigma()
        )
    }

    fn why_process(&self, infinite: &Infinite) -> String {
        if self.seen() == 0 {
            return "nothing was seen yet, and it doubts everything".to_owned();
        }
        if !self.has_networks() {
            let dim = self.history.dim();
            let beside = log(infinite.advantage - self.line.advantage);
            return format!(
                "in {dim} dimensions networks have too many unknowns; its evidence {} that of a linear function, which \
                 is believed only if it convinces",
                compared(beside)
            );
        }
        let (networks, linear) = self.line.errors();
        let ahead = log(infinite.advantage);
        if infinite.leads(self.seen() as f64) {
            let early =
                if ahead > 0.0 { "" } else { ", and in the first rounds that does not suffice to believe networks" };
            format!("its evidence {} that of the best network{early}", compared(ahead))
        } else if self.line.acts {
            format!(
                "lately the networks err by {networks:.3}, a linear function by {linear:.3}, whose evidence {} its own \
                 and does not convince",
                compared(log(self.line.advantage - infinite.advantage))
            )
        } else {
            format!(
                "the evidence of a linear function {} that of the best network and {} its own, and does not convince",
                compared(log(self.line.advantage)),
                compared(log(self.line.advantage - infinite.advantage))
            )
        }
    }

    fn why_line(&self, line: &Line) -> String {
        let (networks, linear) = line.errors();
        match &self.infinite {
            Some(infinite) => {
                let over = format!(
                    "its evidence {} that of the Gaussian process",
                    compared(log(line.advantage - infinite.advantage))
                );
                if !self.has_networks() {
                    format!("in {} dimensions networks have too many unknowns; {over}", self.history.dim())
                } else if line.advantage > 0.0 {
                    format!("{over} and {} that of the best network", compared(log(line.advantage)))
                } else {
                    format!("{over}; lately it errs by {linear:.3}, the networks by {networks:.3}")
                }
            }
            None if line.acts => format!("lately it errs by {linear:.3}, the networks by {networks:.3}"),
            None => format!("its evidence {} that of the best network", compared(log(line.advantage))),
        }
    }

    /// What is amiss, if something is.
    pub(crate) fn doubt(&self) -> Option<String> {
        if let Some(reward) = self.line.only_reward(self.seen()).filter(|_| self.seen() >= ENOUGH_TO_DOUBT) {
            return Some(format!("all {} rewards so far were {reward}: they tell no action from another", self.seen()));
        }
        if !self.has_networks() {
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

/// An advantage, in units of 2 log, as a logarithm.
fn log(advantage: f64) -> f64 {
    0.5 * advantage
}

/// By how much a logarithm of evidence exceeds another one, or is below it.
fn compared(ahead: f64) -> String {
    match ahead {
        _ if ahead >= 0.05 => format!("exceeds by {ahead:.1}"),
        _ if ahead <= -0.05 => format!("is, by {:.1}, below", -ahead),
        _ => "equals".to_owned(),
    }
}
