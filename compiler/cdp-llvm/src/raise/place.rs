//! Where in the source a launch stands.

use std::fmt;

use inkwell::values::InstructionValue;

use crate::raw;

/// A place in a source file, by the debug information of the module.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LaunchPlace {
    /// As the module names it.
    pub file: String,
    /// From 1.
    pub line: u32,
    /// From 1; 0 when it is not known.
    pub column: u32,
}

impl fmt::Display for LaunchPlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.file, self.line)?;
        if self.column > 0 { write!(f, ":{}", self.column) } else { Ok(()) }
    }
}

/// The place of an instruction in the function that holds it.
pub(crate) fn of(at: InstructionValue<'_>) -> Option<LaunchPlace> {
    raw::place(at).map(|(file, line, column)| LaunchPlace { file, line, column })
}
