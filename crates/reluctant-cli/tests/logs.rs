//! `reluctant evaluate` and `reluctant choose`, as they are typed.

#![allow(clippy::unwrap_used, reason = "a test says best what it expects by failing where it is not met")]

use std::path::PathBuf;
use std::process::{Command, Output};

fn folder() -> PathBuf {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("command-logs");
    std::fs::create_dir_all(&folder).unwrap();
    folder
}

fn reluctant(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_reluctant")).args(arguments).current_dir(folder()).output().unwrap()
}

fn said(output: &Output) -> (String, String) {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).replace('\u{202f}', " ");
    (text(&output.stdout), text(&output.stderr))
}

/// A log of a game in which the sign of the context says which action is rewarded, chosen by a fair coin.
fn log(name: &str) -> String {
    let mut text = String::new();
    for i in 0..400u32 {
        let x = f64::from(i % 20) / 10.0 - 0.95;
        let chosen = if i / 20 % 2 == 0 { "left" } else { "right" };
        let reward = u8::from((x > 0.0) == (chosen == "right"));
        text += &format!(
            "{{\"event\":{i},\"context\":[{x},1.0],\"actions\":[\"left\",\"right\"],\"chosen\":\"{chosen}\",\
             \"propensity\":0.5,\"reward\":{reward}}}\n"
        );
    }
    std::fs::write(folder().join(name), text).unwrap();
    name.to_owned()
}

#[test]
fn a_log_is_evaluated_with_a_picture() {
    let output = reluctant(&["evaluate", &log("coin.jsonl"), "--policy", "oful", "--picture", "coin.svg"]);
    let (out, err) = said(&output);
    assert!(output.status.success(), "{err}");
    assert!(out.contains("oful would have earned 1.00") || out.contains("oful would have earned 0.9"), "{out}");
    assert!(out.contains("That is more than the log earned"), "{out}");
    assert!(std::fs::read_to_string(folder().join("coin.svg")).unwrap().contains("reward a round"));
    let output = reluctant(&["evaluate", "coin.jsonl", "--policy", "oful", "--json", "--model", "none"]);
    let json: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(json["verdict"]["recommended"]["estimator"], "snips");
    assert_eq!(json["diagnosis"]["rounds"], 400);
}

#[test]
fn policies_are_ranked() {
    let output = reluctant(&["choose", &log("ranked.jsonl"), "--policy", "uniform", "--policy", "oful"]);
    let (out, err) = said(&output);
    assert!(output.status.success(), "{err}");
    let (best, worst) = (out.find("oful").unwrap(), out.find("uniform").unwrap());
    assert!(best < worst, "{out}");
}

#[test]
fn mistakes_are_one_sentence() {
    log("fine.jsonl");
    std::fs::write(folder().join("bad.jsonl"), "{\"context\":[1],\"actions\":[\"a\"],\"chosen\":\"b\"}\n").unwrap();
    for (arguments, sentence) in [
        (["evaluate", "none.jsonl", "--policy", "oful"], "reluctant: cannot read none.jsonl"),
        (
            ["evaluate", "bad.jsonl", "--policy", "oful"],
            "reluctant: bad.jsonl:1: 'b' was chosen, but was not on offer: a",
        ),
        (["evaluate", "fine.jsonl", "--policy", "ofl"], "reluctant: ofl: unknown policy 'ofl'"),
        (["evaluate", "fine.jsonl", "--policy", "oful:lamda=1"], "reluctant: oful:lamda=1: unknown parameter of oful"),
        (["evaluate", "fine.jsonl", "--policy", "none.json"], "reluctant: cannot read none.json"),
    ] {
        let output = reluctant(&arguments);
        let (_, err) = said(&output);
        assert!(!output.status.success() && err.starts_with(sentence) && err.trim().lines().count() == 1, "{err}");
    }
}
