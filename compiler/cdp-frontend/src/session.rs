//! What the stages of one compilation share: the source map and the interned names.

use std::sync::Arc;

use crate::intern::{Interner, Symbol};
use crate::parse::Vocabulary;
use crate::source::{SourceMap, Span};

/// Files, macro expansions and names. One session serves any number of `parse` calls, for example
/// the device and the host pass of a file; spans and symbols of all of them stay valid in it.
#[derive(Clone, Default)]
pub struct Session {
    /// Files and macro expansions.
    pub sources: SourceMap,
    /// Interned names.
    pub names: Interner,
    /// Functions of the compiler's headers that are not in any tree, because the program does not
    /// name them, and where they are declared.
    pub unused: Vec<(Symbol, Span)>,
    /// The parser's words, by the symbols that they have here, once they were asked for.
    vocabulary: Option<Arc<Vocabulary>>,
}

impl Session {
    /// An empty session.
    pub fn new() -> Self {
        Self::default()
    }

    /// True when nothing was read yet.
    pub(crate) fn is_new(&self) -> bool {
        self.names.len() == 1 && self.sources.files().next().is_none()
    }

    /// The words that mean something to the parser.
    pub(crate) fn vocabulary(&mut self) -> Arc<Vocabulary> {
        let Session { names, vocabulary, .. } = self;
        Arc::clone(vocabulary.get_or_insert_with(|| Arc::new(Vocabulary::new(names))))
    }

    /// The text of a name.
    pub fn name(&self, symbol: Symbol) -> &str {
        self.names.resolve(symbol)
    }
}
