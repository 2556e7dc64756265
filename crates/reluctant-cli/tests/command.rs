//! The command as a stranger uses it: what it prints, what it writes, how it fails.

#![allow(clippy::unwrap_used, reason = "a test says best what it expects by failing where it is not met")]

use std::fs;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use tempfile::TempDir;

/// Two environments, a policy with a grid, one without, and one that a theorem is about; a second of work at most.
const SPEC: &str = r#"
name = "small"
seed = 5
rounds = 120
trials = 6

[tuning]
trials = 2

[[environment]]
kind = "relu-sphere"
neurons = 2
arms = 25

[[environment]]
kind = "linear-sphere"
label = "linear"
dim = 3
arms = 25

[[policy]]
kind = "oful"
lambda = [0.01, 1]

[[policy]]
kind = "uniform"

[[policy]]
kind = "ofu-relu"
neurons = 2
"#;

fn reluctant(args: &[&str], dir: &Path) -> Output {
    Command::new(env!("CARGO_BIN_EXE_reluctant")).args(args).current_dir(dir).output().unwrap()
}

fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

/// Asserts that the command failed with `code` and one sentence that holds every part of `says`.
fn refused(output: &Output, code: i32, says: &[&str]) {
    let error = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(code), "{error}");
    assert!(!error.contains("panicked"), "{error}");
    for part in says {
        assert!(error.contains(part), "'{part}' is not in: {error}");
    }
}

/// Every output that holds no timings.
fn timeless(dir: &Path) -> Vec<(String, Vec<u8>)> {
    let tables = ["curves.csv", "trials.csv"];
    let figures =
        ["regret.svg", "regret.png", "regret-log.svg", "regret-log.png", "regret-bound.svg", "regret-bound.png"];
    let names = tables.into_iter().chain(figures);
    names.map(|name| (name.to_owned(), fs::read(dir.join(name)).unwrap())).collect()
}

/// summary.json without its timings.
fn summary(dir: &Path) -> serde_json::Value {
    let mut value: serde_json::Value = serde_json::from_slice(&fs::read(dir.join("summary.json")).unwrap()).unwrap();
    for experiment in value["experiments"].as_array_mut().unwrap() {
        for policy in experiment["policies"].as_array_mut().unwrap() {
            let policy = policy.as_object_mut().unwrap();
            policy.remove("seconds_per_trial").unwrap();
            policy.remove("microseconds_per_round").unwrap();
        }
    }
    value
}

fn workplace() -> TempDir {
    let dir = TempDir::new().unwrap();
    fs::write(dir.path().join("small.toml"), SPEC).unwrap();
    dir
}

#[test]
fn a_run_writes_every_output_and_a_report_rebuilds_it() {
    let dir = workplace();
    let run = reluctant(&["run", "small.toml", "--out", "out"], dir.path());
    assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
    assert!(stdout(&run).contains("oful"));
    let out = dir.path().join("out");
    let (files, numbers) = (timeless(&out), summary(&out));
    let experiments = numbers["experiments"].as_array().unwrap();
    assert_eq!(experiments.len(), 2);
    for experiment in experiments {
        assert!(experiment["name"].is_string() && experiment["environment"]["kind"].is_string());
        let oful = &experiment["policies"][0];
        assert_eq!((&oful["name"], &oful["trials"], &oful["rounds"]), (&"oful".into(), &6.into(), &120.into()));
        assert!(oful["tuned"]["lambda"].is_number());
        let regret = &oful["regret"];
        for field in ["mean", "median", "q10", "q90", "linear_share"] {
            assert!(regret[field].is_number(), "{field}");
        }
        assert!(regret["ci95"][0].as_f64() <= regret["mean"].as_f64());
        assert!(oful["regret"]["mean"].as_f64() < experiment["policies"][1]["regret"]["mean"].as_f64());
    }
    for name in ["summary.json", "curves.csv", "trials.csv", "regret.svg", "regret.png", "report.html"] {
        fs::remove_file(out.join(name)).unwrap();
    }
    assert!(reluctant(&["report", "out"], dir.path()).status.success());
    assert_eq!(files, timeless(&out));
    assert_eq!(numbers, summary(&out));
}

