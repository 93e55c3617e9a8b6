//! Arithmetic: binary operations with C's meaning and CUDA's floating-point options.

use cdp_ir::{BinaryOp, CompareOp, FloatKind, Type, TypeId};
use inkwell::values::{
    BasicMetadataValueEnum, BasicValueEnum, FloatValue, InstructionValue, IntValue,
};

use super::body::{Body, instruction_of};
use crate::error::{Result, bug};

impl<'ctx> Body<'_, '_, 'ctx> {
    pub fn binary(
        &self,
        op: BinaryOp,
        left: BasicValueEnum<'ctx>,
        right: BasicValueEnum<'ctx>,
        ty: TypeId,
        right_ty: TypeId,
    ) -> Result<BasicValueEnum<'ctx>> {
        match (left, right) {
            (BasicValueEnum::IntValue(left), BasicValueEnum::IntValue(right)) => {
                let signed = matches!(self.unit.ir.types.get(ty), Type::Int { signed: true, .. });
                if matches!(op, BinaryOp::Shl | BinaryOp::Shr) {
                    return self.shift(op, left, right, signed, right_ty);
                }
                Ok(self.int_binary(op, left, right, signed)?.into())
            }
            (BasicValueEnum::FloatValue(left), BasicValueEnum::FloatValue(right)) => {
                self.float_binary(op, left, right, ty)
            }
            _ => Err(bug("lower", "an operation on operands of two kinds")),
        }
    }

    /// Signed overflow is undefined in C, and the optimiser may use that, as nvcc's does.
    fn int_binary(
        &self,
        op: BinaryOp,
        left: IntValue<'ctx>,
        right: IntValue<'ctx>,
        signed: bool,
    ) -> Result<IntValue<'ctx>> {
        let b = &self.builder;
        Ok(match (op, signed) {
            (BinaryOp::Add, true) => b.build_int_nsw_add(left, right, "")?,
            (BinaryOp::Add, false) => b.build_int_add(left, right, "")?,
            (BinaryOp::Sub, true) => b.build_int_nsw_sub(left, right, "")?,
            (BinaryOp::Sub, false) => b.build_int_sub(left, right, "")?,
            (BinaryOp::Mul, true) => b.build_int_nsw_mul(left, right, "")?,
            (BinaryOp::Mul, false) => b.build_int_mul(left, right, "")?,
            (BinaryOp::Div, true) => b.build_int_signed_div(left, right, "")?,
            (BinaryOp::Div, false) => b.build_int_unsigned_div(left, right, "")?,
            (BinaryOp::Rem, true) => b.build_int_signed_rem(left, right, "")?,
            (BinaryOp::Rem, false) => b.build_int_unsigned_rem(left, right, "")?,
            (BinaryOp::And, _) => b.build_and(left, right, "")?,
            (BinaryOp::Or, _) => b.build_or(left, right, "")?,
            (BinaryOp::Xor, _) => b.build_xor(left, right, "")?,
            (BinaryOp::Shl | BinaryOp::Shr, _) => return Err(bug("lower", "a shift")),
        })
    }

    /// The right operand may be of any integer type; it is taken to the left one's.
    fn shift(
        &self,
        op: BinaryOp,
        left: IntValue<'ctx>,
        right: IntValue<'ctx>,
        signed: bool,
        right_ty: TypeId,
    ) -> Result<BasicValueEnum<'ctx>> {
        let right_signed =
            matches!(self.unit.ir.types.get(right_ty), Type::Int { signed: true, .. });
        let ty = left.get_type();
        let count = self.builder.build_int_cast_sign_flag(right, ty, right_signed, "")?;
        Ok(match op {
            BinaryOp::Shl => self.builder.build_left_shift(left, count, "")?.into(),
            _ => self.builder.build_right_shift(left, count, signed, "")?.into(),
        })
    }

    fn float_binary(
        &self,
        op: BinaryOp,
        left: FloatValue<'ctx>,
        right: FloatValue<'ctx>,
        ty: TypeId,
    ) -> Result<BasicValueEnum<'ctx>> {
        let b = &self.builder;
        let value: BasicValueEnum<'ctx> = match op {
            BinaryOp::Add => b.build_float_add(left, right, "")?.into(),
            BinaryOp::Sub => b.build_float_sub(left, right, "")?.into(),
            BinaryOp::Mul => b.build_float_mul(left, right, "")?.into(),
            BinaryOp::Div => return self.float_divide(left, right, ty),
            _ => return Err(bug("lower", "no such operation on floats")),
        };
        self.contract(instruction_of(value));
        Ok(value)
    }

    /// Lets an operation fuse with a neighbour into a multiply-add, if `-fmad` allows.
    fn contract(&self, instruction: Option<InstructionValue<'ctx>>) {
        if let (true, Some(instruction)) = (self.unit.ir.fast_math.fmad, instruction) {
            // Only floating-point operations come here, and they take the flag.
            let contract = inkwell::values::FastMathFlags::AllowContract;
            let _ = instruction.set_fast_math_flags(contract);
        }
    }

    fn float_divide(
        &self,
        left: FloatValue<'ctx>,
        right: FloatValue<'ctx>,
        ty: TypeId,
    ) -> Result<BasicValueEnum<'ctx>> {
        let single = *self.unit.ir.types.get(ty) == Type::Float(FloatKind::F32);
        let math = self.unit.ir.fast_math;
        if !(single && self.unit.on_device()) || math.prec_div {
            return Ok(self.builder.build_float_div(left, right, "")?.into());
        }
        let name = match (math.fast_functions, math.ftz) {
            (true, true) => "llvm.nvvm.div.approx.ftz.f",
            (true, false) => "llvm.nvvm.div.approx.f",
            (false, true) => "llvm.nvvm.div.full.ftz",
            (false, false) => "llvm.nvvm.div.full",
        };
        self.llvm_intrinsic(name, &[], &[left.into(), right.into()])
    }

    /// With flushed denormals LLVM 22 gives comparisons of `__nv_bfloat16` the modifier `.ftz`, which
    /// PTX does not have there: they are made of text. `None` where LLVM's own do.
    pub fn compare_bfloat(
        &self,
        op: CompareOp,
        left: FloatValue<'ctx>,
        right: FloatValue<'ctx>,
    ) -> Result<Option<IntValue<'ctx>>> {
        if !self.flushed_bfloat(left) {
            return Ok(None);
        }
        let name = match op {
            CompareOp::Eq => "eq",
            CompareOp::Ne => "neu",
            CompareOp::Lt => "lt",
            CompareOp::Le => "le",
            CompareOp::Gt => "gt",
            CompareOp::Ge => "ge",
        };
        let text = format!("{{ .reg .pred p; setp.{name}.bf16 p, $1, $2; selp.b32 $0, 1, 0, p; }}");
        let word = self.unit.context.i32_type();
        let operands = [self.as_bits(left.into())?.into(), self.as_bits(right.into())?.into()];
        let answer = self.inline_ptx(&text, "=r,h,h", Some(word.into()), &operands, false)?;
        let answer = answer.ok_or_else(|| bug("lower", "a comparison without result"))?;
        let bit = self.unit.context.bool_type();
        Ok(Some(self.builder.build_int_truncate(answer.into_int_value(), bit, "")?))
    }

    /// Whether a comparison of this value would get the modifier that PTX does not have. (Below
    /// sm_90 such values are compared as single precision.)
    pub fn flushed_bfloat(&self, value: FloatValue<'ctx>) -> bool {
        self.unit.on_device()
            && self.unit.ir.fast_math.ftz
            && self.unit.options.arch_sm() >= 90
            && value.get_type() == self.unit.context.bf16_type()
    }

    /// Calls an LLVM intrinsic that yields a value; `overloads` are the types it is overloaded on.
    pub fn llvm_intrinsic(
        &self,
        name: &str,
        overloads: &[inkwell::types::BasicTypeEnum<'ctx>],
        args: &[BasicMetadataValueEnum<'ctx>],
    ) -> Result<BasicValueEnum<'ctx>> {
        self.llvm_intrinsic_call(name, overloads, args)?
            .ok_or_else(|| bug("lower", format!("{name} yields nothing")))
    }

    /// Calls an LLVM intrinsic for its effect.
    pub fn llvm_effect(
        &self,
        name: &str,
        overloads: &[inkwell::types::BasicTypeEnum<'ctx>],
        args: &[BasicMetadataValueEnum<'ctx>],
    ) -> Result<()> {
        self.llvm_intrinsic_call(name, overloads, args).map(|_| ())
    }

    fn llvm_intrinsic_call(
        &self,
        name: &str,
        overloads: &[inkwell::types::BasicTypeEnum<'ctx>],
        args: &[BasicMetadataValueEnum<'ctx>],
    ) -> Result<Option<BasicValueEnum<'ctx>>> {
        let unknown = || bug("lower", format!("LLVM has no intrinsic {name}"));
        let intrinsic = inkwell::intrinsics::Intrinsic::find(name).ok_or_else(unknown)?;
        let function = intrinsic.get_declaration(self.unit.llvm, overloads).ok_or_else(unknown)?;
        let call = self.builder.build_direct_call(function, args, "")?;
        Ok(call.try_as_basic_value().basic())
    }
}
