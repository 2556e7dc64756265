//! The last stage of `plausible`: one network, whose activations are frozen, and ridge regression in its features.

use serde::{Deserialize, Serialize};

use super::constants::{FROZEN_HOPE, FROZEN_WIDTH, PROBE_SURPRISED, SURPRISED, WATCH};
use crate::ellipsoid::Confidence;
use crate::frozen::FrozenRelu;
use crate::policy::sphere::RegionCache;

/// A frozen network, and whether it still explains the rewards.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Frozen {
    pub(super) regime: FrozenRelu,
    #[serde(skip)]
    pub(super) region: RegionCache,
    /// The recent mean of (residual/σ)².
    surprise: f64,
    sigma: f64,
}

impl Frozen {
    pub(super) fn new(regime: FrozenRelu, sigma: f64) -> Self {
        Frozen { regime, region: RegionCache::default(), surprise: 1.0, sigma }
    }

    /// The width of an arm for each of its standard deviations relative to the noise.
    pub(super) fn measured_radius(&self, check: bool) -> f64 {
        let width = if check { FROZEN_HOPE } else { FROZEN_WIDTH };
        width * self.sigma
    }

    /// The same as the theorem has it, with S = √(5k), the norm of the paper's Θ̃ for neurons of length 1.
    pub(super) fn theorem_radius(&self, lambda: f64, delta: f64) -> f64 {
        let neurons = self.regime.network().neurons() as f64;
        let confidence = Confidence { lambda, sigma: self.sigma, delta, norm_bound: (5.0 * neurons).sqrt() };
        confidence.radius(self.regime.ellipsoid().log_det_ratio())
    }

    /// Learns (x, y); false if the residuals are too large for a frozen network that is right. In a probe one is
    /// enough.
    pub(super) fn learn(&mut self, x: &[f64], y: f64, probe: bool) -> bool {
        if probe {
            // Where activations may be wrong, an observation would spoil what is known of elsewhere.
            let miss = (y - self.regime.mean(x)) / self.sigma;
            return miss.abs() < PROBE_SURPRISED;
        }
        let miss = (y - self.regime.predict_and_update(x, y)) / self.sigma;
        // A single outlier is no reason to doubt the network.
        self.surprise += ((miss * miss).min(WATCH / 4.0) - self.surprise) / WATCH;
        self.surprise < SURPRISED
    }

    pub(super) fn is_consistent(&self, dim: usize) -> bool {
        self.regime.is_consistent() && self.regime.network().dim() == dim && self.sigma.is_finite()
    }
}
