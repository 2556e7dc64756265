//! Which neurons point the wrong way.
//!
//! max(0, −z) = max(0, z) − z, so turning neuron θᵢ around changes a network by the linear function −θᵢ·x. A network with a
//! free linear term w·x therefore does not see its neurons' signs: they cannot trap it. Once it fits, the signs follow from
//! w: turning the neurons of a set A around explains −Σ_A θᵢ of it, and the best set is the one that leaves least.

/// The most neurons for which every subset is tried.
const EXHAUSTIVE: usize = 12;

/// The subset A, as flags, that minimises ‖w + Σ_A θᵢ‖² in the metric Σxxᵀ, where `gram` (k × k) holds the inner products of
/// the neurons and `towards` those of each neuron with w.
///
/// Up to 12 neurons every subset is tried, each a single change away from the one before (a Gray code). Beyond, changes of
/// one or two neurons are made as long as they help; a start for which that fails is one of several.
pub(super) fn wrong_way(gram: &[f64], towards: &[f64]) -> Vec<bool> {
    let k = towards.len();
    let mut chosen = vec![false; k];
    // pull[i] = (w + Σ_A θⱼ)·θᵢ.
    let mut pull = towards.to_vec();
    let mut change = |i: usize, chosen: &mut [bool]| -> f64 {
        let sign = if chosen[i] { -1.0 } else { 1.0 };
        let gain = 2.0 * sign * pull[i] + gram[i * k + i];
        chosen[i] = !chosen[i];
        for (p, g) in pull.iter_mut().zip(&gram[i * k..(i + 1) * k]) {
            *p += sign * g;
        }
        gain
    };
    if k <= EXHAUSTIVE {
        let (mut value, mut least) = (0.0, 0.0);
        let mut best = chosen.clone();
        for step in 1..1u32 << k {
            value += change(step.trailing_zeros() as usize, &mut chosen);
            if value < least {
                least = value;
                best.copy_from_slice(&chosen);
            }
        }
        return best;
    }
    // Every accepted change lowers a quadratic over finitely many points; the bound only guards against rounding.
    for _ in 0..64 * k {
        let mut improved = false;
        for i in 0..k {
            let gain = change(i, &mut chosen);
            if gain < 0.0 {
                improved = true;
                continue;
            }
            let partner = (0..k).filter(|&j| j != i).find(|&j| {
                let both = gain + change(j, &mut chosen);
                if both < -1e-12 * gram[i * k + i] {
                    return true;
                }
                change(j, &mut chosen);
                false
            });
            if partner.is_some() {
                improved = true;
            } else {
                change(i, &mut chosen);
            }
        }
        if !improved {
            break;
        }
    }
    chosen
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linalg::dot;
    use crate::relu::ReluNet;
    use crate::rng::{Key, uniform};

    #[test]
    fn a_planted_subset_is_found() {
        for (d, k) in [(2, 3), (5, 5), (10, 10), (20, 10), (20, 12), (30, 20)] {
            for seed in 0..20 {
                let mut stream = Key::new(seed).stream();
                let net = ReluNet::random(d, k, &mut stream);
                let planted: Vec<bool> = (0..k).map(|_| uniform(&mut stream) < 0.5).collect();
                let mut w = vec![0.0; d];
                for (theta, _) in net.iter().zip(&planted).filter(|(_, p)| **p) {
                    w.iter_mut().zip(theta).for_each(|(w, t)| *w -= t);
                }
                let gram: Vec<f64> = net.iter().flat_map(|a| net.iter().map(|b| dot(a, b))).collect();
                let towards: Vec<f64> = net.iter().map(|a| dot(a, &w)).collect();
                assert_eq!(wrong_way(&gram, &towards), planted, "d = {d}, k = {k}, seed = {seed}");
            }
        }
    }
}
