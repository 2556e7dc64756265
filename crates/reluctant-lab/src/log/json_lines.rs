//! A line of a log as JSON.

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use reluctant::Name;
use serde::de::{Deserializer, Error as _, Visitor};
use serde::{Deserialize, Serialize, Serializer};
use serde_json::value::RawValue;

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

/// Numbers are most of a log, and Rust reads a decimal number several times as fast as `serde_json` does without
/// losing bits: so `serde_json` says where they stand, and that they are JSON.
impl<'de> Deserialize<'de> for Given {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let text = <&RawValue>::deserialize(from)?.get();
        match text.as_bytes().first() {
            Some(b'"') => serde_json::from_str(text).map(Given::Id).map_err(D::Error::custom),
            Some(b'[') => numbers(&text[1..text.len() - 1]).map(Given::Numbers).map_err(D::Error::custom),
            _ => Err(D::Error::custom(format!("'{text}' stands where {ALLOWED} must"))),
        }
    }
}

const ALLOWED: &str = "a list of numbers, or an id of the features file,";

/// The numbers between the brackets of a list.
fn numbers(list: &str) -> Result<Vec<f64>, String> {
    if list.trim_ascii().is_empty() {
        return Ok(Vec::new());
    }
    // A number that has all digits takes 18 bytes or more.
    let mut found = Vec::with_capacity(list.len() / 18 + 1);
    let mut rest = list;
    loop {
        let end = rest.as_bytes().iter().position(|byte| *byte == b',').unwrap_or(rest.len());
        found.push(number(rest[..end].trim_ascii())?);
        let Some(more) = rest.get(end + 1..) else { return Ok(found) };
        rest = more;
    }
}

fn number(text: &str) -> Result<f64, String> {
    // Words, texts and lists begin otherwise, and would not be numbers of JSON.
    let begins = text.bytes().next().is_some_and(|first| first == b'-' || first.is_ascii_digit());
    match text.parse::<f64>() {
        Ok(x) if begins && x.is_finite() => Ok(x),
        Ok(_) if begins => Err(format!("the number {text} is out of range")),
        _ => Err(format!("'{text}' stands where a number must")),
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
    actions: Option<&'a RawValue>,
    features: Option<Vec<Given>>,
    point: Option<Vec<f64>>,
    #[serde(borrow)]
    chosen: Option<Label<'a>>,
    propensity: Option<f64>,
    propensity_error: Option<f64>,
    density: Option<f64>,
    reward: Option<f64>,
}

/// The names that were on offer last, and how they are written as JSON: mostly they are the same on the next line.
#[derive(Debug, Clone, Default)]
pub(super) struct Names {
    pub(super) list: Arc<[Name]>,
    text: String,
}

impl Names {
    /// With their JSON.
    pub(super) fn new(list: Arc<[Name]>) -> Self {
        let names: Vec<&str> = list.iter().map(|name| &**name).collect();
        // Texts can always be written; if they could not, nothing would be the same as nothing.
        let text = serde_json::to_string(&names).unwrap_or_default();
        Names { list, text }
    }

    /// The names of a line, shared if they are these.
    fn or(&self, found: &RawValue) -> Result<Arc<[Name]>, serde_json::Error> {
        if found.get() == self.text {
            return Ok(Arc::clone(&self.list));
        }
        let labels: Vec<Label<'_>> = serde_json::from_str(found.get())?;
        let same = labels.iter().map(|label| &*label.0).eq(self.list.iter().map(|name| &**name));
        let made = || labels.iter().map(|label| Name::from(&*label.0)).collect();
        Ok(if same { Arc::clone(&self.list) } else { made() })
    }
}

/// Reads a line. `names` are those of an earlier line, shared if this one has the same.
pub(super) fn parse(text: &[u8], names: &Names) -> Result<Line, String> {
    let text = std::str::from_utf8(text).map_err(|cause| format!("this is not a round of a log: {cause}"))?;
    let json: Json<'_> = serde_json::from_str(text).map_err(|cause| refused(text, &cause))?;
    let actions = json.actions.map(|actions| names.or(actions)).transpose().map_err(|cause| refused(text, &cause))?;
    Ok(Line {
        event: json.event.map(|event| event.0.into_owned()),
        features_file: json.features_file,
        context: json.context,
        arms: json.arms.map(|arms| several(arms, "arms")).transpose()?,
        actions,
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
fn refused(text: &str, cause: &serde_json::Error) -> String {
    if ["NaN", "Infinity"].iter().any(|word| text.contains(word)) {
        return "NaN or Infinity stands where a finite number must; a reward that has not come yet is null".to_owned();
    }
    format!("this is not a round of a log: {cause}")
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
