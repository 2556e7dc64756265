//! `reluctant list`: the registries, for people and for programs.

use std::io::Write;

use reluctant::entry::Row;
use reluctant::params::Param;
use reluctant::policy::COMMON;
use reluctant::{Error, Registry};
use reluctant_lab::report::wrap::wrap;
use serde_json::{Value, json};

use crate::failure::Failure;
use crate::width;

/// Lines where no terminal says how wide it is.
const COLUMNS: usize = 120;

pub(crate) fn list(registry: &Registry, name: Option<&str>, as_json: bool) -> Result<(), Failure> {
    let mut out = std::io::stdout().lock();
    let mut known = Vec::new();
    known.extend(registry.policies().iter().map(|entry| entry.name));
    known.extend(registry.environments().iter().map(|entry| entry.name));
    if let Some(name) = name.filter(|name| !known.contains(name)) {
        return Err(Error::unknown("policy or environment", name, known).into());
    }
    let wanted = |row: &str| name.is_none_or(|name| name == row);
    if as_json {
        let all = programs(registry, name.is_none(), wanted);
        writeln!(out, "{all:#}")?;
        return Ok(());
    }
    let page = Page { columns: width::columns().unwrap_or(COLUMNS).clamp(20, COLUMNS) };
    let mut text = String::new();
    let policies: Vec<_> = registry.policies().iter().filter(|entry| wanted(entry.name)).collect();
    let environments: Vec<_> = registry.environments().iter().filter(|entry| wanted(entry.name)).collect();
    if name.is_none() {
        text += "POLICIES\n\n";
    }
    policies.iter().for_each(|entry| text += &page.row(*entry));
    if !policies.is_empty() {
        text += &format!("{}\n{}\n", wrap("Every policy also takes:", page.columns, "", ""), page.params(COMMON));
    }
    if name.is_none() {
        text += "ENVIRONMENTS\n\n";
    }
    environments.iter().for_each(|entry| text += &page.row(*entry));
    writeln!(out, "{}", text.trim_end())?;
    Ok(())
}

/// The registries for programs, or what is wanted of them.
fn programs(registry: &Registry, whole: bool, wanted: impl Fn(&str) -> bool) -> Value {
    let policies = registry.policies().iter().filter(|entry| wanted(entry.name)).map(|entry| {
        let mut value = describe(entry);
        value["sphere"] = entry.sphere.into();
        value
    });
    let policies: Vec<Value> = policies.collect();
    let environments: Vec<Value> =
        registry.environments().iter().filter(|entry| wanted(entry.name)).map(describe).collect();
    let common: Vec<Value> = COMMON.iter().map(parameter).collect();
    let mut all = json!({"policies": policies, "environments": environments});
    if whole || !policies.is_empty() {
        all["every_policy"] = common.into();
    }
    all
}

fn describe(row: &impl Row) -> Value {
    let params: Vec<Value> = row.params().iter().map(parameter).collect();
    json!({"name": row.name(), "summary": row.summary(), "citation": row.citation(), "parameters": params})
}

fn parameter(param: &Param) -> Value {
    json!({
        "name": param.name,
        "default": param.initial.to_string(),
        "allowed": param.allowed(),
        "doc": param.doc,
        "from_environment": param.told.is_some(),
    })
}

/// Text for a terminal of so many columns.
struct Page {
    columns: usize,
}

impl Page {
    fn row(&self, row: &impl Row) -> String {
        let title = wrap(&format!("{}: {}", row.name(), row.summary()), self.columns, "", "  ");
        let citation = wrap(&format!("[{}]", row.citation()), self.columns, "  ", "  ");
        format!("{title}\n{citation}\n{}\n", self.params(row.params()))
    }

    /// A parameter's name, and beside or below it what it is, what is allowed, and its default.
    fn params(&self, params: &[Param]) -> String {
        let widest = params.iter().map(|param| param.name.len()).max().unwrap_or(0);
        // Where names would take half of a line, or lines are short, meanings stand below them.
        let beside = self.columns >= (2 * (widest + 4)).max(40);
        let rest = if beside { " ".repeat(widest + 4) } else { "    ".to_owned() };
        let mut text = String::new();
        for param in params {
            let told = match param.told {
                None => "",
                Some(fact) if fact == param.name => "; an experiment takes it from the environment unless it is given",
                Some(_) => {
                    "; an experiment takes it from environments whose neurons are the paper's unless it is given"
                }
            };
            let name = if beside { format!("  {:widest$}  ", param.name) } else { format!("  {}\n{rest}", param.name) };
            // Only the last line of what comes first counts towards its width.
            let (above, first) = name.rsplit_once('\n').map_or(("", name.as_str()), |(above, first)| (above, first));
            if !above.is_empty() {
                text += &format!("{above}\n");
            }
            let values = format!("{}; default: {}{told}", param.allowed(), param.initial);
            text += &format!("{}\n", wrap(param.doc, self.columns, first, &rest));
            text += &format!("{}\n", wrap(&values, self.columns, &format!("{rest}  "), &format!("{rest}  ")));
        }
        text
    }
}
