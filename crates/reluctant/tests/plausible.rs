//! The policy `plausible` where its promises can be tested: it freezes and thaws, says what it does, and survives
//! rewards that no network explains.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on must fail")]

use std::ops::Range;

use reluctant::env;
use reluctant::policy::{self, Fitted, Policy};
use reluctant::rng::{Purpose, normal, unit_vector};
use reluctant::{Key, Offer, ReluNet, Rows, Scratch, Settings};

const DIM: usize = 2;
const ARMS: usize = 200;

fn arms(game: u64, round: u64, dim: usize) -> Vec<f64> {
    let mut stream = Key::new(77).trial(game).round(round).purpose(Purpose::Arms).stream();
    let mut arms = vec![0.0; ARMS * dim];
    arms.chunks_exact_mut(dim).for_each(|x| unit_vector(&mut stream, x));
    arms
}

/// Plays `rounds` rounds in an environment of mean reward `mean` and noise `noise`; the regret.
fn play(
    policy: &mut dyn Policy,
    rounds: Range<u64>,
    mean: impl Fn(&[f64]) -> f64,
    noise: impl FnMut(u64) -> f64,
) -> f64 {
    play_game(0, policy, rounds, mean, noise)
}

/// The same with other arms for every `game`.
fn play_game(
    game: u64,
    policy: &mut dyn Policy,
    rounds: Range<u64>,
    mean: impl Fn(&[f64]) -> f64,
    mut noise: impl FnMut(u64) -> f64,
) -> f64 {
    let (mut scratch, mut regret) = (Scratch::default(), 0.0);
    for round in rounds {
        let arms = arms(game, round, policy.dim());
        let choice =
            policy.select(Offer::finite(policy.dim(), &arms).unwrap(), Key::new(5).round(round), &mut scratch).unwrap();
        let best = arms.chunks_exact(policy.dim()).map(&mean).fold(f64::MIN, f64::max);
        let action = choice.action.into_owned();
        regret += best - mean(&action);
        policy.update(&action, mean(&action) + noise(round)).unwrap();
    }
    regret
}

fn gaussian(sigma: f64) -> impl FnMut(u64) -> f64 {
    move |round| sigma * normal(&mut Key::new(78).round(round).purpose(Purpose::Noise).stream())
}

fn plausible(settings: Settings) -> Box<dyn Policy> {
    policy::build("plausible", DIM, &settings, Key::new(3)).unwrap()
}

fn told(neurons: u64, sigma: f64) -> Settings {
    Settings::new().with("neurons", neurons).with("sigma", sigma)
}

fn truth(seed: u64, neurons: usize) -> ReluNet {
    ReluNet::random(DIM, neurons, &mut Key::new(seed).stream())
}

#[test]
fn it_finds_the_best_arm_without_being_told_anything() {
    for seed in 0..4 {
        let truth = truth(seed, 3);
        let mut policy = plausible(Settings::new());
        play(policy.as_mut(), 0..150, |x| truth.value(x), gaussian(0.1));
        let late = play(policy.as_mut(), 150..250, |x| truth.value(x), gaussian(0.1));
        let explanation = policy.explain(&[1.0, 0.0]).unwrap();
        assert!(late < 0.03 * 100.0, "seed {seed}: {late}, {explanation:?}");
        assert!(explanation.why.contains("evidence"), "{explanation:?}");
        assert_eq!(explanation.warning, None);
    }
}

#[test]
fn networks_of_any_length_do_not_depend_on_the_unit_of_the_rewards() {
    let regret = |unit: f64, noise_is_told: bool| {
        let game = |seed: u64| {
            let mut stream = Key::new(seed).stream();
            let theta = (0..8).map(|_| unit * normal(&mut stream)).collect();
            let truth = ReluNet::with_signs(DIM, theta, vec![1.0, -1.0, 1.0, -1.0]).unwrap();
            let settings = if noise_is_told { told(4, 0.1 * unit) } else { Settings::new().with("neurons", 4u64) };
            let mut policy = plausible(settings.with("signs", "free"));
            play_game(seed, policy.as_mut(), 0..150, |x| truth.value(x), gaussian(0.1 * unit)) / unit
        };
        (0..6).map(game).sum::<f64>() / 6.0
    };
    for (noise_is_told, units) in [(true, [1e-12, 1e6]), (false, [1e-6, 1e6])] {
        let usual = regret(1.0, noise_is_told);
        for unit in units {
            let found = regret(unit, noise_is_told);
            assert!(found < 1.4 * usual, "{found} instead of {usual} with rewards of about {unit}, {noise_is_told}");
        }
    }
}

