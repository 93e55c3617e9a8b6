//! The host pass: what a host object tells the runtime, and how it launches.
//!
//! The C interface is that of `cdp-runtime`: a kernel's host function is a handle, a launch is
//! `__cdp_launch`, and a module constructor registers the unit's kernels and variables with
//! `__cdp_register_unit`.

use cdp_ir::{AddressSpace as IrSpace, FuncId, GlobalId, Launch, Linkage as IrLinkage};
use inkwell::attributes::AttributeLoc;
use inkwell::module::Linkage;
use inkwell::values::{
    BasicMetadataValueEnum, BasicValue, BasicValueEnum, GlobalValue, PointerValue,
};

use super::body::{AlignedAddress, Body, Value};
use super::{Unit, cudart};
use crate::error::{Result, bug};
use crate::image::{EARLY_CONSTRUCTOR, register_with_constructor};
use crate::launch_calls::declare;
use crate::options::HostRuntime;

/// Version of the unit record.
const UNIT_VERSION: u64 = 1;
/// Flags of a variable record.
pub(super) const CONSTANT: u64 = 1;
const MANAGED: u64 = 2;

/// Emits the unit record and the constructor that registers it, if the unit has anything to tell.
pub(super) fn register_unit(unit: &Unit<'_, '_>) -> Result<()> {
    if let HostRuntime::Cudart(cudart) = &unit.options.host_runtime {
        return cudart::register_unit(unit, cudart);
    }
    let kernels = kernel_records(unit)?;
    let variables = variable_records(unit)?;
    if kernels.is_empty() && variables.is_empty() {
        return Ok(());
    }
    let word = unit.context.i32_type();
    let number = |value: u64| -> BasicValueEnum<'_> { word.const_int(value, false).into() };
    let record = unit.context.const_struct(
        &[
            number(UNIT_VERSION),
            number(kernels.len() as u64),
            table(unit, "__cdp_kernels", &kernels).into(),
            number(variables.len() as u64),
            number(0),
            table(unit, "__cdp_variables", &variables).into(),
        ],
        false,
    );
    let record = private(unit, "__cdp_unit", record.into());
    register_with_constructor(
        unit.context,
        unit.llvm,
        "__cdp_register_unit",
        &[record.as_pointer_value()],
        EARLY_CONSTRUCTOR,
    )
}

/// `{ ptr handle, ptr symbol, u32 param_count, u32 pad, ptr param_offsets, ptr param_sizes }`
fn kernel_records<'ctx>(unit: &Unit<'_, 'ctx>) -> Result<Vec<BasicValueEnum<'ctx>>> {
    let mut records = Vec::new();
    for id in unit.ir.function_ids() {
        let function = unit.ir.function(id);
        if !function.is_kernel() {
            continue;
        }
        let handle = unit.function(id)?;
        define_handle(unit, id, handle)?;
        let layout = unit.kernel_layout(function.params())?;
        let word = unit.context.i32_type();
        let words = |values: Vec<u64>| -> BasicValueEnum<'ctx> {
            let values: Vec<_> = values.into_iter().map(|v| word.const_int(v, false)).collect();
            word.const_array(&values).into()
        };
        let offsets = words(layout.slots.iter().map(|slot| slot.offset_bytes).collect());
        let sizes = words(layout.slots.iter().map(|slot| slot.size_bytes).collect());
        let symbol = text(unit, &function.symbol);
        let record = unit.context.const_struct(
            &[
                handle.as_global_value().as_pointer_value().into(),
                symbol.into(),
                word.const_int(layout.slots.len() as u64, false).into(),
                word.const_zero().into(),
                private(unit, "", offsets).as_pointer_value().into(),
                private(unit, "", sizes).as_pointer_value().into(),
            ],
            false,
        );
        records.push(record.into());
    }
    Ok(records)
}

