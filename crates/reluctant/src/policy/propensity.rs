//! The probability with which a policy chooses, for logs and for whoever evaluates a policy on one.
//!
//! It is exact where a policy knows it ([`Policy::probabilities`]) or where nothing is left to chance. Else it is
//! estimated by choosing again, with other keys, until the action has come back a fixed number of times: the number of
//! choices divided by it is then an unbiased estimate of one over the probability, which is what a log is weighted
//! with.

use super::Policy;
use crate::choice::Choice;
use crate::error::Result;
use crate::offer::Offer;
use crate::rng::Key;
use crate::scratch::Scratch;

/// How often an action must come back. The relative error of an estimated probability is about one over its root, 10 %.
const RETURNS: u64 = 100;

/// At most so many choices are made again for one estimate.
const MOST_DRAWS: u64 = 50_000;

/// A probability, exact or estimated.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Propensity {
    /// The probability; on the sphere, where chance has a share in the choice, the density.
    pub value: f64,
    /// Its standard error, 0 if it is exact.
    pub error: f64,
}

impl Propensity {
    /// A probability that is known.
    pub const fn exact(value: f64) -> Self {
        Propensity { value, error: 0.0 }
    }
}

/// The probability of every action, into `out`, if it is known without choosing again and again.
pub(super) fn known(
    policy: &dyn Policy,
    offer: Offer<'_>,
    key: Key,
    scratch: &mut Scratch,
    out: &mut Vec<f64>,
) -> Result<bool> {
    if policy.probabilities(offer, scratch, out)? {
        return Ok(true);
    }
    let choice = policy.select(offer, key, scratch)?;
    let (Some(index), Some(count), Some(1.0)) = (choice.index, offer.count(), choice.propensity) else {
        return Ok(false);
    };
    out.clear();
    out.resize(count, 0.0);
    out[index] = 1.0;
    Ok(true)
}

impl dyn Policy + '_ {
    /// The probability with which `choice` was made from `offer`; `None` on the sphere, where it is not known unless
    /// the choice says it. It costs more than the choice where a policy draws values and there is no formula. `key`
    /// names the choices that are made again for it, and must be another than that of the choice.
    ///
    /// ```
    /// use reluctant::{Key, Offer, Scratch, Settings, policy};
    /// let policy = policy::build("lin-ts", 2, &Settings::new(), Key::new(1))?;
    /// let (offer, mut scratch) = (Offer::finite(2, &[1.0, 0.0, 0.0, 1.0])?, Scratch::default());
    /// let choice = policy.select(offer, Key::new(2), &mut scratch)?;
    /// let propensity = policy.propensity(offer, &choice, Key::new(3), &mut scratch)?.unwrap();
    /// assert!((propensity.value - 0.5).abs() < 1e-9 && propensity.error == 0.0);
    /// # Ok::<(), reluctant::Error>(())
    /// ```
    pub fn propensity(
        &self,
        offer: Offer<'_>,
        choice: &Choice<'_>,
        key: Key,
        scratch: &mut Scratch,
    ) -> Result<Option<Propensity>> {
        if let Some(value) = choice.propensity {
            return Ok(Some(Propensity { value, error: choice.propensity_error }));
        }
        let Some(index) = choice.index else { return Ok(None) };
        let mut probabilities = Vec::new();
        if self.probabilities(offer, scratch, &mut probabilities)? && probabilities[index] > 0.0 {
            return Ok(Some(Propensity::exact(probabilities[index])));
        }
        let (mut returns, mut draws) = (0, 0);
        while returns < RETURNS && draws < MOST_DRAWS {
            draws += 1;
            returns += u64::from(self.select(offer, key.later(draws), scratch)?.index == Some(index));
        }
        // It was chosen once, so it is possible.
        let value = returns.max(1) as f64 / draws as f64;
        // As if the next choice had been another: what always came back is not certain.
        let others = 1.0 - returns as f64 / (draws + 1) as f64;
        let error = value * (others / returns.max(1) as f64).sqrt();
        Ok(Some(Propensity { value, error }))
    }

    /// The same choice, with the probability it was made with ([`Policy::propensity`](#method.propensity)), as a log
    /// needs it.
    pub fn with_propensity<'a>(
        &self,
        offer: Offer<'_>,
        choice: Choice<'a>,
        key: Key,
        scratch: &mut Scratch,
    ) -> Result<Choice<'a>> {
        let found = self.propensity(offer, &choice, key, scratch)?;
        let propensity_error = found.map_or(0.0, |found| found.error);
        Ok(Choice { propensity: found.map(|found| found.value), propensity_error, ..choice })
    }

    /// How likely each action of a finite offer is to be chosen, into `out`; whether that is exact. If not, it is the
    /// share of so many choices that are made for it, with keys that begin with `key`.
    pub fn distribution(
        &self,
        offer: Offer<'_>,
        draws: u64,
        key: Key,
        scratch: &mut Scratch,
        out: &mut Vec<f64>,
    ) -> Result<bool> {
        if known(self, offer, key, scratch, out)? {
            return Ok(true);
        }
        let Some(count) = offer.count() else {
            return Err(crate::error::Error::NeedsFiniteArms { policy: self.name() });
        };
        out.clear();
        out.resize(count, 0.0);
        for draw in 0..draws.max(1) {
            if let Some(index) = self.select(offer, key.later(draw), scratch)?.index {
                out[index] += 1.0 / draws.max(1) as f64;
            }
        }
        Ok(false)
    }
}
