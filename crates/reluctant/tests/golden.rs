//! Values computed straight from the paper's formulas by independent code (`golden/*.json`), met to 1e-9.

#![allow(clippy::unwrap_used, clippy::panic)]

use reluctant::choice::argmax;
use reluctant::policy::Oful;
use reluctant::theory::{self, Setting};
use reluctant::{
    Confidence, Ellipsoid, FrozenRelu, Key, Offer, Policy, ReluNet, Rows, Score, Scratch, Settings, Snapshot, policy,
};
use serde::Deserialize;

const TOLERANCE: f64 = 1e-9;

#[derive(Deserialize)]
struct Linear {
    parameters: Parameters,
    oful: OfulCase,
    ofu_relu: ReluCase,
}

#[derive(Deserialize)]
struct Parameters {
    d: usize,
    k: usize,
    lambda: f64,
    sigma: f64,
    delta: f64,
}

#[derive(Deserialize)]
struct OfulCase {
    #[serde(rename = "S")]
    norm_bound: f64,
    steps: Vec<Step>,
}

#[derive(Deserialize)]
struct ReluCase {
    #[serde(rename = "S")]
    norm_bound: f64,
    theta_tilde: Vec<Vec<f64>>,
    explore_x: Vec<Vec<f64>>,
    explore_y: Vec<f64>,
    features_of_first_arm: Vec<f64>,
    steps: Vec<Step>,
}

/// What a policy knows before a reward, and the reward. `width` is √(φᵀV⁻¹φ), without β.
#[derive(Deserialize)]
struct Step {
    arms: Vec<Vec<f64>>,
    beta: f64,
    mean: Vec<f64>,
    width: Vec<f64>,
    ucb: Vec<f64>,
    chosen: usize,
    reward: f64,
}

fn linear() -> Linear {
    serde_json::from_str(include_str!("golden/linear.json")).unwrap()
}

fn near(ours: f64, golden: f64) -> bool {
    (ours - golden).abs() <= TOLERANCE * golden.abs().max(1.0)
}

fn assert_near(ours: f64, golden: f64, what: &str) {
    assert!(near(ours, golden), "{what}: {ours} is not {golden}");
}

impl Parameters {
    fn confidence(&self, norm_bound: f64) -> Confidence {
        Confidence { lambda: self.lambda, sigma: self.sigma, delta: self.delta, norm_bound }
    }
}

impl Step {
    /// Compares a radius and the scores (with that radius in the widths) of all arms, and the arm that they choose.
    fn expect(&self, radius: f64, scores: &[Score]) {
        assert_near(radius, self.beta, "beta");
        assert_eq!(scores.len(), self.arms.len());
        for (i, score) in scores.iter().enumerate() {
            assert_near(score.mean, self.mean[i], "mean");
            assert_near(score.width, self.beta * self.width[i], "beta * width");
            assert_near(score.upper(), self.ucb[i], "ucb");
        }
        assert_eq!(argmax(scores.iter().map(Score::upper)), Some(self.chosen));
    }
}

#[test]
fn oful_on_its_ellipsoid() {
    let Linear { parameters, oful, .. } = linear();
    let confidence = parameters.confidence(oful.norm_bound);
    let mut ellipsoid = Ellipsoid::ridge(parameters.d, parameters.lambda);
    for step in &oful.steps {
        let radius = confidence.radius(ellipsoid.log_det_ratio());
        let score = |x: &Vec<f64>| Score { mean: ellipsoid.mean(x), width: radius * ellipsoid.squared_width(x).sqrt() };
        step.expect(radius, &step.arms.iter().map(score).collect::<Vec<_>>());
        ellipsoid.update(&step.arms[step.chosen], step.reward);
    }
}

/// The registered policy, from its settings to its choice.
#[test]
fn oful_as_a_policy() {
    let Linear { parameters, oful, .. } = linear();
    let settings = Settings::new()
        .with("lambda", parameters.lambda)
        .with("sigma", parameters.sigma)
        .with("delta", parameters.delta)
        .with("norm_bound", oful.norm_bound);
    let mut policy = policy::build("oful", parameters.d, &settings, Key::new(1)).unwrap();
    let mut scratch = Scratch::default();
    for (round, step) in oful.steps.iter().enumerate() {
        let data = step.arms.concat();
        let rows = Rows::new(parameters.d, &data).unwrap();
        policy.score(rows.into(), &mut scratch).unwrap();
        step.expect(concrete::<Oful>(policy.as_ref()).radius(), scratch.scores());
        let choice = policy.select(Offer::Rows(rows), Key::new(1).round(round as u64), &mut scratch).unwrap();
        assert_eq!(choice.index, Some(step.chosen));
        assert_near(choice.score.upper(), step.ucb[step.chosen], "the choice's ucb");
        policy.update(&choice.action, step.reward).unwrap();
    }
}

