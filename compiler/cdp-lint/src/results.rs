//! A warning: the launching function reads what a child it launched writes.
//!
//! Without a tail launch nothing orders the parent's read after the child's writes (CUDA guide
//! 4.18.3.1). Only the plain case is seen: a pointer variable that is given to a kernel of this
//! file which stores through that parameter, and is read through later in the same body.
//!
//! This walks finished bodies, of which `Body::wants` says what must be kept for it.

use std::collections::HashMap;

use cdp_diagnostics::source::Span;
use cdp_diagnostics::{Code, Diagnostic};
use cdp_ir as ir;
use cdp_ir::{Block, CastKind, Expr, ExprKind, Intrinsic, Loc, LocalId, Module, StmtKind};

use crate::Body;
use crate::source::{Launch, Site, Source, Variable};

/// `cudaStreamTailLaunch`.
const TAIL_STREAM: i128 = 3;

/// A launch with pointer variables as arguments.
pub(crate) struct Launched {
    child: u32,
    loc: Loc,
    /// Parameter number, variable, and the argument's place.
    pointers: Vec<(usize, LocalId, Span)>,
}

/// A read after a launch, to be reported if the child writes.
pub(crate) struct Pending {
    child: u32,
    param: usize,
    name: String,
    span: Span,
    read: Loc,
}

/// What the kept statements of a body answer already.
#[derive(Default)]
pub(crate) struct Witnesses {
    counts: bool,
    written: Vec<LocalId>,
    /// By the statement at hand.
    grown: bool,
}

impl Body {
    /// Keeps a launch for the end of the body.
    pub(crate) fn note_result_site(
        &mut self,
        launch: &ir::Launch,
        site: &Site,
        made: &Launch,
        loc: Loc,
        source: &dyn Source,
    ) {
        let Some(child) = made.child else { return };
        let stream = source.constant(&launch.stream);
        if stream.as_ref().and_then(ir::evaluate::int_of) == Some(TAIL_STREAM) {
            return;
        }
        let written = launch.args.iter().zip(&site.args).enumerate();
        let pointers: Vec<_> = written
            .filter_map(|(number, (arg, span))| {
                variable_of(arg).map(|local| (number, local, *span))
            })
            .collect();
        if !pointers.is_empty() {
            self.launches.push(Launched { child: child.key, loc, pointers });
        }
    }

    /// Notes what an expression says that none did before.
    pub(crate) fn witness(&mut self, expr: &Expr) {
        let known = &mut self.witnesses;
        let counts = !known.counts && is_counting(expr);
        let written = written_pointer(expr).filter(|local| !known.written.contains(local));
        known.counts |= counts;
        known.written.extend(written);
        known.grown |= counts || written.is_some();
    }

    /// Whether a statement must be kept: control flow, and of the expressions those behind a launch, those
    /// that do not come back, and the first of each kind that is asked for.
    pub(crate) fn wants(&mut self, kind: &StmtKind, module: &Module) -> bool {
        let grown = std::mem::take(&mut self.witnesses.grown);
        let StmtKind::Expr(expr) = kind else { return true };
        grown || !self.launches.is_empty() || ir::flow::never_returns(expr, module)
    }

    /// Looks for reads behind the launches of a finished body.
    pub(crate) fn find_result_reads(&mut self, body: &Block, source: &dyn Source) {
        if self.launches.is_empty() || !self.function.lowered {
            return;
        }
        let mut walk = Walk { body: self, source, open: Vec::new(), found: Vec::new() };
        walk.block(body);
        let found = walk.found;
        self.unit.pending.extend(found);
    }
}

impl Pending {
    /// A finding, if the child turned out to write.
    pub fn judge(&self, kernels: &HashMap<u32, Told>, source: &dyn Source) -> Option<Diagnostic> {
        let child = source.function(self.child);
        let local = LocalId(self.param as u32);
        kernels.get(&self.child)?.written.contains(&local).then(|| {
            let message = format!(
                "`{}` is read again in line {}, but nothing waits for `{child}` to write it",
                self.name, self.read.line
            );
            let mut lint = Diagnostic::new(Code::W0717, self.span, message);
            lint.note("the child's writes are never certain to be seen by its parent").help(
                "read the results in a kernel of its own, launched into `cudaStreamTailLaunch`",
            );
            lint
        })
    }
}

/// An atomic operation, or what may hide one or shows that it ran.
pub(crate) fn is_counting(expr: &Expr) -> bool {
    matches!(
        &expr.kind,
        ExprKind::Intrinsic { op: Intrinsic::Atomic(_), .. }
            | ExprKind::Call { .. }
            | ExprKind::Asm(_)
            | ExprKind::Printf { .. }
    )
}

/// What is asked of a kernel when the whole program is known, so that its body need not be kept until then.
pub(crate) struct Told {
    /// Whether something in it [counts](is_counting).
    pub counts: bool,
    /// The pointers through which it writes.
    written: Vec<LocalId>,
}

impl Told {
    pub fn by(body: &Block) -> Self {
        let mut told = Told { counts: false, written: Vec::new() };
        ir::for_each_expr(body, &mut |expr| {
            told.counts |= is_counting(expr);
            let written = written_pointer(expr).filter(|local| !told.written.contains(local));
            told.written.extend(written);
        });
        told
    }
}

/// The pointer variable that an expression itself stores through.
fn written_pointer(expr: &Expr) -> Option<LocalId> {
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
struct Walk<'w> {
    body: &'w Body,
    source: &'w dyn Source,
    /// Launches passed, by number.
    open: Vec<usize>,
    found: Vec<Pending>,
}

impl Walk<'_> {
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
            ExprKind::Launch(_) => {
                let launches = &self.body.launches;
                self.open.extend(launches.iter().position(|launch| launch.loc == expr.loc));
            }
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

    fn read(&mut self, local: LocalId, read: Loc) {
        if self.body.facts(local).changed {
            return;
        }
        for &number in &self.open {
            let launched = &self.body.launches[number];
            let hit = launched.pointers.iter().find(|(_, pointer, _)| *pointer == local);
            let Some(&(param, _, span)) = hit else { continue };
            if !self.found.iter().any(|found| found.span == span) {
                let name = self.source.variable(Variable::Local(local)).0.to_owned();
                self.found.push(Pending { child: launched.child, param, name, span, read });
            }
        }
    }
}
