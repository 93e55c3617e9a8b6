//! Statements.

use cdp_ir as ir;
use cdp_ir::{Block, Expr, StmtKind, Unroll};

use super::convert::Purpose;
use super::ctype::{Basic, QualType};
use super::state::{Checker, SwitchState};
use super::value::{Kind, Value};
use crate::ast::{self, Condition, LabelKind, PragmaKind, StmtKind as Ast};
use crate::diagnostics::Code;
use crate::source::Span;

/// How many values a range of cases may have: each becomes one of the IR.
const MAX_RANGE: i128 = 4096;

impl<'a> Checker<'a> {
    /// Statements of a block whose scope is open.
    pub fn stmts(&mut self, stmts: &'a [ast::Stmt]) {
        let levels = self.pragmas.levels.len();
        for (at, stmt) in stmts.iter().enumerate() {
            if self.diags.is_full() {
                return;
            }
            self.stmt(stmt);
            self.warn_empty_loop(&stmts[at..]);
        }
        self.warn_unused();
        // What pragmas said in the block ends with it.
        self.pragmas.levels.truncate(levels);
    }

    pub fn stmt(&mut self, stmt: &'a ast::Stmt) {
        let outer = self.f.launch_hints;
        self.hints(stmt);
        self.stmt_itself(stmt);
        self.f.launch_hints = outer;
    }

    fn stmt_itself(&mut self, stmt: &'a ast::Stmt) {
        for label in stmt.labels() {
            self.label(label);
        }
        let unroll = self.unroll(stmt);
        let loc = self.loc(stmt.span);
        match &stmt.kind {
            Ast::Empty => {}
            Ast::Error => self.f.gaps = true,
            Ast::Expr(expr) => self.expr_stmt(expr),
            Ast::Decl(decl) => self.decl(decl),
            Ast::Block(block) => {
                let body = self.scoped_block(&block.stmts);
                self.emit(StmtKind::Block(body), loc);
            }
            Ast::If(stmt) => self.headed(loc, |checker| checker.if_stmt(stmt, loc)),
            Ast::Switch(stmt) => self.headed(loc, |checker| checker.switch_stmt(stmt, loc)),
            Ast::While { condition, body, .. } => self.while_stmt(condition, body, unroll, loc),
            Ast::DoWhile { body, condition, .. } => self.do_stmt(body, condition, unroll, loc),
            Ast::For(stmt) => self.headed(loc, |checker| checker.for_stmt(stmt, unroll, loc)),
            Ast::RangeFor(stmt) => self.headed(loc, |checker| checker.range_for(stmt, unroll, loc)),
            Ast::Break => {
                if self.f.break_depth == 0 {
                    self.error(Code::E0314, stmt.span, "`break` outside a loop or `switch`");
                    return;
                }
                self.emit(StmtKind::Break, loc);
            }
            Ast::Goto(name) => self.goto_stmt(*name, loc),
            Ast::Continue => {
                if self.f.loop_depth == 0 {
                    self.error(Code::E0314, stmt.span, "`continue` outside a loop");
                    return;
                }
                self.emit(StmtKind::Continue, loc);
            }
            Ast::Return(value) => self.return_stmt(value.as_ref(), stmt.span),
            Ast::Asm(asm) => self.asm_stmt(asm, stmt.span),
        }
    }

    /// Statements in a scope of their own.
    fn scoped_block(&mut self, stmts: &'a [ast::Stmt]) -> Block {
        self.names.scopes.enter();
        let block = self.block(|checker| checker.stmts(stmts));
        self.names.scopes.leave();
        block
    }

    /// A statement whose head may declare variables, which end with it: they get a block, by which
    /// a debugger tells the `i` of one `for` from that of the next.
    fn headed(&mut self, loc: ir::Loc, build: impl FnOnce(&mut Self)) {
        let block = self.block(build);
        let declares = |stmt: &ir::Stmt| matches!(stmt.kind, StmtKind::Declare(_));
        if block.stmts.iter().any(declares) {
            self.emit(StmtKind::Block(block), loc);
            return;
        }
        self.f.out.last_mut().expect("a block is being built").extend(block.stmts);
    }

