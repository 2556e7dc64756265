//! All rewards so far, and how inputs and rewards were scaled at the last training.

use serde::{Deserialize, Serialize};

use super::adam::{Data, Loss};
use super::ramps::Ramps;
use super::rewards::Rewards;
use super::scaling::{Inputs, Scaling};
use crate::limits::in_limit;

/// With fewer rewards nothing is remarked on: few are often alike.
const ENOUGH_TO_REMARK: usize = 100;

/// What is said of rewards that are all the same.
pub(crate) fn all_alike(count: u64, reward: f64) -> String {
    format!("all {count} rewards so far were {reward}: they tell no action from another")
}

/// Rewards with the context, or row, and the head that they are of.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct History {
    inputs: Inputs,
    scaling: Scaling,
    pub(super) rewards: Rewards,
    xs: Vec<f64>,
    heads: Vec<u32>,
    ys: Vec<f64>,
    #[serde(skip)]
    scaled: (Vec<f64>, Vec<f64>),
}

impl History {
    pub(super) fn new(inputs: Inputs, dim: usize) -> Self {
        History {
            inputs,
            scaling: Scaling::none(dim),
            rewards: Rewards::AS_THEY_ARE,
            xs: Vec::new(),
            heads: Vec::new(),
            ys: Vec::new(),
            scaled: Default::default(),
        }
    }

    pub(super) fn is_consistent(&self, dim: usize, heads: usize) -> bool {
        let n = self.ys.len();
        self.scaling.is_consistent(dim)
            && self.rewards.is_consistent()
            && n.checked_mul(dim) == Some(self.xs.len())
            && self.heads.len() == n
            && self.heads.iter().all(|head| (*head as usize) < heads)
            && self.xs.iter().chain(&self.ys).all(|x| in_limit(*x))
    }

    pub(super) fn dim(&self) -> usize {
        self.scaling.dim()
    }

    pub(super) fn len(&self) -> usize {
        self.ys.len()
    }

    /// That all rewards are alike, in a sentence; nothing is said of few.
    pub(super) fn remark(&self) -> Option<String> {
        let (count, first) = (self.len(), self.ys.first()?);
        let alike = count >= ENOUGH_TO_REMARK && self.ys.iter().all(|y| y == first);
        alike.then(|| all_alike(count as u64, *first))
    }

    pub(super) fn add(&mut self, head: usize, x: &[f64], y: f64) {
        self.xs.extend_from_slice(x);
        self.heads.push(head as u32);
        self.ys.push(y);
    }

    /// The scaled x, into `out`.
    pub(super) fn scale(&self, x: &[f64], out: &mut Vec<f64>) {
        out.clear();
        self.scaling.append(x, out);
    }

    /// Curves of the inputs, for the scaling as it is.
    pub(super) fn ramps(&self) -> Ramps {
        Ramps::between(&self.scaling, &self.xs)
    }

    /// All scaled inputs, each with its ramps, one after the other.
    pub(super) fn with_ramps(&self, ramps: &Ramps) -> Vec<f64> {
        let mut out = Vec::with_capacity(self.len() * (self.dim() + ramps.count()));
        for x in self.xs.chunks_exact(self.dim()) {
            self.scaling.append(x, &mut out);
            ramps.append(x, &mut out);
        }
        out
    }

    /// Scales by what has been seen until now. Rewards whose chances are learnt stay 0 and 1.
    pub(super) fn rescale(&mut self, loss: Loss) {
        self.scaling = Scaling::of(self.inputs, self.dim(), &self.xs);
        if loss == Loss::Squares {
            self.rewards = Rewards::of(&self.ys);
        }
        let (xs, ys) = &mut self.scaled;
        xs.clear();
        self.xs.chunks_exact(self.scaling.dim()).for_each(|x| self.scaling.append(x, xs));
        ys.clear();
        ys.extend(self.ys.iter().map(|y| self.rewards.scaled(*y)));
    }

    /// Scales, as before, what has come since the last time.
    pub(super) fn catch_up(&mut self) {
        let (xs, ys) = &mut self.scaled;
        let done = ys.len();
        self.xs.chunks_exact(self.scaling.dim()).skip(done).for_each(|x| self.scaling.append(x, xs));
        ys.extend(self.ys[done..].iter().map(|y| self.rewards.scaled(*y)));
    }

    /// Everything as it was scaled by [`History::rescale`] or [`History::catch_up`], one of which comes right before.
    pub(super) fn data(&self) -> Data<'_> {
        Data { xs: &self.scaled.0, heads: &self.heads, ys: &self.scaled.1 }
    }

    /// x, head and scaled reward of each, in order.
    pub(super) fn iter(&self) -> impl Iterator<Item = (&[f64], usize, f64)> {
        let rewards = self.xs.chunks_exact(self.dim()).zip(&self.heads).zip(&self.ys);
        rewards.map(|((x, head), y)| (x, *head as usize, self.rewards.scaled(*y)))
    }
}
