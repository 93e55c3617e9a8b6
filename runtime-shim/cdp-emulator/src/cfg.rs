//! Basic blocks, the control-flow graph, and immediate post-dominators of one function: what a
//! warp-wide executor needs to know where diverged lanes meet again.
//!
//! Calls do not end a block unless the callee is declared `.noreturn`. Nothing here looks at
//! values, so an edge may be one that is never taken.

use cdp_ptx::inst::{CallTarget, Inst};
use cdp_ptx::{Body, Instruction, Module};

/// Index into [`Cfg::blocks`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct BlockId(pub u32);

impl BlockId {
    /// The position in the table.
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

/// A run of instructions that is entered at its first and left at its last.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Block {
    /// Index of the first instruction.
    pub first: u32,
    /// Index after the last instruction; never equal to `first`.
    pub end: u32,
    /// Where control can go next, without repetition; a branch's fall-through comes last. Leaving
    /// the function is not listed; see `exits`.
    pub successors: Vec<BlockId>,
    /// The blocks that have this one as a successor.
    pub predecessors: Vec<BlockId>,
    /// Control can leave the function at the end of this block.
    pub exits: bool,
    /// The immediate post-dominator: the first block that every way from the end of this one to
    /// the function's end passes. `None` if that is the function's end itself.
    pub post_dominator: Option<BlockId>,
}

/// The control-flow graph of a function. Block 0 is the entry; blocks are in the order of the text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cfg {
    /// The blocks.
    pub blocks: Vec<Block>,
    /// For each instruction, its block.
    block_of: Vec<BlockId>,
}

impl Cfg {
    /// The graph of `body`, a function of `module`.
    pub fn new(module: &Module, body: &Body) -> Cfg {
        let code = &body.instructions;
        let block_of = split(module, body);
        let count = block_of.last().map_or(0, |last| last.index() + 1);
        let mut blocks: Vec<Block> = Vec::with_capacity(count);
        for (index, block) in block_of.iter().enumerate() {
            if block.index() == blocks.len() {
                blocks.push(Block {
                    first: index as u32,
                    end: index as u32,
                    successors: Vec::new(),
                    predecessors: Vec::new(),
                    exits: false,
                    post_dominator: None,
                });
            }
            blocks[block.index()].end = index as u32 + 1;
        }
        for index in 0..blocks.len() {
            let last = blocks[index].end as usize - 1;
            let (mut targets, exits) = leaves(module, body, &code[last], last as u32 + 1);
            // A label at the very end is a way out.
            let outside = targets.iter().any(|target| *target as usize >= code.len());
            targets.retain(|target| (*target as usize) < code.len());
            // Each target begins a block of its own.
            let successors: Vec<BlockId> =
                targets.iter().map(|target| block_of[*target as usize]).collect();
            for successor in &successors {
                blocks[successor.index()].predecessors.push(BlockId(index as u32));
            }
            blocks[index].exits = exits || outside;
            blocks[index].successors = successors;
        }
        let mut cfg = Cfg { blocks, block_of };
        cfg.set_post_dominators();
        cfg
    }

    /// The block of an instruction.
    pub fn block_of(&self, instruction: u32) -> BlockId {
        self.block_of[instruction as usize]
    }

    /// Where lanes that part at `instruction` (the last of its block) meet again: the index of the
    /// first instruction of the post-dominator, or `None` if they meet only by leaving the
    /// function.
    pub fn reconvergence(&self, instruction: u32) -> Option<u32> {
        let block = &self.blocks[self.block_of(instruction).index()];
        block.post_dominator.map(|id| self.blocks[id.index()].first)
    }

    fn set_post_dominators(&mut self) {
        let count = self.blocks.len();
        // Node `count` is the function's end; the graph is walked backwards from it.
        let end = count;
        let mut backwards: Vec<Vec<u32>> = self
            .blocks
            .iter()
            .map(|block| block.predecessors.iter().map(|id| id.0).collect())
            .collect();
        let leaving = self.blocks.iter().enumerate().filter(|(_, block)| block.exits);
        backwards.push(leaving.map(|(index, _)| index as u32).collect());
        self.tie_endless_loops(&mut backwards);
        let dominators = dominators(&backwards, end);
        for (index, block) in self.blocks.iter_mut().enumerate() {
            let dominator = dominators[index];
            block.post_dominator = (dominator != end).then_some(BlockId(dominator as u32));
        }
    }

    /// Blocks from which no way leads out count as leaving, one for each endless loop, so that
    /// every block has a post-dominator.
    fn tie_endless_loops(&self, backwards: &mut [Vec<u32>]) {
        let end = self.blocks.len();
        let mut seen = vec![false; end + 1];
        let mut stack = vec![end];
        seen[end] = true;
        let mut next = end;
        loop {
            while let Some(node) = stack.pop() {
                for &predecessor in &backwards[node] {
                    if !std::mem::replace(&mut seen[predecessor as usize], true) {
                        stack.push(predecessor as usize);
                    }
                }
            }
            // The last block in the text is likeliest to be the bottom of the loop.
            while next > 0 && seen[next - 1] {
                next -= 1;
            }
            if next == 0 {
                return;
            }
            let root = next - 1;
            backwards[end].push(root as u32);
            seen[root] = true;
            stack.push(root);
        }
    }
}

