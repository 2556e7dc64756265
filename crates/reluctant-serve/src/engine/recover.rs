//! From the log to the policy: from the nearest snapshot, or from the beginning, which gives the same bytes.

use reluctant::{Policy, Registry};

use crate::config::PolicySpec;
use crate::error::{Result, ServeError};
use crate::event::{Event, chain};
use crate::fold::State;
use crate::store::{Store, Version};

/// So many numbers of events are read at a time.
const PIECE: u64 = 4_096;

/// The state at the end of the log.
pub(super) fn recover(store: &mut dyn Store, id: u32, spec: &PolicySpec, registry: &Registry) -> Result<State> {
    let mut state = nearest(store, id, spec, registry, u64::MAX)?;
    advance(store, id, spec, registry, &mut state)?;
    Ok(state)
}

/// The policy as it was after event `to`.
pub(super) fn policy_at(
    store: &mut dyn Store,
    id: u32,
    spec: &PolicySpec,
    registry: &Registry,
    to: u64,
) -> Result<Box<dyn Policy>> {
    let mut state = nearest(store, id, spec, registry, to)?;
    fold(store, id, to, &mut state, &mut |store, to| policy_at(store, id, spec, registry, to))?;
    Ok(state.policy)
}

/// Takes in what the log holds beyond `state`.
pub(super) fn advance(
    store: &mut dyn Store,
    id: u32,
    spec: &PolicySpec,
    registry: &Registry,
    state: &mut State,
) -> Result<()> {
    let end = store.end()?.n;
    fold(store, id, end, state, &mut |store, to| policy_at(store, id, spec, registry, to))
}

/// The state at the end of the log by the events alone: no snapshot is looked at.
fn replay(store: &mut dyn Store, id: u32, spec: &PolicySpec, registry: &Registry, to: u64) -> Result<State> {
    let mut state = State::new(spec, registry)?;
    fold(store, id, to, &mut state, &mut |store, to| Ok(replay(store, id, spec, registry, to)?.policy))?;
    Ok(state)
}

/// The policy as it was after an event, found in a store.
type Past<'a> = dyn FnMut(&mut dyn Store, u64) -> Result<Box<dyn Policy>> + 'a;

fn fold(store: &mut dyn Store, id: u32, to: u64, state: &mut State, past: &mut Past<'_>) -> Result<()> {
    let mut read = state.n;
    while read < to {
        let until = to.min(read.saturating_add(PIECE));
        let mut events: Vec<Event> = Vec::new();
        store.each(id, read, until, &mut |event| {
            events.push(event);
            Ok(())
        })?;
        for event in &events {
            state.apply(event, |to| past(store, to))?;
        }
        read = until;
    }
    Ok(())
}

/// The state of the latest snapshot that holds nothing beyond event `to`.
fn nearest(store: &mut dyn Store, id: u32, spec: &PolicySpec, registry: &Registry, to: u64) -> Result<State> {
    for version in store.versions(id)?.into_iter().filter(|version| version.n <= to) {
        belongs(store, &spec.name, &version)?;
        if let Some(bytes) = store.version_state(id, version.n)? {
            return State::restore(&bytes, registry);
        }
    }
    State::new(spec, registry)
}

/// An error unless a snapshot was taken of this log.
fn belongs(store: &mut dyn Store, name: &str, version: &Version) -> Result<()> {
    let Version { n, chain, .. } = *version;
    if store.event(n)?.is_some_and(|event| event.chain == chain) {
        return Ok(());
    }
    Err(ServeError::Foreign {
        store: "of this service".to_owned(),
        reason: format!("the snapshot of '{name}' at event {n} does not belong to its log; remove that snapshot"),
    })
}

/// What was found when a log was checked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Checked {
    /// The policy.
    pub policy: String,
    /// Its events.
    pub events: u64,
    /// Its version.
    pub version: u64,
    /// The number of bytes of its state.
    pub bytes: usize,
}

/// Checks a log: every event follows from the one before it, and every policy as it is recovered has the bytes of one
/// that was folded from the first event on. Changes nothing.
pub fn verify(specs: &[PolicySpec], registry: &Registry, store: &mut dyn Store) -> Result<Vec<Checked>> {
    let mut ids = Vec::new();
    for spec in specs {
        ids.push(store.register(&spec.name, &super::identity(spec, registry)?)?.0);
    }
    check_chain(store)?;
    let end = store.end()?.n;
    specs.iter().zip(ids).map(|(spec, id)| check_policy(store, id, spec, registry, end)).collect()
}

fn check_policy(store: &mut dyn Store, id: u32, spec: &PolicySpec, registry: &Registry, end: u64) -> Result<Checked> {
    let recovered = recover(store, id, spec, registry)?;
    let replayed = replay(store, id, spec, registry, end)?;
    let (a, b) = (recovered.save()?, replayed.save()?);
    if a != b {
        let at = a.iter().zip(&b).take_while(|(a, b)| a == b).count();
        let reason = format!("'{}' as recovered differs from its replay, from byte {at} on", spec.name);
        return Err(ServeError::Store(reason));
    }
    let tally = &recovered.tally;
    let events = tally.decisions + tally.rewards + tally.defaults;
    Ok(Checked { policy: spec.name.clone(), events, version: recovered.version, bytes: a.len() })
}

/// An error unless every event's fingerprint follows from its content and the one before it.
fn check_chain(store: &mut dyn Store) -> Result<()> {
    let (end, mut before, mut time) = (store.end()?, 0, 0);
    for n in 1..=end.n {
        let broken = |what: &str| ServeError::Store(format!("event {n} of the log {what}"));
        let event = store.event(n)?.ok_or_else(|| broken("is missing"))?;
        let is_decision = event.fact.kind() == crate::event::Kind::Decision;
        let offer = if is_decision { store.offer(n)? } else { Vec::new() };
        let fact = serde_json::to_vec(&event.fact).map_err(|cause| broken(&cause.to_string()))?;
        before = chain(before, n, event.policy, event.time, &event.id, &fact, &offer);
        if before != event.chain {
            return Err(broken("is not what was written"));
        }
        if event.time < time {
            return Err(broken("is earlier than the one before it"));
        }
        time = event.time;
    }
    Ok(())
}
