//! Operators with two operands: arithmetic, comparisons, logic, pointers.

use cdp_ir as ir;
use cdp_ir::{CompareOp, Const, Expr, ExprKind};

use super::at::At;
use super::ctype::{Basic, QualType};
use super::operators::{compare_op, ir_op};
use super::state::Checker;
use super::value::{Checked, Kind, Value};
use crate::ast::{self, BinaryOp as AstOp};
use crate::diagnostics::Code;
use crate::source::Span;

impl<'a> Checker<'a> {
    pub fn binary(&mut self, binary: &'a ast::BinaryExpr, span: Span) -> Checked<'a> {
        let ast::BinaryExpr { op, op_span, lhs, rhs } = binary;
        let (op, at) = (*op, At { op: *op_span, whole: span });
        let left = self.expr(lhs);
        if matches!(op, AstOp::LogAnd | AstOp::LogOr) {
            return self.logical(op, left, rhs, at);
        }
        let right = self.expr(rhs);
        left.sound(&self.types)?;
        right.sound(&self.types)?;
        match self.overloaded(&[op.text()], [left, right], at) {
            Ok(result) => result,
            Err([left, right]) => {
                self.warn_grouping(binary, [left.ty, right.ty]);
                self.binary_values(op, left, right, at)
            }
        }
    }

    pub(super) fn logical(
        &mut self,
        op: AstOp,
        left: Value<'a>,
        rhs: &'a ast::Expr,
        at: At,
    ) -> Checked<'a> {
        let and = op == AstOp::LogAnd;
        if self.types.record_id(left.ty).is_some() {
            let right = self.expr(rhs);
            return match self.overloaded(&[op.text()], [left, right], at) {
                Ok(result) => result,
                Err(args) => {
                    for arg in args {
                        self.condition(arg);
                    }
                    None
                }
            };
        }
        let left = self.condition(left);
        let right = self.expr(rhs);
        let right = self.condition(right);
        let (ty, loc) = (self.types.ir.bool(), self.loc(at.whole));
        let kind = ExprKind::Logical { and, lhs: Box::new(left), rhs: Box::new(right) };
        Some(Value::rvalue(Expr::new(kind, ty, loc), Basic::Bool.into(), at.whole))
    }

