//! The empirical-risk minimiser: it finds the neurons, its error shrinks as it should, and no data upset it.

#![allow(clippy::unwrap_used)]

use proptest::prelude::*;
use reluctant::estimate::{
    Fit, FitOptions, LEARNING_RATE, Model, Parts, STEPS, Samples, SignRule, adam, fit, fit_piecewise, kink_error,
    match_neurons, mean_squared_error, polish,
};
use reluctant::rng::{normal, sign, uniform, unit_vector};
use reluctant::{Activation, Error, Key, PiecewiseNet, Purpose, ReluNet};

struct Data {
    dim: usize,
    x: Vec<f64>,
    y: Vec<f64>,
}

impl Data {
    /// Samples of `truth`, uniform on the sphere, with Gaussian noise.
    fn of(truth: &ReluNet, len: usize, sigma: f64, key: Key) -> Self {
        let dim = truth.dim();
        let mut arms = key.purpose(Purpose::Arms).stream();
        let mut noise = key.purpose(Purpose::Noise).stream();
        let mut x = vec![0.0; len * dim];
        x.chunks_exact_mut(dim).for_each(|row| unit_vector(&mut arms, row));
        let y = x.chunks_exact(dim).map(|row| truth.value(row) + sigma * normal(&mut noise)).collect();
        Data { dim, x, y }
    }

    fn samples(&self) -> Samples<'_> {
        Samples::new(self.dim, &self.x, &self.y).unwrap()
    }
}

fn truth(dim: usize, neurons: usize, key: Key) -> ReluNet {
    ReluNet::random(dim, neurons, &mut key.purpose(Purpose::Truth).stream())
}

/// How many of `networks` random networks come back, every neuron within 1e-6, from 4kd samples without noise.
/// `examples/recovery.rs` does the same for a hundred networks a setting.
fn recovered(dim: usize, neurons: usize, networks: u64) -> u64 {
    (0..networks)
        .filter(|&trial| {
            let key = Key::new(1).trial(trial);
            let truth = truth(dim, neurons, key);
            let data = Data::of(&truth, 4 * dim * neurons, 0.0, key);
            let found = fit(data.samples(), neurons, &FitOptions::default(), key).unwrap();
            match_neurons(&found.net, &truth, SignRule::Strict).unwrap().worst <= 1e-6
        })
        .count() as u64
}

#[test]
fn neurons_come_back_from_small_networks() {
    assert!(recovered(2, 3, 60) >= 59);
    assert!(recovered(5, 5, 60) >= 59);
    assert!(recovered(10, 5, 40) >= 39);
}

#[test]
fn neurons_come_back_from_large_networks() {
    assert_eq!(recovered(10, 10, 12), 12);
    assert_eq!(recovered(20, 10, 5), 5);
}

/// The error of a parametric estimator falls like 1/√n: over four doublings by a factor of four.
#[test]
fn the_error_falls_like_one_over_the_root_of_the_samples() {
    let (dim, neurons, networks) = (5, 3, 48);
    let mean_error = |len: usize| {
        let errors = (0..networks).map(|trial| {
            let key = Key::new(2).trial(trial);
            let truth = truth(dim, neurons, key);
            let data = Data::of(&truth, len, 0.1, key.round(len as u64));
            let found = fit(data.samples(), neurons, &FitOptions::default(), key).unwrap();
            let errors = match_neurons(&found.net, &truth, SignRule::Strict).unwrap().errors;
            errors.iter().sum::<f64>() / neurons as f64
        });
        errors.sum::<f64>() / networks as f64
    };
    let base = 20 * neurons * dim;
    let errors: Vec<f64> = (0..5).map(|doubling| mean_error(base << doubling)).collect();
    assert!(errors.windows(2).all(|pair| pair[1] < pair[0]), "{errors:?}");
    let halvings = (errors[0] / errors[4]).log2();
    assert!((1.7..2.3).contains(&halvings), "{errors:?}: 2^{halvings}");
}

