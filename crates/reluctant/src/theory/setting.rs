//! What the statements about estimation depend on.

/// The quantities that enter ζ, Theorem 3.2 and t₀.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Setting {
    /// d, the dimension of an action.
    pub dim: usize,
    /// k, the number of neurons.
    pub neurons: usize,
    /// The noise is σ-subgaussian.
    pub sigma: f64,
    /// The statements hold with probability 1 − δ.
    pub delta: f64,
    /// α₀, how far apart any two neurons are, up to sign (Assumption 2.2).
    pub alpha0: f64,
}

impl Setting {
    pub(super) fn d(&self) -> f64 {
        self.dim as f64
    }

    pub(super) fn k(&self) -> f64 {
        self.neurons as f64
    }

    /// log(k ∨ σ), which ζ and so every length of exploration depends on.
    pub(super) fn ln_scale(&self) -> f64 {
        libm::log(self.k().max(self.sigma))
    }

    /// The same setting with another probability of failure.
    pub(super) fn with_delta(self, delta: f64) -> Self {
        Setting { delta, ..self }
    }
}
