//! Which blocks of a function every way to a block goes through (Cooper, Harvey and Kennedy, "A simple, fast dominance
//! algorithm"), and the natural loops that follow from it. An analysis; what a loop means for launches in it is
//! [`super::together`]'s business.

use std::collections::{HashMap, HashSet};

use crate::raw::view::{Block, View};

/// The blocks that control can come to, by the order in which each comes behind all but those that lead back to it.
pub(super) struct Dominators<'ctx> {
    order: HashMap<Block<'ctx>, usize>,
    blocks: Vec<Block<'ctx>>,
    /// Where control may come from, for each block.
    before: Vec<Vec<usize>>,
    /// The last block that every way goes through, for each block; the entry is its own.
    above: Vec<usize>,
}

/// A natural loop: its first block, those that go back to it, and all.
pub(super) struct Loop<'ctx> {
    pub head: Block<'ctx>,
    pub ends: Vec<Block<'ctx>>,
    pub blocks: HashSet<Block<'ctx>>,
}

impl<'ctx> Dominators<'ctx> {
    pub fn new(function: View<'ctx>) -> Self {
        let blocks = function.blocks().first().map(|entry| ordered(*entry)).unwrap_or_default();
        let order: HashMap<_, _> =
            blocks.iter().enumerate().map(|(index, block)| (*block, index)).collect();
        let mut before = vec![Vec::new(); blocks.len()];
        for (index, block) in blocks.iter().enumerate() {
            for next in block.successors() {
                before[order[&next]].push(index);
            }
        }
        let mut found = Dominators { order, above: vec![0; blocks.len()], blocks, before };
        found.settle();
        found
    }

    fn settle(&mut self) {
        const UNKNOWN: usize = usize::MAX;
        let mut above = vec![UNKNOWN; self.blocks.len()];
        if let Some(entry) = above.first_mut() {
            *entry = 0;
        }
        let mut changed = true;
        while std::mem::take(&mut changed) {
            for index in 1..above.len() {
                let known = self.before[index].iter().copied().filter(|at| above[*at] != UNKNOWN);
                let new = known.reduce(|one, other| meet(&above, one, other)).unwrap_or(UNKNOWN);
                changed |= above[index] != new;
                above[index] = new;
            }
        }
        self.above = above;
    }

    /// Whether control can come to a block at all.
    pub fn reaches(&self, block: Block<'ctx>) -> bool {
        self.order.contains_key(&block)
    }

    /// Whether every way to `block` goes through `first`. Both are reached.
    pub fn dominates(&self, first: Block<'ctx>, block: Block<'ctx>) -> bool {
        let (first, mut at) = (self.order[&first], self.order[&block]);
        while at > first {
            at = self.above[at];
        }
        at == first
    }

    /// The last block that all ways to both go through.
    pub fn common(&self, one: Block<'ctx>, other: Block<'ctx>) -> Block<'ctx> {
        self.blocks[meet(&self.above, self.order[&one], self.order[&other])]
    }

    /// One for each block that control goes back to from blocks that it dominates.
    pub fn loops(&self) -> Vec<Loop<'ctx>> {
        let mut loops = Vec::new();
        for (index, head) in self.blocks.iter().enumerate() {
            let back = |from: &usize| *from >= index && self.dominates(*head, self.blocks[*from]);
            let ends: Vec<usize> = self.before[index].iter().copied().filter(back).collect();
            if ends.is_empty() {
                continue;
            }
            let (mut work, mut blocks) = (ends.clone(), HashSet::from([*head]));
            while let Some(at) = work.pop() {
                if blocks.insert(self.blocks[at]) {
                    work.extend(&self.before[at]);
                }
            }
            let ends = ends.into_iter().map(|end| self.blocks[end]).collect();
            loops.push(Loop { head: *head, ends, blocks });
        }
        loops
    }
}

fn meet(above: &[usize], mut one: usize, mut other: usize) -> usize {
    while one != other {
        if one < other {
            std::mem::swap(&mut one, &mut other);
        }
        one = above[one];
    }
    one
}

/// Blocks that are reached from the entry, in reverse postorder.
fn ordered(entry: Block<'_>) -> Vec<Block<'_>> {
    let mut seen = HashSet::from([entry]);
    let (mut open, mut done) = (vec![(entry, entry.successors())], Vec::new());
    while let Some((block, next)) = open.last_mut() {
        match next.pop() {
            Some(next) if seen.insert(next) => open.push((next, next.successors())),
            Some(_) => {}
            None => {
                done.push(*block);
                open.pop();
            }
        }
    }
    done.reverse();
    done
}