#[test]
fn the_report_on_an_unfinished_run_says_what_is_missing() {
    let dir = workplace();
    assert!(reluctant(&["run", "small.toml", "--out", "out"], dir.path()).status.success());
    let complete = reluctant(&["report", "out"], dir.path());
    assert!(!String::from_utf8_lossy(&complete.stderr).contains("unfinished"));
    let out = dir.path().join("out");
    let results = out.join("results.jsonl");
    let text = fs::read_to_string(&results).unwrap();
    let report = |keep: &dyn Fn(&str) -> bool| {
        let kept: String = text.lines().filter(|line| keep(line)).map(|line| line.to_owned() + "\n").collect();
        fs::write(&results, kept).unwrap();
        let report = reluctant(&["report", "out"], dir.path());
        assert!(report.status.success());
        assert!(String::from_utf8_lossy(&report.stderr).contains("this experiment is unfinished"));
        let page = fs::read_to_string(out.join("report.html")).unwrap();
        (stdout(&report), page)
    };
    let is = |line: &str, policy: &str, stage: &str| line.contains(&format!("\"{policy}\",\"stage\":\"{stage}\""));

    let (table, page) = report(&|line| !(is(line, "uniform", "reported") && line.contains("\"trial\":3,")));
    for said in [&table, &page] {
        assert!(said.contains("d = 2, k = 2, unfinished: 5 to 6 of 6 trials of 120 rounds"), "{said}");
        assert!(said.contains("uniform: 5 of 6 trials; 1 missing"), "{said}");
    }
    assert_eq!(summary(&out)["experiments"][1]["policies"][1]["planned_trials"], 6);

    let (table, page) = report(&|line| !is(line, "oful", "tuning"));
    for said in [&table, &page] {
        assert!(said.contains("oful: left out, as 4 of its 4 tuning trials are missing"), "{said}");
    }
    assert_eq!(summary(&out)["experiments"][0]["left_out"][0]["name"], "oful");

    let (table, _) = report(&|line| !is(line, "uniform", "reported"));
    assert!(table.contains("uniform: left out, as none of its trials is finished"), "{table}");
}

#[test]
fn results_do_not_depend_on_the_number_of_threads() {
    let dir = workplace();
    for threads in ["1", "2", "5"] {
        let run = reluctant(&["run", "small.toml", "--out", threads, "--threads", threads], dir.path());
        assert!(run.status.success());
    }
    let one = dir.path().join("1");
    for threads in ["2", "5"] {
        let other = dir.path().join(threads);
        assert_eq!(timeless(&one), timeless(&other));
        assert_eq!(summary(&one), summary(&other));
    }
}

/// Kills a run with SIGKILL again and again, at moments that depend on how far it has come, until it gets through.
#[test]
#[cfg(unix)]
fn a_run_that_is_killed_resumes_to_the_same_bytes() {
    let dir = workplace();
    assert!(reluctant(&["run", "small.toml", "--out", "whole"], dir.path()).status.success());
    let results = dir.path().join("killed/results.jsonl");
    let size = || fs::metadata(&results).map_or(0, |file| file.len());
    let mut kills = 0;
    for step in [1u64, 900, 5_000, 20_000] {
        let from = size();
        let mut child = Command::new(env!("CARGO_BIN_EXE_reluctant"))
            .args(["run", "small.toml", "--out", "killed", "--threads", "2"])
            .current_dir(dir.path())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        // Busy waiting, so that the kill lands as near as it can to the moment when the file has grown by `step`.
        while size() < from + step && child.try_wait().unwrap().is_none() {
            std::thread::yield_now();
        }
        child.kill().unwrap();
        kills += u32::from(!child.wait().unwrap().success());
    }
    assert!(kills > 0);
    // A write that the machine's crash cut in half.
    let torn = r#"{"format":1,"id":"0123","pol"#;
    let text = fs::read_to_string(&results).unwrap();
    fs::write(&results, text + torn).unwrap();
    let resumed = reluctant(&["run", "small.toml", "--out", "killed"], dir.path());
    assert!(resumed.status.success());
    assert!(String::from_utf8_lossy(&resumed.stderr).contains("torn"));
    let (whole, killed) = (dir.path().join("whole"), dir.path().join("killed"));
    assert_eq!(timeless(&whole), timeless(&killed));
    assert_eq!(summary(&whole), summary(&killed));
    let lines = |dir: &Path| {
        let text = fs::read_to_string(dir.join("results.jsonl")).unwrap();
        let mut ids: Vec<String> = text.lines().map(|line| line.split(',').nth(1).unwrap().to_owned()).collect();
        ids.sort();
        ids
    };
    assert_eq!(lines(&whole), lines(&killed));
}

