//! The command `reluctant`.

use std::process::ExitCode;

fn main() -> ExitCode {
    reluctant_cli::run(&reluctant_lab::registry())
}
