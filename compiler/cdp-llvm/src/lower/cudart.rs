//! Host objects for NVIDIA's cudart: what nvcc's `-dc` objects contain, so that nvcc's device link
//! finds our device code and its host link our functions.
//!
//! Worked out from the objects and the stubs that nvcc 13.0 makes:
//!
//! - section `__nv_relfatbin`: a fat binary of relocatable device objects, which nvlink reads;
//! - section `.nvFatBinSegment`: the variable `__fatbinwrap<id>`, by which the registration finds it;
//! - section `__nv_module_id`: the text `<id>`, of which nvlink makes the list of registrations;
//! - a constructor that calls `__cudaRegisterLinkedBinary<id>` (which nvcc defines at the device
//!   link) with a callback, and the callback registers kernels and variables;
//! - for each kernel a host function of its own C++ signature, whose address is the kernel's handle:
//!   it takes the configuration that `<<<>>>` pushed and launches itself.

use cdp_ir::FuncId;
use inkwell::module::Linkage;
use inkwell::types::BasicMetadataTypeEnum;
use inkwell::values::{
    BasicMetadataValueEnum, BasicValueEnum, FunctionValue, IntValue, PointerValue,
};

use super::Unit;
use super::abi::ParamAbi;
use super::host::{CONSTANT, HostVariable, text};
use crate::error::{Result, bug};
use crate::image::{REGISTRATION, register_with_constructor};
use crate::launch_calls::declare;
use crate::linked::register_alone;
use crate::options::CudartUnit;

/// Magic number and version of the record that leads to a fat binary (nvcc's `fatbinary_section.h`).
pub(crate) const WRAPPER_MAGIC: u64 = 0x4662_43b1;
const WRAPPER_VERSION: u64 = 1;
/// Where C++ compilers put constructors without a priority.
const CONSTRUCTOR_PRIORITY: u64 = 65535;

/// Emits the device code, the handles and the registration.
pub(super) fn register_unit(unit: &Unit<'_, '_>, cudart: &CudartUnit) -> Result<()> {
    let registration = Registration { unit, cudart };
    let wrapper = registration.device_code();
    let callback = registration.callback()?;
    let id = registration.in_section(
        unit.context.const_string(cudart.module_id.as_bytes(), true).into(),
        "__nv_module_id",
    );
    registration.constructor(callback, wrapper, id)?;
    if let Some(fatbin) = &cudart.alone {
        register_alone(unit.context, unit.llvm, fatbin)?;
    }
    name_calls(unit);
    Ok(())
}

/// Functions with another entry point for per-thread default streams, by its suffix.
const PER_THREAD: [(&str, &[&str]); 2] = [
    (
        "_ptds",
        &[
            "cudaMemcpy",
            "cudaMemcpy2D",
            "cudaMemcpy2DFromArray",
            "cudaMemcpy2DToArray",
            "cudaMemcpy3D",
            "cudaMemcpyFromArray",
            "cudaMemcpyFromSymbol",
            "cudaMemcpyToArray",
            "cudaMemcpyToSymbol",
            "cudaMemset",
            "cudaMemset2D",
            "cudaMemset3D",
        ],
    ),
    (
        "_ptsz",
        &[
            "cudaEventRecord",
            "cudaEventRecordWithFlags",
            "cudaFreeAsync",
            "cudaGraphLaunch",
            "cudaLaunchKernel",
            "cudaMallocAsync",
            "cudaMemcpy2DAsync",
            "cudaMemcpy2DFromArrayAsync",
            "cudaMemcpy2DToArrayAsync",
            "cudaMemcpy3DAsync",
            "cudaMemcpyAsync",
            "cudaMemcpyFromSymbolAsync",
            "cudaMemcpyToSymbolAsync",
            "cudaMemset2DAsync",
            "cudaMemset3DAsync",
            "cudaMemsetAsync",
            "cudaStreamGetFlags",
            "cudaStreamGetPriority",
            "cudaStreamQuery",
            "cudaStreamSynchronize",
            "cudaStreamWaitEvent",
        ],
    ),
];

