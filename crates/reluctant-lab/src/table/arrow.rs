//! Parquet and Arrow IPC files: columns of numbers, texts, yes and no, and dictionaries of these.

use std::collections::HashMap;
use std::io::Cursor;

use arrow_array::cast::AsArray;
use arrow_array::types::{
    ArrowPrimitiveType, Float16Type, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type, UInt8Type,
    UInt16Type, UInt32Type, UInt64Type,
};
use arrow_array::{Array, RecordBatch};
use arrow_ipc::reader::FileReader;
use arrow_schema::{ArrowError, DataType, SchemaRef};
use bytes::Bytes;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;

use super::fault::{Fault, Outcome};
use super::sheet::{Cell, Record, Sheet, Visitor, check_names};

/// Whole numbers up to this size are numbers of floating point without loss. Larger ones are most likely identifiers
/// and are kept as text, as they would stand in a CSV file.
const EXACT: u64 = 1 << 53;

/// A file as its batches.
pub(super) struct ArrowSheet {
    names: Vec<String>,
    /// The types of columns that are not read.
    foreign: Vec<Option<String>>,
    batches: Vec<Batch>,
}

struct Batch {
    rows: usize,
    columns: Vec<Column>,
}

/// The values of a column in a batch.
enum Column {
    /// Numbers, NaN where one is missing.
    Numbers(Vec<f64>),
    /// Distinct texts, and which of them each row holds.
    Texts(Vec<String>, Vec<Option<u32>>),
    /// Nothing that can be read.
    Foreign,
}

impl ArrowSheet {
    /// Reads a file.
    pub(super) fn new(bytes: Vec<u8>, is_parquet: bool) -> Outcome<Self> {
        let format = if is_parquet { "Parquet" } else { "Arrow" };
        let read = if is_parquet { read_parquet(bytes) } else { read_arrow(bytes) };
        let (schema, batches) =
            read.map_err(|cause| Fault::whole(format!("this {format} file cannot be read: {cause}")))?;
        let names: Vec<String> = schema.fields().iter().map(|field| field.name().trim().to_owned()).collect();
        check_names(&names, None)?;
        let type_of = |column: &DataType| (!is_read(column)).then(|| column.to_string());
        let foreign = schema.fields().iter().map(|field| type_of(field.data_type())).collect();
        Ok(ArrowSheet { names, foreign, batches })
    }
}

impl Sheet for ArrowSheet {
    fn names(&self) -> &[String] {
        &self.names
    }

    fn foreign(&self, column: usize) -> Option<&str> {
        self.foreign[column].as_deref()
    }

    fn visit(&self, see: &mut Visitor<'_>) -> Outcome<()> {
        let rows = self.batches.iter().flat_map(|batch| (0..batch.rows).map(move |row| Row { batch, row }));
        rows.enumerate().try_for_each(|(place, row)| see(place, &row))
    }

    fn line(&self, place: usize) -> usize {
        place + 1
    }
}

/// A row of a batch.
struct Row<'a> {
    batch: &'a Batch,
    row: usize,
}

impl Record for Row<'_> {
    fn cell(&self, column: usize) -> Cell<'_> {
        match &self.batch.columns[column] {
            Column::Numbers(numbers) => Cell::of_number(numbers[self.row]),
            Column::Texts(words, codes) => {
                codes[self.row].map_or(Cell::Missing, |code| Cell::of_text(&words[code as usize]))
            }
            Column::Foreign => Cell::Missing,
        }
    }
}

type Batches = std::result::Result<(SchemaRef, Vec<Batch>), ArrowError>;

fn read_parquet(bytes: Vec<u8>) -> Batches {
    let builder = ParquetRecordBatchReaderBuilder::try_new(Bytes::from(bytes))?;
    let schema = builder.schema().clone();
    let batches =
        builder.build()?.map(|batch| batch.map(|batch| convert(&batch))).collect::<std::result::Result<_, _>>()?;
    Ok((schema, batches))
}

fn read_arrow(bytes: Vec<u8>) -> Batches {
    let reader = FileReader::try_new(Cursor::new(bytes), None)?;
    let schema = reader.schema();
    let batches = reader.map(|batch| batch.map(|batch| convert(&batch))).collect::<std::result::Result<_, _>>()?;
    Ok((schema, batches))
}

fn convert(batch: &RecordBatch) -> Batch {
    Batch { rows: batch.num_rows(), columns: batch.columns().iter().map(|column| values(column.as_ref())).collect() }
}

/// Whether the values of a type are read.
fn is_read(of: &DataType) -> bool {
    match of {
        DataType::Dictionary(_, values) => is_read(values),
        DataType::Null | DataType::Boolean | DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => true,
        other => other.is_integer() || other.is_floating(),
    }
}

