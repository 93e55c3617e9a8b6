//! Which bits of what a load brings are looked at, for the check of memory that was never written.
//!
//! Compilers load more than a program asks for: a word of which one byte is wanted, a bit-field's
//! neighbours, the padding of a structure that is copied. So a load of bytes that were never written says
//! nothing by itself; what is made of them does. A bit is *demanded* if it comes, through moves, masks,
//! shifts, selections and conversions between integers, to an instruction that computes with it, compares
//! it, or takes it for an address. A register is *copied* if it comes to a store without being
//! masked: bytes that are masked on their way to a store are the neighbours of what is being written.
//!
//! Found once for each function, from its PTX, without regard to the way that control takes.

use cdp_ptx::inst::AddressBase;
use cdp_ptx::{Body, Inst, Instruction, Operand, Reg, ScalarType};

use super::named::registers_of;
use crate::code::Demand;

/// Demands on the registers of a function.
#[derive(Debug)]
pub struct Demands {
    strict: Vec<u64>,
    copied: Vec<bool>,
    bits: Vec<u32>,
    changed: bool,
}

/// More passes than any chain of moves against the direction of the text needs in practice.
const MOST_PASSES: usize = 32;

impl Demands {
    /// Finds them.
    pub fn of(body: &Body) -> Demands {
        let count = body.registers.len();
        let mut demands = Demands {
            strict: vec![0; count],
            copied: vec![false; count],
            bits: body.registers.iter().map(|register| register.ty.bits()).collect(),
            changed: true,
        };
        for _ in 0..MOST_PASSES {
            if !std::mem::take(&mut demands.changed) {
                break;
            }
            for instruction in body.instructions.iter().rev() {
                demands.instruction(instruction);
            }
        }
        demands
    }

    /// What becomes of what a load puts into registers.
    pub fn of_load(&self, ty: ScalarType, dsts: &[Option<Reg>]) -> Demand {
        let mut demand = Demand::default();
        let bytes = ty.bytes().min(8);
        for (strict, reg) in demand.strict.iter_mut().zip(dsts) {
            let Some(reg) = reg else { continue };
            let bits = self.strict[reg.index()];
            for byte in 0..bytes {
                *strict |= u8::from(bits >> (8 * byte) & 0xff != 0) << byte;
            }
            // What lies above is made of the highest bit.
            if ty.is_signed() && bytes < 8 && bits >> (8 * bytes) != 0 {
                *strict |= 1 << (bytes - 1);
            }
            demand.copied |= self.copied[reg.index()];
        }
        demand
    }

    fn demand(&mut self, operand: Operand, bits: u64) {
        if let Operand::Reg(reg) = operand {
            let new = self.strict[reg.index()] | bits & low(self.bits[reg.index()]);
            self.changed |= new != self.strict[reg.index()];
            self.strict[reg.index()] = new;
        }
    }

    fn copy(&mut self, operand: Operand, copied: bool) {
        if let Operand::Reg(reg) = operand {
            self.changed |= copied && !self.copied[reg.index()];
            self.copied[reg.index()] |= copied;
        }
    }

    /// The demand on a destination.
    fn on(&self, dst: Reg) -> u64 {
        self.strict[dst.index()]
    }

    /// A source whose bits are those of the destination.
    fn moved(&mut self, dst: Reg, src: Operand) {
        self.demand(src, self.on(dst));
        self.copy(src, self.copied[dst.index()]);
    }

