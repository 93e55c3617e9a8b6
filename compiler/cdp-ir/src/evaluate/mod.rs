//! The evaluator of constant expressions, exactly as the machine types say. Conversions are explicit in the
//! IR, so one evaluator serves array bounds, `case` labels, static initialisers, launch configurations and
//! `constexpr` functions (whose statements are in `interpret`).
//!
//! What this is not: which expressions a language calls constant, and what to say of one that is not.

pub mod float16;
mod interpret;
mod objects;

use std::cmp::Ordering;

pub use interpret::Env;
use objects::{outlives, shifted};

use crate::{
    BinaryOp, Block, Callee, CastKind, CompareOp, Const, Expr, ExprKind, FloatKind, FuncId,
    GlobalId, Intrinsic, LocalId, RecordKind, Type, TypeId, TypeTable, UnaryOp,
};

/// What is known of the program around an expression.
pub trait Known {
    /// The value of a local of the function that the expression stands in.
    fn local(&self, local: LocalId) -> Option<&Const>;
    /// Whether a local is one that an expression made for itself, so that nothing else knows of it.
    fn is_temporary(&self, local: LocalId) -> bool;
    /// The value of a variable that never changes, and its type.
    fn global(&self, global: GlobalId) -> Option<(&Const, TypeId)>;
    /// The body of a function that may run on constants.
    fn body(&self, function: FuncId) -> Option<&Body>;
}

/// The body of a function that may run on constants, and the types of its locals.
#[derive(Debug)]
pub struct Body {
    /// By [`LocalId`].
    pub types: Vec<TypeId>,
    /// What runs.
    pub block: Block,
}

/// Evaluates expressions; `None` stands for one that is not constant.
#[derive(Clone, Copy)]
pub struct Evaluator<'k> {
    /// The types that the expressions have.
    pub types: &'k TypeTable,
    /// What is known beside them.
    pub known: &'k dyn Known,
    /// A number beyond the range of the integer that it becomes is the integer's nearest (no number: 0), as host
    /// compilers have it in static variables; otherwise it is not constant.
    pub clamps: bool,
}

/// Truncates to a width and extends by the signedness.
fn wrap_int(value: i128, bits: u8, signed: bool) -> i128 {
    if bits >= 128 {
        return value;
    }
    let mask = (1i128 << bits) - 1;
    let low = value & mask;
    if signed && low >> (bits - 1) & 1 == 1 { low | !mask } else { low }
}

