//! The process against dense algebra, its fast passes against plain ones, its draws against its posterior.

use std::f64::consts::PI;

use super::kernel::{Kernel, Shape, Units, Wide};
use super::path::Path;
use super::prior::Prior;
use super::sparse::SparseGp;
use crate::linalg::{Cholesky, dot};
use crate::offer::Rows;
use crate::rng::{Key, normal, unit_vector};

const SIGMA: f64 = 0.1;
const SHAPES: [Shape; 7] = [
    Shape::Rbf,
    Shape::Matern32,
    Shape::Matern52,
    wide(Units::Relu, 1, false),
    wide(Units::Relu, 3, true),
    wide(Units::Gate, 2, true),
    wide(Units::Tangent, 2, true),
];

const fn wide(of: Units, depth: u8, bias: bool) -> Shape {
    Shape::Wide(Wide { of, depth, bias })
}

fn kernel(shape: Shape) -> Kernel {
    Kernel { shape, length: 0.8, variance: 1.7 }
}

/// Points on the sphere and noisy rewards of a bent function.
fn data(n: usize, dim: usize) -> (Vec<f64>, Vec<f64>) {
    let mut stream = Key::new(11).stream();
    let mut xs = vec![0.0; n * dim];
    xs.chunks_exact_mut(dim).for_each(|x| unit_vector(&mut stream, x));
    let ys = xs.chunks_exact(dim).map(|x| x[0].max(0.0) - 0.5 * x[1].abs() + SIGMA * normal(&mut stream)).collect();
    (xs, ys)
}

fn trained(shape: Shape, budget: usize, n: usize, dim: usize) -> SparseGp {
    let (xs, ys) = data(n, dim);
    let mut gp = SparseGp::new(dim, kernel(shape), SIGMA, budget);
    xs.chunks_exact(dim).zip(&ys).for_each(|(x, &y)| gp.update(x, y));
    gp
}

/// Mean and variance by one dense solve with all observations.
fn dense(shape: Shape, n: usize, dim: usize, x: &[f64]) -> (f64, f64) {
    dense_weighted(shape, n, dim, x, |_| 1.0)
}

/// The same with observations that count by a weight: their noise variance is divided by it.
fn dense_weighted(shape: Shape, n: usize, dim: usize, x: &[f64], weight: impl Fn(usize) -> f64) -> (f64, f64) {
    let (xs, ys) = data(n, dim);
    let kernel = kernel(shape);
    let point = |i: usize| &xs[i * dim..(i + 1) * dim];
    let mut matrix: Vec<f64> = (0..n * n).map(|at| kernel.at(point(at / n), point(at % n))).collect();
    (0..n).for_each(|i| matrix[i * n + i] += SIGMA * SIGMA / weight(i));
    let factor = Cholesky::new(&mut matrix, n).unwrap();
    let k: Vec<f64> = (0..n).map(|i| kernel.at(point(i), x)).collect();
    let (mut alpha, mut v) = (ys, k.clone());
    factor.solve(&mut alpha);
    factor.solve_transposed(&mut v);
    (dot(&k, &alpha), kernel.at(x, x) - dot(&v, &v))
}

/// What is forgotten by a factor is what counts by it.
#[test]
fn forgetting_divides_the_weight_of_what_was_seen() {
    let (n, dim, half) = (60, 5, 30);
    let (xs, ys) = data(n, dim);
    for shape in SHAPES {
        let mut gp = SparseGp::new(dim, kernel(shape), SIGMA, 1000);
        for (i, (x, &y)) in xs.chunks_exact(dim).zip(&ys).enumerate() {
            if i == half {
                gp.forget(0.25);
            }
            gp.update(x, y);
        }
        for x in questions(dim).chunks_exact(dim) {
            let weight = |i: usize| if i < half { 0.25 } else { 1.0 };
            let (found, (mean, variance)) = (gp.score_reference(x, 1.0), dense_weighted(shape, n, dim, x, weight));
            assert!((found.mean - mean).abs() < 0.02 * variance.sqrt(), "{shape:?} {found:?} {mean}");
            assert!((found.width - variance.sqrt()).abs() < 0.02 * variance.sqrt(), "{shape:?} {found:?} {variance}");
        }
    }
}

