//! Writes a report on made-up trials: `cargo run -p reluctant-lab --example report_demo -- DIR [CASE]`.
//!
//! The cases are those that reports tend to get wrong: `paper` (the default), `single`, `long`, `one`, `many`,
//! `labels`, `empty`, `linear`, `mixed`, `unfinished`.

use std::path::Path;
use std::process::ExitCode;

use reluctant_lab::report;

#[path = "../tests/made_up/mod.rs"]
mod made_up;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let Some(dir) = arguments.first() else {
        eprintln!("usage: report_demo DIR [{}]", made_up::CASES.join("|"));
        return ExitCode::from(2);
    };
    let case = arguments.get(1).map_or("paper", String::as_str);
    let Some(results) = made_up::case(case) else {
        eprintln!("unknown case '{case}'; known are {}", made_up::CASES.join(", "));
        return ExitCode::from(2);
    };
    print!("{}", report::table::of(&results));
    match report::write_all(&results, Path::new(dir)) {
        Ok(files) => {
            files.iter().for_each(|file| println!("{}", file.display()));
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}
