//! Launches into a stream that is created for one launch: they go into the fire-and-forget stream, and the stream is not
//! created.
//!
//! Legality. A stream orders what is launched into it, and here that is one grid. Destroying it does not wait, and the
//! parent's grid waits for what it launched into either stream. The handle goes nowhere else, nobody looks at the errors
//! of creation, launch and destruction, and either these stand in one stretch of code without branches, or a thread comes
//! to one launch at most into all streams whose handles lie in a variable or an array of it ([`of_pool`]).

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
use super::relax::only_one;
use crate::error::Result;
use crate::raw::view::View;

/// What is done with one stream, or with those of one variable.
#[derive(Default)]
struct Use<'ctx> {
    /// Creations, what loads handles, and destructions.
    unneeded: Vec<View<'ctx>>,
    /// A thread comes to one of them at most.
    launches: Vec<View<'ctx>>,
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
        for Use { unneeded, launches, .. } in found {
            for call in launches.iter().filter_map(|launch| instructions.get(launch)) {
                call.set_operand(8, BasicValueEnum::from(stream));
            }
            relaxed.extend(launches);
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
    let places: HashSet<View<'ctx>> =
        slots.into_iter().map(|slot| slot.variable().unwrap_or(slot)).collect();
    let of_place = |place| {
        of_slot(place, instructions)
            .or_else(|| of_pool(place, instructions).map(|found| vec![found]))
    };
    places.into_iter().filter_map(of_place).flatten().collect()
}

/// The streams whose handles lie in a variable or an array, when a thread comes to one launch at most into any of them:
/// `stream[threadIdx.x % 4]`, made by all threads where they begin.
fn of_pool<'ctx>(
    slot: View<'ctx>,
    instructions: &HashMap<View<'ctx>, InstructionValue<'ctx>>,
) -> Option<Use<'ctx>> {
    let (mut handles, mut destructions) = (Vec::new(), Vec::new());
    let (mut found, mut places) = (Use::default(), vec![slot.variable()?]);
    while let Some(place) = places.pop() {
        for user in place.users() {
            let first = user.operand(0) == Some(place);
            match (user.opcode(), runtime(user)) {
                (Some(LLVMOpcode::LLVMGetElementPtr), _) if first => places.push(user),
                (Some(LLVMOpcode::LLVMLoad), _) if !user.is_volatile() => handles.push(user),
                (_, Some(RuntimeFn::StreamCreateWithFlags)) if first && user.users().is_empty() => {
                    found.unneeded.push(user);
                }
                _ if is_lifetime(user) => {}
                _ => return None,
            }
        }
    }
    for handle in &handles {
        for user in handle.users() {
            match (user.callee().map(callee), runtime(user)) {
                (Some(Callee::Launch), _) => {
                    let taken: HashSet<View<'ctx>> = HashSet::from([*handle]);
                    launches_into(user, &taken, instructions)?;
                    found.launches.push(user);
                }
                (_, Some(RuntimeFn::StreamDestroy)) if user.users().is_empty() => {
                    destructions.push(user);
                }
                _ => return None,
            }
        }
    }
    found.unneeded.extend(handles.into_iter().chain(destructions));
    let one = only_one(&found.launches).into_iter().all(|alone| alone);
    (!found.launches.is_empty() && one).then_some(found)
}

fn is_lifetime(instruction: View<'_>) -> bool {
    instruction.callee().is_some_and(|called| called.name().starts_with("llvm.lifetime."))
}

/// Whether these handles are nothing but the stream of a launch, which may be changed.
fn launches_into<'ctx>(
    launch: View<'ctx>,
    handles: &HashSet<View<'ctx>>,
    instructions: &HashMap<View<'ctx>, InstructionValue<'ctx>>,
) -> Option<()> {
    let site = LaunchSite::new(CallSiteValue::try_from(*instructions.get(&launch)?).ok()?);
    let elsewhere = site
        .operands
        .iter()
        .enumerate()
        .any(|(index, operand)| index != 8 && handles.contains(&View::value(*operand)));
    (!elsewhere && !site.said.keep && site.operands.len() >= 9).then_some(())
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
            _ if is_lifetime(user) => {}
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
                (Some(Callee::Launch), _) if one.launches.is_empty() && !one.destroyed => {
                    launches_into(instruction, &handles, instructions)?;
                    one.launches.push(instruction);
                }
                (_, Some(RuntimeFn::StreamDestroy))
                    if !one.launches.is_empty()
                        && !one.destroyed
                        && instruction.users().is_empty() =>
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
    (!one.launches.is_empty() && stays).then_some(one)
}

fn runtime(instruction: View<'_>) -> Option<RuntimeFn> {
    match callee(instruction.callee()?) {
        Callee::Runtime(func) => Some(func),
        _ => None,
    }
}
