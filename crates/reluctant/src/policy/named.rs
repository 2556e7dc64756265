//! Checks of what a policy for named actions without features of their own is given.

use crate::action::{Action, check_numbers};
use crate::error::{Error, Result};
use crate::offer::{Context, Offer};

/// The context of an offer; an error if there is none, or if its actions have features.
pub(super) fn context_of<'a>(policy: &'static str, dim: usize, offer: Offer<'a>) -> Result<Context<'a>> {
    let found = match offer {
        Offer::Context(context) => {
            offer.expect_dim(dim)?;
            if context.action_features().is_none() {
                return Ok(context);
            }
            "actions with features of their own"
        }
        Offer::Rows(rows) => {
            rows.dim_is(dim)?;
            "rows"
        }
        Offer::Sphere { .. } => return Err(Error::NeedsFiniteArms { policy }),
    };
    Err(Error::NeedsContext { policy, found })
}

/// Context and name of an action; an error if it has none, or if it has features.
pub(super) fn name_of<'a>(policy: &'static str, dim: usize, action: Action<'a>) -> Result<(&'a [f64], &'a str)> {
    let found = match action {
        Action::Vector(x) => {
            check_numbers("the action", "a coordinate of the action", dim, x)?;
            "a vector"
        }
        Action::Named { context, name, features } => {
            check_numbers("the context", "a coordinate of the context", dim, context)?;
            if features.is_empty() {
                return Ok((context, name));
            }
            "features of the action"
        }
    };
    Err(Error::NeedsContext { policy, found })
}
