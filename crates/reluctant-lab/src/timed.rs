//! A policy with a stopwatch. The core has no clocks; the lab holds one around it.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use reluctant::{Arms, Choice, Key, Policy, ReluNet, Result, Rows, Scratch, Snapshot};

/// Counts the time that the policy within spends choosing and learning.
#[derive(Debug)]
pub(crate) struct Timed {
    policy: Box<dyn Policy>,
    /// Atomic because `select` takes `&self`; one thread alone uses it.
    nanoseconds: AtomicU64,
}

impl Timed {
    pub(crate) fn new(policy: Box<dyn Policy>) -> Self {
        Timed { policy, nanoseconds: AtomicU64::new(0) }
    }

    pub(crate) fn seconds(&self) -> f64 {
        self.nanoseconds.load(Ordering::Relaxed) as f64 * 1e-9
    }

    fn add(&self, start: Instant) {
        self.nanoseconds.fetch_add(start.elapsed().as_nanos() as u64, Ordering::Relaxed);
    }
}

impl Policy for Timed {
    fn name(&self) -> &'static str {
        self.policy.name()
    }

    fn dim(&self) -> usize {
        self.policy.dim()
    }

    fn select<'a>(&self, arms: Arms<'a>, key: Key, scratch: &mut Scratch) -> Result<Choice<'a>> {
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

    fn reveal(&mut self, truth: &ReluNet) {
        self.policy.reveal(truth);
    }

    fn snapshot(&self) -> Result<Snapshot> {
        self.policy.snapshot()
    }
}
