//! Long lives: 5,000 rounds in which a policy is saved and restored again and again, and goes on to the bit beside one
//! that never was. The conformance suite plays sixty, in which no history is condensed and no network frozen, let alone
//! thawed.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on must fail")]

use reluctant::policy::{self, BUILT_IN, Policy};
use reluctant::rng::{Purpose, normal, unit_vector};
use reluctant::{Key, Means, Noise, ReluNet, Round, Rows, Scratch, Settings, Snapshot};

const DIM: usize = 2;
const ROUNDS: u64 = 5000;
const SIGMA: f64 = 0.1;
/// The network behind the rewards changes twice.
const CHANGES: [u64; 2] = [2200, 3600];
/// Rounds between two restorations: more than a small budget, so that a history is condensed between any two.
const EVERY: u64 = 249;
/// Rounds of the methods that train on the whole history in every one: 5,000 would take minutes.
const TRAINED_ROUNDS: u64 = 400;

/// Rounds of Gaussian processes, which have kept all points that they may long before.
const PROCESS_ROUNDS: u64 = 1500;

/// The rewards' network in a round.
fn truth(round: u64) -> ReluNet {
    let epoch = CHANGES.iter().filter(|change| round >= **change).count() as u64;
    ReluNet::random(DIM, 3, &mut Key::new(1 + epoch).stream())
}

fn arms(round: u64, count: usize) -> Vec<f64> {
    let mut stream = Key::new(77).round(round).purpose(Purpose::Arms).stream();
    let mut arms = vec![0.0; count * DIM];
    arms.chunks_exact_mut(DIM).for_each(|x| unit_vector(&mut stream, x));
    arms
}

/// A policy, and one that was restored from it now and then.
struct Life {
    original: Box<dyn Policy>,
    restored: Box<dyn Policy>,
    scratches: [Scratch; 2],
    truth: ReluNet,
    count: usize,
}

impl Life {
    fn new(name: &str, settings: &Settings, count: usize) -> Self {
        let original = policy::build(name, DIM, settings, Key::new(3)).unwrap();
        let restored = restore(&saved(original.as_ref()));
        Life { original, restored, scratches: Default::default(), truth: truth(0), count }
    }

    /// Both choose and learn.
    fn play(&mut self, round: u64) {
        if CHANGES.contains(&round) {
            self.truth = truth(round);
        }
        let arms = arms(round, self.count);
        let rows = Rows::new(DIM, &arms).unwrap();
        let means: Vec<f64> = rows.iter().map(|x| self.truth.value(x)).collect();
        let noise = SIGMA * normal(&mut Key::new(78).round(round).purpose(Purpose::Noise).stream());
        let [scratch, other] = &mut self.scratches;
        let given = Round { offer: rows.into(), means: Means::Each(&means), noise: Noise::Added(noise) };
        let choice = self.original.select_in(&given, Key::new(5).round(round), scratch).unwrap();
        let same = self.restored.select_in(&given, Key::new(5).round(round), other).unwrap();
        let bits = |score: &reluctant::Score| [score.mean.to_bits(), score.width.to_bits()];
        assert_eq!(choice.index, same.index, "{}, round {round}", self.original.name());
        assert_eq!(bits(&choice.score), bits(&same.score), "{}, round {round}", self.original.name());
        let reward = given.reward(&choice, given.mean(&choice).unwrap());
        self.original.update(&choice, reward).unwrap();
        self.restored.update(&choice, reward).unwrap();
    }

    /// Compares the states, and restores one anew; what was saved.
    fn restore(&mut self, round: u64) -> Snapshot {
        let text = saved(self.original.as_ref());
        assert!(text == saved(self.restored.as_ref()), "{}: states differ after {round}", self.original.name());
        self.restored = restore(&text);
        Snapshot::parse(&text).unwrap()
    }
}

fn saved(policy: &dyn Policy) -> String {
    policy.snapshot().unwrap().to_json().unwrap()
}

fn restore(text: &str) -> Box<dyn Policy> {
    Snapshot::parse(text).unwrap().restore().unwrap()
}

