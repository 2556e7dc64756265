//! Seven orthonormal arms of which only the last pays: does `plausible`, told nothing, try them all, and what does it
//! lose beside `gp-ucb`? Fifty seeds for each reward.
//!
//! `cargo run --release -p reluctant --example one_pays`

#![allow(clippy::print_stdout, clippy::unwrap_used, reason = "an example prints, and stops where it is wrong")]

use reluctant::policy;
use reluctant::rng::{Key, normal, uniform};
use reluctant::{Rows, Scratch, Settings};

const DIM: usize = 7;
const SEEDS: u64 = 50;
const ROUNDS: u64 = 300;

/// By this round every arm should have been tried.
const EARLY: u64 = 30;

/// Regret of a trial, and whether every arm was tried early.
fn play(name: &str, pays: f64, bernoulli: bool, seed: u64) -> (f64, bool) {
    let key = Key::new(seed);
    let mut policy = policy::build(name, DIM, &Settings::new(), key).unwrap();
    let arms: Vec<f64> = (0..DIM * DIM).map(|at| f64::from(u8::from(at / DIM == at % DIM))).collect();
    let rows = Rows::new(DIM, &arms).unwrap();
    let (mut scratch, mut stream) = (Scratch::default(), key.branch("rewards").stream());
    let (mut regret, mut tried) = (0.0, [false; DIM]);
    for round in 0..ROUNDS {
        let row = policy.select(rows.into(), key.round(round), &mut scratch).unwrap().index.unwrap();
        let mean = if row + 1 == DIM { pays } else { 0.0 };
        // Both are drawn, so that the noise of a round is the same whatever was played before.
        let (noise, chance) = (0.1 * normal(&mut stream), uniform(&mut stream));
        let reward = if bernoulli { f64::from(u8::from(chance < mean)) } else { mean + noise };
        policy.update(rows.get(row), reward).unwrap();
        regret += pays - mean;
        tried[row] |= round < EARLY;
    }
    (regret, tried.iter().all(|tried| *tried))
}

fn main() {
    println!("rewards          pays   all tried by round {EARLY}   regret of plausible   of gp-ucb   ratio");
    for bernoulli in [false, true] {
        for pays in [0.2, 0.5, 0.8] {
            let of = |name| {
                let trials: Vec<(f64, bool)> = (1..=SEEDS).map(|seed| play(name, pays, bernoulli, seed)).collect();
                let mean = trials.iter().map(|trial| trial.0).sum::<f64>() / SEEDS as f64;
                (mean, trials.iter().filter(|trial| trial.1).count())
            };
            let ((ours, tried), (theirs, _)) = (of("plausible"), of("gp-ucb"));
            let kind = if bernoulli { "Bernoulli" } else { "Gaussian, 0.1" };
            println!(
                "{kind:<15} {pays:>5}   {tried:>13} of {SEEDS}   {ours:>19.2}   {theirs:>9.2}   {:>5.2}",
                ours / theirs
            );
        }
    }
}
