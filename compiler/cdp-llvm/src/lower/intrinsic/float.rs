//! Floating-point intrinsics and libdevice calls.

use cdp_ir::{Expr, FloatKind, Intrinsic, Type, TypeId};
use inkwell::IntPredicate;
use inkwell::attributes::AttributeLoc;
use inkwell::types::{BasicMetadataTypeEnum, BasicType};
use inkwell::values::{BasicMetadataValueEnum, FloatValue};

use super::arg;
use crate::error::{Result, bug};
use crate::launch_calls::declare;
use crate::lower::body::{Body, Value};

/// Bits of `llvm.is.fpclass`.
const NAN: u64 = 0x3;
const INFINITE: u64 = 0x204;
const FINITE: u64 = 0x1f8;

impl<'ctx> Body<'_, '_, 'ctx> {
    fn float_of(&mut self, expr: &Expr) -> Result<FloatValue<'ctx>> {
        match self.scalar_of(expr)? {
            inkwell::values::BasicValueEnum::FloatValue(value) => Ok(value),
            _ => Err(bug("lower", "a floating-point operand was wanted")),
        }
    }

    pub(super) fn float_intrinsic(
        &mut self,
        op: Intrinsic,
        args: &[Expr],
        ty: TypeId,
    ) -> Result<Value<'ctx>> {
        let first = self.float_of(arg(args, 0)?)?;
        let overloads = [first.get_type().into()];
        let name = match op {
            Intrinsic::Fma => "llvm.fma",
            Intrinsic::Sqrt => return self.sqrt(first, arg(args, 0)?.ty),
            Intrinsic::AbsFloat => "llvm.fabs",
            Intrinsic::Floor => "llvm.floor",
            Intrinsic::Ceil => "llvm.ceil",
            Intrinsic::Trunc => "llvm.trunc",
            Intrinsic::RoundEven => "llvm.rint",
            Intrinsic::MinFloat => "llvm.minnum",
            Intrinsic::MaxFloat => "llvm.maxnum",
            Intrinsic::CopySign => "llvm.copysign",
            Intrinsic::IsNan => return self.float_class(first, NAN, ty),
            Intrinsic::IsInf => return self.float_class(first, INFINITE, ty),
            Intrinsic::IsFinite => return self.float_class(first, FINITE, ty),
            Intrinsic::SignBit => return self.sign_bit(first, ty),
            _ => return Err(bug("lower", format!("{op:?} is no floating-point intrinsic"))),
        };
        let mut operands: Vec<BasicMetadataValueEnum<'ctx>> = vec![first.into()];
        for operand in &args[1..] {
            operands.push(self.float_of(operand)?.into());
        }
        Ok(Value::Scalar(self.llvm_intrinsic(name, &overloads, &operands)?))
    }

    fn sqrt(&self, value: FloatValue<'ctx>, ty: TypeId) -> Result<Value<'ctx>> {
        let math = self.unit.ir.fast_math;
        let kind = self.unit.ir.types.get(ty);
        match kind {
            Type::Float(FloatKind::F32) if self.unit.on_device() && !math.prec_sqrt => {
                let ftz = if math.ftz { ".ftz" } else { "" };
                self.llvm_value(&format!("llvm.nvvm.sqrt.approx{ftz}.f"), &[value.into()])
            }
            Type::Float(FloatKind::F16 | FloatKind::BF16) => {
                let single = self.unit.context.f32_type();
                let wide = self.builder.build_float_ext(value, single, "")?;
                let root = self.llvm_intrinsic("llvm.sqrt", &[single.into()], &[wide.into()])?;
                let root = root.into_float_value();
                Ok(Value::Scalar(
                    self.builder.build_float_trunc(root, value.get_type(), "")?.into(),
                ))
            }
            _ => {
                let overloads = [value.get_type().into()];
                Ok(Value::Scalar(self.llvm_intrinsic("llvm.sqrt", &overloads, &[value.into()])?))
            }
        }
    }

    fn float_class(&self, value: FloatValue<'ctx>, class: u64, ty: TypeId) -> Result<Value<'ctx>> {
        if self.flushed_bfloat(value) {
            return self.bfloat_class(value, class, ty);
        }
        let mask = self.unit.context.i32_type().const_int(class, false);
        let overloads = [value.get_type().into()];
        let operands = [value.into(), mask.into()];
        let is = self.llvm_intrinsic("llvm.is.fpclass", &overloads, &operands)?;
        self.truth(is.into_int_value(), ty)
    }

    /// The same by bits, since LLVM would make a comparison of it.
    fn bfloat_class(&self, value: FloatValue<'ctx>, class: u64, ty: TypeId) -> Result<Value<'ctx>> {
        let bits = self.as_bits(value.into())?;
        let int = bits.get_type();
        let magnitude = self.builder.build_and(bits, int.const_int(0x7fff, false), "")?;
        let infinity = int.const_int(0x7f80, false);
        let predicate = match class {
            NAN => IntPredicate::UGT,
            INFINITE => IntPredicate::EQ,
            _ => IntPredicate::ULT,
        };
        let is = self.builder.build_int_compare(predicate, magnitude, infinity, "")?;
        self.truth(is, ty)
    }

    fn sign_bit(&self, value: FloatValue<'ctx>, ty: TypeId) -> Result<Value<'ctx>> {
        let bits = self.as_bits(value.into())?;
        let zero = bits.get_type().const_zero();
        let negative = IntPredicate::SLT;
        let sign = self.builder.build_int_compare(negative, bits, zero, "")?;
        self.truth(sign, ty)
    }

    /// A bit as a value of an integer type or `Bool`.
    fn truth(&self, bit: inkwell::values::IntValue<'ctx>, ty: TypeId) -> Result<Value<'ctx>> {
        let target = self.unit.register_type(ty)?.into_int_type();
        Ok(Value::Scalar(self.builder.build_int_cast_sign_flag(bit, target, false, "")?.into()))
    }

    /// `__nv_<name>`; the bitcode is linked when the module is complete.
    pub(super) fn libdevice(
        &mut self,
        name: &str,
        args: &[Expr],
        ty: TypeId,
    ) -> Result<Value<'ctx>> {
        let mut types: Vec<BasicMetadataTypeEnum<'ctx>> = Vec::new();
        let mut values: Vec<BasicMetadataValueEnum<'ctx>> = Vec::new();
        for arg in args {
            let value = self.scalar_of(arg)?;
            let value = self.stored(value)?;
            types.push(value.get_type().into());
            values.push(value.into());
        }
        let void = *self.unit.ir.types.get(ty) == Type::Void;
        let function_type = if void {
            self.unit.context.void_type().fn_type(&types, false)
        } else {
            self.unit.storage_type(ty)?.fn_type(&types, false)
        };
        let function = declare(self.unit.llvm, &format!("__nv_{name}"), function_type);
        if function.get_type() != function_type {
            return Err(bug("lower", format!("libdevice's {name} is used with two types")));
        }
        let call = self.builder.build_direct_call(function, &values, "")?;
        call.add_attribute(AttributeLoc::Function, self.unit.attribute("nounwind"));
        match call.try_as_basic_value().basic() {
            Some(value) => Ok(Value::Scalar(self.storage_value(value, ty)?)),
            None => Ok(Value::Void),
        }
    }
}