#[test]
fn another_experiment_in_the_same_folder_is_refused_and_loses_nothing() {
    let dir = workplace();
    assert!(reluctant(&["run", "small.toml", "--out", "out"], dir.path()).status.success());
    let before = fs::read(dir.path().join("out/results.jsonl")).unwrap();
    fs::write(dir.path().join("other.toml"), SPEC.replace("seed = 5", "seed = 6").replace("trials = 6", "trials = 2"))
        .unwrap();
    let other = reluctant(&["run", "other.toml", "--out", "out"], dir.path());
    refused(&other, 2, &["out holds the results of another experiment (it has seed = 5, not 6)", "--fresh"]);
    assert_eq!(before, fs::read(dir.path().join("out/results.jsonl")).unwrap());
    assert!(reluctant(&["run", "other.toml", "--out", "out", "--fresh"], dir.path()).status.success());
}

/// What was played for three trials serves six, and the results are those of six from the start.
#[test]
fn more_trials_of_the_same_experiment_are_added_to_those_played() {
    let dir = workplace();
    assert!(reluctant(&["run", "small.toml", "--out", "whole"], dir.path()).status.success());
    let run = |trials| reluctant(&["run", "small.toml", "--out", "grown", "--trials", trials], dir.path());
    assert!(run("3").status.success());
    let before = fs::read_to_string(dir.path().join("grown/results.jsonl")).unwrap();
    assert!(run("6").status.success());
    let after = fs::read_to_string(dir.path().join("grown/results.jsonl")).unwrap();
    assert!(after.starts_with(&before) && after.len() > before.len());
    let curves = |out: &str| fs::read(dir.path().join(out).join("curves.csv")).unwrap();
    assert_eq!(curves("whole"), curves("grown"));
    refused(&run("3"), 2, &["grown holds the results of another experiment (it has trials = 6, not 3)"]);
}

#[test]
fn files_that_are_not_of_an_experiment_are_left_alone() {
    let dir = workplace();
    let out = dir.path().join("out");
    for file in ["curves.csv", "report.html", "regret-bound.svg", "results.jsonl", "experiment.json"] {
        fs::create_dir(&out).unwrap();
        fs::write(out.join(file), "{\"mine\": 1}\n").unwrap();
        for fresh in [&[][..], &["--fresh"]] {
            let run = reluctant(&[&["run", "small.toml", "--out", "out"], fresh].concat(), dir.path());
            refused(&run, 2, &[&format!("out holds no experiment, but a file {file} that"), "move that file away"]);
            assert_eq!(fs::read_dir(&out).unwrap().count(), 1, "nothing is added");
            assert_eq!(fs::read_to_string(out.join(file)).unwrap(), "{\"mine\": 1}\n");
        }
        fs::remove_dir_all(&out).unwrap();
    }
    // Files of other names are nobody's business, and what a run wrote is its own.
    fs::create_dir(&out).unwrap();
    fs::write(out.join("notes.txt"), "mine").unwrap();
    fs::write(out.join(".lock"), "mine").unwrap();
    assert!(reluctant(&["run", "small.toml", "--out", "out"], dir.path()).status.success());
    fs::remove_file(out.join("experiment.json")).unwrap();
    refused(
        &reluctant(&["run", "small.toml", "--out", "out"], dir.path()),
        2,
        &["has a results.jsonl but no", "--fresh"],
    );
    assert!(reluctant(&["run", "small.toml", "--out", "out", "--fresh"], dir.path()).status.success());
    assert!(reluctant(&["run", "small.toml", "--out", "out"], dir.path()).status.success());
    for file in ["notes.txt", ".lock"] {
        assert_eq!(fs::read_to_string(out.join(file)).unwrap(), "mine");
    }
}

