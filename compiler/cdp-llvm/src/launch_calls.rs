//! Launch emission: the device runtime's call sequence at a builder's position, in two halves.
//!
//! [`begin_launch`] takes the configuration and leaves the builder where the buffer is known not to
//! be NULL; [`finish_launch`] takes the arguments, stores them, launches, and leaves the builder
//! after the join. There are two halves because CUDA evaluates a launch's arguments between them
//! (FACTS.md, "Entry points"). Both work on any inkwell builder and module for NVPTX.
//!
//! What is absent: the IR's launch operation (`lower::launch`) and `@cdp.launch` in foreign modules
//! ([`crate::foreign`]), which both come here.

use cdp_ir::{CdpVersion, RuntimeFn};
use cdp_launch::{BufferLayout, EntryPoint, LaunchAbi, ParamKind, runtime_symbol};
use inkwell::AddressSpace;
use inkwell::attributes::AttributeLoc;
use inkwell::basic_block::BasicBlock;
use inkwell::builder::Builder;
use inkwell::context::ContextRef;
use inkwell::module::{Linkage, Module};
use inkwell::types::{BasicMetadataTypeEnum, BasicType, BasicTypeEnum, FunctionType};
use inkwell::values::{
    BasicMetadataValueEnum, BasicValueEnum, FunctionValue, IntValue, PointerValue,
};

use crate::error::{LowerError, Result as Lowered, bug};
use crate::options::LowerOptions;

/// Alignment that a parameter buffer can be counted on to have, in bytes (FACTS.md: the documented
/// 64 does not hold).
pub const BUFFER_ALIGN: u32 = 16;

/// Where launches are emitted and how.
pub struct LaunchSite<'m, 'ctx> {
    /// The module that gets the declarations.
    pub module: &'m Module<'ctx>,
    /// Which entry points are called.
    pub abi: LaunchAbi,
    /// 32 or 64.
    pub address_bits: u32,
    /// Whether stream 0 is the calling thread's default stream.
    pub per_thread_stream: bool,
    /// Whether the `cudaError_t` of the launch is wanted also when there is no buffer; it is then
    /// read with `cudaPeekAtLastError`, whose symbol this is.
    pub null_error: Option<&'m str>,
}

impl<'m, 'ctx> LaunchSite<'m, 'ctx> {
    /// Launches in a module with 64-bit addresses, whose error counts only when there was a buffer.
    pub fn new(module: &'m Module<'ctx>, abi: LaunchAbi) -> Self {
        LaunchSite { module, abi, address_bits: 64, per_thread_stream: false, null_error: None }
    }
}

