//! Whether the lanes of a warp that come to the launches of a kernel in one turn of a loop come to them together, as
//! far as its control flow tells. Where they do not, each lane runs and records its children for itself alone: lanes that
//! wait for each other under the block's lock want to come together. Of lanes of one warp in different turns ptxas and the
//! hardware bring groups together of which one has the lock and the others wait for it, and let lanes that wait for others
//! of their group (`bar.warp.sync` with its lanes alone) go on without them (seen on an H100 and an H200: launches lost,
//! done twice, or a grid that never ends; `launch-optimiser-measured.md`). An analysis.
//!
//! Legality. One thread of a block is never in two places. Else all lanes leave a loop around a site in the same turn,
//! and there is one way back to its beginning, so that lanes meet again behind each branch in it: what decides about
//! leaving is the same for all, and all come to ask, as lanes do that no branch has sent different ways since the turn
//! began. No two sites of a loop lie on different sides of a branch that lanes may take differently.

use std::collections::{HashMap, HashSet};

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
    let onward: Vec<_> = places.iter().map(|place| flow.blocks.onward(*place)).collect();
    for (place, onward) in places.iter().zip(&onward) {
        // A way round that goes through no loop's beginning is one that control jumps into.
        if onward.contains(place) || !flow.turns_together(*place) {
            return Err("threads of a warp may be in different turns of the loop around it".into());
        }
    }
    let follow = |one: usize, other: usize| {
        places[one] == places[other] || onward[one].contains(&places[other])
    };
    for found in &flow.loops {
        let inside: Vec<_> =
            (0..places.len()).filter(|site| found.blocks.contains(&places[*site])).collect();
        if inside.len() < 2 {
            continue;
        }
        let sides = flow.sides(found, &Asked::default(), 0);
        for (index, one) in inside.iter().enumerate() {
            for other in &inside[index + 1..] {
                let apart = |sides| lie_apart(sides, places[*one], places[*other]);
                if !follow(*one, *other) && !follow(*other, *one) && sides.iter().any(apart) {
                    return Err("threads of a warp may choose other launches in a loop".into());
                }
            }
        }
    }
    Ok(())
}

struct Flow<'ctx> {
    function: Function<'ctx>,
    blocks: Dominators<'ctx>,
    /// The smallest first.
    loops: Vec<Loop<'ctx>>,
    /// Whether all lanes leave a loop in the same turn, by its first block, where that is known.
    known: HashMap<Block<'ctx>, bool>,
}

/// The blocks on each of the ways that lanes may go at the end of one.
type Sides<'ctx> = Vec<HashSet<Block<'ctx>>>;

/// What was asked about on the way to an answer: it may be taken to hold, since one thing that does not is the answer.
#[derive(Default)]
struct Asked<'ctx> {
    values: HashSet<View<'ctx>>,
    /// Loops, by their first blocks.
    loops: HashSet<Block<'ctx>>,
}

impl<'ctx> Flow<'ctx> {
    fn new(kernel: FunctionValue<'ctx>) -> Self {
        let view = View::function(kernel);
        let blocks = Dominators::new(view);
        let loops = blocks.loops();
        let function = Function::parent(view);
        let mut flow = Flow { function, blocks, loops, known: HashMap::new() };
        for index in 0..flow.loops.len() {
            let found = &flow.loops[index];
            let (head, alike) = (found.head, flow.leaves_alike(found, &mut Asked::default(), 0));
            flow.known.insert(head, alike);
        }
        flow
    }

    /// Whether all lanes that are in the loops around a block leave each of them in the same turn.
    fn turns_together(&self, place: Block<'ctx>) -> bool {
        self.loops.iter().all(|found| !found.blocks.contains(&place) || self.known[&found.head])
    }

