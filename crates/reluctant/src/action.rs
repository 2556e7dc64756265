//! An action as a policy learns of it ([`Action`]), and what may be learnt.

use std::borrow::Cow;

use crate::error::{Error, Result};
use crate::limits::in_limit;

/// An action that was taken, as a policy learns of it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Action<'a> {
    /// A vector: a row, or a point of the sphere.
    Vector(&'a [f64]),
    /// A named action in a context.
    Named {
        /// The context x.
        context: &'a [f64],
        /// The action's name.
        name: &'a str,
        /// Its own features; empty if it has none.
        features: &'a [f64],
    },
}

impl<'a> Action<'a> {
    /// The vector; an error where it is a named action, which `policy` was not made for.
    pub fn vector(self, policy: &'static str) -> Result<&'a [f64]> {
        match self {
            Action::Vector(x) => Ok(x),
            Action::Named { .. } => Err(Error::unexpected_context(policy)),
        }
    }
}

impl<'a> From<&'a [f64]> for Action<'a> {
    fn from(x: &'a [f64]) -> Self {
        Action::Vector(x)
    }
}

impl<'a> From<&'a &[f64]> for Action<'a> {
    fn from(x: &'a &[f64]) -> Self {
        Action::Vector(x)
    }
}

impl<'a, const N: usize> From<&'a [f64; N]> for Action<'a> {
    fn from(x: &'a [f64; N]) -> Self {
        Action::Vector(x)
    }
}

impl<'a> From<&'a Vec<f64>> for Action<'a> {
    fn from(x: &'a Vec<f64>) -> Self {
        Action::Vector(x)
    }
}

impl<'a> From<&'a Cow<'_, [f64]>> for Action<'a> {
    fn from(x: &'a Cow<'_, [f64]>) -> Self {
        Action::Vector(x)
    }
}

/// The vector of an action that may enter `policy`, which is of dimension `dim`, with this reward. Every policy of
/// vectors begins to learn with it, so that a refused observation leaves the policy as it was.
pub fn check_observation<'a>(policy: &'static str, dim: usize, action: Action<'a>, reward: f64) -> Result<&'a [f64]> {
    let x = check_vector(policy, dim, action)?;
    check_finite("the reward", reward)?;
    Ok(x)
}

/// The vector of an action that `policy`, which is of dimension `dim`, may be asked about.
pub fn check_vector<'a>(policy: &'static str, dim: usize, action: Action<'a>) -> Result<&'a [f64]> {
    let x = action.vector(policy)?;
    check_numbers("the action", "a coordinate of the action", dim, x)?;
    Ok(x)
}

/// An error unless `x` has dimension `dim` and is finite.
pub(crate) fn check_numbers(what: &'static str, coordinate: &'static str, dim: usize, x: &[f64]) -> Result<()> {
    check_dim(what, dim, x.len())?;
    x.iter().try_for_each(|&x| check_finite(coordinate, x))
}

/// An error unless `x` may enter a policy.
pub(crate) fn check_finite(what: &'static str, x: f64) -> Result<()> {
    if in_limit(x) { Ok(()) } else { Err(Error::NotFinite { what: what.into(), value: x }) }
}

/// An error unless the two dimensions agree.
pub(crate) fn check_dim(what: &'static str, expected: usize, found: usize) -> Result<()> {
    if expected == found { Ok(()) } else { Err(Error::Dimension { what, expected, found }) }
}
