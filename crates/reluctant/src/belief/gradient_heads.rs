//! A network with a head an action, linear in its gradients around what it has learnt.
//!
//! The mean of action a at x is fₐ(x), the spread √(gₐᵀU⁻¹gₐ) with the gradient gₐ = ∂fₐ/∂(all parameters) and the
//! matrix U = λI + Σgₐgₐᵀ of past gradients, whole or its diagonal. gₐ lives in the hidden layer, which all actions
//! share, and in the action's own head; so what is learnt of one action makes the others' common part less unsure.

use serde::{Deserialize, Serialize};

use super::heads::{Asked, Heads};
use super::{check_features, contexts_lambda, state};
use crate::ellipsoid::Ellipsoid;
use crate::error::Result;
use crate::limits::in_limit;
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
    /// Rewards in a batch: network and matrix change at its end.
    #[serde(default = "one")]
    batch: usize,
    /// Heads and contexts of the batch so far.
    #[serde(default)]
    pending: Vec<(usize, Vec<f64>)>,
    #[serde(skip)]
    work: Work,
}

fn one() -> usize {
    1
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
    pub(crate) fn is_consistent(&self) -> bool {
        let size = self.trained.net().head_start(self.trained.heads());
        let fits = match &self.matrix {
            Matrix::Diagonal(diagonal) => diagonal.len() == size && diagonal.iter().all(|u| *u > 0.0 && u.is_finite()),
            Matrix::Full(ellipsoid) => ellipsoid.dim() == size,
        };
        let (heads, dim) = (self.trained.heads(), self.trained.dim());
        let is_sound =
            |(head, x): &(usize, Vec<f64>)| *head < heads && x.len() == dim && x.iter().all(|x| in_limit(*x));
        let waits = self.pending.len() < self.batch && self.pending.iter().all(is_sound);
        fits && waits && self.lambda > 0.0 && self.trained.is_consistent() && !self.trained.is_growing()
    }

    /// Reads `lambda`, `matrix`, `batch` and the settings of the network.
    pub(crate) fn read(dim: usize, params: &Params, key: Key) -> Result<Self> {
        let trained = Trained::read(dim, Inputs::Contexts, params, key)?;
        let (lambda, size) = (contexts_lambda(params)?, trained.net().trunk_size());
        let matrix = match params.word("matrix")? {
            "full" => {
                check(size)?;
                Matrix::Full(Ellipsoid::ridge(size, lambda))
            }
            _ => Matrix::Diagonal(vec![lambda; size]),
        };
        let batch = params.size("batch")?;
        Ok(GradientHeads { trained, lambda, matrix, batch, pending: Vec::new(), work: Work::default() })
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

    /// For each hidden unit Σⱼ xⱼ²/Uⱼᵢ, the bias's among them: what the hidden layer adds to the spread of every
    /// action, up to the squared weight of the unit. Nothing for a full matrix.
    fn common(&self, scaled: &[f64], common: &mut Vec<f64>) {
        let Matrix::Diagonal(diagonal) = &self.matrix else { return };
        let width = self.trained.net().width();
        common.clear();
        common.resize(width, 0.0);
        for (row, x) in diagonal.chunks_exact(width).zip(scaled.iter().copied().chain([1.0])) {
            common.iter_mut().zip(row).for_each(|(c, u)| *c += x * x / u);
        }
    }

    /// Lets the matrix know of a choice.
    fn count_gradient(&mut self, head: usize, x: &[f64]) {
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
    }

    /// The gradient of an action's value, into `gradient`.
    fn gradient(&self, head: usize, scaled: &[f64], hidden: &[f64], gradient: &mut Vec<f64>) {
        let net = self.trained.net();
        let (width, trunk, start) = (net.width(), net.trunk_size(), net.head_start(head));
        gradient.clear();
        gradient.resize(net.head_start(self.trained.heads()), 0.0);
        gradient[start..start + width + 1].copy_from_slice(&hidden[..=width]);
        // The biases come last, with the slopes themselves.
        let (weights, slopes) = gradient[..trunk].split_at_mut(trunk - width);
        for ((slope, v), h) in slopes.iter_mut().zip(net.head(head)).zip(hidden) {
            *slope = if *h > 0.0 { *v } else { 0.0 };
        }
        for (row, x) in weights.chunks_exact_mut(width).zip(scaled) {
            axpy(*x, slopes, row);
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

    fn describe(&self) -> String {
        "a network that all actions share, linear in its gradients, with a head for each".to_owned()
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
        self.trained.keep(head, x, y);
        if self.batch == 1 {
            self.count_gradient(head, x);
        } else {
            self.pending.push((head, x.to_vec()));
            if self.pending.len() < self.batch {
                return;
            }
            std::mem::take(&mut self.pending).iter().for_each(|(head, x)| self.count_gradient(*head, x));
        }
        self.trained.train_if_due();
    }

    fn predict(&self, x: &[f64], actions: Asked<'_>, scale: f64, scratch: &mut Scratch) {
        let rewards = self.trained.rewards();
        scratch.scores.clear();
        self.trained.features(x, &mut scratch.drawn, &mut scratch.phi);
        self.moments(actions, scratch, |_, mean, squared, scratch| {
            scratch.scores.push(rewards.score(mean, scale, squared.sqrt()));
        });
    }

    fn draw(&self, x: &[f64], actions: Asked<'_>, scale: f64, key: Key, scratch: &mut Scratch) {
        let rewards = self.trained.rewards();
        scratch.numbers.clear();
        self.trained.features(x, &mut scratch.drawn, &mut scratch.phi);
        self.moments(actions, scratch, |name, mean, squared, scratch| {
            let normal = normal(&mut key.branch(name).purpose(Purpose::Choice).stream());
            scratch.numbers.push(rewards.reward(mean + scale * squared.sqrt() * normal));
        });
    }

    fn warning(&self) -> Option<String> {
        self.trained.warning_of_training()
    }

    fn draws_normally(&self) -> bool {
        true
    }

    fn save(&self) -> Result<serde_json::Value> {
        state(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::belief::NETWORK_GRADIENTS;
    use crate::linalg::{Cholesky, dot};
    use crate::offer::Name;
    use crate::params::Settings;

    /// Mean and width of three actions, one of them new, against the gradient by finite differences and U from the
    /// definition.
    #[test]
    fn widths_are_those_of_the_definition() {
        for matrix in ["diagonal", "full"] {
            let given = Settings::new().with("matrix", matrix).with("width", 4u64).with("lambda", 0.3);
            let params = Params::resolve("toy", NETWORK_GRADIENTS, &given).unwrap();
            let mut belief = GradientHeads::read(2, &params, Key::new(1)).unwrap();
            let mut stream = Key::new(2).stream();
            // U grows with the heads; here it has room for all of them from the start.
            let size = belief.trained.net().head_start(2);
            let mut u = vec![0.0; size * size];
            (0..size).for_each(|i| u[i * size + i] = 0.3);
            for i in 0..30 {
                let head = i % 3 % 2;
                if head == belief.count() {
                    belief.add("action").unwrap();
                }
                let x = [normal(&mut stream), normal(&mut stream)];
                let (_, gradient) = by_differences(&belief, head, &x);
                for a in 0..gradient.len() {
                    for b in 0..gradient.len() {
                        if matrix == "full" || a == b {
                            u[a * size + b] += gradient[a] * gradient[b];
                        }
                    }
                }
                belief.learn(head, &x, x[0].abs() - x[1]);
            }
            let names = [Name::from("b"), Name::from("a"), Name::from("new")];
            let (x, mut scratch) = ([0.4, -0.9], Scratch::default());
            belief.predict(&x, Asked::new(&names, &[Some(1), Some(0), None]), 0.7, &mut scratch);
            let rewards = belief.trained.rewards();
            for (head, score) in [1, 0].into_iter().zip(scratch.scores()) {
                let (value, gradient) = by_differences(&belief, head, &x);
                let mut solved = gradient.clone();
                Cholesky::new(&mut u.clone(), size).unwrap().solve(&mut solved);
                let expected = rewards.score(value, 0.7, dot(&gradient, &solved).sqrt());
                let width = expected.width;
                assert!((score.mean - expected.mean).abs() < 1e-9);
                assert!((score.width / width - 1.0).abs() < 1e-5, "{matrix} {head}: {} {width}", score.width);
            }
            let (mut scaled, mut hidden) = (Vec::new(), Vec::new());
            belief.trained.features(&x, &mut scaled, &mut hidden);
            let fresh = rewards.score(0.0, 0.7, (dot(&hidden, &hidden) / 0.3).sqrt()).width;
            assert!((scratch.scores()[2].width / fresh - 1.0).abs() < 1e-12);
            assert_eq!(scratch.scores()[2].mean, rewards.reward(0.0));
        }
    }

    /// In batches of three nothing changes until the third reward; then the matrix is as if the network of before had
    /// seen each reward by itself. A state that was saved within a batch goes on to the bit.
    #[test]
    fn batches_change_nothing_until_they_are_full() {
        let made = |batch: u64| {
            let given = Settings::new().with("batch", batch).with("width", 4u64).with("growth", 1e-9);
            let params = Params::resolve("toy", NETWORK_GRADIENTS, &given).unwrap();
            let mut belief = GradientHeads::read(2, &params, Key::new(1)).unwrap();
            belief.add("a").unwrap();
            belief
        };
        let (mut one, mut three) = (made(1), made(3));
        let mut stream = Key::new(2).stream();
        let data: Vec<_> = (0..3).map(|_| ([normal(&mut stream), normal(&mut stream)], normal(&mut stream))).collect();
        let network = |belief: &GradientHeads| belief.save().unwrap()["trained"]["net"].clone();
        let (start, names) = (network(&three), [Name::from("a")]);
        let width = |belief: &GradientHeads| {
            let mut scratch = Scratch::default();
            belief.predict(&[0.4, -0.9], Asked::new(&names, &[Some(0)]), 1.0, &mut scratch);
            scratch.scores()[0].width
        };
        let before = width(&three);
        for (x, y) in &data[..2] {
            three.learn(0, x, *y);
            assert_eq!((network(&three), width(&three)), (start.clone(), before));
        }
        let mut restored: GradientHeads = serde_json::from_value(three.save().unwrap()).unwrap();
        assert!(restored.is_consistent());
        let mut expected = made(1);
        for (x, _) in &data {
            expected.count_gradient(0, x);
        }
        let (x, y) = data[2];
        three.learn(0, &x, y);
        restored.learn(0, &x, y);
        assert_eq!(three.save().unwrap(), restored.save().unwrap());
        assert_ne!(network(&three), start);
        let diagonal = |belief: &GradientHeads| belief.save().unwrap()["matrix"].clone();
        assert_eq!(diagonal(&three), diagonal(&expected));
        data.iter().for_each(|(x, y)| one.learn(0, x, *y));
        assert_ne!(diagonal(&three), diagonal(&one));
    }

    /// Value and gradient of a head at x, in scaled units.
    fn by_differences(belief: &GradientHeads, head: usize, x: &[f64]) -> (f64, Vec<f64>) {
        let (mut scaled, mut hidden) = (Vec::new(), Vec::new());
        belief.trained.features(x, &mut scaled, &mut hidden);
        let net = belief.trained.net();
        let value = |params: &[f64]| {
            let (width, start) = (net.width(), net.head_start(head));
            let mut value = params[start + width];
            for i in 0..width {
                let sum: f64 = (0..2).map(|j| params[j * width + i] * scaled[j]).sum::<f64>() + params[2 * width + i];
                value += params[start + i] * sum.max(0.0);
            }
            value
        };
        let state = belief.save().unwrap();
        let params: Vec<f64> = serde_json::from_value(state["trained"]["net"]["params"].clone()).unwrap();
        let moved = |p: usize, by: f64| {
            let mut params = params.clone();
            params[p] += by;
            value(&params)
        };
        (value(&params), (0..params.len()).map(|p| (moved(p, 1e-5) - moved(p, -1e-5)) / 2e-5).collect())
    }

    #[test]
    fn a_full_matrix_that_would_not_fit_is_refused() {
        let given = Settings::new().with("matrix", "full").with("width", 1000u64);
        let params = Params::resolve("toy", NETWORK_GRADIENTS, &given).unwrap();
        let mut belief = GradientHeads::read(2, &params, Key::new(1)).unwrap();
        let said = belief.add("a").unwrap_err().to_string();
        assert!(said.starts_with("the number of features = 4001 (parameters of the network and its heads"), "{said}");
        assert_eq!(belief.count(), 0);
    }
}
