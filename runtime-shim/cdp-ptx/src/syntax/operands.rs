//! Operands: what each kind between the commas reads and writes.

use super::Arg;
use super::modifiers::Pointer;
use crate::inst::*;
use crate::module::{BranchTableId, LabelId, Reg};
use crate::parse::Parser;
use crate::parse::Result;
use crate::parse::body::Name;
use crate::parse::operand::Needed;
use crate::print::Printer;
use crate::types::*;
use crate::warpgroup::LeftFactor;

/// The register may be wider than the type.
#[derive(Clone, Copy)]
pub(crate) struct Wide(pub ScalarType);
/// There unless that is so.
pub(crate) struct Unless(pub bool, pub ScalarType);
/// A side of a conversion, with the other side's type: [`Wide`], but for bytes beside `.bf16`; between integers it may be
/// read from a special register.
#[derive(Clone, Copy)]
pub(crate) struct Converted(pub ScalarType, pub ScalarType);
/// A value of the type, or the address of a variable of the state space.
pub(crate) struct InSpace(pub ScalarType, pub Space);
/// In braces, so many of them.
pub(crate) struct Braced(pub ScalarType, pub usize);
/// In brackets, as objects are.
pub(crate) struct Bracketed(pub ScalarType);
/// After `|`.
pub(crate) struct Beside(pub ScalarType);
/// An address of a load, after which `.unified` says nothing.
pub(crate) struct Unified(pub Space);
/// Bytes, 8 where nothing is written.
pub(crate) struct Alignment;
/// Those of two flags that are not before the first, each as one number or the other.
pub(crate) struct Flags(pub usize, pub [i64; 2]);
/// There if a comma is and the next operand is such.
pub(crate) struct If<Spec>(pub fn(&mut Parser) -> bool, pub Spec);
/// There, and of any number, if the next operand is in braces.
pub(crate) struct IfBraces(pub ScalarType);
/// As many as a tensor's pixels have dimensions, if they are those of a column.
pub(crate) struct PixelOffsets(pub TensorDims, pub bool);
/// The coordinates of a texture or surface.
pub(crate) struct Coordinates(pub TexGeometry, pub ScalarType);
/// A gradient, if the level is chosen by one.
pub(crate) struct Gradient(pub TexLod, pub TexGeometry);

