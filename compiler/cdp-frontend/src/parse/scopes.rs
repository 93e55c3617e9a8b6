//! Which names are types, namespaces or values at a place in the program, as far as the parser
//! needs to know. Not a symbol table: values are recorded only where they hide a type.

use crate::intern::{FastMap, Symbol};

/// A set of names that `::` can look into: a namespace, a record or an enum.
pub type ScopeId = u32;

/// No scope.
pub const NO_SCOPE: ScopeId = u32::MAX;

/// What a name means.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Meaning {
    /// Not known as anything but a value.
    Value,
    /// A type; the scope holds a record's or an enum's own names.
    Type(ScopeId),
    Namespace(ScopeId),
    /// A template that was refused.
    Template,
    /// A function template of CUDA's headers: `tex2D<float4>`.
    CudaTemplate,
}

/// The current meanings, with what they were before to return to.
#[derive(Clone, Default)]
pub struct Scopes {
    /// By symbol number.
    current: Vec<Option<Meaning>>,
    /// Changes to undo, newest last.
    trail: Vec<(Symbol, Option<Meaning>)>,
    /// Names inside each scope.
    inside: Vec<FastMap<Symbol, Meaning>>,
}

/// A point to return to.
#[derive(Clone, Copy, Debug)]
pub struct Mark(usize);

impl Scopes {
    /// The meaning of an unqualified name.
    pub fn get(&self, name: Symbol) -> Option<Meaning> {
        self.current.get(name.0 as usize).copied().flatten()
    }

    /// Gives a name a meaning in the innermost scope.
    pub fn declare(&mut self, name: Symbol, meaning: Meaning) {
        let place = name.0 as usize;
        if self.current.len() <= place {
            self.current.resize(place + 256, None);
        }
        self.trail.push((name, self.current[place]));
        self.current[place] = Some(meaning);
    }

    /// A value, which is worth recording only if it hides something.
    pub fn declare_value(&mut self, name: Symbol) {
        if self.get(name).is_some_and(|meaning| meaning != Meaning::Value) {
            self.declare(name, Meaning::Value);
        }
    }

    /// The point to return to at the end of a scope that begins now.
    pub fn mark(&self) -> Mark {
        Mark(self.trail.len())
    }

    /// Forgets everything since the mark.
    pub fn restore(&mut self, mark: Mark) {
        while self.trail.len() > mark.0 {
            if let Some((name, before)) = self.trail.pop() {
                self.current[name.0 as usize] = before;
            }
        }
    }

    /// A new empty scope for `::`.
    pub fn new_scope(&mut self) -> ScopeId {
        self.inside.push(FastMap::default());
        self.inside.len() as ScopeId - 1
    }

    /// Keeps what was declared since the mark as the names inside `scope`.
    pub fn save(&mut self, mark: Mark, scope: ScopeId) {
        let names: Vec<Symbol> = self.trail[mark.0..].iter().map(|(name, _)| *name).collect();
        for name in names {
            if let (Some(meaning), Some(inside)) =
                (self.get(name), self.inside.get_mut(scope as usize))
            {
                inside.insert(name, meaning);
            }
        }
    }

    /// The meaning of a name inside a scope.
    pub fn lookup(&self, scope: ScopeId, name: Symbol) -> Option<Meaning> {
        self.inside.get(scope as usize)?.get(&name).copied()
    }

    /// Declares everything of a scope here: `using namespace`, or a namespace opened again.
    pub fn open(&mut self, scope: ScopeId) {
        let all: Vec<_> = match self.inside.get(scope as usize) {
            Some(inside) => inside.iter().map(|(name, meaning)| (*name, *meaning)).collect(),
            None => return,
        };
        for (name, meaning) in all {
            self.declare(name, meaning);
        }
    }
}
