//! `__managed__` variables of `.cu` files, which clang has for HIP only. Our header gives them a section of
//! their own ([`SECTION`]), by which they are known here.
//!
//! Device code: the section becomes the mark that LLVM writes `.attribute(.managed)` for. Host code: what
//! clang makes is a shadow that stands for the variable in calls of the runtime; every use of it becomes
//! one of the place that the runtime gives the variable, as nvcc does it (`__cudaRegisterManagedVar`,
//! `__cudaInitModule`).

use std::ffi::{CStr, c_char};

use inkwell::context::Context;
use inkwell::llvm_sys::core::LLVMDisposeMessage;
use inkwell::llvm_sys::prelude::LLVMModuleRef;
use inkwell::module::Module;
use inkwell::values::BasicMetadataValueEnum;

use crate::error::{LowerError, Result, bug};

/// The section that `__managed__` stands for in our header.
pub const SECTION: &str = "__cdp_managed";

unsafe extern "C" {
    fn cdp_managed_host(module: LLVMModuleRef, section: *const c_char, size: usize) -> *mut c_char;
}

/// Marks the managed variables of device code.
pub(crate) fn mark<'ctx>(context: &'ctx Context, module: &Module<'ctx>) -> Result<()> {
    for global in module.get_globals() {
        if global.get_section().is_none_or(|name| name.to_bytes() != SECTION.as_bytes()) {
            continue;
        }
        global.set_section(None);
        let one = context.i32_type().const_int(1, false);
        let mark = context.metadata_node(&[
            BasicMetadataValueEnum::from(global.as_pointer_value()),
            context.metadata_string("managed").into(),
            one.into(),
        ]);
        module
            .add_global_metadata("nvvm.annotations", &mark)
            .map_err(|error| bug("managed variables", error.to_string()))?;
    }
    Ok(())
}

/// Puts the managed variables of a host half where the runtime puts them.
pub(crate) fn redirect(module: &Module<'_>) -> Result<()> {
    // SAFETY: a live module; the message is copied before it is freed.
    let wrong = unsafe {
        let message = cdp_managed_host(module.as_mut_ptr(), SECTION.as_ptr().cast(), SECTION.len());
        (!message.is_null()).then(|| {
            let text = CStr::from_ptr(message).to_string_lossy().into_owned();
            LLVMDisposeMessage(message);
            text
        })
    };
    match wrong {
        Some(message) => Err(LowerError::Foreign { message }),
        None => Ok(()),
    }
}
