//! What can go wrong in the lab: each error is one sentence that names the file, the line and what is allowed.

use std::path::{Path, PathBuf};

/// The lab's result.
pub type Result<T> = std::result::Result<T, LabError>;

/// What went wrong.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LabError {
    /// The file that describes an experiment, or the data of a fit, is wrong.
    #[error("{}{}: {message}", file.display(), line.map_or(String::new(), |line| format!(":{line}")))]
    Input {
        /// The file.
        file: PathBuf,
        /// The line, from 1, where one can be named.
        line: Option<usize>,
        /// What is wrong there.
        message: String,
    },
    /// A file or folder cannot be read or written.
    #[error("cannot {action} {}: {source}", path.display())]
    Io {
        /// What was tried.
        action: &'static str,
        /// On which path.
        path: PathBuf,
        /// Why it failed.
        source: std::io::Error,
    },
    /// The folder holds results of another experiment.
    #[error(
        "{} holds the results of another experiment ({what}); choose another folder, or start over afresh",
        dir.display()
    )]
    OtherExperiment {
        /// The folder.
        dir: PathBuf,
        /// What differs.
        what: String,
    },
    /// The folder holds no experiment, but a file that this one would write over.
    #[error(
        "{} holds no experiment, but a file {file} that this one would write over; choose another folder, or move that \
         file away",
        dir.display()
    )]
    Occupied {
        /// The folder.
        dir: PathBuf,
        /// The file's name.
        file: &'static str,
    },
    /// Another process is writing to the folder.
    #[error("another run is writing to {}; wait for it, or choose another folder", dir.display())]
    Busy {
        /// The folder.
        dir: PathBuf,
    },
    /// The folder holds no results.
    #[error("{} holds no results: {reason}", dir.display())]
    NoResults {
        /// The folder.
        dir: PathBuf,
        /// What is missing.
        reason: String,
    },
    /// A trial failed.
    #[error("trial {trial} of {policy} in {environment} failed: {source}")]
    Trial {
        /// Which environment.
        environment: String,
        /// Which policy.
        policy: String,
        /// Which trial.
        trial: u64,
        /// Why.
        source: Box<reluctant::Error>,
    },
    /// An environment failed in the midst of a trial.
    #[error("trial {trial} in {environment} failed: {source}")]
    Environment {
        /// Which environment.
        environment: String,
        /// Which trial.
        trial: u64,
        /// Why.
        source: Box<reluctant::Error>,
    },
    /// The threads to play on cannot be started.
    #[error("cannot start the threads to play on: {0}")]
    Threads(String),
    /// Whoever runs the experiment stopped it.
    #[error("the run was stopped; trials that had finished are kept")]
    Stopped,
    /// A trial that was played elsewhere does not fit.
    #[error("a result that was handed in does not fit: {0}")]
    Foreign(String),
    /// A policy cannot be evaluated on a log.
    #[error("a policy does not fit the log: {0}")]
    Misfit(String),
    /// A report cannot be written.
    #[error(transparent)]
    Report(#[from] crate::report::ReportError),
}

impl LabError {
    /// Whether what the user wrote is at fault, rather than the machine.
    pub fn is_usage(&self) -> bool {
        matches!(
            self,
            LabError::Input { .. }
                | LabError::OtherExperiment { .. }
                | LabError::Occupied { .. }
                | LabError::NoResults { .. }
        )
    }

    pub(crate) fn io(action: &'static str, path: &Path) -> impl FnOnce(std::io::Error) -> LabError {
        let path = path.to_owned();
        move |source| LabError::Io { action, path, source }
    }
}
