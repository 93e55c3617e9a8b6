//! Decoding of arithmetic that integers alone have: products by part, carries, fields of bits, shifts.

use cdp_ptx::inst::Combine;
use cdp_ptx::{MulPart, Operand, PrmtMode, Reg, ScalarType};

use super::arith::unsupported;
use super::{Decoded, Decoder};
use crate::alu::{bits, int, select};
use crate::code::{Alu, Inst, Op};

type T = ScalarType;

impl Decoder<'_> {
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
            let inst = Inst { a, imm, ..self.blank(Op::Divisor { wide }) };
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

    pub(super) fn carry_row(&mut self) -> u32 {
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
        pred: Option<(Reg, Combine)>,
    ) -> Decoded {
        let d = match dst {
            Some(reg) => self.narrow_dst(reg)?,
            None => self.narrow_temp(),
        };
        let [a, b, c] = sources;
        let (a, b, c) = (self.narrow(a)?, self.narrow(b)?, self.narrow(c)?);
        self.alu::<int::Lop3>(d, [a, b, c], u32::from(table));
        if let Some((reg, combine)) = pred {
            let p = self.pred_dst(reg)?;
            let with = self.pred(combine.with)?;
            let nonzero = self.pred_temp();
            let inst = Inst { d: nonzero, a: d, ..self.blank(Op::PredNonzero) };
            self.emit(inst);
            self.pred_logic(combine.op.into(), p, (nonzero, 0), with);
        }
        Ok(())
    }
}
