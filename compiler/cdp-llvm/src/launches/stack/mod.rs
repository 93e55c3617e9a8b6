//! Children of one thread that the launching thread runs itself: a kernel that launches itself in grids of one thread
//! puts them on a stack of its own, and goes on with them when it has come to its end. A recursion costs no launches
//! then where its parts are short; long ones are launched, so that others have something to do.
//!
//! How much is lost. A child is launched when the thread has worked for as long as a few launches take, and has others
//! on its stack; when it takes the last of them, its time begins again. So it keeps what is about as long as a launch.
//!
//! Legality ([`why_not`]). Nothing orders what is launched into the fire-and-forget stream: each child may start when its
//! parent has ended. Nobody waits for it but who waits for the parent's grid. A grid of one thread is the only one in its
//! block, so it meets nobody at barriers, and its place in its grid is known. What the parent wrote the child sees, as the
//! same thread does. Launches into other streams would be ordered by another grid than they are now; those into the NULL
//! stream are run in their order ([`in_order`]).

mod in_order;
pub(super) mod warp;

use std::collections::HashSet;

use cdp_launch::StreamConst;
use inkwell::attributes::{Attribute, AttributeLoc};
use inkwell::llvm_sys::LLVMOpcode;
use inkwell::values::FunctionValue;

use super::Pass;
use super::access::Function;
use super::calls::{Callee, callee, is_index};
use super::child::{is_loose, scalar_bits};
use super::gather::{gatherable, is_repeatable};
use super::parent::{self, LaunchSite, sites_of};
use super::tuning::Tuning;
use crate::options::LaunchOpt;
use crate::raw;
use crate::raw::view::{View, make_coherent, make_stack};

/// Bytes of a child's arguments. A stack is the thread's local memory, of which each thread that the device has room for
/// has as much.
const MOST_BYTES: u32 = 64;

impl<'ctx> Pass<'_, 'ctx> {
    /// Does so in all kernels where it is right, whose launches `parents` are.
    pub(super) fn keep_own(
        &mut self,
        parents: &mut Vec<(FunctionValue<'ctx>, Vec<LaunchSite<'ctx>>)>,
    ) {
        if !self.options.abi.is_v2() || self.options.per_thread_stream {
            return;
        }
        let mut tuning = self.options.launch_tuning;
        if self.options.launch_opt != LaunchOpt::Fast {
            // Its code is another copy of the kernel's, which takes half as long again to compile.
            tuning.stack_warp = 0;
        }
        for (kernel, sites) in parents.iter_mut() {
            let (mut kept, warp) = keep(*kernel, sites, &tuning);
            self.warps.extend(warp.map(|warp| (warp, *kernel)));
            if kept.is_empty() {
                kept = self.keep_in_order(*kernel, sites);
            }
            self.stacked.extend(kept);
            // What they hand over is another value now.
            *sites = sites_of(*kernel);
        }
        warp::launch_warps(parents, &self.warps);
    }
}

/// Makes such a loop of a kernel, where that is right and there are such launches, and yields these, with the kernel of a
/// warp for them.
fn keep<'ctx>(
    kernel: FunctionValue<'ctx>,
    sites: &[LaunchSite<'ctx>],
    tuning: &Tuning,
) -> (Vec<View<'ctx>>, Option<FunctionValue<'ctx>>) {
    let depth = tuning.stack.min(MOST_DEPTH);
    let view = |site: &LaunchSite<'ctx>| View::instruction(raw::instruction(site.call));
    let own: Vec<View<'ctx>> = sites.iter().filter(|s| is_kept(s, kernel)).map(view).collect();
    if depth == 0 || own.is_empty() {
        return (Vec::new(), None);
    }
    let Ok(bytes) = why_not(kernel, sites) else { return (Vec::new(), None) };
    let warp = warp::of_warp(kernel, &own, bytes, tuning);
    let listens = parent::parent(kernel).listens;
    make_stack(kernel, &own, depth, tuning.stack_cycles.into(), listens);
    make_one(kernel);
    (own, warp)
}

/// Takes from a kernel what holds of one grid of it alone.
fn make_one(kernel: FunctionValue<'_>) {
    // A child reads what its parent wrote, and both are one thread now.
    make_coherent(kernel);
    let noalias = Attribute::get_named_enum_kind_id("noalias");
    for index in 0..kernel.count_params() {
        kernel.remove_enum_attribute(AttributeLoc::Param(index), noalias);
    }
}

/// What is said of the launches of a kernel that its thread might run itself ([`is_kept`]), and does not.
pub(super) fn left<'ctx>(
    kernel: FunctionValue<'ctx>,
    sites: &[LaunchSite<'ctx>],
) -> Option<String> {
    let reason = sites.iter().any(|site| is_kept(site, kernel)).then(|| why_not(kernel, sites))?;
    Some(format!("its thread does not run short ones itself: {}", reason.err()?))
}

