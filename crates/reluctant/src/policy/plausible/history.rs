//! What was seen, in blocks of sixteen observations side by side, for the loops that refit networks.
//!
//! A full history is condensed to half of its budget: observations of nearly the same action become one. Networks without biases are
//! homogeneous, f(cx) = c·f(x) for c > 0, so a sum of observations with coefficients whose squares add up to one is again an observation
//! of unit noise, of the sum of the actions: a hundred of one action are one of a ten times longer action, and nothing else need know.

use std::cmp::Ordering;
use std::collections::BinaryHeap;
use std::ops::RangeInclusive;

use serde::{Deserialize, Serialize};

use super::ensemble::LARGEST_CROWD;
use crate::kernels::{LANES, Lane};
use crate::linalg::{axpy, dot, norm, normalise};
use crate::rng::{Key, normal};

/// The budgets that are allowed.
pub(super) const BUDGETS: RangeInclusive<usize> = 64..=1 << 20;

/// Observations, with a perturbation of every reward for every network.
///
/// A place that holds no observation yet has x = 0 and reward 0: a network without biases fits it whatever it is, so loops run
/// over whole blocks.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(from = "Flat", into = "Flat")]
pub(super) struct History {
    dim: usize,
    len: usize,
    /// The number of each observation kept, from 0.
    numbers: Vec<u64>,
    /// Coordinate j of block b is `actions[b·dim + j]`.
    actions: Vec<Lane>,
    rewards: Vec<Lane>,
    /// Perturbation m of block b is `jitter[b·networks + m]`; standard normal, and zero for the first network.
    jitter: Vec<Lane>,
    networks: usize,
    key: Key,
    /// The most observations kept.
    budget: usize,
    /// While nobody refits there are no perturbations.
    asleep: bool,
}

/// A block of observations.
#[derive(Clone, Copy)]
pub(super) struct Block<'a> {
    pub(super) actions: &'a [Lane],
    pub(super) rewards: &'a Lane,
    pub(super) jitter: &'a Lane,
}

impl History {
    pub(super) fn new(dim: usize, networks: usize, budget: usize, key: Key) -> Self {
        let empty = Vec::new;
        History {
            dim,
            len: 0,
            numbers: Vec::new(),
            actions: empty(),
            rewards: empty(),
            jitter: empty(),
            networks,
            key,
            budget,
            asleep: false,
        }
    }

    /// Lets go of the perturbations until [`History::wake`]: nobody refits.
    pub(super) fn sleep(&mut self) {
        self.asleep = true;
        self.jitter.clear();
    }

    /// Draws the perturbations again, as they were.
    pub(super) fn wake(&mut self) {
        if std::mem::take(&mut self.asleep) {
            self.jitter.resize(self.rewards.len() * self.networks, [0.0; LANES]);
            (0..self.len).for_each(|place| self.perturb(place));
        }
    }

    /// How many observations are kept.
    pub(super) fn len(&self) -> usize {
        self.len
    }

    /// How many observations there were in all.
    pub(super) fn seen(&self) -> u64 {
        self.numbers.last().map_or(0, |last| last + 1)
    }

    /// The most observations kept.
    pub(super) fn budget(&self) -> usize {
        self.budget
    }

    pub(super) fn dim(&self) -> usize {
        self.dim
    }

    pub(super) fn networks(&self) -> usize {
        self.networks
    }

    pub(super) fn is_full(&self) -> bool {
        self.len >= self.budget
    }

    /// Keeps the observation of number `number`; its place.
    pub(super) fn push(&mut self, number: u64, action: &[f64], reward: f64) -> usize {
        let place = self.len;
        let (block, lane) = (place / LANES, place % LANES);
        if block == self.rewards.len() {
            self.actions.resize(self.actions.len() + self.dim, [0.0; LANES]);
            self.rewards.push([0.0; LANES]);
            if !self.asleep {
                self.jitter.resize(self.jitter.len() + self.networks, [0.0; LANES]);
            }
        }
        self.len += 1;
        self.numbers.push(number);
        for (coordinate, &x) in self.actions[block * self.dim..][..self.dim].iter_mut().zip(action) {
            coordinate[lane] = x;
        }
        self.rewards[block][lane] = reward;
        if !self.asleep {
            self.perturb(place);
        }
        place
    }