/// The fit is at least as good as descending from the truth, which knows where the best basin is.
#[test]
fn with_noise_the_minimum_is_no_worse_than_the_one_next_to_the_truth() {
    let mut behind = 0;
    for trial in 0..20 {
        let key = Key::new(3).trial(trial);
        let truth = truth(5, 5, key);
        let data = Data::of(&truth, 20 * 25, 0.1, key);
        let found = fit(data.samples(), 5, &FitOptions::default(), key).unwrap();
        let (_, near_truth) = polish(truth.clone(), data.samples(), Model::Unit, 200).unwrap();
        assert!(found.loss < mean_squared_error(&truth, data.samples()).unwrap());
        assert!(found.agreed >= 3);
        behind += u32::from(found.loss > near_truth * (1.0 + 1.0 / 500.0));
    }
    assert!(behind <= 1, "{behind} of 20");
}

#[test]
fn lengths_and_signs_come_back_in_the_signed_model() {
    let mut found_again = 0;
    for trial in 0..20 {
        let key = Key::new(4).trial(trial);
        let mut stream = key.purpose(Purpose::Start).stream();
        let mut theta = truth(5, 4, key).theta().to_vec();
        for row in theta.chunks_exact_mut(5) {
            let length = 0.5 + uniform(&mut stream);
            row.iter_mut().for_each(|x| *x *= length);
        }
        let signs = (0..4).map(|_| sign(&mut stream)).collect();
        let truth = ReluNet::with_signs(5, theta, signs).unwrap();
        let data = Data::of(&truth, 6 * 20, 0.0, key);
        let options = FitOptions { model: Model::Signed, ..FitOptions::default() };
        let found = fit(data.samples(), 4, &options, key).unwrap();
        found_again += u32::from(match_neurons(&found.net, &truth, SignRule::Strict).unwrap().worst <= 1e-6);
    }
    assert!(found_again >= 19, "{found_again} of 20");
}

/// Powers of two change no digit, so nothing may change but the units.
#[test]
fn free_neurons_do_not_depend_on_the_units_of_actions_and_rewards() {
    for trial in 0..4 {
        let key = Key::new(15).trial(trial);
        let mut stream = key.purpose(Purpose::Truth).stream();
        let theta = (0..8).map(|_| normal(&mut stream)).collect();
        let truth = ReluNet::with_signs(2, theta, vec![1.0, -1.0, 1.0, -1.0]).unwrap();
        let data = Data::of(&truth, 40, 0.05, key);
        let options = FitOptions { model: Model::Signed, ..FitOptions::default() };
        let plain = fit(data.samples(), 4, &options, key).unwrap();
        assert!(plain.loss < 0.01);
        for (wide, high) in [(1.0, 2f64.powi(20)), (1.0, 2f64.powi(-100)), (2f64.powi(30), 1.0), (2f64.powi(-20), 8.0)]
        {
            let scaled = |numbers: &[f64], by: f64| numbers.iter().map(|x| x * by).collect::<Vec<_>>();
            let other = Data { dim: 2, x: scaled(&data.x, wide), y: scaled(&data.y, high) };
            let found = fit(other.samples(), 4, &options, key).unwrap();
            assert_eq!(found.net.theta(), scaled(plain.net.theta(), high / wide));
            assert_eq!((found.restarts, found.agreed), (plain.restarts, plain.agreed));
            let (polished, _) = polish(found.net, other.samples(), Model::Signed, 50).unwrap();
            let (expected, _) = polish(plain.net.clone(), data.samples(), Model::Signed, 50).unwrap();
            assert_eq!(polished.theta(), scaled(expected.theta(), high / wide));
        }
    }
}

