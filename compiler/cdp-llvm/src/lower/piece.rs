//! A piece of a very long function (`pieces.rs`) as a function of its own.
//!
//! It is given the address of a record that stands in the function it was cut from, with the variables that it shares
//! with others. Those that are read and written by their names alone it has as its own meanwhile, so that they become
//! registers, and puts back. It returns how control left it.

use std::collections::HashMap;

use cdp_ir::{LocalId, Stmt};
use inkwell::attributes::AttributeLoc;
use inkwell::basic_block::BasicBlock;
use inkwell::module::Linkage;
use inkwell::types::BasicTypeEnum;
use inkwell::values::{BasicValueEnum, FunctionValue, IntValue};

use super::abi::RetAbi;
use super::body::{AlignedAddress, Body, Targets};
use super::held::Held;
use super::pieces::{Piece, Pieces};
use crate::error::{Result, bug};

/// The record of what pieces share.
pub(super) struct Frame<'ctx> {
    pub place: AlignedAddress<'ctx>,
    /// Where each variable lies, or the address of a parameter that is used where it lies.
    offsets: HashMap<LocalId, u64>,
    /// The parameters of which the record has the address.
    lent: Vec<LocalId>,
    pieces: u32,
}

/// How control leaves a piece, by the number that it returns.
const AT_END: u64 = 0;
const BY_RETURN: u64 = 1;
const BY_BREAK: u64 = 2;
const BY_CONTINUE: u64 = 3;

/// The largest alignment of a variable.
const MOST_ALIGNED: u64 = 256;

impl<'ctx> Body<'_, '_, 'ctx> {
    /// The record, if the function is cut.
    pub fn make_frame(&mut self) -> Result<()> {
        if self.pieces.are_none() {
            return Ok(());
        }
        let mut shared: Vec<LocalId> = self.pieces.shared.iter().copied().collect();
        shared.sort();
        let types = &self.unit.ir.types;
        let (mut size, mut most) = (0_u64, types.pointer_bytes());
        let mut offsets = HashMap::new();
        for id in shared {
            let local = self.function.local(id);
            let layout = types.layout(local.ty);
            // A parameter may be there by its address.
            let align = local.align.max(layout.align).max(types.pointer_bytes()).min(MOST_ALIGNED);
            size = size.next_multiple_of(align);
            offsets.insert(id, size);
            size += layout.size.max(types.pointer_bytes());
            most = most.max(align);
        }
        let size = u32::try_from(size)
            .map_err(|_| self.unsupported("its variables have more than 4 GB"))?;
        let bytes = self.unit.context.i8_type().array_type(size.max(1));
        let place = self.allocate(bytes.into(), most, "shared")?;
        self.frame = Some(Frame { place, offsets, lent: Vec::new(), pieces: 0 });
        Ok(())
    }