/// The evidence of the process, reward by reward, is the density of all rewards at once.
#[test]
fn evidence_is_the_density_of_the_rewards() {
    let (n, dim) = (60, 5);
    let (xs, ys) = data(n, dim);
    for shape in SHAPES {
        let (kernel, gp) = (kernel(shape), trained(shape, 1000, n, dim));
        let point = |i: usize| &xs[i * dim..(i + 1) * dim];
        let mut matrix: Vec<f64> = (0..n * n).map(|at| kernel.at(point(at / n), point(at % n))).collect();
        (0..n).for_each(|i| matrix[i * n + i] += SIGMA * SIGMA);
        let factor = Cholesky::new(&mut matrix, n).unwrap();
        let mut z = ys.clone();
        factor.solve_transposed(&mut z);
        let expected = dot(&z, &z) + factor.log_det();
        let (loss, price) = gp.evidence();
        let found = loss / gp.noise() + price + n as f64 * libm::log(gp.noise());
        assert!((found - expected).abs() < 1.0, "{shape:?} {found} {expected}");
    }
}

fn questions(dim: usize) -> Vec<f64> {
    let mut stream = Key::new(12).stream();
    let mut xs = vec![0.0; 37 * dim];
    xs.chunks_exact_mut(dim).for_each(|x| unit_vector(&mut stream, x));
    xs
}

#[test]
fn kernels_are_those_of_the_books() {
    for (shape, r, expected) in [
        (Shape::Rbf, 0.8, libm::exp(-0.5)),
        (Shape::Matern32, 0.8, (1.0 + 3f64.sqrt()) * libm::exp(-(3f64.sqrt()))),
        (Shape::Matern52, 1.6, (1.0 + 20f64.sqrt() + 20.0 / 3.0) * libm::exp(-(20f64.sqrt()))),
    ] {
        let found = kernel(shape).at(&[r, 1.0], &[0.0, 1.0]);
        assert!((found - 1.7 * expected).abs() < 1e-14);
        assert_eq!(kernel(shape).at(&[1.0], &[1.0]), 1.7);
        assert!(kernel(shape).at(&[1e99], &[-1e99]).abs() < 1e-290);
    }
}

/// The kernels of one hidden layer by their formulas, of more by composing them, of all at k(x, x).
#[test]
fn kernels_of_wide_networks_are_those_of_the_books() {
    let order_1 = |angle: f64| (libm::sin(angle) + (PI - angle) * libm::cos(angle)) / PI;
    let order_0 = |angle: f64| (PI - angle) / PI;
    let at = |of, depth, bias, x: &[f64], z: &[f64]| kernel(wide(of, depth, bias)).at(x, z) / 1.7;
    let near = |found: f64, expected: f64| assert!((found - expected).abs() < 1e-13, "{found} {expected}");
    for angle in [0.0, 0.3, 1.0, 2.0, 3.0] {
        // Lengths 1.6 and 0.4, so 2 and 0.5 in units of ℓ = 0.8.
        let (x, z) = ([1.6, 0.0], [0.4 * libm::cos(angle), 0.4 * libm::sin(angle)]);
        near(at(Units::Relu, 1, false, &x, &z), order_1(angle));
        near(at(Units::Gate, 1, false, &x, &z), order_0(angle));
        near(at(Units::Tangent, 1, false, &x, &z), 0.5 * (order_1(angle) + libm::cos(angle) * order_0(angle)));
        let second = libm::acos(order_1(angle));
        near(at(Units::Relu, 2, false, &x, &z), order_1(second));
        let tangent = order_1(angle) + libm::cos(angle) * order_0(angle);
        near(at(Units::Tangent, 2, false, &x, &z), (order_1(second) + tangent * order_0(second)) / 3.0);
        let with_one = |x: &[f64; 2]| [x[0], x[1], 0.8];
        near(at(Units::Relu, 3, true, &x, &z), at(Units::Relu, 3, false, &with_one(&x), &with_one(&z)));
    }
    near(at(Units::Relu, 1, false, &[0.0, 0.0], &[1.0, 0.0]), 0.0);
    for shape in SHAPES {
        let x = [0.3, -1.2, 0.4];
        assert!((kernel(shape).at(&x, &x) - kernel(shape).diagonal(&x)).abs() < 1e-7, "{shape:?}");
    }
}

/// The kernel is what random networks give on average.
#[test]
fn kernels_of_wide_networks_are_means_over_random_ones() {
    let (x, z) = ([0.9, -0.3], [0.2, 0.8]);
    for shape in SHAPES.into_iter().skip(3) {
        let kernel = kernel(shape);
        let (n, mut sum) = (1500, 0.0);
        let mut numbers = vec![0.0; Prior::size(kernel, 2)];
        for i in 0..n {
            let prior = Prior::draw(kernel, 2, &mut Key::new(8).round(i).stream(), &mut numbers);
            sum += prior.value_reference(&x) * prior.value_reference(&z);
        }
        let (found, expected) = (sum / n as f64, kernel.at(&x, &z));
        let spread = (kernel.diagonal(&x) * kernel.diagonal(&z) + expected * expected).sqrt();
        assert!((found - expected).abs() < 4.0 * spread / (n as f64).sqrt(), "{shape:?} {found} {expected}");
    }
}

