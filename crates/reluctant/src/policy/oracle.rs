//! `oracle`: the best action, every round. The scale's other end: its regret is zero.
//!
//! It does not learn; it reads the mean rewards of the round that an environment gives ([`Policy::select_in`]). Of an
//! offer alone it knows nothing, and refuses to choose.

use serde::{Deserialize, Serialize};

use super::uniform::{check_any, explain_nothing, score_nothing};
use super::{Build, Contexts, Entry, Explanation, Policy, Restore, Sample, Snapshot, read_state};
use crate::action::Action;
use crate::choice::{Choice, Score, argmax};
use crate::error::{Error, Result};
use crate::offer::Offer;
use crate::rng::Key;
use crate::round::{Means, Round};
use crate::scratch::Scratch;

pub(super) const ENTRY: Entry = Entry {
    name: "oracle",
    summary: "knows the mean rewards and takes the best action",
    citation: "none: the scale against which regret is read",
    params: &[],
    sphere: true,
    contexts: Contexts::Itself,
    samples: &[
        Sample { name: "relu", environment: "relu-sphere", settings: &[] },
        Sample { name: "linear", environment: "linear-sphere", settings: &[] },
    ],
    build: Build::Plain(|dim, _, _| Ok(Box::new(Oracle { dim }))),
    restore: Restore::Plain(|state| Ok(Box::new(read_state(state, |policy: &Oracle| policy.dim > 0)?))),
};

/// Knows the mean rewards and takes the best action.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Oracle {
    dim: usize,
}

impl Policy for Oracle {
    fn name(&self) -> &'static str {
        ENTRY.name
    }

    fn dim(&self) -> usize {
        self.dim
    }

    fn select<'a>(&self, offer: Offer<'a>, _: Key, _: &mut Scratch) -> Result<Choice<'a>> {
        offer.expect_dim(self.dim)?;
        Err(Error::NeedsMeans)
    }

    fn select_in<'a>(&self, round: &Round<'a>, _: Key, _: &mut Scratch) -> Result<Choice<'a>> {
        round.offer.expect_dim(self.dim)?;
        let sure = |mean: f64| Score { mean, width: 0.0 };
        match (round.means, round.offer) {
            (Means::Each(means), offer) => {
                let best = argmax(means.iter().copied()).ok_or(Error::NeedsMeans)?;
                match offer {
                    Offer::Rows(rows) => Ok(Choice::row(rows, best, sure(means[best]))),
                    Offer::Context(context) => Ok(Choice::named(context, best, sure(means[best]))),
                    Offer::Sphere { .. } => Err(Error::NeedsMeans),
                }
            }
            (Means::Sphere(reward), _) => {
                let action = reward.best_action().to_vec();
                let score = sure(reward.mean(&action));
                Ok(Choice::point(action, score))
            }
        }
    }

    fn learn(&mut self, action: Action<'_>, reward: f64) -> Result<()> {
        check_any(self.dim, action, reward)
    }

    fn score(&self, offer: Offer<'_>, scratch: &mut Scratch) -> Result<()> {
        score_nothing(ENTRY.name, self.dim, offer, scratch)
    }

    fn model(&self) -> (String, String) {
        (ENTRY.name.to_owned(), "it plays the arm of greatest mean reward, which it is told".to_owned())
    }

    fn explanation(&self, action: Action<'_>) -> Result<Explanation> {
        explain_nothing(
            ENTRY.name,
            self.dim,
            action,
            "it reads the mean rewards of a round, which this action alone does not tell",
        )
    }

    fn snapshot(&self) -> Result<Snapshot> {
        Snapshot::of(ENTRY.name, self)
    }
}

#[cfg(test)]
mod tests {
    use crate::{Key, Offer, Scratch, Settings, env, play, policy};

    #[test]
    fn its_regret_is_zero_among_arms_and_on_the_sphere() {
        for (kind, actions) in [
            ("relu-sphere", "finite"),
            ("relu-sphere", "sphere"),
            ("linear-sphere", "finite"),
            ("linear-sphere", "sphere"),
        ] {
            let key = Key::new(3);
            let settings = Settings::new().with("dim", 3u64).with("actions", actions);
            let settings = if kind == "linear-sphere" { settings.with("offset", -5.0) } else { settings };
            let environment = env::build(kind, &settings, key).unwrap();
            let mut oracle = policy::build("oracle", environment.space(), &Settings::new(), key).unwrap();
            let mut regret: f64 = 0.0;
            play(environment.as_ref(), oracle.as_mut(), key, 20, |step| regret += step.regret.abs()).unwrap();
            // On the sphere the greatest mean is the norm of a vector, the chosen one's a sum of products.
            assert!(regret < 1e-12, "{kind} {actions}: {regret}");
        }
    }

    #[test]
    fn without_means_it_does_not_choose() {
        let oracle = policy::build("oracle", 2, &Settings::new(), Key::new(1)).unwrap();
        let offer = Offer::finite(2, &[1.0, 0.0]).unwrap();
        let said = oracle.select(offer, Key::new(1), &mut Scratch::default());
        assert_eq!(
            said.unwrap_err().to_string(),
            "oracle reads the mean rewards of a round, which an offer alone does not tell: let it play in an \
             environment"
        );
    }
}
