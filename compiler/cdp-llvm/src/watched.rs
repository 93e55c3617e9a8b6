//! Host code whose accesses the CPU device's checks see: calls of the runtime around them (`watched.cpp`). What becomes of
//! what is told, `cdp-runtime` knows (`cpu/host_code`).

use inkwell::llvm_sys::prelude::LLVMModuleRef;
use inkwell::module::Module;

unsafe extern "C" {
    fn cdp_watch_host(module: LLVMModuleRef);
}

/// Has a host module, not optimised yet, tell of its accesses.
pub(crate) fn watch(module: &Module<'_>) {
    // SAFETY: a live module that nobody else is at.
    unsafe { cdp_watch_host(module.as_mut_ptr()) };
}
