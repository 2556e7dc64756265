//! From files to features.

use std::io::Write;
use std::path::PathBuf;

use super::*;
use flate2::{Compression, write::GzEncoder};

/// A file of its own for a test, taken away when it ends.
pub(super) struct File(PathBuf);

impl File {
    pub(super) fn new(name: &str, bytes: impl AsRef<[u8]>) -> Self {
        let path = std::env::temp_dir().join(format!("reluctant-table-{}-{name}", std::process::id()));
        std::fs::write(&path, bytes).unwrap();
        File(path)
    }

    pub(super) fn options(&self) -> TableOptions {
        TableOptions::new(&self.0)
    }
}

impl Drop for File {
    fn drop(&mut self) {
        std::fs::remove_file(&self.0).ok();
    }
}

pub(super) fn gzip(text: &str) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(text.as_bytes()).unwrap();
    encoder.finish().unwrap()
}

fn in_file_order(table: &Table) -> Walk {
    Walk::new(table.clone(), (0..table.rows() as u32).collect()).unwrap()
}

fn features(walk: &Walk) -> Vec<Vec<f64>> {
    let round = |t| {
        let mut out = Vec::new();
        walk.features(t, &mut out).unwrap();
        out
    };
    (1..=walk.len() as u64).map(round).collect()
}

/// The features of all rows, in the order of the file.
fn plain(options: &TableOptions) -> Vec<Vec<f64>> {
    features(&in_file_order(&Table::load(options).unwrap()))
}

const PETS: &str = "id,size,kind,legs,class\n7,1.5,cat,4,b\n8,-2,ant,6,a\n9,0,\"cow, spotted\",4,b\n";

#[test]
fn categories_become_one_feature_each_or_their_place() {
    let file = File::new("pets", PETS);
    let one_hot = TableOptions { ignore: vec!["id".into()], as_categories: vec!["legs".into()], ..file.options() };
    let table = Table::load(&one_hot).unwrap();
    assert_eq!((table.rows(), table.width()), (3, 6));
    assert_eq!(table.feature_names(), ["size", "kind=ant", "kind=cat", "kind=cow, spotted", "legs=4", "legs=6"]);
    let expected = [[1.5, 0.0, 1.0, 0.0, 1.0, 0.0], [-2.0, 1.0, 0.0, 0.0, 0.0, 1.0], [0.0, 0.0, 0.0, 1.0, 1.0, 0.0]];
    assert_eq!(features(&in_file_order(&table)), expected);

    let ordinal = TableOptions { categories: Categories::Ordinal, ..one_hot };
    assert_eq!(Table::load(&ordinal).unwrap().feature_names(), ["size", "kind", "legs"]);
    assert_eq!(plain(&ordinal), [[1.5, 1.0, 0.0], [-2.0, 0.0, 1.0], [0.0, 2.0, 0.0]]);
}

#[test]
fn classes_are_actions_and_so_are_columns_of_rewards() {
    let file = File::new("rewards", PETS);
    let table = Table::load(&file.options()).unwrap();
    assert_eq!(table.actions(), ["a", "b"]);
    assert_eq!((0..3).map(|row| table.class(row).unwrap()).collect::<Vec<_>>(), [1, 0, 1]);
    assert_eq!([table.reward(0, 0), table.reward(0, 1), table.reward(1, 0)], [0.0, 1.0, 1.0]);

    let target = Target::Rewards(vec!["size".into(), "id".into()]);
    let table = Table::load(&TableOptions { target, ..file.options() }).unwrap();
    assert_eq!(table.actions(), ["size", "id"]);
    assert_eq!([table.reward(0, 0), table.reward(0, 1), table.reward(1, 0)], [1.5, 7.0, -2.0]);
    assert_eq!(table.class(0), None);
    assert_eq!(table.feature_names()[3..], ["legs", "class=a", "class=b"]);
}

#[test]
fn last_is_the_last_column_unless_one_has_that_name() {
    let file = File::new("last", "last,x,y\n1,2,3\n2,5,6\n");
    assert_eq!(Table::load(&file.options()).unwrap().feature_names(), ["x", "y"]);
}

