//! What an explanation should warn of in the rewards so far: that they tell little, and why.

use serde::{Deserialize, Serialize};

use crate::network::all_alike;

/// Of fewer rewards nothing is said: few are often alike.
const ENOUGH: u64 = 100;
/// With fewer rewards for each action than this, on average, few actions can be known.
const FEW: u64 = 5;
/// Features whose sizes are further apart than this do not fit a model that takes them as they come.
const APART: f64 = 1e4;

/// What the rewards so far, and the rows or contexts that they are of, have in common. Nothing is known of it, and
/// nothing said, after a state was restored that has none.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(super) struct Remarks(Option<Seen>);

#[derive(Debug, Clone, Default, Serialize, Deserialize)]
struct Seen {
    count: u64,
    /// The first reward, and whether another one differed.
    reward: f64,
    rewards_differ: bool,
    features: Vec<Feature>,
}

/// A feature's first value, its greatest size, and whether it has ever changed.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
struct Feature {
    first: f64,
    size: f64,
    changed: bool,
}

/// What a policy makes of rewards.
#[derive(Debug, Clone, Copy)]
pub(super) struct Reader {
    /// Whether it brings features to one size.
    pub scales: bool,
    /// How many named actions were rewarded, where there are such.
    pub actions: Option<usize>,
}

/// One that takes rows as they come.
pub(super) const TAKES_ROWS: Reader = Reader { scales: false, actions: None };

impl Remarks {
    pub(super) fn new() -> Self {
        Remarks(Some(Seen::default()))
    }

    /// Takes note of a reward.
    pub(super) fn see(&mut self, x: &[f64], reward: f64) {
        let Some(seen) = &mut self.0 else { return };
        if seen.count == 0 {
            seen.reward = reward;
            seen.features = x.iter().map(|&first| Feature { first, size: 0.0, changed: false }).collect();
        }
        seen.count = seen.count.saturating_add(1);
        seen.rewards_differ |= reward != seen.reward;
        for (feature, x) in seen.features.iter_mut().zip(x) {
            feature.changed |= *x != feature.first;
            feature.size = feature.size.max(x.abs());
        }
    }

    /// The first thing that is amiss, in a sentence.
    pub(super) fn sentence(&self, reader: Reader) -> Option<String> {
        let seen = self.0.as_ref().filter(|seen| seen.count >= ENOUGH)?;
        seen.of_rewards()
            .or_else(|| reader.actions.and_then(|actions| seen.of_actions(actions)))
            .or_else(|| seen.of_constants(reader))
            .or_else(|| if reader.scales { None } else { seen.of_sizes() })
    }
}

impl Seen {
    fn of_rewards(&self) -> Option<String> {
        (!self.rewards_differ).then(|| all_alike(self.count, self.reward))
    }

    fn of_actions(&self, actions: usize) -> Option<String> {
        let count = self.count;
        match actions {
            1 => Some(format!("all {count} rewards so far are of one action: there is no other to compare it with")),
            _ if count < FEW.saturating_mul(actions as u64) => {
                Some(format!("{count} rewards so far are of {actions} actions: few of them can be known"))
            }
            _ => None,
        }
    }

    /// Of contexts alone: rows that were not played may differ. To a policy that takes them as they come a constant may
    /// tell one action from another, if it is not 0.
    fn of_constants(&self, reader: Reader) -> Option<String> {
        reader.actions?;
        let tells_nothing = |feature: &&Feature| !feature.changed && (reader.scales || feature.first == 0.0);
        let (constant, all) = (self.features.iter().filter(tells_nothing).count(), self.features.len());
        (constant > 0).then(|| format!("{constant} of {all} features have never changed so far: they tell nothing"))
    }

    fn of_sizes(&self) -> Option<String> {
        let sizes = || self.features.iter().map(|feature| feature.size).filter(|size| *size > 0.0);
        let (most, least) = (sizes().fold(0.0, f64::max), sizes().fold(f64::INFINITY, f64::min));
        (most > APART * least).then(|| {
            format!(
                "the largest values of features go from {least:.0e} to {most:.0e}, and this policy takes them as they \
                 come: it does better if they are of one size"
            )
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn after(rounds: u64, x: impl Fn(u64) -> [f64; 2], reward: impl Fn(u64) -> f64) -> Remarks {
        let mut remarks = Remarks::new();
        (0..rounds).for_each(|i| remarks.see(&x(i), reward(i)));
        remarks
    }

    fn said(remarks: &Remarks, reader: Reader) -> String {
        remarks.sentence(reader).unwrap_or_default()
    }

    #[test]
    fn each_flaw_has_its_sentence() {
        let (plain, both) = (|i| [i as f64, 1.0 - i as f64], |i| (i % 2) as f64);
        let fine = after(100, plain, both);
        assert_eq!(fine.sentence(TAKES_ROWS), None);
        assert_eq!(fine.sentence(Reader { actions: Some(20), ..TAKES_ROWS }), None);
        let one = said(&fine, Reader { actions: Some(1), ..TAKES_ROWS });
        assert_eq!(one, "all 100 rewards so far are of one action: there is no other to compare it with");
        let many = said(&fine, Reader { actions: Some(21), ..TAKES_ROWS });
        assert_eq!(many, "100 rewards so far are of 21 actions: few of them can be known");
        let zeros = after(1000, plain, |_| 0.0);
        assert_eq!(said(&zeros, TAKES_ROWS), "all 1000 rewards so far were 0: they tell no action from another");
        let of_two = |scales| Reader { scales, actions: Some(2) };
        let (constant, zero) = (after(100, |i| [i as f64, 7.0], both), after(100, |i| [i as f64, 0.0], both));
        for (remarks, reader) in [(&constant, of_two(true)), (&zero, of_two(true)), (&zero, of_two(false))] {
            assert_eq!(said(remarks, reader), "1 of 2 features have never changed so far: they tell nothing");
        }
        assert_eq!((constant.sentence(of_two(false)), zero.sentence(TAKES_ROWS)), (None, None));
        let apart = after(100, |i| [1e6 * i as f64, 1e-6 * i as f64], both);
        assert!(said(&apart, TAKES_ROWS).starts_with("the largest values of features go from 1e-4 to 1e8, and"));
        assert_eq!(apart.sentence(Reader { scales: true, ..TAKES_ROWS }), None);
    }

    #[test]
    fn few_rewards_and_older_states_say_nothing() {
        assert_eq!(after(99, |_| [0.0; 2], |_| 0.0).sentence(TAKES_ROWS), None);
        let mut older = Remarks::default();
        (0..200).for_each(|_| older.see(&[0.0], 0.0));
        assert_eq!(older.sentence(TAKES_ROWS), None);
    }
}
