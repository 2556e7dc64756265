//! The policy that is evaluated: one that is fixed, or one that learns.

use std::path::Path;

use reluctant::{Registry, Settings, Snapshot, Value};

use crate::error::{LabError, Result};

/// A policy to evaluate.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum Target {
    /// A policy as it was saved: it learns nothing more.
    Saved {
        /// What it is called.
        label: String,
        /// Its state.
        snapshot: Snapshot,
    },
    /// A policy of the registry, which learns from the log: from all but the part that it is evaluated on, and, by
    /// replay, as it goes.
    Learning {
        /// What it is called.
        label: String,
        /// Its name in the registry.
        kind: String,
        /// Its settings.
        settings: Settings,
    },
}

impl Target {
    /// What it is called.
    pub fn label(&self) -> String {
        match self {
            Target::Saved { label, .. } | Target::Learning { label, .. } => label.clone(),
        }
    }

    /// A policy that was saved as this text, by Rust or by Python, which puts its seed around it.
    pub fn saved(label: &str, text: &str) -> Result<Self> {
        let refused = |cause: String| wrong(label, format!("this is not a saved policy: {cause}"));
        let mut value: serde_json::Value = serde_json::from_str(text).map_err(|cause| refused(cause.to_string()))?;
        let inner = value.get_mut("snapshot").map(serde_json::Value::take).unwrap_or(value);
        let snapshot: Snapshot = serde_json::from_value(inner).map_err(|cause| refused(cause.to_string()))?;
        Ok(Target::Saved { label: label.to_owned(), snapshot })
    }

    /// Reads what a user types: the path of a saved policy, which ends in `.json`, or a policy of the registry with its
    /// settings, as in `oful:lambda=0.1,features=constant`.
    pub fn parse(text: &str, registry: &Registry) -> Result<Self> {
        let label = text.to_owned();
        if text.ends_with(".json") {
            let path = Path::new(text);
            return Target::saved(text, &std::fs::read_to_string(path).map_err(LabError::io("read", path))?);
        }
        let (kind, settings) = policy(text)?;
        let entry = registry.policy(&kind).map_err(|cause| wrong(text, cause.to_string()))?;
        entry.resolve(&settings).map_err(|cause| wrong(text, cause.to_string()))?;
        Ok(Target::Learning { label, kind, settings })
    }
}

fn wrong(text: &str, message: String) -> LabError {
    LabError::Input { file: text.into(), line: None, message }
}

/// The name and the settings in a text such as `oful:lambda=0.1,features=constant`.
pub fn policy(text: &str) -> Result<(String, Settings)> {
    let (kind, given) = text.split_once(':').unwrap_or((text, ""));
    let mut settings = Settings::new();
    for pair in given.split(',').filter(|pair| !pair.trim().is_empty()) {
        let Some((name, value)) = pair.split_once('=') else {
            let message = format!("'{pair}' is not a setting; write name=value, with commas between settings");
            return Err(wrong(text, message));
        };
        settings.set(name.trim(), value_of(value.trim()));
    }
    Ok((kind.trim().to_owned(), settings))
}

fn value_of(text: &str) -> Value {
    match (text.parse::<u64>(), text.parse::<f64>(), text.parse::<bool>()) {
        (Ok(count), ..) => Value::Count(count),
        (_, Ok(number), _) => Value::Real(number),
        (.., Ok(flag)) => Value::Flag(flag),
        _ => Value::Word(text.to_owned()),
    }
}
