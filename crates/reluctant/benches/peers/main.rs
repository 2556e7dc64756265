//! The library's side of `./bench`: plays the cases of a folder, or its table of real data, which the other side reads
//! too, and prints the times as JSON. Run by `./bench`; see `peers.py`.

#[path = "../floor/mod.rs"]
mod floor;

use std::error::Error;
use std::fs;
use std::hint::black_box;
use std::path::Path;
use std::time::Instant;

use reluctant::{Context, Key, Name, Offer, Scratch, Settings, Space, policy};
use serde::Deserialize;
use serde_json::json;

/// What is played. `arms`, `theta` and `noise` are files of 64-bit numbers: `sets` sets of arms, which come in turn;
/// the weights of the rewards, one linear function or one neuron a row; and the noise of each round.
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

fn settings(given: &serde_json::Map<String, serde_json::Value>) -> Settings {
    let mut settings = Settings::new();
    for (name, value) in given {
        match value {
            serde_json::Value::String(word) => settings.set(name, word.as_str()),
            other if other.is_u64() => settings.set(name, other.as_u64().unwrap_or(0)),
            other => settings.set(name, other.as_f64().unwrap_or(0.0)),
        };
    }
    settings
}

fn play(case: &Case, dir: &Path) -> Result<serde_json::Value, Box<dyn Error>> {
    let dir = dir.join(&case.name);
    let arms = numbers(&dir.join("arms.f64"))?;
    let theta = numbers(&dir.join("theta.f64"))?;
    let noise = numbers(&dir.join("noise.f64"))?;
    let sets: Vec<&[f64]> = arms.chunks_exact(case.count * case.dim).collect();
    let settings = settings(&case.settings);
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
        if case.floor {
            let start = Instant::now();
            floor::floor(&theta, &[1.0, 0.1, 0.1, 2.0], black_box(set), &mut patterns, &mut forms);
            black_box((&patterns, &forms));
            floors.push(start.elapsed().as_secs_f64() * 1e6);
        }
        // The check of the arms is part of what a user pays.
        let start = Instant::now();
        let arms = Offer::deferred(case.dim, black_box(set))?;
        let choice = black_box(policy.select(arms, key.round(round as u64), &mut scratch)?);
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

/// A real table as contexts: `contexts.f64` holds a row a round, `classes.f64` the right action of each.
#[derive(Deserialize)]
struct Table {
    policy: String,
    settings: serde_json::Map<String, serde_json::Value>,
    dim: usize,
    actions: usize,
}

/// Plays a table: the mistakes, and the median round.
fn play_table(table: &Table, dir: &Path) -> Result<serde_json::Value, Box<dyn Error>> {
    let (contexts, classes) = (numbers(&dir.join("contexts.f64"))?, numbers(&dir.join("classes.f64"))?);
    let names: Vec<Name> = (0..table.actions).map(|action| Name::from(action.to_string())).collect();
    let key = Key::new(1);
    let mut policy = policy::build(&table.policy, Space::contexts(table.dim), &settings(&table.settings), key)?;
    let (mut scratch, mut mistakes, mut times) = (Scratch::default(), 0, Vec::new());
    for (t, (context, class)) in (1..).zip(contexts.chunks_exact(table.dim).zip(&classes)) {
        let start = Instant::now();
        let offer = Context::new(black_box(context), &names)?.into();
        let choice = black_box(policy.select(offer, key.round(t), &mut scratch)?);
        let right = choice.index == Some(*class as usize);
        policy.update(&choice, f64::from(u8::from(right)))?;
        times.push(start.elapsed().as_secs_f64() * 1e6);
        mistakes += usize::from(!right);
    }
    Ok(json!({ "mistakes": mistakes, "microseconds": median(times) }))
}

fn main() -> Result<(), Box<dyn Error>> {
    // cargo passes `--bench`, and nothing else when it runs all benchmarks: then there is nothing to play.
    let Some(dir) = std::env::args().skip(1).find(|arg| !arg.starts_with('-')) else { return Ok(()) };
    let dir = Path::new(&dir);
    if let Ok(text) = fs::read_to_string(dir.join("table.json")) {
        println!("{}", play_table(&serde_json::from_str(&text)?, dir)?);
        return Ok(());
    }
    let cases: Vec<Case> = serde_json::from_str(&fs::read_to_string(dir.join("cases.json"))?)?;
    for case in &cases {
        println!("{}", play(case, dir)?);
    }
    Ok(())
}
