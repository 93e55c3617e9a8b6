//! Constant expressions: evaluation of IR to constants, exactly as the machine types say.
//!
//! Working on the IR instead of the syntax tree, conversions are already explicit and one
//! evaluator serves array bounds, `case` labels, static initialisers and launch configurations.

use cdp_ir::{
    BinaryOp, CastKind, CompareOp, Const, Expr, ExprKind, FloatKind, Type, TypeId, UnaryOp,
};

use super::ctype::{Basic, QualType};
use super::float16;
use super::state::Checker;
use super::value::is_poisoned;
use crate::ast;
use crate::diagnostics::{Code, Diagnostic};

/// Truncates to a width and extends by the signedness.
pub fn wrap_int(value: i128, bits: u8, signed: bool) -> i128 {
    if bits >= 128 {
        return value;
    }
    let mask = (1i128 << bits) - 1;
    let low = value & mask;
    if signed && low >> (bits - 1) & 1 == 1 { low | !mask } else { low }
}

impl<'a> Checker<'a> {
    /// An integral constant expression and its type; reports what is not one. `what` names it in
    /// the message ("an array bound").
    pub fn const_integer(&mut self, expr: &'a ast::Expr, what: &str) -> Option<(i128, QualType)> {
        let value = self.expr(expr);
        if self.is_error(&value) {
            return None;
        }
        let value = self.rvalue(value);
        if self.is_error(&value) {
            return None;
        }
        let ty = value.ty;
        if !self.types.is_integer(ty) && self.types.enum_id(ty).is_none() {
            let message = format!("{what} is an integer, not {}", self.show(ty));
            self.error(Code::E0310, expr.span, message);
            return None;
        }
        let super::value::Kind::RValue(ir) = &value.kind else { return None };
        match self.const_eval(ir) {
            Some(Const::Int(value)) => Some((value, ty)),
            Some(Const::Zero) => Some((0, ty)),
            _ if is_poisoned(ir) => None,
            _ => {
                let reason = self.why_not_constant(ir);
                let mut diagnostic = Diagnostic::new(
                    Code::E0310,
                    expr.span,
                    format!("{what} must be a constant expression"),
                );
                if let Some(reason) = reason {
                    diagnostic = diagnostic.note(reason);
                }
                self.report(diagnostic);
                None
            }
        }
    }

    /// What in an expression is no constant, in words.
    pub fn why_not_constant(&self, expr: &Expr) -> Option<String> {
        match &expr.kind {
            ExprKind::Load { addr, .. } => match &addr.kind {
                ExprKind::LocalAddr(local) => {
                    let name = &self.f.locals.get(local.0 as usize)?.name;
                    Some(format!("the value of `{name}` is not known when compiling"))
                }
                ExprKind::GlobalAddr(global) => {
                    let name = &self.module.globals.get(global.0 as usize)?.name;
                    Some(format!("the value of `{name}` is not known when compiling"))
                }
                _ => Some("it reads memory".into()),
            },
            ExprKind::Call { .. } | ExprKind::RuntimeCall { .. } => {
                Some("it calls a function".into())
            }
            ExprKind::Store { .. } | ExprKind::Update { .. } => {
                Some("it changes a variable".into())
            }
            ExprKind::Binary { op: BinaryOp::Div | BinaryOp::Rem, rhs, .. }
                if matches!(self.const_eval(rhs), Some(Const::Int(0) | Const::Zero)) =>
            {
                Some("it divides by zero".into())
            }
            _ => {
                let mut reason = None;
                cdp_ir::for_each_child(expr, &mut |child| {
                    if reason.is_none() && self.const_eval(child).is_none() {
                        reason = self.why_not_constant(child);
                    }
                });
                reason
            }
        }
    }

    /// The integer value of a constant expression, if it is one.
    pub fn const_int_value(&self, expr: &Expr) -> Option<i128> {
        match self.const_eval(expr)? {
            Const::Int(value) => Some(value),
            Const::Zero if self.types.ir.is_integer(expr.ty) => Some(0),
            _ => None,
        }
    }

