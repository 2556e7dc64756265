//! The algebra of [`Ellipsoid`] and [`FrozenRelu`], on random data.

#![allow(clippy::unwrap_used, clippy::panic)]

use proptest::prelude::*;
use reluctant::ellipsoid::LARGE;
use reluctant::linalg::{Cholesky, dot};
use reluctant::rng::{normal, shuffle, unit_vector};
use reluctant::{Ellipsoid, FrozenRelu, Key, ReluNet, Rows, Scratch};

/// A penalty and a history: features with their rewards.
#[derive(Debug, Clone)]
struct History {
    dim: usize,
    lambda: f64,
    data: Vec<(Vec<f64>, f64)>,
}

impl History {
    fn ellipsoid(&self) -> Ellipsoid {
        let mut ellipsoid = Ellipsoid::ridge(self.dim, self.lambda);
        self.data.iter().for_each(|(phi, y)| ellipsoid.update(phi, *y));
        ellipsoid
    }

    /// λI + Σ φφᵀ, summed plainly.
    fn precision(&self) -> Vec<f64> {
        let n = self.dim;
        let entry = |i: usize, j: usize| {
            let sum: f64 = self.data.iter().map(|(phi, _)| phi[i] * phi[j]).sum();
            sum + if i == j { self.lambda } else { 0.0 }
        };
        (0..n * n).map(|at| entry(at / n, at % n)).collect()
    }
}

fn histories() -> impl Strategy<Value = History> {
    // Up to more updates than lie between two refreshes, but mostly few.
    let lengths = prop_oneof![4 => 0usize..40, 1 => 500usize..700];
    (1usize..9, lengths, -2.0..1.0f64).prop_flat_map(|(dim, len, log_lambda)| {
        let sample = (prop::collection::vec(-1.0..1.0f64, dim), -2.0..2.0f64);
        prop::collection::vec(sample, len).prop_map(move |data| History { dim, lambda: 10f64.powf(log_lambda), data })
    })
}

fn near(a: f64, b: f64) -> bool {
    (a - b).abs() < 1e-8 * (1.0 + a.abs().max(b.abs()))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn precision_times_covariance_is_the_identity(history in histories()) {
        let (n, ellipsoid, precision) = (history.dim, history.ellipsoid(), history.precision());
        prop_assert_eq!(ellipsoid.updates(), history.data.len() as u64);
        for i in 0..n {
            for j in 0..n {
                prop_assert!(near(ellipsoid.precision()[i * n + j], precision[i * n + j]));
                // The covariance is symmetric, so its row is its column.
                let product = dot(&precision[i * n..][..n], &ellipsoid.covariance()[j * n..][..n]);
                prop_assert!((product - f64::from(u8::from(i == j))).abs() < 1e-8, "{}, {}: {}", i, j, product);
            }
        }
    }

    #[test]
    fn weights_solve_the_normal_equations(history in histories()) {
        let (n, ellipsoid, mut precision) = (history.dim, history.ellipsoid(), history.precision());
        let mut weights = vec![0.0; n];
        for (phi, y) in &history.data {
            weights.iter_mut().zip(phi).for_each(|(w, x)| *w += x * y);
        }
        Cholesky::new(&mut precision, n).unwrap().solve(&mut weights);
        for (ours, direct) in ellipsoid.weights().iter().zip(&weights) {
            prop_assert!(near(*ours, *direct), "{} {}", ours, direct);
        }
        let phi: Vec<f64> = (0..n).map(|i| 0.3 + 0.1 * i as f64).collect();
        prop_assert!(near(ellipsoid.mean(&phi), dot(&weights, &phi)));
    }

    #[test]
    fn widths_and_log_determinant_equal_recomputation(history in histories()) {
        let (n, ellipsoid, mut precision) = (history.dim, history.ellipsoid(), history.precision());
        let factor = Cholesky::new(&mut precision, n).unwrap();
        let log_det_ratio = factor.log_det() - n as f64 * history.lambda.ln();
        prop_assert!(near(ellipsoid.log_det_ratio(), log_det_ratio));
        for (phi, _) in history.data.iter().take(20) {
            let mut root = phi.clone();
            factor.solve_transposed(&mut root);
            prop_assert!(near(ellipsoid.squared_width(phi), dot(&root, &root)));
        }
    }

    #[test]
    fn the_order_of_observations_does_not_matter(history in histories(), seed in any::<u64>()) {
        let mut other = history.clone();
        shuffle(&mut Key::new(seed).stream(), &mut other.data);
        let (one, other) = (history.ellipsoid(), other.ellipsoid());
        prop_assert!(near(one.log_det_ratio(), other.log_det_ratio()));
        let pairs = one.covariance().iter().zip(other.covariance()).chain(one.weights().iter().zip(other.weights()));
        for (a, b) in pairs {
            prop_assert!(near(*a, *b), "{} {}", a, b);
        }
    }

    #[test]
    fn a_saved_ellipsoid_is_the_same_to_the_bit(history in histories()) {
        let ellipsoid = history.ellipsoid();
        let text = serde_json::to_string(&ellipsoid).unwrap();
        prop_assert_eq!(serde_json::from_str::<Ellipsoid>(&text).unwrap(), ellipsoid);
    }

    #[test]
    fn features_of_very_different_sizes_leave_a_covariance(
        history in histories(),
        sizes in prop::collection::vec(-4..9i32, 40),
        log_lambda in -20..1i32,
    ) {
        let mut ellipsoid = Ellipsoid::ridge(history.dim, 10f64.powi(log_lambda));
        for ((phi, y), size) in history.data.iter().zip(&sizes) {
            let phi: Vec<f64> = phi.iter().map(|x| x * 10f64.powi(*size)).collect();
            ellipsoid.update(&phi, *y);
            for i in 0..history.dim {
                let mut axis = vec![0.0; history.dim];
                axis[i] = 1.0;
                let width = ellipsoid.squared_width(&axis);
                prop_assert!(width > 0.0 && width <= 1.001 * 10f64.powi(-log_lambda), "squared width {width}");
            }
        }
        let saved = serde_json::to_string(&ellipsoid).unwrap();
        prop_assert_eq!(serde_json::from_str::<Ellipsoid>(&saved).unwrap(), ellipsoid);
    }

    #[test]
    fn scores_by_pattern_equal_scores_by_definition(
        dim in 2usize..=5, neurons in 1usize..=8, seed in any::<u64>(), log_lambda in -2.0..1.0f64
    ) {
        by_pattern_equals_by_definition(dim, neurons, seed, 10f64.powf(log_lambda));
    }
}

