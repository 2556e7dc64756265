//! What time it is: the one place that asks the machine.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

/// Where the time comes from, in milliseconds since 1970.
#[derive(Debug, Clone, Default)]
pub enum Clock {
    /// The machine's.
    #[default]
    Machine,
    /// One that stands still until it is set, for tests.
    Set(Arc<AtomicU64>),
}

impl Clock {
    /// A clock that stands at `time`; whoever holds the number moves it.
    pub fn at(time: u64) -> (Self, Arc<AtomicU64>) {
        let hand = Arc::new(AtomicU64::new(time));
        (Clock::Set(Arc::clone(&hand)), hand)
    }

    /// Milliseconds since 1970.
    pub fn now(&self) -> u64 {
        match self {
            Clock::Machine => SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_millis() as u64),
            Clock::Set(hand) => hand.load(Ordering::SeqCst),
        }
    }
}
