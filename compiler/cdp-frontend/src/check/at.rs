//! Where the parts of an expression stand, which messages point at.

use crate::source::Span;

/// An operator, and the whole expression.
#[derive(Clone, Copy)]
pub struct At {
    pub op: Span,
    pub whole: Span,
}

impl At {
    /// The operator as the call of its function.
    pub fn as_call(self) -> CallAt {
        CallAt { name: self.op, args: self.whole, whole: self.whole }
    }
}

/// A call.
#[derive(Clone, Copy)]
pub struct CallAt {
    /// What is called.
    pub name: Span,
    /// The arguments with their brackets.
    pub args: Span,
    pub whole: Span,
}