#[test]
fn it_freezes_once_the_networks_agree_and_thaws_when_the_environment_changes() {
    let (before, after) = (truth(1, 3), truth(2, 3));
    let mut policy = plausible(told(3, 0.1));
    play(policy.as_mut(), 0..1500, |x| before.value(x), gaussian(0.1));
    let frozen = policy.explain(&[1.0, 0.0]).unwrap();
    assert!(frozen.model.contains("frozen") && !frozen.exploring, "{frozen:?}");
    play(policy.as_mut(), 1500..1700, |x| after.value(x), gaussian(0.1));
    let thawed = policy.explain(&[1.0, 0.0]).unwrap();
    assert!(!thawed.model.contains("frozen") && thawed.warning.unwrap().contains("turned out wrong once"));
}

#[test]
fn the_frozen_stage_plays_on_the_sphere_and_with_the_radius_of_the_theorem() {
    let truth = truth(1, 3);
    for radius in ["measured", "theorem"] {
        let mut policy = plausible(told(3, 0.1).with("radius", radius));
        play(policy.as_mut(), 0..1500, |x| truth.value(x), gaussian(0.1));
        assert!(policy.explain(&[1.0, 0.0]).unwrap().model.contains("frozen"));
        let choice = policy.select(Offer::Sphere { dim: DIM }, Key::new(1), &mut Scratch::default()).unwrap();
        let best = reluctant::geometry::best_action(&truth, 100_000).unwrap().f_star;
        assert!(truth.value(&choice.action) > best - 0.1, "{radius}");
    }
}

#[test]
fn before_it_is_frozen_it_also_chooses_from_the_sphere() {
    let truth = truth(4, 3);
    let best = reluctant::geometry::best_action(&truth, 100_000).unwrap().f_star;
    let mut policy = plausible(told(3, 0.01));
    let mut noise = gaussian(0.01);
    for round in 0..60 {
        let choice =
            policy.select(Offer::Sphere { dim: DIM }, Key::new(5).round(round), &mut Scratch::default()).unwrap();
        let action = choice.action.into_owned();
        policy.update(&action, truth.value(&action) + noise(round)).unwrap();
        assert!(round < 50 || truth.value(&action) > best - 0.05, "round {round}");
    }
}

#[test]
fn sampling_draws_a_network_on_the_sphere_too() {
    let truth = truth(4, 3);
    let mut policy = plausible(told(3, 0.01).with("mode", "sampling"));
    let select = |policy: &dyn Policy, key: Key| {
        let choice = policy.select(Offer::Sphere { dim: DIM }, key, &mut Scratch::default()).unwrap();
        choice.action.into_owned()
    };
    let spread = |policy: &dyn Policy| {
        let first = select(policy, Key::new(6));
        let apart = |action: Vec<f64>| action.iter().zip(&first).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        (0..8).map(|draw| apart(select(policy, Key::new(6).round(draw)))).fold(0.0, f64::max)
    };
    assert!(spread(policy.as_ref()) > 0.5, "of nothing known draws want the same");
    let mut noise = gaussian(0.01);
    for round in 0..20 {
        let action = select(policy.as_ref(), Key::new(5).round(round));
        policy.update(&action, truth.value(&action) + noise(round)).unwrap();
    }
    assert!(spread(policy.as_ref()) < 0.1, "after twenty rounds draws still want different actions");
}

#[test]
fn told_neurons_rewards_that_no_network_explains_end_in_the_linear_model() {
    check_what_no_network_explains(&told(3, 0.1), &STRAIGHT);
    check_what_no_network_explains(&told(3, 0.1), &ODD);
}

#[test]
fn told_nothing_straight_rewards_end_in_the_linear_model() {
    check_what_no_network_explains(&Settings::new(), &STRAIGHT);
}