/// As many neurons as a pattern has bits: nearly every arm has a pattern of its own, and the
/// hash table is put to the test.
#[test]
fn scores_by_pattern_with_64_neurons() {
    for seed in 0..3 {
        by_pattern_equals_by_definition(2, 64, seed, 0.1);
    }
}

fn by_pattern_equals_by_definition(dim: usize, neurons: usize, seed: u64, lambda: f64) {
    let mut stream = Key::new(seed).stream();
    let network = ReluNet::random(dim, neurons, &mut stream);
    let mut compact = FrozenRelu::new(network.clone(), lambda);
    let mut literal = Ellipsoid::ridge(2 * neurons * dim, lambda);
    let mut arms = vec![0.0; 40 * dim];
    let mut scratch = Scratch::default();
    let radius = 0.7;
    for round in 0..30 {
        arms.chunks_exact_mut(dim).for_each(|x| unit_vector(&mut stream, x));
        let rows = Rows::new(dim, &arms).unwrap();
        compact.score(rows, radius, &mut scratch);
        let reference = FrozenRelu::score_reference(&literal, &network, rows, radius);
        for (ours, by_definition) in scratch.scores().iter().zip(&reference) {
            assert!(near(ours.mean, by_definition.mean), "round {round}: {ours:?} {by_definition:?}");
            assert!(near(ours.width, by_definition.width), "round {round}: {ours:?} {by_definition:?}");
        }
        assert_eq!(scratch.scores().len(), reference.len());
        assert!(near(compact.ellipsoid().log_det_ratio(), literal.log_det_ratio()));
        let x = rows.get(0);
        let y = network.value(x) + 0.1 * normal(&mut stream);
        compact.update(x, y);
        literal.update(&network.x_ddagger(x), y);
    }
}

/// The fast width against the plain one, narrow widths included, and features that are zero.
#[test]
fn mean_and_width_in_one_pass_are_those_of_the_plain_version() {
    for dim in [1, 2, 9, 16, 33, 64, 100] {
        let mut stream = Key::new(dim as u64).stream();
        let mut ellipsoid = Ellipsoid::ridge(dim, 1e-3);
        let mut phi = vec![0.0; dim];
        let mut first = Vec::new();
        for round in 0..300 {
            unit_vector(&mut stream, &mut phi);
            phi[round % dim] = if round % 3 == 0 { 0.0 } else { 1.0 };
            first.resize(dim, phi[0]);
            // One arm is played so often that its width is far below the entries of the inverse.
            let played = if round % 2 == 0 { &phi } else { &first };
            ellipsoid.update(played, 1.0);
            for phi in [&phi, &first] {
                let (mean, width) = ellipsoid.mean_and_squared_width(phi);
                let plain = (ellipsoid.mean(phi), ellipsoid.squared_width(phi));
                assert!((mean - plain.0).abs() < 1e-9 * (1.0 + mean.abs()), "{dim}: {mean} is not {}", plain.0);
                assert!((width - plain.1).abs() <= 1e-9 * plain.1, "{dim}: {width} is not {}", plain.1);
            }
        }
    }
}

