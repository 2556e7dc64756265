//! `neural-ucb`: optimism on the gradients of a trained network, the paper's other baselines.
//!
//! A network f(x; θ) is trained on all rewards so far; the arm of greatest f(x) + width(x) is chosen, where the width is the norm of
//! the gradient g(x) = ∂f/∂θ under the gradients of past choices. Three presets, as in the paper:
//!
//! | preset | network | hidden units |
//! | --- | --- | --- |
//! | `F` | two layers | 20 |
//! | `T` | one layer, the truth's own structure: Σᵢ max(0, θᵢ·x) | k |
//! | `TW` | one layer | 2k |
//!
//! and two updates:
//!
//! | | `zhou` (the algorithm as published) | `authors` (what the paper's authors run) |
//! | --- | --- | --- |
//! | network F | √m·w·max(0, Wx̃) with x̃ = (x, x)/√2 | w·max(0, Wx) + c |
//! | start | symmetric, so that f(·; θ₀) = 0 | uniform in ±1/√(inputs) |
//! | score | f + γ·√(gᵀZ⁻¹g/m), Z = λI + Σ ggᵀ/m | f + √(λν·gᵀU⁻¹g), U = λI + Σ ggᵀ |
//! | training | from θ₀, `steps` steps on Σ(f−y)²/2 + mλ‖θ−θ₀‖²/2 | on from the last θ: single samples in random order, rate 0.01, weight decay λ, until 1,000 steps or a pass with mean loss ≤ 0.001 |
//!
//! Under `zhou`, T and TW have no second layer to be symmetric in and no √m: they start from random unit neurons.
//! The matrix is the full one or its diagonal (`matrix`). The history is kept, because each round trains on all of it.

mod network;
mod train;

use serde::{Deserialize, Serialize};

use self::network::{Network, Shape};
use super::{
    Build, Contexts, Entry, Explanation, Policy, Restore, Sample, Snapshot, check_features, explain_by_score,
    read_state, select_optimistic,
};
use crate::action::{Action, check_observation, check_vector};
use crate::choice::{Choice, Score};
use crate::ellipsoid::Ellipsoid;
use crate::error::{Error, Result};
use crate::kernels::DiagonalScores;
use crate::limits::in_limit;
use crate::offer::{Offer, Rows};
use crate::params::{Initial, Kind, Literal, Param, Params};
use crate::rng::{Key, Purpose};
use crate::scratch::Scratch;

/// The most hidden units, and the most training steps a round.
const MAX_WIDTH: u64 = 10_000;
const MAX_STEPS: u64 = 1_000_000;

/// Hidden units of preset F.
const F_WIDTH: usize = 20;

pub(super) const ENTRY: Entry = Entry {
    name: "neural-ucb",
    summary: "optimism on the gradients of a trained network",
    citation: "Zhou, Li and Gu (2020), Neural contextual bandits with UCB-based exploration",
    params: &[
        Param::new(
            "preset",
            Initial::word("F"),
            Kind::Word(&["F", "T", "TW"]),
            "F: two layers; T: one layer of k units, the true structure; TW: one layer of 2k",
        ),
        Param::new(
            "neurons",
            Initial::Auto("needed by T and TW"),
            Kind::Count { min: 1, max: MAX_WIDTH / 2 },
            "neurons k of the true network",
        )
        .told(),
        Param::new(
            "width",
            Initial::Auto("20 (F), k (T), 2k (TW)"),
            Kind::Count { min: 1, max: MAX_WIDTH },
            "hidden units m; even for F under zhou",
        ),
        Param::new(
            "update",
            Initial::word("authors"),
            Kind::Word(&["authors", "zhou"]),
            "how the network starts, learns and is scored",
        ),
        Param::new(
            "matrix",
            Initial::word("diagonal"),
            Kind::Word(&["diagonal", "full"]),
            "matrix of gradients behind the width",
        ),
        Param::new("lambda", Initial::real(0.01), Kind::POSITIVE, "penalty λ: start of the matrix, and weight decay"),
        Param::new("nu", Initial::real(0.1), Kind::NOT_NEGATIVE, "exploration ν of the authors' score"),
        Param::new("gamma", Initial::real(0.1), Kind::NOT_NEGATIVE, "exploration γ of the score in zhou"),
        Param::new(
            "steps",
            Initial::Auto("1,000 (authors), 20 (zhou)"),
            Kind::Count { min: 1, max: MAX_STEPS },
            "at most so many training steps a round: single samples (authors), full gradients (zhou)",
        ),
        Param::new("rate", Initial::Auto("0.01 (authors), 1/(mλ + 2mn) (zhou)"), Kind::POSITIVE, "learning rate"),
    ],
    sphere: false,
    contexts: Contexts::ModelEach,
    samples: &[
        Sample { name: "F", environment: "relu-sphere", settings: &[] },
        Sample {
            name: "T",
            environment: "relu-sphere",
            settings: &[("preset", Literal::Word("T")), ("neurons", Literal::Count(3))],
        },
        Sample {
            name: "TW-full",
            environment: "relu-sphere",
            settings: &[
                ("preset", Literal::Word("TW")),
                ("neurons", Literal::Count(3)),
                ("matrix", Literal::Word("full")),
            ],
        },
        Sample { name: "F-zhou", environment: "relu-sphere", settings: &[("update", Literal::Word("zhou"))] },
        Sample {
            name: "T-zhou-full",
            environment: "relu-sphere",
            settings: &[
                ("preset", Literal::Word("T")),
                ("neurons", Literal::Count(3)),
                ("update", Literal::Word("zhou")),
                ("matrix", Literal::Word("full")),
            ],
        },
    ],
    build: Build::Plain(|dim, params, key| Ok(Box::new(NeuralUcb::new(dim, params, key)?))),
    restore: Restore::Plain(|state| Ok(Box::new(read_state(state, NeuralUcb::is_consistent)?))),
};

