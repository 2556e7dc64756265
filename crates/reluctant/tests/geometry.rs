//! The geometry against independent values and against brute force.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on must fail")]

use reluctant::geometry::{
    CELL_BUDGET, Certificate, Optimistic, OptimisticOptions, Region, best_action, optimistic_action,
};
use reluctant::rng::{normal, sign, uniform, unit_vector};
use reluctant::{Confidence, FrozenRelu, Key, ReluNet, Rows, Scratch, Stream};
use serde::Deserialize;

#[derive(Deserialize)]
struct Network {
    theta: Vec<Vec<f64>>,
    x_star: Vec<f64>,
    f_star: f64,
    active: Vec<usize>,
    nu_star: f64,
    alpha0: f64,
}

#[derive(Deserialize)]
struct SphereFile {
    cases: Vec<Sphere>,
}

#[derive(Deserialize)]
struct Sphere {
    d: usize,
    lambda: f64,
    beta: f64,
    nu: f64,
    theta_tilde: Vec<Vec<f64>>,
    explore_x: Vec<Vec<f64>>,
    explore_y: Vec<f64>,
    best_value: f64,
}

#[test]
fn golden_best_actions() {
    let cases: Vec<Network> = serde_json::from_str(include_str!("golden/geometry.json")).unwrap();
    for case in cases {
        let net = ReluNet::new(case.x_star.len(), case.theta.concat()).unwrap();
        let best = best_action(&net, CELL_BUDGET).unwrap();
        assert!(best.exact);
        assert_eq!(best.active, case.active);
        let near = |a: f64, b: f64| assert!((a - b).abs() <= 1e-10, "{a} instead of {b}");
        near(best.f_star, case.f_star);
        near(best.nu_star, case.nu_star);
        near(best.alpha0, case.alpha0);
        best.x_star.iter().zip(&case.x_star).for_each(|(&a, &b)| near(a, b));
    }
}

#[test]
fn golden_optimistic_actions() {
    let file: SphereFile = serde_json::from_str(include_str!("golden/sphere_argmax.json")).unwrap();
    for case in file.cases {
        let net = ReluNet::new(case.d, case.theta_tilde.concat()).unwrap();
        let mut regime = FrozenRelu::new(net.clone(), case.lambda);
        for (x, &y) in case.explore_x.iter().zip(&case.explore_y) {
            regime.update(x, y);
        }
        let options = OptimisticOptions::default();
        let best = optimistic_action(&regime, case.beta, case.nu, &options).unwrap();
        assert!(best.value >= case.best_value - 1e-7, "{} < {}", best.value, case.best_value);
        assert!(best.value <= case.best_value + 1e-6, "{} > {}", best.value, case.best_value);
        assert!(best.certificate.gap().unwrap() <= options.tolerance);
        assert!(net.in_region(&best.action, case.nu));
    }
}

/// A regime of a random network after some random actions, with OFU-ReLU's radius times a factor.
fn random_regime(dim: usize, neurons: usize, samples: usize, factor: f64, stream: &mut Stream) -> (FrozenRelu, f64) {
    let net = ReluNet::random(dim, neurons, stream);
    let signs = (0..neurons).map(|_| sign(stream)).collect();
    let truth = ReluNet::with_signs(dim, net.theta().to_vec(), signs).unwrap();
    let confidence = Confidence { lambda: 0.01, sigma: 0.1, delta: 0.01, norm_bound: (5.0 * neurons as f64).sqrt() };
    let mut regime = FrozenRelu::new(net, confidence.lambda);
    let mut x = vec![0.0; dim];
    for _ in 0..samples {
        unit_vector(stream, &mut x);
        regime.update(&x, truth.value(&x) + confidence.sigma * normal(stream));
    }
    let radius = factor * confidence.radius(regime.ellipsoid().log_det_ratio());
    (regime, radius)
}

/// Mean and width of one action, by the code that scores finite arms.
fn score(regime: &FrozenRelu, radius: f64, x: &[f64]) -> (f64, f64) {
    let mut scratch = Scratch::default();
    regime.score(Rows::new(x.len(), x).unwrap(), radius, &mut scratch);
    (scratch.scores()[0].mean, scratch.scores()[0].width)
}

