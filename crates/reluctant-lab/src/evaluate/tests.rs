//! The estimators against other people's numbers, against brute force, and against what a log cannot know.

#![allow(clippy::unwrap_used, reason = "a test says best what it expects by failing where it is not met")]

use super::*;
use crate::stats::t95;

/// Rounds with what was chosen, its propensity, the reward, the policy's probabilities and the model's predictions.
type Given = (usize, f64, f64, [f64; 3], [f64; 3]);

const ROUNDS: [Given; 12] = [
    (2, 0.16, -1.46, [0.058, 0.205, 0.737], [0.67, -2.83, 1.02]),
    (0, 0.3, -0.6, [0.785, 0.123, 0.092], [-0.96, -1.67, 0.28]),
    (1, 0.47, -0.32, [0.283, 0.067, 0.650], [0.70, -0.44, -1.08]),
    (1, 0.77, 0.22, [0.017, 0.117, 0.866], [0.03, -0.05, 1.41]),
    (0, 0.87, 0.58, [0.129, 0.622, 0.249], [0.75, 0.19, 1.11]),
    (0, 0.65, -1.25, [0.460, 0.205, 0.335], [-0.21, -0.93, 0.58]),
    (0, 0.23, -1.73, [0.617, 0.379, 0.004], [0.58, -0.21, -0.78]),
    (0, 0.51, 0.0, [0.356, 0.273, 0.371], [0.23, -2.49, 0.69]),
    (2, 0.65, 1.21, [0.360, 0.316, 0.324], [0.49, -1.64, 0.06]),
    (0, 0.09, 0.76, [0.210, 0.015, 0.775], [-0.96, 0.76, -2.03]),
    (1, 0.63, 0.22, [0.482, 0.022, 0.496], [-0.91, 0.71, 1.16]),
    (2, 0.36, -0.32, [0.757, 0.051, 0.192], [-2.16, -0.50, 0.33]),
];

fn terms() -> Vec<Term> {
    let term = |(chosen, propensity, reward, policy, model): Given| Term {
        probability: policy[chosen],
        propensity,
        certain: false,
        reward,
        predicted: model[chosen],
        expected: policy.iter().zip(model).map(|(p, q)| p * q).sum(),
    };
    ROUNDS.into_iter().map(term).collect()
}

fn value(mut sums: Moments, part: impl Fn(&Term) -> Part) -> Estimate {
    terms().iter().zip(0..).for_each(|(term, number)| sums.add(number, part(term)));
    sums.estimate("test", None, &Bootstrap::new(1, sums.batches()))
}

/// What the classes of the Open Bandit Pipeline 0.4.1 say of these rounds (τ = 2, λ = 4).
#[test]
fn estimates_are_those_of_the_open_bandit_pipeline() {
    let (plain, normalised) = (Moments::default, || Moments::of(Shape::Normalised));
    let found = [
        ("ips", value(plain(), inverse::part), -0.9611128508378335),
        ("snips", value(normalised(), inverse::part), -0.7610724013114455),
        ("dm", value(plain(), direct::part), -0.26996583333333335),
        ("dr", value(plain(), doubly_robust::part), -1.3798961101104223),
        ("sndr", value(normalised(), doubly_robust::part), -1.1488816654321672),
        ("switch-dr", value(plain(), |term| switch::part(term, 2.0)), -0.3244800473084899),
        ("dr-os", value(plain(), |term| shrinkage::part(term, 4.0)), -0.4819859958864113),
    ];
    for (name, estimate, expected) in found {
        assert!((estimate.value - expected).abs() < 1e-9, "{name}: {} {expected}", estimate.value);
    }
}

/// The standard error by leaving out each round in turn, estimating anew, and the degrees of freedom that it has.
fn left_out(shape: Shape, part: impl Fn(&Term) -> Part) -> (f64, f64) {
    let parts: Vec<Part> = terms().iter().map(part).collect();
    let estimate = |without: Option<usize>| {
        let mut sums = Moments::of(shape);
        let kept = parts.iter().enumerate().filter(|(i, _)| Some(*i) != without);
        kept.enumerate().for_each(|(number, (_, part))| sums.add(number as u64, *part));
        sums.estimate("test", None, &Bootstrap::new(1, sums.batches())).value
    };
    let (n, whole) = (parts.len() as f64, estimate(None));
    let squares: Vec<f64> = (0..parts.len()).map(|i| (estimate(Some(i)) - whole).powi(2)).collect();
    let (sum, fourth): (f64, f64) = (squares.iter().sum(), squares.iter().map(|x| x * x).sum());
    ((sum * (n - 1.0) / n).sqrt(), sum * sum / fourth)
}

/// Standard errors and intervals from their definitions, over the kept rounds.
#[test]
fn errors_and_intervals_follow_their_definitions() {
    let estimate = value(Moments::default(), doubly_robust::part);
    let parts: Vec<f64> = terms().iter().map(doubly_robust::part).map(|part| part.plain + part.value).collect();
    let n = parts.len() as f64;
    let mean = parts.iter().sum::<f64>() / n;
    let variance = parts.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / (n - 1.0);
    assert!((estimate.error - (variance / n).sqrt()).abs() < 1e-12);
    let range = parts.iter().copied().fold(f64::MIN, f64::max) - parts.iter().copied().fold(f64::MAX, f64::min);
    let log = (4.0f64 / 0.05).ln();
    let half = (2.0 * variance * log / n).sqrt() + 7.0 * range * log / (3.0 * (n - 1.0));
    assert!((estimate.bernstein.unwrap()[1] - (mean + half)).abs() < 1e-12);
    let (error, free) = left_out(Shape::Sum, doubly_robust::part);
    assert!((estimate.error - error).abs() < 1e-12 && free > 1.0);
    let half = t95(free.max(4.0) as usize) * error;
    assert!((estimate.normal[1] - mean - half).abs() < 1e-9);
    // What is divided by the weights, or fitted, is estimated anew without each round.
    let normalised = value(Moments::of(Shape::Normalised), inverse::part);
    assert!((normalised.error - left_out(Shape::Normalised, inverse::part).0).abs() < 1e-9);
    let fitted = value(Moments::of(Shape::Fitted), fitted::part);
    assert!((fitted.error - left_out(Shape::Fitted, fitted::part).0).abs() < 1e-9);
}