    /// A statement as a block with its own scope: the branch of an `if`, the body of a loop.
    fn body_block(&mut self, stmt: &'a ast::Stmt) -> Block {
        self.names.scopes.enter();
        let block = match &stmt.kind {
            Ast::Block(inner) if stmt.labels().is_empty() => {
                self.block(|checker| checker.stmts(&inner.stmts))
            }
            _ => self.block(|checker| checker.stmt(stmt)),
        };
        self.names.scopes.leave();
        block
    }

    fn expr_stmt(&mut self, expr: &'a ast::Expr) {
        let value = self.expr(expr);
        if self.types.record_id(value.ty).is_none() && value.is_braces() {
            self.rvalue(value);
            return;
        }
        self.warn_unused_value(expr, &value);
        let loc = self.loc(expr.span);
        if let Some(effect) = self.discard(value) {
            self.emit(StmtKind::Expr(effect), loc);
        }
    }

    /// The `#pragma unroll` in front of a statement.
    fn unroll(&mut self, stmt: &'a ast::Stmt) -> Option<Unroll> {
        let mut unroll = None;
        for pragma in stmt.pragmas() {
            let asked = match &pragma.kind {
                PragmaKind::Unroll(None) => Unroll::Full,
                PragmaKind::NoUnroll => Unroll::Count(1),
                PragmaKind::Unroll(Some(count)) => {
                    match self.const_integer(count, "an unroll count") {
                        Some((count, _)) if count >= 1 => {
                            Unroll::Count(u32::try_from(count).unwrap_or(u32::MAX))
                        }
                        // nvcc ignores counts below one.
                        _ => continue,
                    }
                }
                PragmaKind::Cdp(_) => {
                    self.pragma(pragma);
                    continue;
                }
            };
            unroll = Some(asked);
            let is_loop = matches!(
                stmt.kind,
                Ast::While { .. } | Ast::DoWhile { .. } | Ast::For(_) | Ast::RangeFor(_)
            );
            if !is_loop {
                let message = "`#pragma unroll` before something that is no loop";
                self.error(Code::W0707, pragma.span, message);
            }
        }
        unroll
    }

    // --- conditions and branches ---------------------------------------------------------------

    /// A condition; a declaration is emitted into the open block.
    fn test(&mut self, condition: &'a Condition) -> Expr {
        let value = match condition {
            Condition::Expr(expr) => {
                self.warn_assigned_condition(expr);
                self.expr(expr)
            }
            Condition::Decl(decl) => self.condition_decl(decl),
        };
        self.condition(value)
    }

    fn if_stmt(&mut self, stmt: &'a ast::IfStmt, loc: ir::Loc) {
        self.names.scopes.enter_head();
        if let Some(init) = &stmt.init {
            self.stmt(init);
        }
        self.warn_branches(stmt);
        let cond =
            self.constant_if(stmt.constexpr.is_some(), |checker| checker.test(&stmt.condition));
        let known = if stmt.constexpr.is_some() { self.known_condition(&cond, stmt) } else { None };
        let entered = self.lint(|lints, checker| lints.enter(&cond, checker));
        self.f.branch_depth += 1;
        let outer = self.f.discarded;
        self.f.discarded = outer || known == Some(false);
        let then = self.body_block(&stmt.then);
        self.f.discarded = outer || known == Some(true);
        let otherwise = match &stmt.otherwise {
            Some(otherwise) => self.body_block(otherwise),
            None => Block::default(),
        };
        self.f.discarded = outer;
        self.f.branch_depth -= 1;
        self.lint(|lints, checker| lints.leave(entered, &[&then, &otherwise], checker));
        self.names.scopes.leave();
        match known {
            Some(true) => self.emit(StmtKind::Block(then), loc),
            Some(false) => self.emit(StmtKind::Block(otherwise), loc),
            None => self.emit(StmtKind::If { cond: Box::new(cond), then, otherwise }, loc),
        }
    }

    /// The value of an `if constexpr`.
    fn known_condition(&mut self, cond: &Expr, stmt: &'a ast::IfStmt) -> Option<bool> {
        let known = self.truth(cond);
        if known.is_none() && !super::value::is_poisoned(cond) {
            let span = stmt.constexpr.unwrap_or(stmt.keyword_span);
            let message = "the condition of `if constexpr` must be a constant expression";
            let reason = self.why_not_constant(cond).unwrap_or_default();
            self.error(Code::E0310, span, message).note(reason);
        }
        known
    }

    // --- loops ---------------------------------------------------------------------------------

