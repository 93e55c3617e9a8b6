//! Whether a thread that goes round in a loop until its compare-and-swap finds what it wants waits for a thread that may come
//! later. An analysis.
//!
//! Legality. A thread that puts a key into a hash table swaps it in where a place is free, and goes on where it is not. Nothing
//! in its grid makes a place free again but threads that got one before, if these do: each other write is such a swap too, of the
//! same free value. So a place that is not free stays as it is, but for who has it, who has begun and will end. What
//! a thread finds there it would find whenever it came, and where it finds a free one it leaves the loop. So it needs nobody who has not begun:
//! alone it comes to its end as soon as with others, or sooner. Other grids are no matter: no grid may count on another
//! to run at the same time. Who got a place writes by other pointers than the swap's: one that gives back what it got has a
//! lock, for which lanes of a warp would wait together.
//!
//! What is absent: loops that wait for what somebody writes without such a swap, as for a turn ([`super`] refuses them).

use std::collections::HashSet;

use inkwell::llvm_sys::{LLVMIntPredicate, LLVMOpcode};

use super::super::access::{Base, Function};
use super::Loop;
use crate::launches::calls::{Callee, callee};
use crate::raw::view::{Block, View};

/// Whether an access in a loop that decides on its end is such a swap.
pub(super) fn is_insertion<'ctx>(
    swap: View<'ctx>,
    round: &Loop<'_, 'ctx>,
    function: View<'ctx>,
) -> bool {
    let Some(free) = free_of(swap) else { return false };
    // Who looks at the same place again and again wants it to become free.
    let moves = |address: View<'ctx>| address.block().is_some_and(|at| round.blocks.contains(&at));
    if !swap.operand(0).is_some_and(moves) {
        return false;
    }
    // What a caller writes is not seen here.
    let is_called = |user: &View<'ctx>| user.callee() == Some(function);
    if function.users().iter().any(is_called) {
        return false;
    }
    leaves_with_success(swap, free, round) && writes_after_success(swap, free, function)
}

/// The constant that a compare-and-swap is for.
fn free_of(swap: View<'_>) -> Option<i64> {
    let is_swap = swap.opcode() == Some(LLVMOpcode::LLVMAtomicCmpXchg);
    swap.operand(1).filter(|_| is_swap)?.constant_int()
}

/// Whether a condition is known where the swap was successful, and what it is then; and whether it tells that and nothing
/// else.
struct Known {
    holds: bool,
    exact: bool,
}

fn known(condition: View<'_>, swap: View<'_>, free: i64) -> Option<Known> {
    let operands = condition.operands();
    let of_swap = |value: View<'_>| {
        value.opcode() == Some(LLVMOpcode::LLVMExtractValue) && value.operand(0) == Some(swap)
    };
    if of_swap(condition) && condition.bits() == Some(1) {
        return Some(Known { holds: true, exact: true });
    }
    if let (Some(predicate), [found, other]) = (condition.comparison(), &operands[..]) {
        let compares = of_swap(*found) && other.constant_int() == Some(free);
        let holds = match predicate {
            LLVMIntPredicate::LLVMIntEQ => true,
            LLVMIntPredicate::LLVMIntNE => false,
            _ => return None,
        };
        return compares.then_some(Known { holds, exact: true });
    }
    let constant = |value: View<'_>| value.constant_int().map(|number| number != 0);
    // What makes the whole so whatever the other part is.
    let (parts, decisive) = match (condition.opcode(), &operands[..]) {
        (Some(LLVMOpcode::LLVMXor), [part, one]) if constant(*one) == Some(true) => {
            let Known { holds, exact } = known(*part, swap, free)?;
            return Some(Known { holds: !holds, exact });
        }
        (Some(LLVMOpcode::LLVMOr), [first, second]) => ([*first, *second], true),
        (Some(LLVMOpcode::LLVMAnd), [first, second]) => ([*first, *second], false),
        (Some(LLVMOpcode::LLVMSelect), [first, middle, last]) => {
            match (constant(*middle), constant(*last)) {
                (Some(true), _) => ([*first, *last], true),
                (_, Some(false)) => ([*first, *middle], false),
                _ => return None,
            }
        }
        _ => return None,
    };
    let mut found = parts.into_iter().filter_map(|part| known(part, swap, free));
    found.any(|part| part.holds == decisive).then_some(Known { holds: decisive, exact: false })
}

