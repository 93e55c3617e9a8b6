//! One function: entry block, locals, and the state that statements and expressions share.
//!
//! Every local is an `alloca` in the entry block; LLVM's SROA makes registers of them. A kernel's
//! aggregate parameter that is only read stays where it is, in parameter memory; any other gets a
//! local copy.

use std::collections::{HashMap, HashSet};

use cdp_ir::{Block, Expr, ExprKind, FuncId, Function, LabelId, Loc, LocalId, TypeId};
use inkwell::basic_block::BasicBlock;
use inkwell::builder::Builder;
use inkwell::types::BasicTypeEnum;
use inkwell::values::{AnyValue, BasicValueEnum, FunctionValue, PointerValue};

use super::Unit;
use super::abi::{ParamAbi, RetAbi, Signature};
use super::held::Held;
use super::sysv::Parts;
use crate::error::{LowerError, Result, bug};

/// An address and the alignment it is known to have, in bytes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct AlignedAddress<'ctx> {
    pub address: PointerValue<'ctx>,
    pub align: u32,
}

/// What an expression yields.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Value<'ctx> {
    Void,
    /// A scalar in a register; `Bool` is one bit.
    Scalar(BasicValueEnum<'ctx>),
    /// An aggregate in memory that nothing else will change.
    Memory(AlignedAddress<'ctx>),
}

/// Where `break` and `continue` go.
#[derive(Clone, Copy)]
pub(super) struct Targets<'ctx> {
    pub leave: BasicBlock<'ctx>,
    /// `None` for a switch.
    pub next: Option<BasicBlock<'ctx>>,
}

/// A function on its way into LLVM.
pub(crate) struct Body<'b, 'u, 'ctx> {
    pub unit: &'b Unit<'u, 'ctx>,
    pub function: &'b Function,
    pub value: FunctionValue<'ctx>,
    pub signature: Signature<'ctx>,
    pub builder: Builder<'ctx>,
    /// Stands at the end of the entry block, which holds allocations only.
    allocations: Builder<'ctx>,
    entry: BasicBlock<'ctx>,
    locals: Vec<AlignedAddress<'ctx>>,
    pub(super) held: Held<'ctx>,
    pub(super) targets: Vec<Targets<'ctx>>,
    /// Those of the enclosing switches, and the function's own.
    pub(super) labels: Vec<HashMap<LabelId, BasicBlock<'ctx>>>,
    pub(super) own_labels: HashMap<LabelId, BasicBlock<'ctx>>,
    pub loc: Loc,
    /// How many were lowered.
    pub(super) statements: u32,
    pub(super) debug_scope: Option<super::debug::Scope<'ctx>>,
}

/// Lowers a function's body into its LLVM function, unless that was done; gives this, and how many statements were lowered.
pub(super) fn lower_function<'ctx>(
    unit: &Unit<'_, 'ctx>,
    id: FuncId,
) -> Result<(FunctionValue<'ctx>, u32)> {
    let value = unit.function(id)?;
    if value.count_basic_blocks() > 0 {
        return Ok((value, 0));
    }
    let taken = unit.take(id);
    let function = taken.as_ref().unwrap_or_else(|| unit.ir.function(id));
    let Some(block) = &function.body else { return Ok((value, 0)) };
    let entry = unit.context.append_basic_block(value, "entry");
    let start = unit.context.append_basic_block(value, "body");
    let builder = unit.context.create_builder();
    let allocations = unit.context.create_builder();
    allocations.position_at_end(entry);
    builder.position_at_end(start);
    // The compiler's own headers have no lines: what is inlined from them has those of the call.
    let debug = unit.debug.as_ref().filter(|_| function.loc.line != 0);
    let debug_scope = debug.map(|debug| debug.function(unit, id, value));
    let mut body = Body {
        unit,
        function,
        value,
        signature: unit.function_signature(id)?,
        builder,
        allocations,
        entry,
        locals: Vec::new(),
        held: Held::default(),
        targets: Vec::new(),
        labels: Vec::new(),
        own_labels: HashMap::new(),
        loc: function.loc,
        statements: 0,
        debug_scope,
    };
    if !unit.debug.as_ref().is_some_and(|debug| debug.is_full()) {
        body.set_loc(function.loc);
    }
    body.make_locals()?;
    // A debugger reads variables where they are.
    if !unit.debug.as_ref().is_some_and(|debug| debug.is_full()) {
        body.held = Held::of(function, &body.locals, &unit.ir.types);
    }
    body.set_loc(function.loc);
    body.stmts(block)?;
    body.set_loc(function.end);
    body.finish(start)?;
    Ok((value, body.statements))
}

