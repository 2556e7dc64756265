//! What is on offer in a round ([`Offer`]): finitely many vectors, the whole sphere, or a context with named actions.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::action::check_dim;
use crate::error::{Error, Result};
use crate::limits::{all_in_limit, in_limit};

/// What is on offer in a round.
#[derive(Debug, Clone, Copy)]
pub enum Offer<'a> {
    /// One of finitely many vectors.
    Rows(Rows<'a>),
    /// Any point of the unit sphere.
    Sphere {
        /// The dimension d of the space around the sphere S^(d−1).
        dim: usize,
    },
    /// One of several named actions, in a context that they share.
    Context(Context<'a>),
}

impl<'a> Offer<'a> {
    /// Finitely many arms: `data` holds one arm after the other, each of `dim` numbers.
    pub fn finite(dim: usize, data: &'a [f64]) -> Result<Self> {
        Rows::new(dim, data).map(Offer::Rows)
    }

    /// The same, but whether all numbers are finite is looked at by whoever chooses: in the pass
    /// that scores, where there is one.
    pub fn deferred(dim: usize, data: &'a [f64]) -> Result<Self> {
        Rows::deferred(dim, data).map(Offer::Rows)
    }

    /// The dimension of an action, or of a context.
    pub fn dim(&self) -> usize {
        match self {
            Offer::Rows(rows) => rows.dim(),
            Offer::Sphere { dim } => *dim,
            Offer::Context(context) => context.features().len(),
        }
    }

    /// How many actions there are; `None` on the sphere.
    pub fn count(&self) -> Option<usize> {
        match self {
            Offer::Rows(rows) => Some(rows.len()),
            Offer::Sphere { .. } => None,
            Offer::Context(context) => Some(context.names().len()),
        }
    }

    /// The rows, if that is what is on offer; otherwise the error that `policy` needs them.
    pub fn rows(&self, policy: &'static str) -> Result<Rows<'a>> {
        match self {
            Offer::Rows(rows) => Ok(*rows),
            Offer::Sphere { .. } => Err(Error::NeedsFiniteArms { policy }),
            Offer::Context(_) => Err(Error::unexpected_context(policy)),
        }
    }

    /// An error unless the actions, or the context, have dimension `dim` and are finite.
    pub fn expect_dim(&self, dim: usize) -> Result<()> {
        self.expect_shape(dim)?;
        if let Offer::Rows(rows) = self { rows.ensure_finite() } else { Ok(()) }
    }

    /// An error unless the actions, or the context, have dimension `dim`; that numbers are finite is still to be seen.
    pub(crate) fn expect_shape(&self, dim: usize) -> Result<()> {
        let what = if matches!(self, Offer::Context(_)) { "the context" } else { "the set of arms" };
        check_dim(what, dim, self.dim())
    }
}

/// What a policy can be made for: the shape of every offer that it will see.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Space {
    /// Actions are vectors: rows, or points of the sphere.
    Vectors {
        /// Their dimension d.
        dim: usize,
    },
    /// Actions have names, in a context.
    Contexts {
        /// The dimension p of a context.
        dim: usize,
        /// The dimension of an action's own features; 0 if actions have none.
        action_dim: usize,
    },
}

impl Space {
    /// Contexts of `dim` numbers, with actions that have no features of their own.
    pub const fn contexts(dim: usize) -> Self {
        Space::Contexts { dim, action_dim: 0 }
    }

    /// The dimension of an action that is a vector, or of a context.
    pub const fn dim(&self) -> usize {
        match self {
            Space::Vectors { dim } | Space::Contexts { dim, .. } => *dim,
        }
    }
}

impl From<usize> for Space {
    fn from(dim: usize) -> Self {
        Space::Vectors { dim }
    }
}

/// A non-empty set of vectors, borrowed, checked once: all finite, all of the same dimension.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Rows<'a> {
    dim: usize,
    data: &'a [f64],
    /// Whether the numbers are known to be finite.
    finite: bool,
}

impl<'a> Rows<'a> {
    /// Checks that `data` is at least one row of `dim` finite numbers.
    pub fn new(dim: usize, data: &'a [f64]) -> Result<Self> {
        let rows = Rows::deferred(dim, data)?;
        rows.ensure_finite()?;
        Ok(Rows { finite: true, ..rows })
    }

    /// Checks that `data` is at least one row of `dim` numbers; see [`Offer::deferred`].
    fn deferred(dim: usize, data: &'a [f64]) -> Result<Self> {
        if dim == 0 {
            return Err(Error::out_of_range("dim", 0, "at least 1"));
        }
        if data.is_empty() {
            return Err(Error::NoArms);
        }
        if !data.len().is_multiple_of(dim) {
            return Err(Error::RaggedArms { dim, len: data.len() });
        }
        Ok(Rows { dim, data, finite: false })
    }

    /// An error unless all numbers are finite, which is looked at if it is not known.
    pub(crate) fn ensure_finite(&self) -> Result<()> {
        if self.finite {
            return Ok(());
        }
        let Some(at) = first_beyond_limit(self.data) else { return Ok(()) };
        let what = format!("coordinate {} of arm {}", at % self.dim + 1, at / self.dim + 1);
        Err(Error::NotFinite { what: what.into(), value: self.data[at] })
    }

