//! Integer intrinsics.

use cdp_ir::{Expr, Intrinsic, TypeId};
use inkwell::IntPredicate;
use inkwell::values::IntValue;

use super::arg;
use crate::error::{Result, bug};
use crate::lower::body::{Body, Value};

impl<'ctx> Body<'_, '_, 'ctx> {
    pub(super) fn integer_intrinsic(
        &mut self,
        op: Intrinsic,
        args: &[Expr],
        ty: TypeId,
    ) -> Result<Value<'ctx>> {
        let first = arg(args, 0)?;
        let signed = self.is_signed(first.ty);
        let a = self.int_of(first)?;
        let int = a.get_type();
        let overloads = [int.into()];
        let no = self.unit.context.bool_type().const_zero();
        let value = match op {
            Intrinsic::PopCount => self.llvm_intrinsic("llvm.ctpop", &overloads, &[a.into()])?,
            Intrinsic::LeadingZeros => {
                self.llvm_intrinsic("llvm.ctlz", &overloads, &[a.into(), no.into()])?
            }
            Intrinsic::FindFirstSet => return self.find_first_set(a),
            Intrinsic::ReverseBits => {
                self.llvm_intrinsic("llvm.bitreverse", &overloads, &[a.into()])?
            }
            Intrinsic::AbsInt => {
                self.llvm_intrinsic("llvm.abs", &overloads, &[a.into(), no.into()])?
            }
            Intrinsic::MulHigh | Intrinsic::MinInt | Intrinsic::MaxInt => {
                let b = self.int_of(arg(args, 1)?)?;
                match (op, signed) {
                    (Intrinsic::MulHigh, _) => return self.mul_high(a, b, signed),
                    (Intrinsic::MinInt, true) => self.two("llvm.smin", a, b)?,
                    (Intrinsic::MinInt, false) => self.two("llvm.umin", a, b)?,
                    (_, true) => self.two("llvm.smax", a, b)?,
                    (_, false) => self.two("llvm.umax", a, b)?,
                }
            }
            Intrinsic::BytePermute => {
                let b = self.int_of(arg(args, 1)?)?;
                let selector = self.int_of(arg(args, 2)?)?;
                // Bit 3 of a nibble would make `prmt` spread the byte's sign.
                let bytes = selector.get_type().const_int(0x7777, false);
                let selector = self.builder.build_and(selector, bytes, "")?;
                self.llvm_intrinsic("llvm.nvvm.prmt", &[], &[a.into(), b.into(), selector.into()])?
            }
            Intrinsic::FunnelShiftLeft | Intrinsic::FunnelShiftRight => {
                let high = self.int_of(arg(args, 1)?)?;
                let shift = self.int_of(arg(args, 2)?)?;
                let left = op == Intrinsic::FunnelShiftLeft;
                let name = if left { "llvm.fshl" } else { "llvm.fshr" };
                self.llvm_intrinsic(name, &overloads, &[high.into(), a.into(), shift.into()])?
            }
            _ => return Err(bug("lower", format!("{op:?} is no integer intrinsic"))),
        };
        let target = self.unit.storage_type(ty)?.into_int_type();
        let value = value.into_int_value();
        Ok(Value::Scalar(self.builder.build_int_cast_sign_flag(value, target, false, "")?.into()))
    }

    fn two(
        &self,
        name: &str,
        a: IntValue<'ctx>,
        b: IntValue<'ctx>,
    ) -> Result<inkwell::values::BasicValueEnum<'ctx>> {
        self.llvm_intrinsic(name, &[a.get_type().into()], &[a.into(), b.into()])
    }

    /// 1-based; 0 for zero.
    fn find_first_set(&self, a: IntValue<'ctx>) -> Result<Value<'ctx>> {
        let int = a.get_type();
        let no = self.unit.context.bool_type().const_zero();
        let zeros = self.llvm_intrinsic("llvm.cttz", &[int.into()], &[a.into(), no.into()])?;
        let word = self.unit.context.i32_type();
        let zeros = zeros.into_int_value();
        let zeros = self.builder.build_int_cast_sign_flag(zeros, word, false, "")?;
        let position = self.builder.build_int_add(zeros, word.const_int(1, false), "")?;
        let none = self.builder.build_int_compare(IntPredicate::EQ, a, int.const_zero(), "")?;
        Ok(Value::Scalar(self.builder.build_select(none, word.const_zero(), position, "")?))
    }

    fn mul_high(&self, a: IntValue<'ctx>, b: IntValue<'ctx>, signed: bool) -> Result<Value<'ctx>> {
        let name = match (a.get_type().get_bit_width(), signed) {
            (32, true) => "llvm.nvvm.mulhi.i",
            (32, false) => "llvm.nvvm.mulhi.ui",
            (64, true) => "llvm.nvvm.mulhi.ll",
            (64, false) => "llvm.nvvm.mulhi.ull",
            _ => return Err(bug("lower", "a high product of another width")),
        };
        self.llvm_value(name, &[a.into(), b.into()])
    }
}
