//! Threads of a warp that take ranges of one counter (`at = atomicAdd(total, count)`), as parents do for what their children
//! write, take them by one atomic operation: of all threads of a grid these wait for each other at one address.
//!
//! In a kernel that launches such an operation becomes a call of a function ([`definitions`]), in which the lanes that
//! are there add up what they add, one adds that to the counter, and each gets the counter as it would have found it had
//! the lanes come one after another. Where the lanes' addresses differ each does its own.
//!
//! Legality. The operation orders nothing, so that nobody else comes in between is one of the orders that may be. What a
//! lane did to the counter before comes before it, and what it does later after it, as the lanes meet at warp barriers.

use inkwell::context::Context;
use inkwell::llvm_sys::LLVMAtomicRMWBinOp;
use inkwell::module::Module;
use inkwell::values::{FunctionValue, InstructionValue, IntValue};

use super::emit::Text;
use super::sums::{call_before, shuffled, stands_still};
use crate::error::{Result, bug};
use crate::raw;
use crate::raw::view::View;

/// What begins the names of the functions that operations become.
pub(super) const RANGE: &str = "__cdp_range_";

/// An operation that takes a range.
pub(super) struct Range<'ctx> {
    at: InstructionValue<'ctx>,
    bits: u32,
    /// Whether it is one of the device, and not of the system.
    device: bool,
}

impl Range<'_> {
    fn name(&self) -> String {
        let scope = if self.device { "_device" } else { "" };
        format!("{RANGE}{}{scope}", self.bits)
    }
}

/// The operations of a kernel that take ranges of a counter which is the same for all threads, as far as one can see. What
/// always adds the same is done by one lane of a warp already: ptxas sees to it.
pub(super) fn found(kernel: FunctionValue<'_>) -> Vec<Range<'_>> {
    let instructions = kernel.get_basic_block_iter().flat_map(|block| block.get_instructions());
    let parameters = kernel.count_params();
    let range = |at: InstructionValue<'_>| {
        let view = View::instruction(at);
        let adds = view.plain_update()? == LLVMAtomicRMWBinOp::LLVMAtomicRMWBinOpAdd
            && !view.users().is_empty();
        let (place, value) = (view.operand(0)?, view.operand(1)?);
        let bits = value.bits().filter(|bits| [32, 64].contains(bits))?;
        let varies = !value.is_constant() && !stands_still(value, parameters, 0);
        let fits = place.type_text() == "ptr" && stands_still(place, parameters, 0);
        (adds && varies && fits).then(|| (bits, view.is_of_device()))
    };
    instructions
        .filter_map(|at| range(at).map(|(bits, device)| Range { at, bits, device }))
        .collect()
}

/// The functions that these become.
pub(super) fn definitions<'a, 'ctx: 'a>(ranges: impl Iterator<Item = &'a Range<'ctx>>) -> String {
    let mut names: Vec<(String, u32, bool)> =
        ranges.map(|range| (range.name(), range.bits, range.device)).collect();
    names.sort();
    names.dedup();
    names.into_iter().map(|(name, bits, device)| definition(&name, bits, device)).collect()
}

