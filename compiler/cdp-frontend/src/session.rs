//! What the stages of one compilation share: the source map and the interned names.

use crate::intern::{Interner, Symbol};
use crate::source::{SourceMap, Span};

/// Files, macro expansions and names. One session serves any number of `parse` calls, for example
/// the device and the host pass of a file; spans and symbols of all of them stay valid in it.
#[derive(Default)]
pub struct Session {
    /// Files and macro expansions.
    pub sources: SourceMap,
    /// Interned names.
    pub names: Interner,
    /// Functions of the compiler's headers that are not in any tree, because the program does not
    /// name them, and where they are declared.
    pub unused: Vec<(Symbol, Span)>,
}

impl Session {
    /// An empty session.
    pub fn new() -> Self {
        Self::default()
    }

    /// The text of a name.
    pub fn name(&self, symbol: Symbol) -> &str {
        self.names.resolve(symbol)
    }
}
