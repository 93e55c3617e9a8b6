//! What can go wrong between a verified module and its PTX or object.
//!
//! Nothing here is a mistake in the user's program except [`LowerError::Unsupported`], which a
//! caller turns into a diagnostic; mistakes of ours are [`LowerError::Bug`].

use std::fmt;

use cdp_ir::Loc;

use crate::raise::place::LaunchPlace;

/// A failure of lowering, optimisation or emission.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LowerError {
    /// LLVM was built without the target, or does not know the processor.
    Target {
        /// What was asked for.
        triple: String,
        /// LLVM's own words.
        message: String,
    },
    /// The program calls a function of libdevice, and no libdevice was given.
    LibdeviceMissing {
        /// Its name there (`__nv_sinf`).
        function: String,
    },
    /// libdevice was given and cannot be read, or lacks a function.
    Libdevice {
        /// What is wrong with the file.
        message: String,
    },
    /// The program asks for what the chosen architecture, address size or launch ABI cannot do.
    Unsupported {
        /// The function's name in the source, or the symbol.
        function: String,
        /// Where in the source; line 0 when that is not known.
        loc: Loc,
        /// What cannot be done; a cure may follow after a line break.
        message: String,
    },
    /// LLVM refused the module.
    Backend {
        /// LLVM's own words.
        message: String,
    },
    /// Bytes that are no LLVM IR, or IR that does not verify.
    Foreign {
        /// LLVM's own words, or what is missing.
        message: String,
    },
    /// Calls of `@cdp.launch` in a foreign module that cannot be lowered; all of them.
    Launches(Vec<LaunchCallError>),
    /// LLVM asked for memory and got none, or there was no room for a stack.
    OutOfMemory,
    /// Who asked for the code gave it up ([`crate::Cancel`]).
    Cancelled,
    /// A mistake of this crate or of the producer of the IR.
    Bug(Bug),
}

/// A call of `@cdp.launch` that cannot be lowered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LaunchCallError {
    /// The function that holds the call.
    pub function: String,
    /// The call as LLVM prints it.
    pub call: String,
    /// The index of the guilty kernel argument, from 0; `None` for the configuration or the kernel.
    pub argument: Option<u32>,
    /// What is wrong with it, and what was wanted.
    pub message: String,
    /// Where the call stands in the source, when the module tells.
    pub place: Option<LaunchPlace>,
}

impl fmt::Display for LaunchCallError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(place) = &self.place {
            write!(f, "{place}: ")?;
        }
        if !self.function.is_empty() {
            write!(f, "in function `{}`, ", self.function)?;
        }
        if let Some(argument) = self.argument {
            write!(f, "argument {argument} of ")?;
        }
        write!(f, "`{}`: {}", self.call.trim(), self.message)
    }
}

/// A broken promise inside the compiler: which stage, in which function, and what.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bug {
    /// The stage that noticed it: `lower`, `emit`.
    pub stage: &'static str,
    /// The function's source name; empty for the module.
    pub function: String,
    /// Which promise, in words.
    pub message: String,
}

impl fmt::Display for LowerError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            LowerError::Target { triple, message } => {
                write!(f, "LLVM cannot make code for {triple}: {message}")
            }
            LowerError::LibdeviceMissing { function } => {
                write!(f, "`{function}` is a function of libdevice, which was not found")
            }
            LowerError::Libdevice { message } => write!(f, "libdevice cannot be used: {message}"),
            LowerError::Unsupported { function, message, .. } => {
                write!(f, "in `{function}`: {message}")
            }
            LowerError::Backend { message } => write!(f, "LLVM: {message}"),
            LowerError::Foreign { message } => f.write_str(message),
            LowerError::Launches(errors) => {
                let lines: Vec<_> = errors.iter().map(ToString::to_string).collect();
                f.write_str(&lines.join("\n"))
            }
            LowerError::OutOfMemory => f.write_str("out of memory"),
            LowerError::Cancelled => f.write_str("cancelled"),
            LowerError::Bug(bug) => write!(
                f,
                "internal error in stage `{}`, function `{}`: {}; please report this",
                bug.stage, bug.function, bug.message
            ),
        }
    }
}

impl std::error::Error for LowerError {}

impl From<inkwell::builder::BuilderError> for LowerError {
    fn from(error: inkwell::builder::BuilderError) -> Self {
        bug("build", error.to_string())
    }
}

/// A bug of no particular function; [`in_function`] adds the name on the way out.
pub(crate) fn bug(stage: &'static str, message: impl Into<String>) -> LowerError {
    LowerError::Bug(Bug { stage, function: String::new(), message: message.into() })
}

/// Names the function in an error that does not have one yet.
pub(crate) fn in_function(error: LowerError, name: &str) -> LowerError {
    match error {
        LowerError::Bug(bug) if bug.function.is_empty() => {
            LowerError::Bug(Bug { function: name.to_string(), ..bug })
        }
        LowerError::Unsupported { function, loc, message } if function.is_empty() => {
            LowerError::Unsupported { function: name.to_string(), loc, message }
        }
        other => other,
    }
}

pub(crate) type Result<T> = std::result::Result<T, LowerError>;
