//! Whether the lists of a grid hold anything to choose from.
//!
//! A parameter may mean nothing beside the others, as the highest degree of monomials where there are none. Tuning it
//! would report a choice that is none.

use reluctant::{Key, Registry, Settings, Value};

use crate::plan::Stage;
use crate::spec::{Contender, EnvironmentSpec, Experiment};

/// The first list of `contender`, of more than one value, all of whose values make the same policy: in every
/// environment, and whatever the other lists choose.
pub(crate) fn idle_list<'c>(
    registry: &Registry,
    experiment: &Experiment,
    contender: &'c Contender,
) -> reluctant::Result<Option<&'c str>> {
    'lists: for (name, values) in contender.grid.iter().filter(|(_, values)| values.len() > 1) {
        for environment in &experiment.environments {
            if matters(registry, experiment, environment, contender, name, &values[0])? {
                continue 'lists;
            }
        }
        return Ok(Some(name));
    }
    Ok(None)
}

/// Whether some candidate is another policy once `name` is set to `first`: whether the settings that are
/// read while it is made differ.
fn matters(
    registry: &Registry,
    experiment: &Experiment,
    environment: &EnvironmentSpec,
    contender: &Contender,
    name: &str,
    first: &Value,
) -> reluctant::Result<bool> {
    let (space, entry) = (environment.space(registry)?, registry.policy(&contender.kind)?);
    let identity = |candidate: &Settings| {
        let trial = experiment.trial(registry, environment, contender, candidate, Stage::Reported, 0)?;
        entry.build_and_identify(space, &trial.policy_settings, Key::new(0)).map(|(_, identity)| identity)
    };
    for candidate in contender.candidates() {
        let changed = candidate.clone().with(name, first.clone());
        if changed != candidate && identity(&changed)? != identity(&candidate)? {
            return Ok(true);
        }
    }
    Ok(false)
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    fn said(policy: &str) -> Option<String> {
        let text = format!("[[environment]]\nkind = \"relu-sphere\"\narms = 5\n\n[[policy]]\n{policy}\n");
        Experiment::parse(&text, Path::new("grid.toml"), &Registry::default()).err().map(|error| error.to_string())
    }

    #[test]
    fn a_list_that_changes_nothing_is_refused() {
        for (policy, idle) in [
            ("kind = \"oful\"\ndegree = [2, 3, 4]", "degree"),
            ("kind = \"oful\"\nfeatures = [\"raw\", \"constant\"]\ndegree = [2, 3]", "degree"),
            ("kind = \"oful\"\nlambda = [1, 1.0]", "lambda"),
            ("kind = \"neural-ucb\"\nupdate = \"zhou\"\nnu = [1, 10]", "nu"),
            ("kind = \"neural-ucb\"\ngamma = [1, 10]", "gamma"),
            ("kind = \"neural-ucb\"\nmatrix = \"full\"\nwidth = 200\ngamma = [1, 10]", "gamma"),
        ] {
            let error = said(policy).unwrap();
            let sentence = format!("every value in the list of {idle} makes the same policy");
            assert!(error.starts_with("grid.toml:") && error.contains(&sentence), "{error}");
        }
    }

    #[test]
    fn a_list_that_changes_something_somewhere_is_not() {
        for policy in [
            "kind = \"oful\"\nlambda = [0.1, 1.0]\nfeatures = [\"raw\", \"monomials\"]\ndegree = [2, 3]",
            "kind = \"neural-ucb\"\nupdate = [\"authors\", \"zhou\"]\nnu = [1, 10]\ngamma = [1, 10]",
            "kind = \"oful\"\ndegree = [3]",
        ] {
            assert_eq!(said(policy), None, "{policy}");
        }
    }
}
