//! The paper's lemmas put to the test with numbers: where they hold, how loose they are, and counterexamples where they
//! fail.
//!
//! Each file holds one group of statements. A test whose name begins with `false_` is a counterexample to something the
//! paper says; `docs/theory.md` explains each. `-- --nocapture` prints how loose the others are.

mod features;
mod gap;
mod identification;
mod leaky;
mod linear_fit;
mod losses;
mod schedules;
mod spheres;
mod strips;

use reluctant::ReluNet;
use reluctant::linalg::{dot, norm, normalise};
use reluctant::rng::{Stream, normal};

/// ∫ over [from, to] of `f`, by the midpoint rule with `n` points.
fn integral(from: f64, to: f64, n: usize, f: impl Fn(f64) -> f64) -> f64 {
    let step = (to - from) / n as f64;
    (0..n).map(|i| f(from + (i as f64 + 0.5) * step)).sum::<f64>() * step
}

fn network(dim: usize, theta: Vec<f64>) -> ReluNet {
    ReluNet::new(dim, theta).expect("a network")
}

/// The unit vector at an angle in the plane.
fn at_angle(angle: f64) -> [f64; 2] {
    [libm::cos(angle), libm::sin(angle)]
}

/// ‖a ∓ b‖, whichever is smaller.
fn distance_up_to_sign(a: &[f64], b: &[f64]) -> f64 {
    let apart = |sign: f64| a.iter().zip(b).map(|(x, y)| (x - sign * y).powi(2)).sum::<f64>().sqrt();
    apart(1.0).min(apart(-1.0))
}

/// `theta` moved by a Gaussian vector of the given size and scaled back to unit length.
fn moved(stream: &mut Stream, theta: &[f64], size: f64) -> Vec<f64> {
    let mut out: Vec<f64> = theta.iter().map(|x| x + size * normal(stream)).collect();
    assert!(normalise(&mut out));
    out
}

/// The best actions of a network with a second layer of ones: f* and every x* (up to ties of relative size 1e-12), over
/// all subsets.
fn best_actions(net: &ReluNet) -> (f64, Vec<Vec<f64>>) {
    let sums: Vec<Vec<f64>> = (0..1u64 << net.neurons())
        .map(|subset| {
            let mut sum = vec![0.0; net.dim()];
            for (i, theta) in net.iter().enumerate().filter(|(i, _)| subset >> i & 1 == 1) {
                assert!(i < 64);
                sum.iter_mut().zip(theta).for_each(|(s, t)| *s += t);
            }
            sum
        })
        .collect();
    let best = sums.iter().map(|sum| norm(sum)).fold(0.0, f64::max);
    let actions = sums.into_iter().filter(|sum| norm(sum) >= best * (1.0 - 1e-12));
    (best, actions.map(|sum| sum.iter().map(|s| s / best).collect()).collect())
}

/// minᵢ |θᵢ·x|.
fn gap_at(net: &ReluNet, x: &[f64]) -> f64 {
    net.iter().map(|theta| dot(theta, x).abs()).fold(f64::INFINITY, f64::min)
}
