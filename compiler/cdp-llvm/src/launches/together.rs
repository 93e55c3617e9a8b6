//! Whether the lanes of a warp that come to the launches of a kernel in one turn of a loop come to them together, as
//! far as its control flow tells. Sites at which lanes run children for each other under a lock want that: where lanes
//! of one warp are in different turns, ptxas brings groups of them together of which one has the lock and the others
//! wait for it (seen on an H200: launches lost, done twice, or a grid that never ends). An analysis.
//!
//! Legality. One thread of a block is never in two places. Else all lanes leave a loop around a site in the same turn:
//! each way out is one that every lane comes to in each turn, and its condition is the same for all of them, made of
//! what is the same for the block and of what counts the turns of the loops around it. There is one way back to a
//! loop's beginning, so that lanes meet again behind each branch in it, and no way round but by such a beginning. No two
//! sites of a loop lie on different sides of a branch that lanes may take differently.

use std::collections::HashSet;

use inkwell::llvm_sys::LLVMOpcode;
use inkwell::values::FunctionValue;

use super::access::{Function, computes};
use super::child::reachable;
use super::dominators::{Dominators, Loop};
use super::parent::LaunchSite;
use super::single;
use crate::raw;
use crate::raw::view::{Block, View};

/// How many operands deep a condition is followed.
const DEPTH: u32 = 8;

/// What has lanes come to these sites at different times, in words.
pub(super) fn why_not<'ctx>(
    kernel: FunctionValue<'ctx>,
    sites: &[&LaunchSite<'ctx>],
) -> Result<(), String> {
    if sites.is_empty() || single::one_thread(kernel, sites) {
        return Ok(());
    }
    let places = sites
        .iter()
        .map(|site| View::instruction(raw::instruction(site.call)).block())
        .collect::<Option<Vec<_>>>()
        .ok_or("it stands nowhere")?;
    if !places.iter().any(|place| reachable(*place).contains(place)) {
        return Ok(());
    }
    let flow = Flow::new(kernel);
    if !places.iter().all(|place| flow.blocks.reaches(*place)) {
        return Err("control does not come to it".into());
    }
    for place in &places {
        if reachable(*place).contains(place) && !flow.turns_together(*place) {
            return Err("threads of a warp may be in different turns of the loop around it".into());
        }
    }
    for (index, one) in places.iter().enumerate() {
        for other in &places[index + 1..] {
            if flow.share_loop(*one, *other)
                && !flow.follow(*one, *other)
                && !flow.choose_alike(*one, *other)
            {
                return Err("threads of a warp may choose other launches in a loop".into());
            }
        }
    }
    Ok(())
}

struct Flow<'ctx> {
    function: Function<'ctx>,
    blocks: Dominators<'ctx>,
    loops: Vec<Loop<'ctx>>,
}

impl<'ctx> Flow<'ctx> {
    fn new(kernel: FunctionValue<'ctx>) -> Self {
        let view = View::function(kernel);
        let blocks = Dominators::new(view);
        let loops = blocks.loops();
        Flow { function: Function::parent(view), blocks, loops }
    }

    /// Whether all lanes that are in the loops around a block leave each of them in the same turn.
    fn turns_together(&self, place: Block<'ctx>) -> bool {
        let mut around = self.loops.iter().filter(|found| found.blocks.contains(&place)).peekable();
        around.peek().is_some()
            && around.all(|found| self.leaves_alike(found))
            && !self.goes(place, place)
    }

    /// Whether all lanes leave a loop in the same turn, and begin each together.
    fn leaves_alike(&self, found: &Loop<'ctx>) -> bool {
        let [end] = found.ends[..] else { return false };
        let leaves = |block: &&Block<'ctx>| {
            block.successors().iter().any(|next| !found.blocks.contains(next))
        };
        // A lane that has left a loop inside comes to no way out of that.
        let inside: Vec<_> = self
            .loops
            .iter()
            .filter(|inner| inner.head != found.head && found.blocks.contains(&inner.head))
            .collect();
        found.blocks.iter().filter(leaves).all(|block| {
            self.blocks.dominates(*block, end)
                && !inside.iter().any(|inner| inner.blocks.contains(block))
                && self.is_alike(*block)
        })
    }

    fn share_loop(&self, one: Block<'ctx>, other: Block<'ctx>) -> bool {
        self.loops.iter().any(|found| found.blocks.contains(&one) && found.blocks.contains(&other))
    }

    /// Whether all lanes that come to a block's end in the same turn go the same way there.
    fn is_alike(&self, block: Block<'ctx>) -> bool {
        let Some(end) = block.terminator() else { return false };
        match end.condition() {
            Some(condition) => self.is_uniform(condition, block, &mut HashSet::new(), 0),
            None => block.successors().len() < 2,
        }
    }

    /// [`Function::is_uniform`], also of what counts the turns of the loops around the block that looks at it. What
    /// another loop counted is not the same for lanes that left it in turns of their own.
    fn is_uniform(
        &self,
        value: View<'ctx>,
        at: Block<'ctx>,
        seen: &mut HashSet<View<'ctx>>,
        depth: u32,
    ) -> bool {
        if self.function.is_uniform(value, 0) || seen.contains(&value) {
            return true;
        }
        let known = match value.opcode() {
            Some(LLVMOpcode::LLVMPHI) => {
                seen.insert(value);
                let counts = |found: &Loop<'ctx>| {
                    Some(found.head) == value.block() && found.blocks.contains(&at)
                };
                self.loops.iter().any(counts)
            }
            _ => computes(value),
        };
        known
            && depth < DEPTH
            && value.operands().into_iter().all(|part| self.is_uniform(part, at, seen, depth + 1))
    }

    /// Whether a thread may come to both, one behind the other, in one turn of the loops around them.
    fn follow(&self, one: Block<'ctx>, other: Block<'ctx>) -> bool {
        one == other || self.goes(one, other) || self.goes(other, one)
    }

    /// Whether control may come from a block to another without going back to where a loop begins.
    fn goes(&self, from: Block<'ctx>, to: Block<'ctx>) -> bool {
        let (mut seen, mut work) = (HashSet::new(), vec![from]);
        while let Some(block) = work.pop() {
            for next in block.successors() {
                if self.blocks.dominates(next, block) {
                    continue;
                }
                if next == to {
                    return true;
                }
                if seen.insert(next) {
                    work.push(next);
                }
            }
        }
        false
    }

    /// Whether all lanes choose alike where the ways to two blocks part.
    fn choose_alike(&self, one: Block<'ctx>, other: Block<'ctx>) -> bool {
        self.is_alike(self.blocks.common(one, other))
    }
}
