//! Modifiers and operands of video instructions: operations whose name is in the opcode, and registers with
//! the part of them that is used.

use super::modifiers::modifiers;
use super::operands::{operands, placed};
use super::{Arg, Modifier};
use crate::inst::*;
use crate::lexer::Tok;
use crate::module::Reg;
use crate::parse::body::Name;
use crate::parse::mods::Mods;
use crate::parse::{Parser, Result};
use crate::print::Printer;
use crate::types::*;

use ScalarType::*;

/// 2 or 4, as the opcode ends.
pub(crate) struct LaneCount;
/// `.shr7`, `.shr15`, or 0.
pub(crate) struct ProductShift;
/// Whether the next operand is negated.
pub(crate) struct Minus;
/// The register written and the lanes of it, of so many.
pub(crate) struct Lanes(pub u32);
/// The lanes chosen of two registers, of so many in each; where nothing is written those from the second on.
pub(crate) struct Elements(pub u32, pub u32);

modifiers! {
    /// In the opcode, between `v` and the number of lanes, which the value is.
    VideoOp, lanes => u32:
        read |p, mods| {
            let name = mods.opcode.text.trim_start_matches('v').trim_end_matches(['2', '4']);
            Ok(VideoOp::from_str(name).expect("the opcodes of the rows name operations"))
        },
        write |op, out| match lanes {
            1 => out.rename(&format!("v{op}")),
            lanes => out.rename(&format!("v{op}{lanes}")),
        };
    u32, _ => LaneCount:
        read |p, mods| Ok(if mods.opcode.text.ends_with('2') { 2 } else { 4 }), write |lanes, out| ();
    u32, _ => ProductShift:
        read |p, mods| Ok(if mods.flag("shr7") { 7 } else { 15 * u32::from(mods.flag("shr15")) }),
        write |shift, out| out.flag(shift > 0, &format!("shr{shift}"));
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
        match VideoSelect::from_str(word) {
            Some(part) => Ok(part),
            None if word.is_empty() => Ok(VideoSelect::Whole),
            None => fail!(self, self.peek, Operand, "`.{word}` is not a part of a register"),
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
            out.maybe_word(source.1);
        };
    /// A destination and the part of it that is written.
    (Reg, VideoSelect), _ => ():
        read |p| {
            let (reg, word) = p.selected_register()?;
            Ok((reg, p.part(word)?))
        },
        write |to, out| {
            out.reg(to.0);
            out.maybe_word(to.1);
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
