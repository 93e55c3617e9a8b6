//! Launches into a stream that is created for one launch and destroyed behind it: they go into the fire-and-forget
//! stream, and the stream is not created.
//!
//! Legality. A stream orders what is launched into it, and here that is one grid. Destroying it does not wait, and the
//! parent's grid waits for what it launched into either stream. Only where creation, launch and destruction stand in
//! one stretch of code without branches, the handle goes nowhere else, and nobody looks at the errors of any of them.

use std::collections::{HashMap, HashSet};

use cdp_ir::RuntimeFn;
use cdp_launch::StreamConst;
use inkwell::AddressSpace;
use inkwell::context::Context;
use inkwell::llvm_sys::LLVMOpcode;
use inkwell::module::Module;
use inkwell::values::{BasicValueEnum, CallSiteValue, FunctionValue, InstructionValue};

use super::calls::{Callee, callee};
use super::parent::LaunchSite;
use crate::error::Result;
use crate::raw::view::View;

/// What is done with one stream.
#[derive(Default)]
struct Use<'ctx> {
    /// Its creation, its destruction, and what loads its handle.
    unneeded: Vec<View<'ctx>>,
    launch: Option<View<'ctx>>,
    destroyed: bool,
}

/// Changes such launches of a module, and yields them.
pub(super) fn relax<'ctx>(
    context: &'ctx Context,
    module: &Module<'ctx>,
) -> Result<HashSet<View<'ctx>>> {
    let mut relaxed = HashSet::new();
    for function in module.get_functions() {
        let instructions: HashMap<View<'ctx>, InstructionValue<'ctx>> = function
            .get_basic_block_iter()
            .flat_map(|block| block.get_instructions())
            .map(|instruction| (View::instruction(instruction), instruction))
            .collect();
        let found = uses(function, &instructions);
        let stream = context.i64_type().const_int(StreamConst::FireAndForget.value(), false);
        let stream = stream.const_to_pointer(context.ptr_type(AddressSpace::default()));
        for Use { unneeded, launch, .. } in found {
            let Some((launch, call)) = launch.and_then(|l| Some((l, *instructions.get(&l)?)))
            else {
                continue;
            };
            call.set_operand(8, BasicValueEnum::from(stream));
            relaxed.insert(launch);
            // Users before what they use.
            for instruction in unneeded.iter().rev().filter_map(|view| instructions.get(view)) {
                instruction.erase_from_basic_block();
            }
        }
    }
    Ok(relaxed)
}

/// The streams of a function that are used once.
fn uses<'ctx>(
    function: FunctionValue<'ctx>,
    instructions: &HashMap<View<'ctx>, InstructionValue<'ctx>>,
) -> Vec<Use<'ctx>> {
    let view = View::function(function);
    let looks = [RuntimeFn::GetLastError, RuntimeFn::PeekAtLastError];
    let all = view.instructions();
    if all.iter().any(|instruction| runtime(*instruction).is_some_and(|f| looks.contains(&f))) {
        return Vec::new();
    }
    let creates =
        |instruction: &View<'ctx>| runtime(*instruction) == Some(RuntimeFn::StreamCreateWithFlags);
    let slots: HashSet<View<'ctx>> =
        all.iter().filter(|i| creates(i)).filter_map(|create| create.operand(0)).collect();
    slots.into_iter().filter_map(|slot| of_slot(slot, instructions)).flatten().collect()
}

/// The streams whose handles lie in a variable, when each of them is used once.
fn of_slot<'ctx>(
    slot: View<'ctx>,
    instructions: &HashMap<View<'ctx>, InstructionValue<'ctx>>,
) -> Option<Vec<Use<'ctx>>> {
    if slot.opcode() != Some(LLVMOpcode::LLVMAlloca) {
        return None;
    }
    let (mut loads, mut creations) = (HashSet::new(), Vec::new());
    for user in slot.users() {
        match (user.opcode(), runtime(user)) {
            (Some(LLVMOpcode::LLVMLoad), _) if !user.is_volatile() => drop(loads.insert(user)),
            (_, Some(RuntimeFn::StreamCreateWithFlags)) if user.operand(0) == Some(slot) => {
                creations.push(user);
            }
            (Some(LLVMOpcode::LLVMCall), None)
                if user.callee().is_some_and(|f| f.name().starts_with("llvm.lifetime.")) => {}
            _ => return None,
        }
    }
    let mut found = Vec::new();
    for creation in creations {
        let one = of_creation(creation, slot, &mut loads, instructions)?;
        found.push(one);
    }
    // A handle that is loaded elsewhere may be any of them.
    loads.is_empty().then_some(found)
}

/// What happens to a stream from its creation to the next one, or to the end of the block; its loads are taken out of
/// `loads`.
fn of_creation<'ctx>(
    creation: View<'ctx>,
    slot: View<'ctx>,
    loads: &mut HashSet<View<'ctx>>,
    instructions: &HashMap<View<'ctx>, InstructionValue<'ctx>>,
) -> Option<Use<'ctx>> {
    if !creation.users().is_empty() {
        return None;
    }
    let block = creation.block()?;
    let behind = block.instructions().into_iter().skip_while(|i| *i != creation).skip(1);
    let mut one = Use { unneeded: vec![creation], ..Use::default() };
    let mut handles = HashSet::new();
    for instruction in behind {
        if runtime(instruction) == Some(RuntimeFn::StreamCreateWithFlags)
            && instruction.operand(0) == Some(slot)
        {
            break;
        }
        if loads.remove(&instruction) {
            handles.insert(instruction);
            one.unneeded.push(instruction);
        } else if instruction.operands().iter().any(|operand| handles.contains(operand)) {
            let launches = instruction.callee().map(callee);
            match (launches, runtime(instruction)) {
                (Some(Callee::Launch), _) if one.launch.is_none() && !one.destroyed => {
                    let call = CallSiteValue::try_from(*instructions.get(&instruction)?).ok()?;
                    let site = LaunchSite::new(call);
                    let elsewhere = site.operands.iter().enumerate().any(|(index, operand)| {
                        index != 8 && handles.contains(&View::value(*operand))
                    });
                    if elsewhere || site.said.keep || site.operands.len() < 9 {
                        return None;
                    }
                    one.launch = Some(instruction);
                }
                (_, Some(RuntimeFn::StreamDestroy))
                    if one.launch.is_some() && !one.destroyed && instruction.users().is_empty() =>
                {
                    one.destroyed = true;
                    one.unneeded.push(instruction);
                }
                _ => return None,
            }
        }
    }
    // Nothing behind the block uses a handle of it.
    let here = |user: &View<'ctx>| user.block() == Some(block);
    let stays = handles.iter().all(|handle| handle.users().iter().all(here));
    (one.destroyed && stays).then_some(one)
}

fn runtime(instruction: View<'_>) -> Option<RuntimeFn> {
    match callee(instruction.callee()?) {
        Callee::Runtime(func) => Some(func),
        _ => None,
    }
}
