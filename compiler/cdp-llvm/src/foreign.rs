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
//! launch sequence of [`crate::launch`]. Our own memset kernel (`memset.ll`) comes in by this door.

use std::fmt;

use cdp_ir::CdpVersion;
use cdp_ir::RuntimeFn;
use cdp_launch::{LayoutError, ParamSize, buffer_layout, runtime_symbol};
use inkwell::attributes::{Attribute, AttributeLoc};
use inkwell::context::Context;
use inkwell::memory_buffer::MemoryBuffer;
use inkwell::module::{Linkage, Module};
use inkwell::targets::TargetData;
use inkwell::types::{BasicMetadataTypeEnum, BasicTypeEnum};
use inkwell::values::{
    AnyValue, BasicMetadataValueEnum, BasicValueEnum, CallSiteValue, FunctionValue, IntValue,
    PointerValue,
};

use crate::artifact::LlvmModule;
use crate::error::{LowerError, Result, bug};
use crate::launch::{LaunchArg, LaunchConfig, LaunchSite, begin_launch, finish_launch};
use crate::libdevice;
use crate::lower::PTX_KERNEL;
use crate::options::LowerOptions;
use crate::raw;
use crate::target::CodeTarget;

/// The pseudo-function.
pub const LAUNCH: &str = "cdp.launch";
/// Operands before the kernel's own: kernel, six dimensions, shared bytes, stream.
const FIXED_OPERANDS: u32 = 9;

/// Helpers of `memset.ll`.
pub(crate) const MEMSET: &str = "__cdp_memset_1d";
pub(crate) const MEMSET_2D: &str = "__cdp_memset_2d";
pub(crate) const MEMSET_3D: &str = "__cdp_memset_3d";

/// A call of `@cdp.launch` that cannot be lowered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LaunchCallError {
    /// The function that holds the call.
    pub function: String,
    /// The call as LLVM prints it.
    pub call: String,
    /// The index of the guilty kernel argument, from 0; `None` for the configuration or the kernel.
    pub argument: Option<u32>,
    pub message: String,
}

impl fmt::Display for LaunchCallError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "in function `{}`, ", self.function)?;
        if let Some(argument) = self.argument {
            write!(f, "argument {argument} of ")?;
        }
        write!(f, "`{}`: {}", self.call.trim(), self.message)
    }
}

/// Reads LLVM IR (text or bitcode) for the device, lowers its launches and links libdevice.
///
/// Target triple and data layout are set when absent and checked when present. Kernels are functions
/// of calling convention `ptx_kernel`, or those that the older `nvvm.annotations` name.
pub fn lower_foreign(
    name: &str,
    bytes: &[u8],
    address_bits: u32,
    options: &LowerOptions,
) -> Result<LlvmModule> {
    let target = CodeTarget::Device { address_bits };
    let lowered = LlvmModule::with_module(target, options, |context, machine| {
        let module = parse(context, name, bytes)?;
        check_target(&module, target)?;
        let given = module.get_data_layout().as_str().to_string_lossy().into_owned();
        let data = machine.get_target_data();
        let layout = data.get_data_layout();
        let wanted = layout.as_str().to_string_lossy().into_owned();
        if !given.is_empty() && !compatible(&given, &wanted) {
            return Err(LowerError::Target {
                triple: target.triple().into(),
                message: format!("the module's data layout is `{given}`, the target's `{wanted}`"),
            });
        }
        module.set_triple(&machine.get_triple());
        module.set_data_layout(&layout);
        lower_launches(context, &module, &data, address_bits, options)?;
        libdevice::link(context, &module, options, false)?;
        Ok(module)
    })?;
    lowered.run_passes("always-inline,globaldce")?;
    Ok(lowered)
}

/// Lowers every `@cdp.launch` of a module in place.
pub fn lower_launches<'ctx>(
    context: &'ctx Context,
    module: &Module<'ctx>,
    data: &TargetData,
    address_bits: u32,
    options: &LowerOptions,
) -> Result<()> {
    let Some(pseudo) = module.get_function(LAUNCH) else { return Ok(()) };
    let mut lowering = Lowering { context, module, data, address_bits, options, count: 0 };
    let mut errors = Vec::new();
    for call in calls_of(pseudo) {
        match lowering.lower_call(call) {
            Ok(()) => {}
            Err(Failure::Call(error)) => errors.push(error),
            Err(Failure::Lower(error)) => return Err(error),
        }
    }
    if !errors.is_empty() {
        return Err(LowerError::Launches(errors));
    }
    if raw::has_uses(pseudo) {
        let error = LaunchCallError {
            function: String::new(),
            call: LAUNCH.into(),
            argument: None,
            message: "@cdp.launch can only be called, its address cannot be taken".into(),
        };
        return Err(LowerError::Launches(vec![error]));
    }
    // SAFETY: nothing uses the pseudo-function any more.
    unsafe { pseudo.delete() };
    Ok(())
}

