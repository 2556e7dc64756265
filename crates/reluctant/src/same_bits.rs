//! The same histories with and without vector instructions: choices, scores and states must be the same to the bit.

use pulp::Arch;

use crate::choice::Choice;
use crate::ellipsoid::{Ellipsoid, LARGE};
use crate::instructions::{GIVEN, arch};
use crate::policy::{self, BUILT_IN, Entry, Sample};
use crate::rng::{Key, unit_vector};
use crate::round::RoundMemory;
use crate::scratch::Scratch;
use crate::{Settings, env};

/// Puts the machine's best back, also after a panic.
struct Restore;

impl Drop for Restore {
    fn drop(&mut self) {
        GIVEN.set(None);
    }
}

/// What `run` gives with an instruction set.
fn with<T>(given: Arch, run: impl FnOnce() -> T) -> T {
    GIVEN.set(Some(given));
    let _restore = Restore;
    run()
}

/// Every instruction set of this machine: none to speak of first, the best last.
fn all() -> Vec<Arch> {
    let mut all = vec![Arch::Scalar];
    #[cfg(target_arch = "x86_64")]
    all.extend(pulp::x86::V3::try_new().map(Arch::V3));
    all.push(Arch::new());
    all
}

/// What happened in a round, as bits.
#[derive(Debug, PartialEq)]
struct Round {
    index: Option<usize>,
    choice: Vec<u64>,
    scores: Vec<u64>,
}

/// An environment's size, and how long it is played.
#[derive(Debug, Clone, Copy)]
struct Size {
    dim: u64,
    neurons: u64,
    arms: u64,
    rounds: u64,
}

/// The plane; space, which has a fast pass of its own, and beyond; blocks that do not fit on the stack. The numbers
/// of arms leave some lanes of the last block empty.
const SIZES: [Size; 4] = [
    Size { dim: 2, neurons: 3, arms: 61, rounds: 100 },
    Size { dim: 3, neurons: 9, arms: 37, rounds: 60 },
    Size { dim: 5, neurons: 4, arms: 37, rounds: 60 },
    Size { dim: 26, neurons: 2, arms: 21, rounds: 60 },
];

/// The rounds of a policy, and its state after them.
fn history(entry: &Entry, sample: &Sample, size: Size) -> (Vec<Round>, String) {
    let key = Key::new(3);
    // Monomials of many coordinates are thousands.
    let dim = if sample.name.contains("monomials") { size.dim.min(6) } else { size.dim };
    let mut given = Settings::new().with("arms", size.arms).with("dim", dim);
    if sample.environment == "relu-sphere" {
        given.set("neurons", size.neurons);
    }
    let environment = env::build(sample.environment, &given, key).unwrap();
    let mut settings = sample.settings();
    if settings.get("neurons").is_some() {
        settings.set("neurons", size.neurons);
    }
    // A few of them go through the same code.
    if entry.name == "plausible" {
        settings.set("networks", 4u64);
    }
    let told = policy::tell(entry, &settings, &environment.facts());
    let mut policy = policy::build(entry.name, environment.space(), &told, key).unwrap();
    let (mut scratch, mut memory, mut rounds) = (Scratch::default(), RoundMemory::default(), Vec::new());
    for t in 1..=size.rounds {
        let round = environment.round(t, &mut memory).unwrap();
        let choice = policy.select_in(&round, key.round(t), &mut scratch).unwrap();
        policy.score(round.offer, &mut scratch).unwrap();
        let scores = scratch.scores.iter().flat_map(|score| [score.mean, score.width]).map(f64::to_bits).collect();
        let Choice { index, action, score, .. } = &choice;
        let chosen = action.iter().copied().chain([score.mean, score.width]).map(f64::to_bits).collect();
        rounds.push(Round { index: *index, choice: chosen, scores });
        policy.update(&choice, round.reward(&choice, round.mean(&choice).unwrap())).unwrap();
    }
    (rounds, policy.snapshot().unwrap().to_json().unwrap())
}

fn check(size: Size) {
    for entry in BUILT_IN {
        for sample in entry.samples {
            let plain = with(Arch::Scalar, || history(entry, sample, size));
            for set in all().into_iter().skip(1) {
                let found = with(set, || history(entry, sample, size));
                let what = format!("{}, {}, {size:?}, {set:?}", entry.name, sample.name);
                for (t, (plain, found)) in plain.0.iter().zip(&found.0).enumerate() {
                    assert_eq!(found, plain, "{what}: round {}", t + 1);
                }
                assert!(found.1 == plain.1, "{what}: the states differ");
            }
        }
    }
}

#[test]
fn in_the_plane() {
    check(SIZES[0]);
}

#[test]
fn in_space() {
    check(SIZES[1]);
}

#[test]
fn in_five_dimensions() {
    check(SIZES[2]);
}

#[test]
fn in_many_dimensions() {
    check(SIZES[3]);
}

/// Regressions of many features, of which a large inverse is refined column by column, and their single widths.
#[test]
fn of_many_features() {
    let run = |dim: usize| {
        let mut stream = Key::new(4).stream();
        let mut ellipsoid = Ellipsoid::ridge(dim, 1e-4);
        let (mut phi, mut widths) = (vec![1.0; dim], Vec::new());
        for round in 0..70 {
            unit_vector(&mut stream, &mut phi[..dim - 1]);
            phi[round % dim] = 0.0;
            ellipsoid.update(&phi, 1.0);
            let (mean, width) = ellipsoid.mean_and_squared_width(&phi);
            widths.extend([mean, width, ellipsoid.squared_width(&phi)].map(f64::to_bits));
        }
        ellipsoid.refresh();
        (widths, serde_json::to_string(&ellipsoid).unwrap())
    };
    for dim in [20, 61, LARGE + 7] {
        let plain = with(Arch::Scalar, || run(dim));
        for arch in all().into_iter().skip(1) {
            assert!(with(arch, || run(dim)) == plain, "{dim}, {arch:?}");
        }
    }
}

/// The test itself: what it sets is what kernels run with, and is gone afterwards.
#[test]
fn instruction_sets_are_those_asked_for() {
    let name = |arch: Arch| format!("{arch:?}");
    assert_eq!(with(Arch::Scalar, || name(arch())), name(Arch::Scalar));
    assert_eq!(name(arch()), name(Arch::new()));
}
