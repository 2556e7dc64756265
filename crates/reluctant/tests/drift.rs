//! After 10⁶ updates, what [`Ellipsoid`] keeps step by step must still be what a computation from scratch gives.
//!
//! The reference sums the Gram matrix and factors it in double-double arithmetic (about 32 digits), so that its own
//! error is nothing beside the 1e-8 that is allowed.

#![allow(clippy::unwrap_used, clippy::panic)]

use reluctant::linalg::normalise;
use reluctant::relu::phi_prior;
use reluctant::rng::{Stream, normal, uniform, unit_vector};
use reluctant::{Ellipsoid, Key, ReluNet};

const ALLOWED: f64 = 1e-8;
/// A little over 10⁶, so that the last of them come just before a refresh, where the drift is greatest.
const UPDATES: usize = 1_000_447;

/// high + low, an unevaluated sum of two doubles.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Double {
    high: f64,
    low: f64,
}

impl Double {
    const ZERO: Double = Double { high: 0.0, low: 0.0 };

    fn from(high: f64) -> Self {
        Double { high, low: 0.0 }
    }

    /// The exact sum of two doubles (Knuth).
    fn sum(a: f64, b: f64) -> Self {
        let high = a + b;
        let part = high - a;
        Double { high, low: (a - (high - part)) + (b - part) }
    }

    /// The exact product of two doubles (Dekker).
    fn product(a: f64, b: f64) -> Self {
        let split = |x: f64| {
            let t = 134_217_729.0 * x;
            let high = t - (t - x);
            (high, x - high)
        };
        let ((ah, al), (bh, bl)) = (split(a), split(b));
        let high = a * b;
        Double { high, low: ((ah * bh - high) + ah * bl + al * bh) + al * bl }
    }

    fn plus(self, other: Double) -> Double {
        let sum = Double::sum(self.high, other.high);
        Double::sum(sum.high, sum.low + self.low + other.low)
    }

    fn minus(self, other: Double) -> Double {
        self.plus(Double { high: -other.high, low: -other.low })
    }

    fn times(self, other: Double) -> Double {
        let product = Double::product(self.high, other.high);
        Double::sum(product.high, product.low + self.high * other.low + self.low * other.high)
    }

    fn over(self, other: Double) -> Double {
        let first = self.high / other.high;
        let rest = self.minus(other.times(Double::from(first)));
        let second = rest.high / other.high;
        Double::sum(first, second)
    }

    fn value(self) -> f64 {
        self.high + self.low
    }
}

/// A = A₀ + Σφφᵀ and b = Σφy in double-double, factored as LDLᵀ when asked.
struct Reference {
    dim: usize,
    gram: Vec<Double>,
    moment: Vec<Double>,
    log_det_prior: f64,
}

impl Reference {
    fn new(prior: &Ellipsoid) -> Self {
        let gram: Vec<Double> = prior.precision().iter().map(|x| Double::from(*x)).collect();
        let mut new = Reference { dim: prior.dim(), gram, moment: vec![Double::ZERO; prior.dim()], log_det_prior: 0.0 };
        new.log_det_prior = new.factor().log_det();
        new
    }

    fn update(&mut self, phi: &[f64], y: f64) {
        for i in 0..self.dim {
            for j in 0..=i {
                let entry = &mut self.gram[i * self.dim + j];
                *entry = entry.plus(Double::product(phi[i], phi[j]));
            }
            self.moment[i] = self.moment[i].plus(Double::product(phi[i], y));
        }
    }

    fn factor(&self) -> Factor {
        let n = self.dim;
        let mut l = self.gram.clone();
        for j in 0..n {
            for i in j..n {
                let mut entry = l[i * n + j];
                for m in 0..j {
                    entry = entry.minus(l[i * n + m].times(l[j * n + m]).times(l[m * n + m]));
                }
                l[i * n + j] = if i == j { entry } else { entry.over(l[j * n + j]) };
            }
        }
        Factor { dim: n, l }
    }
}

struct Factor {
    dim: usize,
    /// L below the diagonal, D on it.
    l: Vec<Double>,
}

impl Factor {
    fn log_det(&self) -> f64 {
        (0..self.dim).map(|i| self.l[i * self.dim + i].value().ln()).sum()
    }

    fn solve(&self, b: &[Double]) -> Vec<Double> {
        let n = self.dim;
        let mut x = b.to_vec();
        for i in 0..n {
            for j in 0..i {
                x[i] = x[i].minus(self.l[i * n + j].times(x[j]));
            }
        }
        for i in (0..n).rev() {
            x[i] = x[i].over(self.l[i * n + i]);
            for j in i + 1..n {
                x[i] = x[i].minus(self.l[j * n + i].times(x[j]));
            }
        }
        x
    }

    fn squared_width(&self, phi: &[f64]) -> f64 {
        let phi: Vec<Double> = phi.iter().map(|x| Double::from(*x)).collect();
        let solved = self.solve(&phi);
        phi.iter().zip(solved).fold(Double::ZERO, |sum, (a, b)| sum.plus(a.times(b))).value()
    }
}

/// Relative drifts from the reference.
#[derive(Debug, Default)]
struct Drift {
    log_det: f64,
    inverse: f64,
    weights: f64,
    /// The worst over directions that occur.
    width: f64,
}

