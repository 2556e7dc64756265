//! Goes through a log in pieces: lines are parsed on all threads, rounds are put together in order. The next piece is
//! read while one is being used.

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::sync_channel;

use csv::StringRecord;
use rayon::prelude::*;

use super::assembly::Assembly;
use super::columns::Batches;
use super::csv_lines::Header;
use super::json_lines::{self, Names};
use super::line::Line;
use super::noticed::{PIECE, Read, wrong};
use super::{Form, Record};
use crate::error::{LabError, Result};

/// So many pieces wait to be used at most.
const AHEAD: usize = 1;

/// A line as it was read.
enum Raw {
    /// Where it stands in the text of the piece.
    Json(Range<usize>),
    Csv(StringRecord),
    /// A row of a Parquet or Arrow file, parsed already.
    Row(Box<std::result::Result<Line, String>>),
}

/// Lines that are parsed together.
#[derive(Default)]
struct Piece {
    text: Vec<u8>,
    /// Each with its number.
    lines: Vec<(usize, Raw)>,
}

/// Reads the log at `path` and hands its rounds to `each`, a piece at a time, in the order in which their rewards came.
pub fn read(path: &Path, mut each: impl FnMut(&[Record]) -> Result<()>) -> Result<Read> {
    let (source, rounds) = (Source::open(path)?, Assembly::of(path));
    if rayon::current_thread_index().is_some() {
        // Lines are parsed by the same threads: none of them may wait for that.
        return read_pieces(source, rounds, |records| each(&records));
    }
    std::thread::scope(|scope| {
        let (pieces, come) = sync_channel::<Vec<Record>>(AHEAD);
        // If nobody wants more, an error was met in what came before, and is the one that is told.
        let unwanted = |_| wrong(path, None, "the rest is not read".to_owned());
        let hand_over = move |records| pieces.send(records).map_err(unwanted);
        let reader = scope.spawn(move || read_pieces(source, rounds, hand_over));
        let used = come.iter().try_for_each(|records| each(&records));
        drop(come);
        let read = reader.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        used.and(read)
    })
}

/// The first round whose reward is known; no more than a piece of the log is read.
pub fn first(path: &Path) -> Result<Record> {
    let mut found = None;
    let enough = || wrong(path, None, "there are no rounds in this log".to_owned());
    let read = read(path, |records| {
        found = records.first().cloned();
        Err(enough())
    });
    found.map_or_else(|| Err(read.err().unwrap_or_else(enough)), Ok)
}

/// Hands over the rounds of all pieces in order.
fn read_pieces(
    mut source: Source,
    mut rounds: Assembly,
    mut hand_over: impl FnMut(Vec<Record>) -> Result<()>,
) -> Result<Read> {
    let mut piece = Piece::default();
    loop {
        source.fill(&mut piece)?;
        if piece.lines.is_empty() {
            return rounds.end();
        }
        let mut records = Vec::with_capacity(piece.lines.len());
        let parsed = parsed(&mut piece, source.header.as_ref(), &rounds);
        for (number, line) in parsed {
            match line {
                Ok(line) => rounds.add(number, line, &mut records)?,
                Err(_) if source.unfinished == Some(number) => rounds.read.torn = Some(number),
                Err(message) => return Err(rounds.wrong(number, message)),
            }
        }
        rounds.read.rounds += records.len() as u64;
        if !records.is_empty() {
            hand_over(records)?;
        }
    }
}

/// What the lines of a piece say, each with its number.
fn parsed(
    piece: &mut Piece,
    header: Option<&Header>,
    rounds: &Assembly,
) -> Vec<(usize, std::result::Result<Line, String>)> {
    let (text, names) = (&piece.text, &Names::new(Arc::clone(&rounds.names)));
    let parse = |(number, raw): (usize, Raw)| {
        let line = match (raw, header) {
            (Raw::Csv(record), Some(header)) => header.parse(&record, &names.list),
            (Raw::Json(place), _) => json_lines::parse(&text[place], names),
            (Raw::Csv(_), None) => Err("there is no header".to_owned()),
            (Raw::Row(line), _) => *line,
        };
        (number, line.and_then(|line| line.check().map(|()| line)))
    };
    piece.lines.par_drain(..).with_min_len(64).map(parse).collect()
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
    fn fill(&mut self, Piece { text, lines: piece }: &mut Piece) -> Result<()> {
        text.clear();
        while piece.len() < PIECE {
            let more = match &mut self.lines {
                Lines::Json(input) => {
                    let begin = text.len();
                    input.read_until(b'\n', text).map_err(LabError::io("read", &self.path))?;
                    self.number += 1;
                    let line = &text[begin..];
                    if line.last().is_some_and(|last| *last != b'\n') {
                        self.unfinished = Some(self.number);
                    }
                    if !line.iter().all(u8::is_ascii_whitespace) {
                        piece.push((self.number, Raw::Json(begin..text.len())));
                    }
                    text.len() > begin
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
