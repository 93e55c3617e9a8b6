//! Modifiers: what each kind between the dots reads and writes.

use super::Modifier;
use crate::cluster::ClusterBarrier;
use crate::inst::*;
use crate::parse::Parser;
use crate::parse::Result;
use crate::parse::mods::Mods;
use crate::print::Printer;
use crate::types::*;

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
        printer.maybe(*self);
    }
}

/// Declares how modifiers are read and written.
macro_rules! modifiers {
    ($($(#[$doc:meta])* $ty:ty, $spec:pat => $kind:ty:
        read |$p:ident, $mods:ident| $read:expr, write |$value:ident, $out:ident| $write:expr;)*) => {$(
        $(#[$doc])*
        #[allow(unused_variables)]
        impl Modifier<$kind> for $ty {
            fn read($p: &Parser, $mods: &mut Mods, $spec: $kind) -> Result<$ty> {
                $read
            }

            fn write(&self, $out: &mut Printer, $spec: $kind) {
                let $value = *self;
                $write
            }
        }
    )*};
}

modifiers! {
    ScalarType, _ => Pointer:
        read |p, mods| mods.ty(&[p.address_ty()]), write |ty, out| out.word(ty.as_str());
    /// The word, or two with a dot between them.
    bool, word => &str:
        read |p, mods| {
            let (first, second) = word.split_once('.').unwrap_or((word, ""));
            let there = mods.flag(first);
            if there && !second.is_empty() {
                mods.word(second)?;
            }
            Ok(there)
        },
        write |there, out| out.flag(there, word);
    bool, Either(no, yes) => Either:
        read |p, mods| match mods.flag(yes) {
            true => Ok(true),
            false => mods.need(&format!("`.{no}` or `.{yes}`"), |word| (word == no).then_some(false)),
        },
        write |there, out| out.word(if there { yes } else { no });
    bool, Suffix(suffix) => Suffix:
        read |p, mods| Ok(mods.opcode.text.ends_with(suffix)),
        write |there, out| out.mnemonic(if there { suffix } else { "" });
    bool, _ => Sync:
        read |p, mods| {
            let there = mods.flag("sync");
            let gone = p.module.target.sm >= 70 && p.module.version >= (6, 4);
            let why = "from sm_70 and PTX 6.4 on, `.sync` and a member mask are needed";
            mods.require(there || !gone, why)?;
            Ok(there)
        },
        write |there, out| out.flag(there, "sync");
    bool, _ => UnsignedNames:
        read |p, mods| Ok(["lo", "ls", "hi", "hs"].iter().any(|word| mods.has(word))),
        write |there, out| ();
    /// `.v2`, `.v4`, `.v8`; 1 if there is none.
    usize, _ => ():
        read |p, mods| Ok(mods.lanes()), write |count, out| out.vector(count);
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
