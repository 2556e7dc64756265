//! Decisions: the same id gives the same answer.

use reluctant::{Choice, Offer, Purpose, Score};

use super::{Answer, Engine, Live, Refusal};
use crate::config::Mode;
use crate::event::{Decision, Event, Fact};
use crate::offer::Offering;

/// The longest id of a decision, in bytes.
const LONGEST_ID: usize = 128;
/// What ids that the service makes begin with, and others may not.
const OWN: char = '~';

/// A request for a decision.
#[derive(Debug, Clone)]
pub struct Ask {
    /// Its id; one is made if it has none.
    pub id: Option<String>,
    /// What is on offer.
    pub offering: Offering,
    /// The same as bytes, which are made before the engine is asked: it has little time.
    pub(crate) offer: Vec<u8>,
    /// The place of what the caller would do by itself.
    pub default: Option<usize>,
    /// The probability with which the caller came upon it.
    pub default_propensity: Option<f64>,
}

impl Ask {
    /// A request without a default.
    pub fn new(id: Option<String>, offering: Offering) -> Self {
        let offer = offering.encode();
        Ask { id, offering, offer, default: None, default_propensity: None }
    }

    /// The same with a default, and the probability with which the caller came upon it.
    #[must_use]
    pub fn with_default(self, place: usize, propensity: Option<f64>) -> Self {
        Ask { default: Some(place), default_propensity: propensity, ..self }
    }
}

/// A decision as it stands in the log.
#[derive(Debug, Clone)]
pub struct Decided {
    /// The number of the event.
    pub n: u64,
    /// The id.
    pub id: String,
    /// The decision.
    pub decision: Decision,
}

impl Engine {
    /// Decides, or gives the decision that was made under this id.
    pub fn decide(&mut self, policy: usize, ask: Ask) -> Answer<Decided> {
        let id = match &ask.id {
            Some(id) => check_id(id)?.to_owned(),
            None => format!("{OWN}{}", self.end.n + 1),
        };
        if ask.id.is_some()
            && let Some(place) = self.store.find(self.live[policy].id, &id)?
        {
            return self.again(place.n, &ask);
        }
        let decision = self.live[policy].choose(self.end.n + 1, &ask)?;
        let n = self.log(policy, id.clone(), Fact::Decision(decision.clone()), &ask.offer)?;
        Ok(Decided { n, id, decision })
    }

    /// The decision that was made, if it was asked for in the same words.
    fn again(&mut self, n: u64, ask: &Ask) -> Answer<Decided> {
        let missing = || Refusal::Store(format!("event {n} is missing from the log"));
        let Event { id, fact: Fact::Decision(decision), .. } = self.store.event(n)?.ok_or_else(missing)? else {
            return Err(missing());
        };
        let same = self.store.offer(n)? == ask.offer
            && decision.default == ask.default
            && decision.default_propensity == ask.default_propensity;
        if same {
            return Ok(Decided { n, id, decision });
        }
        Err(Refusal::Conflict(format!(
            "event '{id}' was decided on another offer; give every decision an id of its own"
        )))
    }
}

/// An error unless an event may have this id.
pub(super) fn check_id(id: &str) -> Answer<&str> {
    let plain = !id.is_empty() && id.len() <= LONGEST_ID && !id.chars().any(char::is_control);
    if plain && !id.starts_with(OWN) {
        return Ok(id);
    }
    let allowed = format!("1 to {LONGEST_ID} bytes, no control characters, not beginning with '{OWN}'");
    Err(Refusal::Invalid(format!("an event's id must have {allowed}")))
}

