//! Operands: what each kind between the commas reads and writes.

use super::modifiers::Pointer;
use super::{Arg, Separator};
use crate::error::ErrorKind;
use crate::inst::*;
use crate::module::{BranchTableId, LabelId, Reg};
use crate::parse::Parser;
use crate::parse::Result;
use crate::parse::body::{FunctionState, Name};
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

impl Arg<ScalarType> for Reg {
    fn read<'a>(p: &mut Parser<'a>, st: &mut FunctionState<'a>, ty: ScalarType) -> Result<Reg> {
        p.register(st, ty)
    }

    fn write(&self, printer: &mut Printer, _: ScalarType) {
        printer.reg(*self);
    }
}

impl Arg<Wide> for Reg {
    fn read<'a>(p: &mut Parser<'a>, st: &mut FunctionState<'a>, spec: Wide) -> Result<Reg> {
        p.register_of(st, spec.0, Width::AtLeast)
    }

    fn write(&self, printer: &mut Printer, _: Wide) {
        printer.reg(*self);
    }
}

/// After `|` it may be missing.
impl Arg<ScalarType> for Dst {
    fn read<'a>(p: &mut Parser<'a>, st: &mut FunctionState<'a>, ty: ScalarType) -> Result<Dst> {
        p.dst(st, ty, Width::Exact)
    }

    fn write(&self, printer: &mut Printer, _: ScalarType) {
        printer.dst(*self);
    }

    fn read_after<'a>(
        separator: Separator,
        p: &mut Parser<'a>,
        st: &mut FunctionState<'a>,
        ty: ScalarType,
    ) -> Result<Dst> {
        match separator {
            Separator::Bar if !p.eat(b'|')? => return Ok(None),
            Separator::Comma => p.comma()?,
            _ => {}
        }
        p.dst(st, ty, Width::Exact)
    }

    fn write_after(&self, separator: Separator, printer: &mut Printer, _: ScalarType) {
        if separator != Separator::Bar || self.is_some() {
            printer.out.push_str(separator.text());
            printer.dst(*self);
        }
    }
}

impl Arg<ScalarType> for Operand {
    fn read<'a>(p: &mut Parser<'a>, st: &mut FunctionState<'a>, ty: ScalarType) -> Result<Operand> {
        p.operand(st, ty)
    }

    fn write(&self, printer: &mut Printer, ty: ScalarType) {
        printer.operand(self, ty);
    }
}

impl Arg<WideOrSpecial> for Operand {
    fn read<'a>(
        p: &mut Parser<'a>,
        st: &mut FunctionState<'a>,
        WideOrSpecial(ty, special): WideOrSpecial,
    ) -> Result<Operand> {
        match special {
            true => p.operand_or_special(st, ty, Width::AtLeast),
            false => p.operand_of(st, ty, Width::AtLeast),
        }
    }

    fn write(&self, printer: &mut Printer, spec: WideOrSpecial) {
        printer.operand(self, spec.0);
    }
}

impl Arg<Pointer> for Operand {
    fn read<'a>(p: &mut Parser<'a>, st: &mut FunctionState<'a>, _: Pointer) -> Result<Operand> {
        let ty = p.address_ty();
        p.operand(st, ty)
    }

    fn write(&self, printer: &mut Printer, _: Pointer) {
        printer.operand(self, ScalarType::B64);
    }
}

impl Arg<InSpace> for Operand {
    fn read<'a>(
        p: &mut Parser<'a>,
        st: &mut FunctionState<'a>,
        InSpace(ty, space): InSpace,
    ) -> Result<Operand> {
        let token = p.peek;
        let value = p.operand(st, ty)?;
        if let Operand::Address(SymbolAddress { symbol, offset }) = value {
            let address = Address { base: AddressBase::Symbol(symbol), offset };
            p.check_space(st, &token, space, &address)?;
        }
        Ok(value)
    }

    fn write(&self, printer: &mut Printer, spec: InSpace) {
        printer.operand(self, spec.0);
    }
}

impl Arg<Bracketed> for Operand {
    fn read<'a>(p: &mut Parser<'a>, st: &mut FunctionState<'a>, spec: Bracketed) -> Result<Self> {
        p.expect(b'[')?;
        let object = p.operand(st, spec.0)?;
        p.expect(b']')?;
        Ok(object)
    }

    fn write(&self, printer: &mut Printer, spec: Bracketed) {
        printer.out.push('[');
        printer.operand(self, spec.0);
        printer.out.push(']');
    }
}

/// The operand is there if the flag says so.
impl Arg<(ScalarType, bool)> for Option<Operand> {
    fn read<'a>(
        p: &mut Parser<'a>,
        st: &mut FunctionState<'a>,
        (ty, _): (ScalarType, bool),
    ) -> Result<Self> {
        p.operand(st, ty).map(Some)
    }

    fn write(&self, printer: &mut Printer, (ty, _): (ScalarType, bool)) {
        if let Some(operand) = self {
            printer.operand(operand, ty);
        }
    }

    fn read_after<'a>(
        separator: Separator,
        p: &mut Parser<'a>,
        st: &mut FunctionState<'a>,
        (ty, there): (ScalarType, bool),
    ) -> Result<Self> {
        if !there {
            return Ok(None);
        }
        Operand::read_after(separator, p, st, ty).map(Some)
    }

    fn write_after(&self, separator: Separator, printer: &mut Printer, spec: (ScalarType, bool)) {
        if let Some(operand) = self {
            operand.write_after(separator, printer, spec.0);
        }
    }
}

