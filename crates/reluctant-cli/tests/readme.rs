//! The experiments that README and guide show run as they stand. A packaged crate comes without those pages, and has
//! nothing to run but its own README's.

use std::fmt::Write;
use std::fs;
use std::path::Path;
use std::process::Command;

/// The first block of TOML on a page; `None` if the page is not there.
fn experiment(page: &str) -> Option<String> {
    let text = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(page)).ok()?;
    let block = text.split("```toml\n").nth(1).and_then(|rest| rest.split("```").next()).expect("a block of TOML");
    Some(block.to_owned())
}

/// Runs the experiment as `mine.toml`, beside a table `mine.csv`, and returns what was printed.
fn run(experiment: &str) -> String {
    let folder = tempfile::tempdir().expect("a folder");
    let mut table = String::from("age,income,bought\n");
    for row in 0..500 {
        let (age, income) = (18 + row * 7 % 60, 10 + row * 13 % 80);
        let bought = if age > 50 { "tea" } else { "coffee" };
        writeln!(table, "{age},{income},{bought}").expect("a text takes any line");
    }
    fs::write(folder.path().join("mine.csv"), table).expect("a table");
    fs::write(folder.path().join("mine.toml"), experiment).expect("an experiment");
    let done = Command::new(env!("CARGO_BIN_EXE_reluctant"))
        .args(["run", "mine.toml", "--out", "results"])
        .current_dir(folder.path())
        .output()
        .expect("the command starts");
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    assert!(folder.path().join("results/report.html").exists());
    String::from_utf8_lossy(&done.stdout).into_owned()
}

#[test]
fn the_readmes_experiment_runs() {
    for page in ["README.md", "../../README.md"] {
        if let Some(experiment) = experiment(page) {
            assert!(run(&experiment).contains("plausible"), "{page}");
        }
    }
}

#[test]
fn the_guides_table_runs() {
    if let Some(experiment) = experiment("../../docs/index.md") {
        assert!(run(&experiment).contains("plausible"));
    }
}
