//! Control flow of one function: where diverged lanes meet again.
//!
//! The meeting point of a branch is the immediate post-dominator of its block. Works on instruction
//! indices of the PTX body; the virtual exit is the number of instructions.

use std::collections::BTreeSet;

use cdp_ptx::{Body, Inst};

/// As a meeting point: the exit of the function.
pub const EXIT: u32 = u32::MAX;

/// Meeting points of a function.
#[derive(Debug)]
pub struct Flow {
    /// For each instruction that can diverge, the index of the instruction where its lanes meet,
    /// or [`EXIT`]. `None` elsewhere.
    pub join_of: Vec<Option<u32>>,
    /// Instructions before which lanes meet (the number of instructions: before the final return).
    pub joins: BTreeSet<u32>,
}

struct Block {
    start: u32,
    /// Last instruction.
    last: u32,
    successors: Vec<u32>,
}

/// Finds the meeting points.
pub fn analyse(body: &Body) -> Flow {
    let count = body.instructions.len() as u32;
    let blocks = split(body, count);
    let ipdom = post_dominators(&blocks);
    let mut join_of = vec![None; count as usize];
    let mut joins = BTreeSet::new();
    for (index, block) in blocks.iter().enumerate() {
        if block.successors.len() < 2 {
            continue;
        }
        let join = match ipdom[index] {
            // Lanes that only meet to return need not meet: those that return early have ended
            // for everybody else, barriers included.
            Some(target)
                if (target as usize) < blocks.len()
                    && !only_returns(body, &blocks[target as usize]) =>
            {
                blocks[target as usize].start
            }
            // The exit, or no way out at all (an endless loop).
            _ => EXIT,
        };
        join_of[block.last as usize] = Some(join);
        if join != EXIT {
            joins.insert(join);
        }
    }
    for (index, instruction) in body.instructions.iter().enumerate() {
        if waits_apart(instruction) {
            join_of[index] = Some(index as u32 + 1);
            joins.insert(index as u32 + 1);
        }
    }
    Flow { join_of, joins }
}

fn only_returns(body: &Body, block: &Block) -> bool {
    let first = &body.instructions[block.start as usize];
    first.guard.is_none() && matches!(first.inst, Inst::Ret { .. } | Inst::Exit)
}

/// True for instructions that some lanes of a warp may leave later than others although they are
/// not branches: lanes meet right after them.
fn waits_apart(instruction: &cdp_ptx::Instruction) -> bool {
    let guarded = instruction.guard.is_some();
    match &instruction.inst {
        Inst::Call { target: cdp_ptx::inst::CallTarget::Indirect { .. }, .. } => true,
        Inst::Call { .. }
        | Inst::Barrier { .. }
        | Inst::BarWarpSync { .. }
        | Inst::Vote { .. }
        | Inst::Match { .. }
        | Inst::Redux { .. }
        | Inst::Shfl(_)
        | Inst::Elect { .. } => guarded,
        _ => false,
    }
}

fn position(body: &Body, label: cdp_ptx::LabelId) -> u32 {
    body.labels[label.index()].position
}

/// The instructions that can follow instruction `index`; the number of instructions is the exit.
fn followers(body: &Body, index: u32) -> (Vec<u32>, bool) {
    let count = body.instructions.len() as u32;
    let instruction = &body.instructions[index as usize];
    let mut to = match &instruction.inst {
        Inst::Bra { target, .. } => vec![position(body, *target)],
        Inst::BrxIdx { table, .. } => {
            body.branch_tables[table.index()].targets.iter().map(|&l| position(body, l)).collect()
        }
        Inst::Ret { .. } | Inst::Exit | Inst::Trap => vec![count],
        _ => return (vec![index + 1], false),
    };
    if instruction.guard.is_some() {
        to.push(index + 1);
    }
    to.sort_unstable();
    to.dedup();
    (to, true)
}

fn split(body: &Body, count: u32) -> Vec<Block> {
    let mut starts = BTreeSet::from([0]);
    for index in 0..count {
        let (to, ends) = followers(body, index);
        if ends {
            starts.extend(to);
            starts.insert(index + 1);
        }
    }
    let starts: Vec<u32> = starts.into_iter().filter(|&s| s < count).collect();
    let block_of = |index: u32| match starts.binary_search(&index) {
        Ok(block) => block as u32,
        Err(_) => starts.len() as u32,
    };
    let mut blocks = Vec::with_capacity(starts.len());
    for (i, &start) in starts.iter().enumerate() {
        let last = starts.get(i + 1).copied().unwrap_or(count) - 1;
        let successors = followers(body, last).0.into_iter().map(block_of).collect();
        blocks.push(Block { start, last, successors });
    }
    blocks
}

/// Immediate post-dominators by block; the exit is `blocks.len()`. Cooper, Harvey and Kennedy's
/// iteration on the reversed graph.
fn post_dominators(blocks: &[Block]) -> Vec<Option<u32>> {
    let exit = blocks.len();
    let mut predecessors = vec![Vec::new(); exit + 1];
    for (index, block) in blocks.iter().enumerate() {
        for &to in &block.successors {
            predecessors[to as usize].push(index as u32);
        }
    }
    let order = reverse_postorder(exit, &predecessors);
    let mut rank = vec![usize::MAX; exit + 1];
    for (place, &node) in order.iter().enumerate() {
        rank[node as usize] = place;
    }
    let mut idom: Vec<Option<u32>> = vec![None; exit + 1];
    idom[exit] = Some(exit as u32);
    let mut changed = true;
    while changed {
        changed = false;
        for &node in order.iter().skip(1) {
            let mut best: Option<u32> = None;
            for &to in &blocks[node as usize].successors {
                if idom[to as usize].is_none() {
                    continue;
                }
                best = Some(match best {
                    None => to,
                    Some(other) => meet(&idom, &rank, to, other),
                });
            }
            if best.is_some() && idom[node as usize] != best {
                idom[node as usize] = best;
                changed = true;
            }
        }
    }
    idom.truncate(exit);
    idom
}

fn meet(idom: &[Option<u32>], rank: &[usize], mut a: u32, mut b: u32) -> u32 {
    while a != b {
        while rank[a as usize] > rank[b as usize] {
            match idom[a as usize] {
                Some(up) => a = up,
                None => return b,
            }
        }
        while rank[b as usize] > rank[a as usize] {
            match idom[b as usize] {
                Some(up) => b = up,
                None => return a,
            }
        }
    }
    a
}

/// Nodes from the exit backwards along `predecessors`, without recursion.
fn reverse_postorder(exit: usize, predecessors: &[Vec<u32>]) -> Vec<u32> {
    let mut seen = vec![false; exit + 1];
    let mut post = Vec::with_capacity(exit + 1);
    let mut stack = vec![(exit as u32, 0usize)];
    seen[exit] = true;
    while let Some((node, next)) = stack.pop() {
        match predecessors[node as usize].get(next) {
            Some(&to) => {
                stack.push((node, next + 1));
                if !seen[to as usize] {
                    seen[to as usize] = true;
                    stack.push((to, 0));
                }
            }
            None => post.push(node),
        }
    }
    post.reverse();
    post
}
