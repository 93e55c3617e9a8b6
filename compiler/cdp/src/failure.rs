//! [`Failure`]: why a build made nothing, the user's program included.

use std::fmt;

use cdp_diagnostics::render::Format;
use cdp_toolchain::ToolError;

use crate::analysis::{Report, render_reports};
use crate::error::Error;
use crate::message::{Message, messages};

/// Why a build made nothing.
#[derive(Debug)]
pub enum Failure {
    /// The program has errors; they are in the reports.
    Program(Vec<Report>),
    /// Everything else, with the warnings found until then.
    Error {
        /// The reason.
        error: Error,
        /// Warnings about the program.
        reports: Vec<Report>,
    },
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Failure::Error { error, reports: Vec::new() }
    }
}

impl From<ToolError> for Failure {
    fn from(error: ToolError) -> Self {
        Error::from(error).into()
    }
}

impl Failure {
    /// What the program is to blame for, and the warnings that came with another failure.
    pub fn reports(&self) -> &[Report] {
        match self {
            Failure::Program(reports) | Failure::Error { reports, .. } => reports,
        }
    }

    /// The same as data.
    pub fn messages(&self) -> Vec<Message> {
        messages(self.reports())
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Failure::Program(reports) => {
                f.write_str(render_reports(reports, Format::Short).trim_end())
            }
            Failure::Error { error, .. } => error.fmt(f),
        }
    }
}

impl std::error::Error for Failure {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Failure::Program(_) => None,
            Failure::Error { error, .. } => Some(error),
        }
    }
}