/// Feeds `UPDATES` features to `ellipsoid` and to the reference, and compares them, the widths in directions of the
/// stream.
fn drift(mut ellipsoid: Ellipsoid, mut feature: impl FnMut(usize, &mut [f64])) -> Drift {
    let dim = ellipsoid.dim();
    let mut reference = Reference::new(&ellipsoid);
    let mut noise = Key::new(99).stream();
    let mut phi = vec![0.0; dim];
    for i in 0..UPDATES {
        feature(i, &mut phi);
        let y = phi.iter().sum::<f64>() + 0.1 * normal(&mut noise);
        ellipsoid.update(&phi, y);
        reference.update(&phi, y);
    }
    let factor = reference.factor();
    let relative = |ours: f64, exact: f64| ((ours - exact) / exact).abs();
    let mut drift = Drift {
        log_det: relative(ellipsoid.log_det_ratio(), factor.log_det() - reference.log_det_prior),
        ..Drift::default()
    };
    let (mut off, mut size) = (0.0f64, 0.0f64);
    for j in 0..dim {
        let unit: Vec<Double> = (0..dim).map(|i| Double::from(f64::from(u8::from(i == j)))).collect();
        for (i, exact) in factor.solve(&unit).iter().enumerate() {
            off = off.max((ellipsoid.covariance()[i * dim + j] - exact.value()).abs());
            size = size.max(exact.value().abs());
        }
    }
    drift.inverse = off / size;
    let weights: Vec<f64> = factor.solve(&reference.moment).iter().map(|x| x.value()).collect();
    let off = weights.iter().zip(ellipsoid.weights()).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
    drift.weights = off / weights.iter().fold(0.0, |m: f64, w| m.max(w.abs()));
    for i in (0..100).chain(UPDATES..UPDATES + 300) {
        feature(i, &mut phi);
        let (ours, exact) = (ellipsoid.squared_width(&phi).sqrt(), factor.squared_width(&phi).sqrt());
        drift.width = drift.width.max(relative(ours, exact));
    }
    drift
}

fn assert_small(drift: &Drift, what: &str) {
    println!("{what}: {drift:?}");
    let worst = [drift.log_det, drift.inverse, drift.weights, drift.width].into_iter().fold(0.0, f64::max);
    assert!(worst < ALLOWED, "{what}: {drift:?}");
}

/// A policy that has found its arm: 99 of 100 actions within a small cap around it.
fn concentrated(stream: &mut Stream, centre: &[f64], x: &mut [f64]) {
    unit_vector(stream, x);
    if uniform(stream) < 0.99 {
        x.iter_mut().zip(centre).for_each(|(x, c)| *x = c + 0.02 * *x);
        assert!(normalise(x));
    }
}

fn centre(dim: usize) -> Vec<f64> {
    let mut centre = vec![0.0; dim];
    unit_vector(&mut Key::new(5).stream(), &mut centre);
    centre
}

#[test]
fn random_features() {
    for lambda in [0.01, 1.0] {
        let mut stream = Key::new(1).stream();
        let drift = drift(Ellipsoid::ridge(6, lambda), |_, x| unit_vector(&mut stream, x));
        assert_small(&drift, &format!("random, lambda {lambda}"));
    }
}

/// As they come from a table that nobody normalised.
#[test]
fn features_of_many_sizes() {
    let mut stream = Key::new(8).stream();
    let drift = drift(Ellipsoid::ridge(6, 0.01), |_, x| {
        unit_vector(&mut stream, x);
        let size = 10f64.powf(8.0 * uniform(&mut stream) - 3.0);
        x.iter_mut().for_each(|x| *x *= size);
    });
    assert_small(&drift, "many sizes");
}

#[test]
fn compact_features_on_random_arms() {
    let mut stream = Key::new(2).stream();
    let network = ReluNet::random(2, 3, &mut stream);
    let mut x = [0.0; 2];
    let drift = drift(phi_prior(3, 2, 0.01), |_, phi| {
        unit_vector(&mut stream, &mut x);
        network.phi(&x, phi);
    });
    assert_small(&drift, "compact features on random arms");
}

#[test]
fn a_concentrated_stream() {
    let mut stream = Key::new(3).stream();
    let centre = centre(6);
    let drift = drift(Ellipsoid::ridge(6, 0.01), |_, x| concentrated(&mut stream, &centre, x));
    assert_small(&drift, "concentrated");
}

#[test]
fn compact_features_on_a_concentrated_stream() {
    let mut stream = Key::new(4).stream();
    let network = ReluNet::random(2, 3, &mut stream);
    let centre = centre(2);
    let mut x = [0.0; 2];
    let drift = drift(phi_prior(3, 2, 0.01), |_, phi| {
        concentrated(&mut stream, &centre, &mut x);
        network.phi(&x, phi);
    });
    assert_small(&drift, "compact features, concentrated");
}

/// One fixed arm for ever after twenty random ones: every rounding error points the same way, and plain
/// sums would lose the sixth digit.
#[test]
fn a_locked_stream() {
    let mut stream = Key::new(6).stream();
    let centre = centre(6);
    let drift =
        drift(
            Ellipsoid::ridge(6, 0.01),
            |i, x| {
                if i < 20 { unit_vector(&mut stream, x) } else { x.copy_from_slice(&centre) }
            },
        );
    assert_small(&drift, "locked");
}

/// As above, but λ alone holds some directions: the condition number is 10⁹, and the width of the arm that is played is
/// 10⁻³ beside entries of A⁻¹ in the hundreds.
#[test]
fn compact_features_on_a_locked_stream() {
    let mut stream = Key::new(7).stream();
    let network = ReluNet::random(2, 3, &mut stream);
    let centre = centre(2);
    let mut x = [0.0; 2];
    let drift = drift(phi_prior(3, 2, 0.01), |i, phi| {
        if i < 20 {
            unit_vector(&mut stream, &mut x)
        } else {
            x.copy_from_slice(&centre)
        }
        network.phi(&x, phi);
    });
    assert_small(&drift, "compact features, locked");
}
