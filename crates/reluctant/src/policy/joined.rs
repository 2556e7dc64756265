//! Contexts with named actions that have features of their own: context and action are joined to one vector,
//! and one policy sees them all.

use serde::{Deserialize, Serialize};

use super::snapshot::{inconsistent, unreadable};
use super::{Explanation, Fitted, Form, Policy, Snapshot};
use crate::action::{Action, check_dim, check_finite, check_numbers};
use crate::choice::Choice;
use crate::error::{Error, Result};
use crate::limits::LIMIT;
use crate::offer::{Context, Offer, Rows, Space};
use crate::params::{Initial, Kind, Param, Params};
use crate::rng::Key;
use crate::scratch::Scratch;
use crate::spare::Spare;

/// How a policy sees contexts whose actions have features.
pub const JOIN: Param = Param::new(
    "join",
    Initial::word("concatenate"),
    Kind::Word(&["concatenate", "products"]),
    "how a context x and the features a of an action become one vector: (x, a), or all products of a number of x and \
     one of (1, a)",
);

/// How a context and the features of an action become one vector.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Join {
    products: bool,
    dim: usize,
    action_dim: usize,
}

impl Join {
    pub(super) fn read(params: &Params, dim: usize, action_dim: usize) -> Result<Self> {
        Ok(Join { products: params.word("join")? == "products", dim, action_dim })
    }

    /// The dimension of the vector.
    pub(super) fn joined_dim(self) -> usize {
        if self.products {
            self.dim.saturating_mul(self.action_dim.saturating_add(1))
        } else {
            self.dim.saturating_add(self.action_dim)
        }
    }

    /// The vector, appended to `out`.
    fn append(self, x: &[f64], a: &[f64], out: &mut Vec<f64>) {
        out.extend_from_slice(x);
        if self.products {
            // Products of enormous numbers must stay numbers that a policy may hold.
            a.iter().for_each(|a| out.extend(x.iter().map(|x| (x * a).clamp(-LIMIT, LIMIT))));
        } else {
            out.extend_from_slice(a);
        }
    }
}

/// One policy for all actions, which sees each joined with its context.
#[derive(Debug)]
pub struct Joined {
    join: Join,
    policy: Box<dyn Policy>,
}

/// The state as it is saved.
#[derive(Serialize, Deserialize)]
struct State {
    join: Join,
    policy: serde_json::Value,
}

impl Joined {
    pub(super) fn new(join: Join, policy: Box<dyn Policy>) -> Self {
        Joined { join, policy }
    }

    pub(super) fn restore(
        state: serde_json::Value,
        restore: impl Fn(serde_json::Value) -> Result<Box<dyn Policy>>,
    ) -> Result<Self> {
        let State { join, policy } = serde_json::from_value(state).map_err(unreadable)?;
        let policy = restore(policy)?;
        if policy.dim() != join.joined_dim() {
            return Err(inconsistent());
        }
        Ok(Joined { join, policy })
    }

    fn needs_context(&self, found: &'static str) -> Error {
        Error::NeedsContext { policy: self.policy.name(), found }
    }

    /// The context on offer, and its actions joined with it, a row each, in `rows`.
    fn join<'a>(&self, offer: Offer<'a>, rows: &mut Vec<f64>) -> Result<Context<'a>> {
        let Offer::Context(context) = offer else {
            offer.expect_dim(self.join.dim)?;
            return Err(match offer {
                Offer::Sphere { .. } => Error::NeedsFiniteArms { policy: self.policy.name() },
                _ => self.needs_context("rows"),
            });
        };
        offer.expect_dim(self.join.dim)?;
        let Some(features) = context.action_features() else {
            return Err(self.needs_context("actions without features"));
        };
        check_dim("the set of action features", self.join.action_dim, features.dim())?;
        rows.clear();
        features.iter().for_each(|a| self.join.append(context.features(), a, rows));
        Ok(context)
    }

    /// A checked action as the policy within sees it.
    fn vector(&self, action: Action<'_>) -> Result<Spare> {
        let Action::Named { context, features, .. } = action else {
            return Err(self.needs_context("a vector"));
        };
        check_numbers("the context", "a coordinate of the context", self.join.dim, context)?;
        check_numbers("the action", "a feature of the action", self.join.action_dim, features)?;
        Ok(Spare::filled(|out| self.join.append(context, features, out)))
    }

    /// Runs `work` on the rows of an offer, which live in scratch memory.
    fn with_rows<'a, T>(
        &self,
        offer: Offer<'a>,
        scratch: &mut Scratch,
        work: impl FnOnce(Context<'a>, Offer<'_>, &mut Scratch) -> Result<T>,
    ) -> Result<T> {
        let mut rows = std::mem::take(&mut scratch.joined);
        let outcome = self
            .join(offer, &mut rows)
            .and_then(|context| work(context, Offer::Rows(Rows::trusted(self.join.joined_dim(), &rows)), scratch));
        scratch.joined = rows;
        outcome
    }
}

impl Policy for Joined {
    fn name(&self) -> &'static str {
        self.policy.name()
    }

    fn dim(&self) -> usize {
        self.join.dim
    }

    fn space(&self) -> Space {
        Space::Contexts { dim: self.join.dim, action_dim: self.join.action_dim }
    }

    fn select<'a>(&self, offer: Offer<'a>, key: Key, scratch: &mut Scratch) -> Result<Choice<'a>> {
        self.with_rows(offer, scratch, |context, rows, scratch| {
            let Choice { index, score, appeal, propensity, propensity_error, .. } =
                self.policy.select(rows, key, scratch)?;
            let named = Choice::named(context, index.unwrap_or(0), score);
            Ok(Choice { appeal, propensity, propensity_error, ..named })
        })
    }

    fn probabilities(&self, offer: Offer<'_>, scratch: &mut Scratch, out: &mut Vec<f64>) -> Result<bool> {
        self.with_rows(offer, scratch, |_, rows, scratch| self.policy.probabilities(rows, scratch, out))
    }

    fn learn(&mut self, action: Action<'_>, reward: f64) -> Result<()> {
        check_finite("the reward", reward)?;
        let vector = self.vector(action)?;
        self.policy.learn(Action::Vector(&vector), reward)
    }

    fn score(&self, offer: Offer<'_>, scratch: &mut Scratch) -> Result<()> {
        self.with_rows(offer, scratch, |_, rows, scratch| self.policy.score(rows, scratch))
    }

    fn exploring(&self) -> bool {
        self.policy.exploring()
    }

    fn needs_finite_arms(&self) -> bool {
        true
    }

    fn model(&self) -> (String, String) {
        self.policy.model()
    }

    fn network(&self) -> Option<Fitted> {
        self.policy.network()
    }

    fn explanation(&self, action: Action<'_>) -> Result<Explanation> {
        self.policy.explanation(Action::Vector(&self.vector(action)?))
    }

    fn snapshot(&self) -> Result<Snapshot> {
        let state = State { join: self.join, policy: self.policy.snapshot()?.state };
        Ok(Snapshot::of(self.policy.name(), &state)?.in_form(Form::Joined))
    }
}
