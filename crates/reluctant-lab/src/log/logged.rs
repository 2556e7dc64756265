//! A policy that writes a log while it plays.

use std::sync::Mutex;

use reluctant::policy::Explanation;
use reluctant::{Action, Choice, Error, Key, Offer, Policy, Result as CoreResult, Round, Scratch, Snapshot, Space};

use super::{Offered, Writer};
use crate::error::Result;

/// A policy that writes its choices into a log, each with its probability, once it learns what came of them.
#[derive(Debug)]
pub struct Logged<P> {
    policy: P,
    writer: Mutex<Writer>,
    /// The choice whose reward has not come yet.
    last: Mutex<Option<Last>>,
}

#[derive(Debug)]
struct Last {
    offer: Offered,
    chosen: usize,
    propensity: (Option<f64>, f64),
}

impl<P: Policy> Logged<P> {
    /// The policy with a log that is written as it learns.
    pub fn new(policy: P, writer: Writer) -> Self {
        Logged { policy, writer: Mutex::new(writer), last: Mutex::new(None) }
    }

    /// The policy within.
    pub fn inner(&self) -> &P {
        &self.policy
    }

    /// Puts on the disk what was written, and ends the log.
    pub fn finish(&self) -> Result<()> {
        lock(&self.writer).finish()
    }

    fn note<'a>(
        &self,
        offer: Offer<'_>,
        choice: Choice<'a>,
        key: Key,
        scratch: &mut Scratch,
    ) -> CoreResult<Choice<'a>> {
        let policy: &dyn Policy = &self.policy;
        let choice = policy.with_propensity(offer, choice, key.branch("propensity"), scratch)?;
        let (offer, chosen) = Offered::with(offer, &choice);
        *lock(&self.last) = Some(Last { offer, chosen, propensity: (choice.propensity, choice.propensity_error) });
        Ok(choice)
    }
}

/// A poisoned lock only means that another thread failed; what it guards is whole.
fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}

impl<P: Policy> Policy for Logged<P> {
    fn name(&self) -> &'static str {
        self.policy.name()
    }

    fn dim(&self) -> usize {
        self.policy.dim()
    }

    fn space(&self) -> Space {
        self.policy.space()
    }

    fn select<'a>(&self, offer: Offer<'a>, key: Key, scratch: &mut Scratch) -> CoreResult<Choice<'a>> {
        let choice = self.policy.select(offer, key, scratch)?;
        self.note(offer, choice, key, scratch)
    }

    fn select_in<'a>(&self, round: &Round<'a>, key: Key, scratch: &mut Scratch) -> CoreResult<Choice<'a>> {
        let choice = self.policy.select_in(round, key, scratch)?;
        self.note(round.offer, choice, key, scratch)
    }

    fn probabilities(&self, offer: Offer<'_>, scratch: &mut Scratch, out: &mut Vec<f64>) -> CoreResult<bool> {
        self.policy.probabilities(offer, scratch, out)
    }

    fn draws_normally(&self) -> bool {
        self.policy.draws_normally()
    }

    fn learn(&mut self, action: Action<'_>, reward: f64) -> CoreResult<()> {
        if let Some(Last { offer, chosen, propensity }) = lock(&self.last).take() {
            let written = lock(&self.writer).write(&offer, chosen, propensity, Some(reward));
            written.map_err(|cause| Error::Environment(cause.to_string()))?;
        }
        self.policy.learn(action, reward)
    }

    fn score(&self, offer: Offer<'_>, scratch: &mut Scratch) -> CoreResult<()> {
        self.policy.score(offer, scratch)
    }

    fn exploring(&self) -> bool {
        self.policy.exploring()
    }

    fn needs_finite_arms(&self) -> bool {
        self.policy.needs_finite_arms()
    }

    fn explanation(&self, action: Action<'_>) -> CoreResult<Explanation> {
        self.policy.explanation(action)
    }

    fn snapshot(&self) -> CoreResult<Snapshot> {
        self.policy.snapshot()
    }
}
