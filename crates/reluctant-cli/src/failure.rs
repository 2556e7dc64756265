//! How the command ends when it fails: one sentence on standard error and an exit code.

use std::process::ExitCode;

use reluctant_lab::LabError;

/// Why a command failed.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Failure {
    /// The core refused what it was given.
    #[error(transparent)]
    Core(#[from] reluctant::Error),
    /// The lab failed.
    #[error(transparent)]
    Lab(#[from] LabError),
    /// The service does not start.
    #[cfg(feature = "serve")]
    #[error(transparent)]
    Serve(#[from] reluctant_serve::ServeError),
    /// Standard output cannot be written.
    #[error("cannot write to standard output: {0}")]
    Output(#[from] std::io::Error),
    /// It was interrupted.
    #[error("{0}")]
    Interrupted(String),
}

impl Failure {
    fn code(&self) -> u8 {
        match self {
            Failure::Core(_) => 2,
            Failure::Lab(cause) if cause.is_usage() => 2,
            #[cfg(feature = "serve")]
            Failure::Serve(cause) if cause.is_usage() => 2,
            #[cfg(feature = "serve")]
            Failure::Serve(_) => 1,
            Failure::Lab(_) | Failure::Output(_) => 1,
            // As shells count: 128 and the number of the signal.
            Failure::Interrupted(_) => 130,
        }
    }

    /// Which options help, where some do.
    fn hint(&self) -> &'static str {
        match self {
            Failure::Lab(LabError::OtherExperiment { .. }) => " (--out names another folder, --fresh starts over)",
            Failure::Lab(LabError::Occupied { .. } | LabError::Busy { .. }) => " (--out names another folder)",
            _ => "",
        }
    }

    /// Says what went wrong and gives the exit code. A reader that closed the pipe (`| head`) wants no complaint.
    pub(crate) fn report(&self) -> ExitCode {
        if matches!(self, Failure::Output(cause) if cause.kind() == std::io::ErrorKind::BrokenPipe) {
            return ExitCode::SUCCESS;
        }
        eprintln!("reluctant: {self}{}", self.hint());
        ExitCode::from(self.code())
    }
}

impl From<reluctant_lab::report::ReportError> for Failure {
    fn from(cause: reluctant_lab::report::ReportError) -> Self {
        Failure::Lab(cause.into())
    }
}
