//! The lints of `cdp-lint`, as the checker calls them: it hands them finished statements, tells where the parts
//! of what they judge stand, and answers what they ask. What they judge, and how, is theirs.

use std::borrow::Cow;

use cdp_ir as ir;
use cdp_ir::{Const, Expr, StmtKind};
use cdp_lint::{Body, Child, Function, Launch, Site, Source, Variable};

use super::at::CallAt;
use super::builtins::Lower;
use super::ctype::QualType;
use super::scope::{ExecutionSpace, FnId};
use super::state::Checker;
use super::value::Value;
use crate::ast;
use crate::source::Span;

impl Source for Checker<'_> {
    fn types(&self) -> &ir::TypeTable {
        &self.types.ir
    }

    fn module(&self) -> &ir::Module {
        &self.module
    }

    fn constant(&self, expr: &Expr) -> Option<Const> {
        self.const_eval(expr)
    }

    fn variable(&self, variable: Variable) -> (&str, Span) {
        let (name, var) = match variable {
            Variable::Local(local) => {
                let at = local.0 as usize;
                (&self.f.locals[at].name, self.f.facts[at].var.map(|var| self.names.var(var)))
            }
            Variable::Global(global) => {
                let var = self.names.vars.iter().find(|var| var.global == Some(global));
                (&self.module.globals[global.0 as usize].name, var)
            }
        };
        (name, var.map_or(Span::NONE, |var| var.span))
    }

    fn function(&self, key: u32) -> &str {
        &self.names.func(FnId(key)).display
    }

    fn arch(&self) -> u32 {
        self.options.arch
    }
}

impl<'a> Checker<'a> {
    /// Lints of a function's body; none of one that came from a table of builtins.
    pub fn body_lints(&self, id: FnId, lowered: bool) -> Option<Box<Body>> {
        let func = self.names.func(id);
        let function = Function {
            key: id.0,
            on_device: func.space.on_device(),
            kernel: func.space == ExecutionSpace::Global,
            param_count: func.params.len() as u32,
            lowered,
        };
        (!func.builtin).then(|| Box::new(Body::new(function)))
    }

    /// Asks the lints of the body at hand, and reports what they find; outside of bodies there are none.
    pub fn lint<X: Default>(&mut self, ask: impl FnOnce(&mut Body, &Self) -> X) -> X {
        let Some(mut lints) = self.f.lints.take() else { return X::default() };
        let answer = ask(&mut lints, self);
        for found in lints.findings() {
            self.report(found);
        }
        self.f.lints = Some(lints);
        answer
    }

    /// Whether a finished statement is needed: where only findings are wanted, as far as lints say so. A
    /// kernel of a million statements then takes the memory of its tree.
    pub fn is_needed(&mut self, kind: &StmtKind, loc: ir::Loc) -> bool {
        let wanted = self.lint(|lints, checker| lints.statement(kind, loc, checker));
        let constexpr = self.f.func.is_none_or(|id| self.names.func(id).constexpr);
        wanted || self.options.module || constexpr || self.f.builtin_body
    }

    /// The end of a body.
    pub fn finish_body_lints(&mut self, body: &ir::Block) {
        let mut unit = std::mem::take(&mut self.lints);
        self.lint(|lints, checker| lints.finish(body, &mut unit, checker));
        self.lints = unit;
    }

    /// The end of the unit.
    pub fn finish_lints(&mut self) {
        if !self.diags.has_errors() {
            for found in std::mem::take(&mut self.lints).finish(self) {
                self.report(found);
            }
        }
    }

    // --- places ------------------------------------------------------------------------------------

    fn site(&mut self, site: Site) {
        if let Some(lints) = self.f.lints.as_mut().filter(|_| self.around.unevaluated == 0) {
            lints.site(site);
        }
    }

    pub fn launch_site(
        &mut self,
        launch: &'a ast::LaunchExpr,
        name: String,
        target: Option<FnId>,
        whole: Span,
    ) {
        let child = target.map(|id| {
            let func = self.names.func(id);
            let max_threads = func.attrs.launch_bounds.max_threads_per_block;
            Child { key: id.0, declared: func.span, max_threads }
        });
        let spans = |list: &[ast::Expr]| list.iter().map(|expr| expr.span).collect();
        let made = Launch {
            child,
            config: spans(&launch.config),
            config_span: launch.config_span,
            in_loop: self.f.loop_depth > 0,
        };
        let loc = self.loc(whole);
        let (name, args) = (Cow::Owned(name), spans(&launch.args));
        self.site(Site { loc, name, span: launch.kernel.span, args, launch: Some(made) });
    }

    /// A builtin function of which lints judge the calls.
    pub fn call_site(&mut self, lower: Lower, name: &'static str, args: &[Value<'a>], at: CallAt) {
        let judged = match lower {
            Lower::Intrinsic(op) => cdp_lint::is_barrier(&op),
            Lower::Runtime(func) => cdp_lint::is_copy(func),
            _ => false,
        };
        if judged {
            let loc = self.loc(at.whole);
            let args = args.iter().map(|arg| arg.span).collect();
            self.site(Site { loc, name: Cow::Borrowed(name), span: at.name, args, launch: None });
        }
    }

    /// A pointer or reference that is returned by the statement at `loc`.
    pub fn return_site(&mut self, ret: QualType, loc: ir::Loc, span: Span) {
        if self.types.is_pointer(ret) || self.types.referent(ret).is_some() {
            let (name, args) = (Cow::Borrowed(""), Vec::new());
            self.site(Site { loc, name, span, args, launch: None });
        }
    }
}
