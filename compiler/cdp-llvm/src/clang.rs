//! Device code that clang made of CUDA C++: its launches are taken over, what it says about itself is
//! read, and what it only wrote for the sake of clang's own tools goes.
//!
//! What is absent: running clang, and what its options are. After [`lower_clang`] a module is like every
//! other.

use inkwell::attributes::{Attribute, AttributeLoc};
use inkwell::context::Context;
use inkwell::intrinsics::Intrinsic;
use inkwell::module::{Linkage, Module};
use inkwell::targets::TargetData;
use inkwell::values::{
    BasicValueEnum, CallSiteValue, FunctionValue, InstructionOpcode, InstructionValue,
};

use crate::artifact::LlvmModule;
use crate::bools::{self, Extension};
use crate::builtins;
use crate::error::{LowerError, Result, bug};
use crate::foreign::{self, ForeignKernel};
use crate::kernel::LAUNCH;
use crate::launches;
use crate::launches::{Optimized, Untouched};
use crate::managed;
use crate::memset::{MEMSET, MEMSET_2D, MEMSET_BOX, link_memset};
use crate::narrow;
use crate::options::{DebugInfo, LowerOptions};
use crate::own;
use crate::raise::place::{self, LaunchPlace};
use crate::raw;
use crate::returns;
use crate::target::CodeTarget;

/// A launch in device code.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LaunchFact {
    /// Symbols of the launching function and of the kernel.
    pub parent: String,
    /// The kernel's symbol.
    pub child: String,
    /// `None` without debug information.
    pub place: Option<LaunchPlace>,
    /// x, y and z of the grid and of the block, where they are constants.
    pub grid: [Option<u64>; 3],
    /// Threads, likewise.
    pub block: [Option<u64>; 3],
}

/// What a module of clang's says about itself.
#[derive(Clone, Debug, Default)]
pub struct ClangFacts {
    /// The kernels that it defines.
    pub kernels: Vec<ForeignKernel>,
    /// Launches of device code, in the order of the module.
    pub launches: Vec<LaunchFact>,
    /// (caller, callee), by symbol, of functions with bodies.
    pub calls: Vec<(String, String)>,
}

/// Lowers device code of clang's, given as bitcode: launches, `cudaMemsetAsync`, libdevice.
///
/// # Errors
/// [`crate::LowerError::Launches`] for launches that cannot be taken over or lowered, and what
/// [`crate::lower_foreign`] brings.
pub fn lower_clang(
    name: &str,
    bytes: &[u8],
    address_bits: u32,
    options: &LowerOptions,
) -> Result<(LlvmModule, ClangFacts)> {
    let options = &LowerOptions { strict_launches: true, ..options.clone() };
    let target = CodeTarget::Device { address_bits };
    let (mut facts, mut problems) = (ClangFacts::default(), Vec::new());
    let mut lowered = LlvmModule::with_module(target, options, |context, machine| {
        let module = foreign::open(context, name, bytes, target, machine)?;
        let data = machine.get_target_data();
        raw::forget_groups(&module);
        join_statics(&module);
        if !options.module_id.is_empty() {
            own::of_device(&module, &options.module_id);
        }
        own_tables(&module);
        annotated_limits(context, &module);
        keep_what_host_code_names(&module);
        managed::mark(context, &module)?;
        builtins::read_registers(&module);
        define_traps(context, &module)?;
        returns::return_at_ends(context, &module)?;
        narrow::convert_by_words(context, &module)?;
        bools::take_whole_bytes(context, &module, Extension::Sign)?;
        inline_dimensions(context, &module);
        relax_atomics(context, &module);
        problems = foreign::raise_launches(context, &module, &data, address_bits, options)?;
        Ok(module)
    })?;
    // Dimensions that are constants are seen as such.
    let values = match options.debug {
        DebugInfo::Full => "always-inline",
        _ => "always-inline,function(sroa,instsimplify)",
    };
    lowered.run_passes(values)?;
    let mut optimized = Optimized::default();
    lowered.with(|context, module, machine| {
        let data = &machine.get_target_data();
        facts = facts_of(context, module, data);
        if redirect_memset(module) {
            link_memset(context, module, options)?;
        }
        if problems.is_empty() && launches::is_on(options, address_bits) {
            foreign::check_launches(context, module, data, address_bits, options)?;
            foreign::drop_function_targets(module);
            optimized = launches::optimize(context, module, machine, options, Untouched::Kept)?;
        }
        match foreign::lower_launches(context, module, data, address_bits, options) {
            Err(LowerError::Launches(more)) => problems.extend(more),
            other => other?,
        }
        // All of them are told.
        crate::raise::refuse(std::mem::take(&mut problems))?;
        if options.debug == DebugInfo::None {
            module.strip_debug_info();
        }
        foreign::finish(context, module, options)
    })?;
    lowered.set_optimized(optimized);
    lowered.run_passes(foreign::last_passes(options))?;
    Ok((lowered, facts))
}

