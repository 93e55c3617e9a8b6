//! Decoding of arithmetic that floating point alone has, and how its modes become numbers of an operation.

use cdp_ptx::inst::FloatMode;
use cdp_ptx::{DivMode, Operand, Reg, ScalarType};

use super::arith::unsupported;
use super::{Decoded, Decoder};
use crate::alu::half::HalfFlags;
use crate::alu::{float, half, select};
use crate::float::soft::Mode;

type T = ScalarType;

/// Chooses among the four flush and saturate versions of an `.f32` operation.
macro_rules! pick32 {
    ($name:ident, $mode:expr) => {
        match ($mode.ftz, $mode.sat) {
            (false, false) => select::<float::$name<false, false>>(),
            (false, true) => select::<float::$name<false, true>>(),
            (true, false) => select::<float::$name<true, false>>(),
            (true, true) => select::<float::$name<true, true>>(),
        }
    };
}

pub(super) use pick32;

impl Decoder<'_> {
    /// Flags of a half-precision operation of this type.
    pub(super) fn half_flags(&self, ty: T, ftz: bool) -> Result<HalfFlags, String> {
        let (bf16, packed) = match ty {
            T::F16 => (false, false),
            T::F16x2 => (false, true),
            T::BF16 => (true, false),
            T::BF16x2 => (true, true),
            other => return Err(format!("a half-precision operation on .{other}")),
        };
        Ok(HalfFlags { bf16, packed, ftz, ..HalfFlags::default() })
    }

    pub(super) fn half_arith(&self, ty: T, mode: FloatMode) -> Result<u32, String> {
        let rounding = float::soft_flags(Mode::of(mode.rounding), false, false);
        Ok(HalfFlags { sat: mode.sat, rounding, ..self.half_flags(ty, mode.ftz)? }.imm())
    }

    pub(super) fn mixed_imm(&self, src_ty: T, mode: FloatMode) -> u32 {
        u32::from(src_ty == T::BF16)
            | float::soft_flags(Mode::of(mode.rounding), mode.ftz, mode.sat) << 8
    }

    pub(super) fn mul_float(
        &mut self,
        ty: T,
        mode: FloatMode,
        dst: Reg,
        a: Operand,
        b: Operand,
    ) -> Decoded {
        let rounding = Mode::of(mode.rounding);
        let nearest = rounding == Mode::NearestEven;
        let soft = float::soft_flags(rounding, mode.ftz, mode.sat);
        let (alu, wide, imm) = match ty {
            T::F32 if nearest => (pick32!(MulF32, mode), false, 0),
            T::F32 => (select::<float::MulF32Soft>(), false, soft),
            T::F64 if nearest => (select::<float::MulF64>(), true, 0),
            T::F64 => (select::<float::MulF64Soft>(), true, soft),
            T::F32x2 => (select::<half::MulF32x2>(), true, soft),
            T::F16 | T::F16x2 | T::BF16 | T::BF16x2 => {
                (select::<half::Mul>(), false, self.half_arith(ty, mode)?)
            }
            _ => return Err(unsupported("mul", ty)),
        };
        self.binary_with(alu, dst, a, b, wide, imm)
    }

    #[allow(clippy::too_many_arguments)]
    pub(super) fn fma(
        &mut self,
        ty: T,
        mode: FloatMode,
        relu: bool,
        dst: Reg,
        a: Operand,
        b: Operand,
        c: Operand,
    ) -> Decoded {
        let rounding = Mode::of(mode.rounding);
        let nearest = rounding == Mode::NearestEven;
        let soft = float::soft_flags(rounding, mode.ftz, mode.sat);
        let (alu, wide, imm) = match ty {
            T::F32 if nearest => (pick32!(FmaF32, mode), false, 0),
            T::F32 => (select::<float::FmaF32Soft>(), false, soft),
            T::F64 if nearest => (select::<float::FmaF64>(), true, 0),
            T::F64 => (select::<float::FmaF64Soft>(), true, soft),
            T::F32x2 => (select::<half::FmaF32x2>(), true, soft),
            T::F16 | T::F16x2 | T::BF16 | T::BF16x2 => {
                let relu =
                    if relu { HalfFlags { relu: true, ..HalfFlags::default() }.imm() } else { 0 };
                (select::<half::Fma>(), false, self.half_arith(ty, mode)? | relu)
            }
            _ => return Err(unsupported("fma", ty)),
        };
        self.ternary_with(alu, dst, [a, b, c], wide, imm)
    }

    pub(super) fn div_float(
        &mut self,
        ty: T,
        mode: DivMode,
        ftz: bool,
        dst: Reg,
        a: Operand,
        b: Operand,
    ) -> Decoded {
        let flush = FloatMode { ftz, ..FloatMode::default() };
        let imm = |mode: Mode| float::soft_flags(mode, ftz, false);
        let (alu, wide, imm) = match (ty, mode) {
            (T::F32, DivMode::Approx) => {
                (select::<float::DivApprox>(), false, imm(Mode::NearestEven))
            }
            (T::F32, DivMode::Full) => (select::<float::DivFull>(), false, imm(Mode::NearestEven)),
            (T::F32, DivMode::Rn) => (pick32!(DivF32, flush), false, 0),
            (T::F32, mode) => {
                (select::<float::DivF32Soft>(), false, imm(Mode::of(mode.rounding())))
            }
            (T::F64, DivMode::Rn) => (select::<float::DivF64>(), true, 0),
            (T::F64, mode) if mode.rounding().is_some() => {
                (select::<float::DivF64Soft>(), true, imm(Mode::of(mode.rounding())))
            }
            _ => return Err(unsupported("div", ty)),
        };
        self.binary_with(alu, dst, a, b, wide, imm)
    }

    pub(super) fn sqrt(
        &mut self,
        ty: T,
        mode: DivMode,
        ftz: bool,
        dst: Reg,
        src: Operand,
    ) -> Decoded {
        match (ty, mode) {
            (T::F32, DivMode::Approx | DivMode::Full | DivMode::Rn) if ftz => {
                self.unary::<float::SqrtF32Ftz>(dst, src, false, 0)
            }
            (T::F32, DivMode::Approx | DivMode::Full | DivMode::Rn) => {
                self.unary::<float::SqrtF32>(dst, src, false, 0)
            }
            (T::F32, mode) => {
                let imm = float::soft_flags(Mode::of(mode.rounding()), ftz, false);
                self.unary::<float::SqrtF32Soft>(dst, src, false, imm)
            }
            (T::F64, DivMode::Rn) => self.unary::<float::SqrtF64>(dst, src, true, 0),
            (T::F64, mode) if mode.rounding().is_some() => {
                let imm = float::soft_flags(Mode::of(mode.rounding()), false, false);
                self.unary::<float::SqrtF64Soft>(dst, src, true, imm)
            }
            _ => Err(unsupported("sqrt", ty)),
        }
    }

    pub(super) fn rcp(
        &mut self,
        ty: T,
        mode: DivMode,
        ftz: bool,
        dst: Reg,
        src: Operand,
    ) -> Decoded {
        match (ty, mode) {
            (T::F32, DivMode::Approx | DivMode::Full | DivMode::Rn) if ftz => {
                self.unary::<float::RcpF32Ftz>(dst, src, false, 0)
            }
            (T::F32, DivMode::Approx | DivMode::Full | DivMode::Rn) => {
                self.unary::<float::RcpF32>(dst, src, false, 0)
            }
            (T::F32, mode) => {
                let imm = float::soft_flags(Mode::of(mode.rounding()), ftz, false);
                self.unary::<float::RcpF32Soft>(dst, src, false, imm)
            }
            (T::F64, DivMode::Approx | DivMode::Full) => {
                self.unary::<float::RcpApproxF64>(dst, src, true, 0)
            }
            (T::F64, DivMode::Rn) => self.unary::<float::RcpF64>(dst, src, true, 0),
            (T::F64, mode) => {
                let imm = float::soft_flags(Mode::of(mode.rounding()), false, false);
                self.unary::<float::RcpF64Soft>(dst, src, true, imm)
            }
            _ => Err(unsupported("rcp", ty)),
        }
    }
}
