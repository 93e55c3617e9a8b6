//! Children whose threads do at most one thing, and all the same: `if (found(i)) *flag = 1`. Once one of them did it, the
//! others need not run. Whoever runs the threads of such a child goes on to the next child then; and where many lanes of a
//! warp have one, each lane runs the first few threads of its own, and all lanes together only the children that are not
//! done then.
//!
//! In a child's body a call of [`DID`] stands beside what it does ([`mark`]), and those who run bodies call [`BEGIN`]
//! before a child and [`DONE`] behind each thread. When everything stands in its place these become a variable of the
//! thread ([`settle`]).
//!
//! Legality ([`found`]). The threads of a grid may run in any order, so another of them may run when the first just did it.
//! Then it either does the same again, which changes nothing, or does nothing. Nobody can tell that from its not being
//! run. It is not enough that a thread's result is one that others may have: it must have no other effect, wait for
//! nobody, and the place and the value must be the same for all threads of the child.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use inkwell::context::Context;
use inkwell::llvm_sys::{LLVMAtomicRMWBinOp, LLVMOpcode};
use inkwell::module::Module;
use inkwell::values::{CallSiteValue, FunctionValue, InstructionValue, PointerValue};

use super::calls::{Callee, callee};
use super::child::{Child, EXTRAS, INLINED_INSTRUCTIONS};
use super::emit::Text;
use super::site::Site;
use super::sums::stands_still;
use super::tuning::Tuning;
use crate::error::{Result, bug};
use crate::raw;
use crate::raw::view::View;

/// A thread does what is done once.
const DID: &str = "__cdp_once_did";
/// Another child begins.
const BEGIN: &str = "__cdp_once_begin";
/// Whether a thread did it since.
const DONE: &str = "__cdp_once_done";
/// What those who run bodies may call.
pub(super) const DECLARATIONS: &str =
    "declare void @__cdp_once_begin() nounwind\ndeclare i1 @__cdp_once_done() nounwind\n";

/// The one thing that a thread of a body does, which has so many parameters of its own.
pub(super) fn found<'ctx>(
    body: FunctionValue<'ctx>,
    parameters: u32,
) -> Option<InstructionValue<'ctx>> {
    let all = || body.get_basic_block_iter().flat_map(|block| block.get_instructions());
    let changes_own = all().any(|at| changes_own(View::instruction(at)));
    let same = |value| is_same(value, parameters, changes_own);
    let mut only = None;
    for at in all() {
        match effect(View::instruction(at), &same) {
            Effect::None => {}
            Effect::Same if only.is_none() => only = Some(at),
            Effect::Same | Effect::Other => return None,
        }
    }
    only
}

enum Effect {
    None,
    /// It changes nothing when it is done again, by another thread too.
    Same,
    Other,
}

/// What an instruction does that others may see; `same` says of a value that it is the same for all threads.
fn effect<'ctx>(at: View<'ctx>, same: &impl Fn(View<'ctx>) -> bool) -> Effect {
    let both = || [0, 1].into_iter().all(|index| at.operand(index).is_some_and(same));
    let one = |is: bool| if is && both() { Effect::Same } else { Effect::Other };
    match at.opcode() {
        Some(LLVMOpcode::LLVMLoad | LLVMOpcode::LLVMStore)
            if at.is_volatile() || at.is_ordered() =>
        {
            Effect::Other
        }
        Some(LLVMOpcode::LLVMStore) if changes_own(at) => Effect::None,
        Some(LLVMOpcode::LLVMStore) => one(true),
        Some(LLVMOpcode::LLVMAtomicRMW) => one(at.exchanges() || repeats(at)),
        Some(LLVMOpcode::LLVMCall) => {
            let quiet = at.callee().is_some_and(|called| only_looks(called, 0));
            if quiet || copies_parameter(at) { Effect::None } else { Effect::Other }
        }
        _ if at.is_of_other_kinds() => Effect::Other,
        _ => Effect::None,
    }
}

/// Functions that call each other, of which so many are looked at.
const MOST_CALLS: u32 = 4;

/// Whether a function does nothing that others may see.
fn only_looks(called: View<'_>, depth: u32) -> bool {
    if called.touches_no_memory() || called.name().starts_with("llvm.lifetime.") {
        return true;
    }
    let quiet = |at: View<'_>| match (at.opcode(), at.callee()) {
        (Some(LLVMOpcode::LLVMCall), Some(next)) => only_looks(next, depth + 1),
        _ => matches!(effect(at, &|_| false), Effect::None),
    };
    let known = matches!(callee(called), Callee::Defined(_)) && depth < MOST_CALLS;
    known && called.instructions().into_iter().all(quiet)
}

