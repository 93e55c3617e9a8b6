//! The parser's symbol table: what each name of the program is at the place that has been reached.
//! C++ cannot be parsed without it, since `a * b` and `a(b)` mean different things for types and values.
//!
//! Not the checker's: a name has no type and no address here, and overloads are one value.

use crate::intern::{FastMap, Symbol};

/// A set of names that `::` can look into: a namespace, a record or an enumeration.
pub type ScopeId = u32;

/// No scope.
pub const NO_SCOPE: ScopeId = u32::MAX;

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

/// The meaning of a name, and the length of the trail before it was declared.
#[derive(Clone, Copy, Default)]
struct Binding {
    meaning: Option<Meaning>,
    since: u32,
}

/// The names in all scopes that are open.
#[derive(Clone, Default)]
pub struct Symbols {
    /// By symbol number.
    current: Vec<Binding>,
    /// What was hidden, newest last, to return to at the end of a scope.
    trail: Vec<(Symbol, Binding)>,
    /// Where the innermost scope begins in the trail.
    innermost: u32,
    /// Names inside each scope that `::` can look into.
    inside: Vec<FastMap<Symbol, Meaning>>,
}

/// An open scope, to be closed with [`Symbols::leave`].
#[derive(Clone, Copy, Debug)]
pub struct Mark {
    trail: u32,
    outer: u32,
}

impl Symbols {
    /// The meaning of an unqualified name.
    pub fn get(&self, name: Symbol) -> Option<Meaning> {
        self.current.get(name.0 as usize).and_then(|binding| binding.meaning)
    }

    /// The meaning of a name inside a scope.
    pub fn lookup(&self, scope: ScopeId, name: Symbol) -> Option<Meaning> {
        self.inside.get(scope as usize)?.get(&name).copied()
    }

    /// Gives a name a meaning in the innermost scope.
    pub fn declare(&mut self, name: Symbol, meaning: Meaning) {
        let place = name.0 as usize;
        if self.current.len() <= place {
            self.current.resize(place + 256, Binding::default());
        }
        let before = self.current[place];
        if before.meaning == Some(meaning) && before.since >= self.innermost {
            return;
        }
        let since = self.trail.len() as u32;
        self.trail.push((name, before));
        self.current[place] = Binding { meaning: Some(meaning), since };
    }

    /// Declares a tag, which does not hide a variable or function of its own scope
    /// (C++ [basic.scope.hiding]).
    pub fn declare_tag(&mut self, name: Symbol, scope: ScopeId) {
        let hidden = self.current.get(name.0 as usize).is_some_and(|binding| {
            binding.meaning == Some(Meaning::Value) && binding.since >= self.innermost
        });
        if !hidden {
            self.declare(name, Meaning::Type(scope));
        }
    }

    /// Opens a scope.
    pub fn enter(&mut self) -> Mark {
        let mark = Mark { trail: self.trail.len() as u32, outer: self.innermost };
        self.innermost = mark.trail;
        mark
    }

    /// Closes a scope, and those opened after it.
    pub fn leave(&mut self, mark: Mark) {
        while self.trail.len() > mark.trail as usize {
            if let Some((name, before)) = self.trail.pop() {
                self.current[name.0 as usize] = before;
            }
        }
        self.innermost = mark.outer;
    }

    /// Closes a scope and keeps what was declared in it as the names inside `scope`.
    pub fn leave_into(&mut self, mark: Mark, scope: ScopeId) {
        for at in mark.trail as usize..self.trail.len() {
            let name = self.trail[at].0;
            if let (Some(meaning), Some(inside)) =
                (self.get(name), self.inside.get_mut(scope as usize))
            {
                inside.insert(name, meaning);
            }
        }
        self.leave(mark);
    }

    /// A new empty scope for `::`.
    pub fn new_scope(&mut self) -> ScopeId {
        self.inside.push(FastMap::default());
        self.inside.len() as ScopeId - 1
    }

    /// Declares everything of a scope here: `using namespace`, or a namespace opened again.
    pub fn open(&mut self, scope: ScopeId) {
        let Some(inside) = self.inside.get_mut(scope as usize) else { return };
        let names = std::mem::take(inside);
        for (name, meaning) in &names {
            self.declare(*name, *meaning);
        }
        self.inside[scope as usize] = names;
    }
}
