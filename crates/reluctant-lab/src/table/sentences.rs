//! The sentence of every error.

use super::tests::{File, gzip};
use super::*;

/// What loading says, with `x.csv` in place of the file's path.
fn complaint(name: &str, bytes: impl AsRef<[u8]>, change: impl FnOnce(&mut TableOptions)) -> String {
    let file = File::new(name, bytes);
    let mut options = file.options();
    change(&mut options);
    let error = Table::load(&options).unwrap_err();
    assert!(error.is_usage());
    error.to_string().replace(&options.file.display().to_string(), "x.csv")
}

#[test]
fn files_that_are_no_tables() {
    let plain = |name, bytes: &[u8]| complaint(name, bytes, |_| {});
    let missing = Table::load(&TableOptions::new("no/such.csv")).unwrap_err().to_string();
    assert_eq!(missing, "no/such.csv: there is no such file");
    let empty = "x.csv: the file is empty; a header with the names of columns and rows are needed";
    assert_eq!(plain("empty", b""), empty);
    assert_eq!(plain("blank", b"\n\n"), empty);
    assert_eq!(plain("bare", b"a,b\n"), "x.csv: the table has a header but no rows; at least one is needed");
    let headless = "x.csv:1: the first line must name the columns, but it holds numbers; put a header above it";
    assert_eq!(plain("headless", b"1.5,2,a\n2,3,b\n"), headless);
    let ragged = "x.csv:3: this line has 3 fields, but the header names 2 columns";
    assert_eq!(plain("ragged", b"a,b\n1,x\n2,y,z\n"), ragged);
    assert_eq!(plain("short", b"a,b\n\n1\n"), "x.csv:3: this line has 1 field, but the header names 2 columns");
    let latin = "x.csv:3: this line is not text in UTF-8; save the file in that encoding";
    assert_eq!(plain("latin", b"a,b\n1,x\n2,caf\xe9\n"), latin);
    assert_eq!(plain("latin-header", b"caf\xe9,b\n1,x\n"), latin.replace(":3:", ":1:"));
    let binary = "x.csv: this is not a CSV file: it holds bytes that are not text in UTF-8";
    assert_eq!(plain("binary", b"a,b\n\0\0"), binary);
    let zip = "x.csv: this is a zip archive or a spreadsheet, not a CSV file; unpack it, or export it as CSV";
    assert_eq!(plain("zip", b"PK\x03\x04..."), zip);
}

#[test]
fn gzipped_data_that_are_torn_or_damaged() {
    let packed = gzip("a,b\n1,x\n2,y\n");
    let torn = "x.csv: the gzipped data are torn: they end too early; copy the file again";
    assert_eq!(complaint("torn", &packed[..packed.len() - 9], |_| {}), torn);
    assert_eq!(complaint("torn-early", &packed[..5], |_| {}), torn);
    let mut damaged = packed.clone();
    let at = damaged.len() - 6;
    damaged[at] ^= 1;
    let said = complaint("damaged", &damaged, |_| {});
    assert!(said.starts_with("x.csv: the gzipped data are damaged: "), "{said}");
}

#[cfg(not(feature = "arrow"))]
#[test]
fn formats_that_this_build_does_not_read() {
    let hint = "which only a build with the feature arrow of reluctant-lab reads; write it as CSV";
    assert_eq!(complaint("parquet", b"PAR1...", |_| {}), format!("x.csv: this is a Parquet file, {hint}"));
    assert_eq!(complaint("arrow", b"ARROW1..", |_| {}), format!("x.csv: this is an Arrow file, {hint}"));
}

#[test]
fn names_of_columns() {
    let text = "age,sex,class\n1,f,a\n2,m,b\n";
    let with = |change: fn(&mut TableOptions)| complaint("names", text, change);
    let class = |name: &str| Target::Class(name.to_owned());
    assert_eq!(
        complaint("class", text, |options| options.target = class("klass")),
        "x.csv: unknown column in class, 'klass'; did you mean 'class'?"
    );
    assert_eq!(
        with(|options| options.ignore = vec!["weight".into()]),
        "x.csv: unknown column in ignore, 'weight'; known are age, sex, class"
    );
    assert_eq!(
        with(|options| options.ignore = vec!["class".into()]),
        "x.csv: column 'class' is named in class and in ignore; it can only be one of them"
    );
    assert_eq!(
        with(|options| options.as_numbers = vec!["age".into(), "age".into()]),
        "x.csv: column 'age' is named twice in as_numbers; once is enough"
    );
    assert_eq!(
        with(|options| options.ignore = vec!["age".into(), "sex".into()]),
        "x.csv: no column is left for features; at least one must be neither rewarded nor ignored"
    );
    assert_eq!(
        with(|options| options.target = Target::Rewards(vec!["age".into()])),
        "x.csv: rewards must name at least two columns, one for each action"
    );
    let plain = |name, text: &str| complaint(name, text, |_| {});
    assert_eq!(plain("twice", "a,b,a\n1,2,3\n"), "x.csv:1: two columns are named 'a'; each needs a name of its own");
    assert_eq!(plain("unnamed", ",a,b\n1,2,3\n"), "x.csv:1: column 1 of 3 has no name; each needs one of its own");
    assert_eq!(
        plain("semicolons", "a;b\n1;x\n"),
        "x.csv:1: the header names a single column, 'a;b'; for fields like these give separator = \"semicolon\""
    );
    assert_eq!(
        with(|options| options.separator = '"'),
        "x.csv: separator = \"\\\"\" must be a mark of ASCII such as \",\", \";\" or \"\\t\""
    );
}

