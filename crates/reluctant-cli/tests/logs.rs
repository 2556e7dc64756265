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
    assert!(out.contains("That is more than what made the log earns on average"), "{out}");
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

/// On the sphere, policies that can choose from it are tried; one that cannot is refused in a sentence.
#[test]
fn policies_for_the_sphere_are_ranked() {
    let mut text = String::new();
    for i in 0..400u32 {
        let (sin, cos) = (f64::from(i) * 2.4).sin_cos();
        text += &format!("{{\"point\":[{cos},{sin}],\"density\":0.15915494309189535,\"reward\":{cos}}}\n");
    }
    std::fs::write(folder().join("sphere.jsonl"), text).unwrap();
    let output = reluctant(&["choose", "sphere.jsonl"]);
    let (out, err) = said(&output);
    assert!(output.status.success(), "{err}");
    assert!(["uniform", "oful", "lin-ts", "ofu-relu"].iter().all(|name| out.contains(name)), "{out}");
    assert!(out.find("oful").unwrap() < out.find("uniform").unwrap(), "{out}");
    let (_, err) = said(&reluctant(&["choose", "sphere.jsonl", "--policy", "gp-ucb"]));
    assert_eq!(
        err.trim(),
        "reluctant: a policy does not fit the log: gp-ucb needs a finite set of arms; it cannot choose from the whole \
         sphere"
    );
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

/// A log with these ends of lines; all rounds choose among `a` and `b`.
fn rounds(name: &str, ends: &[&str], tail: &str) -> String {
    let line = |(i, end): (usize, &&str)| {
        format!("{{\"event\":{},\"context\":[1.0],\"actions\":[\"a\",\"b\"],{end}}}\n", i + 1)
    };
    let text: String = ends.iter().enumerate().map(line).collect();
    std::fs::write(folder().join(name), text + tail).unwrap();
    name.to_owned()
}

const GOOD: &str = "\"chosen\":\"a\",\"propensity\":0.5,\"reward\":1";
const OTHER: &str = "\"chosen\":\"b\",\"propensity\":0.5,\"reward\":0";

#[test]
fn a_bad_line_is_one_sentence_with_its_number() {
    for (end, sentence) in [
        ("\"chosen\":\"a\",\"propensity\":0,\"reward\":1", ":3: the propensity is 0, and what was chosen had"),
        ("\"chosen\":\"a\",\"propensity\":1.5,\"reward\":1", ":3: the propensity is 1.5, and what was chosen had"),
        ("\"chosen\":\"a\",\"reward\":1", ":3: the propensity is missing, and without the probability"),
        ("\"chosen\":\"c\",\"propensity\":0.5,\"reward\":1", ":3: 'c' was chosen, but was not on offer: a, b"),
        ("\"chosen\":\"a\",\"propensity\":0.5,\"reward\":NaN", ":3: NaN or Infinity stands where a finite number"),
        ("\"event\":1,\"chosen\":\"a\",\"propensity\":0.5,\"reward\":1", ":3: this is not a round of a log: duplicate"),
    ] {
        let output =
            reluctant(&["evaluate", &rounds("line.jsonl", &[GOOD, OTHER, end, GOOD], ""), "--policy", "uniform"]);
        let (out, err) = said(&output);
        assert!(!output.status.success() && out.is_empty(), "{out}");
        assert!(err.contains(sentence) && err.trim().lines().count() == 1, "{sentence}: {err}");
    }
    let twice = "{\"event\":1,\"context\":[1.0],\"chosen\":\"a\",\"propensity\":0.5,\"reward\":1}\n";
    let (_, err) =
        said(&reluctant(&["evaluate", &rounds("twice.jsonl", &[GOOD, OTHER], twice), "--policy", "uniform"]));
    assert!(err.contains(":3: the event '1' stands in the log twice"), "{err}");
}

#[test]
fn what_a_log_cannot_tell_is_said() {
    let many = |good: &'static str, count: usize| vec![good; count];
    let told = |log: &str, policy: &str| {
        let output = reluctant(&["evaluate", log, "--policy", policy]);
        let (out, err) = said(&output);
        assert!(output.status.success(), "{err}");
        out
    };
    let one = told(&rounds("one.jsonl", &many(GOOD, 50), ""), "uniform");
    assert!(one.contains("Only one action was ever chosen, in all rounds from line 1 on"), "{one}");
    let ends = [many(GOOD, 30), many(OTHER, 30), many("\"chosen\":\"a\",\"propensity\":0.5", 2)].concat();
    let log = rounds("late.jsonl", &ends, "{\"event\":63,\"cont");
    let late = told(&log, "uniform");
    assert!(late.contains("The rewards of 2 rounds never came (the first on line 61)"), "{late}");
    assert!(late.contains("The last line of the log, line 63, was torn, and is left out."), "{late}");
    let certain = many("\"chosen\":\"a\",\"propensity\":1,\"reward\":1", 40);
    let none = told(&rounds("certain.jsonl", &certain, ""), "uniform");
    assert!(none.contains("This log cannot tell what uniform would have earned: 50"), "{none}");
    assert!(none.contains("(first on line 1)") && !none.contains(" dr "), "{none}");
}

#[test]
fn a_report_is_written_on_request() {
    let log = log("report.jsonl");
    let output = reluctant(&["choose", &log, "--policy", "uniform", "--policy", "oful", "--out", "report"]);
    let (out, err) = said(&output);
    assert!(output.status.success() && out.contains("The report is report/report.html"), "{out} {err}");
    let read = |name: &str| std::fs::read_to_string(folder().join("report").join(name)).unwrap();
    let page = read("report.html");
    let (best, worst) = (page.find("<h2>oful</h2>").unwrap(), page.find("<h2>uniform</h2>").unwrap());
    assert!(best < worst && page.contains("How to read this") && page.matches("<svg").count() == 3);
    assert!(!page.contains("http://") || page.contains("http://www.w3.org"), "the page asks for nothing else");
    assert!(read("ranking.csv").starts_with("policy,estimator,value,low,high,gain"));
    let json: serde_json::Value = serde_json::from_str(&read("summary.json")).unwrap();
    assert_eq!(json[0]["policy"], "uniform");
    assert!(read("ranking.svg").contains("the log") && folder().join("report/ranking.png").exists());
}

#[test]
fn explore_is_another_name_of_chance_in_experiments() {
    // Afresh, because the folder outlives a change of the published bits.
    let _ = std::fs::remove_dir_all(folder().join("explored"));
    let run = |setting: &str, log: &str| {
        let toml = format!(
            "name = \"explored\"\nrounds = 20\ntrials = 1\nlog = \"{log}\"\n[[environment]]\nkind = \"contexts\"\n\
             [[policy]]\nkind = \"oful\"\n{setting}\n"
        );
        std::fs::write(folder().join("explored.toml"), toml).unwrap();
        reluctant(&["run", "explored.toml", "--out", "explored"])
    };
    let first = run("explore = 0.5", "explored-logs");
    assert!(first.status.success(), "{:?}", said(&first));
    let text = std::fs::read_to_string(folder().join("explored-logs/a-oful-0.jsonl")).unwrap();
    assert_eq!(text.lines().count(), 20);
    // The same policy by its other name: the trial is finished already.
    let second = run("chance = 0.5", "other-logs");
    assert!(second.status.success(), "{:?}", said(&second));
    assert!(!folder().join("other-logs/a-oful-0.jsonl").exists());
    let (_, err) = said(&run("chance = 0.5\nexplore = [0.1, 0.2]", "logs"));
    assert!(err.contains("explored.toml:10: explore and chance are two names of one parameter"), "{err}");
}
