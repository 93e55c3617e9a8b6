//! The object that carries device code into a host program: a block of bytes, of which nothing is known here,
//! registered with the runtime (`__cdp_register_image`) before `main`.

use cdp_launch::LaunchAbi;
use inkwell::AddressSpace;
use inkwell::context::Context;
use inkwell::module::{Linkage, Module};
use inkwell::values::{BasicValueEnum, FunctionValue, PointerValue};

use crate::artifact::LlvmModule;
use crate::error::Result;
use crate::options::LowerOptions;
use crate::target::CodeTarget;

/// Version of the image record.
const IMAGE_VERSION: u64 = 3;

/// What a program carries of device code.
#[derive(Clone, Copy, Debug, Default)]
pub struct DeviceImage<'a> {
    /// The bytes that the runtime reads: machine code, and PTX for devices that it does not cover.
    pub code: &'a [u8],
    /// Alignment of these.
    pub align_bytes: u32,
    /// The section that they lie in; `None` for where constants lie.
    pub section: Option<&'a str>,
    /// Ids of the units of relocatable device code, of other compilers, that are linked into the machine
    /// code. Their host halves bring their PTX in `__fatbinwrap<id>` and register their kernels through
    /// `__cudaRegisterLinkedBinary<id>`, which the object defines.
    pub units: &'a [String],
}

/// An ELF object for x86-64 that registers an image. The record is `{ u32 version, u32 unit_count, ptr code,
/// ptr units }`; `units` points to the addresses of the units' wrappers.
pub fn emit_image_object(image: DeviceImage<'_>) -> Result<Vec<u8>> {
    // Options of the device side have no bearing on data.
    let options = LowerOptions::new("", 0, LaunchAbi::Cdp2V2);
    let module = LlvmModule::build("image", CodeTarget::Host, &options, |context, module| {
        let record = image_record(context, module, image);
        let ptr = context.ptr_type(AddressSpace::default());
        let ty = context.void_type().fn_type(&[ptr.into(); 2], false);
        for unit in image.units {
            let register = crate::launch_calls::declare(module, "__cdp_register_linked", ty);
            define_registration(context, module, unit, register, record)?;
        }
        let function = "__cdp_register_image";
        register_with_constructor(context, module, function, &[record], EARLY_CONSTRUCTOR)
    })?;
    module.emit_object()
}

fn image_record<'ctx>(
    context: &'ctx Context,
    module: &Module<'ctx>,
    image: DeviceImage<'_>,
) -> PointerValue<'ctx> {
    let word = context.i32_type();
    let code = private(module, context.const_string(image.code, false).into());
    code.set_alignment(image.align_bytes);
    code.set_section(image.section);
    let wrapper = |unit: &String| wrapper_of(context, module, unit).into();
    let wrappers: Vec<BasicValueEnum<'ctx>> = image.units.iter().map(wrapper).collect();
    let table = match &wrappers[..] {
        [] => context.ptr_type(AddressSpace::default()).const_null(),
        items => private(module, context.const_struct(items, false).into()).as_pointer_value(),
    };
    let record = context.const_struct(
        &[
            word.const_int(IMAGE_VERSION, false).into(),
            word.const_int(wrappers.len() as u64, false).into(),
            code.as_pointer_value().into(),
            table.into(),
        ],
        false,
    );
    private(module, record.into()).as_pointer_value()
}

/// What a unit's constructor calls: this and the unit's id.
pub(crate) const REGISTRATION: &str = "__cudaRegisterLinkedBinary";

