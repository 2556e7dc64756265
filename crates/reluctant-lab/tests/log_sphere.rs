//! Logs of choices from the sphere, where no point is chosen twice.

#![allow(clippy::unwrap_used, reason = "a test says best what it expects by failing where it is not met")]

use std::path::PathBuf;

use reluctant::{Environment, Key, Offer, Scratch, Settings, env, play, policy};
use reluctant_lab::evaluate::{Evaluation, Options, Target, evaluate};
use reluctant_lab::log::{Logged, Offered, Writer, read};
use reluctant_lab::registry;

mod boxed;
use boxed::Boxed;

fn world() -> Box<dyn Environment> {
    let settings = Settings::new().with("dim", 3u64).with("neurons", 2u64).with("actions", "sphere").with("sigma", 0.3);
    env::build("relu-sphere", &settings, Key::new(11)).unwrap()
}

/// A log of a policy on the sphere.
fn logged(file: &str, name: &str, settings: &Settings, rounds: u64, seed: u64) -> PathBuf {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("logs-sphere");
    std::fs::create_dir_all(&folder).unwrap();
    let path = folder.join(file);
    let policy = policy::build(name, 3, settings, Key::new(seed)).unwrap();
    let mut logged = Logged::new(Boxed(policy), Writer::create(&path, name).unwrap());
    play(world().as_ref(), &mut logged, Key::new(seed), rounds, |_| {}).unwrap();
    logged.finish().unwrap();
    path
}

/// A policy that was learnt elsewhere, and what it earns.
fn target() -> (Target, f64) {
    let mut policy = policy::build("oful", 3, &Settings::new(), Key::new(1)).unwrap();
    let environment = world();
    play(environment.as_ref(), policy.as_mut(), Key::new(1), 40, |_| {}).unwrap();
    let (mut memory, mut scratch) = (Default::default(), Scratch::default());
    let round = environment.round(1, &mut memory).unwrap();
    let choice = policy.select(Offer::Sphere { dim: 3 }, Key::new(2), &mut scratch).unwrap();
    let truth = round.mean(&choice).unwrap();
    (Target::saved("mine", &policy.snapshot().unwrap().to_json().unwrap()).unwrap(), truth)
}

fn judged(path: &std::path::Path, target: &Target) -> Evaluation {
    evaluate(&registry(), path, std::slice::from_ref(target), &Options::default(), &|_| {}).unwrap().remove(0)
}

/// The estimate is near the truth, and the interval holds it in about 95 % of logs.
#[test]
fn what_a_point_of_the_sphere_earns_is_found_by_its_neighbours() {
    let (target, truth) = target();
    let chance = Settings::new().with("chance", 0.5);
    for (name, settings) in [("uniform", Settings::new()), ("oful", chance)] {
        let (logs, mut held, mut error) = (60, 0, 0.0);
        for seed in 1..=logs {
            let path = logged(&format!("{name}.jsonl"), name, &settings, 2000, seed);
            let evaluation = judged(&path, &target);
            let best = evaluation.verdict.recommended.as_ref().unwrap();
            held += u64::from(best.interval[0] <= truth && truth <= best.interval[1]);
            error += (best.value - truth).powi(2) / logs as f64;
            let diagnosis = &evaluation.diagnosis;
            assert!((diagnosis.mean_weight - 1.0).abs() < 4.5 * diagnosis.mean_weight_error, "{diagnosis:?}");
            assert!(evaluation.replay.is_none() && diagnosis.angle.is_some());
        }
        // The truth is about 1; the seeds are fixed.
        assert!(held >= 55 && error.sqrt() < 0.07, "{name}: {held} of {logs}, {} of {truth}", error.sqrt());
    }
}

#[test]
fn points_are_written_and_read_with_their_density() {
    let path = logged("points.jsonl", "oful", &Settings::new().with("explore", 0.5), 60, 3);
    let text = std::fs::read_to_string(&path).unwrap();
    assert!(text.contains("\"density\":0.0397887") && text.contains("\"propensity\":0.5"), "{text}");
    let mut chance = 0;
    read(&path, |records| {
        for record in records {
            let Offered::Sphere { point, by_chance } = &record.offer else { continue };
            let expected = if *by_chance { 0.5 / 12.566370614359172 } else { 0.5 };
            assert!(point.len() == 3 && record.propensity.is_some_and(|p| (p - expected).abs() < 1e-12));
            chance += usize::from(*by_chance);
        }
        Ok(())
    })
    .unwrap();
    assert!((18..42).contains(&chance), "{chance}");
}

#[test]
fn a_log_of_one_point_each_round_cannot_tell() {
    let (target, _) = target();
    let evaluation = judged(&logged("certain.jsonl", "oful", &Settings::new(), 100, 4), &target);
    assert!(evaluation.verdict.recommended.is_none());
    let sentences = evaluation.verdict.sentences.join(" ");
    assert!(sentences.contains("did the log do what mine might have done"), "{sentences}");
}

#[test]
fn mistakes_are_named_with_their_line() {
    let said = |line: &str| {
        let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("bad-point.jsonl");
        std::fs::write(&path, format!("{line}\n")).unwrap();
        read(&path, |_| Ok(())).unwrap_err().to_string().replace(&path.display().to_string(), "LOG")
    };
    assert_eq!(
        said(r#"{"point":[1.0,1.0],"density":0.1,"reward":1}"#),
        "LOG:1: the point has 2 coordinates and length 1.4142135623730951: it needs two or more, and length 1"
    );
    assert_eq!(
        said(r#"{"point":[1.0,0.0],"density":0.0,"reward":1}"#),
        "LOG:1: the density is 0, and what was chosen had a finite one greater than 0"
    );
    assert_eq!(
        said(r#"{"point":[1.0,0.0],"density":0.1,"propensity":0.5,"reward":1}"#),
        "LOG:1: a point has a density, if chance chose it, or a propensity, not both"
    );
    assert_eq!(
        said(r#"{"context":[1.0],"actions":["a"],"chosen":"a","density":0.1,"reward":1}"#),
        "LOG:1: a density belongs to a point of the sphere; other choices have a propensity"
    );
}