/// Declares operands that say themselves whether they are there. With `where N`, `N` is each kind of [`Needed`].
macro_rules! placed {
    ($($(#[$doc:meta])* $ty:ty, $spec:pat => $kind:ty $(where $any:ident)?:
        read |$p:ident| $read:expr, write |$value:ident, $out:ident| $write:expr;)*) => {$(
        $(#[$doc])*
        #[allow(unused_variables)]
        impl$(<$any: Needed>)? Arg<$kind> for $ty {
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
pub(super) use placed;

/// Declares operands that are always there.
macro_rules! operands {
    ($($(#[$doc:meta])* $ty:ty, $spec:pat => $kind:ty $(where $any:ident)?:
        read |$p:ident| $read:expr, write |$value:ident, $out:ident| $write:expr;)*) => {
        placed! {$(
            $(#[$doc])*
            $ty, $spec => $kind $(where $any)?:
                read |$p| { $p.separate()?; $read },
                write |$value, $out| { $out.separate(); $write };
        )*}
    };
}
pub(super) use operands;

impl Needed for Wide {
    fn ty(self) -> ScalarType {
        self.0
    }

    fn or_wider(self) -> bool {
        true
    }
}

impl Needed for Converted {
    fn ty(self) -> ScalarType {
        self.0
    }

    /// ptxas has no conversion between bytes in wider registers and `.bf16`.
    fn or_wider(self) -> bool {
        self.0.bits() != 8 || self.1 != ScalarType::BF16
    }
}

operands! {
    Reg, needed => N where N:
        read |p| p.register(needed), write |reg, out| out.reg(*reg);
    Dst, ty => ScalarType:
        read |p| p.dst(ty), write |dst, out| out.dst(*dst);
    Operand, ty => ScalarType:
        read |p| p.operand(ty), write |operand, out| out.operand(operand, ty);
    Operand, sides => Converted:
        read |p| match sides.0.is_int() && sides.1.is_int() {
            true => p.operand_or_special(sides),
            false => p.operand(sides),
        },
        write |operand, out| out.operand(operand, sides.0);
    Operand, _ => Pointer:
        read |p| p.operand(p.address_ty()), write |operand, out| out.operand(operand, ScalarType::B64);
    Operand, InSpace(ty, space) => InSpace:
        read |p| {
            let token = p.peek;
            let value = p.operand(ty)?;
            if let Operand::Address { symbol, offset } = value {
                let address = Address { base: AddressBase::Symbol(symbol), offset };
                p.check_space(&token, space, &address)?;
            }
            Ok(value)
        },
        write |operand, out| out.operand(operand, ty);
    Operand, Bracketed(ty) => Bracketed:
        read |p| p.between(b"[]", |p| p.operand(ty)),
        write |operand, out| {
            out.out.push('[');
            out.operand(operand, ty);
            out.out.push(']');
        };
    PredOperand, _ => ():
        read |p| p.pred_operand(),
        write |pred, out| {
            out.out.push_str(if pred.negated { "!" } else { "" });
            out.operand(&pred.value, ScalarType::Pred);
        };
    Address, space => Space:
        read |p| p.space_address(space), write |address, out| out.brackets(address);
    Address, Unified(space) => Unified:
        read |p| {
            let address = p.space_address(space)?;
            p.eat_dot("unified")?;
            Ok(address)
        },
        write |address, out| out.brackets(address);
    /// In any state space.
    Address, _ => ():
        read |p| p.address(), write |address, out| out.brackets(address);
    Srcs, Braced(ty, count) => Braced:
        read |p| {
            let start = p.peek;
            let list = p.braced(|p| p.operand(ty))?;
            let given = list.len();
            if given != count {
                fail!(p, start, Operand, "{count} values are expected, {given} are given");
            }
            Ok(list.into())
        },
        write |srcs, out| out.braced(srcs, ty);
    /// A number, which the text names in messages.
    u32, what => &str:
        read |p| p.number_u32(what), write |number, out| out.number(i64::from(*number));
    /// A table of eight bits.
    u8, what => &str:
        read |p| {
            let token = p.peek;
            let table = p.integer(what)?;
            let Ok(table) = u8::try_from(table) else {
                fail!(p, token, Limit, "{what} {table} is not 0 to 255");
            };
            Ok(table)
        },
        write |table, out| out.number(i64::from(*table));
    Srcs, Coordinates(geometry, ty) => Coordinates:
        read |p| p.coordinates(geometry, ty), write |srcs, out| out.braced(srcs, ty);
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
                _ => fail!(p, name, UnknownName, "{name} is not a `.branchtargets` list"),
            }
        },
        write |table, out| {
            let name = &out.body().branch_tables[table.index()].name;
            out.out.push_str(name);
        };
}

placed! {
    Dst, Beside(ty) => Beside:
        read |p| if p.eat(b'|')? { p.dst(ty) } else { Ok(None) },
        write |dst, out| if dst.is_some() {
            out.out.push('|');
            out.dst(*dst);
        };
    Reg, Beside(ty) => Beside:
        read |p| { p.expect(b'|')?; p.register(ty) },
        write |reg, out| {
            out.out.push('|');
            out.reg(*reg);
        };
    Dst, Unless(absent, ty) => Unless:
        read |p| if absent { Ok(None) } else { Arg::read(p, ty) },
        write |dst, out| if !absent { dst.write(out, ty) };
    Dsts, (needed, count) => (N, usize) where N:
        read |p| p.dsts(needed, count), write |dsts, out| out.dsts(dsts);
    Srcs, (needed, count) => (N, usize) where N:
        read |p| p.srcs(needed, count), write |srcs, out| out.srcs(srcs, needed.ty());
    LeftFactor, _ => ():
        read |p| if p.more()? && p.at(b'{') {
            p.srcs(ScalarType::B32, 4).map(LeftFactor::Registers)
        } else {
            Arg::read(p, ScalarType::B64).map(LeftFactor::Shared)
        },
        write |factor, out| match factor {
            LeftFactor::Registers(list) => out.srcs(list, ScalarType::B32),
            LeftFactor::Shared(descriptor) => descriptor.write(out, ScalarType::B64),
        };
    [bool; 2], Flags(first, [no, yes]) => Flags:
        read |p| {
            let mut flags = [false; 2];
            for flag in &mut flags[first..] {
                p.separate()?;
                let (token, number) = (p.peek, p.integer("a flag")?);
                if number != no && number != yes {
                    fail!(p, token, Limit, "{number} where {no} or {yes} is expected");
                }
                *flag = number == yes;
            }
            Ok(flags)
        },
        write |flags, out| for flag in &flags[first..] {
            out.separate();
            out.number(if *flag { yes } else { no });
        };
    /// There if a comma is.
    Option<Operand>, ty => ScalarType:
        read |p| { let there = p.more()?; Arg::read(p, (ty, there)) },
        write |operand, out| operand.write(out, (ty, true));
    Srcs, IfBraces(ty) => IfBraces:
        read |p| {
            if !(p.more()? && p.at(b'{')) {
                return Ok(Srcs::default());
            }
            p.separate()?;
            Ok(p.braced(|p| p.operand(ty))?.into())
        },
        write |srcs, out| if !srcs.is_empty() {
            out.separate();
            out.braced(srcs, ty);
        };
    Srcs, PixelOffsets(dims, there) => PixelOffsets:
        read |p| if there {
            Arg::read(p, Braced(ScalarType::B16, dims.count() - 2))
        } else {
            Ok(Srcs::default())
        },
        write |srcs, out| if !srcs.is_empty() {
            srcs.write(out, Braced(ScalarType::B16, 0));
        };
    Srcs, Gradient(lod, geometry) => Gradient:
        read |p| {
            if lod != TexLod::Gradient {
                return Ok(Srcs::default());
            }
            p.more()?;
            p.gradient(geometry)
        },
        write |srcs, out| if !srcs.is_empty() {
            out.separate();
            out.braced(srcs, ScalarType::F32);
        };
    u32, _ => Alignment:
        read |p| if p.eat(b',')? { p.alignment() } else { Ok(8) },
        write |align, out| { out.separate(); out.number(i64::from(*align)); };
}

/// The operand is there if the flag says so.
impl<Spec, T: Arg<Spec>> Arg<(Spec, bool)> for Option<T> {
    fn read(p: &mut Parser, (spec, there): (Spec, bool)) -> Result<Self> {
        if there { T::read(p, spec).map(Some) } else { Ok(None) }
    }

    fn write(&self, printer: &mut Printer, (spec, _): (Spec, bool)) {
        if let Some(operand) = self {
            operand.write(printer, spec);
        }
    }
}

impl<Spec, T: Arg<Spec>> Arg<If<Spec>> for Option<T> {
    fn read(p: &mut Parser, If(next, spec): If<Spec>) -> Result<Self> {
        let there = p.more()? && next(p);
        Arg::read(p, (spec, there))
    }

    fn write(&self, printer: &mut Printer, If(_, spec): If<Spec>) {
        self.write(printer, (spec, true));
    }
}

impl Parser<'_> {
    /// `{layer, x, y}`: as many as the shape has, or as padded to four.
    fn coordinates(&mut self, geometry: TexGeometry, ty: ScalarType) -> Result<Srcs> {
        use TexGeometry::*;
        let start = self.peek;
        let list = if self.at(b'{') {
            // The index of an array's layer comes first.
            let mut layer = matches!(geometry, A1 | A2 | ACube | A2Ms);
            self.braced(|parser| {
                parser.operand(if std::mem::take(&mut layer) { ScalarType::U32 } else { ty })
            })?
        } else {
            vec![self.operand(ty)?]
        };
        let (least, most) = match geometry {
            D1 => (1, 1),
            D2 | A1 => (2, 2),
            D3 | A2 | Cube | ACube | D2Ms | A2Ms => (3, 4),
        };
        let given = list.len();
        if !(least..=most).contains(&given) {
            let wanted = format!("`.{geometry}` takes {least} coordinates");
            fail!(self, start, Operand, "{wanted}, {given} are given");
        }
        Ok(list.into())
    }

    /// As many elements as the texture has dimensions; four for three.
    fn gradient(&mut self, geometry: TexGeometry) -> Result<Srcs> {
        use TexGeometry::*;
        let count = match geometry {
            D1 | A1 => 1,
            D2 | A2 | D2Ms | A2Ms => 2,
            D3 | Cube | ACube => 4,
        };
        if !self.at(b'{') && self.vector_register().is_none() {
            return self.expected("`{` and the gradient");
        }
        self.srcs(ScalarType::F32, count)
    }
}
