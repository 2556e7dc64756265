//! Puts the lines of a log together: a reward may come later than its round, and numbers may stand in another file.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use reluctant::{Name, Space};
use xxhash_rust::xxh3::xxh3_64;

use super::catalogue::{Catalogue, numbers, vectors};
use super::line::Line;
use super::noticed::{Read, wrong};
use super::{Offered, Record};
use crate::error::{LabError, Result};

/// Puts rounds together: a reward may come later than its round.
#[derive(Default)]
pub(super) struct Assembly {
    path: PathBuf,
    /// The names that were on offer last.
    pub(super) names: Arc<[Name]>,
    /// The features file that was named last, and what stands in it.
    catalogue: Option<(String, Catalogue)>,
    /// Hashes of all events.
    events: HashSet<u64>,
    /// Rounds that wait for their reward.
    waiting: HashMap<String, Record>,
    /// Rounds that wait for nothing, because nothing names them.
    lost: u64,
    first_lost: Option<usize>,
    /// The space of all rounds, and whether they are of the sphere.
    space: Option<(Space, bool)>,
    pub(super) read: Read,
}

impl Assembly {
    /// Of the log at `path`, before its first line.
    pub(super) fn of(path: &Path) -> Self {
        Assembly { path: path.to_owned(), ..Assembly::default() }
    }

    pub(super) fn wrong(&self, line: usize, message: String) -> LabError {
        wrong(&self.path, Some(line), message)
    }

    pub(super) fn add(&mut self, number: usize, line: Line, out: &mut Vec<Record>) -> Result<()> {
        if let Some(file) = &line.features_file {
            self.look_into(file)?;
        }
        if line.is_header() {
            return Ok(());
        }
        if !line.is_round() {
            return self.add_late(number, line, out);
        }
        if let Some(event) = &line.event
            && !self.events.insert(xxh3_64(event.as_bytes()))
        {
            let message = format!("the event '{event}' stands in the log twice: every round has an id of its own");
            return Err(self.wrong(number, message));
        }
        let (event, reward) = (line.event.clone(), line.reward);
        let record = self.record(number, line).map_err(|message| self.wrong(number, message))?;
        match (reward, event) {
            (Some(_), _) => out.push(record),
            (None, Some(event)) => drop(self.waiting.insert(event, record)),
            (None, None) => {
                self.lost += 1;
                self.first_lost = self.first_lost.or(Some(number));
            }
        }
        Ok(())
    }

    /// Reads the features file, which lies where it is said to as seen from the log, unless it is the one that is
    /// known.
    fn look_into(&mut self, file: &str) -> Result<()> {
        if self.catalogue.as_ref().is_none_or(|(known, _)| known != file) {
            let path = self.path.parent().map_or_else(|| file.into(), |folder| folder.join(file));
            self.catalogue = Some((file.to_owned(), Catalogue::open(&path)?));
        }
        Ok(())
    }

    /// A line with an event and a reward alone.
    fn add_late(&mut self, number: usize, line: Line, out: &mut Vec<Record>) -> Result<()> {
        let (Some(event), Some(reward)) = (line.event, line.reward) else {
            let message = "this line says neither what was chosen, nor an event and its reward".to_owned();
            return Err(self.wrong(number, message));
        };
        let Some(record) = self.waiting.remove(&event) else {
            let message = if self.events.contains(&xxh3_64(event.as_bytes())) {
                format!("the event '{event}' has its reward already")
            } else {
                format!("a reward for the event '{event}', which does not stand in the log before it")
            };
            return Err(self.wrong(number, message));
        };
        self.read.late += 1;
        out.push(Record { reward, ..record });
        Ok(())
    }

    fn record(&mut self, number: usize, line: Line) -> std::result::Result<Record, String> {
        let (propensity, density) = (line.propensity, line.density);
        let (error, reward) = (line.propensity_error.unwrap_or(0.0), line.reward.unwrap_or(f64::NAN));
        let (offer, chosen) = self.offer(line)?;
        if density.is_some() && !offer.is_sphere() {
            return Err("a density belongs to a point of the sphere; other choices have a propensity".to_owned());
        }
        offer.as_offer().map_err(|cause| cause.to_string())?;
        let space = (offer.space(), offer.is_sphere());
        if *self.space.get_or_insert(space) != space {
            return Err("this round offers something of another shape than the rounds before it".to_owned());
        }
        Ok(Record { line: number, offer, chosen, propensity: propensity.or(density), propensity_error: error, reward })
    }

