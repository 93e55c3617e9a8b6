//! The checker: from the syntax tree of one translation unit to IR.
//!
//! It resolves names, computes types, applies C++'s conversions, and judges what CUDA forbids:
//! execution and memory spaces, launches, the device runtime. After it no stage guesses: a module
//! that it returns passes `cdp_ir::verify`. What this is not: syntax (the parser refused what the
//! subset leaves out), the choice of a launch ABI (`cdp-launch`), code.
//!
//! Reading order: [`ctype`] (types), `scope` (names), `state` (what is known while checking), then
//! declarations (`decl`, `types`, `record`, `init`), expressions (`expr`, `operators`, `binary`, `convert`,
//! `call`, `overload`), statements (`stmt`), and CUDA's own rules (`launch`, `spaces`).
//!
//! Errors do not stop it: an expression that is wrong gets an error type, which is compatible with
//! everything, so that one mistake is reported once and the rest of the file is still checked.

mod arena;
mod asm;
mod assign;
mod at;
mod auto;
mod binary;
mod builtin_call;
mod builtin_types;
#[doc(hidden)]
pub mod builtins;
mod call;
mod cast;
mod constant;
mod convert;
#[doc(hidden)]
pub mod ctype;
mod decl;
mod defaults;
mod enumeration;
mod expr;
mod facts;
mod format;
mod function;
mod function_body;
mod gnu;
mod init;
mod init_value;
mod inline;
mod jump;
mod launch;
mod launch_hints;
mod launch_rules;
mod lines;
mod lints;
mod local;
mod lookup;
mod mangle;
mod names;
mod operators;
mod overload;
mod pragmas;
mod range_for;
mod rank;
mod record;
mod redeclare;
mod runtime;
mod scan;
mod scope;
mod show;
mod signatures;
mod sites;
mod sizes;
mod spaces;
mod state;
mod stmt;
mod suspects;
#[cfg(test)]
mod tests;
pub(crate) mod types;
mod value;
mod variable;
mod variadic;

use cdp_ir as ir;

use crate::ast;
use crate::diagnostics::Diagnostics;
use crate::session::Session;
use crate::source::Span;

/// What the checker must know besides the program.
#[derive(Clone, Debug)]
pub struct CheckOptions {
    /// The module's name (usually the file's).
    pub module_name: String,
    /// Which pass, and for the device pass which device runtime.
    pub target: ir::Target,
    /// Address size, 4 or 8.
    pub pointer_bytes: u64,
    /// Compute capability times ten: 90 for sm_90. When several are compiled for, the lowest.
    pub arch: u32,
    /// Whether the launch ABI is one of the v1 pairs (`cudaGetParameterBuffer`,
    /// `cudaLaunchDevice`), which cannot launch into the named streams.
    pub v1_launch_abi: bool,
    /// Floating-point code generation, passed through to the module.
    pub fast_math: ir::FastMath,
    /// Whether the module is wanted. Without it there are only findings, for a third of the memory.
    pub module: bool,
}

impl Default for CheckOptions {
    fn default() -> Self {
        CheckOptions {
            module_name: "module".into(),
            target: ir::Target::Device { cdp: ir::CdpVersion::Cdp2 },
            pointer_bytes: 8,
            arch: 90,
            v1_launch_abi: false,
            fast_math: ir::FastMath::default(),
            module: true,
        }
    }
}

/// A launch site, for `cdpc graph`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LaunchFact {
    /// The launching function, qualified, as in the source.
    pub parent: String,
    /// Whether the launching function runs on the device.
    pub from_device: bool,
    /// The kernel, or the text of the expression that yields it.
    pub child: String,
    /// Source text of the configuration; empty when left out.
    pub grid: String,
    /// Threads of a block, likewise.
    pub block: String,
    /// Dynamic shared memory, likewise.
    pub shared_bytes: String,
    /// The stream, likewise.
    pub stream: String,
    /// The launch expression.
    pub span: Span,
}

/// A direct call between functions of the file, for `cdpc graph`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CallFact {
    /// Qualified, as in the source.
    pub caller: String,
    /// Qualified, as in the source.
    pub callee: String,
}

/// What the checker made.
pub struct CheckOutput {
    /// The module; `None` when there were errors, and when it was not wanted.
    pub module: Option<ir::Module>,
    /// Findings in the order they were made; `Diagnostics::finish` sorts and filters them.
    pub diagnostics: Diagnostics,
    /// Launch sites in source order.
    pub launches: Vec<LaunchFact>,
    /// Calls in source order, each pair once.
    pub calls: Vec<CallFact>,
    /// Rows of the builtin tables that code of this pass calls, each once, by name.
    pub builtins: Vec<&'static builtins::BuiltinFn>,
}

/// Checks a translation unit for one of the two passes.
///
/// Functions that run on the side of `options.target` are lowered into the module; the bodies of
/// host functions are checked on both passes, those of device functions on the device pass.
pub fn check(
    unit: &ast::TranslationUnit,
    session: &Session,
    options: &CheckOptions,
) -> CheckOutput {
    // Trees nest up to `ast::MAX_DEPTH` deep, and the checker follows them by recursion.
    std::thread::scope(|scope| {
        let work = || check_here(unit, session, options);
        match std::thread::Builder::new().stack_size(STACK_BYTES).spawn_scoped(scope, work) {
            Ok(thread) => match thread.join() {
                Ok(output) => output,
                Err(panic) => std::panic::resume_unwind(panic),
            },
            Err(_) => check_here(unit, session, options),
        }
    })
}

/// The stack that [`check_here`] may need. Only what is touched becomes memory.
pub const STACK_BYTES: usize = 512 << 20;

/// [`check`] on the caller's thread, which must have a stack of [`STACK_BYTES`] for programs that nest
/// as deep as the parser allows.
pub fn check_here(
    unit: &ast::TranslationUnit,
    session: &Session,
    options: &CheckOptions,
) -> CheckOutput {
    let arena = arena::Arena::default();
    let mut checker = state::Checker::new(session, options, &arena);
    checker.quiet.lost.clone_from(&unit.lost);
    checker.quiet.unread = unit.unread;
    checker.decls(&unit.decls);
    checker.finish()
}

/// [`check_here`] of a tree that nobody needs afterwards: a declaration is gone soon after it was checked, so that the memory of
/// a large program's tree becomes that of its IR.
pub fn check_last(
    unit: ast::TranslationUnit,
    session: &Session,
    options: &CheckOptions,
) -> CheckOutput {
    let arena = arena::Arena::default();
    let mut checker = state::Checker::new(session, options, &arena);
    checker.quiet.lost = unit.lost;
    checker.quiet.unread = unit.unread;
    let mut decls = unit.decls.into_iter();
    while decls.len() > 0 {
        let mut bytes = 0;
        let enough = |decl: &ast::Decl| {
            bytes += decl.span.hi.saturating_sub(decl.span.lo);
            bytes > BYTES_AT_ONCE
        };
        let count = decls.as_slice().iter().position(enough).map_or(decls.len(), |at| at + 1);
        let part: Vec<_> = decls.by_ref().take(count).collect();
        checker = checker.with_tree(&part, (session, options, &arena));
    }
    checker.finish()
}

/// The text of declarations that [`check_last`] has done with at once; with less the checker would move more often than it is
/// worth.
const BYTES_AT_ONCE: u32 = 16 << 10;
