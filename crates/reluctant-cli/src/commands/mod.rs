//! One file a command.

mod fit;
mod inspect;
mod list;
mod numbers;
mod report;
mod reproduce;
mod run;
mod theory;

use crate::args::{Args, Command};
use crate::failure::Failure;

pub(crate) fn dispatch(args: Args) -> Result<(), Failure> {
    match args.command {
        Command::Reproduce(options) => reproduce::reproduce(&options),
        Command::Run(options) => run::run(&options),
        Command::Report { dir } => report::report(&dir),
        Command::Fit(options) => fit::fit(&options),
        Command::List { json } => list::list(json),
        Command::Theory(options) => theory::theory(&options),
        Command::Inspect(options) => inspect::inspect(&options),
    }
}
