//! Operators: unary and binary. Assignment, comma and `?:` are in `assign`; operators of class types
//! are calls of free functions (`overload`).

use cdp_ir as ir;
use cdp_ir::{BinaryOp, CompareOp, Const, Expr, ExprKind};

use super::at::At;
use super::ctype::{Basic, QualType};
use super::state::Checker;
use super::value::{Action, Checked, Kind, Pending, Value};
use crate::ast::{self, BinaryOp as AstOp, PostfixOp, UnaryOp};
use crate::diagnostics::Code;
use crate::source::Span;

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

pub(super) fn compare_op(op: AstOp) -> Option<CompareOp> {
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

    pub fn unary(&mut self, unary: &'a ast::UnaryExpr, span: Span) -> Checked<'a> {
        let (op, at) = (unary.op, At { op: unary.op_span, whole: span });
        let value = self.expr(&unary.operand);
        value.sound(&self.types)?;
        let value = match self.overloaded(&[op.text()], [value], at) {
            Ok(result) => return result,
            Err([value]) => value,
        };
        match op {
            UnaryOp::AddrOf => self.address_of(value, at),
            UnaryOp::Deref => self.deref(value, at),
            UnaryOp::PreInc => self.step(value, BinaryOp::Add, true, at),
            UnaryOp::PreDec => self.step(value, BinaryOp::Sub, true, at),
            UnaryOp::Not => {
                let cond = self.condition(value);
                let ty = cond.ty;
                let loc = self.loc(at.whole);
                let kind = ExprKind::Unary { op: ir::UnaryOp::Not, operand: Box::new(cond) };
                let expr = self.folded(Expr::new(kind, ty, loc));
                Some(Value::rvalue(expr, Basic::Bool.into(), at.whole))
            }
            _ => self.sign(op, value, at),
        }
    }

    /// `+x`, `-x`, `~x`.
    fn sign(&mut self, op: UnaryOp, value: Value<'a>, at: At) -> Checked<'a> {
        let value = self.promote(value);
        value.sound(&self.types)?;
        let ty = value.ty;
        let fits = match op {
            UnaryOp::BitNot => self.types.is_integer(ty),
            UnaryOp::Plus if self.types.is_pointer(ty) => true,
            _ => self.types.is_arithmetic(ty) || self.types.is_half(ty),
        };
        if !fits {
            let what = if op == UnaryOp::BitNot { "~" } else { "a sign" };
            let message = format!("{} has no operator `{what}`", self.show(ty));
            self.error(Code::E0304, at.op, message.replace("`a sign`", "for a sign"));
            return None;
        }
        let expr = self.expr_of(value);
        let op = match op {
            UnaryOp::Plus => return Some(Value::rvalue(expr, ty, at.whole)),
            UnaryOp::Minus => ir::UnaryOp::Neg,
            _ => ir::UnaryOp::BitNot,
        };
        let (ir_ty, loc) = (expr.ty, self.loc(at.whole));
        let kind = ExprKind::Unary { op, operand: Box::new(expr) };
        let expr = self.folded(Expr::new(kind, ir_ty, loc));
        Some(Value::rvalue(expr, ty, at.whole))
    }

    fn deref(&mut self, value: Value<'a>, at: At) -> Checked<'a> {
        if matches!(value.kind, Kind::Fns(_)) {
            return Some(value);
        }
        let value = self.rvalue(value);
        value.sound(&self.types)?;
        let Some(pointee) = self.types.pointee(value.ty) else {
            let message = format!("`*` needs a pointer, not {}", self.show(value.ty));
            self.error(Code::E0320, at.op, message);
            return None;
        };
        if self.types.is_void(pointee) {
            let message = "a pointer to `void` cannot be dereferenced";
            self.error(Code::E0320, at.whole, message)
                .help("cast it to a pointer to the type of the object first");
            return None;
        }
        if self.types.is_function(pointee) {
            return Some(Value { span: at.whole, ..value });
        }
        let addr = self.expr_of(value);
        Some(Value::lvalue(addr, pointee, at.whole))
    }

    fn address_of(&mut self, value: Value<'a>, at: At) -> Checked<'a> {
        let what = match &value.kind {
            Kind::Fns(_) => return Some(Value { span: at.whole, ..value }),
            _ if value.expiring => Some("`&` of an rvalue reference's object".to_owned()),
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
            self.error(Code::E0321, at.op, message).help("store the value in a variable first");
            return None;
        }
        let ty = self.types.pointer_to(value.ty);
        let addr = self.address(value);
        Some(Value::rvalue(addr, ty, at.whole))
    }

    pub fn postfix(&mut self, postfix: &'a ast::PostfixExpr, span: Span) -> Checked<'a> {
        let (op, at) = (postfix.op, At { op: postfix.op_span, whole: span });
        let value = self.expr(&postfix.operand);
        value.sound(&self.types)?;
        let op = match op {
            PostfixOp::Inc => BinaryOp::Add,
            PostfixOp::Dec => BinaryOp::Sub,
        };
        let name = if op == BinaryOp::Add { "++" } else { "--" };
        let zero = self.int_value(0, Basic::Int.into(), at.op);
        match self.overloaded(&[name], [value, zero], at) {
            Ok(result) => result,
            Err([value, _]) => self.step(value, op, false, at),
        }
    }

    /// `++` and `--`.
    fn step(&mut self, value: Value<'a>, op: BinaryOp, prefix: bool, at: At) -> Checked<'a> {
        let word = if op == BinaryOp::Add { "++" } else { "--" };
        self.check_assignable(&value, word)?;
        let ty = value.ty.unqualified();
        if self.types.is_bool(ty) && op == BinaryOp::Sub {
            let message = format!("`{word}` on a `bool`");
            self.error(Code::E0304, at.op, message)
                .note("C++17 removed it")
                .help("assign `true` or `false`");
            return None;
        }
        let fits =
            self.types.is_arithmetic(ty) || self.types.is_half(ty) || self.types.is_pointer(ty);
        if !fits {
            let message = format!("{} has no operator `{word}`", self.show(ty));
            self.error(Code::E0304, at.op, message);
            return None;
        }
        let loc = self.loc(at.whole);
        if let Some(pointee) = self.types.pointee(ty) {
            self.check_stepped_pointee(pointee, value.span)?;
            let one = self.int_value(1, Basic::Int.into(), at.whole);
            let one = self.expr_of(one);
            let rhs = self.to_index(one);
            let compute = rhs.ty;
            return Some(self.finish_update(value, op, rhs, compute, prefix, at.whole));
        }
        let compute = self.promoted_type(ty);
        let compute_ir = self.types.ir_type(compute);
        let one = match self.types.basic(compute) {
            Some(basic) if basic.is_floating() || basic.is_half() => self.float_const(1.0, basic),
            _ => Const::Int(1),
        };
        let rhs = Expr::new(ExprKind::Const(one), compute_ir, loc);
        Some(self.finish_update(value, op, rhs, compute_ir, prefix, at.whole))
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
        self.warn_unset(&value, true);
        let promoted = self.bit_promotion(&value);
        if let Kind::BitField { base, field } = value.kind {
            let made = self.update_bits(base, field, ty, (op, rhs, compute), prefix, span);
            return Value { promoted, ..made };
        }
        let addr = self.address(value);
        if prefix {
            let action = Action::Update { op, rhs, compute };
            let pending = Kind::Pending(Box::new(Pending { addr, action, volatile }));
            return Value::new(pending, ty, span);
        }
        let yields = ir::UpdateYield::Before;
        let made = self.update(addr, (op, rhs, compute), yields, volatile, loc);
        Value::rvalue(made, ty.unqualified(), span)
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
        let base = self.kept_place(base, &mut effects, loc);
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
}
