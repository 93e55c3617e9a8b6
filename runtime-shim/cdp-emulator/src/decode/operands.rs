//! Instructions and their operands: registers, constants and addresses as offsets in the frame, with the
//! code that computes what is neither register nor constant.

use cdp_ptx as ptx;
use cdp_ptx::inst::PredOperand;
use cdp_ptx::{Operand, ScalarType, Symbol};

use super::frame::RegPlace;
use super::{Decoded, Decoder, RESERVED_SHARED_BYTES, Target, control};
use crate::alu::{self, LaneOp};
use crate::code::{Alu, ConstRow, Inst, Name, Op, PredLogic, Shape};

impl Decoder<'_> {
    pub(super) fn emit(&mut self, inst: Inst) {
        self.layout.operands.push([Shape::Unused; 4]);
        self.out.names.push((Name::NONE, [Shape::Unused; 4]));
        self.out.code.push(inst);
    }

    pub(super) fn blank(&self, op: Op) -> Inst {
        Inst {
            alu: nothing,
            d: 0,
            a: 0,
            b: 0,
            c: 0,
            guard: self.guard.0,
            guard_not: self.guard.1,
            imm: 0,
            origin: self.origin,
            ahead: 0,
            run: 0,
            op,
        }
    }

    pub(super) fn alu_with(&mut self, alu: Alu, d: u32, sources: [u32; 3], imm: u32) {
        let [a, b, c] = sources;
        let inst = Inst { alu: alu.run, d, a, b, c, imm, ..self.blank(Op::Alu) };
        self.layout.operands.push(alu.shapes);
        self.out.names.push((alu.name, alu.shapes));
        self.out.code.push(inst);
    }

    pub(super) fn alu<O: LaneOp>(&mut self, d: u32, sources: [u32; 3], imm: u32) {
        self.alu_with(alu::select::<O>(), d, sources, imm);
    }

    pub(super) fn narrow_temp(&mut self) -> u32 {
        self.take(Shape::Narrow)
    }

    pub(super) fn wide_temp(&mut self) -> u32 {
        self.take(Shape::Wide)
    }

    pub(super) fn temp(&mut self, wide: bool) -> u32 {
        if wide { self.wide_temp() } else { self.narrow_temp() }
    }

    /// A predicate for intermediate results. Uses a row of its own: such predicates are rare.
    pub(super) fn pred_temp(&mut self) -> u32 {
        self.take(Shape::Pred)
    }

    /// A row that holds `value` in every lane.
    pub(super) fn constant(&mut self, value: u64, wide: bool) -> u32 {
        let value = if wide { value } else { value & 0xffff_ffff };
        if let Some(&row) = self.const_rows.get(&(value, wide)) {
            return row;
        }
        let row = self.temp(wide);
        self.out.consts.push(ConstRow { row, value, wide });
        self.const_rows.insert((value, wide), row);
        row
    }

    pub(super) fn reg(&self, reg: ptx::Reg) -> RegPlace {
        self.registers[reg.index()]
    }

    /// The row of a destination register of at most 32 bits.
    pub(super) fn narrow_dst(&self, reg: ptx::Reg) -> Result<u32, String> {
        match self.reg(reg) {
            RegPlace::Narrow(row) => Ok(row),
            _ => Err(self.width_error(reg, 32)),
        }
    }

    /// The row of a destination register of 64 bits.
    pub(super) fn wide_dst(&self, reg: ptx::Reg) -> Result<u32, String> {
        match self.reg(reg) {
            RegPlace::Wide(row) => Ok(row),
            _ => Err(self.width_error(reg, 64)),
        }
    }

    pub(super) fn dst(&self, reg: ptx::Reg, wide: bool) -> Result<u32, String> {
        if wide { self.wide_dst(reg) } else { self.narrow_dst(reg) }
    }

    pub(super) fn pred_dst(&self, reg: ptx::Reg) -> Result<u32, String> {
        match self.reg(reg) {
            RegPlace::Pred(word) => Ok(word),
            _ => Err(self.width_error(reg, 1)),
        }
    }

    pub(super) fn width_error(&self, reg: ptx::Reg, bits: u32) -> String {
        let register = &self.body.registers[reg.index()];
        format!("`{}` of type .{} where {bits} bits are needed", register.name, register.ty)
    }

    /// A row that holds the operand; emits what computes it if it is not a register or constant.
    pub(super) fn row(&mut self, operand: Operand, wide: bool) -> Result<u32, String> {
        match operand {
            Operand::Imm(value) => Ok(self.constant(value, wide)),
            Operand::Reg(reg) => match (self.reg(reg), wide) {
                (RegPlace::Narrow(row), false) | (RegPlace::Wide(row), true) => Ok(row),
                (RegPlace::Narrow(row), true) => {
                    let temp = self.wide_temp();
                    self.alu::<alu::convert::U32To64>(temp, [row, 0, 0], 0);
                    Ok(temp)
                }
                (RegPlace::Wide(row), false) => {
                    let temp = self.narrow_temp();
                    self.alu::<alu::bits::Lo64>(temp, [row, 0, 0], 0);
                    Ok(temp)
                }
                (RegPlace::Pred(_) | RegPlace::Quad(_), _) => {
                    Err(self.width_error(reg, if wide { 64 } else { 32 }))
                }
            },
            Operand::Special(special) => {
                let has_wide = special.ty() == ScalarType::U64;
                let temp = self.temp(has_wide);
                self.special(special, temp)?;
                match (has_wide, wide) {
                    (false, true) => {
                        let widened = self.wide_temp();
                        self.alu::<alu::convert::U32To64>(widened, [temp, 0, 0], 0);
                        Ok(widened)
                    }
                    (true, false) => {
                        let cut = self.narrow_temp();
                        self.alu::<alu::bits::Lo64>(cut, [temp, 0, 0], 0);
                        Ok(cut)
                    }
                    _ => Ok(temp),
                }
            }
            Operand::Address { symbol, offset } => self.address_of(symbol, offset, wide),
        }
    }

    pub(super) fn narrow(&mut self, operand: Operand) -> Result<u32, String> {
        self.row(operand, false)
    }

    pub(super) fn wide(&mut self, operand: Operand) -> Result<u32, String> {
        self.row(operand, true)
    }

    /// A predicate word and all ones if it is to be negated.
    pub(super) fn pred(&mut self, operand: PredOperand) -> Result<(u32, u32), String> {
        let (word, flip) = match operand.value {
            Operand::Reg(reg) => (self.pred_dst(reg)?, 0),
            Operand::Imm(0) => (self.out.true_pred, u32::MAX),
            Operand::Imm(_) => (self.out.true_pred, 0),
            Operand::Special(special @ ptx::SpecialReg::IsExplicitCluster) => {
                let (a, d) = (self.narrow_temp(), self.pred_temp());
                self.special(special, a)?;
                let inst = Inst { d, a, ..self.blank(Op::PredNonzero) };
                self.emit(inst);
                (d, 0)
            }
            Operand::Special(_) | Operand::Address { .. } => {
                return Err("a predicate operand that is no predicate".to_string());
            }
        };
        Ok((word, flip ^ if operand.negated { u32::MAX } else { 0 }))
    }

    /// What a symbol is, for symbols that are not in the frame.
    pub(super) fn target(&self, symbol: Symbol) -> Result<Target, String> {
        let found = match symbol {
            Symbol::Function(id) => self.links.functions.get(id.index()).copied().flatten(),
            Symbol::Global(id) => self.links.variables.get(id.index()).copied().flatten(),
            Symbol::Local(id) => self.links.locals.get(&(self.function_id.0, id.0)).copied(),
            Symbol::Param(_) | Symbol::Return(_) => None,
        };
        found.ok_or_else(|| "the address of something that is defined nowhere".to_string())
    }

    /// Offset in the local frame, for symbols that live there.
    pub(super) fn frame_offset(&self, symbol: Symbol) -> Option<u32> {
        match symbol {
            Symbol::Local(id) => self.local_offsets[id.index()],
            Symbol::Param(n) if !self.out.is_kernel => self.param_offsets.get(n as usize).copied(),
            Symbol::Return(n) => self.return_offsets.get(n as usize).copied(),
            _ => None,
        }
    }

    /// A row with the address of a symbol in its own space.
    pub(super) fn address_of(
        &mut self,
        symbol: Symbol,
        offset: i64,
        wide: bool,
    ) -> Result<u32, String> {
        if let Some(at) = self.frame_offset(symbol) {
            let d = self.temp(wide);
            let imm = at.wrapping_add(offset as u32);
            let inst = Inst { d, imm, ..self.blank(Op::FrameAddress { wide }) };
            self.emit(inst);
            return Ok(d);
        }
        if let Symbol::Param(n) = symbol {
            let at = self.param_offsets.get(n as usize).copied().unwrap_or(0);
            return Ok(self.constant((i64::from(at) + offset) as u64, wide));
        }
        match self.target(symbol)? {
            Target::Memory(address) => Ok(self.constant(address.wrapping_add(offset as u64), wide)),
            Target::Function(number) => {
                self.out.named.push(number);
                Ok(self.constant(crate::memory::space::function_address(number), wide))
            }
            Target::Service(service) => {
                Err(format!("the address of `{service:?}`, a function of the device runtime"))
            }
            Target::Shared(variable) => Ok(self.shared_address(variable, offset, wide)),
        }
    }

    pub(super) fn shared_address(&mut self, variable: u32, offset: i64, wide: bool) -> u32 {
        if !self.out.shared_used.contains(&variable) {
            self.out.shared_used.push(variable);
        }
        if self.out.is_kernel {
            if let Some(&row) = self.shared_rows.get(&(variable, offset, wide)) {
                return row;
            }
            let row = self.temp(wide);
            let index = self.out.consts.len() as u32;
            self.out.consts.push(ConstRow { row, value: 0, wide });
            self.out.shared_consts.push((index, variable, offset));
            self.shared_rows.insert((variable, offset, wide), row);
            return row;
        }
        let d = self.temp(wide);
        let a = self.constant(offset as u64, wide);
        let inst = Inst { d, a, imm: variable, ..self.blank(Op::SharedAddress { wide }) };
        self.emit(inst);
        d
    }

    pub(super) fn special(&mut self, register: ptx::SpecialReg, d: u32) -> Decoded {
        use ptx::SpecialReg as R;
        let reserved = match register {
            R::ReservedSmemOffsetBegin | R::ReservedSmemOffset(0) => Some(0),
            R::ReservedSmemOffset(_) => Some(RESERVED_SHARED_BYTES / 2),
            R::ReservedSmemOffsetEnd | R::ReservedSmemOffsetCap => Some(RESERVED_SHARED_BYTES),
            _ => None,
        };
        if let Some(offset) = reserved {
            let row = self.shared_address(self.links.reserved_shared, offset as i64, false);
            self.alu::<alu::int::Mov32>(d, [row, 0, 0], 0);
            return Ok(());
        }
        let special = control::special(register);
        // Grids get their numbers when it is known what ran before them.
        self.out.independent &= special != crate::code::Special::Grid;
        let inst = Inst { d, ..self.blank(Op::Special(special)) };
        self.emit(inst);
        Ok(())
    }

    /// `d = a op b` on predicates; negations as words of ones.
    pub(super) fn pred_logic(&mut self, op: PredLogic, d: u32, a: (u32, u32), b: (u32, u32)) {
        let imm = (a.1 & 1) | (b.1 & 2);
        let inst = Inst { d, a: a.0, b: b.0, imm, ..self.blank(Op::PredLogic(op)) };
        self.emit(inst);
    }
}

/// The `alu` of instructions that are not arithmetic.
unsafe fn nothing(_: *mut u32, _: &Inst, _: u32) {}
