//! The log in the format of `reluctant evaluate`, and what it says of the policy and of chance.

use std::io::Write;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use axum::body::{Body, Bytes};
use axum::extract::{Path, Request, State};
use axum::http::StatusCode;
use hyper::body::Frame;
use reluctant_lab::evaluate::{Options, Target, evaluate};
use serde_json::{Value, json as object};
use tokio::sync::mpsc;

use super::see::number;
use super::{Done, Problem, Service, json, text, view};
use crate::config::Role;
use crate::error::{Result, ServeError};
use crate::event::{Event, Fact, Fate};
use crate::offer::Offering;
use crate::open::open_reader;
use crate::store::Store;

type Shared = State<Arc<Service>>;

/// So many events are read at a time.
const PIECE: u64 = 256;
/// So many pieces wait to be sent at most.
const AHEAD: usize = 4;
/// Estimates are made from so many of the last events unless more are asked for.
const ESTIMATED: u64 = 100_000;

/// A body that is made while it is sent.
struct Pieces(mpsc::Receiver<Bytes>);

impl hyper::body::Body for Pieces {
    type Data = Bytes;
    type Error = std::convert::Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<std::result::Result<Frame<Bytes>, Self::Error>>> {
        self.0.poll_recv(context).map(|piece| piece.map(|piece| Ok(Frame::data(piece))))
    }
}

pub(super) async fn log(State(service): Shared, Path(policy): Path<String>, request: Request) -> Done {
    service.admit(&request, Role::Admin)?;
    let (place, _) = service.policy(&policy)?;
    let after = number(&request, "after")?.unwrap_or(0);
    let id = service.ids[place];
    let (sender, receiver) = mpsc::channel(AHEAD);
    tokio::task::spawn_blocking(move || {
        // Whoever stops reading ends it; so does a store that fails, which leaves the log cut off.
        let Ok(mut store) = open_reader(&service.config.store) else { return };
        let _ = export(store.as_mut(), id, &policy, after, &mut |lines| {
            let gone = |_| ServeError::Store("nobody reads any more".to_owned());
            sender.blocking_send(lines.into()).map_err(gone)
        });
    });
    Ok(text("application/x-ndjson", Body::new(Pieces(receiver))))
}

/// Hands out the log of a policy in pieces of whole lines.
fn export(
    store: &mut dyn Store,
    id: u32,
    policy: &str,
    after: u64,
    out: &mut dyn FnMut(Vec<u8>) -> Result<()>,
) -> Result<()> {
    let (end, mut read) = (store.end()?.n, after);
    while read < end {
        let until = end.min(read + PIECE);
        let mut events: Vec<Event> = Vec::new();
        store.each(id, read, until, &mut |event| {
            events.push(event);
            Ok(())
        })?;
        let mut lines = Vec::new();
        for event in &events {
            if let Some(line) = line(store, policy, after, event)? {
                lines.extend_from_slice(line.to_string().as_bytes());
                lines.push(b'\n');
            }
        }
        if !lines.is_empty() {
            out(lines)?;
        }
        read = until;
    }
    Ok(())
}

/// An event as a line; none for what the format has no place for: the sphere, orders, rewards that came too late.
fn line(store: &mut dyn Store, policy: &str, after: u64, event: &Event) -> Result<Option<Value>> {
    match &event.fact {
        Fact::Decision(decision) => {
            let unreadable = || ServeError::Store(format!("the offer of event {} cannot be read", event.n));
            let offering = Offering::decode(&store.offer(event.n)?).ok_or_else(unreadable)?;
            let (Some(index), false) = (decision.index, offering.count().is_none()) else { return Ok(None) };
            let mut line = view::offer(&offering);
            line["time"] = event.time.into();
            line["event"] = event.id.as_str().into();
            line["chosen"] = decision.name.as_deref().map_or_else(|| index.into(), Value::from);
            line["propensity"] = decision.propensity.into();
            line["propensity_error"] = decision.propensity_error.into();
            line["policy"] = policy.into();
            line["version"] = decision.version.to_string().into();
            Ok(Some(line))
        }
        // A reward whose decision is not in this piece of the log says nothing.
        Fact::Reward(reward) if reward.fate != Fate::Late && reward.of > after => {
            Ok(Some(object!({ "event": event.id, "reward": reward.value })))
        }
        _ => Ok(None),
    }
}

pub(super) async fn estimates(State(service): Shared, Path(policy): Path<String>, request: Request) -> Done {
    service.admit(&request, Role::Admin)?;
    let (place, _) = service.policy(&policy)?;
    let events = number(&request, "events")?.unwrap_or(ESTIMATED);
    let Ok(turn) = Arc::clone(&service.estimating).try_acquire_owned() else {
        let detail = "estimates are being made already; ask again later";
        return Err(Problem::new(StatusCode::TOO_MANY_REQUESTS, detail).retry_after(5));
    };
    let id = service.ids[place];
    let made = tokio::task::spawn_blocking(move || {
        let _turn = turn;
        let mut store = open_reader(&service.config.store).map_err(|cause| cause.to_string())?;
        estimate(store.as_mut(), id, &policy, events, &service.registry)
    });
    let failed = |detail: String| Problem::new(StatusCode::UNPROCESSABLE_ENTITY, detail);
    let made = made.await.map_err(|cause| failed(cause.to_string()))?;
    Ok(json(&made.map_err(failed)?))
}

/// What the policy earned, and what choosing by chance alone would have.
fn estimate(
    store: &mut dyn Store,
    id: u32,
    policy: &str,
    events: u64,
    registry: &reluctant::Registry,
) -> std::result::Result<Value, String> {
    let said = |cause: &dyn std::fmt::Display| cause.to_string();
    let end = store.end().map_err(|cause| said(&cause))?.n;
    let after = end.saturating_sub(events);
    let mut file = tempfile::Builder::new().suffix(".jsonl").tempfile().map_err(|cause| said(&cause))?;
    let mut lines = 0;
    export(store, id, policy, after, &mut |piece| {
        lines += piece.len();
        file.write_all(&piece).map_err(|cause| ServeError::Store(cause.to_string()))
    })
    .map_err(|cause| said(&cause))?;
    let uniform = Target::parse("uniform", registry).map_err(|cause| said(&cause))?;
    let mut options = Options::default();
    options.replay = false;
    let judged = match lines {
        0 => Vec::new(),
        _ => evaluate(registry, file.path(), &[uniform], &options, &|_| ()).map_err(|cause| {
            // The file is ours, and its name tells nobody anything.
            said(&cause).replace(&file.path().display().to_string(), "the log")
        })?,
    };
    let Some(judged) = judged.into_iter().next() else {
        let sentence = "No decision has a reward yet.";
        return Ok(
            object!({ "policy": policy, "after": after, "earned": null, "uniform": null, "sentences": [sentence] }),
        );
    };
    Ok(object!({
        "policy": policy,
        "after": after,
        "rounds": judged.log.rounds,
        "earned": { "value": judged.logged.value, "interval": judged.logged.normal },
        "uniform": judged.verdict.recommended,
        "sentences": judged.verdict.sentences,
    }))
}
