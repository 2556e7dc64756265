//! The actions on offer in a round ([`Arms`]) and what was chosen ([`Choice`]).

use std::borrow::Cow;

use crate::error::{Error, Result};
use crate::geometry::{Certificate, Optimistic};

/// No number that enters a policy may be larger in size than this, so that squares and sums of squares stay finite.
pub const LIMIT: f64 = 1e100;

/// The actions on offer in a round.
#[derive(Debug, Clone, Copy)]
pub enum Arms<'a> {
    /// One of finitely many vectors.
    Finite(Rows<'a>),
    /// Any point of the unit sphere.
    Sphere {
        /// The dimension d of the space around the sphere S^(d−1).
        dim: usize,
    },
}

impl<'a> Arms<'a> {
    /// Finitely many arms: `data` holds one arm after the other, each of `dim` numbers.
    pub fn finite(dim: usize, data: &'a [f64]) -> Result<Self> {
        Rows::new(dim, data).map(Arms::Finite)
    }

    /// The dimension of an action.
    pub fn dim(&self) -> usize {
        match self {
            Arms::Finite(rows) => rows.dim(),
            Arms::Sphere { dim } => *dim,
        }
    }

    /// The rows, if there are finitely many; otherwise the error that `policy` needs them.
    pub fn rows(&self, policy: &'static str) -> Result<Rows<'a>> {
        match self {
            Arms::Finite(rows) => Ok(*rows),
            Arms::Sphere { .. } => Err(Error::NeedsFiniteArms { policy }),
        }
    }

    /// An error unless the arms have dimension `dim`.
    pub fn expect_dim(&self, dim: usize) -> Result<()> {
        check_dim("the set of arms", dim, self.dim())
    }
}

/// A non-empty set of vectors, borrowed, checked once: all finite, all of the same dimension.
#[derive(Debug, Clone, Copy)]
pub struct Rows<'a> {
    dim: usize,
    data: &'a [f64],
}

impl<'a> Rows<'a> {
    /// Checks that `data` is at least one row of `dim` finite numbers.
    pub fn new(dim: usize, data: &'a [f64]) -> Result<Self> {
        if dim == 0 {
            return Err(Error::out_of_range("dim", 0, "at least 1"));
        }
        if data.is_empty() {
            return Err(Error::NoArms);
        }
        if !data.len().is_multiple_of(dim) {
            return Err(Error::RaggedArms { dim, len: data.len() });
        }
        // One pass without branches; only if it fails, look for the culprit. A NaN fails the comparison.
        if !data.iter().fold(true, |good, x| good & (x.abs() <= LIMIT)) {
            let at = data.iter().position(|x| !in_limit(*x)).unwrap_or(0);
            let what = format!("coordinate {} of arm {}", at % dim + 1, at / dim + 1);
            return Err(Error::NotFinite { what: what.into(), value: data[at] });
        }
        Ok(Rows { dim, data })
    }

    /// Rows that are known to be finite and complete, because this crate has just made them.
    pub(crate) fn trusted(dim: usize, data: &'a [f64]) -> Self {
        debug_assert!(Rows::new(dim, data).is_ok());
        Rows { dim, data }
    }

    /// The dimension of a row.
    pub fn dim(&self) -> usize {
        self.dim
    }

    /// How many rows there are; never zero.
    #[allow(clippy::len_without_is_empty)]
    pub fn len(&self) -> usize {
        self.data.len() / self.dim
    }

    /// Row `i`.
    pub fn get(&self, i: usize) -> &'a [f64] {
        &self.data[i * self.dim..(i + 1) * self.dim]
    }

    /// The rows, in order.
    pub fn iter(&self) -> std::slice::ChunksExact<'a, f64> {
        self.data.chunks_exact(self.dim)
    }

    /// All numbers, row after row.
    pub fn data(&self) -> &'a [f64] {
        self.data
    }
}

/// What a policy predicts for an arm.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Score {
    /// The predicted mean reward.
    pub mean: f64,
    /// The half-width of the confidence interval around it (0 where the policy has none).
    pub width: f64,
}

impl Score {
    /// The optimistic value: mean plus width.
    pub fn upper(&self) -> f64 {
        self.mean + self.width
    }
}

/// What was chosen.
#[derive(Debug, Clone, PartialEq)]
pub struct Choice<'a> {
    /// The row, if the arms were finite.
    pub index: Option<usize>,
    /// The action itself.
    pub action: Cow<'a, [f64]>,
    /// The predicted mean reward and the width of its interval.
    pub score: Score,
    /// The probability (on the sphere: the density) with which this action was chosen, 1 if nothing was left to chance. `None` where it
    /// is not known: that of Thompson sampling has no closed form.
    pub propensity: Option<f64>,
    /// For an optimistic choice from the sphere: how sure it is that no other action scores higher.
    pub certificate: Option<Certificate>,
}

