//! What changes the log: decisions, rewards, orders.

use std::sync::Arc;

use axum::extract::{Path, Request, State};
use axum::http::StatusCode;
use serde_json::{Value, json as object};

use super::request::{Batch, DecideBody, RewardBody, RollbackBody, parse};
use super::view::{decided, rewarded};
use super::{Done, Problem, Service, json};
use crate::config::Role;
use crate::engine::Ask;

type Shared = State<Arc<Service>>;

pub(super) async fn decide(State(service): Shared, Path(policy): Path<String>, request: Request) -> Done {
    service.admit(&request, Role::Decide)?;
    let (place, spec) = service.policy(&policy)?;
    let body = service.body(request).await?;
    let ask = parse::<DecideBody>(&body)?.ask(spec.space, &service.config.limits)?;
    let answer = service.ask(move |engine| engine.decide(place, ask)).await?;
    Ok(json(&decided(&policy, &answer)))
}

pub(super) async fn decide_batch(State(service): Shared, Path(policy): Path<String>, request: Request) -> Done {
    service.admit(&request, Role::Decide)?;
    let (place, spec) = service.policy(&policy)?;
    let body = service.body(request).await?;
    let Batch { requests } = parse::<Batch<DecideBody>>(&body)?;
    service.check_batch(requests.len())?;
    let asks: Vec<Result<Ask, Problem>> =
        requests.into_iter().map(|request| request.ask(spec.space, &service.config.limits)).collect();
    let done = service.ask_for(asks.len(), move |engine| {
        Ok(asks.into_iter().map(|ask| Ok(engine.decide(place, ask?)?)).collect::<Vec<Result<_, Problem>>>())
    });
    Ok(answers(done.await?.into_iter().map(|answer| answer.map(|answer| decided(&policy, &answer)))))
}

pub(super) async fn reward(State(service): Shared, Path(policy): Path<String>, request: Request) -> Done {
    service.admit(&request, Role::Reward)?;
    let (place, _) = service.policy(&policy)?;
    let body = service.body(request).await?;
    let RewardBody { event, reward } = parse(&body)?;
    let answer = service.ask(move |engine| engine.reward(place, &event, reward)).await?;
    Ok(json(&rewarded(&answer)))
}

pub(super) async fn reward_batch(State(service): Shared, Path(policy): Path<String>, request: Request) -> Done {
    service.admit(&request, Role::Reward)?;
    let (place, _) = service.policy(&policy)?;
    let body = service.body(request).await?;
    let Batch { requests } = parse::<Batch<RewardBody>>(&body)?;
    service.check_batch(requests.len())?;
    let done = service.ask_for(requests.len(), move |engine| {
        let mut one = |RewardBody { event, reward }: RewardBody| Ok(engine.reward(place, &event, reward)?);
        Ok(requests.into_iter().map(&mut one).collect::<Vec<Result<_, Problem>>>())
    });
    Ok(answers(done.await?.into_iter().map(|answer| answer.map(|answer| rewarded(&answer)))))
}

/// Each answer, or its problem, in the order of the requests.
fn answers(all: impl Iterator<Item = Result<Value, Problem>>) -> axum::response::Response {
    let all: Vec<Value> = all.map(|answer| answer.unwrap_or_else(|problem| object!(problem))).collect();
    json(&object!({ "answers": all }))
}

pub(super) async fn rollback(State(service): Shared, Path(policy): Path<String>, request: Request) -> Done {
    service.admit(&request, Role::Admin)?;
    let (place, _) = service.policy(&policy)?;
    let body = service.body(request).await?;
    let RollbackBody { version } = parse(&body)?;
    let now = service.ask(move |engine| engine.rollback(place, version)).await?;
    Ok(json(&object!({ "policy": policy, "version": now, "as_of": version })))
}

pub(super) async fn keep_version(State(service): Shared, Path(policy): Path<String>, request: Request) -> Done {
    service.admit(&request, Role::Admin)?;
    let (place, _) = service.policy(&policy)?;
    let version = service.ask(move |engine| engine.keep_version(place)).await?;
    Ok(json(&object!({ "policy": policy, "version": version })))
}

pub(super) async fn pause(State(service): Shared, Path(policy): Path<String>, request: Request) -> Done {
    service.admit(&request, Role::Admin)?;
    let (place, _) = service.policy(&policy)?;
    service.ask(move |engine| engine.pause(place)).await?;
    Ok(json(&object!({ "policy": policy, "paused": true })))
}

pub(super) async fn resume(State(service): Shared, Path(policy): Path<String>, request: Request) -> Done {
    service.admit(&request, Role::Admin)?;
    let (place, _) = service.policy(&policy)?;
    service.ask(move |engine| engine.resume(place)).await?;
    Ok(json(&object!({ "policy": policy, "paused": false })))
}

impl Service {
    fn check_batch(&self, count: usize) -> Result<(), Problem> {
        let most = self.config.limits.batch;
        if (1..=most).contains(&count) {
            return Ok(());
        }
        let detail = format!("a batch has 1 to {most} requests, and this one has {count}");
        Err(Problem::new(StatusCode::UNPROCESSABLE_ENTITY, detail))
    }
}
