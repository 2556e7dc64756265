//! How far the estimators are from the truth on real tables that are turned into logs.
//!
//! ```sh
//! cargo run --release -p reluctant-lab --example real_logs -- 200
//! ```
//!
//! Each row of a table says what every class would have been paid, so the value of a policy is known: the mean over all
//! rows. The policy was learnt from 1,000 rows. Then many logs of 2,000 rows each are written, by an ε-greedy policy
//! that learns and by one that chooses uniformly, and every estimator says what the policy would have earned. The table
//! shows root mean squared errors, over all logs of a set.

use std::collections::BTreeMap;
use std::path::Path;

use reluctant::{Environment, Key, Policy, Scratch, Settings, play};
use reluctant_lab::evaluate::{Options, Target, evaluate};
use reluctant_lab::log::{Offered, Writer};
use reluctant_lab::registry;

type Failed = Box<dyn std::error::Error>;

const SETS: [&str; 5] = ["mushroom", "magic", "shuttle", "adult", "optdigits"];
const LEARNT: u64 = 1000;
const ROUNDS: u64 = 2000;
/// The estimators, the one that is recommended last; the others are those of the Open Bandit Pipeline.
const SHOWN: [&str; 9] = ["ips", "snips", "clipped-ips", "dm", "dr", "sndr", "switch-dr", "dr-shrinkage", "dr-fitted"];

fn world(set: &str, key: Key) -> reluctant::Result<Box<dyn Environment>> {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../../data/{set}.csv.gz"));
    let settings = Settings::new()
        .with("file", &*file.to_string_lossy())
        .with("numbers", "unit")
        .with("categories", "one-hot")
        .with("missing", "category");
    registry().build_environment("table", &settings, key)
}

fn learnt(set: &str) -> reluctant::Result<Box<dyn Policy>> {
    let environment = world(set, Key::new(1))?;
    let settings = Settings::new().with("features", "constant").with("alpha", 0.1);
    let mut policy = registry().build_policy("oful", environment.space(), &settings, Key::new(2))?;
    play(environment.as_ref(), policy.as_mut(), Key::new(3), LEARNT, |_| {})?;
    Ok(policy)
}

/// What the policy earns in a row, over all rows of the table.
fn truth(set: &str, policy: &dyn Policy) -> reluctant::Result<f64> {
    let (environment, mut memory, mut scratch) = (world(set, Key::new(1))?, Default::default(), Scratch::default());
    let (rows, mut sum) = (environment.rounds().unwrap_or(0), 0.0);
    for t in 1..=rows {
        let round = environment.round(t, &mut memory)?;
        let choice = policy.select(round.offer, Key::new(4).round(t), &mut scratch)?;
        sum += round.mean(&choice)?;
    }
    Ok(sum / rows as f64)
}

fn write(set: &str, logger: &(&str, Settings), number: u64, path: &Path) -> Result<(), Failed> {
    let key = Key::new(100 + number);
    let environment = world(set, key)?;
    let mut policy = registry().build_policy(logger.0, environment.space(), &logger.1, key)?;
    let mut writer = Writer::create(path, logger.0)?;
    let (mut memory, mut scratch) = (Default::default(), Scratch::default());
    for t in 1..=ROUNDS {
        let round = environment.round(t, &mut memory)?;
        let choice = policy.select(round.offer, key.round(t), &mut scratch)?;
        let (offer, chosen) = Offered::with(round.offer, &choice);
        let reward = round.reward(&choice, round.mean(&choice)?);
        writer.write(&offer, chosen, (choice.propensity, choice.propensity_error), Some(reward))?;
        policy.learn(choice.as_action(), reward)?;
    }
    Ok(writer.finish()?)
}

/// The root mean squared error of every estimator over many logs.
fn errors(set: &str, logger: &(&str, Settings), logs: u64, path: &Path) -> Result<(f64, Vec<f64>), Failed> {
    let policy = learnt(set)?;
    let truth = truth(set, policy.as_ref())?;
    let saved = Target::saved(set, &policy.snapshot()?.to_json()?)?;
    let mut squares: BTreeMap<&str, f64> = BTreeMap::new();
    for number in 1..=logs {
        write(set, logger, number, path)?;
        for evaluation in evaluate(&registry(), path, std::slice::from_ref(&saved), &Options::default(), &|_| {})? {
            for estimate in &evaluation.estimates {
                *squares.entry(estimate.name).or_default() += (estimate.value - truth).powi(2) / logs as f64;
            }
        }
    }
    Ok((truth, SHOWN.iter().map(|name| squares.get(name).copied().unwrap_or(f64::NAN).sqrt()).collect()))
}

fn main() -> Result<(), Failed> {
    let logs: u64 = std::env::args().nth(1).map_or(Ok(20), |text| text.parse())?;
    let folder = std::env::temp_dir().join(format!("real-logs-{}", std::process::id()));
    std::fs::create_dir_all(&folder)?;
    let path = folder.join("log.jsonl");
    let greedy = Settings::new().with("belief", "linear").with("epsilon", 0.2).with("power", 0.0);
    let loggers = [("epsilon-greedy", greedy), ("uniform", Settings::new())];
    println!("root mean squared errors over {logs} logs of {ROUNDS} rounds, times 1000\n");
    println!("| set | logger | true value | {} | last by best |", SHOWN.join(" | "));
    println!("| --- | --- | {}", "--- | ".repeat(SHOWN.len() + 2).trim_end());
    let (mut ratios, mut worse) = (Vec::new(), 0);
    for set in SETS {
        for logger in &loggers {
            let (truth, errors) = errors(set, logger, logs, &path)?;
            let (ips, ours) = (errors[0], errors[SHOWN.len() - 1]);
            let best = errors[..SHOWN.len() - 1].iter().copied().fold(f64::INFINITY, f64::min);
            let shown: Vec<String> = errors.iter().map(|error| format!("{:.1}", 1000.0 * error)).collect();
            println!("| {set} | {} | {truth:.3} | {} | {:.2} |", logger.0, shown.join(" | "), ours / best);
            ratios.push(ours / best);
            worse += usize::from(ours > ips);
        }
    }
    let mean = ratios.iter().map(|ratio| libm::log(*ratio)).sum::<f64>() / ratios.len() as f64;
    println!("\nlast by best in geometric mean: {:.3}; worse than ips: {worse} times", libm::exp(mean));
    std::fs::remove_dir_all(folder)?;
    Ok(())
}
