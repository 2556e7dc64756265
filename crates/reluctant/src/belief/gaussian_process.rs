//! The belief of `gp-ucb` and `gp-ts`: a process whose hyperparameters are given or fitted.

use serde::{Deserialize, Serialize};

use super::forgetting::Forgetting;
use super::{Belief, state};
use crate::error::Result;
use crate::gp::{Data, Kernel, Path, Shape, SparseGp, fit};
use crate::offer::Rows;
use crate::params::{Initial, Kind, Param, Params};
use crate::rng::{Key, Purpose};
use crate::scratch::Scratch;

/// The most points a process may keep: rounds cost O(arms·points²).
const MAX_BUDGET: u64 = 2000;

/// Hyperparameters are fitted when there are this many observations, at each doubling, and for the
/// last time at the second number.
const FIRST_FIT: usize = 16;
const LAST_FIT: usize = 256;

pub(crate) const KERNEL: Param = Param::new(
    "kernel",
    Initial::word("rbf"),
    Kind::Word(&["rbf", "matern32", "matern52"]),
    "how rewards of near arms go together: exp(−r²/2ℓ²), or Matérn's with ν = 3/2 or 5/2",
);
pub(crate) const LENGTH: Param =
    Param::new("length", Initial::Auto("by evidence"), Kind::POSITIVE, "length-scale ℓ of the kernel");
pub(crate) const VARIANCE: Param =
    Param::new("variance", Initial::Auto("by evidence"), Kind::POSITIVE, "signal variance s² of the kernel");
pub(crate) const BUDGET: Param = Param::new(
    "budget",
    Initial::count(200),
    Kind::Count { min: 1, max: MAX_BUDGET },
    "points kept at most; what they do not express is projected onto them",
);

/// A process whose hyperparameters are given or fitted.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct GaussianProcess {
    gp: SparseGp,
    sigma: f64,
    budget: usize,
    length: Option<f64>,
    variance: Option<f64>,
    /// The observations so far, until the last fit: a new kernel needs them all.
    history: Option<History>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    forgetting: Option<Forgetting>,
}

#[derive(Debug, Clone, Default, Serialize, Deserialize)]
struct History {
    xs: Vec<f64>,
    ys: Vec<f64>,
}

impl GaussianProcess {
    pub(crate) fn read(dim: usize, params: &Params) -> Result<Self> {
        let shape = match params.word("kernel")? {
            "matern32" => Shape::Matern32,
            "matern52" => Shape::Matern52,
            _ => Shape::Rbf,
        };
        let given = |name| params.get(name).map(|_| params.real(name)).transpose();
        let (length, variance) = (given("length")?, given("variance")?);
        let (sigma, budget) = (params.real("sigma")?, params.size("budget")?);
        // Until there is something to fit to, a kernel for arms and rewards of size one.
        let kernel = Kernel { shape, length: length.unwrap_or(1.0), variance: variance.unwrap_or(1.0) };
        let fitted = length.is_none() || variance.is_none();
        let gp = SparseGp::new(dim, kernel, sigma, budget);
        let forgetting = Forgetting::new(params.real("discount")?);
        Ok(GaussianProcess { gp, sigma, budget, length, variance, history: fitted.then(History::default), forgetting })
    }

    pub(crate) fn is_consistent(&self) -> bool {
        let fits = |history: &History| {
            history.ys.len() < LAST_FIT && Some(history.xs.len()) == history.ys.len().checked_mul(self.gp.dim())
        };
        (1..=MAX_BUDGET).contains(&(self.budget as u64))
            && self.gp.is_consistent(self.budget)
            && self.history.as_ref().is_none_or(fits)
            && self.forgetting.is_none_or(|forgetting| forgetting.is_consistent())
    }

    /// The kernel of greatest evidence, and the process with it, from all observations.
    fn refit(&mut self) {
        let Some(History { xs, ys }) = &self.history else { return };
        let dim = self.gp.dim();
        let data = Data { dim, xs, ys };
        let shape = self.gp.kernel().shape;
        let Some(kernel) = fit(data, shape, self.sigma, (self.length, self.variance)) else { return };
        if kernel != self.gp.kernel() {
            let mut gp = SparseGp::new(dim, kernel, self.sigma, self.budget);
            xs.chunks_exact(dim).zip(ys).for_each(|(x, &y)| gp.update(x, y));
            self.gp = gp;
        }
    }
}

impl Belief for GaussianProcess {
    fn kind(&self) -> &'static str {
        "Gaussian process"
    }

    fn dim(&self) -> usize {
        self.gp.dim()
    }

    fn learn(&mut self, x: &[f64], y: f64) {
        if let Some(factor) = self.forgetting.as_mut().and_then(Forgetting::count) {
            self.gp.forget(factor);
        }
        self.gp.update(x, y);
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

    fn predict(&self, rows: Rows<'_>, scale: f64, scratch: &mut Scratch) {
        scratch.scores.clear();
        self.gp.scores(rows, scale, &mut scratch.lanes, &mut scratch.scores);
    }

    fn draw(&self, rows: Rows<'_>, scale: f64, key: Key, scratch: &mut Scratch) {
        let mut stream = key.purpose(Purpose::Choice).stream();
        let Scratch { drawn, numbers: values, lanes, .. } = scratch;
        let path = Path::draw(&self.gp, scale, &mut stream, drawn);
        values.clear();
        path.values(rows, lanes, values);
    }

    fn save(&self) -> Result<serde_json::Value> {
        state(self)
    }
}