#[test]
fn every_mistake_in_a_file_is_named_with_its_line() {
    let dir = TempDir::new().unwrap();
    let cases: &[(&str, &str, &[&str])] = &[
        ("kind = \"oful\"", "kind = \"ofull\"", &["bad.toml:22: unknown policy 'ofull'; did you mean 'oful'?"]),
        ("kind = \"relu-sphere\"", "kind = \"relu\"", &["bad.toml:11: unknown environment 'relu'"]),
        (
            "lambda = [0.01, 1]",
            "lamda = 1",
            &["bad.toml:23: unknown parameter of oful 'lamda'; did you mean 'lambda'?"],
        ),
        (
            "lambda = [0.01, 1]",
            "lambda = [0.01, -1]",
            &["bad.toml:23: lambda = -1 is out of range: a number greater than 0"],
        ),
        ("lambda = [0.01, 1]", "lambda = []", &["bad.toml:23: the list of lambda is empty"]),
        ("lambda = [0.01, 1]", "lambda = nan", &["bad.toml:23: lambda = NaN is out of range"]),
        ("lambda = [0.01, 1]", "lambda = \"big\"", &["bad.toml:23: lambda must be a number greater than 0"]),
        ("lambda = [0.01, 1]", "lambda = {a = 1}", &["bad.toml:23: lambda must be a number, a word or true/false"]),
        ("neurons = 2", "neurons = 0", &["bad.toml:12: neurons = 0 is out of range: a whole number from 1 to 64"]),
        ("neurons = 2", "neurons = [2, 3]", &["bad.toml:12: neurons of an environment must be one value"]),
        ("dim = 3", "dim = 1", &["bad.toml:18: dim = 1 is out of range: a whole number from 2 to 1000"]),
        ("rounds = 120", "rounds = 0", &["bad.toml:4: rounds = 0 is out of range: a whole number from 1 to"]),
        ("rounds = 120", "rounds = -3", &["bad.toml:4: rounds = -3 is out of range"]),
        (
            "rounds = 120",
            "rounds = \"20\"",
            &["bad.toml:4: rounds must be a whole number from 1 to 1000000000, not the text '20'"],
        ),
        ("rounds = 120", "rounds = 1.5", &["bad.toml:4: rounds = 1.5 is out of range: a whole number from 1 to"]),
        (
            "rounds = 120",
            "rounds = [20]",
            &["bad.toml:4: rounds must be a whole number from 1 to 1000000000, not a list"],
        ),
        (
            "trials = 6",
            "trials = true",
            &["bad.toml:5: trials must be a whole number from 1 to 1000000, not the truth"],
        ),
        ("seed = 5", "seed = \"7\"", &["bad.toml:3: seed must be a whole number, at least 0, not the text '7'"]),
        ("trials = 6", "trails = 6", &["bad.toml:5: unknown key of the experiment 'trails'; did you mean 'trials'?"]),
        ("seed = 5", "seed = ", &["bad.toml:3: this is not TOML"]),
        ("label = \"linear\"", "label = \"a\"", &["two of the environment tables have the label 'a'"]),
        ("kind = \"uniform\"", "label = \"x\"", &["kind of this policy is missing"]),
        ("[tuning]\ntrials = 2", "tuning = 3", &["tuning must be a table"]),
        (
            "arms = 25\n\n[[policy]]\nkind = \"oful\"\nlambda = [0.01, 1]",
            "actions = \"sphere\"\n\n[[policy]]\nkind = \"neural-ucb\"",
            &["in linear, neural-ucb needs a finite set of arms; it cannot choose from the whole sphere"],
        ),
    ];
    for (from, to, says) in cases {
        let spec = SPEC.replacen(from, to, 1);
        assert_ne!(spec, SPEC, "{from}");
        fs::write(dir.path().join("bad.toml"), spec).unwrap();
        refused(&reluctant(&["run", "bad.toml", "--out", "out"], dir.path()), 2, says);
        assert!(!dir.path().join("out").exists());
    }
    fs::write(dir.path().join("bad.toml"), "").unwrap();
    refused(&reluctant(&["run", "bad.toml"], dir.path()), 2, &["bad.toml: environment is missing"]);
    refused(&reluctant(&["run", "none.toml"], dir.path()), 1, &["cannot read none.toml"]);
}

#[test]
fn a_whole_number_may_be_written_as_a_float() {
    let read = |text: &str| {
        reluctant_lab::Experiment::parse(text, Path::new("floats.toml"), &reluctant_lab::registry()).unwrap()
    };
    let floats = SPEC.replace("seed = 5", "seed = 5.0").replace("rounds = 120", "rounds = 1.2e2");
    assert_eq!(read(&floats.replace("trials = 6", "trials = 6.0")), read(SPEC));
}