    pub fn loop_body(&mut self, stmt: &'a ast::Stmt) -> Block {
        self.f.loop_depth += 1;
        self.f.break_depth += 1;
        let body = self.body_block(stmt);
        self.f.loop_depth -= 1;
        self.f.break_depth -= 1;
        body
    }

    fn while_stmt(
        &mut self,
        condition: &'a Condition,
        body: &'a ast::Stmt,
        unroll: Option<Unroll>,
        loc: ir::Loc,
    ) {
        self.names.scopes.enter_head();
        let (cond, body) = self.tested_body(Some(condition), body);
        self.names.scopes.leave();
        self.emit(StmtKind::Loop { cond, body, step: None, test_first: true, unroll }, loc);
    }

    /// The condition and body of a loop. A condition that declares a variable is tested in the
    /// body, since every turn declares it anew.
    fn tested_body(
        &mut self,
        condition: Option<&'a Condition>,
        body: &'a ast::Stmt,
    ) -> (Option<Box<Expr>>, Block) {
        match condition {
            Some(Condition::Decl(decl)) => {
                let loc = self.loc(decl.span);
                let mut entered = cdp_lint::Entered::default();
                let mut cond = None;
                let mut block = self.block(|checker| {
                    let value = checker.condition_decl(decl);
                    let test = checker.condition(value);
                    entered = checker.lint(|lints, checker| lints.enter(&test, checker));
                    cond = Some(test);
                });
                let inner = self.loop_body(body);
                self.lint(|lints, checker| lints.leave(entered, &[&inner], checker));
                if let Some(cond) = cond {
                    let stop = Block { stmts: vec![ir::Stmt { kind: StmtKind::Break, loc }] };
                    let (cond, then) = (Box::new(cond), Block::default());
                    let kind = StmtKind::If { cond, then, otherwise: stop };
                    block.stmts.push(ir::Stmt { kind, loc });
                }
                block.stmts.push(ir::Stmt { kind: StmtKind::Block(inner), loc });
                (None, block)
            }
            condition => {
                let cond = condition.map(|condition| self.test(condition));
                let entered = match &cond {
                    Some(cond) => self.lint(|lints, checker| lints.enter(cond, checker)),
                    None => cdp_lint::Entered::default(),
                };
                let body = self.loop_body(body);
                self.lint(|lints, checker| lints.leave(entered, &[], checker));
                (cond.map(Box::new), body)
            }
        }
    }

    fn do_stmt(
        &mut self,
        body: &'a ast::Stmt,
        condition: &'a ast::Expr,
        unroll: Option<Unroll>,
        loc: ir::Loc,
    ) {
        let body = self.loop_body(body);
        self.warn_assigned_condition(condition);
        let value = self.expr(condition);
        let cond = Some(Box::new(self.condition(value)));
        self.emit(StmtKind::Loop { cond, body, step: None, test_first: false, unroll }, loc);
    }

    fn for_stmt(&mut self, stmt: &'a ast::ForStmt, unroll: Option<Unroll>, loc: ir::Loc) {
        self.names.scopes.enter_head();
        self.stmt(&stmt.init);
        // The step sees the names of the head, not those of the body.
        let (cond, body) = self.tested_body(stmt.condition.as_ref(), &stmt.body);
        let step = stmt.step.as_ref().and_then(|step| {
            let value = self.expr(step);
            self.warn_unused_value(step, &value);
            self.discard(value).map(Box::new)
        });
        self.names.scopes.leave();
        self.emit(StmtKind::Loop { cond, body, step, test_first: true, unroll }, loc);
    }

    // --- switch --------------------------------------------------------------------------------

    fn switch_stmt(&mut self, stmt: &'a ast::SwitchStmt, loc: ir::Loc) {
        self.names.scopes.enter_head();
        if let Some(init) = &stmt.init {
            self.stmt(init);
        }
        let (span, value) = match &stmt.condition {
            Condition::Expr(expr) => (expr.span, self.expr(expr)),
            Condition::Decl(decl) => (decl.span, self.condition_decl(decl)),
        };
        let declared = value.ty;
        let (value, ty) = self.switch_value(value, span);
        let entered = self.lint(|lints, checker| lints.enter(&value, checker));
        self.f.switches.push(SwitchState {
            bound: self.names.scopes.bound_since(0).len(),
            ty,
            cases: Vec::new(),
            spans: Default::default(),
            default: None,
        });
        self.f.break_depth += 1;
        self.f.branch_depth += 1;
        let body = self.body_block(&stmt.body);
        self.f.branch_depth -= 1;
        self.f.break_depth -= 1;
        let state = self.f.switches.pop();
        self.lint(|lints, checker| lints.leave(entered, &[], checker));
        self.names.scopes.leave();
        let Some(state) = state else { return };
        self.warn_left_out(declared, &state, span);
        let default = state.default.map(|(label, _)| label);
        let value = Box::new(value);
        self.emit(StmtKind::Switch { value, cases: state.cases, default, body }, loc);
    }

