//! The plausible networks: what they are, how well each fits, and how much it counts.

use serde::{Deserialize, Serialize};

use super::constants::{
    COLD_STEPS, EXACT, FOUND_WORTH, GUESS_WORTH, LEAST_SIGMA, NEGLIGIBLE, NOISE_WORTH, PARALLEL, PREDICTED_UNTIL,
    SIZE_DOUBT, UNTOLD_CONVINCING,
};
use super::draws::Sampler;
use super::form::{Form, Shape, coordinate_spread, pairing};
use super::history::History;
use super::jacobian::{Work, learned};
use super::member::Member;
use super::refit::{Effort, losses, refit};
use super::sizes::{self, Forecast, Sizes};
use crate::limits::LIMIT;
use crate::linalg::{axpy, dot, norm};
use crate::relu::ReluNet;
use crate::rng::{Stream, uniform};
use crate::spare::with_zeros;

/// The plausible networks.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Ensemble {
    pub(super) form: Form,
    pub(super) members: Vec<Member>,
    /// The weight of each member, 0 to 1.
    pub(super) weights: Vec<f64>,
    /// The noise level that was given, found by another model or, before there are residuals, guessed; and what it is
    /// worth in residuals.
    guess: f64,
    worth: f64,
    /// The noise level in use.
    pub(super) sigma: f64,
    /// The root mean square of the rewards.
    pub(super) scale: f64,
    /// In the first rounds, if the number of neurons is not given: how likely each is.
    sizes: Option<Sizes>,
    /// Whose turn it is to be refitted, and the refits that are due.
    pub(super) next: usize,
    pub(super) due: f64,
    /// A member that is no longer one, for its memory.
    #[serde(skip)]
    pub(super) spare: Option<Member>,
    #[serde(skip)]
    work: Work,
    #[serde(skip)]
    sampler: Sampler,
}

impl Ensemble {
    pub(super) fn new(form: Form, count: usize, sigma: Option<f64>, stream: &mut Stream) -> Self {
        let members = (0..count).map(|m| {
            let shape = form.first_shape(m);
            let (fewest, most) = form.sizes_of(shape);
            let neurons = if form.neurons > 0 { form.neurons } else { sizes::imagine(m).clamp(fewest, most) };
            let mut network = ReluNet::random(form.dim, neurons, stream);
            let paired = form.imagine(&mut network, shape, 1.0, stream);
            Member { paired, ..Member::new(network, shape) }
        });
        Ensemble {
            form,
            members: members.collect(),
            weights: vec![1.0; count],
            guess: sigma.unwrap_or(0.1),
            worth: match sigma {
                Some(_) if form.neurons > 0 => NOISE_WORTH,
                Some(_) => FOUND_WORTH,
                None => GUESS_WORTH,
            },
            sigma: sigma.unwrap_or(0.1).max(LEAST_SIGMA),
            scale: 1.0,
            sizes: (form.neurons == 0).then(Sizes::new),
            next: 0,
            due: 0.0,
            spare: None,
            work: Work::default(),
            sampler: Sampler::default(),
        }
    }

    /// Adds the observation at `place` to the losses of all members: between their refits they stay comparable.
    pub(super) fn account(&mut self, place: usize, history: &History) {
        with_zeros(history.dim(), |x| {
            let y = history.get(place, x);
            self.judge_sizes(x, y, history.seen());
            for member in &mut self.members {
                let miss = member.network.value(x) - y;
                member.loss += miss * miss;
            }
        });
    }

    /// Charges every size for what its members had predicted of the reward y of x, observation number `seen`.
    fn judge_sizes(&mut self, x: &[f64], y: f64, seen: u64) {
        if seen > PREDICTED_UNTIL {
            self.sizes = None;
        }
        let variance = self.variance();
        let Some(sizes) = &mut self.sizes else { return };
        let forecast = |(member, weight): (&Member, &f64)| {
            let network = &member.network;
            Forecast { neurons: network.neurons(), weight: *weight, miss: network.value(x) - y }
        };
        let forecasts: Vec<_> = self.members.iter().zip(&self.weights).map(forecast).collect();
        sizes.charge(&forecasts, variance);
    }

    /// Takes the losses of all members anew, after the history has changed.
    pub(super) fn reassess(&mut self, history: &History) {
        for (m, member) in self.members.iter_mut().enumerate() {
            let network = &member.network;
            member.loss = losses(network.theta(), network.signs(), m, history, self.sigma).0;
        }
    }

    /// Takes the noise level that another model has found for the guess.
    pub(super) fn guess_noise(&mut self, sigma: f64) {
        (self.guess, self.worth) = (sigma, FOUND_WORTH);
    }

