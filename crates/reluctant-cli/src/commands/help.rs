//! `reluctant completions` and `reluctant manual`: what shells and `man` want to know.

use std::io::Write;

use clap::CommandFactory;
use reluctant::Error;

use crate::args::Args;
use crate::failure::Failure;

const NAME: &str = "reluctant";

pub(crate) fn completions(shell: clap_complete::Shell) -> Result<(), Failure> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Args::command(), NAME, &mut script);
    std::io::stdout().lock().write_all(&script)?;
    Ok(())
}

/// The page of the whole command, or of one of its commands.
pub(crate) fn manual(command: Option<&str>) -> Result<(), Failure> {
    let mut all = Args::command();
    all.build();
    let page = match command {
        None => all,
        Some(name) => {
            let known: Vec<&str> = all.get_subcommands().map(clap::Command::get_name).collect();
            let found = all.find_subcommand(name).ok_or_else(|| Error::unknown("command", name, known))?;
            found.clone()
        }
    };
    let mut text = Vec::new();
    clap_mangen::Man::new(page).render(&mut text)?;
    std::io::stdout().lock().write_all(&text)?;
    Ok(())
}
