//! Recovers the neurons of a network from noisy samples, and compares them with the truth.
//!
//! `cargo run --release -p reluctant --example fit_network`

use reluctant::estimate::{FitOptions, Samples, SignRule, fit, match_neurons};
use reluctant::rng::{normal, unit_vector};
use reluctant::{Key, ReluNet};

fn main() -> reluctant::Result<()> {
    let (dim, neurons, sigma) = (5, 4, 0.1);
    let mut stream = Key::new(3).stream();
    let truth = ReluNet::random(dim, neurons, &mut stream);
    println!("samples   root mean square error   worst neuron   restarts (agreed)");
    for samples in [100, 400, 1600, 6400] {
        let mut xs = vec![0.0; samples * dim];
        xs.chunks_exact_mut(dim).for_each(|x| unit_vector(&mut stream, x));
        let ys: Vec<f64> = xs.chunks_exact(dim).map(|x| truth.value(x) + sigma * normal(&mut stream)).collect();
        let found = fit(Samples::new(dim, &xs, &ys)?, neurons, &FitOptions::default(), Key::new(1))?;
        let matching = match_neurons(&found.net, &truth, SignRule::Strict)?;
        let (rmse, worst) = (found.loss.sqrt(), matching.worst);
        println!("{samples:7}   {rmse:22.4}   {worst:12.4}   {:8} ({})", found.restarts, found.agreed);
    }
    Ok(())
}
