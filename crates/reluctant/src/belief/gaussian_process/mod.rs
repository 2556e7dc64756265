//! The belief of `gp-ucb` and `gp-ts`: a process whose hyperparameters are given or found by evidence.

mod heads;
mod params;
mod process;
mod search;

use serde::{Deserialize, Serialize};

use self::params::Wanted;
use self::process::{Frame, Process};
use self::search::Search;
use super::{Belief, state};
use crate::error::Result;
use crate::gp::{Data, Kernel, Path, fit};
use crate::limits::LIMIT;
use crate::offer::Rows;
use crate::params::Params;
use crate::rng::{Key, Purpose};
use crate::scratch::Scratch;

pub use self::heads::GaussianProcesses;
use self::params::MAX_BUDGET;
pub(crate) use self::params::{BIAS, BUDGET, DEPTH, KERNEL, LEEWAY, LENGTH, SIGMA, VARIANCE};

/// Where noise and shape are given, hyperparameters are fitted when there are this many observations, at each doubling,
/// and for the last time at the second number.
const FIRST_FIT: usize = 16;
const LAST_FIT: usize = 256;

/// Before the first search the variance of the kernel is this share of the mean square of the rewards, but at least
/// that of the first kernel. Less, and rewards that are all far above zero look as if the first were the top.
const RAISED: f64 = 0.25;

/// A process whose hyperparameters are given or found by evidence.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct GaussianProcess {
    #[serde(flatten)]
    process: Process,
    sigma: f64,
    budget: usize,
    length: Option<f64>,
    variance: Option<f64>,
    /// The observations so far, until the last fit: a new kernel needs them all.
    history: Option<History>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    search: Option<Search>,
}

#[derive(Debug, Clone, Default, Serialize, Deserialize)]
struct History {
    xs: Vec<f64>,
    ys: Vec<f64>,
}

impl GaussianProcess {
    pub(crate) fn read(dim: usize, params: &Params) -> Result<Self> {
        let (frame, wanted) = (params::frame(dim, params)?, Wanted::read(params)?);
        let (kernel, sigma) = wanted.first();
        let searched = wanted.needs_search() && !wanted.fits_at_doublings();
        Ok(GaussianProcess {
            process: Process::new(frame, kernel, sigma),
            sigma,
            budget: frame.budget,
            length: wanted.length,
            variance: wanted.variance,
            history: wanted.fits_at_doublings().then(History::default),
            search: searched.then(|| Search::new(frame, wanted)),
        })
    }

    /// One of which nothing is given: kernel, hyperparameters and noise by evidence.
    pub(crate) fn by_evidence(dim: usize, budget: usize) -> Self {
        let (frame, wanted) = (Frame { dim, budget, discount: 1.0 }, Wanted::NOTHING);
        let (kernel, sigma) = wanted.first();
        GaussianProcess {
            process: Process::new(frame, kernel, sigma),
            sigma,
            budget,
            length: None,
            variance: None,
            history: None,
            search: Some(Search::new(frame, wanted)),
        }
    }

    /// Loss and price of its evidence: −2 log of the density of all rewards is loss/σ² + price, up to what all models
    /// share.
    pub(crate) fn evidence(&self) -> (f64, f64) {
        self.process.gp.evidence()
    }

    /// σ² as it has it.
    pub(crate) fn noise(&self) -> f64 {
        self.process.gp.noise()
    }

    /// Whether its hyperparameters may come from observations.
    pub(crate) fn has_searched(&self) -> bool {
        self.search.as_ref().is_none_or(|search| search.observed_before_all().is_none())
    }

    /// In a few words, which kernel it has.
    pub(crate) fn kernel(&self) -> String {
        self.process.gp.kernel().to_string()
    }

    /// The kernel and the noise level σ that it has now.
    fn hyperparameters(&self) -> (Kernel, f64) {
        (self.process.gp.kernel(), self.sigma)
    }

    fn frame(&self) -> Frame {
        Frame { dim: self.dim(), budget: self.budget, discount: self.process.discount() }
    }

