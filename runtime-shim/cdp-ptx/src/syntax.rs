//! How a row of the table (`table.rs`) is read and written. A row names its modifiers and operands in
//! the order of the text; what one is follows from the type of the field it goes to and from the value
//! in parentheses after it. Each kind has its two directions side by side here.
//!
//! No instruction is named here.

use crate::cluster::ClusterBarrier;
use crate::error::ErrorKind;
use crate::inst::*;
use crate::module::{BranchTableId, LabelId, Reg};
use crate::parse::Parser;
use crate::parse::Result;
use crate::parse::body::{FunctionState, Name};
use crate::parse::mods::Mods;
use crate::parse::operand::Width;
use crate::print::Printer;
use crate::types::*;

/// Something between the dots after an opcode. Words are found wherever they stand, and written in the
/// order of the row.
pub(crate) trait Modifier<Spec>: Sized {
    fn read(parser: &Parser, mods: &mut Mods, spec: Spec) -> Result<Self>;
    fn write(&self, printer: &mut Printer, spec: Spec);
}

/// Something between the commas.
pub(crate) trait Arg<Spec>: Sized {
    fn read<'a>(parser: &mut Parser<'a>, st: &mut FunctionState<'a>, spec: Spec) -> Result<Self>;
    fn write(&self, printer: &mut Printer, spec: Spec);

    /// With what separates it from the operand before it.
    fn read_after<'a>(
        separator: Separator,
        parser: &mut Parser<'a>,
        st: &mut FunctionState<'a>,
        spec: Spec,
    ) -> Result<Self> {
        match separator {
            Separator::Start => {}
            Separator::Comma => parser.comma()?,
            Separator::Bar => parser.expect(b'|')?,
        }
        Self::read(parser, st, spec)
    }

    fn write_after(&self, separator: Separator, printer: &mut Printer, spec: Spec) {
        printer.out.push_str(separator.text());
        self.write(printer, spec);
    }
}

/// What stands before an operand.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Separator {
    Start,
    Comma,
    Bar,
}

impl Separator {
    fn text(self) -> &'static str {
        match self {
            Separator::Start => " ",
            Separator::Comma => ", ",
            Separator::Bar => "|",
        }
    }
}

/// A word of one kind: the enums of `types.rs`. A variant spelled "" is what no word means.
pub(crate) trait Word: Copy + PartialEq + 'static {
    const WORDS: &'static [Self];
    fn word(self) -> &'static str;
    fn of(text: &str) -> Option<Self>;
}

// Modifiers.

