//! Whether a thread may wait in a loop for what another thread does: that thread may come later in the same loop, when
//! somebody else does the work of both. An analysis.
//!
//! Legality. A thread that waits goes round in a loop whose branches depend on what an atomic operation or a volatile
//! access in it found. Three kinds of such loops end whatever others do: those that try a compare-and-swap again with what
//! it found, since another thread was successful each time; those that look for a free place of a table ([`inserts`]); and those that count and come to the end of their count on
//! every way round ([`Loop::counts`]), where what was found decides no way out. What is found may decide anything
//! else in them: `for (e = begin; e < end; e += 32) if (atomicExch(&seen[e], 1) == 0) ...`.

mod inserts;

use std::collections::{HashMap, HashSet};

use inkwell::llvm_sys::LLVMOpcode;

use super::calls::{Callee, callee, is_index};
use crate::raw::view::{Block, View};

/// From where control comes to each block.
type Before<'ctx> = HashMap<Block<'ctx>, Vec<Block<'ctx>>>;

/// No waiting for what another thread does.
pub(super) fn check_waiting(function: View<'_>) -> Result<(), String> {
    let mut before = Before::new();
    for instruction in function.instructions() {
        let looks = match instruction.opcode() {
            Some(LLVMOpcode::LLVMAtomicCmpXchg | LLVMOpcode::LLVMAtomicRMW) => true,
            Some(LLVMOpcode::LLVMLoad) => instruction.is_volatile() || instruction.is_ordered(),
            _ => false,
        };
        let Some(block) = instruction.block().filter(|_| looks) else { continue };
        if before.is_empty() {
            before = entries(function);
        }
        let mut round = Loop::around(block, None, &before);
        while let Some(found) = round {
            match found.decided_by(instruction) {
                Decides::Nothing => break,
                Decides::Turns if found.counts() => {}
                _ if retries(instruction) => break,
                _ if inserts::is_insertion(instruction, &found, function) => {}
                _ => return Err("may wait for another thread in a loop".into()),
            }
            round = found.inner(block);
        }
    }
    Ok(())
}

/// Whether the only loops of a function, which calls none, are searches for a free place of a table: these are short.
pub(super) fn only_searches(function: View<'_>) -> bool {
    let before = entries(function);
    let mut covered = HashSet::new();
    for instruction in function.instructions() {
        if instruction.callee().is_some_and(|called| matches!(callee(called), Callee::Defined(_))) {
            return false;
        }
        let is_swap = instruction.opcode() == Some(LLVMOpcode::LLVMAtomicCmpXchg);
        let block = instruction.block().filter(|_| is_swap);
        let round = block.and_then(|block| Loop::around(block, None, &before));
        if let Some(found) = round
            && inserts::is_insertion(instruction, &found, function)
        {
            covered.extend(found.blocks);
        }
    }
    let alone = |block: &Block<'_>| Loop::around(*block, None, &before).is_none();
    !covered.is_empty()
        && function.blocks().iter().all(|block| covered.contains(block) || alone(block))
}

