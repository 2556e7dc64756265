//! Memory that policies work in, kept by the caller so that rounds do not allocate.

use crate::choice::Score;
use crate::kernels::{LANES, ModelTable};
use crate::patterns::PatternTable;

/// Memory that `select` and `score` work in. Its content between calls means nothing, but for
/// the scores that `score` left.
#[derive(Debug, Default, Clone)]
pub struct Scratch {
    /// One score an action.
    pub(crate) scores: Vec<Score>,
    /// The same of another model.
    pub(crate) other_scores: Vec<Score>,
    /// Those of several models together.
    pub(crate) mixed_scores: Vec<Score>,
    /// Numbers.
    pub(crate) numbers: Vec<f64>,
    /// What is drawn at random for a round: weights, or a function.
    pub(crate) drawn: Vec<f64>,
    /// Values with their weights.
    pub(crate) weighted: Vec<(f64, f64)>,
    /// Numbers of several arms side by side.
    pub(crate) lanes: Vec<[f64; LANES]>,
    /// Activation patterns.
    pub(crate) words: Vec<u64>,
    /// Which patterns were met, and in which order.
    pub(crate) table: PatternTable,
    /// The local models of the patterns met.
    pub(crate) models: ModelTable,
    /// The features of a row.
    pub(crate) phi: Vec<f64>,
    /// Rows that contexts and the features of actions were joined to.
    pub(crate) joined: Vec<f64>,
    /// Places of named actions.
    pub(crate) places: Vec<usize>,
    /// Heads of named actions.
    pub(crate) heads: Vec<Option<usize>>,
}

impl Scratch {
    /// What the last `score` predicted, an action each.
    pub fn scores(&self) -> &[Score] {
        &self.scores
    }

    /// Where `score` of a policy of one's own writes what it predicts: cleared first, then one score an action.
    pub fn scores_mut(&mut self) -> &mut Vec<Score> {
        &mut self.scores
    }

    /// The values of the function that a belief drew last, one a row.
    pub fn values(&self) -> &[f64] {
        &self.numbers
    }

    /// Memory full of rubbish, which must mean nothing to a policy.
    pub(crate) fn rubbish() -> Self {
        let mut rubbish = Scratch {
            scores: vec![Score { mean: f64::NAN, width: -1.0 }; 7],
            numbers: vec![f64::NAN; 11],
            lanes: vec![[f64::NAN; LANES]; 3],
            words: vec![u64::MAX; 5],
            joined: vec![f64::NAN; 5],
            places: vec![usize::MAX; 2],
            heads: vec![Some(usize::MAX); 2],
            ..Scratch::default()
        };
        rubbish.table.clear(4);
        rubbish.table.find_or_insert(3);
        rubbish
    }
}
