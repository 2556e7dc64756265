//! Gaussian processes of several actions in one context: a process for each, hyperparameters for all.
//!
//! This is one process over pairs of a context and an action, whose kernel is multiplied by "the same action": rewards of
//! different actions tell nothing of each other but how smooth, how large and how noisy rewards are.

use serde::{Deserialize, Serialize};

use super::params::{self, MAX_BUDGET, Wanted};
use super::process::{Frame, Process};
use super::search::{Renewed, Search};
use crate::belief::{Asked, Heads, state};
use crate::choice::Score;
use crate::error::Result;
use crate::offer::Rows;
use crate::params::Params;
use crate::rng::{Key, Purpose, normal};
use crate::scratch::Scratch;

/// A process for each action, with hyperparameters that all share.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct GaussianProcesses {
    frame: Frame,
    sigma: f64,
    /// What an action is thought of that has not been rewarded yet.
    untried: Process,
    heads: Vec<Process>,
    search: Option<Search>,
}

impl GaussianProcesses {
    pub(crate) fn read(dim: usize, params: &Params) -> Result<Self> {
        let (frame, wanted) = (params::frame(dim, params)?, Wanted::read(params)?);
        let (kernel, sigma) = wanted.first();
        let search = wanted.needs_search().then(|| Search::new(frame, wanted));
        Ok(GaussianProcesses { frame, sigma, untried: Process::new(frame, kernel, sigma), heads: Vec::new(), search })
    }

    pub(crate) fn is_consistent(&self) -> bool {
        let Frame { dim, budget, discount } = self.frame;
        let fits = |process: &Process| process.is_consistent(dim, budget) && process.discount() == discount;
        (1..=MAX_BUDGET).contains(&(budget as u64))
            && self.heads.iter().chain([&self.untried]).all(fits)
            && self.search.as_ref().is_none_or(|search| search.is_consistent(self.frame, self.heads.len()))
    }

    fn process(&self, head: Option<usize>) -> &Process {
        head.map_or(&self.untried, |head| &self.heads[head])
    }

    /// New processes for all actions.
    fn renew(&mut self, renewed: Renewed) {
        let fresh = Process::new(self.frame, renewed.found.kernel, renewed.found.sigma);
        let count = self.heads.len();
        self.sigma = renewed.found.sigma;
        self.heads = renewed.processes;
        self.heads.resize(count, fresh.clone());
        self.untried = fresh;
    }
}

impl Heads for GaussianProcesses {
    fn kind(&self) -> &'static str {
        "Gaussian processes"
    }

    fn describe(&self) -> String {
        "a Gaussian process for each action, with a kernel that all share".to_owned()
    }

    fn dim(&self) -> usize {
        self.frame.dim
    }

    fn count(&self) -> usize {
        self.heads.len()
    }

    fn add(&mut self, _: &str) -> Result<()> {
        self.heads.push(self.untried.clone());
        Ok(())
    }

    fn learn(&mut self, head: usize, x: &[f64], y: f64) {
        self.heads[head].learn(x, y);
        let current = (self.untried.gp.kernel(), self.sigma);
        if let Some(search) = &mut self.search {
            if let Some(renewed) = search.observe(head, x, y, current) {
                self.renew(renewed);
            }
            if self.search.as_ref().is_some_and(Search::is_over) {
                self.search = None;
            }
        }
    }

    fn predict(&self, x: &[f64], actions: Asked<'_>, scale: f64, scratch: &mut Scratch) {
        let Scratch { scores, lanes, .. } = scratch;
        scores.clear();
        for (_, head) in actions.iter() {
            self.process(head).gp.scores(Rows::trusted(self.frame.dim, x), scale, lanes, scores);
        }
    }

    /// Processes of different actions are independent, and at one context a draw is a normal number.
    fn draw(&self, x: &[f64], actions: Asked<'_>, scale: f64, key: Key, scratch: &mut Scratch) {
        self.predict(x, actions, scale, scratch);
        let Scratch { scores, numbers, .. } = scratch;
        numbers.clear();
        numbers.extend(actions.iter().zip(scores).map(|((name, _), &mut Score { mean, width })| {
            mean + width * normal(&mut key.branch(name).purpose(Purpose::Choice).stream())
        }));
    }

    fn draws_normally(&self) -> bool {
        true
    }

    fn scales(&self) -> bool {
        false
    }

    fn save(&self) -> Result<serde_json::Value> {
        state(self)
    }
}
