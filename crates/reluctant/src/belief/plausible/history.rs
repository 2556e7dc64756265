//! What was seen, in blocks of sixteen observations side by side, for the loops that refit networks.
//! A full one is condensed ([`super::condense`]).

use serde::{Deserialize, Serialize};

use super::condense::Condenser;
use super::constants::{ASLEEP, BUDGETS, LARGEST_CROWD};
use crate::kernels::{LANES, Lane};
use crate::rng::{Key, normal};
use crate::spare::with_zeros;

/// Observations, with a perturbation of every reward for every network.
///
/// A place that holds no observation yet has x = 0 and reward 0: a network without biases fits it whatever it is,
/// so loops run over whole blocks.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(from = "Flat", into = "Flat")]
pub(super) struct History {
    dim: usize,
    /// How many observations there were in all.
    seen: u64,
    /// How many are kept.
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
    /// The most observations kept for refits.
    budget: usize,
    /// While no network is refitted there are no perturbations.
    asleep: bool,
    condenser: Condenser,
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
            seen: 0,
            len: 0,
            numbers: Vec::new(),
            actions: empty(),
            rewards: empty(),
            jitter: empty(),
            networks,
            key,
            budget,
            asleep: false,
            condenser: Condenser::default(),
        }
    }

    /// Lets go of the perturbations until [`History::wake`]: no network is refitted meanwhile.
    pub(super) fn sleep(&mut self) {
        self.asleep = true;
        self.jitter.clear();
    }

    /// Draws the perturbations again, as they were. The places of observations may change.
    pub(super) fn wake(&mut self) {
        if !std::mem::take(&mut self.asleep) {
            return;
        }
        if self.is_full() {
            self.condense();
        } else {
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
        self.seen
    }

    /// The most observations kept for refits.
    pub(super) fn budget(&self) -> usize {
        self.budget
    }

    pub(super) fn dim(&self) -> usize {
        self.dim
    }

    pub(super) fn networks(&self) -> usize {
        self.networks
    }

    pub(super) fn is_asleep(&self) -> bool {
        self.asleep
    }

    pub(super) fn is_full(&self) -> bool {
        self.len >= self.capacity()
    }

    fn capacity(&self) -> usize {
        if self.asleep { ASLEEP * self.budget } else { self.budget }
    }

    /// Keeps the newest observation; its place.
    pub(super) fn push(&mut self, action: &[f64], reward: f64) -> usize {
        let number = self.seen;
        self.count();
        self.keep(number, action, reward)
    }

    /// Counts an observation that need not be kept.
    pub(super) fn count(&mut self) {
        self.seen = self.seen.saturating_add(1);
    }

    fn keep(&mut self, number: u64, action: &[f64], reward: f64) -> usize {
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
        let mut condenser = std::mem::take(&mut self.condenser);
        condenser.begin(self.dim);
        let mut place = 0;
        self.for_each(|x, y| {
            condenser.add(self.numbers[place], x, y);
            place += 1;
        });
        self.len = 0;
        self.numbers.clear();
        self.actions.clear();
        self.rewards.clear();
        self.jitter.clear();
        condenser.condense(self.budget / 2, |number, x, y| _ = self.keep(number, x, y));
        self.condenser = condenser;
    }

    /// Forgets the perturbations of all but the first `networks`.
    pub(super) fn thin_out(&mut self, networks: usize) {
        let blocks = self.jitter.len() / self.networks;
        for block in 0..blocks {
            let from = block * self.networks;
            self.jitter.copy_within(from..from + networks, block * networks);
        }
        self.jitter.truncate(blocks * networks);
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

    /// Every observation, in the order of its place.
    pub(super) fn for_each(&self, mut see: impl FnMut(&[f64], f64)) {
        with_zeros(self.dim, |x| {
            for place in 0..self.len {
                let reward = self.get(place, x);
                see(x, reward);
            }
        });
    }
}

/// A history as it is saved: the perturbations follow from the numbers.
#[derive(Serialize, Deserialize)]
struct Flat {
    dim: usize,
    networks: usize,
    budget: usize,
    asleep: bool,
    key: Key,
    seen: u64,
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
        let History { dim, networks, budget, asleep, key, seen, numbers, .. } = history;
        Flat { dim, networks, budget, asleep, key, seen, numbers, actions, rewards }
    }
}

