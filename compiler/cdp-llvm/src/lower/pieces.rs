//! How a very long function is cut into pieces.
//!
//! LLVM keeps all of a function's machine code until its last instruction is written, and several passes take time that
//! grows with the square of its length, as ptxas does. A function that no person wrote, of tens of thousands of statements or
//! of a thousand loops, therefore becomes several: runs of its statements are functions of their own, and what variables
//! they share is in a record whose address each is given (`piece.rs` makes them). This is the decision alone: which
//! statements, and whose each variable is.
//!
//! Shorter functions are as they always were. A launch stays where it is, for the launch optimiser; so do statements that
//! control comes to or leaves by labels, or that return a value. A function with `goto` is not cut.

use std::collections::{HashMap, HashSet};
use std::ops::Range;

use cdp_ir::{
    Block, Callee, Expr, ExprKind, Function, Inline, LocalId, Module as IrModule, Stmt, StmtKind,
    Target, Type,
};

use super::held;

/// The least weight of a function that is cut, in nodes of its expressions: some 20,000 statements.
const LONG: usize = 200_000;
/// The most weight of a piece, unless one statement has more.
const PIECE: usize = 20_000;
/// What a statement weighs beside its expressions.
const STATEMENT: usize = 2;
/// What a loop weighs beside what is in it: passes look at all loops of a function for each of them.
const LOOP: usize = 200;
/// The most that a call of a function weighs, which may be inlined.
const CALL: usize = 400;

/// A run of statements that becomes a function.
#[derive(Default)]
pub(super) struct Piece {
    /// Where in its block.
    pub stmts: Range<usize>,
    /// The variables that it shares with others, and whether it writes them.
    pub shared: Vec<(LocalId, bool)>,
    pub returns: bool,
    pub breaks: bool,
    pub continues: bool,
}

/// How a function is cut.
#[derive(Default)]
pub(super) struct Pieces {
    /// By the address of the block's first statement.
    runs: HashMap<*const Stmt, Vec<Piece>>,
    /// The variables that pieces share with others.
    pub shared: HashSet<LocalId>,
    /// Those that one piece alone has.
    pub inner: HashSet<LocalId>,
    /// Variables that are read and written by their names alone.
    pub plain: HashSet<LocalId>,
}

impl Pieces {
    /// Of a function that is lowered; without a piece if it is not long, or cannot be cut.
    pub fn of(function: &Function, body: &Block, module: &IrModule) -> Pieces {
        let mut pieces = Pieces::default();
        if function.variadic {
            return pieces;
        }
        let mut weigher = Weigher { module, calls: HashMap::new() };
        if weigher.block(body, LONG) < LONG || !is_closed(body, module) {
            return pieces;
        }
        let returns_nothing = *module.types.get(function.ret) == Type::Void;
        let mut cutter = Cutter {
            weigher,
            returns_nothing,
            owners: vec![Owner::Nobody; function.locals.len()],
            runs: HashMap::new(),
            nested: HashSet::new(),
            count: 0,
        };
        cutter.owners[..function.param_count as usize].fill(Owner::Rest);
        cutter.block(body);
        if cutter.count == 0 {
            return pieces;
        }
        pieces.plain = held::plain(function, body, &module.types);
        for (id, owner) in (0..).map(LocalId).zip(&cutter.owners) {
            // What a pointer may lead to stays until its block is over, which may be behind the piece.
            let ends = pieces.plain.contains(&id) || cutter.nested.contains(&id);
            match owner {
                Owner::Piece(_) if ends => pieces.inner.insert(id),
                Owner::Piece(_) | Owner::Shared => pieces.shared.insert(id),
                Owner::Nobody | Owner::Rest => false,
            };
        }
        pieces.runs = cutter.runs;
        for piece in pieces.runs.values_mut().flatten() {
            piece.shared.retain(|(id, _)| pieces.shared.contains(id));
        }
        pieces
    }

    pub fn are_none(&self) -> bool {
        self.runs.is_empty()
    }

    /// Those of a block, in order.
    pub fn take(&mut self, block: &Block) -> Option<Vec<Piece>> {
        self.runs.remove(&block.stmts.as_ptr())
    }
}

/// How much LLVM has to do for statements, about.
struct Weigher<'m> {
    module: &'m IrModule,
    /// By the function's number.
    calls: HashMap<u32, usize>,
}