#[test]
fn texts_among_numbers() {
    let text = "age,class\n1,a\n\n\"2\",b\nold,a\n";
    assert_eq!(
        complaint("declared", text, |options| options.as_numbers = vec!["age".into()]),
        "x.csv:5: column 'age' holds the text 'old' where a number is expected"
    );
    assert_eq!(
        complaint("paid", "x,a,b\n1,2,3\n1,2,much\n", |options| {
            options.target = Target::Rewards(vec!["a".into(), "b".into()]);
        }),
        "x.csv:3: column 'b' holds the text 'much' where a number is expected"
    );
    let many: String = (0..30).map(|i| format!("{},{}\n", if i == 20 { "old" } else { "5" }, i % 2)).collect();
    assert_eq!(
        complaint("slip", format!("age,class\n{many}"), |_| {}),
        "x.csv:22: column 'age' holds the text 'old', but numbers in 29 of 30 rows; correct it, or declare the \
         column in as_categories"
    );
    let fine: String = (0..20).map(|i| format!("{},{}\n", if i == 10 { "old" } else { "5" }, i % 2)).collect();
    let fine = File::new("fine", format!("age,class\n{fine}"));
    assert_eq!(Table::load(&fine.options()).unwrap().feature_names(), ["age=5", "age=old"]);
    assert_eq!(
        complaint("huge", "x,class\n1,a\n-1e200,b\n", |_| {}),
        "x.csv:3: column 'x' holds -1e200; numbers may be up to 1e100 in size"
    );
}

#[test]
fn missing_values() {
    let text = "age,sex,class\n1,f,a\n?,m,b\n3,,a\n";
    let with = |missing: Missing| complaint("missing", text, |options| options.missing = missing);
    let numbers = "x.csv:3: the value of column 'age' is missing; say what becomes of such values by missing = \
                   \"drop\" or \"mean\"";
    assert_eq!(with(Missing::Refuse), numbers);
    assert_eq!(with(Missing::Category), numbers);
    assert_eq!(
        complaint("missing-word", text, |options| options.ignore = vec!["age".into()]),
        "x.csv:4: the value of column 'sex' is missing; say what becomes of such values by missing = \"drop\", \
         \"category\" or \"mean\""
    );
    assert_eq!(
        complaint("missing-class", "x,class\n1,a\n2,NaN\n", |options| options.missing = Missing::Mean),
        "x.csv:3: the class in column 'class' is missing; missing may only be \"drop\" here"
    );
    assert_eq!(
        complaint("missing-reward", "x,a,b\n1,2,\n", |options| {
            options.target = Target::Rewards(vec!["a".into(), "b".into()]);
        }),
        "x.csv:2: the reward in column 'b' is missing; missing may only be \"drop\" here"
    );
    assert_eq!(
        complaint("missing-rewards", "x,a,b\n1,2,\n1,2,3\n", |options| {
            options.target = Target::Rewards(vec!["a".into(), "b".into()]);
        }),
        "x.csv:2: the reward in column 'b' is missing; missing may only be \"drop\" here"
    );
    assert_eq!(
        complaint("hollow", "x,y,class\n1,,a\n2,,b\n", |options| options.missing = Missing::Mean),
        "x.csv: column 'y' has no value in any row; leave it out by ignore"
    );
    assert_eq!(
        complaint("all-dropped", "x,y,class\n1,,a\n,2,b\n", |options| options.missing = Missing::Drop),
        "x.csv: missing = \"drop\" leaves no row, since each has a missing value; name columns in ignore, or fill them"
    );
}

#[test]
fn too_many_classes() {
    let rows: String = (0..1001).map(|i| format!("w{i},{i}.5,{}\n", i % 2)).collect();
    let text = format!("word,size,class\n{rows}");
    assert_eq!(
        complaint("many-words", &text, |_| {}),
        "x.csv: column 'word' has 1001 categories, but only up to 1000 can become a feature each; name it in ignore or \
         as_numbers, or give categories = \"ordinal\""
    );
    assert_eq!(
        complaint("many-classes", &text, |options| {
            options.target = Target::Class("size".into());
            options.ignore = vec!["word".into()];
        }),
        "x.csv: column 'size' has 1001 classes, but only up to 1000 can be actions; is it really the class?"
    );
}
