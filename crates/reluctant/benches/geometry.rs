//! How long the geometry takes: medians over random instances, and how often the optimum was proven.
//!
//! `cargo bench -p reluctant --bench geometry`

use std::hint::black_box;
use std::time::Instant;

use reluctant::geometry::{CELL_BUDGET, Cells, OptimisticOptions, Region, best_action, optimistic_action};
use reluctant::rng::{normal, sign, unit_vector};
use reluctant::{Confidence, FrozenRelu, Key, ReluNet};

/// Median and maximum in milliseconds.
fn summary(mut times: Vec<f64>) -> String {
    times.sort_by(f64::total_cmp);
    format!("median {:>9.3} ms   max {:>9.3} ms", times[times.len() / 2], times[times.len() - 1])
}

fn timed<T>(times: &mut Vec<f64>, run: impl FnOnce() -> T) -> T {
    let start = Instant::now();
    let result = black_box(run());
    times.push(start.elapsed().as_secs_f64() * 1e3);
    result
}

/// A regime after `samples` random actions, and its radius as OFU-ReLU has it: λ = 0.01, σ = 0.1, δ = 0.01, S = √(5k).
fn regime(dim: usize, neurons: usize, samples: usize, seed: u64) -> (FrozenRelu, f64) {
    let mut stream = Key::new(seed).stream();
    let net = ReluNet::random(dim, neurons, &mut stream);
    let confidence = Confidence { lambda: 0.01, sigma: 0.1, delta: 0.01, norm_bound: (5.0 * neurons as f64).sqrt() };
    let mut regime = FrozenRelu::new(net.clone(), confidence.lambda);
    let mut x = vec![0.0; dim];
    for _ in 0..samples {
        unit_vector(&mut stream, &mut x);
        regime.update(&x, net.value(&x) + confidence.sigma * normal(&mut stream));
    }
    let radius = confidence.radius(regime.ellipsoid().log_det_ratio());
    (regime, radius)
}

fn main() {
    println!("cells");
    for (dim, neurons) in [(2, 10), (3, 10), (5, 10), (5, 20)] {
        let mut times = Vec::new();
        let mut count = 0;
        for seed in 0..11 {
            let net = ReluNet::random(dim, neurons, &mut Key::new(seed).stream());
            count = timed(&mut times, || Cells::new(&net).map_or(0, Iterator::count));
        }
        println!("  d = {dim:>2}, k = {neurons:>2}: {count:>6} cells   {}", summary(times));
    }
    println!("best action");
    for (dim, neurons, signed) in
        [(2, 3, false), (3, 10, false), (5, 10, false), (5, 20, false), (5, 20, true), (10, 10, false), (20, 20, false)]
    {
        let mut times = Vec::new();
        let mut exact = true;
        for seed in 0..11 {
            let mut stream = Key::new(seed).stream();
            let mut net = ReluNet::random(dim, neurons, &mut stream);
            if signed {
                let signs = (0..neurons).map(|_| sign(&mut stream)).collect();
                net = ReluNet::with_signs(dim, net.theta().to_vec(), signs).unwrap_or(net);
            }
            exact &= timed(&mut times, || best_action(&net, CELL_BUDGET)).is_ok_and(|best| best.exact);
        }
        let layer = if signed { "±1  " } else { "ones" };
        println!("  d = {dim:>2}, k = {neurons:>2}, {layer}: exact {exact:<5}   {}", summary(times));
    }
    let shapes: Vec<(usize, usize)> =
        vec![(2, 3), (2, 10), (3, 3), (3, 10), (4, 6), (5, 5), (5, 10), (5, 20), (20, 20)];
    println!("optimistic action, proven within {:e}", OptimisticOptions::default().tolerance);
    for (dim, neurons) in shapes {
        for margin in [0.0, 0.05] {
            for samples in [50, 100, 200, 500] {
                let (mut times, mut proven, mut bounds, mut all) = (Vec::new(), 0, Vec::new(), 0);
                let instances = if neurons == 20 { 3 } else { 21 };
                for seed in 0..instances {
                    let (regime, radius) = regime(dim, neurons, samples, seed);
                    let options = OptimisticOptions::default();
                    let Ok(found) = timed(&mut times, || optimistic_action(&regime, radius, margin, &options)) else {
                        continue;
                    };
                    all += 1;
                    proven += i32::from(found.certificate.gap().is_some_and(|gap| gap <= options.tolerance));
                    bounds.push(found.bounds);
                }
                bounds.sort_unstable();
                let middle = bounds.get(bounds.len() / 2).copied().unwrap_or(0);
                let most = bounds.last().copied().unwrap_or(0);
                println!(
                    "  d = {dim:>2}, k = {neurons:>2}, margin {margin:<4}, {samples:>3} samples: {}   proven \
                     {proven}/{all}   bounds median {middle}, most {most}",
                    summary(times)
                );
            }
        }
    }
    println!("optimistic action with the region made once");
    for (dim, neurons) in [(2, 3), (3, 10), (5, 10)] {
        let mut times = Vec::new();
        for seed in 0..21 {
            let (regime, radius) = regime(dim, neurons, 200, seed);
            let options = OptimisticOptions::default();
            if let Ok(region) = Region::new(regime.network(), 0.05, options.max_cells) {
                let _ = timed(&mut times, || region.optimistic_action(&regime, radius, &options));
            }
        }
        println!("  d = {dim:>2}, k = {neurons:>2}: {}", summary(times));
    }
}
