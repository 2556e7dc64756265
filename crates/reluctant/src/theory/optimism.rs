//! The regret of the optimistic stage: OFUL on the features x‡ (Theorem 3 of Abbasi-Yadkori et al. 2011, Appendix D).

/// What the optimistic stage depends on.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Stage {
    /// d, the dimension of an action.
    pub dim: usize,
    /// k, the number of neurons.
    pub neurons: usize,
    /// λ, the ridge penalty.
    pub lambda: f64,
    /// The noise is σ-subgaussian.
    pub sigma: f64,
    /// The bound holds with probability 1 − δ.
    pub delta: f64,
}

/// The bound as the paper cites it, with D = 2kd, S = √(5k) and features of norm 1:
///
/// 4·√(T·D·log(λ + T/D)) · (√λ·S + σ·√(2·log(1/δ) + D·log(1 + T/(λD)))).
///
/// The paper's C₃ is then at most 4√10. `None` where λ + T/D < 1 and the formula has no value. The theorem cited asks
/// for rewards in [−1, 1] and λ ≥ max(1, ‖x‡‖²), but rewards reach k and ‖x‡‖² reaches 5k/4: [`optimism_regret`] is a
/// bound that holds.
pub fn oful_stage_regret(stage: &Stage, horizon: f64) -> Option<f64> {
    let size = 2.0 * stage.neurons as f64 * stage.dim as f64;
    let norm = (5.0 * stage.neurons as f64).sqrt();
    let growth = libm::log(stage.lambda + horizon / size);
    let noise = -2.0 * libm::log(stage.delta) + size * libm::log1p(horizon / (stage.lambda * size));
    let radius = stage.lambda.sqrt() * norm + stage.sigma * noise.sqrt();
    (growth >= 0.0).then(|| 4.0 * horizon.sqrt() * (size * growth).sqrt() * radius)
}

/// A bound on the regret of T optimistic rounds that holds for the features x‡ and every λ > 0:
///
/// 2·max{β, k/2}·√(2·T·G),  G = (k+1)d·log(1 + T·L²/(λ(k+1)d)),  L² = 5k/4,  β = √λ·√(5k) + σ·√(2·log(1/δ) + G).
///
/// *Proof.* ‖x‡‖² = m + k/4 ≤ L² with m active neurons, and all x‡ lie in one space of dimension (k+1)d, so log(det
/// V/λ^D) ≤ G (arithmetic and geometric means of (k+1)d eigenvalues). While the confidence set holds θ‡, optimism gives
/// r ≤ 2βw with w the width, and r ≤ k since 0 ≤ f ≤ k; so r ≤ 2·max{β, k/2}·min{1, w}. Cauchy–Schwarz and Σ min{1, w²}
/// ≤ 2·log(det V/λ^D) give the claim. ∎
///
/// It needs every sample in V to be one on which the model is linear, that is in X(Θ̃, ν/2). Exploration samples are
/// not all so; see `docs/theory.md`.
pub fn optimism_regret(stage: &Stage, horizon: f64) -> f64 {
    let k = stage.neurons as f64;
    let rank = (k + 1.0) * stage.dim as f64;
    let growth = rank * libm::log1p(horizon * 1.25 * k / (stage.lambda * rank));
    let beta = (5.0 * k * stage.lambda).sqrt() + stage.sigma * (growth - 2.0 * libm::log(stage.delta)).sqrt();
    2.0 * beta.max(0.5 * k) * (2.0 * growth).sqrt() * horizon.sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    const STAGE: Stage = Stage { dim: 2, neurons: 3, lambda: 1.0, sigma: 0.1, delta: 0.01 };

    #[test]
    fn both_grow_like_the_root_of_the_horizon() {
        for (small, large) in [
            (oful_stage_regret(&STAGE, 1e8).unwrap(), oful_stage_regret(&STAGE, 1e10).unwrap()),
            (optimism_regret(&STAGE, 1e8), optimism_regret(&STAGE, 1e10)),
        ] {
            assert!((10.0..15.0).contains(&(large / small)));
        }
    }

    /// Without noise and penalty the cited form goes to zero, but some regret must be paid to learn; ours does not.
    #[test]
    fn the_cited_form_is_too_small_for_a_small_penalty() {
        let free = Stage { lambda: 1e-12, sigma: 0.0, ..STAGE };
        assert!(oful_stage_regret(&free, 1000.0).unwrap() < 0.01);
        assert!(optimism_regret(&free, 1000.0) > 1000.0);
        assert_eq!(oful_stage_regret(&Stage { lambda: 0.1, ..STAGE }, 5.0), None);
    }
}
