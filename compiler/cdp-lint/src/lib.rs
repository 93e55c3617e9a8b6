//! Lints about launches and what is around them: pointers that a child cannot reach, configurations that no
//! device runs, launches that all threads make alike, barriers that some threads miss, results that are
//! read too early.
//!
//! They work on IR. A [`Body`] sees each statement of a function once, in the order of the source, as soon
//! as it is finished; so what only findings are wanted of need not be kept. Beside the IR there is what it
//! does not say: the places of a launch's or call's parts, as a [`Site`]. What wants the whole program, a
//! [`Unit`] knows at its end.
//!
//! Not here: C's types, names and scopes. What must be known to make IR at all is the checker's to judge.
//!
//! Reading order: `source` (what is asked of who makes the IR), `values` (what is noted of local
//! variables), `uniform`, then the lints: `configuration`, `pointers`, `repeated`, `results`.

#![deny(missing_docs)]
#![forbid(unsafe_code)]

mod configuration;
mod pointers;
mod repeated;
mod results;
mod source;
mod uniform;
mod values;

use cdp_diagnostics::source::Span;
use cdp_diagnostics::{Code, Diagnostic};
use cdp_ir as ir;
use cdp_ir::{Block, Expr, ExprKind, Loc, LocalId, RuntimeFn, StmtKind};

use results::Told;

pub use repeated::Unit;
pub use source::{Child, Function, Launch, Site, Source, Variable, is_barrier, is_copy};
pub use uniform::Entered;

/// What is known of the function at hand.
#[derive(Default)]
pub struct Body {
    function: Function,
    /// By [`LocalId`], as far as something is known.
    locals: Vec<values::LocalFacts>,
    /// The variable that was declared just now, whose first values are stored next.
    declared: Option<LocalId>,
    /// Sites whose expressions have not been seen yet.
    sites: Vec<Site>,
    conditions: uniform::Conditions,
    /// Pointers to judge when the whole body has been seen.
    deferred: Vec<pointers::Deferred>,
    /// Launches by device code with pointer variables as arguments.
    launches: Vec<results::Launched>,
    /// The first launch, and whether the body looks for errors.
    first_launch: Option<Span>,
    looks_for_errors: bool,
    /// For the whole program.
    unit: Unit,
    /// What the statements that were kept answer already.
    witnesses: results::Witnesses,
    found: Vec<Diagnostic>,
}

impl Body {
    /// A function whose statements follow.
    pub fn new(function: Function) -> Self {
        Body { function, ..Body::default() }
    }

    /// Where the parts of an expression stand whose statement follows.
    pub fn site(&mut self, site: Site) {
        self.sites.push(site);
    }

    /// What has been found since the last time.
    pub fn findings(&mut self) -> Vec<Diagnostic> {
        std::mem::take(&mut self.found)
    }

    /// A finished statement. What is inside it was seen before: its statements as such, the condition by
    /// [`Body::enter`]. Whether it must be kept for [`Body::finish`] where only findings are wanted.
    pub fn statement(&mut self, kind: &StmtKind, loc: Loc, source: &dyn Source) -> bool {
        let declared = self.declared.take();
        match kind {
            StmtKind::Declare(local) => self.declared = Some(*local),
            StmtKind::Expr(Expr { kind: ExprKind::Store { addr, value, .. }, .. })
                if declared.is_some() && values::root_local(addr) == declared =>
            {
                self.declared = declared;
                self.expr(value, source);
                self.initialised(addr, value, source);
            }
            StmtKind::Expr(expr) => self.expr(expr, source),
            StmtKind::Return(Some(expr)) => {
                self.returned(expr, loc, source);
                self.expr(expr, source);
            }
            StmtKind::Loop { cond, step, test_first, .. } => {
                step.iter().for_each(|step| self.expr(step, source));
                let cond = cond.iter().filter(|_| !test_first);
                cond.for_each(|cond| self.expr(cond, source));
            }
            _ => {}
        }
        self.wants(kind, source.module())
    }

