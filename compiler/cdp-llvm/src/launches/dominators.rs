//! Which blocks of a function every way to a block goes through (Cooper, Harvey and Kennedy, "A simple, fast dominance
//! algorithm"), the natural loops that follow from it, and where the ways from a block of a loop meet again. An analysis;
//! what a loop means for launches in it is [`super::together`]'s business.

use std::collections::{HashMap, HashSet};

use crate::raw::view::{Block, View};

/// What every way from a root goes through, of a graph whose nodes are numbers.
struct Tree {
    /// The nodes that are reached, each behind all but those that lead back to it; the root first.
    nodes: Vec<usize>,
    /// Where each node stands among them.
    order: Vec<Option<usize>>,
    /// The last node before each that every way goes through, by where they stand; the root's is its own.
    above: Vec<usize>,
}

impl Tree {
    fn new(next: &[Vec<usize>], root: usize) -> Self {
        let nodes = ordered(next, root);
        let mut order = vec![None; next.len()];
        for (place, node) in nodes.iter().enumerate() {
            order[*node] = Some(place);
        }
        let mut before = vec![Vec::new(); nodes.len()];
        for (place, node) in nodes.iter().enumerate() {
            for to in next[*node].iter().filter_map(|to| order[*to]) {
                before[to].push(place);
            }
        }
        const UNKNOWN: usize = usize::MAX;
        let mut above = vec![UNKNOWN; nodes.len()];
        above[0] = 0;
        let mut changed = true;
        while std::mem::take(&mut changed) {
            for place in 1..above.len() {
                let known = before[place].iter().copied().filter(|at| above[*at] != UNKNOWN);
                let new = known.reduce(|one, other| meet(&above, one, other)).unwrap_or(UNKNOWN);
                changed |= above[place] != new;
                above[place] = new;
            }
        }
        Tree { nodes, order, above }
    }

    /// Whether every way to `node` goes through `first`; not for nodes that are not reached.
    fn dominates(&self, first: usize, node: usize) -> bool {
        let (Some(first), Some(mut at)) = (self.order[first], self.order[node]) else {
            return false;
        };
        while at > first {
            at = self.above[at];
        }
        at == first
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

/// The nodes that are reached from a root, in reverse postorder.
fn ordered(next: &[Vec<usize>], root: usize) -> Vec<usize> {
    let mut seen = vec![false; next.len()];
    seen[root] = true;
    let (mut open, mut done) = (vec![(root, 0)], Vec::new());
    while let Some((node, at)) = open.last_mut() {
        match next[*node].get(*at) {
            Some(to) => {
                *at += 1;
                if !std::mem::replace(&mut seen[*to], true) {
                    open.push((*to, 0));
                }
            }
            None => {
                done.push(*node);
                open.pop();
            }
        }
    }
    done.reverse();
    done
}

/// The blocks of a function, and how control goes from one to another.
pub(super) struct Dominators<'ctx> {
    blocks: Vec<Block<'ctx>>,
    numbers: HashMap<Block<'ctx>, usize>,
    next: Vec<Vec<usize>>,
    before: Vec<Vec<usize>>,
    tree: Tree,
}

/// A natural loop: its first block, those that go back to it, and all.
pub(super) struct Loop<'ctx> {
    pub head: Block<'ctx>,
    pub ends: Vec<Block<'ctx>>,
    pub blocks: HashSet<Block<'ctx>>,
}

impl<'ctx> Loop<'ctx> {
    /// Whether a turn may end with leaving the loop at the end of a block.
    pub fn is_last(&self, block: Block<'ctx>) -> bool {
        block.successors().iter().any(|next| !self.blocks.contains(next))
    }
}

