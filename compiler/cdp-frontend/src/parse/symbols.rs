//! What the parser must know of a name: C++ cannot be parsed without it, since `a * b` and `a(b)` mean different
//! things for types and values. Where names are in sight is [`Scopes`]' matter.
//!
//! Not what the checker knows: a name has no type and no address here, and overloads are one value.

use crate::check::builtins;
use crate::intern::{Interner, Symbol};
use crate::scopes::{Declared, ScopeId, Scopes};
use crate::words::Words;

/// What a name is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Meaning {
    /// A variable, function, parameter or enumerator.
    Value,
    /// A type; the scope holds a record's or an enumeration's own names.
    Type(ScopeId),
    Namespace(ScopeId),
    /// A template that was refused.
    Template,
    /// A function template of CUDA's headers: `tex2D<float4>`.
    CudaTemplate,
}

impl Declared for Option<Meaning> {}

/// The names of the program at the place that has been reached. Of an ambiguous name one meaning is enough
/// here: the checker refuses it.
pub type Symbols = Scopes<Option<Meaning>>;

impl Symbols {
    /// The meaning of an unqualified name.
    pub fn get(&self, name: Symbol) -> Option<Meaning> {
        self.lookup(name, |_| true).first().flatten()
    }

    /// Gives a name a meaning in the innermost scope.
    pub fn set(&mut self, name: Symbol, meaning: Meaning) {
        *self.declare(name) = Some(meaning);
    }

    /// Declares a tag, which does not hide a variable or function of its own scope
    /// (C++ [basic.scope.hiding]).
    pub fn set_tag(&mut self, name: Symbol, scope: ScopeId) {
        let slot = self.declare(name);
        if *slot != Some(Meaning::Value) {
            *slot = Some(Meaning::Type(scope));
        }
    }
}

/// What the parser knows before it has read anything: words, the types and function templates that CUDA's headers
/// declare, names of attributes. Made once for a session, and with the session copied.
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