    pub(crate) fn is_consistent(&self) -> bool {
        let fits = |history: &History| {
            history.ys.len() < LAST_FIT && Some(history.xs.len()) == history.ys.len().checked_mul(self.dim())
        };
        (1..=MAX_BUDGET).contains(&(self.budget as u64))
            && self.process.is_consistent(self.dim(), self.budget)
            && self.history.as_ref().is_none_or(fits)
            && self.search.as_ref().is_none_or(|search| search.is_consistent(self.frame(), 1))
    }

    /// The kernel of greatest evidence, and the process with it, from all observations.
    fn refit(&mut self) {
        let Some(History { xs, ys }) = &self.history else { return };
        let (dim, (current, sigma)) = (self.dim(), self.hyperparameters());
        let data = Data { dim, xs, ys };
        let Some(kernel) = fit(data, current.shape, sigma, (self.length, self.variance)) else { return };
        if kernel != current {
            self.process = self.renewed(kernel, sigma, xs, ys);
        }
    }

    /// The process with another kernel and noise level, from these observations.
    fn renewed(&self, kernel: Kernel, sigma: f64, xs: &[f64], ys: &[f64]) -> Process {
        let mut process = Process::renewed(&self.process, kernel, sigma, self.budget);
        xs.chunks_exact(self.dim()).zip(ys).for_each(|(x, &y)| process.gp.update(x, y));
        process
    }

    /// Before the first search: a kernel as high as the rewards are, with noise in proportion.
    fn raise(&mut self) {
        let Some((xs, ys)) = self.search.as_ref().and_then(Search::observed_before_all) else { return };
        let (first, sigma) = Wanted::NOTHING.first();
        let square = ys.iter().map(|y| y * y).sum::<f64>() / ys.len().max(1) as f64;
        let variance = (RAISED * square).clamp(first.variance, LIMIT);
        let sigma = sigma * (variance / first.variance).sqrt();
        let kernel = Kernel { variance, ..first };
        if kernel != self.process.gp.kernel() {
            (self.process, self.sigma) = (self.renewed(kernel, sigma, xs, ys), sigma);
        }
    }

    /// Fits at doublings.
    fn remember(&mut self, x: &[f64], y: f64) {
        let Some(history) = &mut self.history else { return };
        history.xs.extend_from_slice(x);
        history.ys.push(y);
        let n = history.ys.len();
        if n >= FIRST_FIT && n.is_power_of_two() {
            self.refit();
        }
        if n >= LAST_FIT {
            self.history = None;
        }
    }

    /// Searches with each observation.
    fn search(&mut self, x: &[f64], y: f64) {
        let current = self.hyperparameters();
        let Some(search) = &mut self.search else { return };
        if let Some(renewed) = search.observe(0, x, y, current) {
            self.sigma = renewed.found.sigma;
            self.process = renewed.processes.into_iter().next().unwrap_or_else(|| self.process.clone());
        }
        if self.search.as_ref().is_some_and(Search::is_over) {
            self.search = None;
        }
    }
}

impl Belief for GaussianProcess {
    fn kind(&self) -> &'static str {
        "Gaussian process"
    }

    fn describe(&self) -> String {
        format!("a Gaussian process: {}", self.kernel())
    }

    fn dim(&self) -> usize {
        self.process.gp.dim()
    }

    fn learn(&mut self, x: &[f64], y: f64) {
        self.process.learn(x, y);
        self.remember(x, y);
        self.search(x, y);
        self.raise();
    }

    fn predict(&self, rows: Rows<'_>, scale: f64, scratch: &mut Scratch) {
        scratch.scores.clear();
        self.process.gp.scores(rows, scale, &mut scratch.lanes, &mut scratch.scores);
    }

    fn draw(&self, rows: Rows<'_>, scale: f64, key: Key, scratch: &mut Scratch) {
        let mut stream = key.purpose(Purpose::Choice).stream();
        let Scratch { drawn, numbers: values, lanes, .. } = scratch;
        let path = Path::draw(&self.process.gp, scale, &mut stream, drawn, lanes);
        values.clear();
        path.values(rows, lanes, values);
    }

    fn save(&self) -> Result<serde_json::Value> {
        state(self)
    }
}
