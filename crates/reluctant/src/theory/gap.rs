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