    /// Gives neurons of any length the size of the first reward that is not zero, and the noise a tenth of it if
    /// nothing is known of it. Before, they were imagined to be of about 1.
    pub(super) fn resize(&mut self) {
        for member in self.members.iter_mut().filter(|member| member.shape == Shape::Signed) {
            let (theta, _) = member.network.layers_mut();
            theta.iter_mut().for_each(|x| *x = (*x * self.scale).clamp(-LIMIT, LIMIT));
        }
        if self.worth == GUESS_WORTH {
            self.guess *= self.scale;
            self.sigma = self.guess.max(LEAST_SIGMA);
        }
    }

    pub(super) fn refit(&mut self, m: usize, history: &History, steps: usize) {
        let effort = Effort { steps, tolerance: 0.02 * self.sigma * self.sigma };
        let relative_noise = self.sigma / self.size(self.members[m].shape);
        let member = &mut self.members[m];
        refit(member, m, history, self.sigma, effort, &mut self.work);
        member.learned = learned(relative_noise, &mut self.work).unwrap_or(member.learned);
    }

    /// Moves a member within the posterior.
    pub(super) fn draw(&mut self, m: usize, history: &History, stream: &mut Stream) {
        let prior = (pairing(history.dim()), coordinate_spread(self.size(Shape::Signed), history.dim()));
        let member = &mut self.members[m];
        let signed = member.shape == Shape::Signed;
        self.sampler.sweep(member, m, prior, history, self.sigma, stream);
        if signed && self.form.neurons == 0 {
            self.jump(m, history, stream);
        }
    }

    /// The length that neurons have before they are known: 1, or that of the rewards.
    pub(super) fn size(&self, shape: Shape) -> f64 {
        if shape == Shape::Unit || self.scale == 0.0 { 1.0 } else { self.scale }
    }

    fn variance(&self) -> f64 {
        self.sigma * self.sigma
    }

    /// What the unknowns of a member and its distance from the size given cost in evidence, in units of 2 log.
    fn price(&self, member: &Member) -> f64 {
        let off = match self.form.neurons {
            0 => 0,
            given => member.network.neurons().abs_diff(given),
        };
        member.learned + SIZE_DOUBT * off as f64
    }

    /// −2 log of the evidence for a member, up to a constant.
    pub(super) fn cost(&self, member: &Member) -> f64 {
        let cost = member.loss / self.variance() + self.price(member);
        if cost.is_finite() { cost } else { f64::MAX }
    }

    /// −2 log of the evidence for a model of this loss and price after `n` observations, up to a constant; of a noise
    /// level that is not known but for the guess, or a model could not win that alone sees how little noise there is.
    pub(super) fn cost_of(&self, (loss, price): (f64, f64), n: f64) -> f64 {
        let least = n * (EXACT * self.scale).powi(2);
        let squares = self.worth * self.guess * self.guess + loss.min(1e250).max(least).max(f64::MIN_POSITIVE);
        (self.worth + n) * libm::log(squares) + price
    }

    /// The same for a model that has found a noise level of its own, σ² = `noise`. One that is below what the guess
    /// allows would win wherever there is none, and one that is worse had nothing to be found by, as where all rewards
    /// are the same: then as if it were not known.
    pub(super) fn cost_with_noise(&self, (loss, price): (f64, f64), noise: f64, n: f64) -> f64 {
        let unknown = self.cost_of((loss, price), n);
        let total = self.worth + n;
        if noise * total < self.worth * self.guess * self.guess {
            return unknown;
        }
        // Of an unknown noise level the best is squares/(worth + n), and the squares then cost about n.
        unknown.min(loss / noise + price + n * libm::log(noise) - n + total * libm::log(total))
    }

    /// The cost of the best network; nothing if there is none.
    pub(super) fn cost_of_best(&self, n: f64) -> f64 {
        let costs = self.members.iter().map(|member| self.cost_of((member.loss, self.price(member)), n));
        if self.members.is_empty() { 0.0 } else { costs.fold(f64::MAX, f64::min) }
    }

    /// The same, if networks of any signs and lengths that nobody told of must convince.
    pub(super) fn cost_of_convincing(&self, n: f64) -> f64 {
        let untold = |member: &Member| self.form.shape.is_none() && member.shape == Shape::Signed;
        let cost = |member: &Member| self.cost_of((member.loss, self.price(member)), n);
        let costs = self.members.iter().map(|m| if untold(m) { cost(m) + UNTOLD_CONVINCING } else { cost(m) });
        if self.members.is_empty() { 0.0 } else { costs.fold(f64::MAX, f64::min) }
    }

