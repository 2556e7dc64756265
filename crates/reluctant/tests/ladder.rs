//! `plausible`, told nothing, outside of the paper's environments: which model acts, and that no arm is left untried.

#![allow(clippy::unwrap_used, reason = "a test says best what it expects by failing where it is not met")]

use reluctant::policy::{self, Policy};
use reluctant::rng::{Key, normal, uniform};
use reluctant::{Rows, Scratch, Settings};

fn told_nothing(dim: usize, key: Key) -> Box<dyn Policy> {
    policy::build("plausible", dim, &Settings::new(), key).unwrap()
}

/// Seven orthonormal arms, of which only the last pays: all are tried within thirty rounds, because a network must
/// doubt an arm it has not seen, and the paying one is played in most later rounds.
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

/// In many dimensions networks have too many unknowns: a line and a Gaussian process are left, and they learn.
#[test]
fn many_dimensions_are_left_to_a_process_and_a_line() {
    let (dim, key) = (100, Key::new(5));
    let mut policy = told_nothing(dim, key);
    let mut scratch = Scratch::default();
    let mut stream = key.round(9).stream();
    let mut rewards = Vec::new();
    for round in 0..60 {
        let arms: Vec<f64> = (0..20 * dim).map(|_| 0.1 * normal(&mut stream)).collect();
        let rows = Rows::new(dim, &arms).unwrap();
        let row = policy.select(rows.into(), key.round(round), &mut scratch).unwrap().index.unwrap();
        let reward = 3.0 * rows.get(row)[0] + 0.01 * normal(&mut stream);
        policy.update(rows.get(row), reward).unwrap();
        rewards.push(reward);
        if round == 30 {
            policy = policy.snapshot().unwrap().restore().unwrap();
        }
    }
    let late = rewards[30..].iter().sum::<f64>() / 30.0;
    assert!(late > 0.05, "{late}");
    let explained = policy.explain(&arms_of(dim)).unwrap();
    assert!(!explained.model.contains("networks of"), "{}", explained.model);
    assert!(policy.network().is_none());
}

fn arms_of(dim: usize) -> Vec<f64> {
    (0..dim).map(|i| f64::from(u8::from(i == 0))).collect()
}