/// All logs of two rounds that a logger can write, weighted by their probability: IPS and DR are unbiased, whatever the
/// model.
#[test]
fn inverse_propensities_and_doubly_robust_are_unbiased() {
    let (logger, policy, rewards) = ([0.7, 0.2, 0.1], [0.1, 0.3, 0.6], [0.4, -1.0, 2.0]);
    let model = [0.5, 0.0, 1.0];
    let truth: f64 = policy.iter().zip(rewards).map(|(p, r)| p * r).sum();
    let expected: f64 = policy.iter().zip(model).map(|(p, q)| p * q).sum();
    let mut mean = [0.0; 2];
    for a in 0..3 {
        for b in 0..3 {
            let mut sums = [Moments::default(), Moments::default()];
            for (number, i) in [(0, a), (1, b)] {
                let term = Term {
                    probability: policy[i],
                    propensity: logger[i],
                    certain: false,
                    reward: rewards[i],
                    predicted: model[i],
                    expected,
                };
                sums[0].add(number, inverse::part(&term));
                sums[1].add(number, doubly_robust::part(&term));
            }
            for (mean, sums) in mean.iter_mut().zip(sums) {
                let estimate = sums.estimate("test", None, &Bootstrap::new(1, 2));
                *mean += logger[a] * logger[b] * estimate.value;
            }
        }
    }
    assert!(mean.iter().all(|mean| (mean - truth).abs() < 1e-12), "{mean:?} {truth}");
}

/// The fitted estimate is the constant of a regression of w·r on what is 0 on average: no other multiples leave less
/// variance, and its variance is not above those of the estimates it contains.
#[test]
fn the_fitted_estimate_has_the_least_variance() {
    let fitted = value(Moments::of(Shape::Fitted), fitted::part);
    let parts: Vec<Part> = terms().iter().map(fitted::part).collect();
    let n = parts.len() as f64;
    let variance = |a: f64, b: f64| {
        let shares: Vec<f64> = parts.iter().map(|p| p.value - a * p.plain - b * (p.weight - 1.0)).collect();
        let mean = shares.iter().sum::<f64>() / n;
        (mean, shares.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / (n - 3.0) / n)
    };
    let least = |(a, b): (f64, f64), step: f64| {
        let around = |i: i32, j: i32| (a + step * f64::from(i), b + step * f64::from(j));
        let all = (-10..=10).flat_map(|i| (-10..=10).map(move |j| around(i, j)));
        all.min_by(|x, y| variance(x.0, x.1).1.total_cmp(&variance(y.0, y.1).1)).unwrap()
    };
    // By brute force, on finer and finer grids.
    let found = [0.5, 0.05, 0.005, 0.0005, 0.00005].iter().fold((0.0, 0.0), |best, step| least(best, *step));
    let (mean, least) = variance(found.0, found.1);
    assert!((fitted.value - mean).abs() < 1e-3);
    for (a, b) in [(0.0, 0.0), (-1.0, 0.0), (0.0, 1.0), (1.0, 0.0)] {
        assert!(least < variance(a, b).1, "{a} {b}");
    }
    // Rewards that are all alike are found without an error, as the self-normalised estimate finds them.
    let mut sums = Moments::of(Shape::Fitted);
    for (number, term) in terms().into_iter().enumerate() {
        sums.add(number as u64, fitted::part(&Term { reward: 0.7, ..term }));
    }
    let same = sums.estimate("test", None, &Bootstrap::new(1, sums.batches()));
    assert!((same.value - 0.7).abs() < 1e-12 && same.error < 1e-7, "{same:?}");
}

#[test]
fn the_bound_takes_what_it_says() {
    for term in terms() {
        for bound in BOUNDS {
            let (all, cut) = (inverse::part(&term).value, clipped::part(&term, bound));
            assert!((cut.value + cut.weight - all).abs() < 1e-12);
            let (all, kept) = (doubly_robust::part(&term).value, switch::part(&term, bound));
            assert!((kept.value + kept.weight - all).abs() < 1e-12);
            let shrunk = shrinkage::part(&term, bound);
            assert!((shrunk.value + shrunk.weight - all).abs() < 1e-12);
        }
    }
}

#[test]
fn settings_are_read_as_they_are_typed() {
    let (kind, settings) = policy("oful:lambda=0.1, features=constant,discount=1").unwrap();
    let expected = Settings::new().with("lambda", 0.1).with("features", "constant").with("discount", 1u64);
    assert_eq!((kind.as_str(), settings), ("oful", expected));
    let said = policy("oful:lambda").unwrap_err().to_string();
    assert_eq!(said, "oful:lambda: 'lambda' is not a setting; write name=value, with commas between settings");
}
