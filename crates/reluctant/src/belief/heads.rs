//! What is known of several actions in one context ([`Heads`]): what they share stands once.
//!
//! A [`Belief`](super::Belief) knows the rewards of vectors. In a context x with named actions there is one vector and
//! a reward for each action. What all of them have in common (a hidden layer, the hyperparameters of a kernel) is
//! learnt from every reward; what is an action's own is its head, and learns from the action's rewards alone.

use std::fmt;

use crate::error::Result;
use crate::offer::Name;
use crate::rng::Key;
use crate::scratch::Scratch;

/// The actions that are asked for in a context.
#[derive(Debug, Clone, Copy)]
pub struct Asked<'a> {
    names: &'a [Name],
    heads: &'a [Option<usize>],
}

impl<'a> Asked<'a> {
    /// Actions by name, with their heads in the same order; `None` where an action has never been rewarded.
    pub fn new(names: &'a [Name], heads: &'a [Option<usize>]) -> Self {
        debug_assert_eq!(names.len(), heads.len());
        Asked { names, heads }
    }

    /// How many they are.
    #[allow(clippy::len_without_is_empty)]
    pub fn len(&self) -> usize {
        self.names.len()
    }

    /// Name and head of each, in order.
    pub fn iter(&self) -> impl Iterator<Item = (&'a str, Option<usize>)> + use<'a> {
        self.names.iter().map(|name| &**name).zip(self.heads.iter().copied())
    }

    /// Action `i` alone.
    #[must_use]
    pub fn only(&self, i: usize) -> Asked<'a> {
        Asked { names: &self.names[i..=i], heads: &self.heads[i..=i] }
    }
}

/// What is known of the rewards of named actions in contexts x.
///
/// Contexts and rewards are of its dimension and finite: policies check what comes from outside before they hand it on.
/// Neither predictions nor draws depend on the order in which actions are asked for, nor on which others are.
pub trait Heads: fmt::Debug + Send + Sync {
    /// What kind of belief it is, in a word or two.
    fn kind(&self) -> &'static str;

    /// The dimension of x.
    fn dim(&self) -> usize;

    /// How many heads there are.
    fn count(&self) -> usize;

    /// Adds a head for an action that is about to be rewarded for the first time; its number is the count before. What
    /// is random in it depends on the name, not on when it comes. An error if there is no room for it, and then nothing
    /// has changed.
    fn add(&mut self, name: &str) -> Result<()>;

    /// Learns that the action with this head was rewarded with y in x.
    fn learn(&mut self, head: usize, x: &[f64], y: f64);

    /// The mean of every action, and `scale` times its spread, into [`Scratch::scores`].
    fn predict(&self, x: &[f64], actions: Asked<'_>, scale: f64, scratch: &mut Scratch);

    /// A value for every action, drawn together: [`Scratch::values`]. Its distance from the mean is `scale` times that
    /// of a draw from the belief. What belongs to one action alone is drawn from the key branched by the action's name.
    fn draw(&self, x: &[f64], actions: Asked<'_>, scale: f64, key: Key, scratch: &mut Scratch);

    /// Whether the drawn values of actions are normal with the means and widths of [`Heads::predict`],
    /// independent of each other.
    fn draws_normally(&self) -> bool {
        false
    }

    /// What it takes rewards for, in words, with what it has found out.
    fn describe(&self) -> String {
        self.kind().to_owned()
    }

    /// Whether it brings the numbers of x to one size.
    fn scales(&self) -> bool {
        true
    }

    /// What is amiss, if something is.
    fn warning(&self) -> Option<String> {
        None
    }

    /// The whole state.
    fn save(&self) -> Result<serde_json::Value>;
}
