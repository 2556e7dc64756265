//! What rounds cost in memory: no allocation once a policy is warm, and no growth with T, except where the method keeps the history.

#![allow(clippy::unwrap_used)]

use reluctant::policy::{self, REGISTRY, Sample, Scratch};
use reluctant::{Key, Policy, Settings, env};

/// The methods that keep the history, whose memory so grows with T, each with its reason.
const KEEP_HISTORY: &[(&str, &str)] = &[
    ("ofu-relu-plus", "re-featurises all samples at each batch"),
    ("neural-ucb", "trains on all samples at each round"),
];

/// Methods that allocate in a round although they do not keep the history, each with its reason.
const ALLOCATE: &[(&str, &str)] = &[];

fn keeps_history(name: &str) -> bool {
    KEEP_HISTORY.iter().any(|(policy, _)| *policy == name)
}

/// A policy in a small world, and a way to play on.
struct Game {
    world: Box<dyn env::Environment>,
    policy: Box<dyn Policy>,
    scratch: Scratch,
    buffer: Vec<f64>,
    round: u64,
}

impl Game {
    fn new(name: &str, sample: &Sample) -> Self {
        let key = Key::new(5);
        let world = env::build(sample.world, &Settings::new().with("arms", 100u64), key).unwrap();
        let entry = policy::find(name).unwrap();
        let settings = policy::tell(entry, &sample.settings(), &world.facts());
        let mut policy = policy::build(name, world.dim(), &settings, key).unwrap();
        if let Some(truth) = world.network() {
            policy.reveal(truth);
        }
        Game { world, policy, scratch: Scratch::default(), buffer: Vec::new(), round: 0 }
    }

    /// Plays so many rounds; how often `select` and `update` allocated.
    fn play(&mut self, rounds: u64) -> u64 {
        let mut total = 0;
        for _ in 0..rounds {
            self.round += 1;
            let arms = self.world.arms(self.round, &mut self.buffer);
            let Game { world, policy, scratch, round, .. } = self;
            let counted = allocation_counter::measure(|| {
                let choice = policy.select(arms, Key::new(5).round(*round), scratch).unwrap();
                let reward = world.mean(&choice.action) + world.noise(*round);
                policy.update(&choice.action, reward).unwrap();
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
    for entry in REGISTRY {
        entry.samples.iter().for_each(|sample| check(entry.name, sample));
    }
}

#[test]
fn warm_rounds_do_not_allocate() {
    for_each_sample(|name, sample| {
        let mut game = Game::new(name, sample);
        game.play(700);
        let found = game.play(600);
        // A history that grows moves now and then.
        let allowed = if keeps_history(name) { 40 } else { 0 };
        if !ALLOCATE.iter().any(|(policy, _)| *policy == name) {
            assert!(found <= allowed, "{name}, {}: {found} allocations in 600 rounds", sample.name);
        }
    });
}

#[test]
fn only_methods_that_keep_the_history_grow() {
    for_each_sample(|name, sample| {
        let (short, long) = if keeps_history(name) { (100, 400) } else { (1000, 10_000) };
        let mut game = Game::new(name, sample);
        game.play(short);
        let before = game.size();
        game.play(long - short);
        let after = game.size();
        // A number's text has a few digits more or less.
        if keeps_history(name) {
            assert!(after > before, "{name}, {} keeps no history", sample.name);
        } else {
            assert!(after < before + before / 5 + 200, "{name}, {}: {before} bytes grew to {after}", sample.name);
        }
    });
}