/// A `static` variable that host code names gets another name, `<name>__static__<file>`, when clang comes
/// to the host code that does; what it wrote before still has the old one, without a definition.
fn join_statics(module: &Module<'_>) {
    const MARK: &str = "__static__";
    for global in module.get_globals() {
        let name = global.get_name().to_string_lossy().into_owned();
        let Some((before, _)) = name.rsplit_once(MARK) else { continue };
        let Some(old) = module.get_global(before).filter(|old| old.is_declaration()) else {
            continue;
        };
        if old.get_value_type() == global.get_value_type()
            && old.as_pointer_value().get_type() == global.as_pointer_value().get_type()
        {
            raw::replace_uses(old.as_pointer_value().into(), global.as_pointer_value().into());
            // SAFETY: nothing uses it any more.
            unsafe { old.delete() };
        }
    }
}

/// Virtual tables that clang takes for made in another file, the one that defines their class's first virtual function
/// that is not inline. nvcc makes them in each file that uses them, and none where that function is. The same of their
/// thunks; a table that needs a thunk which is not here stays in the other file.
fn own_tables(module: &Module<'_>) {
    for function in module.get_functions() {
        let thunk = is_thunk(&function.get_name().to_string_lossy());
        if thunk && function.get_linkage() == Linkage::AvailableExternally {
            function.set_linkage(Linkage::LinkOnceODR);
        }
    }
    for table in raw::definitions(module) {
        let name = table.name_or(0);
        let is_table = ["_ZTV", "_ZTT", "_ZTC"].iter().any(|start| name.starts_with(start));
        let Some(global) = module
            .get_global(&name)
            .filter(|global| is_table && global.get_linkage() == Linkage::AvailableExternally)
        else {
            continue;
        };
        let lacks = |name: &str| {
            is_thunk(name) && module.get_function(name).is_some_and(raw::is_declaration)
        };
        match table.content().1.iter().any(|entry| lacks(&entry.name_or(0))) {
            true => {
                raw::delete_initializer(global);
                global.set_linkage(Linkage::External);
            }
            false => global.set_linkage(Linkage::LinkOnceODR),
        }
    }
}

/// Whether a symbol is a thunk's (Itanium C++ ABI, "Virtual tables").
fn is_thunk(name: &str) -> bool {
    ["_ZTh", "_ZTv", "_ZTc"].iter().any(|start| name.starts_with(start))
}

/// `__cluster_dims__` and `__maxnreg__`, which our headers make annotations of, since clang forgets the one for
/// NVPTX and does not know the other.
fn annotated_limits(context: &Context, module: &Module<'_>) {
    let limit = |function: FunctionValue<'_>, name: &str, value: &str| {
        let attribute = context.create_string_attribute(name, value);
        function.add_attribute(AttributeLoc::Function, attribute);
    };
    for (function, numbers) in raw::annotated(module, "cdp.cluster_dims") {
        let dims = [0, 1, 2].map(|d| numbers.get(d).copied().unwrap_or(1).max(1).to_string());
        limit(function, "nvvm.cluster_dim", &dims.join(","));
    }
    for (function, numbers) in raw::annotated(module, "cdp.maxnreg") {
        if let Some(count) = numbers.first() {
            limit(function, "nvvm.maxnreg", &count.to_string());
        }
    }
    raw::forget_annotations(module);
}

