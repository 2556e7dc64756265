//! The command `reluctant` as a library: a program that adds policies or environments of its own
//! gets the whole command with them.
//!
//! ```no_run
//! use std::process::ExitCode;
//!
//! use reluctant::policy;
//!
//! fn main() -> ExitCode {
//!     // Usually an `Entry` of one's own; here a built-in one under another name.
//!     let mine = policy::Entry { name: "mine", ..policy::BUILT_IN[0].clone() };
//!     reluctant_cli::run(&reluctant_lab::registry().with_policy(mine))
//! }
//! ```
//!
//! Exit codes: 0, it worked; 1, it failed (a file cannot be read or written, a trial failed); 2, what was typed or
//! written is wrong (an argument, an experiment's file, data); 130, it was interrupted.

mod args;
mod commands;
mod failure;
mod progress;
mod width;

use std::process::ExitCode;

use clap::Parser;
use reluctant::Registry;

/// Does what was typed, with the policies and environments that `registry` knows.
pub fn run(registry: &Registry) -> ExitCode {
    match commands::dispatch(registry, args::Args::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => failure.report(),
    }
}
