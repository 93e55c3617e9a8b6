//! Where diverged lanes meet again, by instruction: the post-dominators (`cfg`),
//! with what the interpreter adds to them.

use std::collections::BTreeSet;

use cdp_ptx::inst::CallTarget;
use cdp_ptx::{Body, Inst, Instruction, Module};

use crate::cfg::Cfg;

/// As a meeting point: the exit of the function.
pub const EXIT: u32 = u32::MAX;

/// Meeting points of a function.
#[derive(Debug)]
pub struct MeetingPoints {
    /// For each instruction that can diverge, the index of the instruction where its lanes meet,
    /// or [`EXIT`]. `None` elsewhere.
    pub join_of: Vec<Option<u32>>,
    /// The basic block of each instruction.
    pub block_of: Vec<u32>,
    /// Instructions before which lanes meet (the number of instructions: before the final return).
    pub joins: BTreeSet<u32>,
    /// First and last instruction of what branches backwards go round, those that overlap as one; in order.
    pub loops: Vec<(u32, u32)>,
}

/// Finds the meeting points.
pub fn analyse(module: &Module, body: &Body) -> MeetingPoints {
    let cfg = Cfg::new(module, body);
    let count = body.instructions.len();
    let mut points = MeetingPoints {
        join_of: vec![None; count],
        block_of: (0..count as u32).map(|index| cfg.block_of(index).0).collect(),
        joins: BTreeSet::new(),
        loops: loops(&cfg),
    };
    for block in &cfg.blocks {
        if block.successors.len() + usize::from(block.exits) < 2 {
            continue;
        }
        let last = block.end - 1;
        // Lanes that only meet to return need not meet: those that return early have ended for
        // everybody else, barriers included.
        let join = cfg.reconvergence(last).filter(|&at| !returns(&body.instructions[at as usize]));
        points.join_of[last as usize] = Some(join.unwrap_or(EXIT));
        points.joins.extend(join);
    }
    for (index, instruction) in body.instructions.iter().enumerate() {
        if waits_apart(instruction) {
            points.join_of[index] = Some(index as u32 + 1);
            points.joins.insert(index as u32 + 1);
        }
    }
    points
}

fn loops(cfg: &Cfg) -> Vec<(u32, u32)> {
    let mut all: Vec<(u32, u32)> = Vec::new();
    for block in &cfg.blocks {
        let targets = block.successors.iter().map(|to| cfg.blocks[to.index()].first);
        all.extend(targets.filter(|first| *first < block.end).map(|first| (first, block.end - 1)));
    }
    all.sort_unstable();
    let mut apart: Vec<(u32, u32)> = Vec::new();
    for (first, last) in all {
        match apart.last_mut() {
            Some(before) if first <= before.1 => before.1 = before.1.max(last),
            _ => apart.push((first, last)),
        }
    }
    apart
}

fn returns(instruction: &Instruction) -> bool {
    instruction.guard.is_none() && matches!(instruction.inst, Inst::Ret { .. } | Inst::Exit {})
}

/// True for instructions that some lanes of a warp may leave later than others although they are
/// not branches: lanes meet right after them.
fn waits_apart(instruction: &Instruction) -> bool {
    let guarded = instruction.guard.is_some();
    match &instruction.inst {
        Inst::Call { target: CallTarget::Indirect { .. }, .. } => true,
        Inst::Call { .. }
        | Inst::Barrier { .. }
        | Inst::BarWarpSync { .. }
        | Inst::BarrierCluster { .. }
        | Inst::Vote { .. }
        | Inst::Match { .. }
        | Inst::Redux { .. }
        | Inst::Shfl(_)
        | Inst::Elect { .. } => guarded,
        _ => false,
    }
}
