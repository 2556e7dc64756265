//! Goes through a log in pieces: lines are parsed on all threads, rounds are put together in order.

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};

use csv::StringRecord;
use rayon::prelude::*;

use super::assembly::Assembly;
use super::columns::Batches;
use super::csv_lines::Header;
use super::json_lines;
use super::line::Line;
use super::noticed::{PIECE, Read, wrong};
use super::{Form, Record};
use crate::error::{LabError, Result};

/// A line as it was read.
enum Raw {
    Json(Vec<u8>),
    Csv(StringRecord),
    /// A row of a Parquet or Arrow file, parsed already.
    Row(Box<std::result::Result<Line, String>>),
}

/// Reads the log at `path` and hands its rounds to `each`, a piece at a time, in the order in which their rewards came.
pub fn read(path: &Path, mut each: impl FnMut(&[Record]) -> Result<()>) -> Result<Read> {
    let mut source = Source::open(path)?;
    let mut rounds = Assembly::of(path);
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
                    (Raw::Row(line), _) => line.as_ref().clone(),
                }?;
                line.check()?;
                Ok(line)
            })
            .collect();
        records.clear();
        for ((number, _), line) in piece.iter().zip(parsed) {
            match line {
                Ok(line) => rounds.add(*number, line, &mut records)?,
                Err(_) if source.unfinished == Some(*number) => rounds.read.torn = Some(*number),
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
    Rows(Batches),
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
        if let form @ (Form::Parquet | Form::Arrow) = Form::of(path) {
            let lines = Lines::Rows(Batches::open(path, form)?);
            return Ok(Source { path: path.to_owned(), lines, header: None, number: 0, unfinished: None });
        }
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
                Lines::Rows(batches) => {
                    let rows = batches.next_rows()?;
                    let more = !rows.is_empty();
                    for row in rows {
                        self.number += 1;
                        piece.push((self.number, Raw::Row(Box::new(row))));
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

fn in_csv(path: &Path, cause: &csv::Error) -> LabError {
    wrong(path, cause.position().map(|at| at.line() as usize), format!("this is not CSV: {cause}"))
}