    /// σ² from the residuals of the best fit and the guess.
    pub(super) fn estimate_noise(&mut self, n: f64) {
        let best = self.best();
        let member = &self.members[best];
        let spare = (n - member.unknowns() as f64).max(0.0);
        let variance = (self.worth * self.guess * self.guess + member.loss.min(1e250) * (spare / n.max(1.0)).min(1.0))
            / (self.worth + spare);
        // A network that fits exactly says that there is no noise, but rounding remains.
        self.sigma = variance.sqrt().max(EXACT * self.scale).max(LEAST_SIGMA);
    }

    /// The member of greatest evidence.
    pub(super) fn best(&self) -> usize {
        let cost = |m: &usize| self.cost(&self.members[*m]);
        (0..self.members.len()).min_by(|a, b| cost(a).total_cmp(&cost(b))).unwrap_or(0)
    }

    /// The unknowns of the largest plausible member.
    pub(super) fn unknowns(&self) -> usize {
        let weighed = self.weights.iter().zip(&self.members);
        weighed.filter(|(w, _)| **w > 0.0).map(|(_, member)| member.unknowns()).max().unwrap_or(0)
    }

    /// Lets go of all but `count` members.
    pub(super) fn thin_out(&mut self, count: usize) {
        let best = self.best();
        if best >= count {
            self.members.swap(best, count - 1);
            self.weights.swap(best, count - 1);
        }
        self.members.truncate(count);
        self.weights.truncate(count);
        self.next %= count;
    }

    /// Weighs all members.
    pub(super) fn weigh(&mut self, n: f64) {
        let least = self.least_cost();
        for m in 0..self.members.len() {
            self.weights[m] = self.weight(m, least, n);
        }
    }

    pub(super) fn least_cost(&self) -> f64 {
        self.members.iter().map(|member| self.cost(member)).fold(f64::MAX, f64::min)
    }

    /// The weight of a member. A posterior draw's loss exceeds the best by σ²χ² with as many degrees of
    /// freedom as unknowns; what exceeds that is weighed down as its likelihood says, and in the first rounds
    /// it counts how likely its size is.
    pub(super) fn weight(&self, m: usize, least: f64, n: f64) -> f64 {
        let member = &self.members[m];
        let free = (member.unknowns() as f64).min(n);
        let expected = free + 3.0 * (2.0 * free).sqrt() + 2.0;
        let excess = self.cost(member) - least - expected;
        let likely = if excess > 0.0 { libm::exp(-0.5 * excess) } else { 1.0 };
        let size = self.sizes.as_ref().map_or(1.0, |sizes| sizes.weight(member.network.neurons()));
        if likely > NEGLIGIBLE { likely * size } else { 0.0 }
    }

    /// A member drawn by weight.
    pub(super) fn sample(&self, stream: &mut Stream) -> usize {
        let total: f64 = self.weights.iter().sum();
        let mut left = uniform(stream) * total;
        for (m, weight) in self.weights.iter().enumerate() {
            left -= weight;
            if left < 0.0 && *weight > 0.0 {
                return m;
            }
        }
        self.best()
    }

    /// The members that count, with their weights, which sum to one.
    pub(super) fn plausible(&self) -> impl Iterator<Item = (f64, &ReluNet)> {
        let total: f64 = self.weights.iter().sum();
        self.weights.iter().zip(&self.members).filter(|(w, _)| **w > 0.0).map(move |(w, m)| (w / total, &m.network))
    }

    /// The same as lists: which members, and their weights.
    pub(super) fn list_plausible(&self, which: &mut Vec<u64>, weights: &mut Vec<f64>) {
        let total: f64 = self.weights.iter().sum();
        which.clear();
        which.extend((0..self.members.len()).filter(|m| self.weights[*m] > 0.0).map(|m| m as u64));
        weights.clear();
        weights.extend(self.weights.iter().filter(|w| **w > 0.0).map(|w| w / total));
    }

    /// The mean prediction at x.
    pub(super) fn mean(&self, x: &[f64]) -> f64 {
        self.plausible().map(|(weight, network)| weight * network.value(x)).sum()
    }

