//! `mov` with its packing and unpacking forms.

use crate::inst::*;
use crate::lexer::Tok;
use crate::parse::mods::{Mods, vector};
use crate::parse::{Parser, Result};
use crate::print::Printer;
use crate::syntax::Arg;
use crate::types::*;

use ScalarType::*;

impl<'a> Parser<'a> {
    /// `mov`, with its packing and unpacking forms.
    pub fn mov(&mut self, mods: &mut Mods<'a>) -> Result<Inst> {
        let lanes = mods.take(vector).unwrap_or(1);
        let ty =
            mods.one_of(&[Pred, B16, B32, B64, B128, U16, U32, U64, S16, S32, S64, F32, F64])?;
        mods.finish()?;
        if lanes > 1 {
            mods.require(lanes <= 4 && ty != Pred, "vectors are `.v2` and `.v4`")?;
            return self.mov_vector(ty, lanes);
        }
        if let Some(elements) = self.vector_register() {
            self.next()?;
            let part =
                elements.first().map_or(0, |reg| self.st.body.registers[reg.index()].ty.bits());
            let whole = part * elements.len() as u32 == ty.bits();
            mods.require(whole, "the vector and the type have different sizes")?;
            self.expect(b',')?;
            let dsts = elements.into_iter().map(Some).collect();
            return Ok(Inst::MovUnpack { ty, dsts, src: self.operand(ty)? });
        }
        if self.at(b'{') {
            let (part, count) = self.peek_parts(ty, mods)?;
            let dsts = self.dsts(part, count)?;
            self.expect(b',')?;
            let src = self.operand(ty)?;
            return Ok(Inst::MovUnpack { ty, dsts, src });
        }
        let dst = self.register(ty)?;
        self.expect(b',')?;
        if !self.at(b'{') {
            let src = self.operand_or_special(ty)?;
            return Ok(Inst::Mov { ty, dst, src });
        }
        let (part, count) = self.peek_parts(ty, mods)?;
        let srcs = self.srcs(part, count)?;
        Ok(Inst::MovPack { ty, dst, srcs })
    }

    /// `mov.v4.u32 {a, b, c, d}, {e, f, g, h}`, or from `%tid` as a whole.
    fn mov_vector(&mut self, ty: ScalarType, lanes: usize) -> Result<Inst> {
        let dsts = self.dsts(ty, lanes)?;
        self.expect(b',')?;
        self.at_start = true;
        let dims = ["x", "y", "z", "w"].map(|dim| format!("{}.{dim}", self.peek.text));
        let special = dims.map(|name| SpecialReg::from_name(&name));
        if let (4, U32 | B32, [Some(x), Some(y), Some(z), Some(w)]) = (lanes, ty, special)
            && self.peek.tok == Tok::Ident
        {
            self.next()?;
            let srcs = [x, y, z, w].map(Operand::Special).into();
            return Ok(Inst::MovVector { ty, dsts, srcs });
        }
        let srcs = self.srcs(ty, lanes)?;
        Ok(Inst::MovVector { ty, dsts, srcs })
    }

    /// The type of one part and the number of parts of a `{...}` that is next: counted by its
    /// commas, without taking it.
    fn peek_parts(&self, ty: ScalarType, mods: &Mods<'a>) -> Result<(ScalarType, usize)> {
        let rest = &self.source()[self.peek.start as usize..];
        // No legal list is longer than this many bytes.
        let rest = &rest.as_bytes()[..rest.len().min(4096)];
        let end = rest.iter().position(|byte| *byte == b'}').unwrap_or(rest.len());
        let count = rest[..end].iter().filter(|byte| **byte == b',').count() + 1;
        let part = match (ty.bits() as usize / count, count) {
            (8, 2 | 4) => B8,
            (16, 2 | 4) => B16,
            (32, 2 | 4) => B32,
            (64, 2) => B64,
            _ => {
                let why = format!("a `.{ty}` has no {count} parts");
                return Err(mods.bad(&why));
            }
        };
        Ok((part, count))
    }
}

impl Printer<'_> {
    /// `mov` in its four forms.
    pub fn mov(&mut self, inst: &Inst) {
        self.mnemonic("mov");
        match inst {
            Inst::Mov { ty, dst, src } => {
                self.word(ty.as_str());
                dst.write(self, *ty);
                src.write(self, *ty);
            }
            Inst::MovVector { ty, dsts, srcs } => {
                self.vector(dsts.len());
                self.word(ty.as_str());
                dsts.write(self, (*ty, dsts.len()));
                self.separate();
                match srcs.first() {
                    // All four components of one.
                    Some(Operand::Special(special)) => {
                        self.out.push_str(special.to_string().trim_end_matches(".x"));
                    }
                    _ => self.braced(srcs, *ty),
                }
            }
            Inst::MovPack { ty, dst, srcs } => {
                self.word(ty.as_str());
                let part = match ty.bits() / srcs.len().max(1) as u32 {
                    8 => B8,
                    16 => B16,
                    32 => B32,
                    _ => B64,
                };
                dst.write(self, *ty);
                self.separate();
                self.braced(srcs, part);
            }
            Inst::MovUnpack { ty, dsts, src } => {
                self.word(ty.as_str());
                dsts.write(self, (*ty, dsts.len()));
                src.write(self, *ty);
            }
            _ => unreachable!("the rows that name this function"),
        }
    }
}
