//! The object that carries device code into a host program: cubin or fatbin bytes and PTX texts,
//! registered with the runtime (`__cdp_register_image`) before `main`.

use cdp_launch::LaunchAbi;
use inkwell::AddressSpace;
use inkwell::context::Context;
use inkwell::module::{Linkage, Module};
use inkwell::values::{BasicValueEnum, PointerValue};

use crate::artifact::LlvmModule;
use crate::error::Result;
use crate::options::LowerOptions;
use crate::target::CodeTarget;

/// Version of the image record.
const IMAGE_VERSION: u64 = 1;
/// Alignment of the image's bytes; the driver reads ELF headers in place.
const IMAGE_ALIGN_BYTES: u32 = 16;

/// An ELF object for x86-64 that registers an image. The record is
/// `{ u32 version, u32 ptx_count, ptr cubin, u64 cubin_bytes, ptr ptx }`, and `ptx` points to
/// `ptx_count` pairs `{ ptr text, u64 bytes }`.
///
/// `device` is a linked cubin or a fatbin, and empty when there is only PTX; `ptx` are texts for
/// devices that it does not cover.
pub fn emit_image_object<Text: AsRef<str>>(device: &[u8], ptx: &[Text]) -> Result<Vec<u8>> {
    // Options of the device side have no bearing on data.
    let options = LowerOptions::new("", 0, LaunchAbi::Cdp2V2);
    let module = LlvmModule::build("image", CodeTarget::Host, &options, |context, module| {
        let wide = context.i64_type();
        let word = context.i32_type();
        let null = context.ptr_type(AddressSpace::default()).const_null();
        let data = |bytes: &[u8]| -> PointerValue<'_> {
            if bytes.is_empty() {
                return null;
            }
            let value = context.const_string(bytes, false);
            let global = private(module, value.into());
            global.set_alignment(IMAGE_ALIGN_BYTES);
            global.as_pointer_value()
        };
        let texts: Vec<BasicValueEnum<'_>> = ptx
            .iter()
            .map(|text| {
                // The driver wants PTX with a terminating NUL, which the length does not count.
                let mut bytes = text.as_ref().as_bytes().to_vec();
                bytes.push(0);
                let length = wide.const_int(text.as_ref().len() as u64, false);
                context.const_struct(&[data(&bytes).into(), length.into()], false).into()
            })
            .collect();
        let table = if texts.is_empty() {
            null
        } else {
            private(module, context.const_struct(&texts, false).into()).as_pointer_value()
        };
        let record = context.const_struct(
            &[
                word.const_int(IMAGE_VERSION, false).into(),
                word.const_int(texts.len() as u64, false).into(),
                data(device).into(),
                wide.const_int(device.len() as u64, false).into(),
                table.into(),
            ],
            false,
        );
        let record = private(module, record.into());
        let address = record.as_pointer_value();
        register_with_constructor(
            context,
            module,
            "__cdp_register_image",
            &[address],
            EARLY_CONSTRUCTOR,
        )
    })?;
    module.emit_object()
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

fn private<'ctx>(
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
    let runtime = crate::launch::declare(module, function, void.fn_type(&params, false));
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
