//! Launches at a kernel's end: where a warp's lanes come to a launch at different times, or few of them come at all,
//! those that are there would run their children alone. So the launch is noted where it stands, and done where all
//! lanes of the warp meet again, just before they end: there all of them work for each child.
//!
//! Legality ([`why_not`]). A child may start at any time after its launch, and nobody waits for it but who waits for its
//! parent's grid. So a launch may move down to the end, given that its thread comes there, does not wait for what a
//! child does, and asks nothing of the device runtime in between. Its arguments are those of where it stood. All
//! launches of the kernel that a stream orders move, and keep their order. Nothing of length stands between, so that
//! what is really launched does not start much later.

use std::collections::HashSet;

use inkwell::IntPredicate;
use inkwell::basic_block::BasicBlock;
use inkwell::builder::Builder;
use inkwell::context::Context;
use inkwell::debug_info::DILocation;
use inkwell::module::Module;
use inkwell::types::BasicTypeEnum;
use inkwell::values::{
    BasicMetadataValueEnum, BasicValue, BasicValueEnum, FunctionValue, InstructionOpcode, IntValue,
    PointerValue,
};

use super::argument::Argument;
use super::calls::{Callee, callee, leaves};
use super::child::reachable;
use super::parent::{LaunchSite, is_uniform};
use super::waiting::check_waiting;
use crate::error::{Result, bug};
use crate::raw;
use crate::raw::view::View;

