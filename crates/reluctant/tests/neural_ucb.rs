//! NeuralUCB against a plain computation of its formulas: networks by loops, gradients by hand,
//! matrices solved by elimination.

#![allow(clippy::unwrap_used, clippy::panic)]

use reluctant::{Key, RoundMemory, Rows, Scratch, Settings, env, policy};
use serde_json::Value;

const KEY: Key = Key::new(31);
const DIM: usize = 2;

/// A network as the policy's documentation draws it. Two layers: scale·Σ vᵢ·max(0, wᵢ·x̃) + c; one layer: Σ max(0,
/// wᵢ·x).
#[derive(Clone)]
struct Plain {
    width: usize,
    two_layers: bool,
    /// x̃ = (x, x)/√2, output times √m, no c.
    doubled: bool,
    /// W by input coordinate, then v, then c.
    params: Vec<f64>,
}

impl Plain {
    fn read(state: &Value) -> Self {
        let shape = &state["network"]["shape"];
        Plain {
            width: shape["width"].as_u64().unwrap() as usize,
            two_layers: shape["two_layers"].as_bool().unwrap(),
            doubled: shape["doubled"].as_bool().unwrap(),
            params: serde_json::from_value(state["network"]["params"].clone()).unwrap(),
        }
    }

    fn input(&self, x: &[f64]) -> Vec<f64> {
        if self.doubled { x.iter().chain(x).map(|v| v / 2f64.sqrt()).collect() } else { x.to_vec() }
    }

    /// f(x) and ∂f/∂θ.
    fn value_and_gradient(&self, x: &[f64]) -> (f64, Vec<f64>) {
        let (m, input) = (self.width, self.input(x));
        let second = input.len() * m;
        let scale = if self.doubled { (m as f64).sqrt() } else { 1.0 };
        let mut gradient = vec![0.0; self.params.len()];
        let mut value = 0.0;
        for i in 0..m {
            let before: f64 = (0..input.len()).map(|j| self.params[j * m + i] * input[j]).sum();
            if before < 0.0 {
                continue;
            }
            let outer = if self.two_layers { scale * self.params[second + i] } else { 1.0 };
            value += outer * before;
            for j in 0..input.len() {
                gradient[j * m + i] = outer * input[j];
            }
            if self.two_layers {
                gradient[second + i] = scale * before;
            }
        }
        if self.two_layers && !self.doubled {
            value += self.params[second + m];
            gradient[second + m] = 1.0;
        }
        (value, gradient)
    }
}

/// gᵀM⁻¹g by Gaussian elimination with pivots.
fn quadratic_form(matrix: &[Vec<f64>], g: &[f64]) -> f64 {
    let n = g.len();
    let mut rows: Vec<Vec<f64>> = matrix.iter().zip(g).map(|(row, b)| [row.as_slice(), &[*b]].concat()).collect();
    for k in 0..n {
        let pivot = (k..n).max_by(|a, b| rows[*a][k].abs().total_cmp(&rows[*b][k].abs())).unwrap();
        rows.swap(k, pivot);
        for i in k + 1..n {
            let factor = rows[i][k] / rows[k][k];
            for j in k..=n {
                rows[i][j] -= factor * rows[k][j];
            }
        }
    }
    let mut solved = vec![0.0; n];
    for i in (0..n).rev() {
        let rest: f64 = (i + 1..n).map(|j| rows[i][j] * solved[j]).sum();
        solved[i] = (rows[i][n] - rest) / rows[i][i];
    }
    g.iter().zip(solved).map(|(a, b)| a * b).sum()
}

struct Case {
    preset: &'static str,
    update: &'static str,
    matrix: &'static str,
}

const LAMBDA: f64 = 0.05;
const NU: f64 = 0.2;
const GAMMA: f64 = 0.3;

