//! Conversions.

use cdp_ir::{CastKind, CompareOp, Expr, FloatKind, Type, TypeId};
use inkwell::IntPredicate;
use inkwell::types::{BasicTypeEnum, FloatType};
use inkwell::values::{BasicValueEnum, FloatValue, IntValue};

use super::body::{Body, Value};
use crate::error::{Result, bug};

impl<'ctx> Body<'_, '_, 'ctx> {
    pub fn cast_expr(&mut self, kind: CastKind, operand: &Expr, to: TypeId) -> Result<Value<'ctx>> {
        if kind == CastKind::Bitcast {
            return self.bitcast(operand, to);
        }
        if kind == CastKind::PointerToPointer {
            return Ok(Value::Scalar(self.place_of(operand)?.address.into()));
        }
        let value = self.scalar_of(operand)?;
        Ok(Value::Scalar(self.cast(kind, value, operand.ty, to)?))
    }

    pub fn cast(
        &self,
        kind: CastKind,
        value: BasicValueEnum<'ctx>,
        from: TypeId,
        to: TypeId,
    ) -> Result<BasicValueEnum<'ctx>> {
        let target = self.unit.register_type(to)?;
        match (kind, value, target) {
            (
                CastKind::IntToInt,
                BasicValueEnum::IntValue(value),
                BasicTypeEnum::IntType(target),
            ) => {
                let signed = self.is_signed(from);
                Ok(self.builder.build_int_cast_sign_flag(value, target, signed, "")?.into())
            }
            (CastKind::IntToFloat, BasicValueEnum::IntValue(value), _) => {
                self.int_to_float(value, from, to)
            }
            (CastKind::FloatToInt, BasicValueEnum::FloatValue(value), _) => {
                self.float_to_int(value, from, to)
            }
            (CastKind::FloatToFloat, BasicValueEnum::FloatValue(value), _) => {
                self.float_to_float(value, from, to)
            }
            (CastKind::ToBool, value, _) => Ok(self.to_bool(value)?.into()),
            (
                CastKind::PointerToInt,
                BasicValueEnum::PointerValue(value),
                BasicTypeEnum::IntType(target),
            ) => {
                let address = self.builder.build_ptr_to_int(value, self.unit.size, "")?;
                Ok(self.builder.build_int_cast_sign_flag(address, target, false, "")?.into())
            }
            (CastKind::IntToPointer, BasicValueEnum::IntValue(value), _) => {
                let signed = self.is_signed(from);
                let size = self.unit.size;
                let address = self.builder.build_int_cast_sign_flag(value, size, signed, "")?;
                Ok(self.builder.build_int_to_ptr(address, self.unit.ptr, "")?.into())
            }
            (CastKind::PointerToPointer, value, _) => Ok(value),
            _ => Err(bug("lower", format!("a {kind:?} cast between other kinds"))),
        }
    }

    /// The conversion between two arithmetic types, as C converts implicitly.
    pub fn convert(
        &self,
        value: BasicValueEnum<'ctx>,
        from: TypeId,
        to: TypeId,
    ) -> Result<BasicValueEnum<'ctx>> {
        if from == to {
            return Ok(value);
        }
        let types = &self.unit.ir.types;
        let kind = match (types.get(from), types.get(to)) {
            (_, Type::Bool) => CastKind::ToBool,
            (Type::Float(_), Type::Float(_)) => CastKind::FloatToFloat,
            (Type::Float(_), _) => CastKind::FloatToInt,
            (_, Type::Float(_)) => CastKind::IntToFloat,
            _ => CastKind::IntToInt,
        };
        self.cast(kind, value, from, to)
    }

    pub fn is_signed(&self, ty: TypeId) -> bool {
        matches!(self.unit.ir.types.get(ty), Type::Int { signed: true, .. })
    }

    fn float_kind(&self, ty: TypeId) -> Result<FloatKind> {
        match self.unit.ir.types.get(ty) {
            Type::Float(kind) => Ok(*kind),
            _ => Err(bug("lower", "a floating-point type was wanted")),
        }
    }

    fn int_to_float(
        &self,
        value: IntValue<'ctx>,
        from: TypeId,
        to: TypeId,
    ) -> Result<BasicValueEnum<'ctx>> {
        let BasicTypeEnum::FloatType(target) = self.unit.storage_type(to)? else {
            return Err(bug("lower", "a floating-point type was wanted"));
        };
        Ok(if self.is_signed(from) {
            self.builder.build_signed_int_to_float(value, target, "")?.into()
        } else {
            self.builder.build_unsigned_int_to_float(value, target, "")?.into()
        })
    }

    /// On the device by PTX's `cvt.rzi`, which saturates; LLVM's own conversion leaves values out of
    /// range undefined.
    fn float_to_int(
        &self,
        value: FloatValue<'ctx>,
        from: TypeId,
        to: TypeId,
    ) -> Result<BasicValueEnum<'ctx>> {
        let signed = self.is_signed(to);
        let BasicTypeEnum::IntType(target) = self.unit.storage_type(to)? else {
            return Err(bug("lower", "an integer type was wanted"));
        };
        let bits = target.get_bit_width();
        if self.unit.on_device() && bits > 64 {
            // There is no `cvt` of this width (wide.cpp).
            let name = if signed { "llvm.fptosi.sat" } else { "llvm.fptoui.sat" };
            let types = [target.into(), value.get_type().into()];
            return self.llvm_intrinsic(name, &types, &[value.into()]);
        }
        if !self.unit.on_device() {
            return Ok(if signed {
                self.builder.build_float_to_signed_int(value, target, "")?.into()
            } else {
                self.builder.build_float_to_unsigned_int(value, target, "")?.into()
            });
        }
        let double = self.float_kind(from)? == FloatKind::F64;
        let single = self.unit.context.f32_type();
        let value = match self.float_kind(from)? {
            kind @ (FloatKind::F16 | FloatKind::BF16) => self.widen_float(value, kind, single)?,
            _ => value,
        };
        let from = if double { "d" } else { "f" };
        let to = match (bits > 32, signed) {
            (false, true) => "i",
            (false, false) => "ui",
            (true, true) => "ll",
            (true, false) => "ull",
        };
        let ftz = if self.unit.ir.fast_math.ftz && !double { ".ftz" } else { "" };
        let name = format!("llvm.nvvm.{from}2{to}.rz{ftz}");
        let wide = self.llvm_intrinsic(&name, &[], &[value.into()])?;
        if bits >= 32 {
            return Ok(wide);
        }
        Ok(self.builder.build_int_truncate(wide.into_int_value(), target, "")?.into())
    }

    fn float_to_float(
        &self,
        value: FloatValue<'ctx>,
        from: TypeId,
        to: TypeId,
    ) -> Result<BasicValueEnum<'ctx>> {
        let (from, kind) = (self.float_kind(from)?, self.float_kind(to)?);
        if from == kind {
            return Ok(value.into());
        }
        let BasicTypeEnum::FloatType(target) = self.unit.storage_type(to)? else {
            return Err(bug("lower", "a floating-point type was wanted"));
        };
        if from.bytes() == kind.bytes() {
            // Between the two 16-bit formats, by way of single precision.
            let single = self.unit.context.f32_type();
            let wide = self.widen_float(value, from, single)?;
            return Ok(self.builder.build_float_trunc(wide, target, "")?.into());
        }
        Ok(if from.bytes() < kind.bytes() {
            self.widen_float(value, from, target)?.into()
        } else {
            self.builder.build_float_trunc(value, target, "")?.into()
        })
    }

    /// To a wider format. `__nv_bfloat16` by its bits, which are the upper half of a `float`'s, as in CUDA's own
    /// headers: of `fpext bfloat` LLVM 22 takes it that a `half` holds what a `bfloat` holds, and makes divisions, sums
    /// and products that end in a `half` narrow ones.
    fn widen_float(
        &self,
        value: FloatValue<'ctx>,
        from: FloatKind,
        target: FloatType<'ctx>,
    ) -> Result<FloatValue<'ctx>> {
        if from != FloatKind::BF16 {
            return Ok(self.builder.build_float_ext(value, target, "")?);
        }
        let context = self.unit.context;
        let (single, word) = (context.f32_type(), context.i32_type());
        let bits = self.builder.build_bit_cast(value, context.i16_type(), "")?.into_int_value();
        let bits = self.builder.build_int_z_extend(bits, word, "")?;
        let bits = self.builder.build_left_shift(bits, word.const_int(16, false), "")?;
        let wide = self.builder.build_bit_cast(bits, single, "")?.into_float_value();
        Ok(if target == single { wide } else { self.builder.build_float_ext(wide, target, "")? })
    }

    pub fn to_bool(&self, value: BasicValueEnum<'ctx>) -> Result<IntValue<'ctx>> {
        match value {
            BasicValueEnum::IntValue(value) if value.get_type().get_bit_width() == 1 => Ok(value),
            BasicValueEnum::IntValue(value) => {
                let zero = value.get_type().const_zero();
                Ok(self.builder.build_int_compare(IntPredicate::NE, value, zero, "")?)
            }
            BasicValueEnum::FloatValue(value) => {
                let zero = value.get_type().const_zero();
                if let Some(result) = self.compare_bfloat(CompareOp::Ne, value, zero)? {
                    return Ok(result);
                }
                let unequal = inkwell::FloatPredicate::UNE;
                Ok(self.builder.build_float_compare(unequal, value, zero, "")?)
            }
            BasicValueEnum::PointerValue(value) => Ok(self.builder.build_is_not_null(value, "")?),
            _ => Err(bug("lower", "a truth value of an aggregate")),
        }
    }

    /// The same bits as another type, through memory when an aggregate is involved.
    fn bitcast(&mut self, operand: &Expr, to: TypeId) -> Result<Value<'ctx>> {
        let size = self.unit.ir.types.layout(to).size;
        match self.value_of(operand)? {
            Value::Scalar(value) if !self.unit.ir.types.is_aggregate(to) => {
                self.scalar_bitcast(value, to).map(Value::Scalar)
            }
            Value::Scalar(value) => {
                let place = self.temporary(to)?;
                let stored = self.stored(value)?;
                let store = self.builder.build_store(place.address, stored)?;
                self.align_access(store, place.align)?;
                Ok(Value::Memory(place))
            }
            Value::Memory(source) => {
                let place = self.temporary(to)?;
                self.copy(place, source, size)?;
                if self.unit.ir.types.is_aggregate(to) {
                    return Ok(Value::Memory(place));
                }
                self.load(place, to, false)
            }
            Value::Void => Err(bug("lower", "a bit cast of nothing")),
        }
    }

    fn scalar_bitcast(
        &self,
        value: BasicValueEnum<'ctx>,
        to: TypeId,
    ) -> Result<BasicValueEnum<'ctx>> {
        let target = self.unit.storage_type(to)?;
        let stored = self.stored(value)?;
        let bits = match (stored, target) {
            (BasicValueEnum::PointerValue(value), BasicTypeEnum::IntType(int)) => {
                self.builder.build_ptr_to_int(value, int, "")?.into()
            }
            (BasicValueEnum::PointerValue(value), BasicTypeEnum::FloatType(_)) => {
                let int = self.builder.build_ptr_to_int(value, self.unit.size, "")?;
                self.builder.build_bit_cast(int, target, "")?
            }
            (BasicValueEnum::IntValue(value), BasicTypeEnum::PointerType(ptr)) => {
                self.builder.build_int_to_ptr(value, ptr, "")?.into()
            }
            (BasicValueEnum::FloatValue(value), BasicTypeEnum::PointerType(ptr)) => {
                let int = self.builder.build_bit_cast(value, self.unit.size, "")?;
                self.builder.build_int_to_ptr(int.into_int_value(), ptr, "")?.into()
            }
            _ => self.builder.build_bit_cast(stored, target, "")?,
        };
        self.storage_value(bits, to)
    }
}