    /// A builtin binary operator on checked operands.
    pub fn binary_values(
        &mut self,
        op: AstOp,
        left: Value<'a>,
        right: Value<'a>,
        at: At,
    ) -> Checked<'a> {
        if let Some(compare) = compare_op(op) {
            return self.compare(compare, op, left, right, at);
        }
        let left = self.promote(left);
        let right = self.promote(right);
        left.sound(&self.types)?;
        right.sound(&self.types)?;
        let pointers = (self.types.pointee(left.ty), self.types.pointee(right.ty));
        match (op, pointers) {
            (AstOp::Add, (Some(_), None)) => self.offset(left, right, false, at),
            (AstOp::Add, (None, Some(_))) => self.offset(right, left, false, at),
            (AstOp::Sub, (Some(_), None)) => self.offset(left, right, true, at),
            (AstOp::Sub, (Some(a), Some(b))) if a.id == b.id => {
                self.difference(left, right, a, at.whole)
            }
            _ => self.arithmetic(op, left, right, at),
        }
    }

    /// The error of an operator that there is not; never a value.
    pub fn bad_operands(
        &mut self,
        op: AstOp,
        left: QualType,
        right: QualType,
        at: At,
    ) -> Checked<'a> {
        if self.has_lost(left) || self.has_lost(right) {
            return None;
        }
        let compound = format!("{}=", op.text());
        let text = match self.session.sources.text(at.op) == compound {
            true => compound.as_str(),
            false => op.text(),
        };
        let types = &self.types;
        let either = |test: &dyn Fn(QualType) -> bool| test(left) || test(right);
        let (note, help) = if either(&|ty| types.record_id(ty).is_some()) {
            ("", format!("define a function `operator{text}` for these types"))
        } else if either(&|ty| types.is_half(ty)) {
            (
                "CUDA's 16-bit types have operators for two operands of one type only",
                "convert one operand, for example with `__float2half` or `__half2float`".to_owned(),
            )
        } else if either(&|ty| types.is_scoped_enum(ty)) {
            ("", "cast the scoped enumeration to an integer".to_owned())
        } else if matches!(op, AstOp::Lt | AstOp::Shl)
            && types.pointee(left).is_some_and(|to| types.is_function(to))
        {
            ("", "a kernel is launched as `kernel<<<grid, block>>>(...)`".to_owned())
        } else if op == AstOp::Rem && either(&|ty| types.is_floating(ty)) {
            ("", "use `fmod` or `fmodf`".to_owned())
        } else {
            ("", String::new())
        };
        let (left, right) = (self.show(left), self.show(right));
        let message = format!("no operator `{text}` for {left} and {right}");
        self.error(Code::E0304, at.op, message).note(note).help(help);
        None
    }

    pub(super) fn arithmetic(
        &mut self,
        op: AstOp,
        left: Value<'a>,
        right: Value<'a>,
        at: At,
    ) -> Checked<'a> {
        let (ir_op, shift) = (ir_op(op)?, op.shifts());
        let (a, b) = (left.ty, right.ty);
        let Some(ty) = self.operation_type(op, a, b) else {
            return self.bad_operands(op, a, b, at);
        };
        let right_span = right.span;
        let (left, right) = (self.expr_of(left), self.expr_of(right));
        self.warn_bad_right_operand(op, a, &right, right_span);
        let ir_ty = self.types.ir_type(ty);
        let (left, right) =
            if shift { (left, right) } else { (self.cast(left, ir_ty), self.cast(right, ir_ty)) };
        let loc = self.loc(at.whole);
        self.warn_overflow(op, [&left, &right], ty, at.op);
        let kind = ExprKind::Binary { op: ir_op, lhs: Box::new(left), rhs: Box::new(right) };
        let expr = self.folded(Expr::new(kind, ir_ty, loc));
        Some(Value::rvalue(expr, ty, at.whole))
    }

    /// The type in which an operator works on operands of promoted types, if it takes them: of shifts the left
    /// one's.
    pub fn operation_type(&self, op: AstOp, a: QualType, b: QualType) -> Option<QualType> {
        let both = |test: &dyn Fn(QualType) -> bool| test(a) && test(b);
        let shift = op.shifts();
        if shift || matches!(op, AstOp::Rem | AstOp::BitAnd | AstOp::BitOr | AstOp::BitXor) {
            let ty = || if shift { a } else { self.usual_type(a, b) };
            return both(&|ty| self.types.is_integer(ty)).then(ty);
        }
        if self.types.is_half(a) && a.id == b.id {
            return Some(a);
        }
        both(&|ty| self.types.is_arithmetic(ty)).then(|| self.usual_type(a, b))
    }

    /// Division by a constant zero, shifts by a constant out of range.
    pub fn warn_bad_right_operand(&mut self, op: AstOp, left: QualType, right: &Expr, span: Span) {
        if self.around.unevaluated > 0 || !self.types.ir.is_integer(right.ty) {
            return;
        }
        let interesting = matches!(op, AstOp::Div | AstOp::Rem | AstOp::Shl | AstOp::Shr);
        if !interesting || !matches!(right.kind, ExprKind::Const(_)) {
            return;
        }
        let Some(value) = self.const_int_value(right) else { return };
        if matches!(op, AstOp::Div | AstOp::Rem) {
            if value == 0 && self.types.is_integer(left) {
                self.error(Code::W0703, span, "division by zero");
            }
            return;
        }
        let Some(basic) = self.types.basic(left) else { return };
        let (bits, _) = self.types.int_bits(basic);
        if value < 0 || value >= i128::from(bits) {
            let message = format!("a shift by {value}, where the value has {bits} bits");
            self.error(Code::W0704, span, message).note("the result of such a shift is undefined");
        }
    }

    /// Pointer plus or minus an integer.
    pub(super) fn offset(
        &mut self,
        pointer: Value<'a>,
        count: Value<'a>,
        negative: bool,
        at: At,
    ) -> Checked<'a> {
        if !self.types.is_integer(count.ty) {
            let op = if negative { AstOp::Sub } else { AstOp::Add };
            return self.bad_operands(op, pointer.ty, count.ty, at);
        }
        let ty = pointer.ty;
        let pointee = self.types.pointee(ty).unwrap_or(Basic::Error.into());
        self.check_arithmetic_pointee(pointee, pointer.span)?;
        let base = self.expr_of(pointer);
        let count = self.expr_of(count);
        let mut index = self.to_index(count);
        let loc = self.loc(at.whole);
        if negative {
            let ty = index.ty;
            let kind = ExprKind::Unary { op: ir::UnaryOp::Neg, operand: Box::new(index) };
            index = self.folded(Expr::new(kind, ty, loc));
        }
        let expr = self.index_addr(base, index, loc);
        Some(Value::rvalue(expr, ty, at.whole))
    }

    pub(super) fn difference(
        &mut self,
        left: Value<'a>,
        right: Value<'a>,
        pointee: QualType,
        span: Span,
    ) -> Checked<'a> {
        self.check_stepped_pointee(pointee, left.span)?;
        let (left, right) = (self.expr_of(left), self.expr_of(right));
        let right = self.cast(right, left.ty);
        let ty = self.types.ptrdiff_t();
        let (ir_ty, loc) = (self.types.ir_type(ty), self.loc(span));
        let kind = ExprKind::PointerDiff { lhs: Box::new(left), rhs: Box::new(right) };
        Some(Value::rvalue(Expr::new(kind, ir_ty, loc), ty, span))
    }

    pub(super) fn compare(
        &mut self,
        op: CompareOp,
        ast_op: AstOp,
        left: Value<'a>,
        right: Value<'a>,
        at: At,
    ) -> Checked<'a> {
        let declared = [left.ty, right.ty];
        // Scoped enumerations compare among themselves, in their underlying type.
        let scoped = left.ty.id == right.ty.id && self.types.is_scoped_enum(left.ty);
        let (left, right) = if scoped {
            (self.rvalue(left), self.rvalue(right))
        } else {
            (self.promote(left), self.promote(right))
        };
        left.sound(&self.types)?;
        right.sound(&self.types)?;
        let Some(common) = self.compare_type(&left, &right, op) else {
            return self.bad_operands(ast_op, left.ty, right.ty, at);
        };
        self.warn_sign_compare(&left, &right, common, at.op);
        let ir_ty = self.types.ir_type(common);
        let (left, right) = (self.expr_of(left), self.expr_of(right));
        self.warn_constant_compare(
            op,
            [(declared[0], &left), (declared[1], &right)],
            common,
            at.op,
        );
        let (left, right) = (self.cast(left, ir_ty), self.cast(right, ir_ty));
        let (bool_ty, loc) = (self.types.ir.bool(), self.loc(at.whole));
        let kind = ExprKind::Compare { op, lhs: Box::new(left), rhs: Box::new(right) };
        let expr = self.folded(Expr::new(kind, bool_ty, loc));
        Some(Value::rvalue(expr, Basic::Bool.into(), at.whole))
    }

    pub(super) fn compare_type(
        &mut self,
        left: &Value<'a>,
        right: &Value<'a>,
        op: CompareOp,
    ) -> Option<QualType> {
        let (a, b) = (left.ty, right.ty);
        if self.types.is_arithmetic(a) && self.types.is_arithmetic(b) {
            return Some(self.usual_type(a, b));
        }
        if a.id == b.id && (self.types.is_half(a) || self.types.enum_id(a).is_some()) {
            return Some(a);
        }
        let equality = matches!(op, CompareOp::Eq | CompareOp::Ne);
        match (self.types.is_pointer(a), self.types.is_pointer(b)) {
            (true, true) => self.composite_pointer(a, b),
            (true, false) if equality && right.null => Some(a),
            (false, true) if equality && left.null => Some(b),
            (true, false) if equality && self.types.is_nullptr(b) => Some(a),
            (false, true) if equality && self.types.is_nullptr(a) => Some(b),
            _ if equality && self.types.is_nullptr(a) && self.types.is_nullptr(b) => Some(a),
            // `nullptr == 0`
            _ if equality
                && (self.types.is_nullptr(a) && right.null
                    || left.null && self.types.is_nullptr(b)) =>
            {
                Some(self.types.pointer_to(Basic::Void.into()))
            }
            _ => None,
        }
    }

    /// A negative constant compared with an unsigned value.
    pub(super) fn warn_sign_compare(
        &mut self,
        left: &Value<'a>,
        right: &Value<'a>,
        common: QualType,
        op_span: Span,
    ) {
        let Some(basic) = self.types.basic(common) else { return };
        if self.around.unevaluated > 0 || basic.is_signed() || !basic.is_integer() {
            return;
        }
        for side in [left, right] {
            let signed = self.types.basic(side.ty).is_some_and(Basic::is_signed);
            let Kind::RValue(expr) = &side.kind else { continue };
            if signed
                && let ExprKind::Const(Const::Int(value)) = expr.kind
                && value < 0
            {
                let message = format!("{value} becomes unsigned in this comparison");
                self.error(Code::W0705, op_span, message)
                    .secondary(side.span, "this is converted to an unsigned type");
            }
        }
    }
}
