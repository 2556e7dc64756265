//! CSV: a header, then a line for each row; fields may be quoted.

use csv::{ErrorKind, Reader, ReaderBuilder, StringRecord};

use super::fault::{Fault, Outcome};
use super::sheet::{Cell, Record, Sheet, Visitor, check_names};

/// How far to look for bytes that no text has.
const BINARY_PROBE: usize = 8192;
/// Separators to suggest where the header looks like a single column, and what they are called.
const OTHER_SEPARATORS: [(char, &str); 4] = [(';', "semicolon"), ('\t', "tab"), ('|', "bar"), (',', "comma")];

const OPEN_QUOTE: &str = "a quote that is opened here is never closed";

/// The text of a CSV file and its header.
pub(super) struct CsvSheet {
    bytes: Vec<u8>,
    separator: u8,
    names: Vec<String>,
}

impl CsvSheet {
    /// Reads the header and checks it.
    pub(super) fn new(bytes: Vec<u8>, separator: char) -> Outcome<Self> {
        let separator = separator_byte(separator)?;
        if bytes[..bytes.len().min(BINARY_PROBE)].contains(&0) {
            return Err(Fault::whole("this is not a CSV file: it holds bytes that are not text in UTF-8"));
        }
        let mut sheet = CsvSheet { bytes, separator, names: Vec::new() };
        let mut reader = sheet.reader();
        let header = reader.headers().map_err(|cause| sheet.unreadable(&cause))?.clone();
        let first = sheet.line(0);
        if header.is_empty() {
            return Err(Fault::whole("the file is empty; a header with the names of columns and rows are needed"));
        }
        if reader.position().byte() >= sheet.bytes.len() as u64 && sheet.is_left_open(0) {
            return Err(Fault::at(first, OPEN_QUOTE));
        }
        let names: Vec<String> = header.iter().map(|name| name.trim().to_owned()).collect();
        if looks_like_data(&names) {
            let message = "the first line must name the columns, but it holds numbers; put a header above it";
            return Err(Fault::at(first, message));
        }
        check_names(&names, Some(first))?;
        if let [only] = names.as_slice()
            && let Some((_, other)) =
                OTHER_SEPARATORS.iter().find(|(other, _)| *other != char::from(separator) && only.contains(*other))
        {
            let message = format!(
                "the header names a single column, '{only}'; for fields like these give separator = \"{other}\""
            );
            return Err(Fault::at(first, message));
        }
        sheet.names = names;
        Ok(sheet)
    }

    fn reader(&self) -> Reader<&[u8]> {
        ReaderBuilder::new().delimiter(self.separator).from_reader(self.bytes.as_slice())
    }

    /// The sentence for what the CSV reader complains about.
    fn unreadable(&self, cause: &csv::Error) -> Fault {
        let line = self.line(place_of(cause));
        match cause.kind() {
            ErrorKind::Utf8 { .. } => Fault::at(line, "this line is not text in UTF-8; save the file in that encoding"),
            ErrorKind::UnequalLengths { expected_len, len, .. } => {
                let fields = if *len == 1 { "field" } else { "fields" };
                Fault::at(line, format!("this line has {len} {fields}, but the header names {expected_len} columns"))
            }
            _ => Fault::at(line, format!("this is not CSV: {cause}")),
        }
    }

    /// Whether the row that begins at `place` and reaches to the end of the file does so only because a quote was not
    /// closed.
    fn is_left_open(&self, place: usize) -> bool {
        let rest = self.bytes[place.min(self.bytes.len())..].trim_ascii();
        rest.contains(&b'\n') && rest.iter().filter(|byte| **byte == b'"').count() % 2 == 1
    }
}

impl Sheet for CsvSheet {
    fn names(&self) -> &[String] {
        &self.names
    }

    fn visit(&self, see: &mut Visitor<'_>) -> Outcome<()> {
        let (mut reader, mut record) = (self.reader(), StringRecord::new());
        loop {
            let more = reader.read_record(&mut record);
            let place = match &more {
                Ok(false) => return Ok(()),
                Ok(true) => record.position().map_or(0, |found| found.byte() as usize),
                Err(cause) => place_of(cause),
            };
            let at_end = reader.position().byte() >= self.bytes.len() as u64;
            if at_end && self.is_left_open(place) {
                return Err(Fault::at(self.line(place), OPEN_QUOTE));
            }
            more.map_err(|cause| self.unreadable(&cause))?;
            see(place, &record)?;
        }
    }

