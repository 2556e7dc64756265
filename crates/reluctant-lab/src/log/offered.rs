//! What was on offer in a round of a log, with memory of its own.

use std::sync::Arc;

use reluctant::{Action, Choice, Context, Name, Offer, Result, Rows, Space};

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
    /// Any point of the sphere.
    Sphere {
        /// The point that was chosen.
        point: Vec<f64>,
        /// Whether chance chose it, among all points: then its propensity is a density.
        by_chance: bool,
    },
}

impl Offered {
    /// A copy of an offer; `None` of the sphere, of which only what was chosen can be written down.
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

    /// A copy of what a choice was made from, and its place there.
    pub fn with(offer: Offer<'_>, choice: &Choice<'_>) -> (Self, usize) {
        let sphere = || Offered::Sphere { point: choice.action.to_vec(), by_chance: choice.appeal.is_none() };
        (Offered::of(offer).unwrap_or_else(sphere), choice.index.unwrap_or(0))
    }

    /// How many actions there are; of the sphere only what was chosen counts.
    pub fn count(&self) -> usize {
        match self {
            Offered::Arms { dim, data } => data.len() / dim.max(&1),
            Offered::Context { names, .. } => names.len(),
            Offered::Sphere { .. } => 1,
        }
    }

    /// Whether it is the sphere.
    pub fn is_sphere(&self) -> bool {
        matches!(self, Offered::Sphere { .. })
    }

    /// The space that a policy for such offers is made for.
    pub fn space(&self) -> Space {
        match self {
            Offered::Arms { dim, .. } => Space::Vectors { dim: *dim },
            Offered::Context { x, names, features } => {
                Space::Contexts { dim: x.len(), action_dim: features.len() / names.len().max(1) }
            }
            Offered::Sphere { point, .. } => Space::Vectors { dim: point.len() },
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
            Offered::Sphere { point, .. } => Ok(Offer::Sphere { dim: point.len() }),
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
            Offered::Sphere { point, .. } => Action::Vector(point),
        }
    }

    /// What action `i` is called.
    pub fn label(&self, i: usize) -> String {
        match self {
            Offered::Arms { .. } => i.to_string(),
            Offered::Sphere { .. } => "a point".to_owned(),
            Offered::Context { names, .. } => names[i].to_string(),
        }
    }
}
