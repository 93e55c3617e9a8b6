//! The intermediate representation of cdp: a typed, structured IR for one translation unit.
//!
//! One idea: every fact that a later stage needs is explicit here, so that no stage after `check`
//! guesses. Values are typed with machine types, lvalues are addresses, C's conversions are casts,
//! a kernel launch is one operation, a builtin variable or intrinsic is one operation.
//!
//! The IR is structured (statements and expression trees), not a control-flow graph: it is made while the tree
//! is walked, the lints and the evaluator of constants follow it as the source reads, and LLVM makes the graph. Launches
//! are optimised there, in LLVM's IR, whoever wrote them.
//!
//! What is absent on purpose: syntax, source text, C's type names and qualifiers, LLVM, files.
//!
//! Reading order: [`types`], [`module`], [`stmt`], [`expr`], [`effects`], [`intrinsic`], [`runtime`],
//! then [`mod@verify`] (whose header is the specification), [`flow`], [`mod@evaluate`] and [`mod@print`].

#![deny(missing_docs)]
#![forbid(unsafe_code)]

pub mod effects;
pub mod evaluate;
pub mod expr;
pub mod flow;
pub mod intrinsic;
pub mod module;
pub mod print;
pub mod runtime;
pub mod stmt;
pub mod types;
pub mod verify;

pub use effects::{has_effects, only_computes};
pub use evaluate::Evaluator;
pub use expr::{
    Aggregate, AsmOperand, AsmOutput, BinaryOp, Callee, CastKind, CompareOp, Const, Dim, Expr,
    ExprKind, InlineAsm, Launch, LaunchHints, UnaryOp, UpdateYield,
};
pub use intrinsic::{
    Atomic, AtomicOp, Axis, BuiltinVar, CacheOp, Intrinsic, PtxTemplate, Scope, ShuffleMode,
    VoteMode,
};
pub use module::{
    AddressSpace, CdpVersion, FastMath, FnAttrs, FuncId, Function, FunctionKind, Global, GlobalId,
    Inline, LaunchBounds, Linkage, Loc, Local, LocalId, Module, OptLevel, ParamAttrs, SourceFile,
    Target,
};
pub use runtime::RuntimeFn;
pub use stmt::{Block, LabelId, Stmt, StmtKind, SwitchLabel, Unroll};
pub use types::{
    BitRange, Field, FieldSpec, FloatKind, Layout, Packing, Record, RecordId, RecordKind, Type,
    TypeId, TypeTable,
};
pub use verify::{Verified, VerifyError, for_each_child, for_each_expr, verify};