/// What keeps the launches of a kernel where they stand, in words.
pub(super) fn why_not(
    kernel: FunctionValue<'_>,
    sites: &[&LaunchSite<'_>],
) -> std::result::Result<(), String> {
    for site in sites {
        let call = View::instruction(raw::instruction(site.call));
        if !call.users().is_empty() {
            return Err("its error is looked at".into());
        }
        let block = call.block().ok_or("it stands nowhere")?;
        let after = reachable(block);
        if after.iter().any(|block| reachable(*block).contains(block)) {
            return Err("it stands in a loop, or before one".into());
        }
        let later = after.iter().flat_map(|block| block.instructions());
        if later.filter_map(View::callee).any(|called| matches!(callee(called), Callee::Barrier)) {
            return Err("a barrier follows".into());
        }
    }
    let (mut seen, mut work) = (HashSet::new(), vec![View::function(kernel)]);
    while let Some(function) = work.pop() {
        if !seen.insert(function) {
            continue;
        }
        check_waiting(function)?;
        for called in function.instructions().into_iter().filter_map(View::callee) {
            match callee(called) {
                _ if leaves(called) => return Err("a thread may end early".into()),
                Callee::Defined(next) => work.push(next),
                Callee::Runtime(func) => return Err(format!("the parent calls `{}`", func.name())),
                Callee::Pointer | Callee::Unknown(_) => {
                    return Err("the parent calls what is not known".into());
                }
                _ => {}
            }
        }
    }
    Ok(())
}

/// The order in which sites are done that lie in no loop: each behind those from which it is reached.
pub(super) fn in_order(sites: &[&LaunchSite<'_>]) -> Vec<usize> {
    let calls: Vec<View<'_>> =
        sites.iter().map(|site| View::instruction(raw::instruction(site.call))).collect();
    let before = |a: View<'_>, b: View<'_>| match (a.block(), b.block()) {
        (Some(one), Some(other)) if one == other => {
            let place = |call| one.instructions().iter().position(|found| *found == call);
            place(a) < place(b)
        }
        (Some(one), Some(other)) => reachable(one).contains(&other),
        _ => false,
    };
    let mut left: Vec<usize> = (0..sites.len()).collect();
    let mut order = Vec::new();
    while let Some(at) =
        left.iter().position(|site| !left.iter().any(|other| before(calls[*other], calls[*site])))
    {
        order.push(left.remove(at));
    }
    order.extend(left);
    order
}

/// A launch that was noted.
struct Noted<'ctx> {
    function: FunctionValue<'ctx>,
    /// Whether the thread came to it.
    wanted: PointerValue<'ctx>,
    /// What the site's function takes: as it is, or where it was put.
    operands: Vec<Operand<'ctx>>,
    /// Its place in the source, which what is inlined there is said to be inlined at.
    place: Option<DILocation<'ctx>>,
}

enum Operand<'ctx> {
    Known(BasicValueEnum<'ctx>),
    Put(PointerValue<'ctx>, BasicTypeEnum<'ctx>),
}

/// The launches of a kernel on their way to its end.
pub(super) struct Late<'a, 'ctx> {
    pub context: &'ctx Context,
    pub module: &'a Module<'ctx>,
    pub kernel: FunctionValue<'ctx>,
    /// The thread's flag that the sites' functions take.
    pub launched: PointerValue<'ctx>,
    noted: Vec<Noted<'ctx>>,
}

impl<'a, 'ctx> Late<'a, 'ctx> {
    pub fn new(
        context: &'ctx Context,
        module: &'a Module<'ctx>,
        kernel: FunctionValue<'ctx>,
        launched: PointerValue<'ctx>,
    ) -> Late<'a, 'ctx> {
        Late { context, module, kernel, launched, noted: Vec::new() }
    }

    /// Notes a launch where it stands, which `function` does later.
    pub fn note(
        &mut self,
        site: &LaunchSite<'ctx>,
        function: FunctionValue<'ctx>,
        arguments: &[Argument],
    ) -> Result<()> {
        let instruction = raw::instruction(site.call);
        let builder = self.context.create_builder();
        builder.position_before(&instruction);
        let flag = self.context.bool_type();
        let wanted = self.variable(flag.into(), Some(flag.const_zero().into()))?;
        builder.build_store(wanted, flag.const_all_ones())?;
        let mut operands = Vec::new();
        for (index, operand) in site.operands.iter().enumerate().skip(1) {
            let argument = index.checked_sub(9).map(|index| &arguments[index]);
            operands.push(match argument.and_then(|argument| argument.by_value) {
                // The kernel's own, which all lanes have.
                Some(_) if argument.is_some_and(|argument| argument.uniform) => {
                    Operand::Known(*operand)
                }
                Some((bytes, align)) => {
                    // The thread may change its own before the end.
                    let size = u32::try_from(bytes).unwrap_or(u32::MAX);
                    let ty = self.context.i8_type().array_type(size);
                    let copy = self.variable(ty.into(), None)?;
                    let align = u32::try_from(align).unwrap_or(1);
                    if let Some(made) = copy.as_instruction_value() {
                        made.set_alignment(align).map_err(|error| bug(STAGE, error.to_string()))?;
                    }
                    let from = operand.into_pointer_value();
                    let bytes = self.context.i64_type().const_int(bytes, false);
                    self.clear(copy, align, bytes)?;
                    builder.build_memcpy(copy, align, from, align, bytes)?;
                    Operand::Known(copy.into())
                }
                None if is_uniform(*operand, self.kernel) => Operand::Known(*operand),
                None => {
                    let ty = operand.get_type();
                    // Other lanes compute with theirs, though nobody looks at what comes of it.
                    let nothing = ty.is_int_type().then(|| ty.const_zero());
                    let put = self.variable(ty, nothing)?;
                    builder.build_store(put, *operand)?;
                    Operand::Put(put, ty)
                }
            });
        }
        let place = instruction.get_debug_location();
        self.noted.push(Noted { function, wanted, operands, place });
        instruction.erase_from_basic_block();
        Ok(())
    }

    /// Room of the thread, from its start.
    fn variable(
        &self,
        ty: BasicTypeEnum<'ctx>,
        first: Option<BasicValueEnum<'ctx>>,
    ) -> Result<PointerValue<'ctx>> {
        let builder = raw::at_start(self.context, self.kernel);
        let builder = builder.ok_or_else(|| bug(STAGE, "no body"))?;
        let room = builder.build_alloca(ty, "late")?;
        if let Some(first) = first {
            builder.build_store(room, first)?;
        }
        Ok(room)
    }

    /// Writes a struct's room from the start: a lane that does not launch hands on what is there, though nobody looks
    /// at it.
    fn clear(&self, room: PointerValue<'ctx>, align: u32, bytes: IntValue<'ctx>) -> Result<()> {
        let builder = self.context.create_builder();
        let made = room.as_instruction_value();
        let next = made.and_then(|made| made.get_next_instruction());
        builder.position_before(&next.ok_or_else(|| bug(STAGE, "no room"))?);
        builder.build_memset(room, align, self.context.i8_type().const_zero(), bytes)?;
        Ok(())
    }

    /// Does what was noted, where the warp meets again.
    pub fn finish(self) -> Result<()> {
        let ends: Vec<BasicBlock<'ctx>> = self
            .kernel
            .get_basic_block_iter()
            .filter(|block| {
                block
                    .get_terminator()
                    .is_some_and(|end| end.get_opcode() == InstructionOpcode::Return)
            })
            .collect();
        let builder = self.context.create_builder();
        let meet = self.context.append_basic_block(self.kernel, "late.meet");
        for block in ends {
            if let Some(end) = block.get_terminator() {
                end.erase_from_basic_block();
            }
            builder.position_at_end(block);
            builder.build_unconditional_branch(meet)?;
        }
        builder.position_at_end(meet);
        let all = self.context.i32_type().const_all_ones();
        builder.build_direct_call(self.known("llvm.nvvm.bar.warp.sync")?, &[all.into()], "")?;
        for noted in &self.noted {
            self.perform(noted, &builder)?;
        }
        builder.build_return(None)?;
        Ok(())
    }

    fn perform(&self, noted: &Noted<'ctx>, builder: &Builder<'ctx>) -> Result<()> {
        let all = self.context.i32_type().const_all_ones();
        let wanted = builder.build_load(self.context.bool_type(), noted.wanted, "")?;
        let vote = self.known("llvm.nvvm.vote.ballot.sync")?;
        let votes = builder.build_direct_call(vote, &[all.into(), wanted.into()], "")?;
        let votes = votes.try_as_basic_value().basic().ok_or_else(|| bug(STAGE, "no votes"))?;
        let none = self.context.i32_type().const_zero();
        let any = builder.build_int_compare(IntPredicate::NE, votes.into_int_value(), none, "")?;
        let run = self.context.append_basic_block(self.kernel, "late.run");
        let next = self.context.append_basic_block(self.kernel, "late.next");
        builder.build_conditional_branch(any, run, next)?;
        builder.position_at_end(run);
        let mut operands: Vec<BasicMetadataValueEnum<'ctx>> = Vec::new();
        for operand in &noted.operands {
            operands.push(match operand {
                Operand::Known(value) => (*value).into(),
                Operand::Put(room, ty) => builder.build_load(*ty, *room, "")?.into(),
            });
        }
        if noted.function.count_params() as usize > operands.len() + 1 {
            operands.insert(8, self.launched.into());
        }
        operands.push(wanted.into());
        if let Some(place) = noted.place {
            builder.set_current_debug_location(place);
        }
        builder.build_direct_call(noted.function, &operands, "")?;
        builder.unset_current_debug_location();
        builder.build_unconditional_branch(next)?;
        builder.position_at_end(next);
        Ok(())
    }

    /// An intrinsic that the sites' functions use too.
    fn known(&self, name: &str) -> Result<FunctionValue<'ctx>> {
        self.module.get_function(name).ok_or_else(|| bug(STAGE, format!("no {name}")))
    }
}

const STAGE: &str = "move launches to the end";

#[cfg(test)]
mod tests;