/// For each instruction the number of its block.
fn split(module: &Module, body: &Body) -> Vec<BlockId> {
    let code = &body.instructions;
    let mut starts = vec![false; code.len() + 1];
    for label in &body.labels {
        if let Some(start) = starts.get_mut(label.position as usize) {
            *start = true;
        }
    }
    for (index, instruction) in code.iter().enumerate() {
        if ends_block(module, instruction) {
            starts[index + 1] = true;
        }
    }
    let mut block = 0u32;
    let number = |(index, start): (usize, &bool)| {
        if *start && index > 0 {
            block += 1;
        }
        BlockId(block)
    };
    starts[..code.len()].iter().enumerate().map(number).collect()
}

fn ends_block(module: &Module, instruction: &Instruction) -> bool {
    match &instruction.inst {
        Inst::Bra { .. }
        | Inst::BrxIdx { .. }
        | Inst::Ret { .. }
        | Inst::Exit {}
        | Inst::Trap {} => true,
        call => never_returns(module, call),
    }
}

fn never_returns(module: &Module, inst: &Inst) -> bool {
    match inst {
        Inst::Call { target: CallTarget::Direct(id), .. } => {
            module.functions[id.index()].limits.noreturn
        }
        _ => false,
    }
}

/// The instructions that may follow the last one of a block, each once, and whether it may leave the function.
fn leaves(module: &Module, body: &Body, last: &Instruction, next: u32) -> (Vec<u32>, bool) {
    let mut targets = Vec::new();
    let mut exits = false;
    let mut falls_through = last.guard.is_some();
    match &last.inst {
        Inst::Bra { target, .. } => targets.push(body.labels[target.index()].position),
        Inst::BrxIdx { table, .. } => {
            let table = &body.branch_tables[table.index()];
            targets.extend(table.targets.iter().map(|id| body.labels[id.index()].position));
            targets.sort_unstable();
            targets.dedup();
        }
        Inst::Ret { .. } | Inst::Exit {} | Inst::Trap {} => exits = true,
        call if never_returns(module, call) => exits = true,
        _ => falls_through = true,
    }
    if falls_through {
        targets.retain(|target| *target != next);
        targets.push(next);
    }
    (targets, exits)
}

/// Immediate dominators of the graph `successors` from `root`, by Lengauer and Tarjan's algorithm in
/// its simple form. Nodes that `root` does not reach get `root`.
fn dominators(successors: &[Vec<u32>], root: usize) -> Vec<usize> {
    const NONE: usize = usize::MAX;
    let count = successors.len();
    // Preorder numbers, the order itself, and parents in the depth-first tree.
    let mut number = vec![NONE; count];
    let mut order = Vec::with_capacity(count);
    let mut parent = vec![NONE; count];
    let mut stack = vec![(root, NONE)];
    while let Some((node, from)) = stack.pop() {
        if number[node] != NONE {
            continue;
        }
        number[node] = order.len();
        parent[node] = from;
        order.push(node);
        for &next in &successors[node] {
            if number[next as usize] == NONE {
                stack.push((next as usize, node));
            }
        }
    }
    let mut predecessors = vec![Vec::new(); count];
    for &node in &order {
        for &next in &successors[node] {
            predecessors[next as usize].push(node);
        }
    }
    let mut forest = Forest {
        number: &number,
        semi: number.clone(),
        label: (0..count).collect(),
        ancestor: vec![NONE; count],
    };
    let mut dominator = vec![root; count];
    let mut bucket: Vec<Vec<usize>> = vec![Vec::new(); count];
    for &node in order.iter().skip(1).rev() {
        for &from in &predecessors[node] {
            let best = forest.eval(from);
            forest.semi[node] = forest.semi[node].min(forest.semi[best]);
        }
        bucket[order[forest.semi[node]]].push(node);
        let up = parent[node];
        forest.ancestor[node] = up;
        for waiting in std::mem::take(&mut bucket[up]) {
            let best = forest.eval(waiting);
            dominator[waiting] = if forest.semi[best] < forest.semi[waiting] { best } else { up };
        }
    }
    for &node in order.iter().skip(1) {
        if dominator[node] != order[forest.semi[node]] {
            dominator[node] = dominator[dominator[node]];
        }
    }
    dominator
}

/// The forest of Lengauer and Tarjan's algorithm, with path compression.
struct Forest<'a> {
    number: &'a [usize],
    semi: Vec<usize>,
    label: Vec<usize>,
    ancestor: Vec<usize>,
}

impl Forest<'_> {
    /// The node with the smallest semidominator on the way from `node` up to its root, the root
    /// excepted.
    fn eval(&mut self, node: usize) -> usize {
        if self.ancestor[node] == usize::MAX {
            return self.label[node];
        }
        // Compression without recursion: functions may have chains as long as their text.
        let mut path = vec![node];
        let mut top = node;
        while self.ancestor[self.ancestor[top]] != usize::MAX {
            top = self.ancestor[top];
            path.push(top);
        }
        path.pop();
        debug_assert!(self.number[top] != usize::MAX);
        for &below in path.iter().rev() {
            let above = self.ancestor[below];
            if self.semi[self.label[above]] < self.semi[self.label[below]] {
                self.label[below] = self.label[above];
            }
            self.ancestor[below] = self.ancestor[above];
        }
        self.label[node]
    }
}