fn entries(function: View<'_>) -> Before<'_> {
    let mut before = Before::new();
    for from in function.blocks() {
        from.successors().into_iter().for_each(|to| before.entry(to).or_default().push(from));
    }
    before
}

/// What a value that is found in a loop decides there.
enum Decides {
    Nothing,
    /// How a turn goes on.
    Turns,
    /// Whether there is another.
    End,
}

/// Blocks of which each is reached from each.
struct Loop<'a, 'ctx> {
    blocks: HashSet<Block<'ctx>>,
    /// The only block that is entered from elsewhere, if there is one.
    head: Option<Block<'ctx>>,
    before: &'a Before<'ctx>,
}

impl<'a, 'ctx> Loop<'a, 'ctx> {
    /// The largest one that a block is in, of the blocks of `within`.
    fn around(
        block: Block<'ctx>,
        within: Option<&HashSet<Block<'ctx>>>,
        before: &'a Before<'ctx>,
    ) -> Option<Loop<'a, 'ctx>> {
        let inside = |next: &Block<'ctx>| within.is_none_or(|within| within.contains(next));
        let reach = |from: Block<'ctx>| {
            let (mut seen, mut work) = (HashSet::new(), vec![from]);
            while let Some(at) = work.pop() {
                work.extend(at.successors().into_iter().filter(|n| inside(n) && seen.insert(*n)));
            }
            seen
        };
        let after = reach(block);
        if !after.contains(&block) {
            return None;
        }
        let blocks: HashSet<Block<'ctx>> =
            after.into_iter().filter(|other| reach(*other).contains(&block)).collect();
        let mut entered = blocks
            .iter()
            .copied()
            .filter(|to| before.get(to).into_iter().flatten().any(|from| !blocks.contains(from)));
        let head = entered.next().filter(|_| entered.next().is_none());
        Some(Loop { blocks, head, before })
    }

    /// The one that a block is in within a turn of this.
    fn inner(&self, block: Block<'ctx>) -> Option<Loop<'a, 'ctx>> {
        let mut within = self.blocks.clone();
        within.remove(&self.head?);
        within.contains(&block).then(|| Loop::around(block, Some(&within), self.before)).flatten()
    }

    /// What a value that stands in it decides through registers.
    fn decided_by(&self, value: View<'ctx>) -> Decides {
        let (mut seen, mut work) = (HashSet::new(), vec![value]);
        let mut turns = false;
        while let Some(value) = work.pop() {
            for user in value.users() {
                if !seen.insert(user) {
                    continue;
                }
                let inside = user.block().is_some_and(|block| self.blocks.contains(&block));
                match user.opcode() {
                    Some(LLVMOpcode::LLVMBr | LLVMOpcode::LLVMSwitch) if inside => {
                        if !user.successors().iter().all(|to| self.blocks.contains(to)) {
                            return Decides::End;
                        }
                        turns = true;
                    }
                    // What goes through memory, or decides where it goes, may come back.
                    Some(LLVMOpcode::LLVMCall) | None => {
                        turns = true;
                        work.extend(inside.then_some(user));
                    }
                    Some(LLVMOpcode::LLVMStore) => {}
                    _ if inside => work.push(user),
                    _ => {}
                }
            }
        }
        if turns { Decides::Turns } else { Decides::Nothing }
    }

    /// Whether it counts, and every way round comes by a branch that leaves it at the end of the count.
    fn counts(&self) -> bool {
        let Some(head) = self.head else { return false };
        self.blocks.iter().any(|block| {
            let Some(end) = block.terminator() else { return false };
            let Some(condition) = end.condition() else { return false };
            let leaves = |to: &Block<'ctx>| !self.blocks.contains(to);
            // Out when the condition does not hold, or when it does.
            let (out, stays) = match end.successors()[..] {
                [then, otherwise] if leaves(&otherwise) && !leaves(&then) => (false, then),
                [then, otherwise] if leaves(&then) && !leaves(&otherwise) => (true, otherwise),
                _ => return false,
            };
            self.blocks.contains(&stays)
                && self.is_passed(head, *block)
                && self.ends(condition, out, head)
        })
    }

    /// Whether every way from the head to the head comes by a block.
    fn is_passed(&self, head: Block<'ctx>, by: Block<'ctx>) -> bool {
        let (mut seen, mut work) = (HashSet::new(), vec![head]);
        while let Some(block) = work.pop() {
            if block == by {
                continue;
            }
            for next in block.successors() {
                if next == head {
                    return false;
                }
                if self.blocks.contains(&next) && seen.insert(next) {
                    work.push(next);
                }
            }
        }
        true
    }

    /// Whether a condition is `out` at the end of a count at the latest.
    fn ends(&self, condition: View<'ctx>, out: bool, head: Block<'ctx>) -> bool {
        let operands = condition.operands();
        if condition.comparison().is_some() {
            return operands.iter().any(|operand| self.is_counter(*operand, head));
        }
        let constant = |value: View<'ctx>| value.constant_int().map(|number| number != 0);
        let parts = match (condition.opcode(), &operands[..]) {
            (Some(LLVMOpcode::LLVMAnd), [_, _]) if !out => &operands[..],
            (Some(LLVMOpcode::LLVMOr), [_, _]) if out => &operands[..],
            // `a && b` and `a || b` that look at the second only where they must.
            (Some(LLVMOpcode::LLVMSelect), [_, _, last])
                if !out && constant(*last) == Some(false) =>
            {
                &operands[..2]
            }
            (Some(LLVMOpcode::LLVMSelect), [first, middle, last])
                if out && constant(*middle) == Some(true) =>
            {
                return [first, last].iter().any(|part| self.ends(**part, out, head));
            }
            _ => return false,
        };
        parts.iter().any(|part| self.ends(*part, out, head))
    }

    /// Whether a value counts by the same number in each turn.
    fn is_counter(&self, value: View<'ctx>, head: Block<'ctx>) -> bool {
        use LLVMOpcode::{
            LLVMAdd, LLVMGetElementPtr, LLVMPHI, LLVMSExt, LLVMSub, LLVMTrunc, LLVMZExt,
        };
        let operands = value.operands();
        match (value.opcode(), &operands[..]) {
            (Some(LLVMPHI), _) => value.block() == Some(head) && self.steps(value, head),
            (Some(LLVMSExt | LLVMZExt | LLVMTrunc), [from, ..]) => self.is_counter(*from, head),
            (Some(LLVMAdd | LLVMSub | LLVMGetElementPtr), [from, by]) => {
                self.is_fixed(*by) && self.is_counter(*from, head)
            }
            _ => false,
        }
    }

    /// Whether each way round adds something fixed to a phi at the head, other than nothing.
    fn steps(&self, phi: View<'ctx>, head: Block<'ctx>) -> bool {
        use LLVMOpcode::{LLVMAdd, LLVMGetElementPtr, LLVMSub};
        let from = self.before.get(&head);
        let mut round = from.into_iter().flatten().filter(|from| self.blocks.contains(from));
        round.all(|from| {
            let Some(next) = phi.incoming_from(*from) else { return false };
            let operands = next.operands();
            let [before, by] = operands[..] else { return false };
            matches!(next.opcode(), Some(LLVMAdd | LLVMSub | LLVMGetElementPtr))
                && before == phi
                && self.is_fixed(by)
                && by.constant_int() != Some(0)
        })
    }

    /// Whether a value is the same in each turn.
    fn is_fixed(&self, value: View<'ctx>) -> bool {
        use LLVMOpcode::{
            LLVMAdd, LLVMCall, LLVMMul, LLVMSExt, LLVMShl, LLVMSub, LLVMTrunc, LLVMZExt,
        };
        if !value.block().is_some_and(|block| self.blocks.contains(&block)) {
            return true;
        }
        match value.opcode() {
            Some(LLVMCall) => value
                .callee()
                .map(callee)
                .is_some_and(|called| matches!(called, Callee::Register(name) if is_index(&name))),
            Some(LLVMAdd | LLVMSub | LLVMMul | LLVMShl | LLVMSExt | LLVMZExt | LLVMTrunc) => {
                value.operands().into_iter().all(|operand| self.is_fixed(operand))
            }
            _ => false,
        }
    }
}

/// A compare-and-swap that is tried again with what it found: another thread was successful each time
/// that it was not, so somebody always makes progress.
fn retries(instruction: View<'_>) -> bool {
    if instruction.opcode() != Some(LLVMOpcode::LLVMAtomicCmpXchg) {
        return false;
    }
    let (mut seen, mut work) = (HashSet::new(), vec![instruction]);
    let Some(expected) = instruction.operand(1) else { return false };
    while let Some(value) = work.pop() {
        if value == expected && value.opcode() == Some(LLVMOpcode::LLVMPHI) {
            return true;
        }
        let next = value.users().into_iter().filter(|user| seen.insert(*user));
        work.extend(next.filter(|user| {
            let through = [
                LLVMOpcode::LLVMExtractValue,
                LLVMOpcode::LLVMPHI,
                LLVMOpcode::LLVMBitCast,
                LLVMOpcode::LLVMIntToPtr,
                LLVMOpcode::LLVMTrunc,
                LLVMOpcode::LLVMZExt,
            ];
            user.opcode().is_some_and(|opcode| through.contains(&opcode))
        }));
    }
    false
}

#[cfg(test)]
mod tests;
