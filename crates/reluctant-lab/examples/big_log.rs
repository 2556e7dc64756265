//! Writes a large log, and a policy to evaluate on it: to measure how fast logs are read.
//!
//! ```sh
//! cargo run --release -p reluctant-lab --example big_log -- 1000000 big.jsonl policy.json
//! reluctant evaluate big.jsonl --policy policy.json
//! ```
//!
//! Contexts of 20 numbers, 10 actions, chosen uniformly. The policy was learnt from 2,000 other rounds.

use std::path::Path;

use reluctant::{Key, Scratch, Settings, env, play, policy};
use reluctant_lab::log::{Offered, Writer};

type Failed = Box<dyn std::error::Error>;

fn main() -> Result<(), Failed> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [rounds, log, saved] = arguments.as_slice() else {
        return Err("name the number of rounds, the log, and the file of the policy".into());
    };
    let rounds: u64 = rounds.parse()?;
    let key = Key::new(26);
    let settings = Settings::new().with("dim", 20u64).with("actions", 10u64).with("neurons", 0u64);
    let environment = env::build("contexts", &settings, key)?;
    let mut learnt = policy::build("oful", environment.space(), &Settings::new(), key)?;
    play(environment.as_ref(), learnt.as_mut(), key.trial(1), 2000, |_| {})?;
    std::fs::write(saved, learnt.snapshot()?.to_json()?)?;

    let logger = policy::build("uniform", environment.space(), &Settings::new(), key)?;
    let mut writer = Writer::create(Path::new(log), "uniform")?;
    let (mut memory, mut scratch) = (Default::default(), Scratch::default());
    for t in 1..=rounds {
        // The first rounds are those that the policy was learnt from.
        let round = environment.round(1_000_000 + t, &mut memory)?;
        let choice = logger.select(round.offer, key.round(t), &mut scratch)?;
        let reward = round.reward(&choice, round.mean(&choice)?);
        let (offer, chosen) = Offered::with(round.offer, &choice);
        writer.write(&offer, chosen, (choice.propensity, 0.0), Some(reward))?;
    }
    Ok(writer.finish()?)
}