/// Whether each way on from the swap within the loop comes by a branch that leaves it if the swap was successful.
fn leaves_with_success<'ctx>(swap: View<'ctx>, free: i64, round: &Loop<'_, 'ctx>) -> bool {
    let Some(from) = swap.block() else { return false };
    round.blocks.iter().any(|block| {
        let Some(end) = block.terminator() else { return false };
        let condition = end.condition().and_then(|condition| known(condition, swap, free));
        let (Some(Known { holds, .. }), [then, otherwise]) = (condition, &end.successors()[..])
        else {
            return false;
        };
        let to = if holds { then } else { otherwise };
        !round.blocks.contains(to) && round.is_passed(from, *block)
    })
}

/// Whether nobody else's memory is written but by swaps of the same free value, and by threads that were successful.
fn writes_after_success<'ctx>(swap: View<'ctx>, free: i64, function: View<'ctx>) -> bool {
    let looked_at = Function::new(function);
    let bases = |address: View<'ctx>| looked_at.places(address).into_iter().map(|place| place.base);
    let own = |base: Base| matches!(base, Base::Own | Base::Struct(_));
    let Some(table) = swap.operand(0).map(|address| bases(address).collect::<Vec<_>>()) else {
        return false;
    };
    let other = |base: Base| base != Base::Unknown && !table.contains(&base);
    let behind = behind_success(swap, free, function);
    function.instructions().into_iter().all(|instruction| {
        let address = match instruction.opcode() {
            Some(LLVMOpcode::LLVMStore) => instruction.operand(1),
            Some(LLVMOpcode::LLVMAtomicRMW) => instruction.operand(0),
            Some(LLVMOpcode::LLVMAtomicCmpXchg) if free_of(instruction) == Some(free) => {
                return true;
            }
            Some(LLVMOpcode::LLVMAtomicCmpXchg) => instruction.operand(0),
            Some(LLVMOpcode::LLVMCall | LLVMOpcode::LLVMInvoke) => {
                let called = instruction.callee();
                return called.is_some_and(|called| {
                    called.touches_no_memory() || matches!(callee(called), Callee::Register(_))
                });
            }
            _ => return true,
        };
        let is_behind = instruction.block().is_some_and(|block| behind.contains(&block));
        address.is_some_and(|address| {
            bases(address).all(own) || is_behind && bases(address).all(other)
        })
    })
}

/// Blocks that a thread comes to only if the swap was successful.
fn behind_success<'ctx>(swap: View<'ctx>, free: i64, function: View<'ctx>) -> HashSet<Block<'ctx>> {
    let blocks = function.blocks();
    let Some(entry) = blocks.first().copied() else { return HashSet::new() };
    let is_success = |from: Block<'ctx>, to: Block<'ctx>| {
        let Some(end) = from.terminator() else { return false };
        let condition = end.condition().and_then(|condition| known(condition, swap, free));
        match (condition, &end.successors()[..]) {
            (Some(Known { holds, exact: true }), [then, otherwise]) if then != otherwise => {
                to == if holds { *then } else { *otherwise }
            }
            _ => false,
        }
    };
    let (mut without, mut work) = (HashSet::from([entry]), vec![entry]);
    while let Some(block) = work.pop() {
        for next in block.successors() {
            if !is_success(block, next) && without.insert(next) {
                work.push(next);
            }
        }
    }
    blocks.into_iter().filter(|block| !without.contains(block)).collect()
}
