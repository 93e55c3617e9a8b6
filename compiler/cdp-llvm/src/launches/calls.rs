//! What a call does, as far as launches care.

use std::collections::HashSet;

use cdp_ir::RuntimeFn;
use cdp_launch::{CDP2_PREFIX, PER_THREAD_SUFFIX};
use inkwell::llvm_sys::LLVMOpcode;
use inkwell::values::FunctionValue;

use crate::kernel::LAUNCH;
use crate::raw::view::View;

/// What is called.
pub(super) enum Callee<'ctx> {
    /// Arithmetic, copies, the device heap: whoever calls it.
    Harmless,
    /// `@cdp.launch`.
    Launch,
    Barrier,
    /// A shuffle, vote or the like.
    Warp,
    /// A special register.
    Register(String),
    Print,
    /// Texture or surface memory.
    Texture,
    /// Inline PTX of which more is not known than that it has effects, or may look at where it runs.
    Assembly,
    Pointer,
    /// A function of the device runtime.
    Runtime(RuntimeFn),
    /// A function with a body.
    Defined(View<'ctx>),
    Unknown(String),
}

const REGISTER: &str = "llvm.nvvm.read.ptx.sreg.";

/// Special registers that say where a thread stands in its grid, and how large that is.
pub(super) fn is_index(register: &str) -> bool {
    let parts = register.split_once('.');
    parts.is_some_and(|(name, axis)| {
        ["tid", "ntid", "ctaid", "nctaid"].contains(&name) && ["x", "y", "z"].contains(&axis)
    })
}

/// The special register that a value is read from, as PTX names it without `%`.
pub(super) fn register_of(value: View<'_>) -> Option<String> {
    let called = value.callee().filter(|_| value.opcode() == Some(LLVMOpcode::LLVMCall))?;
    match callee(called) {
        Callee::Register(register) => Some(register),
        _ => None,
    }
}

/// Intrinsics that say something of the thread, its warp or its block, though LLVM does not mark them.
const SPECIAL: [&str; 14] = [
    "activemask",
    "cluster",
    "griddepcontrol",
    "nanosleep",
    "exit",
    "mbarrier",
    "cp.async",
    "mapa",
    "getctarank",
    "setmaxnreg",
    "elect",
    "tcgen05",
    "wgmma",
    "pm.event",
];

/// Intrinsics for textures and surfaces, whose cache does not see what their own grid writes.
const TEXTURE: [&str; 6] = ["tex.", "tld4.", "suld.", "sust.", "suq.", "txq."];

/// PTX instructions that compute their results from their operands.
const COMPUTES: [&str; 57] = [
    "mov",
    "add",
    "sub",
    "mul",
    "mad",
    "fma",
    "div",
    "rem",
    "abs",
    "neg",
    "min",
    "max",
    "and",
    "or",
    "xor",
    "not",
    "shl",
    "shr",
    "shf",
    "cvt",
    "cvta",
    "prmt",
    "lop3",
    "bfe",
    "bfi",
    "bfind",
    "brev",
    "clz",
    "popc",
    "fns",
    "dp4a",
    "dp2a",
    "sad",
    "set",
    "setp",
    "selp",
    "slct",
    "rcp",
    "sqrt",
    "rsqrt",
    "sin",
    "cos",
    "lg2",
    "ex2",
    "tanh",
    "copysign",
    "testp",
    "mul24",
    "mad24",
    "addc",
    "subc",
    "madc",
    "szext",
    "bmsk",
    "cnot",
    "vadd4",
    "vabsdiff4",
];

/// Whether inline PTX without effects is arithmetic, or a load of what is constant, of which
/// `body.cpp` makes an ordinary one.
fn only_computes(text: &str) -> bool {
    text.split([';', '{', '}', '\n']).map(str::trim).all(|instruction| {
        let word = instruction.split([' ', '\t']).next().unwrap_or_default();
        let operation = word.split('.').next().unwrap_or_default();
        let known = COMPUTES.contains(&operation) || word.starts_with("ld.global.nc");
        (known && !instruction.contains('%')) || instruction.is_empty() || word == ".reg"
    })
}

/// What a called value is.
pub(super) fn callee(called: View<'_>) -> Callee<'_> {
    if let Some((text, effects)) = called.assembly() {
        return if !effects && only_computes(&text) { Callee::Harmless } else { Callee::Assembly };
    }
    if called.as_function().is_none() {
        return Callee::Pointer;
    }
    let name = called.name();
    if name == LAUNCH {
        return Callee::Launch;
    }
    if let Some(register) = name.strip_prefix(REGISTER) {
        return match is_index(register) {
            true if !called.blocks().is_empty() => Callee::Defined(called),
            _ => Callee::Register(register.to_string()),
        };
    }
    if name.starts_with("llvm.") {
        return intrinsic(called, &name);
    }
    if let Some(func) = runtime_function(&name) {
        return Callee::Runtime(func);
    }
    if !called.blocks().is_empty() {
        return Callee::Defined(called);
    }
    match name.as_str() {
        "malloc" | "free" => Callee::Harmless,
        "vprintf" => Callee::Print,
        // What libdevice asks of how it is compiled, a constant in the end.
        "__nvvm_reflect" => Callee::Harmless,
        name if name.starts_with("__nv_") => Callee::Harmless,
        _ => Callee::Unknown(name),
    }
}

fn intrinsic<'ctx>(called: View<'ctx>, name: &str) -> Callee<'ctx> {
    if name.contains("barrier") || name.starts_with("llvm.nvvm.bar.") {
        return Callee::Barrier;
    }
    let nvvm = name.strip_prefix("llvm.nvvm.");
    if nvvm.is_some_and(|rest| TEXTURE.iter().any(|word| rest.starts_with(word))) {
        return Callee::Texture;
    }
    let special = nvvm.is_some_and(|rest| SPECIAL.iter().any(|word| rest.starts_with(word)));
    if called.has_function_attribute("convergent") || special {
        return Callee::Warp;
    }
    Callee::Harmless
}

/// Whether a call may end its thread.
pub(super) fn leaves(called: View<'_>) -> bool {
    called.name().contains("exit")
        || called.assembly().is_some_and(|(text, _)| text.contains("exit"))
}

/// The function of the device runtime that a symbol names, whatever the ABI.
pub(super) fn runtime_function(symbol: &str) -> Option<RuntimeFn> {
    let bare = symbol.strip_suffix(PER_THREAD_SUFFIX).unwrap_or(symbol);
    match bare.strip_prefix(CDP2_PREFIX) {
        Some(rest) => RuntimeFn::by_name(&format!("cuda{rest}")),
        None => RuntimeFn::by_name(bare),
    }
}

/// Whether a kernel launches.
pub(super) fn launches(kernel: FunctionValue<'_>) -> bool {
    calls(kernel, |called| matches!(called, Callee::Launch))
}

/// Whether a kernel, or a function of it, calls such a thing.
pub(super) fn calls<'ctx>(kernel: FunctionValue<'ctx>, wanted: fn(&Callee<'ctx>) -> bool) -> bool {
    let (mut seen, mut work) = (HashSet::new(), vec![View::function(kernel)]);
    while let Some(function) = work.pop() {
        if !seen.insert(function) {
            continue;
        }
        for called in function.instructions().into_iter().filter_map(View::callee).map(callee) {
            if wanted(&called) {
                return true;
            }
            if let Callee::Defined(next) = called {
                work.push(next);
            }
        }
    }
    false
}
