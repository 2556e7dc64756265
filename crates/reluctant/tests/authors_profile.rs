//! What the authors' code does differently, one switch of `ofu-relu` at a time: each changes what its
//! documentation says and nothing else.

#![allow(clippy::unwrap_used, clippy::panic)]

use reluctant::estimate::{self, FitOptions, LEARNING_RATE, STEPS, Samples};
use reluctant::policy::{self, OfuRelu};
use reluctant::{Choice, Confidence, FrozenRelu, Key, Policy, RoundMemory, Rows, Score, Scratch, Settings, env};

const KEY: Key = Key::new(21);
const NEURONS: usize = 3;
const EXPLORE: usize = 20;
const PAPER: Confidence = Confidence { lambda: 0.02, sigma: 0.1, delta: 0.03, norm_bound: 3.872_983_346_207_417 };

/// A history that no policy has a say in, so that all policies can be compared on it.
struct History {
    xs: Vec<f64>,
    ys: Vec<f64>,
    arms: Vec<f64>,
}

impl History {
    fn new(rounds: usize) -> Self {
        let environment = env::build("relu-sphere", &Settings::new().with("arms", 25u64), KEY).unwrap();
        let (mut xs, mut ys, mut arms) = (Vec::new(), Vec::new(), Vec::new());
        for t in 1..=rounds as u64 {
            let mut memory = RoundMemory::default();
            let round = environment.round(t, &mut memory).unwrap();
            let rows = round.offer.rows("test").unwrap();
            let choice = Choice::row(rows, 0, Score::default());
            xs.extend_from_slice(rows.get(0));
            ys.push(round.reward(&choice, round.mean(&choice).unwrap()));
            arms = rows.data().to_vec();
        }
        History { xs, ys, arms }
    }

    fn samples(&self) -> Vec<(&[f64], f64)> {
        self.xs.chunks_exact(2).zip(self.ys.iter().copied()).collect()
    }
}

fn settings() -> Settings {
    Settings::new()
        .with("neurons", NEURONS as u64)
        .with("explore", EXPLORE as u64)
        .with("lambda", PAPER.lambda)
        .with("sigma", PAPER.sigma)
        .with("delta", PAPER.delta)
}

/// The policy with these settings after the history, and its scores.
fn learn(settings: &Settings, history: &History) -> (OfuRelu, Vec<Score>) {
    let mut policy = policy::build("ofu-relu", 2, settings, KEY).unwrap();
    history.samples().iter().for_each(|(x, y)| policy.update(x, *y).unwrap());
    let mut scratch = Scratch::default();
    policy.score(Rows::new(2, &history.arms).unwrap().into(), &mut scratch).unwrap();
    let concrete = serde_json::from_value(policy.snapshot().unwrap().state).unwrap();
    (concrete, scratch.scores().to_vec())
}

/// The same regime, but widths scaled from one radius to another.
fn only_the_radius_differs(changed: &Settings, history: &History, expected: impl Fn(&FrozenRelu) -> f64) {
    let (paper, paper_scores) = learn(&settings(), history);
    let (other, other_scores) = learn(changed, history);
    let regime = paper.regime().unwrap();
    assert_eq!(other.regime().unwrap(), regime);
    let ratio = expected(regime) / PAPER.radius(regime.ellipsoid().log_det_ratio());
    assert!((ratio - 1.0).abs() > 1e-3, "the switch must be seen");
    for (a, b) in paper_scores.iter().zip(&other_scores) {
        assert_eq!(a.mean.to_bits(), b.mean.to_bits());
        assert!((b.width - ratio * a.width).abs() < 1e-12, "{} {}", b.width, ratio * a.width);
    }
}

/// The paper: S = √(5k), σ in the radius, log det V − D·log λ, every exploration sample, a
/// radius from the first round on.
#[test]
fn without_a_switch_it_is_the_paper() {
    for rounds in [EXPLORE, 60] {
        let history = History::new(rounds);
        let (policy, scores) = learn(&settings(), &history);
        let samples = Samples::new(2, &history.xs[..2 * EXPLORE], &history.ys[..EXPLORE]).unwrap();
        let fit = estimate::fit(samples, NEURONS, &FitOptions::default(), KEY).unwrap();
        let mut regime = FrozenRelu::new(fit.net.directions(), PAPER.lambda);
        history.samples().iter().for_each(|(x, y)| regime.update(x, *y));
        assert_eq!(policy.regime().unwrap(), &regime);
        let mut scratch = Scratch::default();
        let radius = PAPER.radius(regime.ellipsoid().log_det_ratio());
        regime.score(Rows::new(2, &history.arms).unwrap(), radius, &mut scratch);
        for (a, b) in scores.iter().zip(scratch.scores()) {
            assert_eq!(a.mean, b.mean);
            assert!((a.width - b.width).abs() < 1e-12);
        }
    }
}

