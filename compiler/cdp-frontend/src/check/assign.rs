//! Assignment, compound assignment, comma and the conditional operator.

use cdp_ir as ir;
use cdp_ir::{Expr, ExprKind};

use super::at::At;
use super::convert::Purpose;
use super::ctype::QualType;
use super::operators::ir_op;
use super::state::Checker;
use super::value::{Action, Checked, Kind, Pending, Value, is_simple};
use crate::ast::{self, BinaryOp as AstOp};
use crate::diagnostics::Code;
use crate::source::Span;

impl<'a> Checker<'a> {
    pub fn assign(&mut self, assign: &'a ast::AssignExpr, span: Span) -> Checked<'a> {
        let ast::AssignExpr { op, op_span, lhs, rhs } = assign;
        let at = At { op: *op_span, whole: span };
        let left = self.expr(lhs);
        let right = self.expr(rhs);
        left.sound(&self.types)?;
        right.sound(&self.types)?;
        let Some(op) = *op else { return self.assign_values(left, right, at) };
        match self.overloaded(&[op.text(), "="], [left, right], at) {
            Ok(result) => result.map(|call| self.right_first(call)),
            Err([left, right]) => self.compound(op, left, right, at),
        }
    }

    /// The call of an assignment operator's function: written as an operator, its right side comes
    /// first all the same.
    fn right_first(&mut self, mut call: Value<'a>) -> Value<'a> {
        let (Kind::LValue(expr) | Kind::RValue(expr)) = &mut call.kind else { return call };
        let loc = expr.loc;
        let ExprKind::Call { args, .. } = &mut expr.kind else { return call };
        if args.len() != 2 || is_simple(&args[0]) {
            return call;
        }
        let Some(right) = args.pop() else { return call };
        let mut effects = Vec::new();
        let right = self.kept(right, &mut effects, loc);
        args.push(right);
        if !effects.is_empty() {
            let inner = expr.clone();
            *expr = self.sequence(effects, inner);
        }
        call
    }

    fn assign_values(&mut self, left: Value<'a>, right: Value<'a>, at: At) -> Checked<'a> {
        self.check_assignable(&left, "=")?;
        let ty = left.ty;
        let value = self.convert(right, ty.unqualified(), Purpose::Assign);
        let loc = self.loc(at.whole);
        let promoted = self.bit_promotion(&left);
        if let Kind::BitField { base, field } = left.kind {
            let ir_ty = self.types.ir_type(ty);
            let (base, value) = (Box::new(base), Box::new(value));
            let kind = ExprKind::StoreBits { base, field, value, volatile: ty.is_volatile() };
            let stored = Expr::new(kind, ir_ty, loc);
            return Some(Value { promoted, ..Value::rvalue(stored, ty.unqualified(), at.whole) });
        }
        let addr = self.address(left);
        let (action, volatile) = (Action::Store(value), ty.is_volatile());
        Some(Value::new(Kind::Pending(Box::new(Pending { addr, action, volatile })), ty, at.whole))
    }

    /// `lhs op= rhs` with a builtin operator.
    fn compound(&mut self, op: AstOp, left: Value<'a>, right: Value<'a>, at: At) -> Checked<'a> {
        let text = format!("{}=", op.text());
        self.check_assignable(&left, &text)?;
        let ir_op = ir_op(op)?;
        let ty = left.ty.unqualified();
        let right = self.promote(right);
        right.sound(&self.types)?;
        let right_span = right.span;
        if let Some(pointee) = self.types.pointee(ty) {
            let fits = matches!(op, AstOp::Add | AstOp::Sub) && self.types.is_integer(right.ty);
            if !fits {
                return self.bad_operands(op, ty, right.ty, at);
            }
            self.check_arithmetic_pointee(pointee, left.span)?;
            let rhs = self.expr_of(right);
            let rhs = self.to_index(rhs);
            let compute = rhs.ty;
            return Some(self.finish_update(left, ir_op, rhs, compute, true, at.whole));
        }
        let promoted = self.bit_promotion(&left).unwrap_or_else(|| self.promoted_type(ty));
        let enumeration = self.types.enum_id(ty).is_some();
        let compute = self.operation_type(op, promoted, right.ty).filter(|_| !enumeration);
        let Some(compute) = compute else {
            if self.types.is_unscoped_enum(ty) {
                let message = format!("`{text}` would store an integer in {}", self.show(ty));
                self.error(Code::E0303, at.op, message)
                    .help("cast the result back to the enumeration");
                return None;
            }
            return self.bad_operands(op, ty, right.ty, at);
        };
        let compute_ir = self.types.ir_type(compute);
        let rhs = self.expr_of(right);
        self.warn_bad_right_operand(op, promoted, &rhs, right_span);
        let rhs = if op.shifts() { rhs } else { self.cast(rhs, compute_ir) };
        Some(self.finish_update(left, ir_op, rhs, compute_ir, true, at.whole))
    }

