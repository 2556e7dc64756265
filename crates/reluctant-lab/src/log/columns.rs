//! Logs as Parquet and Arrow IPC files: a row a round, in the columns that the other forms have as fields.
//!
//! Numbers may be of any width; lists of numbers are lists, names on offer are a list of texts or one text with bars. A
//! context may also stand in the columns x1, x2, …, as in CSV.

use std::fs::File;
use std::path::Path;
use std::sync::Arc;

use arrow_array::builder::{Float64Builder, ListBuilder, StringBuilder, UInt64Builder};
use arrow_array::cast::AsArray;
use arrow_array::types::{
    ArrowPrimitiveType, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type, UInt8Type, UInt16Type,
    UInt32Type, UInt64Type,
};
use arrow_array::{Array, ArrayRef, RecordBatch};
use arrow_ipc::reader::FileReader;
use arrow_ipc::writer::FileWriter;
use arrow_schema::{ArrowError, DataType};
use parquet::arrow::ArrowWriter;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use reluctant::Name;

use super::csv_lines::BAR;
use super::line::{Given, Line, Several, several};
use super::noticed::PIECE;
use super::{Form, Offered};
use crate::error::{LabError, Result};

type Said<T> = std::result::Result<T, String>;

fn wrong(path: &Path, cause: impl std::fmt::Display) -> LabError {
    LabError::Input { file: path.to_owned(), line: None, message: format!("this log cannot be read: {cause}") }
}

/// The rows of a file, a batch at a time.
pub(super) struct Batches {
    path: std::path::PathBuf,
    batches: Box<dyn Iterator<Item = std::result::Result<RecordBatch, ArrowError>> + Send>,
}

impl Batches {
    pub(super) fn open(path: &Path, form: Form) -> Result<Self> {
        let file = File::open(path).map_err(LabError::io("read", path))?;
        let batches: Box<dyn Iterator<Item = _> + Send> = if form == Form::Parquet {
            let builder = ParquetRecordBatchReaderBuilder::try_new(file).map_err(|cause| wrong(path, cause))?;
            Box::new(builder.with_batch_size(PIECE).build().map_err(|cause| wrong(path, cause))?)
        } else {
            Box::new(FileReader::try_new(file, None).map_err(|cause| wrong(path, cause))?)
        };
        Ok(Batches { path: path.to_owned(), batches })
    }

    /// The lines of the next batch that has rows; none at the end.
    pub(super) fn next_rows(&mut self) -> Result<Vec<Said<Line>>> {
        for batch in self.batches.by_ref() {
            let batch = batch.map_err(|cause| wrong(&self.path, cause))?;
            if batch.num_rows() > 0 {
                return Ok((0..batch.num_rows()).map(|row| line(&batch, row)).collect());
            }
        }
        Ok(Vec::new())
    }
}

fn line(batch: &RecordBatch, row: usize) -> Said<Line> {
    let column = |name: &str| batch.column_by_name(name).filter(|array| array.is_valid(row)).map(AsRef::as_ref);
    let number = |name: &str| column(name).map(|array| number(array, row, name)).transpose();
    let text = |name: &str| column(name).map(|array| text(array, row, name)).transpose();
    let chosen = text("chosen")?;
    let mut context = column("context").map(|array| given(array, row, "context")).transpose()?;
    if context.is_none() && chosen.is_some() && batch.column_by_name("x1").is_some() {
        let known = |i: &usize| batch.column_by_name(&format!("x{i}")).is_some();
        let x = (1..).take_while(known).map(|i| number(&format!("x{i}"))?.ok_or_else(|| format!("x{i} is empty")));
        context = Some(Given::Numbers(x.collect::<Said<_>>()?));
    }
    let several = |name: &str| -> Said<Option<Several>> {
        let Some(array) = column(name) else { return Ok(None) };
        let rows = items(array, row, name)?;
        let given = (0..rows.len()).map(|i| given(rows.as_ref(), i, name)).collect::<Said<Vec<_>>>()?;
        several(given, name).map(Some)
    };
    Ok(Line {
        event: text("event")?,
        features_file: text("features_file")?,
        context,
        arms: several("arms")?,
        actions: column("actions").map(|array| names(array, row)).transpose()?,
        features: several("features")?,
        point: column("point").map(|array| numbers(array, row, "point")).transpose()?,
        chosen,
        propensity: number("propensity")?,
        propensity_error: number("propensity_error")?,
        density: number("density")?,
        reward: number("reward")?,
    })
}

