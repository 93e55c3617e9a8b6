//! Scalar and SIMD video instructions.

use crate::inst::*;
use crate::module::Reg;
use crate::parse::body::Name;
use crate::parse::lexer::Tok;
use crate::parse::mods::Mods;
use crate::parse::{Parser, Result};
use crate::print::Printer;
use crate::types::*;

use ScalarType::*;

/// `b0` .. `b3`, `h0`, `h1`
fn part(word: &str) -> Option<VideoSelect> {
    match word.as_bytes() {
        [b'b', digit @ b'0'..=b'3'] => Some(VideoSelect::Byte(digit - b'0')),
        [b'h', digit @ b'0'..=b'1'] => Some(VideoSelect::Half(digit - b'0')),
        _ => None,
    }
}

fn comparison(word: &str) -> Option<CmpOp> {
    CmpOp::from_str(word).filter(|cmp| {
        matches!(cmp, CmpOp::Eq | CmpOp::Ne | CmpOp::Lt | CmpOp::Le | CmpOp::Gt | CmpOp::Ge)
    })
}

/// The operation that the opcode without `v` and lane count names.
fn operation(mods: &mut Mods) -> Result<VideoOp> {
    let name = mods.opcode.text.trim_start_matches('v').trim_end_matches(['2', '4']);
    Ok(match name {
        "add" => VideoOp::Add,
        "sub" => VideoOp::Sub,
        "absdiff" => VideoOp::AbsDiff,
        "min" => VideoOp::Min,
        "max" => VideoOp::Max,
        "avrg" => VideoOp::Average,
        "shl" => VideoOp::Shl(mods.need("`.clamp` or `.wrap`", ShiftMode::from_str)?),
        "shr" => VideoOp::Shr(mods.need("`.clamp` or `.wrap`", ShiftMode::from_str)?),
        _ => VideoOp::Set(mods.need("a comparison such as `.lt`", comparison)?),
    })
}

/// The three types of an operation; `vset` writes `.u32` and has two.
fn types(mods: &mut Mods, op: VideoOp) -> Result<(ScalarType, ScalarType, ScalarType)> {
    let dst_ty = if matches!(op, VideoOp::Set(_)) { U32 } else { mods.ty(INT32)? };
    let a_ty = mods.ty(INT32)?;
    // The amount of a shift is unsigned.
    let shift = matches!(op, VideoOp::Shl(_) | VideoOp::Shr(_));
    let b_ty = mods.ty(if shift { &[U32] } else { INT32 })?;
    Ok((dst_ty, a_ty, b_ty))
}

const INT32: &[ScalarType] = &[U32, S32];

impl<'a> Parser<'a> {
    /// A register and what stands after its dot, or a constant.
    fn selected(&mut self) -> Result<(Operand, &'a str)> {
        if self.at_constant() {
            return Ok((self.operand(B32)?, ""));
        }
        let name = self.ident("a register")?;
        let Some(Name::Reg(reg)) = self.st.lookup(name.text) else {
            fail!(self, name, Operand, "{name} is not a register");
        };
        let ty = self.st.body.registers[reg.index()].ty;
        if ty.bits() != 32 {
            fail!(self, name, Operand, "{name} is a `.{ty}` register, not of 32 bits");
        }
        let suffix = self.peek.tok == Tok::Dot && self.peek.start == name.end;
        Ok((Operand::Reg(reg), if suffix { self.next()?.text } else { "" }))
    }

    /// A source and the part of it that is used.
    fn video_source(&mut self) -> Result<(Operand, VideoSelect)> {
        let token = self.peek;
        let (operand, word) = self.selected()?;
        if word.is_empty() {
            return Ok((operand, VideoSelect::Whole));
        }
        match part(word) {
            Some(select) => Ok((operand, select)),
            None => {
                fail!(self, token, Operand, "`.{word}` is not a part of {token}")
            }
        }
    }

    fn video_dst(&mut self) -> Result<(Reg, &'a str)> {
        let token = self.peek;
        match self.selected()? {
            (Operand::Reg(reg), word) => Ok((reg, word)),
            _ => {
                fail!(self, token, Operand, "{token} is not a register")
            }
        }
    }

    /// `vadd` and the other scalar ones.
    pub fn video(&mut self, mods: &mut Mods<'a>) -> Result<Inst> {
        let op = operation(mods)?;
        let (dst_ty, a_ty, b_ty) = types(mods, op)?;
        let sat = !matches!(op, VideoOp::Set(_)) && mods.flag("sat");
        let second = mods.take(|word| match ReduxOp::from_str(word) {
            Some(op @ (ReduxOp::Add | ReduxOp::Min | ReduxOp::Max)) => Some(op),
            _ => None,
        });
        mods.finish()?;
        let token = self.peek;
        let (dst, dst_part) = self.video_dst()?;
        let mut merge = second.map_or(VideoMerge::None, VideoMerge::Op);
        if !dst_part.is_empty() {
            match part(dst_part) {
                Some(select) if second.is_none() => merge = VideoMerge::Insert(select),
                _ => {
                    fail!(self, token, Operand, "`.{dst_part}` is not possible here");
                }
            }
        }
        self.comma()?;
        let a = self.video_source()?;
        self.comma()?;
        let b = self.video_source()?;
        let c = if merge == VideoMerge::None { None } else { Some(self.next_operand(B32)?) };
        Ok(Inst::Video(Box::new(Video { op, dst_ty, a_ty, b_ty, sat, merge, dst, a, b, c })))
    }

