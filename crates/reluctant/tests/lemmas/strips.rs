//! Lemmas A.1 (`lem:xapprox`) and A.2 (`lem:linearregion`) and Proposition 3.1 (`prop:key`): the strip around a neuron.

use std::f64::consts::PI;

use reluctant::ReluNet;
use reluctant::linalg::dot;
use reluctant::rng::{Key, Stream, uniform, unit_vector};
use reluctant::theory::{sphere_area, strip_bound};

use crate::lemmas::{at_angle, distance_up_to_sign, integral, moved, network};

/// A network whose first neuron is the first axis.
fn aligned(dim: usize, neurons: usize, stream: &mut Stream) -> ReluNet {
    let mut theta = ReluNet::random(dim, neurons, stream).theta().to_vec();
    theta[..dim].fill(0.0);
    theta[0] = 1.0;
    network(dim, theta)
}

/// Points ω of S^(d−2) with equal weights: both of them, evenly on the circle, or at random.
fn meridians(dim: usize, stream: &mut Stream) -> Vec<Vec<f64>> {
    match dim {
        2 => vec![vec![1.0], vec![-1.0]],
        3 => (0..400).map(|i| at_angle(2.0 * PI * (f64::from(i) + 0.5) / 400.0).to_vec()).collect(),
        _ => (0..400)
            .map(|_| {
                let mut omega = vec![0.0; dim - 1];
                unit_vector(stream, &mut omega);
                omega
            })
            .collect(),
    }
}

/// ∫ of `g` over the strip {|x₁| ≤ ε} of the sphere: x = (sin t, cos t·ω), measure (cos t)^(d−2) dt dω.
fn over_strip(dim: usize, epsilon: f64, meridians: &[Vec<f64>], g: impl Fn(&[f64]) -> f64) -> f64 {
    let edge = libm::asin(epsilon);
    let share = sphere_area(dim - 2) / meridians.len() as f64;
    let mut sum = 0.0;
    for omega in meridians {
        sum += integral(-edge, edge, 40, |t| {
            let x: Vec<f64> = std::iter::once(libm::sin(t)).chain(omega.iter().map(|w| libm::cos(t) * w)).collect();
            libm::pow(libm::cos(t), dim as f64 - 2.0) * g(&x)
        });
    }
    sum * share
}

/// ∫ of `g` over the cylinder [−ε, ε] × S^(d−2)(√(1 − ε²)).
fn over_cylinder(dim: usize, epsilon: f64, meridians: &[Vec<f64>], g: impl Fn(&[f64]) -> f64) -> f64 {
    let radius = (1.0 - epsilon * epsilon).sqrt();
    let share = libm::pow(radius, dim as f64 - 2.0) * sphere_area(dim - 2) / meridians.len() as f64;
    let mut sum = 0.0;
    for omega in meridians {
        sum += integral(-epsilon, epsilon, 40, |v| {
            let x: Vec<f64> = std::iter::once(v).chain(omega.iter().map(|w| radius * w)).collect();
            g(&x)
        });
    }
    sum * share
}

#[test]
fn lemma_a1_holds_with_room() {
    let mut stream = Key::new(1).stream();
    let mut tightest: f64 = 0.0;
    for dim in [2, 3, 5, 8] {
        for neurons in [1, 3] {
            for epsilon in [0.01, 0.1, 0.3, 0.7] {
                let points = meridians(dim, &mut stream);
                for _ in 0..5 {
                    let truth = aligned(dim, neurons, &mut stream);
                    let other = ReluNet::random(dim, neurons, &mut stream);
                    let loss = |x: &[f64]| (other.value(x) - truth.value(x)).abs();
                    let difference =
                        over_strip(dim, epsilon, &points, loss) - over_cylinder(dim, epsilon, &points, loss);
                    let allowed = 6.0 * (neurons * dim) as f64 * epsilon.powi(3) * sphere_area(dim - 2);
                    tightest = tightest.max(difference.abs() / allowed);
                }
            }
        }
    }
    println!("Lemma A.1: at most {tightest:.4} of 6kdε³|S^(d−2)| is used");
    assert!(tightest < 0.25);
}

