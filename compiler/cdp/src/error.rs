//! What can go wrong that is not in the user's program.

use std::fmt;
use std::path::PathBuf;

use cdp_launch::AbiError;
use cdp_llvm::Stopped;
use cdp_toolchain::ToolError;

/// A failure of the environment, of the embedder's request, or of cdp itself.
#[derive(Debug)]
#[non_exhaustive]
pub enum Error {
    /// A file could not be read or written.
    Io {
        /// What was tried: `read`, `write`.
        action: String,
        /// The file or folder.
        path: PathBuf,
        /// The system's reason.
        source: std::io::Error,
    },
    /// Options or inputs that do not go together.
    Request {
        /// Why they do not.
        message: String,
        /// What to ask for instead.
        cure: Option<String>,
    },
    /// The launch ABI asked for cannot work on the target.
    Abi(AbiError),
    /// A CUDA tool is missing or failed.
    Tool(ToolError),
    /// LLVM IR, bitcode or PTX that was handed in is not what it should be.
    Input {
        /// The name it was handed in under.
        name: String,
        /// What is wrong with it.
        message: String,
    },
    /// There was not enough memory, or no room for a stack or thread.
    OutOfMemory {
        /// The stage.
        doing: String,
        /// How much was wanted, where that is known.
        message: String,
    },
    /// It was given up by [`crate::Compiler::cancel`].
    Cancelled,
    /// A mistake of cdp.
    Bug {
        /// Where it was noticed.
        stage: &'static str,
        /// The function or file.
        place: String,
        /// What was observed.
        message: String,
    },
}

impl Error {
    pub(crate) fn request(message: impl Into<String>) -> Error {
        Error::Request { message: message.into(), cure: None }
    }

    /// Whether a tool is missing or failed, which `cdpc` tells by its exit code.
    pub fn is_tool_failure(&self) -> bool {
        matches!(self, Error::Tool(_))
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Io { action, path, source } => {
                write!(f, "cannot {action} `{}`: {source}", path.display())
            }
            Error::Request { message, cure: None } => f.write_str(message),
            Error::Request { message, cure: Some(cure) } => write!(f, "{message}\n  help: {cure}"),
            Error::Abi(error) => write!(f, "{error}\n  help: {}", error.cure()),
            Error::Tool(error) => error.fmt(f),
            Error::Input { name, message } => write!(f, "{name}: {message}"),
            Error::Cancelled => f.write_str("the compilation was cancelled"),
            Error::OutOfMemory { doing, message } => write!(
                f,
                "{message} in {doing}\n  help: raise the memory limit (`ulimit -v`), or give a smaller input"
            ),
            Error::Bug { stage, place, message } => write!(
                f,
                "cdp made a mistake in {stage} ({place}): {message}\n  help: please report this, \
                 with the source; another --launch-abi or -O level may get around it"
            ),
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Error::Io { source, .. } => Some(source),
            Error::Abi(source) => Some(source),
            Error::Tool(source) => Some(source),
            _ => None,
        }
    }
}

impl From<ToolError> for Error {
    fn from(error: ToolError) -> Self {
        match error {
            ToolError::Cancelled => Error::Cancelled,
            error => Error::Tool(error),
        }
    }
}

impl From<AbiError> for Error {
    fn from(error: AbiError) -> Self {
        Error::Abi(error)
    }
}

/// Runs a stage on a guarded thread: with room for deep programs, and with panics and LLVM's fatal
/// errors as errors.
pub(crate) fn guard<T: Send, E: Send + From<Error>>(
    stage: &'static str,
    name: &str,
    work: impl FnOnce() -> Result<T, E> + Send,
) -> Result<T, E> {
    let place = name.into();
    guarded(stage, name, work, |stopped| Error::Bug { stage, place, message: stopped.to_string() })
}

/// The guard for another compiler's IR: what LLVM gives up on, the input asked for.
pub(crate) fn guard_input<T: Send, E: Send + From<Error>>(
    name: &str,
    work: impl FnOnce() -> Result<T, E> + Send,
) -> Result<T, E> {
    guarded("emit", name, work, |stopped| match stopped {
        Stopped::Panic(message) => Error::Bug { stage: "emit", place: name.into(), message },
        other => Error::Input { name: name.into(), message: other.to_string() },
    })
}

/// Lack of memory is the machine's matter; `other` says whose it is that LLVM stopped.
fn guarded<T: Send, E: Send + From<Error>>(
    stage: &str,
    name: &str,
    work: impl FnOnce() -> Result<T, E> + Send,
    other: impl FnOnce(Stopped) -> Error,
) -> Result<T, E> {
    cdp_llvm::guarded(work).unwrap_or_else(|stopped| {
        Err(match stopped {
            Stopped::NoThread(_) | Stopped::OutOfMemory => Error::OutOfMemory {
                doing: format!("{stage} ({name})"),
                message: stopped.to_string(),
            },
            stopped => other(stopped),
        }
        .into())
    })
}
