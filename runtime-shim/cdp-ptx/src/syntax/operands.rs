//! Operands: what each kind between the commas reads and writes.

use super::modifiers::Pointer;
use super::{Arg, Separator};
use crate::inst::*;
use crate::module::{BranchTableId, LabelId, Reg};
use crate::parse::Parser;
use crate::parse::Result;
use crate::parse::body::Name;
use crate::parse::operand::Width;
use crate::print::Printer;
use crate::types::*;

/// The register may be wider than the type.
pub(crate) struct Wide(pub ScalarType);
/// [`Wide`], or a special register where that is so.
pub(crate) struct WideOrSpecial(pub ScalarType, pub bool);
/// A value of the type, or the address of a variable of the state space.
pub(crate) struct InSpace(pub ScalarType, pub Space);
/// In brackets, as objects are.
pub(crate) struct Bracketed(pub ScalarType);
/// Bytes, 8 where nothing is written.
pub(crate) struct Alignment;

/// Declares how operands are read and written that are always there.
macro_rules! operands {
    ($($(#[$doc:meta])* $ty:ty, $spec:pat => $kind:ty:
        read |$p:ident| $read:expr, write |$value:ident, $out:ident| $write:expr;)*) => {$(
        $(#[$doc])*
        #[allow(unused_variables)]
        impl Arg<$kind> for $ty {
            fn read($p: &mut Parser, $spec: $kind) -> Result<$ty> {
                $read
            }

            fn write(&self, $out: &mut Printer, $spec: $kind) {
                let $value = self;
                $write
            }
        }
    )*};
}

operands! {
    Reg, ty => ScalarType:
        read |p| p.register(ty), write |reg, out| out.reg(*reg);
    Reg, Wide(ty) => Wide:
        read |p| p.register_of(ty, Width::AtLeast), write |reg, out| out.reg(*reg);
    Operand, ty => ScalarType:
        read |p| p.operand(ty), write |operand, out| out.operand(operand, ty);
    Operand, WideOrSpecial(ty, special) => WideOrSpecial:
        read |p| match special {
            true => p.operand_or_special(ty, Width::AtLeast),
            false => p.operand_of(ty, Width::AtLeast),
        },
        write |operand, out| out.operand(operand, ty);
    Operand, _ => Pointer:
        read |p| { let ty = p.address_ty(); p.operand(ty) },
        write |operand, out| out.operand(operand, ScalarType::B64);
    Operand, InSpace(ty, space) => InSpace:
        read |p| {
            let token = p.peek;
            let value = p.operand(ty)?;
            if let Operand::Address(SymbolAddress { symbol, offset }) = value {
                let address = Address { base: AddressBase::Symbol(symbol), offset };
                p.check_space(&token, space, &address)?;
            }
            Ok(value)
        },
        write |operand, out| out.operand(operand, ty);
    Operand, Bracketed(ty) => Bracketed:
        read |p| {
            p.expect(b'[')?;
            let object = p.operand(ty)?;
            p.expect(b']')?;
            Ok(object)
        },
        write |operand, out| {
            out.out.push('[');
            out.operand(operand, ty);
            out.out.push(']');
        };
    PredOperand, _ => ():
        read |p| p.pred_operand(), write |operand, out| out.pred(operand);
    /// So many registers.
    Dsts, (ty, count) => (ScalarType, usize):
        read |p| p.dsts(ty, count, Width::Exact), write |dsts, out| out.dsts(dsts);
    /// So many values.
    Srcs, (ty, count) => (ScalarType, usize):
        read |p| p.srcs(ty, count, Width::Exact), write |srcs, out| out.srcs(srcs, ty);
    Address, space => Space:
        read |p| p.space_address(space), write |address, out| out.brackets(address);
    /// In any state space.
    Address, _ => ():
        read |p| p.address(), write |address, out| out.brackets(address);
    /// A number, which the text names in messages.
    u32, what => &str:
        read |p| p.number_u32(what), write |number, out| out.number(i64::from(*number));
    LabelId, _ => ():
        read |p| p.label_name(),
        write |label, out| {
            let name = &out.body().labels[label.index()].name;
            out.out.push_str(name);
        };
    BranchTableId, _ => ():
        read |p| {
            let name = p.ident("a list of branch targets")?;
            match p.st.lookup(name.text) {
                Some(Name::Branches(table)) => Ok(table),
                _ => {
                    fail!(p, name, UnknownName, "{name} is not a `.branchtargets` list")
                }
            }
        },
        write |table, out| {
            let name = &out.body().branch_tables[table.index()].name;
            out.out.push_str(name);
        };
}

/// After `|` it may be missing.
impl Arg<ScalarType> for Dst {
    fn read(p: &mut Parser, ty: ScalarType) -> Result<Dst> {
        p.dst(ty, Width::Exact)
    }

    fn write(&self, printer: &mut Printer, _: ScalarType) {
        printer.dst(*self);
    }

    fn read_after(separator: Separator, p: &mut Parser, ty: ScalarType) -> Result<Dst> {
        match separator {
            Separator::Bar if !p.eat(b'|')? => return Ok(None),
            Separator::Comma => p.comma()?,
            _ => {}
        }
        p.dst(ty, Width::Exact)
    }

    fn write_after(&self, separator: Separator, printer: &mut Printer, _: ScalarType) {
        if separator != Separator::Bar || self.is_some() {
            printer.out.push_str(separator.text());
            printer.dst(*self);
        }
    }
}

/// The operand is there if the flag says so.
impl Arg<(ScalarType, bool)> for Option<Operand> {
    fn read(p: &mut Parser, (ty, _): (ScalarType, bool)) -> Result<Self> {
        p.operand(ty).map(Some)
    }

    fn write(&self, printer: &mut Printer, (ty, _): (ScalarType, bool)) {
        if let Some(operand) = self {
            printer.operand(operand, ty);
        }
    }

    fn read_after(
        separator: Separator,
        p: &mut Parser,
        (ty, there): (ScalarType, bool),
    ) -> Result<Self> {
        if !there {
            return Ok(None);
        }
        Operand::read_after(separator, p, ty).map(Some)
    }

    fn write_after(&self, separator: Separator, printer: &mut Printer, spec: (ScalarType, bool)) {
        if let Some(operand) = self {
            operand.write_after(separator, printer, spec.0);
        }
    }
}

/// The operand is there if a comma is.
impl Arg<ScalarType> for Option<Operand> {
    fn read(p: &mut Parser, ty: ScalarType) -> Result<Self> {
        Arg::read(p, (ty, true))
    }

    fn write(&self, printer: &mut Printer, ty: ScalarType) {
        Arg::write(self, printer, (ty, true));
    }

    fn read_after(separator: Separator, p: &mut Parser, ty: ScalarType) -> Result<Self> {
        let there = p.at(b',');
        Arg::read_after(separator, p, (ty, there))
    }

    fn write_after(&self, separator: Separator, printer: &mut Printer, ty: ScalarType) {
        Arg::write_after(self, separator, printer, (ty, true));
    }
}

/// The predicate that the operation among the modifiers is done with.
impl Arg<Option<BoolOp>> for Option<Combine> {
    fn read(p: &mut Parser, op: Option<BoolOp>) -> Result<Option<Combine>> {
        op.map(|op| Ok(Combine { op, with: p.pred_operand()? })).transpose()
    }

    fn write(&self, printer: &mut Printer, _: Option<BoolOp>) {
        if let Some(combine) = self {
            printer.pred(&combine.with);
        }
    }

    fn read_after(_: Separator, p: &mut Parser, op: Option<BoolOp>) -> Result<Option<Combine>> {
        if op.is_some() {
            p.comma()?;
        }
        Arg::read(p, op)
    }

    fn write_after(&self, separator: Separator, printer: &mut Printer, op: Option<BoolOp>) {
        if self.is_some() {
            printer.out.push_str(separator.text());
        }
        Arg::write(self, printer, op);
    }
}

impl Arg<Alignment> for u32 {
    fn read(p: &mut Parser, _: Alignment) -> Result<u32> {
        p.alignment()
    }

    fn write(&self, printer: &mut Printer, _: Alignment) {
        printer.number(i64::from(*self));
    }

    fn read_after(_: Separator, p: &mut Parser, _: Alignment) -> Result<u32> {
        if p.eat(b',')? { p.alignment() } else { Ok(8) }
    }
}
