//! What each column is for, by the names that the user gave.

use reluctant::Error;

use super::fault::{Fault, Outcome};
use super::options::{LAST, TableOptions, Target};

/// What a column is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    /// A feature.
    Feature(Declared),
    /// The class.
    Class,
    /// The rewards of the action with this index.
    Reward(usize),
    /// Nothing.
    Ignored,
}

/// What the user said that a feature holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Declared {
    /// Numbers.
    Numbers,
    /// Categories.
    Categories,
    /// Nothing was said.
    Unsaid,
}

/// The role of each column.
pub(super) fn assign(names: &[String], options: &TableOptions) -> Outcome<Vec<Role>> {
    let mut book = Book { names, roles: vec![None; names.len()] };
    match &options.target {
        Target::Class(name) if name == LAST && !names.contains(name) => {
            book.give(names.last().map_or(LAST, String::as_str), "class", Role::Class)?;
        }
        Target::Class(name) => book.give(name, "class", Role::Class)?,
        Target::Rewards(columns) => {
            if columns.len() < 2 {
                return Err(Fault::whole("rewards must name at least two columns, one for each action"));
            }
            for (action, name) in columns.iter().enumerate() {
                book.give(name, "rewards", Role::Reward(action))?;
            }
        }
    }
    let lists = [
        (&options.ignore, "ignore", Role::Ignored),
        (&options.as_numbers, "as_numbers", Role::Feature(Declared::Numbers)),
        (&options.as_categories, "as_categories", Role::Feature(Declared::Categories)),
    ];
    for (columns, list, role) in lists {
        columns.iter().try_for_each(|name| book.give(name, list, role))?;
    }
    let unsaid = Role::Feature(Declared::Unsaid);
    let roles: Vec<Role> = book.roles.iter().map(|given| given.map_or(unsaid, |(_, role)| role)).collect();
    if !roles.iter().any(|role| matches!(role, Role::Feature(_))) {
        return Err(Fault::whole("no column is left for features; at least one must be neither rewarded nor ignored"));
    }
    Ok(roles)
}

/// Which option gave which role to which column.
struct Book<'a> {
    names: &'a [String],
    roles: Vec<Option<(&'static str, Role)>>,
}

impl Book<'_> {
    fn give(&mut self, name: &str, list: &'static str, role: Role) -> Outcome<()> {
        let Some(column) = self.names.iter().position(|known| known == name) else {
            let known = self.names.iter().map(String::as_str);
            return Err(Fault::whole(Error::unknown(format!("column in {list},"), name, known)));
        };
        match self.roles[column].replace((list, role)) {
            None => Ok(()),
            Some((first, _)) if first == list => {
                Err(Fault::whole(format!("column '{name}' is named twice in {list}; once is enough")))
            }
            Some((first, _)) => Err(Fault::whole(format!(
                "column '{name}' is named in {first} and in {list}; it can only be one of them"
            ))),
        }
    }
}