    /// Evaluates an expression to a constant; `None` when it is not constant.
    pub fn const_eval(&self, expr: &Expr) -> Option<Const> {
        match &expr.kind {
            ExprKind::Const(value) => Some(value.clone()),
            ExprKind::GlobalAddr(global) => Some(Const::GlobalAddr { global: *global, offset: 0 }),
            ExprKind::FunctionAddr(function) => Some(Const::FunctionAddr(*function)),
            ExprKind::Load { addr, volatile: false } => self.eval_load(addr),
            ExprKind::FieldAddr { .. } | ExprKind::IndexAddr { .. } => self.eval_address(expr),
            ExprKind::PointerDiff { lhs, rhs } => self.eval_difference(lhs, rhs),
            ExprKind::Extract { record, field } => {
                let record_ty = record.ty;
                let value = self.const_eval(record)?;
                self.field_of(&value, record_ty, *field)
            }
            ExprKind::MakeRecord(fields) => {
                let fields = fields
                    .iter()
                    .map(|(index, value)| Some((*index, self.const_eval(value)?)))
                    .collect::<Option<Vec<_>>>()?;
                Some(Const::Record(fields))
            }
            ExprKind::Unary { op, operand } => {
                let value = self.const_eval(operand)?;
                self.eval_unary(*op, value, expr.ty)
            }
            ExprKind::Binary { op, lhs, rhs } => {
                let (a, b) = (self.const_eval(lhs)?, self.const_eval(rhs)?);
                self.eval_binary(*op, a, b, expr.ty)
            }
            ExprKind::Compare { op, lhs, rhs } => {
                let (a, b) = (self.const_eval(lhs)?, self.const_eval(rhs)?);
                self.eval_compare(*op, a, b, lhs.ty).map(|yes| Const::Int(i128::from(yes)))
            }
            ExprKind::Logical { and, lhs, rhs } => {
                let first = self.truth(lhs)?;
                if first != *and {
                    return Some(Const::Int(i128::from(first)));
                }
                Some(Const::Int(i128::from(self.truth(rhs)?)))
            }
            ExprKind::Select { cond, then, otherwise } => {
                if self.truth(cond)? {
                    self.const_eval(then)
                } else {
                    self.const_eval(otherwise)
                }
            }
            ExprKind::Cast { kind, operand } => {
                let value = self.const_eval(operand)?;
                self.eval_cast(*kind, value, operand.ty, expr.ty)
            }
            ExprKind::Sequence { effects, value } if effects.is_empty() => self.const_eval(value),
            ExprKind::Intrinsic { op, args } => self.eval_intrinsic(*op, args, expr.ty),
            _ => None,
        }
    }

    /// A condition's constant value.
    pub fn truth(&self, expr: &Expr) -> Option<bool> {
        match self.const_eval(expr)? {
            Const::Int(value) => Some(value != 0),
            Const::Zero => Some(false),
            _ => None,
        }
    }

    fn eval_load(&self, addr: &Expr) -> Option<Const> {
        match &addr.kind {
            ExprKind::LocalAddr(local) => {
                self.f.facts.get(local.0 as usize).and_then(|facts| facts.value.clone())
            }
            ExprKind::GlobalAddr(global) => self.const_globals.get(&global.0).cloned(),
            ExprKind::FieldAddr { base, field } => {
                let record_ty = self.types.ir.pointee(base.ty)?;
                let record = self.eval_load(base)?;
                self.field_of(&record, record_ty, *field)
            }
            ExprKind::IndexAddr { base, index } => {
                let index = self.const_int_value(index)?;
                let elem = self.types.ir.pointee(base.ty)?;
                let ExprKind::Cast { kind: CastKind::PointerToPointer, operand } = &base.kind
                else {
                    return None;
                };
                let array_ty = self.types.ir.pointee(operand.ty)?;
                let Type::Array { elem: array_elem, len } = *self.types.ir.get(array_ty) else {
                    return None;
                };
                if array_elem != elem || index < 0 || index >= i128::from(len) {
                    return None;
                }
                let array = self.eval_load(operand)?;
                self.element_of(&array, index as u64)
            }
            _ => None,
        }
    }

    fn element_of(&self, array: &Const, index: u64) -> Option<Const> {
        match array {
            Const::Zero => Some(Const::Zero),
            Const::Array(items) => Some(items.get(index as usize).cloned().unwrap_or(Const::Zero)),
            Const::Bytes(bytes) => {
                let byte = bytes.get(index as usize).copied().unwrap_or(0);
                Some(Const::Int(i128::from(byte as i8)))
            }
            _ => None,
        }
    }

