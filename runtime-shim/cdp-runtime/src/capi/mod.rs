//! The CUDA runtime's calls of host code, as C functions, and the entry points that compiled code
//! itself uses. Thin: arguments are checked for what would make this library misbehave, the rest is
//! [`crate::process`] and the devices.
//!
//! Every function is as the CUDA 13.0 runtime manual describes it. Pointers that a function writes
//! through must be valid, as in CUDA; null ones are `cudaErrorInvalidValue`. No panic crosses into C.

// Safety is the same sentence for all of them, above.
#![allow(clippy::missing_safety_doc)]

mod array;
pub mod calls;
mod capture;
mod copies;
mod cuda_12;
mod device;
pub mod driver;
mod graph;
mod graph_any;
mod graph_memory;
mod graph_nodes;
mod graph_read;
mod hints;
mod host;
mod kernel;
mod library;
mod memory;
mod more;
mod offload;
mod param_buffer;
mod peer;
mod per_thread;
mod pool;
mod register;
mod stream;
mod symbol;
mod textures;
mod user_object;

use std::ffi::c_void;
use std::panic::{AssertUnwindSafe, catch_unwind};

pub use self::array::*;
pub use self::capture::*;
pub use self::copies::*;
pub use self::cuda_12::*;
pub use self::device::*;
pub use self::driver::*;
pub use self::graph::*;
pub use self::graph_any::*;
pub use self::graph_memory::*;
pub use self::graph_nodes::*;
pub use self::graph_read::*;
pub use self::hints::*;
pub use self::host::*;
pub use self::kernel::*;
pub use self::library::*;
pub use self::memory::*;
pub use self::more::*;
pub use self::offload::*;
pub use self::peer::*;
pub use self::per_thread::*;
pub use self::pool::*;
pub use self::register::*;
pub use self::stream::*;
pub use self::symbol::*;
pub use self::textures::*;
pub use self::user_object::*;

pub(crate) use self::copies::copy_kind;
pub(crate) use self::host::call_in_order;
pub(crate) use self::kernel::launch_now;
pub(crate) use self::memory::copy_3d;

use crate::device::StreamHandle;
use crate::error::{CudaError, Result};
use crate::{abi, process, registry, stdio};

/// Runs a call; its error becomes the thread's last error.
fn call(work: impl FnOnce() -> Result<()>) -> u32 {
    let code = match catch_unwind(AssertUnwindSafe(work)) {
        Ok(Ok(())) => return 0,
        Ok(Err(error)) => error.code,
        // The panic's own message is on standard error; it asks for a report.
        Err(_) => CudaError::UNKNOWN,
    };
    process::set_last_error(code);
    code.0
}

/// As [`call`], for queries: "not ready" is an answer, not an error.
fn query(work: impl FnOnce() -> Result<()>) -> u32 {
    let mut ready = true;
    let code = call(|| match work() {
        Err(error) if error.code == CudaError::NOT_READY => {
            ready = false;
            Ok(())
        }
        other => other,
    });
    if ready { code } else { CudaError::NOT_READY.0 }
}

/// Writes a result through a pointer of the caller; null is `cudaErrorInvalidValue`.
///
/// # Safety
/// `target` is null or valid for the write.
unsafe fn put<T>(target: *mut T, value: T) -> Result<()> {
    given(target)?;
    // SAFETY: the caller's promise.
    unsafe { offer(target, value) };
    Ok(())
}

/// Writes a result that the caller may leave out: null is none.
///
/// # Safety
/// `target` is null or valid for the write.
unsafe fn offer<T>(target: *mut T, value: T) {
    if !target.is_null() {
        // SAFETY: the caller's promise.
        unsafe { target.write(value) };
        crate::cpu::host_code::wrote(target);
    }
}

/// `cudaErrorInvalidValue` for a null pointer, before anything is done that would have to be undone.
fn given<T>(target: *mut T) -> Result<()> {
    if target.is_null() { Err(CudaError::INVALID_VALUE.into()) } else { Ok(()) }
}

/// The stream that NULL means in the calls whose names end in `_ptsz` and `_ptds`: files compiled with
/// `--default-stream per-thread` call those.
fn per_thread(stream: *mut c_void) -> *mut c_void {
    if stream.is_null() { StreamHandle::PER_THREAD.0 as *mut c_void } else { stream }
}

/// Records the kernels and variables of a translation unit. Called by compiled code before `main`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __cdp_register_unit(unit: *const abi::Unit) {
    let work = || {
        // SAFETY: compiled code passes a unit that lives as long as the process.
        let Some(unit) = (unsafe { unit.as_ref() }) else { return };
        if !version_fits("a translation unit", unit.version, abi::VERSION) {
            return;
        }
        // SAFETY: as above.
        unsafe { registry::add_names(unit.kernels(), unit.variables()) };
    };
    let _ = catch_unwind(AssertUnwindSafe(work));
}

/// Records the device code of the program. Called by compiled code before `main`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __cdp_register_image(image: *const abi::Image) {
    // SAFETY: compiled code passes an image that lives as long as the process.
    let _ = catch_unwind(AssertUnwindSafe(|| unsafe { own_image(image) }));
}

/// The number of an image of our own, recorded now if it has not been.
///
/// # Safety
/// The image is null, or as its layout says and lives as long as the process.
unsafe fn own_image(image: *const abi::Image) -> Option<usize> {
    // SAFETY: the caller's promise.
    let known = unsafe { image.as_ref() }?;
    if !version_fits("the device code", known.version, abi::IMAGE_VERSION) {
        return None;
    }
    // SAFETY: as above.
    Some(registry::add_own_image(image as usize, || unsafe { known.record() }))
}

fn version_fits(what: &str, version: u32, ours: u32) -> bool {
    if version != ours {
        stdio::complain(&format!(
            "{what} was compiled for version {version} of the run-time library and this is version \
             {ours}: build the program with one release of the compiler"
        ));
    }
    version == ours
}

/// Where host code finds a `__managed__` variable. There is no error to return: a program whose
/// managed variable has no place cannot go on.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __cdp_managed_address(host_shadow: *mut c_void) -> *mut c_void {
    let find = || -> Result<u64> { Ok(process::current()?.variable(host_shadow as usize)?.0) };
    match catch_unwind(AssertUnwindSafe(find)) {
        Ok(Ok(address)) => return address as *mut c_void,
        Ok(Err(error)) => {
            stdio::complain(&format!("a __managed__ variable has no memory: {error}"))
        }
        Err(_) => {}
    }
    std::process::exit(1);
}
