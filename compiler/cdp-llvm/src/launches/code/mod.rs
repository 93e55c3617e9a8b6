//! The functions of recorded launches, which are the same for every program: those that keep their order (`sequence.ll`),
//! those of a queue (`queue_made.ll`), and those of a pool (`pool.ll`), each with the PTX that is made of it beforehand, by
//! a test. A program's module declares them, so that neither LLVM nor ptxas has work with them: they are put into the
//! finished PTX, and who links it can take them out again ([`split`]) and keep what ptxas makes of them.
//!
//! What is absent: what they do ([`super::sequence`], [`super::queue`], [`super::door`], [`super::pool`]).

use cdp_launch::{EntryPoint, LaunchAbi};
use inkwell::context::Context;
use inkwell::module::{Linkage, Module};

use super::direct::Direct;
use super::prepare;
use super::sequence::{BEGIN, END};
use crate::error::{Result, bug};
use crate::raw;

/// Functions that a program has all of, or none.
struct Made {
    name: &'static str,
    /// The PTX's file, in the folder of the optimiser.
    #[cfg(test)]
    place: &'static str,
    ir: &'static str,
    ptx: &'static str,
    /// Those that a program calls.
    called: &'static [&'static str],
}

static MADE: [Made; 3] = [
    Made {
        name: "sequence",
        #[cfg(test)]
        place: "sequence/sequence",
        ir: include_str!("../sequence/sequence.ll"),
        ptx: include_str!("../sequence/sequence.ptx"),
        called: &[
            BEGIN,
            END,
            "__cdp_sequence_enter",
            "__cdp_sequence_leave",
            "__cdp_sequence_record",
            "__cdp_sequence_step",
            "__cdp_sequence_step_apart",
        ],
    },
    Made {
        name: "queue",
        #[cfg(test)]
        place: "queue_made",
        ir: include_str!("../queue_made.ll"),
        ptx: include_str!("../queue_made.ptx"),
        called: &["__cdp_queue_reserve", "__cdp_queue_launch", "__cdp_door_enter"],
    },
    Made {
        name: "pool",
        #[cfg(test)]
        place: "pool/pool",
        ir: include_str!("../pool/pool.ll"),
        ptx: include_str!("../pool/pool.ptx"),
        called: &["__cdp_pool_enter", "__cdp_pool_leave"],
    },
];

/// What stands in the LLVM IR for the entry points of the device runtime. The PTX has those of the ABI that most
/// programs have.
const GET: &str = "__cdp_get_buffer";
const FIRE: &str = "__cdp_launch_buffer";
const ENTRIES: [EntryPoint; 2] = [EntryPoint::GetParameterBuffer, EntryPoint::LaunchDevice];
/// Between these lines the functions stand in PTX.
const OPENS: &str = "// Functions of recorded launches, the same in every program.\n";
const CLOSES: &str = "// The end of these functions.\n";
const DECLARED: &str = ".extern .func";

const MOSTLY: LaunchAbi = LaunchAbi::Cdp2V2;

fn symbols(abi: LaunchAbi) -> [&'static str; 2] {
    ENTRIES.map(|entry| abi.symbol(entry, false))
}

/// A text with other entry points.
fn with_entries(text: &str, from: [&str; 2], to: [&str; 2]) -> String {
    match from == to {
        true => text.to_owned(),
        false => text.replace(from[0], to[0]).replace(from[1], to[1]),
    }
}

/// The PTX of these, for an ABI.
fn text_of(made: &[&Made], abi: LaunchAbi) -> String {
    made.iter().map(|made| with_entries(made.ptx, symbols(MOSTLY), symbols(abi))).collect()
}

/// Whether a module calls functions that it does not define.
pub(crate) fn is_called(module: &Module<'_>) -> bool {
    MADE.iter().any(|made| made.is_called(module))
}

impl Made {
    fn is_called(&self, module: &Module<'_>) -> bool {
        let mut called = self.called.iter().filter_map(|name| module.get_function(name));
        called.any(|function| function.count_basic_blocks() == 0)
    }

    fn link<'ctx>(
        &self,
        context: &'ctx Context,
        module: &Module<'ctx>,
        abi: LaunchAbi,
    ) -> Result<()> {
        let unlinked = |message: String| bug("link recorded launches", message);
        let text = with_entries(self.ir, [GET, FIRE], symbols(abi));
        let functions = raw::parse_ir(context, self.name, text.as_bytes()).map_err(unlinked)?;
        functions.set_triple(&module.get_triple());
        functions.set_data_layout(&module.get_data_layout());
        module.link_in_module(functions).map_err(|message| unlinked(message.to_string()))?;
        for function in self.called.iter().filter_map(|name| module.get_function(name)) {
            function.set_linkage(Linkage::Internal);
        }
        Ok(())
    }

    /// Whether PTX declares one of them and defines none: those that stand in the program are declared too, where they are
    /// called before they come.
    fn is_declared(&self, declarations: &str, direct: &Direct) -> bool {
        let is_wanted = |piece: &str| {
            declared(piece).is_some_and(|name| {
                let elsewhere = piece.contains(DECLARED) || direct.declarations.contains_key(name);
                self.called.contains(&name) && elsewhere
            })
        };
        pieces(declarations).any(is_wanted)
    }
}