/// clang lists the device variables and kernels that host code names in a variable of its own, so that
/// they are not dropped. Here they get a linkage that says so.
fn keep_what_host_code_names(module: &Module<'_>) {
    const LIST: &str = "__clang_gpu_used_external";
    for global in raw::kept_through(module, LIST) {
        global.outlive();
    }
    raw::forget_list(module, LIST);
}

/// The constructors of `dim3`, which stand in every launch.
fn inline_dimensions(context: &Context, module: &Module<'_>) {
    let kind = Attribute::get_named_enum_kind_id("alwaysinline");
    for function in module.get_functions() {
        let name = function.get_name().to_bytes();
        if name.starts_with(b"_ZN4dim3C") && !raw::is_declaration(function) {
            for other in ["noinline", "optnone"] {
                let kind = Attribute::get_named_enum_kind_id(other);
                function.remove_enum_attribute(AttributeLoc::Function, kind);
            }
            let attribute = context.create_enum_attribute(kind, 0);
            function.add_attribute(AttributeLoc::Function, attribute);
        }
    }
}

/// CUDA's atomic functions order nothing and are atomic in the device. clang's headers say otherwise, which makes a
/// fence of the whole system before each `atomicCAS`. Atomics that the program writes as C++ stay what they are.
fn relax_atomics(context: &Context, module: &Module<'_>) {
    let scope = raw::sync_scope(context, "device");
    for function in module.get_functions().filter(|function| is_header_atomic(*function)) {
        for block in function.get_basic_block_iter() {
            block.get_instructions().for_each(|instruction| raw::relax_atomic(instruction, scope));
        }
    }
}

/// Whether a function is one of the header's that stand for an atomic function of CUDA: `_ZL13__iAtomicExchPii`.
/// Those of other scopes, `__iAtomicExch_system`, say their scope.
fn is_header_atomic(function: FunctionValue<'_>) -> bool {
    const TYPES: [&str; 8] = ["i", "u", "ll", "ill", "ull", "us", "f", "d"];
    const NAMES: [&str; 10] =
        ["Add", "And", "CAS", "Dec", "Exch", "Inc", "Max", "Min", "Or", "Xor"];
    let symbol = function.get_name().to_string_lossy();
    let Some(rest) = symbol.strip_prefix("_ZL") else { return false };
    let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
    let (length, rest) = rest.split_at(digits);
    let name = length.parse().ok().and_then(|length: usize| rest.get(..length));
    let parts = name.and_then(|name| name.strip_prefix("__")?.split_once("Atomic"));
    parts.is_some_and(|(ty, name)| TYPES.contains(&ty) && NAMES.contains(&name))
}

/// What the entries of pure and deleted functions in tables of virtual functions call: device code has no C++
/// library that defines it.
fn define_traps<'ctx>(context: &'ctx Context, module: &Module<'ctx>) -> Result<()> {
    for name in ["__cxa_pure_virtual", "__cxa_deleted_virtual"] {
        let Some(function) = module.get_function(name).filter(|f| raw::is_declaration(*f)) else {
            continue;
        };
        let trap = Intrinsic::find("llvm.trap").and_then(|trap| trap.get_declaration(module, &[]));
        let trap = trap.ok_or_else(|| bug("virtual functions", "LLVM has no llvm.trap"))?;
        function.set_linkage(Linkage::WeakODR);
        let builder = context.create_builder();
        builder.position_at_end(context.append_basic_block(function, ""));
        builder.build_call(trap, &[], "")?;
        builder.build_unreachable()?;
    }
    Ok(())
}

/// The device runtime ignores the value of a memset (FACTS.md), so that ours is called. Whether there
/// was one.
fn redirect_memset(module: &Module<'_>) -> bool {
    let mut found = false;
    let all =
        [("MemsetAsync", MEMSET), ("Memset2DAsync", MEMSET_2D), ("Memset3DAsync", MEMSET_BOX)];
    for (plain, helper) in all {
        for prefix in ["cuda", cdp_launch::CDP2_PREFIX] {
            for suffix in ["", cdp_launch::PER_THREAD_SUFFIX] {
                let name = format!("{prefix}{plain}{suffix}");
                let Some(function) = module.get_function(&name) else { continue };
                if !raw::is_declaration(function) || !raw::has_uses(function) {
                    continue;
                }
                let ours = crate::launch_calls::declare(module, helper, function.get_type());
                if ours.get_type() == function.get_type() {
                    let theirs = function.as_global_value().as_pointer_value();
                    let ours = ours.as_global_value().as_pointer_value();
                    raw::replace_uses(theirs.into(), ours.into());
                    found = true;
                }
            }
        }
    }
    found
}