impl From<Flat> for History {
    /// Parts that do not fit together leave an empty history, which [`super::PlausibleNetworks`] refuses.
    fn from(flat: Flat) -> Self {
        let budget = flat.budget.clamp(*BUDGETS.start(), *BUDGETS.end());
        let mut history = History::new(flat.dim, flat.networks.min(LARGEST_CROWD), budget, flat.key);
        history.asleep = flat.asleep;
        let fits = flat.dim > 0
            && flat.budget == budget
            && flat.rewards.len() <= history.capacity()
            && ((2..=LARGEST_CROWD).contains(&flat.networks) || (flat.networks == 0 && flat.rewards.is_empty()))
            && flat.numbers.len() == flat.rewards.len()
            && flat.numbers.iter().all(|number| *number < flat.seen)
            && Some(flat.actions.len()) == flat.dim.checked_mul(flat.rewards.len())
            && flat.actions.iter().chain(&flat.rewards).all(|x| x.is_finite());
        if fits {
            history.seen = flat.seen;
            let rows = flat.actions.chunks_exact(flat.dim).zip(&flat.rewards);
            rows.zip(&flat.numbers).for_each(|((x, y), number)| _ = history.keep(*number, x, *y));
        }
        history
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linalg::normalise;
    use crate::relu::ReluNet;
    use crate::rng::unit_vector;

    fn all(history: &History) -> Vec<(f64, f64)> {
        let mut all = Vec::new();
        history.for_each(|x, y| all.push((x[0], y)));
        all
    }

    #[test]
    fn who_wakes_knows_how_many_there_were() {
        let mut history = History::new(2, 2, 64, Key::new(1));
        history.sleep();
        let mut stream = Key::new(2).stream();
        let mut x = [0.0; 2];
        for _ in 0..200 {
            unit_vector(&mut stream, &mut x);
            history.push(&x, 1.0);
        }
        history.wake();
        assert_eq!((history.seen(), history.len()), (200, 32));
        let saved: History = serde_json::from_str(&serde_json::to_string(&history).unwrap()).unwrap();
        assert_eq!((saved.seen(), saved.len()), (200, 32));
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
            condensed.push(&x, y);
            whole.push(&x, y);
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
        for y in rewards {
            history.push(&[0.6, 0.8], y);
            history.push(&[-1.0, 0.0], 0.5);
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
    fn a_history_that_sleeps_keeps_more_and_wakes_within_its_budget() {
        let (budget, networks) = (64, 3);
        let mut history = History::new(2, networks, budget, Key::new(1));
        history.sleep();
        for i in 0..ASLEEP * budget {
            assert!(!history.is_full());
            history.push(&[1.0, i as f64], 1.0);
        }
        assert!(history.is_full());
        history.wake();
        assert_eq!(history.len(), budget / 2);
        assert_eq!(history.blocks(1).count(), budget / 2 / LANES);
        // And one that has not grown so far is as if it had never slept.
        let mut woken = History::new(1, networks, budget, Key::new(1));
        let mut never_slept = woken.clone();
        woken.sleep();
        for history in [&mut woken, &mut never_slept] {
            (0..20).for_each(|_| _ = history.push(&[1.0], 1.0));
        }
        woken.wake();
        assert_eq!(woken.jitter, never_slept.jitter);
    }

    #[test]
    fn a_history_that_was_saved_has_the_same_perturbations_and_goes_on_alike() {
        for asleep in [false, true] {
            a_saved_history_goes_on_alike(asleep);
        }
    }

    fn a_saved_history_goes_on_alike(asleep: bool) {
        let mut history = History::new(1, 3, 64, Key::new(1));
        if asleep {
            history.sleep();
        }
        for i in 0..91u32 {
            if history.is_full() {
                history.condense();
            }
            history.push(&[f64::from(i)], 1.0);
        }
        let text = serde_json::to_string(&history).unwrap();
        let mut again: History = serde_json::from_str(&text).unwrap();
        for history in [&mut history, &mut again] {
            history.push(&[0.5], 2.0);
            history.wake();
        }
        assert_eq!(all(&history), all(&again));
        assert_eq!(history.jitter, again.jitter);
    }
}
