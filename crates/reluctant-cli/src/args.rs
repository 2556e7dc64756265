//! What can be typed.
//!
//! Every number may be typed with a minus, so that the sentence about a negative one is that of its
//! option, not one about dashes.

use std::path::PathBuf;

use clap::{Parser, Subcommand, ValueEnum};

const EXIT_CODES: &str = "Exit codes: 0 it worked; 1 it failed (a file cannot be read or written, a trial failed); \
2 what was typed or written is wrong (an argument, an experiment's file, data); 130 it was interrupted.";

/// Bandits for rewards with ReLU structure: reproduce the paper, run experiments, fit networks.
#[derive(Debug, Parser)]
#[command(name = "reluctant", version, after_help = EXIT_CODES)]
pub(crate) struct Args {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Reproduces the paper's figure: two panels, five methods, 50 trials, tuning included.
    Reproduce(Reproduce),
    /// Runs the experiment that a TOML file describes; goes on where an earlier run stopped.
    Run(Run),
    /// Rebuilds every output of a folder from its results.jsonl; of two folders, writes a page with both side by side.
    Report(Report),
    /// Says what a policy would have earned on a log, with intervals, and what the log cannot tell.
    Evaluate(Evaluate),
    /// Tries policies on a log and ranks them by what they would have earned.
    Choose(Choose),
    /// Decides and learns over HTTP, with a log that loses nothing.
    #[cfg(feature = "serve")]
    Serve(Serve),
    /// Fits a one-layer ReLU network to the columns of a CSV file.
    Fit(Fit),
    /// Lists policies and environments with their parameters, defaults, ranges and citations.
    List {
        /// Only this policy or environment.
        name: Option<String>,
        /// As JSON, for programs.
        #[arg(long)]
        json: bool,
    },
    /// Says what the paper's theory gives for your numbers, each with its equation and its meaning.
    Theory(Theory),
    /// Shows the best action of a network, its gap, the separation of its neurons and its number of cells.
    Inspect(Inspect),
    /// Writes the script that completes this command in a shell.
    Completions {
        /// The shell.
        shell: clap_complete::Shell,
    },
    /// Writes the manual page, of this command or of one of its own: `reluctant manual run | man -l -`.
    Manual {
        /// One of the commands.
        command: Option<String>,
    },
}

#[derive(Debug, clap::Args)]
pub(crate) struct Report {
    /// A folder that `run` or `reproduce` wrote.
    pub(crate) dir: PathBuf,
    /// Another one to hold beside it.
    pub(crate) other: Option<PathBuf>,
    /// Where the page about two folders goes [default: comparison.html].
    #[arg(long, value_name = "FILE", requires = "other")]
    pub(crate) out: Option<PathBuf>,
}

