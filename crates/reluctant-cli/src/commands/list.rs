//! `reluctant list`: the registries, for people and for programs.

use std::io::Write;

use reluctant::Registry;
use reluctant::entry::Row;
use reluctant::params::Param;
use reluctant::policy::COMMON;
use serde_json::{Value, json};

use crate::failure::Failure;

pub(crate) fn list(registry: &Registry, as_json: bool) -> Result<(), Failure> {
    let mut out = std::io::stdout().lock();
    if as_json {
        let policies = registry.policies().iter().map(|entry| {
            let mut value = describe(entry);
            value["sphere"] = entry.sphere.into();
            value
        });
        let policies: Vec<Value> = policies.collect();
        let environments: Vec<Value> = registry.environments().iter().map(describe).collect();
        let common: Vec<Value> = COMMON.iter().map(parameter).collect();
        let all = json!({"policies": policies, "environments": environments, "every_policy": common});
        writeln!(out, "{all:#}")?;
        return Ok(());
    }
    writeln!(out, "POLICIES")?;
    for entry in registry.policies() {
        show(&mut out, entry)?;
    }
    writeln!(out, "\nEvery policy also takes:")?;
    show_params(&mut out, COMMON)?;
    writeln!(out, "\nENVIRONMENTS")?;
    for entry in registry.environments() {
        show(&mut out, entry)?;
    }
    Ok(())
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
        "from_environment": param.told,
    })
}

fn show(out: &mut impl Write, row: &impl Row) -> std::io::Result<()> {
    writeln!(out, "\n{}: {}\n  [{}]", row.name(), row.summary(), row.citation())?;
    show_params(out, row.params())
}

fn show_params(out: &mut impl Write, params: &[Param]) -> std::io::Result<()> {
    let width = params.iter().map(|param| param.name.len()).max().unwrap_or(0);
    for param in params {
        let told = if param.told { "; an experiment takes it from the environment unless it is given" } else { "" };
        writeln!(out, "  {:width$}  {}", param.name, param.doc)?;
        writeln!(out, "  {:width$}    {}; default: {}{told}", "", param.allowed(), param.initial)?;
    }
    Ok(())
}