/// A kernel's host function does nothing where nobody calls it; its address is the handle, so it must not be
/// merged with another's. Units that mention the same kernel share one.
fn define_handle<'ctx>(
    unit: &Unit<'_, 'ctx>,
    id: FuncId,
    handle: inkwell::values::FunctionValue<'ctx>,
) -> Result<()> {
    if handle.count_basic_blocks() > 0 {
        return Ok(());
    }
    if matches!(unit.options.host_runtime, HostRuntime::CdpCallable) {
        cudart::define_stub(unit, id, handle)?;
    } else {
        let entry = unit.context.append_basic_block(handle, "entry");
        let builder = unit.context.create_builder();
        builder.position_at_end(entry);
        if let Some(debug) = &unit.debug {
            debug.describe_handle(unit, id, handle, &builder);
        }
        builder.build_return(None)?;
    }
    let internal = unit.ir.function(id).linkage == cdp_ir::Linkage::Internal;
    handle.set_linkage(if internal { Linkage::Internal } else { Linkage::WeakAny });
    handle.add_attribute(AttributeLoc::Function, unit.attribute("noinline"));
    Ok(())
}

/// A device variable as host code knows it.
pub(super) struct HostVariable<'ctx> {
    pub shadow: PointerValue<'ctx>,
    pub device_symbol: String,
    pub size_bytes: u64,
    pub flags: u64,
    pub managed: bool,
    /// A `static` constant, of which the device code may have kept nothing but its value.
    pub device_only: bool,
}

/// The device variables that a unit defines.
pub(super) fn variables<'ctx>(unit: &Unit<'_, 'ctx>) -> Result<Vec<HostVariable<'ctx>>> {
    let mut variables = Vec::new();
    for (index, global) in unit.ir.globals.iter().enumerate() {
        if !(global.device_shadow || global.managed) || !global.defined {
            continue;
        }
        let mut flags = 0;
        if global.space == IrSpace::Constant {
            flags |= CONSTANT;
        }
        if global.managed {
            flags |= MANAGED;
        }
        variables.push(HostVariable {
            shadow: unit.global(GlobalId(index as u32))?.as_pointer_value(),
            device_symbol: unit.device_symbol(&global.symbol, global.linkage),
            size_bytes: unit.ir.types.layout(global.ty).size,
            flags,
            managed: global.managed,
            device_only: global.constant && global.linkage == IrLinkage::Internal,
        });
    }
    Ok(variables)
}

/// `{ ptr host_shadow, ptr symbol, u64 bytes, u32 flags, u32 pad }`
fn variable_records<'ctx>(unit: &Unit<'_, 'ctx>) -> Result<Vec<BasicValueEnum<'ctx>>> {
    let word = unit.context.i32_type();
    let record = |variable: HostVariable<'ctx>| {
        let record = unit.context.const_struct(
            &[
                variable.shadow.into(),
                text(unit, &variable.device_symbol).into(),
                unit.context.i64_type().const_int(variable.size_bytes, false).into(),
                word.const_int(variable.flags, false).into(),
                word.const_zero().into(),
            ],
            false,
        );
        record.into()
    };
    Ok(variables(unit)?.into_iter().map(record).collect())
}

/// A private array of records, or NULL when there are none.
fn table<'ctx>(
    unit: &Unit<'_, 'ctx>,
    name: &str,
    records: &[BasicValueEnum<'ctx>],
) -> PointerValue<'ctx> {
    if records.is_empty() {
        return unit.ptr.const_null();
    }
    let array = unit.context.const_struct(records, false);
    private(unit, name, array.into()).as_pointer_value()
}

fn private<'ctx>(
    unit: &Unit<'_, 'ctx>,
    name: &str,
    value: BasicValueEnum<'ctx>,
) -> GlobalValue<'ctx> {
    let global = unit.llvm.add_global(value.get_type(), None, name);
    global.set_initializer(&value);
    global.set_linkage(Linkage::Private);
    global.set_constant(true);
    global
}

/// Text with a NUL at its end.
pub(super) fn text<'ctx>(unit: &Unit<'_, 'ctx>, text: &str) -> PointerValue<'ctx> {
    let value = unit.context.const_string(text.as_bytes(), true);
    private(unit, "", value.as_basic_value_enum()).as_pointer_value()
}