    /// Whether all lanes leave a loop in the same turn, and begin each together.
    fn leaves_alike(&self, found: &Loop<'ctx>, asked: &mut Asked<'ctx>, depth: u32) -> bool {
        if let Some(known) = self.known.get(&found.head) {
            return *known;
        }
        if !asked.loops.insert(found.head) {
            return true;
        }
        let last: HashSet<_> =
            found.blocks.iter().copied().filter(|block| found.is_last(*block)).collect();
        found.ends.len() == 1
            && last.iter().all(|block| self.is_alike(*block, asked, depth))
            && self.sides(found, asked, depth + 1).iter().flatten().all(|s| s.is_disjoint(&last))
    }

    /// For each block of a loop at whose end lanes may part, where they come to on each way until they meet again, in one
    /// turn.
    fn sides(&self, found: &Loop<'ctx>, asked: &Asked<'ctx>, depth: u32) -> Vec<Sides<'ctx>> {
        // Of values that differ nothing may be taken to hold later.
        let parts = |block: &&Block<'ctx>| {
            let mut asked = Asked { loops: asked.loops.clone(), values: HashSet::new() };
            !self.is_alike(**block, &mut asked, depth)
        };
        let parting: Vec<_> = found.blocks.iter().filter(parts).copied().collect();
        let meetings = match parting.is_empty() {
            true => HashMap::new(),
            false => self.blocks.meetings(found),
        };
        let side = |from: Block<'ctx>, first: Block<'ctx>| {
            let (mut seen, mut work) = (HashSet::new(), vec![first]);
            while let Some(block) = work.pop() {
                let inside = found.blocks.contains(&block) && block != found.head;
                if inside && meetings.get(&from) != Some(&block) && seen.insert(block) {
                    work.extend(block.successors());
                }
            }
            seen
        };
        let all = |from: Block<'ctx>| {
            from.successors().into_iter().map(|first| side(from, first)).collect()
        };
        parting.into_iter().map(all).collect()
    }

    /// Whether all lanes go the same way at a block's end.
    fn is_alike(&self, block: Block<'ctx>, asked: &mut Asked<'ctx>, depth: u32) -> bool {
        let Some(end) = block.terminator() else { return false };
        match end.condition() {
            Some(condition) => self.is_uniform(condition, block, asked, depth),
            None => block.successors().len() < 2,
        }
    }

    /// [`Function::is_uniform`], also of what counts the turns of a loop, for lanes that are in one block in the same turns
    /// of the loops around it.
    fn is_uniform(
        &self,
        value: View<'ctx>,
        at: Block<'ctx>,
        asked: &mut Asked<'ctx>,
        depth: u32,
    ) -> bool {
        if self.function.is_uniform(value, 0) {
            return true;
        }
        let Some(block) = value.block().filter(|_| depth < DEPTH) else { return false };
        // Lanes that left a loop in different turns have the values of different turns.
        let mut left = self.loops.iter().filter(|l| l.blocks.contains(&block));
        if !left.all(|l| l.blocks.contains(&at) || self.leaves_alike(l, asked, depth + 1)) {
            return false;
        }
        if !asked.values.insert(value) {
            return true;
        }
        if value.opcode() != Some(LLVMOpcode::LLVMPHI) {
            let mut parts = value.operands().into_iter();
            return computes(value)
                && parts.all(|part| self.is_uniform(part, block, asked, depth + 1));
        }
        let before = self.blocks.before(block);
        // Lanes may have come to a loop by different ways.
        let counts = self.loops.iter().any(|l| l.head == block && l.ends.len() == 1);
        counts
            && before.len() == 2
            && before.iter().all(|from| {
                let part = value.incoming_from(*from);
                part.is_some_and(|part| self.is_uniform(part, *from, asked, depth + 1))
            })
    }
}

/// Whether two blocks lie on different ways.
fn lie_apart<'ctx>(sides: &Sides<'ctx>, one: Block<'ctx>, other: Block<'ctx>) -> bool {
    let beside = |index: usize| {
        sides.iter().enumerate().any(|(at, side)| at != index && side.contains(&other))
    };
    sides.iter().enumerate().any(|(index, side)| side.contains(&one) && beside(index))
}