#[test]
fn told_nothing_odd_rewards_cost_no_more_than_a_linear_model() {
    check_what_no_network_explains(&Settings::new(), &ODD);
}

/// A name, mean rewards, their noise, and whether there is a warning.
type Case = (&'static str, fn(&[f64]) -> f64, f64, bool);

const STRAIGHT: [Case; 2] =
    [("linear", |x| 20.0 * x[0] - 6.0 * x[1], 2.0, true), ("offset", |x| 40.0 + x[0], 0.1, true)];

const ODD: [Case; 3] = [
    ("large", |x| 1e6 * (x[0].max(0.0) + x[1].max(0.0)), 1e5, true),
    ("small", |x| 1e-6 * (x[0].max(0.0) + x[1].max(0.0)), 1e-7, true),
    ("noise", |_| 0.0, 1.0, false),
];

/// Rewards that no network of the range explains: no more than half worse than a linear bandit with a constant.
fn check_what_no_network_explains(settings: &Settings, cases: &[Case]) {
    for &(name, mean, sigma, flagged) in cases {
        let mut policy = plausible(settings.clone());
        let (mut regret, mut allowed) = (0.0, 0.0);
        for game in 0..4 {
            policy = plausible(settings.clone());
            regret += play_game(game, policy.as_mut(), 0..150, mean, gaussian(sigma));
            let linear = Settings::new().with("features", "constant").with("sigma", sigma);
            let mut rival = policy::build("oful", DIM, &linear, Key::new(3)).unwrap();
            allowed += 1.5 * play_game(game, rival.as_mut(), 0..150, mean, gaussian(sigma));
        }
        assert!(regret <= allowed + 1e-9, "{name}: {regret} is above {allowed}");
        let warning = policy.explain(&[1.0, 0.0]).unwrap().warning;
        // Networks of any signs and lengths, which there are if nothing is told, explain all but an offset.
        let is_explained = *settings == Settings::new() && name != "offset";
        assert!(!flagged || is_explained || warning.is_some(), "{name}");
    }
}

/// Networks can imitate a linear function where it is played: if all neurons point to the first action they explain an
/// offset, and say that nothing is better. So it is looked into what a linear function hopes for, and evidence decides.
#[test]
fn a_linear_function_is_not_taken_for_neurons() {
    let (not_told, three, five) = (Settings::new(), told(3, 0.1), told(5, 0.1));
    let cases = [
        (2, &not_told, 2.0, 10.0),
        (2, &not_told, 2.0, 14.0),
        (2, &three, 1.0, 3.0),
        (2, &three, 0.5, 3.0),
        (5, &five, 1.0, 0.0),
    ];
    for (dim, settings, slope, offset) in cases {
        let mean = |x: &[f64]| slope * (0.8 * x[0] - 0.6 * x[1]) + offset;
        let (mut regret, mut allowed) = (0.0, 0.0);
        // Told nothing, the first two actions are anything, and cost more or less.
        let games = if settings == &not_told { 8 } else { 4 };
        for game in 0..games {
            let mut policy = policy::build("plausible", dim, settings, Key::new(3)).unwrap();
            regret += play_game(game, policy.as_mut(), 0..100, mean, gaussian(0.1));
            let linear = Settings::new().with("features", "constant").with("sigma", 0.1);
            let mut rival = policy::build("oful", dim, &linear, Key::new(3)).unwrap();
            allowed += 1.5 * play_game(game, rival.as_mut(), 0..100, mean, gaussian(0.1));
            let explanation = policy.explain(&vec![1.0; dim]).unwrap();
            assert!(explanation.warning.is_some(), "{slope} {offset} {game}: {explanation:?}");
        }
        assert!(regret <= allowed, "{slope} {offset}: {regret} is above {allowed}");
    }
}

/// The reason given is the one that decides: whoever acts after a comparison of evidence is not said to have less.
#[test]
fn reasons_are_the_ones_that_decide() {
    let truths: [fn(&[f64]) -> f64; 4] = [
        |x| x[0].max(0.0) + (0.6 * x[0] + 0.8 * x[1]).max(0.0),
        |x| 2.0 * x[0] - x[1],
        |x| libm::sin(9.0 * x[1]),
        |_| 1.0,
    ];
    let mut reasons = std::collections::BTreeSet::new();
    for (game, mean) in (0..).zip(truths) {
        for sigma in [0.0, 0.1] {
            let mut policy = plausible(Settings::new());
            for rounds in [0..1, 1..2, 2..6, 6..20, 20..60, 60..140] {
                let said = policy.explain(&[1.0, 0.0]).unwrap();
                let context = format!("game {game}, σ = {sigma}, before round {}: {said:?}", rounds.start);
                assert!(
                    !said.why.contains("by -") && !said.why.contains("by 0.0 ") && !said.why.contains("NaN"),
                    "{context}"
                );
                assert_eq!(rounds.start == 0, said.why.starts_with("nothing was seen yet"), "{context}");
                if rounds.start == 1 {
                    assert!(!said.why.contains("observations"), "{context}");
                }
                if said.why.starts_with("its evidence is below") && said.model.starts_with("a Gaussian process") {
                    assert!(said.why.contains("in the first rounds"), "{context}");
                }
                reasons.insert(said.why.chars().filter(|c| c.is_alphabetic()).take(40).collect::<String>());
                play_game(game, policy.as_mut(), rounds, mean, gaussian(sigma));
            }
            let warning = policy.explain(&[1.0, 0.0]).unwrap().warning;
            let alike = game == 3 && sigma == 0.0;
            assert_eq!(alike, warning.is_some_and(|text| text.starts_with("all 140 rewards so far were 1:")));
        }
    }
    assert!(reasons.len() >= 5, "{reasons:?}");
}

/// Sizes are compared by their predictions: where all are absurd, none is worse than another, and the
/// state stays one that can be saved.
#[test]
fn absurd_rewards_leave_something_to_choose_by() {
    for scale in [1e98, 1e-98] {
        let mut policy = plausible(Settings::new());
        play(policy.as_mut(), 0..40, |x| scale * x[0], gaussian(scale));
        let score = policy.explain(&[1.0, 0.0]).unwrap();
        assert!(score.mean.is_finite() && score.spread.is_finite(), "{scale}: {score:?}");
        assert!(policy.snapshot().unwrap().restore().is_ok(), "{scale}");
    }
}

#[test]
fn heavy_tails_do_not_stop_it() {
    let truth = truth(6, 3);
    let (mut regret, mut allowed, mut within) = (0.0, 0.0, 0);
    for game in 0..16 {
        let cauchy = |round: u64| {
            let mut stream = Key::new(79).trial(game).round(round).stream();
            0.1 * normal(&mut stream) / normal(&mut stream)
        };
        let mut policy = plausible(told(3, 0.1));
        let ours = play_game(game, policy.as_mut(), 0..400, |x| truth.value(x), cauchy);
        let linear = Settings::new().with("features", "constant");
        let mut rival = policy::build("oful", DIM, &linear, Key::new(3)).unwrap();
        let most = 1.5 * play_game(game, rival.as_mut(), 0..400, |x| truth.value(x), cauchy);
        (regret, allowed, within) = (regret + ours, allowed + most, within + u32::from(ours <= most));
    }
    assert!(regret <= allowed, "{regret} is above {allowed}");
    // Noise without a mean decides single games.
    assert!(within >= 12, "only {within} of 16 games");
}

/// An experiment tells the number of neurons where they are what `plausible` then takes them to be.
#[test]
fn only_the_number_of_the_paper_s_neurons_is_told() {
    let is_told = |environment: &str, given: &[(&str, &str)]| {
        let settings = given.iter().fold(Settings::new(), |all, (name, value)| all.with(name, *value));
        let facts = env::build(environment, &settings, Key::new(1)).unwrap().facts();
        let told = policy::tell(policy::find("plausible").unwrap(), &Settings::new(), &facts);
        assert!(told.get("sigma").is_some() || given.contains(&("noise", "bernoulli")));
        told.get("neurons").is_some()
    };
    assert!(is_told("relu-sphere", &[]));
    assert!(!is_told("relu-sphere", &[("signs", "random")]));
    assert!(!is_told("relu-sphere", &[("lengths", "0.5, 2")]));
    assert!(!is_told("relu-sphere", &[("activation", "leaky")]));
    assert!(!is_told("relu-sphere", &[("noise", "bernoulli")]));
    assert!(is_told("contexts", &[]));
    assert!(!is_told("contexts", &[("signs", "random")]));
}

#[test]
fn auto_and_nothing_are_the_same() {
    let auto = ["neurons", "sigma", "signs", "biases"].iter().fold(Settings::new(), |all, name| all.with(name, "auto"));
    let mean = |x: &[f64]| x[0].max(0.0);
    let mut played = [Settings::new(), Settings::new().with("neurons", 0u64), auto].map(plausible);
    let paid = played.each_mut().map(|policy| play(policy.as_mut(), 0..30, mean, gaussian(0.1)));
    assert_eq!(paid, [paid[0]; 3]);
}

/// A wedge around one direction: without biases two neurons cannot make it.
#[test]
fn neurons_with_biases_are_found_among_arms_and_on_the_sphere() {
    let best = [0.6, 0.8];
    let mean = |x: &[f64]| (3.0 * (best[0] * x[0] + best[1] * x[1]) - 2.0).max(0.0);
    let mut policy = plausible(told(1, 0.05).with("biases", true));
    play(policy.as_mut(), 0..100, mean, gaussian(0.05));
    let paid = play(policy.as_mut(), 100..200, mean, gaussian(0.05));
    assert!(paid < 5.0, "{paid}");
    let Some(Fitted::Networks(networks)) = policy.network() else { panic!("no networks") };
    assert!(networks.iter().all(|(_, network)| network.dim() == DIM + 1));
    assert!((policy.explain(&best).unwrap().mean - 1.0).abs() < 0.1);
    let offer = Offer::Sphere { dim: DIM };
    let choice = policy.select(offer, Key::new(6), &mut Scratch::default()).unwrap();
    assert!(choice.action.len() == DIM && mean(&choice.action) > 0.9, "{:?}", choice.action);
}

#[test]
fn what_cannot_be_together_is_refused_in_a_sentence() {
    let said = |dim: usize, settings: Settings| match policy::build("plausible", dim, &settings, Key::new(1)) {
        Ok(_) => "made".to_owned(),
        Err(error) => error.to_string(),
    };
    let both = Settings::new().with("signs", "ones").with("biases", true);
    assert!(said(2, both).starts_with("biases = true is out of range: false beside signs = \"ones\""));
    assert_eq!(said(2, Settings::new().with("signs", "free").with("biases", true)), "made");
    assert_eq!(said(1000, Settings::new()), "made");
    let far = "the number of features = 4001 (dim + 1) is out of range: at most 4000";
    assert_eq!((said(4000, Settings::new()), said(4000, told(3, 0.1))), (far.to_owned(), far.to_owned()));
}

/// There are no networks in so many dimensions, told or not, and what is said of the choice is true there, too.
#[test]
fn a_thousand_dimensions_are_left_to_the_process_and_the_line() {
    let dim = 1000;
    let build = |settings| policy::build("plausible", dim, &settings, Key::new(1)).unwrap();
    let (mut policy, mut told) = (build(Settings::new()), build(Settings::new().with("neurons", 3u64)));
    let mut arms = vec![0.0; 5 * dim];
    let mut stream = Key::new(2).stream();
    let mut scratch = Scratch::default();
    for round in 0..40 {
        arms.chunks_exact_mut(dim).for_each(|arm| unit_vector(&mut stream, arm));
        let rows = Rows::new(dim, &arms).unwrap();
        let key = Key::new(3).round(round);
        let row = policy.select(rows.into(), key, &mut scratch).unwrap().index.unwrap();
        assert_eq!(told.select(rows.into(), key, &mut scratch).unwrap().index, Some(row));
        for policy in [&mut policy, &mut told] {
            policy.update(rows.get(row), rows.get(row)[0].max(0.0)).unwrap();
        }
    }
    let said = policy.explain(&arms[..dim]).unwrap();
    assert!(said.why.starts_with("in 1000 dimensions networks have too many unknowns; its evidence "), "{said:?}");
    assert!(said.warning.is_none(), "{said:?}");
    let warned = "3 neurons were told in 1000 dimensions, too many unknowns for a fit: it acts as if untold";
    assert_eq!(told.explain(&arms[..dim]).unwrap().warning.as_deref(), Some(warned));
}
