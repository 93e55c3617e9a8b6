//! Sums in registers: where one thread does the work of many of a child, or many threads of a warp theirs at the same
//! time, what they add up at one place by atomic operations is added up in registers first, and goes to memory once a
//! warp. Not sums alone: whatever of `add`, `and`, `or`, `xor`, `min`, `max` of integers nobody looks at the result of.
//!
//! In a child's body such an operation becomes a call of a function of its own ([`mark`]). Who runs bodies says where
//! all that were run are done, by a call of [`DONE`]. When everything stands in its place ([`settle`]) the calls in a
//! function with such an end become additions to two variables, a place and a sum, and the end writes them to memory;
//! where there is no end, they are atomic operations again. An operation at another place than the last writes the
//! last one's sum, so that nothing rests on the places being the same: that is only why it pays.
//!
//! Legality ([`found`]). The operations order nothing, and the thread touches no memory but its own after one but by
//! others of the same kind, so that it cannot see whether it is late. Other threads may see it at any time until the child is done.

use std::collections::HashMap;
use std::fmt::Write as _;

use inkwell::context::Context;
use inkwell::llvm_sys::{LLVMAtomicRMWBinOp, LLVMOpcode};
use inkwell::module::Module;
use inkwell::values::{
    BasicValueEnum, CallSiteValue, FunctionValue, InstructionValue, PointerValue,
};

use super::child::{EXTRAS, reachable};
use super::emit::Text;
use super::prepare;
use crate::error::{Result, bug};
use crate::raw;
use crate::raw::view::View;

/// Called with the lanes that are there where all bodies that were run before are done.
pub(super) const DONE: &str = "__cdp_sums_done";
/// What begins the names of the functions that operations become.
pub(super) const SUM: &str = "__cdp_sum_";

/// An operation whose results are put together in registers.
pub(super) struct Sum<'ctx> {
    at: InstructionValue<'ctx>,
    kind: Kind,
}

#[derive(Clone)]
pub(super) struct Kind {
    /// The function that it becomes.
    name: String,
    operation: &'static str,
    /// Bits of the integer.
    bits: u32,
    /// The scope as LLVM IR has it.
    scope: &'static str,
}

impl Kind {
    pub fn name(&self) -> &str {
        &self.name
    }
}

/// The operations of a kernel's body that may wait, numbered from `first` on.
pub(super) fn found_in<'ctx>(body: FunctionValue<'ctx>, first: usize) -> Vec<Sum<'ctx>> {
    found(body, body.count_params().saturating_sub(EXTRAS.len() as u32), first)
}

/// The operations of a body that may wait, numbered from `first` on; the body has so many parameters of its own.
pub(super) fn found<'ctx>(
    body: FunctionValue<'ctx>,
    parameters: u32,
    first: usize,
) -> Vec<Sum<'ctx>> {
    let mut sums: Vec<Sum<'ctx>> = Vec::new();
    for block in body.get_basic_block_iter() {
        for at in block.get_instructions() {
            let view = View::instruction(at);
            let (Some(kind), Some(place), Some(value)) =
                (view.reduction(), view.operand(0), view.operand(1))
            else {
                continue;
            };
            let Some((operation, bits)) = operation(kind).zip(value.bits()) else { continue };
            let fits = [32, 64].contains(&bits) && place.type_text() == "ptr";
            if fits && stands_still(place, parameters, 0) && may_wait(view, kind) {
                let scope = if view.is_of_device() { "syncscope(\"device\") " } else { "" };
                let name = format!("{SUM}{}", first + sums.len());
                sums.push(Sum { at, kind: Kind { name, operation, bits, scope } });
            }
        }
    }
    sums
}

fn operation(kind: LLVMAtomicRMWBinOp) -> Option<&'static str> {
    use LLVMAtomicRMWBinOp as Op;
    Some(match kind {
        Op::LLVMAtomicRMWBinOpAdd => "add",
        Op::LLVMAtomicRMWBinOpAnd => "and",
        Op::LLVMAtomicRMWBinOpOr => "or",
        Op::LLVMAtomicRMWBinOpXor => "xor",
        Op::LLVMAtomicRMWBinOpMax => "max",
        Op::LLVMAtomicRMWBinOpMin => "min",
        Op::LLVMAtomicRMWBinOpUMax => "umax",
        Op::LLVMAtomicRMWBinOpUMin => "umin",
        _ => return None,
    })
}