/// What OFU-ReLU asks for in the paper's experiments: few samples, much noise, any minimiser.
#[test]
fn few_samples_do_not_use_up_the_restarts() {
    let mut restarts = 0;
    for trial in 0..20 {
        let key = Key::new(5).trial(trial);
        let truth = truth(2, 10, key);
        let data = Data::of(&truth, 20, 0.1, key);
        let found = fit(data.samples(), 10, &FitOptions::default(), key).unwrap();
        assert!(found.loss < mean_squared_error(&truth, data.samples()).unwrap());
        assert!(found.net.iter().all(|row| (row.iter().map(|x| x * x).sum::<f64>() - 1.0).abs() < 1e-12));
        restarts += found.restarts;
    }
    assert!(restarts <= 20 * 12, "{restarts}");
}

#[test]
fn the_same_key_gives_the_same_bits_and_another_key_the_same_network() {
    let key = Key::new(6);
    let truth = truth(4, 4, key);
    let data = Data::of(&truth, 100, 0.05, key);
    let run = |key: Key| fit(data.samples(), 4, &FitOptions::default(), key).unwrap();
    assert_eq!(run(key), run(key));
    let (one, other) = (run(key), run(Key::new(7)));
    assert!(match_neurons(&one.net, &other.net, SignRule::Strict).unwrap().worst < 0.05);
    assert!((one.loss - other.loss).abs() < 0.01 * one.loss);
}

#[test]
fn polish_follows_the_data_and_never_climbs() {
    for trial in 0..20 {
        let key = Key::new(8).trial(trial);
        let truth = truth(3, 4, key);
        let data = Data::of(&truth, 120, 0.1, key);
        for model in [Model::Unit, Model::Signed] {
            for iterations in [0, 1, 8, 300] {
                let before = mean_squared_error(&truth, data.samples()).unwrap();
                let (net, loss) = polish(truth.clone(), data.samples(), model, iterations).unwrap();
                assert!(loss <= before * (1.0 + 1e-12));
                assert!((mean_squared_error(&net, data.samples()).unwrap() - loss).abs() <= 1e-15);
                assert!(iterations < 8 || loss < 0.99 * before);
            }
        }
    }
    let negative = ReluNet::with_signs(2, vec![1.0, 0.0], vec![-1.0]).unwrap();
    let data = Data { dim: 2, x: vec![1.0, 0.0], y: vec![-2.0] };
    assert!(polish(negative.clone(), data.samples(), Model::Unit, 10).is_err());
    let (net, loss) = polish(negative, data.samples(), Model::Signed, 50).unwrap();
    assert!(loss < 1e-12 && net.signs() == [-1.0]);
    let zero = ReluNet::new(2, vec![0.0, 0.0]).unwrap();
    assert!(polish(zero, data.samples(), Model::Signed, 50).unwrap().1 < 4.1);
}

/// One run of Adam is what the authors do; it descends, but its neurons are not unit vectors and it may end anywhere.
#[test]
fn adam_descends_and_the_fit_is_better() {
    let (mut by_adam, mut by_fit) = (0.0, 0.0);
    for trial in 0..10 {
        let key = Key::new(9).trial(trial);
        let truth = truth(2, 3, key);
        let data = Data::of(&truth, 24, 0.0, key);
        let start = adam(data.samples(), 3, 0, LEARNING_RATE, key).unwrap();
        let end = adam(data.samples(), 3, STEPS, LEARNING_RATE, key).unwrap();
        assert!(end.loss < start.loss && end.iterations == STEPS);
        by_adam += end.loss;
        by_fit += fit(data.samples(), 3, &FitOptions::default(), key).unwrap().loss;
    }
    assert!(by_fit < 1e-6 * by_adam, "{by_fit} {by_adam}");
}

