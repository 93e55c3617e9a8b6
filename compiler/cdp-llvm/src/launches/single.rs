//! Whether one thread of a block, always the same, does all launches of a kernel: `if (threadIdx.x == 0)`. Its
//! launches are ordered by itself, and there is nobody else to be ordered with. And whether a kernel's grids have one
//! thread at all. An analysis.
//!
//! Legality. Every way to a launch goes through one edge of the control flow, which is taken only where two values
//! are equal that differ by a multiple of the thread's index along x and by what is the same for the whole block all
//! the time. No two threads of a block with one dimension can find them equal.

use std::collections::HashSet;

use inkwell::llvm_sys::{LLVMIntPredicate, LLVMOpcode};
use inkwell::values::FunctionValue;

use super::access::Function;
use super::form::Symbol;
use super::parent::LaunchSite;
use crate::raw;
use crate::raw::view::{Block, View};

/// Threads along x.
const MOST_THREADS: i128 = 1024;

/// Whether one thread of each block, if the block has one dimension, comes to all of these sites.
pub(super) fn one_thread<'ctx>(kernel: FunctionValue<'ctx>, sites: &[&LaunchSite<'ctx>]) -> bool {
    let view = View::function(kernel);
    let function = Function::parent(view);
    let blocks = view.blocks();
    let Some(entry) = blocks.first().copied() else { return false };
    let targets: Option<HashSet<Block<'ctx>>> =
        sites.iter().map(|s| View::instruction(raw::instruction(s.call)).block()).collect();
    let Some(targets) = targets else { return false };
    blocks.iter().any(|block| {
        let Some((end, condition)) = block.terminator().and_then(|e| Some((e, e.condition()?)))
        else {
            return false;
        };
        let [then, otherwise] = end.successors()[..] else { return false };
        then != otherwise
            && [(then, true), (otherwise, false)].into_iter().any(|(to, truth)| {
                chooses(&function, condition, truth, 0) && is_gate(entry, (*block, to), &targets)
            })
    })
}

/// Whether a kernel launches itself, and these grids are of one thread. Most of its grids are such then, which have no
/// other launches to make theirs one with, while the code for that is several times the kernel's own.
pub(super) fn calls_itself_alone<'ctx>(
    kernel: FunctionValue<'ctx>,
    sites: &[LaunchSite<'ctx>],
) -> bool {
    let is_own = |site: &&LaunchSite<'ctx>| site.kernel() == Some(kernel);
    let is_one = |site: &LaunchSite<'ctx>| {
        let shape = site.operands.get(1..7);
        shape.is_some_and(|shape| {
            shape.iter().all(|count| View::value(*count).constant_int() == Some(1))
        })
    };
    let mut own = sites.iter().filter(is_own).peekable();
    own.peek().is_some() && own.all(is_one)
}

/// Whether a condition, when it is `truth`, is so for one thread of a block only.
fn chooses<'ctx>(
    function: &Function<'ctx>,
    condition: View<'ctx>,
    truth: bool,
    depth: u32,
) -> bool {
    let operands = condition.operands();
    if let Some(predicate) = condition.comparison() {
        let wanted = match truth {
            true => LLVMIntPredicate::LLVMIntEQ,
            false => LLVMIntPredicate::LLVMIntNE,
        };
        let [left, right] = operands[..] else { return false };
        if predicate != wanted {
            return false;
        }
        // `a == 0 && b == 0` is `(a | b) == 0` by now.
        let both = left.opcode() == Some(LLVMOpcode::LLVMOr) && right.constant_int() == Some(0);
        return names_one(function, left, right)
            || (both && left.operands().iter().any(|part| names_one(function, *part, right)));
    }
    if depth == 4 {
        return false;
    }
    let is = |value: &View<'ctx>, number: i64| {
        value.constant_int().is_some_and(|constant| (constant != 0) == (number != 0))
    };
    let either = match (condition.opcode(), &operands[..], truth) {
        (Some(LLVMOpcode::LLVMAnd), [_, _], true) | (Some(LLVMOpcode::LLVMOr), [_, _], false) => {
            &operands[..]
        }
        // `a && b` and `a || b` that look at the second only where they must.
        (Some(LLVMOpcode::LLVMSelect), [_, _, last], true) if is(last, 0) => &operands[..2],
        (Some(LLVMOpcode::LLVMSelect), [first, middle, last], false) if is(middle, 1) => {
            return [first, last].iter().any(|part| chooses(function, **part, truth, depth + 1));
        }
        (Some(LLVMOpcode::LLVMXor), [inner, last], _) if is(last, 1) => {
            return chooses(function, *inner, !truth, depth + 1);
        }
        _ => return false,
    };
    either.iter().any(|part| chooses(function, *part, truth, depth + 1))
}

/// Whether two values are equal for one thread of a block at most.
fn names_one<'ctx>(function: &Function<'ctx>, left: View<'ctx>, right: View<'ctx>) -> bool {
    let difference = || function.form(left)?.plus(&function.form(right)?, -1);
    let Some(sum) = difference() else { return false };
    let bits = sum.bits.min(left.bits().unwrap_or(0));
    let factor = i128::from(sum.terms.get(&Symbol::Thread).copied().unwrap_or(0)).abs();
    let known = sum.low == sum.high
        && sum.terms.keys().all(|symbol| !matches!(symbol, Symbol::Parameter(_)));
    known && factor != 0 && factor * (MOST_THREADS - 1) < 1_i128 << bits
}

/// Whether no block of `targets` is reached from `entry` but over an edge.
fn is_gate<'ctx>(
    entry: Block<'ctx>,
    edge: (Block<'ctx>, Block<'ctx>),
    targets: &HashSet<Block<'ctx>>,
) -> bool {
    let (mut seen, mut work) = (HashSet::from([entry]), vec![entry]);
    while let Some(block) = work.pop() {
        if targets.contains(&block) {
            return false;
        }
        for next in block.successors() {
            if (block, next) != edge && seen.insert(next) {
                work.push(next);
            }
        }
    }
    true
}
