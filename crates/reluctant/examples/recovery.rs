//! How often are the neurons of a random network found again from 4kd samples without noise?
//!
//! `cargo run --release --example recovery [networks]`

use std::time::Instant;

use reluctant::estimate::{FitOptions, Samples, SignRule, fit, match_neurons};
use reluctant::rng::unit_vector;
use reluctant::{Key, Purpose, ReluNet, Result};

fn main() -> Result<()> {
    let networks: u64 = std::env::args().nth(1).and_then(|text| text.parse().ok()).unwrap_or(100).max(1);
    println!("{networks} random networks a row, n = 4kd samples on the sphere, no noise, the default options;");
    println!("recovered: every neuron within 1e-6, signs included\n");
    println!(" d   k    n  recovered  other network with zero loss  restarts  iterations  ms a fit");
    for (dim, neurons) in [(2, 3), (5, 5), (10, 5), (10, 10), (20, 10)] {
        let len = 4 * dim * neurons;
        let (mut recovered, mut ambiguous, mut restarts, mut iterations, mut seconds) = (0, 0, 0, 0, 0.0);
        for trial in 0..networks {
            let key = Key::new(2024).trial(trial);
            let truth = ReluNet::random(dim, neurons, &mut key.purpose(Purpose::Truth).stream());
            let mut stream = key.purpose(Purpose::Arms).stream();
            let mut x = vec![0.0; len * dim];
            x.chunks_exact_mut(dim).for_each(|row| unit_vector(&mut stream, row));
            let y: Vec<f64> = x.chunks_exact(dim).map(|row| truth.value(row)).collect();
            let clock = Instant::now();
            let found = fit(Samples::new(dim, &x, &y)?, neurons, &FitOptions::default(), key)?;
            seconds += clock.elapsed().as_secs_f64();
            let worst = match_neurons(&found.net, &truth, SignRule::Strict)?.worst;
            recovered += u64::from(worst <= 1e-6);
            ambiguous += u64::from(worst > 1e-6 && found.loss < 1e-24);
            restarts += found.restarts;
            iterations += found.iterations;
        }
        let mean = |total: f64| total / networks as f64;
        println!(
            "{dim:2}  {neurons:2}  {len:3}  {:8.1}%  {ambiguous:28}  {:8.2}  {:10.1}  {:8.3}",
            100.0 * mean(recovered as f64),
            mean(restarts as f64),
            mean(iterations as f64),
            1e3 * mean(seconds),
        );
    }
    Ok(())
}