/// The best of many random actions of the region, and what random search around the best few makes of them.
fn brute_force(regime: &FrozenRelu, radius: f64, margin: f64, stream: &mut Stream) -> f64 {
    let dim = regime.network().dim();
    let mut data = vec![0.0; dim * 20_000];
    data.chunks_exact_mut(dim).for_each(|row| unit_vector(stream, row));
    let mut scratch = Scratch::default();
    let rows = Rows::new(dim, &data).unwrap();
    regime.score(rows, radius, &mut scratch);
    let mut inside: Vec<(f64, &[f64])> = rows
        .iter()
        .zip(scratch.scores())
        .filter(|(x, _)| regime.network().in_region(x, margin))
        .map(|(x, score)| (score.upper(), x))
        .collect();
    inside.sort_by(|a, b| b.0.total_cmp(&a.0));
    let mut best = f64::NEG_INFINITY;
    for (value, x) in inside.iter().take(3) {
        let (mut value, mut x, mut reach) = (*value, x.to_vec(), 0.1);
        let mut y = vec![0.0; dim];
        for _ in 0..1500 {
            unit_vector(stream, &mut y);
            y.iter_mut().zip(&x).for_each(|(y, x)| *y = x + reach * *y);
            let length = y.iter().map(|v| v * v).sum::<f64>().sqrt();
            y.iter_mut().for_each(|v| *v /= length);
            let (mean, width) = score(regime, radius, &y);
            if regime.network().in_region(&y, margin) && mean + width > value {
                value = mean + width;
                x.copy_from_slice(&y);
            } else {
                reach *= 0.99;
            }
        }
        best = best.max(value);
    }
    best
}

/// What must hold of every optimistic action: a unit vector of the region, scored as finite arms are.
fn check(regime: &FrozenRelu, radius: f64, margin: f64, found: &Optimistic) {
    assert!((found.action.iter().map(|x| x * x).sum::<f64>() - 1.0).abs() < 1e-14);
    assert!(regime.network().in_region(&found.action, margin));
    let (mean, width) = score(regime, radius, &found.action);
    let near = |a: f64, b: f64| assert!((a - b).abs() <= 1e-10 * (1.0 + a.abs()), "{a} instead of {b}");
    near(found.mean, mean);
    near(found.width, width);
    near(found.value, mean + width);
}

#[test]
fn brute_force_finds_nothing_better() {
    let mut stream = Key::new(5).stream();
    let options = OptimisticOptions::default();
    for (dim, most_neurons, instances) in [(2, 10, 60), (3, 8, 60), (4, 6, 40)] {
        for instance in 0..instances {
            let neurons = 1 + (uniform(&mut stream) * most_neurons as f64) as usize;
            let samples = [5, 50, 200, 1000][instance % 4];
            let margin = [0.0, 0.05, 0.2][instance % 3];
            let factor = [1.0, 0.1, 5.0, 0.0][instance / 4 % 4];
            let (regime, radius) = random_regime(dim, neurons, samples, factor, &mut stream);
            let region = Region::new(regime.network(), margin, 1 << 14).unwrap();
            let found = match region.optimistic_action(&regime, radius, &options) {
                Ok(found) => found,
                Err(error) => {
                    assert_eq!(region.is_empty(), Some(true), "{error}");
                    continue;
                }
            };
            check(&regime, radius, margin, &found);
            let gap = found.certificate.gap().unwrap();
            assert!(gap <= options.tolerance, "d = {dim}, k = {neurons}: {:?}", found.certificate);
            assert!(dim > 2 || found.certificate == Certificate::Exact);
            let brute = brute_force(&regime, radius, margin, &mut stream);
            assert!(found.value >= brute - 1e-10 * (1.0 + brute.abs()), "{} < {brute}", found.value);
            assert_eq!(found, optimistic_action(&regime, radius, margin, &options).unwrap());
        }
    }
}

/// Rewards far below zero everywhere: the best value is negative, where the sphere is not as good as the ball.
#[test]
fn the_best_value_may_be_negative() {
    let mut stream = Key::new(6).stream();
    let options = OptimisticOptions::default();
    for dim in [2, 3, 4] {
        for margin in [0.0, 0.1] {
            for neurons in [1, 3, 5] {
                let (mut regime, _) = random_regime(dim, neurons, 0, 1.0, &mut stream);
                let mut x = vec![0.0; dim];
                for _ in 0..400 {
                    unit_vector(&mut stream, &mut x);
                    let low = -3.0 - regime.network().value(&x);
                    regime.update(&x, low);
                }
                let Ok(found) = optimistic_action(&regime, 0.01, margin, &options) else { continue };
                check(&regime, 0.01, margin, &found);
                let brute = brute_force(&regime, 0.01, margin, &mut stream);
                assert!(found.value >= brute - 1e-10);
                assert!(found.certificate.gap().unwrap() <= options.tolerance);
            }
        }
    }
}

/// Every sum of neurons on the sphere is their best value at radius 0 with a perfect estimate: two parts check each
/// other.
#[test]
fn without_width_the_optimistic_action_is_the_best_action() {
    let mut stream = Key::new(7).stream();
    for (dim, neurons) in [(2, 4), (3, 5), (4, 5)] {
        let net = ReluNet::random(dim, neurons, &mut stream);
        let mut regime = FrozenRelu::new(net.clone(), 1e-9);
        let mut x = vec![0.0; dim];
        for _ in 0..2000 {
            unit_vector(&mut stream, &mut x);
            regime.update(&x, net.value(&x));
        }
        let best = best_action(&net, CELL_BUDGET).unwrap();
        let found = optimistic_action(&regime, 0.0, 0.0, &OptimisticOptions::default()).unwrap();
        assert!((found.value - best.f_star).abs() < 1e-6, "{} {}", found.value, best.f_star);
    }
}

