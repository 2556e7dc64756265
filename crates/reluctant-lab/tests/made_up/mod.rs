//! Made-up results with the shapes that real ones have: most trials cheap, some that pay linear regret to the end.

use reluctant::rng::{self, Key};
use reluctant_lab::results::{Candidate, EnvironmentResults, LeftOut, PolicyResults, Results, TrialCurve};
use serde_json::{Map, Value, json};

/// The cases that reports tend to get wrong.
pub(crate) const CASES: &[&str] =
    &["paper", "single", "long", "one", "many", "labels", "empty", "linear", "mixed", "unfinished"];

/// The results of a case; none if there is no such case.
pub(crate) fn case(name: &str) -> Option<Results> {
    let (small, large) = (made("k3", "d = 2, k = 3", 1_000), made("k10", "d = 2, k = 10", 1_000));
    let linear = Made { kind: "linear-sphere", ..made("linear", "d = 2, linear", 1_000) };
    let environments = match name {
        "paper" => vec![small.play(50, &PAPER, 0.95), large.play(50, &PAPER, 2.2)],
        "single" => vec![small.play(50, &PAPER, 0.95)],
        "long" => vec![made("long", "d = 10, k = 10", 1_000_000).play(20, &PAPER, 1.1)],
        "one" => vec![small.play(1, &PAPER, 0.95), large.play(1, &PAPER, 2.2)],
        "many" => vec![small.play(30, &MANY, 0.95), large.play(30, &MANY, 2.2)],
        "labels" => vec![small.play(12, &LABELS, 0.95), large.play(12, &LABELS, 2.2)],
        "empty" => vec![small.play(0, &PAPER, 0.95)],
        "linear" => vec![linear.play(10, &PAPER, 0.5)],
        "mixed" => vec![linear.play(10, &PAPER, 0.5), small.play(10, &MANY, 0.95)],
        "unfinished" => vec![unfinished(small.play(1200, &PAPER, 0.95)), large.play(1200, &PAPER, 2.2)],
        _ => return None,
    };
    let title = "ReLU bandits on the sphere: regret of five methods and of uniform choice".to_owned();
    let mut results = Results::new("made-up", title, 1);
    results.version = "0.1.0".to_owned();
    results.environments = environments;
    Some(results)
}

/// The same environment with 100 trials of all but the first policy missing, and one policy that is not yet tuned.
fn unfinished(mut environment: EnvironmentResults) -> EnvironmentResults {
    environment.policies.iter_mut().skip(1).for_each(|policy| policy.trials.truncate(1100));
    let name = environment.policies.pop().map_or_else(String::new, |policy| policy.label);
    environment.left_out.push(LeftOut::new(name, "2 of its 20 tuning trials are missing"));
    environment
}

/// How a policy fares: it explores, then pays like √t, except that some trials pay linearly.
struct Shape {
    label: &'static str,
    policy: &'static str,
    /// Rounds of pure exploration.
    explore: f64,
    /// What a good trial pays, as a multiple of √t.
    root: f64,
    /// The share of trials that pay linearly.
    failing: f64,
    /// What those pay a round, at most, relative to chance.
    rate: f64,
    /// λ, if it was tuned.
    lambda: Option<f64>,
    microseconds: f64,
}

const fn shape(label: &'static str, policy: &'static str, numbers: [f64; 5], lambda: Option<f64>) -> Shape {
    let [explore, root, failing, rate, microseconds] = numbers;
    Shape { label, policy, explore, root, failing, rate, lambda, microseconds }
}

const UNIFORM: Shape = shape("Uniform", "uniform", [0.0, 0.0, 1.0, 1.0, 0.01], None);
const OFUL: Shape = shape("OFUL", "oful", [0.0, 1.1, 0.35, 0.6, 4.1], Some(1.0));
const OFU_RELU: Shape = shape("OFU-ReLU", "ofu-relu", [20.0, 0.6, 0.0, 0.0, 21.4], Some(0.001));
const NEURAL_F: Shape = shape("NeuralUCB-F", "neural-ucb", [0.0, 0.9, 0.4, 0.8, 412.0], Some(0.01));
const NEURAL_T: Shape = shape("NeuralUCB-T", "neural-ucb", [0.0, 1.6, 0.5, 0.9, 95.0], Some(0.1));
const NEURAL_TW: Shape = shape("NeuralUCB-TW", "neural-ucb", [0.0, 0.3, 0.25, 0.9, 97.0], Some(0.01));

const PAPER: [Shape; 6] = [UNIFORM, OFUL, OFU_RELU, NEURAL_F, NEURAL_T, NEURAL_TW];

const MANY: [Shape; 12] = [
    UNIFORM,
    OFUL,
    OFU_RELU,
    NEURAL_F,
    NEURAL_T,
    NEURAL_TW,
    shape("OFUL + constant", "oful", [0.0, 0.7, 0.1, 0.3, 4.4], Some(1.0)),
    shape("OFU-ReLU+", "ofu-relu-plus", [60.0, 0.8, 0.0, 0.0, 30.0], Some(0.001)),
    shape("OFU-ReLU, authors", "ofu-relu", [19.0, 0.9, 0.05, 0.2, 2400.0], Some(0.01)),
    shape("NeuralUCB, full matrix", "neural-ucb", [0.0, 0.5, 0.2, 0.7, 8300.0], Some(0.1)),
    shape("NeuralUCB, Zhou et al.", "neural-ucb", [0.0, 2.4, 0.3, 0.7, 640.0], Some(0.01)),
    shape("OFU-ReLU, ν = 0.1", "ofu-relu", [20.0, 0.45, 0.0, 0.0, 21.0], Some(0.0001)),
];