fn values(array: &dyn Array) -> Column {
    match array.data_type() {
        DataType::Int8 => numbers::<Int8Type>(array, f64::from),
        DataType::Int16 => numbers::<Int16Type>(array, f64::from),
        DataType::Int32 => numbers::<Int32Type>(array, f64::from),
        DataType::UInt8 => numbers::<UInt8Type>(array, f64::from),
        DataType::UInt16 => numbers::<UInt16Type>(array, f64::from),
        DataType::UInt32 => numbers::<UInt32Type>(array, f64::from),
        DataType::Int64 => {
            let exact = |array: &dyn Array| {
                array.as_primitive::<Int64Type>().iter().flatten().all(|x| x.unsigned_abs() <= EXACT)
            };
            if exact(array) { numbers::<Int64Type>(array, |x| x as f64) } else { spelled::<Int64Type>(array) }
        }
        DataType::UInt64 => {
            let exact = |array: &dyn Array| array.as_primitive::<UInt64Type>().iter().flatten().all(|x| x <= EXACT);
            if exact(array) { numbers::<UInt64Type>(array, |x| x as f64) } else { spelled::<UInt64Type>(array) }
        }
        DataType::Float16 => numbers::<Float16Type>(array, |x| x.to_f64()),
        DataType::Float32 => numbers::<Float32Type>(array, f64::from),
        DataType::Float64 => numbers::<Float64Type>(array, |x| x),
        DataType::Boolean => texts(array.as_boolean().iter().map(|x| x.map(|x| if x { "true" } else { "false" }))),
        DataType::Utf8 => texts(array.as_string::<i32>().iter()),
        DataType::LargeUtf8 => texts(array.as_string::<i64>().iter()),
        DataType::Utf8View => texts(array.as_string_view().iter()),
        DataType::Null => Column::Texts(Vec::new(), vec![None; array.len()]),
        DataType::Dictionary(_, _) => looked_up(array),
        _ => Column::Foreign,
    }
}

fn numbers<T: ArrowPrimitiveType>(array: &dyn Array, number: impl Fn(T::Native) -> f64) -> Column {
    Column::Numbers(array.as_primitive::<T>().iter().map(|x| x.map_or(f64::NAN, &number)).collect())
}

/// Whole numbers as their digits.
fn spelled<T: ArrowPrimitiveType>(array: &dyn Array) -> Column
where
    T::Native: ToString,
{
    texts(array.as_primitive::<T>().iter().map(|x| x.map(|x| x.to_string())))
}

fn texts<S: AsRef<str>>(rows: impl Iterator<Item = Option<S>>) -> Column {
    let (mut words, mut known) = (Vec::new(), HashMap::new());
    let mut code = |text: S| {
        if let Some(code) = known.get(text.as_ref()) {
            return *code;
        }
        // A batch has fewer rows than a code can count.
        let next = words.len() as u32;
        words.push(text.as_ref().to_owned());
        known.insert(text.as_ref().to_owned(), next);
        next
    };
    let codes = rows.map(|text| text.map(&mut code)).collect();
    Column::Texts(words, codes)
}

