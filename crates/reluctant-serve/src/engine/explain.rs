//! What can be seen of a policy: its decisions, and what it thinks of them.

use reluctant::policy::Explanation;

use super::{Answer, Engine, Refusal};
use crate::event::{Decision, Event, Fact, Reward};
use crate::offer::Offering;

/// A decision, what came of it, and what the policy thinks of it now.
#[derive(Debug, Clone)]
pub struct Explained {
    /// The number of the event.
    pub n: u64,
    /// The id.
    pub id: String,
    /// When it was made.
    pub time: u64,
    /// The decision.
    pub decision: Decision,
    /// What was on offer, if it was asked for.
    pub offering: Option<Offering>,
    /// The default reward, or the one that was given, if any came.
    pub rewards: Vec<Reward>,
    /// What the policy thinks of the action now.
    pub explanation: Option<Explanation>,
    /// The version that thinks so.
    pub version: u64,
}

/// How much of a decision is looked up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Look {
    /// All of it.
    Whole,
    /// Not what was on offer.
    Brief,
}

impl Engine {
    /// The decision with this id, explained.
    pub fn explain(&mut self, policy: usize, id: &str) -> Answer<Explained> {
        let Some(place) = self.store.find(self.live[policy].id, id)? else {
            let name = &self.live[policy].spec.name;
            return Err(Refusal::Unknown(format!("{name} made no decision with the id '{id}'")));
        };
        let missing = || Refusal::Store(format!("event {} is missing from the log", place.n));
        let event = self.store.event(place.n)?.ok_or_else(missing)?;
        self.explained(policy, event, Look::Whole)
    }

    /// The last decisions, the latest first.
    pub fn last_decisions(&mut self, policy: usize, count: usize) -> Answer<Vec<Explained>> {
        let events = self.store.last_decisions(self.live[policy].id, count)?;
        events.into_iter().map(|event| self.explained(policy, event, Look::Brief)).collect()
    }

    fn explained(&mut self, policy: usize, event: Event, look: Look) -> Answer<Explained> {
        let Event { n, id, time, fact: Fact::Decision(decision), .. } = event else {
            return Err(Refusal::Store(format!("event {} is no decision", event.n)));
        };
        let offering = match look {
            Look::Brief => None,
            Look::Whole => Offering::decode(&self.store.offer(n)?),
        };
        let mut rewards = Vec::new();
        if let Some(place) = self.store.find(self.live[policy].id, &id)? {
            for n in [place.expiry, place.reward].into_iter().flatten() {
                if let Some(Event { fact: Fact::Reward(reward), .. }) = self.store.event(n)? {
                    rewards.push(reward);
                }
            }
        }
        let live = &self.live[policy];
        let explanation = live.state.policy.explanation(decision.learnt().as_action()).ok();
        Ok(Explained { n, id, time, decision, offering, rewards, explanation, version: live.state.version })
    }
}