/// Whether an address is the same for all threads of a child, as far as can be seen.
pub(super) fn stands_still(value: View<'_>, parameters: u32, depth: u32) -> bool {
    if let Some(index) = value.parameter_index() {
        return index < parameters;
    }
    if depth > 8 {
        return false;
    }
    if value.is_constant() {
        // Shared memory is added up in by itself.
        let outside = value.global_space().is_none_or(|space| space <= 1);
        return outside
            && (value.as_function().is_some()
                || value.operands().into_iter().all(|o| stands_still(o, parameters, depth + 1)));
    }
    use LLVMOpcode::{
        LLVMAdd, LLVMAddrSpaceCast, LLVMAlloca, LLVMGetElementPtr, LLVMLoad, LLVMMul, LLVMSExt,
        LLVMShl, LLVMSub, LLVMTrunc, LLVMZExt,
    };
    let through = [
        LLVMAdd,
        LLVMAddrSpaceCast,
        LLVMGetElementPtr,
        LLVMMul,
        LLVMSExt,
        LLVMShl,
        LLVMSub,
        LLVMTrunc,
        LLVMZExt,
    ];
    match value.opcode() {
        // A struct that goes by address, or the thread's copy of it.
        Some(LLVMLoad) => value.operand(0).is_some_and(|from| own_memory(from, parameters)),
        Some(LLVMAlloca) => false,
        Some(opcode) if through.contains(&opcode) => {
            value.operands().into_iter().all(|o| stands_still(o, parameters, depth + 1))
        }
        _ => false,
    }
}

/// Whether an address is one of a thread's own variable, at a fixed place.
fn own_memory(mut from: View<'_>, parameters: u32) -> bool {
    loop {
        match from.opcode() {
            Some(LLVMOpcode::LLVMAlloca) => return true,
            Some(LLVMOpcode::LLVMGetElementPtr | LLVMOpcode::LLVMAddrSpaceCast) => {
                let fixed = from.operands().into_iter().skip(1).all(|i| i.constant_int().is_some());
                match from.operand(0).filter(|_| fixed) {
                    Some(inner) => from = inner,
                    None => return false,
                }
            }
            _ => return from.parameter_index().is_some_and(|index| index < parameters),
        }
    }
}

/// Whether nothing that the thread does after an operation could tell when it was done.
fn may_wait(at: View<'_>, kind: LLVMAtomicRMWBinOp) -> bool {
    let Some(block) = at.block() else { return false };
    let after = reachable(block);
    let own = block.instructions().into_iter().skip_while(|found| *found != at).skip(1);
    let own: Vec<View<'_>> = own.collect();
    let others = after.iter().flat_map(|block| block.instructions()).filter(|found| *found != at);
    let is_own = |place: Option<View<'_>>| place.is_some_and(|place| place.variable().is_some());
    own.into_iter().chain(others).all(|found| match found.opcode() {
        // What the thread keeps for itself tells nothing.
        Some(LLVMOpcode::LLVMLoad) => !found.is_volatile() && is_own(found.operand(0)),
        Some(LLVMOpcode::LLVMStore) => !found.is_volatile() && is_own(found.operand(1)),
        Some(LLVMOpcode::LLVMAtomicRMW) => found.reduction() == Some(kind),
        Some(LLVMOpcode::LLVMCall) => found.callee().is_some_and(View::touches_no_memory),
        _ => !found.is_of_other_kinds(),
    })
}

/// The functions that operations become: what each does by itself.
pub(super) fn definitions(sums: &[Sum<'_>]) -> String {
    sums.iter().fold(String::new(), |mut out, Sum { kind, .. }| {
        let Kind { name, operation, bits, scope } = kind;
        let _ = writeln!(
            out,
            "define internal void @{name}(ptr %p, i{bits} %v) nounwind {{\nentry:\n  \
             %old = atomicrmw {operation} ptr %p, i{bits} %v {scope}monotonic, align {}\n  ret void\n}}",
            bits / 8
        );
        out
    })
}

/// Puts calls in the place of the operations.
pub(super) fn mark<'ctx>(
    context: &'ctx Context,
    module: &Module<'ctx>,
    sums: Vec<Sum<'ctx>>,
) -> Result<Vec<Kind>> {
    let mut kinds = Vec::new();
    for Sum { at, kind } in sums {
        let function = module.get_function(&kind.name).ok_or_else(|| bug(STAGE, "no function"))?;
        call_before(context, at, function)?;
        at.erase_from_basic_block();
        kinds.push(kind);
    }
    Ok(kinds)
}

/// A call of a function with the place and the value of an atomic operation, before it.
pub(super) fn call_before<'ctx>(
    context: &'ctx Context,
    at: InstructionValue<'ctx>,
    function: FunctionValue<'ctx>,
) -> Result<CallSiteValue<'ctx>> {
    let builder = context.create_builder();
    builder.position_before(&at);
    if let Some(location) = at.get_debug_location() {
        builder.set_current_debug_location(location);
    }
    let operand = |index| at.get_operand(index).and_then(|operand| operand.value());
    let (Some(place), Some(value)) = (operand(0), operand(1)) else {
        return Err(bug(STAGE, "an operation without operands"));
    };
    Ok(builder.build_direct_call(function, &[place.into(), value.into()], "")?)
}

