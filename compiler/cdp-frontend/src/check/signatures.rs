//! The signatures of functions as overload resolution sees them, and what was made of the builtin tables.

use std::rc::Rc;

use cdp_ir as ir;

use super::builtins::BuiltinFn;
use super::ctype::QualType;
use crate::intern::FastMap;

/// What a parameter takes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Accepts {
    Type(QualType),
    /// Any pointer with at least so many levels, seen as `void` behind as many; what CUDA's headers
    /// declare as a template over the pointee.
    AnyPointer {
        levels: u8,
        is_const: bool,
    },
    /// A kernel or a pointer to one.
    Kernel,
    /// An lvalue naming a device variable.
    Symbol,
}

/// A row's signature in the checker's types.
#[derive(Debug)]
pub struct BuiltinSig {
    pub ret: QualType,
    pub params: Rc<[Accepts]>,
    pub defaults: Vec<Option<i128>>,
    pub required: usize,
    pub variadic: bool,
}

/// What was made of the builtin tables so far.
#[derive(Default)]
pub struct BuiltinCache {
    pub types: FastMap<String, QualType>,
    pub signatures: FastMap<(usize, usize), Rc<BuiltinSig>>,
    /// `extern "C"` functions by symbol.
    pub externs: FastMap<&'static str, ir::FuncId>,
    /// Functions compiled from a row's text.
    pub inlines: FastMap<(usize, usize), ir::FuncId>,
    /// Functions that pointers to builtin functions point to.
    pub pointed: FastMap<(usize, usize), ir::FuncId>,
    /// Rows that were called.
    pub called: FastMap<usize, &'static BuiltinFn>,
    /// Headers that were looked for among the included files.
    pub headers: FastMap<&'static str, bool>,
}
