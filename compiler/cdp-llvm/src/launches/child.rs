//! What a kernel does that another thread may or may not do in its place: the facts about a child, found
//! on its body as a function ([`crate::launches::body`]).
//!
//! What is absent: who launches it, and where ([`super::parent`]).

use std::collections::HashSet;

use inkwell::llvm_sys::LLVMOpcode;
use inkwell::values::FunctionValue;

use super::calls::{Callee, callee};
use super::guard::{self, Guard};
use super::stride::strides;
use super::waiting::{check_waiting, only_searches};
use crate::kernel::PTX_KERNEL;
use crate::raw::view::{Block, View, kernel_body};

/// Parameters of the body behind the kernel's own (`body.cpp`).
pub(super) const EXTRAS: [&str; 13] = [
    "block.x", "block.y", "block.z", "thread.x", "thread.y", "thread.z", "grid.x", "grid.y",
    "grid.z", "size.x", "size.y", "size.z", "global.x",
];

/// Which of [`EXTRAS`] a body uses.
pub(super) fn used_extras(body: FunctionValue<'_>) -> [bool; EXTRAS.len()] {
    let first = body.count_params().saturating_sub(EXTRAS.len() as u32);
    std::array::from_fn(|index| {
        let parameter = View::function(body).parameter(first + index as u32);
        parameter.is_some_and(|parameter| !parameter.users().is_empty())
    })
}

/// The grid's and the block's dimensions, as names.
pub(super) const DIMS: [&str; 6] = ["gx", "gy", "gz", "bx", "by", "bz"];

/// A body of at most so many instructions is inlined where it is run.
pub(super) const INLINED_INSTRUCTIONS: usize = 600;

/// A kernel that another kernel's threads can run.
pub(super) struct Child<'ctx> {
    /// Its body as a function, which takes the thread's place in the grid.
    pub body: FunctionValue<'ctx>,
    /// Which of [`EXTRAS`] the body uses.
    pub used: [bool; EXTRAS.len()],
    /// Threads along x from which on nothing happens, when the body tests for that first.
    pub guard: Option<Guard<'ctx>>,
    /// The most threads that a block may have (`__launch_bounds__`).
    pub most_threads: u32,
    /// Whether a thread has a loop, whose length nobody knows.
    pub loops: bool,
    /// Whether a thread's one loop takes the turns of further threads, up to the guard's bound ([`super::stride`]).
    pub strides: bool,
    pub instructions: usize,
    /// Whether it adds up what may wait in registers ([`super::sums`]).
    pub sums: bool,
    /// Whether its threads add by themselves what those of a block add up ([`super::added`]).
    pub added: bool,
    /// Whether one of its threads is enough that did something ([`super::once`]).
    pub once: bool,
}

impl Child<'_> {
    /// Whether a thread's number along x in the grid is all that the body asks for.
    pub fn is_linear(&self) -> bool {
        let [bx, by, bz, tx, ty, tz, ..] = self.used;
        ![bx, by, bz, tx, ty, tz].contains(&true)
    }
}

/// The child that a kernel is; or, in words, why no other thread can run it.
pub(super) fn child<'ctx>(kernel: FunctionValue<'ctx>) -> Result<Child<'ctx>, String> {
    let name = kernel.get_name().to_string_lossy().into_owned();
    let view = View::function(kernel);
    if view.blocks().is_empty() {
        return Err("the child is not defined in this file".into());
    }
    let number = |key: &str| -> Option<u32> {
        let at = inkwell::attributes::AttributeLoc::Function;
        let value = kernel.get_string_attribute(at, key)?;
        value.get_string_value().to_str().ok()?.split(',').next()?.parse().ok()
    };
    if number("nvvm.cluster_dim").is_some() || number("nvvm.maxclusterrank").is_some() {
        return Err("the child runs in clusters".into());
    }
    if number("nvvm.reqntid").is_some() {
        return Err("the child wants blocks of one size".into());
    }
    for parameter in 0..kernel.count_params() {
        check_parameter(kernel, parameter).map_err(|what| format!("the child {what}"))?;
    }
    check_body(view).map_err(|what| format!("the child {what}"))?;
    let most_threads = number("nvvm.maxntid").unwrap_or(1024).min(1024);
    let body =
        kernel_body(kernel, &format!("__cdp_body_{name}")).ok_or("the child cannot be copied")?;
    let first = kernel.count_params();
    let used = used_extras(body);
    let view = View::function(body);
    let blocks = view.blocks();
    let guard = guard::find(body, first + EXTRAS.len() as u32 - 1);
    let flat = ![1, 2, 4, 5].iter().any(|index| used[*index]);
    let strides = flat && guard.as_ref().is_some_and(|guard| strides(view, guard, first));
    Ok(Child {
        body,
        used,
        guard,
        most_threads,
        loops: has_loops(view) && !strides && !only_searches(view),
        strides,
        instructions: blocks.iter().map(|block| block.instructions().len()).sum(),
        sums: false,
        added: false,
        once: false,
    })
}

/// A kernel that knows of x alone: its other dimensions must be 1, and a thread's number is its place.
pub(super) fn is_flat(child: &Child<'_>) -> bool {
    ![1, 2, 4, 5].iter().any(|index| child.used[*index])
}

/// Whether the lanes that work for another need that dimension (grid x, y, z, block x, y, z).
pub(super) fn uses_dim(child: &Child<'_>, index: usize) -> bool {
    let asked = child.used[6 + index];
    match is_flat(child) {
        true => asked || (index == 3 && !child.is_linear()),
        false => true,
    }
}