impl<'ctx> Dominators<'ctx> {
    /// Of a function with a body.
    pub fn new(function: View<'ctx>) -> Self {
        let blocks = function.blocks();
        let numbers: HashMap<_, _> =
            blocks.iter().enumerate().map(|(number, block)| (*block, number)).collect();
        let next: Vec<Vec<usize>> = blocks
            .iter()
            .map(|block| block.successors().iter().map(|next| numbers[next]).collect())
            .collect();
        let mut before = vec![Vec::new(); blocks.len()];
        for (from, next) in next.iter().enumerate() {
            for to in next {
                before[*to].push(from);
            }
        }
        let tree = Tree::new(&next, 0);
        Dominators { blocks, numbers, next, before, tree }
    }

    /// The blocks that control comes from.
    pub fn before(&self, block: Block<'ctx>) -> Vec<Block<'ctx>> {
        self.before[self.numbers[&block]].iter().map(|from| self.blocks[*from]).collect()
    }

    /// The blocks that control may come to from the end of a block without going back to where a loop begins.
    pub fn onward(&self, from: Block<'ctx>) -> HashSet<Block<'ctx>> {
        let (mut seen, mut work) = (HashSet::new(), vec![self.numbers[&from]]);
        while let Some(at) = work.pop() {
            for to in &self.next[at] {
                if !self.tree.dominates(*to, at) && seen.insert(self.blocks[*to]) {
                    work.push(*to);
                }
            }
        }
        seen
    }

    /// The edges, from a block to another, that every way to `block` goes over.
    pub fn gates(&self, block: Block<'ctx>) -> Vec<(Block<'ctx>, Block<'ctx>)> {
        let mut gates = Vec::new();
        let mut place = self.tree.order[self.numbers[&block]].unwrap_or(0);
        while place != 0 {
            let to = self.tree.nodes[place];
            let is_reached = |from: &&usize| self.tree.order[**from].is_some();
            let mut from = self.before[to]
                .iter()
                .filter(is_reached)
                .filter(|from| !self.tree.dominates(to, **from));
            if let (Some(from), None) = (from.next(), from.next()) {
                gates.push((self.blocks[*from], self.blocks[to]));
            }
            place = self.tree.above[place];
        }
        gates
    }

    /// One for each block that control goes back to from blocks that it dominates; the smallest first.
    pub fn loops(&self) -> Vec<Loop<'ctx>> {
        let mut loops = Vec::new();
        for (head, before) in self.before.iter().enumerate() {
            let ends: Vec<usize> =
                before.iter().copied().filter(|end| self.tree.dominates(head, *end)).collect();
            if ends.is_empty() {
                continue;
            }
            let (mut work, mut blocks) = (ends.clone(), HashSet::from([self.blocks[head]]));
            while let Some(at) = work.pop() {
                if blocks.insert(self.blocks[at]) {
                    work.extend(&self.before[at]);
                }
            }
            let ends = ends.into_iter().map(|end| self.blocks[end]).collect();
            loops.push(Loop { head: self.blocks[head], ends, blocks });
        }
        loops.sort_by_key(|found| found.blocks.len());
        loops
    }

    /// For each block of a loop, the next that a turn comes to on all ways from it; none where that is the turn's end.
    pub fn meetings(&self, found: &Loop<'ctx>) -> HashMap<Block<'ctx>, Block<'ctx>> {
        let inside: Vec<_> = found.blocks.iter().copied().collect();
        let numbers: HashMap<_, _> =
            inside.iter().enumerate().map(|(number, block)| (*block, number)).collect();
        // From where a turn ends, against the way that control takes.
        let end = inside.len();
        let mut back = vec![Vec::new(); end + 1];
        for (number, block) in inside.iter().enumerate() {
            let next = block.successors();
            let goes_on = |to: &&Block<'ctx>| **to != found.head && found.blocks.contains(to);
            if next.is_empty() || !next.iter().all(|to| goes_on(&to)) {
                back[end].push(number);
            }
            for to in next.iter().filter(goes_on) {
                back[numbers[to]].push(number);
            }
        }
        let tree = Tree::new(&back, end);
        let meeting = |block: &Block<'ctx>| {
            let above = tree.above[tree.order[numbers[block]]?];
            Some((*block, *inside.get(tree.nodes[above])?))
        };
        inside.iter().filter_map(meeting).collect()
    }
}
