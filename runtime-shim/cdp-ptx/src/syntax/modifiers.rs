//! Modifiers: what each kind between the dots reads and writes.

use super::Modifier;

use crate::conditions::floating;
use crate::inst::*;
use crate::matrix::{MatrixShape, MatrixType};
use crate::parse::Parser;
use crate::parse::Result;
use crate::parse::mods::{Mods, vector};
use crate::print::Printer;
use crate::types::*;

/// The second word says true, the first false; the first of them that is there counts.
pub(crate) struct Either(pub &'static str, pub &'static str);
/// True if the opcode ends so.
pub(crate) struct Suffix(pub &'static str);
/// True if the opcode is this and not the row's first.
pub(crate) struct Named(pub &'static str);
/// Words that are there where that is so.
pub(crate) struct When(pub bool, pub &'static str);
/// A state space that is always written, the block's own shared memory in full.
pub(crate) struct InFull;
/// The types of two factors, which are not said of halves.
pub(crate) struct HalvesOr;
/// A word that may have two parts.
pub(crate) struct InWords;
/// How often: `.x1`, `.x2`, `.x4`.
pub(crate) struct Times;
/// The type to whose range two values are cut: whether it is signed, and its bits.
pub(crate) struct PackedTo;
/// `.sync`, which exchanges between lanes have had to have since sm_70 and PTX 6.4.
pub(crate) struct Sync;
/// Whether a comparison has a name that is for unsigned types alone. The word stays for the comparison.
pub(crate) struct UnsignedNames;
/// What is meant where nothing is written.
pub(crate) struct Or<T>(pub T);
/// The type of an address.
pub(crate) struct Pointer;

/// Declares what says which words a field may be: one of them, or as an option one or none.
macro_rules! allowed {
    ($([$($length:tt)*] $kind:ty: |$spec:ident| $words:expr;)*) => {$(
        impl<W: Word, $($length)*> Modifier<$kind> for W {
            fn read(_: &Parser, mods: &mut Mods, $spec: $kind) -> Result<W> {
                mods.one_of($words)
            }

            fn write(&self, printer: &mut Printer, _: $kind) {
                printer.maybe_word(*self);
            }
        }

        impl<W: Word, $($length)*> Modifier<$kind> for Option<W> {
            fn read(_: &Parser, mods: &mut Mods, $spec: $kind) -> Result<Option<W>> {
                Ok(mods.take(|word| W::of(word).filter(|word| $words.contains(word))))
            }

            fn write(&self, printer: &mut Printer, _: $kind) {
                printer.maybe(*self);
            }
        }
    )*};
}

allowed! {
    [] (): |_all| W::WORDS;
    [] &[W]: |words| words;
    [const N: usize] &[W; N]: |words| words;
}

/// One of some words where there are some.
impl<W: Word> Modifier<Option<&[W]>> for Option<W> {
    fn read(_: &Parser, mods: &mut Mods, allowed: Option<&[W]>) -> Result<Option<W>> {
        allowed.map(|allowed| mods.one_of(allowed)).transpose()
    }

    fn write(&self, printer: &mut Printer, _: Option<&[W]>) {
        printer.maybe(*self);
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
pub(super) use modifiers;

modifiers! {
    ScalarType, _ => Pointer:
        read |p, mods| mods.one_of(&[p.address_ty()]), write |ty, out| out.word(ty.as_str());
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
        read |p, mods| mods.need(format_args!("`.{no}` or `.{yes}`"), |word| {
            [no, yes].contains(&word).then_some(word == yes)
        }),
        write |there, out| out.word(if there { yes } else { no });
    (MatrixType, MatrixType), _ => HalvesOr:
        read |p, mods| {
            let said = mods.count_of(MatrixType::from_str) > 2;
            let mut factor = || match said {
                true => mods.need("a type", MatrixType::from_str),
                false => Ok(MatrixType::F16),
            };
            Ok((factor()?, factor()?))
        },
        write |types, out| if types.0 != MatrixType::F16 {
            out.word(types.0.as_str());
            out.word(types.1.as_str());
        };
    bool, Suffix(suffix) => Suffix:
        read |p, mods| Ok(mods.opcode.text.ends_with(suffix)),
        write |there, out| out.mnemonic(if there { suffix } else { "" });
    bool, Named(other) => Named:
        read |p, mods| Ok(mods.opcode.text == other),
        write |there, out| if there { out.rename(other) };
    (), When(there, words) => When:
        read |p, mods| words.split('.').filter(|_| there).try_for_each(|word| mods.word(word)),
        write |nothing, out| out.flag(there, words);
    Space, _ => InFull:
        read |p, mods| mods.need("a state space", Space::of),
        write |space, out| out.word(match space {
            Space::Shared => "shared::cta",
            space => space.as_str(),
        });
    usize, _ => Times:
        read |p, mods| mods.need("`.x1`, `.x2` or `.x4`", |word| {
            word.strip_prefix('x')?.parse().ok().filter(|count| matches!(count, 1 | 2 | 4))
        }),
        write |count, out| out.word(&format!("x{count}"));
    (bool, u32), _ => PackedTo:
        read |p, mods| mods.need("a type to convert to", |word| {
            let bits = word.get(1..)?.parse().ok().filter(|bits| matches!(bits, 2 | 4 | 8 | 16))?;
            match word.as_bytes()[0] {
                b's' => Some((true, bits)),
                b'u' => Some((false, bits)),
                _ => None,
            }
        }),
        write |to, out| out.word(&format!("{}{}", if to.0 { "s" } else { "u" }, to.1));
    MatrixShape, _ => ():
        read |p, mods| mods.need("a shape such as `.m16n8k16`", MatrixShape::from_word),
        write |shape, out| out.word(&shape.to_string());
    /// All but the operator; the policy that the words announce is an operand.
    CacheHints, _ => ():
        read |p, mods| Ok(CacheHints {
            op: None,
            l1: mods.take(L1Eviction::from_str),
            l2: mods.take(L2Eviction::from_str),
            prefetch: mods.take(L2Prefetch::from_str),
            policy: mods.flag("L2::cache_hint").then_some(Operand::Imm(0)),
        }),
        write |hints, out| {
            out.maybe(hints.l1);
            out.maybe(hints.l2);
            out.flag(hints.policy.is_some(), "L2::cache_hint");
            out.maybe(hints.prefetch);
        };
    /// Two words for some.
    ProxyKind, _ => InWords:
        read |p, mods| {
            let first = mods.need("a proxy such as `.alias`", ProxyKind::from_str)?;
            let narrow = |word: &str| ProxyKind::from_str(&format!("async.{word}"));
            let is_async = first == ProxyKind::Async;
            Ok(mods.take(|word| narrow(word).filter(|_| is_async)).unwrap_or(first))
        },
        write |kind, out| out.word(kind.as_str());
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
    /// Nothing where the type is one of integers.
    FloatMode, _ => ():
        read |p, mods| Ok(match floating(mods) {
            true => FloatMode {
                rounding: mods.take(Rounding::from_str),
                ftz: mods.flag("ftz"),
                sat: mods.flag("sat"),
            },
            false => FloatMode::default(),
        }),
        write |mode, out| {
            out.maybe(mode.rounding);
            out.flag(mode.ftz, "ftz");
            out.flag(mode.sat, "sat");
        };
    /// `.v2`, `.v4`, `.v8`; 1 if there is none.
    usize, _ => ():
        read |p, mods| Ok(mods.take(vector).unwrap_or(1)), write |count, out| out.vector(count);
}
