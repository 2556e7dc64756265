//! A policy behind a box, as a policy.

use reluctant::{Action, Choice, Key, Offer, Policy, Result, Scratch, Snapshot, Space};

#[derive(Debug)]
pub(crate) struct Boxed(pub(crate) Box<dyn Policy>);

impl Policy for Boxed {
    fn name(&self) -> &'static str {
        self.0.name()
    }

    fn dim(&self) -> usize {
        self.0.dim()
    }

    fn space(&self) -> Space {
        self.0.space()
    }

    fn select<'a>(&self, offer: Offer<'a>, key: Key, scratch: &mut Scratch) -> Result<Choice<'a>> {
        self.0.select(offer, key, scratch)
    }

    fn probabilities(&self, offer: Offer<'_>, scratch: &mut Scratch, out: &mut Vec<f64>) -> Result<bool> {
        self.0.probabilities(offer, scratch, out)
    }

    fn learn(&mut self, action: Action<'_>, reward: f64) -> Result<()> {
        self.0.learn(action, reward)
    }

    fn score(&self, offer: Offer<'_>, scratch: &mut Scratch) -> Result<()> {
        self.0.score(offer, scratch)
    }

    fn snapshot(&self) -> Result<Snapshot> {
        self.0.snapshot()
    }
}