/// A launch's configuration, all of it evaluated.
#[derive(Clone, Copy, Debug)]
pub struct LaunchConfig<'ctx> {
    /// A kernel's address.
    pub kernel: PointerValue<'ctx>,
    /// 32-bit dimensions x, y, z.
    pub grid: [IntValue<'ctx>; 3],
    /// Threads of a block, likewise.
    pub block: [IntValue<'ctx>; 3],
    /// 32 bits.
    pub shared_bytes: IntValue<'ctx>,
    /// A handle of the device runtime; null for the NULL stream.
    pub stream: PointerValue<'ctx>,
}

/// An argument, as it goes into the buffer.
#[derive(Clone, Copy, Debug)]
pub enum LaunchArg<'ctx> {
    /// A scalar of exactly the slot's size (a `bool` as 8 bits).
    Value(BasicValueEnum<'ctx>),
    /// The address of a struct or array of the slot's size, and its alignment in bytes.
    Memory {
        /// Read when the buffer is filled.
        address: PointerValue<'ctx>,
        /// In bytes.
        align: u32,
    },
}

/// A launch between its halves.
#[derive(Debug)]
pub struct PendingLaunch<'ctx> {
    /// The buffer; not NULL here. A null pointer constant when the kernel has no parameters and the
    /// ABI wants no buffer for that.
    pub buffer: PointerValue<'ctx>,
    config: LaunchConfig<'ctx>,
    /// Where control joins after the launch, and the error to yield when it comes from the NULL
    /// test; `None` when there was no test.
    join: Option<(BasicBlock<'ctx>, BasicBlock<'ctx>, IntValue<'ctx>)>,
}

/// Emits the first half: asks for a buffer and tests it for NULL.
///
/// A v1 ABI needs no buffer for a kernel without parameters; v2 always asks, since the buffer
/// carries the configuration.
pub fn begin_launch<'ctx>(
    builder: &Builder<'ctx>,
    site: &LaunchSite<'_, 'ctx>,
    config: LaunchConfig<'ctx>,
    layout: &BufferLayout,
) -> Result<PendingLaunch<'ctx>, LowerError> {
    let context = site.module.get_context();
    let ptr = context.ptr_type(AddressSpace::default());
    if !site.abi.is_v2() && layout.slots.is_empty() {
        return Ok(PendingLaunch { buffer: ptr.const_null(), config, join: None });
    }
    let size_type = site.size_type();
    let mut args: Vec<BasicMetadataValueEnum<'ctx>> = Vec::with_capacity(4);
    if site.abi.is_v2() {
        args.push(config.kernel.into());
        args.push(dim3(builder, &context, config.grid)?.into());
        args.push(dim3(builder, &context, config.block)?.into());
        args.push(config.shared_bytes.into());
    } else {
        args.push(size_type.const_int(layout.align_bytes, false).into());
        args.push(size_type.const_int(layout.size_bytes, false).into());
    }
    let call = site.call(builder, EntryPoint::GetParameterBuffer, &args)?;
    let BasicValueEnum::PointerValue(buffer) = call else {
        return Err(bug("launch", "a parameter buffer that is no pointer"));
    };
    let block = builder.get_insert_block().ok_or_else(|| bug("launch", "no position"))?;
    let function = block.get_parent().ok_or_else(|| bug("launch", "a block without function"))?;
    let filled = context.append_basic_block(function, "launch");
    let done = context.append_basic_block(function, "launched");
    let is_null = builder.build_is_null(buffer, "no_buffer")?;
    let (from, error) = match site.null_error {
        None => {
            builder.build_conditional_branch(is_null, done, filled)?;
            (block, context.i32_type().const_zero())
        }
        Some(peek) => {
            let failed = context.append_basic_block(function, "no_buffer");
            builder.build_conditional_branch(is_null, failed, filled)?;
            builder.position_at_end(failed);
            let ty = context.i32_type().fn_type(&[], false);
            let peek = declare(site.module, peek, ty);
            let call = builder.build_direct_call(peek, &[], "error")?;
            let error = call.try_as_basic_value().basic();
            let Some(BasicValueEnum::IntValue(error)) = error else {
                return Err(bug("launch", "an error that is no integer"));
            };
            builder.build_unconditional_branch(done)?;
            (failed, error)
        }
    };
    // The launch stands before the join in the listing.
    let _ = filled.move_before(done);
    builder.position_at_end(filled);
    Ok(PendingLaunch { buffer, config, join: Some((done, from, error)) })
}

/// Emits the second half: stores the arguments, launches, joins. Yields the launch's `cudaError_t`
/// (0 for a NULL buffer unless [`LaunchSite::null_error`] is given).
pub fn finish_launch<'ctx>(
    builder: &Builder<'ctx>,
    site: &LaunchSite<'_, 'ctx>,
    pending: PendingLaunch<'ctx>,
    layout: &BufferLayout,
    args: &[LaunchArg<'ctx>],
) -> Result<IntValue<'ctx>, LowerError> {
    if args.len() != layout.slots.len() {
        return Err(bug("launch", "another number of arguments than the layout has slots"));
    }
    let context = site.module.get_context();
    let byte = context.i8_type();
    let size_type = site.size_type();
    for (slot, arg) in layout.slots.iter().zip(args) {
        let offset = size_type.const_int(slot.offset_bytes, false);
        // SAFETY: the offset lies within the buffer by the layout.
        let address =
            unsafe { builder.build_in_bounds_gep(byte, pending.buffer, &[offset], "slot")? };
        let align = offset_align(slot.offset_bytes);
        match arg {
            LaunchArg::Value(value) => {
                let store = builder.build_store(address, *value)?;
                store.set_alignment(align).map_err(|e| bug("launch", e.to_string()))?;
            }
            LaunchArg::Memory { address: source, align: source_align } => {
                let size = size_type.const_int(slot.size_bytes, false);
                builder.build_memcpy(address, align, *source, *source_align, size)?;
            }
        }
    }
    let PendingLaunch { buffer, config, join } = pending;
    let mut call_args: Vec<BasicMetadataValueEnum<'ctx>> = Vec::with_capacity(6);
    if site.abi.is_v2() {
        call_args.push(buffer.into());
        call_args.push(config.stream.into());
    } else {
        call_args.push(config.kernel.into());
        call_args.push(buffer.into());
        call_args.push(dim3(builder, &context, config.grid)?.into());
        call_args.push(dim3(builder, &context, config.block)?.into());
        call_args.push(config.shared_bytes.into());
        call_args.push(config.stream.into());
    }
    let result = site.call(builder, EntryPoint::LaunchDevice, &call_args)?;
    let Some((done, from, null_error)) = join else { return Ok(result.into_int_value()) };
    let block = builder.get_insert_block().ok_or_else(|| bug("launch", "no position"))?;
    builder.build_unconditional_branch(done)?;
    builder.position_at_end(done);
    let error = builder.build_phi(context.i32_type(), "launch_error")?;
    error.add_incoming(&[(&null_error, from), (&result, block)]);
    Ok(error.as_basic_value().into_int_value())
}

