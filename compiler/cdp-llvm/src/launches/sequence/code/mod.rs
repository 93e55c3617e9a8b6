//! The functions of recorded launches, which are the same for every program: `sequence.ll`, and `sequence.ptx`, which is
//! made of it beforehand, by a test. A program's module declares them, so that neither LLVM nor ptxas has work with them:
//! they are put into the finished PTX, and who links it can take them out again ([`split`]) and keep what ptxas makes of
//! them.
//!
//! What is absent: what they do ([`super`]).

use cdp_launch::{EntryPoint, LaunchAbi};
use inkwell::context::Context;
use inkwell::module::{Linkage, Module};

use super::BEGIN;
use crate::error::{Result, bug};
use crate::raw;

const IR: &str = include_str!("../sequence.ll");
const PTX: &str = include_str!("../sequence.ptx");
/// What stands in both for the entry points of the device runtime.
const GET: &str = "__cdp_get_buffer";
const FIRE: &str = "__cdp_launch_buffer";
const ENTRIES: [EntryPoint; 2] = [EntryPoint::GetParameterBuffer, EntryPoint::LaunchDevice];
/// Between these lines the functions stand in PTX.
const OPENS: &str = "// Functions of recorded launches, the same in every program.\n";
const CLOSES: &str = "// The end of these functions.\n";
/// The functions that a program calls.
const CALLED: [&str; 7] = [
    BEGIN,
    super::END,
    "__cdp_sequence_enter",
    "__cdp_sequence_leave",
    "__cdp_sequence_record",
    "__cdp_sequence_step",
    "__cdp_sequence_step_apart",
];
const DECLARED: &str = ".extern .func";

fn for_abi(text: &str, abi: LaunchAbi) -> String {
    text.replace(GET, abi.symbol(EntryPoint::GetParameterBuffer, false))
        .replace(FIRE, abi.symbol(EntryPoint::LaunchDevice, false))
}

/// Defines the functions in a module that declares them, for who goes on with its LLVM IR.
pub(crate) fn link<'ctx>(
    context: &'ctx Context,
    module: &Module<'ctx>,
    abi: LaunchAbi,
) -> Result<()> {
    let unlinked = |message: String| bug("link recorded launches", message);
    let text = for_abi(IR, abi);
    let functions = raw::parse_ir(context, "sequence", text.as_bytes()).map_err(unlinked)?;
    functions.set_triple(&module.get_triple());
    functions.set_data_layout(&module.get_data_layout());
    module.link_in_module(functions).map_err(|message| unlinked(message.to_string()))?;
    for function in CALLED.iter().filter_map(|name| module.get_function(name)) {
        function.set_linkage(Linkage::Internal);
    }
    Ok(())
}

/// Puts the functions into PTX that declares some of them.
pub(crate) fn put(ptx: String, abi: LaunchAbi, address_bits: u32) -> String {
    let Some((declarations, rest)) = before_bodies(&ptx) else { return ptx };
    if !pieces(declarations).any(declares) {
        return ptx;
    }
    let mut out = String::new();
    let (head, declarations) = behind_header(declarations);
    out += head;
    for entry in ENTRIES {
        if !declarations.contains(abi.symbol(entry, false)) {
            out += &abi.ptx_declaration(entry, address_bits, false);
        }
    }
    out += &respelt(declarations, DECLARED, ".func");
    out + rest + OPENS + &for_abi(PTX, abi) + CLOSES
}

/// PTX that was made of a program without the functions of recorded launches, and these as a module of their own; `None`
/// where there are none. Both are to be assembled and linked as relocatable code.
///
/// The second depends on the target, the version of PTX and the launch ABI alone, so what is made of it can be kept.
pub fn split(ptx: &str) -> Option<(String, String)> {
    let opens = ptx.rfind(OPENS)?;
    let closes = opens + ptx[opens..].find(CLOSES)?;
    let functions = &ptx[opens + OPENS.len()..closes];
    let abi =
        LaunchAbi::ALL.into_iter().find(|abi| abi.is_v2() && functions == for_abi(PTX, *abi))?;
    let (declarations, rest) = before_bodies(&ptx[..opens])?;
    let mut program = respelt(declarations, ".func", DECLARED);
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
        let called = piece.starts_with(".func") && CALLED.iter().any(|name| piece.contains(name));
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

/// Whether a piece declares one of the functions of recorded launches.
fn declares(piece: &str) -> bool {
    let words = |at: usize| piece[at..].split(|c: char| !(c.is_alphanumeric() || c == '_'));
    let is_called = |at: usize| words(at).any(|word| CALLED.contains(&word));
    piece.ends_with(';') && piece.rfind(".func").is_some_and(is_called)
}

/// Declarations, those of the functions of recorded launches with `to` in the place of `from`.
fn respelt(declarations: &str, from: &str, to: &str) -> String {
    let respell = |piece: &str| match declares(piece) {
        true => piece.replacen(from, to, 1),
        false => piece.to_owned(),
    };
    pieces(declarations).map(respell).collect()
}

#[cfg(test)]
mod tests;
