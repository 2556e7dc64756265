//! Which model is believed, why, and what to warn of.
//!
//! Differences of evidence are given in natural logarithms: by 1 means that what was seen is e times as likely.

use super::constants::{CONVINCED_AT, ENOUGH_TO_DOUBT, LINE_CONVINCING};
use super::infinite::Infinite;
use super::line::Line;
use super::{PlausibleNetworks, Step};
use crate::network::all_alike;

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
        let noise = self.sigma();
        let mut why = format!("{seen}, number of neurons {chosen}, noise level {noise:.3}; the evidence of the best ");
        why += &compared(-log(self.line.advantage), "that of a linear function");
        if let Some(infinite) = &self.infinite {
            why += &format!(" and {}", compared(-log(infinite.advantage), "that of a Gaussian process"));
        }
        why
    }

    fn why_process(&self, infinite: &Infinite) -> String {
        if self.seen() == 0 {
            return "nothing was seen yet, and it doubts everything".to_owned();
        }
        let beside_line = compared(log(infinite.over_line), "that of a linear function");
        if !self.has_networks() {
            let dim = self.history.dim();
            return format!(
                "in {dim} dimensions networks have too many unknowns; its evidence {beside_line}, which is believed \
                 only if it leads by {:.0}",
                log(LINE_CONVINCING)
            );
        }
        let ahead = log(infinite.advantage);
        let beside_networks = compared(ahead, "that of the best network");
        if infinite.leads(self.seen() as f64) {
            let but = match ahead {
                _ if ahead > 0.0 => "",
                _ if self.seen() < CONVINCED_AT as u64 => {
                    ", which is not enough to believe a network in the first rounds"
                }
                _ => ", which is not enough to believe a network of any signs and lengths",
            };
            return format!("its evidence {beside_networks}{but}");
        }
        let (networks, linear) = self.line.errors();
        let line = if self.line.acts {
            format!("lately the networks err by {networks:.3} and a linear function by {linear:.3}")
        } else {
            let beside = compared(log(self.line.advantage), "that of the best network");
            format!("the evidence of a linear function {beside}")
        };
        let lead = log(LINE_CONVINCING);
        format!(
            "{line}; but the evidence of the process {beside_line}, which is believed only if it leads by {lead:.0}"
        )
    }

    fn why_line(&self, line: &Line) -> String {
        let (networks, linear) = line.errors();
        let errors = format!("lately it errs by {linear:.3}, the networks by {networks:.3}");
        let beside_networks = compared(log(line.advantage), "that of the best network");
        let Some(infinite) = &self.infinite else {
            return if line.acts { errors } else { format!("its evidence {beside_networks}") };
        };
        let over = compared(-log(infinite.over_line), "that of a Gaussian process");
        if !self.has_networks() {
            format!("in {} dimensions networks have too many unknowns; its evidence {over}", self.history.dim())
        } else if line.advantage > 0.0 {
            format!("its evidence {over} and {beside_networks}")
        } else {
            format!("its evidence {over}; {errors}")
        }
    }

    /// What is amiss, if something is.
    pub(crate) fn doubt(&self) -> Option<String> {
        if let Some(reward) = self.line.only_reward(self.seen()).filter(|_| self.seen() >= ENOUGH_TO_DOUBT) {
            return Some(all_alike(self.seen(), reward));
        }
        if self.in_vain > 0 {
            let told =
                if self.in_vain == 1 { "1 neuron was".to_owned() } else { format!("{} neurons were", self.in_vain) };
            let dim = self.history.dim();
            return Some(format!("{told} told in {dim} dimensions, too many unknowns for a fit: it acts as if untold"));
        }
        if !self.has_networks() || self.seen() < ENOUGH_TO_DOUBT {
            return None;
        }
        let beaten = self.line.advantage > 0.0;
        if self.line.acts {
            let by_evidence = "no network of the range explains the rewards";
            return Some(
                if beaten { by_evidence } else { "lately a linear function predicts better than networks" }.to_owned(),
            );
        }
        if beaten {
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

/// How one logarithm of evidence compares with `that`, which it exceeds by so much.
fn compared(ahead: f64, that: &str) -> String {
    match ahead {
        _ if ahead >= 0.05 => format!("exceeds {that} by {ahead:.1}"),
        _ if ahead <= -0.05 => format!("is below {that} by {:.1}", -ahead),
        _ => format!("equals {that}"),
    }
}
