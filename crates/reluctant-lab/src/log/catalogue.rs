//! The features file of a log: numbers by id, so that a line need not repeat them.

use std::collections::HashMap;
use std::fs::File;
use std::io::{BufReader, Read};
use std::path::{Path, PathBuf};

use super::line::{Given, Several};
use crate::error::{LabError, Result};

/// The rows of a features file.
#[derive(Debug)]
pub(super) struct Catalogue {
    path: PathBuf,
    dim: usize,
    places: HashMap<String, usize>,
    data: Vec<f64>,
}

/// The column of ids.
const ID: &str = "id";

impl Catalogue {
    /// Reads a CSV file, gzipped or not, with a column `id`; all other columns are numbers.
    pub(super) fn open(path: &Path) -> Result<Self> {
        let file = File::open(path).map_err(LabError::io("read", path))?;
        let zipped = path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("gz"));
        let inner: Box<dyn Read> =
            if zipped { Box::new(flate2::read::MultiGzDecoder::new(file)) } else { Box::new(BufReader::new(file)) };
        let wrong =
            |line: u64, message: String| LabError::Input { file: path.to_owned(), line: Some(line as usize), message };
        let broken = |cause: csv::Error| {
            let line = cause.position().map_or(1, csv::Position::line);
            wrong(line, format!("this is not CSV: {cause}"))
        };
        let mut reader = csv::Reader::from_reader(inner);
        let header = reader.headers().map_err(broken)?.clone();
        let Some(at) = header.iter().position(|name| name.trim() == ID).filter(|_| header.len() > 1) else {
            let message = format!("a features file needs a column '{ID}' and, beside it, columns of numbers");
            return Err(wrong(1, message));
        };
        let mut catalogue =
            Catalogue { path: path.to_owned(), dim: header.len() - 1, places: HashMap::new(), data: Vec::new() };
        for record in reader.into_records() {
            let record = record.map_err(broken)?;
            let line = record.position().map_or(0, csv::Position::line);
            let id = record[at].trim().to_owned();
            let place = catalogue.places.len();
            if catalogue.places.insert(id.clone(), place).is_some() {
                return Err(wrong(line, format!("the id '{id}' stands in the features file twice")));
            }
            for (i, field) in record.iter().enumerate().filter(|(i, _)| *i != at) {
                let number = field.trim().parse::<f64>().ok().filter(|x| x.is_finite());
                let message = || format!("{} is '{field}', which is not a finite number", &header[i]);
                catalogue.data.push(number.ok_or_else(|| wrong(line, message()))?);
            }
        }
        Ok(catalogue)
    }

    fn row(&self, id: &str) -> std::result::Result<&[f64], String> {
        let place = self
            .places
            .get(id)
            .ok_or_else(|| format!("the id '{id}' does not stand in the features file {}", self.path.display()))?;
        Ok(&self.data[place * self.dim..(place + 1) * self.dim])
    }
}

/// The numbers that stand in a line or that its id stands for.
pub(super) fn numbers(given: Given, catalogue: Option<&Catalogue>) -> std::result::Result<Vec<f64>, String> {
    match given {
        Given::Numbers(numbers) => Ok(numbers),
        Given::Id(id) => Ok(known(catalogue, &id)?.row(&id)?.to_vec()),
    }
}

/// Vectors, one after the other, with their length and, if they were given by ids, these.
pub(super) type Vectors = (usize, Vec<f64>, Option<Vec<String>>);

/// The vectors that stand in a line or that its ids stand for.
pub(super) fn vectors(given: Several, catalogue: Option<&Catalogue>) -> std::result::Result<Vectors, String> {
    match given {
        Several::Numbers(dim, data) => Ok((dim, data, None)),
        Several::Ids(ids) => {
            let catalogue = known(catalogue, &ids[0])?;
            let rows: Vec<&[f64]> = ids.iter().map(|id| catalogue.row(id)).collect::<std::result::Result<_, _>>()?;
            Ok((catalogue.dim, rows.concat(), Some(ids)))
        }
    }
}

fn known<'c>(catalogue: Option<&'c Catalogue>, id: &str) -> std::result::Result<&'c Catalogue, String> {
    catalogue.ok_or_else(|| {
        format!("'{id}' is an id, and no line up to here names the features_file that says what it stands for")
    })
}
