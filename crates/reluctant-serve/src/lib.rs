//! A decision service: bandit policies over HTTP, with a log that loses nothing.
//!
//! ```text
//! request -> Engine -> event -> Store (on the disk) -> answer
//!                 \-> State = fold of the events, byte for byte
//! ```
//!
//! [`config`] says what a service is, [`event`] what is logged, [`fold`] what a policy is made of it, [`engine`]
//! decides and takes rewards, [`store`] keeps the log, [`writer`] makes groups of requests durable by one sync, and
//! [`http`] is what the world sees of it. [`run()`] is all of it.

pub mod clock;
pub mod config;
pub mod engine;
pub mod error;
pub mod event;
pub mod fold;
pub mod http;
pub mod offer;
mod open;
mod run;
pub mod store;
pub mod tally;
pub mod writer;

pub use config::Config;
pub use engine::Engine;
pub use error::{Result, ServeError};
pub use open::{open_reader, open_store};
pub use run::{Running, check, run, start};