/// The most records of a stack.
const MOST_DEPTH: u32 = 64;

/// Whether a site launches its own kernel as a grid of one thread that nothing orders, and nobody asked for anything else.
pub(super) fn is_kept<'ctx>(site: &LaunchSite<'ctx>, kernel: FunctionValue<'ctx>) -> bool {
    site.stream == Some(StreamConst::FireAndForget) && is_own(site, kernel)
}

/// Whether a site launches its own kernel as a grid of one thread, and nobody asked for anything else.
fn is_own<'ctx>(site: &LaunchSite<'ctx>, kernel: FunctionValue<'ctx>) -> bool {
    is_one_thread(site, kernel) && View::instruction(raw::instruction(site.call)).users().is_empty()
}

/// Whether a site launches a kernel as a grid of one thread, and nobody asked for anything else.
fn is_one_thread<'ctx>(site: &LaunchSite<'ctx>, kernel: FunctionValue<'ctx>) -> bool {
    let said = &site.said;
    let constant = |index: usize| {
        site.operands.get(index).and_then(|operand| View::value(*operand).constant_int())
    };
    site.kernel() == Some(kernel)
        && (1..7).all(|index| constant(index) == Some(1))
        && constant(7) == Some(0)
        && site.operands.len() == 9 + kernel.count_params() as usize
        && !(said.keep || said.threshold.is_some() || said.coarsen.is_some())
        && said.aggregate.is_none()
}

/// Bytes of a record; or, in words, what keeps a kernel's thread from running its children itself.
fn why_not(kernel: FunctionValue<'_>, sites: &[LaunchSite<'_>]) -> Result<u32, String> {
    if sites.iter().any(|site| site.stream != Some(StreamConst::FireAndForget)) {
        return Err("it launches into a stream that orders launches".into());
    }
    check_kernel(kernel, sites)
}

/// Bytes of a record; or, in words, what keeps a kernel's thread from running its children itself, in whatever order.
fn check_kernel(kernel: FunctionValue<'_>, sites: &[LaunchSite<'_>]) -> Result<u32, String> {
    let facts = parent::parent(kernel);
    if let Some(obstacle) = facts.obstacle {
        return Err(obstacle);
    }
    if let Some(look) = facts.looks_at_errors {
        return Err(format!("it calls `{look}`"));
    }
    let view = View::function(kernel);
    gatherable(view)?;
    if !is_repeatable(view) || !is_loose(view) {
        return Err("its thread may wait, end early, or share something with others".into());
    }
    let bytes = record_bytes(kernel, sites)?;
    if bytes > MOST_BYTES {
        return Err("its arguments are too large".into());
    }
    check_code(view)?;
    Ok(bytes)
}

/// Bytes of a record: of the parameters for which children may get other values than their parent has.
fn record_bytes(kernel: FunctionValue<'_>, sites: &[LaunchSite<'_>]) -> Result<u32, String> {
    let view = View::function(kernel);
    let byval = Attribute::get_named_enum_kind_id("byval");
    let own = |site: &&LaunchSite<'_>| is_own(site, kernel);
    let mut bytes = 0;
    for index in 0..kernel.count_params() {
        let parameter = view.parameter(index);
        let passes = |site: &LaunchSite<'_>| {
            let operand = site.operands.get(9 + index as usize);
            operand.map(|operand| View::value(*operand)) == parameter
        };
        let is_struct = kernel.get_enum_attribute(AttributeLoc::Param(index), byval).is_some();
        if sites.iter().filter(own).all(passes)
            && (!is_struct || Function::parent(view).is_unchanged(index))
        {
            continue;
        }
        if is_struct {
            return Err("it takes a struct".into());
        }
        let ty = parameter.map(View::type_text).unwrap_or_default();
        let bits = scalar_bits(&ty).ok_or_else(|| format!("it takes a {ty}"))?;
        bytes += bits.div_ceil(8).next_power_of_two();
    }
    Ok(bytes)
}

/// That the code can be run again, and knows only by itself where it runs.
fn check_code(kernel: View<'_>) -> Result<(), String> {
    let (mut seen, mut work) = (HashSet::new(), vec![kernel]);
    while let Some(function) = work.pop() {
        if !seen.insert(function) {
            continue;
        }
        for instruction in function.instructions() {
            let dynamic = instruction.opcode() == Some(LLVMOpcode::LLVMAlloca)
                && instruction.operand(0).and_then(View::constant_int) != Some(1);
            if dynamic {
                return Err("it has an array whose size is not known".into());
            }
            match instruction.callee().map(callee) {
                Some(Callee::Texture) => return Err("it uses textures or surfaces".into()),
                Some(Callee::Register(name)) if is_index(&name) && function == kernel => {}
                Some(Callee::Register(name)) => return Err(format!("it reads `%{name}`")),
                Some(Callee::Defined(next)) => work.push(next),
                _ => {}
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests;
