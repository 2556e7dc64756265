//! What a network is fitted to.

use crate::action::{check_dim, check_finite};
use crate::error::{Error, Result};
use crate::offer::Rows;

/// Actions with their rewards, borrowed, checked once: at least one, as many rewards as actions, all finite.
#[derive(Debug, Clone, Copy)]
pub struct Samples<'a> {
    rows: Rows<'a>,
    rewards: &'a [f64],
}

impl<'a> Samples<'a> {
    /// Checks that `actions` is one row of `dim` numbers a reward, and all numbers finite.
    pub fn new(dim: usize, actions: &'a [f64], rewards: &'a [f64]) -> Result<Self> {
        if actions.is_empty() && rewards.is_empty() {
            return Err(Error::TooFewSamples { what: "a fit", needed: 1, found: 0 });
        }
        let rows = Rows::new(dim, actions)?;
        check_dim("the list of rewards", rows.len(), rewards.len())?;
        rewards.iter().try_for_each(|&y| check_finite("a reward", y))?;
        Ok(Samples { rows, rewards })
    }

    /// d, the dimension of an action.
    pub fn dim(&self) -> usize {
        self.rows.dim()
    }

    /// n, the number of samples; never zero.
    #[allow(clippy::len_without_is_empty)]
    pub fn len(&self) -> usize {
        self.rewards.len()
    }

    /// The actions.
    pub fn rows(&self) -> Rows<'a> {
        self.rows
    }

    /// The rewards.
    pub fn rewards(&self) -> &'a [f64] {
        self.rewards
    }

    /// The actions with their rewards, in order.
    pub fn iter(&self) -> impl Iterator<Item = (&'a [f64], f64)> {
        self.rows.iter().zip(self.rewards.iter().copied())
    }
}