/// Links the memset kernel and lowers its launch.
pub(crate) fn link_memset<'ctx>(
    context: &'ctx Context,
    module: &Module<'ctx>,
    options: &LowerOptions,
    address_bits: u32,
) -> Result<()> {
    let memset = parse(context, "memset", include_bytes!("memset.ll"))?;
    memset.set_triple(&module.get_triple());
    memset.set_data_layout(&module.get_data_layout());
    let unlinked = |error: inkwell::support::LLVMString| bug("link memset", error.to_string());
    // The helpers are internal; the linker resolves a reference to an external definition only.
    for name in [MEMSET, MEMSET_2D, MEMSET_3D] {
        if let Some(function) = memset.get_function(name) {
            function.set_linkage(Linkage::External);
        }
    }
    module.link_in_module(memset).map_err(unlinked)?;
    for name in [MEMSET, MEMSET_2D, MEMSET_3D] {
        if let Some(function) = module.get_function(name) {
            function.set_linkage(Linkage::Internal);
        }
    }
    let layout = module.get_data_layout().as_str().to_string_lossy().into_owned();
    let data = TargetData::create(&layout);
    lower_launches(context, module, &data, address_bits, options)
}

fn parse<'ctx>(context: &'ctx Context, name: &str, bytes: &[u8]) -> Result<Module<'ctx>> {
    // The text parser wants a terminating NUL, which the copy brings.
    let buffer = MemoryBuffer::create_from_memory_range_copy(bytes, name);
    context
        .create_module_from_ir(buffer)
        .map_err(|message| LowerError::Backend { message: message.to_string().trim().to_string() })
}

fn check_target(module: &Module<'_>, target: CodeTarget) -> Result<()> {
    let triple = module.get_triple().as_str().to_string_lossy().into_owned();
    let wanted = target.triple();
    let arch = |triple: &str| triple.split('-').next().unwrap_or_default().to_string();
    if triple.is_empty() || arch(&triple) == arch(wanted) {
        return Ok(());
    }
    Err(LowerError::Target {
        triple: wanted.into(),
        message: format!("the module is for `{triple}`"),
    })
}

/// Whether two data layouts agree where it matters: the size of a pointer. (Older compilers write
/// fewer fields for the same target.)
fn compatible(given: &str, wanted: &str) -> bool {
    let pointer = |layout: &str| {
        let field = layout.split('-').find(|field| field.starts_with("p:"));
        field.map_or("p:64".to_string(), |field| {
            field.splitn(3, ':').take(2).collect::<Vec<_>>().join(":")
        })
    };
    pointer(given) == pointer(wanted)
}

/// The calls of a function, in the order of the module.
fn calls_of<'ctx>(function: FunctionValue<'ctx>) -> Vec<CallSiteValue<'ctx>> {
    let mut calls = Vec::new();
    for user in raw::users(function) {
        let callee = Some(function.as_global_value().as_pointer_value());
        if let (Ok(call), true) = (CallSiteValue::try_from(user), raw::called(user) == callee) {
            calls.push(call);
        }
    }
    // LLVM lists the newest use first.
    calls.reverse();
    calls
}

enum Failure {
    Call(LaunchCallError),
    Lower(LowerError),
}

impl From<LowerError> for Failure {
    fn from(error: LowerError) -> Self {
        Failure::Lower(error)
    }
}

impl From<inkwell::builder::BuilderError> for Failure {
    fn from(error: inkwell::builder::BuilderError) -> Self {
        Failure::Lower(error.into())
    }
}

struct Lowering<'a, 'ctx> {
    context: &'ctx Context,
    module: &'a Module<'ctx>,
    data: &'a TargetData,
    address_bits: u32,
    options: &'a LowerOptions,
    /// Launches lowered so far, for names.
    count: u32,
}

/// A kernel parameter, as its declaration tells.
struct KernelParam<'ctx> {
    /// The type in memory.
    ty: BasicTypeEnum<'ctx>,
    by_value: bool,
    size: ParamSize,
}

