//! Algorithm 2: when batches end, how long each explores, what is fitted to what, and what is kept.

#![allow(clippy::unwrap_used, clippy::panic)]

use reluctant::estimate::{self, FitOptions, Samples};
use reluctant::policy::{self, OfuReluPlus};
use reluctant::{FrozenRelu, Key, Policy, RoundMemory, Scratch, Settings, env};

const KEY: Key = Key::new(11);
const NEURONS: usize = 3;
const LAMBDA: f64 = 0.01;

/// What was seen before a round's choice, and what was chosen.
struct Round {
    batch: u32,
    nu: f64,
    exploring: bool,
    policy: OfuReluPlus,
    /// E and Z as they are saved.
    explored: Data,
    all: Data,
    /// What was on offer, and what was chosen.
    arms: Vec<f64>,
    action: Vec<f64>,
    reward: f64,
}

#[derive(Clone, Default, Debug, PartialEq)]
struct Data {
    xs: Vec<f64>,
    ys: Vec<f64>,
}

impl Data {
    fn push(&mut self, round: &Round) {
        self.xs.extend_from_slice(&round.action);
        self.ys.push(round.reward);
    }
}

fn play(settings: Settings, rounds: u64) -> Vec<Round> {
    let settings = settings.with("neurons", NEURONS as u64).with("lambda", LAMBDA);
    let environment = env::build("relu-sphere", &Settings::new().with("arms", 30u64), KEY).unwrap();
    let mut policy = policy::build("ofu-relu-plus", environment.space(), &settings, KEY).unwrap();
    let mut scratch = Scratch::default();
    let mut seen = Vec::new();
    for t in 1..=rounds {
        let state = policy.snapshot().unwrap().state;
        let numbers = |name: &str| serde_json::from_value::<Vec<f64>>(state[name].clone()).unwrap();
        let explored = Data { xs: numbers("explored_xs"), ys: numbers("explored_ys") };
        let all = Data { xs: numbers("xs"), ys: numbers("ys") };
        let concrete: OfuReluPlus = serde_json::from_value(state.clone()).unwrap();
        let mut memory = RoundMemory::default();
        let offered = environment.round(t, &mut memory).unwrap();
        let arms = offered.offer.rows("test").unwrap().data().to_vec();
        let choice = policy.select(offered.offer, KEY.round(t), &mut scratch).unwrap();
        let reward = offered.reward(&choice, offered.mean(&choice).unwrap());
        let action = choice.action.into_owned();
        policy.update(&action, reward).unwrap();
        let (batch, nu, exploring) = (concrete.batch(), concrete.nu(), concrete.exploring());
        seen.push(Round { batch, nu, exploring, policy: concrete, explored, all, arms, action, reward });
    }
    seen
}

fn schedule(first_batch: u64, a: f64, b: f64, explore: u64) -> Settings {
    Settings::new().with("first_batch", first_batch).with("a", a).with("b", b).with("explore", explore)
}

/// Three batches of 40, 80 and 160 rounds; exploration of 20, then 3, then 5 more.
fn usual() -> Vec<Round> {
    play(schedule(40, 2.0, 2f64.powf(1.0 / 32.0), 20), 280)
}

#[test]
fn batch_i_ends_at_a_to_the_i_minus_one_times_t1_and_guesses_nu0_over_b_to_the_i() {
    for (first_batch, a, b) in [(40, 2.0, 1.02), (25, 1.5, 1.01), (7, 3.0, 1.1)] {
        for (t, round) in (1..).zip(play(schedule(first_batch, a, b, 5).with("nu0", 0.3), 200)) {
            let end = |i: i32| ((a.powi(i) - 1.0) * first_batch as f64).floor();
            let i = (1..).find(|i| f64::from(t) <= end(*i)).unwrap();
            assert_eq!(round.batch, i as u32, "round {t} with T1 = {first_batch}, a = {a}");
            assert!((round.nu - 0.3 / b.powi(i)).abs() < 1e-12 * round.nu, "round {t}");
        }
    }
}