#[test]
fn results_that_cannot_be_read_are_refused_and_kept() {
    let dir = workplace();
    assert!(reluctant(&["run", "small.toml", "--out", "out"], dir.path()).status.success());
    let path = dir.path().join("out/results.jsonl");
    let good = fs::read_to_string(&path).unwrap();
    let second = good.lines().nth(1).unwrap();
    for (bad, says) in [
        (good.replacen(second, "garbage", 1), "results.jsonl:2: this line is not a finished trial"),
        (good.replacen(second, &second.replace("\"format\":1", "\"format\":9"), 1), "this was written in format 9"),
    ] {
        fs::write(&path, &bad).unwrap();
        refused(&reluctant(&["run", "small.toml", "--out", "out"], dir.path()), 2, &[says]);
        refused(&reluctant(&["report", "out"], dir.path()), 2, &[says]);
        assert_eq!(fs::read_to_string(&path).unwrap(), bad);
    }
    refused(&reluctant(&["report", "."], dir.path()), 2, &["holds no results: there is no experiment.json"]);
    refused(&reluctant(&["report", "nowhere"], dir.path()), 2, &["nowhere holds no results"]);
}

#[test]
fn what_would_not_fit_in_memory_is_refused_before_it_starts() {
    let dir = TempDir::new().unwrap();
    let cases = [
        ("arms = 25", "arms = 10_000_000\ndim = 1000", "at most 20000000 numbers a round"),
        (
            "kind = \"oful\"\nlambda = [0.01, 1]",
            "kind = \"neural-ucb\"\nwidth = 10000\nmatrix = \"full\"",
            "the number of features",
        ),
        ("trials = 6", "trials = 1000000", "trials, tuning included; at most 1000000 are allowed"),
    ];
    for (from, to, says) in cases {
        let spec = SPEC.replacen(from, to, 1);
        assert_ne!(spec, SPEC, "{from}");
        fs::write(dir.path().join("bad.toml"), spec).unwrap();
        refused(&reluctant(&["run", "bad.toml"], dir.path()), 2, &[says]);
    }
    let header: Vec<String> = (1..=1000).map(|i| format!("x{i}")).collect();
    let row = vec!["0.5"; 1001].join(",");
    fs::write(dir.path().join("wide.csv"), format!("{},y\n{row}\n{row}\n", header.join(","))).unwrap();
    refused(
        &reluctant(&["fit", "wide.csv", "--neurons", "64"], dir.path()),
        2,
        &["neurons times dimension at most 4000"],
    );
}

#[test]
fn results_of_another_behaviour_are_not_mixed_in() {
    let dir = workplace();
    assert!(reluctant(&["run", "small.toml", "--out", "out"], dir.path()).status.success());
    let path = dir.path().join("out/experiment.json");
    let text = fs::read_to_string(&path).unwrap();
    let version = concat!("\"version\": \"", env!("CARGO_PKG_VERSION"), "\"");
    let behaviour = format!("\"behaviour\": {}", reluctant::BEHAVIOUR);
    assert!(text.contains(version) && text.contains(&behaviour));
    // Another version that plays to the same bits may go on.
    let newer = text.replace(version, "\"version\": \"0.0.9\"");
    fs::write(&path, &newer).unwrap();
    assert!(reluctant(&["run", "small.toml", "--out", "out"], dir.path()).status.success());
    fs::write(&path, newer.replace(&behaviour, "\"behaviour\": 999")).unwrap();
    let run = reluctant(&["run", "small.toml", "--out", "out"], dir.path());
    refused(&run, 2, &["they were played by version 0.0.9, whose results differ in their bits", "--fresh"]);
    assert!(reluctant(&["report", "out"], dir.path()).status.success());
}

#[test]
fn two_runs_do_not_write_to_one_folder() {
    let dir = workplace();
    fs::create_dir(dir.path().join("out")).unwrap();
    let held = fs::File::create(dir.path().join("out/.lock")).unwrap();
    held.lock().unwrap();
    refused(&reluctant(&["run", "small.toml", "--out", "out"], dir.path()), 1, &["another run is writing to out"]);
    held.unlock().unwrap();
    assert!(reluctant(&["run", "small.toml", "--out", "out"], dir.path()).status.success());
}