/// What a life of `plausible` saw.
#[derive(Debug, Default)]
struct Seen {
    frozen: u32,
    thawed: u64,
    /// Observations became fewer while networks were refitted, and while one was frozen.
    condensed_awake: bool,
    condensed_frozen: bool,
    /// Times at which it was restored frozen, and restored after a thaw, not frozen.
    restored_frozen: u32,
    restored_thawed: u32,
}

/// A life of `plausible` with a small budget, so that its history is condensed again and again.
fn life_of_plausible(settings: Settings) -> Seen {
    let settings = settings.with("sigma", SIGMA).with("networks", 6u64).with("budget", 100u64);
    let mut life = Life::new("plausible", &settings, 40);
    let (mut seen, mut was_frozen) = (Seen::default(), false);
    // The stage, the round and the number of observations at the last restoration.
    let mut last = (false, 0, 0);
    for round in 0..ROUNDS {
        life.play(round);
        let frozen = life.original.explain(&[1.0, 0.0]).unwrap().model.contains("frozen");
        seen.frozen += u32::from(frozen && !was_frozen);
        // Also right after every change of stage.
        if round % EVERY == 0 || frozen != was_frozen {
            let state = life.restore(round).state;
            let kept = state["belief"]["history"]["numbers"].as_array().unwrap().len() as u64;
            // Fewer than those kept before and those that came since, in one and the same stage.
            let condensed = last.0 == frozen && kept < last.2 + round - last.1;
            last = (frozen, round, kept);
            seen.thawed = state["belief"]["woken"].as_u64().unwrap();
            seen.condensed_awake |= condensed && !frozen;
            seen.condensed_frozen |= condensed && frozen;
            seen.restored_frozen += u32::from(frozen);
            seen.restored_thawed += u32::from(!frozen && seen.thawed > 0);
            assert_eq!(frozen, !state["frozen"].is_null());
            assert!(kept <= 400, "{kept} observations are kept of 4·100 allowed");
        }
        was_frozen = frozen;
    }
    life.restore(ROUNDS);
    seen
}

#[test]
fn plausible_freezes_condenses_and_thaws_and_goes_on_to_the_bit() {
    let told = Settings::new().with("neurons", 3u64);
    for settings in [told.clone(), told.clone().with("mode", "sampling"), told.with("signs", "free")] {
        let seen = life_of_plausible(settings.clone());
        assert!(seen.frozen >= 1 && seen.thawed >= 1, "{settings:?}: {seen:?}");
        assert!(seen.condensed_awake && seen.condensed_frozen, "{settings:?}: {seen:?}");
        assert!(seen.restored_frozen >= 2 && seen.restored_thawed >= 1, "{settings:?}: {seen:?}");
    }
}

/// The same without being told the size: whatever it does, what was restored does too.
#[test]
fn plausible_of_unknown_size_goes_on_to_the_bit() {
    let seen = life_of_plausible(Settings::new());
    assert!(seen.condensed_awake || seen.condensed_frozen, "{seen:?}");
}

/// Every other policy, in every sample configuration.
fn lives(wanted: impl Fn(&str) -> bool) {
    let mut lived = 0;
    for entry in BUILT_IN.iter().filter(|entry| entry.name != "plausible" && wanted(entry.name)) {
        for sample in entry.samples {
            let rounds = match entry.name {
                _ if sample.name.contains("zhou") => TRAINED_ROUNDS,
                "gp-ucb" | "gp-ts" => PROCESS_ROUNDS,
                _ => ROUNDS,
            };
            let mut life = Life::new(entry.name, &sample.settings(), 12);
            for round in 0..rounds {
                life.play(round);
                // Often at first, then ever more rarely.
                if round % EVERY == 0 || (round + 1).is_power_of_two() {
                    life.restore(round);
                }
            }
            life.restore(rounds);
            lived += 1;
        }
    }
    assert!(lived > 0);
}

#[test]
fn linear_policies_go_on_to_the_bit() {
    lives(|name| ["uniform", "oracle", "oful", "lin-ts"].contains(&name));
}

#[test]
fn gaussian_processes_go_on_to_the_bit() {
    lives(|name| name.starts_with("gp-"));
}

#[test]
fn networks_go_on_to_the_bit() {
    lives(|name| name.starts_with("ofu-relu"));
}

#[test]
fn trained_networks_go_on_to_the_bit() {
    lives(|name| name.starts_with("neural"));
}
