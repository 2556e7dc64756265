//! Which neurons point the wrong way.
//!
//! max(0, −z) = max(0, z) − z, so turning neuron θᵢ around changes a network by the linear function −θᵢ·x. A
//! network with a free linear term w·x therefore does not see its neurons' signs: they cannot trap it. Once it
//! fits, the signs follow from w: turning the neurons of a set A around explains −Σ_A θᵢ of it, and the best set
//! is the one that leaves least.

/// The most neurons for which every subset is tried.
const EXHAUSTIVE: usize = 12;

/// Beyond that, local searches from so many different subsets.
const SEARCHES: u64 = 16;

/// The subset A, as flags, that minimises ‖w + Σ_A θᵢ‖² in the metric Σxxᵀ, where `gram` (k × k) holds the inner
/// products of the neurons and `towards` those of each neuron with w.
///
/// Up to 12 neurons every subset is tried, each a single change away from the one before (a Gray code).
/// Beyond, several local searches make changes of one or two neurons as long as they help; a start for
/// which they fail is one of several.
pub(super) fn wrong_way(gram: &[f64], towards: &[f64]) -> Vec<bool> {
    let k = towards.len();
    let mut subset = Subset { gram, chosen: vec![false; k], pull: towards.to_vec(), value: 0.0 };
    let mut best = subset.clone();
    if k <= EXHAUSTIVE {
        for step in 1..1u32 << k {
            subset.change(step.trailing_zeros() as usize);
            if subset.value < best.value {
                best.clone_from(&subset);
            }
        }
        return best.chosen;
    }
    for search in 0..SEARCHES {
        // The first search starts from the empty set, the others from fixed scattered ones.
        let start = search.wrapping_mul(0x9E37_79B9_7F4A_7C15);
        for i in 0..k {
            if subset.chosen[i] != (start.rotate_left(i as u32) & 1 == 1) {
                subset.change(i);
            }
        }
        subset.descend();
        if subset.value < best.value {
            best.clone_from(&subset);
        }
    }
    best.chosen
}

/// A set A of neurons.
#[derive(Clone)]
struct Subset<'a> {
    gram: &'a [f64],
    chosen: Vec<bool>,
    /// pull[i] = (w + Σ_A θⱼ)·θᵢ.
    pull: Vec<f64>,
    /// ‖w + Σ_A θᵢ‖² − ‖w‖².
    value: f64,
}

impl Subset<'_> {
    /// Puts neuron i in or takes it out.
    fn change(&mut self, i: usize) {
        let k = self.chosen.len();
        let sign = if self.chosen[i] { -1.0 } else { 1.0 };
        self.value += 2.0 * sign * self.pull[i] + self.gram[i * k + i];
        self.chosen[i] = !self.chosen[i];
        for (p, g) in self.pull.iter_mut().zip(&self.gram[i * k..(i + 1) * k]) {
            *p += sign * g;
        }
    }

    /// Changes one or two neurons at a time as long as that helps.
    fn descend(&mut self) {
        let k = self.chosen.len();
        // Every accepted change lowers a quadratic over finitely many points; the bound only guards against rounding.
        for _ in 0..64 * k {
            let before = self.value;
            for i in 0..k {
                let value = self.value;
                self.change(i);
                if self.value >= value && !self.partner_for(i, value) {
                    self.change(i);
                }
            }
            if self.value >= before - 1e-12 * before.abs() {
                return;
            }
        }
    }

    /// Changes a second neuron such that the two changes together go below `value`; false if there is none.
    fn partner_for(&mut self, i: usize, value: f64) -> bool {
        let k = self.chosen.len();
        for j in (0..k).filter(|&j| j != i) {
            self.change(j);
            if self.value < value - 1e-12 * self.gram[i * k + i] {
                return true;
            }
            self.change(j);
        }
        false
    }
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