const LABELS: [Shape; 4] = [
    UNIFORM,
    shape(
        "OFUL with raw features, a constant & <escaped> \"quotes\", λ tuned on 20 seeds",
        "oful",
        [0.0, 1.1, 0.35, 0.6, 4.1],
        Some(1.0),
    ),
    shape(
        "NeuralUCB with the full matrix, √m scaling, symmetric initialisation, a penalty towards θ₀ and γ from theory, \
         width 64",
        "neural-ucb",
        [0.0, 0.9, 0.4, 0.8, 412.0],
        Some(0.01),
    ),
    OFU_RELU,
];

struct Made {
    name: &'static str,
    kind: &'static str,
    title: &'static str,
    rounds: u64,
}

fn made(name: &'static str, title: &'static str, rounds: u64) -> Made {
    Made { name, kind: "relu-sphere", title, rounds }
}

impl Made {
    fn play(&self, trials: u64, shapes: &[Shape], chance: f64) -> EnvironmentResults {
        let step = (self.rounds / 1_000).max(1);
        let checkpoints: Vec<u64> = (1..10 * step).filter(|t| self.rounds > 1_000 && t.is_power_of_two()).collect();
        let even = (1..=self.rounds / (5 * step)).map(|i| 5 * i * step);
        let checkpoints: Vec<u64> = checkpoints.into_iter().filter(|&t| t < 5 * step).chain(even).collect();
        let policies = shapes.iter().enumerate().map(|(i, shape)| {
            let curves = (0..trials).map(|trial| shape.trial(i as u64, trial, &checkpoints, chance)).collect();
            let tuned: Map<String, Value> =
                shape.lambda.map(|lambda| ("lambda".to_owned(), json!(lambda))).into_iter().collect();
            let mut params = tuned.clone();
            params.insert("delta".to_owned(), json!(0.01));
            params.insert("explore".to_owned(), json!(shape.explore));
            let mut policy = PolicyResults::new(shape.label, shape.policy, curves);
            policy.tuning = shape.lambda.map_or_else(Vec::new, grid);
            (policy.params, policy.tuned) = (params, tuned);
            policy
        });
        let params = match self.kind {
            "relu-sphere" => {
                let neurons = if self.name == "k3" { 3 } else { 10 };
                let dim = if self.name == "long" { 10 } else { 2 };
                json!({"kind": self.kind, "dim": dim, "neurons": neurons, "signs": "ones", "arms": 1000, "sigma": 0.1})
            }
            _ => json!({"kind": self.kind, "dim": 2, "arms": 1000, "sigma": 0.1}),
        };
        let policies = policies.collect();
        let mut results = EnvironmentResults::new(self.name, self.title, checkpoints);
        results.params = params.as_object().cloned().unwrap_or_default();
        (results.rounds, results.planned, results.policies) = (self.rounds, trials, policies);
        results
    }
}

/// A grid of λ around the best one, of which 1 is the largest.
fn grid(best: f64) -> Vec<Candidate> {
    let values = [0.0001, 0.001, 0.01, 0.1, 1.0];
    let candidate = |lambda: f64| {
        let away = (lambda / best).log10().abs();
        let regret = (0..10).map(|i| 40.0 + 25.0 * away + f64::from(i)).collect();
        Candidate::new(Map::from_iter([("lambda".to_owned(), json!(lambda))]), regret, lambda == best)
    };
    values.map(candidate).into()
}

impl Shape {
    fn trial(&self, policy: u64, trial: u64, checkpoints: &[u64], chance: f64) -> TrialCurve {
        // The environment's difficulty belongs to the trial, whoever plays.
        let hardness = chance * (1.0 + 0.3 * rng::uniform(&mut Key::new(0).trial(trial).stream()));
        let stream = &mut Key::new(1).trial(trial).round(policy).stream();
        let luck = 0.5 + rng::uniform(stream);
        let fails = rng::uniform(stream) < self.failing;
        let linear =
            if fails { self.rate * hardness * if self.rate < 1.0 { rng::uniform(stream) } else { 1.0 } } else { 0.0 };
        let (mut regret, mut before, mut total) = (Vec::new(), 0.0f64, 0.0);
        for &t in checkpoints {
            let t = t as f64;
            let explored = t.min(self.explore) - before.min(self.explore);
            let root = self.root * luck * hardness * (t.sqrt() - before.sqrt());
            let noise = (1.0 + 0.4 * rng::normal(stream)).max(0.0);
            total += noise * (explored * hardness + root + linear * (t - before));
            regret.push(total);
            before = t;
        }
        let policy_seconds = self.microseconds * 1e-6 * before;
        let mut curve = TrialCurve::new(trial, regret, hardness * before);
        (curve.seconds, curve.policy_seconds) = (policy_seconds + 3e-5 * before, policy_seconds);
        curve
    }
}
