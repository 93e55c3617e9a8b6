//! Which expressions change something when they are evaluated.
//!
//! What this is not: an analysis of what is changed. The answer says whether an expression may be
//! evaluated at another time, twice or not at all.

use crate::expr::{Expr, ExprKind};
use crate::intrinsic::{BuiltinVar, Intrinsic};
use crate::verify::for_each_child;

/// Whether evaluating the expression changes anything.
pub fn has_effects(expr: &Expr) -> bool {
    match &expr.kind {
        ExprKind::Store { .. }
        | ExprKind::StoreBits { .. }
        | ExprKind::Update { .. }
        | ExprKind::Call { .. }
        | ExprKind::RuntimeCall { .. }
        | ExprKind::Printf { .. }
        | ExprKind::Launch(_)
        | ExprKind::Asm(_) => true,
        ExprKind::Load { volatile: true, .. } | ExprKind::LoadBits { volatile: true, .. } => true,
        ExprKind::Intrinsic { op, .. } if intrinsic_has_effects(*op) => true,
        _ => {
            let mut found = false;
            for_each_child(expr, &mut |child| found = found || has_effects(child));
            found
        }
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
        | I::Libdevice(_) => true,
        I::Builtin(var) => {
            matches!(var, BuiltinVar::Clock | BuiltinVar::Clock64 | BuiltinVar::GlobalTimer)
        }
        I::Ptx(template) => template.side_effects,
        _ => false,
    }
}