#[test]
fn an_output_that_cannot_be_written_is_a_failure() {
    let dir = workplace();
    fs::write(dir.path().join("file"), "").unwrap();
    refused(
        &reluctant(&["run", "small.toml", "--out", "file/out"], dir.path()),
        1,
        &["cannot make the folder file/out"],
    );
}

#[test]
fn reproduce_takes_its_options() {
    let dir = TempDir::new().unwrap();
    let args = ["reproduce", "--panel", "a", "--trials", "2", "--rounds", "30", "--noise", "0.05", "--threads", "2"];
    let run = reluctant(&args, dir.path());
    assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
    let folders: Vec<_> =
        fs::read_dir(dir.path().join("results")).unwrap().map(|entry| entry.unwrap().path()).collect();
    assert_eq!(folders.len(), 1);
    let experiment = &summary(&folders[0])["experiments"][0];
    assert_eq!(experiment["environment"]["sigma"], 0.05);
    assert_eq!(experiment["policies"].as_array().unwrap().len(), 5);
    refused(&reluctant(&["reproduce", "--noise", "-1"], dir.path()), 2, &["sigma = -1 is out of range"]);
    refused(&reluctant(&["reproduce", "--trials", "0"], dir.path()), 2, &["--trials"]);
    refused(&reluctant(&["reproduce", "--panel", "c"], dir.path()), 2, &["--panel"]);
}

#[test]
fn the_oracle_plays_where_a_constant_is_added_to_every_reward() {
    let dir = TempDir::new().unwrap();
    let environment = "kind = \"linear-sphere\"\narms = 20\noffset = 2.0";
    let spec = format!("rounds = 20\ntrials = 2\n[environment]\n{environment}\n[policy]\nkind = \"oracle\"\n");
    fs::write(dir.path().join("offset.toml"), spec).unwrap();
    let run = reluctant(&["run", "offset.toml", "--out", "out"], dir.path());
    assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
    let regret = &summary(&dir.path().join("out"))["experiments"][0]["policies"][0]["regret"]["mean"];
    assert!(regret.as_f64().unwrap().abs() < 1e-12);
}

/// y = max(0, x1) + max(0, x2) on 40 points of the circle.
fn two_neurons() -> String {
    let mut text = "x1,x2,y\n".to_owned();
    for i in 0..40 {
        let (sin, cos) = (f64::from(i) * 0.157).sin_cos();
        text += &format!("{cos},{sin},{}\n", cos.max(0.0) + sin.max(0.0));
    }
    text
}

#[test]
fn fit_recovers_a_network_from_a_file() {
    let dir = TempDir::new().unwrap();
    fs::write(dir.path().join("data.csv"), two_neurons()).unwrap();
    let fit = reluctant(&["fit", "data.csv", "--neurons", "2", "--json"], dir.path());
    let value: serde_json::Value = serde_json::from_str(&stdout(&fit)).unwrap();
    assert!(value["loss"].as_f64().unwrap() < 1e-20);
    let mut firsts: Vec<f64> = (0..2).map(|i| value["neurons"][i][0].as_f64().unwrap()).collect();
    firsts.sort_by(f64::total_cmp);
    assert!(firsts[0].abs() < 1e-8 && (firsts[1] - 1.0).abs() < 1e-8);
    let text = stdout(&reluctant(&["fit", "data.csv", "--neurons", "2"], dir.path()));
    assert!(text.contains("restarts reached it") && text.contains("neuron 2"));
}