/// Defines the functions in a module that declares them, for who goes on with its LLVM IR.
pub(crate) fn link<'ctx>(
    context: &'ctx Context,
    module: &Module<'ctx>,
    abi: LaunchAbi,
) -> Result<()> {
    MADE.iter()
        .filter(|made| made.is_called(module))
        .try_for_each(|made| made.link(context, module, abi))
}

/// Defines those of a queue, where it is worth it that they stand in the program: inlined at so few sites.
pub(super) fn link_queue<'ctx>(
    context: &'ctx Context,
    module: &Module<'ctx>,
    abi: LaunchAbi,
) -> Result<()> {
    let [_, made, _] = &MADE;
    made.link(context, module, abi)?;
    let inlined = made.called.iter().filter(|name| name.contains("queue"));
    for function in inlined.filter_map(|name| module.get_function(name)) {
        prepare::let_optimize(function);
        prepare::flag(context, function, "alwaysinline");
    }
    Ok(())
}

/// Puts the functions into PTX that declares some of them, and those that were made directly.
pub(crate) fn put(ptx: String, abi: LaunchAbi, address_bits: u32, direct: &Direct) -> String {
    let ptx = direct.hide(ptx);
    let Some((before, rest)) = before_bodies(&ptx) else { return ptx };
    let (head, declarations) = behind_header(before);
    let declarations = direct.declare(declarations);
    let declarations = declarations.as_str();
    let wanted = |made: &&Made| made.is_declared(declarations, direct);
    let made: Vec<&Made> = MADE.iter().filter(wanted).collect();
    if made.is_empty() && direct.is_empty() {
        return ptx;
    }
    let mut out = String::new();
    out += head;
    for entry in ENTRIES {
        if !declarations.contains(abi.symbol(entry, false)) {
            out += &abi.ptx_declaration(entry, address_bits, false);
        }
    }
    out += &respelt(declarations, DECLARED, ".func", |_| true);
    out = out + rest + &direct.ptx;
    match made.is_empty() {
        true => out,
        false => out + OPENS + &text_of(&made, abi) + CLOSES,
    }
}

/// PTX that was made of a program without the functions of recorded launches, and these as a module of their own; `None`
/// where there are none. Both are to be assembled and linked as relocatable code.
///
/// The second depends on the target, the version of PTX and the launch ABI alone, so what is made of it can be kept.
pub fn split(ptx: &str) -> Option<(String, String)> {
    let opens = ptx.rfind(OPENS)?;
    let closes = opens + ptx[opens..].find(CLOSES)?;
    let functions = &ptx[opens + OPENS.len()..closes];
    let defines = |made: &&Made| functions.contains(&format!(" {}(", made.called[0]));
    let made: Vec<&Made> = MADE.iter().filter(defines).collect();
    let mut abis = LaunchAbi::ALL.into_iter().filter(|abi| abi.is_v2());
    let abi = abis.find(|abi| functions == text_of(&made, *abi))?;
    let (declarations, rest) = before_bodies(&ptx[..opens])?;
    // A program may have others in it that are not put there.
    let taken = |name: &str| made.iter().any(|made| made.called.contains(&name));
    let mut program = respelt(declarations, ".func", DECLARED, taken);
    program += rest;
    program += &ptx[closes + CLOSES.len()..];
    let header: Vec<&str> = [".version", ".target", ".address_size"]
        .into_iter()
        .filter_map(|word| ptx.lines().find(|line| line.starts_with(word)))
        .collect();
    let mut part = header.join("\n") + "\n";
    for entry in ENTRIES {
        part += &abi.ptx_declaration(entry, 64, false);
    }
    for piece in functions.split_inclusive('\n') {
        let called = piece.starts_with(".func") && called().any(|name| piece.contains(name));
        part += if called { ".visible " } else { "" };
        part += piece;
    }
    Some((program, part))
}

/// What comes before the first body, and the rest. Functions are declared before that.
fn before_bodies(ptx: &str) -> Option<(&str, &str)> {
    let at = ptx.find("\n{")?;
    Some(ptx.split_at(at))
}

/// What says for which device PTX is, and the rest.
fn behind_header(ptx: &str) -> (&str, &str) {
    let line = ptx.find(".address_size").unwrap_or(0);
    let at = ptx[line..].find('\n').map_or(0, |end| line + end + 1);
    ptx.split_at(at)
}

/// Declarations, each with the semicolon that ends it.
fn pieces(text: &str) -> impl Iterator<Item = &str> {
    text.split_inclusive(';')
}

/// Which of the functions of recorded launches a piece declares.
fn declared(piece: &str) -> Option<&'static str> {
    let at = piece.rfind(".func").filter(|_| piece.ends_with(';'))?;
    let mut words = piece[at..].split(|c: char| !(c.is_alphanumeric() || c == '_'));
    words.find_map(|word| called().find(|name| *name == word))
}

/// All that a program may call.
fn called() -> impl Iterator<Item = &'static str> {
    MADE.iter().flat_map(|made| made.called.iter().copied())
}

/// Declarations, those of the functions of recorded launches that are `wanted` with `to` in the place of `from`.
fn respelt(declarations: &str, from: &str, to: &str, wanted: impl Fn(&str) -> bool) -> String {
    let respell = |piece: &str| match declared(piece).filter(|name| wanted(name)) {
        Some(_) => piece.replacen(from, to, 1),
        None => piece.to_owned(),
    };
    pieces(declarations).map(respell).collect()
}

#[cfg(test)]
mod tests;