impl Weigher<'_> {
    /// No more than about `most` is of interest.
    fn block(&mut self, block: &Block, most: usize) -> usize {
        let mut weight = 0;
        for stmt in &block.stmts {
            if weight >= most {
                break;
            }
            weight += self.stmt(stmt, most - weight);
        }
        weight
    }

    fn stmt(&mut self, stmt: &Stmt, most: usize) -> usize {
        let mut weight = STATEMENT;
        if matches!(stmt.kind, StmtKind::Loop { .. }) {
            weight += LOOP;
        }
        weight += stmt.kind.exprs().map(|expr| self.expr(expr)).sum::<usize>();
        for block in stmt.kind.blocks() {
            if weight < most {
                weight += self.block(block, most - weight);
            }
        }
        weight
    }

    fn expr(&mut self, expr: &Expr) -> usize {
        let mut weight = 1;
        if let ExprKind::Call { callee: Callee::Direct(id), .. } = &expr.kind {
            weight += self.call(id.0);
        }
        cdp_ir::for_each_child(expr, &mut |child| weight += self.expr(child));
        weight
    }

    fn call(&mut self, id: u32) -> usize {
        if let Some(known) = self.calls.get(&id) {
            return *known;
        }
        // For calls of itself.
        self.calls.insert(id, 0);
        let called = &self.module.functions[id as usize];
        let body = called.body.as_ref().filter(|_| called.attrs.inline != Inline::Never);
        let weight = body.map_or(0, |body| self.block(body, CALL).min(CALL));
        self.calls.insert(id, weight);
        weight
    }
}

/// Whether control goes through a body by its structure alone, and no register of assembly is declared for all of it.
fn is_closed(body: &Block, module: &IrModule) -> bool {
    let mut closed = true;
    for stmt in &body.stmts {
        closed &= !matches!(stmt.kind, StmtKind::Goto(_));
        for expr in stmt.kind.exprs() {
            closed &= !any(expr, &|expr| holds_frame(expr, module));
        }
        closed &= stmt.kind.blocks().all(|block| is_closed(block, module));
        if !closed {
            break;
        }
    }
    closed
}

/// Whether something holds for the rest of the function that it stands in: registers that assembly declares, what `setjmp` keeps.
fn holds_frame(expr: &Expr, module: &IrModule) -> bool {
    match &expr.kind {
        ExprKind::Asm(asm) => {
            asm.template.contains(".reg") && !asm.template.trim_start().starts_with('{')
        }
        ExprKind::Call { callee: Callee::Direct(id), .. } => {
            let symbol = module.function(*id).symbol.as_str();
            ["setjmp", "_setjmp", "sigsetjmp", "__sigsetjmp", "vfork", "alloca"].contains(&symbol)
        }
        _ => false,
    }
}

/// Whether there is a launch in a body, or something of the device runtime that may be made of one.
pub(super) fn may_launch(body: &Block) -> bool {
    let of_runtime =
        |expr: &Expr| matches!(expr.kind, ExprKind::Launch(_) | ExprKind::RuntimeCall { .. });
    body.stmts.iter().any(|stmt| {
        stmt.kind.exprs().any(|expr| any(expr, &of_runtime)) || stmt.kind.blocks().any(may_launch)
    })
}

fn is_launch(expr: &Expr) -> bool {
    any(expr, &|expr| matches!(expr.kind, ExprKind::Launch(_)))
}

fn any(expr: &Expr, test: &dyn Fn(&Expr) -> bool) -> bool {
    let mut found = test(expr);
    cdp_ir::for_each_child(expr, &mut |child| found = found || any(child, test));
    found
}

/// Whose a variable is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Owner {
    Nobody,
    /// What stays of the function.
    Rest,
    Piece(usize),
    Shared,
}

struct Cutter<'m> {
    weigher: Weigher<'m>,
    returns_nothing: bool,
    owners: Vec<Owner>,
    runs: HashMap<*const Stmt, Vec<Piece>>,
    /// Variables that end before the run that declares them.
    nested: HashSet<LocalId>,
    count: usize,
}