/// The proof takes the determinant of the d × d matrix ∇φ, ((1−ε²)/(1−x₁²))^((d−1)/2), as the change of measure.
/// Between surfaces it is (1−ε²)^((d−2)/2)/(1−x₁²)^((d−3)/2), which maps the strip's measure to the cylinder's; the
/// paper's does not. Both lie within [1 − dε²/2, 1], which is all that the proof uses.
#[test]
fn false_change_of_measure_in_lemma_a1() {
    for dim in [2, 3, 4, 7] {
        for epsilon in [0.1, 0.5] {
            let d = dim as f64;
            let cylinder = 2.0 * epsilon * libm::pow(1.0 - epsilon * epsilon, 0.5 * (d - 2.0));
            let edge = libm::asin(epsilon);
            let image = |jacobian: &dyn Fn(f64) -> f64| {
                integral(-edge, edge, 4_000, |t| libm::pow(libm::cos(t), d - 2.0) * jacobian(libm::sin(t)))
            };
            let flat = |x: f64| 1.0 - x * x;
            let papers = |x: f64| libm::pow(flat(epsilon) / flat(x), 0.5 * (d - 1.0));
            let right = |x: f64| libm::pow(flat(epsilon), 0.5 * (d - 2.0)) / libm::pow(flat(x), 0.5 * (d - 3.0));
            assert!((image(&right) / cylinder - 1.0).abs() < 1e-6);
            assert!((image(&papers) / cylinder - 1.0).abs() > 1e-3);
            for i in 0..=100 {
                let x = epsilon * (0.02 * f64::from(i) - 1.0);
                for jacobian in [papers(x), right(x)] {
                    assert!((1.0 - 0.5 * d * epsilon * epsilon..=1.0 + 1e-15).contains(&jacobian));
                }
            }
        }
    }
}

/// |X_j| ≤ 2ε|S^(d−2)| leaves out the slope of the sphere: harmless for d ≥ 3, but for d = 2 |X_j| = 4·arcsin ε > 4ε.
#[test]
fn false_measure_of_the_strip_in_the_plane() {
    let one = |_: &[f64]| 1.0;
    let mut stream = Key::new(2).stream();
    for epsilon in [0.01, 0.3, 0.9] {
        for dim in [3, 4, 6] {
            let strip = over_strip(dim, epsilon, &meridians(dim, &mut stream), one);
            assert!(strip <= 2.0 * epsilon * sphere_area(dim - 2) * (1.0 + 1e-3));
        }
        let plane = over_strip(2, epsilon, &meridians(2, &mut stream), one);
        assert!((plane - 4.0 * libm::asin(epsilon)).abs() < 1e-9 && plane > 2.0 * epsilon * sphere_area(0));
    }
}

/// |{z in S^(d−2)(r) : |z₁| ≤ q}|: two points or none in the plane; beyond, z₁ = r·sin s.
fn band(dim: usize, r: f64, q: f64) -> f64 {
    if dim == 2 {
        return if q >= r { 2.0 } else { 0.0 };
    }
    let edge = libm::asin((q / r).min(1.0));
    let inner = integral(-edge, edge, 2_000, |s| libm::pow(libm::cos(s), dim as f64 - 3.0));
    libm::pow(r, dim as f64 - 2.0) * sphere_area(dim - 3) * inner
}

/// |Z^θ| for a neuron at distance α from θⱼ*, up to sign.
fn cut(dim: usize, epsilon: f64, alpha: f64) -> f64 {
    let along = 1.0 - 0.5 * alpha * alpha;
    let across = (1.0 - along * along).sqrt();
    band(dim, (1.0 - epsilon * epsilon).sqrt(), epsilon * along / across)
}

#[test]
fn the_measure_of_a_band_agrees_with_sampling() {
    let mut stream = Key::new(3).stream();
    for dim in [3, 4, 5, 8] {
        let mut z = vec![0.0; dim - 1];
        let (n, q) = (100_000, 0.3);
        let inside = (0..n).filter(|_| {
            unit_vector(&mut stream, &mut z);
            z[0].abs() <= q
        });
        let share = inside.count() as f64 / f64::from(n);
        let exact = band(dim, 1.0, q) / sphere_area(dim - 2);
        assert!((share - exact).abs() < 5.0 * (exact / f64::from(n)).sqrt(), "{dim} {share} {exact}");
    }
}

#[test]
fn lemma_a2_holds_from_dimension_four() {
    for dim in 4..=12 {
        for i in 1..=40 {
            for j in 1..=40 {
                let (epsilon, alpha) = (0.02 * f64::from(i), 0.035 * f64::from(j));
                assert!(cut(dim, epsilon, alpha) <= 2.0 * epsilon / alpha * sphere_area(dim - 3) * (1.0 + 1e-6));
            }
        }
    }
}

