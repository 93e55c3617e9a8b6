//! What lints ask of who makes the IR.

use std::borrow::Cow;

use cdp_diagnostics::source::Span;
use cdp_ir::{Const, Expr, GlobalId, Intrinsic, Loc, LocalId, Module, RuntimeFn, TypeTable};

/// The function whose statements follow.
#[derive(Clone, Default)]
pub struct Function {
    /// By which [`Source::function`] knows it.
    pub key: u32,
    /// It runs on the device, by itself or too.
    pub on_device: bool,
    /// It is a kernel, so that its parameters are the same for all threads.
    pub kernel: bool,
    /// Its first locals.
    pub param_count: u32,
    /// It goes into the module.
    pub lowered: bool,
}

/// The places of an expression's parts: of a launch, of a barrier or copy, of a value that is returned.
pub struct Site {
    /// By which the expression is found in the statements that follow; the statement's, of a returned value.
    pub loc: Loc,
    /// What messages call it.
    pub name: Cow<'static, str>,
    /// The narrowest text for it: a launch's kernel, a function's name, the value.
    pub span: Span,
    /// The arguments that are written.
    pub args: Vec<Span>,
    /// What only launches have.
    pub launch: Option<Launch>,
}

/// What only launches have.
pub struct Launch {
    /// The kernel, if it is known.
    pub child: Option<Child>,
    /// The values between `<<<` and `>>>`.
    pub config: Vec<Span>,
    /// All of it.
    pub config_span: Span,
    /// A loop is around it.
    pub in_loop: bool,
}

/// A kernel that is launched.
#[derive(Clone, Copy)]
pub struct Child {
    /// By which [`Source::function`] knows it.
    pub key: u32,
    /// Where it is declared.
    pub declared: Span,
    /// Threads of a block that it promises, 0 where it promises nothing.
    pub max_threads: u32,
}

/// Whether all threads of a block wait for each other in it, and a [`Site`] for it is wanted.
pub fn is_barrier(op: &Intrinsic) -> bool {
    matches!(
        op,
        Intrinsic::SyncThreads
            | Intrinsic::SyncThreadsCount
            | Intrinsic::SyncThreadsAnd
            | Intrinsic::SyncThreadsOr
    )
}

/// Whether it may run as a grid of its own, and a [`Site`] for it is wanted.
pub fn is_copy(func: RuntimeFn) -> bool {
    matches!(
        func,
        RuntimeFn::MemcpyAsync
            | RuntimeFn::Memcpy2DAsync
            | RuntimeFn::MemsetAsync
            | RuntimeFn::Memset2DAsync
    )
}

/// A variable in IR.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Variable {
    /// Of the function at hand.
    Local(LocalId),
    /// Of the module.
    Global(GlobalId),
}

/// What is known beside the statements.
pub trait Source {
    /// The types of the IR.
    fn types(&self) -> &TypeTable;
    /// What there is of the module, its types left out.
    fn module(&self) -> &Module;
    /// The value of a constant expression.
    fn constant(&self, expr: &Expr) -> Option<Const>;
    /// The name of a variable, empty for a temporary one, and where it is declared.
    fn variable(&self, variable: Variable) -> (&str, Span);
    /// The name of a function.
    fn function(&self, key: u32) -> &str;
    /// Compute capability times ten.
    fn arch(&self) -> u32;
}