    /// The value switched on, promoted; a scoped enumeration in its underlying type.
    fn switch_value(&mut self, value: Value<'a>, span: Span) -> (Expr, QualType) {
        let error = QualType::from(Basic::Error);
        let ty = value.ty;
        let value =
            if self.types.is_scoped_enum(ty) { self.rvalue(value) } else { self.promote(value) };
        if self.is_error(&value) {
            return (self.poison(error), error);
        }
        let ty = value.ty;
        if !self.types.is_integer(ty) && self.types.enum_id(ty).is_none() {
            let message = format!("a `switch` needs an integer, not {}", self.show(ty));
            self.error(Code::E0329, span, message);
            return (self.poison(error), error);
        }
        let expr = self.expr_of(value);
        let ir_bool = self.types.ir.bool();
        if expr.ty == ir_bool {
            let int = self.types.ir_type(Basic::Int.into());
            return (self.cast(expr, int), Basic::Int.into());
        }
        (expr, ty)
    }

    /// `case value:`, `default:`.
    fn label(&mut self, label: &'a ast::Label) {
        if let LabelKind::Named(name) = label.kind {
            let loc = self.loc(label.span);
            return self.named_label(name, loc);
        }
        self.check_switch_label(label.span);
        let Some(state) = self.f.switches.last() else {
            self.error(Code::E0314, label.span, "a `case` or `default` outside a `switch`");
            return;
        };
        let ty = state.ty;
        let loc = self.loc(label.span);
        let values = match &label.kind {
            LabelKind::Default => {
                let id = self.new_label();
                self.emit(StmtKind::Label(id), loc);
                let Some(state) = self.f.switches.last_mut() else { return };
                match state.default {
                    Some((_, first)) => {
                        // The label stays, so that the IR is whole; an error is given.
                        self.error(Code::E0329, label.span, "a second `default`")
                            .secondary(first, "the first one");
                    }
                    None => state.default = Some((id, label.span)),
                }
                return;
            }
            LabelKind::Named(_) => return,
            LabelKind::Case(value) => {
                let Some(value) = self.case_value(value, ty) else { return };
                value..=value
            }
            LabelKind::CaseRange(first, last) => {
                let (first, last) = (self.case_value(first, ty), self.case_value(last, ty));
                let (Some(first), Some(last)) = (first, last) else { return };
                self.check_range(first, last, label.span);
                first..=last.min(first.saturating_add(MAX_RANGE))
            }
        };
        let id = self.new_label();
        self.emit(StmtKind::Label(id), loc);
        for value in values {
            if !self.add_case(value, id, label.span) {
                break;
            }
        }
    }

    /// Whether a range of cases can be had: nvcc's device code tests the first value alone.
    fn check_range(&mut self, first: i128, last: i128, span: Span) {
        let what = if self.on_device() {
            "GNU's ranges of `case` labels in device code are"
        } else if last - first >= MAX_RANGE {
            "GNU's ranges of more than 4096 `case` labels are"
        } else {
            return;
        };
        self.outside(Code::E0238, span, what, "test the value with `if`");
    }

    fn case_value(&mut self, expr: &'a ast::Expr, ty: QualType) -> Option<i128> {
        let value = self.constant(|checker| checker.expr(expr));
        if self.is_error(&value) || self.types.is_error(ty) {
            return None;
        }
        if self.types.is_floating(value.ty) || self.types.is_half(value.ty) {
            let message = format!("a `case` value is an integer, not {}", self.show(value.ty));
            self.error(Code::E0310, expr.span, message);
            return None;
        }
        let value = self.rvalue(value);
        let written = match &value.kind {
            Kind::RValue(expr) => self.const_int_value(expr),
            _ => None,
        };
        let converted = self.convert(value, ty, Purpose::Operand("the case value"));
        let constant = self.const_int_value(&converted);
        if let (Some(written), Some(constant)) = (written, constant)
            && written != constant
        {
            let message = format!("the case {written} does not fit {}", self.show(ty));
            self.error(Code::E0310, expr.span, message)
                .note("a constant expression converts without loss");
            return None;
        }
        let silent = super::value::is_poisoned(&converted);
        if constant.is_none() && !silent {
            let message = "a `case` value must be a constant expression";
            let reason = self.why_not_constant(&converted).unwrap_or_default();
            self.error(Code::E0310, expr.span, message).note(reason);
        }
        constant
    }

