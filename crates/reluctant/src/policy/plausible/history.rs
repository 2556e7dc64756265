//! What was seen, in blocks of sixteen observations side by side, for the loops that refit networks.

use std::ops::RangeInclusive;

use serde::{Deserialize, Serialize};

use super::ensemble::LARGEST_CROWD;
use crate::kernels::{LANES, Lane};
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
        }
    }

    /// How many observations are kept.
    pub(super) fn len(&self) -> usize {
        self.len
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

    /// Where the observation of number `number` goes. When the budget is used up it takes the place of the oldest in the later half:
    /// the first half, which holds the exploration, stays.
    pub(super) fn place(&self, number: u64) -> usize {
        if self.len < self.budget {
            return self.len;
        }
        let kept = self.budget / 2;
        kept + (number.saturating_sub(self.budget as u64) % (self.budget - kept) as u64) as usize
    }

    /// Keeps the observation of number `number`, at its place.
    pub(super) fn push(&mut self, number: u64, action: &[f64], reward: f64) {
        let place = self.place(number);
        if place == self.len {
            self.len += 1;
            self.numbers.push(number);
        }
        let (block, lane) = (place / LANES, place % LANES);
        if block == self.rewards.len() {
            self.actions.resize(self.actions.len() + self.dim, [0.0; LANES]);
            self.rewards.push([0.0; LANES]);
            self.jitter.resize(self.jitter.len() + self.networks, [0.0; LANES]);
        }
        self.numbers[place] = number;
        for (coordinate, &x) in self.actions[block * self.dim..][..self.dim].iter_mut().zip(action) {
            coordinate[lane] = x;
        }
        self.rewards[block][lane] = reward;
        let mut stream = self.key.round(number).stream();
        for jitter in &mut self.jitter[block * self.networks + 1..(block + 1) * self.networks] {
            jitter[lane] = normal(&mut stream);
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
            && flat.actions.iter().chain(&flat.rewards).all(|x| crate::arms::in_limit(*x));
        if fits {
            let rows = flat.actions.chunks_exact(flat.dim).zip(&flat.rewards);
            rows.zip(&flat.numbers).for_each(|((x, y), number)| history.push(*number, x, *y));
        }
        history.budget = flat.budget.clamp(*BUDGETS.start(), *BUDGETS.end());
        history
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(history: &History) -> Vec<(f64, f64)> {
        let mut all = Vec::new();
        history.for_each(|x, y| all.push((x[0], y)));
        all
    }

    #[test]
    fn a_full_history_keeps_its_first_half_and_the_newest() {
        let mut history = History::new(1, 3, 8, Key::new(1));
        (0..21u32).for_each(|i| history.push(i.into(), &[f64::from(i)], f64::from(i)));
        let mut kept: Vec<f64> = all(&history).iter().map(|(x, _)| *x).collect();
        kept.sort_by(f64::total_cmp);
        assert_eq!(kept, [0.0, 1.0, 2.0, 3.0, 17.0, 18.0, 19.0, 20.0]);
    }

    #[test]
    fn a_history_that_was_saved_has_the_same_perturbations_and_goes_on_alike() {
        let mut history = History::new(1, 3, 64, Key::new(1));
        (0..91u32).for_each(|i| history.push(i.into(), &[f64::from(i)], 1.0));
        let text = serde_json::to_string(&history).unwrap();
        let mut again: History = serde_json::from_str(&text).unwrap();
        for history in [&mut history, &mut again] {
            history.push(91, &[0.5], 2.0);
        }
        assert_eq!(all(&history), all(&again));
        assert_eq!(history.jitter, again.jitter);
    }
}
