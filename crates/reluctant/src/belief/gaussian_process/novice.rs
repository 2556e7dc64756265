//! What a novice would think: one who knows what was observed, but does not presume to know how smooth rewards are.
//!
//! A process whose kernel was found by evidence is sure of what it has not seen as soon as what it has seen is smooth:
//! observations gather around a good action, and near that a network is linear. So it may stay with an action that is
//! good but not the best. A novice has a kernel of which only the sizes of actions and rewards are known, and expects
//! surprises wherever nothing was tried.

use super::GaussianProcess;
use crate::gp::{Kernel, Shape, SparseGp};
use crate::limits::LIMIT;
use crate::linalg::dot;
use crate::offer::Rows;
use crate::scratch::Scratch;

/// Rewards are counted from the mean of the first so many, when choices were not yet those of one who knows what is
/// good.
const FIRST: usize = 8;

/// A length-scale as large as actions are is as far as the few explorations of a thousand rounds reach in this many
/// dimensions. In fewer they reach a finer one, in proportion. Seed 7241.
const COVERED: f64 = 4.0;

impl GaussianProcess {
    /// Mean and one standard deviation of every row as a novice has them, to whom rewards differ `amplitude`
    /// times as much as those observed. False, and nothing done, if that cannot be told: the observations are no longer
    /// kept, or all of them are the same.
    pub(crate) fn predict_as_novice(&self, rows: Rows<'_>, amplitude: f64, scratch: &mut Scratch) -> bool {
        let Some((xs, ys)) = self.search.as_ref().map(|search| search.observations()) else { return false };
        let (count, first) = (ys.len() as f64, &ys[..ys.len().min(FIRST)]);
        let level = first.iter().sum::<f64>() / first.len().max(1) as f64;
        let dim = self.process.gp.dim();
        let length = (dim as f64 / COVERED).min(1.0) * (dot(xs, xs) / count).sqrt();
        let height = amplitude * (ys.iter().map(|y| (y - level) * (y - level)).sum::<f64>() / count).sqrt();
        let sane = |size: f64| (LIMIT.recip()..LIMIT).contains(&size);
        if !sane(length) || !sane(height * height) {
            return false;
        }
        let kernel = Kernel { shape: Shape::Rbf, length, variance: height * height };
        let mut novice = SparseGp::new(dim, kernel, self.process.gp.noise().sqrt(), self.budget);
        xs.chunks_exact(dim).zip(ys).for_each(|(x, &y)| novice.update(x, y - level));
        scratch.scores.clear();
        novice.scores(rows, 1.0, &mut scratch.lanes, &mut scratch.scores);
        scratch.scores.iter_mut().for_each(|score| score.mean += level);
        true
    }
}