    /// Nothing, with a word on why, for a value that cannot be assigned to.
    pub fn check_assignable(&mut self, value: &Value<'a>, op: &str) -> Option<()> {
        if self.types.is_error(value.ty) && !matches!(value.kind, Kind::Fns(_) | Kind::Braces(_)) {
            return None;
        }
        let (code, message, help) = match &value.kind {
            Kind::Builtin(variable) => (
                Code::E0507,
                format!("the builtin variable `{}` cannot be written", variable.name),
                "it is set by the launch; copy it into a variable of your own",
            ),
            Kind::RValue(expr) if is_builtin_read(expr) => (
                Code::E0507,
                "a builtin variable cannot be written".to_owned(),
                "it is set by the launch; copy it into a variable of your own",
            ),
            // An operator of a class may change an xvalue, those of the language may not.
            kind if matches!(kind, Kind::RValue(_) | Kind::Braces(_))
                || value.expiring && self.types.record_id(value.ty).is_none() =>
            {
                let what = match op {
                    "++" | "--" => "the operand",
                    "asm" => "an output",
                    _ => "the left side",
                };
                (Code::E0305, format!("{what} of `{op}` is only a value"), "")
            }
            Kind::Fns(functions) => (
                Code::E0305,
                format!("the function `{}` cannot be assigned to", functions.name),
                "",
            ),
            _ if self.types.is_array(value.ty) => (
                Code::E0305,
                format!("an array, {}, cannot be assigned to", self.show(value.ty)),
                "assign its elements, or put it into a struct",
            ),
            _ if value.ty.is_const() => {
                (Code::E0305, format!("`{}` is `const`", self.source_text(value.span)), "")
            }
            _ if self.types.record_id(value.ty).is_some() && self.has_const_member(value.ty) => {
                (Code::E0305, format!("{} has `const` members", self.show(value.ty)), "")
            }
            _ if !self.types.is_complete(value.ty) => {
                (Code::E0308, format!("{} is incomplete here", self.show(value.ty)), "")
            }
            _ => return self.check_constant_memory(value),
        };
        self.error(code, value.span, message).help(help);
        None
    }

    // --- comma and conditional ---------------------------------------------------------------