#[test]
fn what_cannot_be_fitted_is_refused_with_a_reason() {
    let none = Samples::new(2, &[], &[]).unwrap_err();
    assert_eq!(none, Error::TooFewSamples { what: "a fit", needed: 1, found: 0 });
    assert!(Samples::new(2, &[1.0, 0.0], &[1.0, 2.0]).is_err());
    assert!(Samples::new(2, &[1.0, f64::NAN], &[1.0]).is_err());
    assert!(Samples::new(2, &[1.0, 0.0], &[f64::INFINITY]).is_err());
    let key = Key::new(0);
    let data = Data { dim: 2, x: vec![1.0, 0.0], y: vec![1.0] };
    let flat = Samples::new(1, &[1.0], &[1.0]).unwrap();
    let options = FitOptions::default();
    assert!(fit(flat, 1, &options, key).is_err());
    assert!(fit(data.samples(), 0, &options, key).is_err());
    assert!(fit(data.samples(), 65, &options, key).is_err());
    assert!(fit(data.samples(), 1, &FitOptions { restarts: 0, ..options }, key).is_err());
    assert!(adam(data.samples(), 1, 10, 0.0, key).is_err());
    assert!(adam(flat, 1, 10, 0.1, key).is_err());
    assert!(fit(data.samples(), 64, &options, key).is_ok());
}

fn sane(found: &Fit, model: Model) {
    assert!(found.loss.is_finite() && found.loss >= 0.0);
    assert!(found.net.theta().iter().all(|x| x.is_finite()));
    if model == Model::Unit {
        assert!(found.net.iter().all(|row| (row.iter().map(|x| x * x).sum::<f64>() - 1.0).abs() < 1e-12));
    }
}

