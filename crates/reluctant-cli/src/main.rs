//! The command `reluctant`.
//!
//! Exit codes: 0, it worked; 1, it failed (a file cannot be read or written, a trial failed); 2, what was typed or written is
//! wrong (an argument, an experiment's file, data).

mod args;
mod commands;
mod failure;
mod progress;

use std::process::ExitCode;

use clap::Parser;

fn main() -> ExitCode {
    match commands::dispatch(args::Args::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => failure.report(),
    }
}