    /// Draws the perturbations of the reward at a place: they follow from the number of the observation.
    fn perturb(&mut self, place: usize) {
        let (block, lane) = (place / LANES, place % LANES);
        let mut stream = self.key.round(self.numbers[place]).stream();
        for jitter in &mut self.jitter[block * self.networks + 1..(block + 1) * self.networks] {
            jitter[lane] = normal(&mut stream);
        }
    }

    /// Makes one observation of those of nearly the same action, until half of the budget is left.
    pub(super) fn condense(&mut self) {
        let Flat { actions, rewards, numbers, .. } = self.clone().into();
        let (dim, kept) = (self.dim, self.budget / 2);
        self.len = 0;
        self.numbers.clear();
        self.actions.clear();
        self.rewards.clear();
        self.jitter.clear();
        for alike in cells(dim, &actions, kept) {
            let (action, reward) = merge(dim, &actions, &rewards, &alike);
            // The perturbations are those of the longest.
            let length = |i: &usize| norm(&actions[i * dim..][..dim]);
            let longest = alike.iter().max_by(|a, b| length(a).total_cmp(&length(b)));
            self.push(longest.map_or(0, |i| numbers[*i]), &action, reward);
        }
    }

    /// Forgets the perturbations of all but the first `networks`.
    pub(super) fn thin_out(&mut self, networks: usize) {
        let kept = self.jitter.chunks_exact(self.networks).flat_map(|block| &block[..networks]).copied();
        self.jitter = kept.collect();
        self.networks = networks;
    }

    /// The blocks as network `m` sees them.
    pub(super) fn blocks(&self, m: usize) -> impl Iterator<Item = Block<'_>> {
        let jitter = self.jitter.iter().skip(m).step_by(self.networks);
        self.actions.chunks_exact(self.dim).zip(&self.rewards).zip(jitter).map(|((actions, rewards), jitter)| Block {
            actions,
            rewards,
            jitter,
        })
    }

    /// The observation at a place: its action, into `x`, and its reward.
    pub(super) fn get(&self, place: usize, x: &mut [f64]) -> f64 {
        let (block, lane) = (place / LANES, place % LANES);
        for (x, coordinate) in x.iter_mut().zip(&self.actions[block * self.dim..]) {
            *x = coordinate[lane];
        }
        self.rewards[block][lane]
    }

    /// The perturbation of the reward at a place for network `m`.
    pub(super) fn jitter(&self, place: usize, m: usize) -> f64 {
        self.jitter[place / LANES * self.networks + m][place % LANES]
    }

    /// Every observation, in the order of its place.
    pub(super) fn for_each(&self, mut see: impl FnMut(&[f64], f64)) {
        let mut x = vec![0.0; self.dim];
        for place in 0..self.len {
            let reward = self.get(place, &mut x);
            see(&x, reward);
        }
    }
}

/// One observation for those at `places`: their sum with coefficients in proportion to the lengths of the actions.
fn merge(dim: usize, actions: &[f64], rewards: &[f64], places: &[usize]) -> (Vec<f64>, f64) {
    let action = |i: usize| &actions[i * dim..][..dim];
    let all = places.iter().map(|&i| norm(action(i))).fold(0.0, f64::hypot);
    let (mut sum, mut reward) = (vec![0.0; dim], 0.0);
    for &i in places {
        let coefficient = if all > 0.0 { norm(action(i)) / all } else { 0.0 };
        axpy(coefficient, action(i), &mut sum);
        reward += coefficient * rewards[i];
    }
    (sum, reward)
}

