//! Rewards: each is taken exactly once, and what never comes is replaced by a default.

use super::{Answer, Engine, Refusal};
use crate::config::Mode;
use crate::error::{Result, ServeError};
use crate::event::{Decision, Event, Fact, Fate, Reward};
use crate::store::Waiting;

/// So many decisions get their default reward in one group at most.
const AT_ONCE: usize = 1_000;

/// A reward as it stands in the log.
#[derive(Debug, Clone, PartialEq)]
pub struct Rewarded {
    /// The number of the event.
    pub n: u64,
    /// The id of the decision.
    pub id: String,
    /// The reward.
    pub reward: Reward,
}

impl Engine {
    /// Takes a reward, or says what was made of it when it came first.
    pub fn reward(&mut self, policy: usize, id: &str, value: f64) -> Answer<Rewarded> {
        if !value.is_finite() || value.abs() > reluctant::limits::LIMIT {
            let most = reluctant::limits::LIMIT;
            return Err(Refusal::Invalid(format!("the reward is {value:e}: it must be finite and at most {most:e}")));
        }
        let Some(place) = self.store.find(self.live[policy].id, id)? else {
            let name = &self.live[policy].spec.name;
            return Err(Refusal::Unknown(format!("{name} made no decision with the id '{id}'")));
        };
        if let Some(n) = place.reward {
            return self.rewarded_again(n, value);
        }
        let (time, decision) = self.decision(place.n)?;
        let overdue = self.live[policy].spec.reward_wait.is_some_and(|wait| self.now() >= time + wait);
        if overdue && place.expiry.is_none() {
            let waiting = Waiting { n: place.n, id: id.to_owned(), time };
            self.expire_one(policy, &waiting)?;
        }
        let live = &mut self.live[policy];
        let fate = match live.spec.mode {
            _ if overdue || place.expiry.is_some() => Fate::Late,
            Mode::LogOnly => Fate::Logged,
            _ if live.state.paused => Fate::Logged,
            _ => Fate::Learned,
        };
        let learnt = (fate == Fate::Learned).then(|| decision.learnt());
        let reward = Reward { of: place.n, value, fate, learnt };
        let n = self.log(policy, id.to_owned(), Fact::Reward(reward.clone()), &[])?;
        Ok(Rewarded { n, id: id.to_owned(), reward })
    }

    fn rewarded_again(&mut self, n: u64, value: f64) -> Answer<Rewarded> {
        let missing = || Refusal::Store(format!("event {n} is missing from the log"));
        let Event { id, fact: Fact::Reward(reward), .. } = self.store.event(n)?.ok_or_else(missing)? else {
            return Err(missing());
        };
        if reward.value == value {
            return Ok(Rewarded { n, id, reward });
        }
        let message = format!("event '{id}' was rewarded with {} already; a reward cannot be changed", reward.value);
        Err(Refusal::Conflict(message))
    }

    /// Event `n`, which is a decision, and its time.
    pub(super) fn decision(&mut self, n: u64) -> Result<(u64, Decision)> {
        match self.store.event(n)? {
            Some(Event { time, fact: Fact::Decision(decision), .. }) => Ok((time, decision)),
            _ => Err(ServeError::Store(format!("decision {n} is missing from the log"))),
        }
    }

    /// Gives the default reward to decisions that have waited long enough for theirs.
    pub(super) fn expire(&mut self) -> Result<()> {
        for policy in 0..self.live.len() {
            let now = self.now();
            let live = &self.live[policy];
            let (Some(wait), Some(_)) = (live.spec.reward_wait, live.spec.default_reward) else { continue };
            if now < live.next_due || !self.store.lease()? {
                continue;
            }
            let id = live.id;
            let waiting = self.store.waiting(id, AT_ONCE)?;
            let mut next_due = now + wait;
            for decision in &waiting {
                if now < decision.time + wait {
                    next_due = decision.time + wait;
                    break;
                }
                self.expire_one(policy, decision)?;
                next_due = now;
            }
            self.live[policy].next_due = next_due;
        }
        Ok(())
    }

    fn expire_one(&mut self, policy: usize, waiting: &Waiting) -> Result<()> {
        let Some(value) = self.live[policy].spec.default_reward else { return Ok(()) };
        let learns = self.live[policy].spec.mode != Mode::LogOnly && !self.live[policy].state.paused;
        let learnt = if learns { Some(self.decision(waiting.n)?.1.learnt()) } else { None };
        let reward = Reward { of: waiting.n, value, fate: Fate::Default, learnt };
        self.log(policy, waiting.id.clone(), Fact::Reward(reward), &[]).map(drop)
    }
}
