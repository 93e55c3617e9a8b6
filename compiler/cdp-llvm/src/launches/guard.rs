//! Finds the test with which kernels begin, `if (i < n)`: threads behind it do nothing, so nobody need
//! run them. Grids are rounded up to whole blocks, and mostly the last block is mostly idle.
//!
//! The bound is found on the kernel's body alone. What a front end says of the threads that were wanted is
//! not needed for it.

use inkwell::llvm_sys::{LLVMIntPredicate, LLVMOpcode};
use inkwell::values::FunctionValue;

use super::child::EXTRAS;
use crate::raw::view::{Block, View};

/// `offset + global.x < bound`, in integers of `bits` bits; otherwise the thread ends without effect.
#[derive(Clone)]
pub(super) struct Guard<'ctx> {
    pub signed: bool,
    /// Whether the thread also runs when both are equal.
    pub inclusive: bool,
    /// The width in which the sum is formed and may wrap.
    pub bits: u32,
    pub offset: Option<View<'ctx>>,
    pub bound: View<'ctx>,
    /// The sum, as the test has it for the thread's first turn where it is a loop's.
    pub index: View<'ctx>,
    /// It is the thread's number in its block, instead of `global`: threads of each block from the bound on do nothing.
    pub of_block: bool,
}

/// Which of [`EXTRAS`] the thread's number in its block is.
const THREAD_X: u32 = 3;

/// The most blocks between the entry and the test.
const MOST_BLOCKS: usize = 8;

/// The test of a body, whose parameter `global` is the thread's number along x. It may be a loop's, of which a thread
/// behind it has no turn.
pub(super) fn find<'ctx>(body: FunctionValue<'ctx>, global: u32) -> Option<Guard<'ctx>> {
    let view = View::function(body);
    let thread = global.checked_sub(EXTRAS.len() as u32 - 1).map(|own| own + THREAD_X);
    let thread = thread.and_then(|thread| view.parameter(thread));
    let global = view.parameter(global)?;
    let mut block = *view.blocks().first()?;
    let mut from: Option<Block<'ctx>> = None;
    for _ in 0..MOST_BLOCKS {
        if has_effects(block) {
            return None;
        }
        let end = block.terminator()?;
        let Some(condition) = end.condition() else {
            let [next] = end.successors()[..] else { return None };
            (from, block) = (Some(block), next);
            continue;
        };
        let [then, otherwise] = end.successors()[..] else { return None };
        let resolve = |value: View<'ctx>| match (value.opcode(), from) {
            (Some(LLVMOpcode::LLVMPHI), Some(from)) if value.block() == Some(block) => {
                value.incoming_from(from)
            }
            _ => Some(value),
        };
        let guard = [(otherwise, false), (then, true)].into_iter().find_map(|(exit, inverted)| {
            if !ends_quietly(exit) {
                return None;
            }
            let [left, right] = condition.operands()[..] else { return None };
            let sides = [resolve(left)?, resolve(right)?];
            comparison(condition.comparison()?, inverted, sides, global, thread)
        });
        return guard;
    }
    None
}

/// Whether control from here only leaves the function.
fn ends_quietly(mut block: Block<'_>) -> bool {
    for _ in 0..MOST_BLOCKS {
        if has_effects(block) {
            return false;
        }
        let Some(end) = block.terminator() else { return false };
        match (end.opcode(), &end.successors()[..]) {
            (Some(LLVMOpcode::LLVMRet), _) => return true,
            (Some(LLVMOpcode::LLVMBr), [next]) => block = *next,
            _ => return false,
        }
    }
    false
}

/// Whether a block does more than compute.
fn has_effects(block: Block<'_>) -> bool {
    use LLVMOpcode::{
        LLVMAtomicCmpXchg, LLVMAtomicRMW, LLVMCall, LLVMFence, LLVMStore, LLVMUnreachable,
    };
    block.instructions().into_iter().any(|instruction| match instruction.opcode() {
        Some(LLVMAtomicCmpXchg | LLVMAtomicRMW | LLVMFence | LLVMUnreachable) => true,
        // What is stored into a variable of the thread's own is nobody's business.
        Some(LLVMStore) => {
            instruction.operand(1).is_none_or(|to| to.opcode() != Some(LLVMOpcode::LLVMAlloca))
        }
        Some(LLVMCall) => instruction.callee().is_none_or(|called| {
            let name = called.name();
            let own = || {
                let to = instruction.operand(0);
                to.is_some_and(|to| to.opcode() == Some(LLVMOpcode::LLVMAlloca))
            };
            let quiet = ["llvm.lifetime.", "llvm.dbg.", "llvm.assume"];
            !(called.has_function_attribute("speculatable")
                || quiet.iter().any(|prefix| name.starts_with(prefix))
                || (name.starts_with("llvm.memcpy.") && own()))
        }),
        _ => instruction.is_volatile() || instruction.is_ordered(),
    })
}

