//! What was chosen ([`Choice`]), what a policy predicts ([`Score`]), and the greatest of many values ([`argmax`]).

use std::borrow::Cow;
use std::fmt;

use crate::action::Action;
use crate::offer::{Context, Rows};

/// What a policy predicts for an action.
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
#[non_exhaustive]
pub struct Choice<'a> {
    /// The row, or the place among the named actions; `None` on the sphere.
    pub index: Option<usize>,
    /// The action itself; in a context, the context.
    pub action: Cow<'a, [f64]>,
    /// The action's name and its own features, in a context.
    pub named: Option<(&'a str, &'a [f64])>,
    /// The predicted mean reward and the width of its interval.
    pub score: Score,
    /// By how much it appealed: the number that was the greatest, mean plus width of an optimist or the drawn value of
    /// a sampler. `None` if the action was left to chance.
    pub appeal: Option<f64>,
    /// The probability (on the sphere, if it was left to chance: the density) with which this action was chosen, 1 if
    /// nothing was left to chance.
    /// `None` where it is not known at once: that of Thompson sampling has no closed form, and is computed on request
    /// ([`Policy::propensity`](crate::Policy#method.propensity)).
    pub propensity: Option<f64>,
    /// The standard error of the propensity, where it was estimated; 0 if it is exact.
    pub propensity_error: f64,
    /// For an optimistic choice from the sphere: how sure it is that no other action scores higher.
    pub certificate: Option<Certificate>,
}

impl<'a> Choice<'a> {
    /// Row `index` of `rows`, the greatest by mean plus width, with certainty.
    pub fn row(rows: Rows<'a>, index: usize, score: Score) -> Self {
        Choice {
            index: Some(index),
            action: Cow::Borrowed(rows.get(index)),
            named: None,
            score,
            appeal: Some(score.upper()),
            propensity: Some(1.0),
            propensity_error: 0.0,
            certificate: None,
        }
    }

    /// A point of the sphere, the greatest by mean plus width, with certainty.
    pub fn point(action: Vec<f64>, score: Score) -> Self {
        let appeal = Some(score.upper());
        Choice {
            index: None,
            action: action.into(),
            named: None,
            score,
            appeal,
            propensity: Some(1.0),
            propensity_error: 0.0,
            certificate: None,
        }
    }

    /// Action `index` of `context`, the greatest by mean plus width, with certainty.
    pub fn named(context: Context<'a>, index: usize, score: Score) -> Self {
        Choice {
            index: Some(index),
            action: Cow::Borrowed(context.features()),
            named: Some((&context.names()[index], context.features_of(index))),
            score,
            appeal: Some(score.upper()),
            propensity: Some(1.0),
            propensity_error: 0.0,
            certificate: None,
        }
    }

    /// The same choice, made because a drawn value was the greatest: with which probability is not known yet.
    #[must_use]
    pub fn drawn(self, value: f64) -> Self {
        Choice { appeal: Some(value), propensity: None, ..self }
    }

    /// The same choice, left to chance with this probability or density.
    #[must_use]
    pub fn by_chance(self, propensity: f64) -> Self {
        Choice { appeal: None, propensity: Some(propensity), ..self }
    }

    /// The same choice, made with this probability.
    #[must_use]
    pub fn with_propensity(self, propensity: impl Into<Option<f64>>) -> Self {
        Choice { propensity: propensity.into(), ..self }
    }

    /// The action as a policy learns of it.
    pub fn as_action(&self) -> Action<'_> {
        match self.named {
            None => Action::Vector(&self.action),
            Some((name, features)) => Action::Named { context: &self.action, name, features },
        }
    }
}

impl<'c> From<&'c Choice<'_>> for Action<'c> {
    fn from(choice: &'c Choice<'_>) -> Self {
        choice.as_action()
    }
}

/// How sure an optimistic action on the sphere is ([`crate::geometry::Optimistic`]).
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Certificate {
    /// The maximum, up to rounding.
    Exact,
    /// No action of the region has a value that is larger by more than this, which is at most the tolerance.
    ProvenWithin(f64),
    /// The budget ran out; no action of the region has a value that is larger by more than this.
    Gap(f64),
    /// There were too many cells to go through: ascent from many starts found nothing better, and nothing is proven.
    NotCertified,
}

impl Certificate {
    /// By how much the best value can exceed the one found, if that is known.
    pub fn gap(&self) -> Option<f64> {
        match *self {
            Certificate::Exact => Some(0.0),
            Certificate::ProvenWithin(gap) | Certificate::Gap(gap) => Some(gap),
            Certificate::NotCertified => None,
        }
    }
}

impl fmt::Display for Certificate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Certificate::Exact => write!(f, "exact"),
            Certificate::ProvenWithin(gap) => write!(f, "proven within {gap:.1e}"),
            Certificate::Gap(gap) => write!(f, "the budget ran out with a gap of {gap:.1e}"),
            Certificate::NotCertified => write!(f, "not certified: the best of ascents from many starts"),
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn argmax_takes_the_first_of_ties_and_skips_nan() {
        assert_eq!(argmax([1.0, 3.0, 3.0 + 1e-15, 2.0]), Some(1));
        assert_eq!(argmax([f64::NAN, -1.0, f64::NAN, 0.5]), Some(3));
        assert_eq!(argmax([f64::NEG_INFINITY, -1.0]), Some(1));
        assert_eq!(argmax([f64::NAN]), None);
        assert_eq!(argmax([]), None);
    }
}
