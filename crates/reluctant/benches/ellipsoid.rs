//! What rounds of linear policies cost, and how much longer the longest takes than the usual one.
//!
//! `cargo bench -p reluctant --bench ellipsoid`
//!
//! Histories are played several times, and a round counts with the least time that it took: what else the machine does
//! only ever adds, while a round in which the inverse is computed anew is long every time.

use std::hint::black_box;
use std::time::Instant;

use reluctant::rng::{Stream, normal, unit_vector};
use reluctant::{Ellipsoid, Key, Offer, Result, Scratch, Settings, policy};

const DIMS: [usize; 5] = [9, 64, 256, 640, 784];
/// Enough for two refreshes of a small inverse, and for every column of a large one.
const ROUNDS: usize = 1100;
const REPETITIONS: usize = 4;
const ARMS: usize = 10;

/// How the arms of a round come about.
#[derive(Clone, Copy)]
enum History {
    /// Anywhere on the sphere.
    Spread,
    /// Twenty rounds anywhere, then always the same: the ridge penalty alone holds most directions.
    Locked,
    /// As they come from a table that nobody normalised: sizes from 10⁻³ to 10⁵.
    ManySizes,
}

impl History {
    fn arms(self, round: usize, stream: &mut Stream, arms: &mut [f64], dim: usize) {
        for arm in arms.chunks_exact_mut(dim) {
            match self {
                History::Locked if round >= 20 => unit_vector(&mut Key::new(9).stream(), arm),
                History::ManySizes => {
                    unit_vector(stream, arm);
                    arm.iter_mut().for_each(|x| *x *= 10f64.powi((round % 9) as i32 - 3));
                }
                _ => unit_vector(stream, arm),
            }
        }
    }
}

/// The time of each round in microseconds, the least of some repetitions; `play` plays a whole history and calls back
/// with each.
fn rounds(mut play: impl FnMut(&mut dyn FnMut(usize, f64)) -> Result<()>) -> Result<Vec<f64>> {
    let mut least = vec![f64::INFINITY; ROUNDS];
    for _ in 0..REPETITIONS {
        play(&mut |round, time| least[round] = least[round].min(time))?;
    }
    Ok(least)
}

fn report(what: &str, dim: usize, mut times: Vec<f64>) {
    times.sort_by(f64::total_cmp);
    let (median, longest) = (times[times.len() / 2], times[times.len() - 1]);
    println!("  {what:32} {dim:4}  {median:10.1}  {longest:12.1}  {:8.1}", longest / median);
}

/// Rounds of OFUL: a choice among ten arms, and what is learnt from it.
fn oful(features: &str, history: History, dim: usize) -> Result<Vec<f64>> {
    let settings = Settings::new().with("features", features);
    let dim = if features == "constant" { dim - 1 } else { dim };
    rounds(|record| {
        let mut policy = policy::build("oful", dim, &settings, Key::new(1))?;
        let (mut stream, mut scratch, mut arms) = (Key::new(2).stream(), Scratch::default(), vec![0.0; ARMS * dim]);
        for round in 0..ROUNDS {
            history.arms(round, &mut stream, &mut arms, dim);
            let reward = normal(&mut stream);
            let start = Instant::now();
            let choice = policy.select(Offer::finite(dim, &arms)?, Key::new(3), &mut scratch)?;
            policy.update(&choice.action, reward)?;
            record(round, start.elapsed().as_secs_f64() * 1e6);
        }
        Ok(())
    })
}

/// Several regressions: all give mean and width of one vector, one of them learns.
fn side_by_side(count: usize, dim: usize) -> Result<Vec<f64>> {
    rounds(|record| {
        let mut all = vec![Ellipsoid::ridge(dim, 0.01); count];
        let (mut stream, mut phi) = (Key::new(2).stream(), vec![0.0; dim]);
        for round in 0..ROUNDS {
            unit_vector(&mut stream, &mut phi);
            let start = Instant::now();
            for ellipsoid in &all {
                black_box(ellipsoid.mean_and_squared_width(black_box(&phi)));
            }
            all[round % count].update(&phi, 0.5);
            record(round, start.elapsed().as_secs_f64() * 1e6);
        }
        Ok(())
    })
}

fn main() -> Result<()> {
    println!("  {:32} dim  median, us  longest, us  longest/median", "rounds of");
    for (name, features, history) in [
        ("oful, raw, spread", "raw", History::Spread),
        ("oful, constant, spread", "constant", History::Spread),
        ("oful, raw, locked", "raw", History::Locked),
        ("oful, constant, locked", "constant", History::Locked),
        ("oful, raw, many sizes", "raw", History::ManySizes),
    ] {
        for dim in DIMS {
            report(name, dim, oful(features, history, dim)?);
        }
    }
    for (count, dim) in [(7, 9), (10, 64), (10, 784)] {
        report(&format!("{count} regressions side by side"), dim, side_by_side(count, dim)?);
    }
    Ok(())
}
