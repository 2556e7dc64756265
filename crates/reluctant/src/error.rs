//! Everything that can go wrong, as facts with fields.
//!
//! Each message is one sentence that says what is wrong, where, and what is allowed. The lab and the command line add
//! the file, the line and the field.

use std::borrow::Cow;

/// The core's result.
pub type Result<T> = std::result::Result<T, Error>;

/// What went wrong.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A parameter or an input lies outside of what is allowed.
    #[error("{name} = {value} is out of range: {allowed}")]
    OutOfRange {
        /// The parameter.
        name: Cow<'static, str>,
        /// What was given.
        value: String,
        /// What is allowed.
        allowed: String,
    },
    /// A parameter has the wrong type.
    #[error("{name} must be {expected}, not {found}")]
    WrongType {
        /// The parameter.
        name: String,
        /// What is expected.
        expected: String,
        /// What was given.
        found: String,
    },
    /// A parameter without a default is missing.
    #[error("{name} is missing: {expected}")]
    Missing {
        /// The parameter.
        name: String,
        /// What it should be.
        expected: String,
    },
    /// A parameter that was given and that nothing reads, because of others that were given.
    #[error("{name} = {value} has no effect beside the other settings; it means: {meaning}")]
    NoEffect {
        /// The parameter.
        name: &'static str,
        /// What was given.
        value: String,
        /// What it says where it is read.
        meaning: &'static str,
    },
    /// A parameter that was given under both of its names.
    #[error("{name} and {first} are two names of one parameter: give one of them")]
    GivenTwice {
        /// The second name.
        name: &'static str,
        /// The first name.
        first: &'static str,
    },
    /// A name that is in no registry or table.
    #[error("unknown {kind} '{name}'{}", suggestion(nearest, known))]
    Unknown {
        /// What kind of thing was named.
        kind: String,
        /// The name that was given.
        name: String,
        /// The nearest known name, if one is near.
        nearest: Option<String>,
        /// All known names.
        known: Vec<String>,
    },
    /// Two things whose dimensions must agree do not.
    #[error("{what} has dimension {found}, but dimension {expected} is needed")]
    Dimension {
        /// Which vector or matrix.
        what: &'static str,
        /// The dimension that is needed.
        expected: usize,
        /// The dimension that was given.
        found: usize,
    },
    /// A number that is NaN, infinite, or too large to square safely.
    #[error("{what} is {value:e}: every number must be finite and at most {:e} in size", crate::limits::LIMIT)]
    NotFinite {
        /// Which number.
        what: Cow<'static, str>,
        /// Its value.
        value: f64,
    },
    /// No arm was offered.
    #[error("no arms: a round must offer at least one arm")]
    NoArms,
    /// The numbers given do not divide into rows.
    #[error("the arms are ragged: {len} numbers do not divide into rows of dimension {dim}")]
    RaggedArms {
        /// Length of a row.
        dim: usize,
        /// How many numbers were given.
        len: usize,
    },
    /// A policy that only chooses among finitely many arms was given the sphere.
    #[error("{policy} needs a finite set of arms; it cannot choose from the whole sphere")]
    NeedsFiniteArms {
        /// The policy.
        policy: &'static str,
    },
    /// A policy that was made for vectors was given a context with named actions.
    #[error("{policy} was made for vectors here; make it for contexts to choose among named actions in one")]
    UnexpectedContext {
        /// The policy.
        policy: &'static str,
    },
    /// A policy that was made for contexts was given something else.
    #[error(
        "{policy} was made for contexts here: it needs a context and the names of the actions on offer, not {found}"
    )]
    NeedsContext {
        /// The policy.
        policy: &'static str,
        /// What it was given.
        found: &'static str,
    },
    /// A policy that cannot be made for contexts.
    #[error("{policy} takes no contexts: {reason}")]
    NoContexts {
        /// The policy.
        policy: &'static str,
        /// Why.
        reason: &'static str,
    },
    /// An action that stands twice in an offer.
    #[error("the action '{name}' is offered twice: every action has a name of its own")]
    OfferedTwice {
        /// Its name.
        name: String,
    },
    /// A choice of something that is not on offer.
    #[error("the choice is not one of the actions on offer")]
    NotOnOffer,
    /// `oracle` outside a game.
    #[error(
        "oracle reads the mean rewards of a round, which an offer alone does not tell: let it play in an environment"
    )]
    NeedsMeans,
    /// An environment that has no more rounds.
    #[error("{environment} has {rounds} rounds, and round {asked} was asked for")]
    Exhausted {
        /// The environment.
        environment: &'static str,
        /// How many rounds it has.
        rounds: u64,
        /// Which round was asked for.
        asked: u64,
    },
    /// An environment that someone else wrote broke its contract.
    #[error("{0}")]
    Environment(String),
    /// Too little data for what was asked.
    #[error("{what} needs at least {needed} samples, but there are {found}")]
    TooFewSamples {
        /// What was asked.
        what: &'static str,
        /// How many it needs.
        needed: usize,
        /// How many there are.
        found: usize,
    },
    /// Whoever runs a game ended it before its time.
    #[error("stopped before the end")]
    Stopped,
    /// A saved policy that cannot be restored.
    #[error("this saved policy cannot be restored: {reason}")]
    Snapshot {
        /// Why.
        reason: String,
    },
}

impl Error {
    /// Shorthand for [`Error::OutOfRange`].
    pub fn out_of_range(name: impl Into<Cow<'static, str>>, value: impl ToString, allowed: impl ToString) -> Self {
        let mut value = value.to_string();
        if value.is_empty() {
            value = "\"\"".to_owned();
        }
        Error::OutOfRange { name: name.into(), value, allowed: allowed.to_string() }
    }

    /// Shorthand for [`Error::UnexpectedContext`].
    pub(crate) fn unexpected_context(policy: &'static str) -> Self {
        Error::UnexpectedContext { policy }
    }

    /// An [`Error::Unknown`] that suggests the nearest known name.
    pub fn unknown<'a>(kind: impl Into<String>, name: &str, known: impl IntoIterator<Item = &'a str>) -> Self {
        let known: Vec<String> = known.into_iter().map(str::to_owned).collect();
        let nearest = known
            .iter()
            .map(|candidate| (strsim::damerau_levenshtein(candidate, name), candidate))
            .filter(|(distance, candidate)| *distance <= 1 + candidate.len().min(name.len()) / 3)
            .min()
            .map(|(_, candidate)| candidate.clone());
        Error::Unknown { kind: kind.into(), name: name.to_owned(), nearest, known }
    }
}

fn suggestion(nearest: &Option<String>, known: &[String]) -> String {
    match nearest {
        Some(nearest) => format!("; did you mean '{nearest}'?"),
        None if known.is_empty() => "; there are none".to_owned(),
        None => format!("; known are {}", known.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_near_miss_is_suggested_and_a_far_one_lists_all() {
        let near = Error::unknown("policy", "ofu-rleu", ["oful", "ofu-relu", "uniform"]);
        assert_eq!(near.to_string(), "unknown policy 'ofu-rleu'; did you mean 'ofu-relu'?");
        let far = Error::unknown("policy", "zzz", ["oful", "uniform"]);
        assert_eq!(far.to_string(), "unknown policy 'zzz'; known are oful, uniform");
    }
}