impl<'ctx> Lowering<'_, 'ctx> {
    fn lower_call(&mut self, call: CallSiteValue<'ctx>) -> std::result::Result<(), Failure> {
        let instruction = raw::instruction(call);
        let error = |argument: Option<u32>, message: String| {
            Failure::Call(LaunchCallError {
                function: function_name(instruction),
                call: instruction.print_to_string().to_string(),
                argument,
                message,
            })
        };
        let operands = self.operands(call);
        if operands.len() < FIXED_OPERANDS as usize {
            let message = format!(
                "takes a kernel, six dimensions, shared bytes and a stream before the kernel's \
                 arguments; {} operands are given",
                operands.len()
            );
            return Err(error(None, message));
        }
        let kernel = raw::as_function(operands[0])
            .ok_or_else(|| error(None, "the first operand is not a function".into()))?;
        if kernel.get_call_conventions() != PTX_KERNEL {
            let name = kernel.get_name().to_string_lossy();
            let message =
                format!("`{name}` is not a kernel: declare it with calling convention ptx_kernel");
            return Err(error(None, message));
        }
        let fixed = self.fixed_types();
        for (operand, (ty, what)) in operands.iter().zip(fixed).skip(1) {
            if operand.get_type() != ty {
                let message = format!("{what} has type {}", operand.get_type().print_to_string());
                return Err(error(None, message));
            }
        }
        let params = self.kernel_params(kernel);
        let given = operands.len() - FIXED_OPERANDS as usize;
        if given != params.len() {
            let message = format!("the kernel has {} parameters, {given} are given", params.len());
            return Err(error(None, message));
        }
        let mut by_address = Vec::new();
        for (index, (param, operand)) in
            params.iter().zip(&operands[FIXED_OPERANDS as usize..]).enumerate()
        {
            let index = index as u32;
            let address = self
                .check_argument(call, index, param, *operand)
                .map_err(|message| error(Some(index), message))?;
            by_address.push(address);
        }
        let sizes: Vec<_> = params.iter().map(|param| param.size).collect();
        let layout = match buffer_layout(&sizes) {
            Ok(layout) => layout,
            Err(wrong @ (LayoutError::TooLarge { .. } | LayoutError::BadAlignment { .. })) => {
                return Err(error(None, wrong.to_string()));
            }
        };
        let wrapper = self.wrapper(&operands, &by_address, &params, &layout)?;
        let builder = self.context.create_builder();
        builder.position_before(&instruction);
        if let Some(location) = instruction.get_debug_location() {
            builder.set_current_debug_location(location);
        }
        let args: Vec<BasicMetadataValueEnum<'ctx>> =
            operands.iter().map(|operand| (*operand).into()).collect();
        let new = builder.build_direct_call(wrapper, &args, "")?;
        if let (Some(old), Some(new)) = (result_of(call), result_of(new)) {
            raw::replace_uses(old, new);
        }
        instruction.erase_from_basic_block();
        Ok(())
    }

    fn operands(&self, call: CallSiteValue<'ctx>) -> Vec<BasicValueEnum<'ctx>> {
        raw::call_arguments(call)
    }

    fn fixed_types(&self) -> [(BasicTypeEnum<'ctx>, &'static str); FIXED_OPERANDS as usize] {
        let ptr = self.context.ptr_type(inkwell::AddressSpace::default()).into();
        let word = self.context.i32_type().into();
        [
            (ptr, "the kernel"),
            (word, "the grid's x"),
            (word, "the grid's y"),
            (word, "the grid's z"),
            (word, "the block's x"),
            (word, "the block's y"),
            (word, "the block's z"),
            (word, "the shared memory size"),
            (ptr, "the stream"),
        ]
    }

    /// The kernel's parameters; an alignment above 16 is lowered on the kernel itself, so that both
    /// sides agree (FACTS.md).
    fn kernel_params(&self, kernel: FunctionValue<'ctx>) -> Vec<KernelParam<'ctx>> {
        let byval = Attribute::get_named_enum_kind_id("byval");
        let align_kind = Attribute::get_named_enum_kind_id("align");
        kernel
            .get_params()
            .iter()
            .enumerate()
            .map(|(index, param)| {
                let at = AttributeLoc::Param(index as u32);
                let by_value = kernel.get_enum_attribute(at, byval).is_some();
                let stored = if by_value { raw::byval_type(kernel, index as u32) } else { None };
                let ty = stored.unwrap_or_else(|| param.get_type());
                let mut align = u64::from(self.data.get_abi_alignment(&ty));
                if let (true, Some(stated)) = (by_value, kernel.get_enum_attribute(at, align_kind))
                {
                    align = stated.get_enum_value();
                    let clamped = cdp_launch::param_align(align);
                    if clamped != align {
                        kernel.remove_enum_attribute(at, align_kind);
                        let attribute = self.context.create_enum_attribute(align_kind, clamped);
                        kernel.add_attribute(at, attribute);
                    }
                }
                let size_bytes = self.data.get_abi_size(&ty);
                let size = ParamSize { size_bytes, align_bytes: align };
                KernelParam { ty, by_value, size }
            })
            .collect()
    }

    /// Whether the argument is an address that is to be copied from; an error text when its type
    /// does not fit.
    fn check_argument(
        &self,
        call: CallSiteValue<'ctx>,
        index: u32,
        param: &KernelParam<'ctx>,
        operand: BasicValueEnum<'ctx>,
    ) -> std::result::Result<bool, String> {
        let at = AttributeLoc::Param(FIXED_OPERANDS + index);
        let byval = Attribute::get_named_enum_kind_id("byval");
        let given = operand.get_type();
        if !param.by_value {
            if given == param.ty {
                return Ok(false);
            }
            return Err(format!(
                "has type {}, the kernel's parameter {}",
                given.print_to_string(),
                param.ty.print_to_string()
            ));
        }
        if given.is_pointer_type() {
            if call.get_enum_attribute(at, byval).is_some() {
                return Ok(true);
            }
            return Err(format!(
                "is a pointer, and the kernel takes {} by value: pass the value, or a pointer with \
                 the attribute byval",
                param.ty.print_to_string()
            ));
        }
        if self.data.get_abi_size(&given) != param.size.size_bytes {
            return Err(format!(
                "has {} bytes, the kernel's parameter {}",
                self.data.get_abi_size(&given),
                param.size.size_bytes
            ));
        }
        Ok(false)
    }

    /// A function with the call's operands as parameters and the launch sequence as its body.
    fn wrapper(
        &mut self,
        operands: &[BasicValueEnum<'ctx>],
        by_address: &[bool],
        params: &[KernelParam<'ctx>],
        layout: &cdp_launch::BufferLayout,
    ) -> std::result::Result<FunctionValue<'ctx>, Failure> {
        let types: Vec<BasicMetadataTypeEnum<'ctx>> =
            operands.iter().map(|operand| operand.get_type().into()).collect();
        let ty = self.context.i32_type().fn_type(&types, false);
        let name = format!("__cdp_launch_{}", self.count);
        self.count += 1;
        let function = self.module.add_function(&name, ty, Some(Linkage::Internal));
        for flag in ["alwaysinline", "nounwind"] {
            let kind = Attribute::get_named_enum_kind_id(flag);
            let attribute = self.context.create_enum_attribute(kind, 0);
            function.add_attribute(AttributeLoc::Function, attribute);
        }
        let entry = self.context.append_basic_block(function, "entry");
        let builder = self.context.create_builder();
        builder.position_at_end(entry);
        let values = function.get_params();
        let word = |index: usize| -> std::result::Result<IntValue<'ctx>, LowerError> {
            match values[index] {
                BasicValueEnum::IntValue(value) => Ok(value),
                _ => Err(bug("lower launches", "an operand that is no integer")),
            }
        };
        let pointer = |index: usize| -> std::result::Result<PointerValue<'ctx>, LowerError> {
            match values[index] {
                BasicValueEnum::PointerValue(value) => Ok(value),
                _ => Err(bug("lower launches", "an operand that is no pointer")),
            }
        };
        // Both versions have it, so the version has no bearing on the symbol.
        let (peek, cdp) = (RuntimeFn::PeekAtLastError, CdpVersion::Cdp2);
        let peek = runtime_symbol(peek, self.options.abi, cdp, false)
            .map_err(|error| bug("lower launches", error.to_string()))?;
        let site = LaunchSite {
            module: self.module,
            abi: self.options.abi,
            address_bits: self.address_bits,
            per_thread_stream: self.options.per_thread_stream,
            null_error: Some(&peek),
        };
        let config = LaunchConfig {
            kernel: pointer(0)?,
            grid: [word(1)?, word(2)?, word(3)?],
            block: [word(4)?, word(5)?, word(6)?],
            shared_bytes: word(7)?,
            stream: pointer(8)?,
        };
        let pending = begin_launch(&builder, &site, config, layout)?;
        let mut args = Vec::new();
        for (index, (param, by_address)) in params.iter().zip(by_address).enumerate() {
            let value = values[FIXED_OPERANDS as usize + index];
            args.push(match (value, by_address) {
                (BasicValueEnum::PointerValue(address), true) => {
                    let align = cdp_launch::param_align(param.size.align_bytes) as u32;
                    LaunchArg::Memory { address, align }
                }
                (BasicValueEnum::IntValue(bit), _) if bit.get_type().get_bit_width() == 1 => {
                    let byte = self.context.i8_type();
                    LaunchArg::Value(builder.build_int_z_extend(bit, byte, "")?.into())
                }
                (value, _) => LaunchArg::Value(value),
            });
        }
        let result = finish_launch(&builder, &site, pending, layout, &args)?;
        builder.build_return(Some(&result))?;
        Ok(function)
    }
}

fn result_of<'ctx>(call: CallSiteValue<'ctx>) -> Option<BasicValueEnum<'ctx>> {
    call.try_as_basic_value().basic()
}

fn function_name(instruction: inkwell::values::InstructionValue<'_>) -> String {
    instruction
        .get_parent()
        .and_then(|block| block.get_parent())
        .map(|function| function.get_name().to_string_lossy().into_owned())
        .unwrap_or_default()
}
