//! A run in words, for who makes code of it.
//!
//! A line each, words with blanks between. Rows are offsets in the frame, in words; a row's shape is `n` (32
//! words), `w` (64 words), `p` (a predicate) or `-` (no operand).
//!
//! ```text
//! run 3 COUNT                    version of this text, instructions
//! alu NAME FLAGS SHAPES D A B C IMM
//!                                arithmetic: what `code::Name` says, shapes of d, a, b, c; NAME is ? for
//!                                what only the interpreter can do
//! tid|ctaid|ntid|nctaid AXIS D   places of threads
//! parameter BYTES D OFFSET       of the kernel, 4 or 8 bytes
//! load PLACE BYTES D A ADDED SLOT
//! store PLACE BYTES D A ADDED SLOT
//!                                element of BYTES, 4 or 8, at the address in row A, plus ADDED; PLACE is
//!                                global (A is wide), shared (narrow) or shared64 (wide). D is what is
//!                                loaded or stored, SLOT the allocation to try first
//! branch ROW NOT                 the run ends before it if a lane's bit in ROW is not NOT, 0 or 1
//! const SHAPE ROW VALUE          the row has this value in all lanes
//! same SHAPE ROW                 the row has one value in all lanes
//! dead SHAPE ROW                 nobody reads the row after the run before writing it
//! gone INDEX ROW                 nobody does after the branch that is instruction INDEX of the run, from 0
//! ```
//!
//! Instructions come in order; what is said of rows follows them.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use crate::code::{Access, Function, Inst, Op, Run, Shape, Special, StateSpace};

/// The version of the text, and of what code finds in [`super::Context`].
pub const VERSION: u32 = 3;

/// What a run does.
pub fn of(function: &Function, run: &Run) -> String {
    let mut out = format!("run {VERSION} {}\n", run.count);
    let (first, count) = (run.first as usize, run.count as usize);
    let (mut read, mut written) = (BTreeSet::new(), BTreeMap::new());
    let mut gone = String::new();
    for pc in first..first + count {
        instruction(&mut out, function, pc, &mut read, &mut written);
        if matches!(function.code[pc].op, Op::Bra { .. }) {
            let origin = function.code[pc].origin;
            for row in written.keys().filter(|row| is_dead(function, **row, origin)) {
                let _ = writeln!(gone, "gone {} {row}", pc - first);
            }
        }
    }
    for (index, constant) in
        function.consts.iter().enumerate().filter(|(_, c)| read.contains(&c.row))
    {
        let shape = letter(Shape::row(constant.wide));
        // Their values are known when the kernel's shared memory is laid out.
        let _ = match function.shared_consts.iter().any(|shared| shared.0 == index as u32) {
            true => writeln!(out, "same {shape} {}", constant.row),
            false => writeln!(out, "const {shape} {} {}", constant.row, constant.value),
        };
    }
    out += &gone;
    let next = function.code.get(first + count).map_or(u32::MAX, |inst| inst.origin);
    for (row, shape) in written {
        if is_dead(function, row, next) {
            let _ = writeln!(out, "dead {} {row}", letter(shape));
        }
    }
    out
}

/// Nobody reads what is in a row from this PTX instruction on.
fn is_dead(function: &Function, row: u32, next: u32) -> bool {
    let begin = function.tenants.partition_point(|tenant| tenant.0 < row);
    let of_row = |tenant: &&(u32, u32, u32)| tenant.0 == row;
    let mut tenants = function.tenants[begin..].iter().take_while(of_row).peekable();
    tenants.peek().is_some() && tenants.all(|&(_, first, last)| first >= next || last < next)
}

fn letter(shape: Shape) -> char {
    match shape {
        Shape::Unused => '-',
        Shape::Pred => 'p',
        Shape::Narrow => 'n',
        Shape::Wide => 'w',
    }
}

fn instruction(
    out: &mut String,
    function: &Function,
    pc: usize,
    read: &mut BTreeSet<u32>,
    written: &mut BTreeMap<u32, Shape>,
) {
    let inst = &function.code[pc];
    let Inst { d, a, b, c, imm, .. } = *inst;
    let _ = match inst.op {
        Op::Alu => {
            let (name, shapes) = function.names[pc];
            let operation = if name.operation.is_empty() { "?" } else { name.operation };
            read.extend([a, b, c]);
            written.insert(d, shapes[0]);
            let letters: String = shapes.into_iter().map(letter).collect();
            writeln!(out, "alu {operation} {} {letters} {d} {a} {b} {c} {imm}", name.flags)
        }
        Op::Special(special) => {
            written.insert(d, Shape::Narrow);
            let (word, axis) = match special {
                Special::Tid(axis) => ("tid", axis),
                Special::Ctaid(axis) => ("ctaid", axis),
                Special::Ntid(axis) => ("ntid", axis),
                Special::Nctaid(axis) => ("nctaid", axis),
                // No run has others.
                _ => ("?", 0),
            };
            writeln!(out, "{word} {axis} {d}")
        }
        Op::Load(access) if access.space == StateSpace::Param => {
            written.insert(d, Shape::row(access.wide_register));
            writeln!(out, "parameter {} {d} {imm}", 1 << access.size_log2)
        }
        Op::Load(access) => {
            written.insert(d, Shape::row(access.wide_register));
            access_line(out, "load", inst, access, pc, read)
        }
        Op::Store(access) => {
            read.insert(d);
            access_line(out, "store", inst, access, pc, read)
        }
        Op::Bra { .. } => writeln!(out, "branch {} {}", inst.guard, u32::from(inst.guard_not != 0)),
        _ => Ok(()),
    };
}

fn access_line(
    out: &mut String,
    word: &str,
    inst: &Inst,
    access: Access,
    pc: usize,
    read: &mut BTreeSet<u32>,
) -> std::fmt::Result {
    let place = match (access.space, access.wide_address) {
        (StateSpace::Shared, false) => "shared",
        (StateSpace::Shared, true) => "shared64",
        _ => "global",
    };
    read.insert(inst.a);
    let (bytes, added, slot) = (1 << access.size_log2, inst.imm as i32, pc & 7);
    writeln!(out, "{word} {place} {bytes} {} {} {added} {slot}", inst.d, inst.a)
}
