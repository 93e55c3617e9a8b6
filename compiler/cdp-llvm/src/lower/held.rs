//! What local variables hold, in functions that are very long.
//!
//! A variable is memory here, and LLVM makes a register of it. In a function of tens of thousands of statements the loads and
//! stores are most of its instructions, and all of them are there at once before the first pass takes them out:
//! 100,000 statements took 129 times the memory of their text. In such a function a variable that is read and written by
//! its name alone is not read again in the block that wrote it, and of the writes of a block the last one stays.
//!
//! Shorter functions are as they always were: what they become does not depend on this.

use std::collections::{HashMap, HashSet};

use cdp_ir::{Block, Expr, ExprKind, Function, LocalId, TypeId, TypeTable};
use inkwell::basic_block::BasicBlock;
use inkwell::builder::Builder;
use inkwell::values::{BasicValueEnum, InstructionValue, PointerValue};

use super::body::AlignedAddress;

/// The least statements of a function of which this is done.
const LONG: usize = 2000;

/// The variables that are followed, and what they hold at the end of one block.
#[derive(Default)]
pub(super) struct Held<'ctx> {
    followed: HashSet<PointerValue<'ctx>>,
    block: Option<BasicBlock<'ctx>>,
    known: HashMap<PointerValue<'ctx>, Known<'ctx>>,
}

struct Known<'ctx> {
    value: BasicValueEnum<'ctx>,
    ty: TypeId,
    /// The write, unless something reads what it left in memory.
    store: Option<InstructionValue<'ctx>>,
}

impl<'ctx> Held<'ctx> {
    /// Of a function whose variables are at these places.
    pub fn of(function: &Function, places: &[AlignedAddress<'ctx>], types: &TypeTable) -> Self {
        let is_long = |block: &Block| count(block, LONG) >= LONG;
        let Some(body) = function.body.as_ref().filter(|body| is_long(body)) else {
            return Self::default();
        };
        let scalars =
            function.locals.iter().enumerate().filter(|(_, local)| !types.is_aggregate(local.ty));
        let mut plain: HashSet<LocalId> = scalars.map(|(id, _)| LocalId(id as u32)).collect();
        keep_plain(body, &mut plain);
        let place = |id: &LocalId| places.get(id.0 as usize).map(|place| place.address);
        Held { followed: plain.iter().filter_map(place).collect(), ..Self::default() }
    }

    /// What a variable holds at the end of a block, if that is known.
    pub fn value(
        &mut self,
        at: PointerValue<'ctx>,
        ty: TypeId,
        here: &Builder<'ctx>,
    ) -> Option<BasicValueEnum<'ctx>> {
        self.follow(at, here)?;
        let known = self.known.get_mut(&at)?;
        if known.ty != ty {
            // It is read from memory.
            known.store = None;
            return None;
        }
        Some(known.value)
    }

    /// A variable was read.
    pub fn was_read(
        &mut self,
        at: PointerValue<'ctx>,
        value: BasicValueEnum<'ctx>,
        ty: TypeId,
        here: &Builder<'ctx>,
    ) {
        if self.follow(at, here).is_some() {
            self.known.entry(at).or_insert(Known { value, ty, store: None });
        }
    }

    /// A variable was written. The write before, if nothing has read what it left in memory, goes.
    pub fn was_written(
        &mut self,
        at: PointerValue<'ctx>,
        value: BasicValueEnum<'ctx>,
        ty: TypeId,
        store: InstructionValue<'ctx>,
        here: &Builder<'ctx>,
    ) {
        if self.follow(at, here).is_none() {
            return;
        }
        let before = self.known.insert(at, Known { value, ty, store: Some(store) });
        if let Some(before) = before.and_then(|known| known.store) {
            before.erase_from_basic_block();
        }
    }

    /// Forgets the block before when another one is being written. `None` for places that are not followed.
    fn follow(&mut self, at: PointerValue<'ctx>, here: &Builder<'ctx>) -> Option<()> {
        if !self.followed.contains(&at) {
            return None;
        }
        let block = here.get_insert_block();
        if self.block != block {
            self.block = block;
            self.known.clear();
        }
        Some(())
    }
}

/// How many statements a block has, no more than about `most` being of interest.
fn count(block: &Block, most: usize) -> usize {
    let mut found = block.stmts.len();
    for inner in block.stmts.iter().flat_map(|stmt| stmt.kind.blocks()) {
        if found >= most {
            break;
        }
        found += count(inner, most - found);
    }
    found
}

/// Drops variables of which anything but reads and writes of the whole is done.
fn keep_plain(block: &Block, plain: &mut HashSet<LocalId>) {
    for stmt in &block.stmts {
        stmt.kind.exprs().for_each(|expr| drop_others(expr, plain));
        stmt.kind.blocks().for_each(|block| keep_plain(block, plain));
    }
}

fn drop_others(expr: &Expr, plain: &mut HashSet<LocalId>) {
    let is_local = |addr: &Expr| matches!(addr.kind, ExprKind::LocalAddr(_));
    match &expr.kind {
        ExprKind::LocalAddr(id) => {
            plain.remove(id);
        }
        ExprKind::Load { addr, volatile: false } if is_local(addr) => {}
        ExprKind::Store { addr, value, volatile: false } if is_local(addr) => {
            drop_others(value, plain)
        }
        ExprKind::Update { addr, rhs, volatile: false, .. } if is_local(addr) => {
            drop_others(rhs, plain)
        }
        _ => cdp_ir::for_each_child(expr, &mut |child| drop_others(child, plain)),
    }
}
