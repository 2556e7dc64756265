//! The engine: a log, and the policies that are its folds. It answers nothing that is not in the log.
//!
//! Requests are done in groups: [`Engine::begin`], any number of them, [`Engine::commit`]. Only after that may they
//! be answered. When a group fails, what the policies learnt in it is forgotten: they are folded from the log again.

mod decide;
mod explain;
mod orders;
mod recover;
mod reward;

use reluctant::{Key, Registry, Scratch};

use crate::clock::Clock;
use crate::config::{Config, PolicySpec};
use crate::error::{Result, ServeError};
use crate::event::{Event, Fact, chain};
use crate::fold::{State, key};
use crate::store::{End, Store, Version};

pub use decide::{Ask, Decided};
pub use explain::{Explained, Look};
pub use orders::Listed;
pub use recover::{Checked, verify};
pub use reward::Rewarded;

/// A clock that is behind the log by no more than this was only set right; in milliseconds.
const CLOCK_SLACK: u64 = 5_000;

/// Other processes are told at most this often what was learnt; in milliseconds.
const PUBLISH: u64 = 100;

/// Why a request is not done; nothing has changed then.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Refusal {
    /// It cannot be done as it is.
    Invalid(String),
    /// What it is about does not exist.
    Unknown(String),
    /// The same id stands for something else.
    Conflict(String),
    /// The log cannot be written or read.
    Store(String),
}

impl From<ServeError> for Refusal {
    fn from(cause: ServeError) -> Self {
        Refusal::Store(cause.to_string())
    }
}

impl From<reluctant::Error> for Refusal {
    fn from(cause: reluctant::Error) -> Self {
        Refusal::Invalid(cause.to_string())
    }
}

/// What a request gives.
pub type Answer<T> = std::result::Result<T, Refusal>;

/// A log, and the policies that are its folds.
pub struct Engine {
    config: Config,
    registry: Registry,
    clock: Clock,
    store: Box<dyn Store>,
    end: End,
    live: Vec<Live>,
    /// Why the group under way must not become true: an event of it was written in part.
    spoilt: Option<String>,
    /// Whether the policies hold what the log does not: a group failed, and they must be folded again.
    stale: bool,
}

/// A policy at work.
struct Live {
    spec: PolicySpec,
    /// Its number in the store.
    id: u32,
    key: Key,
    state: State,
    scratch: Scratch,
    /// The last event of the latest snapshot.
    saved: u64,
    /// Events since then.
    unsaved: u64,
    /// Before this time no default reward is due.
    next_due: u64,
    /// The last event that other processes know the state of, and when they were told.
    published: (u64, u64),
}

impl std::fmt::Debug for Engine {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Engine").field("end", &self.end).finish_non_exhaustive()
    }
}

impl Engine {
    /// Takes up a log where it ends.
    pub fn open(config: Config, registry: Registry, mut store: Box<dyn Store>, clock: Clock) -> Result<Self> {
        let end = store.end()?;
        let behind = end.time.saturating_sub(clock.now());
        if behind > CLOCK_SLACK {
            return Err(ServeError::Clock { seconds: behind.div_ceil(1000) });
        }
        let mut live = Vec::new();
        for spec in &config.policies {
            let identity = identity(spec, &registry)?;
            let (id, was) = store.register(&spec.name, &identity)?;
            if was != identity {
                return Err(ServeError::OtherPolicy { name: spec.name.clone(), was, now: identity });
            }
            let state = recover::recover(store.as_mut(), id, spec, &registry)?;
            let saved = store.versions(id)?.first().map_or(0, |version| version.n);
            let scratch = Scratch::default();
            let unsaved = state.n.saturating_sub(saved);
            let (spec, key, published) = (spec.clone(), key(spec), (0, 0));
            live.push(Live { spec, id, key, state, scratch, saved, unsaved, next_due: 0, published });
        }
        Ok(Engine { config, registry, clock, store, end, live, spoilt: None, stale: false })
    }

    /// The place of the policy with this name.
    pub fn find_policy(&self, name: &str) -> Option<usize> {
        self.live.iter().position(|live| live.spec.name == name)
    }

    /// The policies' descriptions, in their order.
    pub fn specs(&self) -> impl Iterator<Item = &PolicySpec> {
        self.live.iter().map(|live| &live.spec)
    }

    /// The state of a policy.
    pub fn state(&self, policy: usize) -> &State {
        &self.live[policy].state
    }

    /// The number of the last event.
    pub fn end(&self) -> u64 {
        self.end.n
    }

    /// The number of a policy in the store.
    pub fn store_id(&self, policy: usize) -> u32 {
        self.live[policy].id
    }

    /// Begins a group of requests.
    pub fn begin(&mut self) -> Result<()> {
        if self.stale {
            self.refold()?;
        }
        let begun = self.try_begin();
        if begun.is_err() {
            self.abandon();
        }
        begun
    }

    fn try_begin(&mut self) -> Result<()> {
        self.end = self.store.begin()?;
        if self.store.is_shared() {
            self.follow()?;
        }
        self.expire()
    }