#[test]
fn gzipped_files_are_known_by_their_content() {
    let (packed, flat) = (File::new("packed", gzip(PETS)), File::new("flat", PETS));
    assert_eq!(plain(&packed.options()), plain(&flat.options()));
    let print = |file: &File| Table::load(&file.options()).unwrap().fingerprint().to_owned();
    assert_eq!(print(&flat).len(), 32);
    assert_eq!(print(&flat), print(&flat));
    assert_ne!(print(&flat), print(&packed));
}

#[test]
fn other_separators_are_read_when_they_are_named() {
    let file = File::new("separated", "a;b\n1;x\n2;y\n");
    assert_eq!(plain(&TableOptions { separator: ';', ..file.options() }), [[1.0], [2.0]]);
}

#[test]
fn rows_have_length_one_unless_they_are_zero() {
    let file = File::new("unit", "x,y,class\n3,4,a\n0,0,b\n1e-200,-1e-200,a\n1e99,0,b\n");
    let rows = plain(&TableOptions { numbers: Numbers::Unit, ..file.options() });
    let half = 0.5f64.sqrt();
    for (row, expected) in rows.iter().zip([[0.6, 0.8], [0.0, 0.0], [half, -half], [1.0, 0.0]]) {
        assert!(row.iter().zip(expected).all(|(x, y)| (x - y).abs() < 1e-15), "{row:?}");
    }
    let file = File::new("unit-pets", PETS);
    for row in plain(&TableOptions { numbers: Numbers::Unit, ..file.options() }) {
        assert!((row.iter().map(|x| x * x).sum::<f64>() - 1.0).abs() < 1e-15);
    }
}

/// A made-up table of `rows` rows: a number, one that is sometimes missing, a constant, a category, the class.
fn made_up(rows: u32) -> String {
    let line = |i: u32| {
        let x = f64::from(i * 7919 % 1009) * 0.37 + 1e6;
        let y = if i.is_multiple_of(5) { "?".to_owned() } else { (i * i % 83).to_string() };
        let outlier = if i == 170 { "1e9" } else { "2" };
        format!("{x},{y},5,{outlier},{},{}\n", ["u", "v", "w"][i as usize * 5 % 3], i % 2)
    };
    let rows: String = (0..rows).map(line).collect();
    format!("x,y,same,spike,kind,class\n{rows}")
}

#[test]
fn standardised_numbers_are_those_of_the_rounds_so_far() {
    let file = File::new("standard", made_up(300));
    let raw = TableOptions { missing: Missing::Mean, categories: Categories::Ordinal, ..file.options() };
    let table = Table::load(&TableOptions { numbers: Numbers::Standard, ..raw.clone() }).unwrap();
    // The outlier comes late: the first in t rounds is √(t − 1) deviations out.
    let mut order = table.order(Key::new(5));
    order.retain(|row| *row != 170);
    order.insert(250, 170);
    let values: Vec<&[f64]> = order.iter().map(|row| table.numbers(*row)).collect();
    let (standard, means) = (
        features(&Walk::new(table.clone(), order.clone()).unwrap()),
        features(&Walk::new(Table::load(&raw).unwrap(), order.clone()).unwrap()),
    );
    let mut clipped = 0;
    for t in 0..order.len() {
        for column in 0..table.width() {
            let seen: Vec<f64> = values[..=t].iter().map(|row| row[column]).filter(|x| !x.is_nan()).collect();
            let mean = seen.iter().sum::<f64>() / seen.len().max(1) as f64;
            let variance = seen.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / seen.len().max(1) as f64;
            let x = values[t][column];
            let z = if x.is_nan() || variance == 0.0 { 0.0 } else { (x - mean) / variance.sqrt() };
            clipped += usize::from(z.abs() > STANDARD_CLIP);
            let z = z.clamp(-STANDARD_CLIP, STANDARD_CLIP);
            assert!((standard[t][column] - z).abs() < 1e-8, "{t} {column}: {} {z}", standard[t][column]);
            let filled = if x.is_nan() { mean } else { x };
            assert!((means[t][column] - filled).abs() < 1e-9 * (1.0 + filled.abs()), "{t} {column}");
        }
    }
    assert_eq!(clipped, 1);
}