/// Whether an atomic operation changes nothing when it is done again with the same value.
fn repeats(at: View<'_>) -> bool {
    use LLVMAtomicRMWBinOp::{
        LLVMAtomicRMWBinOpAnd, LLVMAtomicRMWBinOpMax, LLVMAtomicRMWBinOpMin, LLVMAtomicRMWBinOpOr,
        LLVMAtomicRMWBinOpUMax, LLVMAtomicRMWBinOpUMin,
    };
    let kinds = [
        LLVMAtomicRMWBinOpAnd,
        LLVMAtomicRMWBinOpOr,
        LLVMAtomicRMWBinOpMax,
        LLVMAtomicRMWBinOpMin,
        LLVMAtomicRMWBinOpUMax,
        LLVMAtomicRMWBinOpUMin,
    ];
    at.reduction().is_some_and(|kind| kinds.contains(&kind))
}

/// Whether it stores into a variable of the thread's own.
fn changes_own(at: View<'_>) -> bool {
    at.opcode() == Some(LLVMOpcode::LLVMStore)
        && at.operand(1).is_some_and(|to| to.variable().is_some())
}

/// Whether it makes the thread's copy of a struct that the kernel takes (`body.cpp`).
fn copies_parameter(at: View<'_>) -> bool {
    at.callee().is_some_and(|called| called.name().starts_with("llvm.memcpy."))
        && at.operand(0).is_some_and(|to| to.opcode() == Some(LLVMOpcode::LLVMAlloca))
        && at.operand(1).is_some_and(|from| from.parameter_index().is_some())
}

/// Whether a value is the same for all threads of a grid: computed of what the kernel takes, of structs too where the
/// thread does not change its copy.
fn is_same(value: View<'_>, parameters: u32, changes_own: bool) -> bool {
    stands_still(value, parameters, 0) && loads_copies(value, changes_own)
}

/// Whether all that a value is made of and loaded is loaded from copies that nobody changes. What lies in memory may change.
fn loads_copies(value: View<'_>, changes_own: bool) -> bool {
    match value.opcode() {
        Some(LLVMOpcode::LLVMLoad) => {
            !changes_own && value.operand(0).is_some_and(|from| from.variable().is_some())
        }
        Some(_) => value.operands().into_iter().all(|operand| loads_copies(operand, changes_own)),
        None => true,
    }
}

/// What children do of which one thread that did it is enough.
pub(super) fn found_in<'ctx>(
    children: &mut [std::result::Result<Child<'ctx>, String>],
    tuning: &Tuning,
) -> Vec<InstructionValue<'ctx>> {
    let mut all = Vec::new();
    let small = |child: &&mut Child<'ctx>| child.instructions <= INLINED_INSTRUCTIONS;
    for child in children.iter_mut().flatten().filter(small).filter(|_| tuning.first > 0) {
        let parameters = child.body.count_params().saturating_sub(EXTRAS.len() as u32);
        let at = found(child.body, parameters);
        child.once = at.is_some();
        all.extend(at);
    }
    all
}

/// Says in children's bodies where it is done.
pub(super) fn mark<'ctx>(
    context: &'ctx Context,
    module: &Module<'ctx>,
    all: Vec<InstructionValue<'ctx>>,
) -> Result<()> {
    let builder = context.create_builder();
    for at in all {
        let did = module.get_function(DID).unwrap_or_else(|| {
            module.add_function(DID, context.void_type().fn_type(&[], false), None)
        });
        builder.position_before(&at);
        if let Some(location) = at.get_debug_location() {
            builder.set_current_debug_location(location);
        }
        builder.build_direct_call(did, &[], "")?;
    }
    Ok(())
}

/// Whether bodies of a module say so.
pub(super) fn is_marked(module: &Module<'_>) -> bool {
    module.get_function(DID).is_some()
}

/// Before the threads of a child.
pub(super) fn begin(text: &mut Text) {
    text.line(&format!("call void @{BEGIN}()"));
}

