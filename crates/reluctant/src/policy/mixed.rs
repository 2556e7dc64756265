//! A policy that leaves a share of its choices to chance, so that every action has a known probability.
//!
//! With `chance = ε` a choice is with probability ε uniform among all on offer, else the policy's own. It learns from
//! both. Whatever the policy is, no action then has a probability below ε/K among K, and what others would have earned
//! can be told from a log of its choices.

use super::propensity::known;
use super::uniform::uniform_on_sphere;
use super::{Explanation, Fitted, Policy, Snapshot};
use crate::action::Action;
use crate::choice::Choice;
use crate::error::Result;
use crate::offer::{Offer, Space};
use crate::params::{Initial, Kind, Param, Params, Settings};
use crate::rng::{Key, Purpose, index, uniform};
use crate::round::Round;
use crate::scratch::Scratch;

/// The share of choices that are left to chance.
pub const CHANCE: Param = Param::new(
    "chance",
    Initial::real(0.0),
    Kind::Real { min: 0.0, max: 1.0, above: false, below: false },
    "share of choices that are left to chance, uniform among all on offer, whatever the policy thinks; `explore` is \
     another name for it, but for policies that have an `explore` of their own",
);

/// Another name of [`CHANCE`], for policies that have no parameter of that name.
pub const EXPLORE: Param = Param { name: "explore", doc: "another name of chance", ..CHANCE };

/// A policy, and the share of its choices that are left to chance.
#[derive(Debug)]
pub struct Mixed {
    chance: f64,
    policy: Box<dyn Policy>,
}

impl Mixed {
    /// The policy as the settings ask for it: as it is, unless they leave something to chance. A parameter that changes
    /// nothing is not read.
    pub(super) fn wrap(policy: Box<dyn Policy>, params: &Params, settings: &Settings) -> Result<Box<dyn Policy>> {
        let given = settings.get(CHANCE.name).is_some() && params.complete().get(CHANCE.name) != Some(&0.0.into());
        if given { Ok(Mixed::of(policy, params.real(CHANCE.name)?)) } else { Ok(policy) }
    }

    /// The policy with this share of choices left to chance.
    pub(super) fn of(policy: Box<dyn Policy>, chance: f64) -> Box<dyn Policy> {
        if chance > 0.0 { Box::new(Mixed { chance, policy }) } else { policy }
    }

    /// The probability of an action that the policy within chooses with probability `own`, among `count`.
    fn mix(&self, own: f64, count: usize) -> f64 {
        (1.0 - self.chance) * own + self.chance / count as f64
    }

    fn choose<'a>(
        &self,
        offer: Offer<'a>,
        key: Key,
        scratch: &mut Scratch,
        select: impl FnOnce(&mut Scratch) -> Result<Choice<'a>>,
    ) -> Result<Choice<'a>> {
        let own = select(scratch)?;
        let coin = key.branch(CHANCE.name);
        let mut stream = coin.purpose(Purpose::Choice).stream();
        let by_chance = uniform(&mut stream) < self.chance;
        let Some(count) = offer.count() else {
            let anywhere = uniform_on_sphere(offer.dim(), coin.later(1));
            let propensity = self.mix_on_sphere(&own, &anywhere, by_chance);
            return Ok(if by_chance { anywhere } else { own }.with_propensity(propensity));
        };
        let place = index(&mut stream, count);
        let stated = own.propensity.map(|p| self.mix(p, count));
        if !by_chance {
            return Ok(own.with_propensity(stated));
        }
        let propensity = match (own.propensity, Some(place) == own.index) {
            (_, true) => stated,
            (Some(1.0), false) => Some(self.mix(0.0, count)),
            _ => {
                let mut all = Vec::new();
                known(self.policy.as_ref(), offer, key, scratch, &mut all)?.then(|| self.mix(all[place], count))
            }
        };
        self.policy.score(offer, scratch)?;
        let score = scratch.scores.get(place).copied().unwrap_or_default();
        let choice = match offer {
            Offer::Context(context) => Choice::named(context, place, score),
            Offer::Rows(rows) => Choice::row(rows, place, score),
            Offer::Sphere { .. } => own,
        };
        Ok(Choice { appeal: None, propensity, ..choice })
    }

    /// The density of a point of the sphere that was left to chance, here or by the policy within; or the probability
    /// that the policy within chose by itself.
    fn mix_on_sphere(&self, own: &Choice<'_>, anywhere: &Choice<'_>, by_chance: bool) -> Option<f64> {
        let uniform = anywhere.propensity?;
        match (own.appeal, by_chance) {
            // The policy within leaves it to chance itself, uniformly as all of them do.
            (None, _) if own.propensity == Some(uniform) => Some(uniform),
            (None, true) => None,
            (None, false) => own.propensity.map(|p| (1.0 - self.chance) * p + self.chance * uniform),
            (Some(_), true) => Some(self.chance * uniform),
            // That it was the policy itself; where it draws, what density its own points have is not known.
            (Some(_), false) => Some((1.0 - self.chance).max(f64::MIN_POSITIVE)),
        }
    }
}

