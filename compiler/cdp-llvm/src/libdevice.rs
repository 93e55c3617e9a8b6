//! Links what the module calls of libdevice, and nothing else.
//!
//! libdevice's functions are made `linkonce_odr` in a lazily read copy, so that LLVM's linker fetches
//! only those that are referenced; afterwards they are internal. Its choices between flushing and
//! keeping denormals are calls of `__nvvm_reflect`, which LLVM answers from a module flag.

use inkwell::context::Context;
use inkwell::module::{Linkage, Module};

use crate::error::{LowerError, Result};
use crate::options::LowerOptions;
use crate::raw;

const PREFIX: &str = "__nv_";

/// Links libdevice into a device module if the module calls it.
pub(crate) fn link<'ctx>(
    context: &'ctx Context,
    module: &Module<'ctx>,
    options: &LowerOptions,
    ftz: bool,
) -> Result<()> {
    let wanted = undefined(module);
    let Some(first) = wanted.first() else { return Ok(()) };
    let Some(bytes) = options.libdevice.bytes() else {
        return Err(LowerError::LibdeviceMissing { function: first.clone() });
    };
    let unreadable = || LowerError::Libdevice { message: "it is no LLVM bitcode".into() };
    let library = raw::parse_bitcode_lazily(context, &bytes).ok_or_else(unreadable)?;
    for function in library.get_functions() {
        if !raw::is_declaration(function) {
            function.set_linkage(Linkage::LinkOnceODR);
        }
    }
    library.set_triple(&module.get_triple());
    library.set_data_layout(&module.get_data_layout());
    module
        .link_in_module(library)
        .map_err(|message| LowerError::Libdevice { message: message.to_string() })?;
    if let Some(missing) = undefined(module).first() {
        let message = format!("it has no function `{missing}`");
        return Err(LowerError::Libdevice { message });
    }
    for function in module.get_functions() {
        if function.get_linkage() == Linkage::LinkOnceODR && is_libdevice(function) {
            function.set_linkage(Linkage::Internal);
        }
    }
    // clang says it by itself.
    if module.get_flag("nvvm-reflect-ftz").is_none() {
        raw::add_module_flag(context, module, "nvvm-reflect-ftz", u32::from(ftz));
    }
    Ok(())
}

fn is_libdevice(function: inkwell::values::FunctionValue<'_>) -> bool {
    let name = function.get_name().to_bytes();
    name.starts_with(PREFIX.as_bytes()) || name.starts_with(b"__internal_")
}

/// Functions of libdevice that are called and not there.
fn undefined(module: &Module<'_>) -> Vec<String> {
    module
        .get_functions()
        .filter(|function| raw::is_declaration(*function))
        .map(|function| function.get_name().to_string_lossy().into_owned())
        .filter(|name| name.starts_with(PREFIX))
        .collect()
}
