//! A network with a head an action, linear in its gradients around what it has learnt.
//!
//! The mean of action a at x is fₐ(x), the spread √(gₐᵀU⁻¹gₐ) with the gradient gₐ = ∂fₐ/∂(all parameters) and the matrix
//! U = λI + Σgₐgₐᵀ of past gradients, whole or its diagonal. gₐ lives in the hidden layer, which all actions share, and in the action's
//! own head; so what is learnt of one action makes the others' common part less unsure.

use serde::{Deserialize, Serialize};

use super::heads::{Asked, Heads};
use super::{check_features, state};
use crate::choice::Score;
use crate::ellipsoid::Ellipsoid;
use crate::error::{Error, Result};
use crate::linalg::axpy;
use crate::network::{Inputs, Trained};
use crate::params::Params;
use crate::rng::{Key, Purpose, normal};
use crate::scratch::Scratch;

/// The network, and the gradients of past choices.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct GradientHeads {
    trained: Trained,
    lambda: f64,
    matrix: Matrix,
    #[serde(skip)]
    work: Work,
}

/// U.
#[derive(Debug, Clone, Serialize, Deserialize)]
enum Matrix {
    Diagonal(Vec<f64>),
    Full(Ellipsoid),
}

/// Memory to learn with.
#[derive(Debug, Clone, Default)]
struct Work {
    scaled: Vec<f64>,
    hidden: Vec<f64>,
    gradient: Vec<f64>,
}

impl GradientHeads {
    /// Reads `lambda`, `matrix` and the settings of the network.
    pub(crate) fn read(dim: usize, params: &Params, key: Key) -> Result<Self> {
        let trained = Trained::read(dim, Inputs::Contexts, params, key)?;
        let (lambda, size) = (params.real("lambda")?, trained.net().trunk_size());
        let matrix = match params.word("matrix")? {
            "full" => {
                check(size)?;
                Matrix::Full(Ellipsoid::ridge(size, lambda))
            }
            _ => Matrix::Diagonal(vec![lambda; size]),
        };
        Ok(GradientHeads { trained, lambda, matrix, work: Work::default() })
    }

    /// The belief that was saved, if its parts fit together.
    pub(crate) fn restore(state: serde_json::Value) -> Result<Self> {
        let belief: Self =
            serde_json::from_value(state).map_err(|cause| Error::Snapshot { reason: cause.to_string() })?;
        let size = belief.trained.net().head_start(belief.trained.heads());
        let fits = match &belief.matrix {
            Matrix::Diagonal(diagonal) => diagonal.len() == size && diagonal.iter().all(|u| *u > 0.0 && u.is_finite()),
            Matrix::Full(ellipsoid) => ellipsoid.dim() == size,
        };
        if fits && belief.lambda > 0.0 && belief.trained.is_consistent() {
            return Ok(belief);
        }
        Err(Error::Snapshot { reason: "its parts do not fit".to_owned() })
    }

    /// Mean, and gᵀU⁻¹g, of every action at a scaled x with its hidden units; `each` of them is told.
    fn moments(&self, actions: Asked<'_>, scratch: &mut Scratch, mut each: impl FnMut(&str, f64, f64, &mut Scratch)) {
        let width = self.trained.net().width();
        let (scaled, hidden) = (std::mem::take(&mut scratch.drawn), std::mem::take(&mut scratch.phi));
        let mut common = std::mem::take(&mut scratch.joined);
        self.common(&scaled, &mut common);
        for (name, head) in actions.iter() {
            let (mean, squared) = match (head, &self.matrix) {
                (None, _) => (0.0, hidden.iter().map(|h| h * h).sum::<f64>() / self.lambda),
                (Some(head), Matrix::Diagonal(diagonal)) => {
                    let (net, start) = (self.trained.net(), self.trained.net().head_start(head));
                    let own = hidden.iter().zip(&diagonal[start..]).map(|(h, u)| h * h / u).sum::<f64>();
                    let weights = net.head(head)[..width].iter().zip(&hidden).zip(&common);
                    let shared = weights.map(|((v, h), c)| if *h > 0.0 { v * v * c } else { 0.0 }).sum::<f64>();
                    (net.value(head, &hidden), shared + own)
                }
                (Some(head), Matrix::Full(ellipsoid)) => {
                    self.gradient(head, &scaled, &hidden, &mut common);
                    (self.trained.net().value(head, &hidden), ellipsoid.squared_width(&common))
                }
            };
            each(name, mean, squared, scratch);
        }
        (scratch.drawn, scratch.phi, scratch.joined) = (scaled, hidden, common);
    }

