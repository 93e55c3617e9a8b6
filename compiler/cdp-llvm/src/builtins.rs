//! The built-in variables `threadIdx`, `blockIdx`, `blockDim` and `gridDim` in device code of clang's. For nvcc they are a
//! `uint3` or a `dim3`; clang has classes of its own, which cannot be copied. Our header declares them as nvcc does, and
//! nobody defines them: what reads them becomes a read of the registers here.

use inkwell::llvm_sys::prelude::LLVMModuleRef;
use inkwell::module::Module;

unsafe extern "C" {
    fn cdp_builtins_read(module: LLVMModuleRef);
}

/// Has a module read registers where it reads the variables.
pub(crate) fn read_registers(module: &Module<'_>) {
    // SAFETY: a live module.
    unsafe { cdp_builtins_read(module.as_mut_ptr()) }
}
