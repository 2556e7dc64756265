//! A policy with a stopwatch and an emergency brake. The core has no clocks and plays to the end;
//! the lab holds both around it.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Instant;

use reluctant::policy::{Explanation, Fitted};
use reluctant::{Action, Choice, Error, Key, Offer, Policy, Result, Round, Scratch, Snapshot, Space};

/// Counts the time that the policy within spends choosing and learning, and chooses no more once `stop` is set.
#[derive(Debug)]
pub(crate) struct Timed<'s> {
    policy: Box<dyn Policy>,
    stop: &'s AtomicBool,
    /// Atomic because `select` takes `&self`; one thread alone uses it.
    nanoseconds: AtomicU64,
}

impl<'s> Timed<'s> {
    pub(crate) fn new(policy: Box<dyn Policy>, stop: &'s AtomicBool) -> Self {
        Timed { policy, stop, nanoseconds: AtomicU64::new(0) }
    }

    pub(crate) fn seconds(&self) -> f64 {
        self.nanoseconds.load(Ordering::Relaxed) as f64 * 1e-9
    }

    /// A choice, on the clock, unless the game is to stop.
    fn timed<T>(&self, choose: impl FnOnce() -> Result<T>) -> Result<T> {
        if self.stop.load(Ordering::Relaxed) {
            return Err(Error::Stopped);
        }
        let start = Instant::now();
        let choice = choose();
        self.add(start);
        choice
    }

    fn add(&self, start: Instant) {
        self.nanoseconds.fetch_add(start.elapsed().as_nanos() as u64, Ordering::Relaxed);
    }
}

impl Policy for Timed<'_> {
    fn name(&self) -> &'static str {
        self.policy.name()
    }

    fn dim(&self) -> usize {
        self.policy.dim()
    }

    fn space(&self) -> Space {
        self.policy.space()
    }

    fn select<'a>(&self, offer: Offer<'a>, key: Key, scratch: &mut Scratch) -> Result<Choice<'a>> {
        self.timed(|| self.policy.select(offer, key, scratch))
    }

    fn select_in<'a>(&self, round: &Round<'a>, key: Key, scratch: &mut Scratch) -> Result<Choice<'a>> {
        self.timed(|| self.policy.select_in(round, key, scratch))
    }

    fn probabilities(&self, offer: Offer<'_>, scratch: &mut Scratch, out: &mut Vec<f64>) -> Result<bool> {
        self.policy.probabilities(offer, scratch, out)
    }

    fn draws_normally(&self) -> bool {
        self.policy.draws_normally()
    }

    fn learn(&mut self, action: Action<'_>, reward: f64) -> Result<()> {
        let start = Instant::now();
        let result = self.policy.learn(action, reward);
        self.add(start);
        result
    }

    fn score(&self, offer: Offer<'_>, scratch: &mut Scratch) -> Result<()> {
        self.policy.score(offer, scratch)
    }

    fn exploring(&self) -> bool {
        self.policy.exploring()
    }

    fn needs_finite_arms(&self) -> bool {
        self.policy.needs_finite_arms()
    }

    fn model(&self) -> (String, String) {
        self.policy.model()
    }

    fn network(&self) -> Option<Fitted> {
        self.policy.network()
    }

    fn explanation(&self, action: Action<'_>) -> Result<Explanation> {
        self.policy.explanation(action)
    }

    fn snapshot(&self) -> Result<Snapshot> {
        self.policy.snapshot()
    }
}
