//! What a fit costs, in passes over the data.
//!
//! One pass is the value and the gradient of the loss by the plain method. The ratio of the two times, taken in one
//! run, carries over to other machines; the times do not.
//!
//! `cargo bench --bench estimate`

use std::hint::black_box;
use std::time::Instant;

use reluctant::estimate::{FitOptions, LEARNING_RATE, STEPS, Samples, adam, fit};
use reluctant::linalg::{axpy, dot};
use reluctant::rng::{normal, unit_vector};
use reluctant::{Key, Purpose, ReluNet, Result};

/// The most passes that a fit of (d, k) = (10, 5) may cost.
const BUDGET: f64 = 10_000.0;
const NETWORKS: u64 = 30;

struct Data {
    key: Key,
    dim: usize,
    x: Vec<f64>,
    y: Vec<f64>,
    start: ReluNet,
}

fn data(dim: usize, neurons: usize, len: usize, sigma: f64, trial: u64) -> Data {
    let key = Key::new(31).trial(trial);
    let truth = ReluNet::random(dim, neurons, &mut key.purpose(Purpose::Truth).stream());
    let start = ReluNet::random(dim, neurons, &mut key.purpose(Purpose::Start).stream());
    let mut arms = key.purpose(Purpose::Arms).stream();
    let mut noise = key.purpose(Purpose::Noise).stream();
    let mut x = vec![0.0; len * dim];
    x.chunks_exact_mut(dim).for_each(|row| unit_vector(&mut arms, row));
    let y = x.chunks_exact(dim).map(|row| truth.value(row) + sigma * normal(&mut noise)).collect();
    Data { key, dim, x, y, start }
}

/// The value and the gradient of Σ (f(x) − y)².
fn pass(data: &Data, theta: &[f64], inner: &mut [f64], gradient: &mut [f64]) -> f64 {
    gradient.fill(0.0);
    let mut loss = 0.0;
    for (x, y) in data.x.chunks_exact(data.dim).zip(&data.y) {
        let mut residual = -y;
        for (z, theta) in inner.iter_mut().zip(theta.chunks_exact(data.dim)) {
            *z = dot(theta, x);
            residual += z.max(0.0);
        }
        loss += residual * residual;
        for (z, row) in inner.iter().zip(gradient.chunks_exact_mut(data.dim)) {
            if *z >= 0.0 {
                axpy(2.0 * residual, x, row);
            }
        }
    }
    loss
}

fn seconds_a_pass(data: &Data) -> f64 {
    let mut gradient = vec![0.0; data.start.theta().len()];
    let mut inner = vec![0.0; data.start.neurons()];
    // The fastest of several runs: what else the machine does only ever adds.
    let run = |gradient: &mut [f64], inner: &mut [f64]| {
        let clock = Instant::now();
        for _ in 0..200 {
            black_box(pass(black_box(data), black_box(data.start.theta()), inner, gradient));
        }
        clock.elapsed().as_secs_f64() / 200.0
    };
    (0..5).map(|_| run(&mut gradient, &mut inner)).fold(f64::INFINITY, f64::min)
}

fn main() -> Result<()> {
    println!(" d   k    n  sigma  us a pass  ms a fit  passes, mean  passes, most  restarts  Adam: passes");
    let mut within = true;
    for (dim, neurons, len, sigma) in [
        (2, 3, 20, 0.1),
        (2, 10, 20, 0.1),
        (2, 3, 24, 0.0),
        (5, 5, 100, 0.0),
        (10, 5, 200, 0.0),
        (10, 5, 200, 0.1),
        (10, 5, 1000, 0.1),
        (10, 10, 400, 0.0),
        (20, 10, 800, 0.0),
    ] {
        let (mut total, mut most, mut seconds, mut restarts) = (0.0, 0.0f64, 0.0, 0);
        let mut a_pass = 0.0;
        let mut by_adam = 0.0;
        for trial in 0..NETWORKS {
            let data = data(dim, neurons, len, sigma, trial);
            let samples = Samples::new(dim, &data.x, &data.y)?;
            a_pass = seconds_a_pass(&data);
            let mut fastest = f64::INFINITY;
            for _ in 0..3 {
                let clock = Instant::now();
                restarts += fit(black_box(samples), neurons, &FitOptions::default(), data.key)?.restarts;
                fastest = fastest.min(clock.elapsed().as_secs_f64());
            }
            seconds += fastest;
            total += fastest / a_pass;
            most = most.max(fastest / a_pass);
            if trial == 0 {
                let clock = Instant::now();
                black_box(adam(samples, neurons, STEPS, LEARNING_RATE, data.key)?);
                by_adam = clock.elapsed().as_secs_f64() / a_pass;
            }
        }
        let count = NETWORKS as f64;
        println!(
            "{dim:2}  {neurons:2}  {len:4}  {sigma:4}  {:9.2}  {:8.3}  {:12.0}  {:12.0}  {:8.2}  {by_adam:12.0}",
            1e6 * a_pass,
            1e3 * seconds / count,
            total / count,
            most,
            restarts as f64 / (3.0 * count),
        );
        within &= (dim, neurons) != (10, 5) || len != 200 || most <= BUDGET;
    }
    println!("\nevery fit of (10, 5) from 200 samples within {BUDGET} passes: {}", if within { "yes" } else { "NO" });
    Ok(())
}
