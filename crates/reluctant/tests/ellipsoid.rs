//! The algebra of [`Ellipsoid`] and [`FrozenRelu`], on random data.

#![allow(clippy::unwrap_used, clippy::panic)]

use proptest::prelude::*;
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

/// As many neurons as a pattern has bits: nearly every arm has a pattern of its own, and the hash table is put to the test.
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
        compact.score(rows.into(), radius, &mut scratch);
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
