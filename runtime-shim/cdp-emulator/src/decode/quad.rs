//! 128-bit registers: moves, packing, loads and stores, and the two atomics that have them.
//!
//! Such a register is two rows of 64-bit values, the low half first. No arithmetic has 128 bits, so
//! nothing but moving them is needed (PTX ISA, section "Fundamental Types": `.b128`).

use cdp_ptx::inst::Atom;
use cdp_ptx::{Operand, Reg};

use super::{Decoded, Decoder, RegPlace};
use crate::alu::int;
use crate::code::NONE;

/// Words of one half.
const HALF_WORDS: u32 = 64;

/// A 128-bit register's rows, from the first.
pub(super) fn halves(row: u32) -> [u32; 2] {
    [row, row + HALF_WORDS]
}

impl Decoder<'_> {
    /// The rows of a 128-bit destination.
    pub(super) fn quad_dst(&self, reg: Reg) -> Result<[u32; 2], String> {
        match self.reg(reg) {
            RegPlace::Quad(row) => Ok(halves(row)),
            _ => Err(self.width_error(reg, 128)),
        }
    }

    /// The rows of a 128-bit source. An immediate is extended with zeros.
    pub(super) fn quad(&mut self, operand: Operand) -> Result<[u32; 2], String> {
        match operand {
            Operand::Reg(reg) => self.quad_dst(reg),
            Operand::Imm(value) => Ok([self.constant(value, true), self.constant(0, true)]),
            Operand::Special(_) | Operand::Address { .. } => {
                Err("a value of 64 bits or fewer where 128 are needed".to_string())
            }
        }
    }

    pub(super) fn mov_quad(&mut self, dst: Reg, src: Operand) -> Decoded {
        let (to, from) = (self.quad_dst(dst)?, self.quad(src)?);
        self.move_rows(&to, &from);
        Ok(())
    }

    /// `mov.b128 d, {low, high}`
    pub(super) fn pack_quad(&mut self, dst: Reg, srcs: &[Operand]) -> Decoded {
        let to = self.quad_dst(dst)?;
        let mut from = Vec::with_capacity(2);
        for src in srcs {
            from.push(self.row(*src, true)?);
        }
        if from.len() != to.len() {
            return Err(format!("`mov.b128` of {} parts", from.len()));
        }
        self.move_rows(&to, &from);
        Ok(())
    }

    /// `mov.b128 {low, high}, a`
    pub(super) fn unpack_quad(&mut self, dsts: &[Option<Reg>], src: Operand) -> Decoded {
        let from = self.quad(src)?;
        if dsts.len() != from.len() {
            return Err(format!("`mov.b128` to {} parts", dsts.len()));
        }
        for (dst, row) in dsts.iter().zip(from) {
            if let Some(reg) = dst {
                let d = self.wide_dst(*reg)?;
                self.alu::<int::Mov64>(d, [row, 0, 0], 0);
            }
        }
        Ok(())
    }

    fn move_rows(&mut self, to: &[u32], from: &[u32]) {
        for (&d, &a) in to.iter().zip(from) {
            self.alu::<int::Mov64>(d, [a, 0, 0], 0);
        }
    }

    /// `atom.exch.b128` and `atom.cas.b128`.
    pub(super) fn quad_atomic(&mut self, atom: &Atom) -> Decoded {
        let parts = self.address(atom.space, &atom.addr)?;
        let used = atom.dst.filter(|reg| !self.unread[reg.index()]);
        let dsts = match used {
            Some(reg) => vec![self.quad_dst(reg)?[0]],
            None => Vec::new(),
        };
        let mut source = |operand| {
            // The interpreter finds the high half behind the low one, which constants do not have.
            match operand {
                Operand::Reg(reg) => Ok(self.quad_dst(reg)?[0]),
                _ => Err("a 128-bit atomic without registers".to_string()),
            }
        };
        let src = source(atom.b)?;
        let swap = atom.c.map(&mut source).transpose()?.unwrap_or(NONE);
        let order = crate::code::Order::of_atomic(atom.order, atom.scope);
        self.push_atomic((atom.op, order), atom.ty, parts, dsts, vec![src], swap)
    }
}