#[test]
fn bad_data_is_named_with_its_line() {
    let dir = TempDir::new().unwrap();
    let cases = [
        ("", "data.csv: there are no rows of data"),
        ("a,b,y\n1,2,3\n", "data.csv: there is one row of data: a fit needs at least two"),
        ("a,y\r\n1,2\r\n3,x\r\n", "data.csv:3: y must be a finite number"),
        ("a\n1\n2\n", "data.csv:1: there must be at least 2 columns, the last for the reward, not 1"),
        ("some words\nand more, of them\n", "data.csv:1: there must be at least 2 columns"),
        ("some, words\nand, more\n", "data.csv:2: some must be a finite number of at most 1e100 in size, not 'and'"),
        ("x1,x2,y\n", "there are no rows of data"),
        ("x1,x2,y\n1,2,3\n1,2\n", "data.csv:3: this row has 2 numbers, but the header has 3"),
        ("x1,x2,y\n1,NaN,3\n", "data.csv:2: x2 must be a finite number of at most 1e100 in size, not 'NaN'"),
        ("x1,x2,y\n1,2,inf\n", "data.csv:2: y must be a finite number of at most 1e100 in size, not 'inf'"),
        ("x1,x2,y\n1,2,1e300\n", "data.csv:2: y must be a finite number of at most 1e100 in size, not '1e300'"),
        ("x1,x2,y\n1,two,3\n", "data.csv:2: x2 must be a finite number of at most 1e100 in size, not 'two'"),
        ("x1,y\n1,2\n2,3\n", "dim = 1 is out of range"),
    ];
    for (text, says) in cases {
        fs::write(dir.path().join("data.csv"), text).unwrap();
        refused(&reluctant(&["fit", "data.csv", "--neurons", "2"], dir.path()), 2, &[says]);
    }
    refused(&reluctant(&["fit", "none.csv", "--neurons", "2"], dir.path()), 1, &["cannot read none.csv"]);
    refused(&reluctant(&["fit", "data.csv", "--neurons", "0"], dir.path()), 2, &["--neurons"]);
}

#[test]
fn inspect_shows_the_geometry_of_a_network() {
    let dir = TempDir::new().unwrap();
    fs::write(dir.path().join("theta.csv"), "x1,x2\n1,0\n0.6,0.8\n-0.6,0.8\n").unwrap();
    let output = reluctant(&["inspect", "theta.csv", "--json"], dir.path());
    let value: serde_json::Value = serde_json::from_str(&stdout(&output)).unwrap();
    // All three are active at the best action, (1, 1.6) scaled to unit length.
    assert!((value["f_star"].as_f64().unwrap() - 3.56f64.sqrt()).abs() < 1e-12);
    assert!((value["alpha0"].as_f64().unwrap() - 0.8f64.sqrt()).abs() < 1e-12);
    assert_eq!((&value["cells"], &value["exact"]), (&6.into(), &true.into()));
    assert!(stdout(&reluctant(&["inspect", "theta.csv"], dir.path())).contains("active  neurons 1, 2, 3 of 3"));
}

#[test]
fn bad_networks_are_named_with_their_line() {
    let dir = TempDir::new().unwrap();
    let inspect = |text: &str, extra: &[&str]| {
        fs::write(dir.path().join("theta.csv"), text).unwrap();
        reluctant(&[&["inspect", "theta.csv"], extra].concat(), dir.path())
    };
    refused(&inspect("1,0\n0,2\n", &[]), 2, &["theta.csv:2: this neuron has length 2.000000, not 1; give --normalise"]);
    assert!(inspect("1,0\n0,2\n", &["--normalise"]).status.success());
    refused(&inspect("1,0\n0,0\n", &["--normalise"]), 2, &["theta.csv:2: this neuron is zero"]);
    refused(&inspect("1\n-1\n", &[]), 2, &["at least 2 coordinates"]);
    refused(&inspect("1,0\n0,1,0\n", &[]), 2, &["theta.csv:2: this row has 3 numbers, but the first has 2"]);
    refused(
        &inspect("1,0\n0,inf\n", &[]),
        2,
        &["theta.csv:2: number 2 must be a finite number of at most 1e100 in size, not 'inf'"],
    );
    refused(&inspect("", &[]), 2, &["there are no rows of numbers"]);
    refused(&inspect(&"1,0\n".repeat(65), &[]), 2, &["neurons = 65 is out of range: 1 to 64"]);
    let opposite = inspect("1,0\n-1,0\n", &[]);
    assert!(stdout(&opposite).contains("alpha0  0: two neurons are equal or opposite"));
    // Too many cells for the exact method: a lower bound, and it says so.
    let number = |i: u32| f64::from(i.wrapping_mul(2_654_435_761) >> 16) - 32_768.0;
    let row = |i: u32| (0..12).map(|j| number(12 * i + j + 1).to_string()).collect::<Vec<_>>().join(",");
    let many: String = (0..40).map(|i| row(i) + "\n").collect();
    assert!(stdout(&inspect(&many, &["--normalise"])).contains("a lower bound: there are too many cells"));
    refused(&reluctant(&["inspect", "none.csv"], dir.path()), 1, &["cannot read none.csv"]);
}