    fn field_of(&self, record: &Const, record_ty: TypeId, field: u32) -> Option<Const> {
        let Type::Record(id) = self.types.ir.get(record_ty) else { return None };
        let is_union = self.types.ir.record(*id).kind == cdp_ir::RecordKind::Union;
        match record {
            Const::Zero => Some(Const::Zero),
            Const::Record(fields) => {
                match fields.iter().find(|(index, _)| *index == field) {
                    Some((_, value)) => Some(value.clone()),
                    // Reading another member of a union is no constant expression.
                    None if is_union => None,
                    None => Some(Const::Zero),
                }
            }
            _ => None,
        }
    }

    fn eval_address(&self, expr: &Expr) -> Option<Const> {
        let (base, bytes) = match &expr.kind {
            ExprKind::FieldAddr { base, field } => {
                let record_ty = self.types.ir.pointee(base.ty)?;
                let Type::Record(id) = self.types.ir.get(record_ty) else { return None };
                let offset = self.types.ir.record(*id).fields.get(*field as usize)?.offset;
                (base, i64::try_from(offset).ok()?)
            }
            ExprKind::IndexAddr { base, index } => {
                let size = self.types.ir.layout(self.types.ir.pointee(base.ty)?).size;
                let index = self.const_int_value(index)?;
                let bytes = index.checked_mul(i128::from(size))?;
                (base, i64::try_from(bytes).ok()?)
            }
            _ => return None,
        };
        match self.const_eval(base)? {
            Const::GlobalAddr { global, offset } => {
                Some(Const::GlobalAddr { global, offset: offset.checked_add(bytes)? })
            }
            Const::Int(address) => Some(Const::Int(address.checked_add(i128::from(bytes))?)),
            Const::Zero => Some(Const::Int(i128::from(bytes))),
            _ => None,
        }
    }

    fn eval_difference(&self, lhs: &Expr, rhs: &Expr) -> Option<Const> {
        let size = i128::from(self.types.ir.layout(self.types.ir.pointee(lhs.ty)?).size);
        let (a, b) = (self.const_eval(lhs)?, self.const_eval(rhs)?);
        let bytes = match (a, b) {
            (
                Const::GlobalAddr { global: a, offset: at },
                Const::GlobalAddr { global: b, offset: from },
            ) if a == b => i128::from(at) - i128::from(from),
            (Const::Int(a), Const::Int(b)) => a - b,
            _ => return None,
        };
        (size != 0).then(|| Const::Int(bytes / size))
    }

    fn eval_unary(&self, op: UnaryOp, value: Const, ty: TypeId) -> Option<Const> {
        match (self.types.ir.get(ty), op) {
            (Type::Float(kind), UnaryOp::Neg) => {
                let sign = 1u64 << (kind.bytes() * 8 - 1);
                Some(Const::Float(float_bits(&value)? ^ sign))
            }
            (Type::Bool, UnaryOp::Not) => Some(Const::Int(i128::from(int_of(&value)? == 0))),
            (Type::Int { bits, signed }, UnaryOp::Neg) => {
                Some(Const::Int(wrap_int(int_of(&value)?.wrapping_neg(), *bits, *signed)))
            }
            (Type::Int { bits, signed }, UnaryOp::BitNot) => {
                Some(Const::Int(wrap_int(!int_of(&value)?, *bits, *signed)))
            }
            _ => None,
        }
    }

    fn eval_binary(&self, op: BinaryOp, a: Const, b: Const, ty: TypeId) -> Option<Const> {
        match self.types.ir.get(ty) {
            Type::Float(kind) => {
                let (a, b) = (float_of(&a, *kind)?, float_of(&b, *kind)?);
                float_binary(op, a, b, *kind)
            }
            Type::Bool => {
                let (a, b) = (int_of(&a)?, int_of(&b)?);
                let value = match op {
                    BinaryOp::And => a & b,
                    BinaryOp::Or => a | b,
                    BinaryOp::Xor => a ^ b,
                    _ => return None,
                };
                Some(Const::Int(value & 1))
            }
            Type::Int { bits, signed } => {
                let (bits, signed) = (*bits, *signed);
                let (a, b) = (int_of(&a)?, int_of(&b)?);
                int_binary(op, a, b, bits, signed)
                    .map(|value| Const::Int(wrap_int(value, bits, signed)))
            }
            _ => None,
        }
    }

