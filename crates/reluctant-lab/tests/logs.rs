//! Logs from files: what is written is read back, mistakes are named with their line, and what a policy would have
//! earned is found where the truth is known.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test says best what it expects by failing where it is not met"
)]

use std::path::PathBuf;

use reluctant::{Key, Name, Policy, Settings, env, play, policy};
use reluctant_lab::evaluate::{Evaluation, Options, Target, evaluate};
use reluctant_lab::log::{Logged, Offered, Record, Writer, read};
use reluctant_lab::{Experiment, Store, registry, run};

fn folder(name: &str) -> PathBuf {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("logs").join(name);
    std::fs::create_dir_all(&folder).unwrap();
    folder
}

fn written(name: &str, text: &str) -> PathBuf {
    let path = folder("written").join(name);
    std::fs::write(&path, text).unwrap();
    path
}

fn all(path: &std::path::Path) -> Vec<Record> {
    let mut records = Vec::new();
    read(path, |piece| {
        records.extend_from_slice(piece);
        Ok(())
    })
    .unwrap();
    records
}

fn said(name: &str, text: &str) -> String {
    let path = written(name, text);
    let error = read(&path, |_| Ok(())).unwrap_err().to_string();
    error.replace(&path.display().to_string(), "LOG")
}

#[test]
fn what_is_written_is_read_back() {
    let names: Vec<Name> = ["a", "b"].map(Name::from).into();
    let context = |x: f64| Offered::Context { x: vec![x, 0.1], names: names.as_slice().into(), features: Vec::new() };
    let rows = |x: f64| Offered::Arms { dim: 2, data: vec![x, 1.0, 0.5, 0.25] };
    let features = |x: f64| Offered::Context { x: vec![x], names: names.as_slice().into(), features: vec![x, 2.0] };
    for (file, offer) in [
        ("context.jsonl", &context as &dyn Fn(f64) -> Offered),
        ("context.csv", &context),
        ("rows.jsonl", &rows),
        ("features.jsonl", &features),
    ] {
        let path = folder("back").join(file);
        let mut writer = Writer::create(&path, "mine").unwrap();
        for i in 0..5 {
            writer.write(&offer(f64::from(i) / 3.0), i as usize % 2, (Some(0.3), 0.01), Some(f64::from(i))).unwrap();
        }
        writer.finish().unwrap();
        for (i, record) in all(&path).iter().enumerate() {
            let mut expected = Record::new(record.line, offer(i as f64 / 3.0), i % 2, Some(0.3), i as f64);
            expected.propensity_error = 0.01;
            assert_eq!(*record, expected, "{file}");
        }
    }
    let mut csv = Writer::create(&folder("back").join("rows.csv"), "mine").unwrap();
    let error = csv.write(&rows(0.0), 0, (None, 0.0), None).unwrap_err().to_string();
    assert!(error.contains("give it a name that ends in .jsonl"), "{error}");
}

const GOOD: &str = r#"{"event":1,"context":[1.0],"actions":["a","b"],"chosen":"a","propensity":0.5,"reward":1}"#;

