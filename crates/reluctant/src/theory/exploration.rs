//! How long Algorithm 1 must explore: ζ (Lemma B.3), Theorem 3.2 and t₀(ν) (Appendix D).

use std::f64::consts::PI;

/// What the statements about estimation depend on.
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

/// ζ = √( 4096·k²·(k∨σ)²/n · (dk·max{1, log(1 + √(n/dk))} + log(4/δ)) ): how far the empirical loss of n samples can be from
/// the population's, uniformly over all networks.
pub fn zeta(setting: &Setting, n: f64) -> f64 {
    let k = setting.neurons as f64;
    let size = setting.dim as f64 * k;
    let scale = 4096.0 * k * k * k.max(setting.sigma).powi(2);
    let complexity = size * libm::log1p((n / size).sqrt()).max(1.0) + libm::log(4.0 / setting.delta);
    (scale / n * complexity).sqrt()
}

/// 727·π^(−1/4)·k·d^(1/4)·(2ζ)^(1/4), Theorem 3.2's bound on the error of each neuron up to sign, after n samples.
///
/// The theorem needs n so large that [`exploration_length`]'s second condition holds; before that this is only a number.
pub fn neuron_error_bound(setting: &Setting, n: f64) -> f64 {
    let (k, d) = (setting.neurons as f64, setting.dim as f64);
    727.0 * k * libm::pow(d / PI, 0.25) * libm::pow(2.0 * zeta(setting, n), 0.25)
}

/// t₀(ν): the smallest number of random samples after which Theorem 3.2 applies and puts every neuron within ν/2 of the
/// truth, up to sign (equation `eq:t0max`).
///
/// Two conditions: the bound is at most ν/2, and √(2ζ) ≤ min{1/(1152²·√(2π)·k²·d^(3/2)), α₀²·√π/(1454²·k²·√d)}. Both fall in n,
/// so bisection on log n finds where the later one begins to hold. The result is astronomically large, hence a real number.
pub fn exploration_length(setting: &Setting, nu: f64) -> f64 {
    let (k, d) = (setting.neurons as f64, setting.dim as f64);
    let small_strip = 1.0 / (1152.0f64.powi(2) * (2.0 * PI).sqrt() * k * k * d * d.sqrt());
    let apart = setting.alpha0.powi(2) * PI.sqrt() / (1454.0f64.powi(2) * k * k * d.sqrt());
    let enough = |log_n: f64| {
        let n = libm::exp(log_n);
        neuron_error_bound(setting, n) <= nu / 2.0 && (2.0 * zeta(setting, n)).sqrt() <= small_strip.min(apart)
    };
    // exp(700) is near the largest number there is; what needs more is infinite for every purpose.
    let (mut low, mut high) = (0.0, 700.0);
    if !enough(high) {
        return f64::INFINITY;
    }
    while high - low > 1e-13 * high {
        let middle = 0.5 * (low + high);
        if enough(middle) { high = middle } else { low = middle }
    }
    libm::exp(high)
}