    fn instruction(&mut self, instruction: &Instruction) {
        match &instruction.inst {
            Inst::Mov { dst, src, .. } => self.moved(*dst, *src),
            Inst::MovVector { dsts, srcs, .. } => {
                for (dst, &src) in dsts.iter().zip(srcs.iter()) {
                    if let Some(dst) = dst {
                        self.moved(*dst, src);
                    }
                }
            }
            Inst::MovPack { ty, dst, srcs } => {
                let width = ty.bits() / srcs.len().max(1) as u32;
                for (at, &src) in srcs.iter().enumerate() {
                    let shifted = self.on(*dst).checked_shr(width * at as u32).unwrap_or(0);
                    self.demand(src, shifted & low(width));
                    self.copy(src, self.copied[dst.index()]);
                }
            }
            Inst::MovUnpack { ty, dsts, src } => {
                let width = ty.bits() / dsts.len().max(1) as u32;
                for (at, dst) in dsts.iter().enumerate() {
                    let Some(dst) = dst else { continue };
                    let bits = self.on(*dst) & low(width);
                    self.demand(*src, bits.checked_shl(width * at as u32).unwrap_or(0));
                    self.copy(*src, self.copied[dst.index()]);
                }
            }
            Inst::Cvt { dst_ty, src_ty, sat: false, dst, src, .. }
                if !dst_ty.is_float() && !src_ty.is_float() =>
            {
                let width = src_ty.bits();
                let wanted = self.on(*dst) & low(dst_ty.bits());
                let sign = src_ty.is_signed() && wanted & !low(width) != 0;
                self.demand(*src, wanted & low(width) | u64::from(sign) << (width - 1).min(63));
                self.copy(*src, self.copied[dst.index()]);
            }
            // Compilers load both sides before they know which one is wanted.
            Inst::Selp { dst, a, b, pred, .. } => {
                for source in [*a, *b] {
                    self.copy(source, self.copied[dst.index()]);
                }
                self.demand(pred.value, u64::MAX);
            }
            Inst::And { dst, a, b, .. } => {
                for (one, other) in [(*a, *b), (*b, *a)] {
                    let kept = if let Operand::Imm(mask) = other { mask } else { u64::MAX };
                    self.demand(one, self.on(*dst) & kept);
                }
            }
            Inst::Or { dst, a, b, .. } | Inst::Xor { dst, a, b, .. } => {
                self.demand(*a, self.on(*dst));
                self.demand(*b, self.on(*dst));
            }
            Inst::Not { dst, src, .. } => self.demand(*src, self.on(*dst)),
            Inst::Lop3 { dst: Some(dst), a, b, c, pred: None, .. } => {
                for operand in [*a, *b, *c] {
                    self.demand(operand, self.on(*dst));
                }
            }
            Inst::Shl { dst, a, amount: Operand::Imm(amount), .. } => {
                self.demand(*a, self.on(*dst).checked_shr(*amount as u32).unwrap_or(0));
                self.copy(*a, self.copied[dst.index()]);
            }
            Inst::Shr { ty, dst, a, amount: Operand::Imm(amount) } => {
                let wanted = self.on(*dst) & low(ty.bits());
                let moved = wanted.checked_shl(*amount as u32).unwrap_or(0) & low(ty.bits());
                let beyond = low(ty.bits()) & !low(ty.bits().saturating_sub(*amount as u32));
                let sign = ty.is_signed() && wanted & beyond != 0;
                self.demand(*a, moved | u64::from(sign) << (ty.bits() - 1));
                self.copy(*a, self.copied[dst.index()]);
            }
            Inst::Bfe { ty, dst, src, pos: Operand::Imm(pos), len: Operand::Imm(len) } => {
                let (pos, len) = (*pos as u32 & 255, *len as u32 & 255);
                let wanted = self.on(*dst);
                let field = (wanted & low(len)).checked_shl(pos).unwrap_or(0);
                let sign = ty.is_signed() && wanted & !low(len) != 0 && len > 0;
                let top = (pos + len).saturating_sub(1).min(ty.bits() - 1);
                self.demand(*src, field | u64::from(sign) << top);
            }
            Inst::Bfi {
                dst, field, base, pos: Operand::Imm(pos), len: Operand::Imm(len), ..
            } => {
                let (pos, len) = (*pos as u32 & 255, *len as u32 & 255);
                let inside = low(len).checked_shl(pos).unwrap_or(0);
                let wanted = self.on(*dst);
                self.demand(*field, (wanted & inside).checked_shr(pos).unwrap_or(0));
                self.demand(*base, wanted & !inside);
            }
            Inst::Prmt { dst, a, b, c: Operand::Imm(selector), .. } => {
                for byte in 0..4 {
                    let chosen = selector >> (4 * byte) & 15;
                    let wanted = self.on(*dst) >> (8 * byte) & 0xff;
                    let bits = if chosen & 8 == 0 { wanted } else { u64::from(wanted != 0) << 7 };
                    let source = if chosen & 4 == 0 { *a } else { *b };
                    self.demand(source, bits << (8 * (chosen & 3)));
                    self.copy(source, self.copied[dst.index()]);
                }
            }
            Inst::Ld { addr, .. } => self.address(addr.base),
            Inst::St { addr, srcs, .. } => {
                self.address(addr.base);
                for &src in srcs.iter() {
                    self.copy(src, true);
                }
            }
            other => {
                for reg in registers_of(other) {
                    self.demand(Operand::Reg(reg), u64::MAX);
                }
            }
        }
    }