#[test]
fn mistakes_are_named_with_their_line() {
    let second = |line: &str| said("bad.jsonl", &format!("{GOOD}\n{line}\n{GOOD}\n"));
    let round = |rest: &str| second(&format!(r#"{{"event":2,"context":[1.0],"actions":["a","b"],{rest}}}"#));
    for (p, shown) in [("0", "0"), ("1.5", "1.5"), ("-0.1", "-0.1")] {
        assert_eq!(
            round(&format!(r#""chosen":"a","propensity":{p},"reward":1"#)),
            format!(
                "LOG:2: the propensity is {shown}, and what was chosen had a probability greater than 0 and at most 1"
            )
        );
    }
    assert_eq!(round(r#""chosen":"c","reward":1"#), "LOG:2: 'c' was chosen, but was not on offer: a, b");
    assert_eq!(second(GOOD), "LOG:2: the event '1' stands in the log twice: every round has an id of its own");
    assert_eq!(
        second(r#"{"event":7,"reward":1}"#),
        "LOG:2: a reward for the event '7', which does not stand in the log before it"
    );
    assert_eq!(second(r#"{"reward":1}"#), "LOG:2: this line says neither what was chosen, nor an event and its reward");
    assert!(second("{").starts_with("LOG:2: this is not a round of a log: "));
    assert_eq!(
        second(r#"{"context":[1.0,2.0],"chosen":"a","reward":1}"#),
        "LOG:2: this round offers something of another shape than the rounds before it"
    );
    assert_eq!(
        second(r#"{"arms":[[1.0],[2.0,3.0]],"chosen":0,"reward":1}"#),
        "LOG:2: arms must be of one length, and number 2 has 2, not 1"
    );
    let csv = |line: &str| said("bad.csv", &format!("event,actions,chosen,propensity,reward,x1\n{line}\n"));
    assert_eq!(
        csv("1,a|b,a,0.5,NaN,1"),
        "LOG:2: the reward is NaN, and must be a finite number of at most 1e100 in size"
    );
    assert_eq!(
        csv("1,a|b,a,0.5,1,inf"),
        "LOG:2: coordinate 1 of the context is inf: every number must be finite and at most 1e100 in size"
    );
    assert_eq!(csv("1,a|b,a,x,1,1"), "LOG:2: the propensity is 'x', which is not a number");
    assert_eq!(
        said("no.csv", "event,chosen,x1\n1,a,2\n"),
        "LOG:1: there is no column 'actions', which a log needs; there are event, chosen, x1"
    );
    assert_eq!(said("empty.jsonl", "\n"), "LOG: there are no rounds in this log");
    assert_eq!(
        said("none.jsonl", r#"{"context":[1],"actions":["a"],"chosen":"a"}"#),
        "LOG: none of the 1 rounds has a reward"
    );
}

#[test]
fn late_rewards_find_their_round_and_a_torn_line_is_dropped() {
    let text = format!(
        "{}\n{GOOD}\n{}\n{}\n{}",
        r#"{"event":"x","context":[3.0],"actions":["a","b"],"chosen":"b","propensity":0.25}"#,
        r#"{"event":"never","context":[3.0],"chosen":"b","propensity":0.25,"reward":null}"#,
        r#"{"event":"x","reward":-2}"#,
        r#"{"event":3,"context":[1.0],"act"#,
    );
    let path = written("late.jsonl", &text);
    let mut rewards = Vec::new();
    let noticed = read(&path, |piece| {
        rewards.extend(piece.iter().map(|record| (record.line, record.chosen, record.reward)));
        Ok(())
    })
    .unwrap();
    assert_eq!(rewards, [(2, 0, 1.0), (1, 1, -2.0)]);
    assert_eq!((noticed.rounds, noticed.unrewarded, noticed.first_unrewarded), (2, 1, Some(3)));
    assert_eq!((noticed.torn, noticed.late), (Some(5), 1));
    let torn = written("torn.csv", "event,actions,chosen,propensity,reward,x1\n1,a|b,a,0.5,1,2\n2,a|b,a,0.");
    assert_eq!(read(&torn, |_| Ok(())).unwrap().torn, Some(3));
}

/// A log of a policy in an environment with contexts, and the policy after it.
fn logged(file: &str, name: &str, settings: &Settings, rounds: u64) -> (PathBuf, Box<dyn Policy>) {
    let key = Key::new(5);
    let world = Settings::new().with("dim", 2u64).with("actions", 3u64).with("neurons", 0u64);
    let environment = env::build("contexts", &world, key).unwrap();
    let path = folder("played").join(file);
    let policy = policy::build(name, environment.space(), settings, key).unwrap();
    let mut logged = Logged::new(Boxed(policy), Writer::create(&path, name).unwrap());
    play(environment.as_ref(), &mut logged, key, rounds, |_| {}).unwrap();
    logged.finish().unwrap();
    let policy = logged.inner().0.snapshot().unwrap().restore().unwrap();
    (path, policy)
}

mod boxed;
use boxed::Boxed;

fn judged(path: &std::path::Path, target: Target, options: &Options) -> Evaluation {
    evaluate(&registry(), path, &[target], options, &|_| {}).unwrap().remove(0)
}

fn saved(policy: &dyn Policy) -> Target {
    let path = folder("saved").join("policy.json");
    std::fs::write(&path, policy.snapshot().unwrap().to_json().unwrap()).unwrap();
    Target::parse(&path.display().to_string(), &registry()).unwrap()
}

/// The value of a policy that is not learning any more, from many rounds of the environment itself.
fn truth(policy: &dyn Policy) -> f64 {
    let key = Key::new(5);
    let world = Settings::new().with("dim", 2u64).with("actions", 3u64).with("neurons", 0u64);
    let environment = env::build("contexts", &world, key).unwrap();
    let (mut memory, mut scratch, mut sum) = (Default::default(), Default::default(), 0.0);
    let rounds = 1_000_000..1_020_000;
    for t in rounds.clone() {
        let round = environment.round(t, &mut memory).unwrap();
        let choice = policy.select(round.offer, key.round(t), &mut scratch).unwrap();
        sum += round.mean(&choice).unwrap();
    }
    sum / rounds.count() as f64
}

#[test]
fn a_policy_is_worth_what_the_log_says() {
    let chance = Settings::new().with("chance", 0.3);
    for (file, name, settings) in [
        ("uniform.jsonl", "uniform", Settings::new()),
        ("oful.jsonl", "oful", chance.clone()),
        ("ts.csv", "lin-ts", chance.clone()),
        (
            "greedy.csv",
            "epsilon-greedy",
            Settings::new().with("belief", "linear").with("power", 0.0).with("epsilon", 0.3),
        ),
    ] {
        let (path, _) = logged(file, name, &settings, 3000);
        let (_, target) = logged("target.jsonl", "oful", &Settings::new(), 150);
        let evaluation = judged(&path, saved(target.as_ref()), &Options::default());
        let truth = truth(target.as_ref());
        for estimate in evaluation.estimates.iter().filter(|e| ["ips", "snips", "dr", "sndr"].contains(&e.name)) {
            let off = (estimate.value - truth) / estimate.error;
            // Four standard errors; the seed is fixed.
            assert!(off.abs() < 4.0, "{file} {}: {} ± {} {truth}", estimate.name, estimate.value, estimate.error);
        }
        let [ips, dr] = ["ips", "dr"].map(|name| evaluation.estimate(name).unwrap().error);
        assert!(dr <= ips, "{file}: {dr} {ips}");
        let best = evaluation.verdict.recommended.unwrap();
        assert!(best.interval[0] < truth && truth < best.interval[1], "{file}: {best:?} {truth}");
        assert!((evaluation.diagnosis.mean_weight - 1.0).abs() < 4.0 * evaluation.diagnosis.mean_weight_error);
    }
}

#[test]
fn a_log_that_cannot_tell_says_so() {
    let (path, _) = logged("certain.jsonl", "oful", &Settings::new(), 500);
    let target = Target::parse("uniform", &registry()).unwrap();
    let evaluation = judged(&path, target.clone(), &Options::default());
    assert!(evaluation.verdict.recommended.is_none() && evaluation.replay.is_none());
    let sentences = evaluation.verdict.sentences.join(" ");
    assert!(sentences.contains("cannot tell what uniform would have earned: 67"), "{sentences}");
    assert!(sentences.contains("left nothing to chance"), "{sentences}");
    // Propensities that are not those of the choices: those of a softmax, say.
    let text = std::fs::read_to_string(&path).unwrap().replace("\"propensity\":1.0", "\"propensity\":0.6");
    let evaluation = judged(&written("softmax.jsonl", &text), target, &Options::default());
    let sentences = evaluation.verdict.sentences.join(" ");
    assert!(evaluation.verdict.recommended.is_none() && sentences.contains("weights average 0.5"), "{sentences}");
    let missing = std::fs::read_to_string(&path).unwrap().replace("\"propensity\":1.0,", "");
    let path = written("missing.jsonl", &missing);
    let error =
        evaluate(&registry(), &path, &[Target::parse("uniform", &registry()).unwrap()], &Options::default(), &|_| {});
    let error = error.unwrap_err().to_string();
    assert!(error.contains("missing.jsonl:1: the propensity is missing"), "{error}");
}

/// Replay of a policy that learns on a uniform log is what it earns when it plays.
#[test]
fn replay_is_a_game_of_the_policy() {
    let (path, _) = logged("replayed.jsonl", "uniform", &Settings::new(), 9000);
    let evaluation = judged(&path, Target::parse("oful", &registry()).unwrap(), &Options::default());
    let replay = evaluation.replay.unwrap();
    assert!((2700..3300).contains(&replay.kept), "{replay:?}");
    let key = Key::new(5);
    let world = Settings::new().with("dim", 2u64).with("actions", 3u64).with("neurons", 0u64);
    let environment = env::build("contexts", &world, key).unwrap();
    let mut policy = policy::build("oful", environment.space(), &Settings::new(), key).unwrap();
    let (mut sum, rounds) = (0.0, replay.kept);
    play(environment.as_ref(), policy.as_mut(), key, rounds, |step| sum += step.reward).unwrap();
    let error = (replay.interval[1] - replay.value) / 1.96;
    assert!((sum / rounds as f64 - replay.value).abs() < 5.0 * error, "{} {replay:?}", sum / rounds as f64);
}

#[test]
fn a_run_writes_logs_on_request_and_is_the_same_without() {
    let toml = |log: &str| {
        format!(
            "name = \"logged\"\nrounds = 40\ntrials = 2\n{log}\n[[environment]]\nkind = \"contexts\"\ndim = 2\n\
             [[policy]]\nkind = \"oful\"\nchance = 0.25\n[[policy]]\nkind = \"lin-ts\"\n"
        )
    };
    let (known, dir) = (registry(), folder("run"));
    let curves = |text: &str| {
        let experiment = Experiment::parse(text, &dir.join("logged.toml"), &known).unwrap();
        let store = Store::in_memory();
        run::run(&known, &experiment, &store, 1, &|_| {}).unwrap();
        let mut curves: Vec<_> = store.finished().into_iter().map(|(id, curve)| (id, curve.regret)).collect();
        curves.sort_by(|a, b| a.0.cmp(&b.0));
        curves
    };
    assert_eq!(curves(&toml("")), curves(&toml("log = \"logs/*.csv\"")));
    for policy in ["oful", "lin-ts"] {
        for trial in [0, 1] {
            let records = all(&dir.join(format!("logs/a-{policy}-{trial}.csv")));
            assert_eq!(records.len(), 40);
            assert!(records.iter().all(|record| record.propensity.is_some_and(|p| p > 0.0 && p <= 1.0)));
        }
    }
    let error = Experiment::parse(&toml("log = \"*\""), &dir.join("logged.toml"), &known).unwrap_err().to_string();
    assert!(error.contains("name a folder, or write FOLDER/*.jsonl or FOLDER/*.csv or"), "{error}");
}