/// The guard that a comparison is when control goes on if it holds (if it does not, when `inverted`).
fn comparison<'ctx>(
    predicate: LLVMIntPredicate,
    inverted: bool,
    [left, right]: [View<'ctx>; 2],
    global: View<'ctx>,
    thread: Option<View<'ctx>>,
) -> Option<Guard<'ctx>> {
    use LLVMIntPredicate::{
        LLVMIntSGE, LLVMIntSGT, LLVMIntSLE, LLVMIntSLT, LLVMIntUGE, LLVMIntUGT, LLVMIntULE,
        LLVMIntULT,
    };
    let (signed, less, inclusive) = match predicate {
        LLVMIntSLT => (true, true, false),
        LLVMIntSLE => (true, true, true),
        LLVMIntSGT => (true, false, false),
        LLVMIntSGE => (true, false, true),
        LLVMIntULT => (false, true, false),
        LLVMIntULE => (false, true, true),
        LLVMIntUGT => (false, false, false),
        LLVMIntUGE => (false, false, true),
        _ => return None,
    };
    let (less, inclusive) = if inverted { (!less, !inclusive) } else { (less, inclusive) };
    let (index, bound) = if less { (left, right) } else { (right, left) };
    // The body's last parameters say which thread it is, and that comes later.
    let own = global.parameter_index()?.checked_sub(EXTRAS.len() as u32 - 1)?;
    let of_block = sum(index, global).is_none();
    let (offset, bits) = sum(index, if of_block { thread? } else { global })?;
    // A sum that was formed in fewer bits and widened compares by how it was widened.
    let widened = match index.opcode() {
        Some(LLVMOpcode::LLVMSExt) => Some(true),
        Some(LLVMOpcode::LLVMZExt) => Some(false),
        _ => None,
    };
    let sum_signed = widened.unwrap_or(signed);
    if sum_signed != signed && offset.is_some() {
        return None;
    }
    let known = |value: View<'ctx>| expression(value, own, 0);
    (known(bound) && offset.is_none_or(known)).then_some(Guard {
        signed,
        inclusive,
        bits,
        offset,
        bound,
        index,
        of_block,
    })
}

/// `global`, or `global + offset`, perhaps widened: the offset and the width of the sum.
fn sum<'ctx>(index: View<'ctx>, global: View<'ctx>) -> Option<(Option<View<'ctx>>, u32)> {
    if index == global {
        return Some((None, 32));
    }
    match (index.opcode()?, &index.operands()[..]) {
        (LLVMOpcode::LLVMSExt | LLVMOpcode::LLVMZExt, [inner]) => sum(*inner, global),
        (LLVMOpcode::LLVMAdd, [a, b]) => {
            let is_index = |value: View<'ctx>| {
                value == global
                    || (value.opcode() == Some(LLVMOpcode::LLVMZExt)
                        && value.operand(0) == Some(global))
            };
            let offset = if is_index(*a) { *b } else { *a };
            (is_index(*a) || is_index(*b)).then_some((Some(offset), index.bits()?))
        }
        _ => None,
    }
}

/// Whether a value can be computed from the kernel's arguments before it runs.
fn expression(value: View<'_>, own: u32, depth: u32) -> bool {
    if let Some(index) = value.parameter_index() {
        return index < own && value.bits().is_some();
    }
    if value.constant_int().is_some() {
        return true;
    }
    let known = matches!(
        value.opcode(),
        Some(
            LLVMOpcode::LLVMAdd
                | LLVMOpcode::LLVMSub
                | LLVMOpcode::LLVMMul
                | LLVMOpcode::LLVMSExt
                | LLVMOpcode::LLVMZExt
                | LLVMOpcode::LLVMTrunc
        )
    );
    let mut operands = value.operands().into_iter();
    known && depth < 4 && operands.all(|operand| expression(operand, own, depth + 1))
}
