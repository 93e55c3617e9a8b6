//! Whether the lanes of a warp that come to the launches of a kernel in one turn of a loop come to them together, as
//! far as its control flow tells. Sites at which lanes run children for each other under a lock want that: where lanes
//! of one warp are in different turns, ptxas brings groups of them together of which one has the lock and the others
//! wait for it (seen on an H200: launches lost, done twice, or a grid that never ends). An analysis.
//!
//! Legality. One thread of a block is never in two places. Else all lanes leave a loop around a site in the same turn,
//! and there is one way back to its beginning, so that lanes meet again behind each branch in it. No two sites of a loop
//! lie on different sides of a branch that lanes may take differently.

use std::collections::{HashMap, HashSet};

use inkwell::llvm_sys::LLVMOpcode;
use inkwell::values::FunctionValue;

use super::access::{Function, computes};
use super::child::reachable;
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
    let flow = Flow::new(kernel);
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

/// A natural loop: its first block, those that go back to it, and all.
struct Loop<'ctx> {
    head: Block<'ctx>,
    ends: Vec<Block<'ctx>>,
    blocks: HashSet<Block<'ctx>>,
}

struct Flow<'ctx> {
    function: Function<'ctx>,
    /// The entry first.
    blocks: Vec<Block<'ctx>>,
    /// The blocks that are reached from the entry without each block.
    without: HashMap<Block<'ctx>, HashSet<Block<'ctx>>>,
    loops: Vec<Loop<'ctx>>,
}

impl<'ctx> Flow<'ctx> {
    fn new(kernel: FunctionValue<'ctx>) -> Self {
        let view = View::function(kernel);
        let blocks = view.blocks();
        let without = match blocks.first() {
            Some(entry) => {
                blocks.iter().map(|block| (*block, reached(*entry, Some(*block)))).collect()
            }
            None => HashMap::new(),
        };
        let function = Function::parent(view);
        let mut flow = Flow { function, blocks, without, loops: Vec::new() };
        flow.loops = flow.natural_loops();
        flow
    }

    /// Whether every way to `block` goes through `first`.
    fn dominates(&self, first: Block<'ctx>, block: Block<'ctx>) -> bool {
        first == block || !self.without[&first].contains(&block)
    }

    /// One for each block that control goes back to from blocks that it dominates.
    fn natural_loops(&self) -> Vec<Loop<'ctx>> {
        let mut before: HashMap<Block<'ctx>, Vec<Block<'ctx>>> = HashMap::new();
        for block in &self.blocks {
            for next in block.successors() {
                before.entry(next).or_default().push(*block);
            }
        }
        let mut loops = Vec::new();
        for head in &self.blocks {
            let came = before.get(head).into_iter().flatten().copied();
            let ends: Vec<_> = came.filter(|block| self.dominates(*head, *block)).collect();
            if ends.is_empty() {
                continue;
            }
            let mut work = ends.clone();
            let mut blocks = HashSet::from([*head]);
            while let Some(block) = work.pop() {
                if blocks.insert(block) {
                    work.extend(before.get(&block).into_iter().flatten());
                }
            }
            loops.push(Loop { head: *head, ends, blocks });
        }
        loops
    }

    /// Whether all lanes that are in the loops around a block leave each of them in the same turn.
    fn turns_together(&self, place: Block<'ctx>) -> bool {
        let mut around = self.loops.iter().filter(|found| found.blocks.contains(&place)).peekable();
        around.peek().is_some() && around.all(|found| self.leaves_alike(found))
    }

    /// Whether all lanes leave a loop in the same turn, and begin each together.
    fn leaves_alike(&self, found: &Loop<'ctx>) -> bool {
        let leaves = |block: &&Block<'ctx>| {
            block.successors().iter().any(|next| !found.blocks.contains(next))
        };
        let mut last = found.blocks.iter().filter(leaves);
        found.ends.len() == 1 && last.all(|block| self.is_alike(*block))
    }

    fn share_loop(&self, one: Block<'ctx>, other: Block<'ctx>) -> bool {
        self.loops.iter().any(|found| found.blocks.contains(&one) && found.blocks.contains(&other))
    }

    /// Whether all lanes go the same way at a block's end.
    fn is_alike(&self, block: Block<'ctx>) -> bool {
        let Some(end) = block.terminator() else { return false };
        match end.condition() {
            Some(condition) => self.is_uniform(condition, &mut HashSet::new(), 0),
            None => block.successors().len() < 2,
        }
    }

    /// [`Function::is_uniform`], also of what counts the turns of a loop.
    fn is_uniform(&self, value: View<'ctx>, seen: &mut HashSet<View<'ctx>>, depth: u32) -> bool {
        if self.function.is_uniform(value, 0) || seen.contains(&value) {
            return true;
        }
        let known = match value.opcode() {
            Some(LLVMOpcode::LLVMPHI) => {
                seen.insert(value);
                self.loops.iter().any(|found| Some(found.head) == value.block())
            }
            _ => computes(value),
        };
        known
            && depth < DEPTH
            && value.operands().into_iter().all(|part| self.is_uniform(part, seen, depth + 1))
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
                if next == to && !self.dominates(next, block) {
                    return true;
                }
                if !self.dominates(next, block) && seen.insert(next) {
                    work.push(next);
                }
            }
        }
        false
    }

    /// Whether all lanes choose alike where the ways to two blocks part.
    fn choose_alike(&self, one: Block<'ctx>, other: Block<'ctx>) -> bool {
        let mut common = self
            .blocks
            .iter()
            .copied()
            .filter(|block| self.dominates(*block, one) && self.dominates(*block, other));
        let Some(first) = common.next() else { return false };
        let last = common.fold(first, |last, block| match self.dominates(last, block) {
            true => block,
            false => last,
        });
        self.is_alike(last)
    }
}

/// The blocks that control comes to from a block, itself one of them, on ways that avoid another.
fn reached<'ctx>(from: Block<'ctx>, avoided: Option<Block<'ctx>>) -> HashSet<Block<'ctx>> {
    let (mut seen, mut work) = (HashSet::new(), vec![from]);
    while let Some(block) = work.pop() {
        if Some(block) != avoided && seen.insert(block) {
            work.extend(block.successors());
        }
    }
    seen
}