#[test]
fn too_many_cells_are_searched_without_a_certificate() {
    let mut stream = Key::new(8).stream();
    let options = OptimisticOptions::default();
    let few = OptimisticOptions { max_cells: 4, ..options };
    let mut missed = 0;
    for instance in 0..12 {
        let margin = [0.0, 0.05][instance % 2];
        let (regime, radius) = random_regime(4, 8, 200, 1.0, &mut stream);
        let proven = optimistic_action(&regime, radius, margin, &options).unwrap();
        let ascent = optimistic_action(&regime, radius, margin, &few).unwrap();
        check(&regime, radius, margin, &ascent);
        assert_eq!(ascent.certificate, Certificate::NotCertified);
        assert!(ascent.value <= proven.value + options.tolerance);
        missed += i32::from(ascent.value < proven.value - 1e-3);
    }
    assert!(missed <= 3, "{missed}");
    let (regime, radius) = random_regime(20, 20, 300, 1.0, &mut stream);
    let quick = OptimisticOptions { starts: 2, ..options };
    let large = optimistic_action(&regime, radius, 0.02, &quick).unwrap();
    check(&regime, radius, 0.02, &large);
    assert_eq!(large.certificate, Certificate::NotCertified);
    assert_eq!(large, optimistic_action(&regime, radius, 0.02, &quick).unwrap());
}

#[test]
fn a_small_budget_leaves_an_honest_gap() {
    let mut stream = Key::new(9).stream();
    let short = OptimisticOptions { max_bounds: 3, ..OptimisticOptions::default() };
    let mut left = 0;
    for _ in 0..10 {
        let (regime, radius) = random_regime(4, 7, 30, 1.0, &mut stream);
        let found = optimistic_action(&regime, radius, 0.0, &short).unwrap();
        let proven = optimistic_action(&regime, radius, 0.0, &OptimisticOptions::default()).unwrap();
        assert!(found.value <= proven.value + 1e-7);
        if let Certificate::Gap(gap) = found.certificate {
            assert!(found.value + gap >= proven.value - 1e-9);
            left += 1;
        }
    }
    assert!(left > 0);
}

#[test]
fn duplicate_and_opposite_neurons_are_no_trouble() {
    let mut stream = Key::new(10).stream();
    for dim in [2, 3, 4] {
        let plain = ReluNet::random(dim, 3, &mut stream);
        let mut theta = plain.theta().to_vec();
        theta.extend_from_slice(plain.neuron(0));
        theta.extend(plain.neuron(1).iter().map(|x| -x));
        let net = ReluNet::new(dim, theta).unwrap();
        let mut regime = FrozenRelu::new(net.clone(), 0.01);
        let mut x = vec![0.0; dim];
        for _ in 0..60 {
            unit_vector(&mut stream, &mut x);
            regime.update(&x, net.value(&x));
        }
        for margin in [0.0, 0.05] {
            let found = optimistic_action(&regime, 1.0, margin, &OptimisticOptions::default()).unwrap();
            check(&regime, 1.0, margin, &found);
            assert!(found.certificate.gap().unwrap() <= 1e-7);
            assert!(found.value >= brute_force(&regime, 1.0, margin, &mut stream) - 1e-10);
        }
    }
}

#[test]
fn bad_input_gets_one_clear_sentence() {
    let regime = FrozenRelu::new(ReluNet::new(2, vec![1.0, 0.0, 0.0, 1.0]).unwrap(), 0.1);
    let options = OptimisticOptions::default();
    let message =
        |radius: f64, margin: f64| optimistic_action(&regime, radius, margin, &options).unwrap_err().to_string();
    assert!(message(f64::NAN, 0.0).starts_with("radius = NaN is out of range"));
    assert!(message(-1.0, 0.0).starts_with("radius = -1"));
    assert!(message(1.0, -0.5).starts_with("margin = -0.5"));
    // No direction is farther than sin 45° from both axes.
    assert!(message(1.0, 0.71).starts_with("margin = 0.71 is out of range"));
    assert!(optimistic_action(&regime, 1.0, 0.7, &options).is_ok());
    let line = FrozenRelu::new(ReluNet::new(1, vec![1.0]).unwrap(), 0.1);
    let error = optimistic_action(&line, 1.0, 0.0, &options).unwrap_err();
    assert_eq!(
        error.to_string(),
        "dim = 1 is out of range: at least 2, for on a line the unit sphere is just two points"
    );
    let other = Region::new(&ReluNet::new(2, vec![0.6, 0.8]).unwrap(), 0.0, 100).unwrap();
    assert!(other.optimistic_action(&regime, 1.0, &options).is_err());
}