/// Renames the calls that depend on the default stream.
fn name_calls(unit: &Unit<'_, '_>) {
    if !unit.options.per_thread_stream {
        return;
    }
    for (suffix, names) in PER_THREAD {
        for name in names {
            if let Some(function) = unit.llvm.get_function(name) {
                function.as_global_value().set_name(&format!("{name}{suffix}"));
            }
        }
    }
}

struct Registration<'r, 'u, 'ctx> {
    unit: &'r Unit<'u, 'ctx>,
    cudart: &'r CudartUnit,
}

impl<'ctx> Registration<'_, '_, 'ctx> {
    fn in_section(&self, value: BasicValueEnum<'ctx>, section: &str) -> PointerValue<'ctx> {
        let global = self.unit.llvm.add_global(value.get_type(), None, "");
        global.set_initializer(&value);
        global.set_linkage(Linkage::Private);
        global.set_constant(true);
        global.set_section(Some(section));
        global.set_alignment(8);
        global.as_pointer_value()
    }

    /// The fat binary and the record that leads to it.
    fn device_code(&self) -> PointerValue<'ctx> {
        let context = self.unit.context;
        let bytes = context.const_string(&self.cudart.fatbin, false);
        let bytes = self.in_section(bytes.into(), "__nv_relfatbin");
        let word = context.i32_type();
        let record = context.const_struct(
            &[
                word.const_int(WRAPPER_MAGIC, false).into(),
                word.const_int(WRAPPER_VERSION, false).into(),
                bytes.into(),
                self.unit.ptr.const_null().into(),
            ],
            false,
        );
        let name = format!("__fatbinwrap{}", self.cudart.module_id);
        let wrapper = self.unit.llvm.add_global(record.get_type(), None, &name);
        wrapper.set_initializer(&record);
        wrapper.set_section(Some(".nvFatBinSegment"));
        wrapper.set_alignment(8);
        wrapper.as_pointer_value()
    }

