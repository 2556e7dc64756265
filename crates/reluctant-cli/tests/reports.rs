//! Reports on folders: two side by side, and those that hold nothing to report on.

#![allow(clippy::unwrap_used, reason = "a test says best what it expects by failing where it is not met")]

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use tempfile::TempDir;

const SPEC: &str = "seed = 5\nrounds = 60\ntrials = 3\n[[environment]]\nkind = \"linear-sphere\"\nlabel = \"plane\"\n\
                    arms = 10\n[[policy]]\nkind = \"oful\"\n[[policy]]\nkind = \"uniform\"\n";

fn reluctant(args: &[&str], dir: &Path) -> Output {
    Command::new(env!("CARGO_BIN_EXE_reluctant")).args(args).current_dir(dir).output().unwrap()
}

fn played() -> TempDir {
    let dir = TempDir::new().unwrap();
    fs::write(dir.path().join("one.toml"), SPEC).unwrap();
    fs::write(dir.path().join("two.toml"), SPEC.replace("kind = \"oful\"", "kind = \"oful\"\nlambda = 5")).unwrap();
    for name in ["one", "two"] {
        let file = format!("{name}.toml");
        assert!(reluctant(&["run", &file, "--out", name], dir.path()).status.success());
    }
    dir
}

fn refused(output: &Output, code: i32, says: &[&str]) {
    let error = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(code), "{error}");
    assert!(!error.contains("panicked") && error.lines().count() == 1, "{error}");
    for part in says {
        assert!(error.contains(part), "'{part}' is not in: {error}");
    }
}

#[test]
fn two_folders_make_one_page() {
    let dir = played();
    let done = reluctant(&["report", "one", "two", "--out", "both.html"], dir.path());
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    assert_eq!(String::from_utf8_lossy(&done.stdout), "wrote both.html\n");
    let page = fs::read_to_string(dir.path().join("both.html")).unwrap();
    assert!(page.contains("compared one by one"), "the same seed and the same environment");
    assert!(page.contains("oful differs: lambda = 0.01 in one, 5.0 in two."));
    assert!(reluctant(&["report", "one", "two"], dir.path()).status.success());
    assert!(dir.path().join("comparison.html").exists());
    refused(
        &reluctant(&["report", "one", "missing"], dir.path()),
        2,
        &["missing holds no results", "no experiment.json"],
    );
}

#[test]
fn a_folder_with_nothing_to_report_on_is_said_in_a_sentence() {
    let dir = played();
    let at = |name: &str| dir.path().join(name);
    fs::create_dir(at("empty")).unwrap();
    refused(
        &reluctant(&["report", "empty"], dir.path()),
        2,
        &["empty holds no results", "there is no experiment.json"],
    );
    assert_eq!(fs::read_dir(at("empty")).unwrap().count(), 0, "nothing is written there");

    fs::create_dir(at("foreign")).unwrap();
    fs::write(at("foreign/experiment.json"), "{\"some\": \"thing\"}").unwrap();
    refused(&reluctant(&["report", "foreign"], dir.path()), 2, &["foreign/experiment.json", "has no format"]);

    fs::create_dir(at("begun")).unwrap();
    fs::copy(at("one/experiment.json"), at("begun/experiment.json")).unwrap();
    refused(
        &reluctant(&["report", "begun"], dir.path()),
        2,
        &["begun holds no results", "no policy has all of its tuning trials"],
    );
    refused(
        &reluctant(&["report", "one.toml"], dir.path()),
        2,
        &["one.toml holds no results", "there is no experiment.json"],
    );
}
