//! What a service is told: `service.toml`, checked before anything is touched.

mod read;
#[cfg(test)]
mod tests;
mod toml_table;

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use reluctant::{Settings, Space};

/// A service, as its file describes it.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Config {
    /// Where it listens.
    pub listen: SocketAddr,
    /// Where its log is kept.
    pub store: StoreSpec,
    /// A snapshot is taken after so many events of a policy.
    pub snapshot_every: u64,
    /// So many snapshots of a policy are kept.
    pub versions: usize,
    /// Whether every request is written to standard error; those that fail here always are.
    pub log_requests: bool,
    /// Who may do what.
    pub tokens: Tokens,
    /// What a request may cost.
    pub limits: Limits,
    /// The policies.
    pub policies: Vec<PolicySpec>,
}

/// Where a log is kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StoreSpec {
    /// A file, by SQLite.
    File(PathBuf),
    /// A PostgreSQL database, by its address.
    Postgres(String),
}

/// What a bearer of a token may do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// Ask for decisions.
    Decide,
    /// Hand in rewards.
    Reward,
    /// Everything.
    Admin,
}

impl Role {
    /// Its name in the file.
    pub const fn name(self) -> &'static str {
        match self {
            Role::Decide => "decide",
            Role::Reward => "reward",
            Role::Admin => "admin",
        }
    }
}

/// The SHA-256 of each token, with what its bearer may do. None at all: everyone may do everything.
#[derive(Debug, Clone, Default)]
pub struct Tokens(pub Vec<(Role, [u8; 32])>);

/// What a request may cost.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Limits {
    /// Bytes of a body.
    pub body: usize,
    /// Actions of an offer.
    pub arms: usize,
    /// Requests of a batch.
    pub batch: usize,
    /// Requests a second of one token, or of all that have none; zero is no limit.
    pub rate: f64,
    /// How long a request may take to arrive, and how long it may wait for its turn.
    pub timeout: Duration,
    /// Connections at a time.
    pub connections: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Limits {
            body: 16 << 20,
            arms: 10_000,
            batch: 1_000,
            rate: 0.0,
            timeout: Duration::from_secs(10),
            connections: 1_024,
        }
    }
}

/// What a policy does with what it knows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// Chooses and learns.
    Online,
    /// The caller's default is played; the policy learns from it, and says how often it would have done the same.
    Apprentice,
    /// The caller's default is played and logged; nothing is learnt.
    LogOnly,
}

impl Mode {
    /// Its name in the file.
    pub const fn name(self) -> &'static str {
        match self {
            Mode::Online => "online",
            Mode::Apprentice => "apprentice",
            Mode::LogOnly => "log-only",
        }
    }
}

/// A policy of the service.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct PolicySpec {
    /// Its name in addresses.
    pub name: String,
    /// Its name in the registry.
    pub kind: String,
    /// The shape of every offer.
    pub space: Space,
    /// Its parameters.
    pub settings: Settings,
    /// Names all its randomness.
    pub seed: u64,
    /// What it does with what it knows.
    pub mode: Mode,
    /// After so many milliseconds a reward is too late to be learnt.
    pub reward_wait: Option<u64>,
    /// What is learnt when no reward has come by then.
    pub default_reward: Option<f64>,
}