impl Policy for Mixed {
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
        self.choose(offer, key, scratch, |scratch| self.policy.select(offer, key, scratch))
    }

    fn select_in<'a>(&self, round: &Round<'a>, key: Key, scratch: &mut Scratch) -> Result<Choice<'a>> {
        self.choose(round.offer, key, scratch, |scratch| self.policy.select_in(round, key, scratch))
    }

    fn probabilities(&self, offer: Offer<'_>, scratch: &mut Scratch, out: &mut Vec<f64>) -> Result<bool> {
        if !known(self.policy.as_ref(), offer, Key::new(0), scratch, out)? {
            return Ok(false);
        }
        let count = out.len();
        out.iter_mut().for_each(|p| *p = self.mix(*p, count));
        Ok(true)
    }

    fn learn(&mut self, action: Action<'_>, reward: f64) -> Result<()> {
        self.policy.learn(action, reward)
    }

    fn score(&self, offer: Offer<'_>, scratch: &mut Scratch) -> Result<()> {
        self.policy.score(offer, scratch)
    }

    fn means(&self, offer: Offer<'_>, scratch: &mut Scratch) -> Result<()> {
        self.policy.means(offer, scratch)
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
        Ok(Snapshot { chance: self.chance, ..self.policy.snapshot()? })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::build;

    fn identity(settings: &Settings) -> Result<Settings> {
        let entry = crate::policy::find("oful")?;
        entry.build_and_identify(3, settings, Key::new(1)).map(|(_, read)| read)
    }

    #[test]
    fn explore_is_another_name_of_chance() {
        let (first, second) = (Settings::new().with("chance", 0.25), Settings::new().with("explore", 0.25));
        assert_eq!(identity(&first), identity(&second));
        assert_ne!(identity(&first), identity(&Settings::new()));
        let said = |settings: Settings| identity(&settings).map_or_else(|cause| cause.to_string(), |_| String::new());
        let both = said(first.with("explore", 0.25));
        assert_eq!(both, "explore and chance are two names of one parameter: give one of them");
        let wrong = said(Settings::new().with("explore", 2u64));
        assert!(wrong.starts_with("explore = 2 is out of range: "), "{wrong}");
    }

    #[test]
    fn who_has_an_explore_of_its_own_keeps_it() -> Result<()> {
        let settings = Settings::new().with("neurons", 2u64).with("explore", 20u64).with("chance", 0.5);
        let policy = build("ofu-relu", 2, &settings, Key::new(1))?;
        assert_eq!(policy.snapshot()?.chance, 0.5);
        Ok(())
    }

    /// Points that chance chose have the share ε of the uniform density, others the probability 1 − ε.
    #[test]
    fn on_the_sphere_chance_has_a_density() -> Result<()> {
        let (offer, mut scratch) = (Offer::Sphere { dim: 3 }, Scratch::default());
        let uniform = 1.0 / (4.0 * std::f64::consts::PI);
        for kind in ["oful", "lin-ts"] {
            let policy = build(kind, 3, &Settings::new().with("chance", 0.25), Key::new(1))?;
            let mut by_chance = 0;
            for t in 0..400 {
                let choice = policy.select(offer, Key::new(2).round(t), &mut scratch)?;
                let expected = if choice.appeal.is_none() { 0.25 * uniform } else { 0.75 };
                assert!(choice.propensity.is_some_and(|p| (p - expected).abs() < 1e-15), "{kind}: {choice:?}");
                by_chance += usize::from(choice.appeal.is_none());
            }
            assert!((70..130).contains(&by_chance), "{kind}: {by_chance}");
        }
        let mixed = build("uniform", 3, &Settings::new().with("chance", 0.25), Key::new(1))?;
        let choice = mixed.select(offer, Key::new(2), &mut scratch)?;
        assert!(choice.propensity.is_some_and(|p| (p - uniform).abs() < 1e-15));
        Ok(())
    }
}
