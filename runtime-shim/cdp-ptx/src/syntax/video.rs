//! Modifiers and operands of video instructions: operations whose name is in the opcode, and registers with
//! the part of them that is used.

use super::operands::operands;
use super::{Arg, Modifier, placed};
use crate::inst::*;
use crate::module::Reg;
use crate::parse::body::Name;
use crate::parse::lexer::Tok;
use crate::parse::mods::Mods;
use crate::parse::{Parser, Result};
use crate::print::Printer;
use crate::types::*;

use ScalarType::*;

/// 2 or 4, as the opcode ends.
pub(crate) struct LaneCount;
/// `.shr7`, `.shr15`, or 0.
pub(crate) struct ProductShift;
/// The type of the result, which `vset` leaves out.
pub(crate) struct VideoResult(pub VideoOp);
/// Whether the next operand is negated.
pub(crate) struct Minus;
/// The register written and the lanes of it, of so many.
pub(crate) struct Lanes(pub u32);
/// The lanes chosen of two registers, of so many in each; where nothing is written those from the second on.
pub(crate) struct Elements(pub u32, pub u32);

fn comparison(word: &str) -> Option<CmpOp> {
    use CmpOp::*;
    CmpOp::from_str(word).filter(|cmp| matches!(cmp, Eq | Ne | Lt | Le | Gt | Ge))
}

/// The operation that the opcode names, without `v` and the number of lanes, which the value is.
impl Modifier<u32> for VideoOp {
    fn read(_: &Parser, mods: &mut Mods, _: u32) -> Result<VideoOp> {
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

    fn write(&self, printer: &mut Printer, lanes: u32) {
        let name = match self {
            VideoOp::Add => "add",
            VideoOp::Sub => "sub",
            VideoOp::AbsDiff => "absdiff",
            VideoOp::Min => "min",
            VideoOp::Max => "max",
            VideoOp::Average => "avrg",
            VideoOp::Shl(_) => "shl",
            VideoOp::Shr(_) => "shr",
            VideoOp::Set(_) => "set",
        };
        let lanes = if lanes == 1 { String::new() } else { lanes.to_string() };
        printer.rename(&format!("v{name}{lanes}"));
    }
}

/// How the operation is done, which is read with its name.
impl Modifier<VideoOp> for () {
    fn read(_: &Parser, _: &mut Mods, _: VideoOp) -> Result<()> {
        Ok(())
    }

    fn write(&self, printer: &mut Printer, op: VideoOp) {
        match op {
            VideoOp::Shl(mode) | VideoOp::Shr(mode) => printer.word(mode.as_str()),
            VideoOp::Set(cmp) => printer.word(cmp.as_str()),
            _ => {}
        }
    }
}

impl Modifier<VideoResult> for ScalarType {
    fn read(_: &Parser, mods: &mut Mods, VideoResult(op): VideoResult) -> Result<ScalarType> {
        if matches!(op, VideoOp::Set(_)) { Ok(U32) } else { mods.ty(&[U32, S32]) }
    }

    fn write(&self, printer: &mut Printer, VideoResult(op): VideoResult) {
        printer.flag(!matches!(op, VideoOp::Set(_)), self.as_str());
    }
}

impl Modifier<LaneCount> for u32 {
    fn read(_: &Parser, mods: &mut Mods, _: LaneCount) -> Result<u32> {
        Ok(if mods.opcode.text.ends_with('2') { 2 } else { 4 })
    }

    fn write(&self, _: &mut Printer, _: LaneCount) {}
}

impl Modifier<ProductShift> for u32 {
    fn read(_: &Parser, mods: &mut Mods, _: ProductShift) -> Result<u32> {
        Ok(if mods.flag("shr7") { 7 } else { 15 * u32::from(mods.flag("shr15")) })
    }

    fn write(&self, printer: &mut Printer, _: ProductShift) {
        printer.flag(*self == 7, "shr7");
        printer.flag(*self == 15, "shr15");
    }
}

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

    fn selected_register(&mut self) -> Result<(Reg, &'a str)> {
        let token = self.peek;
        match self.selected()? {
            (Operand::Reg(reg), word) => Ok((reg, word)),
            _ => fail!(self, token, Operand, "{token} is not a register"),
        }
    }