/// The second word says true, the first false; one of them is there.
pub(crate) struct Either(pub &'static str, pub &'static str);
/// True if the opcode ends so.
pub(crate) struct Suffix(pub &'static str);
/// `.sync`, which exchanges between lanes have had to have since sm_70 and PTX 6.4.
pub(crate) struct Sync;
/// Whether a comparison has a name that is for unsigned types alone. The word stays for the comparison.
pub(crate) struct UnsignedNames;
/// What is meant where nothing is written.
pub(crate) struct Or<T>(pub T);
/// The type of an address.
pub(crate) struct Pointer;

/// One of some words.
impl<W: Word> Modifier<&[W]> for W {
    fn read(_: &Parser, mods: &mut Mods, allowed: &[W]) -> Result<W> {
        let found = mods.take(W::of);
        let value = found.or_else(|| W::WORDS.iter().copied().find(|word| word.word().is_empty()));
        match value {
            Some(value) if allowed.contains(&value) => Ok(value),
            _ => Err(mods.not_one_of(found, allowed)),
        }
    }

    fn write(&self, printer: &mut Printer, _: &[W]) {
        printer.flag(!self.word().is_empty(), self.word());
    }
}

impl<W: Word, const N: usize> Modifier<&[W; N]> for W {
    fn read(parser: &Parser, mods: &mut Mods, allowed: &[W; N]) -> Result<W> {
        Modifier::read(parser, mods, &allowed[..])
    }

    fn write(&self, printer: &mut Printer, allowed: &[W; N]) {
        Modifier::write(self, printer, &allowed[..]);
    }
}

/// Any word of the kind.
impl<W: Word> Modifier<()> for W {
    fn read(parser: &Parser, mods: &mut Mods, _: ()) -> Result<W> {
        Modifier::read(parser, mods, W::WORDS)
    }

    fn write(&self, printer: &mut Printer, _: ()) {
        Modifier::write(self, printer, W::WORDS);
    }
}

/// Any word of the kind, always written.
impl<W: Word> Modifier<Or<W>> for W {
    fn read(_: &Parser, mods: &mut Mods, missing: Or<W>) -> Result<W> {
        Ok(mods.take(W::of).unwrap_or(missing.0))
    }

    fn write(&self, printer: &mut Printer, _: Or<W>) {
        printer.word(self.word());
    }
}

/// Any word of the kind, or none.
impl<W: Word> Modifier<()> for Option<W> {
    fn read(_: &Parser, mods: &mut Mods, _: ()) -> Result<Option<W>> {
        Ok(mods.take(W::of))
    }

    fn write(&self, printer: &mut Printer, _: ()) {
        if let Some(word) = self {
            printer.word(word.word());
        }
    }
}

impl Modifier<Pointer> for ScalarType {
    fn read(parser: &Parser, mods: &mut Mods, _: Pointer) -> Result<ScalarType> {
        mods.ty(&[parser.address_ty()])
    }

    fn write(&self, printer: &mut Printer, _: Pointer) {
        printer.word(self.as_str());
    }
}

/// The word, or two with a dot between them.
impl Modifier<&str> for bool {
    fn read(_: &Parser, mods: &mut Mods, word: &str) -> Result<bool> {
        let (first, second) = word.split_once('.').unwrap_or((word, ""));
        let there = mods.flag(first);
        if there && !second.is_empty() {
            mods.word(second)?;
        }
        Ok(there)
    }

    fn write(&self, printer: &mut Printer, word: &str) {
        printer.flag(*self, word);
    }
}

impl Modifier<Either> for bool {
    fn read(_: &Parser, mods: &mut Mods, Either(no, yes): Either) -> Result<bool> {
        if mods.flag(yes) {
            return Ok(true);
        }
        mods.need(&format!("`.{no}` or `.{yes}`"), |word| (word == no).then_some(false))
    }

    fn write(&self, printer: &mut Printer, Either(no, yes): Either) {
        printer.word(if *self { yes } else { no });
    }
}

impl Modifier<Suffix> for bool {
    fn read(_: &Parser, mods: &mut Mods, suffix: Suffix) -> Result<bool> {
        Ok(mods.opcode.text.ends_with(suffix.0))
    }

    fn write(&self, printer: &mut Printer, suffix: Suffix) {
        printer.mnemonic(if *self { suffix.0 } else { "" });
    }
}

impl Modifier<Sync> for bool {
    fn read(parser: &Parser, mods: &mut Mods, _: Sync) -> Result<bool> {
        let there = mods.flag("sync");
        let gone = parser.module.target.sm >= 70 && parser.module.version >= (6, 4);
        let why = "from sm_70 and PTX 6.4 on, `.sync` and a member mask are needed";
        mods.require(there || !gone, why)?;
        Ok(there)
    }

    fn write(&self, printer: &mut Printer, _: Sync) {
        printer.flag(*self, "sync");
    }
}

impl Modifier<UnsignedNames> for bool {
    fn read(_: &Parser, mods: &mut Mods, _: UnsignedNames) -> Result<bool> {
        Ok(["lo", "ls", "hi", "hs"].iter().any(|word| mods.has(word)))
    }

    fn write(&self, _: &mut Printer, _: UnsignedNames) {}
}

/// `.v2`, `.v4`, `.v8`; 1 if there is none.
impl Modifier<()> for usize {
    fn read(_: &Parser, mods: &mut Mods, _: ()) -> Result<usize> {
        Ok(mods.lanes())
    }

    fn write(&self, printer: &mut Printer, _: ()) {
        printer.vector(*self);
    }
}

/// Nothing where the type is one of integers.
impl Modifier<()> for FloatMode {
    fn read(_: &Parser, mods: &mut Mods, _: ()) -> Result<FloatMode> {
        if !mods.peek_ty().is_some_and(ScalarType::is_float) {
            return Ok(FloatMode::default());
        }
        let rounding = mods.take(Rounding::from_str);
        Ok(FloatMode { rounding, ftz: mods.flag("ftz"), sat: mods.flag("sat") })
    }

    fn write(&self, printer: &mut Printer, _: ()) {
        Modifier::write(&self.rounding, printer, ());
        printer.flag(self.ftz, "ftz");
        printer.flag(self.sat, "sat");
    }
}

impl Modifier<()> for DivMode {
    fn read(_: &Parser, mods: &mut Mods, _: ()) -> Result<DivMode> {
        mods.need("`.approx` or a rounding such as `.rn`", |word| match word {
            "approx" => Some(DivMode::Approx),
            "full" => Some(DivMode::Full),
            _ => Rounding::from_str(word).map(DivMode::Ieee),
        })
    }

    fn write(&self, printer: &mut Printer, _: ()) {
        printer.word(match self {
            DivMode::Approx => "approx",
            DivMode::Full => "full",
            DivMode::Ieee(rounding) => rounding.as_str(),
        });
    }
}

/// `.release` and `.acquire` are what is meant without them.
impl Modifier<()> for ClusterBarrier {
    fn read(_: &Parser, mods: &mut Mods, _: ()) -> Result<ClusterBarrier> {
        if mods.flag("wait") {
            mods.flag("acquire");
            return Ok(ClusterBarrier::Wait);
        }
        mods.need("`.arrive` or `.wait`", |word| (word == "arrive").then_some(()))?;
        let releases = !mods.flag("relaxed");
        if releases {
            mods.flag("release");
        }
        Ok(ClusterBarrier::Arrive { releases })
    }

    fn write(&self, printer: &mut Printer, _: ()) {
        match self {
            ClusterBarrier::Wait => printer.word("wait"),
            ClusterBarrier::Arrive { releases } => {
                printer.word("arrive");
                printer.flag(!releases, "relaxed");
            }
        }
    }
}

// Operands.

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
