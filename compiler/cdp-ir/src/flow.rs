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
            let runs_once = !test_first && !falls_through(body, module) && !has_jump(body, true);
            (!endless && !runs_once) || has_jump(body, false)
        }
        StmtKind::Switch { default, body, .. } => {
            default.is_none() || has_jump(body, false) || falls_through(body, module)
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

/// Whether a `break` of the enclosing loop or switch stands in the block; with `continues`, a
/// `continue` too.
fn has_jump(block: &Block, continues: bool) -> bool {
    block.stmts.iter().any(|stmt| match &stmt.kind {
        StmtKind::Break => true,
        StmtKind::Continue => continues,
        StmtKind::Block(block) => has_jump(block, continues),
        StmtKind::If { then, otherwise, .. } => {
            has_jump(then, continues) || has_jump(otherwise, continues)
        }
        StmtKind::Switch { body, .. } => continues && has_continue(body),
        _ => false,
    })
}

fn has_continue(block: &Block) -> bool {
    block.stmts.iter().any(|stmt| match &stmt.kind {
        StmtKind::Continue => true,
        StmtKind::Block(block) => has_continue(block),
        StmtKind::If { then, otherwise, .. } => has_continue(then) || has_continue(otherwise),
        StmtKind::Switch { body, .. } => has_continue(body),
        _ => false,
    })
}

fn has_label(stmt: &Stmt) -> bool {
    match &stmt.kind {
        StmtKind::Label(_) => true,
        StmtKind::Block(block) => block.stmts.iter().any(has_label),
        StmtKind::If { then, otherwise, .. } => {
            then.stmts.iter().chain(&otherwise.stmts).any(has_label)
        }
        StmtKind::Loop { body, .. } | StmtKind::Switch { body, .. } => {
            body.stmts.iter().any(has_label)
        }
        _ => false,
    }
}
