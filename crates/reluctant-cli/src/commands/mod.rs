//! One file a command.

mod evaluate;
mod fit;
mod help;
mod input;
mod inspect;
mod list;
mod noise;
mod numbers;
mod report;
mod reproduce;
mod run;
#[cfg(feature = "serve")]
mod serve;
mod theory;

use reluctant::Registry;

use crate::args::{Args, Command};
use crate::failure::Failure;

pub(crate) fn dispatch(registry: &Registry, args: Args) -> Result<(), Failure> {
    match args.command {
        Command::Reproduce(options) => reproduce::reproduce(registry, &options),
        Command::Run(options) => run::run(registry, &options),
        Command::Report(options) => report::report(registry, &options),
        Command::Evaluate(options) => evaluate::evaluate_one(registry, &options),
        Command::Choose(options) => evaluate::choose(registry, &options),
        #[cfg(feature = "serve")]
        Command::Serve(options) => serve::serve(registry, &options),
        Command::Fit(options) => fit::fit(&options),
        Command::List { name, json } => list::list(registry, name.as_deref(), json),
        Command::Theory(options) => theory::theory(&options),
        Command::Inspect(options) => inspect::inspect(&options),
        Command::Completions { shell } => help::completions(shell),
        Command::Manual { command } => help::manual(command.as_deref()),
    }
}
