//! A round as an environment gives it ([`Round`]): the offer, the mean reward of everything on offer,
//! and the noise of what is chosen.

use std::fmt;

use crate::choice::Choice;
use crate::error::{Error, Result};
use crate::offer::{Context, Name, Offer, Rows};

/// What an environment gives for a round. A learner sees the offer alone.
#[derive(Debug, Clone, Copy)]
pub struct Round<'a> {
    /// What is on offer.
    pub offer: Offer<'a>,
    /// The mean reward of everything on offer, hidden from learners.
    pub means: Means<'a>,
    /// How the reward of what is chosen strays from its mean.
    pub noise: Noise<'a>,
}

/// The mean reward of everything on offer.
#[derive(Debug, Clone, Copy)]
pub enum Means<'a> {
    /// One number an action, in the order of the offer.
    Each(&'a [f64]),
    /// A function on the sphere.
    Sphere(&'a dyn SphereReward),
}

/// The mean reward as a function on the unit sphere.
pub trait SphereReward: fmt::Debug + Send + Sync {
    /// The mean reward of a point.
    fn mean(&self, x: &[f64]) -> f64;

    /// A point of greatest mean reward.
    fn best_action(&self) -> &[f64];

    /// The greatest mean reward.
    fn best(&self) -> f64;

    /// The mean reward of a uniformly random point.
    fn average(&self) -> f64;
}

/// How the reward of what is chosen strays from its mean.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Noise<'a> {
    /// This number is added, whatever is chosen.
    Added(f64),
    /// A number for each action is added.
    Each(&'a [f64]),
    /// The mean is the probability of a reward of 1, and this number, uniform on [0, 1),
    /// decides; otherwise the reward is 0.
    Coin(f64),
}

/// Memory that an environment writes a round into, kept by the caller so that rounds do not allocate.
#[derive(Debug, Default)]
pub struct RoundMemory {
    /// Arms or contexts.
    pub numbers: Vec<f64>,
    /// Mean rewards.
    pub means: Vec<f64>,
    /// Noise, where actions have their own.
    pub noise: Vec<f64>,
    /// The names of actions.
    pub names: Vec<Name>,
    /// The features of actions.
    pub action_features: Vec<f64>,
}

impl<'a> Round<'a> {
    /// The best mean reward and the average one: what regret, and the regret of chance, is measured against.
    pub fn best_and_average(&self) -> (f64, f64) {
        match self.means {
            Means::Each(means) => {
                let best = means.iter().copied().fold(f64::NEG_INFINITY, f64::max);
                (best, means.iter().sum::<f64>() / means.len() as f64)
            }
            Means::Sphere(reward) => (reward.best(), reward.average()),
        }
    }

    /// The mean reward of a choice from this round.
    pub fn mean(&self, choice: &Choice<'_>) -> Result<f64> {
        match (self.means, choice.index) {
            (Means::Each(means), Some(index)) => means.get(index).copied().ok_or(Error::NotOnOffer),
            (Means::Sphere(reward), _) => Ok(reward.mean(&choice.action)),
            (Means::Each(_), None) => Err(Error::NotOnOffer),
        }
    }

    /// The reward of a choice from this round, given its mean.
    pub fn reward(&self, choice: &Choice<'_>, mean: f64) -> f64 {
        match (self.noise, choice.index) {
            (Noise::Added(noise), _) => mean + noise,
            (Noise::Each(noise), Some(index)) => mean + noise.get(index).copied().unwrap_or(0.0),
            (Noise::Each(_), None) => mean,
            (Noise::Coin(uniform), _) => f64::from(uniform < mean),
        }
    }

    /// An error unless there is one finite mean reward, and one finite noise, for everything on offer. Environments of
    /// this crate hold to it; those that others write are checked.
    pub fn check(&self) -> Result<()> {
        let counted = |what: &'static str, numbers: &[f64]| {
            let count = self.offer.count().unwrap_or(0);
            if numbers.len() != count {
                return Err(Error::Dimension { what, expected: count, found: numbers.len() });
            }
            numbers.iter().try_for_each(|&x| crate::action::check_finite(what, x))
        };
        match (self.means, self.offer) {
            (Means::Each(means), _) => counted("the list of mean rewards", means)?,
            (Means::Sphere(_), Offer::Sphere { .. }) => {}
            (Means::Sphere(_), _) => counted("the list of mean rewards", &[])?,
        }
        match self.noise {
            Noise::Each(noise) => counted("the list of noise", noise),
            Noise::Added(noise) => crate::action::check_finite("the noise", noise),
            Noise::Coin(uniform) => {
                let means = if let Means::Each(means) = self.means { means } else { &[] };
                if let Some(mean) = means.iter().find(|mean| !(0.0..=1.0).contains(*mean)) {
                    let allowed = "from 0 to 1, as the probability of a reward of 1";
                    return Err(Error::out_of_range("a mean reward", mean, allowed));
                }
                crate::action::check_finite("the noise", uniform)
            }
        }
    }

    /// The same round with no more than the first `count` actions.
    pub(crate) fn first(self, count: usize) -> Round<'a> {
        let Round { offer, means, noise } = self;
        let offer = match offer {
            Offer::Rows(rows) => Offer::Rows(rows.first(count)),
            Offer::Context(context) => Offer::Context(context.first(count)),
            sphere @ Offer::Sphere { .. } => sphere,
        };
        let kept = |numbers: &'a [f64]| &numbers[..offer.count().unwrap_or(0).min(numbers.len())];
        let means = if let Means::Each(means) = means { Means::Each(kept(means)) } else { means };
        let noise = if let Noise::Each(noise) = noise { Noise::Each(kept(noise)) } else { noise };
        Round { offer, means, noise }
    }
}

impl<'a> From<Rows<'a>> for Offer<'a> {
    fn from(rows: Rows<'a>) -> Self {
        Offer::Rows(rows)
    }
}

impl<'a> From<Context<'a>> for Offer<'a> {
    fn from(context: Context<'a>) -> Self {
        Offer::Context(context)
    }
}
