//! What a line of a log says, before it is known what it belongs to; the checks that need no other line.

use std::sync::Arc;

use reluctant::Name;
use reluctant::limits::LIMIT;

/// Numbers, or the id of the row of the features file that holds them.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Given {
    Numbers(Vec<f64>),
    Id(String),
}

/// Several vectors of one length, one after the other, or the ids of rows of the features file.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Several {
    Numbers(usize, Vec<f64>),
    Ids(Vec<String>),
}

/// A line of a log.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Line {
    pub(super) event: Option<String>,
    pub(super) features_file: Option<String>,
    pub(super) context: Option<Given>,
    pub(super) arms: Option<Several>,
    pub(super) actions: Option<Arc<[Name]>>,
    pub(super) features: Option<Several>,
    pub(super) point: Option<Vec<f64>>,
    pub(super) chosen: Option<String>,
    pub(super) propensity: Option<f64>,
    pub(super) propensity_error: Option<f64>,
    pub(super) density: Option<f64>,
    pub(super) reward: Option<f64>,
}

impl Line {
    /// An error, as a sentence, if a number cannot be what it says it is.
    pub(super) fn check(&self) -> Result<(), String> {
        if let Some(p) = self.propensity.filter(|p| !(*p > 0.0 && *p <= 1.0)) {
            return Err(format!(
                "the propensity is {p}, and what was chosen had a probability greater than 0 and at most 1"
            ));
        }
        if let Some(density) = self.density.filter(|density| !(*density > 0.0 && density.is_finite())) {
            return Err(format!("the density is {density}, and what was chosen had a finite one greater than 0"));
        }
        if let Some(error) = self.propensity_error.filter(|error| !(*error >= 0.0 && error.is_finite())) {
            return Err(format!("propensity_error is {error}, and a standard error is a finite number, 0 or more"));
        }
        if let Some(reward) = self.reward.filter(|reward| reward.is_nan() || reward.abs() > LIMIT) {
            return Err(format!("the reward is {reward}, and must be a finite number of at most 1e100 in size"));
        }
        Ok(())
    }

    /// Whether it says what was chosen, and is a round.
    pub(super) fn is_round(&self) -> bool {
        self.chosen.is_some() || self.point.is_some()
    }

    /// Whether it names a features file and nothing else.
    pub(super) fn is_header(&self) -> bool {
        self.features_file.is_some() && !self.is_round() && self.event.is_none() && self.reward.is_none()
    }
}

/// Vectors of equal length as one list, with that length; or ids.
pub(super) fn several(rows: Vec<Given>, what: &str) -> Result<Several, String> {
    let (mut ids, mut data, mut dim) = (Vec::new(), Vec::new(), None);
    let count = rows.len();
    for (i, row) in rows.into_iter().enumerate() {
        match row {
            Given::Id(id) => ids.push(id),
            Given::Numbers(row) => {
                let expected = *dim.get_or_insert(row.len());
                if row.len() != expected {
                    let (number, found) = (i + 1, row.len());
                    return Err(format!(
                        "{what} must be of one length, and number {number} has {found}, not {expected}"
                    ));
                }
                data.extend(row);
            }
        }
    }
    match (ids.len(), dim) {
        (0, Some(dim)) if dim > 0 => Ok(Several::Numbers(dim, data)),
        (found, None) if found > 0 && found == count => Ok(Several::Ids(ids)),
        (0, _) => Err(format!("{what} must be a list of lists of numbers, or of ids, and none of them empty")),
        _ => Err(format!("{what} must be all lists of numbers or all ids, not both")),
    }
}