    /// The end of the function: what could not be judged before.
    pub fn finish(&mut self, body: &Block, unit: &mut Unit, source: &dyn Source) {
        self.judge_pointers(source);
        if let Some(span) = self.first_launch
            && !self.looks_for_errors
        {
            self.report(Code::W0719, span, "nothing looks for an error of this launch")
                .help("ask `cudaGetLastError()` after it");
        }
        self.find_result_reads(body, source);
        if self.function.kernel && self.function.lowered {
            self.unit.kernels.insert(self.function.key, Told::by(body));
        }
        unit.extend(std::mem::take(&mut self.unit));
    }

    fn report(&mut self, code: Code, span: Span, message: impl Into<String>) -> &mut Diagnostic {
        self.found.push(Diagnostic::new(code, span, message));
        let last = self.found.len() - 1;
        &mut self.found[last]
    }

    /// An expression that is evaluated.
    fn expr(&mut self, expr: &Expr, source: &dyn Source) {
        self.witness(expr);
        match &expr.kind {
            ExprKind::LocalAddr(local) => self.facts_mut(*local).escaped = true,
            ExprKind::Load { addr, .. } => self.address(addr, source),
            ExprKind::LoadBits { base, .. } => self.address(base, source),
            ExprKind::Store { addr, value, .. } => {
                self.expr(value, source);
                self.address(addr, source);
                self.assigned(addr, value, source);
            }
            ExprKind::StoreBits { base: addr, value: rhs, .. }
            | ExprKind::Update { addr, rhs, .. } => {
                self.expr(rhs, source);
                self.address(addr, source);
                self.changed(addr, Some(rhs));
            }
            ExprKind::Asm(asm) => {
                asm.inputs.iter().for_each(|input| self.expr(&input.value, source));
                for output in &asm.outputs {
                    self.address(&output.addr, source);
                    self.changed(&output.addr, None);
                }
            }
            kind => {
                ir::for_each_child(expr, &mut |child| self.expr(child, source));
                match kind {
                    ExprKind::Launch(launch) => self.launch(launch, expr.loc, source),
                    ExprKind::RuntimeCall { func, args } if is_copy(*func) => {
                        self.defer_copy(args, expr.loc, source);
                    }
                    ExprKind::RuntimeCall { func, .. } => {
                        self.looks_for_errors |=
                            matches!(func, RuntimeFn::GetLastError | RuntimeFn::PeekAtLastError);
                    }
                    ExprKind::Intrinsic { op, .. } if is_barrier(op) => {
                        self.check_barrier(expr.loc)
                    }
                    _ => {}
                }
            }
        }
    }

    /// An address that is read or written: that of a variable goes nowhere by that.
    fn address(&mut self, addr: &Expr, source: &dyn Source) {
        match &addr.kind {
            ExprKind::LocalAddr(_) => {}
            ExprKind::FieldAddr { base, .. } => self.address(base, source),
            ExprKind::IndexAddr { base, index } => {
                self.address(base, source);
                self.expr(index, source);
            }
            ExprKind::Cast { kind: ir::CastKind::PointerToPointer, operand } => {
                self.address(operand, source);
            }
            ExprKind::Sequence { effects, value } => {
                effects.iter().for_each(|effect| self.expr(effect, source));
                self.address(value, source);
            }
            _ => self.expr(addr, source),
        }
    }

    /// The site of an expression.
    fn take_site(&mut self, loc: Loc) -> Option<Site> {
        let at = self.sites.iter().position(|site| site.loc == loc)?;
        Some(self.sites.remove(at))
    }

    fn launch(&mut self, launch: &ir::Launch, loc: Loc, source: &dyn Source) {
        let Some(site) = self.take_site(loc) else { return };
        let Some(made) = &site.launch else { return };
        self.check_configuration(launch, made, source);
        if self.function.on_device {
            self.defer_arguments(launch, &site, source);
            self.habits(&site, made);
            self.note_result_site(launch, &site, made, loc, source);
        }
        self.note_repeated(launch, &site, made, source);
    }

    /// Warnings that must be asked for: errors that nobody looks for, launches in loops.
    fn habits(&mut self, site: &Site, made: &Launch) {
        self.first_launch = self.first_launch.or(Some(site.span));
        if made.in_loop {
            let cure =
                "launch one grid with more blocks, or raise cudaLimitDevRuntimePendingLaunchCount";
            self.report(Code::W0720, site.span, "a launch in a loop")
                .note("2,048 launches can be pending by default; further ones fail with error 69")
                .help(cure);
        }
    }
}