fn definition(name: &str, bits: u32, device: bool) -> String {
    let scope = if device { "syncscope(\"device\") " } else { "" };
    let add = |value: &str| {
        format!("atomicrmw add ptr %p, i{bits} {value} {scope}monotonic, align {}", bits / 8)
    };
    let mut text = Text::default();
    text.line("%mask = call i32 @llvm.nvvm.activemask()");
    let less = text.set("sub i32 %mask, 1");
    let others = text.set(&format!("and i32 %mask, {less}"));
    let several = text.set(&format!("icmp ne i32 {others}, 0"));
    text.line(&format!("br i1 {several}, label %ask, label %alone"));
    text.label("ask");
    text.line("call void @llvm.nvvm.bar.warp.sync(i32 %mask)");
    let leader = text.leader();
    let address = text.set("ptrtoint ptr %p to i64");
    let theirs = text.shuffle_wide("%mask", &address, &leader);
    let same = text.set(&format!("icmp eq i64 {address}, {theirs}"));
    let votes = text.ballot(&same);
    let all = text.set(&format!("icmp eq i32 {votes}, %mask"));
    text.line(&format!("br i1 {all}, label %together, label %alone"));
    text.label("together");
    text.line("%lane = call i32 @llvm.nvvm.read.ptx.sreg.laneid()");
    let sum = up_to("%v", "%lane", bits, &mut text);
    let last = text.set("call i32 @llvm.ctlz.i32(i32 %mask, i1 true)");
    let last = text.set(&format!("sub i32 31, {last}"));
    let total = shuffled(&sum, &last, bits, &mut text);
    let leads = text.set(&format!("icmp eq i32 %lane, {leader}"));
    text.line(&format!("br i1 {leads}, label %take, label %taken"));
    text.label("take");
    let old = text.set(&add(&total));
    text.line("br label %taken");
    text.label("taken");
    text.line(&format!("%old = phi i{bits} [ 0, %together ], [ {old}, %take ]"));
    let begin = shuffled("%old", &leader, bits, &mut text);
    text.line("call void @llvm.nvvm.bar.warp.sync(i32 %mask)");
    let before = text.set(&format!("sub i{bits} {sum}, %v"));
    let own = text.set(&format!("add i{bits} {begin}, {before}"));
    text.line(&format!("ret i{bits} {own}"));
    text.label("alone");
    let own = text.set(&add("%v"));
    text.line(&format!("ret i{bits} {own}"));
    format!(
        "define internal i{bits} @{name}(ptr %p, i{bits} %v) alwaysinline convergent nounwind \
         {{\nentry:\n{}}}\n",
        text.out
    )
}

/// The sum of a value over the lanes of `%mask` up to this one. Each knows the last lane that its sum does not have yet; these
/// are twice as far away each time.
pub(super) fn up_to(value: &str, lane: &str, bits: u32, text: &mut Text) -> String {
    let below = text.set("call i32 @llvm.nvvm.read.ptx.sreg.lanemask.lt()");
    let below = text.set(&format!("and i32 %mask, {below}"));
    let zeros = text.set(&format!("call i32 @llvm.ctlz.i32(i32 {below}, i1 false)"));
    let (mut sum, mut previous) = (value.to_string(), text.set(&format!("sub i32 31, {zeros}")));
    for _ in 0..5 {
        let some = text.set(&format!("icmp sge i32 {previous}, 0"));
        let from = text.set(&format!("select i1 {some}, i32 {previous}, i32 {lane}"));
        let theirs = shuffled(&sum, &from, bits, text);
        let further = text.shuffle("%mask", &previous, &from);
        let added = text.set(&format!("select i1 {some}, i{bits} {theirs}, i{bits} 0"));
        sum = text.set(&format!("add i{bits} {sum}, {added}"));
        previous = text.set(&format!("select i1 {some}, i32 {further}, i32 -1"));
    }
    sum
}

/// Puts calls in the place of the operations.
pub(super) fn share<'ctx>(
    context: &'ctx Context,
    module: &Module<'ctx>,
    ranges: Vec<Range<'ctx>>,
) -> Result<()> {
    for range in ranges {
        let function =
            module.get_function(&range.name()).ok_or_else(|| bug(STAGE, "no function"))?;
        let Range { at, .. } = range;
        let call = call_before(context, at, function)?;
        let old = IntValue::try_from(at).map_err(|()| bug(STAGE, "no integer"))?;
        let new = call.try_as_basic_value().basic();
        raw::replace_uses(old.into(), new.ok_or_else(|| bug(STAGE, "no result"))?);
        at.erase_from_basic_block();
    }
    Ok(())
}

const STAGE: &str = "take ranges together";

#[cfg(test)]
mod tests;
