//! Which neuron of an estimate is which neuron of the truth.
//!
//! A network does not change when its neurons change places, so an estimate is compared with the truth after the
//! bijection σ that minimises the *worst* neuron's error maxᵢ ‖θ̂_σ(i) − θ*ᵢ‖, as in Theorem `thm:key`. This is a
//! bottleneck assignment: the least threshold at which the graph of pairs with an error below it still has a perfect
//! matching, found exactly by a binary search over the k² errors with augmenting paths.

use serde::{Deserialize, Serialize};

use crate::action::check_dim;
use crate::error::Result;
use crate::linalg::norm;
use crate::relu::ReluNet;

/// Whether a neuron may be recovered up to its sign.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SignRule {
    /// The error of a pair is ‖a − b‖.
    Strict,
    /// The error of a pair is min(‖a − b‖, ‖a + b‖), as in the paper's Theorem `thm:key`.
    Free,
}

/// The best bijection between the neurons of an estimate and those of the truth.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Matching {
    /// True neuron i is estimated by neuron `permutation[i]` of the estimate.
    pub permutation: Vec<usize>,
    /// Whether true neuron i is met by the negative of its estimate; never under [`SignRule::Strict`].
    pub flipped: Vec<bool>,
    /// The error of true neuron i.
    pub errors: Vec<f64>,
    /// The greatest error.
    pub worst: f64,
}

/// Matches the neurons of `estimate` to those of `truth` so that the worst neuron's error is least.
///
/// With the worst pair settled the rest is matched by the same rule, so the second worst error is the least that the
/// first allows, and so on: each neuron finds its own estimate even if one of them has none.
///
/// Two neurons whose second-layer signs differ are ‖a‖ + ‖b‖ apart, the way through zero.
pub fn match_neurons(estimate: &ReluNet, truth: &ReluNet, signs: SignRule) -> Result<Matching> {
    check_dim("the estimated network", truth.dim(), estimate.dim())?;
    check_dim("the list of estimated neurons", truth.neurons(), estimate.neurons())?;
    let k = truth.neurons();
    let mut costs = Vec::with_capacity(k * k);
    let mut flips = Vec::with_capacity(k * k);
    for (b, sign_b) in truth.iter().zip(truth.signs()) {
        for (a, sign_a) in estimate.iter().zip(estimate.signs()) {
            let (cost, flip) = if sign_a == sign_b { distance(a, b, signs) } else { (norm(a) + norm(b), false) };
            costs.push(cost);
            flips.push(flip);
        }
    }
    let permutation = lexicographic_bottleneck(k, &costs);
    let pairs = || permutation.iter().enumerate().map(|(i, &j)| i * k + j);
    let errors: Vec<f64> = pairs().map(|at| costs[at]).collect();
    let flipped = pairs().map(|at| flips[at]).collect();
    let worst = errors.iter().copied().fold(0.0, f64::max);
    Ok(Matching { permutation, flipped, errors, worst })
}

fn distance(a: &[f64], b: &[f64], signs: SignRule) -> (f64, bool) {
    let apart = a.iter().zip(b).map(|(a, b)| (a - b) * (a - b)).sum::<f64>().sqrt();
    let mirrored = a.iter().zip(b).map(|(a, b)| (a + b) * (a + b)).sum::<f64>().sqrt();
    if signs == SignRule::Free && mirrored < apart { (mirrored, true) } else { (apart, false) }
}

/// The assignment of columns to rows whose errors, sorted from the worst, are least in lexicographic order.
///
/// A perfect matching at the least threshold contains a pair of exactly that error; fix it and solve what is left.
fn lexicographic_bottleneck(k: usize, costs: &[f64]) -> Vec<usize> {
    let mut thresholds = costs.to_vec();
    thresholds.sort_by(f64::total_cmp);
    let mut fixed: Vec<Option<usize>> = vec![None; k];
    loop {
        let (mut low, mut high) = (0, thresholds.len() - 1);
        let mut best = None;
        // The greatest threshold admits every pair, so `high` always succeeds.
        while low <= high {
            let middle = low + (high - low) / 2;
            match perfect_matching(k, costs, &fixed, thresholds[middle]) {
                Some(matching) => {
                    best = Some((thresholds[middle], matching));
                    if middle == 0 {
                        break;
                    }
                    high = middle - 1;
                }
                None => low = middle + 1,
            }
        }
        let Some((threshold, matching)) = best else { return (0..k).collect() };
        let worst = (0..k).find(|&i| fixed[i].is_none() && costs[i * k + matching[i]] >= threshold);
        match worst {
            Some(i) => fixed[i] = Some(matching[i]),
            None => return matching,
        }
    }
}

