//! Logs whose numbers stand in another file, and logs as Parquet and Arrow files.

#![allow(clippy::unwrap_used, reason = "a test says best what it expects by failing where it is not met")]

use std::path::{Path, PathBuf};

use reluctant_lab::log::{Offered, Record, Writer, read};

fn folder() -> PathBuf {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("log-forms");
    std::fs::create_dir_all(&folder).unwrap();
    folder
}

fn written(name: &str, text: &str) -> PathBuf {
    let path = folder().join(name);
    std::fs::write(&path, text).unwrap();
    path
}

fn all(path: &Path) -> Vec<Record> {
    let mut records = Vec::new();
    read(path, |piece| {
        records.extend_from_slice(piece);
        Ok(())
    })
    .unwrap();
    records
}

fn said(path: &Path) -> String {
    read(path, |_| Ok(())).unwrap_err().to_string().replace(&folder().display().to_string(), "HERE")
}

#[test]
fn ids_stand_for_rows_of_the_features_file() {
    written("items.csv", "id,price,size\nred,1.5,2\nblue,-1,0.25\n");
    let arms = written(
        "ids.jsonl",
        "{\"features_file\":\"items.csv\"}\n\
         {\"arms\":[\"blue\",\"red\"],\"chosen\":\"red\",\"propensity\":0.5,\"reward\":1}\n",
    );
    let record = all(&arms).remove(0);
    assert_eq!(record.offer, Offered::Arms { dim: 2, data: vec![-1.0, 0.25, 1.5, 2.0] });
    assert_eq!((record.chosen, record.line), (1, 2));
    let context = written(
        "context-ids.jsonl",
        "{\"features_file\":\"items.csv\",\"context\":\"blue\",\"actions\":[\"a\",\"b\"],\
         \"features\":[\"red\",\"blue\"],\"chosen\":\"b\",\"reward\":1}\n",
    );
    let names = ["a", "b"].map(reluctant::Name::from).as_slice().into();
    let expected = Offered::Context { x: vec![-1.0, 0.25], names, features: vec![1.5, 2.0, -1.0, 0.25] };
    assert_eq!(all(&context)[0].offer, expected);
    let csv = written(
        "ids.csv",
        "event,context,actions,chosen,propensity,reward,features_file\n1,red,a|b,a,0.5,1,items.csv\n2,blue,a|b,b,0.5,0,\n",
    );
    let contexts: Vec<Offered> = all(&csv).into_iter().map(|record| record.offer).collect();
    assert!(matches!(&contexts[0], Offered::Context { x, .. } if *x == [1.5, 2.0]), "{contexts:?}");
    assert!(matches!(&contexts[1], Offered::Context { x, .. } if *x == [-1.0, 0.25]), "{contexts:?}");
}

