//! Forgetting pays where the truth changes, and costs where it does not.
#![allow(clippy::unwrap_used, reason = "a test says best what it expects by failing where it is not met")]

use reluctant::{Key, Settings, env, play, policy};

const ROUNDS: u64 = 1200;

/// The regret over five trials; the truth changes after 400 rounds and after 800, or never.
fn regret(name: &str, discount: f64, changes: bool) -> f64 {
    let mut total = 0.0;
    for trial in 0..5 {
        let key = Key::new(8).trial(trial);
        let settings = Settings::new().with("dim", 3u64).with("arms", 50u64);
        let environment = if changes {
            let settings = settings.with("of", "linear-sphere").with("at", "401, 801");
            env::build("drifting", &settings, key).unwrap()
        } else {
            env::build("linear-sphere", &settings, key).unwrap()
        };
        let settings = Settings::new().with("discount", discount);
        let mut policy = policy::build(name, environment.space(), &settings, key).unwrap();
        play(environment.as_ref(), policy.as_mut(), key, ROUNDS, |step| total += step.regret).unwrap();
    }
    total
}

#[test]
fn linear_policies_follow_a_truth_that_changes() {
    for name in ["oful", "lin-ts"] {
        assert!(regret(name, 0.95, true) < 0.25 * regret(name, 1.0, true), "{name}");
        assert!(regret(name, 1.0, false) < regret(name, 0.95, false), "{name}");
    }
}

#[test]
fn gaussian_processes_follow_a_truth_that_changes() {
    for name in ["gp-ucb", "gp-ts"] {
        assert!(regret(name, 0.95, true) < 0.5 * regret(name, 1.0, true), "{name}");
    }
}