/// Optimism on the gradients of a trained network.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct NeuralUcb {
    dim: usize,
    config: Config,
    key: Key,
    network: Network,
    /// θ₀, from which `zhou` trains and towards which it is pulled; empty under `authors`.
    start: Vec<f64>,
    matrix: Matrix,
    xs: Vec<f64>,
    ys: Vec<f64>,
    /// How often training blew up.
    #[serde(default)]
    blown_up: u64,
    #[serde(skip)]
    work: train::Workspace,
}

#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
enum Update {
    Authors,
    Zhou,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
struct Config {
    update: Update,
    lambda: f64,
    /// The width is this times √(gᵀU⁻¹g): √(λν) for `authors`, γ for `zhou` (whose gradients are divided by √m).
    scale: f64,
    steps: usize,
    rate: Option<f64>,
}

/// The gradients of past choices.
#[derive(Debug, Clone, Serialize, Deserialize)]
enum Matrix {
    Diagonal(Vec<f64>),
    Full(Ellipsoid),
}

impl NeuralUcb {
    fn new(dim: usize, params: &Params, key: Key) -> Result<Self> {
        let update = if params.word("update")? == "zhou" { Update::Zhou } else { Update::Authors };
        let shape = shape(dim, params, update)?;
        let lambda = params.real("lambda")?;
        let (scale, steps) = match update {
            Update::Authors => ((lambda * params.real("nu")?).sqrt(), 1000),
            Update::Zhou => (params.real("gamma")?, 20),
        };
        let config = Config {
            update,
            lambda,
            scale,
            steps: if params.get("steps").is_some() { params.size("steps")? } else { steps },
            rate: if params.get("rate").is_some() { Some(params.real("rate")?) } else { None },
        };
        let mut stream = key.purpose(Purpose::Start).stream();
        let network = match update {
            Update::Authors => Network::uniform_start(shape, &mut stream),
            Update::Zhou => Network::symmetric_start(shape, &mut stream),
        };
        let size = network.size();
        let matrix = match params.word("matrix")? {
            "full" => {
                check_features(size, "parameters of the network")?;
                Matrix::Full(Ellipsoid::ridge(size, lambda))
            }
            _ => Matrix::Diagonal(vec![lambda; size]),
        };
        let start = if update == Update::Zhou { network.params().to_vec() } else { Vec::new() };
        let (xs, ys, work) = (Vec::new(), Vec::new(), train::Workspace::default());
        Ok(NeuralUcb { dim, config, key, network, start, matrix, xs, ys, blown_up: 0, work })
    }

    fn is_consistent(&self) -> bool {
        let shape = self.network.shape();
        let sized = shape.dim == self.dim && (1..=MAX_WIDTH).contains(&(shape.width as u64));
        if !sized || !(1..=MAX_STEPS).contains(&(self.config.steps as u64)) {
            return false;
        }
        let size = self.network.size();
        let matrix = match &self.matrix {
            Matrix::Diagonal(diagonal) => diagonal.len() == size && diagonal.iter().all(|u| *u > 0.0 && u.is_finite()),
            Matrix::Full(ellipsoid) => ellipsoid.dim() == size,
        };
        let start = if self.config.update == Update::Zhou { size } else { 0 };
        let fits = self.start.len() == start && self.xs.len() == self.ys.len() * self.dim;
        let mut numbers = [self.network.params(), &self.start, &self.xs, &self.ys].into_iter().flatten();
        matrix && self.network.is_consistent() && fits && numbers.all(|x| in_limit(*x))
    }