/// Types of arguments that go from lane to lane.
pub(super) fn scalar_bits(ty: &str) -> Option<u32> {
    Some(match ty {
        "i1" => 1,
        "i8" => 8,
        "i16" | "half" | "bfloat" => 16,
        "i32" | "float" => 32,
        "i64" | "double" | "ptr" => 64,
        _ => return None,
    })
}

pub(super) fn check_parameter(kernel: FunctionValue<'_>, index: u32) -> Result<(), String> {
    let view = View::function(kernel);
    let ty = view.parameter(index).map(View::type_text).unwrap_or_default();
    match scalar_bits(&ty) {
        Some(_) => Ok(()),
        None => Err(format!("takes a parameter of type {ty}")),
    }
}

/// That the body does nothing that only a grid of its own can do.
fn check_body(kernel: View<'_>) -> Result<(), String> {
    let instructions = kernel.instructions();
    let mut called = instructions.iter().filter_map(|instruction| instruction.callee());
    let launch = called.find(|called| matches!(callee(*called), Callee::Launch));
    for instruction in &instructions {
        for operand in instruction.operands() {
            check_memory(operand)?;
        }
        if let Some(called) = instruction.callee() {
            // The clock may be that of a stack of its own children ([`super::stack`]).
            let other = |name: &str| !super::calls::is_index(name);
            let asks = matches!(callee(called), Callee::Register(name) if other(&name));
            check_call(if asks { launch.unwrap_or(called) } else { called })?;
        }
        if instruction.opcode() == Some(LLVMOpcode::LLVMAlloca)
            && instruction.operand(0).and_then(View::constant_int) != Some(1)
        {
            return Err("has an array whose size is not known".into());
        }
    }
    check_waiting(kernel)
}

/// No shared memory, which belongs to the block.
fn check_memory(operand: View<'_>) -> Result<(), String> {
    let mut work = vec![operand];
    let mut seen = HashSet::new();
    while let Some(value) = work.pop() {
        if !value.is_constant() || !seen.insert(value) {
            continue;
        }
        match value.global_space() {
            Some(3) => return Err("uses shared memory".into()),
            Some(_) => {}
            None if value.as_function().is_some() => {}
            None => work.extend(value.operands()),
        }
    }
    Ok(())
}

fn check_call(called: View<'_>) -> Result<(), String> {
    match callee(called) {
        Callee::Harmless => Ok(()),
        Callee::Launch => Err("launches kernels itself".into()),
        Callee::Barrier => Err("waits at a barrier".into()),
        Callee::Warp => Err("works together as a warp".into()),
        Callee::Register(name) if super::calls::is_index(&name) => Ok(()),
        Callee::Register(name) => Err(format!("reads `%{name}`")),
        Callee::Print => Err("prints".into()),
        Callee::Assembly => Err("has inline PTX".into()),
        Callee::Texture => Err("uses textures or surfaces".into()),
        Callee::Pointer => Err("calls through a pointer".into()),
        Callee::Runtime(func) => Err(format!("calls `{}`", func.name())),
        Callee::Defined(function) => check_function(function),
        Callee::Unknown(name) => Err(format!("calls `{name}`, which is not known here")),
    }
}

/// Functions that were not inlined must do nothing special either.
fn check_function(function: View<'_>) -> Result<(), String> {
    let mut seen = HashSet::new();
    let mut work = vec![function];
    while let Some(function) = work.pop() {
        if !seen.insert(function) {
            continue;
        }
        check_waiting(function)?;
        for instruction in function.instructions() {
            for operand in instruction.operands() {
                check_memory(operand)?;
            }
            let Some(called) = instruction.callee() else { continue };
            match callee(called) {
                Callee::Defined(next) => work.push(next),
                // What reads indices was inlined where that can be done.
                Callee::Register(name) if super::calls::is_index(&name) => {
                    let name = function.name();
                    return Err(format!(
                        "calls `{name}`, which cannot be inlined and reads indices"
                    ));
                }
                _ => check_call(called)?,
            }
        }
    }
    Ok(())
}

/// Whether the threads of a block have neither barriers, shared memory nor work as a warp in common.
pub(super) fn is_loose(kernel: View<'_>) -> bool {
    let (mut seen, mut work) = (HashSet::new(), vec![kernel]);
    while let Some(function) = work.pop() {
        if !seen.insert(function) {
            continue;
        }
        for instruction in function.instructions() {
            if instruction.operands().into_iter().any(|operand| check_memory(operand).is_err()) {
                return false;
            }
            match instruction.callee().map(callee) {
                Some(Callee::Barrier | Callee::Warp | Callee::Assembly | Callee::Pointer) => {
                    return false;
                }
                Some(Callee::Unknown(_)) => return false,
                Some(Callee::Defined(next)) => work.push(next),
                _ => {}
            }
        }
    }
    true
}

/// Whether a function has loops, or a function that it calls.
pub(super) fn has_loops(function: View<'_>) -> bool {
    let (mut seen, mut work) = (HashSet::new(), vec![function]);
    while let Some(function) = work.pop() {
        if !seen.insert(function) {
            continue;
        }
        if function.blocks().iter().any(|block| reachable(*block).contains(block)) {
            return true;
        }
        for called in function.instructions().into_iter().filter_map(View::callee) {
            if let Callee::Defined(next) = callee(called) {
                work.push(next);
            }
        }
    }
    false
}

/// Blocks that control may come to from the end of a block.
pub(super) fn reachable(from: Block<'_>) -> HashSet<Block<'_>> {
    let (mut seen, mut work) = (HashSet::new(), from.successors());
    while let Some(block) = work.pop() {
        if seen.insert(block) {
            work.extend(block.successors());
        }
    }
    seen
}

/// Whether a function is a kernel.
pub(super) fn is_kernel(function: FunctionValue<'_>) -> bool {
    function.get_call_conventions() == PTX_KERNEL
}