/// The policy behind the trait, through its saved state.
fn concrete<P: serde::de::DeserializeOwned>(policy: &dyn Policy) -> P {
    let Snapshot { state, .. } = policy.snapshot().unwrap();
    serde_json::from_value(state).unwrap()
}

impl ReluCase {
    fn network(&self, d: usize) -> ReluNet {
        ReluNet::new(d, self.theta_tilde.concat()).unwrap()
    }
}

/// OFU-ReLU in the paper's own 2kd features.
#[test]
fn ofu_relu_in_literal_features() {
    let Linear { parameters, ofu_relu, .. } = linear();
    let network = ofu_relu.network(parameters.d);
    let features = network.x_ddagger(&ofu_relu.steps[0].arms[0]);
    assert_eq!(features.len(), ofu_relu.features_of_first_arm.len());
    for (ours, golden) in features.iter().zip(&ofu_relu.features_of_first_arm) {
        assert_near(*ours, *golden, "feature");
    }
    let confidence = parameters.confidence(ofu_relu.norm_bound);
    assert_near((5.0 * parameters.k as f64).sqrt(), ofu_relu.norm_bound, "S");
    let mut literal = Ellipsoid::ridge(2 * parameters.k * parameters.d, parameters.lambda);
    for (x, &y) in ofu_relu.explore_x.iter().zip(&ofu_relu.explore_y) {
        literal.update(&network.x_ddagger(x), y);
    }
    for step in &ofu_relu.steps {
        let radius = confidence.radius(literal.log_det_ratio());
        let data = step.arms.concat();
        let rows = Rows::new(parameters.d, &data).unwrap();
        step.expect(radius, &FrozenRelu::score_reference(&literal, &network, rows, radius));
        literal.update(&network.x_ddagger(&step.arms[step.chosen]), step.reward);
    }
}

/// OFU-ReLU in the compact (k+1)d features, pattern by pattern.
#[test]
fn ofu_relu_in_compact_features() {
    let Linear { parameters, ofu_relu, .. } = linear();
    let confidence = parameters.confidence(ofu_relu.norm_bound);
    let mut regime = FrozenRelu::new(ofu_relu.network(parameters.d), parameters.lambda);
    for (x, &y) in ofu_relu.explore_x.iter().zip(&ofu_relu.explore_y) {
        regime.update(x, y);
    }
    let mut scratch = Scratch::default();
    for step in &ofu_relu.steps {
        let radius = confidence.radius(regime.ellipsoid().log_det_ratio());
        let data = step.arms.concat();
        regime.score(Rows::new(parameters.d, &data).unwrap(), radius, &mut scratch);
        step.expect(radius, scratch.scores());
        regime.update(&step.arms[step.chosen], step.reward);
    }
}

#[derive(Deserialize)]
struct Theory {
    estimation: Vec<Estimation>,
    sphere_area: Vec<Area>,
}

#[derive(Deserialize)]
struct Estimation {
    k: usize,
    d: usize,
    sigma: f64,
    delta: f64,
    nu: f64,
    alpha0: f64,
    n: f64,
    zeta: f64,
    neuron_error_bound: f64,
    log10_t0: f64,
}

#[derive(Deserialize)]
struct Area {
    dim: usize,
    area: f64,
}

fn theory_values() -> Theory {
    serde_json::from_str(include_str!("golden/theory.json")).unwrap()
}

fn assert_relative(ours: f64, golden: f64, what: &str) {
    assert!((ours - golden).abs() <= TOLERANCE * golden.abs(), "{what}: {ours} is not {golden}");
}

#[test]
fn estimation_bounds_and_exploration_lengths() {
    for case in theory_values().estimation {
        let Estimation { k, d, sigma, delta, alpha0, .. } = case;
        let setting = Setting { dim: d, neurons: k, sigma, delta, alpha0 };
        assert_relative(theory::zeta(&setting, case.n), case.zeta, "zeta");
        assert_relative(theory::neuron_error_bound(&setting, case.n), case.neuron_error_bound, "the error bound");
        assert_relative(theory::exploration_length(&setting, case.nu).log10(), case.log10_t0, "log10 t0");
    }
}

#[test]
fn areas_of_spheres() {
    for case in theory_values().sphere_area {
        assert_relative(theory::sphere_area(case.dim), case.area, "area");
    }
}
