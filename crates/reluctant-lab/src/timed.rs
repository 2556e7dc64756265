//! A policy with a stopwatch and an emergency brake. The core has no clocks and plays to the end; the lab holds both around it.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Instant;

use reluctant::policy::Explanation;
use reluctant::{Arms, Choice, Error, Key, Policy, ReluNet, Result, Rows, Scratch, Snapshot};

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

    fn select<'a>(&self, arms: Arms<'a>, key: Key, scratch: &mut Scratch) -> Result<Choice<'a>> {
        if self.stop.load(Ordering::Relaxed) {
            return Err(Error::Stopped);
        }
        let start = Instant::now();
        let choice = self.policy.select(arms, key, scratch);
        self.add(start);
        choice
    }

    fn update(&mut self, action: &[f64], reward: f64) -> Result<()> {
        let start = Instant::now();
        let result = self.policy.update(action, reward);
        self.add(start);
        result
    }

    fn score(&self, rows: Rows<'_>, scratch: &mut Scratch) -> Result<()> {
        self.policy.score(rows, scratch)
    }

    fn exploring(&self) -> bool {
        self.policy.exploring()
    }

    fn needs_finite_arms(&self) -> bool {
        self.policy.needs_finite_arms()
    }

    fn reveal(&mut self, truth: &ReluNet, offset: f64) {
        self.policy.reveal(truth, offset);
    }

    fn explain(&self, action: &[f64]) -> Result<Explanation> {
        self.policy.explain(action)
    }

    fn snapshot(&self) -> Result<Snapshot> {
        self.policy.snapshot()
    }
}