fn number(array: &dyn Array, row: usize, name: &str) -> Said<f64> {
    fn of<T: ArrowPrimitiveType>(array: &dyn Array, row: usize, number: impl Fn(T::Native) -> f64) -> f64 {
        number(array.as_primitive::<T>().value(row))
    }
    Ok(match array.data_type() {
        DataType::Float64 => of::<Float64Type>(array, row, |x| x),
        DataType::Float32 => of::<Float32Type>(array, row, f64::from),
        DataType::Int64 => of::<Int64Type>(array, row, |x| x as f64),
        DataType::UInt64 => of::<UInt64Type>(array, row, |x| x as f64),
        DataType::Int32 => of::<Int32Type>(array, row, f64::from),
        DataType::UInt32 => of::<UInt32Type>(array, row, f64::from),
        DataType::Int16 => of::<Int16Type>(array, row, f64::from),
        DataType::UInt16 => of::<UInt16Type>(array, row, f64::from),
        DataType::Int8 => of::<Int8Type>(array, row, f64::from),
        DataType::UInt8 => of::<UInt8Type>(array, row, f64::from),
        DataType::Boolean => f64::from(u8::from(array.as_boolean().value(row))),
        other => return Err(format!("the column '{name}' has the type {other}, and must hold numbers")),
    })
}

/// A text, or a whole number as its digits.
fn text(array: &dyn Array, row: usize, name: &str) -> Said<String> {
    Ok(match array.data_type() {
        DataType::Utf8 => array.as_string::<i32>().value(row).to_owned(),
        DataType::LargeUtf8 => array.as_string::<i64>().value(row).to_owned(),
        DataType::Utf8View => array.as_string_view().value(row).to_owned(),
        DataType::Dictionary(_, _) => {
            let dictionary = array.as_any_dictionary();
            return text(dictionary.values().as_ref(), dictionary.normalized_keys()[row], name);
        }
        DataType::Int64 => array.as_primitive::<Int64Type>().value(row).to_string(),
        DataType::UInt64 => array.as_primitive::<UInt64Type>().value(row).to_string(),
        other if other.is_integer() => number(array, row, name)?.to_string(),
        other => return Err(format!("the column '{name}' has the type {other}, and must hold texts or whole numbers")),
    })
}

/// The items of a list.
fn items(array: &dyn Array, row: usize, name: &str) -> Said<ArrayRef> {
    Ok(match array.data_type() {
        DataType::List(_) => array.as_list::<i32>().value(row),
        DataType::LargeList(_) => array.as_list::<i64>().value(row),
        DataType::FixedSizeList(_, _) => array.as_fixed_size_list().value(row),
        other => return Err(format!("the column '{name}' has the type {other}, and must hold lists")),
    })
}

fn numbers(array: &dyn Array, row: usize, name: &str) -> Said<Vec<f64>> {
    let items = items(array, row, name)?;
    let item = |i: usize| if items.is_valid(i) { number(items.as_ref(), i, name) } else { Ok(f64::NAN) };
    (0..items.len()).map(item).collect()
}

fn is_list(array: &dyn Array) -> bool {
    matches!(array.data_type(), DataType::List(_) | DataType::LargeList(_) | DataType::FixedSizeList(_, _))
}

/// Numbers, or the id that stands for them.
fn given(array: &dyn Array, row: usize, name: &str) -> Said<Given> {
    if is_list(array) { numbers(array, row, name).map(Given::Numbers) } else { text(array, row, name).map(Given::Id) }
}

fn names(array: &dyn Array, row: usize) -> Said<Arc<[Name]>> {
    if is_list(array) {
        let items = items(array, row, "actions")?;
        return (0..items.len()).map(|i| text(items.as_ref(), i, "actions").map(|name| Name::from(&*name))).collect();
    }
    Ok(text(array, row, "actions")?.split(BAR).map(|name| Name::from(name.trim())).collect())
}

/// A file that is being written, a batch of rows at a time.
pub(super) struct ColumnsWriter {
    path: std::path::PathBuf,
    policy: String,
    form: Form,
    file: Option<File>,
    out: Option<Out>,
    rows: Rows,
}

enum Out {
    Parquet(Box<ArrowWriter<File>>),
    Arrow(Box<FileWriter<File>>),
}

/// The rows that wait to be written.
#[derive(Default)]
struct Rows {
    count: usize,
    written: u64,
    time: UInt64Builder,
    event: StringBuilder,
    context: ListBuilder<Float64Builder>,
    actions: ListBuilder<StringBuilder>,
    features: ListBuilder<ListBuilder<Float64Builder>>,
    arms: ListBuilder<ListBuilder<Float64Builder>>,
    point: ListBuilder<Float64Builder>,
    chosen: StringBuilder,
    propensity: Float64Builder,
    propensity_error: Float64Builder,
    density: Float64Builder,
    reward: Float64Builder,
    policy: StringBuilder,
    version: StringBuilder,
}

fn add_list(to: &mut ListBuilder<Float64Builder>, numbers: Option<&[f64]>) {
    to.values().append_slice(numbers.unwrap_or(&[]));
    to.append(numbers.is_some());
}

