//! Control flow facts of finished bodies.

use crate::{Block, Callee, Const, Expr, ExprKind, Intrinsic, Module, Stmt, StmtKind};

/// Whether control can reach the end of a block. Conditions other than constants count as unknown.
pub fn falls_through(block: &Block, module: &Module) -> bool {
    let mut reachable = true;
    for stmt in &block.stmts {
        if !reachable && !has_label(stmt) {
            continue;
        }
        reachable = stmt_falls_through(stmt, module);
    }
    reachable
}

fn stmt_falls_through(stmt: &Stmt, module: &Module) -> bool {
    match &stmt.kind {
        StmtKind::Return(_) | StmtKind::Break | StmtKind::Continue | StmtKind::Goto(_) => false,
        StmtKind::Expr(expr) => !never_returns(expr, module),
        StmtKind::Block(block) => falls_through(block, module),
        StmtKind::If { cond, then, otherwise } => match constant(cond) {
            Some(true) => falls_through(then, module),
            Some(false) => falls_through(otherwise, module),
            None => falls_through(then, module) || falls_through(otherwise, module),
        },
        StmtKind::Loop { cond, body, test_first, .. } => {
            let endless = match cond {
                None => true,
                Some(cond) => constant(cond) == Some(true),
            };
            // A `do` whose body always leaves the function, or a loop left only by `break`.
            let runs_once =
                !test_first && !falls_through(body, module) && !has_jump(body, true, true);
            (!endless && !runs_once) || has_jump(body, true, false)
        }
        StmtKind::Switch { default, body, .. } => {
            default.is_none() || has_jump(body, true, false) || falls_through(body, module)
        }
        StmtKind::Declare(_) | StmtKind::Label(_) => true,
    }
}

fn constant(cond: &Expr) -> Option<bool> {
    match &cond.kind {
        ExprKind::Const(Const::Int(value)) => Some(*value != 0),
        ExprKind::Const(Const::Zero) => Some(false),
        _ => None,
    }
}

/// Whether control does not come back from an expression, for certain.
pub fn never_returns(expr: &Expr, module: &Module) -> bool {
    match &expr.kind {
        ExprKind::Call { callee: Callee::Direct(id), .. } => {
            module.functions.get(id.0 as usize).is_some_and(|function| function.attrs.noreturn)
        }
        ExprKind::Intrinsic { op, .. } => matches!(op, Intrinsic::Unreachable | Intrinsic::Trap),
        ExprKind::Sequence { effects, value } => {
            effects.iter().chain([&**value]).any(|expr| never_returns(expr, module))
        }
        _ => false,
    }
}

/// Whether a `break` of the enclosing loop or switch, or a `continue` of the enclosing loop, stands in the block.
fn has_jump(block: &Block, breaks: bool, continues: bool) -> bool {
    block.stmts.iter().any(|stmt| match &stmt.kind {
        StmtKind::Break => breaks,
        StmtKind::Continue => continues,
        StmtKind::Loop { .. } => false,
        StmtKind::Switch { body, .. } => has_jump(body, false, continues),
        kind => kind.blocks().any(|block| has_jump(block, breaks, continues)),
    })
}

fn has_label(stmt: &Stmt) -> bool {
    matches!(stmt.kind, StmtKind::Label(_))
        || stmt.kind.blocks().any(|block| block.stmts.iter().any(has_label))
}
