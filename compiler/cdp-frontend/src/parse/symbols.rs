//! What the parser must know of a name: C++ cannot be parsed without it, since `a * b` and `a(b)` mean different
//! things for types and values. Where names are in sight is [`Scopes`]' matter.
//!
//! Not what the checker knows: a name has no type and no address here, and overloads are one value.

use crate::intern::Symbol;
use crate::scopes::{self, ScopeId, Scopes};

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

impl scopes::Declared for Option<Meaning> {
    fn is_declared(&self) -> bool {
        self.is_some()
    }

    fn is_same(&self, other: &Self) -> bool {
        self == other
    }

    fn overloads(&self) -> bool {
        false
    }
}

/// The names of the program at the place that has been reached. Of an ambiguous name one meaning is enough
/// here: the checker refuses it.
pub type Symbols = Scopes<Option<Meaning>>;

impl Symbols {
    /// The meaning of an unqualified name.
    pub fn get(&self, name: Symbol) -> Option<Meaning> {
        self.lookup(name, |_| true).first().flatten()
    }

    /// The meaning of a name after `scope::`.
    pub fn get_in(&self, scope: ScopeId, name: Symbol) -> Option<Meaning> {
        self.lookup_in(scope, name, |_| true).first().flatten()
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
