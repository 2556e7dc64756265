//! How often the recommended 95 % interval holds the true value, over many simulated logs by three loggers.
//!
//! ```sh
//! cargo run --release -p reluctant-lab --example coverage -- 1000
//! ```
//!
//! Each log has 2,000 rounds of a linear environment with contexts of 3 numbers and 3 actions. The policy that is
//! evaluated was learnt elsewhere, from 60 rounds, and is the same for all logs; its true value comes from 200,000
//! rounds. Beside the propensities of the loggers stands what a softmax of their scores would give.

use std::path::{Path, PathBuf};

use reluctant::{Environment, Key, Policy, Scratch, Settings, env, play, policy};
use reluctant_lab::evaluate::{Evaluation, Options, Target, evaluate};
use reluctant_lab::log::{Offered, Writer};
use reluctant_lab::registry;

type Failed = Box<dyn std::error::Error>;

const ROUNDS: u64 = 2000;
const WORLD: Key = Key::new(77);

fn world() -> reluctant::Result<Box<dyn Environment>> {
    let settings = Settings::new().with("dim", 3u64).with("actions", 3u64).with("neurons", 0u64).with("sigma", 0.5);
    env::build("contexts", &settings, WORLD)
}

/// A policy that was learnt elsewhere.
fn target() -> reluctant::Result<Box<dyn Policy>> {
    let environment = world()?;
    let mut policy = policy::build("oful", environment.space(), &Settings::new().with("sigma", 0.5), Key::new(3))?;
    play(environment.as_ref(), policy.as_mut(), WORLD.trial(1), 60, |_| {})?;
    Ok(policy)
}

fn truth(policy: &dyn Policy) -> reluctant::Result<f64> {
    let (environment, mut memory, mut scratch) = (world()?, Default::default(), Scratch::default());
    let (mut sum, rounds) = (0.0, 200_000);
    for t in 1..=rounds {
        let round = environment.round(1_000_000_000 + t, &mut memory)?;
        let choice = policy.select(round.offer, WORLD.round(t), &mut scratch)?;
        sum += round.mean(&choice)?;
    }
    Ok(sum / rounds as f64)
}

/// Writes two logs of the same rounds: with the propensities of the choices, and with the softmax of the scores.
fn write(logger: &str, settings: &Settings, number: u64, paths: [&Path; 2]) -> Result<(), Failed> {
    let environment = world()?;
    let mut policy = policy::build(logger, environment.space(), settings, Key::new(number))?;
    let mut writers = [Writer::create(paths[0], logger)?, Writer::create(paths[1], logger)?];
    let (mut memory, mut scratch) = (Default::default(), Scratch::default());
    for t in 1..=ROUNDS {
        let round = environment.round(number * ROUNDS + t, &mut memory)?;
        let key = Key::new(number).trial(7).round(t);
        let choice = policy.select(round.offer, key, &mut scratch)?;
        let choice = policy.with_propensity(round.offer, choice, key.branch("again"), &mut scratch)?;
        let (offer, chosen) = Offered::with(round.offer, &choice);
        let reward = round.reward(&choice, round.mean(&choice)?);
        policy.score(round.offer, &mut scratch)?;
        let powers: Vec<f64> = scratch.scores().iter().map(|score| libm_exp(score.mean)).collect();
        let softmax = powers[chosen] / powers.iter().sum::<f64>();
        let said = [(choice.propensity, choice.propensity_error), (Some(softmax), 0.0)];
        for (writer, said) in writers.iter_mut().zip(said) {
            writer.write(&offer, chosen, said, Some(reward))?;
        }
        policy.learn(choice.as_action(), reward)?;
    }
    writers.iter_mut().try_for_each(Writer::finish)?;
    Ok(())
}

fn libm_exp(x: f64) -> f64 {
    libm::exp(x.clamp(-50.0, 50.0))
}

#[derive(Default)]
struct Counted {
    logs: u32,
    refused: u32,
    held: u32,
    error: f64,
    width: f64,
}

impl Counted {
    fn add(&mut self, evaluation: &Evaluation, truth: f64) {
        self.logs += 1;
        // What is refused counts with its doubly robust estimate, to show what would have been believed.
        let refused = evaluation.estimate("dr").map(|dr| (dr.value, dr.normal));
        let best = evaluation.verdict.recommended.as_ref().map(|best| (best.value, best.interval));
        self.refused += u32::from(best.is_none());
        let Some((value, [low, high])) = best.or(refused) else { return };
        self.held += u32::from(low <= truth && truth <= high);
        self.error += (value - truth).powi(2);
        self.width += high - low;
    }

    fn show(&self, logger: &str, propensities: &str) {
        let told = f64::from(self.logs).max(1.0);
        println!(
            "| {logger} | {propensities} | {:.1} % | {:.4} | {:.4} | {} of {} |",
            100.0 * f64::from(self.held) / told,
            (self.error / told).sqrt(),
            self.width / told,
            self.refused,
            self.logs
        );
    }
}

fn main() -> Result<(), Failed> {
    let logs: u64 = std::env::args().nth(1).map_or(Ok(100), |text| text.parse())?;
    let policy = target()?;
    let truth = truth(policy.as_ref())?;
    let saved = Target::saved("target", &policy.snapshot()?.to_json()?)?;
    println!("true value {truth:.4}, {logs} logs of {ROUNDS} rounds\n");
    println!("| logger | propensities | covered | error (root mean square) | mean width | cannot tell |");
    println!("| --- | --- | --- | --- | --- | --- |");
    let greedy = Settings::new().with("belief", "linear").with("epsilon", 0.1).with("power", 0.0);
    let loggers = [
        ("uniform", Settings::new()),
        ("epsilon-greedy", greedy),
        ("lin-ts", Settings::new().with("sigma", 0.5).with("scale", 3.0)),
    ];
    let folder = std::env::temp_dir().join(format!("coverage-{}", std::process::id()));
    std::fs::create_dir_all(&folder)?;
    let paths: [PathBuf; 2] = ["right.jsonl", "softmax.jsonl"].map(|name| folder.join(name));
    for (logger, settings) in loggers {
        let mut counted = [Counted::default(), Counted::default()];
        for number in 1..=logs {
            write(logger, &settings, number, [&paths[0], &paths[1]])?;
            for (path, counted) in paths.iter().zip(&mut counted) {
                let found = evaluate(&registry(), path, std::slice::from_ref(&saved), &Options::default(), &|_| {})?;
                found.iter().for_each(|evaluation| counted.add(evaluation, truth));
            }
        }
        counted[0].show(logger, "of the choices");
        counted[1].show(logger, "softmax of scores");
    }
    std::fs::remove_dir_all(folder)?;
    Ok(())
}
