//! GNU's `__builtin_` functions that look at the types of their arguments: `__builtin_constant_p`
//! and the arithmetic that tells of overflow. Those of variable arguments are in `variadic`; the
//! others are rows of the function tables.

use cdp_ir as ir;
use cdp_ir::{BinaryOp, CompareOp, Expr, ExprKind};

use super::at::CallAt;
use super::ctype::{Basic, QualType};
use super::state::Checker;
use super::value::{Checked, Kind, Value};
use crate::ast;
use crate::diagnostics::Code;
use crate::source::Span;

/// The operation of `__builtin_saddll_overflow` and its like.
fn overflow_op(text: &str) -> Option<BinaryOp> {
    let word = text.strip_prefix("__builtin_")?.strip_suffix("_overflow")?;
    let word = match word.strip_prefix(['s', 'u']) {
        Some(typed) if typed.len() >= 3 => typed.trim_end_matches('l'),
        _ => word,
    };
    // `mul` keeps its own letter.
    match word {
        "add" => Some(BinaryOp::Add),
        "sub" => Some(BinaryOp::Sub),
        "mul" | "mu" => Some(BinaryOp::Mul),
        _ => None,
    }
}

impl<'a> Checker<'a> {
    /// A call of one of these functions by name; `None` for any other.
    pub fn gnu_call(
        &mut self,
        callee: &'a ast::Expr,
        args: &'a [ast::Expr],
        at: CallAt,
    ) -> Option<Checked<'a>> {
        let ast::ExprKind::Name(name) = callee.kind else { return None };
        let text = self.text(name);
        if !text.starts_with("__builtin_") {
            return None;
        }
        if text == "__builtin_constant_p" {
            return Some(self.constant_p(args, at));
        }
        if let Some(op) = super::variadic::list_op(text) {
            let word = text.trim_start_matches("__builtin_").to_owned();
            return Some(self.va_call(op, &word, args, at));
        }
        let op = overflow_op(text)?;
        let text = text.to_owned();
        if self.on_device() {
            let message = format!("`{text}` belongs to host compilers");
            self.error(Code::E0603, callee.span, message)
                .help("compute in a wider type and compare");
            return Some(None);
        }
        Some(self.overflow(&text, op, args, at))
    }

    /// 1 when the argument is a constant expression; it is not evaluated.
    fn constant_p(&mut self, args: &'a [ast::Expr], at: CallAt) -> Checked<'a> {
        self.check_count("__builtin_constant_p", args.len(), 1, 1, false, at.args, Span::NONE)?;
        self.around.unevaluated += 1;
        let value = self.expr(&args[0]);
        let value = self.rvalue(value);
        self.around.unevaluated -= 1;
        let known = match &value.kind {
            Kind::RValue(expr) => self.const_eval(expr).is_some() || value.string.is_some(),
            _ => false,
        };
        Some(self.int_value(i128::from(known), Basic::Int.into(), at.whole))
    }

    /// `*r = (T)(a op b)`, and whether that lost anything. The operation is done in 128 bits, which
    /// hold every result.
    fn overflow(
        &mut self,
        name: &str,
        op: BinaryOp,
        args: &'a [ast::Expr],
        at: CallAt,
    ) -> Checked<'a> {
        self.check_count(name, args.len(), 3, 3, false, at.args, Span::NONE)?;
        let (Some((a, a_ty)), Some((b, b_ty))) =
            (self.overflow_operand(&args[0], name), self.overflow_operand(&args[1], name))
        else {
            return None;
        };
        let pointer = self.expr(&args[2]);
        let pointer = self.rvalue(pointer);
        let target = self.types.pointee(pointer.ty).filter(|&to| self.types.is_integer(to));
        let Some(target) = target.filter(|to| !to.is_const()) else {
            if !self.is_error(&pointer) {
                let message = format!("argument 3 of `{name}` points to no integer");
                self.error(Code::E0303, args[2].span, message);
            }
            return None;
        };
        let loc = self.loc(at.whole);
        let signed =
            [a_ty, b_ty].into_iter().any(|ty| self.types.basic(ty).is_some_and(Basic::is_signed));
        let wide = self.types.ir.int(128, signed || op == BinaryOp::Sub);
        let target = self.types.ir_type(target);
        let mut effects = Vec::new();
        let (a, b) = (self.cast(a, wide), self.cast(b, wide));
        let kind = ExprKind::Binary { op, lhs: Box::new(a), rhs: Box::new(b) };
        let exact = self.kept(Expr::new(kind, wide, loc), &mut effects, loc);
        let cut = self.cast(exact.clone(), target);
        let pointer = self.expr_of(pointer);
        effects.push(self.store(pointer, cut.clone(), false, loc));
        let again = self.cast(cut, wide);
        let bool_ty = self.types.ir.bool();
        let kind =
            ExprKind::Compare { op: CompareOp::Ne, lhs: Box::new(again), rhs: Box::new(exact) };
        let lost = Expr::new(kind, bool_ty, loc);
        let value = self.sequence(effects, lost);
        Some(Value::rvalue(value, Basic::Bool.into(), at.whole))
    }

    fn overflow_operand(&mut self, arg: &'a ast::Expr, name: &str) -> Option<(ir::Expr, QualType)> {
        let value = self.expr(arg);
        let value = self.rvalue(value);
        value.sound(&self.types)?;
        let ty = value.ty;
        if !self.types.is_integer(ty) || self.types.layout(ty).size > 8 {
            let message = format!("an operand of `{name}` is {}", self.show(ty));
            self.error(Code::E0303, arg.span, message)
                .help("integers of up to 64 bits are computed with");
            return None;
        }
        Some((self.expr_of(value), ty))
    }
}