/// A large regression is refined a few columns at a time. After every column had its turn it is still what a
/// computation from scratch gives.
#[test]
fn a_large_regression_is_what_a_recomputation_gives() {
    let dim = LARGE + 3;
    for locked in [false, true] {
        let mut stream = Key::new(3).stream();
        let mut ellipsoid = Ellipsoid::ridge(dim, 1e-3);
        let (mut phi, mut fixed) = (vec![1.0; dim], vec![1.0; dim]);
        unit_vector(&mut stream, &mut fixed[1..]);
        for round in 0..dim + 40 {
            unit_vector(&mut stream, &mut phi[1..]);
            // One arm nearly always: the condition number is in the millions.
            let played = if locked && round % 10 != 0 { &fixed } else { &phi };
            ellipsoid.update(played, normal(&mut stream));
        }
        let mut exact = ellipsoid.clone();
        exact.refresh();
        let scale = exact.covariance().iter().fold(0.0f64, |most, x| most.max(x.abs()));
        for (found, exact) in ellipsoid.covariance().iter().zip(exact.covariance()) {
            assert!((found - exact).abs() < 1e-9 * scale, "{found} is not {exact}");
        }
        for (found, exact) in ellipsoid.weights().iter().zip(exact.weights()) {
            assert!((found - exact).abs() < 1e-7, "{found} is not {exact}");
        }
        assert!(near(ellipsoid.log_det_ratio(), exact.log_det_ratio()));
        for phi in [&phi, &fixed] {
            assert!((ellipsoid.squared_width(phi) / exact.squared_width(phi) - 1.0).abs() < 1e-7);
        }
        for i in 0..dim {
            for j in 0..i {
                assert_eq!(ellipsoid.covariance()[i * dim + j], ellipsoid.covariance()[j * dim + i]);
            }
        }
    }
}

#[test]
fn a_saved_large_regression_goes_on_to_the_bit() {
    let dim = LARGE;
    let mut stream = Key::new(5).stream();
    let mut ellipsoid = Ellipsoid::ridge(dim, 0.01);
    let mut phi = vec![0.0; dim];
    let mut restored = None;
    for round in 0..60 {
        if round == 25 {
            let text = serde_json::to_string(&ellipsoid).unwrap();
            restored = Some(serde_json::from_str::<Ellipsoid>(&text).unwrap());
        }
        unit_vector(&mut stream, &mut phi);
        ellipsoid.update(&phi, 0.3);
        if let Some(restored) = &mut restored {
            restored.update(&phi, 0.3);
        }
    }
    assert_eq!(restored, Some(ellipsoid));
}

/// Features of many sizes, and some that are copies of others: widths stay those of a covariance, and no wider than the
/// prior's. The second penalty is too small for doubles beside the largest sizes.
#[test]
fn a_large_regression_survives_features_of_any_size() {
    let dim = LARGE;
    for (lambda, largest, off) in [(0.01, 4, 1e-6), (1e-6, 7, 0.1)] {
        let mut stream = Key::new(6).stream();
        let mut ellipsoid = Ellipsoid::ridge(dim, lambda);
        let mut phi = vec![0.0; dim];
        for round in 0..90 {
            unit_vector(&mut stream, &mut phi);
            let size = 10f64.powi(round % (largest + 5) - 4);
            phi.iter_mut().for_each(|x| *x *= size);
            phi.copy_within(..100, 120);
            ellipsoid.update(&phi, 1.0);
            let width = ellipsoid.squared_width(&phi);
            assert!((0.0..=1.0 + off).contains(&width), "{lambda}, round {round}: squared width {width}");
        }
        let variances = ellipsoid.covariance().iter().step_by(dim + 1);
        variances.for_each(|x| assert!(*x > 0.0 && *x <= 1.001 / lambda, "variance {x}"));
        let text = serde_json::to_string(&ellipsoid).unwrap();
        assert_eq!(serde_json::from_str::<Ellipsoid>(&text).unwrap(), ellipsoid);
    }
}