/// A perfect matching that keeps the fixed pairs and uses no other pair above `threshold` (Kuhn's augmenting paths).
fn perfect_matching(k: usize, costs: &[f64], fixed: &[Option<usize>], threshold: f64) -> Option<Vec<usize>> {
    let mut owner: Vec<Option<usize>> = vec![None; k];
    for (i, column) in fixed.iter().enumerate() {
        if let Some(j) = column {
            owner[*j] = Some(i);
        }
    }
    for i in (0..k).filter(|&i| fixed[i].is_none()) {
        // A fixed pair's column counts as visited, so no path can take it away.
        let mut visited = vec![false; k];
        fixed.iter().flatten().for_each(|&j| visited[j] = true);
        if !augment(i, k, costs, threshold, &mut visited, &mut owner) {
            return None;
        }
    }
    let mut matching = vec![0; k];
    for (j, i) in owner.iter().enumerate() {
        matching[(*i)?] = j;
    }
    Some(matching)
}

/// Depth at most k ≤ 64.
fn augment(
    i: usize,
    k: usize,
    costs: &[f64],
    threshold: f64,
    visited: &mut [bool],
    owner: &mut [Option<usize>],
) -> bool {
    for j in 0..k {
        if !visited[j] && costs[i * k + j] <= threshold {
            visited[j] = true;
            let free = match owner[j] {
                None => true,
                Some(other) => augment(other, k, costs, threshold, visited, owner),
            };
            if free {
                owner[j] = Some(i);
                return true;
            }
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Key;

    fn permutations(k: usize) -> Vec<Vec<usize>> {
        if k == 0 {
            return vec![vec![]];
        }
        let mut all = Vec::new();
        for shorter in permutations(k - 1) {
            for at in 0..k {
                let mut longer = shorter.clone();
                longer.insert(at, k - 1);
                all.push(longer);
            }
        }
        all
    }

    #[test]
    fn agrees_with_every_permutation_tried() {
        for k in 1..=6 {
            let all = permutations(k);
            for seed in 0..30 {
                let mut stream = Key::new(seed).stream();
                let (a, b) = (ReluNet::random(3, k, &mut stream), ReluNet::random(3, k, &mut stream));
                for rule in [SignRule::Strict, SignRule::Free] {
                    let found = match_neurons(&a, &b, rule).unwrap();
                    let sorted = |order: &[usize]| {
                        let mut errors: Vec<f64> =
                            (0..k).map(|i| distance(a.neuron(order[i]), b.neuron(i), rule).0).collect();
                        errors.sort_by(|x, y| y.total_cmp(x));
                        errors
                    };
                    let best = all.iter().map(|order| sorted(order)).min_by(|x, y| x.partial_cmp(y).unwrap()).unwrap();
                    assert_eq!(found.worst, best[0]);
                    assert_eq!(sorted(&found.permutation), best);
                    for i in 0..k {
                        let scale = if found.flipped[i] { -1.0 } else { 1.0 };
                        let a: Vec<f64> = a.neuron(found.permutation[i]).iter().map(|x| scale * x).collect();
                        assert_eq!(found.errors[i], distance(&a, b.neuron(i), SignRule::Strict).0);
                    }
                    assert!(rule == SignRule::Free || found.flipped.iter().all(|f| !f));
                }
            }
        }
    }

    #[test]
    fn a_shuffled_and_mirrored_network_is_recognised() {
        let k = 64;
        let truth = ReluNet::random(4, k, &mut Key::new(1).stream());
        let mut theta = Vec::new();
        for i in 0..k {
            let scale = if i % 3 == 0 { -1.0 } else { 1.0 };
            theta.extend(truth.neuron((i * 5 + 2) % k).iter().map(|x| scale * x));
        }
        let shuffled = ReluNet::new(4, theta).unwrap();
        let free = match_neurons(&shuffled, &truth, SignRule::Free).unwrap();
        assert_eq!(free.worst, 0.0);
        for i in 0..k {
            assert_eq!((free.permutation[i] * 5 + 2) % k, i);
            assert_eq!(free.flipped[i], free.permutation[i].is_multiple_of(3));
        }
        assert!(match_neurons(&shuffled, &truth, SignRule::Strict).unwrap().worst > 0.5);
    }

    #[test]
    fn equal_neurons_and_unequal_shapes() {
        let twins = ReluNet::new(2, vec![1.0, 0.0, 1.0, 0.0]).unwrap();
        assert_eq!(match_neurons(&twins, &twins, SignRule::Strict).unwrap().worst, 0.0);
        let negative = ReluNet::with_signs(2, vec![1.0, 0.0, 1.0, 0.0], vec![1.0, -1.0]).unwrap();
        assert_eq!(match_neurons(&negative, &twins, SignRule::Free).unwrap().worst, 2.0);
        let other = ReluNet::new(2, vec![1.0, 0.0]).unwrap();
        assert!(match_neurons(&other, &twins, SignRule::Strict).is_err());
    }
}
