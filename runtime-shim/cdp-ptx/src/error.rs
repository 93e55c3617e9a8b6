//! What can go wrong when PTX text is loaded.

use std::fmt;

/// Ends a function of the parser with an error at a token: its kind, and the message as for `format!`.
macro_rules! fail {
    ($parser:expr, $token:expr, $kind:ident, $($message:tt)*) => {
        return Err($parser.error_at(&$token, $crate::error::ErrorKind::$kind, format!($($message)*)))
    };
}

/// Why a text is not a module that this project can run. The first problem found is reported.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParseError {
    /// Line, from 1.
    pub line: u32,
    /// Column in bytes, from 1.
    pub column: u32,
    /// What kind of problem.
    pub kind: ErrorKind,
    /// What was found and what is known, without the place.
    pub message: String,
}

/// The kinds of [`ParseError`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ErrorKind {
    /// The text is not PTX.
    Syntax,
    /// An instruction that is not known, or is known and not supported.
    UnknownInstruction,
    /// A known instruction with a modifier or combination of modifiers that is not.
    UnknownModifier,
    /// A name that is not declared.
    UnknownName,
    /// A name declared twice, in ways that do not agree.
    Redefinition,
    /// An operand of the wrong kind or width, or a wrong number of them.
    Operand,
    /// A number out of range, or something too large.
    Limit,
    /// A feature of PTX outside what is supported (texture references, clusters, ...).
    Unsupported,
}

impl fmt::Display for ParseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}, column {}: {}", self.line, self.column, self.message)
    }
}

impl std::error::Error for ParseError {}
