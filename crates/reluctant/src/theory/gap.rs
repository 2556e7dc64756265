//! The gap ν* = minᵢ |θᵢ*·x*| of the best action (Definition 4.1, Proposition 4.2), from below.

/// 1/(2f*): no network of unit neurons with a second layer of ones has a smaller gap at a best action of value f*.
///
/// Proposition 4.2 (`prop:optimalactiongap`) says only that ν* > 0. This says how much, and is sharp: three neurons at
/// 120° in the plane have f* = 1 and ν* = 1/2. No other assumption is needed; α₀ may be zero, and the best action need
/// not be unique.
///
/// *Proof.* f is the support function of the zonotope Z = Σᵢ[0, θᵢ]: f(x) = max over z in Z of z·x. So f* = max over Z
/// of ‖z‖. Let z* = Σ θᵢ over the neurons with θᵢ·x* > 0. Then z*·x* = f* ≥ ‖z*‖, so z* = f*·x*. For such i, z* − θᵢ is
/// in Z, so ‖z* − θᵢ‖ ≤ f* = ‖z*‖, which is 2θᵢ·z* ≥ ‖θᵢ‖² = 1, that is θᵢ·x* ≥ 1/(2f*). For every other i, z* + θᵢ is
/// in Z, and in the same way θᵢ·x* ≤ −1/(2f*). ∎
pub fn gap_at_value(f_star: f64) -> f64 {
    0.5 / f_star
}

/// 1/(2k): the gap of every network with k unit neurons and a second layer of ones is at least this, since f* ≤ k.
///
/// So the gap need not be guessed: Algorithm 1 with ν = 1/(2k) is safe, and Algorithm 2 is needed only to profit from a
/// larger gap.
pub fn gap_floor(neurons: usize) -> f64 {
    gap_at_value(neurons as f64)
}

/// (1 − a)(1 − b²)/(2‖s*‖): no network of leaky units of slope 0 ≤ a < 1, unit neurons with biases |bᵢ| ≤ b < 1 and a
/// second layer of ones has a smaller gap minᵢ |θᵢ·x* + bᵢ|. s* is the slope of f at x*: without biases ‖s*‖ = f*, and
/// always ‖s*‖ ≤ k.
///
/// *Proof.* g(z) = max(az, z), so everywhere f is at least the affine function c_A + s_A·x that it is where the units
/// of A are active: s_A = Σ_A θᵢ + a·Σ_rest θᵢ, and c_A the same of the biases. So f* ≥ c_A + ‖s_A‖ for every A. With
/// the units A* that are active at x*, f* = c* + s*·x* ≤ c* + ‖s*‖; so f* = c* + ‖s*‖ and s* = ‖s*‖·x*. Let e = 1 − a
/// and zᵢ = θᵢ·x* + bᵢ. Switching off a unit i of A* gives c* − ebᵢ + ‖s* − eθᵢ‖ ≤ f* = c* + ‖s*‖. Squared, e² −
/// 2eθᵢ·s* ≤ 2e‖s*‖bᵢ + e²bᵢ², that is 2‖s*‖zᵢ ≥ e(1 − bᵢ²). Switching on another unit gives −2‖s*‖zᵢ ≥ e(1 − bᵢ²) in
/// the same way. In particular s* is not 0. ∎
///
/// For |z|, a = −1, the proof holds as it stands: ν* ≥ 1/f* ≥ 1/k without biases.
pub fn leaky_gap(slope: f64, bias: f64, size: f64) -> f64 {
    (1.0 - slope) * (1.0 - bias * bias) / (2.0 * size)
}