    /// `vmad`
    pub fn video_mad(&mut self, mods: &mut Mods<'a>) -> Result<Inst> {
        let dst_ty = mods.ty(INT32)?;
        let a_ty = mods.ty(INT32)?;
        let b_ty = mods.ty(INT32)?;
        let plus_one = mods.flag("po");
        let sat = mods.flag("sat");
        let shift_bits = mods
            .take(|word| match word {
                "shr7" => Some(7),
                "shr15" => Some(15),
                _ => None,
            })
            .unwrap_or(0);
        mods.finish()?;
        let (dst, suffix) = self.video_dst()?;
        if !suffix.is_empty() {
            return self.expected("`,` (the result is not a part of a register)");
        }
        self.comma()?;
        let minus_a = self.eat(b'-')?;
        let a = self.video_source()?;
        self.comma()?;
        let minus_b = self.eat(b'-')?;
        let b = self.video_source()?;
        self.comma()?;
        let negate_c = self.eat(b'-')?;
        let c = self.operand(B32)?;
        let negate_product = minus_a != minus_b;
        mods.require(!(negate_product && negate_c), "either the product or `c` is negated")?;
        mods.require(
            !(plus_one && (minus_a || minus_b || negate_c)),
            "`.po` leaves no operand negated",
        )?;
        Ok(Inst::VideoMad(Box::new(VideoMad {
            dst_ty,
            a_ty,
            b_ty,
            sat,
            plus_one,
            shift_bits,
            dst,
            a,
            b,
            c,
            negate_product,
            negate_c,
        })))
    }

    /// `vadd2`, `vadd4` and the like.
    pub fn video_simd(&mut self, mods: &mut Mods<'a>) -> Result<Inst> {
        let lanes = if mods.opcode.text.ends_with('2') { 2 } else { 4 };
        let op = operation(mods)?;
        let (dst_ty, a_ty, b_ty) = types(mods, op)?;
        let sat = !matches!(op, VideoOp::Set(_)) && mods.flag("sat");
        let accumulate = mods.flag("add");
        mods.require(!(sat && accumulate), "`.sat` and `.add` do not go together")?;
        mods.finish()?;
        let (dst, mask) = self.video_dst()?;
        let write_mask = match mask {
            "" => (1 << lanes) - 1,
            word => self.lane_mask(word, lanes)?,
        };
        self.comma()?;
        let (a, a_word) = self.selected()?;
        let a_select = self.lane_select(a_word, lanes, 0)?;
        self.comma()?;
        let (b, b_word) = self.selected()?;
        let b_select = self.lane_select(b_word, lanes, lanes as u8)?;
        let c = self.next_operand(B32)?;
        Ok(Inst::VideoSimd(Box::new(VideoSimd {
            op,
            lanes,
            dst_ty,
            a_ty,
            b_ty,
            sat,
            accumulate,
            dst,
            write_mask,
            a,
            a_select,
            b,
            b_select,
            c,
        })))
    }

    /// `h10`, `b310`: which elements are written.
    fn lane_mask(&self, word: &str, lanes: u32) -> Result<u8> {
        let letter = if lanes == 2 { b'h' } else { b'b' };
        let mut mask = 0u8;
        let (first, digits) = word.as_bytes().split_first().unwrap_or((&0, &[]));
        let mut ok = *first == letter && !digits.is_empty();
        for digit in digits {
            let lane = digit.wrapping_sub(b'0');
            // From the highest lane down, each at most once.
            ok &= u32::from(lane) < lanes && (mask == 0 || 1u8 << lane.min(7) < lowest(mask));
            mask |= 1u8 << lane.min(7);
        }
        if ok { Ok(mask) } else { self.expected(&format!("an element mask, not `.{word}`")) }
    }

    /// `h32`, `b7654`: which elements of `{b, a}` are taken; without it, those from `first` on.
    fn lane_select(&self, word: &str, lanes: u32, first: u8) -> Result<[u8; 4]> {
        let mut select = [0u8; 4];
        if word.is_empty() {
            for lane in 0..lanes as u8 {
                select[lane as usize] = first + lane;
            }
            return Ok(select);
        }
        let letter = if lanes == 2 { b'h' } else { b'b' };
        let (prefix, digits) = word.as_bytes().split_first().unwrap_or((&0, &[]));
        let mut ok = *prefix == letter && digits.len() == lanes as usize;
        for (digit, slot) in digits.iter().rev().zip(&mut select) {
            *slot = digit.wrapping_sub(b'0');
            ok &= u32::from(*slot) < 2 * lanes;
        }
        if ok { Ok(select) } else { self.expected(&format!("an element selector, not `.{word}`")) }
    }
}

