//! Conversions between 128-bit integers and floats on the device, where LLVM has no library to call.

use cdp_ir::TypeId;
use inkwell::types::{BasicTypeEnum, FloatType};
use inkwell::values::{BasicValueEnum, FloatValue, IntValue};
use inkwell::{FloatPredicate, IntPredicate};

use super::body::Body;
use crate::error::{Result, bug};
use crate::raw;

/// 2^64, 2^127 and 2^128 as double precision.
const TWO_64: f64 = 18_446_744_073_709_551_616.0;
const TWO_127: f64 = 170_141_183_460_469_231_731_687_303_715_884_105_728.0;
const TWO_128: f64 = TWO_64 * TWO_64;

impl<'ctx> Body<'_, '_, 'ctx> {
    /// Rounds to nearest even, once: the magnitude is shifted until its top bit is set, its upper
    /// half (with the lower half's bits collected in the lowest) is converted and scaled by a power
    /// of two. Formats of 16 bits go through single precision, which has enough digits for the
    /// second rounding not to show.
    pub(super) fn wide_to_float(
        &self,
        value: IntValue<'ctx>,
        signed: bool,
        to: TypeId,
    ) -> Result<BasicValueEnum<'ctx>> {
        let BasicTypeEnum::FloatType(target) = self.unit.storage_type(to)? else {
            return Err(bug("lower", "a floating-point type was wanted"));
        };
        let context = self.unit.context;
        let double = target == context.f64_type();
        let float = if double { target } else { context.f32_type() };
        let b = &self.builder;
        let wide = value.get_type();
        let zero = wide.const_zero();
        let negative = b.build_int_compare(IntPredicate::SLT, value, zero, "")?;
        let magnitude = if signed {
            let minus = b.build_int_neg(value, "")?;
            b.build_select(negative, minus, value, "")?.into_int_value()
        } else {
            value
        };
        let no = context.bool_type().const_zero();
        let zeros =
            self.llvm_intrinsic("llvm.ctlz", &[wide.into()], &[magnitude.into(), no.into()])?;
        let zeros = zeros.into_int_value();
        // A zero has 128 leading zeros; it is shifted by 0 then, and stays zero.
        let is_zero = b.build_int_compare(IntPredicate::EQ, magnitude, zero, "")?;
        let shift = b.build_select(is_zero, zero, zeros, "")?.into_int_value();
        let shifted = b.build_left_shift(magnitude, shift, "")?;
        let half = context.i64_type();
        let high = b.build_right_shift(shifted, wide.const_int(64, false), false, "")?;
        let high = b.build_int_truncate(high, half, "")?;
        let low = b.build_int_truncate(shifted, half, "")?;
        let sticky = b.build_int_compare(IntPredicate::NE, low, half.const_zero(), "")?;
        let sticky = b.build_int_z_extend(sticky, half, "")?;
        let digits = b.build_or(high, sticky, "")?;
        let digits = b.build_unsigned_int_to_float(digits, float, "")?;
        let scaled = b.build_float_mul(digits, self.power_of_two(shift, float)?, "")?;
        let result = if signed {
            let minus = b.build_float_neg(scaled, "")?;
            b.build_select(negative, minus, scaled, "")?.into_float_value()
        } else {
            scaled
        };
        if target == float {
            return Ok(result.into());
        }
        Ok(b.build_float_trunc(result, target, "")?.into())
    }

    /// 2^(64 - shift), put together from its exponent.
    fn power_of_two(
        &self,
        shift: IntValue<'ctx>,
        float: FloatType<'ctx>,
    ) -> Result<FloatValue<'ctx>> {
        let context = self.unit.context;
        let (int, bias, mantissa_bits) = if float == context.f64_type() {
            (context.i64_type(), 1023, 52)
        } else {
            (context.i32_type(), 127, 23)
        };
        let b = &self.builder;
        let shift = b.build_int_truncate(shift, int, "")?;
        let exponent = b.build_int_sub(int.const_int(bias + 64, false), shift, "")?;
        let bits = b.build_left_shift(exponent, int.const_int(mantissa_bits, false), "")?;
        Ok(b.build_bit_cast(bits, float, "")?.into_float_value())
    }

    /// Toward zero; out of range saturates, a NaN gives 0.
    pub(super) fn float_to_wide(
        &self,
        value: FloatValue<'ctx>,
        signed: bool,
        to: TypeId,
    ) -> Result<BasicValueEnum<'ctx>> {
        let BasicTypeEnum::IntType(wide) = self.unit.storage_type(to)? else {
            return Err(bug("lower", "an integer type was wanted"));
        };
        let double = self.unit.context.f64_type();
        let b = &self.builder;
        let value =
            if value.get_type() == double { value } else { b.build_float_ext(value, double, "")? };
        let constant = |value: f64| double.const_float(value);
        let magnitude = self.llvm_intrinsic("llvm.fabs", &[double.into()], &[value.into()])?;
        let magnitude = magnitude.into_float_value();
        let to_u64 = |value: FloatValue<'ctx>| -> Result<IntValue<'ctx>> {
            let value = self.llvm_intrinsic("llvm.nvvm.d2ull.rz", &[], &[value.into()])?;
            Ok(value.into_int_value())
        };
        let upper = b.build_float_mul(magnitude, constant(1.0 / TWO_64), "")?;
        let high = to_u64(upper)?;
        // The rest is exact: the upper part holds a prefix of the value's digits.
        let taken = b.build_unsigned_int_to_float(high, double, "")?;
        let taken = b.build_float_neg(taken, "")?;
        let operands = [taken.into(), constant(TWO_64).into(), magnitude.into()];
        let rest = self.llvm_intrinsic("llvm.fma", &[double.into()], &operands)?;
        let low = to_u64(rest.into_float_value())?;
        let high = b.build_int_z_extend(high, wide, "")?;
        let high = b.build_left_shift(high, wide.const_int(64, false), "")?;
        let low = b.build_int_z_extend(low, wide, "")?;
        let whole = b.build_or(high, low, "")?;
        let (limit, most, least) =
            if signed { (TWO_127, i128::MAX, i128::MIN) } else { (TWO_128, -1, 0) };
        let number = |value: i128| -> IntValue<'ctx> {
            use inkwell::types::AsTypeRef;
            raw::const_int(wide.as_type_ref(), value)
        };
        let over = b.build_float_compare(FloatPredicate::OGE, magnitude, constant(limit), "")?;
        let positive = b.build_select(over, number(most), whole, "")?.into_int_value();
        let minus = b.build_int_neg(whole, "")?;
        let minus = if signed { minus } else { number(0) };
        let negative = b.build_select(over, number(least), minus, "")?.into_int_value();
        let below = b.build_float_compare(FloatPredicate::OLT, value, constant(0.0), "")?;
        let result = b.build_select(below, negative, positive, "")?.into_int_value();
        let nan = b.build_float_compare(FloatPredicate::UNO, value, value, "")?;
        Ok(b.build_select(nan, number(0), result, "")?)
    }
}