    /// A place is that of a byte. The reader counts the line break of the row before, and empty lines, to the row after
    /// them.
    fn line(&self, place: usize) -> usize {
        let place = place.min(self.bytes.len());
        let breaks = self.bytes[place..].iter().take_while(|byte| matches!(byte, b'\n' | b'\r')).count();
        1 + self.bytes[..place + breaks].iter().filter(|byte| **byte == b'\n').count()
    }
}

impl Record for StringRecord {
    fn cell(&self, column: usize) -> Cell<'_> {
        Cell::of_text(self.get(column).unwrap_or_default())
    }
}

/// Where the row begins that the reader complains about.
fn place_of(cause: &csv::Error) -> usize {
    cause.position().map_or(0, |place| place.byte() as usize)
}

fn separator_byte(separator: char) -> Outcome<u8> {
    let allowed = separator == '\t' || separator == ' ' || (separator.is_ascii_punctuation() && separator != '"');
    match u8::try_from(separator) {
        Ok(byte) if allowed => Ok(byte),
        _ => {
            let given = separator.escape_default();
            Err(Fault::whole(format!(
                "separator = \"{given}\" must be a mark of ASCII such as \",\", \";\" or \"\\t\""
            )))
        }
    }
}

/// Whether a first line holds values in place of names: a number that is not whole, or numbers only that do not count
/// up by one.
fn looks_like_data(names: &[String]) -> bool {
    let numbers: Vec<f64> = names.iter().filter_map(|name| Cell::of_text(name).number()).collect();
    let counts_up = numbers.windows(2).all(|pair| pair[1] == pair[0] + 1.0);
    let whole = numbers.iter().all(|number| *number >= 0.0 && number.fract() == 0.0);
    !whole || (numbers.len() == names.len() && !counts_up)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(text: &str) -> Outcome<Vec<(usize, Vec<String>)>> {
        let sheet = CsvSheet::new(text.as_bytes().to_vec(), ',')?;
        let mut rows = Vec::new();
        sheet.visit(&mut |place, record| {
            let cells = (0..sheet.names().len()).map(|column| record.cell(column).text().into_owned());
            rows.push((sheet.line(place), cells.collect()));
            Ok(())
        })?;
        Ok(rows)
    }

    #[test]
    fn lines_are_those_of_an_editor() {
        let plain = "a,b\n1,x\n2,\"y, or\nz\"\n3,\"say \"\"w\"\"\"\n";
        let expected = [(2, ["1", "x"]), (3, ["2", "y, or\nz"]), (5, ["3", "say \"w\""])];
        let expected: Vec<_> = expected.map(|(line, cells)| (line, cells.map(str::to_owned).to_vec())).to_vec();
        assert_eq!(rows(plain).unwrap(), expected);
        assert_eq!(rows(&format!("\u{feff}{}", plain.replace("\n1", "\r\n1"))).unwrap(), expected);
        let spaced = rows("a,b\r\n\r\n1,x\r\n\r\n\r\n2,y\r\n3,z").unwrap();
        assert_eq!(spaced.iter().map(|row| row.0).collect::<Vec<_>>(), [3, 6, 7]);
        assert_eq!(rows("\n\na,b\n1,x\n").unwrap()[0].0, 4);
    }

    #[test]
    fn values_in_place_of_names_are_noticed() {
        let data = |line: &str| looks_like_data(&line.split(',').map(str::to_owned).collect::<Vec<_>>());
        assert!(data("5.1,3.5,setosa"));
        assert!(data("4,0,7"));
        assert!(data("-1,a"));
        assert!(!data("0,1,2,3"));
        assert!(!data("1990,1991,class"));
        assert!(!data("a,b"));
    }

    #[test]
    fn an_open_quote_does_not_swallow_the_rest() {
        let open = rows("a,b\n1,x\n2,\"y\n3,z\n4,w\n").unwrap_err().of("x.csv".as_ref());
        assert_eq!(open.to_string(), "x.csv:3: a quote that is opened here is never closed");
        let open = rows("a,b\n1,x\n\"2,y\n3,z\n4,w\n").unwrap_err().of("x.csv".as_ref());
        assert_eq!(open.to_string(), "x.csv:3: a quote that is opened here is never closed");
        let open = rows("\"a,b\n1,x\n2,y\n").unwrap_err().of("x.csv".as_ref());
        assert_eq!(open.to_string(), "x.csv:1: a quote that is opened here is never closed");
        assert_eq!(rows("a,b\n1,x\n2,5\" pipe\n").unwrap()[1].1[1], "5\" pipe");
    }
}
