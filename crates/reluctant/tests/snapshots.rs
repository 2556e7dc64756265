//! A saved policy is a file, and files get damaged: what is restored either says so or plays on without a panic.
#![allow(clippy::unwrap_used, reason = "a test says best what it expects by failing where it is not met")]

use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use reluctant::policy::{BUILT_IN, Sample};
use reluctant::{Key, Offer, Scratch, Snapshot, env, policy};
use serde_json::{Value, json};

/// A policy with a little history, saved during exploration and after it.
fn saved(name: &str, sample: &Sample, rounds: u64) -> Snapshot {
    let key = Key::new(1);
    let environment = env::build(sample.environment, &reluctant::Settings::new().with("arms", 10u64), key).unwrap();
    let mut policy = policy::build(name, 2, &sample.settings(), key).unwrap();
    reluctant::play(environment.as_ref(), policy.as_mut(), key, rounds, |_| {}).unwrap();
    policy.snapshot().unwrap()
}

/// Every place of a value, as JSON pointers; of a list only the first, the middle and the last.
fn places(value: &Value, at: String, out: &mut Vec<String>) {
    match value {
        Value::Object(map) => map.iter().for_each(|(key, inner)| places(inner, format!("{at}/{key}"), out)),
        Value::Array(list) => {
            out.push(at.clone());
            for i in [0, list.len() / 2, list.len().saturating_sub(1)] {
                if let Some(inner) = list.get(i) {
                    places(inner, format!("{at}/{i}"), out);
                }
            }
        }
        _ => out.push(at),
    }
}

/// Ways to damage a value.
fn damages(value: &Value) -> Vec<Value> {
    match value {
        Value::Array(list) => vec![json!([]), json!(list[..list.len() / 2]), json!(null), json!([1e300])],
        Value::Number(_) => {
            [json!(0), json!(-1), json!(1), json!(u64::MAX), json!(u32::MAX), json!(1e308), json!(-0.5)].into()
        }
        Value::Bool(b) => vec![json!(!b)],
        _ => vec![json!(null), json!("nonsense"), json!(7)],
    }
}

/// Damages a snapshot in every place; how many were refused, and how many played on.
fn damage_everywhere(good: &Snapshot) -> (usize, usize) {
    let arms: Vec<f64> = (0..5).flat_map(|i| [f64::from(i) * 0.3 - 0.6, 0.5]).collect();
    let (mut refused, mut played) = (0, 0);
    let mut found = Vec::new();
    places(&good.state, String::new(), &mut found);
    for place in found {
        for damage in damages(good.state.pointer(&place).unwrap()) {
            let mut bad = good.clone();
            *bad.state.pointer_mut(&place).unwrap() = damage;
            let Ok(mut policy) = bad.restore() else {
                refused += 1;
                continue;
            };
            played += 1;
            let mut scratch = Scratch::default();
            // Errors are fine; panics and endless loops are not. A training step cut to size keeps the test quick.
            if let Ok(arms) = Offer::finite(policy.dim(), &arms[..policy.dim().min(10)]) {
                let _ = policy.select(arms, Key::new(2), &mut scratch);
            }
            let _ = policy.update(&vec![0.1; policy.dim()], 0.5);
        }
    }
    (refused, played)
}

/// For every policy, after so many rounds; on two threads, because it takes long.
fn check_damaged_snapshots(rounds: u64) {
    let samples: Vec<_> = BUILT_IN.iter().flat_map(|entry| entry.samples.iter().map(|s| (entry.name, s))).collect();
    let next = AtomicUsize::new(0);
    let take = || samples.get(next.fetch_add(1, Ordering::Relaxed));
    let work = || {
        let mut sum = (0, 0);
        while let Some((name, sample)) = take() {
            let (refused, played) = damage_everywhere(&saved(name, sample, rounds));
            sum = (sum.0 + refused, sum.1 + played);
        }
        sum
    };
    let sums = thread::scope(|scope| [scope.spawn(work), scope.spawn(work)].map(|worker| worker.join().unwrap()));
    let (refused, played) = (sums[0].0 + sums[1].0, sums[0].1 + sums[1].1);
    assert!(refused > 100 && played > 100, "{refused} refused, {played} played on");
}

#[test]
fn snapshots_damaged_early_are_refused_or_play_on() {
    check_damaged_snapshots(5);
}

#[test]
#[ignore = "long: ./check --all runs it"]
fn snapshots_damaged_later_are_refused_or_play_on() {
    check_damaged_snapshots(30);
}

#[test]
fn what_has_seen_nothing_yet_is_restored_and_without_noise_too() {
    for entry in BUILT_IN {
        entry.samples.iter().for_each(|sample| _ = saved(entry.name, sample, 0).restore().unwrap());
    }
    let exact = reluctant::Settings::new().with("sigma", 0.0);
    policy::build("plausible", 2, &exact, Key::new(1)).unwrap().snapshot().unwrap().restore().unwrap();
}

/// Other sizes than those considered would be looked up where there is nothing.
#[test]
fn networks_of_a_size_that_is_not_considered_are_refused() {
    let sample =
        policy::find("plausible").unwrap().samples.iter().find(|sample| sample.name == "unknown_size").unwrap();
    let mut bad = saved("plausible", sample, 5);
    let network = bad.state.pointer_mut("/belief/ensemble/members/1/network").unwrap();
    for _ in 0..20 {
        network["theta"].as_array_mut().unwrap().extend([json!(0.6), json!(0.8)]);
        network["signs"].as_array_mut().unwrap().push(json!(1.0));
    }
    assert!(bad.restore().is_err());
}
