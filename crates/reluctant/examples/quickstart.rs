//! A policy in a loop of your own: arms come in, rewards come back late, the state is saved and restored.
//!
//! `cargo run --release -p reluctant --example quickstart`

use reluctant::rng::{normal, unit_vector};
use reluctant::{Key, Offer, ReluNet, Scratch, Settings, Snapshot, policy};

fn main() -> reluctant::Result<()> {
    let key = Key::new(7);
    let mut stream = key.stream();
    let truth = ReluNet::random(2, 3, &mut stream);

    let settings = Settings::new().with("neurons", 3u64).with("sigma", 0.1);
    let mut policy = policy::build("ofu-relu", 2, &settings, key)?;
    let mut scratch = Scratch::default();
    let mut arms = vec![0.0; 2 * 200];
    let mut unpaid = Vec::new();
    let mut regret = 0.0;
    for round in 0..500 {
        arms.chunks_exact_mut(2).for_each(|arm| unit_vector(&mut stream, arm));
        let choice = policy.select(Offer::finite(2, &arms)?, key.round(round), &mut scratch)?;
        let best = arms.chunks_exact(2).map(|x| truth.value(x)).fold(f64::MIN, f64::max);
        regret += best - truth.value(&choice.action);

        // Rewards arrive five at a time, as they do in life.
        unpaid.push(choice.action.into_owned());
        if unpaid.len() == 5 {
            for action in unpaid.drain(..) {
                policy.update(&action, truth.value(&action) + 0.1 * normal(&mut stream))?;
            }
        }
        if round == 250 {
            // To a file and back: the policy goes on to the bit.
            let saved = policy.snapshot()?.to_json()?;
            policy = Snapshot::parse(&saved)?.restore()?;
        }
        if (round + 1) % 100 == 0 {
            println!("after {:3} rounds: cumulative regret {regret:6.2}", round + 1);
        }
    }
    Ok(())
}