impl Evaluator<'_> {
    /// The value of an expression outside the functions that run.
    pub fn value(&self, expr: &Expr) -> Option<Const> {
        self.eval_in(expr, &mut Env::default()).filter(outlives)
    }

    /// The constant that an operation on constants yields, or the operation.
    pub fn folded(&self, expr: Expr) -> Expr {
        let constant = |operand: &Expr| matches!(operand.kind, ExprKind::Const(_));
        let all = match &expr.kind {
            ExprKind::Cast { operand, .. } | ExprKind::Unary { operand, .. } => constant(operand),
            ExprKind::Binary { lhs, rhs, .. } | ExprKind::Compare { lhs, rhs, .. } => {
                constant(lhs) && constant(rhs)
            }
            _ => false,
        };
        match if all { self.value(&expr) } else { None } {
            Some(value) => Expr { kind: ExprKind::Const(value), ..expr },
            None => expr,
        }
    }

    /// The value of an expression; `env` holds the locals of the function that runs, if any does.
    fn eval_in(&self, expr: &Expr, env: &mut Env) -> Option<Const> {
        match &expr.kind {
            ExprKind::Const(value) => Some(value.clone()),
            ExprKind::GlobalAddr(global) => Some(Const::GlobalAddr { global: *global, offset: 0 }),
            ExprKind::FunctionAddr(function) => Some(Const::FunctionAddr(*function)),
            ExprKind::Load { addr, volatile: false } => self.eval_load(addr, env),
            ExprKind::FieldAddr { .. } | ExprKind::IndexAddr { .. } => self.eval_address(expr, env),
            ExprKind::PointerDiff { lhs, rhs } => self.eval_difference(lhs, rhs, env),
            ExprKind::Extract { record, field } => {
                let record_ty = record.ty;
                let value = self.eval_in(record, env)?;
                self.field_of(&value, record_ty, *field)
            }
            ExprKind::MakeRecord(fields) => {
                let fields = fields
                    .iter()
                    .map(|(index, value)| Some((*index, self.eval_in(value, env)?)))
                    .collect::<Option<Vec<_>>>()?;
                Some(Const::Record(fields))
            }
            ExprKind::Unary { op, operand } => {
                let value = self.eval_in(operand, env)?;
                self.eval_unary(*op, value, expr.ty)
            }
            ExprKind::Binary { op, lhs, rhs } => {
                let (a, b) = (self.eval_in(lhs, env)?, self.eval_in(rhs, env)?);
                self.eval_binary(*op, a, b, expr.ty)
            }
            ExprKind::Compare { op, lhs, rhs } => {
                let (a, b) = (self.eval_in(lhs, env)?, self.eval_in(rhs, env)?);
                self.eval_compare(*op, a, b, lhs.ty).map(|yes| Const::Int(i128::from(yes)))
            }
            ExprKind::Logical { and, lhs, rhs } => {
                let first = truth_of(self.eval_in(lhs, env)?)?;
                if first != *and {
                    return Some(Const::Int(i128::from(first)));
                }
                Some(Const::Int(i128::from(truth_of(self.eval_in(rhs, env)?)?)))
            }
            ExprKind::Select { cond, then, otherwise } => {
                if truth_of(self.eval_in(cond, env)?)? {
                    self.eval_in(then, env)
                } else {
                    self.eval_in(otherwise, env)
                }
            }
            ExprKind::Cast { kind, operand } => {
                let value = self.eval_in(operand, env)?;
                self.eval_cast(*kind, value, operand.ty, expr.ty)
            }
            ExprKind::LocalAddr(local) => self.eval_local(*local, expr.ty, env),
            ExprKind::Sequence { effects, value } => {
                for effect in effects {
                    self.eval_in(effect, env)?;
                }
                self.eval_in(value, env)
            }
            ExprKind::Store { addr, value, volatile: false } => {
                let value = self.eval_in(value, env)?;
                self.eval_store(addr, value, env)?;
                Some(Const::Zero)
            }
            ExprKind::Update { addr, op, rhs, compute, yields, volatile: false } => {
                self.eval_update(addr, *op, rhs, *compute, *yields, env)
            }
            ExprKind::Call { callee: Callee::Direct(function), args } => {
                let void = matches!(self.types.get(expr.ty), Type::Void);
                self.eval_call(*function, args, void, env)
            }
            ExprKind::Intrinsic { op, args } => self.eval_intrinsic(*op, args, expr.ty, env),
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
        let Type::Record(id) = self.types.get(record_ty) else { return None };
        let is_union = self.types.record(*id).kind == RecordKind::Union;
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

    fn eval_address(&self, expr: &Expr, env: &mut Env) -> Option<Const> {
        let (base, bytes) = match &expr.kind {
            ExprKind::FieldAddr { base, field } => {
                let record_ty = self.types.pointee(base.ty)?;
                let Type::Record(id) = self.types.get(record_ty) else { return None };
                let offset = self.types.record(*id).fields.get(*field as usize)?.offset;
                (base, i64::try_from(offset).ok()?)
            }
            ExprKind::IndexAddr { base, index } => {
                let size = self.types.layout(self.types.pointee(base.ty)?).size;
                let index = int_of(&self.eval_in(index, env)?)?;
                let bytes = index.checked_mul(i128::from(size))?;
                (base, i64::try_from(bytes).ok()?)
            }
            _ => return None,
        };
        shifted(self.eval_in(base, env)?, bytes)
    }

    fn eval_difference(&self, lhs: &Expr, rhs: &Expr, env: &mut Env) -> Option<Const> {
        let size = i128::from(self.types.layout(self.types.pointee(lhs.ty)?).size);
        let (a, b) = (self.eval_in(lhs, env)?, self.eval_in(rhs, env)?);
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
        match (self.types.get(ty), op) {
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
        match self.types.get(ty) {
            Type::Float(kind) => {
                let (a, b) = (float_of(&a, *kind)?, float_of(&b, *kind)?);
                float_binary(op, a, b, *kind)
            }
            Type::Bool if matches!(op, BinaryOp::And | BinaryOp::Or | BinaryOp::Xor) => {
                int_binary(op, int_of(&a)?, int_of(&b)?, 1, false).map(|bit| Const::Int(bit & 1))
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
        if let Type::Float(kind) = self.types.get(ty) {
            let order = float_of(&a, *kind)?.partial_cmp(&float_of(&b, *kind)?);
            return Some(order.map_or(op == CompareOp::Ne, |order| holds(op, order)));
        }
        let order = match (&a, &b) {
            (
                Const::GlobalAddr { global: a, offset: x },
                Const::GlobalAddr { global: b, offset: y },
            ) if a == b => x.cmp(y),
            (Const::FunctionAddr(a), Const::FunctionAddr(b)) if a == b => Ordering::Equal,
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
                match self.types.get(ty) {
                    Type::Int { bits: 128, signed: false } => (a as u128).cmp(&(b as u128)),
                    _ => a.cmp(&b),
                }
            }
        };
        Some(holds(op, order))
    }

    fn eval_cast(&self, kind: CastKind, value: Const, from: TypeId, to: TypeId) -> Option<Const> {
        let types = self.types;
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
                if whole.is_nan() || whole < min || whole >= max {
                    // Out of range is no constant expression (C++ [conv.fpint]).
                    let greatest = (1_i128 << (bits - u8::from(signed)).min(127)).wrapping_sub(1);
                    let nearest = match whole.partial_cmp(&0.0) {
                        Some(Ordering::Greater) if bits == 128 && !signed => -1,
                        Some(Ordering::Greater) => greatest,
                        Some(Ordering::Less) if signed => -greatest - 1,
                        _ => 0,
                    };
                    return self.clamps.then_some(Const::Int(nearest));
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
        let raw = match (self.types.get(from), &value) {
            (Type::Float(_), _) => i128::from(float_bits(&value)?),
            (Type::Int { .. }, _) => int_of(&value)?,
            _ => return None,
        };
        match self.types.get(to) {
            Type::Float(kind) => {
                Some(Const::Float(wrap_int(raw, kind.bytes() as u8 * 8, false) as u64))
            }
            Type::Int { bits, signed } => Some(Const::Int(wrap_int(raw, *bits, *signed))),
            _ => None,
        }
    }

    /// The intrinsics whose constant values launch configurations and initialisers want.
    fn eval_intrinsic(
        &self,
        op: Intrinsic,
        args: &[Expr],
        ty: TypeId,
        env: &mut Env,
    ) -> Option<Const> {
        use Intrinsic as I;
        let args = args.iter().map(|arg| self.eval_in(arg, env)).collect::<Option<Vec<_>>>()?;
        if let Type::Float(kind) = self.types.get(ty) {
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
        let Type::Int { bits, signed } = *self.types.get(ty) else { return None };
        let ints = args.iter().map(int_of).collect::<Option<Vec<i128>>>()?;
        let value = match (op, ints.as_slice()) {
            (I::MinInt, [x, y]) => *x.min(y),
            (I::MaxInt, [x, y]) => *x.max(y),
            (I::AbsInt, [x]) => x.wrapping_abs(),
            _ => return None,
        };
        Some(Const::Int(wrap_int(value, bits, signed)))
    }
}

/// Whether a comparison is true of two values in this order.
fn holds(op: CompareOp, order: Ordering) -> bool {
    match op {
        CompareOp::Eq => order.is_eq(),
        CompareOp::Ne => order.is_ne(),
        CompareOp::Lt => order.is_lt(),
        CompareOp::Le => order.is_le(),
        CompareOp::Gt => order.is_gt(),
        CompareOp::Ge => order.is_ge(),
    }
}

/// Whether a condition's value is true.
pub fn truth_of(value: Const) -> Option<bool> {
    match value {
        Const::Int(value) => Some(value != 0),
        Const::Zero => Some(false),
        _ => None,
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
fn float_of(value: &Const, kind: FloatKind) -> Option<f64> {
    let bits = float_bits(value)?;
    Some(match kind {
        FloatKind::F64 => f64::from_bits(bits),
        FloatKind::F32 => f64::from(f32::from_bits(bits as u32)),
        FloatKind::F16 => float16::half_to_f64(bits as u16),
        FloatKind::BF16 => f64::from(f32::from_bits((bits as u32) << 16)),
    })
}

/// A constant of single precision.
pub fn from_f32(value: f32) -> Const {
    Const::Float(u64::from(value.to_bits()))
}

/// A constant of double precision.
pub fn from_f64(value: f64) -> Const {
    Const::Float(value.to_bits())
}

/// The nearest constant of a format.
pub fn from_f64_as(value: f64, kind: FloatKind) -> Const {
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
