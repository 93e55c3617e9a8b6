//! Which values differ between the threads of a block, and which code only some threads run.
//!
//! Two notions, each safe in its direction: *uniform* is certain agreement of all threads of a block,
//! *varying* is certain dependence on the thread. Most values are neither.

use cdp_diagnostics::Code;
use cdp_ir as ir;
use cdp_ir::{Block, BuiltinVar, Dim, Expr, ExprKind, Intrinsic, Loc};

use crate::Body;
use crate::source::Source;
use crate::values::root_local;

/// The conditions around the statement at hand.
#[derive(Default)]
pub(crate) struct Conditions {
    /// Conditions that depend on the thread for certain.
    varying: u32,
    /// Conditions that are not certainly uniform.
    not_uniform: u32,
    /// Some threads have left the function, a loop or a turn of it.
    some_left: bool,
}

impl Conditions {
    /// Whether only some threads may be here.
    pub fn divergent(&self) -> bool {
        self.not_uniform > 0 || self.some_left
    }
}

/// What entering a condition changed.
#[derive(Clone, Copy, Default)]
pub struct Entered {
    varying: bool,
    not_uniform: bool,
}

impl Body {
    /// A condition on which the statements that follow depend, up to [`Body::leave`].
    pub fn enter(&mut self, cond: &Expr, source: &dyn Source) -> Entered {
        self.declared = None;
        self.expr(cond, source);
        if !self.function.on_device {
            return Entered::default();
        }
        let entered =
            Entered { varying: self.is_varying(cond), not_uniform: !self.is_uniform(cond) };
        self.conditions.varying += u32::from(entered.varying);
        self.conditions.not_uniform += u32::from(entered.not_uniform);
        entered
    }

    /// The end of what depends on a condition, with its branches, where there are two.
    pub fn leave(&mut self, entered: Entered, branches: &[&Block], source: &dyn Source) {
        self.conditions.varying -= u32::from(entered.varying);
        if !entered.not_uniform {
            return;
        }
        self.conditions.not_uniform -= 1;
        // Whoever returns, breaks or continues in a branch is missing from then on.
        self.conditions.some_left |= branches.iter().any(|block| {
            !block.stmts.is_empty() && !ir::flow::falls_through(block, source.module())
        });
    }

    /// Whether all threads of a block compute the same value, for certain.
    pub(crate) fn is_uniform(&self, expr: &Expr) -> bool {
        match &expr.kind {
            ExprKind::Const(_) | ExprKind::GlobalAddr(_) | ExprKind::FunctionAddr(_) => true,
            ExprKind::Load { addr, volatile: false } => {
                let Some(local) = root_local(addr) else { return false };
                // Parameters of kernels are the same for all threads; those of device functions are whatever
                // the caller passes.
                let known = !self.is_param(local) || self.function.kernel;
                let facts = self.facts(local);
                known && facts.uniform && !facts.escaped && self.is_index_uniform(addr)
            }
            ExprKind::Intrinsic { op: Intrinsic::Builtin(var), .. } => matches!(
                var,
                BuiltinVar::BlockIdx(_)
                    | BuiltinVar::BlockDim(_)
                    | BuiltinVar::GridDim(_)
                    | BuiltinVar::WarpSize
            ),
            ExprKind::Cast { .. }
            | ExprKind::Unary { .. }
            | ExprKind::Binary { .. }
            | ExprKind::Compare { .. }
            | ExprKind::Logical { .. }
            | ExprKind::Select { .. }
            | ExprKind::MakeRecord(_)
            | ExprKind::Extract { .. }
            | ExprKind::IndexAddr { .. }
            | ExprKind::FieldAddr { .. }
            | ExprKind::PointerDiff { .. } => {
                let mut all = true;
                ir::for_each_child(expr, &mut |child| all = all && self.is_uniform(child));
                all
            }
            ExprKind::Intrinsic { op, args } => {
                let pure = matches!(
                    op,
                    Intrinsic::Ceil
                        | Intrinsic::Floor
                        | Intrinsic::MinInt
                        | Intrinsic::MaxInt
                        | Intrinsic::Sqrt
                );
                pure && args.iter().all(|arg| self.is_uniform(arg))
            }
            _ => false,
        }
    }

    fn is_index_uniform(&self, addr: &Expr) -> bool {
        match &addr.kind {
            ExprKind::IndexAddr { base, index } => {
                self.is_uniform(index) && self.is_index_uniform(base)
            }
            ExprKind::FieldAddr { base, .. } => self.is_index_uniform(base),
            ExprKind::Cast { operand, .. } => self.is_index_uniform(operand),
            _ => true,
        }
    }

    /// Whether all threads of a block compute the same grid or block.
    pub(crate) fn is_dim_uniform(&self, dim: &Dim) -> bool {
        match dim {
            Dim::Xyz(axes) => axes.iter().all(|axis| self.is_uniform(axis)),
            Dim::Record(value) => self.is_uniform(value),
        }
    }

    /// Whether the value depends on which thread runs, for certain.
    pub(crate) fn is_varying(&self, expr: &Expr) -> bool {
        match &expr.kind {
            ExprKind::Intrinsic { op: Intrinsic::Builtin(var), .. } => {
                matches!(var, BuiltinVar::ThreadIdx(_) | BuiltinVar::LaneId)
            }
            ExprKind::Load { addr, .. } => match &addr.kind {
                ExprKind::LocalAddr(local) => self.facts(*local).varies,
                _ => false,
            },
            ExprKind::Cast { .. }
            | ExprKind::Unary { .. }
            | ExprKind::Binary { .. }
            | ExprKind::Compare { .. }
            | ExprKind::Logical { .. } => {
                let mut any = false;
                ir::for_each_child(expr, &mut |child| any = any || self.is_varying(child));
                any
            }
            _ => false,
        }
    }

    /// `__syncthreads` where only some threads of the block come.
    pub(crate) fn check_barrier(&mut self, loc: Loc) {
        let Some(site) = self.take_site(loc).filter(|_| self.conditions.varying > 0) else {
            return;
        };
        let message = format!("`{}` in code that only some threads of the block run", site.name);
        self.report(Code::W0713, site.span, message)
            .note("a barrier waits for all threads of the block; the others never come")
            .help("move the barrier out of the condition");
    }
}