#[test]
fn theory_gives_each_quantity_with_its_meaning() {
    let dir = TempDir::new().unwrap();
    let args = ["theory", "--dim", "2", "--neurons", "3", "--sigma", "0.1", "--nu", "0.3", "--alpha0", "0.5"];
    let text = stdout(&reluctant(&args, dir.path()));
    assert!(text.contains("t₀(ν) = 10^41.49") && text.contains("eq:t0max"));
    let json = stdout(&reluctant(&[&args[..], &["--json"]].concat(), dir.path()));
    let value: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert!(value["quantities"].as_array().unwrap().iter().all(|q| q["meaning"].is_string()));
    for (flag, bad) in
        [("--dim", "1"), ("--neurons", "0"), ("--sigma", "-1"), ("--sigma", "nan"), ("--nu", "2"), ("--delta", "1")]
    {
        let mut args = args.to_vec();
        match args.iter().position(|arg| *arg == flag) {
            Some(at) => args[at + 1] = bad,
            None => args.extend([flag, bad]),
        }
        refused(&reluctant(&args, dir.path()), 2, &["is out of range"]);
    }
    let degenerate = ["theory", "--dim", "2", "--neurons", "3", "--sigma", "0.1", "--alpha0", "0"];
    assert!(stdout(&reluctant(&degenerate, dir.path())).contains("t₀(ν) = infinite"));
}

#[test]
fn list_shows_every_policy_and_environment() {
    let dir = TempDir::new().unwrap();
    let text = stdout(&reluctant(&["list"], dir.path()));
    let value: serde_json::Value = serde_json::from_str(&stdout(&reluctant(&["list", "--json"], dir.path()))).unwrap();
    let names = |kind: &str| -> Vec<String> {
        value[kind].as_array().unwrap().iter().map(|entry| entry["name"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(names("policies").len(), reluctant::policy::BUILT_IN.len());
    assert_eq!(names("environments").len(), reluctant_lab::registry().environments().len());
    for name in names("policies").iter().chain(&names("environments")) {
        assert!(text.contains(&format!("\n{name}: ")));
    }
}

#[test]
fn a_negative_number_is_refused_by_its_own_option() {
    let dir = TempDir::new().unwrap();
    let theory = ["theory", "--sigma", "1", "--neurons", "2", "--dim", "2"];
    let cases: &[(&[&str], &str, &str)] = &[
        (&["fit", "data.csv"], "--neurons", "a whole number from 1 to 64"),
        (&["fit", "data.csv", "--neurons", "2"], "--restarts", "a whole number from 1 to 100000"),
        (&["fit", "data.csv", "--neurons", "2"], "--seed", "a whole number from 0 to 18446744073709551615"),
        (&["inspect", "theta.csv"], "--sigma", "a number, zero or more"),
        (&["inspect", "theta.csv"], "--delta", "a number above 0 and below 1"),
        (&["run", "spec.toml"], "--threads", "a whole number from 1 to 1024"),
        (&["reproduce"], "--trials", "a whole number from 1 to 1000000"),
        (&["reproduce"], "--rounds", "a whole number from 1 to 1000000000"),
        (&["reproduce"], "--threads", "a whole number from 1 to 1024"),
        (&theory[..5], "--dim", "a whole number from 2 to 4294967295"),
        (&[&theory[..3], &theory[5..]].concat(), "--neurons", "a whole number from 1 to 4294967295"),
        (&theory, "--horizon", "horizon = -1 is out of range: from 1 to 1e300"),
    ];
    for (args, option, says) in cases {
        let output = reluctant(&[args, &[option, "-1"][..]].concat(), dir.path());
        refused(&output, 2, &["-1", option.trim_start_matches('-'), says]);
    }
}

/// Every experiment that is shipped reads without a mistake.
#[test]
fn the_shipped_experiments_are_valid() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("experiments");
    let mut found = 0;
    let (mut folders, mut paths) = (vec![folder], Vec::new());
    while let Some(folder) = folders.pop() {
        for file in fs::read_dir(folder).unwrap() {
            let path = file.unwrap().path();
            if path.is_dir() { folders.push(path) } else { paths.push(path) }
        }
    }
    for path in paths {
        if path.extension().is_some_and(|extension| extension == "toml") {
            reluctant_lab::Experiment::load(&path, &reluctant_lab::registry()).unwrap();
            found += 1;
        }
    }
    assert!(found >= 4);
}
