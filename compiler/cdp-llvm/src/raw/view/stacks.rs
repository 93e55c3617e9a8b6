//! What kernels become whose threads, or warps, run their own children (`launches/stack/`).
//!
//! What is absent: when that is right.

use std::os::raw::{c_char, c_int, c_uint};

use inkwell::llvm_sys::prelude::LLVMValueRef;
use inkwell::values::{AsValueRef, FunctionValue};

use super::View;

unsafe extern "C" {
    fn cdp_launches_stack(
        kernel: LLVMValueRef,
        sites: *const LLVMValueRef,
        count: c_uint,
        depth: c_uint,
        cycles: u64,
        listens: c_int,
    );
    fn cdp_launches_stack_in_order(
        kernel: LLVMValueRef,
        sites: *const LLVMValueRef,
        count: c_uint,
        leaf_sites: *const LLVMValueRef,
        leaf_bodies: *const LLVMValueRef,
        leaf_limits: *const u64,
        leaf_count: c_uint,
        depth: c_uint,
        blocks_of_one: c_int,
        recorded: c_int,
        listens: c_int,
    );
    fn cdp_launches_of_warp(
        kernel: LLVMValueRef,
        sites: *const LLVMValueRef,
        count: c_uint,
        name: *const c_char,
        size: usize,
        depth: c_uint,
        long: u64,
        few: c_uint,
        busy: u64,
        listens: c_int,
    ) -> LLVMValueRef;
    fn cdp_launches_by_warp(site: LLVMValueRef, kernel: LLVMValueRef);
}

/// Makes a loop of a kernel that runs what it launches at these sites from a stack (`launches/stack/stack.cpp`).
pub(crate) fn make_stack<'ctx>(
    kernel: FunctionValue<'ctx>,
    sites: &[View<'ctx>],
    depth: u32,
    cycles: u64,
    listens: bool,
) {
    let calls: Vec<LLVMValueRef> = sites.iter().map(|site| site.0).collect();
    let count = calls.len() as c_uint;
    // SAFETY: a live kernel with a body, and launches in it that stay where they are in memory.
    unsafe {
        cdp_launches_stack(
            kernel.as_value_ref(),
            calls.as_ptr(),
            count,
            depth,
            cycles,
            c_int::from(listens),
        );
    }
}

/// When a lane launches a child instead of leaving it to its warp (`launches/stack/warp.cpp`).
pub(crate) struct WarpLimits {
    pub depth: u32,
    pub long: u64,
    pub few: u32,
    pub busy: u64,
}

/// A copy of a kernel for grids of one thread, as blocks of one warp whose lanes run what these sites launch.
pub(crate) fn made_of_warp<'ctx>(
    kernel: FunctionValue<'ctx>,
    sites: &[View<'ctx>],
    name: &str,
    limits: &WarpLimits,
    listens: bool,
) -> Option<FunctionValue<'ctx>> {
    let calls: Vec<LLVMValueRef> = sites.iter().map(|site| site.0).collect();
    // SAFETY: a live kernel with a body, launches in it, and a live string.
    unsafe {
        FunctionValue::new(cdp_launches_of_warp(
            kernel.as_value_ref(),
            calls.as_ptr(),
            calls.len() as c_uint,
            name.as_ptr().cast(),
            name.len(),
            limits.depth,
            limits.long,
            limits.few,
            limits.busy,
            c_int::from(listens),
        ))
    }
}

/// Has a site that launches one thread launch such a kernel instead.
pub(crate) fn launch_by_warp<'ctx>(site: View<'ctx>, kernel: FunctionValue<'ctx>) {
    // SAFETY: a live launch, whose arguments are those of the kernel that this is a copy of.
    unsafe { cdp_launches_by_warp(site.0, kernel.as_value_ref()) }
}

/// A launch of another kernel by one whose thread runs its own children, and whether it runs small ones of this as well.
pub(crate) struct Leaf<'ctx> {
    pub site: View<'ctx>,
    /// What one thread of the other kernel does, if the thread may do that.
    pub body: Option<FunctionValue<'ctx>>,
    /// The most threads of a block.
    pub most_threads: u64,
    /// The most threads of a grid that is run.
    pub most_work: u64,
}

/// Makes a loop of a kernel that runs what it launches at these sites in its order (`launches/stack/in_order.cpp`); where
/// `blocks_of_one`, in blocks of one thread only. What is launched all the same may be `recorded`.
pub(crate) fn make_stack_in_order<'ctx>(
    kernel: FunctionValue<'ctx>,
    sites: &[View<'ctx>],
    leaves: &[Leaf<'ctx>],
    depth: u32,
    blocks_of_one: bool,
    recorded: bool,
    listens: bool,
) {
    let calls: Vec<LLVMValueRef> = sites.iter().map(|site| site.0).collect();
    let leaf_calls: Vec<LLVMValueRef> = leaves.iter().map(|leaf| leaf.site.0).collect();
    let body = |leaf: &Leaf<'_>| leaf.body.map_or(std::ptr::null_mut(), |b| b.as_value_ref());
    let bodies: Vec<LLVMValueRef> = leaves.iter().map(body).collect();
    let limits: Vec<u64> = leaves.iter().flat_map(|l| [l.most_threads, l.most_work]).collect();
    // SAFETY: a live kernel with a body, and launches in it that stay where they are in memory; as many bodies as
    // leaves, null or alive, and two limits of each.
    unsafe {
        cdp_launches_stack_in_order(
            kernel.as_value_ref(),
            calls.as_ptr(),
            calls.len() as c_uint,
            leaf_calls.as_ptr(),
            bodies.as_ptr(),
            limits.as_ptr(),
            leaves.len() as c_uint,
            depth,
            c_int::from(blocks_of_one),
            c_int::from(recorded),
            c_int::from(listens),
        );
    }
}