#[test]
fn rounds_do_not_depend_on_which_were_asked_for_before() {
    let file = File::new("access", made_up(200));
    for numbers in [Numbers::Raw, Numbers::Unit, Numbers::Standard] {
        let table = Table::load(&TableOptions { numbers, missing: Missing::Mean, ..file.options() }).unwrap();
        let order = table.order(Key::new(2));
        let walk = Walk::new(table.clone(), order.clone()).unwrap();
        let all = features(&walk);
        std::thread::scope(|scope| {
            for start in 0..3 {
                let (walk, all) = (&walk, &all);
                scope.spawn(move || {
                    let mut out = vec![f64::NAN; 9];
                    for step in 0..200u64 {
                        let t = (start + step * 77) % 200;
                        assert_eq!(walk.features(t + 1, &mut out), walk.row(t + 1));
                        assert_eq!(out, all[t as usize]);
                    }
                });
            }
        });
        // Rounds that come later change nothing.
        let short = Walk::new(table, order[..100].to_vec()).unwrap();
        assert_eq!(features(&short), all[..100]);
        let mut out = vec![1.0];
        assert_eq!((short.features(101, &mut out), short.features(0, &mut out), out.len()), (None, None, 0));
        assert_eq!((short.row(0), short.row(101), short.len(), short.is_empty()), (None, None, 100, false));
    }
}

#[test]
fn the_order_is_one_of_the_key() {
    let file = File::new("order", made_up(50));
    let table = Table::load(&TableOptions { missing: Missing::Mean, ..file.options() }).unwrap();
    let order = table.order(Key::new(1));
    assert_eq!(order, table.order(Key::new(1).purpose(Purpose::Noise)));
    assert_ne!(order, table.order(Key::new(1).trial(1)));
    let mut sorted = order;
    sorted.sort_unstable();
    assert!(sorted.into_iter().eq(0..50));
    let beyond = Walk::new(table, vec![0, 50]).unwrap_err().to_string();
    assert_eq!(beyond, "row of the order = 50 is out of range: the table has 50 rows");
}

const HOLES: &str = "x,kind,note,class\n?,b,,a\n4,NA,,b\n,a,,b\n8,b,,a\n";

#[test]
fn missing_values_become_what_was_said() {
    let file = File::new("holes", HOLES);
    let with = |missing| TableOptions { missing, ignore: vec!["note".into()], ..file.options() };
    assert_eq!(Table::load(&with(Missing::Mean)).unwrap().feature_names(), ["x", "kind=a", "kind=b", "kind=?"]);
    let expected = [[0.0, 0.0, 1.0, 0.0], [4.0, 0.0, 0.0, 1.0], [4.0, 1.0, 0.0, 0.0], [8.0, 0.0, 1.0, 0.0]];
    assert_eq!(plain(&with(Missing::Mean)), expected);
    let ordinal = TableOptions { categories: Categories::Ordinal, ..with(Missing::Mean) };
    assert_eq!(plain(&ordinal), [[0.0, 1.0], [4.0, 2.0], [4.0, 0.0], [8.0, 1.0]]);
    let categories = TableOptions { as_categories: vec!["x".into()], ..with(Missing::Category) };
    assert_eq!(Table::load(&categories).unwrap().feature_names()[..3], ["x=4", "x=8", "x=?"]);

    let file = File::new("dropped", format!("{HOLES}6,c,,b\n1,c,,?\n"));
    let dropped = TableOptions { missing: Missing::Drop, ignore: vec!["note".into()], ..file.options() };
    assert_eq!(Table::load(&dropped).unwrap().feature_names(), ["x", "kind=b", "kind=c"]);
    assert_eq!(plain(&dropped), [[8.0, 1.0, 0.0], [6.0, 0.0, 1.0]]);
}