/// The operand is there if a comma is.
impl Arg<ScalarType> for Option<Operand> {
    fn read<'a>(p: &mut Parser<'a>, st: &mut FunctionState<'a>, ty: ScalarType) -> Result<Self> {
        Arg::read(p, st, (ty, true))
    }

    fn write(&self, printer: &mut Printer, ty: ScalarType) {
        Arg::write(self, printer, (ty, true));
    }

    fn read_after<'a>(
        separator: Separator,
        p: &mut Parser<'a>,
        st: &mut FunctionState<'a>,
        ty: ScalarType,
    ) -> Result<Self> {
        let there = p.at(b',');
        Arg::read_after(separator, p, st, (ty, there))
    }

    fn write_after(&self, separator: Separator, printer: &mut Printer, ty: ScalarType) {
        Arg::write_after(self, separator, printer, (ty, true));
    }
}

impl Arg<()> for PredOperand {
    fn read<'a>(p: &mut Parser<'a>, st: &mut FunctionState<'a>, _: ()) -> Result<PredOperand> {
        p.pred_operand(st)
    }

    fn write(&self, printer: &mut Printer, _: ()) {
        printer.pred(self);
    }
}

/// The predicate that the operation among the modifiers is done with.
impl Arg<Option<BoolOp>> for Option<Combine> {
    fn read<'a>(
        p: &mut Parser<'a>,
        st: &mut FunctionState<'a>,
        op: Option<BoolOp>,
    ) -> Result<Option<Combine>> {
        op.map(|op| Ok(Combine { op, with: p.pred_operand(st)? })).transpose()
    }

    fn write(&self, printer: &mut Printer, _: Option<BoolOp>) {
        if let Some(combine) = self {
            printer.pred(&combine.with);
        }
    }

    fn read_after<'a>(
        _: Separator,
        p: &mut Parser<'a>,
        st: &mut FunctionState<'a>,
        op: Option<BoolOp>,
    ) -> Result<Option<Combine>> {
        if op.is_some() {
            p.comma()?;
        }
        Arg::read(p, st, op)
    }

    fn write_after(&self, separator: Separator, printer: &mut Printer, op: Option<BoolOp>) {
        if self.is_some() {
            printer.out.push_str(separator.text());
        }
        Arg::write(self, printer, op);
    }
}

/// So many registers.
impl Arg<(ScalarType, usize)> for Dsts {
    fn read<'a>(
        p: &mut Parser<'a>,
        st: &mut FunctionState<'a>,
        (ty, count): (ScalarType, usize),
    ) -> Result<Dsts> {
        p.dsts(st, ty, count, Width::Exact)
    }

    fn write(&self, printer: &mut Printer, _: (ScalarType, usize)) {
        printer.dsts(self);
    }
}

/// So many values.
impl Arg<(ScalarType, usize)> for Srcs {
    fn read<'a>(
        p: &mut Parser<'a>,
        st: &mut FunctionState<'a>,
        (ty, count): (ScalarType, usize),
    ) -> Result<Srcs> {
        p.srcs(st, ty, count, Width::Exact)
    }

    fn write(&self, printer: &mut Printer, (ty, _): (ScalarType, usize)) {
        printer.srcs(self, ty);
    }
}

impl Arg<Space> for Address {
    fn read<'a>(p: &mut Parser<'a>, st: &mut FunctionState<'a>, space: Space) -> Result<Address> {
        p.space_address(st, space)
    }

    fn write(&self, printer: &mut Printer, _: Space) {
        printer.brackets(self);
    }
}

/// In any state space.
impl Arg<()> for Address {
    fn read<'a>(p: &mut Parser<'a>, st: &mut FunctionState<'a>, _: ()) -> Result<Address> {
        p.address(st)
    }

    fn write(&self, printer: &mut Printer, _: ()) {
        printer.brackets(self);
    }
}

/// A number, which the text names in messages.
impl Arg<&str> for u32 {
    fn read<'a>(p: &mut Parser<'a>, _: &mut FunctionState<'a>, what: &str) -> Result<u32> {
        p.number_u32(what)
    }

    fn write(&self, printer: &mut Printer, _: &str) {
        printer.number(i64::from(*self));
    }
}

impl Arg<Alignment> for u32 {
    fn read<'a>(p: &mut Parser<'a>, _: &mut FunctionState<'a>, _: Alignment) -> Result<u32> {
        p.alignment()
    }

    fn write(&self, printer: &mut Printer, _: Alignment) {
        printer.number(i64::from(*self));
    }

    fn read_after<'a>(
        _: Separator,
        p: &mut Parser<'a>,
        _: &mut FunctionState<'a>,
        _: Alignment,
    ) -> Result<u32> {
        if p.eat(b',')? { p.alignment() } else { Ok(8) }
    }
}

impl Arg<()> for LabelId {
    fn read<'a>(p: &mut Parser<'a>, st: &mut FunctionState<'a>, _: ()) -> Result<LabelId> {
        let label = p.ident("a label")?;
        Ok(st.mention_label(label))
    }

    fn write(&self, printer: &mut Printer, _: ()) {
        let name = &printer.body().labels[self.index()].name;
        printer.out.push_str(name);
    }
}

impl Arg<()> for BranchTableId {
    fn read<'a>(p: &mut Parser<'a>, st: &mut FunctionState<'a>, _: ()) -> Result<BranchTableId> {
        let name = p.ident("a list of branch targets")?;
        match st.lookup(name.text) {
            Some(Name::Branches(table)) => Ok(table),
            _ => {
                let message = format!("{} is not a `.branchtargets` list", name.describe());
                Err(p.error_at(&name, ErrorKind::UnknownName, message))
            }
        }
    }

    fn write(&self, printer: &mut Printer, _: ()) {
        let name = &printer.body().branch_tables[self.index()].name;
        printer.out.push_str(name);
    }
}
