//! What the parser knows before it has read anything: words, the types and function templates that
//! CUDA's headers declare, names of attributes. Made once for a session, and with the session copied.

use super::symbols::{Meaning, Symbols};
use crate::check::builtins;
use crate::intern::{Interner, Symbol};
use crate::scopes::ScopeId;
use crate::words::Words;

/// Words and names by the symbols of one interner.
pub(crate) struct Vocabulary {
    pub(super) words: Words,
    /// The meanings at the beginning of a program.
    pub(super) symbols: Symbols,
    pub(super) std: Symbol,
}

impl Vocabulary {
    /// Interns everything.
    pub fn new(names: &mut Interner) -> Self {
        let words = Words::new(names);
        let mut symbols = Symbols::default();
        for def in builtins::types::all_types() {
            symbols.set(names.intern(def.name), Meaning::Type(ScopeId::NONE));
        }
        for name in builtins::template_names() {
            symbols.set(names.intern(name), Meaning::CudaTemplate);
        }
        // The tree names an attribute without underscores, which the text may never do.
        for (name, ..) in crate::attributes::KNOWN {
            names.intern(name);
        }
        Vocabulary { words, symbols, std: names.intern("std") }
    }
}