/// What adds to a place and its sum, and what writes them at the end, of each kind.
pub(super) fn helpers(kinds: &[Kind]) -> String {
    kinds.iter().map(|kind| note(kind) + &write(kind)).collect()
}

/// Two sums put together.
fn combine(kind: &Kind, one: &str, other: &str, text: &mut Text) -> String {
    let ty = format!("i{}", kind.bits);
    match kind.operation {
        "add" | "and" | "or" | "xor" => {
            text.set(&format!("{} {ty} {one}, {other}", kind.operation))
        }
        "max" | "min" => {
            text.set(&format!("call {ty} @llvm.s{}.{ty}({ty} {one}, {ty} {other})", kind.operation))
        }
        _ => {
            text.set(&format!("call {ty} @llvm.{}.{ty}({ty} {one}, {ty} {other})", kind.operation))
        }
    }
}

fn note(kind: &Kind) -> String {
    let Kind { name, bits, .. } = kind;
    let mut text = Text::default();
    text.line("%last = load ptr, ptr %place, align 8");
    let same = text.set("icmp eq ptr %last, %p");
    text.line(&format!("br i1 {same}, label %more, label %other"));
    text.label("other");
    let some = text.set("icmp ne ptr %last, null");
    text.line(&format!("br i1 {some}, label %write, label %first"));
    text.label("write");
    let sum = text.set(&format!("load i{bits}, ptr %sum, align 8"));
    text.line(&format!("call void @{name}(ptr %last, i{bits} {sum})"));
    text.line("br label %first");
    text.label("first");
    text.line("store ptr %p, ptr %place, align 8");
    text.line(&format!("store i{bits} %v, ptr %sum, align 8"));
    text.line("ret void");
    text.label("more");
    let sum = text.set(&format!("load i{bits}, ptr %sum, align 8"));
    let sum = combine(kind, &sum, "%v", &mut text);
    text.line(&format!("store i{bits} {sum}, ptr %sum, align 8"));
    text.line("ret void");
    format!(
        "define internal void @{name}_note(ptr %place, ptr %sum, ptr %p, i{bits} %v) alwaysinline nounwind \
         {{\nentry:\n{}}}\n",
        text.out
    )
}

/// The lanes that have a sum for the place of the first of them put theirs together; others write their own.
fn write(kind: &Kind) -> String {
    let Kind { name, bits, .. } = kind;
    let mut text = Text::default();
    text.line("%p = load ptr, ptr %place, align 8");
    text.line(&format!("%v = load i{bits}, ptr %sum, align 8"));
    text.line("%some = icmp ne ptr %p, null");
    let all = text.ballot("%some");
    let any = text.set(&format!("icmp ne i32 {all}, 0"));
    text.line(&format!("br i1 {any}, label %ask, label %done"));
    text.label("ask");
    text.line(&format!("%leader = call i32 @llvm.cttz.i32(i32 {all}, i1 true)"));
    let address = text.set("ptrtoint ptr %p to i64");
    let theirs = text.shuffle_wide("%mask", &address, "%leader");
    let same = text.set(&format!("icmp eq i64 {address}, {theirs}"));
    text.line(&format!("%same = and i1 {same}, %some"));
    let group = text.ballot("%same");
    let lane = text.set("call i32 @llvm.nvvm.read.ptx.sreg.laneid()");
    text.line(&format!("%leads = icmp eq i32 {lane}, %leader"));
    let others = text.set(&format!("sub i32 {group}, 1"));
    text.line(&format!("%others = and i32 {group}, {others}"));
    let first = shuffled("%v", "%leader", *bits, &mut text);
    text.line("br label %turn");
    text.label("turn");
    text.line("%left = phi i32 [ %others, %ask ], [ %left.next, %next ]");
    text.line(&format!("%total = phi i{bits} [ {first}, %ask ], [ %total.next, %next ]"));
    let more = text.set("icmp ne i32 %left, 0");
    text.line(&format!("br i1 {more}, label %next, label %end"));
    text.label("next");
    let from = text.set("call i32 @llvm.cttz.i32(i32 %left, i1 true)");
    let value = shuffled("%v", &from, *bits, &mut text);
    let total = combine(kind, "%total", &value, &mut text);
    text.line(&format!("%total.next = or i{bits} {total}, 0"));
    let less = text.set("sub i32 %left, 1");
    text.line(&format!("%left.next = and i32 %left, {less}"));
    text.line("br label %turn");
    text.label("end");
    let apart = text.set("xor i1 %same, true");
    let apart = text.set(&format!("and i1 {apart}, %some"));
    let writes = text.set(&format!("or i1 {apart}, %leads"));
    text.line(&format!("br i1 {writes}, label %write, label %done"));
    text.label("write");
    let value = text.set(&format!("select i1 %leads, i{bits} %total, i{bits} %v"));
    text.line(&format!("call void @{name}(ptr %p, i{bits} {value})"));
    text.line("br label %done");
    text.label("done");
    text.line("store ptr null, ptr %place, align 8");
    text.line("ret void");
    format!(
        "define internal void @{name}_write(ptr %place, ptr %sum, i32 %mask) alwaysinline nounwind \
         {{\nentry:\n{}}}\n",
        text.out
    )
}