#[derive(Debug, clap::Args)]
pub(crate) struct Theory {
    /// Dimension d of an action.
    #[arg(long, value_name = "D", value_parser = parsed_from(2), allow_negative_numbers = true)]
    pub(crate) dim: u32,
    /// Neurons k of the network.
    #[arg(long, value_name = "K", value_parser = parsed_from(1), allow_negative_numbers = true)]
    pub(crate) neurons: u32,
    /// The noise is σ-subgaussian.
    #[arg(long, value_name = "S", allow_negative_numbers = true)]
    pub(crate) sigma: f64,
    /// Gap ν* of the best action [default: 1/(2k), below which no network's gap lies].
    #[arg(long, value_name = "V", allow_negative_numbers = true)]
    pub(crate) nu: Option<f64>,
    /// Separation α₀ of the neurons [default: the largest that k neurons in d dimensions can have].
    #[arg(long, value_name = "A", allow_negative_numbers = true)]
    pub(crate) alpha0: Option<f64>,
    /// The statements about estimation fail with this probability δ.
    #[arg(long, value_name = "P", default_value_t = 0.01, allow_negative_numbers = true)]
    pub(crate) delta: f64,
    /// Horizon T, in rounds.
    #[arg(long, value_name = "T", default_value_t = 1000.0, allow_negative_numbers = true)]
    pub(crate) horizon: f64,
    /// As JSON, for programs.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, clap::Args)]
pub(crate) struct Inspect {
    /// A CSV file with one neuron a row, with or without a header; - is standard input.
    pub(crate) theta: PathBuf,
    /// Scales every neuron to unit length first.
    #[arg(long)]
    pub(crate) normalise: bool,
    /// The noise level that the theory's exploration length assumes.
    #[arg(long, value_name = "S", default_value_t = 0.1, value_parser = not_negative, allow_negative_numbers = true)]
    pub(crate) sigma: f64,
    /// The probability with which it may fail.
    #[arg(long, value_name = "P", default_value_t = 0.01, value_parser = probability, allow_negative_numbers = true)]
    pub(crate) delta: f64,
    /// As JSON, for programs.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, clap::Args)]
pub(crate) struct Reproduce {
    /// Where results and figures go [default: results/reproduce, or a folder of its own if
    /// options change the experiment].
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// Only this panel: a (d = 2, k = 3) or b (d = 2, k = 10).
    #[arg(long)]
    pub(crate) panel: Option<Panel>,
    /// Trials of each method instead of 50.
    #[arg(long, value_name = "N", value_parser = whole(1, 1_000_000), allow_negative_numbers = true)]
    pub(crate) trials: Option<u64>,
    /// Rounds of a trial instead of 1,000.
    #[arg(long, value_name = "T", value_parser = whole(1, 1_000_000_000), allow_negative_numbers = true)]
    pub(crate) rounds: Option<u64>,
    /// Standard deviation of the noise instead of 0.1.
    #[arg(long, value_name = "S", allow_negative_numbers = true)]
    pub(crate) noise: Option<f64>,
    /// Threads [default: one a core]. Results do not depend on it.
    #[arg(long, value_name = "N", value_parser = threads, allow_negative_numbers = true)]
    pub(crate) threads: Option<usize>,
    /// Starts over, removing earlier results in the folder.
    #[arg(long)]
    pub(crate) fresh: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, ValueEnum)]
pub(crate) enum Panel {
    /// d = 2, k = 3
    A,
    /// d = 2, k = 10
    B,
}

#[derive(Debug, clap::Args)]
pub(crate) struct Run {
    /// The TOML file that describes the experiment; - is standard input.
    pub(crate) spec: PathBuf,
    /// Trials of each policy in the place of the file's.
    #[arg(long, value_name = "N", value_parser = whole(1, 1_000_000), allow_negative_numbers = true)]
    pub(crate) trials: Option<u64>,
    /// Rounds of a trial in the place of the file's.
    #[arg(long, value_name = "T", value_parser = whole(1, 1_000_000_000), allow_negative_numbers = true)]
    pub(crate) rounds: Option<u64>,
    /// Prints summary.json in the place of tables.
    #[arg(long)]
    pub(crate) json: bool,
    /// Where results and figures go [default: results/NAME, or a folder of its own if options change the experiment].
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// Threads [default: one a core]. Results do not depend on it.
    #[arg(long, value_name = "N", value_parser = threads, allow_negative_numbers = true)]
    pub(crate) threads: Option<usize>,
    /// Starts over, removing earlier results in the folder.
    #[arg(long)]
    pub(crate) fresh: bool,
}

#[derive(Debug, clap::Args)]
pub(crate) struct Evaluate {
    /// A log: JSON lines, or CSV if its name ends in .csv, gzipped or not; or Parquet or Arrow, by its ending.
    pub(crate) log: PathBuf,
    /// A policy of `reluctant list`, which learns from the log, with settings as in oful:lambda=0.1,features=constant;
    /// or the path of a saved policy, which ends in .json.
    #[arg(long, value_name = "POLICY")]
    pub(crate) policy: String,
    #[command(flatten)]
    pub(crate) judging: Judging,
}

#[derive(Debug, clap::Args)]
pub(crate) struct Choose {
    /// A log: JSON lines, or CSV if its name ends in .csv, gzipped or not; or Parquet or Arrow, by its ending.
    pub(crate) log: PathBuf,
    /// A policy to try, as for `evaluate`; may be given many times [default: some quick ones].
    #[arg(long, value_name = "POLICY")]
    pub(crate) policy: Vec<String>,
    #[command(flatten)]
    pub(crate) judging: Judging,
}

#[derive(Debug, clap::Args)]
pub(crate) struct Judging {
    /// The policy whose belief predicts rewards; "none" for weights alone.
    #[arg(long, value_name = "POLICY", default_value = "oful:features=constant")]
    pub(crate) model: String,
    /// The log is cut into so many parts, and what is learnt from it is used on the part that was left out [default: 5,
    /// or 2 for files above 64 MB].
    #[arg(long, value_name = "N", value_parser = whole(2, 100), allow_negative_numbers = true)]
    pub(crate) folds: Option<u64>,
    /// Choices made to find the probabilities of a policy that does not know them.
    #[arg(long, value_name = "N", default_value_t = 1000, value_parser = whole(1, 1_000_000))]
    pub(crate) draws: u64,
    /// Names all randomness.
    #[arg(long, default_value_t = 1, value_parser = whole(0, u64::MAX), allow_negative_numbers = true)]
    pub(crate) seed: u64,
    /// Leaves out what a policy would have earned while it learnt.
    #[arg(long)]
    pub(crate) no_replay: bool,
    /// Writes the report into this folder: a page, a figure, and tables.
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// Draws the estimates and the weights into this SVG file.
    #[arg(long, value_name = "FILE")]
    pub(crate) picture: Option<PathBuf>,
    /// As JSON, for programs.
    #[arg(long)]
    pub(crate) json: bool,
}

#[cfg(feature = "serve")]
#[derive(Debug, clap::Args)]
pub(crate) struct Serve {
    /// The TOML file that describes the service.
    pub(crate) config: PathBuf,
    /// Serves nothing, but checks the log: that nothing in it was changed, and that every policy as it would be
    /// recovered is, to the byte, what the log gives from its beginning.
    #[arg(long)]
    pub(crate) check: bool,
}

#[derive(Debug, clap::Args)]
pub(crate) struct Fit {
    /// A CSV file with a row a sample, with or without a header: the last column is the reward. - is standard input.
    pub(crate) data: PathBuf,
    /// The column that is the reward, by its name in the header [default: the last].
    #[arg(long, value_name = "COLUMN")]
    pub(crate) target: Option<String>,
    /// Adds a constant, a linear part and a bias to every neuron: for data that do not lie around 0. Neurons then have
    /// any length and sign.
    #[arg(long)]
    pub(crate) intercept: bool,
    /// Standard deviation of the noise, if it is known; else it is judged by samples that lie close together.
    #[arg(long, value_name = "S", value_parser = not_negative, allow_negative_numbers = true)]
    pub(crate) noise: Option<f64>,
    /// Neurons k of the network.
    #[arg(long, value_name = "K", value_parser = whole(1, 64), allow_negative_numbers = true)]
    pub(crate) neurons: u64,
    /// Second layer: all ones with unit neurons, as in the paper, or ±1 with neurons of any length.
    #[arg(long, value_enum, default_value_t = Signs::Ones)]
    pub(crate) signs: Signs,
    /// At most so many starts of the fit; it stops early once enough of them agree.
    #[arg(long, value_name = "N", value_parser = whole(1, 100_000), allow_negative_numbers = true)]
    pub(crate) restarts: Option<u64>,
    /// Names the random starts.
    #[arg(long, default_value_t = 1, value_parser = whole(0, u64::MAX), allow_negative_numbers = true)]
    pub(crate) seed: u64,
    /// As JSON, for programs.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, ValueEnum)]
pub(crate) enum Signs {
    /// Unit neurons, second layer of ones
    Ones,
    /// Neurons of any length, second layer of ±1
    Free,
}

/// A whole number from `least` to `most`.
fn whole(least: u64, most: u64) -> impl Fn(&str) -> Result<u64, String> + Clone {
    move |text| match text.parse() {
        Ok(n) if (least..=most).contains(&n) => Ok(n),
        _ => Err(format!("a whole number from {least} to {most}")),
    }
}

/// A whole number that should be at least `least`; the theory itself says why a smaller one will not do.
fn parsed_from(least: u32) -> impl Fn(&str) -> Result<u32, String> + Clone {
    move |text| text.parse().map_err(|_| format!("a whole number from {least} to {}", u32::MAX))
}

fn threads(text: &str) -> Result<usize, String> {
    whole(1, 1024)(text).map(|n| n as usize)
}

fn not_negative(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(x) if (0.0..f64::INFINITY).contains(&x) => Ok(x),
        _ => Err("a number, zero or more".to_owned()),
    }
}

fn probability(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(x) if x > 0.0 && x < 1.0 => Ok(x),
        _ => Err("a number above 0 and below 1".to_owned()),
    }
}