/// `__cudaRegisterLinkedBinary<id>(callback, wrapper, id, keep)`: the unit's constructor calls it, and it calls
/// `register(of, callback)`, which sees to it that `callback` is called with a handle of what the unit is linked into.
pub(crate) fn define_registration<'ctx>(
    context: &'ctx Context,
    module: &Module<'ctx>,
    unit: &str,
    register: FunctionValue<'ctx>,
    of: PointerValue<'ctx>,
) -> Result<()> {
    let (ptr, void) = (context.ptr_type(AddressSpace::default()), context.void_type());
    let name = format!("{REGISTRATION}{unit}");
    let function = module.add_function(&name, void.fn_type(&[ptr.into(); 4], false), None);
    let builder = context.create_builder();
    builder.position_at_end(context.append_basic_block(function, "entry"));
    let callback =
        function.get_nth_param(0).ok_or_else(|| crate::error::bug("image", "no parameter"))?;
    builder.build_direct_call(register, &[of.into(), callback.into()], "")?;
    builder.build_return(None)?;
    Ok(())
}

/// The record that leads to a unit's fat binary, which the unit's object defines.
pub(crate) fn wrapper_of<'ctx>(
    context: &'ctx Context,
    module: &Module<'ctx>,
    unit: &str,
) -> PointerValue<'ctx> {
    let name = format!("__fatbinwrap{unit}");
    module.add_global(context.i8_type(), None, &name).as_pointer_value()
}

/// An ELF object that registers the kernels and variables of the host objects that clang made: clang
/// lists them in a section (`-fgpu-rdc`), whose beginning and end the linker names.
pub fn emit_entries_object() -> Result<Vec<u8>> {
    let options = LowerOptions::new("", 0, LaunchAbi::Cdp2V2);
    let module = LlvmModule::build("entries", CodeTarget::Host, &options, |context, module| {
        let ends = ["__start_llvm_offload_entries", "__stop_llvm_offload_entries"].map(|name| {
            let end = module.add_global(context.i8_type(), None, name);
            end.set_linkage(Linkage::ExternalWeak);
            end.set_visibility(inkwell::GlobalVisibility::Hidden);
            end.as_pointer_value()
        });
        let function = "__cdp_register_offload_entries";
        register_with_constructor(context, module, function, &ends, EARLY_CONSTRUCTOR)
    })?;
    module.emit_object()
}

pub(crate) fn private<'ctx>(
    module: &Module<'ctx>,
    value: BasicValueEnum<'ctx>,
) -> inkwell::values::GlobalValue<'ctx> {
    let global = module.add_global(value.get_type(), None, "");
    global.set_initializer(&value);
    global.set_linkage(Linkage::Private);
    global.set_constant(true);
    global
}

/// Before constructors of the program itself (65535), after those of the system (below 101).
pub(crate) const EARLY_CONSTRUCTOR: u64 = 101;

/// A constructor that hands records to a function of the runtime.
pub(crate) fn register_with_constructor<'ctx>(
    context: &'ctx Context,
    module: &Module<'ctx>,
    function: &str,
    records: &[PointerValue<'ctx>],
    priority: u64,
) -> Result<()> {
    let ptr = context.ptr_type(AddressSpace::default());
    let void = context.void_type();
    let params = vec![ptr.into(); records.len()];
    let runtime = crate::launch_calls::declare(module, function, void.fn_type(&params, false));
    let constructor =
        module.add_function("__cdp_constructor", void.fn_type(&[], false), Some(Linkage::Internal));
    let entry = context.append_basic_block(constructor, "entry");
    let builder = context.create_builder();
    builder.position_at_end(entry);
    let records: Vec<_> = records.iter().map(|record| (*record).into()).collect();
    builder.build_direct_call(runtime, &records, "")?;
    builder.build_return(None)?;
    let priority = context.i32_type().const_int(priority, false);
    let item = context.const_struct(
        &[
            priority.into(),
            constructor.as_global_value().as_pointer_value().into(),
            ptr.const_null().into(),
        ],
        false,
    );
    let array = item.get_type().const_array(&[item]);
    let constructors = module.add_global(array.get_type(), None, "llvm.global_ctors");
    constructors.set_linkage(Linkage::Appending);
    constructors.set_initializer(&array);
    Ok(())
}