impl<'a> Choice<'a> {
    /// Row `index` of `rows`.
    pub fn row(rows: Rows<'a>, index: usize, score: Score, propensity: impl Into<Option<f64>>) -> Self {
        let action = Cow::Borrowed(rows.get(index));
        Choice { index: Some(index), action, score, propensity: propensity.into(), certificate: None }
    }

    /// An optimistic choice from the sphere.
    pub fn on_sphere(found: Optimistic) -> Self {
        let score = Score { mean: found.mean, width: found.width };
        Choice {
            index: None,
            action: found.action.into(),
            score,
            propensity: Some(1.0),
            certificate: Some(found.certificate),
        }
    }
}

/// Two scores nearer than this, relative to their size, are a tie.
const TIE: f64 = 1e-12;

/// The first of the greatest values; `None` if there is no value that is a number.
///
/// Values that differ by rounding alone count as equal and the lowest index wins, so that two ways to compute the same
/// score choose the same arm.
pub fn argmax(values: impl IntoIterator<Item = f64>) -> Option<usize> {
    let mut leader = Leader::default();
    let mut best = None;
    for (i, value) in values.into_iter().enumerate() {
        if leader.offer(value) {
            best = Some(i);
        }
    }
    best
}

/// The greatest value so far, for [`argmax`] and for kernels that skip what cannot be the greatest.
#[derive(Debug, Default, Clone, Copy)]
pub(crate) struct Leader(Option<f64>);

impl Leader {
    /// The greatest value so far; −∞ if there is none.
    #[inline(always)]
    pub(crate) fn value(self) -> f64 {
        self.0.unwrap_or(f64::NEG_INFINITY)
    }

    /// Whether `value` takes the lead. It does not if it is not a number, or greater by rounding alone.
    #[inline(always)]
    pub(crate) fn offer(&mut self, value: f64) -> bool {
        let better = match self.0 {
            None => !value.is_nan(),
            Some(top) => value > top && (top.is_infinite() || value - top > TIE * top.abs()),
        };
        if better {
            self.0 = Some(value);
        }
        better
    }
}

/// Whether a number may enter a policy.
pub(crate) fn in_limit(x: f64) -> bool {
    x.abs() <= LIMIT
}

/// An error unless `x` may enter a policy.
pub(crate) fn check_finite(what: &'static str, x: f64) -> Result<()> {
    if in_limit(x) { Ok(()) } else { Err(Error::NotFinite { what: what.into(), value: x }) }
}

/// An error unless the two dimensions agree.
pub(crate) fn check_dim(what: &'static str, expected: usize, found: usize) -> Result<()> {
    if expected == found { Ok(()) } else { Err(Error::Dimension { what, expected, found }) }
}

/// An error unless `action` and `reward` may enter a policy of dimension `dim`. Every `update` begins with it, so that a
/// refused observation leaves the policy as it was.
pub fn check_observation(dim: usize, action: &[f64], reward: f64) -> Result<()> {
    check_action(dim, action)?;
    check_finite("the reward", reward)
}

/// An error unless the action has dimension `dim` and is finite.
pub(crate) fn check_action(dim: usize, action: &[f64]) -> Result<()> {
    check_dim("the action", dim, action.len())?;
    action.iter().try_for_each(|&x| check_finite("a coordinate of the action", x))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bad_rows_are_refused_with_a_sentence() {
        let said = |dim, data: &[f64]| Rows::new(dim, data).map(|_| ()).unwrap_err().to_string();
        assert_eq!(said(2, &[]), "no arms: a round must offer at least one arm");
        assert_eq!(said(2, &[1.0, 2.0, 3.0]), "the arms are ragged: 3 numbers do not divide into rows of dimension 2");
        assert!(said(2, &[1.0, 2.0, f64::NAN, 0.0]).starts_with("coordinate 1 of arm 2 is NaN"));
        assert!(said(1, &[1e101]).starts_with("coordinate 1 of arm 1 is 1"));
        assert!(Rows::new(0, &[1.0]).is_err());
    }

    #[test]
    fn argmax_takes_the_first_of_ties_and_skips_nan() {
        assert_eq!(argmax([1.0, 3.0, 3.0 + 1e-15, 2.0]), Some(1));
        assert_eq!(argmax([f64::NAN, -1.0, f64::NAN, 0.5]), Some(3));
        assert_eq!(argmax([f64::NEG_INFINITY, -1.0]), Some(1));
        assert_eq!(argmax([f64::NAN]), None);
        assert_eq!(argmax([]), None);
    }
}