    /// What was on offer, and the place of what was chosen.
    fn offer(&mut self, line: Line) -> std::result::Result<(Offered, usize), String> {
        let chosen = line.chosen.unwrap_or_default();
        let catalogue = self.catalogue.as_ref().map(|(_, catalogue)| catalogue);
        match (line.context, line.arms, line.point) {
            (Some(_), Some(_), _) => Err("a round has a context or arms, not both".to_owned()),
            (None, None, Some(point)) => on_sphere(point, line.propensity, line.density).map(|offer| (offer, 0)),
            (_, _, Some(_)) => Err("a point of the sphere stands alone, without context, arms or chosen".to_owned()),
            (None, None, None) => Err("the round has neither a context nor arms".to_owned()),
            (None, Some(arms), None) => {
                let (dim, data, ids) = vectors(arms, catalogue)?;
                let place = arm_of(&chosen, data.len() / dim, ids.as_deref())?;
                Ok((Offered::Arms { dim, data }, place))
            }
            (Some(context), None, None) => {
                let x = numbers(context, catalogue)?;
                let features = line.features.map(|features| vectors(features, catalogue)).transpose()?;
                if let Some(names) = line.actions {
                    self.names = names;
                } else if self.names.is_empty() {
                    return Err("actions are missing: the names of all that were on offer".to_owned());
                }
                let place = self.names.iter().position(|name| **name == *chosen).ok_or_else(|| {
                    let names: Vec<&str> = self.names.iter().map(|name| &**name).collect();
                    format!("'{chosen}' was chosen, but was not on offer: {}", names.join(", "))
                })?;
                let features = features.map_or(Vec::new(), |(_, data, _)| data);
                Ok((Offered::Context { x, names: Arc::clone(&self.names), features }, place))
            }
        }
    }

    pub(super) fn end(mut self) -> Result<Read> {
        self.read.unrewarded = self.lost + self.waiting.len() as u64;
        let waiting = self.waiting.values().map(|record| record.line).min();
        self.read.first_unrewarded = waiting.into_iter().chain(self.first_lost).min();
        if self.read.rounds == 0 {
            let message = if self.read.unrewarded > 0 {
                format!("none of the {} rounds has a reward", self.read.unrewarded)
            } else {
                "there are no rounds in this log".to_owned()
            };
            return Err(wrong(&self.path, None, message));
        }
        Ok(self.read)
    }
}

/// The place of the arm that was chosen: its id where arms have ids, else the place itself.
fn arm_of(chosen: &str, count: usize, ids: Option<&[String]>) -> std::result::Result<usize, String> {
    match ids {
        Some(ids) => ids
            .iter()
            .position(|id| id == chosen)
            .ok_or_else(|| format!("arm '{chosen}' was chosen, but was not on offer: {}", ids.join(", "))),
        None => chosen
            .parse()
            .ok()
            .filter(|place| *place < count)
            .ok_or_else(|| format!("arm {chosen} was chosen, but arms 0 to {} were on offer", count - 1)),
    }
}

/// How far the length of a point of the sphere may be from 1.
const ROUND: f64 = 1e-6;

/// A point of the sphere: with a density if chance chose it, with a probability if it was chosen as this point.
fn on_sphere(point: Vec<f64>, propensity: Option<f64>, density: Option<f64>) -> std::result::Result<Offered, String> {
    let length = point.iter().map(|x| x * x).sum::<f64>().sqrt();
    let off = (length - 1.0).abs();
    if point.len() < 2 || off.is_nan() || off >= ROUND {
        let dim = point.len();
        return Err(format!("the point has {dim} coordinates and length {length}: it needs two or more, and length 1"));
    }
    if propensity.is_some() && density.is_some() {
        return Err("a point has a density, if chance chose it, or a propensity, not both".to_owned());
    }
    Ok(Offered::Sphere { point, by_chance: density.is_some() })
}