#[test]
fn each_batch_begins_with_the_exploration_that_its_guess_still_needs() {
    let b = 2f64.powf(1.0 / 32.0);
    let rounds = usual();
    // t0(ν_i) = t0(ν_1)·(ν_1/ν_i)^8, in whole samples.
    let needed = |i: i32| if i == 0 { 0 } else { (20.0 * b.powi(8 * (i - 1))).floor() as usize };
    assert_eq!([needed(1), needed(2), needed(3)], [20, 23, 28]);
    for i in 1..=3 {
        let batch: Vec<bool> = rounds.iter().filter(|r| r.batch == i as u32).map(|r| r.exploring).collect();
        let length = needed(i) - needed(i - 1);
        assert!(batch[..length].iter().all(|exploring| *exploring), "batch {i}");
        assert!(batch[length..].iter().all(|exploring| !exploring), "batch {i}");
    }
}

#[test]
fn a_batch_shorter_than_its_exploration_is_all_exploration_and_the_next_goes_on() {
    // Batches end at 10, 30, 70, …; the first needs 50 samples, the third 50·1.02^16 = 68.
    let rounds = play(schedule(10, 2.0, 1.02, 50), 80);
    let explored = rounds.iter().take_while(|r| r.exploring).count();
    assert!(rounds[..30].iter().all(|r| r.exploring && r.policy.regime().is_none()));
    assert_eq!(rounds[explored - 1].batch, 3);
    assert_eq!(explored, (50.0 * 1.02f64.powi(16)).floor() as usize);
    assert!(!rounds[explored].exploring);
}

/// The theory's exploration is beyond any horizon.
#[test]
fn the_literal_schedule_explores_throughout() {
    let rounds = play(schedule(20, 2.0, 1.02, 5).with("schedule", "literal"), 200);
    assert!(rounds.iter().all(|r| r.exploring && r.policy.regime().is_none()));
    assert_eq!(rounds.last().unwrap().batch, 4);
}

/// Bit for bit: the regime is the one that a new regression on the newest Θ̃ builds from all that was seen.
#[test]
fn every_sample_ever_seen_is_featurised_with_the_newest_fit() {
    let mut all = Data::default();
    let (mut networks, mut compared) = (Vec::new(), 0);
    for round in usual() {
        if let Some(regime) = round.policy.regime() {
            let mut rebuilt = FrozenRelu::new(regime.network().clone(), LAMBDA);
            for (x, y) in all.xs.chunks_exact(2).zip(&all.ys) {
                rebuilt.update(x, *y);
            }
            assert_eq!(regime.ellipsoid(), rebuilt.ellipsoid());
            compared += 1;
            if networks.last() != Some(regime.network()) {
                networks.push(regime.network().clone());
            }
        }
        all.push(&round);
    }
    assert_eq!(compared, 260);
    assert_eq!(networks.len(), 3, "one network a batch");
}

/// E holds the exploration alone, Z everything; Θ̃ is fitted to E.
#[test]
fn explored_and_all_samples_are_kept_apart() {
    let (mut explored, mut all) = (Data::default(), Data::default());
    let (mut fits, mut previous) = (0, None);
    for round in usual() {
        assert_eq!(round.explored, explored);
        assert_eq!(round.all, all);
        if let Some(regime) = round.policy.regime() {
            let network = regime.network();
            if previous.as_ref() != Some(network) {
                assert!(!round.exploring);
                let key = KEY.round(u64::from(round.batch) << 32);
                let fit = |data: &Data| {
                    let samples = Samples::new(2, &data.xs, &data.ys).unwrap();
                    estimate::fit(samples, NEURONS, &FitOptions::default(), key).unwrap().net.directions()
                };
                assert_eq!(*network, fit(&explored));
                assert!(fits == 0 || *network != fit(&all));
                previous = Some(network.clone());
                fits += 1;
            }
        }
        all.push(&round);
        if round.exploring {
            explored.push(&round);
        }
    }
    assert_eq!(fits, 3);
    assert_eq!((explored.ys.len(), all.ys.len()), (28, 280));
}

/// Optimism looks at X(Θ̃, ν_i/2) alone, as long as an arm lies there.
#[test]
fn choices_keep_the_distance_that_the_batch_guesses() {
    let mut kept = 0;
    for round in play(schedule(40, 2.0, 1.02, 20).with("nu0", 0.5), 120) {
        let Some(regime) = round.policy.regime().filter(|_| !round.exploring) else { continue };
        let inside = |x: &[f64]| regime.network().in_region(x, round.nu / 2.0);
        if round.arms.chunks_exact(2).any(inside) {
            assert!(inside(&round.action));
            kept += usize::from(round.arms.chunks_exact(2).any(|x| !inside(x)));
        }
    }
    assert!(kept > 50, "the restriction was put to the test {kept} times");
}