fn add_lists(to: &mut ListBuilder<ListBuilder<Float64Builder>>, data: Option<(usize, &[f64])>) {
    if let Some((dim, data)) = data {
        data.chunks(dim.max(1)).for_each(|row| add_list(to.values(), Some(row)));
    }
    to.append(data.is_some());
}

impl Rows {
    fn add(
        &mut self,
        offer: &Offered,
        chosen: usize,
        (propensity, error): (Option<f64>, f64),
        reward: Option<f64>,
        by: &str,
    ) {
        (self.count, self.written) = (self.count + 1, self.written + 1);
        self.time.append_value(self.written);
        self.event.append_value(self.written.to_string());
        let (mut context, mut arms, mut features, mut point, mut dense) = (None, None, None, None, false);
        match offer {
            Offered::Arms { dim, data } => arms = Some((*dim, data.as_slice())),
            Offered::Sphere { point: at, by_chance } => (point, dense) = (Some(at.as_slice()), *by_chance),
            Offered::Context { x, names, features: of } => {
                context = Some(x.as_slice());
                features = (!of.is_empty()).then(|| (of.len() / names.len().max(1), of.as_slice()));
                names.iter().for_each(|name| self.actions.values().append_value(&**name));
            }
        }
        self.actions.append(context.is_some());
        add_list(&mut self.context, context);
        add_list(&mut self.point, point);
        add_lists(&mut self.arms, arms);
        add_lists(&mut self.features, features);
        self.chosen.append_option(point.is_none().then(|| offer.label(chosen)));
        self.propensity.append_option(propensity.filter(|_| !dense));
        self.density.append_option(propensity.filter(|_| dense));
        self.propensity_error.append_value(error);
        self.reward.append_option(reward);
        self.policy.append_value(by);
        self.version.append_value(env!("CARGO_PKG_VERSION"));
    }

    fn batch(&mut self) -> std::result::Result<RecordBatch, ArrowError> {
        self.count = 0;
        let columns: [(&str, ArrayRef); 14] = [
            ("time", Arc::new(self.time.finish())),
            ("event", Arc::new(self.event.finish())),
            ("context", Arc::new(self.context.finish())),
            ("actions", Arc::new(self.actions.finish())),
            ("features", Arc::new(self.features.finish())),
            ("arms", Arc::new(self.arms.finish())),
            ("point", Arc::new(self.point.finish())),
            ("chosen", Arc::new(self.chosen.finish())),
            ("propensity", Arc::new(self.propensity.finish())),
            ("propensity_error", Arc::new(self.propensity_error.finish())),
            ("density", Arc::new(self.density.finish())),
            ("reward", Arc::new(self.reward.finish())),
            ("policy", Arc::new(self.policy.finish())),
            ("version", Arc::new(self.version.finish())),
        ];
        RecordBatch::try_from_iter_with_nullable(columns.map(|(name, array)| (name, array, true)))
    }
}

impl ColumnsWriter {
    pub(super) fn create(path: &Path, form: Form, policy: &str) -> Result<Self> {
        let file = File::create(path).map_err(LabError::io("write", path))?;
        let (path, policy) = (path.to_owned(), policy.to_owned());
        Ok(ColumnsWriter { path, policy, form, file: Some(file), out: None, rows: Rows::default() })
    }

    pub(super) fn write(
        &mut self,
        offer: &Offered,
        chosen: usize,
        propensity: (Option<f64>, f64),
        reward: Option<f64>,
    ) -> Result<()> {
        self.rows.add(offer, chosen, propensity, reward, &self.policy);
        if self.rows.count < PIECE { Ok(()) } else { self.empty() }
    }

    fn empty(&mut self) -> Result<()> {
        let written = self.rows.batch().and_then(|batch| {
            if let Some(file) = self.file.take() {
                self.out = Some(match self.form {
                    Form::Parquet => Out::Parquet(Box::new(ArrowWriter::try_new(file, batch.schema(), None)?)),
                    _ => Out::Arrow(Box::new(FileWriter::try_new(file, &batch.schema())?)),
                });
            }
            match &mut self.out {
                Some(Out::Parquet(out)) => Ok(out.write(&batch)?),
                Some(Out::Arrow(out)) => out.write(&batch),
                None => Ok(()),
            }
        });
        written.map_err(|cause| self.failed(cause))
    }

    fn failed(&self, cause: impl std::fmt::Display) -> LabError {
        LabError::io("write", &self.path)(std::io::Error::other(cause.to_string()))
    }

    pub(super) fn finish(&mut self) -> Result<()> {
        if self.rows.count > 0 || self.file.is_some() {
            self.empty()?;
        }
        let closed = match self.out.take() {
            Some(Out::Parquet(out)) => out.close().map(drop).map_err(|cause| cause.to_string()),
            Some(Out::Arrow(mut out)) => out.finish().map_err(|cause| cause.to_string()),
            None => Ok(()),
        };
        closed.map_err(|cause| self.failed(cause))
    }
}