    fn eval_compare(&self, op: CompareOp, a: Const, b: Const, ty: TypeId) -> Option<bool> {
        if let Type::Float(kind) = self.types.ir.get(ty) {
            let (a, b) = (float_of(&a, *kind)?, float_of(&b, *kind)?);
            return Some(match op {
                CompareOp::Eq => a == b,
                CompareOp::Ne => a != b,
                CompareOp::Lt => a < b,
                CompareOp::Le => a <= b,
                CompareOp::Gt => a > b,
                CompareOp::Ge => a >= b,
            });
        }
        let order = match (&a, &b) {
            (
                Const::GlobalAddr { global: a, offset: x },
                Const::GlobalAddr { global: b, offset: y },
            ) if a == b => x.cmp(y),
            (Const::FunctionAddr(a), Const::FunctionAddr(b)) if a == b => std::cmp::Ordering::Equal,
            // An object is never at the null address.
            (Const::GlobalAddr { .. } | Const::FunctionAddr(_), Const::Int(0) | Const::Zero) => {
                return match op {
                    CompareOp::Eq => Some(false),
                    CompareOp::Ne => Some(true),
                    _ => None,
                };
            }
            _ => {
                let (a, b) = (int_of(&a)?, int_of(&b)?);
                match self.types.ir.get(ty) {
                    Type::Int { bits: 128, signed: false } => (a as u128).cmp(&(b as u128)),
                    _ => a.cmp(&b),
                }
            }
        };
        Some(match op {
            CompareOp::Eq => order.is_eq(),
            CompareOp::Ne => order.is_ne(),
            CompareOp::Lt => order.is_lt(),
            CompareOp::Le => order.is_le(),
            CompareOp::Gt => order.is_gt(),
            CompareOp::Ge => order.is_ge(),
        })
    }

    fn eval_cast(&self, kind: CastKind, value: Const, from: TypeId, to: TypeId) -> Option<Const> {
        let types = &self.types.ir;
        match kind {
            CastKind::IntToInt => {
                let Type::Int { bits, signed } = types.get(to) else { return None };
                // An address as an integer of its own size stays an address.
                if matches!(value, Const::GlobalAddr { .. } | Const::FunctionAddr(_)) {
                    return (types.layout(from).size == types.layout(to).size).then_some(value);
                }
                Some(Const::Int(wrap_int(int_of(&value)?, *bits, *signed)))
            }
            CastKind::IntToFloat => {
                let Type::Float(float) = types.get(to) else { return None };
                let unsigned128 = matches!(types.get(from), Type::Int { bits: 128, signed: false });
                let int = int_of(&value)?;
                Some(match float {
                    FloatKind::F32 if unsigned128 => from_f32(int as u128 as f32),
                    FloatKind::F32 => from_f32(int as f32),
                    FloatKind::F64 if unsigned128 => from_f64(int as u128 as f64),
                    FloatKind::F64 => from_f64(int as f64),
                    kind => from_f64_as(int as f64, *kind),
                })
            }
            CastKind::FloatToInt => {
                let Type::Float(float) = types.get(from) else { return None };
                let Type::Int { bits, signed } = *types.get(to) else { return None };
                let value = float_of(&value, *float)?;
                let (min, max) = if signed {
                    (-(2f64.powi(i32::from(bits) - 1)), 2f64.powi(i32::from(bits) - 1))
                } else {
                    (0.0, 2f64.powi(i32::from(bits)))
                };
                let whole = value.trunc();
                // Out of range is no constant expression (C++ [conv.fpint]).
                if whole.is_nan() || whole < min || whole >= max {
                    return None;
                }
                let int =
                    if bits == 128 && !signed { whole as u128 as i128 } else { whole as i128 };
                Some(Const::Int(int))
            }
            CastKind::FloatToFloat => {
                let (Type::Float(source), Type::Float(target)) = (types.get(from), types.get(to))
                else {
                    return None;
                };
                Some(from_f64_as(float_of(&value, *source)?, *target))
            }
            CastKind::ToBool => {
                let yes = match (&value, types.get(from)) {
                    (_, Type::Float(kind)) => float_of(&value, *kind)? != 0.0,
                    (Const::GlobalAddr { .. } | Const::FunctionAddr(_), _) => true,
                    _ => int_of(&value)? != 0,
                };
                Some(Const::Int(i128::from(yes)))
            }
            CastKind::PointerToInt => {
                if types.layout(to).size != types.layout(from).size {
                    let (Const::Int(_) | Const::Zero) = value else { return None };
                }
                match (value, types.get(to)) {
                    (Const::Int(value), Type::Int { bits, signed }) => {
                        Some(Const::Int(wrap_int(value, *bits, *signed)))
                    }
                    (value, _) => Some(value),
                }
            }
            CastKind::IntToPointer => match value {
                Const::Int(value) => {
                    let bits = (types.pointer_bytes() * 8) as u8;
                    Some(Const::Int(wrap_int(value, bits, false)))
                }
                value => Some(value),
            },
            CastKind::PointerToPointer => Some(value),
            CastKind::Bitcast => self.eval_bitcast(value, from, to),
        }
    }