/// The alignment of a place at an offset in the buffer, in bytes.
fn offset_align(offset_bytes: u64) -> u32 {
    let bits = offset_bytes.trailing_zeros().min(BUFFER_ALIGN.trailing_zeros());
    1 << bits
}

/// A `dim3` by value. As an array it goes straight from registers into the `.param` of 12 bytes that
/// the ABI wants.
fn dim3<'ctx>(
    builder: &Builder<'ctx>,
    context: &ContextRef<'ctx>,
    axes: [IntValue<'ctx>; 3],
) -> Result<BasicValueEnum<'ctx>, LowerError> {
    let mut value = context.i32_type().array_type(3).get_poison();
    for (index, axis) in axes.into_iter().enumerate() {
        let next = builder.build_insert_value(value, axis, index as u32, "")?;
        value = next.into_array_value();
    }
    Ok(value.into())
}

impl<'ctx> LaunchSite<'_, 'ctx> {
    fn size_type(&self) -> inkwell::types::IntType<'ctx> {
        let context = self.module.get_context();
        if self.address_bits == 32 { context.i32_type() } else { context.i64_type() }
    }

    fn llvm_type(&self, kind: ParamKind, pointer: bool) -> BasicTypeEnum<'ctx> {
        let context = self.module.get_context();
        match kind {
            ParamKind::Address if pointer => context.ptr_type(AddressSpace::default()).into(),
            ParamKind::Address => self.size_type().into(),
            ParamKind::Word => context.i32_type().into(),
            ParamKind::Dim3 => context.i32_type().array_type(3).into(),
        }
    }

    fn function_type(&self, entry: EntryPoint) -> FunctionType<'ctx> {
        let signature = self.abi.signature(entry);
        // v1's buffer request takes two sizes; every other address is a pointer.
        let pointers = self.abi.is_v2() || entry == EntryPoint::LaunchDevice;
        let params: Vec<BasicMetadataTypeEnum<'ctx>> = signature
            .params
            .iter()
            .map(|(_, kind)| self.llvm_type(*kind, pointers).into())
            .collect();
        self.llvm_type(signature.result, true).fn_type(&params, false)
    }

    fn call(
        &self,
        builder: &Builder<'ctx>,
        entry: EntryPoint,
        args: &[BasicMetadataValueEnum<'ctx>],
    ) -> Result<BasicValueEnum<'ctx>, LowerError> {
        let ty = self.function_type(entry);
        let symbol = self.abi.symbol(entry, self.per_thread_stream);
        let function = declare(self.module, symbol, ty);
        let address = function.as_global_value().as_pointer_value();
        let call = if function.get_type() == ty {
            builder.build_direct_call(function, args, "")?
        } else {
            // The module declares the symbol with a type of its own.
            builder.build_indirect_call(ty, address, args, "")?
        };
        if entry == EntryPoint::GetParameterBuffer {
            let context = self.module.get_context();
            let kind = inkwell::attributes::Attribute::get_named_enum_kind_id("align");
            let align = context.create_enum_attribute(kind, u64::from(BUFFER_ALIGN));
            call.add_attribute(AttributeLoc::Return, align);
        }
        call.try_as_basic_value().basic().ok_or_else(|| bug("launch", "a call without result"))
    }
}

/// The declaration of an external function, made if it is missing.
pub(crate) fn declare<'ctx>(
    module: &Module<'ctx>,
    symbol: &str,
    ty: FunctionType<'ctx>,
) -> FunctionValue<'ctx> {
    if let Some(function) = module.get_function(symbol) {
        return function;
    }
    let function = module.add_function(symbol, ty, Some(Linkage::External));
    let context = module.get_context();
    let kind = inkwell::attributes::Attribute::get_named_enum_kind_id("nounwind");
    function.add_attribute(AttributeLoc::Function, context.create_enum_attribute(kind, 0));
    function
}

/// The symbol of `cudaPeekAtLastError`, for launches without a buffer.
pub(crate) fn peek_symbol(options: &LowerOptions) -> Lowered<String> {
    symbol_of_both(RuntimeFn::PeekAtLastError, options)
}

/// The symbol of a function that both versions have, so that the version has no bearing on it.
pub(crate) fn symbol_of_both(function: RuntimeFn, options: &LowerOptions) -> Lowered<String> {
    runtime_symbol(function, options.abi, CdpVersion::Cdp2, false)
        .map(std::borrow::Cow::into_owned)
        .map_err(|error| bug("lower launches", error.to_string()))
}