/// Divides the places of `actions` into at most `count` cells of nearly the same direction: the most scattered cell is cut in two, again
/// and again. In the order of the first place of each.
fn cells(dim: usize, actions: &[f64], count: usize) -> Vec<Vec<usize>> {
    let mut directions = actions.to_vec();
    directions.chunks_exact_mut(dim).for_each(|x| _ = normalise(x));
    let weights: Vec<f64> = actions.chunks_exact(dim).map(|x| dot(x, x)).collect();
    let cell = |places| Cell::new(dim, &directions, &weights, places);
    let mut heap = BinaryHeap::from([cell((0..weights.len()).collect())]);
    while heap.len() < count {
        let Some(widest) = heap.pop() else { break };
        let direction = |i: &usize| directions[i * dim + widest.coordinate];
        let (low, high): (Vec<usize>, Vec<usize>) = widest.places.iter().partition(|i| direction(i) < widest.middle);
        if low.is_empty() || high.is_empty() {
            heap.push(widest);
            break;
        }
        heap.extend([cell(low), cell(high)]);
    }
    let mut cells: Vec<Vec<usize>> = heap.into_iter().map(|cell| cell.places).collect();
    cells.sort_unstable_by_key(|places| places[0]);
    cells
}

/// Places of observations, the weighted sum of squared distances from their mean, the coordinate that has most of it, and its mean.
struct Cell {
    places: Vec<usize>,
    scatter: f64,
    coordinate: usize,
    middle: f64,
}

impl Cell {
    fn new(dim: usize, directions: &[f64], weights: &[f64], places: Vec<usize>) -> Self {
        let total: f64 = places.iter().map(|&i| weights[i]).sum();
        let mut cell = Cell { places, scatter: 0.0, coordinate: 0, middle: 0.0 };
        let mut widest = -1.0;
        for j in 0..dim {
            let values = || cell.places.iter().map(|&i| (weights[i], directions[i * dim + j]));
            let mean = values().map(|(w, x)| w * x).sum::<f64>() / total.max(f64::MIN_POSITIVE);
            let scatter: f64 = values().map(|(w, x)| w * (x - mean) * (x - mean)).sum();
            cell.scatter += scatter;
            if scatter > widest {
                (widest, cell.coordinate, cell.middle) = (scatter, j, mean);
            }
        }
        cell
    }
}

impl Ord for Cell {
    /// The more scattered is the greater, and of equals the one that was seen later.
    fn cmp(&self, other: &Self) -> Ordering {
        self.scatter.total_cmp(&other.scatter).then(self.places.cmp(&other.places))
    }
}