#[test]
fn norm_bound_is_the_second_term_of_the_radius() {
    let bound = (3.0 * NEURONS as f64).sqrt();
    only_the_radius_differs(&settings().with("norm_bound", bound), &History::new(60), |regime| {
        Confidence { norm_bound: bound, ..PAPER }.radius(regime.ellipsoid().log_det_ratio())
    });
}

#[test]
fn radius_sigma_is_the_noise_of_the_radius() {
    only_the_radius_differs(&settings().with("radius_sigma", 0.05), &History::new(60), |regime| {
        Confidence { sigma: 0.05, ..PAPER }.radius(regime.ellipsoid().log_det_ratio())
    });
}

/// D = 2kd, the literal features'.
#[test]
fn log_det_twice_subtracts_d_log_lambda_again() {
    only_the_radius_differs(&settings().with("log_det", "twice"), &History::new(60), |regime| {
        let again = (2 * NEURONS * 2) as f64 * PAPER.lambda.ln();
        PAPER.radius(regime.ellipsoid().log_det_ratio() - again)
    });
}

#[test]
fn late_radius_is_zero_until_the_first_optimistic_reward() {
    let changed = settings().with("late_radius", true);
    let first = History::new(EXPLORE);
    let (paper, paper_scores) = learn(&settings(), &first);
    let (late, late_scores) = learn(&changed, &first);
    assert_eq!(paper.regime(), late.regime());
    for (a, b) in paper_scores.iter().zip(&late_scores) {
        assert_eq!(a.mean, b.mean);
        assert!(a.width > 0.0 && b.width == 0.0);
    }
    let second = History::new(EXPLORE + 1);
    let ((paper, paper_scores), (late, late_scores)) = (learn(&settings(), &second), learn(&changed, &second));
    assert_eq!((paper.regime(), paper_scores), (late.regime(), late_scores));
}

#[test]
fn drop_last_loses_the_last_exploration_sample_of_the_regression_but_not_of_the_fit() {
    let history = History::new(60);
    let (paper, _) = learn(&settings(), &history);
    let (dropped, _) = learn(&settings().with("drop_last", true), &history);
    let network = paper.regime().unwrap().network();
    let mut expected = FrozenRelu::new(network.clone(), PAPER.lambda);
    for (i, (x, y)) in history.samples().iter().enumerate() {
        if i != EXPLORE - 1 {
            expected.update(x, *y);
        }
    }
    assert_eq!(dropped.regime().unwrap(), &expected);
    assert_ne!(dropped.regime(), paper.regime());
}

#[test]
fn fit_adam_is_one_run_of_2000_steps_at_a_rate_of_a_hundredth() {
    assert_eq!((STEPS, LEARNING_RATE), (2000, 1e-2));
    let history = History::new(60);
    let (policy, _) = learn(&settings().with("fit", "adam"), &history);
    let samples = Samples::new(2, &history.xs[..2 * EXPLORE], &history.ys[..EXPLORE]).unwrap();
    let fit = estimate::adam(samples, NEURONS, STEPS, LEARNING_RATE, KEY).unwrap();
    // The regime sees only where each neuron is active, which its length does not change.
    let mut expected = FrozenRelu::new(fit.net.directions(), PAPER.lambda);
    history.samples().iter().for_each(|(x, y)| expected.update(x, *y));
    assert_eq!(policy.regime().unwrap(), &expected);
}

#[test]
fn adam_has_no_free_signs() {
    let free = settings().with("profile", "authors").with("signs", "free");
    let Err(error) = policy::build("ofu-relu", 2, &free, KEY) else { panic!("free signs were accepted and ignored") };
    assert!(error.to_string().starts_with("signs = free is out of range: ones where Adam fits the network"));
    assert!(policy::build("ofu-relu", 2, &free.with("fit", "lm"), KEY).is_ok());
}

#[test]
fn the_profile_is_its_switches_and_each_can_be_taken_back() {
    let switches = || {
        settings()
            .with("fit", "adam")
            .with("norm_bound", (3.0 * NEURONS as f64).sqrt())
            .with("radius_sigma", 0.05)
            .with("log_det", "twice")
            .with("drop_last", true)
            .with("late_radius", true)
    };
    let taken_back = settings()
        .with("profile", "authors")
        .with("fit", "lm")
        .with("norm_bound", (5.0 * NEURONS as f64).sqrt())
        .with("radius_sigma", PAPER.sigma)
        .with("log_det", "ratio")
        .with("drop_last", false)
        .with("late_radius", false);
    for rounds in [5, EXPLORE, 60] {
        let history = History::new(rounds);
        let saved = |settings: &Settings| learn(settings, &history).0.snapshot().unwrap();
        assert_eq!(saved(&settings().with("profile", "authors")), saved(&switches()));
        assert_eq!(saved(&taken_back), saved(&settings()));
    }
}
