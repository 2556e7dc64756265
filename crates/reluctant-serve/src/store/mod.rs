//! Where the log is kept: [`Store`] is what the engine asks of it.

#[cfg(feature = "postgres")]
mod postgres;
mod sqlite;

#[cfg(feature = "postgres")]
pub use postgres::Postgres;
pub use sqlite::Sqlite;

use crate::error::Result;
use crate::event::{Event, Fact};

/// The end of the log.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct End {
    /// The number of the last event, 0 if there is none.
    pub n: u64,
    /// Its time.
    pub time: u64,
    /// Its fingerprint.
    pub chain: u64,
}

/// Where a decision stands in the log, and what came of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Place {
    /// The number of the decision.
    pub n: u64,
    /// The number of the reward that a caller gave.
    pub reward: Option<u64>,
    /// The number of the default reward.
    pub expiry: Option<u64>,
}

/// A decision that waits for its reward.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Waiting {
    /// The number of the decision.
    pub n: u64,
    /// Its id.
    pub id: String,
    /// When it was made.
    pub time: u64,
}

/// A snapshot without its state.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Version {
    /// The last event that it holds.
    pub n: u64,
    /// The last event that changed the policy: its name.
    pub version: u64,
    /// The time of the event `n`.
    pub time: u64,
    /// The fingerprint of the log up to `n`, of whichever policy.
    pub chain: u64,
}

/// What goes through a log, event by event.
pub type Visit<'a> = dyn FnMut(Event) -> Result<()> + 'a;

/// A log on disk.
///
/// Everything between [`Store::begin`] and [`Store::commit`] becomes true at once, or not at all; what was
/// committed is on the disk. What was appended can be read back before it is committed, by the same store.
pub trait Store: Send {
    /// The number of a policy, which is made if it is new. `identity` says how it was made: the one it began with is
    /// given back.
    fn register(&mut self, name: &str, identity: &str) -> Result<(u32, String)>;

    /// Begins a group of events. Gives the end of the log, after which nobody else appends until the group is over.
    fn begin(&mut self) -> Result<End>;

    /// Appends an event; `fact` is its fact as it is written, `offer` what a decision chose from.
    fn append(&mut self, event: &Event, fact: &[u8], offer: &[u8]) -> Result<()>;

    /// Makes the group true, and returns once it is on the disk.
    fn commit(&mut self) -> Result<()>;

    /// Forgets the group.
    fn abandon(&mut self);

    /// The end of the log.
    fn end(&mut self) -> Result<End>;

    /// The decision with this id.
    fn find(&mut self, policy: u32, id: &str) -> Result<Option<Place>>;

    /// The event with this number.
    fn event(&mut self, n: u64) -> Result<Option<Event>>;

    /// What was on offer in a decision, as bytes.
    fn offer(&mut self, n: u64) -> Result<Vec<u8>>;

    /// Goes through the events of a policy with numbers above `after` and at most `to`, in order.
    fn each(&mut self, policy: u32, after: u64, to: u64, visit: &mut Visit<'_>) -> Result<()>;

    /// The last decisions of a policy, the latest first.
    fn last_decisions(&mut self, policy: u32, count: usize) -> Result<Vec<Event>>;

    /// The decisions that have waited longest for their rewards.
    fn waiting(&mut self, policy: u32, count: usize) -> Result<Vec<Waiting>>;

    /// Keeps a snapshot, and of the earlier ones so many that there are `keep`.
    fn save_version(&mut self, policy: u32, version: Version, state: &[u8], keep: usize) -> Result<()>;

    /// The snapshots of a policy, the latest first.
    fn versions(&mut self, policy: u32) -> Result<Vec<Version>>;

    /// The state of a snapshot.
    fn version_state(&mut self, policy: u32, n: u64) -> Result<Option<Vec<u8>>>;

    /// Whether other processes may append, too.
    fn is_shared(&self) -> bool {
        false
    }

    /// Whether this process is the one that learns; asked before it does.
    fn lease(&mut self) -> Result<bool> {
        Ok(true)
    }

    /// Lets other processes know the state of a policy after event `n`, unless they know a later one.
    fn publish(&mut self, policy: u32, n: u64, state: &[u8]) -> Result<()> {
        let _ = (policy, n, state);
        Ok(())
    }

    /// The state of a policy that was published, if it is of a later event than `after`.
    fn published(&mut self, policy: u32, after: u64) -> Result<Option<Vec<u8>>> {
        let _ = (policy, after);
        Ok(None)
    }
}

/// A fact from its text in the log.
fn read_fact(n: u64, text: &[u8]) -> Result<Fact> {
    serde_json::from_slice(text)
        .map_err(|cause| crate::error::ServeError::Store(format!("event {n} of the log cannot be read: {cause}")))
}