impl PartialOrd for Cell {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Cell {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Cell {}

/// A history as it is saved: the perturbations follow from the numbers.
#[derive(Serialize, Deserialize)]
struct Flat {
    dim: usize,
    networks: usize,
    budget: usize,
    key: Key,
    numbers: Vec<u64>,
    actions: Vec<f64>,
    rewards: Vec<f64>,
}

impl From<History> for Flat {
    fn from(history: History) -> Self {
        let (mut actions, mut rewards) = (Vec::new(), Vec::new());
        history.for_each(|x, y| {
            actions.extend_from_slice(x);
            rewards.push(y);
        });
        let History { dim, networks, budget, key, numbers, .. } = history;
        Flat { dim, networks, budget, key, numbers, actions, rewards }
    }
}

impl From<Flat> for History {
    /// Parts that do not fit together leave an empty history, which [`super::Plausible`] refuses.
    fn from(flat: Flat) -> Self {
        let mut history = History::new(flat.dim, flat.networks.clamp(1, LARGEST_CROWD), usize::MAX, flat.key);
        let fits = flat.dim > 0
            && BUDGETS.contains(&flat.budget)
            && flat.rewards.len() <= flat.budget
            && (2..=LARGEST_CROWD).contains(&flat.networks)
            && flat.numbers.len() == flat.rewards.len()
            && Some(flat.actions.len()) == flat.dim.checked_mul(flat.rewards.len())
            && flat.actions.iter().chain(&flat.rewards).all(|x| x.is_finite());
        if fits {
            let rows = flat.actions.chunks_exact(flat.dim).zip(&flat.rewards);
            rows.zip(&flat.numbers).for_each(|((x, y), number)| _ = history.push(*number, x, *y));
        }
        history.budget = flat.budget.clamp(*BUDGETS.start(), *BUDGETS.end());
        history
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::relu::ReluNet;
    use crate::rng::unit_vector;

    fn all(history: &History) -> Vec<(f64, f64)> {
        let mut all = Vec::new();
        history.for_each(|x, y| all.push((x[0], y)));
        all
    }

    #[test]
    fn a_condensed_history_compares_networks_as_the_whole_one_does() {
        let (dim, budget, sigma) = (3, 512, 0.1);
        let mut stream = Key::new(1).stream();
        let truth = ReluNet::random(dim, 4, &mut stream);
        let mut condensed = History::new(dim, 2, budget, Key::new(2));
        let mut whole = History::new(dim, 2, 1 << 20, Key::new(2));
        let mut x = vec![0.0; dim];
        for number in 0..5000 {
            unit_vector(&mut stream, &mut x);
            // At first anywhere, then around one place.
            if number > 100 {
                x.iter_mut().for_each(|x| *x *= 0.2);
                x[0] += 1.0;
                normalise(&mut x);
            }
            if condensed.is_full() {
                condensed.condense();
                assert_eq!(condensed.len(), budget / 2);
            }
            let y = truth.value(&x) + sigma * normal(&mut stream);
            condensed.push(number, &x, y);
            whole.push(number, &x, y);
        }
        // Only what differs between networks: the noise within a cell, common to all, is gone.
        let excess = |history: &History, network: &ReluNet| {
            let loss = |network: &ReluNet| {
                let mut loss = 0.0;
                history.for_each(|x, y| loss += (network.value(x) - y).powi(2));
                loss / (sigma * sigma)
            };
            loss(network) - loss(&truth)
        };
        for _ in 0..20 {
            let moved = truth.theta().iter().map(|t| t + 0.05 * normal(&mut stream)).collect();
            let network = ReluNet::new(dim, moved).unwrap().normalised().unwrap();
            let (found, exact) = (excess(&condensed, &network), excess(&whole, &network));
            assert!((found - exact).abs() < 2.0 + 0.05 * exact.abs(), "{found} is not {exact}");
        }
    }

    #[test]
    fn equal_actions_become_one_that_is_longer() {
        let mut history = History::new(2, 2, 8, Key::new(1));
        let rewards = [1.0, 2.0, 3.0, 4.0];
        for (number, y) in (0..).zip(rewards) {
            history.push(number, &[0.6, 0.8], y);
            history.push(number + 4, &[-1.0, 0.0], 0.5);
        }
        history.condense();
        let mut kept = Vec::new();
        history.for_each(|x, y| kept.push((x.to_vec(), y)));
        assert_eq!(kept.len(), 2);
        let close = |a: f64, b: f64| assert!((a - b).abs() < 1e-14, "{a} is not {b}");
        close(kept[0].0[0], 2.0 * 0.6);
        close(kept[0].0[1], 2.0 * 0.8);
        close(kept[0].1, rewards.iter().sum::<f64>() / 2.0);
        close(kept[1].0[0], -2.0);
        close(kept[1].1, 1.0);
    }

    #[test]
    fn a_history_that_was_saved_has_the_same_perturbations_and_goes_on_alike() {
        let mut history = History::new(1, 3, 64, Key::new(1));
        for i in 0..91u32 {
            if history.is_full() {
                history.condense();
            }
            history.push(i.into(), &[f64::from(i)], 1.0);
        }
        let text = serde_json::to_string(&history).unwrap();
        let mut again: History = serde_json::from_str(&text).unwrap();
        for history in [&mut history, &mut again] {
            history.push(91, &[0.5], 2.0);
        }
        assert_eq!(all(&history), all(&again));
        assert_eq!(history.jitter, again.jitter);
    }
}