    /// Where the record has a variable.
    pub fn place_in_frame(&self, id: LocalId) -> Result<Option<AlignedAddress<'ctx>>> {
        let Some(frame) = &self.frame else { return Ok(None) };
        let Some(offset) = frame.offsets.get(&id) else { return Ok(None) };
        Ok(Some(self.place_at(frame.place, *offset)?))
    }

    /// Tells pieces where a parameter lies that is not in the record.
    pub fn lend(&mut self, id: LocalId, place: AlignedAddress<'ctx>) -> Result<()> {
        let Some(slot) = self.place_in_frame(id)? else { return Ok(()) };
        // A place in the record is computed by an instruction; a parameter in its own memory is none.
        if place.address.as_instruction().is_some() {
            return Ok(());
        }
        let store = self.builder.build_store(slot.address, place.address)?;
        self.align_access(store, slot.align)?;
        if let Some(frame) = &mut self.frame {
            frame.lent.push(id);
        }
        Ok(())
    }

    /// Makes a function of statements, and calls it.
    pub fn piece(&mut self, stmts: &[Stmt], piece: &Piece) -> Result<()> {
        let Some(frame) = &mut self.frame else {
            return Err(bug("lower", "a piece without a record"));
        };
        frame.pieces += 1;
        let place = frame.place;
        let name = format!("{}$part{}", self.value.get_name().to_string_lossy(), frame.pieces);
        let value = self.declare_piece(&name);
        self.unit.options.cancel.check()?;
        self.fill_piece(value, stmts, piece)?;

        let call = self.builder.build_call(value, &[place.address.into()], "")?;
        if self.unit.on_device() {
            call.add_attribute(AttributeLoc::Function, self.unit.attribute("convergent"));
        }
        let BasicValueEnum::IntValue(left) = call.try_as_basic_value().unwrap_basic() else {
            return Err(bug("lower", "a piece without a result"));
        };
        self.leave(left, piece)
    }

    fn declare_piece(&self, name: &str) -> FunctionValue<'ctx> {
        let unit = self.unit;
        let ty = unit.context.i32_type().fn_type(&[unit.ptr.into()], false);
        let value = unit.llvm.add_function(name, ty, Some(Linkage::Internal));
        let flag = |name: &str| value.add_attribute(AttributeLoc::Function, unit.attribute(name));
        flag("nounwind");
        flag("noinline");
        // Passes that look for what computations have in common look at each with all before it.
        let mark = unit.context.create_string_attribute("cdp-piece", "");
        value.add_attribute(AttributeLoc::Function, mark);
        value.add_attribute(AttributeLoc::Param(0), unit.attribute("nonnull"));
        if unit.on_device() {
            flag("convergent");
            unit.floating_mode(value);
        }
        value
    }

    /// Goes on after a call as control left the piece.
    fn leave(&mut self, left: IntValue<'ctx>, piece: &Piece) -> Result<()> {
        let number = |number: u64| left.get_type().const_int(number, false);
        let mut cases = Vec::new();
        if piece.returns {
            let block = self.new_block("returned");
            cases.push((number(BY_RETURN), block));
        }
        let innermost = self.targets.last().map(|targets| targets.leave);
        let next = self.targets.iter().rev().find_map(|targets| targets.next);
        for (wanted, code, target) in
            [(piece.breaks, BY_BREAK, innermost), (piece.continues, BY_CONTINUE, next)]
        {
            if wanted {
                let target = target.ok_or_else(|| bug("lower", "a jump out of nothing"))?;
                cases.push((number(code), target));
            }
        }
        if cases.is_empty() {
            return Ok(());
        }
        let on = self.new_block("on");
        self.builder.build_switch(left, on, &cases)?;
        if piece.returns {
            self.start(cases[0].1);
            self.build_return(None)?;
        }
        self.start(on);
        Ok(())
    }

    /// The body of a piece. Meanwhile it has the list of variables.
    fn fill_piece(
        &mut self,
        value: FunctionValue<'ctx>,
        stmts: &[Stmt],
        piece: &Piece,
    ) -> Result<()> {
        let unit = self.unit;
        let entry = unit.context.append_basic_block(value, "entry");
        let start = unit.context.append_basic_block(value, "body");
        let (builder, allocations) = (unit.context.create_builder(), unit.context.create_builder());
        allocations.position_at_end(entry);
        builder.position_at_end(start);
        let debug = unit.debug.as_ref().filter(|_| self.function.loc.line != 0);
        let place = |(id, _): &(LocalId, bool)| Some((*id, *self.locals.get(id.0 as usize)?));
        let lent: HashMap<LocalId, AlignedAddress<'ctx>> =
            piece.shared.iter().filter_map(place).collect();
        let mut signature = self.signature.clone();
        signature.ret = RetAbi::Void;
        let mut inner = Body {
            unit,
            function: self.function,
            value,
            signature,
            builder,
            allocations,
            entry,
            locals: std::mem::take(&mut self.locals),
            pieces: Pieces::default(),
            frame: None,
            way_out: None,
            held: Held::default(),
            targets: Vec::new(),
            labels: Vec::new(),
            own_labels: HashMap::new(),
            loc: self.loc,
            statements: self.statements,
            debug_scope: debug.map(|debug| debug.piece(unit, self.function, value)),
        };
        inner.set_loc(self.loc);
        let made = self.fill(&mut inner, stmts, piece);
        inner.allocations.build_unconditional_branch(start)?;
        self.locals = std::mem::take(&mut inner.locals);
        for (id, _) in &piece.shared {
            if let Some(lent) = lent.get(id) {
                self.locals[id.0 as usize] = *lent;
            }
        }
        self.statements = inner.statements;
        made
    }

    fn fill(&self, inner: &mut Body<'_, '_, 'ctx>, stmts: &[Stmt], piece: &Piece) -> Result<()> {
        let taken = self.take_shared(inner, piece)?;
        let own = own_locals(inner, stmts, &self.pieces)?;
        let plain = taken
            .iter()
            .map(|taken| taken.id)
            .chain(own)
            .filter(|id| self.pieces.plain.contains(id));
        inner.held = Held::at(
            plain
                .filter_map(|id| Some(inner.locals.get(id.0 as usize)?.address))
                .collect::<Vec<_>>()
                .into_iter(),
        );

        let block = |inner: &Body<'_, '_, 'ctx>, wanted: bool, name: &str| {
            wanted.then(|| inner.new_block(name))
        };
        let returned = block(inner, piece.returns, "returned");
        let broken = block(inner, piece.breaks, "broken");
        let continued = block(inner, piece.continues, "continued");
        inner.way_out = returned;
        if let Some(leave) = broken.or(continued) {
            inner.targets.push(Targets { leave, next: continued });
        }
        stmts.iter().try_for_each(|stmt| inner.stmt(stmt))?;
        inner.way_out = None;
        let ends: [(Option<BasicBlock<'ctx>>, u64); 3] =
            [(returned, BY_RETURN), (broken, BY_BREAK), (continued, BY_CONTINUE)];
        end_piece(inner, &taken, AT_END)?;
        for (block, code) in ends {
            if let Some(block) = block {
                inner.start(block);
                end_piece(inner, &taken, code)?;
            }
        }
        Ok(())
    }

    /// Gives a piece the variables that it shares with others.
    fn take_shared(
        &self,
        inner: &mut Body<'_, '_, 'ctx>,
        piece: &Piece,
    ) -> Result<Vec<Taken<'ctx>>> {
        let Some(frame) = &self.frame else { return Ok(Vec::new()) };
        let Some(BasicValueEnum::PointerValue(address)) = inner.value.get_nth_param(0) else {
            return Err(bug("lower", "a piece without a parameter"));
        };
        let record = AlignedAddress { address, align: frame.place.align };
        let mut taken = Vec::new();
        for (id, written) in &piece.shared {
            let offset = frame.offsets.get(id).ok_or_else(|| bug("lower", "no such local"))?;
            let slot = inner.place_at(record, *offset)?;
            let place = if frame.lent.contains(id) {
                let address = inner.builder.build_load(inner.unit.ptr, slot.address, "")?;
                AlignedAddress {
                    address: address.into_pointer_value(),
                    align: inner.local(*id)?.align,
                }
            } else if self.pieces.plain.contains(id) {
                let local = inner.function.local(*id);
                let ty = inner.unit.storage_type(local.ty)?;
                let place = inner.allocate(ty, local.align, &local.name)?;
                inner.move_value(ty, place, slot)?;
                taken.push(Taken { id: *id, ty, slot, written: *written });
                place
            } else {
                slot
            };
            inner.locals[id.0 as usize] = place;
        }
        Ok(taken)
    }

    /// Copies a register's worth.
    fn move_value(
        &self,
        ty: BasicTypeEnum<'ctx>,
        to: AlignedAddress<'ctx>,
        from: AlignedAddress<'ctx>,
    ) -> Result<()> {
        let value = self.builder.build_load(ty, from.address, "")?;
        if let Some(load) = super::body::instruction_of(value) {
            self.align_access(load, from.align)?;
        }
        let store = self.builder.build_store(to.address, value)?;
        self.align_access(store, to.align)
    }
}

