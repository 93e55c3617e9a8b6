//! Operators: unary and binary. Assignment, comma and `?:` are in `assign`; operators of class types
//! are calls of free functions (`overload`).

use cdp_ir as ir;
use cdp_ir::{BinaryOp, CompareOp, Const, Expr, ExprKind};

use super::ctype::{Basic, QualType};
use super::state::Checker;
use super::value::{Action, Kind, Pending, Value, is_simple};
use crate::ast::{self, BinaryOp as AstOp, PostfixOp, UnaryOp};
use crate::diagnostics::{Code, Diagnostic};
use crate::source::Span;

/// The spelling of a binary operator.
pub fn op_text(op: AstOp) -> &'static str {
    match op {
        AstOp::Mul => "*",
        AstOp::Div => "/",
        AstOp::Rem => "%",
        AstOp::Add => "+",
        AstOp::Sub => "-",
        AstOp::Shl => "<<",
        AstOp::Shr => ">>",
        AstOp::Lt => "<",
        AstOp::Gt => ">",
        AstOp::Le => "<=",
        AstOp::Ge => ">=",
        AstOp::Eq => "==",
        AstOp::Ne => "!=",
        AstOp::BitAnd => "&",
        AstOp::BitXor => "^",
        AstOp::BitOr => "|",
        AstOp::LogAnd => "&&",
        AstOp::LogOr => "||",
    }
}

pub fn ir_op(op: AstOp) -> Option<BinaryOp> {
    Some(match op {
        AstOp::Mul => BinaryOp::Mul,
        AstOp::Div => BinaryOp::Div,
        AstOp::Rem => BinaryOp::Rem,
        AstOp::Add => BinaryOp::Add,
        AstOp::Sub => BinaryOp::Sub,
        AstOp::Shl => BinaryOp::Shl,
        AstOp::Shr => BinaryOp::Shr,
        AstOp::BitAnd => BinaryOp::And,
        AstOp::BitXor => BinaryOp::Xor,
        AstOp::BitOr => BinaryOp::Or,
        _ => return None,
    })
}

fn compare_op(op: AstOp) -> Option<CompareOp> {
    Some(match op {
        AstOp::Lt => CompareOp::Lt,
        AstOp::Gt => CompareOp::Gt,
        AstOp::Le => CompareOp::Le,
        AstOp::Ge => CompareOp::Ge,
        AstOp::Eq => CompareOp::Eq,
        AstOp::Ne => CompareOp::Ne,
        _ => return None,
    })
}

impl<'a> Checker<'a> {
    // --- unary -------------------------------------------------------------------------------