    /// Whether all plausible members have the best one's linear piece at x: a neuron of unit length that
    /// switches moves the slope by one.
    pub(super) fn agree_at(&self, x: &[f64]) -> bool {
        let slope = |network: &ReluNet, slope: &mut [f64]| {
            slope.fill(0.0);
            for (theta, sign) in network.iter().zip(network.signs()) {
                if dot(theta, x) >= 0.0 {
                    axpy(*sign, theta, slope);
                }
            }
        };
        with_zeros(2 * x.len(), |both| {
            let (best, other) = both.split_at_mut(x.len());
            let member = &self.members[self.best()];
            let size = self.size(member.shape);
            slope(&member.network, best);
            self.plausible().all(|(_, network)| {
                slope(network, other);
                let apart: f64 = best.iter().zip(&*other).map(|(a, b)| (a - b) * (a - b)).sum();
                apart < 0.25 * size * size
            })
        })
    }

    /// Whether all neurons of the best member point nearly the same way. So they do where an offset of the rewards is
    /// taken for neurons, and then nothing seems to be better than what is played.
    pub(super) fn is_nearly_parallel(&self) -> bool {
        let network = &self.members[self.best()].network;
        with_zeros(network.dim(), |sum| {
            let mut lengths = 0.0;
            for (theta, sign) in network.iter().zip(network.signs()) {
                axpy(*sign, theta, sum);
                lengths += norm(theta);
            }
            norm(sum) > PARALLEL * lengths
        })
    }

    /// Takes up refitting after a pause: everything is due.
    pub(super) fn thaw(&mut self, history: &History) {
        self.reassess(history);
        self.due = self.members.len() as f64;
    }

    /// The sizes among the plausible members: smallest and largest.
    pub(super) fn sizes(&self) -> (usize, usize) {
        let sizes = || self.plausible().map(|(_, network)| network.neurons());
        (sizes().min().unwrap_or(0), sizes().max().unwrap_or(0))
    }

    /// More steps for the best member than a round spends.
    pub(super) fn polish(&mut self, history: &History) -> ReluNet {
        let best = self.best();
        // The first member's rewards are not perturbed.
        self.members.swap(0, best);
        self.weights.swap(0, best);
        self.refit(0, history, 4 * COLD_STEPS);
        self.members[0].network.clone()
    }

    pub(super) fn is_consistent(&self, dim: usize) -> bool {
        let form = self.form;
        form.is_consistent(dim)
            && self.members.len() == self.weights.len()
            && self.members.len() != 1
            && self.next < self.members.len().max(1)
            && self.weights.iter().all(|w| (0.0..=1.0).contains(w))
            && [self.guess, self.worth].iter().all(|x| x.is_finite() && *x >= 0.0)
            && self.sizes.as_ref().is_none_or(|sizes| form.neurons == 0 && sizes.is_consistent())
            && (0.0..1e6).contains(&self.due)
            && self.sigma > 0.0
            && self.sigma.is_finite()
            && self.scale.is_finite()
            && self
                .members
                .iter()
                .all(|m| m.network.dim() == dim && m.damping > 0.0 && !m.loss.is_nan() && m.learned.is_finite())
            && self.members.iter().all(|m| form.has_size(m.network.neurons(), m.shape) && form.has_shape(m.shape))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::{Key, normal, unit_vector};

    #[test]
    fn who_is_polished_keeps_its_weight() {
        let mut stream = Key::new(1).stream();
        let form = Form { dim: 2, neurons: 3, shape: Some(Shape::Unit) };
        let mut history = History::new(2, 4, 64, Key::new(2));
        let mut ensemble = Ensemble::new(form, 4, Some(0.1), &mut stream);
        history.push(&[1.0, 0.0], 1.0);
        ensemble.reassess(&history);
        ensemble.members[2].loss = 0.0;
        ensemble.weights = vec![0.0, 0.5, 1.0, 0.25];
        ensemble.polish(&history);
        assert_eq!(ensemble.weights, [1.0, 0.5, 0.0, 0.25]);
    }

    #[test]
    fn losses_stay_those_of_the_history() {
        let (networks, sigma) = (4, 0.1);
        let mut stream = Key::new(1).stream();
        let form = Form { dim: 3, neurons: 2, shape: Some(Shape::Unit) };
        let mut history = History::new(3, networks, 64, Key::new(2));
        let mut ensemble = Ensemble::new(form, networks, Some(sigma), &mut stream);
        let mut x = [0.0; 3];
        for _ in 0..150 {
            unit_vector(&mut stream, &mut x);
            if history.is_full() {
                history.condense();
                ensemble.reassess(&history);
            }
            let place = history.push(&x, normal(&mut stream));
            ensemble.account(place, &history);
        }
        for (m, member) in ensemble.members.iter().enumerate() {
            let network = &member.network;
            let loss = losses(network.theta(), network.signs(), m, &history, sigma).0;
            assert!((member.loss - loss).abs() < 1e-10 * loss, "{m}: {} is not {loss}", member.loss);
        }
    }
}