impl Live {
    /// What to do, as it will be logged as event `n`.
    fn choose(&mut self, n: u64, ask: &Ask) -> Answer<Decision> {
        let offer = ask.offering.as_offer()?;
        check_default(ask)?;
        if self.spec.mode == Mode::Online {
            let choice = self.select(n, offer)?;
            let agreed = ask.default.map(|default| choice.index == Some(default));
            return Ok(self.decision(&choice, ask, agreed));
        }
        let Some(default) = ask.default else {
            let mode = self.spec.mode.name();
            return Err(Refusal::Invalid(format!("in mode {mode} a request needs a default, which is what is played")));
        };
        let (score, agreed) = if self.spec.mode == Mode::Apprentice {
            let choice = self.select(n, offer)?;
            self.state.policy.score(offer, &mut self.scratch)?;
            (self.scratch.scores().get(default).copied(), Some(choice.index == Some(default)))
        } else {
            self.check_space(offer)?;
            (None, None)
        };
        let choice = match offer {
            Offer::Rows(rows) => Choice::row(rows, default, Score::default()),
            Offer::Context(context) => Choice::named(context, default, Score::default()),
            Offer::Sphere { .. } => return Err(Refusal::Invalid("a default needs a finite offer".to_owned())),
        };
        let choice = choice.with_propensity(ask.default_propensity.unwrap_or(1.0));
        let decision = self.decision(&choice, ask, agreed);
        let (mean, width) = (score.map(|score| score.mean), score.map(|score| score.width));
        Ok(Decision { mean: mean.and_then(finite), width: width.and_then(finite), ..decision })
    }

    /// The policy's choice with its probability; its randomness is named by the number of the event.
    fn select<'a>(&mut self, n: u64, offer: Offer<'a>) -> reluctant::Result<Choice<'a>> {
        let key = self.key.purpose(Purpose::Choice).round(n);
        let policy = &*self.state.policy;
        let choice = policy.select(offer, key, &mut self.scratch)?;
        policy.with_propensity(offer, choice, key.branch("propensity"), &mut self.scratch)
    }

    fn decision(&self, choice: &Choice<'_>, ask: &Ask, agreed: Option<bool>) -> Decision {
        let (name, features) = choice.named.map_or((None, &[][..]), |(name, features)| (Some(name), features));
        Decision {
            index: choice.index,
            name: name.map(str::to_owned),
            action: choice.action.to_vec(),
            features: features.to_vec(),
            propensity: choice.propensity,
            propensity_error: choice.propensity_error,
            mean: finite(choice.score.mean),
            width: finite(choice.score.width),
            version: self.state.version,
            default: ask.default,
            default_propensity: ask.default_propensity,
            agreed,
        }
    }

    /// An error unless the offer has the shape that the policy was made for.
    fn check_space(&self, offer: Offer<'_>) -> Answer<()> {
        let found = match offer {
            Offer::Rows(_) | Offer::Sphere { .. } => reluctant::Space::Vectors { dim: offer.dim() },
            Offer::Context(context) => reluctant::Space::Contexts {
                dim: offer.dim(),
                action_dim: context.action_features().map_or(0, |rows| rows.dim()),
            },
        };
        if found == self.spec.space {
            return Ok(());
        }
        let words = |space| match space {
            reluctant::Space::Vectors { dim } => format!("arms of dimension {dim}"),
            reluctant::Space::Contexts { dim, action_dim } => {
                format!("contexts of dimension {dim} with {action_dim} action features")
            }
        };
        Err(Refusal::Invalid(format!("{} takes {}, not {}", self.spec.name, words(self.spec.space), words(found))))
    }
}

fn check_default(ask: &Ask) -> Answer<()> {
    let count = ask.offering.count().unwrap_or(0);
    if let Some(default) = ask.default.filter(|default| *default >= count) {
        let message = format!("the default {default} is not on offer: there are {count} actions, counted from 0");
        return Err(Refusal::Invalid(message));
    }
    match ask.default_propensity {
        Some(p) if !(p > 0.0 && p <= 1.0) => {
            Err(Refusal::Invalid(format!("default_propensity is {p}: it must be above 0 and at most 1")))
        }
        Some(_) if ask.default.is_none() => {
            Err(Refusal::Invalid("default_propensity needs a default that it is the probability of".to_owned()))
        }
        _ => Ok(()),
    }
}

/// JSON has no word for what is not finite.
fn finite(x: f64) -> Option<f64> {
    x.is_finite().then_some(x)
}