    fn eval_bitcast(&self, value: Const, from: TypeId, to: TypeId) -> Option<Const> {
        let raw = match (self.types.ir.get(from), &value) {
            (Type::Float(_), _) => i128::from(float_bits(&value)?),
            (Type::Int { .. }, _) => int_of(&value)?,
            _ => return None,
        };
        match self.types.ir.get(to) {
            Type::Float(kind) => {
                Some(Const::Float(wrap_int(raw, kind.bytes() as u8 * 8, false) as u64))
            }
            Type::Int { bits, signed } => Some(Const::Int(wrap_int(raw, *bits, *signed))),
            _ => None,
        }
    }

    /// The intrinsics whose constant values launch configurations and initialisers want.
    fn eval_intrinsic(&self, op: cdp_ir::Intrinsic, args: &[Expr], ty: TypeId) -> Option<Const> {
        use cdp_ir::Intrinsic as I;
        let args = args.iter().map(|arg| self.const_eval(arg)).collect::<Option<Vec<_>>>()?;
        if let Type::Float(kind) = self.types.ir.get(ty) {
            let floats =
                args.iter().map(|arg| float_of(arg, *kind)).collect::<Option<Vec<f64>>>()?;
            let value = match (op, floats.as_slice()) {
                (I::Ceil, [x]) => x.ceil(),
                (I::Floor, [x]) => x.floor(),
                (I::Trunc, [x]) => x.trunc(),
                (I::RoundEven, [x]) => x.round_ties_even(),
                (I::AbsFloat, [x]) => x.abs(),
                // A square root in double precision, rounded once more, is still the nearest
                // single-precision value.
                (I::Sqrt, [x]) => x.sqrt(),
                (I::MinFloat, [x, y]) => x.min(*y),
                (I::MaxFloat, [x, y]) => x.max(*y),
                _ => return None,
            };
            return Some(from_f64_as(value, *kind));
        }
        let Type::Int { bits, signed } = *self.types.ir.get(ty) else { return None };
        let ints = args.iter().map(int_of).collect::<Option<Vec<i128>>>()?;
        let value = match (op, ints.as_slice()) {
            (I::MinInt, [x, y]) => *x.min(y),
            (I::MaxInt, [x, y]) => *x.max(y),
            (I::AbsInt, [x]) => x.wrapping_abs(),
            _ => return None,
        };
        Some(Const::Int(wrap_int(value, bits, signed)))
    }

    /// A constant condition of a `static_assert` or `if constexpr`.
    pub fn const_condition(&mut self, expr: &'a ast::Expr, what: &str) -> Option<bool> {
        let value = self.expr(expr);
        if self.is_error(&value) {
            return None;
        }
        let cond = self.condition(value);
        match self.truth(&cond) {
            Some(yes) => Some(yes),
            None if is_poisoned(&cond) => None,
            None => {
                let mut diagnostic = Diagnostic::new(
                    Code::E0310,
                    expr.span,
                    format!("{what} must be a constant expression"),
                );
                if let Some(reason) = self.why_not_constant(&cond) {
                    diagnostic = diagnostic.note(reason);
                }
                self.report(diagnostic);
                None
            }
        }
    }

