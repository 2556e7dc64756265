//! The linear regime: a ReLU network whose activations are frozen at an estimate Θ̃.
//!
//! With 1ᵢ(x) = 1(θ̃ᵢ·x ≥ 0) fixed, the reward is linear in x‡ (equation `eq:model_sign`), sign mistakes of Θ̃ included, and ridge
//! regression with its confidence set applies. OFU-ReLU and OFU-ReLU+ both end here.
//!
//! Arms that share an activation pattern s share everything: in the compact features φ, the mean is θ_s·x and the squared width
//! xᵀM_s x, with θ_s = w₀ + Σ_{i∈s} wᵢ and M_s the sum of the d×d blocks of A⁻¹ over {0}∪s. So a round of n arms costs
//! O(nkd + patterns·k²d² + nd²), not O(n·(kd)²).

use serde::{Deserialize, Serialize};

use crate::arms::{Rows, Score};
use crate::ellipsoid::Ellipsoid;
use crate::kernels::{linear_score_reference, patterns};
use crate::linalg::axpy;
use crate::policy::Scratch;
use crate::relu::{Pattern, ReluNet, is_active, phi_prior};

/// Ridge regression on x‡ with the activations of a network frozen.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FrozenRelu {
    network: ReluNet,
    ellipsoid: Ellipsoid,
}

impl FrozenRelu {
    /// Freezes the activations of `network`; no data yet, penalty λ on x‡.
    pub fn new(network: ReluNet, lambda: f64) -> Self {
        let ellipsoid = phi_prior(network.neurons(), network.dim(), lambda);
        FrozenRelu { network, ellipsoid }
    }

    /// The same, with the penalty towards `network` itself instead of towards zero: for a network that is already nearly right.
    pub fn centred(network: ReluNet, lambda: f64) -> Self {
        let mut regime = Self::new(network, lambda);
        // φ = (x, 1₁x, …, 1ₖx), so the network's own weights are (0, s₁θ₁, …, sₖθₖ).
        let mut weights = vec![0.0; regime.network.dim()];
        for (theta, sign) in regime.network.iter().zip(regime.network.signs()) {
            weights.extend(theta.iter().map(|t| sign * t));
        }
        regime.ellipsoid.centre(&weights);
        regime
    }

    /// The prediction at x.
    pub fn mean(&self, x: &[f64]) -> f64 {
        let mut phi = vec![0.0; self.ellipsoid.dim()];
        self.network.phi(x, &mut phi);
        self.ellipsoid.mean(&phi)
    }

    /// Θ̃.
    pub fn network(&self) -> &ReluNet {
        &self.network
    }

    /// The regression on the compact features φ.
    pub fn ellipsoid(&self) -> &Ellipsoid {
        &self.ellipsoid
    }

    /// Whether the parts fit together, for a regime read from a file.
    pub(crate) fn is_consistent(&self) -> bool {
        self.ellipsoid.dim() == (self.network.neurons() + 1) * self.network.dim()
    }

    /// Absorbs the observation (x, y).
    pub fn update(&mut self, x: &[f64], y: f64) {
        let size = self.ellipsoid.dim();
        let mut stack = [0.0; 128];
        if size <= stack.len() {
            let phi = &mut stack[..size];
            self.network.phi(x, phi);
            self.ellipsoid.update(phi, y);
        } else {
            let mut phi = vec![0.0; size];
            self.network.phi(x, &mut phi);
            self.ellipsoid.update(&phi, y);
        }
    }

    /// The mean and `radius` times the width of every arm, into `scratch.scores`.
    pub fn score(&self, rows: Rows<'_>, radius: f64, scratch: &mut Scratch) {
        scratch.words.clear();
        patterns(&self.network, rows, &mut scratch.words);
        // Small dimensions, known to the compiler, need no loops.
        match rows.dim() {
            2 => self.score_by_pattern(rows, scratch, |model, x| fixed_score::<2>(model, radius, x)),
            3 => self.score_by_pattern(rows, scratch, |model, x| fixed_score::<3>(model, radius, x)),
            4 => self.score_by_pattern(rows, scratch, |model, x| fixed_score::<4>(model, radius, x)),
            5 => self.score_by_pattern(rows, scratch, |model, x| fixed_score::<5>(model, radius, x)),
            d => self.score_by_pattern(rows, scratch, |model, x| {
                let (theta, m) = model.split_at(d);
                linear_score_reference(theta, m, radius, x)
            }),
        }
    }

    /// Scores each arm by the local model of its pattern, in `scratch.words`.
    #[inline(always)]
    fn score_by_pattern(&self, rows: Rows<'_>, scratch: &mut Scratch, score: impl Fn(&[f64], &[f64]) -> Score) {
        let Scratch { scores, numbers: models, words, table, .. } = scratch;
        let stride = rows.dim() * (1 + rows.dim());
        table.clear(rows.len());
        models.clear();
        scores.clear();
        for (x, &pattern) in rows.iter().zip(words.iter()) {
            let slot = table.find_or_insert(pattern);
            if slot * stride == models.len() {
                models.resize((slot + 1) * stride, 0.0);
                self.local_model(pattern, &mut models[slot * stride..]);
            }
            scores.push(score(&models[slot * stride..][..stride], x));
        }
    }

    /// θ_s and M_s of a pattern, one after the other, added to the zeros in `out`.
    pub(crate) fn local_model(&self, pattern: Pattern, out: &mut [f64]) {
        let d = self.network.dim();
        let size = self.ellipsoid.dim();
        let active = |block: usize| block == 0 || is_active(pattern, block - 1);
        let (theta, m) = out.split_at_mut(d);
        for a in (0..size / d).filter(|&a| active(a)) {
            axpy(1.0, &self.ellipsoid.weights()[a * d..][..d], theta);
            for (row, target) in
                self.ellipsoid.covariance()[a * d * size..][..d * size].chunks_exact(size).zip(m.chunks_exact_mut(d))
            {
                for b in (0..size / d).filter(|&b| active(b)) {
                    axpy(1.0, &row[b * d..][..d], target);
                }
            }
        }
    }

    /// What [`FrozenRelu::score`] computes, straight from the definition with the paper's literal features: the reference.
    pub fn score_reference(literal: &Ellipsoid, network: &ReluNet, rows: Rows<'_>, radius: f64) -> Vec<Score> {
        let score = |x: &[f64]| {
            let features = network.x_ddagger(x);
            let width = radius * literal.squared_width(&features).sqrt();
            Score { mean: literal.mean(&features), width }
        };
        rows.iter().map(score).collect()
    }
}

/// [`linear_score_reference`] for a model (θ_s, M_s) in a dimension that the compiler knows.
#[inline(always)]
fn fixed_score<const D: usize>(model: &[f64], radius: f64, x: &[f64]) -> Score {
    let (theta, m) = model.split_at(D);
    let (mut mean, mut squared) = (0.0, 0.0);
    for i in 0..D {
        mean += theta[i] * x[i];
        let mut product = 0.0;
        for j in 0..D {
            product += m[i * D + j] * x[j];
        }
        squared += x[i] * product;
    }
    Score { mean, width: radius * squared.max(0.0).sqrt() }
}