impl Printer<'_> {
    /// Opcode, lane count, types and what depends on the operation.
    fn video_head(
        &mut self,
        op: VideoOp,
        lanes: &str,
        dst_ty: ScalarType,
        a_ty: ScalarType,
        b_ty: ScalarType,
        sat: bool,
    ) {
        self.mnemonic(match op {
            VideoOp::Add => "vadd",
            VideoOp::Sub => "vsub",
            VideoOp::AbsDiff => "vabsdiff",
            VideoOp::Min => "vmin",
            VideoOp::Max => "vmax",
            VideoOp::Average => "vavrg",
            VideoOp::Shl(_) => "vshl",
            VideoOp::Shr(_) => "vshr",
            VideoOp::Set(_) => "vset",
        });
        self.mnemonic(lanes);
        if !matches!(op, VideoOp::Set(_)) {
            self.word(dst_ty.as_str());
        }
        self.words(&[a_ty.as_str(), b_ty.as_str()]);
        self.flag(sat, "sat");
        match op {
            VideoOp::Shl(mode) | VideoOp::Shr(mode) => self.word(mode.as_str()),
            VideoOp::Set(cmp) => self.word(cmp.as_str()),
            _ => {}
        }
    }

    fn select(&mut self, select: VideoSelect) {
        match select {
            VideoSelect::Whole => {}
            VideoSelect::Byte(n) => self.word(&format!("b{n}")),
            VideoSelect::Half(n) => self.word(&format!("h{n}")),
        }
    }

    /// See the row of this name.
    pub fn video(&mut self, inst: &Inst) {
        fields!(inst, Inst::Video(v));
        self.video_head(v.op, "", v.dst_ty, v.a_ty, v.b_ty, v.sat);
        if let VideoMerge::Op(op) = v.merge {
            self.word(op.as_str());
        }
        self.out.push(' ');
        self.reg(v.dst);
        if let VideoMerge::Insert(select) = v.merge {
            self.select(select);
        }
        for (operand, select) in [&v.a, &v.b] {
            self.out.push_str(", ");
            self.operand(operand, B32);
            self.select(*select);
        }
        if let Some(c) = &v.c {
            self.out.push_str(", ");
            self.operand(c, B32);
        }
        self.out.push(';');
    }

    /// See the row of this name.
    pub fn video_mad(&mut self, inst: &Inst) {
        fields!(inst, Inst::VideoMad(v));
        self.mnemonic("vmad");
        self.words(&[v.dst_ty.as_str(), v.a_ty.as_str(), v.b_ty.as_str()]);
        self.flag(v.plus_one, "po");
        self.flag(v.sat, "sat");
        self.flag(v.shift_bits == 7, "shr7");
        self.flag(v.shift_bits == 15, "shr15");
        self.out.push(' ');
        self.reg(v.dst);
        self.out.push_str(if v.negate_product { ", -" } else { ", " });
        self.operand(&v.a.0, B32);
        self.select(v.a.1);
        self.out.push_str(", ");
        self.operand(&v.b.0, B32);
        self.select(v.b.1);
        self.out.push_str(if v.negate_c { ", -" } else { ", " });
        self.operand(&v.c, B32);
        self.out.push(';');
    }

    /// See the row of this name.
    pub fn video_simd(&mut self, inst: &Inst) {
        fields!(inst, Inst::VideoSimd(v));
        let lanes = v.lanes as usize;
        self.video_head(v.op, if lanes == 2 { "2" } else { "4" }, v.dst_ty, v.a_ty, v.b_ty, v.sat);
        self.flag(v.accumulate, "add");
        self.out.push(' ');
        self.reg(v.dst);
        let letter = if lanes == 2 { ".h" } else { ".b" };
        let digits = |chosen: Vec<u8>| -> String {
            let digits: String = chosen.iter().rev().map(|n| char::from(b'0' + n)).collect();
            format!("{letter}{digits}")
        };
        let mask = (0..lanes as u8).filter(|lane| v.write_mask & (1 << lane) != 0).collect();
        self.out.push_str(&digits(mask));
        for (operand, select) in [(&v.a, &v.a_select), (&v.b, &v.b_select)] {
            self.out.push_str(", ");
            self.operand(operand, B32);
            // A constant has no elements to choose from.
            if matches!(operand, Operand::Reg(_)) {
                self.out.push_str(&digits(select[..lanes].to_vec()));
            }
        }
        self.out.push_str(", ");
        self.operand(&v.c, B32);
        self.out.push(';');
    }
}
/// The lowest bit that is set.
fn lowest(mask: u8) -> u8 {
    mask & mask.wrapping_neg()
}
