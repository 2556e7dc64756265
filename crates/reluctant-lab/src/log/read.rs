//! Goes through a log in pieces: lines are parsed on all threads, rounds are put together in order.

use std::collections::{HashMap, HashSet};
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use csv::StringRecord;
use rayon::prelude::*;
use reluctant::Name;
use xxhash_rust::xxh3::xxh3_64;

use super::csv_lines::Header;
use super::json_lines;
use super::line::Line;
use super::{Form, Offered, Record};
use crate::error::{LabError, Result};

/// So many lines are held at a time.
const PIECE: usize = 4096;

/// What was noticed while a log was read.
#[derive(Debug, Clone, Default, PartialEq, serde::Serialize)]
#[non_exhaustive]
pub struct Read {
    /// Rounds whose reward is known.
    pub rounds: u64,
    /// Rounds whose reward never came.
    pub unrewarded: u64,
    /// The line of the first of them.
    pub first_unrewarded: Option<usize>,
    /// Rewards that stood on a line of their own, after their round.
    pub late: u64,
    /// Whether the last line was torn, and dropped.
    pub torn: bool,
}

/// A line as it was read.
enum Raw {
    Json(Vec<u8>),
    Csv(StringRecord),
}

/// Reads the log at `path` and hands its rounds to `each`, a piece at a time, in the order in which their rewards came.
pub fn read(path: &Path, mut each: impl FnMut(&[Record]) -> Result<()>) -> Result<Read> {
    let mut source = Source::open(path)?;
    let mut rounds = Assembly { path: path.to_owned(), ..Assembly::default() };
    let (mut piece, mut records) = (Vec::with_capacity(PIECE), Vec::with_capacity(PIECE));
    loop {
        piece.clear();
        source.fill(&mut piece)?;
        if piece.is_empty() {
            break;
        }
        let (header, names) = (&source.header, &rounds.names);
        let parsed: Vec<std::result::Result<Line, String>> = piece
            .par_iter()
            .map(|(_, raw)| {
                let line = match (raw, header) {
                    (Raw::Csv(record), Some(header)) => header.parse(record, names),
                    (Raw::Json(text), _) => json_lines::parse(text, names),
                    (Raw::Csv(_), None) => Err("there is no header".to_owned()),
                }?;
                line.check()?;
                Ok(line)
            })
            .collect();
        records.clear();
        for ((number, _), line) in piece.iter().zip(parsed) {
            match line {
                Ok(line) => rounds.add(*number, line, &mut records)?,
                Err(_) if source.unfinished == Some(*number) => rounds.read.torn = true,
                Err(message) => return Err(rounds.wrong(*number, message)),
            }
        }
        rounds.read.rounds += records.len() as u64;
        if !records.is_empty() {
            each(&records)?;
        }
    }
    rounds.end()
}

/// The lines of a file.
struct Source {
    path: PathBuf,
    lines: Lines,
    header: Option<Header>,
    number: usize,
    /// The line that ends without a line feed, if there is one.
    unfinished: Option<usize>,
}

enum Lines {
    Json(Box<dyn BufRead + Send>),
    Csv(Box<csv::Reader<Ended>>),
}

/// Reads, and remembers the last byte: a file whose last line has no end may be torn.
struct Ended {
    inner: Box<dyn BufRead + Send>,
    last: u8,
}

impl std::io::Read for Ended {
    fn read(&mut self, out: &mut [u8]) -> std::io::Result<usize> {
        let count = self.inner.read(out)?;
        if count > 0 {
            self.last = out[count - 1];
        }
        Ok(count)
    }
}

