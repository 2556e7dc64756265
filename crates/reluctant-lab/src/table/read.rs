//! From a file to a sheet: its content decides on its format.

use std::io::{ErrorKind, Read};
use std::path::Path;

use flate2::read::MultiGzDecoder;

use super::csv::CsvSheet;
use super::fault::{Fault, Outcome};
use super::options::TableOptions;
use super::sheet::Sheet;
use crate::error::{LabError, Result};

/// How gzipped data, Parquet files, Arrow IPC files, and archives (spreadsheets among them) begin.
const GZIP: &[u8] = &[0x1f, 0x8b];
const PARQUET: &[u8] = b"PAR1";
const ARROW: &[u8] = b"ARROW1";
const ZIP: &[u8] = b"PK\x03\x04";

/// The bytes of a file, as they are.
pub(super) fn bytes(file: &Path) -> Result<Vec<u8>> {
    std::fs::read(file).map_err(|cause| match cause.kind() {
        ErrorKind::NotFound => Fault::whole("there is no such file").of(file),
        _ => LabError::io("read", file)(cause),
    })
}

/// What names the content of a file: the hash of its bytes.
pub(super) fn fingerprint(bytes: &[u8]) -> String {
    format!("{:032x}", xxhash_rust::xxh3::xxh3_128(bytes))
}

/// The sheet in the bytes of a file.
pub(super) fn sheet(bytes: Vec<u8>, options: &TableOptions) -> Outcome<Box<dyn Sheet>> {
    if bytes.starts_with(PARQUET) || bytes.starts_with(ARROW) {
        return columnar(bytes);
    }
    if bytes.starts_with(ZIP) {
        return Err(Fault::whole(
            "this is a zip archive or a spreadsheet, not a CSV file; unpack it, or export it as CSV",
        ));
    }
    let bytes = if bytes.starts_with(GZIP) { unzip(&bytes)? } else { bytes };
    Ok(Box::new(CsvSheet::new(bytes, options.separator)?))
}

#[cfg(feature = "arrow")]
fn columnar(bytes: Vec<u8>) -> Outcome<Box<dyn Sheet>> {
    let is_parquet = bytes.starts_with(PARQUET);
    Ok(Box::new(super::arrow::ArrowSheet::new(bytes, is_parquet)?))
}

#[cfg(not(feature = "arrow"))]
fn columnar(bytes: Vec<u8>) -> Outcome<Box<dyn Sheet>> {
    let format = if bytes.starts_with(PARQUET) { "a Parquet" } else { "an Arrow" };
    Err(Fault::whole(format!(
        "this is {format} file, which only a build with the feature arrow of reluctant-lab reads; write it as CSV"
    )))
}

fn unzip(packed: &[u8]) -> Outcome<Vec<u8>> {
    let mut bytes = Vec::new();
    MultiGzDecoder::new(packed).read_to_end(&mut bytes).map_err(|cause| match cause.kind() {
        ErrorKind::UnexpectedEof => Fault::whole("the gzipped data are torn: they end too early; copy the file again"),
        _ => Fault::whole(format!("the gzipped data are damaged: {cause}; copy the file again")),
    })?;
    Ok(bytes)
}
