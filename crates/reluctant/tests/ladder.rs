//! `plausible`, told nothing, outside of the paper's environments: which model acts, and that no arm is left untried.

#![allow(clippy::unwrap_used, reason = "a test says best what it expects by failing where it is not met")]

use reluctant::policy::{self, Policy};
use reluctant::rng::{Key, normal, uniform};
use reluctant::{Rows, Scratch, Settings};

fn told_nothing(dim: usize, key: Key) -> Box<dyn Policy> {
    policy::build("plausible", dim, &Settings::new(), key).unwrap()
}

/// Seven orthonormal arms, of which only the last pays: all are tried within thirty rounds, because a network must doubt
/// an arm it has not seen, and the paying one is played in most later rounds.
#[test]
fn orthonormal_arms_are_all_tried() {
    let dim = 7;
    let arms: Vec<f64> = (0..dim * dim).map(|at| f64::from(u8::from(at / dim == at % dim))).collect();
    for (seed, pays) in [(1, 0.2), (2, 0.5), (3, 0.8), (4, 0.5)] {
        let key = Key::new(seed);
        let mut policy = told_nothing(dim, key);
        let (mut scratch, mut stream) = (Scratch::default(), key.round(9).stream());
        let (mut tried, mut last) = (vec![0; dim], 0);
        for round in 0..120 {
            let rows = Rows::new(dim, &arms).unwrap();
            let row = policy.select(rows.into(), key.round(round), &mut scratch).unwrap().index.unwrap();
            let mean = if row + 1 == dim { pays } else { 0.0 };
            let reward =
                if seed == 4 { mean + 0.1 * normal(&mut stream) } else { f64::from(uniform(&mut stream) < mean) };
            policy.update(rows.get(row), reward).unwrap();
            if round < 30 {
                tried[row] += 1;
            } else {
                last += usize::from(row + 1 == dim);
            }
        }
        assert!(tried.iter().all(|count| *count > 0), "{pays}: {tried:?}");
        // By chance it would be thirteen.
        assert!(last > 45, "{pays}: {last} of 90");
    }
}