    /// `callback(handle)`: registers what this unit defines.
    fn callback(&self) -> Result<PointerValue<'ctx>> {
        let (context, ptr) = (self.unit.context, self.unit.ptr);
        let ty = context.void_type().fn_type(&[ptr.into()], false);
        let function = self.unit.llvm.add_function("__cdp_register", ty, Some(Linkage::Internal));
        let builder = context.create_builder();
        builder.position_at_end(context.append_basic_block(function, "entry"));
        let handle = function.get_nth_param(0).ok_or_else(|| bug("lower", "no parameter"))?;
        if let Some(slot) = self.unit.llvm.get_global(MANAGED_HANDLE) {
            builder.build_store(slot.as_pointer_value(), handle)?;
        }
        let word = context.i32_type();
        let int = |value: i64| BasicMetadataValueEnum::from(word.const_int(value as u64, true));
        let null = BasicMetadataValueEnum::from(ptr.const_null());
        for id in self.unit.ir.function_ids() {
            let kernel = self.unit.ir.function(id);
            if !kernel.is_kernel() || !self.cudart.kernels.contains(&kernel.symbol) {
                continue;
            }
            let host = self.unit.function(id)?;
            define_stub(self.unit, id, host)?;
            let name = text(self.unit, &self.unit.device_symbol(&kernel.symbol, kernel.linkage));
            let address = host.as_global_value().as_pointer_value();
            let (name, address) = (name.into(), address.into());
            let args = [handle.into(), address, name, name, int(-1), null, null, null, null, null];
            let register = self.declare("__cudaRegisterFunction", &args, false);
            builder.build_direct_call(register, &args, "")?;
        }
        let linked = |variable: &HostVariable<'_>| !variable.device_only;
        for variable in super::host::variables(self.unit)?.into_iter().filter(linked) {
            let args = self.variable(handle, &variable);
            let name =
                if variable.managed { "__cudaRegisterManagedVar" } else { "__cudaRegisterVar" };
            builder.build_direct_call(self.declare(name, &args, false), &args, "")?;
        }
        builder.build_return(None)?;
        Ok(function.as_global_value().as_pointer_value())
    }

    fn variable(
        &self,
        handle: BasicValueEnum<'ctx>,
        variable: &HostVariable<'ctx>,
    ) -> [BasicMetadataValueEnum<'ctx>; 8] {
        let (word, wide) = (self.unit.context.i32_type(), self.unit.context.i64_type());
        let name = text(self.unit, &variable.device_symbol).into();
        let constant = u64::from(variable.flags & CONSTANT != 0);
        [
            handle.into(),
            variable.shadow.into(),
            name,
            name,
            word.const_zero().into(),
            wide.const_int(variable.size_bytes, false).into(),
            word.const_int(constant, false).into(),
            word.const_zero().into(),
        ]
    }

    /// A function of cudart that takes arguments of these types.
    fn declare(
        &self,
        name: &str,
        args: &[BasicMetadataValueEnum<'ctx>],
        gives_int: bool,
    ) -> FunctionValue<'ctx> {
        declare_for(self.unit, name, args, gives_int)
    }

    fn constructor(
        &self,
        callback: PointerValue<'ctx>,
        wrapper: PointerValue<'ctx>,
        id: PointerValue<'ctx>,
    ) -> Result<()> {
        let (context, ptr) = (self.unit.context, self.unit.ptr);
        // The registration calls its last argument with an address that must not be optimised away.
        let ty = context.void_type().fn_type(&[ptr.into()], false);
        let nothing = self.unit.llvm.add_function("__cdp_nothing", ty, Some(Linkage::Internal));
        let builder = context.create_builder();
        builder.position_at_end(context.append_basic_block(nothing, "entry"));
        builder.build_return(None)?;
        let nothing = nothing.as_global_value().as_pointer_value();
        let name = format!("{REGISTRATION}{}", self.cudart.module_id);
        let args = [callback, wrapper, id, nothing];
        register_with_constructor(context, self.unit.llvm, &name, &args, CONSTRUCTOR_PRIORITY)
    }
}

/// A kernel's host function: takes its configuration, and launches.
pub(super) fn define_stub<'ctx>(
    unit: &Unit<'_, 'ctx>,
    id: FuncId,
    function: FunctionValue<'ctx>,
) -> Result<()> {
    if function.count_basic_blocks() > 0 {
        return Ok(());
    }
    let context = unit.context;
    let builder = context.create_builder();
    builder.position_at_end(context.append_basic_block(function, "entry"));
    let (word, wide, ptr) = (context.i32_type(), context.i64_type(), unit.ptr);
    let dims = word.array_type(3);
    let args = argument_table(unit, id, function, &builder)?;
    let (grid, block) = (builder.build_alloca(dims, "grid")?, builder.build_alloca(dims, "block")?);
    let (shared, stream) =
        (builder.build_alloca(wide, "shared")?, builder.build_alloca(ptr, "stream")?);
    let places = [grid, block, shared, stream].map(BasicMetadataValueEnum::from);
    let pop = declare_for(unit, "__cudaPopCallConfiguration", &places, true);
    let popped = builder.build_direct_call(pop, &places, "")?.try_as_basic_value().basic();
    let Some(BasicValueEnum::IntValue(popped)) = popped else {
        return Err(bug("lower", "a runtime call without its result"));
    };
    let (launch, end) = (
        context.append_basic_block(function, "launch"),
        context.append_basic_block(function, "end"),
    );
    let failed =
        builder.build_int_compare(inkwell::IntPredicate::NE, popped, word.const_zero(), "")?;
    builder.build_conditional_branch(failed, end, launch)?;
    builder.position_at_end(launch);
    let handle = function.as_global_value().as_pointer_value();
    let axes = |place: PointerValue<'ctx>| -> Result<[IntValue<'ctx>; 3]> {
        let mut axes = [word.const_zero(); 3];
        for (index, axis) in axes.iter_mut().enumerate() {
            // SAFETY: three axes.
            let at = unsafe {
                builder.build_in_bounds_gep(
                    word,
                    place,
                    &[wide.const_int(index as u64, false)],
                    "",
                )?
            };
            *axis = builder.build_load(word, at, "")?.into_int_value();
        }
        Ok(axes)
    };
    let (grid, block) = (axes(grid)?, axes(block)?);
    let shared = builder.build_load(wide, shared, "")?.into_int_value();
    let stream = builder.build_load(ptr, stream, "")?.into_pointer_value();
    launch_kernel(unit, &builder, handle, grid, block, args, shared, stream)?;
    builder.build_unconditional_branch(end)?;
    builder.position_at_end(end);
    builder.build_return(None)?;
    Ok(())
}

