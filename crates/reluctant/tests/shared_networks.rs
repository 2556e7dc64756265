//! Networks that all actions of a context share: actions that come, are missing and retire, the order of their names,
//! and contexts as users have them.

#![allow(clippy::unwrap_used)]

use reluctant::rng::{normal, shuffle, uniform};
use reluctant::{Action, Context, Key, Name, Policy, Scratch, Settings, Snapshot, Space, policy};

const POLICIES: [&str; 11] = [
    "neural-ucb",
    "neural-ts",
    "neural-linear",
    "neural-linucb",
    "ensemble",
    "lmc-ts",
    "epsilon-greedy",
    "square-cb",
    "ofu-relu-plus",
    "nn-ucb",
    "plausible",
];

/// With sixteen hidden units where their number is a parameter.
fn make(name: &str, dim: usize) -> Box<dyn Policy> {
    let sized = policy::find(name).unwrap().params.iter().any(|param| param.name == "width");
    let settings = if sized { Settings::new().with("width", 16u64) } else { Settings::new() };
    policy::build(name, Space::contexts(dim), &settings, Key::new(3)).unwrap()
}

fn names(list: &[&str]) -> Vec<Name> {
    list.iter().map(|name| Name::from(*name)).collect()
}

/// The name that a policy chooses.
fn chosen(policy: &dyn Policy, x: &[f64], names: &[Name], round: u64) -> String {
    let context = Context::new(x, names).unwrap();
    let choice = policy.select(context.into(), Key::new(9).round(round), &mut Scratch::default()).unwrap();
    choice.named.unwrap().0.to_owned()
}

fn learn(policy: &mut dyn Policy, x: &[f64], name: &str, reward: f64) {
    policy.learn(Action::Named { context: x, name, features: &[] }, reward).unwrap();
}

/// "left" pays where x₀ < 0, "right" where x₀ > 0, "late" pays more than both, but is on offer from round 150 to 300
/// only.
#[test]
fn actions_come_and_go_in_any_order() {
    for name in POLICIES {
        let (mut policy, mut other) = (make(name, 2), make(name, 2));
        let (mut stream, mut order) = (Key::new(1).stream(), Key::new(2).stream());
        let (mut late, mut wrong) = (0, 0);
        for round in 0..450 {
            let x = [normal(&mut stream), normal(&mut stream)];
            let here = (150..300).contains(&round);
            let mut offered = names(if here { &["left", "right", "late"] } else { &["left", "right"] });
            let action = chosen(policy.as_ref(), &x, &offered, round);
            // Another policy meets the same names in another order, and is saved now and then.
            shuffle(&mut order, &mut offered);
            assert_eq!(action, chosen(other.as_ref(), &x, &offered, round), "{name}, round {round}");
            if round % 97 == 0 {
                let text = other.snapshot().unwrap().to_json().unwrap();
                other = Snapshot::parse(&text).unwrap().restore().unwrap();
            }
            let good = if x[0] < 0.0 { "left" } else { "right" };
            let reward = if action == "late" { 2.0 } else { f64::from(u8::from(action == good)) };
            late += u32::from(here && action == "late");
            wrong += u32::from(round >= 300 && action != good);
            learn(policy.as_mut(), &x, &action, reward);
            learn(other.as_mut(), &x, &action, reward);
        }
        // Chance would be wrong 75 times, and find the new action 50 times.
        assert!(wrong < 25 && late > 100, "{name}: {wrong} wrong at the end, {late} times the new action");
    }
}

/// Columns in units of a million and of a millionth, a constant one, and no reward at all for 200 rounds.
#[test]
fn units_constants_and_long_bad_luck_lock_nobody() {
    for name in POLICIES {
        let mut policy = make(name, 3);
        let offered = names(&["a", "b"]);
        let (mut stream, mut wrong) = (Key::new(1).stream(), 0);
        for round in 0..800 {
            let z = [normal(&mut stream), normal(&mut stream)];
            let x = [1e6 * z[0], 7.0, 1e-6 * z[1]];
            let action = chosen(policy.as_ref(), &x, &offered, round);
            let good = if z[0] + z[1] > 0.0 { "a" } else { "b" };
            let reward = f64::from(u8::from(round >= 200 && action == good));
            wrong += u32::from(round >= 600 && action != good);
            learn(policy.as_mut(), &x, &action, reward);
        }
        assert!(wrong < 40, "{name}: {wrong} of the last 200 choices are wrong");
    }
}

/// Hundreds of actions, of which each has few rewards.
#[test]
fn many_actions_are_no_trouble() {
    for name in POLICIES {
        let mut policy = make(name, 2);
        let labels: Vec<Name> = (0..300).map(|i| Name::from(format!("{i}"))).collect();
        let mut stream = Key::new(1).stream();
        let mut sum = 0.0;
        for round in 0..900 {
            let x = [uniform(&mut stream), uniform(&mut stream)];
            let action = chosen(policy.as_ref(), &x, &labels, round);
            let reward = f64::from(action.parse::<u32>().unwrap() % 10) / 9.0;
            learn(policy.as_mut(), &x, &action, reward);
            sum += if round >= 700 { reward / 200.0 } else { 0.0 };
        }
        // Chance has 0.5.
        assert!(sum > 0.55, "{name}: {sum} a round at the end");
    }
}