impl<'ctx> Unit<'_, 'ctx> {
    fn kernel_layout(&self, params: &[cdp_ir::Local]) -> Result<cdp_launch::BufferLayout> {
        let sizes: Vec<_> = params
            .iter()
            .map(|param| {
                let layout = self.ir.types.layout(param.ty);
                let (size_bytes, align_bytes) = (layout.size, layout.align);
                cdp_launch::ParamSize { size_bytes, align_bytes }
            })
            .collect();
        // The host may launch kernels whose parameters exceed a device-side buffer.
        match cdp_launch::buffer_layout(&sizes) {
            Ok(layout) | Err(cdp_launch::LayoutError::TooLarge { layout, .. }) => Ok(layout),
            Err(error) => Err(bug("lower", error.to_string())),
        }
    }
}

impl<'ctx> Body<'_, '_, 'ctx> {
    /// `__cdp_launch(handle, grid, block, shared_bytes, stream, args)`: `args` holds the addresses of
    /// the arguments.
    pub(super) fn host_launch(&mut self, launch: &Launch) -> Result<Value<'ctx>> {
        let handle = self.kernel_address(&launch.kernel)?;
        let grid = self.dimension(&launch.grid)?;
        let block = self.dimension(&launch.block)?;
        let shared = self.int_of(&launch.shared_bytes)?;
        let wide = self.unit.context.i64_type();
        let shared = self.builder.build_int_cast_sign_flag(shared, wide, false, "")?;
        let stream = self.pointer_of(&launch.stream)?;
        let mut places = Vec::new();
        for arg in &launch.args {
            let value = self.value_of(arg)?;
            places.push(match value {
                Value::Memory(place) => place,
                value => {
                    let place = self.temporary(arg.ty)?;
                    self.store(place, value, arg.ty, false)?;
                    place
                }
            });
        }
        let ptr = self.unit.ptr;
        let array = self.allocate(ptr.array_type(places.len().max(1) as u32).into(), 8, "args")?;
        for (index, place) in places.iter().enumerate() {
            let at = self.place_at(array, 8 * index as u64)?;
            self.builder.build_store(at.address, place.address)?;
        }
        if matches!(self.unit.options.host_runtime, HostRuntime::Cudart(_)) {
            let args = array.address;
            cudart::launch_kernel(
                self.unit,
                &self.builder,
                handle,
                grid,
                block,
                args,
                shared,
                stream,
            )?;
            return Ok(Value::Void);
        }
        let grid = self.words(grid)?;
        let block = self.words(block)?;
        let word = self.unit.context.i32_type();
        let ty = word.fn_type(
            &[ptr.into(), ptr.into(), ptr.into(), wide.into(), ptr.into(), ptr.into()],
            false,
        );
        let function = declare(self.unit.llvm, "__cdp_launch", ty);
        let args: [BasicMetadataValueEnum<'ctx>; 6] = [
            handle.into(),
            grid.address.into(),
            block.address.into(),
            shared.into(),
            stream.into(),
            array.address.into(),
        ];
        self.builder.build_direct_call(function, &args, "")?;
        Ok(Value::Void)
    }

    fn words(
        &mut self,
        axes: [inkwell::values::IntValue<'ctx>; 3],
    ) -> Result<AlignedAddress<'ctx>> {
        let place = self.allocate(self.unit.context.i32_type().array_type(3).into(), 4, "dim")?;
        for (index, axis) in axes.into_iter().enumerate() {
            let at = self.place_at(place, 4 * index as u64)?;
            self.builder.build_store(at.address, axis)?;
        }
        Ok(place)
    }

    /// `__cdp_managed_address(shadow)`; cudart's way is its own.
    pub(super) fn managed_address(&mut self, id: GlobalId) -> Result<PointerValue<'ctx>> {
        let shadow = self.unit.global(id)?.as_pointer_value();
        if matches!(self.unit.options.host_runtime, HostRuntime::Cudart(_)) {
            return cudart::managed_address(self.unit, &self.builder, shadow);
        }
        let ptr = self.unit.ptr;
        let ty = ptr.fn_type(&[ptr.into()], false);
        let function = declare(self.unit.llvm, "__cdp_managed_address", ty);
        let call = self.builder.build_direct_call(function, &[shadow.into()], "")?;
        match call.try_as_basic_value().basic() {
            Some(BasicValueEnum::PointerValue(address)) => Ok(address),
            _ => Err(bug("lower", "a managed variable without address")),
        }
    }
}