    /// Makes the group true; after this its requests may be answered.
    pub fn commit(&mut self) -> Result<()> {
        let done = match self.spoilt.take() {
            None => self.store.commit(),
            Some(cause) => Err(ServeError::Store(cause)),
        };
        match &done {
            Ok(()) => self.save_versions(false),
            Err(_) => self.abandon(),
        }
        done
    }

    /// Forgets the group.
    pub fn abandon(&mut self) {
        self.store.abandon();
        (self.spoilt, self.stale) = (None, true);
    }

    /// Makes policies of the log again, and forgets what they held besides.
    fn refold(&mut self) -> Result<()> {
        for live in &mut self.live {
            live.state = recover::recover(self.store.as_mut(), live.id, &live.spec, &self.registry)?;
            live.next_due = 0;
        }
        self.stale = false;
        Ok(())
    }

    /// Takes in what other processes have logged: whoever learns folds it, the others take what that one published.
    fn follow(&mut self) -> Result<()> {
        let learner = self.store.lease()?;
        for live in &mut self.live {
            if learner {
                let before = live.state.n;
                recover::advance(self.store.as_mut(), live.id, &live.spec, &self.registry, &mut live.state)?;
                live.unsaved += live.state.n - before;
            } else if let Some(state) = self.store.published(live.id, live.state.n)? {
                live.state = State::restore(&state, &self.registry)?;
            }
        }
        Ok(())
    }

    /// Logs what happened, and lets the policy take it in. If that fails, so does the group.
    fn log(&mut self, policy: usize, id: String, fact: Fact, offer: &[u8]) -> Result<u64> {
        let logged = self.try_log(policy, id, fact, offer);
        if let Err(cause) = &logged {
            let said = match cause {
                ServeError::Store(said) => said.clone(),
                other => other.to_string(),
            };
            self.spoilt.get_or_insert(said);
        }
        logged
    }

    fn try_log(&mut self, policy: usize, id: String, fact: Fact, offer: &[u8]) -> Result<u64> {
        let live = &mut self.live[policy];
        let text = serde_json::to_vec(&fact).map_err(|cause| ServeError::Store(cause.to_string()))?;
        let (n, time) = (self.end.n + 1, self.end.time.max(self.clock.now()));
        let chain = chain(self.end.chain, n, live.id, time, &id, &text, offer);
        let event = Event { n, policy: live.id, time, id, fact, chain };
        self.store.append(&event, &text, offer)?;
        self.end = End { n, time, chain };
        live.unsaved += 1;
        if self.store.is_shared() {
            // The learner folds it when its turn comes, in the order of the log.
            return Ok(n);
        }
        let (store, registry) = (self.store.as_mut(), &self.registry);
        let (spec, id) = (&live.spec, live.id);
        live.state.apply(&event, |to| recover::policy_at(store, id, spec, registry, to))?;
        Ok(n)
    }

    /// Keeps snapshots of policies to which enough has happened; of all of them if `all`.
    ///
    /// One that cannot be written costs time at the next start, and nothing else.
    pub fn save_versions(&mut self, all: bool) {
        let shared = self.store.is_shared();
        for place in 0..self.live.len() {
            let live = &self.live[place];
            let changed = live.state.n > live.saved;
            if changed && (all || live.unsaved >= self.config.snapshot_every) {
                let _ = self.save_version(place);
            }
            if shared {
                let _ = self.publish(place);
            }
        }
    }

    /// Lets other processes know what was learnt, now and then.
    fn publish(&mut self, place: usize) -> Result<()> {
        let now = self.clock.now();
        let live = &mut self.live[place];
        if live.state.n <= live.published.0 || now < live.published.1 + PUBLISH || !self.store.lease()? {
            return Ok(());
        }
        self.store.publish(live.id, live.state.n, &live.state.save()?)?;
        live.published = (live.state.n, now);
        Ok(())
    }

    fn save_version(&mut self, place: usize) -> Result<()> {
        if !self.store.lease()? {
            return Ok(());
        }
        let live = &mut self.live[place];
        let Some(last) = self.store.event(live.state.n)? else { return Ok(()) };
        let version = Version { n: live.state.n, version: live.state.version, time: last.time, chain: last.chain };
        self.store.save_version(live.id, version, &live.state.save()?, self.config.versions)?;
        (live.saved, live.unsaved) = (live.state.n, 0);
        Ok(())
    }

    /// Milliseconds since 1970, never less than the log's last.
    fn now(&self) -> u64 {
        self.end.time.max(self.clock.now())
    }
}

/// How a policy was made, in words: with another its log would mean something else.
fn identity(spec: &PolicySpec, registry: &Registry) -> Result<String> {
    let (_, used) = registry.policy(&spec.kind)?.build_and_identify(spec.space, &spec.settings, key(spec))?;
    let settings: String = used.iter().map(|(name, value)| format!(", {name} = {value}")).collect();
    let space = match spec.space {
        reluctant::Space::Vectors { dim } => format!("dim = {dim}"),
        reluctant::Space::Contexts { dim, action_dim: 0 } => format!("context = {dim}"),
        reluctant::Space::Contexts { dim, action_dim } => format!("context = {dim}, action_features = {action_dim}"),
    };
    Ok(format!("{} ({space}, seed = {}{settings}; behaviour {})", spec.kind, spec.seed, reluctant::BEHAVIOUR))
}