/// An array with the address of every argument.
fn argument_table<'ctx>(
    unit: &Unit<'_, 'ctx>,
    id: FuncId,
    function: FunctionValue<'ctx>,
    builder: &inkwell::builder::Builder<'ctx>,
) -> Result<PointerValue<'ctx>> {
    let (wide, ptr) = (unit.context.i64_type(), unit.ptr);
    let kernel = unit.ir.function(id);
    let signature = unit.function_signature(id)?;
    let table = ptr.array_type(kernel.params().len().max(1) as u32);
    let table = builder.build_alloca(table, "args")?;
    let missing = || bug("lower", "a parameter is missing");
    for (index, local) in kernel.params().iter().enumerate() {
        let first = signature.param_index(index);
        let param = |part: u32| function.get_nth_param(first + part).ok_or_else(missing);
        let place = match signature.params[index] {
            ParamAbi::ByVal { .. } | ParamAbi::Address { .. } => param(0)?.into_pointer_value(),
            ParamAbi::Direct { ty, .. } => {
                let place = builder.build_alloca(ty, "")?;
                builder.build_store(place, param(0)?)?;
                place
            }
            ParamAbi::Parts { parts } => {
                // Whole registers, which may be more than the aggregate has.
                let place = builder.build_alloca(wide.array_type(2), "")?;
                for (part, number) in parts.iter().flatten().zip(0..) {
                    let offset = wide.const_int(part.offset_bytes, false);
                    let byte = unit.context.i8_type();
                    // SAFETY: parts lie within 16 bytes.
                    let at = unsafe { builder.build_in_bounds_gep(byte, place, &[offset], "")? };
                    builder.build_store(at, param(number)?)?;
                }
                place
            }
        };
        debug_assert!(!local.name.contains('\0'));
        // SAFETY: the table has a place for each parameter.
        let slot = unsafe {
            builder.build_in_bounds_gep(ptr, table, &[wide.const_int(index as u64, false)], "")?
        };
        builder.build_store(slot, place)?;
    }
    Ok(table)
}

fn declare_for<'ctx>(
    unit: &Unit<'_, 'ctx>,
    name: &str,
    args: &[BasicMetadataValueEnum<'ctx>],
    gives_int: bool,
) -> FunctionValue<'ctx> {
    let types: Vec<BasicMetadataTypeEnum<'ctx>> = args
        .iter()
        .map(|arg| match arg {
            BasicMetadataValueEnum::IntValue(value) => value.get_type().into(),
            _ => unit.ptr.into(),
        })
        .collect();
    let ty = match gives_int {
        true => unit.context.i32_type().fn_type(&types, false),
        false => unit.context.void_type().fn_type(&types, false),
    };
    declare(unit.llvm, name, ty)
}