    pub fn unary(
        &mut self,
        op: UnaryOp,
        op_span: Span,
        operand: &'a ast::Expr,
        span: Span,
    ) -> Value<'a> {
        let value = self.expr(operand);
        if op == UnaryOp::AddrOf {
            return self.address_of(value, op_span, span);
        }
        if self.is_error(&value) {
            return self.error_value(span);
        }
        let name = match op {
            UnaryOp::Plus => "operator+",
            UnaryOp::Minus => "operator-",
            UnaryOp::Not => "operator!",
            UnaryOp::BitNot => "operator~",
            UnaryOp::Deref => "operator*",
            UnaryOp::PreInc => "operator++",
            UnaryOp::PreDec => "operator--",
            UnaryOp::AddrOf => "operator&",
        };
        let value = match self.overloaded(name, [value], op_span, span) {
            Ok(result) => return result,
            Err([value]) => value,
        };
        match op {
            UnaryOp::Deref => self.deref(value, op_span, span),
            UnaryOp::PreInc => self.step(value, BinaryOp::Add, true, op_span, span),
            UnaryOp::PreDec => self.step(value, BinaryOp::Sub, true, op_span, span),
            UnaryOp::Not => {
                let cond = self.condition(value);
                let ty = cond.ty;
                let loc = self.loc(span);
                let kind = ExprKind::Unary { op: ir::UnaryOp::Not, operand: Box::new(cond) };
                let expr = self.folded(Expr::new(kind, ty, loc));
                Value::rvalue(expr, Basic::Bool.into(), span)
            }
            _ => self.sign(op, value, op_span, span),
        }
    }

    /// `+x`, `-x`, `~x`.
    fn sign(&mut self, op: UnaryOp, value: Value<'a>, op_span: Span, span: Span) -> Value<'a> {
        let value = self.promote(value);
        if self.is_error(&value) {
            return self.error_value(span);
        }
        let ty = value.ty;
        let fits = match op {
            UnaryOp::BitNot => self.types.is_integer(ty),
            UnaryOp::Plus if self.types.is_pointer(ty) => true,
            _ => self.types.is_arithmetic(ty) || self.types.is_half(ty),
        };
        if !fits {
            let what = if op == UnaryOp::BitNot { "~" } else { "a sign" };
            let message = format!("{} has no operator `{what}`", self.show(ty));
            self.error(Code::E0304, op_span, message.replace("`a sign`", "for a sign"));
            return self.error_value(span);
        }
        let expr = self.expr_of(value);
        let op = match op {
            UnaryOp::Plus => return Value::rvalue(expr, ty, span),
            UnaryOp::Minus => ir::UnaryOp::Neg,
            _ => ir::UnaryOp::BitNot,
        };
        let (ir_ty, loc) = (expr.ty, self.loc(span));
        let kind = ExprKind::Unary { op, operand: Box::new(expr) };
        let expr = self.folded(Expr::new(kind, ir_ty, loc));
        Value::rvalue(expr, ty, span)
    }

    fn deref(&mut self, value: Value<'a>, op_span: Span, span: Span) -> Value<'a> {
        if matches!(value.kind, Kind::Fns(_)) {
            return value;
        }
        let value = self.rvalue(value);
        if self.is_error(&value) {
            return self.error_value(span);
        }
        let Some(pointee) = self.types.pointee(value.ty) else {
            let message = format!("`*` needs a pointer, not {}", self.show(value.ty));
            self.error(Code::E0320, op_span, message);
            return self.error_value(span);
        };
        if self.types.is_void(pointee) {
            let message = "a pointer to `void` cannot be dereferenced";
            self.report(
                Diagnostic::new(Code::E0320, span, message)
                    .help("cast it to a pointer to the type of the object first"),
            );
            return self.error_value(span);
        }
        if self.types.is_function(pointee) {
            return Value { span, ..value };
        }
        let addr = self.expr_of(value);
        Value::lvalue(addr, pointee, span)
    }

    fn address_of(&mut self, value: Value<'a>, op_span: Span, span: Span) -> Value<'a> {
        if self.is_error(&value) {
            return self.error_value(span);
        }
        let what = match &value.kind {
            Kind::Fns(_) => return Value { span, ..value },
            Kind::LValue(_) | Kind::ConstVar(..) | Kind::Pending(_) => None,
            Kind::BitField { .. } => Some("a bit-field has no address".to_owned()),
            Kind::Builtin(variable) => {
                Some(format!("`{}` is a register and has no address", variable.name))
            }
            Kind::RValue(_) => {
                // `&f` of a function reached through a reference or pointer.
                if self.types.pointee(value.ty).is_some_and(|to| self.types.is_function(to)) {
                    None
                } else {
                    Some("`&` needs an object; this is only a value".to_owned())
                }
            }
            Kind::Braces(_) => Some("`&` of a brace-enclosed list".to_owned()),
        };
        if let Some(message) = what {
            self.report(
                Diagnostic::new(Code::E0321, op_span, message)
                    .help("store the value in a variable first"),
            );
            return self.error_value(span);
        }
        self.note_address_taken(&value);
        let ty = self.types.pointer_to(value.ty);
        let addr = self.address(value);
        Value::rvalue(addr, ty, span)
    }

    pub fn postfix(
        &mut self,
        op: PostfixOp,
        op_span: Span,
        operand: &'a ast::Expr,
        span: Span,
    ) -> Value<'a> {
        let value = self.expr(operand);
        if self.is_error(&value) {
            return self.error_value(span);
        }
        let op = match op {
            PostfixOp::Inc => BinaryOp::Add,
            PostfixOp::Dec => BinaryOp::Sub,
        };
        let name = if op == BinaryOp::Add { "operator++" } else { "operator--" };
        let zero = self.int_value(0, Basic::Int.into(), op_span);
        match self.overloaded(name, [value, zero], op_span, span) {
            Ok(result) => result,
            Err([value, _]) => self.step(value, op, false, op_span, span),
        }
    }

    /// `++` and `--`.
    fn step(
        &mut self,
        value: Value<'a>,
        op: BinaryOp,
        prefix: bool,
        op_span: Span,
        span: Span,
    ) -> Value<'a> {
        let word = if op == BinaryOp::Add { "++" } else { "--" };
        if !self.check_assignable(&value, word, op_span) {
            return self.error_value(span);
        }
        let ty = value.ty.unqualified();
        if self.types.is_bool(ty) && op == BinaryOp::Sub {
            let message = format!("`{word}` on a `bool`");
            self.report(
                Diagnostic::new(Code::E0304, op_span, message)
                    .note("C++17 removed it")
                    .help("assign `true` or `false`"),
            );
            return self.error_value(span);
        }
        let fits =
            self.types.is_arithmetic(ty) || self.types.is_half(ty) || self.types.is_pointer(ty);
        if !fits {
            let message = format!("{} has no operator `{word}`", self.show(ty));
            self.error(Code::E0304, op_span, message);
            return self.error_value(span);
        }
        let loc = self.loc(span);
        if let Some(pointee) = self.types.pointee(ty) {
            if !self.check_arithmetic_pointee(pointee, value.span) {
                return self.error_value(span);
            }
            let one = self.int_value(1, Basic::Int.into(), span);
            let one = self.expr_of(one);
            let rhs = self.to_index(one);
            let compute = rhs.ty;
            return self.finish_update(value, op, rhs, compute, prefix, span);
        }
        let compute = self.promoted_type(ty);
        let compute_ir = self.types.ir_type(compute);
        let one = match self.types.basic(compute) {
            Some(basic) if basic.is_floating() || basic.is_half() => self.float_const(1.0, basic),
            _ => Const::Int(1),
        };
        let rhs = Expr::new(ExprKind::Const(one), compute_ir, loc);
        self.finish_update(value, op, rhs, compute_ir, prefix, span)
    }

    /// `value op= rhs`, for an lvalue already judged assignable. After a prefix operator the result
    /// is the lvalue, after a postfix one the old value.
    pub fn finish_update(
        &mut self,
        value: Value<'a>,
        op: BinaryOp,
        rhs: Expr,
        compute: ir::TypeId,
        prefix: bool,
        span: Span,
    ) -> Value<'a> {
        let loc = self.loc(span);
        let ty = value.ty;
        let volatile = ty.is_volatile();
        self.note_changed(&value);
        if let Kind::BitField { base, field } = value.kind {
            return self.update_bits(base, field, ty, (op, rhs, compute), prefix, span);
        }
        let addr = self.address(value);
        if prefix {
            let action = Action::Update { op, rhs, compute };
            let pending = Kind::Pending(Box::new(Pending { addr, action, volatile }));
            return Value::new(pending, ty, span);
        }
        let ir_ty = self.types.ir_type(ty);
        let kind = ExprKind::Update {
            addr: Box::new(addr),
            op,
            rhs: Box::new(rhs),
            compute,
            yields: ir::UpdateYield::Before,
            volatile,
        };
        Value::rvalue(Expr::new(kind, ir_ty, loc), ty.unqualified(), span)
    }

    /// An update of a bit-field, spelled out as a read and a write.
    fn update_bits(
        &mut self,
        base: Expr,
        field: u32,
        ty: QualType,
        (op, rhs, compute): (BinaryOp, Expr, ir::TypeId),
        prefix: bool,
        span: Span,
    ) -> Value<'a> {
        let loc = self.loc(span);
        let volatile = ty.is_volatile();
        let ir_ty = self.types.ir_type(ty);
        let mut effects = Vec::new();
        // The right side comes before the object (C++17 [expr.ass]).
        let rhs = self.kept(rhs, &mut effects, loc);
        let base = if is_simple(&base) { base } else { self.kept(base, &mut effects, loc) };
        let load = ExprKind::LoadBits { base: Box::new(base.clone()), field, volatile };
        let mut old = Expr::new(load, ir_ty, loc);
        let mut before = None;
        if !prefix {
            old = self.kept(old, &mut effects, loc);
            before = Some(old.clone());
        }
        let wide = self.cast(old, compute);
        let kind = ExprKind::Binary { op, lhs: Box::new(wide), rhs: Box::new(rhs) };
        let new = Expr::new(kind, compute, loc);
        let value = self.cast(new, ir_ty);
        let kind =
            ExprKind::StoreBits { base: Box::new(base), field, value: Box::new(value), volatile };
        let store = Expr::new(kind, ir_ty, loc);
        let result = match before {
            Some(before) => {
                effects.push(store);
                self.sequence(effects, before)
            }
            None if effects.is_empty() => store,
            None => self.sequence(effects, store),
        };
        Value::rvalue(result, ty.unqualified(), span)
    }

    // --- binary ------------------------------------------------------------------------------

    pub fn binary(
        &mut self,
        op: AstOp,
        op_span: Span,
        lhs: &'a ast::Expr,
        rhs: &'a ast::Expr,
        span: Span,
    ) -> Value<'a> {
        let left = self.expr(lhs);
        if matches!(op, AstOp::LogAnd | AstOp::LogOr) {
            return self.logical(op, left, rhs, op_span, span);
        }
        let right = self.expr(rhs);
        if self.is_error(&left) || self.is_error(&right) {
            return self.error_value(span);
        }
        let name = operator_name(op);
        match self.overloaded(name, [left, right], op_span, span) {
            Ok(result) => result,
            Err([left, right]) => self.binary_values(op, left, right, op_span, span),
        }
    }

    fn logical(
        &mut self,
        op: AstOp,
        left: Value<'a>,
        rhs: &'a ast::Expr,
        op_span: Span,
        span: Span,
    ) -> Value<'a> {
        let and = op == AstOp::LogAnd;
        if self.types.record_id(left.ty).is_some() {
            let right = self.expr(rhs);
            return match self.overloaded(operator_name(op), [left, right], op_span, span) {
                Ok(result) => result,
                Err(args) => {
                    for arg in args {
                        self.condition(arg);
                    }
                    self.error_value(span)
                }
            };
        }
        let left = self.condition(left);
        let right = self.expr(rhs);
        let right = self.condition(right);
        let (ty, loc) = (self.types.ir.bool(), self.loc(span));
        let kind = ExprKind::Logical { and, lhs: Box::new(left), rhs: Box::new(right) };
        Value::rvalue(Expr::new(kind, ty, loc), Basic::Bool.into(), span)
    }

    /// A builtin binary operator on checked operands.
    pub fn binary_values(
        &mut self,
        op: AstOp,
        left: Value<'a>,
        right: Value<'a>,
        op_span: Span,
        span: Span,
    ) -> Value<'a> {
        if let Some(compare) = compare_op(op) {
            return self.compare(compare, op, left, right, op_span, span);
        }
        let left = self.promote(left);
        let right = self.promote(right);
        if self.is_error(&left) || self.is_error(&right) {
            return self.error_value(span);
        }
        let pointers = (self.types.pointee(left.ty), self.types.pointee(right.ty));
        match (op, pointers) {
            (AstOp::Add, (Some(_), None)) => self.offset(left, right, false, op_span, span),
            (AstOp::Add, (None, Some(_))) => self.offset(right, left, false, op_span, span),
            (AstOp::Sub, (Some(_), None)) => self.offset(left, right, true, op_span, span),
            (AstOp::Sub, (Some(a), Some(b))) if a.id == b.id => {
                self.difference(left, right, a, span)
            }
            _ => self.arithmetic(op, left, right, op_span, span),
        }
    }

    pub fn bad_operands(
        &mut self,
        op: AstOp,
        left: QualType,
        right: QualType,
        op_span: Span,
        span: Span,
    ) -> Value<'a> {
        let text = op_text(op);
        let message =
            format!("no operator `{text}` for {} and {}", self.show(left), self.show(right));
        let mut diagnostic = Diagnostic::new(Code::E0304, op_span, message);
        let class = |ty| self.types.record_id(ty).is_some();
        if class(left) || class(right) {
            let help = format!("define a function `operator{text}` for these types");
            diagnostic = diagnostic.help(help);
        } else if self.types.is_half(left) || self.types.is_half(right) {
            diagnostic = diagnostic
                .note("CUDA's 16-bit types have operators for two operands of one type only")
                .help("convert one operand, for example with `__float2half` or `__half2float`");
        } else if self.types.is_scoped_enum(left) || self.types.is_scoped_enum(right) {
            diagnostic = diagnostic.help("cast the scoped enumeration to an integer");
        } else if op == AstOp::Rem
            && (self.types.is_floating(left) || self.types.is_floating(right))
        {
            diagnostic = diagnostic.help("use `fmod` or `fmodf`");
        }
        self.report(diagnostic);
        self.error_value(span)
    }

    fn arithmetic(
        &mut self,
        op: AstOp,
        left: Value<'a>,
        right: Value<'a>,
        op_span: Span,
        span: Span,
    ) -> Value<'a> {
        let Some(ir_op) = ir_op(op) else { return self.error_value(span) };
        let shift = matches!(op, AstOp::Shl | AstOp::Shr);
        let integer_only =
            shift || matches!(op, AstOp::Rem | AstOp::BitAnd | AstOp::BitOr | AstOp::BitXor);
        let (a, b) = (left.ty, right.ty);
        let both = |test: &dyn Fn(QualType) -> bool| test(a) && test(b);
        let half = both(&|ty| self.types.is_half(ty)) && a.id == b.id && !integer_only;
        let fits = if integer_only {
            both(&|ty| self.types.is_integer(ty))
        } else {
            half || both(&|ty| self.types.is_arithmetic(ty))
        };
        if !fits {
            return self.bad_operands(op, a, b, op_span, span);
        }
        let right_span = right.span;
        let (left, right) = (self.expr_of(left), self.expr_of(right));
        self.warn_bad_right_operand(op, a, &right, right_span);
        let ty = if shift || half { a } else { self.usual_type(a, b) };
        let ir_ty = self.types.ir_type(ty);
        let (left, right) =
            if shift { (left, right) } else { (self.cast(left, ir_ty), self.cast(right, ir_ty)) };
        let loc = self.loc(span);
        let kind = ExprKind::Binary { op: ir_op, lhs: Box::new(left), rhs: Box::new(right) };
        let expr = self.folded(Expr::new(kind, ir_ty, loc));
        Value::rvalue(expr, ty, span)
    }

    /// Division by a constant zero, shifts by a constant out of range.
    pub fn warn_bad_right_operand(&mut self, op: AstOp, left: QualType, right: &Expr, span: Span) {
        if self.unevaluated > 0 || !self.types.ir.is_integer(right.ty) {
            return;
        }
        let interesting = matches!(op, AstOp::Div | AstOp::Rem | AstOp::Shl | AstOp::Shr);
        if !interesting || !matches!(right.kind, ExprKind::Const(_)) {
            return;
        }
        let Some(value) = self.const_int_value(right) else { return };
        if matches!(op, AstOp::Div | AstOp::Rem) {
            if value == 0 && self.types.is_integer(left) {
                self.report(Diagnostic::new(Code::W0703, span, "division by zero"));
            }
            return;
        }
        let Some(basic) = self.types.basic(left) else { return };
        let (bits, _) = self.types.int_bits(basic);
        if value < 0 || value >= i128::from(bits) {
            let message = format!("a shift by {value}, where the value has {bits} bits");
            self.report(
                Diagnostic::new(Code::W0704, span, message)
                    .note("the result of such a shift is undefined"),
            );
        }
    }

    /// Pointer plus or minus an integer.
    fn offset(
        &mut self,
        pointer: Value<'a>,
        count: Value<'a>,
        negative: bool,
        op_span: Span,
        span: Span,
    ) -> Value<'a> {
        if !self.types.is_integer(count.ty) {
            let op = if negative { AstOp::Sub } else { AstOp::Add };
            return self.bad_operands(op, pointer.ty, count.ty, op_span, span);
        }
        let ty = pointer.ty;
        let pointee = self.types.pointee(ty).unwrap_or(Basic::Error.into());
        if !self.check_arithmetic_pointee(pointee, pointer.span) {
            return self.error_value(span);
        }
        let base = self.expr_of(pointer);
        let count = self.expr_of(count);
        let mut index = self.to_index(count);
        let loc = self.loc(span);
        if negative {
            let ty = index.ty;
            let kind = ExprKind::Unary { op: ir::UnaryOp::Neg, operand: Box::new(index) };
            index = self.folded(Expr::new(kind, ty, loc));
        }
        let expr = self.index_addr(base, index, loc);
        Value::rvalue(expr, ty, span)
    }

    fn difference(
        &mut self,
        left: Value<'a>,
        right: Value<'a>,
        pointee: QualType,
        span: Span,
    ) -> Value<'a> {
        if !self.check_arithmetic_pointee(pointee, left.span) {
            return self.error_value(span);
        }
        let (left, right) = (self.expr_of(left), self.expr_of(right));
        let right = self.cast(right, left.ty);
        let ty = self.types.ptrdiff_t();
        let (ir_ty, loc) = (self.types.ir_type(ty), self.loc(span));
        let kind = ExprKind::PointerDiff { lhs: Box::new(left), rhs: Box::new(right) };
        Value::rvalue(Expr::new(kind, ir_ty, loc), ty, span)
    }

    fn compare(
        &mut self,
        op: CompareOp,
        ast_op: AstOp,
        left: Value<'a>,
        right: Value<'a>,
        op_span: Span,
        span: Span,
    ) -> Value<'a> {
        let declared = [left.ty, right.ty];
        // Scoped enumerations compare among themselves, in their underlying type.
        let scoped = left.ty.id == right.ty.id && self.types.is_scoped_enum(left.ty);
        let (left, right) = if scoped {
            (self.rvalue(left), self.rvalue(right))
        } else {
            (self.promote(left), self.promote(right))
        };
        if self.is_error(&left) || self.is_error(&right) {
            return self.error_value(span);
        }
        let Some(common) = self.compare_type(&left, &right, op) else {
            return self.bad_operands(ast_op, left.ty, right.ty, op_span, span);
        };
        self.warn_sign_compare(&left, &right, common, op_span);
        let ir_ty = self.types.ir_type(common);
        let (left, right) = (self.expr_of(left), self.expr_of(right));
        self.warn_constant_compare(
            op,
            [(declared[0], &left), (declared[1], &right)],
            common,
            op_span,
        );
        let (left, right) = (self.cast(left, ir_ty), self.cast(right, ir_ty));
        let (bool_ty, loc) = (self.types.ir.bool(), self.loc(span));
        let kind = ExprKind::Compare { op, lhs: Box::new(left), rhs: Box::new(right) };
        let expr = self.folded(Expr::new(kind, bool_ty, loc));
        Value::rvalue(expr, Basic::Bool.into(), span)
    }

    fn compare_type(
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
            _ => None,
        }
    }

    /// A negative constant compared with an unsigned value.
    fn warn_sign_compare(
        &mut self,
        left: &Value<'a>,
        right: &Value<'a>,
        common: QualType,
        op_span: Span,
    ) {
        let Some(basic) = self.types.basic(common) else { return };
        if self.unevaluated > 0 || basic.is_signed() || !basic.is_integer() {
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
                self.report(
                    Diagnostic::new(Code::W0705, op_span, message)
                        .secondary(side.span, "this is converted to an unsigned type"),
                );
            }
        }
    }
}

fn operator_name(op: AstOp) -> &'static str {
    match op {
        AstOp::Mul => "operator*",
        AstOp::Div => "operator/",
        AstOp::Rem => "operator%",
        AstOp::Add => "operator+",
        AstOp::Sub => "operator-",
        AstOp::Shl => "operator<<",
        AstOp::Shr => "operator>>",
        AstOp::Lt => "operator<",
        AstOp::Gt => "operator>",
        AstOp::Le => "operator<=",
        AstOp::Ge => "operator>=",
        AstOp::Eq => "operator==",
        AstOp::Ne => "operator!=",
        AstOp::BitAnd => "operator&",
        AstOp::BitXor => "operator^",
        AstOp::BitOr => "operator|",
        AstOp::LogAnd => "operator&&",
        AstOp::LogOr => "operator||",
    }
}