/// The values of a dictionary, put where its keys say.
fn looked_up(array: &dyn Array) -> Column {
    let dictionary = array.as_any_dictionary();
    if dictionary.values().is_empty() {
        return Column::Texts(Vec::new(), vec![None; array.len()]);
    }
    let keys = dictionary.normalized_keys();
    let keys = keys.into_iter().enumerate().map(|(row, key)| array.is_valid(row).then_some(key));
    match values(dictionary.values().as_ref()) {
        Column::Numbers(numbers) => Column::Numbers(keys.map(|key| key.map_or(f64::NAN, |key| numbers[key])).collect()),
        Column::Texts(words, codes) => Column::Texts(words, keys.map(|key| key.and_then(|key| codes[key])).collect()),
        Column::Foreign => Column::Foreign,
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow_array::{
        ArrayRef, BooleanArray, DictionaryArray, Float32Array, Float64Array, Int64Array, StringArray,
        TimestampSecondArray,
    };
    use arrow_ipc::CompressionType;
    use arrow_ipc::writer::{FileWriter, IpcWriteOptions};
    use parquet::arrow::ArrowWriter;
    use parquet::basic::{Compression, ZstdLevel};
    use parquet::file::properties::WriterProperties;

    use super::super::tests::File;
    use super::super::{Missing, Table, TableOptions};
    use super::*;

    fn batch(columns: Vec<(&str, ArrayRef)>) -> RecordBatch {
        RecordBatch::try_from_iter_with_nullable(columns.into_iter().map(|(name, array)| (name, array, true))).unwrap()
    }

    fn sample() -> RecordBatch {
        let words: DictionaryArray<Int8Type> = vec![Some("x"), None, Some("y"), Some("x")].into_iter().collect();
        batch(vec![
            ("real", Arc::new(Float64Array::from(vec![Some(0.1), None, Some(f64::NAN), Some(f64::INFINITY)]))),
            ("half", Arc::new(Float32Array::from(vec![0.5, 1.0, 1.5, 2.0]))),
            ("id", Arc::new(Int64Array::from(vec![i64::MAX, i64::MAX - 1, 0, 1]))),
            ("flag", Arc::new(BooleanArray::from(vec![true, false, true, false]))),
            ("word", Arc::new(words)),
            ("when", Arc::new(TimestampSecondArray::from(vec![1, 2, 3, 4]))),
            ("class", Arc::new(StringArray::from(vec!["a", " b ", "NA", "a"]))),
        ])
    }

    fn parquet(batch: &RecordBatch, compression: Compression) -> Vec<u8> {
        let mut bytes = Vec::new();
        let properties = WriterProperties::builder().set_compression(compression).build();
        let mut writer = ArrowWriter::try_new(&mut bytes, batch.schema(), Some(properties)).unwrap();
        writer.write(batch).unwrap();
        writer.close().unwrap();
        bytes
    }

    fn ipc(batch: &RecordBatch, compression: Option<CompressionType>) -> Vec<u8> {
        let mut bytes = Vec::new();
        let options = IpcWriteOptions::default().try_with_compression(compression).unwrap();
        let mut writer = FileWriter::try_new_with_options(&mut bytes, &batch.schema(), options).unwrap();
        writer.write(&batch.slice(0, 3)).unwrap();
        writer.write(&batch.slice(3, 1)).unwrap();
        writer.finish().unwrap();
        bytes
    }

    #[test]
    fn both_formats_give_the_cells_that_were_written() {
        let files = [
            (parquet(&sample(), Compression::UNCOMPRESSED), true),
            (parquet(&sample(), Compression::SNAPPY), true),
            (parquet(&sample(), Compression::ZSTD(ZstdLevel::default())), true),
            (ipc(&sample(), None), false),
            (ipc(&sample(), Some(CompressionType::LZ4_FRAME)), false),
            (ipc(&sample(), Some(CompressionType::ZSTD)), false),
        ];
        for (bytes, is_parquet) in files {
            let sheet = ArrowSheet::new(bytes, is_parquet).unwrap();
            assert_eq!(sheet.names(), ["real", "half", "id", "flag", "word", "when", "class"]);
            let mut rows = Vec::new();
            let all =
                |record: &dyn Record| (0..7).map(|column| record.cell(column).text().into_owned()).collect::<Vec<_>>();
            sheet
                .visit(&mut |place, record| {
                    assert_eq!(record.cell(1), Cell::Number(0.5 * (place + 1) as f64));
                    rows.push(all(record).join("|"));
                    Ok(())
                })
                .unwrap();
            let expected = [
                "0.1|0.5|9223372036854775807|true|x||a",
                "|1|9223372036854775806|false|||b",
                "|1.5|0|true|y||",
                "inf|2|1|false|x||a",
            ];
            assert_eq!(rows, expected);
            assert_eq!((0..7).filter_map(|column| sheet.foreign(column)).count(), 1);
            assert_eq!(sheet.foreign(5), Some("Timestamp(s)"));
        }
    }

    #[test]
    fn torn_files_are_named() {
        let sentence =
            |bytes: Vec<u8>, is_parquet| ArrowSheet::new(bytes, is_parquet).err().unwrap().of("x".as_ref()).to_string();
        let torn = |bytes: Vec<u8>| bytes[..bytes.len() / 2].to_vec();
        assert!(
            sentence(torn(parquet(&sample(), Compression::SNAPPY)), true)
                .starts_with("x: this Parquet file cannot be read: ")
        );
        assert!(sentence(torn(ipc(&sample(), None)), false).starts_with("x: this Arrow file cannot be read: "));
    }

    #[test]
    fn a_table_is_loaded_from_a_parquet_file() {
        let file = File::new("columns", parquet(&sample(), Compression::SNAPPY));
        let load = |ignore: &[&str]| {
            let ignore = ignore.iter().map(|name| (*name).to_owned()).collect();
            Table::load(&TableOptions { missing: Missing::Drop, ignore, ..file.options() })
        };
        let table = load(&["real", "word", "when"]).unwrap();
        assert_eq!((table.rows(), table.actions()), (3, ["a".to_owned(), "b".to_owned()].as_slice()));
        assert_eq!(table.feature_names(), ["half", "id", "flag=false", "flag=true"]);
        let foreign = load(&[]).unwrap_err().to_string();
        let sentence = "column 'when' has the type Timestamp(s), but only numbers, texts, booleans and dictionaries of \
                        these are read; convert it, or name it in ignore";
        assert!(foreign.ends_with(sentence), "{foreign}");
    }
}