/// `cudaLaunchKernel(handle, grid, block, args, shared_bytes, stream)`; a `dim3` is two registers, of
/// which the first holds x and y.
#[allow(clippy::too_many_arguments)]
pub(super) fn launch_kernel<'ctx>(
    unit: &Unit<'_, 'ctx>,
    builder: &inkwell::builder::Builder<'ctx>,
    handle: PointerValue<'ctx>,
    grid: [IntValue<'ctx>; 3],
    block: [IntValue<'ctx>; 3],
    args: PointerValue<'ctx>,
    shared_bytes: IntValue<'ctx>,
    stream: PointerValue<'ctx>,
) -> Result<()> {
    let wide = unit.context.i64_type();
    let pair = |axes: [IntValue<'ctx>; 3]| -> Result<[BasicMetadataValueEnum<'ctx>; 2]> {
        let low = builder.build_int_z_extend(axes[0], wide, "")?;
        let high = builder.build_int_z_extend(axes[1], wide, "")?;
        let high = builder.build_left_shift(high, wide.const_int(32, false), "")?;
        Ok([builder.build_or(low, high, "")?.into(), axes[2].into()])
    };
    let ([grid_xy, grid_z], [block_xy, block_z]) = (pair(grid)?, pair(block)?);
    let args = [
        handle.into(),
        grid_xy,
        grid_z,
        block_xy,
        block_z,
        args.into(),
        shared_bytes.into(),
        stream.into(),
    ];
    let function = declare_for(unit, "cudaLaunchKernel", &args, true);
    builder.build_direct_call(function, &args, "")?;
    Ok(())
}

/// The variable that keeps the handle which managed variables are initialised with.
const MANAGED_HANDLE: &str = "__cdp_managed_handle";

/// The address of a managed variable: its host variable is a pointer, which the first access has
/// cudart fill in.
pub(super) fn managed_address<'ctx>(
    unit: &Unit<'_, 'ctx>,
    builder: &inkwell::builder::Builder<'ctx>,
    slot: PointerValue<'ctx>,
) -> Result<PointerValue<'ctx>> {
    let function = match unit.llvm.get_function("__cdp_managed") {
        Some(function) => function,
        None => define_managed(unit)?,
    };
    let call = builder.build_direct_call(function, &[slot.into()], "")?;
    match call.try_as_basic_value().basic() {
        Some(BasicValueEnum::PointerValue(address)) => Ok(address),
        _ => Err(bug("lower", "a managed variable without address")),
    }
}

/// `__cdp_managed(slot)`: `if (!done) done = __cudaInitModule(handle); return *slot;`
fn define_managed<'ctx>(unit: &Unit<'_, 'ctx>) -> Result<FunctionValue<'ctx>> {
    let (context, ptr) = (unit.context, unit.ptr);
    let byte = context.i8_type();
    let variable = |name: &str, init: BasicValueEnum<'ctx>| {
        let global = unit.llvm.add_global(init.get_type(), None, name);
        global.set_initializer(&init);
        global.set_linkage(Linkage::Internal);
        global.as_pointer_value()
    };
    let handle = variable(MANAGED_HANDLE, ptr.const_null().into());
    let done = variable("__cdp_managed_done", byte.const_zero().into());
    let ty = ptr.fn_type(&[ptr.into()], false);
    let function = unit.llvm.add_function("__cdp_managed", ty, Some(Linkage::Internal));
    let builder = context.create_builder();
    let block = |name| context.append_basic_block(function, name);
    let (entry, first, end) = (block("entry"), block("first"), block("end"));
    builder.position_at_end(entry);
    let known = builder.build_load(byte, done, "")?.into_int_value();
    let unknown =
        builder.build_int_compare(inkwell::IntPredicate::EQ, known, byte.const_zero(), "")?;
    builder.build_conditional_branch(unknown, first, end)?;
    builder.position_at_end(first);
    let init = declare(unit.llvm, "__cudaInitModule", byte.fn_type(&[ptr.into()], false));
    let module = builder.build_load(ptr, handle, "")?;
    let call = builder.build_direct_call(init, &[module.into()], "")?;
    if let Some(result) = call.try_as_basic_value().basic() {
        builder.build_store(done, result)?;
    }
    builder.build_unconditional_branch(end)?;
    builder.position_at_end(end);
    let slot = function.get_nth_param(0).ok_or_else(|| bug("lower", "no parameter"))?;
    let address = builder.build_load(ptr, slot.into_pointer_value(), "")?;
    builder.build_return(Some(&address))?;
    Ok(function)
}
