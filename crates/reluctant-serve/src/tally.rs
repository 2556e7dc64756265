//! What a policy did so far, in numbers whose memory does not grow: counts, shares of actions, and a course over time.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::event::{Decision, Event, Fact, Fate};

/// So many actions are counted by name; the rest are counted together.
const NAMED: usize = 64;
/// So many stretches make a course. When there are more, two neighbours become one.
const STRETCHES: usize = 128;

/// What a policy did so far.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Tally {
    /// Decisions.
    pub decisions: u64,
    /// Rewards that were given.
    pub rewards: u64,
    /// Of them, those that were learnt.
    pub learned: u64,
    /// Default rewards that were learnt because none came in time.
    pub defaults: u64,
    /// Rewards that came too late.
    pub late: u64,
    /// The sum of rewards that counted, defaults included.
    pub reward_sum: f64,
    /// Decisions that had a default.
    pub compared: u64,
    /// Of them, those in which the policy would have chosen it.
    pub agreed: u64,
    /// How often each action was chosen: by its name, or by its place among the arms.
    pub shares: BTreeMap<String, u64>,
    /// How often others were.
    pub others: u64,
    /// How all this went over time.
    pub course: Course,
}

/// Stretches of equally many decisions, the last one under way.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Course {
    /// Decisions of a stretch.
    pub length: u64,
    /// One after the other.
    pub stretches: Vec<Stretch>,
}

impl Default for Course {
    fn default() -> Self {
        Course { length: 1, stretches: Vec::new() }
    }
}

/// What happened in a stretch.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Stretch {
    /// When it began.
    pub time: u64,
    /// Decisions.
    pub decisions: u64,
    /// Rewards that counted.
    pub rewards: u64,
    /// Their sum.
    pub reward_sum: f64,
    /// The sum of the widths.
    pub width_sum: f64,
    /// The sum of the propensities.
    pub propensity_sum: f64,
    /// Decisions in which the policy agreed with the default.
    pub agreed: u64,
}

impl Stretch {
    fn absorb(&mut self, later: &Stretch) {
        self.decisions += later.decisions;
        self.rewards += later.rewards;
        self.reward_sum += later.reward_sum;
        self.width_sum += later.width_sum;
        self.propensity_sum += later.propensity_sum;
        self.agreed += later.agreed;
    }
}

impl Course {
    /// The stretch that a decision at `time` belongs to.
    fn next(&mut self, time: u64) -> &mut Stretch {
        let full = self.stretches.last().is_none_or(|last| last.decisions >= self.length);
        if full && self.stretches.len() == STRETCHES {
            let pairs = self.stretches.chunks(2).map(|pair| {
                let mut both = pair[0].clone();
                pair[1..].iter().for_each(|later| both.absorb(later));
                both
            });
            self.stretches = pairs.collect();
            self.length *= 2;
        }
        if full {
            self.stretches.push(Stretch { time, ..Stretch::default() });
        }
        let last = self.stretches.len() - 1;
        &mut self.stretches[last]
    }
}

impl Tally {
    /// Counts an event.
    pub fn count(&mut self, event: &Event) {
        match &event.fact {
            Fact::Decision(decision) => self.decision(event.time, decision),
            Fact::Reward(reward) => {
                match reward.fate {
                    Fate::Default => self.defaults += 1,
                    Fate::Late => self.late += 1,
                    Fate::Learned | Fate::Logged => {}
                }
                self.rewards += u64::from(reward.fate != Fate::Default);
                self.learned += u64::from(reward.fate == Fate::Learned);
                if reward.fate != Fate::Late {
                    self.reward_sum += reward.value;
                    if let Some(last) = self.course.stretches.last_mut() {
                        last.rewards += 1;
                        last.reward_sum += reward.value;
                    }
                }
            }
            _ => {}
        }
    }

    fn decision(&mut self, time: u64, decision: &Decision) {
        self.decisions += 1;
        let agreed = decision.agreed == Some(true);
        self.compared += u64::from(decision.agreed.is_some());
        self.agreed += u64::from(agreed);
        let label = decision.name.clone().or_else(|| decision.index.map(|index| index.to_string()));
        if let Some(label) = label {
            let room = self.shares.len() < NAMED;
            match self.shares.get_mut(&label) {
                Some(count) => *count += 1,
                None if room => drop(self.shares.insert(label, 1)),
                None => self.others += 1,
            }
        }
        let stretch = self.course.next(time);
        stretch.decisions += 1;
        stretch.width_sum += decision.width.unwrap_or(0.0);
        stretch.propensity_sum += decision.propensity.unwrap_or(0.0);
        stretch.agreed += u64::from(agreed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decision(n: u64, index: usize) -> Event {
        let decision = Decision {
            index: Some(index),
            name: None,
            action: vec![1.0],
            features: Vec::new(),
            propensity: Some(0.5),
            propensity_error: 0.0,
            mean: Some(0.0),
            width: Some(2.0),
            version: 0,
            default: None,
            default_propensity: None,
            agreed: None,
        };
        Event { n, policy: 1, time: n, id: n.to_string(), fact: Fact::Decision(decision), chain: 0 }
    }

    #[test]
    fn the_course_keeps_its_sums_and_its_size() {
        let mut tally = Tally::default();
        for n in 0..10_000 {
            tally.count(&decision(n, (n % 100) as usize));
        }
        assert_eq!(tally.decisions, 10_000);
        assert!(tally.course.stretches.len() <= STRETCHES);
        assert_eq!(tally.course.stretches.iter().map(|stretch| stretch.decisions).sum::<u64>(), 10_000);
        assert_eq!(tally.course.stretches.iter().map(|stretch| stretch.width_sum).sum::<f64>(), 20_000.0);
        assert_eq!(tally.shares.len(), NAMED);
        assert_eq!(tally.shares.values().sum::<u64>() + tally.others, 10_000);
    }
}