    /// For each hidden unit Σⱼ xⱼ²/Uⱼᵢ, the bias's among them: what the hidden layer adds to the spread of every action, up to the
    /// squared weight of the unit. Nothing for a full matrix.
    fn common(&self, scaled: &[f64], common: &mut Vec<f64>) {
        let Matrix::Diagonal(diagonal) = &self.matrix else { return };
        let width = self.trained.net().width();
        common.clear();
        common.resize(width, 0.0);
        for (row, x) in diagonal.chunks_exact(width).zip(scaled.iter().copied().chain([1.0])) {
            common.iter_mut().zip(row).for_each(|(c, u)| *c += x * x / u);
        }
    }

    /// The gradient of an action's value, into `gradient`.
    fn gradient(&self, head: usize, scaled: &[f64], hidden: &[f64], gradient: &mut Vec<f64>) {
        let net = self.trained.net();
        let (width, trunk, start) = (net.width(), net.trunk_size(), net.head_start(head));
        gradient.clear();
        gradient.resize(net.head_start(self.trained.heads()), 0.0);
        gradient[start..start + width + 1].copy_from_slice(&hidden[..=width]);
        let slopes: Vec<f64> =
            net.head(head)[..width].iter().zip(hidden).map(|(v, h)| if *h > 0.0 { *v } else { 0.0 }).collect();
        for (row, x) in gradient[..trunk].chunks_exact_mut(width).zip(scaled.iter().copied().chain([1.0])) {
            axpy(x, &slopes, row);
        }
    }
}

/// An error unless a matrix of so many parameters fits in memory.
fn check(size: usize) -> Result<()> {
    check_features(size, "parameters of the network and its heads; a diagonal matrix can have more")
}

impl Heads for GradientHeads {
    fn kind(&self) -> &'static str {
        "network gradients"
    }

    fn dim(&self) -> usize {
        self.trained.dim()
    }

    fn count(&self) -> usize {
        self.trained.heads()
    }

    fn add(&mut self, _: &str) -> Result<()> {
        let more = self.trained.net().width() + 1;
        match &mut self.matrix {
            Matrix::Diagonal(diagonal) => diagonal.resize(diagonal.len() + more, self.lambda),
            Matrix::Full(ellipsoid) => {
                check(ellipsoid.dim() + more)?;
                *ellipsoid = ellipsoid.with_more_features(more, self.lambda);
            }
        }
        self.trained.add_head();
        Ok(())
    }

    fn learn(&mut self, head: usize, x: &[f64], y: f64) {
        let mut work = std::mem::take(&mut self.work);
        self.trained.features(x, &mut work.scaled, &mut work.hidden);
        self.gradient(head, &work.scaled, &work.hidden, &mut work.gradient);
        match &mut self.matrix {
            Matrix::Diagonal(diagonal) => {
                diagonal.iter_mut().zip(&work.gradient).for_each(|(u, g)| *u = (*u + *g * *g).min(f64::MAX));
            }
            Matrix::Full(ellipsoid) => ellipsoid.update(&work.gradient, 0.0),
        }
        self.work = work;
        self.trained.observe(head, x, y);
    }

    fn predict(&self, x: &[f64], actions: Asked<'_>, scale: f64, scratch: &mut Scratch) {
        let rewards = self.trained.rewards();
        scratch.scores.clear();
        self.trained.features(x, &mut scratch.drawn, &mut scratch.phi);
        self.moments(actions, scratch, |_, mean, squared, scratch| {
            let width = scale * rewards.size * squared.sqrt();
            scratch.scores.push(Score { mean: rewards.centre + rewards.size * mean, width });
        });
    }

    fn draw(&self, x: &[f64], actions: Asked<'_>, scale: f64, key: Key, scratch: &mut Scratch) {
        let rewards = self.trained.rewards();
        scratch.numbers.clear();
        self.trained.features(x, &mut scratch.drawn, &mut scratch.phi);
        self.moments(actions, scratch, |name, mean, squared, scratch| {
            let normal = normal(&mut key.branch(name).purpose(Purpose::Choice).stream());
            scratch.numbers.push(rewards.centre + rewards.size * (mean + scale * squared.sqrt() * normal));
        });
    }

    fn warning(&self) -> Option<String> {
        self.trained.warning()
    }

    fn save(&self) -> Result<serde_json::Value> {
        state(self)
    }
}
