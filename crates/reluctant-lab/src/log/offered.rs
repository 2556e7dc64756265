//! What was on offer in a round of a log, with memory of its own.

use std::sync::Arc;

use reluctant::{Action, Context, Name, Offer, Result, Rows, Space};

/// What was on offer.
#[derive(Debug, Clone, PartialEq)]
pub enum Offered {
    /// Vectors.
    Arms {
        /// The dimension of each.
        dim: usize,
        /// One after the other.
        data: Vec<f64>,
    },
    /// Named actions in a context.
    Context {
        /// The context.
        x: Vec<f64>,
        /// The names, shared between rounds that offer the same.
        names: Arc<[Name]>,
        /// The features of the actions, one action after the other; empty where they have none.
        features: Vec<f64>,
    },
}

impl Offered {
    /// A copy of an offer; `None` of the sphere, which cannot be written down as a list.
    pub fn of(offer: Offer<'_>) -> Option<Self> {
        match offer {
            Offer::Sphere { .. } => None,
            Offer::Rows(rows) => Some(Offered::Arms { dim: rows.dim(), data: rows.data().to_vec() }),
            Offer::Context(context) => Some(Offered::Context {
                x: context.features().to_vec(),
                names: context.names().into(),
                features: context.action_features().map_or(Vec::new(), |rows| rows.data().to_vec()),
            }),
        }
    }

    /// How many actions there are.
    pub fn count(&self) -> usize {
        match self {
            Offered::Arms { dim, data } => data.len() / dim.max(&1),
            Offered::Context { names, .. } => names.len(),
        }
    }

    /// The space that a policy for such offers is made for.
    pub fn space(&self) -> Space {
        match self {
            Offered::Arms { dim, .. } => Space::Vectors { dim: *dim },
            Offered::Context { x, names, features } => {
                Space::Contexts { dim: x.len(), action_dim: features.len() / names.len().max(1) }
            }
        }
    }

    /// As a policy sees it.
    pub fn as_offer(&self) -> Result<Offer<'_>> {
        match self {
            Offered::Arms { dim, data } => Offer::finite(*dim, data),
            Offered::Context { x, names, features } => {
                let context = Context::new(x, names)?;
                if features.is_empty() {
                    return Ok(context.into());
                }
                let rows = Rows::new(features.len() / names.len().max(1), features)?;
                Ok(context.with_action_features(rows)?.into())
            }
        }
    }

    /// Action `i` as a policy learns of it.
    pub fn action(&self, i: usize) -> Action<'_> {
        match self {
            Offered::Arms { dim, data } => Action::Vector(&data[i * dim..(i + 1) * dim]),
            Offered::Context { x, names, features } => {
                let dim = features.len() / names.len().max(1);
                Action::Named { context: x, name: &names[i], features: &features[i * dim..(i + 1) * dim] }
            }
        }
    }

    /// What action `i` is called.
    pub fn label(&self, i: usize) -> String {
        match self {
            Offered::Arms { .. } => i.to_string(),
            Offered::Context { names, .. } => names[i].to_string(),
        }
    }
}