/// One action only, and the same few rows over and over: nothing to decide, nothing to divide by.
#[test]
fn one_action_and_repeated_rows_are_no_trouble() {
    for name in POLICIES {
        let (mut alone, mut repeated) = (make(name, 2), make(name, 2));
        let (one, two) = (names(&["only"]), names(&["a", "b"]));
        let rows = [[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]];
        let mut wrong = 0;
        for round in 0..300_u64 {
            let x = rows[round as usize % 3];
            assert_eq!(chosen(alone.as_ref(), &x, &one, round), "only");
            learn(alone.as_mut(), &x, "only", 1.0);
            let action = chosen(repeated.as_ref(), &x, &two, round);
            let good = if x[0] > x[1] { "a" } else { "b" };
            learn(repeated.as_mut(), &x, &action, f64::from(u8::from(action == good)));
            wrong += u32::from(round >= 200 && action != good);
        }
        assert!(wrong < 25, "{name}: {wrong} of the last 100 choices are wrong");
    }
}

/// A thousand rounds without any reward, then it pays as ever; and a thousand actions.
#[test]
fn a_thousand_rounds_without_reward_and_a_thousand_actions() {
    for name in ["neural-linucb", "ofu-relu-plus"] {
        a_thousand_rounds_without_reward(name);
        a_thousand_actions(name);
    }
}

#[test]
#[ignore = "long: ./check --all runs it"]
fn the_same_with_plausible() {
    a_thousand_rounds_without_reward("plausible");
    a_thousand_actions("plausible");
}

fn a_thousand_rounds_without_reward(name: &str) {
    let mut policy = make(name, 2);
    let offered = names(&["a", "b"]);
    let (mut stream, mut wrong) = (Key::new(1).stream(), 0);
    for round in 0..2200 {
        let x = [normal(&mut stream), normal(&mut stream)];
        let action = chosen(policy.as_ref(), &x, &offered, round);
        let good = if x[0] > 0.0 { "a" } else { "b" };
        wrong += u32::from(round >= 2000 && action != good);
        learn(policy.as_mut(), &x, &action, f64::from(u8::from(round >= 1000 && action == good)));
    }
    assert!(wrong < 20, "{name}: {wrong} of the last 200 choices are wrong");
}

fn a_thousand_actions(name: &str) {
    let mut policy = make(name, 2);
    let mut stream = Key::new(1).stream();
    let many: Vec<Name> = (0..1000).map(|i| Name::from(format!("{i}"))).collect();
    let mut tried = std::collections::BTreeSet::new();
    for round in 0..1000 {
        let x = [normal(&mut stream), normal(&mut stream)];
        let action = chosen(policy.as_ref(), &x, &many, round);
        learn(policy.as_mut(), &x, &action, 0.0);
        tried.insert(action);
    }
    // Nothing has paid yet: it goes on to what it does not know.
    assert!(tried.len() > 900, "{name}: {} of 1,000 actions were tried", tried.len());
}

/// What tells nothing is said, by policies for contexts of every kind.
#[test]
fn what_tells_little_is_named_in_explanations() {
    let plain = |round: u32| f64::from(round % 2);
    type OfRound = fn(u32) -> f64;
    let cases: [(&str, OfRound, OfRound, u32); 4] = [
        ("all 150 rewards so far were 0: they tell no action from another", f64::from, |_| 0.0, 2),
        ("1 of 2 features have never changed so far: they tell nothing", |_| 0.0, plain, 2),
        ("all 150 rewards so far are of one action: there is no other to compare it with", f64::from, plain, 1),
        ("150 rewards so far are of 50 actions: few of them can be known", f64::from, plain, 50),
    ];
    for name in ["plausible", "neural-linucb", "neural-ucb", "ofu-relu-plus", "gp-ucb", "oful", "lin-ts"] {
        for (said, feature, reward, actions) in cases {
            let mut policy = make(name, 2);
            for round in 0..150 {
                let x = [libm::sin(f64::from(round)), feature(round)];
                learn(policy.as_mut(), &x, &format!("{}", round % actions), reward(round));
            }
            let state = policy.snapshot().unwrap().to_json().unwrap();
            let policy = Snapshot::parse(&state).unwrap().restore().unwrap();
            let asked = Action::Named { context: &[1.0, 7.0], name: "0", features: &[] };
            assert_eq!(policy.explain(asked).unwrap().warning.as_deref(), Some(said), "{name}");
        }
    }
}

/// Features of sizes that are orders apart are named by policies that take them as they come.
#[test]
fn sizes_that_are_far_apart_are_named_by_those_that_do_not_scale() {
    for (name, scales) in [("plausible", true), ("neural-linucb", true), ("gp-ucb", false), ("oful", false)] {
        let mut policy = make(name, 2);
        for round in 0..150 {
            let x = [1e6 * libm::sin(f64::from(round)), 1e-6 * libm::cos(f64::from(round))];
            learn(policy.as_mut(), &x, ["a", "b"][round as usize % 2], f64::from(round % 3));
        }
        let asked = Action::Named { context: &[1.0, 0.0], name: "a", features: &[] };
        let warning = policy.explain(asked).unwrap().warning;
        let said =
            warning.as_deref().is_some_and(|text| text.contains("go from 1e-6 to 1e6, and this policy takes them"));
        assert_eq!((said, warning.is_none()), (!scales, scales), "{name}: {warning:?}");
    }
}

/// What acts is said in words, not by the name of the policy.
#[test]
fn every_model_is_described_in_words() {
    for name in POLICIES.into_iter().chain(["gp-ucb", "gp-ts"]) {
        let mut policy = make(name, 2);
        learn(policy.as_mut(), &[1.0, 0.0], "a", 1.0);
        let asked = Action::Named { context: &[1.0, 0.0], name: "a", features: &[] };
        let model = policy.explain(asked).unwrap().model;
        assert!(model.split(' ').count() > 4 && !model.contains(name), "{name}: {model}");
    }
}