    /// `static_assert`.
    pub fn static_assert(
        &mut self,
        condition: &'a ast::Expr,
        message: Option<&ast::StringLit>,
        span: crate::source::Span,
    ) {
        let _ = span;
        if self.const_condition(condition, "the condition of a `static_assert`") == Some(false) {
            let text = match message {
                Some(message) => format!("static assertion failed: {}", message.to_text()),
                None => "static assertion failed".to_owned(),
            };
            self.report(Diagnostic::new(Code::E0311, condition.span, text).label("this is false"));
        }
    }

    /// The bits of a floating constant in the format of a basic type.
    pub fn float_const(&self, value: f64, basic: Basic) -> Const {
        match basic {
            Basic::Float => from_f32(value as f32),
            Basic::Half => from_f64_as(value, FloatKind::F16),
            Basic::BFloat16 => from_f64_as(value, FloatKind::BF16),
            _ => from_f64(value),
        }
    }
}

/// The integer a constant holds.
pub fn int_of(value: &Const) -> Option<i128> {
    match value {
        Const::Int(value) => Some(*value),
        Const::Zero => Some(0),
        _ => None,
    }
}

fn float_bits(value: &Const) -> Option<u64> {
    match value {
        Const::Float(bits) => Some(*bits),
        Const::Zero => Some(0),
        _ => None,
    }
}

/// A floating constant's value; every format fits `f64`.
pub fn float_of(value: &Const, kind: FloatKind) -> Option<f64> {
    let bits = float_bits(value)?;
    Some(match kind {
        FloatKind::F64 => f64::from_bits(bits),
        FloatKind::F32 => f64::from(f32::from_bits(bits as u32)),
        FloatKind::F16 => float16::half_to_f64(bits as u16),
        FloatKind::BF16 => f64::from(f32::from_bits((bits as u32) << 16)),
    })
}

fn from_f32(value: f32) -> Const {
    Const::Float(u64::from(value.to_bits()))
}

fn from_f64(value: f64) -> Const {
    Const::Float(value.to_bits())
}

fn from_f64_as(value: f64, kind: FloatKind) -> Const {
    match kind {
        FloatKind::F64 => from_f64(value),
        FloatKind::F32 => from_f32(value as f32),
        FloatKind::F16 => Const::Float(u64::from(float16::f64_to_half(value))),
        FloatKind::BF16 => Const::Float(u64::from(float16::f64_to_bfloat16(value))),
    }
}

fn float_binary(op: BinaryOp, a: f64, b: f64, kind: FloatKind) -> Option<Const> {
    // One operation in double precision, rounded to a format of at most 24 bits, is the correctly
    // rounded result in that format (53 >= 2 * 24 + 2).
    let value = match op {
        BinaryOp::Add => a + b,
        BinaryOp::Sub => a - b,
        BinaryOp::Mul => a * b,
        BinaryOp::Div => a / b,
        _ => return None,
    };
    Some(from_f64_as(value, kind))
}

fn int_binary(op: BinaryOp, a: i128, b: i128, bits: u8, signed: bool) -> Option<i128> {
    let wide_unsigned = bits == 128 && !signed;
    Some(match op {
        BinaryOp::Add => a.wrapping_add(b),
        BinaryOp::Sub => a.wrapping_sub(b),
        BinaryOp::Mul => a.wrapping_mul(b),
        BinaryOp::Div | BinaryOp::Rem if b == 0 => return None,
        BinaryOp::Div if wide_unsigned => (a as u128 / b as u128) as i128,
        BinaryOp::Rem if wide_unsigned => (a as u128 % b as u128) as i128,
        BinaryOp::Div => a.wrapping_div(b),
        BinaryOp::Rem => a.wrapping_rem(b),
        BinaryOp::And => a & b,
        BinaryOp::Or => a | b,
        BinaryOp::Xor => a ^ b,
        BinaryOp::Shl | BinaryOp::Shr if b < 0 || b >= i128::from(bits) => return None,
        BinaryOp::Shl => a.wrapping_shl(b as u32),
        BinaryOp::Shr if wide_unsigned => ((a as u128) >> b) as i128,
        BinaryOp::Shr => a >> b,
    })
}