impl Source {
    fn open(path: &Path) -> Result<Self> {
        let file = File::open(path).map_err(LabError::io("read", path))?;
        let zipped = path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("gz"));
        let inner: Box<dyn BufRead + Send> = if zipped {
            Box::new(BufReader::new(flate2::read::MultiGzDecoder::new(file)))
        } else {
            Box::new(BufReader::with_capacity(1 << 18, file))
        };
        let mut source =
            Source { path: path.to_owned(), lines: Lines::Json(inner), header: None, number: 0, unfinished: None };
        if Form::of(path) == Form::Csv {
            let Lines::Json(inner) = source.lines else { unreachable!("it was made above") };
            let mut reader = csv::ReaderBuilder::new().flexible(true).from_reader(Ended { inner, last: b'\n' });
            let header = reader.headers().map_err(|cause| in_csv(path, &cause))?;
            let header = Header::of(header);
            source.header = Some(header.map_err(|message| wrong(path, Some(1), message))?);
            source.lines = Lines::Csv(Box::new(reader));
        }
        Ok(source)
    }

    /// Adds the next lines that are not empty, each with its number.
    fn fill(&mut self, piece: &mut Vec<(usize, Raw)>) -> Result<()> {
        while piece.len() < PIECE {
            let more = match &mut self.lines {
                Lines::Json(input) => {
                    let mut text = Vec::new();
                    input.read_until(b'\n', &mut text).map_err(LabError::io("read", &self.path))?;
                    self.number += 1;
                    if text.last().is_some_and(|last| *last != b'\n') {
                        self.unfinished = Some(self.number);
                    }
                    let blank = text.iter().all(u8::is_ascii_whitespace);
                    let more = !text.is_empty();
                    if more && !blank {
                        piece.push((self.number, Raw::Json(text)));
                    }
                    more
                }
                Lines::Csv(reader) => {
                    let mut record = StringRecord::new();
                    let more = reader.read_record(&mut record).map_err(|cause| in_csv(&self.path, &cause))?;
                    if more {
                        self.number = record.position().map_or(self.number + 1, |at| at.line() as usize);
                        piece.push((self.number, Raw::Csv(record)));
                    } else if reader.get_ref().last != b'\n' {
                        self.unfinished = Some(self.number);
                    }
                    more
                }
            };
            if !more {
                break;
            }
        }
        Ok(())
    }
}

fn wrong(path: &Path, line: Option<usize>, message: String) -> LabError {
    LabError::Input { file: path.to_owned(), line, message }
}

fn in_csv(path: &Path, cause: &csv::Error) -> LabError {
    wrong(path, cause.position().map(|at| at.line() as usize), format!("this is not CSV: {cause}"))
}

/// Puts rounds together: a reward may come later than its round.
#[derive(Default)]
struct Assembly {
    path: PathBuf,
    /// The names that were on offer last.
    names: Arc<[Name]>,
    /// Hashes of all events.
    events: HashSet<u64>,
    /// Rounds that wait for their reward.
    waiting: HashMap<String, Record>,
    /// Rounds that wait for nothing, because nothing names them.
    lost: u64,
    first_lost: Option<usize>,
    space: Option<reluctant::Space>,
    read: Read,
}

impl Assembly {
    fn wrong(&self, line: usize, message: String) -> LabError {
        wrong(&self.path, Some(line), message)
    }

    fn add(&mut self, number: usize, line: Line, out: &mut Vec<Record>) -> Result<()> {
        if line.chosen.is_none() {
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
        let chosen = line.chosen.unwrap_or_default();
        let (offer, place) = match (line.context, line.arms) {
            (Some(_), Some(_)) => return Err("a round has a context or arms, not both".to_owned()),
            (None, None) => return Err("the round has neither a context nor arms".to_owned()),
            (None, Some((dim, data))) => {
                let count = data.len() / dim;
                let place = chosen.parse().ok().filter(|place| *place < count);
                let message = || format!("arm {chosen} was chosen, but arms 0 to {} were on offer", count - 1);
                (Offered::Arms { dim, data }, place.ok_or_else(message)?)
            }
            (Some(x), None) => {
                if let Some(names) = line.actions {
                    self.names = names;
                } else if self.names.is_empty() {
                    return Err("actions are missing: the names of all that were on offer".to_owned());
                }
                let place = self.names.iter().position(|name| **name == *chosen).ok_or_else(|| {
                    let names: Vec<&str> = self.names.iter().map(|name| &**name).collect();
                    format!("'{chosen}' was chosen, but was not on offer: {}", names.join(", "))
                })?;
                let features = line.features.map_or(Vec::new(), |(_, data)| data);
                (Offered::Context { x, names: Arc::clone(&self.names), features }, place)
            }
        };
        offer.as_offer().map_err(|cause| cause.to_string())?;
        let space = offer.space();
        if *self.space.get_or_insert(space) != space {
            return Err("this round offers something of another shape than the rounds before it".to_owned());
        }
        Ok(Record {
            line: number,
            offer,
            chosen: place,
            propensity: line.propensity,
            propensity_error: line.propensity_error.unwrap_or(0.0),
            reward: line.reward.unwrap_or(f64::NAN),
        })
    }

    fn end(mut self) -> Result<Read> {
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
