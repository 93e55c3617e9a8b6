//! Warnings that teach, and the facts they need: which values differ between the threads of a
//! block, and which code only some threads run.
//!
//! Two notions, each safe in its direction: *uniform* is certain agreement of all threads of a
//! block, *varies* is certain dependence on the thread. Most values are neither.

use cdp_ir as ir;
use cdp_ir::{BuiltinVar, Dim, Expr, ExprKind, Intrinsic};

use super::ctype::QualType;
use super::facts::{Entered, Repeated, Source};
use super::init::Node;
use super::scope::{ExecutionSpace, FnId};
use super::spaces::root;
use super::state::Checker;
use super::value::{Kind, Value};
use crate::ast;
use crate::diagnostics::Code;
use crate::source::Span;

impl<'a> Checker<'a> {
    // --- uniform and varying ---------------------------------------------------------------------

    /// Whether all threads of a block compute the same value, for certain.
    pub fn is_uniform(&self, expr: &Expr) -> bool {
        match &expr.kind {
            ExprKind::Const(_) | ExprKind::GlobalAddr(_) | ExprKind::FunctionAddr(_) => true,
            ExprKind::Load { addr, volatile: false } => match root(addr).map(|base| &base.kind) {
                Some(ExprKind::LocalAddr(local)) => {
                    let facts = &self.f.facts[local.0 as usize];
                    // Parameters of kernels are the same for all threads; those of device functions
                    // are whatever the caller passes.
                    let param = facts.var.is_some_and(|var| self.var(var).is_param);
                    let known = !param || self.f.space == ExecutionSpace::Global;
                    known && facts.uniform && !facts.escaped && self.index_uniform(addr)
                }
                _ => false,
            },
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

    fn index_uniform(&self, addr: &Expr) -> bool {
        match &addr.kind {
            ExprKind::IndexAddr { base, index } => {
                self.is_uniform(index) && self.index_uniform(base)
            }
            ExprKind::FieldAddr { base, .. } => self.index_uniform(base),
            ExprKind::Cast { operand, .. } => self.index_uniform(operand),
            _ => true,
        }
    }

    /// Whether the value depends on which thread runs, for certain.
    pub fn is_varying(&self, expr: &Expr) -> bool {
        match &expr.kind {
            ExprKind::Intrinsic { op: Intrinsic::Builtin(var), .. } => {
                matches!(var, BuiltinVar::ThreadIdx(_) | BuiltinVar::LaneId)
            }
            ExprKind::Load { addr, .. } => match &addr.kind {
                ExprKind::LocalAddr(local) => self.f.facts[local.0 as usize].varies,
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

    /// A local gets a value: what that says about its uniformity.
    pub fn note_uniform(&mut self, local: ir::LocalId, expr: &Expr) {
        let uniform = self.is_uniform(expr) && !self.f.conditions.divergent();
        let varies = self.is_varying(expr);
        let first = !self.f.facts[local.0 as usize].changed;
        let facts = &mut self.f.facts[local.0 as usize];
        facts.uniform &= uniform;
        // A value given later may be the same for all threads again.
        facts.varies = varies && first;
    }

    pub fn note_uniform_node(&mut self, local: ir::LocalId, node: &Node) {
        match node {
            Node::Default => {}
            Node::Value(expr) => {
                let uniform = self.is_uniform(expr) && !self.f.conditions.divergent();
                self.f.facts[local.0 as usize].uniform &= uniform;
            }
            Node::Parts(parts) => {
                for (_, part) in parts {
                    self.note_uniform_node(local, part);
                }
            }
        }
    }

    // --- conditions --------------------------------------------------------------------------------

    pub fn enter_condition(&mut self, cond: &Expr) -> Entered {
        if !self.f.space.on_device() {
            return Entered::default();
        }
        let entered =
            Entered { varying: self.is_varying(cond), not_uniform: !self.is_uniform(cond) };
        self.f.conditions.varying += u32::from(entered.varying);
        self.f.conditions.not_uniform += u32::from(entered.not_uniform);
        entered
    }

    pub fn leave_condition(&mut self, entered: Entered, then: &ir::Block, otherwise: &ir::Block) {
        self.f.conditions.varying -= u32::from(entered.varying);
        if entered.not_uniform {
            self.f.conditions.not_uniform -= 1;
            // Whoever returns, breaks or continues in a branch is missing from then on.
            let leaves = |block: &ir::Block| {
                !block.stmts.is_empty() && !ir::flow::falls_through(block, &self.module)
            };
            if leaves(then) || leaves(otherwise) {
                self.f.conditions.some_left = true;
            }
        }
    }

    // --- launches ----------------------------------------------------------------------------------

    #[allow(clippy::too_many_arguments)]
    pub fn note_launch_site(
        &mut self,
        target: Option<FnId>,
        grid: &Dim,
        block: &Dim,
        args: &[Expr],
        shared: &Expr,
        launch: &'a ast::LaunchExpr,
    ) {
        if self.unevaluated > 0 {
            return;
        }
        if let Some(id) = target {
            let threads = self
                .dim_values(block)
                .into_iter()
                .try_fold(1i128, |product, axis| Some(product * axis?));
            self.facts.block_threads.entry(id).or_default().push(threads);
        }
        let Some(parent) = self.f.func else { return };
        if self.f.space != ExecutionSpace::Global
            || self.f.conditions.divergent()
            || self.f.loop_depth > 0
        {
            return;
        }
        let uniform_dim = |dim: &Dim| match dim {
            Dim::Xyz(axes) => axes.iter().all(|axis| self.is_uniform(axis)),
            Dim::Record(value) => self.is_uniform(value),
        };
        let same = uniform_dim(grid)
            && uniform_dim(block)
            && self.is_uniform(shared)
            && args.iter().all(|arg| self.is_uniform(arg));
        if same {
            let name = self.source_text(launch.kernel.span);
            let span = launch.kernel.span;
            self.facts.repeated.push(Repeated { parent, child: target, name, span });
        }
    }

    /// Launches that all threads of blocks known to have many threads make alike.
    fn warn_repeated(&mut self) {
        for repeated in std::mem::take(&mut self.facts.repeated) {
            let threads = self.facts.block_threads.get(&repeated.parent);
            let many = threads.is_some_and(|list| {
                !list.is_empty() && list.iter().all(|count| count.is_some_and(|count| count > 1))
            });
            // A child that counts its launches is meant to be launched many times.
            let counts = repeated.child.is_some_and(|child| self.uses_atomics(child));
            if !many || counts {
                continue;
            }
            let parent = self.func(repeated.parent).display.clone();
            let message = format!(
                "every thread of `{parent}` launches `{}` with the same arguments",
                repeated.name
            );
            self.error(Code::W0712, repeated.span, message)
                .note("a launch is made by each thread that reaches it")
                .help("let one thread of the block launch: `if (threadIdx.x == 0) { ... }`");
        }
    }

    /// Whether a kernel (without the functions it calls) has an atomic operation or prints.
    fn uses_atomics(&self, id: FnId) -> bool {
        let Some(ir) = self.func(id).ir else { return true };
        let Some(body) = &self.module.functions[ir.0 as usize].body else { return true };
        block_has(body, &is_counting)
    }

    /// What is known only at the end of the unit.
    pub fn finish_unit(&mut self) {
        if !self.diags.has_errors() {
            self.warn_repeated();
            self.report_result_reads();
        }
    }

    /// A call between functions of the program.
    pub fn note_call(&mut self, callee: FnId) {
        let Some(caller) = self.f.func else { return };
        if self.unevaluated > 0 || self.facts.called.insert((caller.0, callee.0), ()).is_some() {
            return;
        }
        let fact = super::CallFact {
            caller: self.func(caller).display.clone(),
            callee: self.func(callee).display.clone(),
        };
        self.calls.push(fact);
    }

    /// A body that launches and asks for no error.
    pub fn warn_unchecked_launch(&mut self) {
        if let Some(span) = self.f.first_launch
            && !self.f.looks_for_errors
        {
            self.error(Code::W0719, span, "nothing looks for an error of this launch")
                .help("ask `cudaGetLastError()` after it");
        }
    }

    // --- others --------------------------------------------------------------------------------------

    /// `return` of the address of a local.
    pub fn warn_returns_local(&mut self, value: &Value<'a>, ret: QualType, span: Span) {
        let addr = match (&value.kind, self.types.referent(ret)) {
            (Kind::LValue(addr), Some(_)) => addr,
            (Kind::LValue(addr), None) if self.types.is_array(value.ty) => addr,
            (Kind::RValue(addr), None) if self.types.is_pointer(ret) => addr,
            _ => return,
        };
        let sources = self.sources_of(addr);
        let [Source::Local(local)] = sources.as_slice() else { return };
        let info = &self.f.locals[local.0 as usize];
        if info.name.is_empty() {
            return;
        }
        let message = format!("the address of the local variable `{}` is returned", info.name);
        self.error(Code::W0708, span, message)
            .note("the variable is gone when the function has returned");
    }

    /// `__syncthreads` where only some threads of the block come.
    pub fn warn_divergent_barrier(&mut self, name: &str, span: Span) {
        if self.f.conditions.varying > 0 && self.f.space.on_device() {
            let message = format!("`{name}` in code that only some threads of the block run");
            self.error(Code::W0713, span, message)
                .note("a barrier waits for all threads of the block; the others never come")
                .help("move the barrier out of the condition");
        }
    }
}

/// An atomic operation, or what may hide one or shows that it ran.
pub fn is_counting(expr: &Expr) -> bool {
    matches!(
        &expr.kind,
        ExprKind::Intrinsic { op: Intrinsic::Atomic(_), .. }
            | ExprKind::Call { .. }
            | ExprKind::Asm(_)
            | ExprKind::Printf { .. }
    )
}

/// Whether an expression of a kind stands anywhere in a block.
pub fn block_has(block: &ir::Block, test: &dyn Fn(&Expr) -> bool) -> bool {
    block.stmts.iter().any(|stmt| match &stmt.kind {
        ir::StmtKind::Expr(expr) | ir::StmtKind::Return(Some(expr)) => expr_has(expr, test),
        ir::StmtKind::Block(block) => block_has(block, test),
        ir::StmtKind::If { cond, then, otherwise } => {
            expr_has(cond, test) || block_has(then, test) || block_has(otherwise, test)
        }
        ir::StmtKind::Loop { cond, body, step, .. } => {
            cond.iter().chain(step).any(|expr| expr_has(expr, test)) || block_has(body, test)
        }
        ir::StmtKind::Switch { value, body, .. } => expr_has(value, test) || block_has(body, test),
        _ => false,
    })
}

/// Whether an expression of a kind stands anywhere in an expression.
pub fn expr_has(expr: &Expr, test: &dyn Fn(&Expr) -> bool) -> bool {
    if test(expr) {
        return true;
    }
    let mut found = false;
    ir::for_each_child(expr, &mut |child| found = found || expr_has(child, test));
    found
}
