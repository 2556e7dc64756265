//! Whether the lists of a grid hold anything to choose from.
//!
//! A parameter may mean nothing beside the others, as the highest degree of monomials where there are none. Tuning it would report a
//! choice that is none.

use std::fmt::{self, Write};

use reluctant::{Key, Settings, Value, policy};
use xxhash_rust::xxh3::Xxh3;

use crate::plan::{Stage, facts};
use crate::spec::{Contender, Experiment, World};

/// Policies that show more of themselves than so many bytes are not compared: their matrices would take too long.
const LONG: usize = 1 << 22;

/// The first list of `contender`, of more than one value, all of whose values make the same policy: in every environment, and
/// whatever the other lists choose.
pub(crate) fn idle_list<'c>(experiment: &Experiment, contender: &'c Contender) -> reluctant::Result<Option<&'c str>> {
    'lists: for (name, values) in contender.grid.iter().filter(|(_, values)| values.len() > 1) {
        for world in &experiment.worlds {
            if matters(experiment, world, contender, name, &values[0])? {
                continue 'lists;
            }
        }
        return Ok(Some(name));
    }
    Ok(None)
}

/// Whether some candidate is another policy once `name` is set to `first`.
fn matters(
    experiment: &Experiment,
    world: &World,
    contender: &Contender,
    name: &str,
    first: &Value,
) -> reluctant::Result<bool> {
    let (dim, _) = facts(&world.kind, &world.settings)?;
    let look = |candidate: &Settings| {
        let settings = experiment.trial(world, contender, candidate, Stage::Reported, 0)?.policy_settings;
        look_of(&contender.kind, dim, &settings)
    };
    for candidate in contender.candidates() {
        let changed = candidate.clone().with(name, first.clone());
        if changed == candidate {
            continue;
        }
        let alike = match look(&changed)? {
            Some(one) => look(&candidate)? == Some(one),
            None => false,
        };
        if !alike {
            return Ok(true);
        }
    }
    Ok(false)
}

/// A hash of all that a new policy is: every field of it is in what it shows of itself. (A snapshot would say the same, but hold a
/// second copy of large matrices in memory.) Nothing if that is too long.
fn look_of(kind: &str, dim: usize, settings: &Settings) -> reluctant::Result<Option<u128>> {
    let mut look = Look { hash: Xxh3::new(), left: LONG };
    let whole = write!(look, "{:?}", policy::build(kind, dim, settings, Key::new(0))?);
    Ok(whole.is_ok().then(|| look.hash.digest128()))
}

struct Look {
    hash: Xxh3,
    /// How many more bytes may come.
    left: usize,
}

impl Write for Look {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.left = self.left.checked_sub(text.len()).ok_or(fmt::Error)?;
        self.hash.update(text.as_bytes());
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    fn said(policy: &str) -> Option<String> {
        let text = format!("[[environment]]\nkind = \"relu-sphere\"\narms = 5\n\n[[policy]]\n{policy}\n");
        Experiment::parse(&text, Path::new("grid.toml")).err().map(|error| error.to_string())
    }

    #[test]
    fn a_list_that_changes_nothing_is_refused() {
        for (policy, idle) in [
            ("kind = \"oful\"\ndegree = [2, 3, 4]", "degree"),
            ("kind = \"oful\"\nfeatures = [\"raw\", \"constant\"]\ndegree = [2, 3]", "degree"),
            ("kind = \"oful\"\nlambda = [1, 1.0]", "lambda"),
            ("kind = \"neural-ucb\"\nupdate = \"zhou\"\nnu = [1, 10]", "nu"),
            ("kind = \"neural-ucb\"\ngamma = [1, 10]", "gamma"),
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
            // Too large to compare.
            "kind = \"neural-ucb\"\nmatrix = \"full\"\nwidth = 200\ngamma = [1, 10]",
        ] {
            assert_eq!(said(policy), None, "{policy}");
        }
    }
}
