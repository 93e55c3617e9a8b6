//! Why a verb stopped: text for the person who typed it.

use std::fmt;
use std::io;
use std::path::Path;

/// A message that says what was done, what went wrong and, where it helps, what to do.
#[derive(Debug)]
pub struct Failure(String);

/// What the functions here return.
pub type Outcome<T> = Result<T, Failure>;

impl Failure {
    /// A failure with this message.
    pub fn new(message: impl Into<String>) -> Failure {
        Failure(message.into())
    }

    /// A file operation that failed.
    pub fn io(action: &str, path: &Path, error: &io::Error) -> Failure {
        Failure(format!("could not {action} {}: {error}", path.display()))
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl From<cdp_toolchain::ToolError> for Failure {
    fn from(error: cdp_toolchain::ToolError) -> Failure {
        Failure(error.to_string())
    }
}