pub(super) fn shuffled(value: &str, from: &str, bits: u32, text: &mut Text) -> String {
    match bits {
        64 => text.shuffle_wide("%mask", value, from),
        _ => text.shuffle("%mask", value, from),
    }
}

/// Gives every function that says where bodies are done its places and sums.
pub(super) fn settle<'ctx>(
    context: &'ctx Context,
    module: &Module<'ctx>,
    kinds: &[Kind],
) -> Result<()> {
    let Some(done) = module.get_function(DONE) else { return Ok(()) };
    let mut ends: HashMap<FunctionValue<'ctx>, Vec<InstructionValue<'ctx>>> = HashMap::new();
    let mut order = Vec::new();
    for call in raw::users(done) {
        let owner = raw::owner(call).ok_or_else(|| bug(STAGE, "a call that stands nowhere"))?;
        let calls = ends.entry(owner).or_default();
        if calls.is_empty() {
            order.push(owner);
        }
        calls.push(call);
    }
    for owner in order {
        let ends = ends.remove(&owner).unwrap_or_default();
        for kind in kinds {
            settle_one(context, module, kind, owner, &ends)?;
        }
        ends.into_iter().for_each(|end| end.erase_from_basic_block());
    }
    for function in kinds.iter().filter_map(|kind| module.get_function(&kind.name)) {
        prepare::flag(context, function, "alwaysinline");
    }
    Ok(())
}

fn settle_one<'ctx>(
    context: &'ctx Context,
    module: &Module<'ctx>,
    kind: &Kind,
    owner: FunctionValue<'ctx>,
    ends: &[InstructionValue<'ctx>],
) -> Result<()> {
    let find = |name: &str| module.get_function(name);
    let Some(function) = find(&kind.name) else { return Ok(()) };
    let here = |call: &InstructionValue<'ctx>| raw::owner(*call) == Some(owner);
    let calls: Vec<_> = raw::users(function).into_iter().filter(here).collect();
    let helpers = (find(&format!("{}_note", kind.name)), find(&format!("{}_write", kind.name)));
    let (Some(note), Some(write), false) = (helpers.0, helpers.1, calls.is_empty()) else {
        return Ok(());
    };
    let builder = raw::at_start(context, owner).ok_or_else(|| bug(STAGE, "no body"))?;
    let pointer = context.ptr_type(inkwell::AddressSpace::default());
    let place: PointerValue<'ctx> = builder.build_alloca(pointer, "place")?;
    let ty = context.custom_width_int_type(
        std::num::NonZeroU32::new(kind.bits).ok_or_else(|| bug(STAGE, "no bits"))?,
    );
    let ty = ty.map_err(|error| bug(STAGE, error.to_string()))?;
    let sum: PointerValue<'ctx> = builder.build_alloca(ty, "sum")?;
    builder.build_store(place, pointer.const_null())?;
    builder.build_store(sum, ty.const_zero())?;
    let put = |at: InstructionValue<'ctx>, to, operands: &[BasicValueEnum<'ctx>]| -> Result<()> {
        builder.position_before(&at);
        let operands: Vec<_> = [place.into(), sum.into()]
            .into_iter()
            .chain(operands.iter().copied())
            .map(Into::into)
            .collect();
        builder.build_direct_call(to, &operands, "")?;
        Ok(())
    };
    for at in calls {
        let call = CallSiteValue::try_from(at).map_err(|()| bug(STAGE, "no call"))?;
        put(at, note, &raw::call_arguments(call))?;
        at.erase_from_basic_block();
    }
    for at in ends {
        let call = CallSiteValue::try_from(*at).map_err(|()| bug(STAGE, "no call"))?;
        put(*at, write, &raw::call_arguments(call))?;
    }
    Ok(())
}

const STAGE: &str = "sum up in registers";

#[cfg(test)]
mod tests;
