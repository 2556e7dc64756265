//! Requests as they are written: JSON that is checked while it is read.

use std::fmt;

use axum::http::StatusCode;
use reluctant::{Name, Space};
use reluctant_lab::log::Offered;
use serde::Deserialize;
use serde::de::{DeserializeSeed, Deserializer, Error as _, SeqAccess, Visitor};

use super::problem::Problem;
use crate::config::Limits;
use crate::engine::Ask;
use crate::offer::Offering;

/// A request for a decision.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct DecideBody {
    event: Option<String>,
    context: Option<Vec<f64>>,
    actions: Option<Vec<String>>,
    features: Option<Matrix>,
    arms: Option<Arms>,
    default: Option<Default>,
    default_propensity: Option<f64>,
}

/// A reward.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RewardBody {
    pub(super) event: String,
    pub(super) reward: f64,
}

/// Many requests at once.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Batch<T> {
    pub(super) requests: Vec<T>,
}

/// Where to go back to.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RollbackBody {
    pub(super) version: u64,
}

/// What a caller would do by itself: a name, or a place.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum Default {
    Place(usize),
    Name(String),
}

/// Rows of numbers, all of one length, one after the other.
#[derive(Debug, PartialEq)]
struct Matrix {
    columns: usize,
    data: Vec<f64>,
}

/// Rows, or the word "sphere".
#[derive(Debug)]
enum Arms {
    Rows(Matrix),
    Sphere,
}

/// Reads a row behind the others.
struct Row<'a>(&'a mut Vec<f64>);

impl<'de> DeserializeSeed<'de> for Row<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<(), D::Error> {
        from.deserialize_seq(self)
    }
}

impl<'de> Visitor<'de> for Row<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of numbers")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut from: A) -> Result<(), A::Error> {
        while let Some(x) = from.next_element()? {
            self.0.push(x);
        }
        Ok(())
    }
}

struct Rows;

impl<'de> Visitor<'de> for Rows {
    type Value = Arms;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of lists of numbers, or \"sphere\"")
    }

    fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<Arms, E> {
        if text == "sphere" { Ok(Arms::Sphere) } else { Err(E::custom("the only word for arms is \"sphere\"")) }
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut from: A) -> Result<Arms, A::Error> {
        let (mut data, mut columns, mut rows) = (Vec::new(), 0, 0);
        while from.next_element_seed(Row(&mut data))?.is_some() {
            rows += 1;
            columns = if rows == 1 { data.len() } else { columns };
            if data.len() != rows * columns {
                return Err(A::Error::custom(format!("row {rows} has another length than the first, {columns}")));
            }
        }
        Ok(Arms::Rows(Matrix { columns, data }))
    }
}

impl<'de> Deserialize<'de> for Arms {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_any(Rows)
    }
}

impl<'de> Deserialize<'de> for Matrix {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        match from.deserialize_seq(Rows)? {
            Arms::Rows(matrix) => Ok(matrix),
            Arms::Sphere => Err(D::Error::custom("a list of lists of numbers is needed")),
        }
    }
}

/// Reads a body.
pub(super) fn parse<'a, T: Deserialize<'a>>(body: &'a [u8]) -> Result<T, Problem> {
    serde_json::from_slice(body).map_err(|cause| {
        let said = if cause.is_data() { "this is not what is asked for here" } else { "this is not JSON" };
        Problem::new(StatusCode::BAD_REQUEST, format!("{said}: {cause}"))
    })
}

fn refused(detail: impl Into<String>) -> Problem {
    Problem::new(StatusCode::UNPROCESSABLE_ENTITY, detail)
}

impl DecideBody {
    /// As the engine takes it.
    pub(super) fn ask(self, space: Space, limits: &Limits) -> Result<Ask, Problem> {
        let DecideBody { event, context, actions, features, arms, default, default_propensity } = self;
        let offering = match (arms, context, actions, features) {
            (Some(Arms::Sphere), None, None, None) => Offering::Sphere { dim: space.dim() },
            (Some(Arms::Rows(Matrix { columns, data })), None, None, None) => {
                // Of no arms at all the dimension is not known; the policy says that there are none.
                let dim = if data.is_empty() { space.dim() } else { columns };
                Offering::Listed(Offered::Arms { dim, data })
            }
            (None, Some(x), Some(names), features) => {
                let data = named_features(names.len(), features)?;
                Offering::Listed(Offered::Context {
                    x,
                    names: names.into_iter().map(Name::from).collect(),
                    features: data,
                })
            }
            _ => {
                let detail = "give either arms (rows of numbers, or \"sphere\"), or context and actions, with features \
                              where actions have some";
                return Err(refused(detail));
            }
        };
        let count = offering.count().unwrap_or(1);
        if count > limits.arms {
            let detail = format!("{count} actions are on offer, and at most {} are allowed", limits.arms);
            return Err(refused(detail));
        }
        let default = default.map(|default| default.place(&offering)).transpose()?;
        Ok(Ask { default, default_propensity, ..Ask::new(event, offering) })
    }
}

fn named_features(names: usize, features: Option<Matrix>) -> Result<Vec<f64>, Problem> {
    let Some(Matrix { columns, data }) = features else { return Ok(Vec::new()) };
    if columns == 0 || data.len() != names * columns {
        return Err(refused(format!("features must have a row of numbers for each of the {names} actions")));
    }
    Ok(data)
}

impl Default {
    fn place(self, offering: &Offering) -> Result<usize, Problem> {
        match self {
            Default::Place(place) => Ok(place),
            Default::Name(name) => {
                let place = (0..offering.count().unwrap_or(0)).find(|i| offering.name(*i) == Some(&name));
                place.ok_or_else(|| refused(format!("the default '{name}' is not on offer")))
            }
        }
    }
}
