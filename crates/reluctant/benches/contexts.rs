//! What a round with a context and K named actions costs: a model an action, select and learn together, on one core.
//!
//! `cargo bench -p reluctant --bench contexts [POLICY …]` prints the median round, the longest one, and their ratio.

use std::hint::black_box;
use std::time::Instant;

use reluctant::rng::{normal, unit_vector};
use reluctant::{Context, Key, Name, Offer, Result, Scratch, Settings, Space, policy};

/// A size: the length of a context, the number of actions, and how many rounds are played.
struct Size {
    dim: usize,
    actions: usize,
    rounds: u64,
}

/// Rounds before this one fill the caches and are not timed.
const WARM: u64 = 20;

const SIZES: [Size; 3] = [
    Size { dim: 9, actions: 7, rounds: 5000 },
    Size { dim: 64, actions: 10, rounds: 5000 },
    Size { dim: 784, actions: 10, rounds: 1500 },
];

/// Contexts that end with a constant, as those of data often do, make matrices ill-conditioned.
fn context(key: Key, x: &mut [f64]) {
    let (last, rest) = x.split_at_mut(x.len() - 1);
    unit_vector(&mut key.stream(), last);
    rest.fill(1.0);
}

fn microseconds(name: &str, settings: &Settings, size: &Size) -> Result<Vec<f64>> {
    let key = Key::new(7);
    let names: Vec<Name> = (0..size.actions).map(|a| Name::from(format!("action {a}"))).collect();
    let mut weights = vec![0.0; size.dim * size.actions];
    let mut truth = key.branch("truth").stream();
    weights.chunks_exact_mut(size.dim).for_each(|row| unit_vector(&mut truth, row));
    let mut policy = policy::build(name, Space::contexts(size.dim), settings, key)?;
    let (mut scratch, mut x, mut times) = (Scratch::default(), vec![0.0; size.dim], Vec::new());
    for t in 1..=size.rounds {
        context(key.round(t), &mut x);
        let start = Instant::now();
        let offer = Offer::Context(Context::new(black_box(&x), &names)?);
        let choice = black_box(policy.select(offer, key.round(t), &mut scratch)?);
        let chosen = start.elapsed();
        let row = &weights[choice.index.unwrap_or(0) * size.dim..][..size.dim];
        let mean: f64 = row.iter().zip(&x).map(|(w, x)| w * x).sum();
        let reward = mean + 0.1 * normal(&mut key.branch("noise").round(t).stream());
        let start = Instant::now();
        policy.update(black_box(&choice), reward)?;
        if t > WARM {
            times.push((chosen + start.elapsed()).as_secs_f64() * 1e6);
        }
    }
    Ok(times)
}

fn main() -> Result<()> {
    let wanted: Vec<String> = std::env::args().skip(1).filter(|arg| !arg.starts_with('-')).collect();
    println!("a round with a context of p numbers and K named actions, microseconds: median, longest, ratio");
    for (name, features) in [("oful", "raw"), ("oful", "constant"), ("lin-ts", "raw"), ("gp-ucb", "")] {
        if !wanted.is_empty() && !wanted.iter().any(|policy| policy == name) {
            continue;
        }
        let settings = if features.is_empty() { Settings::new() } else { Settings::new().with("features", features) };
        for size in SIZES.iter().filter(|size| !features.is_empty() || size.dim < 100) {
            let mut times = microseconds(name, &settings, size)?;
            times.sort_by(f64::total_cmp);
            let (median, longest) = (times[times.len() / 2], times[times.len() - 1]);
            println!(
                "  {name:8} {features:9} p = {:3}, K = {:2}: {median:9.1} {longest:10.1} {:7.1}",
                size.dim,
                size.actions,
                longest / median
            );
        }
    }
    Ok(())
}
