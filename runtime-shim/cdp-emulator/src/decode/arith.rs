//! Decoding of arithmetic, logic, comparison and selection.

use cdp_ptx::inst::{DivMode, FloatMode, Lop3Pred, MinMax};
use cdp_ptx::{MulPart, Operand, PrmtMode, Reg, Rounding, ScalarType};

use super::{Decoded, Decoder};
use crate::alu::half::HalfFlags;
use crate::alu::{LaneOp, bits, float, half, int, select};
use crate::code::{Alu, Op};
use crate::float::soft::Mode;

type T = ScalarType;

/// The soft-float mode of a PTX rounding.
pub(super) fn mode_of(rounding: Option<Rounding>) -> Mode {
    match rounding {
        None | Some(Rounding::Rn) => Mode::NearestEven,
        Some(Rounding::Rz) => Mode::Zero,
        Some(Rounding::Rm) => Mode::Down,
        Some(Rounding::Rp) => Mode::Up,
    }
}

fn unsupported(what: &str, ty: T) -> String {
    format!("`{what}` on .{ty}")
}

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

    fn binary_with(
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

    fn ternary_with(
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

    fn half_arith(&self, ty: T, mode: FloatMode) -> Result<u32, String> {
        let rounding = float::soft_flags(mode_of(mode.rounding), false, false);
        Ok(HalfFlags { sat: mode.sat, rounding, ..self.half_flags(ty, mode.ftz)? }.imm())
    }

    pub(super) fn mixed_imm(&self, src_ty: T, mode: FloatMode) -> u32 {
        u32::from(src_ty == T::BF16)
            | float::soft_flags(mode_of(mode.rounding), mode.ftz, mode.sat) << 8
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
        let rounding = mode_of(mode.rounding);
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

    pub(super) fn mul_float(
        &mut self,
        ty: T,
        mode: FloatMode,
        dst: Reg,
        a: Operand,
        b: Operand,
    ) -> Decoded {
        let rounding = mode_of(mode.rounding);
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
        let rounding = mode_of(mode.rounding);
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

    pub(super) fn mul_int(
        &mut self,
        ty: T,
        part: MulPart,
        dst: Reg,
        a: Operand,
        b: Operand,
    ) -> Decoded {
        let signed = ty.is_signed();
        let alu = match (part, ty.bits(), signed) {
            (MulPart::Lo, 16, _) => select::<int::MulLo16>(),
            (MulPart::Lo, 32, _) => select::<int::MulLo32>(),
            (MulPart::Lo, 64, _) => select::<int::MulLo64>(),
            (MulPart::Hi, 16, false) => select::<int::MulHiU16>(),
            (MulPart::Hi, 16, true) => select::<int::MulHiS16>(),
            (MulPart::Hi, 32, false) => select::<int::MulHiU32>(),
            (MulPart::Hi, 32, true) => select::<int::MulHiS32>(),
            (MulPart::Hi, 64, false) => select::<int::MulHiU64>(),
            (MulPart::Hi, 64, true) => select::<int::MulHiS64>(),
            (MulPart::Wide, 16, false) => select::<int::MulWideU16>(),
            (MulPart::Wide, 16, true) => select::<int::MulWideS16>(),
            (MulPart::Wide, 32, false) => select::<int::MulWideU32>(),
            (MulPart::Wide, 32, true) => select::<int::MulWideS32>(),
            _ => return Err(unsupported("mul", ty)),
        };
        let wide = ty.bits() == 64;
        let d = self.dst(dst, wide || (part == MulPart::Wide && ty.bits() == 32))?;
        let (a, b) = (self.row(a, wide)?, self.row(b, wide)?);
        self.alu_with(alu, d, [a, b, 0], 0);
        Ok(())
    }

    #[allow(clippy::too_many_arguments)]
    pub(super) fn mad_int(
        &mut self,
        ty: T,
        part: MulPart,
        sat: bool,
        dst: Reg,
        a: Operand,
        b: Operand,
        c: Operand,
    ) -> Decoded {
        let signed = ty.is_signed();
        let alu = match (part, ty.bits(), signed) {
            (MulPart::Lo, 16, _) => select::<int::MadLo16>(),
            (MulPart::Lo, 32, _) => select::<int::MadLo32>(),
            (MulPart::Lo, 64, _) => select::<int::MadLo64>(),
            (MulPart::Hi, 16, false) => select::<int::MadHiU16>(),
            (MulPart::Hi, 16, true) => select::<int::MadHiS16>(),
            (MulPart::Hi, 32, false) => select::<int::MadHiU32>(),
            (MulPart::Hi, 32, true) if sat => select::<int::MadHiSatS32>(),
            (MulPart::Hi, 32, true) => select::<int::MadHiS32>(),
            (MulPart::Hi, 64, false) => select::<int::MadHiU64>(),
            (MulPart::Hi, 64, true) => select::<int::MadHiS64>(),
            (MulPart::Wide, 16, false) => select::<int::MadWideU16>(),
            (MulPart::Wide, 16, true) => select::<int::MadWideS16>(),
            (MulPart::Wide, 32, false) => select::<int::MadWideU32>(),
            (MulPart::Wide, 32, true) => select::<int::MadWideS32>(),
            _ => return Err(unsupported("mad", ty)),
        };
        let wide = ty.bits() == 64;
        let wide_result = wide || (part == MulPart::Wide && ty.bits() == 32);
        let d = self.dst(dst, wide_result)?;
        let (a, b, c) = (self.row(a, wide)?, self.row(b, wide)?, self.row(c, wide_result)?);
        self.alu_with(alu, d, [a, b, c], 0);
        Ok(())
    }

    pub(super) fn mul24(
        &mut self,
        ty: T,
        part: MulPart,
        dst: Reg,
        a: Operand,
        b: Operand,
    ) -> Decoded {
        let alu = match (part, ty.is_signed()) {
            (MulPart::Hi, false) => select::<int::MulHi24U>(),
            (MulPart::Hi, true) => select::<int::MulHi24S>(),
            (MulPart::Lo | MulPart::Wide, false) => select::<int::MulLo24U>(),
            (MulPart::Lo | MulPart::Wide, true) => select::<int::MulLo24S>(),
        };
        self.binary_with(alu, dst, a, b, false, 0)
    }

    #[allow(clippy::too_many_arguments)]
    pub(super) fn mad24(
        &mut self,
        ty: T,
        part: MulPart,
        sat: bool,
        dst: Reg,
        a: Operand,
        b: Operand,
        c: Operand,
    ) -> Decoded {
        let alu = match (part, ty.is_signed()) {
            (MulPart::Hi, false) => select::<int::MadHi24U>(),
            (MulPart::Hi, true) if sat => select::<int::MadHi24SatS>(),
            (MulPart::Hi, true) => select::<int::MadHi24S>(),
            (MulPart::Lo | MulPart::Wide, false) => select::<int::MadLo24U>(),
            (MulPart::Lo | MulPart::Wide, true) => select::<int::MadLo24S>(),
        };
        self.ternary_with(alu, dst, [a, b, c], false, 0)
    }

    pub(super) fn sad(&mut self, ty: T, dst: Reg, a: Operand, b: Operand, c: Operand) -> Decoded {
        let alu = match (ty.bits(), ty.is_signed()) {
            (16, false) => select::<int::SadU16>(),
            (16, true) => select::<int::SadS16>(),
            (32, false) => select::<int::SadU32>(),
            (32, true) => select::<int::SadS32>(),
            (64, false) => select::<int::SadU64>(),
            (64, true) => select::<int::SadS64>(),
            _ => return Err(unsupported("sad", ty)),
        };
        self.ternary_with(alu, dst, [a, b, c], ty.bits() == 64, 0)
    }

    /// If it was asked for, looks whether a divisor is zero.
    fn divisor(&mut self, ty: T, b: Operand) -> Decoded {
        if self.links.check_divisions {
            let wide = ty.bits() == 64;
            let (a, imm) = (self.row(b, wide)?, ty.bits());
            let inst = crate::code::Inst { a, imm, ..self.blank(Op::Divisor { wide }) };
            self.emit(inst);
        }
        Ok(())
    }

    pub(super) fn div_int(&mut self, ty: T, dst: Reg, a: Operand, b: Operand) -> Decoded {
        self.divisor(ty, b)?;
        let alu = match (ty.bits(), ty.is_signed()) {
            (16, false) => select::<int::DivU16>(),
            (16, true) => select::<int::DivS16>(),
            (32, false) => select::<int::DivU32>(),
            (32, true) => select::<int::DivS32>(),
            (64, false) => select::<int::DivU64>(),
            (64, true) => select::<int::DivS64>(),
            _ => return Err(unsupported("div", ty)),
        };
        self.binary_with(alu, dst, a, b, ty.bits() == 64, 0)
    }

    pub(super) fn rem(&mut self, ty: T, dst: Reg, a: Operand, b: Operand) -> Decoded {
        self.divisor(ty, b)?;
        let alu = match (ty.bits(), ty.is_signed()) {
            (16, false) => select::<int::RemU16>(),
            (16, true) => select::<int::RemS16>(),
            (32, false) => select::<int::RemU32>(),
            (32, true) => select::<int::RemS32>(),
            (64, false) => select::<int::RemU64>(),
            (64, true) => select::<int::RemS64>(),
            _ => return Err(unsupported("rem", ty)),
        };
        self.binary_with(alu, dst, a, b, ty.bits() == 64, 0)
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
            (T::F32, DivMode::Ieee(Rounding::Rn)) => (pick32!(DivF32, flush), false, 0),
            (T::F32, DivMode::Ieee(r)) => {
                (select::<float::DivF32Soft>(), false, imm(mode_of(Some(r))))
            }
            (T::F64, DivMode::Ieee(Rounding::Rn)) => (select::<float::DivF64>(), true, 0),
            (T::F64, DivMode::Ieee(r)) => {
                (select::<float::DivF64Soft>(), true, imm(mode_of(Some(r))))
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
            (T::F32, DivMode::Approx | DivMode::Full | DivMode::Ieee(Rounding::Rn)) if ftz => {
                self.unary::<float::SqrtF32Ftz>(dst, src, false, 0)
            }
            (T::F32, DivMode::Approx | DivMode::Full | DivMode::Ieee(Rounding::Rn)) => {
                self.unary::<float::SqrtF32>(dst, src, false, 0)
            }
            (T::F32, DivMode::Ieee(r)) => {
                let imm = float::soft_flags(mode_of(Some(r)), ftz, false);
                self.unary::<float::SqrtF32Soft>(dst, src, false, imm)
            }
            (T::F64, DivMode::Ieee(Rounding::Rn)) => {
                self.unary::<float::SqrtF64>(dst, src, true, 0)
            }
            (T::F64, DivMode::Ieee(r)) => {
                let imm = float::soft_flags(mode_of(Some(r)), false, false);
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
            (T::F32, DivMode::Approx | DivMode::Full | DivMode::Ieee(Rounding::Rn)) if ftz => {
                self.unary::<float::RcpF32Ftz>(dst, src, false, 0)
            }
            (T::F32, DivMode::Approx | DivMode::Full | DivMode::Ieee(Rounding::Rn)) => {
                self.unary::<float::RcpF32>(dst, src, false, 0)
            }
            (T::F32, DivMode::Ieee(r)) => {
                let imm = float::soft_flags(mode_of(Some(r)), ftz, false);
                self.unary::<float::RcpF32Soft>(dst, src, false, imm)
            }
            (T::F64, DivMode::Approx | DivMode::Full) => {
                self.unary::<float::RcpApproxF64>(dst, src, true, 0)
            }
            (T::F64, DivMode::Ieee(Rounding::Rn)) => self.unary::<float::RcpF64>(dst, src, true, 0),
            (T::F64, DivMode::Ieee(r)) => {
                let imm = float::soft_flags(mode_of(Some(r)), false, false);
                self.unary::<float::RcpF64Soft>(dst, src, true, imm)
            }
            _ => Err(unsupported("rcp", ty)),
        }
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

    fn carry_row(&mut self) -> u32 {
        match self.carry {
            Some(row) => row,
            None => {
                let row = self.narrow_temp();
                self.carry = Some(row);
                row
            }
        }
    }

    #[allow(clippy::too_many_arguments)]
    pub(super) fn carry(
        &mut self,
        sub: bool,
        ty: T,
        carry_in: bool,
        carry_out: bool,
        dst: Reg,
        a: Operand,
        b: Operand,
    ) -> Decoded {
        let wide = ty.bits() == 64;
        let (d, a, b) = (self.dst(dst, wide)?, self.row(a, wide)?, self.row(b, wide)?);
        self.carry_rows(sub, wide, (carry_in, carry_out), d, a, b);
        Ok(())
    }

    fn carry_rows(&mut self, sub: bool, wide: bool, carry: (bool, bool), d: u32, a: u32, b: u32) {
        let flag = self.carry_row();
        // Without a carry in, nothing is added, and nothing borrowed.
        let c = if carry.0 { flag } else { self.constant(u64::from(sub), false) };
        // The carry is computed first, because the destination may be one of the sources.
        let next = self.narrow_temp();
        let (out, sum): (Alu, Alu) = match (sub, wide) {
            (false, false) => (select::<bits::AddCarryOut32>(), select::<bits::AddCarry32>()),
            (false, true) => (select::<bits::AddCarryOut64>(), select::<bits::AddCarry64>()),
            (true, false) => (select::<bits::SubCarryOut32>(), select::<bits::SubCarry32>()),
            (true, true) => (select::<bits::SubCarryOut64>(), select::<bits::SubCarry64>()),
        };
        if carry.1 {
            self.alu_with(out, next, [a, b, c], 0);
        }
        self.alu_with(sum, d, [a, b, c], 0);
        if carry.1 {
            self.alu::<int::Mov32>(flag, [next, 0, 0], 0);
        }
    }

    #[allow(clippy::too_many_arguments)]
    pub(super) fn mad_carry(
        &mut self,
        ty: T,
        part: MulPart,
        carry: (bool, bool),
        dst: Reg,
        a: Operand,
        b: Operand,
        c: Operand,
    ) -> Decoded {
        let wide = ty.bits() == 64;
        let alu = match (part, wide, ty.is_signed()) {
            (MulPart::Lo | MulPart::Wide, false, _) => select::<int::MulLo32>(),
            (MulPart::Lo | MulPart::Wide, true, _) => select::<int::MulLo64>(),
            (MulPart::Hi, false, false) => select::<int::MulHiU32>(),
            (MulPart::Hi, false, true) => select::<int::MulHiS32>(),
            (MulPart::Hi, true, false) => select::<int::MulHiU64>(),
            (MulPart::Hi, true, true) => select::<int::MulHiS64>(),
        };
        let (d, a, b) = (self.dst(dst, wide)?, self.row(a, wide)?, self.row(b, wide)?);
        let c = self.row(c, wide)?;
        let product = self.temp(wide);
        self.alu_with(alu, product, [a, b, 0], 0);
        self.carry_rows(false, wide, carry, d, product, c);
        Ok(())
    }

    pub(super) fn bfe(
        &mut self,
        ty: T,
        dst: Reg,
        src: Operand,
        pos: Operand,
        len: Operand,
    ) -> Decoded {
        let wide = ty.bits() == 64;
        let alu = match (wide, ty.is_signed()) {
            (false, false) => select::<bits::BfeU32>(),
            (false, true) => select::<bits::BfeS32>(),
            (true, false) => select::<bits::BfeU64>(),
            (true, true) => select::<bits::BfeS64>(),
        };
        let (d, a) = (self.dst(dst, wide)?, self.row(src, wide)?);
        let (b, c) = (self.narrow(pos)?, self.narrow(len)?);
        self.alu_with(alu, d, [a, b, c], 0);
        Ok(())
    }

    pub(super) fn bfi(
        &mut self,
        ty: T,
        dst: Reg,
        field: Operand,
        base: Operand,
        pos: Operand,
        len: Operand,
    ) -> Decoded {
        let wide = ty.bits() == 64;
        let (d, field, base) =
            (self.dst(dst, wide)?, self.row(field, wide)?, self.row(base, wide)?);
        let (pos, len) = (self.narrow(pos)?, self.narrow(len)?);
        let (mask, moved) = (self.temp(wide), self.temp(wide));
        if wide {
            self.alu::<bits::BfiMask64>(mask, [pos, len, 0], 0);
            self.alu::<bits::BfiShift64>(moved, [field, pos, 0], 0);
            self.alu::<bits::Merge64>(d, [moved, base, mask], 0);
        } else {
            self.alu::<bits::BfiMask32>(mask, [pos, len, 0], 0);
            self.alu::<bits::BfiShift32>(moved, [field, pos, 0], 0);
            self.alu::<bits::Merge32>(d, [moved, base, mask], 0);
        }
        Ok(())
    }

    pub(super) fn prmt(
        &mut self,
        mode: PrmtMode,
        dst: Reg,
        a: Operand,
        b: Operand,
        c: Operand,
    ) -> Decoded {
        let alu = match mode {
            PrmtMode::Generic => select::<bits::Prmt>(),
            PrmtMode::ForwardExtract => select::<bits::PrmtF4e>(),
            PrmtMode::BackwardExtract => select::<bits::PrmtB4e>(),
            PrmtMode::Replicate8 => select::<bits::PrmtRc8>(),
            PrmtMode::EdgeClampLeft => select::<bits::PrmtEcl>(),
            PrmtMode::EdgeClampRight => select::<bits::PrmtEcr>(),
            PrmtMode::Replicate16 => select::<bits::PrmtRc16>(),
        };
        self.ternary_with(alu, dst, [a, b, c], false, 0)
    }

    pub(super) fn shift(
        &mut self,
        left: bool,
        ty: T,
        dst: Reg,
        a: Operand,
        amount: Operand,
    ) -> Decoded {
        let alu = match (left, ty.bits(), ty.is_signed()) {
            (true, 16, _) => select::<int::Shl16>(),
            (true, 32, _) => select::<int::Shl32>(),
            (true, 64, _) => select::<int::Shl64>(),
            (false, 16, false) => select::<int::ShrU16>(),
            (false, 16, true) => select::<int::ShrS16>(),
            (false, 32, false) => select::<int::ShrU32>(),
            (false, 32, true) => select::<int::ShrS32>(),
            (false, 64, false) => select::<int::ShrU64>(),
            (false, 64, true) => select::<int::ShrS64>(),
            _ => return Err(unsupported(if left { "shl" } else { "shr" }, ty)),
        };
        let wide = ty.bits() == 64;
        let (d, a, n) = (self.dst(dst, wide)?, self.row(a, wide)?, self.narrow(amount)?);
        self.alu_with(alu, d, [a, n, 0], 0);
        Ok(())
    }

    pub(super) fn lop3(
        &mut self,
        table: u8,
        dst: Option<Reg>,
        sources: [Operand; 3],
        pred: Option<Lop3Pred>,
    ) -> Decoded {
        let d = match dst {
            Some(reg) => self.narrow_dst(reg)?,
            None => self.narrow_temp(),
        };
        let [a, b, c] = sources;
        let (a, b, c) = (self.narrow(a)?, self.narrow(b)?, self.narrow(c)?);
        self.alu::<int::Lop3>(d, [a, b, c], u32::from(table));
        if let Some(output) = pred
            && let Some(reg) = output.dst
        {
            let p = self.pred_dst(reg)?;
            let with = self.pred(output.with)?;
            let nonzero = self.pred_temp();
            let inst = crate::code::Inst { d: nonzero, a: d, ..self.blank(Op::PredNonzero) };
            self.emit(inst);
            self.pred_logic(output.op.into(), p, (nonzero, 0), with);
        }
        Ok(())
    }
}
