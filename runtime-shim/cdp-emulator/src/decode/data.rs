//! Decoding of data movement: moves, conversions, loads, stores, address conversions.

use cdp_ptx::inst::{Address, AddressBase};
use cdp_ptx::{CvtRounding, Inst, Operand, Reg, ScalarType, Space, Symbol};

use super::dispatch::is_memory;
use super::{Decoded, Decoder, RegPlace};
use crate::alu::convert::{self, Conversion};
use crate::alu::{bits, int};
use crate::code::Demand;
use crate::code::{Access, Base, NONE, Op, Order, Owners, PredLogic, StateSpace};
use crate::float::soft::Mode;

type T = ScalarType;

/// A decoded address: row, added bytes, and whether the row has 64-bit values. The row is [`NONE`]
/// for fixed places in the frame or the parameters.
pub(super) struct AddressParts {
    pub space: StateSpace,
    pub row: u32,
    pub offset: i32,
    pub wide: bool,
}

impl Decoder<'_> {
    pub(super) fn mov(&mut self, ty: T, dst: Reg, src: Operand) -> Decoded {
        if let RegPlace::Pred(d) = self.reg(dst) {
            let source = self.pred(cdp_ptx::inst::PredOperand { value: src, negated: false })?;
            self.pred_logic(PredLogic::Copy, d, source, source);
            return Ok(());
        }
        if matches!(self.reg(dst), RegPlace::Quad(_)) {
            return self.mov_quad(dst, src);
        }
        let wide = matches!(self.reg(dst), RegPlace::Wide(_));
        let d = self.dst(dst, wide)?;
        if let Operand::Special(special) = src
            && (special.ty() == T::U64) == wide
            && ty.bits() >= 32
        {
            return self.special(special, d);
        }
        let a = self.row(src, wide)?;
        match (wide, ty.bits()) {
            (true, _) => self.alu::<int::Mov64>(d, [a, 0, 0], 0),
            (false, 16) => self.alu::<int::Mov16>(d, [a, 0, 0], 0),
            (false, _) => self.alu::<int::Mov32>(d, [a, 0, 0], 0),
        }
        Ok(())
    }

    /// `mov.v2`, `mov.v4`: the sources are read before any destination is written.
    pub(super) fn mov_vector(&mut self, ty: T, dsts: &[Option<Reg>], srcs: &[Operand]) -> Decoded {
        let wide = ty.bits() == 64;
        let alu = match ty.bits() {
            64 => crate::alu::select::<int::Mov64>(),
            16 => crate::alu::select::<int::Mov16>(),
            32 => crate::alu::select::<int::Mov32>(),
            bits => return Err(format!("a vector `mov` of {bits} bits an element")),
        };
        let mut copies = Vec::with_capacity(srcs.len());
        for src in srcs {
            let (row, copy) = (self.row(*src, wide)?, self.temp(wide));
            self.alu_with(alu, copy, [row, 0, 0], 0);
            copies.push(copy);
        }
        for (dst, copy) in dsts.iter().zip(copies) {
            if let Some(reg) = dst {
                let d = self.dst(*reg, wide)?;
                self.alu_with(alu, d, [copy, 0, 0], 0);
            }
        }
        Ok(())
    }

    pub(super) fn mov_pack(&mut self, ty: T, dst: Reg, srcs: &[Operand]) -> Decoded {
        let part_bits = ty.bits() / srcs.len() as u32;
        if ty.bits() > 64 {
            return self.pack_quad(dst, srcs);
        }
        let wide = ty.bits() == 64;
        let d = self.dst(dst, wide)?;
        let mut rows = Vec::with_capacity(srcs.len());
        for src in srcs {
            rows.push(self.narrow(*src)?);
        }
        if let (&[low, high], true, 32) = (rows.as_slice(), wide, part_bits) {
            self.alu::<bits::Pack64>(d, [low, high, 0], 0);
            return Ok(());
        }
        if let (&[low, high], false, 16) = (rows.as_slice(), wide, part_bits) {
            self.alu::<bits::Pack32>(d, [low, high, 0], 0);
            return Ok(());
        }
        let mut partial = self.constant(0, wide);
        let temp = self.temp(wide);
        for (i, &row) in rows.iter().enumerate() {
            let clean = self.narrow_temp();
            self.alu::<bits::Extract32>(clean, [row, 0, 0], part_bits << 8);
            let to = if i + 1 == rows.len() { d } else { temp };
            let shift = part_bits * i as u32;
            if wide {
                self.alu::<bits::Insert64>(to, [partial, clean, 0], shift);
            } else {
                self.alu::<bits::Insert32>(to, [partial, clean, 0], shift);
            }
            partial = temp;
        }
        Ok(())
    }

    pub(super) fn mov_unpack(&mut self, ty: T, dsts: &[Option<Reg>], src: Operand) -> Decoded {
        if ty.bits() > 64 {
            return self.unpack_quad(dsts, src);
        }
        let wide = ty.bits() == 64;
        let part_bits = ty.bits() / dsts.len() as u32;
        let a = self.row(src, wide)?;
        for (i, dst) in dsts.iter().enumerate() {
            let Some(reg) = dst else { continue };
            let d = self.narrow_dst(*reg)?;
            let imm = part_bits << 8 | (part_bits * i as u32);
            match (wide, part_bits, i) {
                (true, 32, 0) => self.alu::<bits::Lo64>(d, [a, 0, 0], 0),
                (true, 32, _) => self.alu::<bits::Hi64>(d, [a, 0, 0], 0),
                (true, _, _) => self.alu::<bits::Extract64>(d, [a, 0, 0], imm),
                (false, _, _) => self.alu::<bits::Extract32>(d, [a, 0, 0], imm),
            }
        }
        Ok(())
    }

    // Conversions.

    pub(super) fn cvt(&mut self, inst: &Inst) -> Decoded {
        let Inst::Cvt { dst_ty, src_ty, rounding, ftz, sat, relu, satfinite, dst, src } = inst
        else {
            return Ok(());
        };
        let dst_wide = matches!(self.reg(*dst), RegPlace::Wide(_));
        let src_wide = match src {
            Operand::Reg(reg) => matches!(self.reg(*reg), RegPlace::Wide(_)),
            _ => src_ty.bits() == 64,
        };
        if dst_ty.bits() == 64 && !dst_wide || src_ty.bits() == 64 && !src_wide {
            return Err(format!("`cvt.{dst_ty}.{src_ty}` with a register that is too narrow"));
        }
        let both_float = dst_ty.is_float() && src_ty.is_float();
        let (mode, integral) = cvt_mode(*rounding, *dst_ty, *src_ty);
        let conversion = Conversion {
            dst: *dst_ty,
            src: *src_ty,
            mode,
            integral: integral && both_float,
            ftz: *ftz,
            sat: *sat,
            relu: *relu,
            satfinite: *satfinite,
            dst_wide,
            dst_half: self.body.registers[dst.index()].ty.bits() == 16,
            src_wide,
        };
        let (alu, imm) = conversion.select().ok_or_else(|| format!("`cvt.{dst_ty}.{src_ty}`"))?;
        let (d, a) = (self.dst(*dst, dst_wide)?, self.row(*src, src_wide)?);
        self.alu_with(alu, d, [a, 0, 0], imm);
        Ok(())
    }

    pub(super) fn cvt_pack_half(&mut self, inst: &Inst) -> Decoded {
        let Inst::CvtPackHalf { dst_ty, rounding, relu, satfinite, dst, a, b } = inst else {
            return Ok(());
        };
        let element = match dst_ty {
            T::F16x2 => T::F16,
            T::BF16x2 => T::BF16,
            other => return Err(format!("`cvt.{other}.f32` of two values")),
        };
        let conversion = Conversion {
            dst: element,
            src: T::F32,
            mode: cvt_mode(Some(*rounding), element, T::F32).0,
            integral: false,
            ftz: false,
            sat: false,
            relu: *relu,
            satfinite: *satfinite,
            dst_wide: false,
            dst_half: false,
            src_wide: false,
        };
        let imm = convert::pack_half_imm(&conversion).ok_or("`cvt` of two values")?;
        let (d, a, b) = (self.narrow_dst(*dst)?, self.narrow(*a)?, self.narrow(*b)?);
        self.alu::<convert::PackHalf>(d, [a, b, 0], imm);
        Ok(())
    }

    // Memory.

    /// Takes an address apart. `space` is that of the instruction.
    pub(super) fn address(&mut self, space: Space, addr: &Address) -> Result<AddressParts, String> {
        let space = self.state_space(space);
        let fits = i32::try_from(addr.offset);
        match addr.base {
            AddressBase::Symbol(symbol) => {
                if let Some(at) = self.frame_offset(symbol) {
                    let offset = (i64::from(at) + addr.offset) as i32;
                    return Ok(AddressParts {
                        space: StateSpace::Frame,
                        row: NONE,
                        offset,
                        wide: true,
                    });
                }
                if let Symbol::Param(n) = symbol {
                    let at = self.param_offsets.get(n as usize).copied().unwrap_or(0);
                    let offset = (i64::from(at) + addr.offset) as i32;
                    return Ok(AddressParts {
                        space: StateSpace::Param,
                        row: NONE,
                        offset,
                        wide: true,
                    });
                }
                // A variable by name is in its own space, whatever the instruction says.
                let shared = matches!(self.target(symbol), Ok(super::Target::Shared(_)));
                let space = if shared { StateSpace::Shared } else { space };
                let row = self.address_of(symbol, addr.offset, true)?;
                Ok(AddressParts { space, row, offset: 0, wide: true })
            }
            AddressBase::Absolute => {
                let row = self.constant(addr.offset as u64, true);
                Ok(AddressParts { space, row, offset: 0, wide: true })
            }
            AddressBase::Reg(reg) => {
                let wide = matches!(self.reg(reg), RegPlace::Wide(_));
                if let Ok(offset) = fits {
                    let row = self.row(Operand::Reg(reg), wide)?;
                    return Ok(AddressParts { space, row, offset, wide });
                }
                let base = self.row(Operand::Reg(reg), true)?;
                let (added, row) = (self.constant(addr.offset as u64, true), self.wide_temp());
                self.alu::<int::Add64>(row, [base, added, 0], 0);
                Ok(AddressParts { space, row, offset: 0, wide: true })
            }
        }
    }

    /// The state space that one names in this function.
    fn state_space(&self, space: Space) -> StateSpace {
        match space {
            Space::Generic => StateSpace::Generic,
            Space::Global => StateSpace::Global,
            Space::Const => StateSpace::Const,
            Space::Shared => StateSpace::Shared,
            Space::SharedCluster => StateSpace::Cluster,
            Space::Local => StateSpace::Local,
            Space::ParamEntry => StateSpace::Param,
            // The address of a parameter of a device function is one in local memory.
            Space::Param if self.out.is_kernel => StateSpace::Param,
            Space::Param | Space::ParamFunc => StateSpace::Local,
        }
    }

    fn rows_of(&mut self, rows: Vec<u32>) -> u32 {
        if let [row] = rows.as_slice() {
            return *row;
        }
        let mut vector = [NONE; 8];
        vector[..rows.len()].copy_from_slice(&rows);
        self.out.vectors.push(vector);
        self.out.vectors.len() as u32 - 1
    }

    pub(super) fn load(
        &mut self,
        space: Space,
        order: Order,
        ty: T,
        dsts: &[Option<Reg>],
        addr: &Address,
    ) -> Decoded {
        let parts = self.address(space, addr)?;
        self.out.looks |= order.is_strong();
        if order.is_strong() && !parts.space.is_near() {
            self.out.independent = false;
        }
        let quad = ty.bits() > 64;
        let wide_register =
            quad || dsts.iter().flatten().any(|reg| matches!(self.reg(*reg), RegPlace::Wide(_)));
        let mut rows = Vec::with_capacity(dsts.len());
        for dst in dsts {
            match dst {
                Some(reg) if quad => rows.extend(self.quad_dst(*reg)?),
                Some(reg) => rows.push(self.dst(*reg, wide_register)?),
                None if quad => rows.extend([NONE; 2]),
                None if dsts.len() == 1 => rows.push(self.temp(wide_register)),
                None => rows.push(NONE),
            }
        }
        let access = Access {
            base: Base::Alone,
            owners: Owners::OWN,
            space: parts.space,
            size_log2: ty.bytes().trailing_zeros().min(3) as u8,
            count: rows.len() as u8,
            wide_address: parts.wide,
            wide_register,
            signed: ty.is_signed(),
            order,
        };
        if let Some(demands) = &self.demands {
            let demand = match quad {
                true => Demand { copied: true, ..Demand::default() },
                false => demands.of_load(ty, dsts),
            };
            self.out.demands.insert(self.out.code.len() as u32, demand);
        }
        let d = self.rows_of(rows);
        let inst = crate::code::Inst {
            d,
            a: parts.row,
            imm: parts.offset as u32,
            ..self.blank(Op::Load(access))
        };
        self.emit(inst);
        Ok(())
    }

    pub(super) fn store(
        &mut self,
        space: Space,
        order: Order,
        ty: T,
        addr: &Address,
        srcs: &[Operand],
    ) -> Decoded {
        let parts = self.address(space, addr)?;
        let wide_register = match srcs.first() {
            Some(Operand::Reg(reg)) => matches!(self.reg(*reg), RegPlace::Wide(_)),
            _ => ty.bits() == 64,
        };
        let quad = ty.bits() > 64;
        let wide_register = wide_register || quad;
        let mut rows = Vec::with_capacity(srcs.len());
        for src in srcs {
            if quad {
                rows.extend(self.quad(*src)?);
            } else {
                rows.push(self.row(*src, wide_register)?);
            }
        }
        let access = Access {
            base: Base::Alone,
            owners: Owners::OWN,
            space: parts.space,
            size_log2: ty.bytes().trailing_zeros().min(3) as u8,
            count: rows.len() as u8,
            wide_address: parts.wide,
            wide_register,
            signed: false,
            order,
        };
        let d = self.rows_of(rows);
        let inst = crate::code::Inst {
            d,
            a: parts.row,
            imm: parts.offset as u32,
            ..self.blank(Op::Store(access))
        };
        self.emit(inst);
        Ok(())
    }

    pub(super) fn cvta(
        &mut self,
        space: Space,
        ty: T,
        dst: Reg,
        src: Operand,
        to_generic: bool,
    ) -> Decoded {
        if ty.bits() != 64 {
            return Err("32-bit addresses".to_string());
        }
        let (d, a) = (self.wide_dst(dst)?, self.wide(src)?);
        if is_memory(space) || space == Space::Generic {
            self.alu::<int::Mov64>(d, [a, 0, 0], 0);
            return Ok(());
        }
        let space = self.state_space(space);
        let op = if to_generic { Op::ToGeneric(space) } else { Op::FromGeneric(space) };
        let inst = crate::code::Inst { d, a, ..self.blank(op) };
        self.emit(inst);
        Ok(())
    }

    pub(super) fn isspacep(&mut self, space: Space, dst: Reg, src: Operand) -> Decoded {
        let (d, a) = (self.pred_dst(dst)?, self.wide(src)?);
        let space = self.state_space(space);
        let inst = crate::code::Inst { d, a, ..self.blank(Op::IsSpace(space)) };
        self.emit(inst);
        Ok(())
    }

    /// A predicate that is the same whatever happens.
    pub(super) fn certain(&mut self, dst: Reg, value: bool) -> Decoded {
        let (d, a) = (self.pred_dst(dst)?, self.constant(value.into(), false));
        let inst = crate::code::Inst { d, a, ..self.blank(Op::PredNonzero) };
        self.emit(inst);
        Ok(())
    }
}

/// The direction of a conversion, and whether it rounds to an integral value.
fn cvt_mode(rounding: Option<CvtRounding>, dst: T, src: T) -> (Mode, bool) {
    match rounding {
        Some(CvtRounding::Rn) => (Mode::NearestEven, false),
        Some(CvtRounding::Rz) => (Mode::Zero, false),
        Some(CvtRounding::Rm) => (Mode::Down, false),
        Some(CvtRounding::Rp) => (Mode::Up, false),
        Some(CvtRounding::Rni) => (Mode::NearestEven, true),
        Some(CvtRounding::Rzi) => (Mode::Zero, true),
        Some(CvtRounding::Rmi) => (Mode::Down, true),
        Some(CvtRounding::Rpi) => (Mode::Up, true),
        Some(CvtRounding::Rna) => (Mode::NearestAway, false),
        // Conversions that need a rounding always name it; the rest are exact.
        None if src.is_float() && !dst.is_float() => (Mode::Zero, false),
        None => (Mode::NearestEven, false),
    }
}
