//! A line of a log as JSON.

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use reluctant::Name;
use serde::de::value::SeqAccessDeserializer;
use serde::de::{Deserializer, SeqAccess, Visitor};
use serde::{Deserialize, Serialize, Serializer};

use super::Offered;
use super::line::{Given, Line, several};

/// A name or a number: both may stand for an action or an event.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Label<'a>(pub(super) Cow<'a, str>);

impl<'de: 'a, 'a> Deserialize<'de> for Label<'a> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct Any;
        impl<'de> Visitor<'de> for Any {
            type Value = Label<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a text or a whole number")
            }

            fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Self::Value, E> {
                Ok(Label(Cow::Borrowed(text)))
            }

            fn visit_str<E>(self, text: &str) -> Result<Self::Value, E> {
                Ok(Label(Cow::Owned(text.to_owned())))
            }

            fn visit_u64<E>(self, number: u64) -> Result<Self::Value, E> {
                Ok(Label(Cow::Owned(number.to_string())))
            }

            fn visit_i64<E>(self, number: i64) -> Result<Self::Value, E> {
                Ok(Label(Cow::Owned(number.to_string())))
            }
        }
        from.deserialize_any(Any)
    }
}

impl<'de> Deserialize<'de> for Given {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct Any;
        impl<'de> Visitor<'de> for Any {
            type Value = Given;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a list of numbers, or an id of the features file")
            }

            fn visit_str<E>(self, text: &str) -> Result<Self::Value, E> {
                Ok(Given::Id(text.to_owned()))
            }

            fn visit_seq<A: SeqAccess<'de>>(self, seq: A) -> Result<Self::Value, A::Error> {
                Vec::deserialize(SeqAccessDeserializer::new(seq)).map(Given::Numbers)
            }
        }
        from.deserialize_any(Any)
    }
}

#[derive(Deserialize)]
struct Json<'a> {
    #[serde(borrow)]
    event: Option<Label<'a>>,
    features_file: Option<String>,
    context: Option<Given>,
    arms: Option<Vec<Given>>,
    #[serde(borrow)]
    actions: Option<Vec<Label<'a>>>,
    features: Option<Vec<Given>>,
    point: Option<Vec<f64>>,
    #[serde(borrow)]
    chosen: Option<Label<'a>>,
    propensity: Option<f64>,
    propensity_error: Option<f64>,
    density: Option<f64>,
    reward: Option<f64>,
}

/// Reads a line. `names` are those of an earlier line, shared if this one has the same.
pub(super) fn parse(text: &[u8], names: &Arc<[Name]>) -> Result<Line, String> {
    let json: Json<'_> = serde_json::from_slice(text).map_err(|cause| refused(text, &cause))?;
    Ok(Line {
        event: json.event.map(|event| event.0.into_owned()),
        features_file: json.features_file,
        context: json.context,
        arms: json.arms.map(|arms| several(arms, "arms")).transpose()?,
        actions: json.actions.map(|actions| shared(&actions, names)),
        features: json.features.map(|features| several(features, "features")).transpose()?,
        point: json.point,
        chosen: json.chosen.map(|chosen| chosen.0.into_owned()),
        propensity: json.propensity,
        propensity_error: json.propensity_error,
        density: json.density,
        reward: json.reward,
    })
}

/// Why a line cannot be read. Some libraries write NaN, which JSON does not know.
fn refused(text: &[u8], cause: &serde_json::Error) -> String {
    let text = String::from_utf8_lossy(text);
    if ["NaN", "Infinity"].iter().any(|word| text.contains(word)) {
        return "NaN or Infinity stands where a finite number must; a reward that has not come yet is null".to_owned();
    }
    format!("this is not a round of a log: {cause}")
}

fn shared(found: &[Label<'_>], names: &Arc<[Name]>) -> Arc<[Name]> {
    let same = found.len() == names.len() && found.iter().zip(names.iter()).all(|(a, b)| *a.0 == **b);
    if same { Arc::clone(names) } else { found.iter().map(|label| Name::from(&*label.0)).collect() }
}

/// A round as it is written.
#[derive(Serialize)]
pub(super) struct Written<'a> {
    pub(super) time: u64,
    pub(super) event: &'a str,
    #[serde(flatten)]
    pub(super) offer: WrittenOffer<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) propensity: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) density: Option<f64>,
    #[serde(skip_serializing_if = "is_zero")]
    pub(super) propensity_error: f64,
    pub(super) reward: Option<f64>,
    pub(super) policy: &'a str,
    pub(super) version: &'a str,
}

fn is_zero(x: &f64) -> bool {
    *x == 0.0
}

#[derive(Serialize)]
#[serde(untagged)]
pub(super) enum WrittenOffer<'a> {
    Arms {
        arms: Chunks<'a>,
        chosen: usize,
    },
    Context {
        context: &'a [f64],
        actions: Vec<&'a str>,
        #[serde(skip_serializing_if = "Option::is_none")]
        features: Option<Chunks<'a>>,
        chosen: &'a str,
    },
    Sphere {
        point: &'a [f64],
    },
}

/// Numbers in rows of a length.
pub(super) struct Chunks<'a>(&'a [f64], usize);

impl Serialize for Chunks<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_seq(self.0.chunks(self.1.max(1)))
    }
}

impl<'a> WrittenOffer<'a> {
    pub(super) fn of(offer: &'a Offered, chosen: usize) -> Self {
        match offer {
            Offered::Arms { dim, data } => WrittenOffer::Arms { arms: Chunks(data, *dim), chosen },
            Offered::Context { x, names, features } => WrittenOffer::Context {
                context: x,
                actions: names.iter().map(|name| &**name).collect(),
                features: (!features.is_empty()).then(|| Chunks(features, features.len() / names.len().max(1))),
                chosen: &names[chosen],
            },
            Offered::Sphere { point, .. } => WrittenOffer::Sphere { point },
        }
    }
}