    /// Notes a case, unless there is one of this value.
    fn add_case(&mut self, value: i128, label: ir::LabelId, span: Span) -> bool {
        let Some(state) = self.f.switches.last_mut() else { return false };
        if let Some(&first) = state.spans.get(&(value as i64)) {
            self.error(Code::E0329, span, format!("the case {value} stands twice"))
                .secondary(first, "the first one");
            return false;
        }
        state.spans.insert(value as i64, span);
        state.cases.push(ir::SwitchLabel { value, label });
        true
    }

    /// After a contradiction about what the function at hand returns: nothing that follows from it is said.
    fn forget_result(&mut self) {
        let Some(id) = self.f.func else { return };
        self.f.ret = super::ctype::Basic::Error.into();
        if self.f.space != super::scope::ExecutionSpace::Global {
            self.names.func_mut(id).ret = super::ctype::Basic::Error.into();
        }
    }

    // --- return --------------------------------------------------------------------------------

    fn return_stmt(&mut self, value: Option<&'a ast::Expr>, span: Span) {
        let loc = self.loc(span);
        // What `if constexpr` discards says nothing of the result's type (C++ [dcl.spec.auto]).
        if self.f.discarded && (self.f.ret_auto || self.f.auto_pattern.is_some()) {
            value.map(|expr| self.expr(expr));
            return;
        }
        let Some(expr) = value else {
            if self.f.ret_auto
                && let Some(func) = self.f.func
            {
                self.finish_auto(func, Basic::Void.into());
            }
            if !self.types.is_void(self.f.ret) && !self.types.is_error(self.f.ret) {
                let message = format!("a value of type {} must be returned", self.show(self.f.ret));
                self.error(Code::E0315, span, message);
            }
            self.emit(StmtKind::Return(None), loc);
            return;
        };
        let value = self.expr(expr);
        if self.f.ret_auto
            && let Some(func) = self.f.func
        {
            let pattern = self.names.func(func).ret;
            self.f.auto_pattern = Some(pattern);
            let ty = if self.types.is_void(value.ty) {
                Basic::Void.into()
            } else {
                let deduced = self.deduce(pattern, value.clone(), "the result", expr.span);
                self.hole(pattern, deduced).unwrap_or(deduced)
            };
            self.finish_auto(func, ty);
        } else if let Some(pattern) = self.f.auto_pattern
            && !self.types.is_void(value.ty)
        {
            let again = self.deduce(pattern, value.clone(), "the result", expr.span);
            if again != self.f.ret && !self.types.is_error(again) {
                let (now, before) = (self.show(again), self.show(self.f.ret));
                let message = format!("the result is deduced as {now} here and as {before} before");
                self.error(Code::E0331, expr.span, message);
                return;
            }
        }
        let ret = self.f.ret;
        if self.types.is_error(ret) || self.is_error(&value) {
            // The path ends here all the same.
            let value = (!self.types.is_void(ret)).then(|| self.poison(ret));
            self.emit(StmtKind::Return(value), loc);
            return;
        }
        if self.types.is_void(ret) {
            if !self.types.is_void(value.ty) {
                let func = self.f.func.map(|func| self.names.func(func).display.clone());
                let name = func.unwrap_or_default();
                let message = format!("`{name}` returns `void`, so it cannot return a value");
                self.error(Code::E0315, expr.span, message);
                self.forget_result();
                return;
            }
            if let Some(effect) = self.discard(value) {
                self.emit(StmtKind::Expr(effect), loc);
            }
            self.emit(StmtKind::Return(None), loc);
            return;
        }
        let value = self.convert(value, ret, Purpose::Return);
        self.return_site(ret, loc, expr.span);
        self.emit(StmtKind::Return(Some(value)), loc);
    }
}