impl<'u, 'ctx> Body<'_, 'u, 'ctx> {
    /// Storage for parameters and locals. For a debugger nothing here has a place in the source: it is
    /// the prologue, after which a breakpoint on the function's name stops.
    fn make_locals(&mut self) -> Result<()> {
        let read_only = read_only_params(self.function);
        for (index, local) in self.function.locals.iter().enumerate() {
            let id = LocalId(index as u32);
            let ty = self.unit.storage_type(local.ty)?;
            let mut place = None;
            if index < self.function.param_count as usize {
                place = self.param_in_place(id, local.param.grid_constant, &read_only);
                if place.is_none() {
                    place = Some(self.copy_param(id, ty)?);
                }
            }
            let place = match place {
                Some(place) => place,
                None => self.allocate(ty, local.align, &local.name)?,
            };
            self.locals.push(place);
            if index < self.function.param_count as usize {
                let shown = self.shown_param(id, ty, place)?;
                self.describe_variable(id, shown);
            }
        }
        Ok(())
    }

    /// Where a debugger finds a parameter. Nothing tells it of parameter memory: one that is used where
    /// it lies is never written, and has a copy to be seen.
    fn shown_param(
        &mut self,
        id: LocalId,
        ty: BasicTypeEnum<'ctx>,
        place: AlignedAddress<'ctx>,
    ) -> Result<AlignedAddress<'ctx>> {
        let abi = self.signature.params.get(id.0 as usize);
        let in_memory = matches!(abi, Some(ParamAbi::ByVal { .. } | ParamAbi::Address { .. }));
        let copied = place.address.as_instruction().is_some();
        let full = self.unit.debug.as_ref().is_some_and(|debug| debug.is_full());
        if full && self.unit.on_device() && in_memory && !copied {
            return self.copy_param(id, ty);
        }
        Ok(place)
    }

    /// A kernel's aggregate parameter, or any function's, used where it lies.
    fn param_in_place(
        &self,
        id: LocalId,
        grid_constant: bool,
        read_only: &HashSet<LocalId>,
    ) -> Option<AlignedAddress<'ctx>> {
        let abi = self.signature.params.get(id.0 as usize)?;
        let (ParamAbi::ByVal { align, .. } | ParamAbi::Address { align }) = abi else {
            return None;
        };
        // A host callee owns its copy; a device one may read parameter memory in place.
        let usable = !self.unit.on_device() || grid_constant || read_only.contains(&id);
        let param = self.value.get_nth_param(self.signature.param_index(id.0 as usize))?;
        let BasicValueEnum::PointerValue(address) = param else { return None };
        usable.then_some(AlignedAddress { address, align: *align as u32 })
    }

    fn copy_param(&mut self, id: LocalId, ty: BasicTypeEnum<'ctx>) -> Result<AlignedAddress<'ctx>> {
        let local = self.function.local(id);
        let place = self.allocate(ty, local.align, &local.name)?;
        let first = self.signature.param_index(id.0 as usize);
        let param = |index: u32| {
            let param = self.value.get_nth_param(first + index);
            param.ok_or_else(|| bug("lower", "a parameter is missing"))
        };
        match self.signature.params.get(id.0 as usize).copied() {
            Some(ParamAbi::ByVal { align, .. } | ParamAbi::Address { align }) => {
                let source =
                    AlignedAddress { address: param(0)?.into_pointer_value(), align: align as u32 };
                self.copy(place, source, self.unit.ir.types.layout(local.ty).size)?;
            }
            Some(ParamAbi::Parts { parts }) => {
                let count = parts.iter().flatten().count() as u32;
                let values = (0..count).map(param).collect::<Result<Vec<_>>>()?;
                self.store_parts(place, &parts, &values)?;
            }
            _ => {
                let store = self.builder.build_store(place.address, param(0)?)?;
                self.align_access(store, place.align)?;
            }
        }
        Ok(place)
    }

    /// Puts the registers of an aggregate into its memory.
    pub fn store_parts(
        &self,
        place: AlignedAddress<'ctx>,
        parts: &Parts<'ctx>,
        values: &[BasicValueEnum<'ctx>],
    ) -> Result<()> {
        for (part, value) in parts.iter().flatten().zip(values) {
            let at = self.place_at(place, part.offset_bytes)?;
            let store = self.builder.build_store(at.address, *value)?;
            self.align_access(store, at.align)?;
        }
        Ok(())
    }

    /// The registers that an aggregate travels in.
    pub fn load_parts(
        &self,
        place: AlignedAddress<'ctx>,
        parts: &Parts<'ctx>,
    ) -> Result<Vec<BasicValueEnum<'ctx>>> {
        let mut values = Vec::new();
        for part in parts.iter().flatten() {
            let at = self.place_at(place, part.offset_bytes)?;
            let value = self.builder.build_load(part.ty, at.address, "")?;
            if let Some(instruction) = instruction_of(value) {
                self.align_access(instruction, at.align)?;
            }
            values.push(value);
        }
        Ok(values)
    }

    /// A value's place in memory; a scalar is put into one.
    pub fn spilled(&mut self, value: Value<'ctx>, ty: TypeId) -> Result<AlignedAddress<'ctx>> {
        match value {
            Value::Memory(place) => Ok(place),
            value => {
                let place = self.temporary(ty)?;
                self.store(place, value, ty, false)?;
                Ok(place)
            }
        }
    }

    /// Stack storage for the whole function.
    pub fn allocate(
        &self,
        ty: BasicTypeEnum<'ctx>,
        align: u64,
        name: &str,
    ) -> Result<AlignedAddress<'ctx>> {
        let address = self.allocations.build_alloca(ty, name)?;
        let align = align.clamp(1, 1 << 16) as u32;
        if let Some(instruction) = address.as_instruction() {
            self.align_access(instruction, align)?;
        }
        Ok(AlignedAddress { address, align })
    }

    /// Stack storage for a value of an IR type.
    pub fn temporary(&self, ty: TypeId) -> Result<AlignedAddress<'ctx>> {
        self.allocate(self.unit.storage_type(ty)?, self.unit.ir.types.layout(ty).align, "")
    }

    pub fn align_access(
        &self,
        instruction: inkwell::values::InstructionValue<'ctx>,
        align: u32,
    ) -> Result<()> {
        instruction.set_alignment(align).map_err(|error| bug("lower", error.to_string()))
    }

    pub fn local(&self, id: LocalId) -> Result<AlignedAddress<'ctx>> {
        self.locals.get(id.0 as usize).copied().ok_or_else(|| bug("lower", "no such local"))
    }

    /// The block that holds the allocations.
    pub(super) fn entry_block(&self) -> BasicBlock<'ctx> {
        self.entry
    }

    pub fn new_block(&self, name: &str) -> BasicBlock<'ctx> {
        self.unit.context.append_basic_block(self.value, name)
    }

    /// Goes on in `block`, which is moved to the end of the listing.
    pub fn start(&self, block: BasicBlock<'ctx>) {
        if let Some(last) = self.value.get_last_basic_block().filter(|last| *last != block) {
            let _ = block.move_after(last);
        }
        self.builder.position_at_end(block);
    }

    /// Branches unless the current block has ended already.
    pub fn branch(&self, block: BasicBlock<'ctx>) -> Result<()> {
        if !self.ended() {
            self.builder.build_unconditional_branch(block)?;
        }
        Ok(())
    }

    pub fn ended(&self) -> bool {
        self.builder.get_insert_block().is_some_and(|block| block.get_terminator().is_some())
    }

    /// After a jump: code that follows is dead, and needs a block to stand in.
    pub fn start_dead(&self) {
        let block = self.new_block("dead");
        self.builder.position_at_end(block);
    }

    /// Returns from the function; aggregates by value on the device.
    pub fn build_return(&mut self, value: Option<&Expr>) -> Result<()> {
        let Some(expr) = value else {
            self.builder.build_return(None)?;
            return Ok(());
        };
        let value = self.value_of(expr)?;
        match (self.signature.ret, value) {
            (RetAbi::Direct { .. }, Value::Scalar(scalar)) => {
                let stored = self.stored(scalar)?;
                self.builder.build_return(Some(&stored))?;
            }
            (RetAbi::Aggregate { ty, .. }, Value::Memory(place)) => {
                let loaded = self.builder.build_load(ty, place.address, "")?;
                if let Some(instruction) = instruction_of(loaded) {
                    self.align_access(instruction, place.align)?;
                }
                self.builder.build_return(Some(&loaded))?;
            }
            (RetAbi::Parts { ty, parts }, value) => {
                let place = self.spilled(value, expr.ty)?;
                let values = self.load_parts(place, &parts)?;
                let result = self.joined(ty, &values)?;
                self.builder.build_return(Some(&result))?;
            }
            // A struct without members has no result.
            (RetAbi::Void, _) => {
                self.builder.build_return(None)?;
            }
            (RetAbi::Hidden { align, .. }, Value::Memory(place)) => {
                let Some(BasicValueEnum::PointerValue(address)) = self.value.get_nth_param(0)
                else {
                    return Err(bug("lower", "no place for the result"));
                };
                let target = AlignedAddress { address, align: align as u32 };
                self.copy(target, place, self.unit.ir.types.layout(expr.ty).size)?;
                self.builder.build_return(None)?;
            }
            _ => return Err(bug("lower", "a result of another kind than the function's")),
        }
        Ok(())
    }

    /// One or two registers as one LLVM value.
    fn joined(
        &self,
        ty: BasicTypeEnum<'ctx>,
        values: &[BasicValueEnum<'ctx>],
    ) -> Result<BasicValueEnum<'ctx>> {
        if let [value] = values {
            return Ok(*value);
        }
        let BasicTypeEnum::StructType(ty) = ty else {
            return Err(bug("lower", "a result in several registers that is no struct"));
        };
        let mut whole = ty.get_poison();
        for (index, value) in values.iter().enumerate() {
            let inserted = self.builder.build_insert_value(whole, *value, index as u32, "")?;
            whole = inserted.into_struct_value();
        }
        Ok(whole.into())
    }

    /// Ends the last block and joins the entry block with the first.
    fn finish(&mut self, start: BasicBlock<'ctx>) -> Result<()> {
        if !self.ended() {
            match self.signature.ret {
                RetAbi::Void | RetAbi::Hidden { .. } => {
                    self.builder.build_return(None)?;
                }
                RetAbi::Direct { ty, .. }
                | RetAbi::Aggregate { ty, .. }
                | RetAbi::Parts { ty, .. } => {
                    // Control reaches the end without a value: whatever it is, it is not used.
                    let value = ty.const_zero();
                    self.builder.build_return(Some(&value))?;
                }
            }
        }
        self.allocations.build_unconditional_branch(start)?;
        debug_assert!(self.entry.get_terminator().is_some());
        Ok(())
    }

    pub fn unsupported(&self, message: impl Into<String>) -> LowerError {
        LowerError::Unsupported {
            function: self.function.name.clone(),
            loc: self.loc,
            message: message.into(),
        }
    }
}

