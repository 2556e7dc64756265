//! `reluctant list`: the registries, for people and for programs.

use std::io::Write;

use reluctant::params::Param;
use reluctant::{env, policy};
use serde_json::{Value, json};

use crate::failure::Failure;

pub(crate) fn list(as_json: bool) -> Result<(), Failure> {
    let mut out = std::io::stdout().lock();
    if as_json {
        let policies: Vec<Value> = policy::REGISTRY
            .iter()
            .map(|entry| {
                let mut value = describe(entry.name, entry.summary, entry.citation, entry.params);
                value["sphere"] = entry.sphere.into();
                value
            })
            .collect();
        let environments: Vec<Value> = env::REGISTRY
            .iter()
            .map(|entry| describe(entry.name, entry.summary, entry.citation, entry.params))
            .collect();
        let all = json!({"policies": policies, "environments": environments});
        writeln!(out, "{all:#}")?;
        return Ok(());
    }
    writeln!(out, "POLICIES")?;
    for entry in policy::REGISTRY {
        show(&mut out, entry.name, entry.summary, entry.citation, entry.params)?;
    }
    writeln!(out, "\nENVIRONMENTS")?;
    for entry in env::REGISTRY {
        show(&mut out, entry.name, entry.summary, entry.citation, entry.params)?;
    }
    Ok(())
}

fn describe(name: &str, summary: &str, citation: &str, params: &[Param]) -> Value {
    let param = |param: &Param| {
        json!({
            "name": param.name,
            "default": param.initial.to_string(),
            "allowed": param.allowed(),
            "doc": param.doc,
            "from_environment": param.told,
        })
    };
    let params: Vec<Value> = params.iter().map(param).collect();
    json!({"name": name, "summary": summary, "citation": citation, "parameters": params})
}

fn show(out: &mut impl Write, name: &str, summary: &str, citation: &str, params: &[Param]) -> std::io::Result<()> {
    writeln!(out, "\n{name}: {summary}\n  [{citation}]")?;
    let width = params.iter().map(|param| param.name.len()).max().unwrap_or(0);
    for param in params {
        let told = if param.told { "; an experiment takes it from the environment unless it is given" } else { "" };
        writeln!(out, "  {:width$}  {}", param.name, param.doc)?;
        writeln!(out, "  {:width$}    {}; default: {}{told}", "", param.allowed(), param.initial)?;
    }
    Ok(())
}
