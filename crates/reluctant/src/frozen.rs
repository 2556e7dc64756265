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
        let d = rows.dim();
        let stride = d + d * d;
        let Scratch { scores, numbers: models, words, table } = scratch;
        words.clear();
        patterns(&self.network, rows, words);
        table.clear(rows.len());
        models.clear();
        scores.clear();
        for (x, &pattern) in rows.iter().zip(words.iter()) {
            let slot = table.find_or_insert(pattern);
            if slot * stride == models.len() {
                models.resize((slot + 1) * stride, 0.0);
                self.local_model(pattern, &mut models[slot * stride..]);
            }
            let (theta, m) = models[slot * stride..][..stride].split_at(d);
            scores.push(linear_score_reference(theta, m, radius, x));
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