/// In three dimensions Z is a circle, and the arc over |z₁| ≤ q is longer than 2q: |Z^θ| is up to π/2 times (2ε/α)|S⁰|.
#[test]
fn false_lemma_a2_in_three_dimensions() {
    let claimed = |epsilon: f64, alpha: f64| 2.0 * epsilon / alpha * sphere_area(0);
    assert!(cut(3, 0.05, 0.1) > 1.04 * claimed(0.05, 0.1));
    let worst = cut(3, 0.01, 0.01) / claimed(0.01, 0.01);
    println!("Lemma A.2, d = 3: |Z^θ| is {worst:.3} times its bound");
    assert!((1.5..0.5 * PI + 1e-6).contains(&worst));
}

/// In the plane |S⁻¹| = 0, so the lemma says that Z^θ is empty; but Z is two points, and both are cut where ε·cot φ ≥
/// √(1 − ε²).
#[test]
fn false_lemma_a2_in_the_plane() {
    assert_eq!(cut(2, 0.11, 0.1), 2.0);
    assert_eq!(cut(2, 0.09, 0.1), 0.0);
}

/// √((1/(1−α²/2))² − 1) ≥ √((1+α²/2)² − 1) ≥ α, for the α < √2 that can occur with t₁ ≥ 0.
#[test]
fn the_slope_inequality_holds() {
    for i in 1..1_000 {
        let alpha = 2f64.sqrt() * f64::from(i) / 1_000.0;
        let half = 0.5 * alpha * alpha;
        let (first, second) = (((1.0 - half).powi(-2) - 1.0).sqrt(), ((1.0 + half).powi(2) - 1.0).sqrt());
        assert!(first >= second * (1.0 - 1e-9) && second >= alpha * (1.0 - 1e-9), "{alpha}");
    }
}

/// Proposition 3.1 on networks near the truth: the loss on each strip, and the distance that it promises.
#[test]
fn proposition_3_1_holds_near_the_truth_in_space() {
    let mut stream = Key::new(4).stream();
    let points = meridians(3, &mut stream);
    let (mut applied, mut tightest) = (0, 0.0f64);
    for round in 0..150 {
        let neurons = 1 + round % 3;
        let truth = aligned(3, neurons, &mut stream);
        let epsilon = (0.1 + 0.8 * uniform(&mut stream)) / (144 * neurons) as f64;
        let size = 0.1 * epsilon * uniform(&mut stream);
        let theta: Vec<f64> = truth.iter().flat_map(|row| moved(&mut stream, row, size)).collect();
        let near = network(3, theta);
        let eta = over_strip(3, epsilon, &points, |x| (near.value(x) - truth.value(x)).abs());
        if let Some(h) = strip_bound(eta, epsilon, neurons, 3) {
            let distance = near.iter().map(|row| distance_up_to_sign(row, truth.neuron(0))).fold(2.0, f64::min);
            assert!(distance <= h);
            applied += 1;
            tightest = tightest.max(distance / h);
        }
    }
    println!("Proposition 3.1, d = 3: applied to {applied} networks, the distance is at most {tightest:.3} of h");
    assert!(applied > 50);
}

/// In the plane h = 0 wherever it exists, so the proposition says that a small loss on the strip means *no* error. One
/// neuron, turned a little, refutes it.
#[test]
fn false_proposition_3_1_in_the_plane() {
    let (epsilon, angle) = (0.005, 1e-4);
    let truth = network(2, vec![1.0, 0.0]);
    let near = network(2, at_angle(angle).to_vec());
    let points = vec![vec![1.0], vec![-1.0]];
    let eta = over_strip(2, epsilon, &points, |x| (near.value(x) - truth.value(x)).abs());
    assert_eq!(strip_bound(eta, epsilon, 1, 2), Some(0.0));
    assert!(distance_up_to_sign(near.neuron(0), truth.neuron(0)) > 0.9 * angle);
}

/// "Up to sign" in Theorem 3.2 cannot be dropped: max(0, w) − max(0, −w) = w, so turning round neurons that sum to zero
/// changes nothing. Neurons that do not sum to zero leave a line behind, which gives their signs away.
#[test]
fn signs_are_lost_exactly_where_the_neurons_turned_round_sum_to_zero() {
    let triple: Vec<f64> = (0..3).flat_map(|i| at_angle(2.0 * PI * f64::from(i) / 3.0)).collect();
    let (net, opposite) = (network(2, triple.clone()), network(2, triple.iter().map(|v| -v).collect()));
    let partly = network(2, triple.iter().enumerate().map(|(j, v)| if j < 2 { -v } else { *v }).collect());
    for i in 0..360 {
        let x = at_angle(f64::from(i).to_radians());
        assert!((net.value(&x) - opposite.value(&x)).abs() < 1e-12);
        assert!((net.value(&x) - partly.value(&x) - dot(net.neuron(0), &x)).abs() < 1e-12);
    }
}
