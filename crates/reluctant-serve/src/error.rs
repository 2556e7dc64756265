//! Why a service does not start, and why its store fails: one sentence each.

use std::path::PathBuf;

/// The result of what happens at start.
pub type Result<T> = std::result::Result<T, ServeError>;

/// Why a service does not start or cannot go on.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ServeError {
    /// The configuration is wrong.
    #[error("{}{}: {message}", file.display(), line.map_or(String::new(), |line| format!(":{line}")))]
    Config {
        /// The file.
        file: PathBuf,
        /// The line, from 1, where one can be named.
        line: Option<usize>,
        /// What is wrong there.
        message: String,
    },
    /// Another process has the store.
    #[error("the store {0} is in use by another process; stop that one first, or name another store")]
    InUse(String),
    /// The store was written by a newer version of this program.
    #[error("the store {store} has format {found}, and this version reads up to {known}; use a newer version")]
    Newer {
        /// Which store.
        store: String,
        /// Its format.
        found: i64,
        /// The newest format that is known.
        known: i64,
    },
    /// The store is something else, or damaged.
    #[error("the store {store} cannot be used: {reason}")]
    Foreign {
        /// Which store.
        store: String,
        /// Why.
        reason: String,
    },
    /// A policy was made otherwise when the log began.
    #[error(
        "policy '{name}' began its log as {was} and is now {now}; put the settings back, or give the new one another \
         name"
    )]
    OtherPolicy {
        /// The policy.
        name: String,
        /// What it was.
        was: String,
        /// What it is.
        now: String,
    },
    /// The clock is behind the log.
    #[error("the clock is {seconds} s behind the last event of the log; set the clock, or wait until it is right")]
    Clock {
        /// By how much.
        seconds: u64,
    },
    /// The address is taken, or cannot be had.
    #[error("cannot listen on {address}: {reason}")]
    Listen {
        /// The address.
        address: String,
        /// Why.
        reason: String,
    },
    /// Reading or writing the store failed.
    #[error("the store failed: {0}")]
    Store(String),
    /// The core refused something at start.
    #[error(transparent)]
    Core(#[from] reluctant::Error),
    /// The machine does not give what is needed.
    #[error("cannot {action}: {reason}")]
    Machine {
        /// What was tried.
        action: String,
        /// Why it failed.
        reason: String,
    },
}

impl ServeError {
    /// Whether what the user wrote is at fault, rather than the machine.
    pub fn is_usage(&self) -> bool {
        matches!(self, ServeError::Config { .. } | ServeError::OtherPolicy { .. } | ServeError::Core(_))
    }
}