#[test]
fn mistakes_with_ids_are_named() {
    written("good.csv", "id,x\nred,1.5\n");
    let line = |file: &str, rest: &str| {
        said(&written("bad.jsonl", &format!("{{\"features_file\":\"{file}\"}}\n{{{rest},\"reward\":1}}\n")))
    };
    assert_eq!(
        line("good.csv", r#""arms":["red","green"],"chosen":"red""#),
        "HERE/bad.jsonl:2: the id 'green' does not stand in the features file HERE/good.csv"
    );
    assert_eq!(
        line("good.csv", r#""arms":["red"],"chosen":"0""#),
        "HERE/bad.jsonl:2: arm '0' was chosen, but was not on offer: red"
    );
    assert_eq!(
        line("good.csv", r#""arms":["red",[1.0]],"chosen":"red""#),
        "HERE/bad.jsonl:2: arms must be all lists of numbers or all ids, not both"
    );
    assert!(line("none.csv", r#""arms":["red"],"chosen":"red""#).starts_with("cannot read HERE/none.csv"));
    written("twice.csv", "id,x\nred,1.5\nred,2\n");
    assert_eq!(line("twice.csv", ""), "HERE/twice.csv:3: the id 'red' stands in the features file twice");
    written("words.csv", "id,x\nred,tall\n");
    assert_eq!(line("words.csv", ""), "HERE/words.csv:2: x is 'tall', which is not a finite number");
    written("no-id.csv", "name,x\nred,1\n");
    assert_eq!(
        line("no-id.csv", ""),
        "HERE/no-id.csv:1: a features file needs a column 'id' and, beside it, columns of numbers"
    );
    let unnamed = written("unnamed.jsonl", "{\"arms\":[\"red\"],\"chosen\":\"red\",\"reward\":1}\n");
    assert_eq!(
        said(&unnamed),
        "HERE/unnamed.jsonl:1: 'red' is an id, and no line up to here names the features_file that says what it stands for"
    );
}

#[cfg(not(feature = "arrow"))]
#[test]
fn columns_need_a_feature() {
    let path = written("log.parquet", "PAR1");
    let sentence = "only a build with the feature arrow of reluctant-lab reads and writes Parquet and Arrow logs; use \
                    JSON lines (.jsonl) or CSV (.csv)";
    assert_eq!(said(&path), format!("HERE/log.parquet: {sentence}"));
    assert!(Writer::create(&path, "mine").unwrap_err().to_string().ends_with(sentence));
}

#[cfg(feature = "arrow")]
mod columns {
    use std::sync::Arc;

    use arrow_array::{ArrayRef, Float32Array, Int64Array, RecordBatch, StringArray};
    use parquet::arrow::ArrowWriter;
    use reluctant::Name;

    use super::*;

    /// More rounds than are held at a time, with every kind of offer.
    #[test]
    fn what_is_written_is_read_back() {
        let names: Arc<[Name]> = ["a", "b"].map(Name::from).as_slice().into();
        let context = |x: f64| Offered::Context { x: vec![x, 0.1], names: names.clone(), features: Vec::new() };
        let featured = |x: f64| Offered::Context { x: vec![x], names: names.clone(), features: vec![x, 1.0, 2.0, 3.0] };
        let arms = |x: f64| Offered::Arms { dim: 2, data: vec![x, 1.0, 0.5, 0.25] };
        let point = |x: f64| Offered::Sphere { point: vec![libm::cos(x), libm::sin(x)], by_chance: true };
        let kinds: [(&str, &dyn Fn(f64) -> Offered); 4] =
            [("context", &context), ("features", &featured), ("arms", &arms), ("sphere", &point)];
        for (kind, offer) in kinds {
            for ending in ["parquet", "arrow", "jsonl"] {
                let path = folder().join(format!("back-{kind}.{ending}"));
                let mut writer = Writer::create(&path, "mine").unwrap();
                for i in 0..5000 {
                    let x = f64::from(i) / 3.0;
                    let chosen = if kind == "sphere" { 0 } else { i as usize % 2 };
                    writer.write(&offer(x), chosen, (Some(0.3), 0.01), Some(x)).unwrap();
                }
                writer.finish().unwrap();
                let records = all(&path);
                assert_eq!(records.len(), 5000, "{kind} {ending}");
                for (i, record) in records.iter().enumerate() {
                    let x = i as f64 / 3.0;
                    let chosen = if kind == "sphere" { 0 } else { i % 2 };
                    let mut expected = Record::new(i + 1, offer(x), chosen, Some(0.3), x);
                    expected.propensity_error = 0.01;
                    assert_eq!(*record, expected, "{kind} {ending}");
                }
            }
        }
    }

    /// As other libraries write them: a context in columns, names with bars, single precision, late rewards.
    #[test]
    fn frames_of_others_are_read() {
        let columns: [(&str, ArrayRef); 6] = [
            ("event", Arc::new(Int64Array::from(vec![1, 2, 1]))),
            ("x1", Arc::new(Float32Array::from(vec![Some(0.5), Some(1.5), None]))),
            ("actions", Arc::new(StringArray::from(vec![Some("a|b"), Some("a|b"), None]))),
            ("chosen", Arc::new(StringArray::from(vec![Some("b"), Some("a"), None]))),
            ("propensity", Arc::new(Float32Array::from(vec![Some(0.25), Some(0.5), None]))),
            ("reward", Arc::new(Float32Array::from(vec![None, Some(2.0), Some(1.0)]))),
        ];
        let batch = RecordBatch::try_from_iter_with_nullable(columns.map(|(name, array)| (name, array, true))).unwrap();
        let path = folder().join("others.parquet");
        let mut writer = ArrowWriter::try_new(std::fs::File::create(&path).unwrap(), batch.schema(), None).unwrap();
        writer.write(&batch).unwrap();
        writer.close().unwrap();
        let found: Vec<_> = all(&path).iter().map(|r| (r.line, r.chosen, r.propensity, r.reward)).collect();
        assert_eq!(found, [(2, 0, Some(0.5), 2.0), (1, 1, Some(0.25), 1.0)]);
    }

    #[test]
    fn mistakes_are_named_with_their_row() {
        let columns: [(&str, ArrayRef); 4] = [
            ("x1", Arc::new(Float32Array::from(vec![0.5, 1.5]))),
            ("actions", Arc::new(StringArray::from(vec!["a|b", "a|b"]))),
            ("chosen", Arc::new(StringArray::from(vec!["b", "c"]))),
            ("reward", Arc::new(Float32Array::from(vec![1.0, 2.0]))),
        ];
        let batch = RecordBatch::try_from_iter(columns).unwrap();
        let path = folder().join("wrong.parquet");
        let mut writer = ArrowWriter::try_new(std::fs::File::create(&path).unwrap(), batch.schema(), None).unwrap();
        writer.write(&batch).unwrap();
        writer.close().unwrap();
        assert_eq!(said(&path), "HERE/wrong.parquet:2: 'c' was chosen, but was not on offer: a, b");
        let torn = written("torn.parquet", "PAR1 and no more");
        assert!(said(&torn).starts_with("HERE/torn.parquet: this log cannot be read: "), "{}", said(&torn));
    }
}