impl Cutter<'_> {
    /// Cuts a block that weighs more than a piece.
    fn block(&mut self, block: &Block) {
        let mut pieces = Vec::new();
        let (mut begun, mut weight) = (0, 0);
        for (at, stmt) in block.stmts.iter().enumerate() {
            let own = self.weigher.stmt(stmt, PIECE + 1);
            let movable = own <= PIECE && self.is_movable(stmt, false);
            if !movable || weight + own > PIECE {
                pieces.extend(self.piece(block, begun..at, weight));
                (begun, weight) = (at, 0);
            }
            if movable {
                weight += own;
                continue;
            }
            begun = at + 1;
            self.rest(stmt, own > PIECE);
        }
        pieces.extend(self.piece(block, begun..block.stmts.len(), weight));
        if !pieces.is_empty() {
            self.runs.insert(block.stmts.as_ptr(), pieces);
        }
    }

    /// A statement that stays, whose blocks may be cut.
    fn rest(&mut self, stmt: &Stmt, is_long: bool) {
        self.mention(stmt, Owner::Rest, &mut Vec::new());
        for block in stmt.kind.blocks() {
            if is_long && self.weigher.block(block, PIECE + 1) > PIECE {
                self.block(block);
            } else {
                self.all(block, Owner::Rest, &mut Vec::new());
            }
        }
    }

    /// A run as a piece, if it is worth one.
    fn piece(&mut self, block: &Block, run: Range<usize>, weight: usize) -> Option<Piece> {
        let mut mentioned = Vec::new();
        let stmts = &block.stmts[run.clone()];
        if weight < PIECE / 4 {
            stmts.iter().for_each(|stmt| self.whole(stmt, Owner::Rest, &mut mentioned));
            return None;
        }
        let owner = Owner::Piece(self.count);
        self.count += 1;
        stmts.iter().for_each(|stmt| self.whole(stmt, owner, &mut mentioned));
        mentioned.sort_by_key(|(id, write)| (*id, !write));
        mentioned.dedup_by_key(|(id, _)| *id);
        let mut piece = Piece { stmts: run, shared: mentioned, ..Piece::default() };
        stmts.iter().for_each(|stmt| leaves(stmt, true, true, &mut piece));
        Some(piece)
    }

    /// Whether a statement may be part of another function.
    fn is_movable(&self, stmt: &Stmt, in_switch: bool) -> bool {
        let on_device = matches!(self.weigher.module.target, Target::Device { .. });
        match &stmt.kind {
            StmtKind::Label(_) if !in_switch => return false,
            StmtKind::Return(value) if value.is_some() || !self.returns_nothing => return false,
            _ => {}
        }
        let inside = in_switch || matches!(stmt.kind, StmtKind::Switch { .. });
        !(on_device && stmt.kind.exprs().any(is_launch))
            && stmt
                .kind
                .blocks()
                .all(|block| block.stmts.iter().all(|stmt| self.is_movable(stmt, inside)))
    }

    fn all(&mut self, block: &Block, owner: Owner, mentioned: &mut Vec<(LocalId, bool)>) {
        block.stmts.iter().for_each(|stmt| self.whole(stmt, owner, mentioned));
    }

    /// Notes whose the variables of a statement are.
    fn whole(&mut self, stmt: &Stmt, owner: Owner, mentioned: &mut Vec<(LocalId, bool)>) {
        self.mention(stmt, owner, mentioned);
        for block in stmt.kind.blocks() {
            let declared = block.stmts.iter().filter_map(|stmt| match stmt.kind {
                StmtKind::Declare(id) => Some(id),
                _ => None,
            });
            self.nested.extend(declared);
            self.all(block, owner, mentioned);
        }
    }

    /// The same without the blocks in it.
    fn mention(&mut self, stmt: &Stmt, owner: Owner, mentioned: &mut Vec<(LocalId, bool)>) {
        let mut note = |id: LocalId, write: bool| {
            let old = &mut self.owners[id.0 as usize];
            *old = match *old {
                Owner::Nobody => owner,
                same if same == owner => owner,
                _ => Owner::Shared,
            };
            if matches!(owner, Owner::Piece(_)) {
                mentioned.push((id, write));
            }
        };
        if let StmtKind::Declare(id) = stmt.kind {
            note(id, false);
        }
        stmt.kind.exprs().for_each(|expr| locals(expr, &mut note));
    }
}

/// The variables that statements mention.
pub(super) fn mentioned(stmts: &[Stmt], note: &mut dyn FnMut(LocalId)) {
    for stmt in stmts {
        if let StmtKind::Declare(id) = stmt.kind {
            note(id);
        }
        stmt.kind.exprs().for_each(|expr| locals(expr, &mut |id, _| note(id)));
        stmt.kind.blocks().for_each(|block| mentioned(&block.stmts, note));
    }
}

/// The variables that an expression mentions, and whether by a write.
fn locals(expr: &Expr, note: &mut dyn FnMut(LocalId, bool)) {
    let write = match &expr.kind {
        ExprKind::LocalAddr(id) => {
            note(*id, false);
            None
        }
        ExprKind::Store { addr, .. } | ExprKind::Update { addr, .. } => Some(addr),
        _ => None,
    };
    if let Some(ExprKind::LocalAddr(id)) = write.map(|addr| &addr.kind) {
        note(*id, true);
    }
    cdp_ir::for_each_child(expr, &mut |child| locals(child, note));
}

/// The ways by which control leaves a statement but at its end.
fn leaves(stmt: &Stmt, breaks: bool, continues: bool, piece: &mut Piece) {
    match stmt.kind {
        StmtKind::Return(_) => piece.returns = true,
        StmtKind::Break => piece.breaks |= breaks,
        StmtKind::Continue => piece.continues |= continues,
        _ => {}
    }
    let is_loop = matches!(stmt.kind, StmtKind::Loop { .. });
    let breaks = breaks && !is_loop && !matches!(stmt.kind, StmtKind::Switch { .. });
    for block in stmt.kind.blocks() {
        block.stmts.iter().for_each(|stmt| leaves(stmt, breaks, continues && !is_loop, piece));
    }
}