pub(super) fn instruction_of<'ctx>(
    value: BasicValueEnum<'ctx>,
) -> Option<inkwell::values::InstructionValue<'ctx>> {
    match value.as_any_value_enum() {
        inkwell::values::AnyValueEnum::ArrayValue(value) => value.as_instruction(),
        inkwell::values::AnyValueEnum::FloatValue(value) => value.as_instruction(),
        inkwell::values::AnyValueEnum::IntValue(value) => value.as_instruction(),
        inkwell::values::AnyValueEnum::PointerValue(value) => value.as_instruction(),
        inkwell::values::AnyValueEnum::StructValue(value) => value.as_instruction(),
        inkwell::values::AnyValueEnum::VectorValue(value) => value.as_instruction(),
        _ => None,
    }
}

/// Aggregate parameters that the function only reads: each mention is the root of an address that is
/// loaded from at once.
fn read_only_params(function: &Function) -> HashSet<LocalId> {
    let mut found: HashSet<LocalId> = (0..function.param_count).map(LocalId).collect();
    if let Some(body) = &function.body {
        drop_written(body, &mut found);
    }
    found
}

fn drop_written(block: &Block, found: &mut HashSet<LocalId>) {
    for stmt in &block.stmts {
        stmt.kind.exprs().for_each(|expr| drop_escaping(expr, found));
        stmt.kind.blocks().for_each(|block| drop_written(block, found));
    }
}

fn drop_escaping(expr: &Expr, found: &mut HashSet<LocalId>) {
    match &expr.kind {
        ExprKind::LocalAddr(id) => {
            found.remove(id);
        }
        ExprKind::Load { addr, volatile: false }
        | ExprKind::LoadBits { base: addr, volatile: false, .. } => drop_in_address(addr, found),
        _ => cdp_ir::for_each_child(expr, &mut |child| drop_escaping(child, found)),
    }
}

/// An address that is only loaded from: its root does not escape, its indices may.
fn drop_in_address(addr: &Expr, found: &mut HashSet<LocalId>) {
    match &addr.kind {
        ExprKind::LocalAddr(_) => {}
        ExprKind::FieldAddr { base, .. } => drop_in_address(base, found),
        ExprKind::IndexAddr { base, index } => {
            drop_in_address(base, found);
            drop_escaping(index, found);
        }
        ExprKind::Cast { kind: cdp_ir::CastKind::PointerToPointer, operand } => {
            drop_in_address(operand, found);
        }
        _ => drop_escaping(addr, found),
    }
}
