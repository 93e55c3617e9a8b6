//! Decoding of arithmetic: the usual shapes of an operation, and operations that integers and floating
//! point have alike.

use cdp_ptx::inst::{FloatMode, MinMax};
use cdp_ptx::{Operand, Reg, ScalarType};

use super::float::pick32;
use super::{Decoded, Decoder};
use crate::alu::half::HalfFlags;
use crate::alu::{LaneOp, float, half, int, select};
use crate::code::Alu;
use crate::float::soft::Mode;

type T = ScalarType;

/// What is said of an operation that has no such type.
pub(super) fn unsupported(what: &str, ty: T) -> String {
    format!("`{what}` on .{ty}")
}

impl Decoder<'_> {
    pub(super) fn unary<O: LaneOp>(
        &mut self,
        dst: Reg,
        src: Operand,
        wide: bool,
        imm: u32,
    ) -> Decoded {
        let (d, a) = (self.dst(dst, wide)?, self.row(src, wide)?);
        self.alu::<O>(d, [a, 0, 0], imm);
        Ok(())
    }

    pub(super) fn unary_to32<O: LaneOp>(
        &mut self,
        dst: Reg,
        src: Operand,
        wide: bool,
        imm: u32,
    ) -> Decoded {
        let (d, a) = (self.narrow_dst(dst)?, self.row(src, wide)?);
        self.alu::<O>(d, [a, 0, 0], imm);
        Ok(())
    }

    pub(super) fn binary<O: LaneOp>(
        &mut self,
        dst: Reg,
        a: Operand,
        b: Operand,
        wide: bool,
        imm: u32,
    ) -> Decoded {
        self.binary_with(select::<O>(), dst, a, b, wide, imm)
    }

    pub(super) fn binary_with(
        &mut self,
        alu: Alu,
        dst: Reg,
        a: Operand,
        b: Operand,
        wide: bool,
        imm: u32,
    ) -> Decoded {
        let (d, a, b) = (self.dst(dst, wide)?, self.row(a, wide)?, self.row(b, wide)?);
        self.alu_with(alu, d, [a, b, 0], imm);
        Ok(())
    }

    pub(super) fn ternary<O: LaneOp>(
        &mut self,
        dst: Reg,
        sources: [Operand; 3],
        wide: bool,
        imm: u32,
    ) -> Decoded {
        self.ternary_with(select::<O>(), dst, sources, wide, imm)
    }

    pub(super) fn ternary_with(
        &mut self,
        alu: Alu,
        dst: Reg,
        sources: [Operand; 3],
        wide: bool,
        imm: u32,
    ) -> Decoded {
        let d = self.dst(dst, wide)?;
        let [a, b, c] = sources;
        let (a, b, c) = (self.row(a, wide)?, self.row(b, wide)?, self.row(c, wide)?);
        self.alu_with(alu, d, [a, b, c], imm);
        Ok(())
    }

    #[allow(clippy::too_many_arguments)]
    pub(super) fn add_sub(
        &mut self,
        sub: bool,
        ty: T,
        mode: FloatMode,
        sat_int: bool,
        dst: Reg,
        a: Operand,
        b: Operand,
    ) -> Decoded {
        let rounding = Mode::of(mode.rounding);
        let nearest = rounding == Mode::NearestEven;
        let soft = float::soft_flags(rounding, mode.ftz, mode.sat);
        let (alu, wide, imm) = match (ty, sub) {
            (T::S32, false) if sat_int => (select::<int::AddSat32>(), false, 0),
            (T::S32, true) if sat_int => (select::<int::SubSat32>(), false, 0),
            (T::U16 | T::S16 | T::B16, false) => (select::<int::Add16>(), false, 0),
            (T::U16 | T::S16 | T::B16, true) => (select::<int::Sub16>(), false, 0),
            (T::U32 | T::S32 | T::B32, false) => (select::<int::Add32>(), false, 0),
            (T::U32 | T::S32 | T::B32, true) => (select::<int::Sub32>(), false, 0),
            (T::U64 | T::S64 | T::B64, false) => (select::<int::Add64>(), true, 0),
            (T::U64 | T::S64 | T::B64, true) => (select::<int::Sub64>(), true, 0),
            (T::U16x2 | T::S16x2, false) => (select::<int::Add16x2>(), false, 0),
            (T::F32, false) if nearest => (pick32!(AddF32, mode), false, 0),
            (T::F32, true) if nearest => (pick32!(SubF32, mode), false, 0),
            (T::F32, false) => (select::<float::AddF32Soft>(), false, soft),
            (T::F32, true) => (select::<float::SubF32Soft>(), false, soft),
            (T::F64, false) if nearest => (select::<float::AddF64>(), true, 0),
            (T::F64, true) if nearest => (select::<float::SubF64>(), true, 0),
            (T::F64, false) => (select::<float::AddF64Soft>(), true, soft),
            (T::F64, true) => (select::<float::SubF64Soft>(), true, soft),
            (T::F32x2, false) => (select::<half::AddF32x2>(), true, soft),
            (T::F32x2, true) => (select::<half::SubF32x2>(), true, soft),
            (T::F16 | T::F16x2 | T::BF16 | T::BF16x2, false) => {
                (select::<half::Add>(), false, self.half_arith(ty, mode)?)
            }
            (T::F16 | T::F16x2 | T::BF16 | T::BF16x2, true) => {
                (select::<half::Sub>(), false, self.half_arith(ty, mode)?)
            }
            _ => return Err(unsupported(if sub { "sub" } else { "add" }, ty)),
        };
        self.binary_with(alu, dst, a, b, wide, imm)
    }

    pub(super) fn abs_neg(
        &mut self,
        abs: bool,
        ty: T,
        ftz: bool,
        dst: Reg,
        src: Operand,
    ) -> Decoded {
        let flush = u32::from(ftz);
        match (ty, abs) {
            (T::S16, true) => self.unary::<int::Abs16>(dst, src, false, 0),
            (T::S16, false) => self.unary::<int::Neg16>(dst, src, false, 0),
            (T::S32, true) => self.unary::<int::Abs32>(dst, src, false, 0),
            (T::S32, false) => self.unary::<int::Neg32>(dst, src, false, 0),
            (T::S64, true) => self.unary::<int::Abs64>(dst, src, true, 0),
            (T::S64, false) => self.unary::<int::Neg64>(dst, src, true, 0),
            (T::F32, true) => self.unary::<float::AbsF32>(dst, src, false, flush),
            (T::F32, false) => self.unary::<float::NegF32>(dst, src, false, flush),
            (T::F64, true) => self.unary::<float::AbsF64>(dst, src, true, 0),
            (T::F64, false) => self.unary::<float::NegF64>(dst, src, true, 0),
            (T::F16 | T::F16x2 | T::BF16 | T::BF16x2, true) => {
                let imm = self.half_flags(ty, ftz)?.imm();
                self.unary::<half::Abs>(dst, src, false, imm)
            }
            (T::F16 | T::F16x2 | T::BF16 | T::BF16x2, false) => {
                let imm = self.half_flags(ty, ftz)?.imm();
                self.unary::<half::Neg>(dst, src, false, imm)
            }
            _ => Err(unsupported(if abs { "abs" } else { "neg" }, ty)),
        }
    }

    pub(super) fn min_max(&mut self, max: bool, m: &MinMax) -> Decoded {
        let ty = m.ty;
        let (alu, wide, imm): (Alu, bool, u32) = match (ty, max) {
            (T::U16, false) => (select::<int::MinU16>(), false, 0),
            (T::U16, true) => (select::<int::MaxU16>(), false, 0),
            (T::S16, false) => (select::<int::MinS16>(), false, 0),
            (T::S16, true) => (select::<int::MaxS16>(), false, 0),
            (T::U32, false) => (select::<int::MinU32>(), false, 0),
            (T::U32, true) => (select::<int::MaxU32>(), false, 0),
            (T::S32, false) if m.relu => (select::<int::MinReluS32>(), false, 0),
            (T::S32, true) if m.relu => (select::<int::MaxReluS32>(), false, 0),
            (T::S32, false) => (select::<int::MinS32>(), false, 0),
            (T::S32, true) => (select::<int::MaxS32>(), false, 0),
            (T::U64, false) => (select::<int::MinU64>(), true, 0),
            (T::U64, true) => (select::<int::MaxU64>(), true, 0),
            (T::S64, false) => (select::<int::MinS64>(), true, 0),
            (T::S64, true) => (select::<int::MaxS64>(), true, 0),
            (T::U16x2, false) => (select::<int::MinU16x2>(), false, 0),
            (T::U16x2, true) => (select::<int::MaxU16x2>(), false, 0),
            (T::S16x2, false) if m.relu => (select::<int::MinReluS16x2>(), false, 0),
            (T::S16x2, true) if m.relu => (select::<int::MaxReluS16x2>(), false, 0),
            (T::S16x2, false) => (select::<int::MinS16x2>(), false, 0),
            (T::S16x2, true) => (select::<int::MaxS16x2>(), false, 0),
            (T::F32, false) => (
                select::<float::MinF32>(),
                false,
                float::min_max_flags(m.ftz, m.nan, m.xorsign_abs),
            ),
            (T::F32, true) => (
                select::<float::MaxF32>(),
                false,
                float::min_max_flags(m.ftz, m.nan, m.xorsign_abs),
            ),
            (T::F64, false) => (select::<float::MinF64>(), true, 0),
            (T::F64, true) => (select::<float::MaxF64>(), true, 0),
            (T::F16 | T::F16x2 | T::BF16 | T::BF16x2, _) => {
                let flags = self.half_flags(ty, m.ftz)?;
                let imm = HalfFlags { nan: m.nan, xorsign_abs: m.xorsign_abs, ..flags }.imm();
                (if max { select::<half::Max>() } else { select::<half::Min>() }, false, imm)
            }
            _ => return Err(unsupported(if max { "max" } else { "min" }, ty)),
        };
        let Some(third) = m.c else {
            return self.binary_with(alu, m.dst, m.a, m.b, wide, imm);
        };
        let (d, a, b) = (self.dst(m.dst, wide)?, self.row(m.a, wide)?, self.row(m.b, wide)?);
        let c = self.row(third, wide)?;
        let temp = self.temp(wide);
        self.alu_with(alu, temp, [a, b, 0], imm);
        self.alu_with(alu, d, [temp, c, 0], imm);
        Ok(())
    }
}