/// Behind a thread of a child: goes to `behind` when one of those did it that run the child together, else on at label
/// `step`. Lanes of `mask` do where they step over each other's threads.
pub(super) fn go_on(mask: &str, behind: &str, text: &mut Text) {
    let own = text.set(&format!("call i1 @{DONE}()"));
    let here = text.set("call i32 @llvm.nvvm.activemask()");
    let here = text.set(&format!("and i32 {here}, {mask}"));
    let votes = text.ballot_of(&here, &own);
    let some = text.set(&format!("icmp ne i32 {votes}, 0"));
    let together = text.set("icmp ne i32 %r.step, 1");
    let other = text.set(&format!("and i1 {some}, {together}"));
    let done = text.set(&format!("or i1 {own}, {other}"));
    text.line(&format!("br i1 {done}, label %{behind}, label %step"));
    text.label("step");
}

impl Site<'_, '_> {
    /// How many threads of its own child each lane runs before others help it.
    pub(super) fn runs_first(&self, child: &Child<'_>) -> Option<u32> {
        // A thread with loops is as long as many others.
        let may = child.once && !child.loops && !child.strides && !self.one;
        (may && self.tuning.first > 0).then_some(self.tuning.first)
    }

    /// How many threads each lane runs of its own child (`%own.first`), from which on all lanes run those that are not done
    /// then (`%once.skip`), and this lane's first one there (`%once.rank`).
    pub(super) fn own_first(&self, first: u32, text: &mut Text) {
        let lane = text.set("call i32 @llvm.nvvm.read.ptx.sreg.laneid()");
        let waits = text.set(&format!("lshr i32 %waiting, {lane}"));
        let waits = text.set(&format!("trunc i32 {waits} to i1"));
        let count = text.set("call i32 @llvm.ctpop.i32(i32 %waiting)");
        // Then these steps are a half of those that there are anyway, at most.
        let many = text.set(&format!("icmp uge i32 {count}, {}", 2 * u64::from(first)));
        let begins = text.set(&format!("and i1 {waits}, {many}"));
        let some = text.set(&format!("call i32 @llvm.umin.i32(i32 %work, i32 {first})"));
        text.line(&format!("%own.first = select i1 {begins}, i32 {some}, i32 %own"));
        text.line(&format!("%once.skip = select i1 {many}, i32 {first}, i32 0"));
        text.line("%once.rank = add i32 %rank, %once.skip");
    }
}

/// The lanes of `%r.left` whose children are not done behind a round, the first of which is that of [`Site::own_first`].
pub(super) fn undone(text: &mut Text) -> String {
    let done = text.set(&format!("call i1 @{DONE}()"));
    let over = text.set("icmp ule i32 %work, %once.skip");
    let done = text.set(&format!("or i1 {done}, {over}"));
    let done = text.set(&format!("and i1 {done}, %r.first"));
    let votes = text.ballot(&done);
    let others = text.set(&format!("xor i32 {votes}, -1"));
    text.set(&format!("and i32 %r.left, {others}"))
}

/// Gives every function that asks what was done a variable for it.
pub(super) fn settle<'ctx>(context: &'ctx Context, module: &Module<'ctx>) -> Result<()> {
    let calls = |name| module.get_function(name).map(raw::users).unwrap_or_default();
    let owner = |call: &InstructionValue<'ctx>| {
        raw::owner(*call).ok_or_else(|| bug(STAGE, "a call that stands nowhere"))
    };
    let bit = context.bool_type();
    let mut flags: HashMap<FunctionValue<'ctx>, PointerValue<'ctx>> = HashMap::new();
    for call in calls(DONE) {
        if let Entry::Vacant(place) = flags.entry(owner(&call)?) {
            let builder = raw::at_start(context, *place.key());
            let builder = builder.ok_or_else(|| bug(STAGE, "no body"))?;
            let flag = place.insert(builder.build_alloca(bit, "done")?);
            builder.build_store(*flag, bit.const_zero())?;
        }
    }
    let builder = context.create_builder();
    for (name, value) in [(BEGIN, false), (DID, true)] {
        for call in calls(name) {
            if let Some(flag) = flags.get(&owner(&call)?) {
                builder.position_before(&call);
                builder.build_store(*flag, bit.const_int(u64::from(value), false))?;
            }
            call.erase_from_basic_block();
        }
    }
    for call in calls(DONE) {
        let flag = flags.get(&owner(&call)?).ok_or_else(|| bug(STAGE, "no variable"))?;
        builder.position_before(&call);
        let done = builder.build_load(bit, *flag, "")?;
        let old = CallSiteValue::try_from(call).map_err(|()| bug(STAGE, "no call"))?;
        if let Some(old) = old.try_as_basic_value().basic() {
            raw::replace_uses(old, done);
        }
        call.erase_from_basic_block();
    }
    Ok(())
}

const STAGE: &str = "run until it is done";

#[cfg(test)]
mod tests;
