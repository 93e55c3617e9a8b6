//! Finds children of which each thread takes the turns of further ones: `for (i = threadIdx.x; i < n; i += blockDim.x)`.
//! How much such a child does is known by the loop's bound, as that of one whose threads have no loops is by its first
//! test.
//!
//! It is asked what such a child is worth, not whether anything is right: a loop that ends earlier is shorter.

use std::collections::HashSet;

use inkwell::llvm_sys::LLVMOpcode;

use super::calls::{Callee, callee};
use super::child::{has_loops, reachable};
use super::guard::Guard;
use crate::raw::view::{Block, View};

/// Places of the size of blocks and of the grid along x behind a body's own parameters ([`super::child::EXTRAS`]).
const SIZE_X: u32 = 9;
const GRID_X: u32 = 6;

/// Whether a body's one loop begins with the value that its first test asks for, which grows by the number of threads of the
/// block, or of the grid, up to the test's bound. It has `own` parameters before [`super::child::EXTRAS`].
pub(super) fn strides(body: View<'_>, guard: &Guard<'_>, own: u32) -> bool {
    let turning = |block: &Block<'_>| reachable(*block).contains(block);
    let turns: HashSet<Block<'_>> = body.blocks().into_iter().filter(turning).collect();
    let enters = |block: &Block<'_>| !turns.contains(block);
    let entries: Vec<(Block<'_>, Block<'_>)> = body
        .blocks()
        .into_iter()
        .filter(enters)
        .flat_map(|from| from.successors().into_iter().map(move |to| (from, to)))
        .filter(|(_, to)| turns.contains(to))
        .collect();
    let [(before, header)] = entries[..] else { return false };
    if turns.iter().any(|block| turns_again(*block, header, &turns)) || calls_loops(body) {
        return false;
    }
    header.instructions().into_iter().any(|phi| {
        phi.incoming_from(before) == Some(guard.index)
            && turns.iter().any(|last| {
                phi.incoming_from(*last).is_some_and(|next| grows(next, phi, own))
                    && ends_at(&turns, phi, phi.incoming_from(*last), guard.bound)
            })
    })
}

/// Whether a block of a loop comes to itself without its header: in a loop within it.
fn turns_again(block: Block<'_>, header: Block<'_>, turns: &HashSet<Block<'_>>) -> bool {
    let (mut seen, mut work) = (HashSet::new(), vec![block]);
    while let Some(from) = work.pop() {
        for next in from.successors() {
            if next == block && block != header {
                return true;
            }
            if next != header && turns.contains(&next) && seen.insert(next) {
                work.push(next);
            }
        }
    }
    false
}

fn calls_loops(body: View<'_>) -> bool {
    body.instructions().into_iter().filter_map(View::callee).any(|called| match callee(called) {
        Callee::Defined(function) => has_loops(function),
        _ => false,
    })
}

/// Whether a value is another one and the number of threads.
fn grows(next: View<'_>, value: View<'_>, own: u32) -> bool {
    let [a, b] = next.operands()[..] else { return false };
    next.opcode() == Some(LLVMOpcode::LLVMAdd)
        && (a == value && is_stride(b, own) || b == value && is_stride(a, own))
}

/// `blockDim.x`, or that times `gridDim.x`.
fn is_stride(value: View<'_>, own: u32) -> bool {
    use LLVMOpcode::{LLVMMul, LLVMSExt, LLVMTrunc, LLVMZExt};
    let is = |value: View<'_>, extra| value.parameter_index() == Some(own + extra);
    match (value.opcode(), &value.operands()[..]) {
        _ if is(value, SIZE_X) => true,
        (Some(LLVMSExt | LLVMTrunc | LLVMZExt), [inner]) => is_stride(*inner, own),
        (Some(LLVMMul), [a, b]) => {
            let plain = |value: View<'_>| is(value, GRID_X) || is_stride(value, own);
            plain(*a) && plain(*b)
        }
        _ => false,
    }
}

/// Whether a loop's end is where its value, or the next one, comes to the bound.
fn ends_at(
    turns: &HashSet<Block<'_>>,
    value: View<'_>,
    next: Option<View<'_>>,
    bound: View<'_>,
) -> bool {
    let same = |found: View<'_>| found == value || Some(found) == next;
    let is_value = |found: View<'_>| same(found) || found.operand(0).is_some_and(same);
    turns.iter().filter_map(|block| block.terminator()?.condition()).any(|condition| {
        let sides = condition.operands();
        condition.comparison().is_some()
            && sides.contains(&bound)
            && sides.iter().any(|side| is_value(*side))
    })
}
