//! Modules that are not ours: LLVM IR of another front end that asks for launches with `@cdp.launch`.
//!
//! ```text
//! call i32 (...) @cdp.launch(ptr @child, i32 gx, i32 gy, i32 gz, i32 bx, i32 by, i32 bz,
//!                            i32 shared_bytes, ptr stream, <arguments...>)
//! ```
//!
//! The call yields the `cudaError_t`. Arguments have the types of the kernel's parameters; a
//! parameter that is a `byval` pointer takes a `byval` pointer of the same type, or the aggregate
//! itself. Each call becomes a call of a small function that is always inlined, and whose body is the
//! launch sequence of [`crate::launch_calls`]. Our own memset kernel (`crate::memset`) comes in by this door.

mod facts;
mod lowering;
mod module;

use inkwell::attributes::AttributeLoc;
use inkwell::context::{AsContextRef, Context};
use inkwell::module::Module;
use inkwell::targets::{TargetData, TargetMachine};
use inkwell::values::FunctionValue;

pub use self::facts::{ForeignFacts, ForeignLaunch};
pub(crate) use self::lowering::check_launches;
pub use self::lowering::lower_launches;
pub(crate) use self::module::parse_own;
pub use self::module::{ForeignKernel, ForeignParam, verify};
pub(crate) use self::module::{drop_function_targets, kernels};
use crate::artifact::LlvmModule;
use crate::error::{LaunchCallError, LowerError, Result};
pub use crate::kernel::{LAUNCH, LAUNCH_AS};
use crate::kernel::{PTX_KERNEL, kernel_param, kernel_params};
use crate::launches::{Optimized, Untouched};
use crate::libdevice::Arithmetic;
use crate::options::{LowerOptions, OptLevel};
use crate::raise::{self, refuse};
use crate::raw;
use crate::target::CodeTarget;
use crate::{launches, libdevice};

/// Reads LLVM IR (text or bitcode) for the device, lowers its launches and links libdevice. Also
/// what the module says of its kernels.
///
/// Target triple and data layout are set when absent and checked when present. Kernels are functions
/// of calling convention `ptx_kernel`, or those that the older `nvvm.annotations` name. The
/// architecture is that of the options, whatever the functions' attributes say.
pub fn lower_foreign(
    name: &str,
    bytes: &[u8],
    address_bits: u32,
    options: &LowerOptions,
) -> Result<(LlvmModule, ForeignFacts)> {
    let mut known = ForeignFacts::default();
    let mut optimized = Optimized::default();
    let mut lowered = lower_module(
        name,
        bytes,
        address_bits,
        options,
        Some(&mut optimized),
        |context, module, facts| {
            known = facts;
            module::drop_function_targets(module);
            link_libdevice(context, module, options)
        },
    )?;
    lowered.set_optimized(optimized);
    lowered.run_passes(last_passes(options))?;
    Ok((lowered, known))
}

/// The passes that end the lowering of another compiler's module: what stands for launches is inlined, and loops
/// get the form that ours have. Its variables may be values already, so that conditions that are to stay apart are marked before LLVM's
/// first passes see them.
pub(crate) fn last_passes(options: &LowerOptions) -> &'static str {
    match options.opt_level {
        OptLevel::O0 => "always-inline,globaldce",
        OptLevel::O1 => "always-inline,globaldce,function(one-latch)",
        OptLevel::O2 | OptLevel::O3 => "always-inline,globaldce,function(one-latch,keep-ifs)",
    }
}

/// What a module says of its kernels and launches, without any code being made.
///
/// # Errors
/// As [`lower_foreign`], for modules that are not valid.
pub fn foreign_facts(
    name: &str,
    bytes: &[u8],
    address_bits: u32,
    options: &LowerOptions,
) -> Result<ForeignFacts> {
    let target = CodeTarget::Device { address_bits };
    let mut known = ForeignFacts::default();
    LlvmModule::with_module(target, options, |context, machine| {
        let module = module::parse(context, name, bytes)?;
        module::set_target(&module, target, machine)?;
        let data = machine.get_target_data();
        refuse(raise_launches(context, &module, &data, address_bits, options)?)?;
        known = facts::of(context, &module, &data);
        Ok(module)
    })?;
    Ok(known)
}

/// The same without anything but the launches: attributes stay, libdevice is not linked, no
/// function is removed. For toolchains with a back end of their own.
pub fn lower_foreign_only(
    name: &str,
    bytes: &[u8],
    address_bits: u32,
    options: &LowerOptions,
) -> Result<LlvmModule> {
    lower_module(name, bytes, address_bits, options, None, |_, _, _| Ok(()))
}

/// A module whose launches are `@cdp.launch`, whatever the compiler wrote that made it (see
/// `raise/mod.rs`), and nothing else done: for looking at, and for passes over launches.
pub fn raise_foreign(
    name: &str,
    bytes: &[u8],
    address_bits: u32,
    options: &LowerOptions,
) -> Result<LlvmModule> {
    let target = CodeTarget::Device { address_bits };
    LlvmModule::with_module(target, options, |context, machine| {
        let module = open(context, name, bytes, target, machine)?;
        let data = machine.get_target_data();
        refuse(raise_launches(context, &module, &data, address_bits, options)?)?;
        Ok(module)
    })
}