    fn address(&mut self, base: AddressBase) {
        if let AddressBase::Reg(reg) = base {
            self.demand(Operand::Reg(reg), u64::MAX);
        }
    }
}

/// A mask of the lowest bits.
fn low(bits: u32) -> u64 {
    if bits >= 64 { u64::MAX } else { (1 << bits) - 1 }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The demand on what the first load of a body brings.
    fn demand(body: &str) -> Demand {
        let text = format!(
            ".version 7.8\n.target sm_70\n.address_size 64\n.visible .entry k(.param .u64 a)\n{{\n\
             .reg .b64 %a;\n.reg .b32 %r<6>;\n.reg .b16 %h<3>;\n.reg .pred %p;\n{body}\nret;\n}}\n"
        );
        let module = cdp_ptx::parse(&text).expect("text of the test");
        let function = &module.functions[0];
        let body = function.body.as_ref().expect("a body");
        let demands = Demands::of(body);
        let loads = body.instructions.iter().filter_map(|i| match &i.inst {
            Inst::Ld { ty, dsts, .. } => Some(demands.of_load(*ty, dsts)),
            _ => None,
        });
        loads.into_iter().next().expect("a load")
    }

    #[test]
    fn only_what_is_computed_with_is_demanded() {
        let load = "ld.global.u32 %r1, [%a];";
        let first = |rest: &str| demand(&format!("{load}\n{rest}")).strict[0];
        assert_eq!(first("add.u32 %r2, %r1, 1;"), 0b1111);
        assert_eq!(first("and.b32 %r2, %r1, 255;\nadd.u32 %r3, %r2, 1;"), 0b0001);
        assert_eq!(first("shr.u32 %r2, %r1, 16;\nsetp.eq.u32 %p, %r2, 1;"), 0b1100);
        assert_eq!(first("cvt.u16.u32 %h1, %r1;\nadd.u16 %h2, %h1, 1;"), 0b0011);
        assert_eq!(first("prmt.b32 %r2, %r1, 0, 0x4442;\nadd.u32 %r3, %r2, 1;"), 0b0100);
        assert_eq!(first("bfe.s32 %r2, %r1, 8, 8;\nadd.s32 %r3, %r2, 1;"), 0b0010);
        assert_eq!(first("st.global.u32 [%a+4], %r1;"), 0);
    }

    #[test]
    fn copies_are_told_from_neighbours_of_what_is_written() {
        let copy =
            demand("ld.global.u32 %r1, [%a];\nmov.u32 %r2, %r1;\nst.global.u32 [%a+4], %r2;");
        assert!(copy.copied && !copy.is_idle());
        let twice =
            demand("ld.global.u32 %r1, [%a];\nshl.b32 %r2, %r1, 1;\nst.global.u32 [%a+4], %r2;");
        assert!(twice.copied);
        let field = demand(
            "ld.global.u32 %r1, [%a];\nand.b32 %r2, %r1, -8;\nor.b32 %r3, %r2, 1;\nst.global.u32 [%a], %r3;",
        );
        assert!(field.is_idle());
    }
}
