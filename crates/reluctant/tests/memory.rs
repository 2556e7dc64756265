//! What rounds cost in memory: no allocation once a policy is warm, and no growth with T, except where
//! the method keeps the history.

#![allow(clippy::unwrap_used)]

use reluctant::policy::{self, BUILT_IN, Sample};
use reluctant::{Key, Policy, RoundMemory, Scratch, Settings, env};

/// The methods that keep the history, whose memory so grows with T, each with its reason.
const KEEP_HISTORY: &[(&str, &str)] = &[
    ("ofu-relu-plus", "re-featurises all samples at each batch"),
    ("neural-ucb", "trains on all samples at each round"),
    ("neural-ts", "trains on all samples at each round"),
    ("neural-linear", "trains on all samples now and then"),
    ("neural-linucb", "trains on all samples now and then"),
    ("nn-ucb", "trains on all samples now and then"),
    ("ensemble", "trains on all samples now and then"),
    ("lmc-ts", "walks over all samples"),
    ("epsilon-greedy", "keeps what its belief keeps: a network trains on all samples now and then"),
    ("square-cb", "keeps what its belief keeps: a network trains on all samples now and then"),
];

/// Methods that make their regressions anew, in fresh memory, whenever their network is trained.
const REMAKE: &[&str] = &["neural-linear", "neural-linucb", "nn-ucb", "epsilon-greedy", "square-cb"];

/// Methods that keep a part of the history, up to a bound.
const BOUNDED: &[(&str, &str)] = &[
    ("gp-ucb", "keeps so many points at most"),
    ("gp-ts", "keeps so many points at most"),
    ("nn-ucb", "its Gaussian process keeps so many points at most"),
    ("plausible", "keeps so many observations at most"),
    ("epsilon-greedy", "with a Gaussian process, which keeps so many points at most"),
    ("square-cb", "with a Gaussian process, which keeps so many points at most"),
];

/// The budget in the test of bounded memory: the least that every policy with a budget allows.
const BUDGET: u64 = 64;

/// Bytes that a full history of that budget may add to one that is not full: four times the budget where a network is
/// frozen, each observation with its action, reward and number, and the same again to condense it. All of 9,000
/// observations would be ten times as many.
const FULL_HISTORY: i64 = 32_768;

/// Bytes that are kept to work in where an inverse is refined for the first time, which may be late.
const WORK: i64 = 8192;

/// Bytes that a round may add to a history that keeps everything: an action in the plane, with a constant where neurons
/// have biases, its reward, and as much again, because memory doubles where it is full.
const A_ROUND: i64 = 2 * 4 * 8;

/// The same where networks with heads are trained: action and reward once more, scaled, what a prior function leaves of
/// the reward, the head, and the place in the order of samples.
const A_TRAINED_ROUND: i64 = 2 * (2 * 3 * 8 + 8 + 4 + 4);

/// Bytes that are kept to work in once regressions on 64 hidden units and a one are made: three matrices.
const REGRESSIONS: i64 = 3 * 65 * 65 * 8;

/// Memory that is shared between uses may grow once more where they come in another order.
const SETTLING: u64 = 2;

/// A history that grows moves now and then, each of its parts by itself.
const GROWTH: u64 = 6;

/// The history of networks with heads has more parts: what is scaled, and the order of samples.
const TRAINED_GROWTH: u64 = 16;

/// A batch of `ofu-relu-plus` begins with a fit, a training of a network ends with regressions.
const BATCHES: u64 = 300;

/// A search for hyperparameters looks at observations and matrices in memory of its own, some ten pieces a candidate.
const SEARCHES: u64 = 7000;

fn names(list: &[(&str, &str)], name: &str) -> bool {
    list.iter().any(|(policy, _)| *policy == name)
}

/// A policy in a small environment, and a way to play on.
struct Game {
    environment: Box<dyn env::Environment>,
    policy: Box<dyn Policy>,
    scratch: Scratch,
    memory: RoundMemory,
    round: u64,
}

impl Game {
    fn new(name: &str, sample: &Sample) -> Self {
        Self::with(sample.settings(), Settings::new(), name, sample)
    }

    /// With other settings than the sample's, and in another environment.
    fn with(settings: Settings, environment: Settings, name: &str, sample: &Sample) -> Self {
        let key = Key::new(5);
        let environment = env::build(sample.environment, &environment.with("arms", 100u64), key).unwrap();
        let entry = policy::find(name).unwrap();
        let settings = policy::tell(entry, &settings, &environment.facts());
        let policy = policy::build(name, environment.space(), &settings, key).unwrap();
        Game { environment, policy, scratch: Scratch::default(), memory: RoundMemory::default(), round: 0 }
    }

    /// Plays so many rounds; how often `select` and `update` allocated.
    fn play(&mut self, rounds: u64) -> u64 {
        let mut total = 0;
        for _ in 0..rounds {
            self.round += 1;
            let Game { environment, policy, scratch, memory, round } = self;
            let offered = environment.round(*round, memory).unwrap();
            let counted = allocation_counter::measure(|| {
                let choice = policy.select_in(&offered, Key::new(5).round(*round), scratch).unwrap();
                let reward = offered.reward(&choice, offered.mean(&choice).unwrap());
                policy.update(&choice, reward).unwrap();
            });
            total += counted.count_total;
        }
        total
    }

