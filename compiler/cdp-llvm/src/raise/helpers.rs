//! Functions around the entry points (`cudaGetParameterBuffer` of CUDA's headers, which calls
//! `__cudaCDP2GetParameterBuffer`) are put into their callers, so that both halves of a launch are
//! seen in one function, and kernels that are handed to a function that launches them as well.

use cdp_launch::EntryPoint;
use inkwell::attributes::{Attribute, AttributeLoc};
use inkwell::module::{Linkage, Module};
use inkwell::values::{AsValueRef, BasicValue, BasicValueEnum, FunctionValue, InstructionOpcode};

use super::{Call, entry_calls, uses};
use crate::kernel::PTX_KERNEL;
use crate::options::LowerOptions;
use crate::raw;

/// Functions within functions that are followed.
const DEPTH: usize = 16;

/// Inlines until no function has half of a launch only, or nothing more can be done.
pub(super) fn inline(module: &Module<'_>, options: &LowerOptions) {
    for _ in 0..DEPTH {
        let mut progress = false;
        for (function, calls) in launching_functions(module, options) {
            if needs_registers(&calls) {
                raw::promote(function);
            }
            progress |= inline_sources(function, &calls);
            if is_helper(function, &calls) {
                progress |= inline_everywhere(function);
            }
        }
        if !progress {
            break;
        }
    }
}

/// The functions that call entry points, with these calls.
fn launching_functions<'ctx>(
    module: &Module<'ctx>,
    options: &LowerOptions,
) -> Vec<(FunctionValue<'ctx>, Vec<Call<'ctx>>)> {
    let mut functions: Vec<(FunctionValue<'ctx>, Vec<Call<'ctx>>)> = Vec::new();
    for call in entry_calls(module, options) {
        let Some(function) = call.function() else { continue };
        match functions.iter_mut().find(|(known, _)| *known == function) {
            Some((_, calls)) => calls.push(call),
            None => functions.push((function, vec![call])),
        }
    }
    functions
}

/// Whether a kernel or a buffer comes from a variable.
fn needs_registers(calls: &[Call<'_>]) -> bool {
    let from_memory = |value: Option<BasicValueEnum<'_>>| {
        let instruction = value.and_then(|value| value.as_instruction_value());
        instruction.is_some_and(|at| at.get_opcode() == InstructionOpcode::Load)
    };
    calls.iter().any(|call| match call.entry {
        EntryPoint::LaunchDevice => {
            from_memory(call.buffer()) || (!call.v2 && from_memory(call.operand(0)))
        }
        EntryPoint::GetParameterBuffer => {
            // Its result goes into a variable when its users are elsewhere.
            let mut users = raw::users_of(call.at).into_iter();
            from_memory(call.operand(0))
                || from_memory(call.operand(1))
                || users.any(|at| {
                    at.get_opcode() == InstructionOpcode::Store && raw::operand_is(at, 0, call.at)
                })
        }
    })
}

/// Whether a function has half of a launch, or launches a kernel that it is given.
fn is_helper(function: FunctionValue<'_>, calls: &[Call<'_>]) -> bool {
    if function.get_call_conventions() == PTX_KERNEL || !is_exact(function) {
        return false;
    }
    let (buffers, launches): (Vec<&Call<'_>>, Vec<_>) =
        calls.iter().partition(|call| call.entry == EntryPoint::GetParameterBuffer);
    let null = |call: &Call<'_>| call.buffer().and_then(raw::constant_address) == Some(0);
    let half = launches
        .iter()
        .any(|launch| !null(launch) && !buffers.iter().any(|buffer| uses(**launch, **buffer)))
        || buffers.iter().any(|buffer| !launches.iter().any(|launch| uses(**launch, **buffer)));
    half || (!is_noinline(function) && calls.iter().any(|call| launches_parameter(function, call)))
}

/// Puts functions that yield the kernel or the size of the buffer of a call in the place of their calls; whether any was.
fn inline_sources(function: FunctionValue<'_>, calls: &[Call<'_>]) -> bool {
    let sources = calls.iter().filter_map(|call| {
        let source = call.operand(named_operand(call)?)?.as_instruction_value()?;
        let is_call = source.get_opcode() == InstructionOpcode::Call;
        is_call.then(|| Some((source, raw::as_function(raw::called(source)?.into())?)))?
    });
    let can_be = |(_, called): &(_, FunctionValue<'_>)| {
        *called != function
            && called.count_basic_blocks() > 0
            && is_exact(*called)
            && !is_noinline(*called)
    };
    let mut progress = false;
    for (source, _) in sources.filter(can_be).collect::<Vec<_>>() {
        progress |= raw::inline(source);
    }
    if progress {
        raw::promote(function);
    }
    progress
}

/// The operand that is a call's kernel, or the size of its buffer.
fn named_operand(call: &Call<'_>) -> Option<u32> {
    match (call.entry, call.v2) {
        (EntryPoint::LaunchDevice, false) | (EntryPoint::GetParameterBuffer, true) => Some(0),
        (EntryPoint::GetParameterBuffer, false) => Some(1),
        (EntryPoint::LaunchDevice, true) => None,
    }
}

/// Whether a function's body is what will run, whatever is linked.
fn is_exact(function: FunctionValue<'_>) -> bool {
    !matches!(
        function.get_linkage(),
        Linkage::WeakAny | Linkage::LinkOnceAny | Linkage::ExternalWeak | Linkage::Common
    )
}

/// Whether the kernel of a call, or the size of its buffer, is a parameter of the function.
fn launches_parameter(function: FunctionValue<'_>, call: &Call<'_>) -> bool {
    let Some(index) = named_operand(call) else { return false };
    let kernel = call.operand(index).map(|value| value.as_value_ref());
    kernel
        .is_some_and(|kernel| function.get_param_iter().any(|param| param.as_value_ref() == kernel))
}

/// The programmer's wish, not that of a compiler told not to optimise.
fn is_noinline(function: FunctionValue<'_>) -> bool {
    let has = |name: &str| {
        let kind = Attribute::get_named_enum_kind_id(name);
        function.get_enum_attribute(AttributeLoc::Function, kind).is_some()
    };
    has("noinline") && !has("optnone")
}

/// Puts a function into all of its callers; whether any was found. It goes when nothing needs it.
fn inline_everywhere(function: FunctionValue<'_>) -> bool {
    let callee = Some(function.as_global_value().as_pointer_value());
    let callers: Vec<_> = raw::users(function)
        .into_iter()
        .filter(|at| raw::called(*at) == callee)
        .filter(|at| raw::owner(*at) != Some(function))
        .collect();
    let local = matches!(
        function.get_linkage(),
        Linkage::Internal | Linkage::Private | Linkage::LinkOnceODR
    );
    if !callers.is_empty() {
        if local {
            // It vanishes, and its instructions get the places of the calls.
            raw::forget_places(function);
        }
        raw::promote(function);
    }
    let mut progress = false;
    for call in callers {
        progress |= raw::inline(call);
    }
    if local && !raw::has_uses(function) {
        // SAFETY: nothing uses it.
        unsafe { function.delete() };
    }
    progress
}
