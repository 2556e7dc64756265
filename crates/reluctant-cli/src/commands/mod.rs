//! One file a command.

mod fit;
mod list;
mod report;
mod reproduce;
mod run;

use crate::args::{Args, Command};
use crate::failure::Failure;

pub(crate) fn dispatch(args: Args) -> Result<(), Failure> {
    match args.command {
        Command::Reproduce(options) => reproduce::reproduce(&options),
        Command::Run(options) => run::run(&options),
        Command::Report { dir } => report::report(&dir),
        Command::Fit(options) => fit::fit(&options),
        Command::List { json } => list::list(json),
    }
}