/// Reads a module for a target.
pub(crate) fn open<'ctx>(
    context: &'ctx Context,
    name: &str,
    bytes: &[u8],
    target: CodeTarget,
    machine: &TargetMachine,
) -> Result<Module<'ctx>> {
    let module = module::parse(context, name, bytes)?;
    module::set_target(&module, target, machine)?;
    Ok(module)
}

/// Reads a module for looking at.
pub(crate) fn read<'ctx>(context: &'ctx Context, name: &str, bytes: &[u8]) -> Result<Module<'ctx>> {
    raw::parse_ir(context, name, bytes).map_err(|message| LowerError::Foreign { message })
}

/// What is left to do when the launches are lowered.
pub(crate) fn finish<'ctx>(
    context: &'ctx Context,
    module: &Module<'ctx>,
    options: &LowerOptions,
) -> Result<()> {
    module::drop_function_targets(module);
    link_libdevice(context, module, options)
}

/// The other compiler says of denormals what it wants, and of square roots and of what may fuse in libdevice nothing.
fn link_libdevice<'ctx>(
    context: &'ctx Context,
    module: &Module<'ctx>,
    options: &LowerOptions,
) -> Result<()> {
    let arithmetic =
        Arithmetic { ftz: false, prec_sqrt: options.foreign_prec_sqrt, fmad: options.foreign_fmad };
    libdevice::link(context, module, options, arithmetic)
}

/// Whether a kernel takes the address of a parameter aligned to more than parameter buffers are, such as the tensor
/// map that a copy is told of, and device code does not name it: the host's driver places parameters where the
/// kernel's code has them.
fn needs_own_alignment(context: &Context, data: &TargetData, kernel: FunctionValue<'_>) -> bool {
    let is_over_aligned = |index: u32| {
        let at = AttributeLoc::Param(index);
        kernel.get_string_attribute(at, "nvvm.grid_constant").is_some()
            && kernel_param(context, data, kernel, index).size.align_bytes
                > cdp_launch::MAX_PARAM_ALIGN
    };
    !raw::is_declaration(kernel)
        && !raw::has_uses(kernel)
        && (0..kernel.count_params()).any(is_over_aligned)
}

/// Takes launches over that another compiler wrote as calls of the device runtime, and has all
/// kernels place their parameters as every launch will. Yields what cannot be taken over.
pub(crate) fn raise_launches<'ctx>(
    context: &'ctx Context,
    module: &Module<'ctx>,
    data: &TargetData,
    address_bits: u32,
    options: &LowerOptions,
) -> Result<Vec<LaunchCallError>> {
    let problems = raise::raise(context, module, data, address_bits, options)?;
    for kernel in module.get_functions().filter(|f| f.get_call_conventions() == PTX_KERNEL) {
        if !needs_own_alignment(context, data, kernel) {
            kernel_params(context, data, kernel);
        }
    }
    // Elsewhere they stay as the other compiler wrote them.
    Ok(if options.strict_launches { problems } else { Vec::new() })
}

/// Lowers the launches of a module that the embedder built with inkwell and hands over: its triple
/// and data layout are set or checked, and each call is replaced where it stands. After an error some
/// calls may have been replaced already.
///
/// It works on the calling thread, since the module's context belongs to it. The module is verified first;
/// of a valid one nothing is asked that LLVM ends processes for.
///
/// # Errors
/// [`LowerError::Foreign`] for a module that is not valid or belongs to another context,
/// [`LowerError::Target`] for another machine's, [`LowerError::Launches`] for impossible launches.
pub fn lower_in_place<'ctx>(
    context: &'ctx Context,
    module: &Module<'ctx>,
    address_bits: u32,
    options: &LowerOptions,
) -> Result<()> {
    if module.get_context().as_ctx_ref() != context.as_ctx_ref() {
        let message = "the module belongs to another context than the one given".into();
        return Err(LowerError::Foreign { message });
    }
    verify(module)?;
    let target = CodeTarget::Device { address_bits };
    let machine = crate::target::machine(target, options)?;
    module::set_target(module, target, &machine)?;
    lower_launches(context, module, &machine.get_target_data(), address_bits, options)
}

fn lower_module(
    name: &str,
    bytes: &[u8],
    address_bits: u32,
    options: &LowerOptions,
    optimized: Option<&mut Optimized>,
    finish: impl for<'ctx> FnOnce(&'ctx Context, &Module<'ctx>, ForeignFacts) -> Result<()>,
) -> Result<LlvmModule> {
    let target = CodeTarget::Device { address_bits };
    LlvmModule::with_module(target, options, |context, machine| {
        let module = open(context, name, bytes, target, machine)?;
        let data = machine.get_target_data();
        let mut facts = ForeignFacts::default();
        if let Some(optimized) = optimized {
            refuse(raise_launches(context, &module, &data, address_bits, options)?)?;
            facts = facts::of(context, &module, &data);
            if launches::is_on(options, address_bits) {
                check_launches(context, &module, &data, address_bits, options)?;
                module::drop_function_targets(&module);
                *optimized =
                    launches::optimize(context, &module, machine, options, Untouched::Kept)?;
            }
        }
        lower_launches(context, &module, &data, address_bits, options)?;
        finish(context, &module, facts)?;
        Ok(module)
    })
}
