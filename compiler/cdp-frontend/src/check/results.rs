//! A warning: the launching function reads what a child it launched writes.
//!
//! Without a tail launch nothing orders the parent's read after the child's writes (CUDA guide
//! 4.18.3.1). Only the plain case is seen: a pointer variable that is given to a kernel of this
//! file which stores through that parameter, and is read through later in the same body.

use cdp_ir as ir;
use cdp_ir::{Block, CastKind, Expr, ExprKind, Loc, LocalId, StmtKind};

use super::facts::{Pending, Site};
use super::scope::FnId;
use super::state::Checker;
use crate::ast;
use crate::diagnostics::Code;
use crate::source::Span;

/// `cudaStreamTailLaunch`.
const TAIL_STREAM: i128 = 3;

impl<'a> Checker<'a> {
    /// Keeps a launch for the end of the body.
    pub fn note_result_site(
        &mut self,
        child: FnId,
        launch: &'a ast::LaunchExpr,
        args: &[Expr],
        stream: &Expr,
        span: Span,
    ) {
        if self.unevaluated > 0 || self.const_int_value(stream) == Some(TAIL_STREAM) {
            return;
        }
        let pointers: Vec<_> = args
            .iter()
            .zip(&launch.args)
            .enumerate()
            .filter_map(|(number, (arg, written))| {
                variable_of(arg).map(|local| (number, local, written.span))
            })
            .collect();
        if !pointers.is_empty() {
            let loc = self.loc(span);
            self.f.sites.push(Site { child, loc, pointers });
        }
    }

    /// Looks for reads behind the launches of a finished body.
    pub fn find_result_reads(&mut self, body: &Block) {
        if self.f.sites.is_empty() || !self.f.lowered {
            return;
        }
        let mut walk = Walk { checker: self, open: Vec::new(), found: Vec::new() };
        walk.block(body);
        let found = walk.found;
        self.facts.results.extend(found);
    }

    /// Reports the reads whose child turned out to write.
    pub fn report_result_reads(&mut self) {
        for pending in std::mem::take(&mut self.facts.results) {
            if !self.writes_through(pending.child, pending.param) {
                continue;
            }
            let child = self.func(pending.child).display.clone();
            let message = format!(
                "`{}` is read again in line {}, but nothing waits for `{child}` to write it",
                pending.name, pending.read.line
            );
            self.error(Code::W0717, pending.span, message)
                .note("the child's writes are never certain to be seen by its parent")
                .help(
                    "read the results in a kernel of its own, launched into \
                     `cudaStreamTailLaunch`",
                );
        }
    }

    /// Whether a kernel of this file stores through a pointer parameter.
    fn writes_through(&self, kernel: FnId, param: usize) -> bool {
        let Some(made) = self.func(kernel).ir else { return false };
        let Some(body) = &self.module.functions[made.0 as usize].body else { return false };
        let local = LocalId(param as u32);
        super::warnings::block_has(body, &|expr| written_pointer(expr) == Some(local))
    }
}

/// The pointer variable that an expression itself stores through.
pub fn written_pointer(expr: &Expr) -> Option<LocalId> {
    match &expr.kind {
        ExprKind::Store { addr, .. } | ExprKind::Update { addr, .. } => through(addr),
        _ => None,
    }
}

/// The local pointer variable whose value an expression is.
fn variable_of(expr: &Expr) -> Option<LocalId> {
    match &expr.kind {
        ExprKind::Load { addr, .. } => match &addr.kind {
            ExprKind::LocalAddr(local) => Some(*local),
            _ => None,
        },
        ExprKind::Cast { kind: CastKind::PointerToPointer, operand } => variable_of(operand),
        _ => None,
    }
}

/// The pointer variable that an address is reached through.
fn through(addr: &Expr) -> Option<LocalId> {
    match &addr.kind {
        ExprKind::FieldAddr { base, .. } | ExprKind::IndexAddr { base, .. } => through(base),
        ExprKind::Cast { kind: CastKind::PointerToPointer, operand } => through(operand),
        ExprKind::Load { .. } => variable_of(addr),
        _ => None,
    }
}

/// A walk over a body in the order of execution, loops once.
struct Walk<'w, 'a> {
    checker: &'w Checker<'a>,
    /// Launches passed, by number.
    open: Vec<usize>,
    found: Vec<Pending>,
}

impl Walk<'_, '_> {
    fn block(&mut self, block: &Block) {
        for stmt in &block.stmts {
            match &stmt.kind {
                StmtKind::Expr(expr) | StmtKind::Return(Some(expr)) => self.expr(expr),
                StmtKind::Block(block) => self.block(block),
                StmtKind::If { cond, then, otherwise } => {
                    self.expr(cond);
                    let before = self.open.clone();
                    self.block(then);
                    let after = std::mem::replace(&mut self.open, before);
                    self.block(otherwise);
                    self.open.extend(after);
                    self.open.sort_unstable();
                    self.open.dedup();
                }
                StmtKind::Loop { cond, body, step, .. } => {
                    cond.iter().for_each(|cond| self.expr(cond));
                    self.block(body);
                    step.iter().for_each(|step| self.expr(step));
                }
                StmtKind::Switch { value, body, .. } => {
                    self.expr(value);
                    self.block(body);
                }
                _ => {}
            }
        }
    }

    fn expr(&mut self, expr: &Expr) {
        if let ExprKind::Load { addr, .. } = &expr.kind
            && let Some(local) = through(addr)
        {
            self.read(local, expr.loc);
        }
        ir::for_each_child(expr, &mut |child| self.expr(child));
        match &expr.kind {
            ExprKind::Launch(_) => self.launch(expr.loc),
            // CDP1 waits for the children.
            ExprKind::RuntimeCall { func: ir::RuntimeFn::DeviceSynchronize, .. } => {
                self.open.clear();
            }
            ExprKind::Update { addr, .. } => {
                if let Some(local) = through(addr) {
                    self.read(local, expr.loc);
                }
            }
            _ => {}
        }
    }

    fn launch(&mut self, loc: Loc) {
        if let Some(number) = self.checker.f.sites.iter().position(|site| site.loc == loc) {
            self.open.push(number);
        }
    }

    fn read(&mut self, local: LocalId, loc: Loc) {
        for number in self.open.clone() {
            let site = &self.checker.f.sites[number];
            let hit = site.pointers.iter().find(|(_, pointer, _)| *pointer == local);
            let Some((param, _, span)) = hit else { continue };
            if self.checker.f.facts[local.0 as usize].changed {
                continue;
            }
            if self.found.iter().any(|found| found.span == *span) {
                continue;
            }
            let name = self.checker.f.locals[local.0 as usize].name.clone();
            self.found.push(Pending {
                child: site.child,
                param: *param,
                name,
                span: *span,
                read: loc,
            });
        }
    }
}
