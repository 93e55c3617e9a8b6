//! The kernels and variables of clang's host objects (`-fgpu-rdc`), which list them in a section instead
//! of registering them.

use std::ffi::{c_char, c_void};
use std::panic::catch_unwind;

use crate::abi::string;
use crate::registry::{self, Home, KernelRecord, VariableRecord};
use crate::stdio;

/// LLVM's `__tgt_offload_entry`, version 1.
#[repr(C)]
pub struct Entry {
    reserved: u64,
    version: u16,
    kind: u16,
    flags: u32,
    address: *const c_void,
    name: *const c_char,
    /// 0 for a kernel.
    bytes: u64,
    data: u64,
    aux: *const c_void,
}

/// LLVM's number of CUDA among the kinds of entries.
const CUDA: u16 = 2;
const VERSION: u16 = 1;
/// What a variable is, in the low bits of its flags.
const VARIABLE_KIND: u32 = 7;
const PLAIN: u32 = 0;

/// Records the entries between two addresses. The linker leaves no space between them.
///
/// # Safety
/// Both are null, or the ends of the section.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __cdp_register_offload_entries(first: *const Entry, end: *const Entry) {
    let _ = catch_unwind(|| {
        if first.is_null() || end <= first {
            return;
        }
        let count = (end as usize - first as usize) / size_of::<Entry>();
        // SAFETY: the caller's promise.
        let entries = unsafe { std::slice::from_raw_parts(first, count) };
        let (mut kernels, mut variables) = (Vec::new(), Vec::new());
        for entry in entries.iter().filter(|entry| entry.kind == CUDA) {
            // SAFETY: clang's strings live as long as the program.
            let symbol = unsafe { string(entry.name) };
            if entry.version != VERSION || (entry.bytes > 0 && entry.flags & VARIABLE_KIND != PLAIN)
            {
                stdio::complain(&format!("`{symbol}` is registered in a form that is not known"));
            } else if entry.bytes == 0 {
                let record = KernelRecord { symbol, home: Home::Anywhere, param_sizes: None };
                kernels.push((entry.address as usize, record));
            } else {
                let record = VariableRecord { symbol, home: Home::Anywhere, managed: false };
                variables.push((entry.address as usize, record));
            }
        }
        registry::add_names(kernels.into_iter(), variables.into_iter());
    });
}
