//! Moves with their packing and unpacking forms, `cvt.pack` and `lop3`.

use crate::inst::*;
use crate::parse::lexer::Tok;
use crate::parse::mods::Mods;
use crate::parse::operand::Width;
use crate::parse::{Parser, Result};
use crate::print::Printer;
use crate::print::operand::Arg::*;
use crate::types::*;

use ScalarType::*;

impl<'a> Parser<'a> {
    /// `mov`, with its packing and unpacking forms.
    pub fn mov(&mut self, mods: &mut Mods<'a>) -> Result<Inst> {
        let lanes = mods.lanes();
        let ty = mods.ty(&[Pred, B16, B32, B64, B128, U16, U32, U64, S16, S32, S64, F32, F64])?;
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
            self.comma()?;
            let dsts = elements.into_iter().map(Some).collect();
            return Ok(Inst::MovUnpack { ty, dsts, src: self.operand(ty)? });
        }
        if self.at(b'{') {
            let (part, count) = self.peek_parts(ty, mods)?;
            let dsts = self.dsts(part, count, Width::Exact)?;
            self.comma()?;
            let src = self.operand(ty)?;
            return Ok(Inst::MovUnpack { ty, dsts, src });
        }
        let dst = self.register(ty)?;
        self.comma()?;
        if !self.at(b'{') {
            let src = self.operand_or_special(ty, Width::Exact)?;
            return Ok(Inst::Mov { ty, dst, src });
        }
        let (part, count) = self.peek_parts(ty, mods)?;
        let srcs = self.srcs(part, count, Width::Exact)?;
        Ok(Inst::MovPack { ty, dst, srcs })
    }

    /// `mov.v4.u32 {a, b, c, d}, {e, f, g, h}`, or from `%tid` as a whole.
    fn mov_vector(&mut self, ty: ScalarType, lanes: usize) -> Result<Inst> {
        let dsts = self.dsts(ty, lanes, Width::Exact)?;
        self.comma()?;
        let dims = ["x", "y", "z", "w"].map(|dim| format!("{}.{dim}", self.peek.text));
        let special = dims.map(|name| SpecialReg::from_name(&name));
        if let (4, U32 | B32, [Some(x), Some(y), Some(z), Some(w)]) = (lanes, ty, special)
            && self.peek.tok == Tok::Ident
        {
            self.next()?;
            let srcs = [x, y, z, w].map(Operand::Special).into();
            return Ok(Inst::MovVector { ty, dsts, srcs });
        }
        let srcs = self.srcs(ty, lanes, Width::Exact)?;
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

    /// `cvt.pack.sat.TYPE.s32{.b32} d, a, b{, c}`
    pub fn cvt_pack(&mut self, mods: &mut Mods<'a>) -> Result<Inst> {
        mods.word("pack")?;
        mods.word("sat")?;
        let (dst_signed, dst_bits) = mods.need("a type to convert to", |word| {
            let bits = word.get(1..)?.parse().ok().filter(|bits| matches!(bits, 2 | 4 | 8 | 16))?;
            match word.as_bytes()[0] {
                b's' => Some((true, bits)),
                b'u' => Some((false, bits)),
                _ => None,
            }
        })?;
        let src_ty = mods.ty(&[S32])?;
        let third = mods.peek_ty().is_some();
        if third {
            mods.ty(&[B32])?;
        }
        mods.require(
            third == (dst_bits < 16),
            "8 bits and fewer go with `.b32` and a third source",
        )?;
        mods.finish()?;
        let (dst, a, b) = self.d_a_b(B32)?;
        let c = if third { Some(self.next_operand(B32)?) } else { None };
        Ok(Inst::CvtPackSat { dst_bits, dst_signed, src_ty, dst, a, b, c })
    }

    /// `lop3`
    pub fn lop3(&mut self, mods: &mut Mods<'a>) -> Result<Inst> {
        let op = mods.take(BoolOp::from_str);
        mods.require(op != Some(BoolOp::Xor), "only `.and` and `.or` do")?;
        mods.ty(&[B32])?;
        mods.finish()?;
        let (dst, pred_dst) = match op {
            Some(_) => {
                let dst = self.dst(B32, Width::Exact)?;
                self.expect(b'|')?;
                (dst, self.dst(Pred, Width::Exact)?)
            }
            None => (Some(self.register(B32)?), None),
        };
        let a = self.next_operand(B32)?;
        let b = self.next_operand(B32)?;
        let c = self.next_operand(B32)?;
        self.comma()?;
        let token = self.peek;
        let table = self.integer("the look-up table")?;
        let Ok(table) = u8::try_from(table) else {
            fail!(self, token, Limit, "the look-up table {table} is not 0 to 255");
        };
        let mut pred = None;
        if let Some(op) = op {
            self.comma()?;
            pred = Some(Lop3Pred { op, dst: pred_dst, with: self.pred_operand()? });
        }
        Ok(Inst::Lop3 { table, dst, a, b, c, pred })
    }
}

impl Printer<'_> {
    /// `mov` in its four forms.
    pub fn mov(&mut self, inst: &Inst) {
        self.mnemonic("mov");
        match inst {
            Inst::Mov { ty, dst, src } => {
                self.word(ty.as_str());
                self.args(&[D(*dst), S(src, *ty)]);
            }
            Inst::MovVector { ty, dsts, srcs } => {
                self.vector(dsts.len());
                self.word(ty.as_str());
                match srcs.first() {
                    Some(Operand::Special(special)) => {
                        // All four components of one.
                        let name = special.to_string();
                        self.args(&[Ds(dsts), T(name.trim_end_matches(".x"))]);
                    }
                    _ => self.args(&[Ds(dsts), Braced(srcs, *ty)]),
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
                self.args(&[D(*dst), Braced(srcs, part)]);
            }
            Inst::MovUnpack { ty, dsts, src } => {
                self.word(ty.as_str());
                self.args(&[Ds(dsts), S(src, *ty)]);
            }
            _ => unreachable!("the rows that name this function"),
        }
    }

    /// `cvt.pack`
    pub fn cvt_pack(&mut self, inst: &Inst) {
        fields!(inst, Inst::CvtPackSat { dst_bits, dst_signed, src_ty, dst, a, b, c });
        self.mnemonic("cvt.pack.sat");
        self.word(&format!("{}{dst_bits}", if *dst_signed { "s" } else { "u" }));
        self.word(src_ty.as_str());
        self.flag(c.is_some(), "b32");
        self.args(&[D(*dst), S(a, S32), S(b, S32), SOpt(c, B32)]);
    }

    /// `lop3`
    pub fn lop3(&mut self, inst: &Inst) {
        fields!(inst, Inst::Lop3 { table, dst, a, b, c, pred });
        self.mnemonic("lop3");
        let sources = [S(a, B32), S(b, B32), S(c, B32), N(i64::from(*table))];
        match pred {
            None => {
                self.word("b32");
                self.args(&[&[O(*dst)], &sources[..]].concat());
            }
            Some(pred) => {
                self.words(&[pred.op.as_str(), "b32"]);
                let first = [Both(*dst, pred.dst)];
                self.args(&[&first[..], &sources, &[P(&pred.with)]].concat());
            }
        }
    }
}
