//! Host code that clang made of CUDA C++, as bitcode that is not optimised yet: what it is to do as nvcc's host code does it.

use inkwell::context::Context;

use crate::bools::{self, Extension};
use crate::error::Result;
use crate::{foreign, linked, managed, own, returns, watched};

/// The bitcode with its managed variables where the runtime puts them, functions that return wherever they end, and truth
/// values that are bytes. With `watch` it tells the runtime of its accesses. `own` is what tells its file's variables of device code from those of others, where they are its
/// own. `alone` is a fat binary of its device code as a whole program, for programs that no device link
/// completes.
///
/// # Errors
/// [`crate::LowerError::Foreign`] for what is no bitcode, and for uses of managed variables that cannot be redirected.
pub fn finish_host(
    name: &str,
    bitcode: &[u8],
    own: Option<&str>,
    alone: Option<&[u8]>,
    watch: bool,
) -> Result<Vec<u8>> {
    let context = Context::create();
    let module = foreign::read(&context, name, bitcode)?;
    if let Some(file) = own {
        own::of_host(&context, &module, file);
    }
    managed::redirect(&module)?;
    returns::return_at_ends(&context, &module)?;
    bools::take_whole_bytes(&context, &module, Extension::Zero)?;
    if watch {
        watched::watch(&module);
    }
    if let Some(fatbin) = alone {
        linked::register_alone(&context, &module, fatbin)?;
    }
    Ok(module.write_bitcode_to_memory().as_slice().to_vec())
}