    fn train(&mut self) {
        let data = train::Data { dim: self.dim, xs: &self.xs, ys: &self.ys };
        let Config { lambda, steps, rate, .. } = self.config;
        match self.config.update {
            Update::Authors => {
                let mut stream = self.key.round(self.ys.len() as u64).purpose(Purpose::Shuffle).stream();
                train::stochastic(
                    &mut self.network,
                    data,
                    rate.unwrap_or(0.01),
                    lambda,
                    steps,
                    &mut stream,
                    &mut self.work,
                );
            }
            Update::Zhou => {
                let m = self.network.shape().width as f64;
                let rate = rate.unwrap_or(1.0 / (m * (lambda + 2.0 * self.ys.len() as f64)));
                train::towards_start(&mut self.network, &self.start, data, rate, m * lambda, steps, &mut self.work);
            }
        }
        if !self.network.params().iter().all(|p| in_limit(*p)) {
            // Training that blew up (rewards or actions too large for the learning rate) starts over rather than poison every later round.
            self.blown_up += 1;
            let mut stream = self.key.purpose(Purpose::Start).stream();
            self.network = match self.config.update {
                Update::Authors => Network::uniform_start(self.network.shape(), &mut stream),
                Update::Zhou => Network::symmetric_start(self.network.shape(), &mut stream),
            };
        }
    }

    /// Scores straight from the definition: the gradient of every arm, and its norm.
    fn score_plain(&self, rows: Rows<'_>, scratch: &mut Scratch) {
        let radius = self.config.scale * self.gradient_scale();
        let Scratch { scores, numbers: gradient, .. } = scratch;
        gradient.clear();
        gradient.resize(self.network.size(), 0.0);
        scores.extend(rows.iter().map(|x| {
            let mean = self.network.gradient(x, gradient);
            let squared: f64 = match &self.matrix {
                Matrix::Diagonal(diagonal) => gradient.iter().zip(diagonal).map(|(g, u)| g * g / u).sum(),
                Matrix::Full(ellipsoid) => ellipsoid.squared_width(gradient),
            };
            Score { mean, width: radius * squared.sqrt() }
        }));
    }

    /// The same for a diagonal matrix, without forming gradients.
    fn score_diagonal(&self, diagonal: &[f64], rows: Rows<'_>, scratch: &mut Scratch) {
        let width = self.network.shape().width;
        let Scratch { scores, numbers: inverse, .. } = scratch;
        inverse.clear();
        inverse.extend(diagonal.iter().map(|u| 1.0 / u));
        let first = self.dim * width;
        // Without a trained second layer its weights are ones, and they have no gradient.
        let bias_inverse = inverse.get(first + width).copied().unwrap_or(0.0);
        let fixed = inverse.len() == first;
        inverse.resize(first + width, 0.0);
        let ones = inverse.len();
        if fixed {
            inverse.resize(ones + width, 1.0);
        }
        let (first, second, bias) = self.network.layers(&inverse[ones..]);
        let scores_of = DiagonalScores {
            width,
            first,
            second,
            first_inverse: &inverse[..self.dim * width],
            second_inverse: &inverse[self.dim * width..ones],
            bias,
            bias_inverse,
            radius: self.config.scale * self.gradient_scale(),
        };
        scores_of.compute(rows, scores);
    }

    /// What divides a gradient before it enters the matrix: √m under `zhou`, 1 otherwise.
    fn gradient_scale(&self) -> f64 {
        match self.config.update {
            Update::Authors => 1.0,
            Update::Zhou => 1.0 / (self.network.shape().width as f64).sqrt(),
        }
    }
}

fn shape(dim: usize, params: &Params, update: Update) -> Result<Shape> {
    let preset = params.word("preset")?;
    let neurons = || {
        let expected = format!("preset {preset} needs the number of neurons k of the true network");
        params.size("neurons").map_err(|_| Error::Missing { name: "neurons of neural-ucb".to_owned(), expected })
    };
    let default = match preset {
        "T" => neurons()?,
        "TW" => 2 * neurons()?,
        _ => F_WIDTH,
    };
    let width = if params.get("width").is_some() { params.size("width")? } else { default };
    let two_layers = preset == "F";
    let doubled = two_layers && update == Update::Zhou;
    if doubled && !width.is_multiple_of(2) {
        return Err(Error::out_of_range("width", width, "an even number, for a symmetric start"));
    }
    Ok(Shape { dim, width, two_layers, doubled })
}

impl Policy for NeuralUcb {
    fn name(&self) -> &'static str {
        ENTRY.name
    }

