//! The command in a terminal: any width, standard input, completions, the manual, Ctrl-C.

#![allow(clippy::unwrap_used, reason = "a test says best what it expects by failing where it is not met")]

use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use tempfile::TempDir;

const SPEC: &str = "name = \"small\"\nseed = 5\nrounds = 60\ntrials = 3\n[tuning]\ntrials = 2\n[[environment]]\n\
                    kind = \"linear-sphere\"\narms = 10\n[[policy]]\nkind = \"oful\"\nlambda = [0.01, 1]\n\
                    [[policy]]\nkind = \"uniform\"\n";

/// The command in a terminal of so many columns, with `input` on standard input.
fn typed(args: &[&str], dir: &Path, columns: usize, input: &str) -> Output {
    let mut child = Command::new(env!("CARGO_BIN_EXE_reluctant"))
        .args(args)
        .current_dir(dir)
        .env("COLUMNS", columns.to_string())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // A command that does not read it may be gone already.
    let _ = child.stdin.take().unwrap().write_all(input.as_bytes());
    child.wait_with_output().unwrap()
}

fn said(args: &[&str], columns: usize, input: &str) -> String {
    let dir = TempDir::new().unwrap();
    let output = typed(args, dir.path(), columns, input);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

fn errors(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// As it prints at 60 columns. A change of the registry changes it, too.
#[test]
fn one_policy_at_sixty_columns() {
    let text = said(&["list", "plausible"], 60, "");
    let expected = include_str!("list-plausible-60.txt");
    assert_eq!(text, expected, "as it prints now:\n{text}");
}

#[test]
fn lists_fit_any_terminal() {
    for columns in [1, 20, 40, 60, 100] {
        for line in said(&["list"], columns, "").lines() {
            assert!(line.chars().count() <= columns.max(20), "{columns}: {line}");
        }
    }
    // Words stay whole, too.
    assert!(said(&["list", "oful"], 20, "").contains("concatenate,\n"));
    assert!(said(&["list", "linear-sphere"], 80, "").starts_with("linear-sphere: "));
    let one: serde_json::Value = serde_json::from_str(&said(&["list", "oful", "--json"], 80, "")).unwrap();
    assert_eq!((&one["policies"][0]["name"], &one["environments"]), (&"oful".into(), &serde_json::json!([])));
    let unknown = typed(&["list", "ofull"], TempDir::new().unwrap().path(), 80, "");
    assert_eq!(unknown.status.code(), Some(2));
    assert!(errors(&unknown).contains("'ofull'") && errors(&unknown).contains("oful"), "{}", errors(&unknown));
}

/// What a run of SPEC from standard input shows at a width, without what differs from run to run.
fn shown(columns: usize) -> String {
    let text = said(&["run", "-", "--out", "out"], columns, SPEC);
    assert!(text.lines().all(|line| line.chars().count() <= columns), "{text}");
    // Times differ from run to run.
    let masked = text.lines().map(|line| match line.find(" µs/round") {
        Some(at) => {
            format!("{}…{}", line[..at].trim_end_matches(|c: char| c.is_ascii_digit() || c == '.'), &line[at..])
        }
        None => line.to_owned(),
    });
    masked.collect::<Vec<_>>().join("\n") + "\n"
}

#[test]
fn results_at_sixty_columns_and_at_twenty() {
    let text = shown(60);
    let expected = include_str!("results-60.txt");
    assert_eq!(text, expected, "as it prints now:\n{text}");
    assert!(shown(20).contains("uniform\n  mean "));
}

#[test]
fn completions_and_manual_pages_are_written() {
    for (shell, part) in [("bash", "complete -F"), ("zsh", "#compdef reluctant"), ("fish", "complete -c reluctant")] {
        assert!(said(&["completions", shell], 80, "").contains(part), "{shell}");
    }
    let page = said(&["manual"], 80, "");
    assert!(page.contains(".TH reluctant 1") && page.contains("reproduce"), "{page}");
    let run = said(&["manual", "run"], 80, "");
    assert!(run.contains("reluctant\\-run") && run.contains("\\-\\-trials"), "{run}");
    let unknown = typed(&["manual", "rum"], TempDir::new().unwrap().path(), 80, "");
    assert_eq!(unknown.status.code(), Some(2));
    assert!(errors(&unknown).contains("'rum'"), "{}", errors(&unknown));
    assert_eq!(said(&["--version"], 80, ""), format!("reluctant {}\n", env!("CARGO_PKG_VERSION")));
}

#[test]
fn a_run_takes_other_trials_and_rounds_and_gives_json() {
    let dir = TempDir::new().unwrap();
    let output = typed(&["run", "-", "--trials", "2", "--rounds", "40", "--json"], dir.path(), 80, SPEC);
    let value: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let policy = &value["experiments"][0]["policies"][0];
    assert_eq!((&policy["trials"], &policy["rounds"]), (&2.into(), &40.into()));
    // It is another experiment than the file's, and has a folder of its own.
    let folders: Vec<String> = fs::read_dir(dir.path().join("results"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
        .collect();
    assert!(folders.len() == 1 && folders[0].starts_with("small-"), "{folders:?}");
    let wrong = typed(&["run", "-"], dir.path(), 80, "rounds = ");
    assert_eq!(wrong.status.code(), Some(2));
    assert!(errors(&wrong).contains("standard input:1:"), "{}", errors(&wrong));
}

/// 1 + 2·max(0, a) − max(0, b − 3), far from the origin.
fn table() -> String {
    let mut text = "price,warm days,profit\n".to_owned();
    for i in 0..400 {
        let (a, b) = (f64::from(i % 20) - 10.0, f64::from(i / 20) / 2.0);
        text += &format!("{a},{b},{}\n", 1.0 + 2.0 * a.max(0.0) - (b - 3.0).max(0.0));
    }
    text
}

#[test]
fn fit_takes_any_header_an_intercept_and_warns_of_a_bad_fit() {
    let dir = TempDir::new().unwrap();
    let fit = |more: &[&str], input: &str| {
        typed(&[&["fit", "-", "--neurons", "2"][..], more].concat(), dir.path(), 80, input)
    };
    let good = fit(&["--intercept", "--json"], &table());
    let value: serde_json::Value = serde_json::from_slice(&good.stdout).unwrap();
    assert!(value["loss"].as_f64().unwrap() < 1e-12, "{value}");
    assert_eq!((&value["columns"], &value["target"]), (&serde_json::json!(["price", "warm days"]), &"profit".into()));
    assert_eq!(errors(&good), "");
    let bad = fit(&[], &table());
    assert!(bad.status.success());
    assert!(
        errors(&bad).contains("far more than the noise") && errors(&bad).contains("--intercept"),
        "{}",
        errors(&bad)
    );
    assert!(errors(&fit(&["--noise", "100"], &table())).is_empty(), "noise that is known explains it");

    let turned = table().replace("price,warm days,profit", "profit,warm days,price");
    let other = fit(&["--target", "profit", "--json"], &turned);
    let value: serde_json::Value = serde_json::from_slice(&other.stdout).unwrap();
    assert_eq!(value["columns"], serde_json::json!(["warm days", "price"]));
    let missing = fit(&["--target", "loss"], &table());
    assert_eq!(missing.status.code(), Some(2));
    assert!(
        errors(&missing).contains("standard input:1: there is no column 'loss'; there are price, warm days, profit")
    );
}

#[test]
fn fit_says_what_is_odd_about_columns() {
    let dir = TempDir::new().unwrap();
    let rows: String = (0..12).map(|i| format!("{i},7,{}\n", i / 2)).collect();
    let output = typed(&["fit", "-", "--neurons", "1", "--signs", "free"], dir.path(), 80, &rows);
    assert!(output.status.success() && errors(&output).contains("column 'x2' is the same in every row"));
    let flat: String = (0..12).map(|i| format!("{i},{},3\n", i % 5)).collect();
    let output = typed(&["fit", "-", "--neurons", "1"], dir.path(), 80, &flat);
    assert!(errors(&output).contains("the rewards, column 'y', are all the same"), "{}", errors(&output));
}

#[cfg(unix)]
#[test]
fn an_interrupt_says_how_to_go_on() {
    let dir = TempDir::new().unwrap();
    // Long enough to be interrupted: hours.
    let long = SPEC.replace("rounds = 60", "rounds = 100000").replace("trials = 3", "trials = 5000");
    fs::write(dir.path().join("long.toml"), long).unwrap();
    let mut child = Command::new(env!("CARGO_BIN_EXE_reluctant"))
        .args(["run", "long.toml", "--out", "out"])
        .current_dir(dir.path())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let results = dir.path().join("out/results.jsonl");
    while fs::metadata(&results).map_or(0, |file| file.len()) == 0 {
        assert!(child.try_wait().unwrap().is_none());
        std::thread::yield_now();
    }
    let asked = Command::new("kill").args(["-INT", &child.id().to_string()]).status();
    let asked = asked.is_ok_and(|status| status.success());
    if !asked {
        child.kill().unwrap();
    }
    let output = child.wait_with_output().unwrap();
    assert!(asked, "there is no program `kill`");
    let said = errors(&output);
    assert_eq!(output.status.code(), Some(130), "{said}");
    assert!(said.contains("kept in out: the same command goes on from there"), "{said}");
    // It names the report only where that has something to show.
    let shown = Command::new(env!("CARGO_BIN_EXE_reluctant")).args(["report", "out"]).current_dir(dir.path()).output();
    assert_eq!(said.contains("`reluctant report out`"), shown.unwrap().status.success(), "{said}");
}