/// Plays 25 rounds and compares every score of every round with f + width from the documented formula.
fn check(case: &Case) {
    let Case { preset, update, matrix } = *case;
    let settings = Settings::new()
        .with("preset", preset)
        .with("update", update)
        .with("matrix", matrix)
        .with("neurons", 3u64)
        .with("lambda", LAMBDA)
        .with("nu", NU)
        .with("gamma", GAMMA);
    let environment = env::build("relu-sphere", &Settings::new().with("arms", 15u64), KEY).unwrap();
    let mut policy = policy::build("neural-ucb", DIM, &settings, KEY).unwrap();
    let start = Plain::read(&policy.snapshot().unwrap().state);
    let size = start.params.len();
    let m = start.width as f64;
    // U = λI + Σ ggᵀ under authors, Z = λI + Σ ggᵀ/m under zhou; off the diagonal only if the matrix is full.
    let share = if update == "zhou" { 1.0 / m } else { 1.0 };
    let mut gram: Vec<Vec<f64>> =
        (0..size).map(|i| (0..size).map(|j| if i == j { LAMBDA } else { 0.0 }).collect()).collect();
    let mut data: Vec<(Vec<f64>, f64)> = Vec::new();
    let mut scratch = Scratch::default();
    for t in 1..=25 {
        let network = Plain::read(&policy.snapshot().unwrap().state);
        if update == "zhou" {
            trained_towards_start(&network, &start, &data);
        }
        let mut memory = RoundMemory::default();
        let round = environment.round(t, &mut memory).unwrap();
        let offered = round.offer;
        policy.score(offered, &mut scratch).unwrap();
        for (x, score) in offered.rows("test").unwrap().iter().zip(scratch.scores()) {
            let (value, gradient) = network.value_and_gradient(x);
            let form = quadratic_form(&gram, &gradient);
            let width = match update {
                "zhou" => GAMMA * (form / m).sqrt(),
                _ => (LAMBDA * NU * form).sqrt(),
            };
            assert!((score.mean - value).abs() < 1e-10, "{preset} {update} {matrix}: mean {} {value}", score.mean);
            assert!((score.width - width).abs() < 1e-9, "{preset} {update} {matrix}: width {} {width}", score.width);
        }
        let choice = policy.select(offered, KEY.round(t), &mut scratch).unwrap();
        let best = scratch.scores().iter().map(|score| score.upper()).fold(f64::NEG_INFINITY, f64::max);
        assert!(choice.score.upper() >= best - 1e-9);
        let reward = round.reward(&choice, round.mean(&choice).unwrap());
        // The gradient at the network that chose, before it learns from the reward.
        let (_, g) = network.value_and_gradient(&choice.action);
        for i in 0..size {
            for j in 0..size {
                if i == j || matrix == "full" {
                    gram[i][j] += share * g[i] * g[j];
                }
            }
        }
        data.push((choice.action.to_vec(), reward));
        policy.update(&choice.action, reward).unwrap();
    }
}

/// Under zhou the network is 20 steps of gradient descent from θ₀ on Σ(f−y)²/2 + mλ‖θ−θ₀‖²/2, with rate 1/(mλ + 2mn).
fn trained_towards_start(network: &Plain, start: &Plain, data: &[(Vec<f64>, f64)]) {
    let m = start.width as f64;
    let rate = 1.0 / (m * LAMBDA + 2.0 * m * data.len() as f64);
    let mut plain = start.clone();
    for _ in 0..if data.is_empty() { 0 } else { 20 } {
        let mut total: Vec<f64> =
            plain.params.iter().zip(&start.params).map(|(now, before)| m * LAMBDA * (now - before)).collect();
        for (x, y) in data {
            let (value, gradient) = plain.value_and_gradient(x);
            total.iter_mut().zip(gradient).for_each(|(t, g)| *t += (value - y) * g);
        }
        plain.params.iter_mut().zip(total).for_each(|(p, t)| *p -= rate * t);
    }
    for (ours, plain) in network.params.iter().zip(&plain.params) {
        assert!((ours - plain).abs() < 1e-10, "{ours} {plain}");
    }
}

#[test]
fn scores_of_the_authors_update() {
    for preset in ["F", "T", "TW"] {
        for matrix in ["diagonal", "full"] {
            check(&Case { preset, update: "authors", matrix });
        }
    }
}

#[test]
fn scores_and_training_of_the_published_update() {
    for preset in ["F", "T", "TW"] {
        for matrix in ["diagonal", "full"] {
            check(&Case { preset, update: "zhou", matrix });
        }
    }
}

#[test]
fn presets_have_the_hidden_units_that_they_say() {
    let width = |preset: &str, update: &str| {
        let settings = Settings::new().with("preset", preset).with("update", update).with("neurons", 3u64);
        let state = policy::build("neural-ucb", DIM, &settings, KEY).unwrap().snapshot().unwrap().state;
        let plain = Plain::read(&state);
        (plain.width, plain.two_layers, plain.params.len())
    };
    assert_eq!(width("F", "authors"), (20, true, 20 * 2 + 20 + 1));
    assert_eq!(width("F", "zhou"), (20, true, 20 * 4 + 20));
    for update in ["authors", "zhou"] {
        assert_eq!(width("T", update), (3, false, 6));
        assert_eq!(width("TW", update), (6, false, 12));
    }
}

/// Published: the start is symmetric, so that f(·; θ₀) = 0.
#[test]
fn the_published_start_is_zero() {
    let settings = Settings::new().with("update", "zhou");
    let policy = policy::build("neural-ucb", DIM, &settings, KEY).unwrap();
    let mut scratch = Scratch::default();
    policy.score(Rows::new(DIM, &[0.6, 0.8, -1.0, 0.0, 0.0, -1.0]).unwrap().into(), &mut scratch).unwrap();
    assert!(scratch.scores().iter().all(|score| score.mean.abs() < 1e-14 && score.width > 0.0));
}