    fn dim(&self) -> usize {
        self.dim
    }

    fn select<'a>(&self, offer: Offer<'a>, _: Key, scratch: &mut Scratch) -> Result<Choice<'a>> {
        offer.expect_dim(self.dim)?;
        select_optimistic(self, offer.rows(ENTRY.name)?, scratch)
    }

    fn learn(&mut self, action: Action<'_>, reward: f64) -> Result<()> {
        let action = check_observation(ENTRY.name, self.dim, action, reward)?;
        let scale = self.gradient_scale();
        let gradient = &mut self.work.gradient;
        gradient.resize(self.network.size(), 0.0);
        self.network.gradient(action, gradient);
        gradient.iter_mut().for_each(|g| *g *= scale);
        match &mut self.matrix {
            Matrix::Diagonal(diagonal) => {
                diagonal.iter_mut().zip(gradient).for_each(|(u, g)| *u = (*u + *g * *g).min(f64::MAX))
            }
            Matrix::Full(ellipsoid) => ellipsoid.update(gradient, 0.0),
        }
        self.xs.extend_from_slice(action);
        self.ys.push(reward);
        self.train();
        Ok(())
    }

    fn score(&self, offer: Offer<'_>, scratch: &mut Scratch) -> Result<()> {
        offer.expect_dim(self.dim)?;
        let rows = offer.rows(ENTRY.name)?;
        scratch.scores.clear();
        match &self.matrix {
            Matrix::Diagonal(diagonal) if !self.network.shape().doubled => self.score_diagonal(diagonal, rows, scratch),
            _ => self.score_plain(rows, scratch),
        }
        Ok(())
    }

    fn explanation(&self, action: Action<'_>) -> Result<Explanation> {
        let warning = (self.blown_up > 0).then(|| {
            let (times, rounds) = (self.blown_up, self.ys.len());
            format!(
                "training blew up in {times} of {rounds} rounds and started over: rewards or actions are too large for the learning rate; \
                 divide them, or give a smaller rate"
            )
        });
        Ok(Explanation { warning, ..explain_by_score(self, check_vector(ENTRY.name, self.dim, action)?)? })
    }

    fn snapshot(&self) -> Result<Snapshot> {
        Snapshot::of(ENTRY.name, self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::params::Settings;
    use crate::rng::unit_vector;

    #[test]
    fn what_is_too_large_for_the_learning_rate_is_reported() {
        for update in ["authors", "zhou"] {
            let given = Settings::new().with("update", update);
            let params = Params::resolve("neural-ucb", ENTRY.params, &given).unwrap();
            let warning = |size: f64| {
                let mut policy = NeuralUcb::new(2, &params, Key::new(1)).unwrap();
                for angle in 0..20 {
                    let x = [libm::cos(f64::from(angle)), libm::sin(f64::from(angle))];
                    policy.learn((&x).into(), size * x[0].max(0.0)).unwrap();
                }
                policy.explanation((&[1.0, 0.0]).into()).unwrap().warning
            };
            assert_eq!(warning(1.0), None);
            assert!(warning(1e6).unwrap().contains("rewards or actions are too large for the learning rate"));
        }
    }

    #[test]
    fn the_diagonal_kernel_scores_like_the_definition() {
        for preset in ["F", "T", "TW"] {
            let given = Settings::new().with("preset", preset).with("neurons", 3u64);
            let params = Params::resolve("neural-ucb", ENTRY.params, &given).unwrap();
            let mut policy = NeuralUcb::new(3, &params, Key::new(1)).unwrap();
            let mut stream = Key::new(2).stream();
            let mut arms = vec![0.0; 3 * 50];
            for round in 0..20 {
                arms.chunks_exact_mut(3).for_each(|row| unit_vector(&mut stream, row));
                let rows = Rows::new(3, &arms).unwrap();
                let (mut fast, mut plain) = (Scratch::default(), Scratch::default());
                policy.score(rows.into(), &mut fast).unwrap();
                policy.score_plain(rows, &mut plain);
                for (a, b) in fast.scores.iter().zip(&plain.scores) {
                    assert!(
                        (a.mean - b.mean).abs() < 1e-12 && (a.width - b.width).abs() < 1e-12,
                        "{preset}: {a:?} {b:?}"
                    );
                }
                policy.learn(rows.get(round).into(), 0.3 * round as f64).unwrap();
            }
        }
    }
}