/// A variable that a piece has as its own meanwhile.
struct Taken<'ctx> {
    id: LocalId,
    ty: BasicTypeEnum<'ctx>,
    /// Where the record has it.
    slot: AlignedAddress<'ctx>,
    written: bool,
}

/// Storage for the variables that the statements declare and nobody else has.
fn own_locals(
    inner: &mut Body<'_, '_, '_>,
    stmts: &[Stmt],
    pieces: &Pieces,
) -> Result<Vec<LocalId>> {
    let mut own = Vec::new();
    super::pieces::mentioned(stmts, &mut |id| {
        if pieces.inner.contains(&id) {
            own.push(id);
        }
    });
    own.sort();
    own.dedup();
    for id in &own {
        let local = inner.function.local(*id);
        let ty = inner.unit.storage_type(local.ty)?;
        inner.locals[id.0 as usize] = inner.allocate(ty, local.align, &local.name)?;
    }
    Ok(own)
}

/// Puts back what a piece wrote, and returns.
fn end_piece<'ctx>(inner: &Body<'_, '_, 'ctx>, taken: &[Taken<'ctx>], code: u64) -> Result<()> {
    if inner.ended() {
        return Ok(());
    }
    for taken in taken.iter().filter(|taken| taken.written) {
        inner.move_value(taken.ty, taken.slot, inner.local(taken.id)?)?;
    }
    let code = inner.unit.context.i32_type().const_int(code, false);
    inner.builder.build_return(Some(&code))?;
    Ok(())
}
