//! The library's side of `./bench`: plays the cases of a folder, whose arms and noise the other side reads too, and prints the times as
//! JSON. Run by `./bench`; see `peers.py`.

#[path = "../floor/mod.rs"]
mod floor;

use std::error::Error;
use std::fs;
use std::hint::black_box;
use std::path::Path;
use std::time::Instant;

use reluctant::{Key, Offer, Scratch, Settings, policy};
use serde::Deserialize;
use serde_json::json;

/// What is played. `arms`, `theta` and `noise` are files of 64-bit numbers: `sets` sets of arms, which come in turn; the weights of the
/// rewards, one linear function or one neuron a row; and the noise of each round.
#[derive(Deserialize)]
struct Case {
    name: String,
    policy: String,
    settings: serde_json::Map<String, serde_json::Value>,
    dim: usize,
    count: usize,
    rounds: usize,
    /// Rounds before this one are played and not timed.
    from: usize,
    linear: bool,
    floor: bool,
}

fn numbers(path: &Path) -> Result<Vec<f64>, Box<dyn Error>> {
    Ok(fs::read(path)?.as_chunks::<8>().0.iter().map(|bytes| f64::from_le_bytes(*bytes)).collect())
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(0.0)
}

fn play(case: &Case, dir: &Path) -> Result<serde_json::Value, Box<dyn Error>> {
    let dir = dir.join(&case.name);
    let arms = numbers(&dir.join("arms.f64"))?;
    let theta = numbers(&dir.join("theta.f64"))?;
    let noise = numbers(&dir.join("noise.f64"))?;
    let sets: Vec<&[f64]> = arms.chunks_exact(case.count * case.dim).collect();
    let mut settings = Settings::new();
    for (name, value) in &case.settings {
        match value {
            serde_json::Value::String(word) => settings.set(name, word.as_str()),
            other if other.is_u64() => settings.set(name, other.as_u64().unwrap_or(0)),
            other => settings.set(name, other.as_f64().unwrap_or(0.0)),
        };
    }
    let mean = |x: &[f64]| -> f64 {
        let products = theta.chunks_exact(case.dim).map(|row| row.iter().zip(x).map(|(a, b)| a * b).sum::<f64>());
        products.map(|p| if case.linear { p } else { p.max(0.0) }).sum()
    };
    let key = Key::new(1);
    let mut policy = policy::build(&case.policy, case.dim, &settings, key)?;
    let mut scratch = Scratch::default();
    let (mut patterns, mut forms) = (vec![0; case.count], vec![0.0; case.count]);
    let (mut rounds, mut floors) = (Vec::new(), Vec::new());
    let mut hot = Vec::new();
    for round in 1..=case.rounds {
        // In the cache, as arms that were just drawn would be.
        hot.clear();
        hot.extend_from_slice(sets[round % sets.len()]);
        let set = hot.as_slice();
        let arms = Offer::finite(case.dim, set)?;
        if case.floor {
            let start = Instant::now();
            floor::floor(&theta, &[1.0, 0.1, 0.1, 2.0], black_box(set), &mut patterns, &mut forms);
            black_box((&patterns, &forms));
            floors.push(start.elapsed().as_secs_f64() * 1e6);
        }
        let start = Instant::now();
        let choice = black_box(policy.select(black_box(arms), key.round(round as u64), &mut scratch)?);
        let select = start.elapsed();
        let reward = mean(&choice.action) + noise[round % noise.len()];
        let start = Instant::now();
        policy.update(black_box(&choice.action), reward)?;
        if round >= case.from {
            rounds.push((select + start.elapsed()).as_secs_f64() * 1e6);
        }
    }
    Ok(json!({ "case": case.name, "microseconds": median(rounds), "floor": median(floors) }))
}

fn main() -> Result<(), Box<dyn Error>> {
    // cargo passes `--bench`, and nothing else when it runs all benchmarks: then there is nothing to play.
    let Some(dir) = std::env::args().skip(1).find(|arg| !arg.starts_with('-')) else { return Ok(()) };
    let dir = Path::new(&dir);
    let cases: Vec<Case> = serde_json::from_str(&fs::read_to_string(dir.join("cases.json"))?)?;
    for case in &cases {
        println!("{}", play(case, dir)?);
    }
    Ok(())
}