    fn size(&self) -> usize {
        self.policy.snapshot().unwrap().to_json().unwrap().len()
    }
}

fn for_each_sample(mut check: impl FnMut(&'static str, &'static Sample)) {
    for entry in BUILT_IN {
        entry.samples.iter().for_each(|sample| check(entry.name, sample));
    }
}

/// How many allocations are a policy's right in a few hundred rounds.
fn allowed(name: &str, sample: &Sample) -> u64 {
    let growth = match name {
        "ensemble" | "lmc-ts" => TRAINED_GROWTH,
        _ if names(KEEP_HISTORY, name) || names(BOUNDED, name) => GROWTH,
        _ => 0,
    };
    let batches = if name == "ofu-relu-plus" || REMAKE.contains(&name) { BATCHES } else { 0 };
    let searching = ["by-evidence", "relu"].contains(&sample.name) || name == "nn-ucb";
    let searches = if names(BOUNDED, name) && searching { SEARCHES } else { 0 };
    SETTLING + growth + batches + searches
}

#[test]
fn warm_rounds_do_not_allocate_where_the_history_is_kept() {
    warm_rounds_do_not_allocate(|name| names(KEEP_HISTORY, name));
}

#[test]
fn warm_rounds_do_not_allocate_where_it_is_not() {
    warm_rounds_do_not_allocate(|name| !names(KEEP_HISTORY, name));
}

fn warm_rounds_do_not_allocate(which: fn(&str) -> bool) {
    let mut bad = Vec::new();
    for_each_sample(|name, sample| {
        if !which(name) {
            return;
        }
        let mut game = Game::new(name, sample);
        game.play(700);
        let found = game.play(600);
        if found > allowed(name, sample) {
            bad.push(format!("{name}, {}: {found} allocations in 600 rounds", sample.name));
        }
    });
    assert!(bad.is_empty(), "{bad:#?}");
}

/// What is too large for the stack is kept too.
#[test]
#[ignore = "long: ./check --all runs it"]
fn warm_rounds_do_not_allocate_in_many_dimensions() {
    let mut bad = Vec::new();
    for_each_sample(|name, sample| {
        let dim: u64 = if sample.name.contains("monomials") { 8 } else { 33 };
        let mut settings = sample.settings();
        if name == "plausible" {
            settings.set("networks", 4u64);
        }
        let mut game = Game::with(settings, Settings::new().with("dim", dim), name, sample);
        game.play(140);
        let found = game.play(60);
        if found > allowed(name, sample) {
            bad.push(format!("{name}, {}: {found} allocations in 60 rounds", sample.name));
        }
    });
    assert!(bad.is_empty(), "{bad:#?}");
}

/// A history of sixty-four condenses every thirty-two rounds.
#[test]
fn a_full_history_condenses_in_the_memory_it_has() {
    for sample in policy::find("plausible").unwrap().samples {
        let mut game = Game::with(sample.settings().with("budget", 64u64), Settings::new(), "plausible", sample);
        // By then networks that agree are frozen: a regression begins, in memory of its own.
        game.play(700);
        let found = game.play(300);
        assert!(found <= SETTLING, "{}: {found} allocations in 300 rounds", sample.name);
    }
}

/// The net bytes by which `rounds` more rounds make a policy larger, with all memory that is kept for it.
fn growth(game: &mut Game, rounds: u64) -> i64 {
    // The environment's buffer and the scratch memory are long as large as they get.
    allocation_counter::measure(|| _ = game.play(rounds)).bytes_current
}

/// Whoever bounds its history has bounded memory: with small budgets, which are full after a thousand rounds, nine
/// thousand more may add what a full history has room for and no more. Whoever keeps the history adds so many bytes a
/// round at most.
#[test]
#[ignore = "long: ./check --all runs it"]
fn only_methods_that_keep_the_history_grow() {
    let mut bad = Vec::new();
    for_each_sample(|name, sample| {
        let (short, long) = if names(KEEP_HISTORY, name) { (100, 400) } else { (1000, 10_000) };
        let mut settings = sample.settings();
        let budgets = policy::find(name).unwrap().params.iter().any(|param| param.name == "budget");
        assert_eq!(budgets, names(BOUNDED, name), "{name}: who has a budget is on the list");
        if budgets && settings.get("budget").is_none() {
            settings.set("budget", BUDGET);
        }
        let mut game = Game::with(settings, Settings::new(), name, sample);
        game.play(short);
        let (size, grown) = (game.size(), growth(&mut game, long - short));
        let most = match name {
            "ofu-relu-plus" | "neural-ucb" | "neural-ts" => A_ROUND * (long - short) as i64,
            _ if names(KEEP_HISTORY, name) => A_TRAINED_ROUND * (long - short) as i64 + REGRESSIONS,
            _ if names(BOUNDED, name) => FULL_HISTORY,
            _ => WORK,
        };
        if grown > most {
            bad.push(format!("{name}, {}: {grown} bytes more, of at most {most}", sample.name));
        }
        if names(KEEP_HISTORY, name) && !names(BOUNDED, name) {
            assert!(game.size() > size, "{name}, {} keeps no history: strike it from the list", sample.name);
        }
    });
    assert!(bad.is_empty(), "{bad:#?}");
}