    pub fn comma(&mut self, lhs: &'a ast::Expr, rhs: &'a ast::Expr, span: Span) -> Checked<'a> {
        let operands = [self.expr(lhs), self.expr(rhs)];
        let [left, right] = match self.overloaded(&[","], operands, At { op: span, whole: span }) {
            Ok(value) => return value,
            Err(operands) => operands,
        };
        self.warn_unused_value(lhs, &left);
        let left = self.discard(left);
        let Some(effect) = left else { return Some(Value { span, ..right }) };
        let kind = match right.kind {
            Kind::LValue(addr) => Kind::LValue(self.sequence(vec![effect], addr)),
            Kind::RValue(expr) => Kind::RValue(self.sequence(vec![effect], expr)),
            Kind::Fns(_) | Kind::Braces(_) => right.kind,
            _ if self.types.is_error(right.ty) => return None,
            _ if self.types.record_id(right.ty).is_none() => {
                let (ty, promoted) = (right.ty.unqualified(), self.bit_promotion(&right));
                let expr = self.load(right);
                let expr = self.sequence(vec![effect], expr);
                return Some(Value { promoted, ..Value::rvalue(expr, ty, span) });
            }
            _ => {
                let ty = right.ty;
                let addr = self.address(right);
                let addr = self.sequence(vec![effect], addr);
                return Some(Value::lvalue(addr, ty, span));
            }
        };
        Some(Value { expiring: right.expiring, ..Value::new(kind, right.ty, span) })
    }

    pub fn conditional(&mut self, parts: &'a ast::ConditionalExpr, span: Span) -> Checked<'a> {
        let at = At { op: parts.question_span, whole: span };
        let (condition, otherwise) = (&parts.condition, &parts.otherwise);
        let Some(then) = &parts.then else {
            return self.short_conditional(condition, otherwise, at);
        };
        let cond = self.expr(condition);
        let cond = self.condition(cond);
        let a = self.expr(then);
        let b = self.expr(otherwise);
        self.chosen(cond, a, b, at)
    }

    /// `condition ?: otherwise`: the condition's value, if it is true.
    pub fn short_conditional(
        &mut self,
        condition: &'a ast::Expr,
        otherwise: &'a ast::Expr,
        at: At,
    ) -> Checked<'a> {
        let value = self.expr(condition);
        let value = self.rvalue(value);
        if self.is_error(&value) {
            self.expr(otherwise);
            return None;
        }
        let (ty, null, loc) = (value.ty, value.null, self.loc(at.whole));
        let mut effects = Vec::new();
        let expr = self.expr_of(value);
        let kept = self.kept(expr, &mut effects, loc);
        let again = Value { null, ..Value::rvalue(kept.clone(), ty, condition.span) };
        let cond = self.condition(Value::rvalue(kept, ty, condition.span));
        let otherwise = self.expr(otherwise);
        let mut result = self.chosen(cond, again, otherwise, at)?;
        if let Kind::RValue(expr) = &mut result.kind
            && !effects.is_empty()
        {
            *expr = self.sequence(effects, expr.clone());
        }
        Some(result)
    }

    /// One of two values.
    fn chosen(&mut self, cond: Expr, a: Value<'a>, b: Value<'a>, at: At) -> Checked<'a> {
        a.sound(&self.types)?;
        b.sound(&self.types)?;
        let loc = self.loc(at.whole);
        // Two lvalues of one type stay an lvalue (C++ [expr.cond]).
        let objects = matches!(a.kind, Kind::LValue(_)) && matches!(b.kind, Kind::LValue(_));
        let objects = objects && a.expiring == b.expiring;
        if objects && a.ty == b.ty && !self.types.is_void(a.ty) {
            let (ty, expiring) = (a.ty, a.expiring);
            let (a, b) = (self.address(a), self.address(b));
            let pointer = a.ty;
            let addr = self.select(cond, a, b, pointer, loc);
            return Some(Value::referred(addr, ty, expiring, at.whole));
        }
        let (a, b) = (self.rvalue(a), self.rvalue(b));
        a.sound(&self.types)?;
        b.sound(&self.types)?;
        let Some(common) = self.conditional_type(&a, &b) else {
            let message = format!(
                "the operands of `?:` are {} and {}, which have no common type",
                self.show(a.ty),
                self.show(b.ty)
            );
            let (left, right) = (self.types.show(a.ty), self.types.show(b.ty));
            self.error(Code::E0304, at.op, message)
                .secondary(a.span, left)
                .secondary(b.span, right);
            return None;
        };
        let (a, b) = if self.types.is_void(common) {
            (self.expr_of(a), self.expr_of(b))
        } else {
            (self.apply(a, common), self.apply(b, common))
        };
        let ty = self.types.ir_type(common);
        let expr = self.select(cond, a, b, ty, loc);
        Some(Value::rvalue(expr, common, at.whole))
    }

    fn select(
        &mut self,
        cond: Expr,
        then: Expr,
        otherwise: Expr,
        ty: ir::TypeId,
        loc: ir::Loc,
    ) -> Expr {
        let kind = ExprKind::Select {
            cond: Box::new(cond),
            then: Box::new(then),
            otherwise: Box::new(otherwise),
        };
        Expr::new(kind, ty, loc)
    }

    fn conditional_type(&mut self, a: &Value<'a>, b: &Value<'a>) -> Option<QualType> {
        let (x, y) = (a.ty, b.ty);
        if x.id == y.id {
            return Some(x.unqualified());
        }
        if self.types.is_pointer(x) && self.types.is_pointer(y) {
            return self.composite_pointer(x, y);
        }
        if self.types.is_pointer(x) && (b.null || self.types.is_nullptr(y)) {
            return Some(x.unqualified());
        }
        if self.types.is_pointer(y) && (a.null || self.types.is_nullptr(x)) {
            return Some(y.unqualified());
        }
        let [p, q] = [a, b]
            .map(|side| self.bit_promotion(side).unwrap_or_else(|| self.promoted_type(side.ty)));
        if self.types.is_arithmetic(p) && self.types.is_arithmetic(q) {
            return Some(self.usual_type(p, q));
        }
        // A class type on one side: the other side converts to it, if only one way works.
        let there = self.rank_types(x, y).is_some();
        let back = self.rank_types(y, x).is_some();
        match (there, back) {
            (true, false) => Some(y.unqualified()),
            (false, true) => Some(x.unqualified()),
            _ => None,
        }
    }
}

fn is_builtin_read(expr: &Expr) -> bool {
    matches!(&expr.kind, ExprKind::Intrinsic { op: ir::Intrinsic::Builtin(_), .. })
}
