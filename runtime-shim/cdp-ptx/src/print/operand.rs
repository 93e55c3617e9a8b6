//! Words and operands as text.

use std::fmt::Write;

use super::Printer;
use crate::inst::*;
use crate::module::*;
use crate::types::*;

impl<'a> Printer<'a> {
    /// A line with one instruction.
    pub fn instruction(&mut self, instruction: &Instruction) {
        self.out.push('\t');
        if let Some(guard) = instruction.guard {
            self.out.push_str(if guard.negated { "@!" } else { "@" });
            self.reg(guard.reg);
            self.out.push(' ');
        }
        self.inst(&instruction.inst);
        self.out.push('\n');
    }

    /// What separates an operand from the one before it.
    pub fn separate(&mut self) {
        self.out.push_str(self.pending);
        self.pending = ", ";
    }

    /// A bracket around some operands.
    pub fn bracket(&mut self, bracket: &str) {
        if bracket == "[" {
            self.separate();
            self.pending = "";
        }
        self.out.push_str(bracket);
    }

    /// Another opcode of the row than the first.
    pub fn rename(&mut self, opcode: &str) {
        self.out.truncate(self.start);
        self.out.push_str(opcode);
    }

    /// An opcode, or the next part of one.
    pub fn mnemonic(&mut self, text: &str) {
        self.out.push_str(text);
    }

    /// `.word`
    pub fn word(&mut self, word: &str) {
        self.out.push('.');
        self.out.push_str(word);
    }

    /// `.word`, if there is one.
    pub fn maybe<W: Word>(&mut self, word: Option<W>) {
        if let Some(word) = word {
            self.word(word.word());
        }
    }

    /// `.word`, unless it is the one that is not written.
    pub fn maybe_word<W: Word>(&mut self, word: W) {
        self.flag(!word.word().is_empty(), word.word());
    }

    pub fn flag(&mut self, on: bool, word: &str) {
        if on {
            self.word(word);
        }
    }

    /// `.v2`, unless there is one element.
    pub fn vector(&mut self, len: usize) {
        if len > 1 {
            self.word(&format!("v{len}"));
        }
    }

    /// Destinations: an operand, in braces if there are several.
    pub fn dsts(&mut self, dsts: &[Dst]) {
        self.elements(dsts, |printer, dst| printer.dst(*dst));
    }

    /// Sources: an operand, in braces if there are several.
    pub fn srcs(&mut self, srcs: &[Operand], ty: ScalarType) {
        self.elements(srcs, |printer, src| printer.operand(src, ty));
    }

    fn elements<T>(&mut self, list: &[T], each: impl Fn(&mut Self, &T)) {
        if !list.is_empty() {
            self.separate();
        }
        match list {
            [] => {}
            [one] => each(self, one),
            list => self.braces(list, each),
        }
    }

    /// Sources, always in braces.
    pub fn braced(&mut self, srcs: &[Operand], ty: ScalarType) {
        self.braces(srcs, |printer, src| printer.operand(src, ty));
    }

    /// `[address]`
    pub fn brackets(&mut self, address: &Address) {
        self.out.push('[');
        self.address(address);
        self.out.push(']');
    }

    pub fn number(&mut self, number: i64) {
        let _ = write!(self.out, "{number}");
    }

    /// `{a, b}`
    pub fn braces<T>(&mut self, list: &[T], each: impl Fn(&mut Self, &T)) {
        self.out.push('{');
        self.commas(list, each);
        self.out.push('}');
    }

    /// `a, b`
    pub fn commas<T>(&mut self, list: &[T], each: impl Fn(&mut Self, &T)) {
        for (position, item) in list.iter().enumerate() {
            self.out.push_str(if position > 0 { ", " } else { "" });
            each(self, item);
        }
    }

    pub fn reg(&mut self, reg: Reg) {
        let name = &self.body().registers[reg.index()].name;
        self.out.push_str(name);
    }

    pub fn dst(&mut self, dst: Dst) {
        match dst {
            Some(reg) => self.reg(reg),
            None => self.out.push('_'),
        }
    }

    pub fn operand(&mut self, operand: &Operand, ty: ScalarType) {
        match operand {
            Operand::Reg(reg) => self.reg(*reg),
            Operand::Imm(bits) => self.immediate(*bits, ty),
            Operand::Special(special) => self.out += &special.to_string(),
            Operand::Address { symbol, offset } => {
                self.symbol(*symbol);
                self.offset(*offset);
            }
        }
    }

    pub fn immediate(&mut self, bits: u64, ty: ScalarType) {
        let _ = match ty {
            ScalarType::F32 => write!(self.out, "0f{bits:08X}"),
            ScalarType::F64 => write!(self.out, "0d{bits:016X}"),
            _ if ty.is_signed() => {
                let unused = 64 - ty.bits();
                write!(self.out, "{}", ((bits << unused) as i64) >> unused)
            }
            _ => write!(self.out, "{bits}"),
        };
    }

    fn offset(&mut self, offset: i64) {
        if offset != 0 {
            // `+-8` is what compilers write, and leaves no doubt about the order of evaluation.
            let _ = write!(self.out, "+{offset}");
        }
    }

    pub fn address(&mut self, address: &Address) {
        match address.base {
            AddressBase::Reg(reg) => self.reg(reg),
            AddressBase::Symbol(symbol) => self.symbol(symbol),
            AddressBase::Absolute => return self.number(address.offset),
        }
        self.offset(address.offset);
    }

    pub fn symbol(&mut self, symbol: Symbol) {
        let name = self.name(symbol);
        self.out.push_str(name);
    }

    pub fn name(&self, symbol: Symbol) -> &'a str {
        let module = self.module;
        match symbol {
            Symbol::Function(id) => &module.functions[id.index()].name,
            Symbol::Global(id) => &module.variables[id.index()].name,
            Symbol::Local(id) => &self.body().variables[id.index()].name,
            Symbol::Param(index) => &self.function().params[index as usize].name,
            Symbol::Return(index) => &self.function().returns[index as usize].name,
        }
    }
}