/// In five dimensions nearly every observation has a point of its own; those that have not are expressed to within a
/// hundredth of the noise.
#[test]
fn the_posterior_is_that_of_a_dense_solve() {
    for shape in SHAPES {
        let gp = trained(shape, 1000, 120, 5);
        assert!(gp.len() > 80);
        for x in questions(5).chunks_exact(5) {
            let (found, (mean, variance)) = (gp.score_reference(x, 1.0), dense(shape, 120, 5, x));
            assert!((found.mean - mean).abs() < 0.02 * variance.sqrt(), "{shape:?} {found:?} {mean}");
            assert!((found.width - variance.sqrt()).abs() < 0.02 * variance.sqrt(), "{shape:?} {found:?} {variance}");
        }
    }
}

/// On the circle a few points express everything: all observations count though most have none of their own.
#[test]
fn few_points_express_many_observations() {
    let gp = trained(Shape::Rbf, 1000, 300, 2);
    assert!(gp.len() < 30, "{}", gp.len());
    for x in questions(2).chunks_exact(2) {
        let (found, (mean, variance)) = (gp.score_reference(x, 1.0), dense(Shape::Rbf, 300, 2, x));
        assert!((found.mean - mean).abs() < 0.1 * variance.sqrt(), "{found:?} {mean}");
        assert!((found.width / variance.sqrt() - 1.0).abs() < 0.05, "{found:?} {variance}");
    }
}

#[test]
fn fast_passes_are_the_plain_versions() {
    let stationary = [(Shape::Rbf, 100, 3), (Shape::Matern32, 20, 3), (Shape::Matern52, 31, 30)];
    let networks = SHAPES.into_iter().skip(3).flat_map(|shape| [(shape, 100, 3), (shape, 20, 3)]);
    for (shape, budget, dim) in stationary.into_iter().chain(networks) {
        let gp = trained(shape, budget, 60, dim);
        let data = questions(dim);
        let rows = Rows::new(dim, &data).unwrap();
        let (mut scores, mut values) = (Vec::new(), Vec::new());
        gp.scores(rows, 1.5, &mut Vec::new(), &mut scores);
        let mut memory = Vec::new();
        let path = Path::draw(&gp, 0.7, &mut Key::new(1).stream(), &mut memory, &mut Vec::new());
        path.values(rows, &mut Vec::new(), &mut values);
        for ((x, score), value) in rows.iter().zip(scores).zip(values) {
            let expected = gp.score_reference(x, 1.5);
            assert!((score.mean - expected.mean).abs() < 1e-10);
            assert!((score.width.powi(2) - expected.width.powi(2)).abs() < 1e-8, "{score:?} {expected:?}");
            assert!((value - path.value_reference(x)).abs() < 1e-9);
        }
    }
}

/// What is kept up to date one observation at a time is what the factors say, before and after the basis is full.
#[test]
fn increments_agree_with_recomputation() {
    for budget in [1000, 25] {
        let gp = trained(Shape::Matern52, budget, 200, 4);
        let mut fresh = gp.clone();
        fresh.refresh();
        for x in questions(4).chunks_exact(4) {
            let (kept, computed) = (gp.score_reference(x, 1.0), fresh.score_reference(x, 1.0));
            assert!((kept.mean - computed.mean).abs() < 1e-9);
            assert!((kept.width - computed.width).abs() < 1e-7);
        }
    }
}

/// Draws of whole functions have the posterior's mean and standard deviation at an arm, and twice the deviation at
/// scale 2.
#[test]
fn paths_are_drawn_from_the_posterior() {
    for (shape, budget) in SHAPES.map(|shape| (shape, 1000)).into_iter().chain([(Shape::Rbf, 15)]) {
        let gp = trained(shape, budget, 25, 3);
        let (n, scale) = (600, 2.0);
        for x in questions(3).chunks_exact(3).take(4) {
            let mut memory = Vec::new();
            let mut draw = |i| {
                Path::draw(&gp, scale, &mut Key::new(3).round(i).stream(), &mut memory, &mut Vec::new())
                    .value_reference(x)
            };
            let (mut sum, mut squares) = (0.0, 0.0);
            let expected = gp.score_reference(x, scale);
            for i in 0..n {
                let off = draw(i) - expected.mean;
                sum += off;
                squares += off * off;
            }
            let n = n as f64;
            assert!((sum / n).abs() < 5.0 * expected.width / n.sqrt(), "{shape:?}");
            assert!(((squares / n).sqrt() / expected.width - 1.0).abs() < 0.15, "{shape:?} {squares} {expected:?}");
        }
    }
}
