//! What is only looked at.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use axum::extract::{Path, Request, State};
use axum::http::StatusCode;
use serde_json::json as object;

use super::metrics::Gauges;
use super::{Done, Problem, Service, json, text, view};
use crate::config::Role;
use crate::engine::Refusal;

type Shared = State<Arc<Service>>;

/// The most decisions that are listed at once, and how many are if nothing is said.
const MOST_LISTED: usize = 1_000;
const LISTED: usize = 20;

/// A whole number in the query of an address.
pub(super) fn number(request: &Request, name: &str) -> Result<Option<u64>, Problem> {
    let query = request.uri().query().unwrap_or("");
    let mut found = None;
    for pair in query.split('&').filter(|pair| !pair.is_empty()) {
        let (key, value) = pair.split_once('=').unwrap_or((pair, ""));
        if key == name {
            let wrong =
                || Problem::new(StatusCode::BAD_REQUEST, format!("{name} must be a whole number, not '{value}'"));
            found = Some(value.parse().map_err(|_| wrong())?);
        }
    }
    Ok(found)
}

pub(super) async fn ready(State(service): Shared) -> Done {
    service.ask(|_| Ok(())).await?;
    if service.writer.health().failing.load(Ordering::Relaxed) {
        let detail = "the last events could not be written to the store";
        return Err(Problem::new(StatusCode::SERVICE_UNAVAILABLE, detail).retry_after(1));
    }
    Ok(text("text/plain; charset=utf-8", "ready\n"))
}

pub(super) async fn metrics(State(service): Shared, request: Request) -> Done {
    service.admit(&request, Role::Admin)?;
    let gauges = service.ask(|engine| {
        let names: Vec<String> = engine.specs().map(|spec| spec.name.clone()).collect();
        let gauges = names.into_iter().enumerate().map(|(place, policy)| {
            let state = engine.state(place);
            Gauges {
                policy,
                decisions: state.tally.decisions,
                rewards: state.tally.rewards,
                defaults: state.tally.defaults,
                late: state.tally.late,
                reward_sum: state.tally.reward_sum,
                version: state.version,
                paused: state.paused,
            }
        });
        Ok(gauges.collect::<Vec<_>>())
    });
    let rendered = service.metrics.render(service.writer.health(), &gauges.await?);
    Ok(text("text/plain; version=0.0.4; charset=utf-8", rendered))
}

pub(super) async fn policies(State(service): Shared, request: Request) -> Done {
    service.admit(&request, Role::Admin)?;
    let all = service.ask(|engine| {
        let all = engine.specs().enumerate().map(|(place, spec)| view::brief(spec, engine.state(place)));
        Ok(all.collect::<Vec<_>>())
    });
    Ok(json(&object!({ "policies": all.await? })))
}

pub(super) async fn state(State(service): Shared, Path(policy): Path<String>, request: Request) -> Done {
    service.admit(&request, Role::Admin)?;
    let (place, spec) = service.policy(&policy)?;
    let spec = spec.clone();
    Ok(json(&service.ask(move |engine| Ok(view::state(&spec, engine.state(place)))).await?))
}

pub(super) async fn decisions(State(service): Shared, Path(policy): Path<String>, request: Request) -> Done {
    service.admit(&request, Role::Admin)?;
    let (place, _) = service.policy(&policy)?;
    let count = number(&request, "last")?.map_or(LISTED, |last| last.min(MOST_LISTED as u64) as usize);
    let found = service.ask(move |engine| engine.last_decisions(place, count)).await?;
    let all: Vec<_> = found.iter().map(|found| view::explained(&policy, found)).collect();
    Ok(json(&object!({ "decisions": all })))
}

pub(super) async fn decision(
    State(service): Shared,
    Path((policy, event)): Path<(String, String)>,
    request: Request,
) -> Done {
    service.admit(&request, Role::Admin)?;
    let (place, _) = service.policy(&policy)?;
    let found = service.ask(move |engine| engine.explain(place, &event)).await?;
    Ok(json(&view::explained(&policy, &found)))
}

pub(super) async fn versions(State(service): Shared, Path(policy): Path<String>, request: Request) -> Done {
    service.admit(&request, Role::Admin)?;
    let (place, _) = service.policy(&policy)?;
    let found = service.ask(move |engine| Ok((engine.state(place).version, engine.versions(place)?))).await?;
    Ok(json(&view::versions(&policy, found.0, &found.1)))
}

/// The policy as it is now, as `reluctant evaluate --policy FILE.json` reads it.
pub(super) async fn snapshot(State(service): Shared, Path(policy): Path<String>, request: Request) -> Done {
    service.admit(&request, Role::Admin)?;
    let (place, _) = service.policy(&policy)?;
    let saved = service.ask(move |engine| engine.state(place).policy.snapshot().map_err(Refusal::from));
    Ok(json(&saved.await?))
}