fn facts_of<'ctx>(context: &'ctx Context, module: &Module<'ctx>, data: &TargetData) -> ClangFacts {
    let mut facts =
        ClangFacts { kernels: foreign::kernels(context, module, data), ..ClangFacts::default() };
    for function in module.get_functions().filter(|f| !raw::is_declaration(*f)) {
        let parent = name_of(function);
        for instruction in function.get_basic_blocks().iter().flat_map(|b| b.get_instructions()) {
            let Some(callee) = callee_of(instruction) else { continue };
            if callee.get_name().to_bytes() == LAUNCH.as_bytes() {
                facts.launches.extend(launch_fact(&parent, instruction));
            } else if !raw::is_declaration(callee) {
                let call = (parent.clone(), name_of(callee));
                if !facts.calls.contains(&call) {
                    facts.calls.push(call);
                }
            }
        }
    }
    facts
}

fn name_of(function: FunctionValue<'_>) -> String {
    function.get_name().to_string_lossy().into_owned()
}

fn callee_of<'ctx>(instruction: InstructionValue<'ctx>) -> Option<FunctionValue<'ctx>> {
    if instruction.get_opcode() != InstructionOpcode::Call {
        return None;
    }
    raw::as_function(BasicValueEnum::PointerValue(raw::called(instruction)?))
}

fn launch_fact(parent: &str, instruction: InstructionValue<'_>) -> Option<LaunchFact> {
    let call = CallSiteValue::try_from(instruction).ok()?;
    let operands = raw::call_arguments(call);
    let child = raw::as_function(*operands.first()?)?;
    let constant = |index: usize| match operands.get(index) {
        Some(BasicValueEnum::IntValue(value)) => value.get_zero_extended_constant(),
        _ => None,
    };
    Some(LaunchFact {
        parent: parent.into(),
        child: name_of(child),
        place: place::of(instruction),
        grid: [1, 2, 3].map(constant),
        block: [4, 5, 6].map(constant),
    })
}

/// The launches that host code of clang's makes, given as bitcode that was not optimised: a
/// configuration is kept, and then the kernel's stub is called.
///
/// # Errors
/// [`crate::LowerError::Foreign`] for what is no bitcode.
pub fn host_launches(name: &str, bytes: &[u8]) -> Result<(Vec<LaunchFact>, Vec<(String, String)>)> {
    let context = Context::create();
    let module = foreign::read(&context, name, bytes)?;
    let (mut launches, mut calls) = (Vec::new(), Vec::new());
    for function in module.get_functions().filter(|f| !raw::is_declaration(*f)) {
        let parent = name_of(function);
        let mut pending = false;
        for instruction in function.get_basic_blocks().iter().flat_map(|b| b.get_instructions()) {
            let Some(callee) = callee_of(instruction) else { continue };
            let callee_name = name_of(callee);
            if callee_name == "__cudaPushCallConfiguration" {
                pending = true;
            } else if pending && callee_name.contains("__device_stub__") {
                pending = false;
                launches.push(LaunchFact {
                    parent: parent.clone(),
                    child: callee_name,
                    place: place::of(instruction),
                    grid: [None; 3],
                    block: [None; 3],
                });
            } else if !raw::is_declaration(callee) && callee.get_linkage() != Linkage::Internal {
                calls.push((parent.clone(), callee_name));
            }
        }
    }
    Ok((launches, calls))
}

/// The name of a C++ symbol without its parameters: `down<int>` of `_Z4downIiEvPT_i`; other symbols as
/// they are.
pub fn source_name(symbol: &str) -> String {
    let plain = symbol.replace("__device_stub__", "");
    raw::demangled(symbol).unwrap_or(plain).replace("__device_stub__", "")
}