/// Numbers as they come in practice, and as they should not.
fn number() -> impl Strategy<Value = f64> {
    prop_oneof![
        4 => -1.0..1.0f64,
        2 => Just(0.0),
        1 => Just(1.0),
        1 => -1e6..1e6f64,
        1 => prop::sample::select(vec![1e100, -1e100, 1e-100, 1e-300, -1e-310]),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    /// Duplicates, zero rows, constant rewards, huge and tiny numbers, fewer samples than unknowns.
    #[test]
    fn no_data_upset_the_fit(
        (dim, rows, rewards) in (2usize..5, 1usize..12).prop_flat_map(|(dim, len)| {
            (Just(dim), prop::collection::vec(number(), dim * len), prop::collection::vec(number(), len))
        }),
        neurons in 1usize..5,
        signed: bool,
        duplicate: bool,
        constant: bool,
    ) {
        let (mut x, mut y) = (rows, rewards);
        if duplicate {
            x.extend_from_within(..);
            y.extend_from_within(..);
        }
        if constant {
            let first = y[0];
            y.fill(first);
        }
        let data = Data { dim, x, y };
        let model = if signed { Model::Signed } else { Model::Unit };
        let options = FitOptions { model, restarts: 4, ..FitOptions::default() };
        match fit(data.samples(), neurons, &options, Key::new(1)) {
            Ok(found) => sane(&found, model),
            // Tiny actions with huge rewards call for neurons beyond what may enter a network.
            Err(error) => prop_assert!(signed && matches!(error, Error::NotFinite { .. }), "{error}"),
        }
        let run = adam(data.samples(), neurons, 50, LEARNING_RATE, Key::new(1)).unwrap();
        prop_assert!(run.loss.is_finite());
    }
}

/// A network with signs ±1, lengths in [½, 2] and biases in [−½, ½], and actions on the sphere, six a parameter.
fn biased(dim: usize, neurons: usize, slope: f64, affine: bool, key: Key) -> (PiecewiseNet, Vec<f64>) {
    let stream = &mut key.stream();
    let mut theta = vec![0.0; dim * neurons];
    for row in theta.chunks_exact_mut(dim) {
        unit_vector(stream, row);
        let length = 0.5 + 1.5 * uniform(stream);
        row.iter_mut().for_each(|x| *x *= length);
    }
    let signs = (0..neurons).map(|_| sign(stream)).collect();
    let biases: Vec<f64> = (0..neurons).map(|_| uniform(stream) - 0.5).collect();
    let net = ReluNet::with_signs(dim, theta, signs).unwrap();
    let truth = PiecewiseNet::with_activation(&Activation::leaky(slope).unwrap(), &net, &biases).unwrap();
    let mut x = vec![0.0; 6 * (neurons + usize::from(affine)) * (dim + 1) * dim];
    x.chunks_exact_mut(dim).for_each(|x| unit_vector(stream, x));
    (truth, x)
}

/// Networks that 400 starts from scratch do not find: those that keep most of the best network so far do.
#[test]
fn kinks_that_starts_from_scratch_miss_come_back() {
    let (dim, neurons, parts) = (3, 4, Parts { biases: true, affine: true });
    for seed in [79, 1094, 1358] {
        let key = Key::new(seed);
        let (truth, x) = biased(dim, neurons, 0.0, true, key);
        let y: Vec<f64> = x.chunks_exact(dim).map(|x| truth.value(x)).collect();
        let samples = Samples::new(dim, &x, &y).unwrap();
        let fit = fit_piecewise(samples, neurons, parts, &FitOptions::thorough(), key).unwrap();
        assert!(kink_error(&fit.net, &truth).unwrap() < 1e-6, "seed {seed}: {} starts", fit.restarts);
    }
}

/// Networks with signs ±1, lengths in [½, 2] and biases in [−½, ½], and leaky ones; six noise-free samples a parameter.
/// `cargo run --release --example kinks` counts more of them.
#[test]
fn kinks_come_back_whatever_lengths_signs_biases_and_slope() {
    for (dim, neurons, slope, affine) in [(3, 4, 0.0, false), (3, 4, 0.3, false), (3, 3, 0.0, true), (5, 5, 0.0, false)]
    {
        let mut found = 0;
        for seed in 0..15 {
            let key = Key::new(seed);
            let (truth, x) = biased(dim, neurons, slope, affine, key);
            let y: Vec<f64> =
                x.chunks_exact(dim).map(|x| truth.value(x) + if affine { 0.3 - x[0] } else { 0.0 }).collect();
            let options = FitOptions { slope, ..FitOptions::thorough() };
            let parts = Parts { biases: true, affine };
            let fit = fit_piecewise(Samples::new(dim, &x, &y).unwrap(), neurons, parts, &options, key).unwrap();
            found += u32::from(kink_error(&fit.net, &truth).unwrap() < 1e-6);
        }
        assert!(found >= 14, "({dim}, {neurons}), slope {slope}: {found} of 15");
    }
}

/// Unit neurons and a second layer of ones, told the slope: as easy as for ReLUs.
#[test]
fn leaky_networks_come_back_with_their_signs() {
    for slope in [0.2, 0.5, -1.0] {
        // The absolute value is the same for a neuron and its negative.
        let rule = if slope < 0.0 { SignRule::Free } else { SignRule::Strict };
        for (dim, neurons) in [(2, 3), (5, 5), (10, 5)] {
            let mut found = 0;
            for seed in 0..10 {
                let key = Key::new(seed);
                let stream = &mut key.stream();
                let net = ReluNet::random(dim, neurons, stream);
                let truth = PiecewiseNet::with_activation(
                    &Activation::new(vec![0.0], vec![slope, 1.0]).unwrap(),
                    &net,
                    &vec![0.0; neurons],
                );
                let mut x = vec![0.0; 6 * neurons * dim * dim];
                x.chunks_exact_mut(dim).for_each(|x| unit_vector(stream, x));
                let y: Vec<f64> = x.chunks_exact(dim).map(|x| truth.as_ref().unwrap().value(x)).collect();
                let options = FitOptions { slope, ..FitOptions::default() };
                let fit = fit(Samples::new(dim, &x, &y).unwrap(), neurons, &options, key).unwrap();
                found += u32::from(match_neurons(&fit.net, &net, rule).unwrap().worst < 1e-6);
            }
            assert!(found >= 9, "({dim}, {neurons}), slope {slope}: {found} of 10");
        }
    }
    let data = [1.0, 0.0];
    let samples = Samples::new(2, &data, &[1.0]).unwrap();
    let said =
        fit(samples, 1, &FitOptions { slope: 1.0, ..FitOptions::default() }, Key::new(1)).unwrap_err().to_string();
    assert!(said.starts_with("slope = 1 is out of range: a number at least -1 and less than 1"), "{said}");
}
