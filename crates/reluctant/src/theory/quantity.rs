//! One statement, evaluated.

use std::f64::consts::LN_10;

use serde::{Deserialize, Serialize};

/// Whether a quantity is a number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum State {
    /// It is, and fits into one.
    Finite,
    /// It is, but only its logarithm fits.
    Huge,
    /// It is infinite.
    Infinite,
    /// The statement gives none.
    Undefined,
}

/// One statement, evaluated.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Quantity {
    /// A name for programs.
    pub key: &'static str,
    /// Its symbol.
    pub symbol: &'static str,
    /// Where the paper states it; "ours" where it does not.
    pub place: &'static str,
    /// The label of that place in the paper's source; empty if it has none.
    pub label: &'static str,
    /// The formula that was evaluated.
    pub formula: &'static str,
    /// Its value, if a finite number holds it.
    pub value: Option<f64>,
    /// log₁₀ of its value, if that is positive and finite.
    pub log10: Option<f64>,
    /// Whether it is a number.
    pub state: State,
    /// Whether what the statement assumes or promises holds here; none where there is nothing to hold.
    pub holds: Option<bool>,
    /// What it means, in one sentence.
    pub meaning: String,
}

impl Quantity {
    pub(super) fn new(
        key: &'static str,
        symbol: &'static str,
        at: (&'static str, &'static str),
        formula: &'static str,
    ) -> Self {
        Quantity {
            key,
            symbol,
            place: at.0,
            label: at.1,
            formula,
            value: None,
            log10: None,
            state: State::Undefined,
            holds: None,
            meaning: String::new(),
        }
    }

    pub(super) fn value(mut self, value: f64) -> Self {
        self.state = match value {
            v if v.is_finite() => State::Finite,
            v if v.is_nan() => State::Undefined,
            _ => State::Infinite,
        };
        self.value = value.is_finite().then_some(value);
        self.log10 = Some(libm::log10(value)).filter(|log10| log10.is_finite());
        self
    }

    pub(super) fn log10(mut self, log10: f64) -> Self {
        let value = libm::exp(log10 * LN_10);
        self = self.value(value);
        self.log10 = log10.is_finite().then_some(log10);
        if self.state == State::Infinite && log10.is_finite() {
            self.state = State::Huge;
        }
        self
    }

    pub(super) fn maybe(self, value: Option<f64>) -> Self {
        match value {
            Some(value) => self.value(value),
            None => self,
        }
    }

    pub(super) fn holds(mut self, holds: bool) -> Self {
        self.holds = Some(holds);
        self
    }

    pub(super) fn means(mut self, meaning: impl Into<String>) -> Self {
        self.meaning = meaning.into();
        self
    }
}