    /// `b0` .. `b3`, `h0`, `h1`, or nothing.
    fn part(&mut self, word: &str) -> Result<VideoSelect> {
        match word.as_bytes() {
            [] => Ok(VideoSelect::Whole),
            [b'b', digit @ b'0'..=b'3'] => Ok(VideoSelect::Byte(digit - b'0')),
            [b'h', digit @ b'0'..=b'1'] => Ok(VideoSelect::Half(digit - b'0')),
            _ => fail!(self, self.peek, Operand, "`.{word}` is not a part of a register"),
        }
    }

    /// The digits of `b7654`, lowest lane first, each below the limit.
    fn lane_digits(&mut self, word: &str, lanes: u32, limit: u32) -> Result<Vec<u8>> {
        let letter = if lanes == 2 { 'h' } else { 'b' };
        let digits = word.strip_prefix(letter).filter(|digits| !digits.is_empty());
        let digit = |byte: u8| Some(byte.wrapping_sub(b'0')).filter(|&n| u32::from(n) < limit);
        match digits.and_then(|digits| digits.bytes().rev().map(digit).collect()) {
            Some(digits) => Ok(digits),
            None => self.expected(&format!("elements, not `.{word}`")),
        }
    }
}

impl Printer<'_> {
    fn part(&mut self, select: VideoSelect) {
        match select {
            VideoSelect::Whole => {}
            VideoSelect::Byte(n) => self.word(&format!("b{n}")),
            VideoSelect::Half(n) => self.word(&format!("h{n}")),
        }
    }

    fn lane_digits(&mut self, lanes: u32, chosen: impl DoubleEndedIterator<Item = u8>) {
        self.word(if lanes == 2 { "h" } else { "b" });
        self.out.extend(chosen.rev().map(|n| char::from(b'0' + n)));
    }
}

operands! {
    /// A source and the part of it that is used.
    (Operand, VideoSelect), _ => ():
        read |p| {
            let (operand, word) = p.selected()?;
            Ok((operand, p.part(word)?))
        },
        write |source, out| {
            out.operand(&source.0, B32);
            out.part(source.1);
        };
    /// A destination and the part of it that is written.
    (Reg, VideoSelect), _ => ():
        read |p| {
            let (reg, word) = p.selected_register()?;
            Ok((reg, p.part(word)?))
        },
        write |to, out| {
            out.reg(to.0);
            out.part(to.1);
        };
    (Reg, u8), Lanes(lanes) => Lanes:
        read |p| {
            let (reg, word) = p.selected_register()?;
            if word.is_empty() {
                return Ok((reg, (1 << lanes) - 1));
            }
            let digits = p.lane_digits(word, lanes, lanes)?;
            // From the highest lane down, each at most once.
            if !digits.is_sorted_by(|a, b| a < b) {
                return p.expected(&format!("an element mask, not `.{word}`"));
            }
            Ok((reg, digits.iter().fold(0, |mask, lane| mask | 1 << lane)))
        },
        write |to, out| {
            out.reg(to.0);
            out.lane_digits(lanes, (0..lanes as u8).filter(|lane| to.1 & (1 << lane) != 0));
        };
    (Operand, [u8; 4]), Elements(lanes, first) => Elements:
        read |p| {
            let (operand, word) = p.selected()?;
            let digits = match word {
                "" => (first as u8..(first + lanes) as u8).collect(),
                word => p.lane_digits(word, lanes, 2 * lanes)?,
            };
            if digits.len() != lanes as usize {
                return p.expected(&format!("an element selector, not `.{word}`"));
            }
            let mut select = [0; 4];
            select[..digits.len()].copy_from_slice(&digits);
            Ok((operand, select))
        },
        write |source, out| {
            out.operand(&source.0, B32);
            // A constant has no elements to choose from.
            if matches!(source.0, Operand::Reg(_)) {
                out.lane_digits(lanes, source.1[..lanes as usize].iter().copied());
            }
        };
    bool, _ => Minus:
        read |p| {
            p.at_start = true;
            p.eat(b'-')
        },
        write |minus, out| {
            out.out.push_str(if *minus { "-" } else { "" });
            out.pending = "";
        };
}
