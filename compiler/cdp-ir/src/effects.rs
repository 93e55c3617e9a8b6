//! Which expressions change something when they are evaluated.
//!
//! What this is not: an analysis of what is changed. The answer says whether an expression may be
//! evaluated at another time, twice or not at all.

use crate::expr::{Callee, Expr, ExprKind};
use crate::intrinsic::{BuiltinVar, Intrinsic};
use crate::module::Module;
use crate::stmt::{Block, StmtKind};
use crate::verify::for_each_child;

/// How deep calls are followed by [`only_computes`].
const CALLS: u32 = 6;

/// Whether evaluating the expression changes anything; any call counts as if it did.
pub fn has_effects(expr: &Expr) -> bool {
    matches!(expr.kind, ExprKind::Call { .. })
        || has_own_effect(expr)
        || any_child(expr, has_effects)
}

/// Whether evaluating the expression changes nothing and comes to an end, the functions that it calls
/// included: of those with a body, without loops and jumps, that write none but their own variables.
pub fn only_computes(module: &Module, expr: &Expr) -> bool {
    computes(module, expr, false, CALLS)
}

/// The same within a function whose own variables may be written.
fn computes(module: &Module, expr: &Expr, own_variables: bool, calls: u32) -> bool {
    let here = match &expr.kind {
        ExprKind::Call { callee: Callee::Direct(id), .. } => {
            let body = module.function(*id).body.as_ref();
            calls > 0 && body.is_some_and(|body| block_computes(module, body, calls - 1))
        }
        ExprKind::Call { .. } => false,
        ExprKind::Store { addr, volatile: false, .. }
        | ExprKind::StoreBits { base: addr, volatile: false, .. }
        | ExprKind::Update { addr, volatile: false, .. } => own_variables && is_local(addr),
        _ => !has_own_effect(expr),
    };
    here && !any_child(expr, |child| !computes(module, child, own_variables, calls))
}

fn block_computes(module: &Module, block: &Block, calls: u32) -> bool {
    let expr = |expr: &Expr| computes(module, expr, true, calls);
    block.stmts.iter().all(|stmt| match &stmt.kind {
        StmtKind::Loop { .. }
        | StmtKind::Switch { .. }
        | StmtKind::Label(_)
        | StmtKind::Goto(_)
        | StmtKind::Break
        | StmtKind::Continue => false,
        kind => {
            kind.exprs().all(expr)
                && kind.blocks().all(|block| block_computes(module, block, calls))
        }
    })
}

/// Whether an address is within a variable of the function.
fn is_local(addr: &Expr) -> bool {
    match &addr.kind {
        ExprKind::LocalAddr(_) => true,
        ExprKind::FieldAddr { base, .. } | ExprKind::IndexAddr { base, .. } => is_local(base),
        _ => false,
    }
}

fn any_child(expr: &Expr, test: impl Fn(&Expr) -> bool) -> bool {
    let mut found = false;
    for_each_child(expr, &mut |child| found = found || test(child));
    found
}

/// Whether the expression itself changes something, without its operands and without what it calls.
fn has_own_effect(expr: &Expr) -> bool {
    match &expr.kind {
        ExprKind::Store { .. }
        | ExprKind::StoreBits { .. }
        | ExprKind::Update { .. }
        | ExprKind::RuntimeCall { .. }
        | ExprKind::Printf { .. }
        | ExprKind::Launch(_)
        | ExprKind::Asm(_) => true,
        ExprKind::Load { volatile, .. } | ExprKind::LoadBits { volatile, .. } => *volatile,
        ExprKind::Intrinsic { op, .. } => intrinsic_has_effects(*op),
        _ => false,
    }
}

fn intrinsic_has_effects(op: Intrinsic) -> bool {
    use Intrinsic as I;
    match op {
        I::SyncThreads
        | I::SyncThreadsCount
        | I::SyncThreadsAnd
        | I::SyncThreadsOr
        | I::SyncWarp
        | I::Fence(_)
        | I::Shuffle(_)
        | I::Vote(_)
        | I::Ballot
        | I::ActiveMask
        | I::MatchAny
        | I::MatchAll
        | I::Reduce(_)
        | I::ReduceMin
        | I::ReduceMax
        | I::Atomic(_)
        | I::CacheStore(_)
        | I::MemCopy { .. }
        | I::MemSet
        | I::Assume
        | I::Unreachable
        | I::Trap
        | I::Breakpoint
        | I::NanoSleep
        | I::VaStart
        | I::VaArg
        | I::VaCopy
        | I::VaEnd
        | I::Libdevice(_) => true,
        I::Builtin(var) => {
            matches!(var, BuiltinVar::Clock | BuiltinVar::Clock64 | BuiltinVar::GlobalTimer)
        }
        I::Ptx(template) => template.side_effects,
        _ => false,
    }
}