    /// Rows that are known to be finite and complete, because this crate has just made them.
    pub(crate) fn trusted(dim: usize, data: &'a [f64]) -> Self {
        debug_assert!(Rows::new(dim, data).is_ok());
        Rows { dim, data, finite: true }
    }

    /// The dimension of a row.
    pub fn dim(&self) -> usize {
        self.dim
    }

    /// An error unless the rows have dimension `dim`.
    pub fn dim_is(&self, dim: usize) -> Result<()> {
        check_dim("the set of arms", dim, self.dim)
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

    /// The first `count` rows, or all of them if there are fewer; at least one.
    pub fn first(&self, count: usize) -> Rows<'a> {
        let count = count.clamp(1, self.len());
        Rows { data: &self.data[..count * self.dim], ..*self }
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

/// The place of the first number that may not enter a policy.
fn first_beyond_limit(data: &[f64]) -> Option<usize> {
    // Only if the pass fails, look for the culprit.
    if all_in_limit(data) { None } else { data.iter().position(|x| !in_limit(*x)) }
}

/// The name of an action.
pub type Name = Arc<str>;

/// A context and the actions that are on offer in it, borrowed, checked once: all numbers
/// finite, every action named once.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Context<'a> {
    features: &'a [f64],
    names: &'a [Name],
    action_features: Option<Rows<'a>>,
}

/// From so many actions on, duplicates are looked for in a sorted list instead of pair by pair.
const MANY_ACTIONS: usize = 32;

impl<'a> Context<'a> {
    /// The context x and the names of the actions on offer.
    pub fn new(features: &'a [f64], names: &'a [Name]) -> Result<Self> {
        if features.is_empty() {
            return Err(Error::out_of_range("the length of the context", 0, "at least 1"));
        }
        if let Some(at) = first_beyond_limit(features) {
            let what = format!("coordinate {} of the context", at + 1);
            return Err(Error::NotFinite { what: what.into(), value: features[at] });
        }
        if names.is_empty() {
            return Err(Error::NoArms);
        }
        if let Some(name) = duplicate(names) {
            return Err(Error::OfferedTwice { name: name.to_string() });
        }
        Ok(Context { features, names, action_features: None })
    }

    /// The same with features of the actions: a row an action, in the order of the names.
    pub fn with_action_features(self, rows: Rows<'a>) -> Result<Self> {
        if rows.len() != self.names.len() {
            let allowed = format!("as many as there are actions, {}", self.names.len());
            return Err(Error::out_of_range("the number of rows of action features", rows.len(), allowed));
        }
        Ok(Context { action_features: Some(rows), ..self })
    }

    /// x.
    pub fn features(&self) -> &'a [f64] {
        self.features
    }

    /// The names of the actions on offer.
    pub fn names(&self) -> &'a [Name] {
        self.names
    }

    /// The features of the actions, a row an action, where they have some.
    pub fn action_features(&self) -> Option<Rows<'a>> {
        self.action_features
    }

    /// The features of action `i`; empty where actions have none.
    pub fn features_of(&self, i: usize) -> &'a [f64] {
        self.action_features.map_or(&[], |rows| rows.get(i))
    }

    /// The first `count` actions, or all of them if there are fewer; at least one.
    pub fn first(&self, count: usize) -> Context<'a> {
        let count = count.clamp(1, self.names.len());
        let action_features = self.action_features.map(|rows| rows.first(count));
        Context { features: self.features, names: &self.names[..count], action_features }
    }
}

/// A name that stands twice.
fn duplicate(names: &[Name]) -> Option<&Name> {
    if names.len() < MANY_ACTIONS {
        return names.iter().enumerate().find(|(i, name)| names[..*i].contains(name)).map(|(_, name)| name);
    }
    let mut sorted: Vec<&Name> = names.iter().collect();
    sorted.sort_unstable();
    sorted.windows(2).find(|pair| pair[0] == pair[1]).map(|pair| pair[0])
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
    fn bad_contexts_are_refused_with_a_sentence() {
        let names = |names: &[&str]| names.iter().map(|name| Name::from(*name)).collect::<Vec<_>>();
        let said = |x: &[f64], list: &[&str]| Context::new(x, &names(list)).map(|_| ()).unwrap_err().to_string();
        assert_eq!(said(&[1.0], &[]), "no arms: a round must offer at least one arm");
        assert_eq!(
            said(&[1.0], &["a", "b", "a"]),
            "the action 'a' is offered twice: every action has a name of its own"
        );
        assert!(said(&[1.0, f64::INFINITY], &["a"]).starts_with("coordinate 2 of the context is inf"));
        assert!(said(&[], &["a"]).starts_with("the length of the context = 0 is out of range"));
        let many: Vec<String> = (0..50).map(|i| (i % 49).to_string()).collect();
        let many: Vec<&str> = many.iter().map(String::as_str).collect();
        assert!(said(&[1.0], &many).starts_with("the action '0' is offered twice"));
        let two = names(&["a", "b"]);
        let context = Context::new(&[1.0], &two).unwrap();
        let one = Rows::new(3, &[1.0, 2.0, 3.0]).unwrap();
        let said = context.with_action_features(one).unwrap_err().to_string();
        assert_eq!(said, "the number of rows of action features = 1 is out of range: as many as there are actions, 2");
    }
}
