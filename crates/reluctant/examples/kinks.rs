//! How often the kinks of networks outside of the paper's world come back from noise-free rewards: signs ±1, lengths in
//! [½, 2], biases in [−½, ½], six samples a parameter. On the sphere a kink can lie so far out that hardly a sample is
//! beyond it, and then other networks explain everything as well; with normal actions that does not happen.
//!
//! `cargo run --release -p reluctant --example kinks [networks]`

use reluctant::estimate::{FitOptions, Parts, Samples, fit_piecewise, kink_error};
use reluctant::rng::{normal, sign, uniform, unit_vector};
use reluctant::{Activation, Key, PiecewiseNet, ReluNet, Result, Stream};

/// A kink is found if it is this near.
const NEAR: f64 = 1e-6;

fn main() -> Result<()> {
    let networks = std::env::args().nth(1).and_then(|text| text.parse().ok()).unwrap_or(100);
    for (slope, affine) in [(0.0, false), (0.2, false), (0.0, true)] {
        for on_sphere in [true, false] {
            for (dim, neurons) in [(3, 4), (5, 5), (10, 5)] {
                World { dim, neurons, slope, affine, on_sphere }.report(networks)?;
            }
        }
    }
    Ok(())
}

/// Networks and actions of one kind.
struct World {
    dim: usize,
    neurons: usize,
    slope: f64,
    /// Whether the fit has an affine part, which the truth has not.
    affine: bool,
    /// Actions on the unit sphere; else normal ones.
    on_sphere: bool,
}

impl World {
    fn report(&self, networks: u64) -> Result<()> {
        let World { dim, neurons, slope, affine, on_sphere } = *self;
        let (mut found, mut seen, mut found_of_seen, mut starts) = (0, 0, 0, 0);
        for seed in 0..networks {
            let key = Key::new(seed);
            let stream = &mut key.stream();
            let truth = random(dim, neurons, slope, stream)?;
            let parameters = neurons * (dim + 1) + if affine { dim + 1 } else { 0 };
            let mut actions = vec![0.0; 6 * parameters * dim];
            if on_sphere {
                actions.chunks_exact_mut(dim).for_each(|x| unit_vector(stream, x));
            } else {
                actions.iter_mut().for_each(|x| *x = normal(stream));
            }
            let rewards: Vec<f64> = actions.chunks_exact(dim).map(|x| truth.value(x)).collect();
            let samples = Samples::new(dim, &actions, &rewards)?;
            let options = FitOptions { slope, ..FitOptions::thorough() };
            let parts = Parts { biases: true, affine };
            let fit = fit_piecewise(samples, neurons, parts, &options, key)?;
            let near = kink_error(&fit.net, &truth)? < NEAR;
            let visible = is_visible(&truth, &actions);
            found += u64::from(near);
            seen += u64::from(visible);
            found_of_seen += u64::from(near && visible);
            starts += fit.restarts;
        }
        let actions = if on_sphere { "on the sphere" } else { "normal" };
        let part = if affine { ", free affine part" } else { "" };
        println!(
            "({dim}, {neurons}), slope {slope}, actions {actions}{part}: {found} of {networks} found, {found_of_seen} of the \
         {seen} whose kinks have d + 1 samples on each side; {:.1} starts each",
            starts as f64 / networks as f64
        );
        Ok(())
    }
}

fn random(dim: usize, neurons: usize, slope: f64, stream: &mut Stream) -> Result<PiecewiseNet> {
    let mut theta = vec![0.0; dim * neurons];
    for row in theta.chunks_exact_mut(dim) {
        unit_vector(stream, row);
        let length = 0.5 + 1.5 * uniform(stream);
        row.iter_mut().for_each(|x| *x *= length);
    }
    let signs = (0..neurons).map(|_| sign(stream)).collect();
    let biases: Vec<f64> = (0..neurons).map(|_| uniform(stream) - 0.5).collect();
    PiecewiseNet::with_activation(&Activation::leaky(slope)?, &ReluNet::with_signs(dim, theta, signs)?, &biases)
}

/// Whether every kink has at least d + 1 samples on each of its sides: with fewer, no data determine it.
fn is_visible(net: &PiecewiseNet, actions: &[f64]) -> bool {
    let dim = net.dim();
    (0..net.hinges().neurons()).all(|i| {
        let active = actions.chunks_exact(dim).filter(|x| net.pattern(x) >> i & 1 == 1).count();
        (dim + 1..actions.len() / dim - dim).contains(&active)
    })
}
